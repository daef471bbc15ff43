"""YAML front matter: the few keys that pages use, read from parser events.

Reading events instead of constructing values keeps aliases, tags and nesting of
the block harmless, and leaves a date the text that its author wrote.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from distributor.errors import TransformError

_LIMIT = 64 * 1024
_BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*\Z")


class FrontMatter(NamedTuple):
    """What a page takes from front matter; ``lines`` is how many lines the block has."""

    title: str | None = None
    date: str | None = None
    description: str | None = None
    lang: str | None = None
    lines: int = 0


def split_front_matter(text: str, path: str) -> tuple[FrontMatter, str]:
    """Return the front matter of ``text`` and the text after it.

    A block that is no YAML mapping is ordinary Markdown (a rule, a heading).
    Raises ``TransformError`` with the line where the block is broken YAML.
    """
    match = _BLOCK.match(text[: _LIMIT + 8])
    if match is None:
        return FrontMatter(), text
    values = _top_level_scalars(match[1], path)
    if values is None:
        return FrontMatter(), text
    lang = values.get("lang")
    return (
        FrontMatter(
            title=values.get("title") or None,
            date=values.get("date") or None,
            description=values.get("description") or None,
            lang=lang if is_language(lang) else None,
            lines=match[0].count("\n"),
        ),
        text[match.end() :],
    )


def is_language(value: object) -> bool:
    """Whether ``value`` has the form of a language tag, such as ``en`` or ``pt-BR``."""
    return isinstance(value, str) and _LANGUAGE.match(value) is not None


def _top_level_scalars(block: str, path: str) -> dict[str, str] | None:
    """Return the scalar values of the block's mapping, or ``None`` if it is no mapping."""
    import yaml

    values: dict[str, str] = {}
    mapping, depth = False, 0
    key: str | None = None
    try:
        for event in yaml.parse(block, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
                key = key if depth > 1 else None
            elif isinstance(event, yaml.CollectionStartEvent):
                if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
                    return None
                mapping = True
                depth += 1
            elif isinstance(event, yaml.ScalarEvent) and depth == 0:
                return None
            elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent) and depth == 1:
                key = _take(values, key, event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "can't be read"
        raise TransformError(
            f"front matter is not valid YAML: {problem}",
            path=path,
            line=mark.line + 2 if mark else 1,
            hint="quote values that contain ': ' or begin with a special character",
        ) from None
    return values if mapping else None


def _take(values: dict[str, str], key: str | None, event: object) -> str | None:
    """Note one scalar of the top mapping; returns the key that still waits for its value."""
    value = getattr(event, "value", "")
    if key is None:
        return str(value)
    values.setdefault(key, str(value))
    return None
