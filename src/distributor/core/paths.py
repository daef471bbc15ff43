"""Clean relative paths (A1) and names reserved at a destination root (A2)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple, NewType

RelPath = NewType("RelPath", str)
"""A path that passed :func:`path_problem`; ordinary string order is its byte order."""

STATE_PATH = RelPath(".distributor.json")
JOURNAL_PATH = RelPath(".distributor.journal.json")
LOCK_PATH = RelPath(".distributor.lock")
STAGE_PATH = RelPath(".distributor.stage")
RESERVED_PREFIX = ".distributor."
MANIFEST_PATH = RelPath("manifest.json")

MAX_SEGMENT_BYTES = 255
MAX_PATH_BYTES = 1024

_SEGMENT = r"(?!\.{1,2}(?:/|\Z))[^/\\\x00-\x1f\x7f]{1,255}"
_CLEAN_ASCII = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*\Z", re.ASCII)


def path_problem(text: str) -> str | None:
    """Say why ``text`` is no clean relative path (A1), or ``None`` if it is one."""
    if text.isascii() and len(text) <= MAX_PATH_BYTES and _CLEAN_ASCII.match(text):
        return None
    if not text:
        return "is empty"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if "\\" in text:
        return "contains a backslash"
    if any(char < " " or char == "\x7f" for char in text):
        return "contains a control character"
    if text.startswith("/"):
        return "is absolute"
    if size > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    return _segment_problem(text.split("/"))


def _segment_problem(segments: list[str]) -> str | None:
    for segment in segments:
        if segment == "":
            return "has an empty segment"
        if segment in (".", ".."):
            return f"has a {segment!r} segment"
        if len(segment.encode()) > MAX_SEGMENT_BYTES:
            return f"has a segment longer than {MAX_SEGMENT_BYTES} bytes"
    return None


def is_reserved(path: str) -> bool:
    """Whether ``path`` lies under a name that belongs to the program (A2)."""
    return path.startswith(RESERVED_PREFIX)


def parents(path: str) -> Iterator[str]:
    """Yield the folders above ``path``, nearest first, without the root."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


class Overlap(NamedTuple):
    """Two paths that can't stand in one tree: ``folder`` is a file and a folder of ``path``."""

    folder: str
    path: str


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder that some path of ``paths`` lies in, without the root."""
    folders: set[str] = set()
    for path in paths:
        for folder in parents(path):
            if folder in folders:
                break
            folders.add(folder)
    return folders


def overlaps(paths: Iterable[str]) -> list[Overlap]:
    """Return the pairs of ``paths`` of which one is a folder of the other (A1)."""
    known = set(paths)
    if not known & folders_of(known):
        return []
    return sorted(Overlap(folder, path) for path in known for folder in parents(path) if folder in known)


def look_alikes(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """Return groups of paths that differ only in letter case or normalisation (A1: a warning)."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        key = path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
        groups.setdefault(key, []).append(path)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]
