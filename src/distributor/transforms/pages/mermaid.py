"""Mermaid diagrams as inline SVG, drawn by a command of the operator's choice.

The command gets a diagram on standard input and answers with an SVG document on
standard output. What it answers is not trusted: only drawing elements survive.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from distributor.errors import TransformError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TIMEOUT_SECONDS = 60
SVG_BYTES = 4 * 1024 * 1024

_SVG = "{http://www.w3.org/2000/svg}"
_XHTML = "{http://www.w3.org/1999/xhtml}"
_SHAPES = frozenset(
    (  # noqa: SIM905 (words wrap better than a list)
        "svg g defs marker path rect circle ellipse line polygon polyline text tspan title desc style symbol clipPath"
        " linearGradient radialGradient stop filter feDropShadow foreignObject"
    ).split()
)
_LABELS = frozenset(
    (  # noqa: SIM905 (words wrap better than a list)
        "div span p br b i strong em code"
    ).split()
)
_STYLE_ESCAPES = re.compile(r"@import|url\(\s*(?!['\"]?#)|expression\(|\\", re.IGNORECASE)


def draw(source: str, command: tuple[str, ...], *, path: str, line: int | None, number: int) -> str:
    """Return the diagram ``source`` as an ``<svg>`` element whose ids are its own on the page.

    Raises ``TransformError`` where the command is missing, fails, or answers something else.
    """
    svg = _run(source, command, path, line)
    root = _parse(svg, path, line)
    own = root.get("id") or ""
    drawing = _Drawing(f"mermaid-{number}-", own)
    return f'<figure class="diagram" role="img" aria-label="Diagram {number}">{drawing.element(root)}</figure>'


def _run(source: str, command: tuple[str, ...], path: str, line: int | None) -> bytes:
    import subprocess

    try:
        done = subprocess.run(command, input=source.encode(), capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except FileNotFoundError:
        raise TransformError(
            f"mermaid: svg needs the renderer {command[0]!r}, which is not installed",
            path=path,
            line=line,
            hint="install it, name another under mermaid_command, or use mermaid: code",
        ) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TransformError(f"the Mermaid renderer {command[0]!r} failed: {error}", path=path, line=line) from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        message = f"the Mermaid renderer {command[0]!r} ended with {done.returncode}: {said[-1][:200]}"
        raise TransformError(message, path=path, line=line)
    return done.stdout


def _parse(svg: bytes, path: str, line: int | None) -> Element:
    import xml.etree.ElementTree as ET

    # Entity declarations are the only way in which a small document grows large.
    if len(svg) > SVG_BYTES or b"<!ENTITY" in svg or b"<!DOCTYPE" in svg:
        raise TransformError("the Mermaid renderer's SVG is too large, or declares entities", path=path, line=line)
    try:
        root = ET.fromstring(svg)  # noqa: S314 (checked above)
    except ET.ParseError as error:
        raise TransformError(f"the Mermaid renderer's SVG can't be read: {error}", path=path, line=line) from None
    if root.tag != f"{_SVG}svg":
        raise TransformError("the Mermaid renderer did not answer with SVG", path=path, line=line)
    return root


class _Drawing:
    """One diagram being cleaned: its ids get a prefix, so that two diagrams don't share them."""

    def __init__(self, prefix: str, root_id: str) -> None:
        self._prefix = prefix
        self._root_id = root_id

    def element(self, element: Element) -> str:
        """Return ``element`` and all in it as HTML, without what is not drawing."""
        name = self._name(element.tag)
        inner = self._text(element.text, name) + "".join(
            self.element(child) + escape(child.tail or "", quote=False) for child in element
        )
        if name is None:
            return ""
        attributes = "".join(self._attribute(key, value) for key, value in element.attrib.items())
        return f"<{name}{attributes}>" if name == "br" else f"<{name}{attributes}>{inner}</{name}>"

    def _name(self, tag: object) -> str | None:
        if not isinstance(tag, str):
            return None
        if tag.startswith(_SVG) and tag[len(_SVG) :] in _SHAPES:
            return tag[len(_SVG) :]
        if tag.startswith(_XHTML) and tag[len(_XHTML) :] in _LABELS:
            return tag[len(_XHTML) :]
        return None

    def _text(self, text: str | None, name: str | None) -> str:
        if name != "style" or not text:
            return escape(text or "", quote=False)
        if _STYLE_ESCAPES.search(text) or "<" in text:
            return ""
        return text.replace(f"#{self._root_id}", f"#{self._prefix}{self._root_id}") if self._root_id else text

    def _attribute(self, key: str, value: str) -> str:
        name = key.rpartition("}")[2]
        if name.lower().startswith("on") or name in {"src", "action", "formaction", "base"}:
            return ""
        if name == "id":
            value = self._prefix + value
        elif name == "href":
            if not value.startswith("#"):
                return ""
            value = f"#{self._prefix}{value[1:]}"
        elif name == "style" and _STYLE_ESCAPES.search(value):
            return ""
        value = value.replace("url(#", f"url(#{self._prefix}")
        return f' {name}="{escape(value)}"'
