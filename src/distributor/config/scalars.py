"""Small texts of the configuration and the command line: durations and delete limits (D14)."""

from __future__ import annotations

import re

from distributor.core.policy import DeleteLimit

_DURATION = re.compile(r"([0-9]{1,9})([smhdw])\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_COUNT = re.compile(r"[0-9]{1,18}\Z")
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%\Z")


def parse_duration(text: object) -> int | None:
    """Return the seconds of ``30s``, ``15m``, ``12h``, ``90d`` or ``4w``, or ``None``."""
    match = _DURATION.match(text) if isinstance(text, str) else None
    return int(match[1]) * _SECONDS[match[2]] if match else None


def parse_delete_limit(value: object) -> DeleteLimit | None:
    """Read ``max_delete``: a count (``20``) or a share (``"50%"``), or return ``None`` (D14)."""
    if type(value) is int and value >= 0:
        return DeleteLimit(value, None, str(value))
    match = _SHARE.match(value) if isinstance(value, str) else None
    if match and float(match[1]) <= 100:
        return DeleteLimit(None, float(match[1]), match[0])
    return None


def parse_delete_limit_option(text: str) -> DeleteLimit | None:
    """Read ``--max-delete``, where a count is text as well, or return ``None`` (D3, D14)."""
    return parse_delete_limit(int(text) if _COUNT.match(text) else text)
