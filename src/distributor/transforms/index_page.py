"""A page that lists a bundle's files by folder, for a bundle without a page of its own."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

from distributor.errors import TransformError
from distributor.transforms import options as options_of
from distributor.transforms.base import Request
from distributor.transforms.options import Option

VERSION = "1"
SCOPE = "bundle"
DEFAULT_PATH = "index.html"

_MARKDOWN = (".md", ".markdown", ".mdown")
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


class _Entry(NamedTuple):
    """One listed file: its address from the index, what it is called, and what is told of it."""

    address: str
    title: str
    name: str
    date: str
    size: int


def _options() -> tuple[Option, ...]:
    from distributor.transforms.pages.look import LOOK, optional_text

    return (Option("title", None, optional_text), Option("description", None, optional_text), *LOOK)


def check_options(options: Mapping[str, object]) -> list[str]:
    """Return what is wrong with ``options``, one sentence each."""
    return options_of.check_options(options, _options())


def render(request: Request) -> bytes:
    """Return the index of the rule's files that this destination publishes. Raises ``TransformError``."""
    from distributor.transforms.pages.page import Page, assemble

    settings = options_of.with_defaults(request.options, _options())
    folders = _folders(request)
    description = settings["description"]
    page = Page(
        title=str(settings["title"] or request.manifest.id),
        body=_body(folders) if folders else "<p>This bundle has no files to list.</p>",
        source_path=request.output_path,
        description=str(description) if description else None,
        styles=("index.css",),
        contents=False,
    )
    return assemble(page, request.manifest, settings)


def _folders(request: Request) -> dict[str, list[_Entry]]:
    from distributor.transforms.pages.linking import best_output, index, relative_address

    sizes: dict[str, int] = {file.path: file.size for file in request.manifest.files}
    by_source = index(request.outputs).by_source
    here = posixpath.dirname(request.output_path)
    folders: dict[str, list[_Entry]] = {}
    for source in sorted(request.source_paths):
        if source not in by_source:
            continue
        output = best_output(by_source[source], page=True)
        folder, name = posixpath.split(source)
        title, date = _described(request, source)
        entry = _Entry(relative_address(output.path, here), title or name, name, date or "", sizes.get(source, 0))
        folders.setdefault(folder, []).append(entry)
    return dict(sorted(folders.items()))


def _described(request: Request, source: str) -> tuple[str | None, str | None]:
    """Return title and date of a Markdown file; one that can't be a page is listed by its name."""
    if not source.lower().endswith(_MARKDOWN):
        return None, None
    from distributor.transforms.pages.documents import title_of

    try:
        return title_of(request.read(source), source)
    except TransformError:
        return None, None


def _body(folders: dict[str, list[_Entry]]) -> str:
    from html import escape

    parts: list[str] = []
    for number, (folder, entries) in enumerate(folders.items()):
        if folder:
            parts.append(f'<h2 id="folder-{number}"><bdi>{escape(folder)}</bdi></h2>')
        label = f'aria-labelledby="folder-{number}"' if folder else 'aria-label="Files"'
        parts.append(f'<ul class="files" {label}>')
        parts.extend(_line(entry) for entry in sorted(entries, key=lambda entry: entry.date, reverse=True))
        parts.append("</ul>")
    return "\n".join(parts)


def _line(entry: _Entry) -> str:
    from html import escape

    name = f'<span class="name">{escape(entry.name)}</span>' if entry.title != entry.name else ""
    date = f"<span>{escape(entry.date)}</span>" if entry.date else ""
    return (
        f'<li><a href="{escape(entry.address)}"><bdi>{escape(entry.title)}</bdi></a>'
        f'<span class="facts">{name}{date}<span>{_size(entry.size)}</span></span></li>'
    )


def _size(size: int) -> str:
    value, unit = float(size), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    if unit == 0:
        return "1 byte" if size == 1 else f"{size} bytes"
    return f"{value:.0f} {_UNITS[unit]}" if value >= 10 else f"{value:.1f} {_UNITS[unit]}"
