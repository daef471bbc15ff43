"""Plans as plain data, and the rules that both state modes share (C4-C6, D10, D13-D15, D19, E6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from distributor.core.comparison import Outcome, Verdict
from distributor.core.manifest import Manifest
from distributor.core.observation import Entry, EntryKind, SeenState
from distributor.core.outputs import PlannedOutput
from distributor.core.paths import folders_of, is_reserved, parents
from distributor.core.policy import Action, OwnerKey, PublishPolicy, Reason, Status
from distributor.core.state.model import OutputRecord, OwnerRecord, SourceIdentity, State
from distributor.core.values import Timestamp


class PlanInput(NamedTuple):
    """Everything a publication's plan depends on.

    ``outputs`` are the planned ones, valid by D22 and sorted. ``listing`` is complete
    (D15). ``unsure`` are paths that a failed or interrupted attempt may have
    overwritten (E6). ``stored`` are digests of stored bytes, read only for
    ``--checksum``. ``now`` is the publication's one time, already distinct from
    every time in the state (C6).
    """

    manifest: Manifest
    policy: PublishPolicy
    seen: SeenState
    outputs: tuple[PlannedOutput, ...]
    listing: tuple[Entry, ...]
    primary_url: str | None
    now: Timestamp
    unsure: frozenset[str] = frozenset()
    stored: Mapping[str, str] | None = None
    whole_root_refused: bool = False


class Scene(NamedTuple):
    """What a plan is made over: the state's records by path, and the content by path.

    ``state`` is ``None`` where it is absent or invalid; there are no records then.
    """

    given: PlanInput
    state: State | None
    records: Mapping[str, OutputRecord]
    content: Mapping[str, Entry]

    @property
    def planned(self) -> set[str]:
        """The paths of the planned outputs."""
        return {output.path for output in self.given.outputs}


class Conflict(NamedTuple):
    """One colliding path and who owns it; ``owner`` is ``None`` for unmanaged content."""

    path: str
    owner: OwnerKey | None


class Plan(NamedTuple):
    """What a publication will do, complete before the first write.

    ``puts`` are written, ``unchanged`` are not sent again (E6), ``retained`` stay
    recorded without being planned, ``deletes`` exist and go after the state is
    written. ``overwrites`` are those of ``puts`` that replace something.
    """

    action: Action
    reason: Reason
    state: State
    puts: tuple[PlannedOutput, ...]
    unchanged: tuple[str, ...]
    retained: tuple[str, ...]
    deletes: tuple[Entry, ...]
    overwrites: tuple[str, ...]
    migrated: bool
    primary_url: str | None


class Refusal(NamedTuple):
    """Why a publication does nothing. ``limit`` and ``deletions`` explain ``delete_limit``."""

    status: Status
    reason: Reason
    conflicts: tuple[Conflict, ...] = ()
    limit: str | None = None
    deletions: int | None = None


def refuse(verdict: Verdict) -> Refusal:
    """Turn a verdict that is no plan into a refusal."""
    return Refusal(Status.SKIPPED if verdict.outcome is Outcome.SKIP else Status.CONFLICT, verdict.reason)


def conflict(reason: Reason, conflicts: Iterable[Conflict] = ()) -> Refusal:
    """Return a conflict that lists every colliding path once, sorted."""
    key = lambda c: (c.path, c.owner or OwnerKey("", ""))  # noqa: E731
    return Refusal(Status.CONFLICT, reason, tuple(sorted(set(conflicts), key=key)))


def scene_of(given: PlanInput, state: State | None) -> Scene:
    """Index what was observed."""
    records = {record.path: record for record in state.outputs} if state else {}
    return Scene(given, state, records, content_of(given.listing))


def content_of(listing: Iterable[Entry]) -> dict[str, Entry]:
    """Return what counts as content: neither folders (D19) nor reserved names (A2)."""
    return {e.path: e for e in listing if e.kind is not EntryKind.FOLDER and not is_reserved(e.path)}


def is_present(record: OutputRecord, content: Mapping[str, Entry]) -> bool:
    """Whether a recorded output exists: only a regular file at its path counts (D19, F1)."""
    entry = content.get(record.path)
    return entry is not None and entry.kind is EntryKind.FILE


def unmanaged(content: Mapping[str, Entry], records: Iterable[OutputRecord]) -> tuple[Entry, ...]:
    """Return the content that no record covers; a link at a recorded path is unmanaged (D19)."""
    managed = {record.path for record in records}
    return tuple(e for e in content.values() if e.path not in managed or e.kind is not EntryKind.FILE)


def in_the_way(planned: Iterable[str], others: Iterable[str]) -> set[str]:
    """Return those of ``others`` that are a folder of a planned path or lie below one (D19)."""
    paths = set(planned)
    folders = folders_of(paths)
    return {other for other in others if other in folders or any(parent in paths for parent in parents(other))}


def unchanged_paths(scene: Scene, action: Action) -> set[str]:
    """Return the planned paths whose stored bytes are already right (E6); none when forced (D4)."""
    if action is Action.FORCED_REPLACE:
        return set()
    return {output.path for output in scene.given.outputs if _is_unchanged(output, scene)}


def _is_unchanged(output: PlannedOutput, scene: Scene) -> bool:
    record, given = scene.records.get(output.path), scene.given
    if record is None or not is_present(record, scene.content) or output.path in given.unsure:
        return False
    if given.stored is not None:
        return given.stored.get(output.path) == output.sha256
    return record.sha256 == output.sha256 and scene.content[output.path].size == output.size


def over_limit(given: PlanInput, deletes: tuple[Entry, ...], outputs: int) -> Refusal | None:
    """Apply the delete limit (D14): ``deletes`` exist, ``outputs`` is how many the owner has recorded."""
    limit = given.policy.max_delete
    if limit is None or limit.allows(len(deletes), outputs):
        return None
    return Refusal(Status.CONFLICT, Reason.DELETE_LIMIT, limit=limit.text, deletions=len(deletes))


def would_empty(given: PlanInput, recorded: int, action: Action) -> bool:
    """Whether an empty plan would delete recorded outputs (D13)."""
    return not given.outputs and recorded > 0 and action is not Action.MERGE and not given.policy.allow_empty


def new_records(given: PlanInput, before: Mapping[str, OutputRecord]) -> tuple[OutputRecord, ...]:
    """Return the planned outputs as records ("Output Records", C4-C6); ``before`` lends ``created_at``."""
    source = SourceIdentity(given.manifest.id, given.manifest.digest, given.manifest.created)
    return tuple(
        OutputRecord(
            path=output.path,
            kind=output.kind,
            source_path=output.source_path,
            transform=output.transform,
            url=output.url,
            sha256=output.sha256,
            size=output.size,
            created_at=before[output.path].created_at if output.path in before else given.now,
            updated_at=given.now,
            owner=given.policy.owner,
            source=source,
        )
        for output in given.outputs
    )


def owner_record(given: PlanInput) -> OwnerRecord:
    """Return the publishing owner's new record."""
    return OwnerRecord(given.policy.owner, given.policy.reconciliation, given.manifest, given.primary_url)
