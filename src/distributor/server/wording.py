"""Numbers and instants as the dashboard words them."""

from __future__ import annotations

from datetime import UTC, datetime

from distributor.core.values import parse_timestamp

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_SPANS = ((86400 * 365, "year"), (86400 * 30, "month"), (86400, "day"), (3600, "hour"), (60, "minute"))


def size(count: int | None) -> str:
    """Return bytes as a person reads them: ``1.4 MiB``."""
    if count is None:
        return "–"
    value = float(count)
    for unit in _UNITS:
        if value < 1024 or unit == _UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError


def instant(value: float | str | None) -> datetime | None:
    """Return seconds since 1970, or RFC 3339 text, as a datetime."""
    if value is None:
        return None
    if isinstance(value, str):
        stamp = parse_timestamp(value)
        return None if stamp is None else stamp.to_datetime()
    return datetime.fromtimestamp(value, UTC)


def age(value: float | str | None, now: datetime) -> str:
    """Return how long ago an instant was: ``3 hours ago``."""
    then = instant(value)
    if then is None:
        return "never"
    seconds = (now - then).total_seconds()
    if seconds < 0:
        return "in the future"
    for span, word in _SPANS:
        if seconds >= span:
            number = int(seconds // span)
            return f"{number} {word}{'s' if number > 1 else ''} ago"
    return "just now"


def exact(value: float | str | None) -> str:
    """Return an instant for a tooltip and for machines: RFC 3339 in UTC."""
    then = instant(value)
    return "" if then is None else then.strftime("%Y-%m-%dT%H:%M:%SZ")
