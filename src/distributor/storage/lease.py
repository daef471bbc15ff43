"""A writer lock for destinations that have no lock of their own (E4).

The lease is the file ``.distributor.lock``, made, renewed and removed by a storage's
``read``, ``write`` and ``delete``. Its holder is known by a nonce and renews it every
third of its life. It is stale only when a waiter saw it unrenewed for its whole life by
the waiter's own clock, whatever the times in it say (fault row 36).

Where conditional writes are honoured, two can't take it. Taking it is also the probe:
a ``CREATE_ONLY`` write over the lease just written must fail. Where it does not, whoever
wrote the lease waits ``SETTLE`` seconds and reads it again: the last writer has it. The
window that is left there: a taker that stalls for longer than that between its read and
its write. The one it overwrote notices at its next renewal, a third of the lease's life
later at most; so the state is read again before it is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from distributor.core.paths import LOCK_PATH
from distributor.errors import (
    AlreadyExists,
    LockedError,
    NotFound,
    StorageError,
    VersionMismatch,
)
from distributor.storage.base import (
    CREATE_ONLY,
    OVERWRITE,
    Condition,
    Content,
    IfVersion,
    LockInfo,
    LockRequest,
    StoredFile,
    bytes_content,
)
from distributor.storage.lease_record import MAX_BYTES, LeaseRecord, describe, parse
from distributor.storage.processes import this_process

SETTLE = 1.0
"""Seconds between writing and confirming a lease where conditions are not honoured."""

_POLL = 1.0
_STUBBORN_TRIES = 3
_SAFE_SHARE = 0.9
"""Of its life, the share in which a holder relies on a lease: the rest is for a write under way."""


class LeaseStore(Protocol):
    """What a lease needs of a storage."""

    @property
    def location(self) -> str:
        """The root as a person would name it."""

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        """See :meth:`distributor.storage.base.Storage.read`."""

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        """See :meth:`distributor.storage.base.Storage.write`."""

    def delete(self, path: str) -> bool:
        """See :meth:`distributor.storage.base.Storage.delete`."""


def _steady_clock() -> float:
    """Seconds that go on while the machine sleeps, so that a holder notices it overslept."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Pace(NamedTuple):
    """The clock (seconds, never set back) and the sleep that a lease goes by."""

    clock: Callable[[], float] = _steady_clock
    sleep: Callable[[float], None] = time.sleep
    settle: float = SETTLE


class Lease:
    """A lease that this process took; see :class:`distributor.storage.base.Lock`.

    ``honoured`` tells whether the store honoured the conditions of the writes that took it.
    """

    def __init__(
        self, store: LeaseStore, record: LeaseRecord, version: str, confirmed: float, *, honoured: bool, pace: Pace
    ) -> None:
        self.honoured = honoured
        self._store = store
        self._record = record
        self._version = version
        self._confirmed = confirmed
        self._pace = pace
        self._lost: str | None = None

    def check(self) -> None:
        """Raise ``LockedError`` if the lease is lost, or was not renewed in time. No round trip."""
        if self._lost is None and self._pace.clock() - self._confirmed >= self._record.ttl * _SAFE_SHARE:
            self._lost = "it could not be renewed in time"
        if self._lost is not None:
            raise LockedError(
                f"{self._store.location}: the lock was lost while it was needed: {self._lost}",
                self._lost,
                hint="nothing more was written; run again",
            )

    def renew(self) -> bool:
        """Prolong the lease; ``False`` once it is lost.

        Raises ``StorageError`` if the store does not answer: the lease then stands
        until it runs out.
        """
        begun = self._pace.clock()
        record = self._record._replace(renewals=self._record.renewals + 1)
        if not self.honoured and not self._is_ours():
            return False
        try:
            condition = IfVersion(self._version) if self.honoured else OVERWRITE
            self._version = _put(self._store, record, condition)
        except VersionMismatch:
            if not self._is_ours():
                return False
            # An earlier renewal whose answer was lost had arrived: `_is_ours` took up its version.
            self._version = _put(self._store, record, IfVersion(self._version))
        self._record = record
        self._confirmed = begun
        return True

    def release(self) -> None:
        """Remove the lease if it is still ours and could not have been taken meanwhile.

        Otherwise it is left to whoever has it, or to run out.
        """
        if self._pace.clock() - self._confirmed < self._record.ttl * _SAFE_SHARE and self._is_ours():
            self._store.delete(LOCK_PATH)

    def _is_ours(self) -> bool:
        try:
            stored = self._store.read(LOCK_PATH, MAX_BYTES)
        except NotFound:
            self._lost = "it was removed"
            return False
        found = parse(stored, self._record.ttl)
        if found.nonce != self._record.nonce:
            self._lost = f"it is now held by {describe(found)}"
            return False
        self._version = stored.version
        return True


class _Watch:
    """What a waiter saw of other people's lease, and since when by its own clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seen: tuple[str, int] | None = None
        self._first = 0.0

    def is_stale(self, record: LeaseRecord) -> bool:
        """Whether the lease went unrenewed for its whole life while it was watched."""
        seen = (record.nonce, record.renewals)
        now = self._clock()
        if seen != self._seen:
            self._seen, self._first = seen, now
        return now - self._first >= record.ttl


class _Taker:
    """One attempt after another to take the lease."""

    def __init__(self, store: LeaseStore, request: LockRequest, honoured: bool | None, pace: Pace) -> None:
        self.holder = "somebody else"
        self._store = store
        self._honoured = honoured
        self._pace = pace
        self._watch = _Watch(pace.clock)
        self._contradictions = 0
        self._ttl = request.ttl
        self._record = LeaseRecord(_new_nonce(), 0, this_process(), request.owner, request.since, request.ttl)

    def attempt(self) -> Lease | None:
        """Take the lease if it is free or stale; ``None`` if another has it."""
        try:
            stored = self._store.read(LOCK_PATH, MAX_BYTES)
        except NotFound:
            return self._create()
        found = parse(stored, self._ttl)
        self._contradictions = 0
        self.holder = describe(found)
        # Our own nonce: a write of ours had arrived although it was answered by an error.
        if found.nonce != self._record.nonce and not self._watch.is_stale(found):
            return None
        return self._write(OVERWRITE if self._honoured is False else IfVersion(stored.version))

    def _create(self) -> Lease | None:
        if self._contradictions < _STUBBORN_TRIES:
            lease = self._write(CREATE_ONLY)
            self._contradictions += lease is None
            return lease
        # Absent to a read and present to a create, again and again: a versioned bucket whose
        # delete marker counts as existing (fault row 35). Only a plain write gets through.
        self._contradictions = 0
        return self._write(OVERWRITE)

    def _write(self, condition: Condition) -> Lease | None:
        begun = self._pace.clock()
        try:
            version = _put(self._store, self._record, condition)
        except (AlreadyExists, VersionMismatch):
            return None
        honoured, version = self._probe(version)
        if condition == OVERWRITE or not honoured:
            self._pace.sleep(self._pace.settle)
        lease = Lease(self._store, self._record, version, begun, honoured=honoured, pace=self._pace)
        if (condition == OVERWRITE or not honoured) and not lease.renew():
            return None
        return lease

    def _probe(self, version: str) -> tuple[bool, str]:
        """Say whether the store refuses a create over the lease just written, and its version now."""
        if self._honoured is None:
            # Other bytes than the first time: equal ones could pass for a repeated success.
            again = self._record._replace(renewals=self._record.renewals + 1)
            try:
                version = _put(self._store, again, CREATE_ONLY)
            except AlreadyExists:
                self._honoured = True
            else:
                self._honoured = False
                self._record = again
        return self._honoured, version


@contextmanager
def hold(
    store: LeaseStore,
    request: LockRequest,
    *,
    honoured: bool | None = None,
    on_probe: Callable[[bool], None] | None = None,
    pace: Pace | None = None,
) -> Iterator[Lease]:
    """Hold the lease of ``store``, renewed in the background, for the ``with`` block.

    ``honoured`` says whether the store is known to honour both conditions atomically, or
    not; ``None`` finds out, and tells ``on_probe``. A kind that can create atomically but
    not replace a version says ``False``. Raises ``LockedError`` once ``request.wait`` is over.
    """
    lease = take(store, request, honoured=honoured, pace=pace or Pace())
    if honoured is None and on_probe is not None:
        on_probe(lease.honoured)
    renewer = _Renewer(lease, request.ttl)
    renewer.start()
    try:
        yield lease
    finally:
        renewer.stop()
        with suppress(StorageError):  # what can't be removed now runs out by itself
            lease.release()


def take(store: LeaseStore, request: LockRequest, *, honoured: bool | None, pace: Pace) -> Lease:
    """Take the lease and return it; nobody renews it. Raises ``LockedError`` as :func:`hold` does."""
    taker = _Taker(store, request, honoured, pace)
    deadline = pace.clock() + request.wait
    while True:
        lease = taker.attempt()
        if lease is not None:
            return lease
        left = deadline - pace.clock()
        if left <= 0:
            raise LockedError(
                f"{store.location}: is locked by {taker.holder}",
                taker.holder,
                hint="try again later; see `distributor unlock` if that holder is gone",
            )
        request.waiting(taker.holder)
        pace.sleep(min(left, _POLL, request.ttl / 10))


class _Renewer:
    """The thread that renews a lease at a third of its life."""

    def __init__(self, lease: Lease, ttl: float) -> None:
        import threading  # here: runs that skip take no lease

        self._lease = lease
        self._pause = ttl / 3
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease renewal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        pause = self._pause
        while not self._stopped.wait(pause):
            try:
                if not self._lease.renew():
                    return
                pause = self._pause
            except StorageError:
                # Not lost yet: `check` tells once the lease ran out. Until then, try faster.
                pause = self._pause / 4


def info(store: LeaseStore) -> LockInfo | None:
    """Say who holds the lease of ``store``, or ``None``. One look can't tell whether they live."""
    try:
        stored = store.read(LOCK_PATH, MAX_BYTES)
    except NotFound:
        return None
    found = parse(stored, ttl=60.0)
    return LockInfo(describe(found), found.nonce, found.since or None, None, found.renewals, found.ttl)


def break_lease(store: LeaseStore, nonce: str) -> bool:
    """Remove the lease if its nonce is still ``nonce``; a live holder then notices it is lost."""
    found = info(store)
    return found is not None and found.nonce == nonce and store.delete(LOCK_PATH)


def _put(store: LeaseStore, record: LeaseRecord, condition: Condition) -> str:
    import hashlib  # here: runs that skip take no lease

    data = record.to_bytes()
    return store.write(LOCK_PATH, bytes_content(data, "sha256:" + hashlib.sha256(data).hexdigest()), condition)


def _new_nonce() -> str:
    return os.urandom(16).hex()
