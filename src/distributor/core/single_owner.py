"""Planning for ``state.mode: single_owner`` (D4, D10, D12-D14, D17, D19, D23)."""

from __future__ import annotations

from distributor.core import plan as shared
from distributor.core.observation import Entry
from distributor.core.paths import STATE_PATH
from distributor.core.plan import Conflict, Plan, PlanInput, Refusal, Scene
from distributor.core.policy import Action, Reason, StateMode, Status
from distributor.core.state.model import OutputRecord, State


def plan_single_owner(given: PlanInput, state: State | None, action: Action, reason: Reason) -> Plan | Refusal:
    """Plan a publication into a root with one owner; ``state`` is ``None`` if absent or invalid."""
    scene = shared.scene_of(given, state)
    if shared.would_empty(given, len(scene.records), action):
        return Refusal(Status.CONFLICT, Reason.WOULD_EMPTY)
    if action is not Action.FORCED_REPLACE and (blocked := _blocked(scene, action)):
        if not given.policy.force:
            return blocked
        action, reason = Action.FORCED_REPLACE, blocked.reason  # D16, D17
    if action is Action.FORCED_REPLACE and (refused := _unsafe_to_force(scene)):
        return refused
    return _complete(scene, action, reason)


def _blocked(scene: Scene, action: Action) -> Refusal | None:
    foreign = {entry.path for entry in shared.unmanaged(scene.content, scene.records.values())}
    if action is not Action.MERGE:
        if foreign:  # D10: found before anything is touched
            return shared.conflict(Reason.UNMANAGED_CONTENT, (Conflict(path, None) for path in foreign))
        return None
    planned = scene.planned
    colliding = (foreign & planned) | shared.in_the_way(planned, foreign)
    if colliding:  # D12
        return shared.conflict(Reason.UNMANAGED_PATH, (Conflict(path, None) for path in colliding))
    own = shared.in_the_way(planned, scene.records.keys() - planned)
    if own:  # D19
        return shared.conflict(Reason.PATH_CONFLICT, (Conflict(path, scene.given.policy.owner) for path in own))
    return None


def _unsafe_to_force(scene: Scene) -> Refusal | None:
    if scene.given.whole_root_refused:  # E5
        return Refusal(Status.FAILED, Reason.WHOLE_ROOT_REFUSED)
    nested = [path for path in scene.content if path.endswith("/" + STATE_PATH) and path not in scene.records]
    if nested:  # D23: another destination lives inside this one
        return shared.conflict(Reason.UNMANAGED_CONTENT, (Conflict(path, None) for path in nested))
    return None


def _complete(scene: Scene, action: Action, reason: Reason) -> Plan | Refusal:
    planned = scene.planned
    unchanged = shared.unchanged_paths(scene, action)
    retained = tuple(scene.records[path] for path in sorted(scene.records.keys() - planned) if action is Action.MERGE)
    deletes = _deletes(scene, action)
    if refused := shared.over_limit(scene.given, deletes, len(scene.records)):
        return refused
    return Plan(
        action=action,
        reason=reason,
        state=_new_state(scene, retained, action),
        puts=tuple(output for output in scene.given.outputs if output.path not in unchanged),
        unchanged=tuple(sorted(unchanged)),
        retained=tuple(record.path for record in retained),
        deletes=deletes,
        overwrites=tuple(sorted((planned - unchanged) & scene.content.keys())),
        migrated=False,
        primary_url=scene.given.primary_url,
    )


def _deletes(scene: Scene, action: Action) -> tuple[Entry, ...]:
    going: set[str] = set()
    if action is Action.FORCED_REPLACE:
        going = set(scene.content)
    elif action is not Action.MERGE:
        going = {path for path, record in scene.records.items() if shared.is_present(record, scene.content)}
    return tuple(scene.content[path] for path in sorted(going - scene.planned))


def _new_state(scene: Scene, retained: tuple[OutputRecord, ...], action: Action) -> State:
    # C4: a takeover and a forced replacement start a new record.
    before = scene.state if action in (Action.REPLACE, Action.MERGE) else None
    now = scene.given.now
    outputs = shared.new_records(scene.given, scene.records if before else {})
    return State(
        schema_version=2,
        mode=StateMode.SINGLE_OWNER,
        created_at=before.created_at if before else now,
        updated_at=now,
        published_at=now,
        owners=(shared.owner_record(scene.given),),
        outputs=tuple(sorted((*outputs, *retained), key=lambda output: output.path)),
        raw=before.raw if before else None,
    )
