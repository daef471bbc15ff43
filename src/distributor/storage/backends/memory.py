"""A destination in this process's memory: for tests of what stands above storages.

Conforming like every other kind. ``memory://NAME`` names a root that all storages of
one process share. With the setting ``{"staging": false}`` it behaves as an object
store does: no staging, no folders, a lease for a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic

from distributor.core.observation import Entry, EntryKind
from distributor.core.paths import STAGE_PATH, folders_of, parents
from distributor.errors import AlreadyExists, LockedError, NotFound, StorageError, VersionMismatch
from distributor.storage import lease
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

SCHEMES = ("memory",)

_CHUNK = 1 << 20


def open_storage(target: Target) -> MemoryStorage:
    """Open the root of this process that the URL names, an empty one where it is new."""
    with _ROOTS_GUARD:
        root = _ROOTS.setdefault(target.url, _Root())
    return MemoryStorage(target.url, root, staging=target.settings.get("staging", True) is True)


class _Root:
    """The files of one root; ``guard`` is held for every look and change."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.files: dict[str, StoredFile] = {}
        self.holder: str | None = None
        self.released = threading.Condition(self.guard)
        self._versions = 0

    def put(self, path: str, data: bytes) -> str:
        self._versions += 1
        self.files[path] = StoredFile(data, str(self._versions))
        return str(self._versions)


_ROOTS: dict[str, _Root] = {}
_ROOTS_GUARD = threading.Lock()


class MemoryStorage:
    """One opened root in memory; see :class:`distributor.storage.base.Storage`."""

    def __init__(self, location: str, root: _Root, *, staging: bool) -> None:
        self.location = location
        self.capabilities = Capabilities(staging=staging, conditional_write=True, folders=staging, parallel=4)
        self._root = root

    def list(self) -> Iterator[Entry]:
        """Yield every file, and where the kind has them the folders that hold files."""
        with self._root.guard:
            files = dict(self._root.files)
        for path, stored in files.items():
            yield Entry(path, EntryKind.FILE, len(stored.data), stored.version)
        if self.capabilities.folders:
            for folder in folders_of(files):
                yield Entry(folder, EntryKind.FOLDER, 0)

    def stat(self, path: str) -> Entry:
        """Return the entry at ``path``. Raises ``NotFound``."""
        with self._root.guard:
            stored = self._root.files.get(path)
            if stored is not None:
                return Entry(path, EntryKind.FILE, len(stored.data), stored.version)
            if self._is_folder(path):
                return Entry(path, EntryKind.FOLDER, 0)
        raise NotFound(f"{self.location}: {path} does not exist", operation="stat", path=path)

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        """Return a whole file. Raises ``NotFound``, ``StorageError`` beyond ``limit`` bytes."""
        with self._root.guard:
            stored = self._root.files.get(path)
            if stored is None and self._is_folder(path):
                raise self._error("read", path, "is a folder, not a file")
        if stored is None:
            raise NotFound(f"{self.location}: {path} does not exist", operation="read", path=path)
        if limit is not None and len(stored.data) > limit:
            raise self._error("read", path, f"is larger than {limit} bytes")
        return stored

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield a file in chunks of at most 1 MiB. Raises ``NotFound``."""
        data = self.read(path).data
        for start in range(0, len(data), _CHUNK):
            yield data[start : start + _CHUNK]

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        """Write one whole file if the condition holds; return its version."""
        data = b"".join(content.open())
        with self._root.guard:
            self._check_place("write", path)
            self._check_condition(path, condition)
            return self._root.put(path, data)

    def stage(self, slot: str, content: Content) -> None:
        """Keep ``content`` under the staging folder."""
        data = b"".join(content.open())
        with self._root.guard:
            self._root.put(f"{STAGE_PATH}/{slot}", data)

    def check_promotable(self, paths: object) -> None:
        """Do nothing: every path of a root in memory can be renamed to."""

    def promote(self, slot: str, path: str) -> None:
        """Move a staged file to ``path``. Raises ``NotFound`` if nothing is staged there."""
        staged = f"{STAGE_PATH}/{slot}"
        with self._root.guard:
            if staged not in self._root.files:
                raise NotFound(f"{self.location}: nothing is staged as {slot}", operation="promote", path=path)
            self._check_place("promote", path)
            self._root.put(path, self._root.files.pop(staged).data)

    def delete(self, path: str) -> bool:
        """Delete one file; ``False`` if none was there."""
        with self._root.guard:
            return self._root.files.pop(path, None) is not None

    def sync(self) -> None:
        """Do nothing: memory is as durable as it gets."""

    def discard_stage(self) -> None:
        """Remove everything that is staged."""
        with self._root.guard:
            for path in [path for path in self._root.files if path.startswith(f"{STAGE_PATH}/")]:
                del self._root.files[path]

    def lock(self, request: LockRequest) -> AbstractContextManager[Lock]:
        """Hold the writer lock: one of this process, or a lease where there is no staging."""
        if not self.capabilities.staging:
            return lease.hold(self, request, honoured=True)
        return self._hold(request)

    def lock_info(self) -> LockInfo | None:
        """Say who holds the lock."""
        holder = self._root.holder
        if holder is not None:
            return LockInfo(holder, nonce="", since=None, live=True)
        return lease.info(self)

    def break_lock(self, nonce: str) -> bool:
        """Remove a lease with this nonce. Raises ``StorageError`` for a lock of this process."""
        holder = self._root.holder
        if holder is not None:
            raise StorageError(
                f"{self.location}: is locked by {holder}", operation="unlock", hint="end that process to free it"
            )
        return lease.break_lease(self, nonce)

    def is_whole_root(self) -> bool:
        """Return ``False``: a root in memory holds nothing but its destination."""
        return False

    def close(self) -> None:
        """Do nothing; the root stays for the next one who opens it."""

    @contextmanager
    def _hold(self, request: LockRequest) -> Iterator[Lock]:
        deadline = monotonic() + request.wait
        root = self._root
        while True:
            with root.released:
                holder = root.holder
                if holder is None:
                    root.holder = request.owner
                    break
                left = deadline - monotonic()
                if left <= 0:
                    raise LockedError(f"{self.location}: is locked by {holder}", holder, hint="try again later")
                root.released.wait(min(left, 1.0))
            request.waiting(holder)
        try:
            yield _Held()
        finally:
            with root.released:
                root.holder = None
                root.released.notify_all()

    def _is_folder(self, path: str) -> bool:
        below = f"{path}/"
        return self.capabilities.folders and any(name.startswith(below) for name in self._root.files)

    def _check_place(self, operation: str, path: str) -> None:
        """Raise if files and folders would be in each other's way."""
        if not self.capabilities.folders:
            return
        if self._is_folder(path):
            raise self._error(operation, path, "is a folder with content, which stays")
        for folder in parents(path):
            if folder in self._root.files:
                raise self._error(operation, path, f"can't be made: {folder} is a file")

    def _check_condition(self, path: str, condition: Condition) -> None:
        stored = self._root.files.get(path)
        if condition == CREATE_ONLY and stored is not None:
            raise AlreadyExists(f"{self.location}: {path} exists already", operation="write", path=path)
        if isinstance(condition, IfVersion) and (stored is None or stored.version != condition.token):
            raise VersionMismatch(f"{self.location}: {path} was changed by another", operation="write", path=path)

    def _error(self, operation: str, path: str, fault: str) -> StorageError:
        return StorageError(f"{self.location}: {path} {fault}", operation=operation, path=path)


class _Held:
    """A lock of this process: it can't be lost."""

    def check(self) -> None:
        """Do nothing."""
