"""What stands in the file of a lease; see :mod:`distributor.storage.lease`."""

from __future__ import annotations

import json
from typing import NamedTuple

from distributor.storage.base import StoredFile

MAX_BYTES = 64 << 10
"""More than any lease holds; a larger file is read no further."""

MAX_TTL = 24 * 3600.0
"""Seconds; a lease that claims a longer life is not believed."""


class LeaseRecord(NamedTuple):
    """What a lease file says. ``ttl`` in seconds; ``since`` is for people only."""

    nonce: str
    renewals: int
    holder: str
    owner: str
    since: str
    ttl: float

    def to_bytes(self) -> bytes:
        """Return the file's bytes."""
        return json.dumps(self._asdict(), indent=2).encode() + b"\n"


def parse(stored: StoredFile, ttl: float) -> LeaseRecord:
    """Read a lease file; a damaged one is a lease of nobody known, with life ``ttl``.

    Its nonce then stands for its bytes: it too is stale only after it went unchanged.
    """
    try:
        fields = json.loads(stored.data)
        record = LeaseRecord(
            str(fields["nonce"]),
            int(fields["renewals"]),
            str(fields["holder"]),
            str(fields.get("owner", "")),
            str(fields.get("since", "")),
            float(fields["ttl"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        import hashlib  # here: only a damaged lease needs it

        nonce = "unreadable-" + hashlib.sha256(stored.data).hexdigest()[:16]
        return LeaseRecord(nonce, 0, "an unreadable lease", "", "", ttl)
    return record if 0 < record.ttl <= MAX_TTL else record._replace(ttl=ttl)


def describe(record: LeaseRecord) -> str:
    """Say whose lease it is, for a person."""
    since = f" since {record.since}" if record.since else ""
    owner = f" for {record.owner}" if record.owner else ""
    return f"{record.holder}{owner}{since}"
