"""Whose state is this? Selecting one owner's record for repair, prune, verify and retire (F1a)."""

from __future__ import annotations

from collections.abc import Iterable

from distributor.core.observation import Absent, FoundState, SeenState
from distributor.core.outputs import OutputSpec
from distributor.core.policy import OwnerKey, PublishPolicy, Reason, Reconciliation, StateMode
from distributor.core.state.model import InvalidState, State, UnsupportedState


def owned_state(seen: SeenState, key: OwnerKey) -> State | Reason:
    """Return the state in which ``key`` has a record, or why there is none.

    The state's own mode counts, whatever is configured; nothing migrates (F1a).
    """
    if isinstance(seen, Absent):
        return Reason.NO_STATE
    decoded = seen.decoded
    if isinstance(decoded, UnsupportedState):
        return Reason.UNSUPPORTED_STATE_VERSION
    if isinstance(decoded, InvalidState):
        return Reason.INVALID_STATE
    if decoded.owner(key) is not None:
        return decoded
    return Reason.OWNER_ABSENT if decoded.mode is StateMode.SHARED_ROOT else Reason.IDENTITY_MISMATCH


def valid_state(seen: SeenState) -> State | None:
    """Return the state if there is a valid one."""
    if isinstance(seen, FoundState) and isinstance(seen.decoded, State):
        return seen.decoded
    return None


def outputs_differ(specs: Iterable[OutputSpec], state: State, policy: PublishPolicy) -> bool:
    """Whether the configured outputs are no longer those that the state records (D11, D21)."""
    recorded = {record.path: record for record in state.outputs_of(policy.owner)}
    planned = {spec.path: spec for spec in specs}
    if policy.reconciliation is Reconciliation.REPLACE and recorded.keys() - planned.keys():
        return True
    for path, spec in planned.items():
        record = recorded.get(path)
        if record is None:
            return True
        before = (record.kind, record.source_path, record.transform, record.url)
        if before != (spec.kind, spec.source_path, spec.transform, spec.url):
            return True
    return False
