"""What a destination is configured to do: plain settings, and the names of outcomes.

The names are those of the interfaces: scripts rely on them.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class StateMode(str, Enum):
    """``state.mode``."""

    SINGLE_OWNER = "single_owner"
    SHARED_ROOT = "shared_root"


class Reconciliation(str, Enum):
    """``reconciliation.mode``."""

    REPLACE = "replace"
    MERGE = "merge"


class TakeoverMode(str, Enum):
    """``takeover.mode`` (D6)."""

    NEVER = "never"
    SOURCE = "source"
    OWNER = "owner"
    ANY = "any"

    @property
    def permits_source(self) -> bool:
        """Whether another source id under the same owner may be taken over."""
        return self in (TakeoverMode.SOURCE, TakeoverMode.ANY)

    @property
    def permits_owner(self) -> bool:
        """Whether another owner's state or path may be taken over."""
        return self in (TakeoverMode.OWNER, TakeoverMode.ANY)


class Action(str, Enum):
    """What a publication does to a destination."""

    PUBLISH = "publish"
    REPLACE = "replace"
    MERGE = "merge"
    TAKEOVER = "takeover"
    FORCED_REPLACE = "forced_replace"
    ADOPT = "adopt"
    RETIRE = "retire"
    NONE = "none"


class Status(str, Enum):
    """How one destination ended."""

    PUBLISHED = "published"
    PLANNED = "planned"
    SKIPPED = "skipped"
    CONFLICT = "conflict"
    LOCKED = "locked"
    FAILED = "failed"


class Reason(str, Enum):
    """Why; each is explained in ``docs/reasons.md``."""

    NO_STATE = "no_state"
    OWNER_ABSENT = "owner_absent"
    DESTINATION_OLDER = "destination_older"
    DESTINATION_NEWER = "destination_newer"
    SAME_SOURCE = "same_source"
    REPUBLISH = "republish"
    DIGEST_CONFLICT = "digest_conflict"
    SOURCE_MISMATCH = "source_mismatch"
    IDENTITY_MISMATCH = "identity_mismatch"
    OUTPUT_OWNER_MISMATCH = "output_owner_mismatch"
    UNMANAGED_CONTENT = "unmanaged_content"
    UNMANAGED_PATH = "unmanaged_path"
    INVALID_STATE = "invalid_state"
    UNSUPPORTED_STATE_VERSION = "unsupported_state_version"
    STATE_MODE_MISMATCH = "state_mode_mismatch"
    WOULD_EMPTY = "would_empty"
    DELETE_LIMIT = "delete_limit"
    PATH_CONFLICT = "path_conflict"
    PLAN_CHANGED = "plan_changed"
    INVALID_JOURNAL = "invalid_journal"
    INVALID_OUTPUTS = "invalid_outputs"
    WHOLE_ROOT_REFUSED = "whole_root_refused"
    INVALID_BUNDLE = "invalid_bundle"
    TRANSFORM_FAILED = "transform_failed"
    STORAGE_FAILED = "storage_failed"
    LOCKED = "locked"


class OwnerKey(NamedTuple):
    """Who publishes: shared-root state is scoped by this pair."""

    pipeline_id: str
    destination_id: str


class DeleteLimit(NamedTuple):
    """``max_delete`` (D14): a count, or a share of the owner's outputs in percent."""

    number: int | None
    percent: float | None
    text: str

    def allows(self, deletions: int, outputs: int) -> bool:
        """Whether ``deletions`` out of ``outputs`` recorded ones stay within the limit."""
        if self.number is not None:
            return deletions <= self.number
        return deletions * 100 <= (self.percent or 0) * outputs


class OutputRule(NamedTuple):
    """One entry of ``outputs``: which files, made into what, under which path.

    ``path`` is a template or ``None`` for the transform's default; ``options`` are
    the transform's, as plain YAML data.
    """

    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    transform: str | None = None
    path: str | None = None
    options: tuple[tuple[str, object], ...] = ()


class Links(NamedTuple):
    """``links``: where the destination is served, and which page is the primary one."""

    base_url: str | None = None
    primary: tuple[str, ...] = ("index.html", "*.html")


class Retention(NamedTuple):
    """``retention`` (F3). ``max_age`` is in seconds; ``None`` means no such rule."""

    max_age: int | None = None
    keep_last: int | None = None
    keep_daily: int | None = None
    keep_weekly: int | None = None
    keep_monthly: int | None = None
    keep_yearly: int | None = None
    protect: tuple[str, ...] = ()
    keep_newest: bool = True
    max_delete: DeleteLimit | None = None


class PublishPolicy(NamedTuple):
    """Everything about one destination that the comparison and the plan depend on.

    Command-line overrides (D3, D4, D20) are merged into it before planning:
    ``republish`` and ``checksum`` have no configuration key of their own.
    """

    owner: OwnerKey
    state_mode: StateMode = StateMode.SINGLE_OWNER
    reconciliation: Reconciliation = Reconciliation.REPLACE
    replace_older: bool = True
    replace_newer: bool = False
    force: bool = False
    allow_empty: bool = False
    max_delete: DeleteLimit | None = None
    takeover: TakeoverMode = TakeoverMode.NEVER
    republish: bool = False
    checksum: bool = False
