"""Object stores: S3 and compatible services, Google Cloud Storage, Azure Blob Storage.

Objects are put in place directly, each atomic (E1a): there is no staging. The writer
lock is a lease (E4), and taking it is the probe whether the service honours conditions.
Where it does not, conditions are checked by a look before the write, which is no more
than the lease needs: nobody else writes meanwhile.

Not every key is a path. A key that ends in ``/`` and holds nothing is another tool's
folder marker, and no content. A key that is no clean path at all can't be addressed by
the client; a listing that meets one fails and names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NoReturn

from distributor.core.observation import Entry, EntryKind
from distributor.errors import AlreadyExists, NotFound, StorageError, VersionMismatch
from distributor.storage import lease
from distributor.storage.backends.objects_address import Address, parse_address
from distributor.storage.backends.objects_budget import ByteBudget
from distributor.storage.backends.objects_client import Meta, ObjectClient, Parts, Tags
from distributor.storage.backends.objects_connection import connect
from distributor.storage.backends.objects_headers import Headers
from distributor.storage.base import (
    CREATE_ONLY,
    OVERWRITE,
    Capabilities,
    Condition,
    Content,
    IfVersion,
    Lock,
    LockInfo,
    LockRequest,
    StoredFile,
)
from distributor.storage.opening import Target

if TYPE_CHECKING:
    from obstore import PutMode

SCHEMES = ("s3", "gs", "az")

_CHUNK = 1 << 20
_PARALLEL = 16
_PART = 8 << 20
_MOST_PARTS = 9_999
_PARTS_AT_ONCE = 4
_IN_FLIGHT = 96 << 20
"""Bytes held for all writes at once: with the program itself well below 200 MiB."""


def open_storage(target: Target) -> ObjectStorage:
    """Open ``s3://bucket/prefix``, ``gs://bucket/prefix`` or ``az://container/prefix``; asks the service nothing.

    Raises ``UsageError`` for settings that can't work.
    """
    connection = connect(parse_address(target.url), target.settings)
    return ObjectStorage(connection.address, ObjectClient(connection), Headers(_rules(target)))


def _rules(target: Target) -> Iterable[dict[str, object]]:
    rules = target.settings.get("headers", ())
    return rules if isinstance(rules, (list, tuple)) else ()


class ObjectStorage:
    """One opened root; see :class:`distributor.storage.base.Storage`."""

    def __init__(self, address: Address, client: ObjectClient, headers: Headers) -> None:
        self._address = address
        self._client = client
        self._headers = headers
        self._budget = ByteBudget(_IN_FLIGHT)
        self._honoured: bool | None = None

    @property
    def location(self) -> str:
        """The root as a person would name it."""
        return self._address.url

    @property
    def capabilities(self) -> Capabilities:
        """What this destination can do; conditional writes until the lock's probe has found otherwise."""
        return Capabilities(
            staging=False, conditional_write=self._honoured is not False, folders=False, parallel=_PARALLEL
        )

    def list(self) -> Iterator[Entry]:
        """Yield every object below the root; complete or an error (D15).

        A listing may end early without any error, so what would come behind its last key
        is asked for, until nothing does (fault row 3).
        """
        empty: set[str] = set()
        last = ""
        while True:
            before = last
            for entry in self._entries(after=before):
                last = max(last, entry.path)
                if entry.size:
                    yield entry
                else:
                    empty.add(entry.path)
            if last == before or self._address.scheme == "az":  # Azure can't begin in the middle
                break
        yield from self._objects_among(empty)

    def _entries(self, after: str) -> Iterator[Entry]:
        for page in self._client.pages(self._address.key(after) if after else None):
            for meta in page:
                path = self._address.path(meta["path"])
                if path > after:
                    yield self._entry(path, meta)

    def _objects_among(self, paths: set[str]) -> Iterator[Entry]:
        """Of empty entries, yield the objects: a folder marker ``x/`` is listed like an empty ``x``."""
        if not paths:
            return
        from concurrent.futures import ThreadPoolExecutor  # here: few listings have empty objects

        with ThreadPoolExecutor(_PARALLEL) as pool:
            for entry in pool.map(self._stat_empty, sorted(paths)):
                if entry is not None:
                    yield entry

    def _stat_empty(self, path: str) -> Entry | None:
        try:
            entry = self.stat(path)
        except NotFound:
            return None
        return None if entry.size else entry

    def stat(self, path: str) -> Entry:
        """Return the entry of an object. Raises ``NotFound``."""
        return self._entry(path, self._client.head(path))

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        """Return a whole object. Raises ``NotFound``, ``StorageError`` beyond ``limit`` bytes."""

        def accept(meta: Meta) -> None:
            if limit is not None and meta["size"] > limit:
                raise StorageError(f"{self.location}: {path} is larger than {limit} bytes", operation="read", path=path)

        data, meta = self._client.get(path, accept)
        return StoredFile(data, self._version(meta))

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield an object in chunks of at most 1 MiB. Raises ``NotFound``."""
        for data in self._client.stream(path, _CHUNK):
            for start in range(0, len(data), _CHUNK):
                yield bytes(data[start : start + _CHUNK])

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        """Write one object if the condition holds; return its version. Durable when it returns."""
        if condition != OVERWRITE and self._honoured is not True:
            self._check(path, condition)
        return self._write(path, content, condition)

    def _write(self, path: str, content: Content, condition: Condition) -> str:
        """Write with the condition left to the service."""
        headers = self._headers.of(path)
        if condition == OVERWRITE and content.size > _PART:
            parts = _parts_for(content.size)
            with self._budget.reserve(parts.size * (parts.at_once + 2)):
                return self._version(self._client.put_parts(path, content.open(), headers, parts))
        with self._budget.reserve(2 * content.size):
            data = b"".join(content.open())
            return self._version(self._client.put(path, data, headers, self._mode(condition)))

    def _check(self, path: str, condition: Condition) -> None:
        """Hold to a condition that the service may ignore, as far as one look before the write can."""
        try:
            version: str | None = self._version(self._client.head(path))
        except NotFound:
            version = None
        if condition == CREATE_ONLY and version is not None:
            raise AlreadyExists(f"{self.location}: {path} exists already", operation="write", path=path)
        if isinstance(condition, IfVersion) and version != condition.token:
            raise VersionMismatch(f"{self.location}: {path} was changed by another", operation="write", path=path)

    def delete(self, path: str) -> bool:
        """Delete one object; ``False`` if none was there. S3 itself would not tell."""
        try:
            self._client.head(path)
            self._client.delete(path)
        except NotFound:
            return False
        return True

    def stage(self, slot: str, content: Content) -> None:
        """Raise ``StorageError``: there is no renaming here, so nothing is staged."""
        del content
        self._unstaged("stage", slot)

    def check_promotable(self, paths: Iterable[str]) -> None:
        """Raise ``StorageError``: nothing is staged."""
        self._unstaged("promote", next(iter(paths), None))

    def promote(self, slot: str, path: str) -> None:
        """Raise ``StorageError``: nothing is staged."""
        del slot
        self._unstaged("promote", path)

    def _unstaged(self, operation: str, path: str | None) -> NoReturn:
        raise StorageError(
            f"{self.location}: an object store puts objects in place directly", operation=operation, path=path
        )

    def sync(self) -> None:
        """Do nothing: what a service has acknowledged is durable."""

    def discard_stage(self) -> None:
        """Do nothing: nothing is ever staged."""

    def lock(self, request: LockRequest) -> AbstractContextManager[Lock]:
        """Hold the lease (E4); the first time it also probes whether the service honours conditions."""
        return lease.hold(_Unchecked(self), request, honoured=self._honoured, on_probe=self._note_probe)

    def _note_probe(self, honoured: bool) -> None:
        self._honoured = honoured

    def lock_info(self) -> LockInfo | None:
        """Say who holds the lease, or ``None``."""
        return lease.info(self)

    def break_lock(self, nonce: str) -> bool:
        """Remove the lease if its nonce is still ``nonce``."""
        return lease.break_lease(self, nonce)

    def is_whole_root(self) -> bool:
        """Whether the destination is a whole bucket (E5)."""
        return not self._address.prefix

    def close(self) -> None:
        """Do nothing: connections close by themselves when they are idle."""

    def _entry(self, path: str, meta: Meta) -> Entry:
        return Entry(path, EntryKind.FILE, meta["size"], _e_tag(meta))

    def _version(self, tags: Tags) -> str:
        """Return the token that a condition names: on GCS the generation, elsewhere the ETag."""
        if self._address.scheme == "gs":
            return tags["version"] or ""
        return _e_tag(tags)

    def _mode(self, condition: Condition) -> PutMode:
        if isinstance(condition, IfVersion):
            return {"version": condition.token} if self._address.scheme == "gs" else {"e_tag": f'"{condition.token}"'}
        return "create" if condition == CREATE_ONLY else "overwrite"


class _Unchecked:
    """The storage as its lease sees it: conditions are the service's alone to check, or the probe would be none."""

    def __init__(self, storage: ObjectStorage) -> None:
        self._storage = storage
        self.location = storage.location
        self.read = storage.read
        self.delete = storage.delete

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        """Write; see :meth:`distributor.storage.base.Storage.write`."""
        return self._storage._write(path, content, condition)


def _e_tag(tags: Tags) -> str:
    # Azure quotes it in some answers only.
    return (tags["e_tag"] or "").strip('"')


def _parts_for(size: int) -> Parts:
    """Return how to send ``size`` bytes: a service takes a limited number of parts."""
    part = max(_PART, -(-size // _MOST_PARTS))
    return Parts(part, max(1, min(_PARTS_AT_ONCE, _PARTS_AT_ONCE * _PART // part)))
