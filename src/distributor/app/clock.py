"""The only place that reads the clock."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present instant in UTC."""
    return datetime.now(UTC)  # noqa: TID251
