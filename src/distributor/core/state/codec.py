"""State documents: bytes to :class:`State`, and back to canonical bytes (A6, C1, C3)."""

from __future__ import annotations

from typing import Any

from distributor.core.documents import DocumentError, format_json, is_object, parse_json
from distributor.core.policy import StateMode
from distributor.core.state.model import (
    Decoded,
    InvalidState,
    OutputRecord,
    OwnerRecord,
    State,
    UnsupportedState,
)
from distributor.core.state.shared_root import decode_shared_root
from distributor.core.state.single_owner import decode_single_owner
from distributor.errors import Problem

SINGLE_OWNER_VERSION = 2
SHARED_ROOT_VERSION = 3


def decode_state(data: bytes) -> Decoded:
    """Read state bytes of schema version 1, 2 or 3.

    Returns what is wrong as a value, not as an exception: an invalid or a newer
    state is an observation that the comparison judges (D1).
    """
    try:
        document = parse_json(data)
    except DocumentError as error:
        return InvalidState((Problem("invalid_state", str(error), None, error.line),))
    if not is_object(document):
        return InvalidState((Problem("invalid_state", "is not a JSON object"),))
    version = document.get("schema_version")
    if type(version) is not int or version < 1:
        return InvalidState((Problem("invalid_state", "is not 1, 2 or 3", "schema_version"),))
    if version > SHARED_ROOT_VERSION:
        return UnsupportedState(version)
    if version == SHARED_ROOT_VERSION:
        return decode_shared_root(document)
    return decode_single_owner(document, version)


def encode_state(state: State, distributor_version: str) -> bytes:
    """Write a state as version 2 or 3, sorted, with every field that is not rewritten kept (A6, C3)."""
    known = _shared_root(state) if state.mode is StateMode.SHARED_ROOT else _single_owner(state)
    head: dict[str, Any] = {"schema_version": known.pop("schema_version"), "distributor_version": distributor_version}
    fields = {**head, **known}
    kept = {key: value for key, value in (state.raw or {}).items() if key not in fields and key not in _KNOWN}
    return format_json({**fields, **kept})


_KNOWN = frozenset(
    ("pipeline_id", "destination_id", "published_at", "reconciliation", "source", "links", "owners", "outputs")
)
"""Top-level fields that are never carried over as unknown ones: migration drops those of the other mode."""


def _mode(state: State) -> dict[str, Any]:
    before = (state.raw or {}).get("state")
    return {**(before if is_object(before) else {}), "mode": state.mode.value}


def _single_owner(state: State) -> dict[str, Any]:
    (owner,) = state.owners
    record = _owner(owner)
    document: dict[str, Any] = {
        "schema_version": SINGLE_OWNER_VERSION,
        "pipeline_id": record["pipeline_id"],
        "destination_id": record["destination_id"],
        "published_at": (state.published_at or state.updated_at).text,
        "created_at": state.created_at.text,
        "updated_at": state.updated_at.text,
        "state": _mode(state),
        "reconciliation": record.get("reconciliation") or {"mode": owner.reconciliation.value},
        "source": record["source"],
    }
    if "links" in record:
        document["links"] = record["links"]
    document["outputs"] = [_output(output, shared=False) for output in sorted(state.outputs, key=lambda o: o.path)]
    return document


def _shared_root(state: State) -> dict[str, Any]:
    return {
        "schema_version": SHARED_ROOT_VERSION,
        "created_at": state.created_at.text,
        "updated_at": state.updated_at.text,
        "state": _mode(state),
        "owners": [_owner(owner) for owner in sorted(state.owners, key=lambda o: o.key)],
        "outputs": [_output(output, shared=True) for output in sorted(state.outputs, key=lambda o: o.path)],
    }


def _owner(owner: OwnerRecord) -> dict[str, Any]:
    if owner.raw is not None:
        return dict(owner.raw)
    record: dict[str, Any] = {
        "pipeline_id": owner.key.pipeline_id,
        "destination_id": owner.key.destination_id,
        "reconciliation": {"mode": owner.reconciliation.value},
        "source": {"manifest": owner.manifest.to_document()},
    }
    if owner.primary_url is not None:
        record["links"] = {"primary_url": owner.primary_url}
    return record


def _output(output: OutputRecord, *, shared: bool) -> dict[str, Any]:
    record = dict(output.raw) if output.raw is not None else _new_output(output)
    if shared:
        record.update(_ownership(output))
    for key, time in (("created_at", output.created_at), ("updated_at", output.updated_at)):
        if record.get(key) is None:
            record.pop(key, None)
            record[key] = time.text
    return record


def _new_output(output: OutputRecord) -> dict[str, Any]:
    record: dict[str, Any] = {"path": output.path, "kind": output.kind.value, "source_path": output.source_path}
    if output.transform is not None:
        record["transform"] = output.transform
    if output.url is not None:
        record["url"] = output.url
    record["sha256"] = output.sha256
    record["size"] = output.size
    return record


def _ownership(output: OutputRecord) -> dict[str, Any]:
    return {
        "pipeline_id": output.owner.pipeline_id,
        "destination_id": output.owner.destination_id,
        "source_id": output.source.id,
        "source_digest": output.source.digest,
        "source_created": output.source.created.text,
    }
