"""Values as text that is safe and pleasant to read in a terminal (G9)."""

from __future__ import annotations

import re
from datetime import datetime

from distributor.core.values import parse_timestamp

# Control characters, line separators, characters that reorder a line, and undecodable bytes.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    """Return ``text`` with everything escaped that could move the cursor or mislead a reader (G9)."""
    return _UNSAFE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte of a name
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def size(count: int) -> str:
    """Return a number of bytes as people write it: ``12 B``, ``3.4 KiB``, ``1.0 GiB``."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95 or unit == "TiB":
            return f"{value:.1f} {unit}"
    raise AssertionError("unreachable")


def count(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``, ``1,204 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def age(text: object, now: datetime) -> str:
    """Return how long ago an RFC 3339 time was: ``3 min ago``; its own text if it can't be read."""
    time = parse_timestamp(text)
    if time is None:
        return "" if text is None else escape(str(text))
    seconds = int((now - time.to_datetime()).total_seconds())
    if seconds < 0:
        return "in the future"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:,} {unit} ago"
    return "just now"


def moment(text: str) -> str:
    """Return an RFC 3339 time to the minute, in UTC: ``2026-06-04 12:00``."""
    time = parse_timestamp(text)
    return f"{time.to_datetime():%Y-%m-%d %H:%M}" if time else escape(text)


def columns(text: str) -> int:
    """Return how many terminal columns ``text`` takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # here: most names are ASCII

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def padded(text: str, width: int) -> str:
    """Return ``text`` filled with blanks up to ``width`` columns."""
    return text + " " * max(0, width - columns(text))
