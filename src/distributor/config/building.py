"""From checked values to the records that the rest of the program reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from distributor.config.checks import scheme_of
from distributor.config.model import Destination, LockSettings, Pipeline, Source
from distributor.core.policy import (
    Links,
    OutputRule,
    OwnerKey,
    PublishPolicy,
    Reconciliation,
    Retention,
    StateMode,
    TakeoverMode,
)

Values = Mapping[str, Any]
"""What :class:`distributor.config.table.Table` read without a fault."""


def build_pipeline(values: Values) -> Pipeline:
    """Return one pipeline."""
    pipeline_id = str(values["id"])
    source = values["source"]
    return Pipeline(
        pipeline_id,
        Source(source.get("path"), source["unlisted_files"], source["max_clock_skew"], source["upload"]),
        tuple(_destination(pipeline_id, item) for item in values["destinations"]),
        values.get("schedule"),
    )


def _destination(pipeline_id: str, values: Values) -> Destination:
    return Destination(
        id=str(values["id"]),
        url=values["url"],
        storage=values["storage"],
        policy=_policy(OwnerKey(pipeline_id, str(values["id"])), values),
        outputs=tuple(_rule(rule) for rule in values.get("outputs", ())),
        links=Links(values["links"].get("base_url"), values["links"]["primary"]),
        retention=Retention(**values["retention"]) if "retention" in values else None,
        lock=LockSettings(float(values["lock"]["wait"]), float(values["lock"]["ttl"])),
        allow_whole_root=values["allow_whole_root"],
        concurrency=values["concurrency"],
        line=values["line"],
    )


def _policy(owner: OwnerKey, values: Values) -> PublishPolicy:
    transfer = values["transfer"]
    return PublishPolicy(
        owner=owner,
        state_mode=StateMode(values["state"]["mode"]),
        reconciliation=Reconciliation(values["reconciliation"]["mode"]),
        replace_older=transfer["on_destination_older"] == "replace",
        replace_newer=transfer["on_destination_newer"] == "replace",
        force=transfer["on_conflict"] == "replace",
        allow_empty=transfer["allow_empty"],
        max_delete=transfer.get("max_delete"),
        takeover=TakeoverMode(values["takeover"]["mode"]),
    )


def _rule(values: Values) -> OutputRule:
    return OutputRule(
        values["include"],
        values["exclude"],
        _name(values.get("transform")),
        values.get("path"),
        tuple(values["options"].items()),
    )


def _name(value: object) -> str | None:
    """Return a name as plain text: it is written into states, which take no subclass of ``str``."""
    return None if value is None else str(value)


def warnings_of(pipelines: tuple[Pipeline, ...], label: str) -> Iterator[str]:
    """Yield what works but is probably not meant (D4, E4), each with its place in the file."""
    roots: dict[str, tuple[str, Destination]] = {}
    for pipeline in pipelines:
        for destination in pipeline.destinations:
            name = f"{pipeline.id}/{destination.id}"
            place = f"{label}:{destination.line}: destination {name}"
            yield from (f"{place}: {message}" for message in _own_warnings(destination))
            root = destination.url.rstrip("/")
            other = roots.setdefault(root, (name, destination))
            if other[1] is not destination and _clash(other[1], destination):
                yield f"{place}: has the same root as {other[0]}; to share it, both need `state.mode: shared_root`"


def _own_warnings(destination: Destination) -> Iterator[str]:
    if destination.policy.force:
        yield (
            "has `on_conflict: replace` as a standing setting, which deletes unmanaged content whenever it appears; "
            "`run --force` does it once"
        )
    lock = destination.lock
    if scheme_of(destination.url) != "file" and lock.wait <= lock.ttl:
        yield (
            f"waits {lock.wait:.0f}s for a lock, which can't outlast a dead holder's lease of {lock.ttl:.0f}s; "
            "make lock.wait longer than lock.ttl"
        )


def _clash(one: Destination, other: Destination) -> bool:
    return StateMode.SINGLE_OWNER in (one.policy.state_mode, other.policy.state_mode)
