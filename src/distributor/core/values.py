"""The contract's small values: digests, ids, sizes (A4, A5), timestamps (A3, H5), URLs (H3)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote, urlsplit

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_SOURCE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z")
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))\Z", re.ASCII
)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()


def is_digest(value: object) -> bool:
    """Whether ``value`` is ``sha256:`` and 64 lowercase hex digits (A4)."""
    return isinstance(value, str) and _DIGEST.match(value) is not None


def is_size(value: object) -> bool:
    """Whether ``value`` is a JSON integer, zero or greater; ``True`` is not one (A4)."""
    return type(value) is int and value >= 0


def is_id(value: object) -> bool:
    """Whether ``value`` is a pipeline or destination id (A5)."""
    return isinstance(value, str) and _ID.match(value) is not None


def is_source_id(value: object) -> bool:
    """Whether ``value`` is a source id: as a pipeline id, with up to 200 characters (A5)."""
    return isinstance(value, str) and _SOURCE_ID.match(value) is not None


class Timestamp(NamedTuple):
    """An RFC 3339 instant that keeps its text (A3).

    ``seconds`` since 1970 in UTC and ``fraction``, its decimals without trailing
    zeros, order two timestamps exactly, whatever their precision and offset.
    Compare ``instant``: two texts can name one.
    """

    seconds: int
    fraction: str
    text: str

    @property
    def instant(self) -> tuple[int, str]:
        """A value that is equal and ordered as the instants are."""
        return (self.seconds, self.fraction)

    def to_datetime(self) -> datetime:
        """Return the instant in UTC, cut to microseconds."""
        micros = int(self.fraction[:6].ljust(6, "0"))
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds, microseconds=micros)


def parse_timestamp(text: object) -> Timestamp | None:
    """Read an RFC 3339 timestamp with an offset, or return ``None`` (A3, H5)."""
    match = _TIMESTAMP.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.group(1, 2, 3, 4, 5, 6))
    try:
        days = date(year, month, day).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        return None
    offset_hours, offset_minutes = int(match[9] or 0), int(match[10] or 0)
    if max(hour, offset_hours) > 23 or max(minute, second, offset_minutes) > 59:
        return None
    offset = (offset_hours * 60 + offset_minutes) * 60
    if match[8] == "-":
        offset = -offset
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    return Timestamp(seconds, (match[7] or "").rstrip("0"), match[0])


def timestamp_of(moment: datetime) -> Timestamp:
    """Return ``moment`` (aware) as a timestamp written in UTC with microseconds (C6)."""
    utc = moment.astimezone(UTC)
    seconds = (utc.toordinal() - _EPOCH_ORDINAL) * 86400 + utc.hour * 3600 + utc.minute * 60 + utc.second
    text = f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond:06d}Z".rjust(27, "0")
    return Timestamp(seconds, f"{utc.microsecond:06d}".rstrip("0"), text)


def url_of(base_url: str, path: str) -> str:
    """Return the URL of the output at ``path`` under ``base_url`` (H3)."""
    return base_url + ("" if base_url.endswith("/") else "/") + quote(path, safe="/-._~")


def is_http_url(value: object) -> bool:
    """Whether ``value`` is an absolute HTTP or HTTPS URL."""
    if not isinstance(value, str) or re.search(r"[\x00-\x20\x7f]", value):
        return False
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
