"""State Repair Semantics: which records name files that are gone (F1, F2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from distributor.core.observation import Entry
from distributor.core.plan import is_present, unmanaged
from distributor.core.policy import OwnerKey
from distributor.core.state.model import OutputRecord, State
from distributor.core.values import Timestamp


class RepairPlan(NamedTuple):
    """What a repair found: ``checked`` records were looked at; ``state`` is ``None`` if nothing is missing."""

    checked: int
    missing: tuple[OutputRecord, ...]
    unmanaged: tuple[str, ...]
    state: State | None

    @property
    def would_empty(self) -> bool:
        """Whether every checked record would go: what a wrong mount or prefix looks like (F1)."""
        return bool(self.missing) and len(self.missing) == self.checked


def plan_repair(
    state: State, content: Mapping[str, Entry], key: OwnerKey, *, all_owners: bool, now: Timestamp
) -> RepairPlan:
    """Find missing outputs of ``key``, or of every owner, and name unmanaged content.

    Digests are not looked at, and nothing but missing records is changed.
    """
    checked = [record for record in state.outputs if all_owners or record.owner == key]
    missing = tuple(record for record in checked if not is_present(record, content))
    stray = tuple(sorted(entry.path for entry in unmanaged(content, state.outputs)))
    changed = without_records(state, {record.path for record in missing}, now) if missing else None
    return RepairPlan(len(checked), missing, stray, changed)


def without_records(state: State, paths: set[str], now: Timestamp) -> State:
    """Return ``state`` without the records of ``paths``; all else stays as it was read (A6, F2)."""
    return state._replace(
        outputs=tuple(record for record in state.outputs if record.path not in paths),
        updated_at=now,
    )
