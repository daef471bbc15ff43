"""Storages around a storage: behaviour that has nothing to do with a kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NoReturn

from distributor.core.observation import Entry
from distributor.errors import StorageError
from distributor.storage.base import (
    OVERWRITE,
    Capabilities,
    Condition,
    Content,
    Lock,
    LockInfo,
    LockRequest,
    Storage,
    StoredFile,
)


class ReadOnly:
    """A storage that can be looked at and not changed: for dry runs and plans.

    Every method that would change something, the lock included, raises ``StorageError``
    and does not reach the storage inside.
    """

    def __init__(self, inner: Storage) -> None:
        self._inner = inner

    @property
    def capabilities(self) -> Capabilities:
        """What the storage inside can do."""
        return self._inner.capabilities

    @property
    def location(self) -> str:
        """Where the storage inside is."""
        return self._inner.location

    def list(self) -> Iterator[Entry]:
        """Yield what is there."""
        return self._inner.list()

    def stat(self, path: str) -> Entry:
        """Return the entry at ``path``. Raises ``NotFound``."""
        return self._inner.stat(path)

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        """Read a whole file. Raises ``NotFound``."""
        return self._inner.read(path, limit)

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield a file in chunks. Raises ``NotFound``."""
        return self._inner.stream(path)

    def check_promotable(self, paths: Iterable[str]) -> None:
        """Raise ``StorageError`` if a staged file could not be renamed to one of ``paths``."""
        self._inner.check_promotable(paths)

    def lock_info(self) -> LockInfo | None:
        """Say who holds the lock."""
        return self._inner.lock_info()

    def is_whole_root(self) -> bool:
        """Whether the root is a whole file system, home or bucket (E5)."""
        return self._inner.is_whole_root()

    def close(self) -> None:
        """Close the storage inside."""
        self._inner.close()

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:  # noqa: ARG002
        """Refuse."""
        self._refuse("write", path)

    def stage(self, slot: str, content: Content) -> None:  # noqa: ARG002
        """Refuse."""
        self._refuse("stage", slot)

    def promote(self, slot: str, path: str) -> None:  # noqa: ARG002
        """Refuse."""
        self._refuse("promote", path)

    def delete(self, path: str) -> bool:
        """Refuse."""
        self._refuse("delete", path)

    def sync(self) -> None:
        """Refuse: there can be nothing to make durable."""
        self._refuse("sync", None)

    def discard_stage(self) -> None:
        """Refuse."""
        self._refuse("discard", None)

    def lock(self, request: LockRequest) -> AbstractContextManager[Lock]:  # noqa: ARG002
        """Refuse: looking needs no lock, and taking one can make the root."""
        self._refuse("lock", None)

    def break_lock(self, nonce: str) -> bool:  # noqa: ARG002
        """Refuse."""
        self._refuse("unlock", None)

    def _refuse(self, operation: str, path: str | None) -> NoReturn:
        where = f"{self.location}/{path}" if path else self.location
        raise StorageError(
            f"{where}: {operation} refused: this destination is only looked at", operation=operation, path=path
        )
