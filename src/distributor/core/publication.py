"""How a publication is carried out, as values: order of writes (E1), clearing (E1), times (C6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from distributor.core.journal import JournalDelete
from distributor.core.paths import parents
from distributor.core.state.model import State
from distributor.core.values import Timestamp, timestamp_of


def publication_time(now: datetime, state: State | None) -> Timestamp:
    """Return the one time of a publication: ``now`` in microseconds, equal to no time in ``state`` (C6)."""
    taken = {time.instant for time in state.timestamps()} if state else set()
    time = timestamp_of(now)
    while time.instant in taken:
        now += timedelta(microseconds=1)
        time = timestamp_of(now)
    return time


def write_groups(paths: Iterable[str], primary: str | None) -> tuple[tuple[str, ...], ...]:
    """Return ``paths`` in groups to be put one after the other (E1).

    What pages show comes first, then ``.html``, the primary page last; within a
    group the order does not matter.
    """
    pages = {path for path in paths if path.lower().endswith((".html", ".htm"))}
    last = {primary} & set(paths) if primary else set()
    groups = (set(paths) - pages - last, pages - last, last)
    return tuple(tuple(sorted(group)) for group in groups if group)


def clearing(puts: Iterable[str], deletes: Iterable[JournalDelete]) -> Mapping[str, tuple[JournalDelete, ...]]:
    """Return, for each path to be put, what has to go just before it: a file where it needs a folder, or the reverse."""
    stale = {delete.path: delete for delete in deletes}
    below: dict[str, list[JournalDelete]] = {}
    for path, delete in stale.items():
        for parent in parents(path):
            below.setdefault(parent, []).append(delete)
    found = {path: [stale[p] for p in parents(path) if p in stale] + below.get(path, []) for path in puts}
    return {path: tuple(deletes) for path, deletes in found.items() if deletes}
