"""Globs over whole paths, as the configuration uses them.

``*`` and ``?`` stop at ``/``; ``**`` does not, wherever it stands; ``**/x`` at the
start of a segment also matches ``x``. A leading dot is an ordinary character,
``[...]`` is as in ``fnmatch`` but stands for one character of a name, never for
``/``, and there are no braces.

A pattern becomes a regular expression whose parts are atomic groups, so that a
hostile one can't make matching take exponential time. That is sound because the
earliest place where a part fits leaves the most room for the rest: a part
between two ``**`` holds a fixed number of ``/``, and a piece between two ``*``
lies in one segment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

_TOKEN = re.compile(r"(\*\*+)|(\*)|(\?)|\[(!?+\]?+[^\]]*+)\]|(.)", re.DOTALL)


def compile_globs(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that says whether some pattern matches a whole path; no pattern matches nothing."""
    matchers = [_compile(pattern).match for pattern in patterns]
    if len(matchers) == 1:
        only = matchers[0]
        return lambda path: only(path) is not None
    return lambda path: any(match(path) for match in matchers)


def glob_problem(pattern: str) -> str | None:
    """Say why ``pattern`` can match no clean path (A1), or ``None``."""
    if not pattern:
        return "is empty"
    if pattern.startswith("/"):
        return "begins with '/', but paths are relative"
    if "\\" in pattern:
        return "contains a backslash, which no path has"
    if any(segment in ("", ".", "..") for segment in pattern.split("/")):
        return "has an empty, '.' or '..' segment, which no path has"
    return None


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    if set(pattern) == {"*"} and len(pattern) > 1:
        return re.compile("", re.DOTALL)
    *blocks, last = _blocks(pattern)
    body = "".join(f"(?>{skip}{_block(pieces)})" for skip, pieces in blocks)
    skip, pieces = last
    return re.compile(f"{body}{skip}{_last_block(pieces)}\\Z", re.DOTALL)


def _blocks(pattern: str) -> list[tuple[str, list[str]]]:
    """Split at ``**`` into (what may be skipped before it, its pieces split at ``*``)."""
    blocks: list[tuple[str, list[str]]] = [("", [""])]
    position = 0
    while match := _TOKEN.match(pattern, position):
        position = match.end()
        deep, star, single, members, literal = match.groups()
        pieces = blocks[-1][1]
        if deep:
            whole_segment = match.start() == 0 or pattern[match.start() - 1] == "/"
            folders = whole_segment and pattern.startswith("/", position)
            position += folders
            blocks.append(("(?:.*?/)??" if folders else ".*?", [""]))
        elif star:
            pieces.append("")
        elif single:
            pieces[-1] += "[^/]"
        else:
            pieces[-1] += re.escape(literal) if members is None else _members(members)
    return blocks


def _block(pieces: list[str]) -> str:
    first, *rest = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest)


def _last_block(pieces: list[str]) -> str:
    if len(pieces) == 1:
        return pieces[0]
    return f"{_block(pieces[:-1])}[^/]*{pieces[-1]}"


def _members(text: str) -> str:
    """Translate the inside of ``[...]``; ranges that hold nothing are dropped, as in ``fnmatch``."""
    negated = text.startswith("!")
    chars = text[negated:]
    parts: list[str] = []
    position = 0
    while position < len(chars):
        low, high = chars[position], chars[position : position + 3][2:]
        if chars[position + 1 : position + 2] == "-" and high:
            parts += [f"{re.escape(low)}-{re.escape(high)}"] if low <= high else []
            position += 3
        else:
            parts.append(re.escape(low))
            position += 1
    inside = "".join(parts)
    if negated:
        return f"[^/{inside}]"
    return f"(?!/)[{inside}]" if inside else "(?!)"
