"""The journal: what a writer intends, so that anyone can finish or undo it (E1a, E2).

A journal vouches for itself: ``checksum`` covers the whole ``body``. It is not
trusted further than it can be checked: see :mod:`distributor.core.recovery`.
"""

from __future__ import annotations

import hashlib
import json
from enum import Enum
from typing import Any, NamedTuple

from distributor.core.documents import DocumentError, is_object, parse_json
from distributor.core.paths import is_reserved, path_problem
from distributor.core.policy import OwnerKey

JOURNAL_VERSION = 1


class Phase(str, Enum):
    """How far the work is.

    ``STAGING``: nothing visible has changed. ``COMMITTED``: all new bytes are
    staged; anyone can finish. ``DIRECT``: objects are being put in place, and the
    state decides: still the old one means undo, the new one means finish.
    ``PRUNE``: recorded outputs are being deleted, the state follows. ``UNSURE``:
    nothing is under way; some objects may hold bytes of an undone attempt (E6).
    """

    STAGING = "staging"
    COMMITTED = "committed"
    DIRECT = "direct"
    PRUNE = "prune"
    UNSURE = "unsure"


class JournalPut(NamedTuple):
    """One output on its way: ``slot`` below the staging folder ('' if put in place directly).

    ``existed``: something stood at ``path`` before, so undoing can't mean deleting.
    """

    path: str
    slot: str
    existed: bool
    sha256: str
    size: int


class JournalDelete(NamedTuple):
    """One path that is to go once the state is written.

    ``recorded``: the old state records it. Else it is unmanaged content of a forced
    replacement, and goes only if ``size`` and ``version`` are still those seen.
    """

    path: str
    recorded: bool
    size: int
    version: str


class Unsure(NamedTuple):
    """A path whose stored bytes may be those of an undone attempt of ``owner`` (E1a)."""

    path: str
    owner: OwnerKey


class Journal(NamedTuple):
    """One writer's intent. ``old_state`` and ``new_state_digest`` are digests of state bytes, ``None`` for none."""

    phase: Phase
    owner: OwnerKey
    action: str
    started_at: str
    distributor_version: str
    old_state: str | None
    new_state: str | None
    puts: tuple[JournalPut, ...] = ()
    deletes: tuple[JournalDelete, ...] = ()
    unsure: tuple[Unsure, ...] = ()

    @property
    def new_state_digest(self) -> str | None:
        """Digest of the state bytes that will be written, or ``None`` if the state is to go."""
        return None if self.new_state is None else text_digest(self.new_state)


class InvalidJournal(NamedTuple):
    """A journal that can't be used: unreadable, foreign, newer or damaged (E2)."""

    message: str


def text_digest(text: str) -> str:
    """Return ``sha256:<hex>`` of the text's UTF-8 bytes."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def encode_journal(journal: Journal) -> bytes:
    """Write a journal with its checksum."""
    body = {
        **journal._asdict(),
        "phase": journal.phase.value,
        "owner": journal.owner._asdict(),
        "puts": [put._asdict() for put in journal.puts],
        "deletes": [_delete_document(delete) for delete in journal.deletes],
        "unsure": [{"path": unsure.path, **unsure.owner._asdict()} for unsure in journal.unsure],
    }
    text = _canonical(body)
    document = {"journal_version": JOURNAL_VERSION, "checksum": text_digest(text), "body": body}
    return (json.dumps(document, indent=1) + "\n").encode()


def _delete_document(delete: JournalDelete) -> dict[str, Any]:
    # Unmanaged names may be undecodable: JSON escapes keep the surrogates apart from real text.
    return {**delete._asdict(), "path": delete.path.encode("utf-8", "surrogateescape").hex()}


def _canonical(body: object) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def decode_journal(data: bytes) -> Journal | InvalidJournal:
    """Read a journal; anything but an intact one of this version is invalid (E2)."""
    try:
        document = parse_json(data)
    except DocumentError as error:
        return InvalidJournal(str(error))
    if not is_object(document) or not is_object(document.get("body")):
        return InvalidJournal("is not a journal of this program")
    if document.get("journal_version") != JOURNAL_VERSION:
        return InvalidJournal(f"has version {document.get('journal_version')!r}, which this program does not know")
    body = document["body"]
    if document.get("checksum") != text_digest(_canonical(body)):
        return InvalidJournal("does not match its checksum: it is damaged or was edited")
    try:
        return _check_paths(_from_body(body))
    except (KeyError, TypeError, ValueError) as error:
        return InvalidJournal(f"lacks or garbles a field: {error}")


def _from_body(body: dict[str, Any]) -> Journal:
    return Journal(
        phase=Phase(body["phase"]),
        owner=OwnerKey(**body["owner"]),
        action=body["action"],
        started_at=body["started_at"],
        distributor_version=body["distributor_version"],
        old_state=body["old_state"],
        new_state=body["new_state"],
        puts=tuple(JournalPut(**put) for put in body["puts"]),
        deletes=tuple(_delete(delete) for delete in body["deletes"]),
        unsure=tuple(
            Unsure(item["path"], OwnerKey(item["pipeline_id"], item["destination_id"])) for item in body["unsure"]
        ),
    )


def _delete(item: dict[str, Any]) -> JournalDelete:
    path = bytes.fromhex(item["path"]).decode("utf-8", "surrogateescape")
    return JournalDelete(path, item["recorded"], item["size"], item["version"])


def _check_paths(journal: Journal) -> Journal | InvalidJournal:
    paths = [put.path for put in journal.puts] + [d.path for d in journal.deletes if d.recorded]
    for path in paths:
        if path_problem(path) or is_reserved(path):
            return InvalidJournal(f"names the path {path!r}, which no output can have")
    for delete in journal.deletes:
        parts = delete.path.split("/")
        if is_reserved(delete.path) or not all(parts) or {".", ".."} & set(parts):
            return InvalidJournal(f"names the path {delete.path!r}, which no content can have")
    slots = [put.slot for put in journal.puts if put.slot]
    if any(path_problem(slot) for slot in slots):
        return InvalidJournal("names a staging slot outside the staging folder")
    return journal
