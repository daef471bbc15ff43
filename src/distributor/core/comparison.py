"""Comparison Semantics: the source manifest against the destination state (D1-D8, D16, D20).

This is what can be said from the state alone. What stands in storage (unmanaged
content, colliding paths, limits) is :mod:`distributor.core.planning`'s to judge.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from distributor.core.manifest import Manifest
from distributor.core.observation import Absent, SeenState
from distributor.core.policy import Action, PublishPolicy, Reason, Reconciliation, StateMode
from distributor.core.state.model import InvalidState, OwnerRecord, State, UnsupportedState


class Outcome(str, Enum):
    """Whether a comparison goes on to a plan, has nothing to do, or refuses."""

    PROCEED = "proceed"
    SKIP = "skip"
    CONFLICT = "conflict"


class Verdict(NamedTuple):
    """What the state says. ``action`` is the one to plan, ``NONE`` unless ``PROCEED``."""

    outcome: Outcome
    reason: Reason
    action: Action = Action.NONE


def compare(manifest: Manifest, seen: SeenState, policy: PublishPolicy) -> Verdict:
    """Judge a publication by the destination's state, in the order of D1; the first rule that applies names it."""
    if isinstance(seen, Absent):
        return _proceed(Action.PUBLISH, Reason.NO_STATE)
    if isinstance(seen.decoded, UnsupportedState):
        return _conflict(Reason.UNSUPPORTED_STATE_VERSION)
    if isinstance(seen.decoded, InvalidState):
        # D5: in a shared root, other owners can't be known from an invalid state.
        forced = policy.force and policy.state_mode is StateMode.SINGLE_OWNER
        reason = Reason.INVALID_STATE
        return _proceed(Action.FORCED_REPLACE, reason) if forced else _conflict(reason)
    if policy.state_mode is StateMode.SINGLE_OWNER:
        return _compare_single_owner(manifest, seen.decoded, policy)
    return _compare_shared_root(manifest, seen.decoded, policy)


def _compare_single_owner(manifest: Manifest, state: State, policy: PublishPolicy) -> Verdict:
    if state.mode is StateMode.SHARED_ROOT:
        return _conflict(Reason.STATE_MODE_MISMATCH)  # D7
    (owner,) = state.owners
    if owner.key != policy.owner:
        return _mismatch(Reason.IDENTITY_MISMATCH, policy.takeover.permits_owner, policy)
    return _compare_source(manifest, owner, policy)


def _compare_shared_root(manifest: Manifest, state: State, policy: PublishPolicy) -> Verdict:
    owner = state.owner(policy.owner)
    if owner is not None:
        return _compare_source(manifest, owner, policy)
    if state.mode is StateMode.SINGLE_OWNER:
        return _conflict(Reason.IDENTITY_MISMATCH)  # D7: whatever takeover and force say
    return _proceed(Action.PUBLISH, Reason.OWNER_ABSENT)


def _compare_source(manifest: Manifest, owner: OwnerRecord, policy: PublishPolicy) -> Verdict:
    recorded = owner.manifest
    if recorded.id != manifest.id:
        return _mismatch(Reason.SOURCE_MISMATCH, policy.takeover.permits_source, policy)
    if recorded.same_as(manifest):
        return _update(Reason.REPUBLISH, policy) if policy.republish else _skip(Reason.SAME_SOURCE)
    if recorded.created.instant < manifest.created.instant:
        replace = policy.replace_older or policy.republish  # D2, D20
        return _update(Reason.DESTINATION_OLDER, policy) if replace else _skip(Reason.DESTINATION_OLDER)
    if recorded.created.instant > manifest.created.instant:
        return _update(Reason.DESTINATION_NEWER, policy) if policy.replace_newer else _skip(Reason.DESTINATION_NEWER)
    return _mismatch(Reason.DIGEST_CONFLICT, False, policy)


def _mismatch(reason: Reason, takeover: bool, policy: PublishPolicy) -> Verdict:
    if takeover:  # D16: before force
        return _proceed(Action.TAKEOVER, reason)
    return _proceed(Action.FORCED_REPLACE, reason) if policy.force else _conflict(reason)


def _update(reason: Reason, policy: PublishPolicy) -> Verdict:
    merge = policy.reconciliation is Reconciliation.MERGE
    return _proceed(Action.MERGE if merge else Action.REPLACE, reason)


def _proceed(action: Action, reason: Reason) -> Verdict:
    return Verdict(Outcome.PROCEED, reason, action)


def _skip(reason: Reason) -> Verdict:
    return Verdict(Outcome.SKIP, reason)


def _conflict(reason: Reason) -> Verdict:
    return Verdict(Outcome.CONFLICT, reason)
