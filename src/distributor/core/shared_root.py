"""Planning for ``state.mode: shared_root``: "Shared-Root Ownership" and "Migration" (D5-D9, D16-D19, C7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from distributor.core import plan as shared
from distributor.core.plan import Conflict, Plan, PlanInput, Refusal, Scene
from distributor.core.policy import Action, Reason, StateMode, Status
from distributor.core.state.model import OutputRecord, State


class _Collisions(NamedTuple):
    """What stands in the way of the planned paths.

    ``foreign`` are planned paths that another owner holds, ``foreign_overlap`` other
    owners' paths that can't stand beside planned ones, ``unmanaged`` planned paths
    that exist unrecorded, ``blocked`` unrecorded paths that can't stand beside
    planned ones, ``own`` retained outputs that can't either.
    """

    foreign: frozenset[Conflict]
    foreign_overlap: frozenset[Conflict]
    unmanaged: frozenset[Conflict]
    blocked: frozenset[Conflict]
    own: frozenset[Conflict]

    def everything(self) -> frozenset[Conflict]:
        """Every collision: a conflict lists both kinds in any case (D17)."""
        return self.foreign | self.foreign_overlap | self.unmanaged | self.blocked


def plan_shared_root(given: PlanInput, state: State | None, action: Action, reason: Reason) -> Plan | Refusal:
    """Plan one owner's publication into a root that it may share; ``state`` is ``None`` if absent."""
    scene = shared.scene_of(given, state)
    own = {path: record for path, record in scene.records.items() if record.owner == given.policy.owner}
    if shared.would_empty(given, len(own), action):
        return Refusal(Status.CONFLICT, Reason.WOULD_EMPTY)
    occupied = state is None and bool(scene.content)
    if occupied and not given.policy.force:  # D18
        return shared.conflict(Reason.UNMANAGED_CONTENT, (Conflict(path, None) for path in scene.content))
    collisions = _collisions(scene, own, action)
    if refused := _refusal(given, collisions):
        return refused
    if occupied:
        action, reason = Action.FORCED_REPLACE, Reason.UNMANAGED_CONTENT
    else:
        action, reason = _over_collisions(given, collisions, action, reason)
    return _complete(scene, own, action, reason)


def _collisions(scene: Scene, own: Mapping[str, OutputRecord], action: Action) -> _Collisions:
    planned = scene.planned
    others = scene.records.keys() - own.keys()
    unrecorded = {entry.path for entry in shared.unmanaged(scene.content, scene.records.values())}
    kept = own.keys() - planned if action is Action.MERGE else set()

    def held(paths: set[str]) -> frozenset[Conflict]:
        return frozenset(Conflict(path, scene.records[path].owner) for path in paths)

    def free(paths: set[str]) -> frozenset[Conflict]:
        return frozenset(Conflict(path, None) for path in paths)

    return _Collisions(
        foreign=held(planned & others),
        foreign_overlap=held(shared.in_the_way(planned, others)),
        unmanaged=free(planned & unrecorded),
        blocked=free(shared.in_the_way(planned, unrecorded)),
        own=held(shared.in_the_way(planned, kept)),
    )


def _refusal(given: PlanInput, collisions: _Collisions) -> Refusal | None:
    force, takeover = given.policy.force, given.policy.takeover.permits_owner
    if collisions.foreign_overlap or (collisions.foreign and not takeover and not force):
        return shared.conflict(Reason.OUTPUT_OWNER_MISMATCH, collisions.everything())
    if collisions.blocked or (collisions.unmanaged and not force):
        return shared.conflict(Reason.UNMANAGED_PATH, collisions.everything())
    if collisions.own:
        return shared.conflict(Reason.PATH_CONFLICT, collisions.own)
    return None


def _over_collisions(
    given: PlanInput, collisions: _Collisions, action: Action, reason: Reason
) -> tuple[Action, Reason]:
    """Name what a permitted collision makes of the action (D6, D16, D17)."""
    if action is Action.FORCED_REPLACE:
        return action, reason  # D1: what forced it came first
    if collisions.foreign and not given.policy.takeover.permits_owner:
        return Action.FORCED_REPLACE, Reason.OUTPUT_OWNER_MISMATCH
    if collisions.unmanaged:
        return Action.FORCED_REPLACE, Reason.UNMANAGED_PATH
    if collisions.foreign and action is not Action.TAKEOVER:
        return Action.TAKEOVER, Reason.OUTPUT_OWNER_MISMATCH
    return action, reason


def _complete(scene: Scene, own: Mapping[str, OutputRecord], action: Action, reason: Reason) -> Plan | Refusal:
    planned = scene.planned
    unchanged = shared.unchanged_paths(scene, action)
    retained = own.keys() - planned if action is Action.MERGE else set()
    present = {path for path, record in own.items() if shared.is_present(record, scene.content)}
    deletes = tuple(scene.content[path] for path in sorted(present - planned - retained))
    if refused := shared.over_limit(scene.given, deletes, len(own)):
        return refused
    kept = [r for path, r in scene.records.items() if path not in planned and (path not in own or path in retained)]
    return Plan(
        action=action,
        reason=reason,
        state=_new_state(scene, kept),
        puts=tuple(output for output in scene.given.outputs if output.path not in unchanged),
        unchanged=tuple(sorted(unchanged)),
        retained=tuple(sorted(retained)),
        deletes=deletes,
        overwrites=tuple(sorted((planned - unchanged) & scene.content.keys())),
        migrated=scene.state is not None and scene.state.mode is StateMode.SINGLE_OWNER,
        primary_url=scene.given.primary_url,
    )


def _new_state(scene: Scene, kept: list[OutputRecord]) -> State:
    given, state = scene.given, scene.state
    owners = [owner for owner in state.owners if owner.key != given.policy.owner] if state else []
    outputs = (*shared.new_records(given, scene.records), *kept)
    return State(
        schema_version=3,
        mode=StateMode.SHARED_ROOT,
        created_at=state.created_at if state else given.now,
        updated_at=given.now,
        published_at=None,
        owners=(*owners, shared.owner_record(given)),
        outputs=tuple(sorted(outputs, key=lambda output: output.path)),
        raw=state.raw if state else None,
    )
