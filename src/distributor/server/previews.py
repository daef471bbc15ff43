"""What repair and prune would do, for the dashboard: both only look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from distributor.app import clock
from distributor.app.context import Context, Silent
from distributor.app.prune import prune
from distributor.app.repair import reconcile_state
from distributor.app.requests import PruneRequest, RepairRequest, Selection
from distributor.config.model import Config
from distributor.errors import DistributorError

Document = Mapping[str, Any]


def preview(kind: str, config: Config, pipeline_id: str, destination_id: str) -> Document:
    """Return the report of a dry run, with its ``kind``; ``message`` says why there is none."""
    selection = Selection((pipeline_id,), (destination_id,))
    try:
        return {"kind": kind, **PREVIEWS[kind](config, selection, Context(clock.now, _never, Silent()))}
    except DistributorError as error:
        return {"kind": kind, "status": "failed", "message": str(error)}


def _drift(config: Config, selection: Selection, context: Context) -> Document:
    return reconcile_state(config, RepairRequest(selection, dry_run=True), context)


def _prune(config: Config, selection: Selection, context: Context) -> Document:
    return prune(config, PruneRequest(selection), context)


PREVIEWS: Mapping[str, Callable[[Config, Selection, Context], Document]] = {"drift": _drift, "prune": _prune}


def _never() -> None:
    """A preview is quick: a server that stops does not wait for it."""
