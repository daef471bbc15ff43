"""Schema versions 1 and 2: "Single-Owner State Schema" and "Compatibility" (C1)."""

from __future__ import annotations

from typing import Any

from distributor.core.policy import OwnerKey, Reconciliation, StateMode
from distributor.core.state.decoding import Reader
from distributor.core.state.model import InvalidState, OwnerRecord, SourceIdentity, State

OWNER_FIELDS = ("pipeline_id", "destination_id", "reconciliation", "source", "links")


def decode_single_owner(document: dict[str, Any], version: int) -> State | InvalidState:
    """Read a version 1 or 2 document.

    Version 1 is version 2 without ``state``, ``reconciliation``, top-level
    ``created_at``/``updated_at`` and per-output times: it means ``replace``, and
    every missing time is ``published_at``.
    """
    reader = Reader()
    if version == 2:
        reader.mode(document, StateMode.SINGLE_OWNER)
    published_at = reader.time(document, "published_at", "")
    default = published_at if version == 1 else None
    key = OwnerKey(reader.identifier(document, "pipeline_id", ""), reader.identifier(document, "destination_id", ""))
    reconciliation = reader.reconciliation(document, "") if version == 2 else Reconciliation.REPLACE
    manifest = reader.manifest(document, "")
    primary_url = reader.primary_url(document, "")
    created_at = reader.time(document, "created_at", "", default)
    updated_at = reader.time(document, "updated_at", "", default)
    source = (
        SourceIdentity(manifest.id, manifest.digest, manifest.created)
        if manifest
        else SourceIdentity("", "", published_at)
    )
    items = enumerate(reader.array(document, "outputs"))
    outputs = tuple(reader.output(item, index, key, source, default) for index, item in items)
    reader.check_paths(outputs)
    if manifest is None or reader.problems:
        return InvalidState(tuple(reader.problems))
    raw = {field: document[field] for field in OWNER_FIELDS if field in document}
    owner = OwnerRecord(key, reconciliation, manifest, primary_url, raw)
    return State(version, StateMode.SINGLE_OWNER, created_at, updated_at, published_at, (owner,), outputs, document)
