"""A storage that fails, or dies, at its N-th operation: what the crash suites are built on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
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

LOOKS = frozenset({"list", "stat", "read", "stream"})
CHANGES = frozenset({"write", "stage", "promote", "delete", "sync", "discard_stage"})


class Killed(BaseException):
    """The process ends here: nothing that is not a ``finally`` goes on."""


def fail(operation: str, path: str | None) -> NoReturn:
    """Fail as a destination does that went away."""
    raise StorageError(f"{operation} of {path} failed on purpose", operation=operation, path=path)


def kill(operation: str, path: str | None) -> NoReturn:
    """Die within this process."""
    raise Killed(operation, path)


def exit_process(_operation: str, _path: str | None) -> NoReturn:
    """Die as by SIGKILL: no ``finally``, nothing flushed."""
    os._exit(137)


class Faulty:
    """Passes everything on to ``inner`` and counts; at the ``at``-th operation of ``counted``, ``fault`` happens.

    ``at`` counts from 1; 0 never. With ``after`` the operation is done first: its success
    is what gets lost. Once ``fault`` was :func:`kill`, every later operation is killed as well,
    so that no ``finally`` of the killed code changes anything; ``lasting`` says the same of a failure.
    """

    def __init__(
        self,
        inner: Storage,
        at: int = 0,
        fault: Callable[[str, str | None], NoReturn] = kill,
        *,
        counted: frozenset[str] = CHANGES,
        after: bool = False,
        lasting: bool = False,
    ) -> None:
        self.inner = inner
        self.count = 0
        self.log: list[tuple[str, str | None]] = []
        self._at = at
        self._fault = fault
        self._counted = counted
        self._after = after
        self._lasting = lasting or fault is kill
        self._struck = False

    @property
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    @property
    def location(self) -> str:
        return self.inner.location

    def _meet(self, operation: str, path: str | None) -> bool:
        """Count an operation; fail before it, or say that it is to fail after it."""
        if self._struck and self._lasting:
            self._fault(operation, path)
        if operation not in self._counted:
            return False
        self.count += 1
        self.log.append((operation, path))
        if self.count != self._at:
            return False
        self._struck = True
        if not self._after:
            self._fault(operation, path)
        return True

    def list(self) -> Iterator[Entry]:
        strikes = self._meet("list", None)
        yield from self.inner.list()
        if strikes:
            self._fault("list", None)

    def stat(self, path: str) -> Entry:
        strikes = self._meet("stat", path)
        entry = self.inner.stat(path)
        return self._fault("stat", path) if strikes else entry

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        strikes = self._meet("read", path)
        stored = self.inner.read(path, limit)
        return self._fault("read", path) if strikes else stored

    def stream(self, path: str) -> Iterator[bytes]:
        strikes = self._meet("stream", path)
        yield from self.inner.stream(path)
        if strikes:
            self._fault("stream", path)

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        strikes = self._meet("write", path)
        version = self.inner.write(path, content, condition)
        return self._fault("write", path) if strikes else version

    def stage(self, slot: str, content: Content) -> None:
        strikes = self._meet("stage", slot)
        self.inner.stage(slot, content)
        if strikes:
            self._fault("stage", slot)

    def check_promotable(self, paths: Iterable[str]) -> None:
        self.inner.check_promotable(paths)

    def promote(self, slot: str, path: str) -> None:
        strikes = self._meet("promote", path)
        self.inner.promote(slot, path)
        if strikes:
            self._fault("promote", path)

    def delete(self, path: str) -> bool:
        strikes = self._meet("delete", path)
        deleted = self.inner.delete(path)
        return self._fault("delete", path) if strikes else deleted

    def sync(self) -> None:
        strikes = self._meet("sync", None)
        self.inner.sync()
        if strikes:
            self._fault("sync", None)

    def discard_stage(self) -> None:
        strikes = self._meet("discard_stage", None)
        self.inner.discard_stage()
        if strikes:
            self._fault("discard_stage", None)

    def lock(self, request: LockRequest) -> AbstractContextManager[Lock]:
        return self.inner.lock(request)

    def lock_info(self) -> LockInfo | None:
        return self.inner.lock_info()

    def break_lock(self, nonce: str) -> bool:
        return self.inner.break_lock(nonce)

    def is_whole_root(self) -> bool:
        return self.inner.is_whole_root()

    def close(self) -> None:
        self.inner.close()
