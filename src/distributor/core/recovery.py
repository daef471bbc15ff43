"""What to do with a journal that somebody left (E1a, E2, E6, G3): decided here, done in ``app``.

The decision also says what the destination looks like afterwards, so that commands
that only look can answer as if the recovery had happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from distributor.core.journal import InvalidJournal, Journal, JournalDelete, JournalPut, Phase, Unsure, text_digest
from distributor.core.observation import Absent, Entry, EntryKind, FoundState, SeenState
from distributor.core.ownership import valid_state
from distributor.core.policy import Action, StateMode
from distributor.core.repair import without_records
from distributor.core.state.codec import decode_state, encode_state
from distributor.core.state.model import State


class Direction(str, Enum):
    """Which way a recovery goes."""

    NOTHING = "nothing"
    UNDO = "undo"
    FINISH = "finish"


class Recovery(NamedTuple):
    """How to recover, as steps in order: promote, state, deletes; and what is left to know.

    ``writes_state`` says whether ``state`` (bytes, or ``None``: remove it) is to be
    written. ``deletes`` go after the state, but before it where ``deletes_first``
    (a prune, F4a). ``unsure`` stays on record until its owner publishes again.
    """

    direction: Direction
    promotes: tuple[JournalPut, ...] = ()
    writes_state: bool = False
    state: bytes | None = None
    deletes: tuple[JournalDelete, ...] = ()
    deletes_first: bool = False
    unsure: tuple[Unsure, ...] = ()


def plan_recovery(journal: Journal, seen: SeenState) -> Recovery | InvalidJournal:
    """Decide how to recover from ``journal`` at a destination whose state is ``seen``.

    Only paths that the old or the new state records, or that the staging holds, are
    touched; unmanaged content of a forced replacement only while it is still what
    was seen. A committed journal that fits neither state is foreign: invalid (E2).
    """
    current = seen.digest if isinstance(seen, FoundState) else None
    if journal.phase is Phase.STAGING:
        return Recovery(Direction.UNDO, unsure=journal.unsure)
    if journal.phase is Phase.UNSURE:
        return Recovery(Direction.NOTHING, unsure=journal.unsure)
    is_new = current == journal.new_state_digest
    if not is_new and current != journal.old_state:
        return InvalidJournal("belongs to a state that is not here: the state was changed while it was pending")
    if fault := _untrusted(journal, seen, is_new=is_new):
        return InvalidJournal(fault)
    return _recover(journal, is_new=is_new)


def _recover(journal: Journal, *, is_new: bool) -> Recovery:
    state = None if journal.new_state is None else journal.new_state.encode()
    if journal.phase is Phase.PRUNE:
        if is_new:
            return Recovery(Direction.FINISH, unsure=journal.unsure)
        return Recovery(
            Direction.FINISH,
            writes_state=True,
            state=state,
            deletes=journal.deletes,
            deletes_first=True,
            unsure=journal.unsure,
        )
    if journal.phase is Phase.COMMITTED:
        return Recovery(Direction.FINISH, journal.puts, not is_new, state, journal.deletes, unsure=journal.unsure)
    if is_new:
        return Recovery(Direction.FINISH, deletes=journal.deletes, unsure=journal.unsure)
    created = tuple(JournalDelete(put.path, True, put.size, "") for put in journal.puts if not put.existed)
    replaced = {Unsure(put.path, journal.owner) for put in journal.puts if put.existed}
    return Recovery(Direction.UNDO, deletes=created, unsure=tuple(sorted(replaced | set(journal.unsure))))


def _untrusted(journal: Journal, seen: SeenState, *, is_new: bool) -> str | None:
    """Say which part of a journal the states do not bear out, or ``None``."""
    new = decode_state(journal.new_state.encode()) if journal.new_state is not None else None
    if new is not None and not isinstance(new, State):
        return "carries a state that is not valid"
    managed = {output.path for output in new.outputs} if new else set()
    stray = next((put.path for put in journal.puts if put.path not in managed), None)
    if stray is not None:
        return f"puts {stray!r}, which its own state does not record"
    kept = next((delete.path for delete in journal.deletes if delete.path in managed), None)
    if kept is not None:
        return f"deletes {kept!r}, which its own state records"
    old = None if is_new else valid_state(seen)
    recorded = {output.path for output in old.outputs} if old else set()
    unknown = next((d.path for d in journal.deletes if d.recorded and old and d.path not in recorded), None)
    if unknown is not None:
        return f"deletes {unknown!r} as recorded, which the state does not record"
    forced = journal.action == Action.FORCED_REPLACE.value and (new is None or new.mode is StateMode.SINGLE_OWNER)
    if not forced and any(not delete.recorded for delete in journal.deletes):
        return "deletes unmanaged content without a forced replacement"
    return None


def may_delete(delete: JournalDelete, entry: Entry | None) -> bool:
    """Whether a path named by a journal may go: unmanaged content only while it is what was seen."""
    if entry is None or entry.kind is EntryKind.FOLDER:
        return False
    if delete.recorded:
        return entry.kind is EntryKind.FILE
    return (entry.size, entry.version) == (delete.size, delete.version)


class Aftermath(NamedTuple):
    """What a destination looks like once recovered."""

    seen: SeenState
    listing: tuple[Entry, ...]
    unsure: frozenset[str]


def after_recovery(recovery: Recovery, seen: SeenState, listing: Iterable[Entry]) -> Aftermath:
    """Return the observation as if ``recovery`` had been carried out (G3)."""
    entries = {entry.path: entry for entry in listing}
    for put in recovery.promotes:
        entries[put.path] = Entry(put.path, EntryKind.FILE, put.size)
    for delete in recovery.deletes:
        if may_delete(delete, entries.get(delete.path)):
            del entries[delete.path]
    if recovery.writes_state:
        seen = _seen(recovery.state)
    return Aftermath(seen, tuple(entries.values()), frozenset(unsure.path for unsure in recovery.unsure))


def _seen(state: bytes | None) -> SeenState:
    if state is None:
        return Absent()
    return FoundState(decode_state(state), text_digest(state.decode()), "")


def state_after_prune(recovery: Recovery, seen: SeenState, confirmed: set[str], version: str) -> bytes | None:
    """Return the state bytes of a prune whose ``confirmed`` paths are gone (F4, F4a)."""
    before, after = valid_state(seen), valid_state(_seen(recovery.state))
    if before is None or after is None:
        return recovery.state
    return encode_state(without_records(before, confirmed, after.updated_at), version)
