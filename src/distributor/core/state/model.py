"""Destination state as one model for both modes.

A single-owner state is a state with exactly one owner; every output knows its
owner and the source it came from. That makes the rules of both modes comparable,
and migration (C7) a change of ``mode``.

``raw`` holds a record as it was read. A record that is not rewritten is written
back from it with every field it had, known or not (A6); a rewritten record has
``raw`` set to ``None``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from distributor.core.manifest import Manifest
from distributor.core.policy import OwnerKey, Reconciliation, StateMode
from distributor.core.values import Timestamp
from distributor.errors import Problem

Raw = Mapping[str, Any]


class OutputKind(str, Enum):
    """``kind`` of an output: copied as it is, or made by a transform."""

    SOURCE = "source"
    GENERATED = "generated"


class SourceIdentity(NamedTuple):
    """The compact source fields of a shared-root output."""

    id: str
    digest: str
    created: Timestamp


class OutputRecord(NamedTuple):
    """One managed path: what is there, from which source, whose, since when."""

    path: str
    kind: OutputKind
    source_path: str
    transform: str | None
    url: str | None
    sha256: str
    size: int
    created_at: Timestamp
    updated_at: Timestamp
    owner: OwnerKey
    source: SourceIdentity
    raw: Raw | None = None


class OwnerRecord(NamedTuple):
    """One owner's latest publication. In single-owner state, ``raw`` is its share of the top level."""

    key: OwnerKey
    reconciliation: Reconciliation
    manifest: Manifest
    primary_url: str | None = None
    raw: Raw | None = None


class State(NamedTuple):
    """A valid destination state.

    ``schema_version`` is the one it was read with, or will be written with.
    ``published_at`` is ``None`` in shared-root state, which has no such field.
    """

    schema_version: int
    mode: StateMode
    created_at: Timestamp
    updated_at: Timestamp
    published_at: Timestamp | None
    owners: tuple[OwnerRecord, ...]
    outputs: tuple[OutputRecord, ...]
    raw: Raw | None = None

    def owner(self, key: OwnerKey) -> OwnerRecord | None:
        """Return the record of ``key``, or ``None``."""
        return next((owner for owner in self.owners if owner.key == key), None)

    def outputs_of(self, key: OwnerKey) -> tuple[OutputRecord, ...]:
        """Return the outputs that ``key`` owns."""
        return tuple(output for output in self.outputs if output.owner == key)

    def timestamps(self) -> Iterator[Timestamp]:
        """Yield every time that the program itself wrote into this state (C6)."""
        yield self.created_at
        yield self.updated_at
        if self.published_at is not None:
            yield self.published_at
        for output in self.outputs:
            yield output.created_at
            yield output.updated_at


class InvalidState(NamedTuple):
    """State bytes that are no valid state; ``problems`` says why."""

    problems: tuple[Problem, ...]


class UnsupportedState(NamedTuple):
    """A state of a schema version that is newer than this program (C1)."""

    schema_version: int


Decoded = State | InvalidState | UnsupportedState
