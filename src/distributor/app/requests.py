"""What a caller asks of a use case, apart from the configuration."""

from __future__ import annotations

from typing import NamedTuple

from distributor.core.policy import DeleteLimit, TakeoverMode


class Selection(NamedTuple):
    """``-p`` and ``-d``: empty means "the one there is", or all where a command takes all."""

    pipelines: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()


class RunRequest(NamedTuple):
    """``run`` and ``plan``: the selection and the one-run overrides (D3, D4, D20).

    ``bundle`` is a folder that replaces the pipeline's ``source.path``.
    """

    selection: Selection = Selection()
    bundle: str | None = None
    dry_run: bool = False
    command: str = "run"
    force: bool = False
    republish: bool = False
    checksum: bool = False
    allow_empty: bool = False
    allow_older: bool = False
    takeover: TakeoverMode | None = None
    max_delete: DeleteLimit | None = None


class RepairRequest(NamedTuple):
    """``reconcile-state``: one destination, and whether every owner's records are checked."""

    selection: Selection = Selection()
    all_owners: bool = False
    allow_empty: bool = False
    dry_run: bool = False


class PruneRequest(NamedTuple):
    """``prune``: one destination; without ``apply`` nothing is deleted (F5)."""

    selection: Selection = Selection()
    apply: bool = False
