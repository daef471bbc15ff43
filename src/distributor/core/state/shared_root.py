"""Schema version 3: "Shared-Root State Schema" (C2)."""

from __future__ import annotations

from typing import Any

from distributor.core.policy import OwnerKey, StateMode
from distributor.core.state.decoding import Reader
from distributor.core.state.model import InvalidState, OutputRecord, OwnerRecord, State


def decode_shared_root(document: dict[str, Any]) -> State | InvalidState:
    """Read a version 3 document: owners unique, every output owned by one of them (C2)."""
    reader = Reader()
    reader.mode(document, StateMode.SHARED_ROOT)
    created_at = reader.time(document, "created_at", "")
    updated_at = reader.time(document, "updated_at", "")
    owners = tuple(
        owner for index, item in enumerate(reader.array(document, "owners")) if (owner := _owner(reader, item, index))
    )
    keys = {owner.key: owner.key for owner in owners}
    if len(keys) != len(owners):
        reader.fault("owners", "names an owner twice")
    outputs = tuple(_output(reader, item, index, keys) for index, item in enumerate(reader.array(document, "outputs")))
    reader.check_paths(outputs)
    if reader.problems:
        return InvalidState(tuple(reader.problems))
    return State(3, StateMode.SHARED_ROOT, created_at, updated_at, None, owners, outputs, document)


def _key(reader: Reader, item: dict[str, Any], where: str) -> OwnerKey:
    return OwnerKey(
        reader.identifier(item, "pipeline_id", where),
        reader.identifier(item, "destination_id", where),
    )


def _owner(reader: Reader, item: dict[str, Any], index: int) -> OwnerRecord | None:
    where = f"owners[{index}]."
    key = _key(reader, item, where)
    reconciliation = reader.reconciliation(item, where)
    primary_url = reader.primary_url(item, where)
    manifest = reader.manifest(item, where)
    return OwnerRecord(key, reconciliation, manifest, primary_url, item) if manifest else None


def _output(reader: Reader, item: dict[str, Any], index: int, keys: dict[OwnerKey, OwnerKey]) -> OutputRecord:
    where = f"outputs[{index}]."
    key = _key(reader, item, where)
    if key not in keys:
        reader.fault(f"{where}pipeline_id", f"{key.pipeline_id}/{key.destination_id} is not among the owners")
    return reader.output(item, index, keys.get(key, key), reader.source(item, where), None)
