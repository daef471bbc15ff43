"""What the writer lock of every kind guarantees (E4); see ``conformance.py``."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from distributor.errors import LockedError, StorageError
from distributor.storage.base import LockRequest, Storage
from distributor.storage.opening import Target
from tests.storage.conformance import at_once, content, files_of


def asking(
    wait: float = 0.0, owner: str = "reports/archive", waiting: Callable[[str], None] | None = None
) -> LockRequest:
    """A request with a short lease."""
    return LockRequest(wait, 3.0, owner, waiting or (lambda _holder: None), "2026-06-04T12:00:00Z")


class GaveUp(Exception):
    """Raised by a waiting callback."""


class LockContract:
    """For every kind."""

    def test_a_lock_can_be_taken_on_an_absent_root(self, storage: Storage) -> None:
        with storage.lock(asking()) as lock:
            lock.check()

    def test_a_lock_leaves_nothing_behind(self, storage: Storage) -> None:
        with storage.lock(asking()):
            pass
        assert list(storage.list()) == []
        assert storage.lock_info() is None

    def test_a_second_holder_is_refused(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()), pytest.raises(LockedError), again().lock(asking()):
            pass

    def test_the_same_storage_is_refused_a_second_lock(self, storage: Storage) -> None:
        with storage.lock(asking()), pytest.raises(LockedError), storage.lock(asking()):
            pass

    def test_a_refusal_names_the_holder(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()), pytest.raises(LockedError) as caught, again().lock(asking()):
            pass
        assert caught.value.holder
        assert caught.value.holder in str(caught.value)

    def test_a_released_lock_can_be_taken(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()):
            pass
        with again().lock(asking()) as lock:
            lock.check()

    def test_a_lock_is_released_when_its_block_fails(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with pytest.raises(GaveUp), storage.lock(asking()):
            raise GaveUp
        with again().lock(asking()) as lock:
            lock.check()

    def test_a_waiter_gets_the_lock_when_it_is_released(self, storage: Storage, again: Callable[[], Storage]) -> None:
        second = again()
        order: list[str] = []

        def wait() -> None:
            with second.lock(asking(wait=30)):
                order.append("second")

        with ThreadPoolExecutor(1) as pool:
            with storage.lock(asking()):
                waiter = pool.submit(wait)
                time.sleep(0.3)
                order.append("first")
            waiter.result()
        assert order == ["first", "second"]

    def test_a_waiter_is_told_the_holder(self, storage: Storage, again: Callable[[], Storage]) -> None:
        told: list[str] = []
        with (
            storage.lock(asking()),
            pytest.raises(LockedError) as caught,
            again().lock(asking(wait=1.2, waiting=told.append)),
        ):
            pass
        assert told
        assert set(told) == {caught.value.holder}

    def test_a_waiter_can_give_up(self, storage: Storage, again: Callable[[], Storage]) -> None:
        def give_up(_holder: str) -> None:
            raise GaveUp

        with storage.lock(asking()), pytest.raises(GaveUp), again().lock(asking(wait=60, waiting=give_up)):
            pass

    def test_of_many_at_once_one_holds_the_lock(self, storage: Storage, again: Callable[[], Storage]) -> None:
        inside: list[int] = []
        most: list[int] = []

        def enter(number: int, opened: Storage) -> None:
            with opened.lock(asking(wait=60)):
                inside.append(number)
                most.append(len(inside))
                time.sleep(0.01)
                inside.remove(number)

        openers = [storage, *(again() for _ in range(3))]
        at_once([lambda n=n, s=s: enter(n, s) for n, s in enumerate(openers)])
        assert most == [1, 1, 1, 1]

    def test_writing_goes_on_under_the_lock(self, storage: Storage) -> None:
        with storage.lock(asking()) as lock:
            storage.write("a", content(b"x"))
            lock.check()
        assert files_of(storage) == {"a": 1}

    def test_nobody_holds_a_lock_that_was_not_taken(self, storage: Storage) -> None:
        assert storage.lock_info() is None

    def test_lock_info_tells_a_holder(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()):
            info = again().lock_info()
        assert info is not None
        assert info.holder

    def test_breaking_a_lock_that_is_not_there_does_nothing(self, storage: Storage) -> None:
        assert storage.break_lock("0123") is False


class OsLockContract(LockContract):
    """For kinds whose lock the system holds for a process."""

    def test_a_held_lock_can_not_be_broken(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()) as lock:
            with pytest.raises(StorageError, match="locked by"):
                again().break_lock("")
            lock.check()

    def test_a_held_lock_is_live_and_has_no_nonce(self, storage: Storage) -> None:
        with storage.lock(asking()):
            info = storage.lock_info()
        assert info is not None
        assert (info.nonce, info.live) == ("", True)


class LeaseContract(LockContract):
    """For kinds whose lock is a lease."""

    def test_a_lease_has_a_nonce_and_tells_who_and_since_when(self, storage: Storage) -> None:
        with storage.lock(asking(owner="reports/archive")):
            info = storage.lock_info()
        assert info is not None
        assert info.nonce
        assert "reports/archive" in info.holder
        assert (info.since, info.live, info.ttl) == ("2026-06-04T12:00:00Z", None, 3.0)

    def test_a_live_lease_is_renewed(self, storage: Storage) -> None:
        with storage.lock(asking()) as lock:
            first = storage.lock_info()
            time.sleep(3.5)
            second = storage.lock_info()
            lock.check()
        assert first is not None
        assert second is not None
        assert second.nonce == first.nonce
        assert second.renewals > first.renewals

    def test_a_live_lease_outlasts_a_waiter(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()) as lock:
            with pytest.raises(LockedError), again().lock(asking(wait=5)):
                pass
            lock.check()

    def test_breaking_with_another_nonce_does_nothing(self, storage: Storage) -> None:
        with storage.lock(asking()) as lock:
            assert storage.break_lock("0123") is False
            lock.check()

    def test_a_broken_lease_is_free(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()):
            info = storage.lock_info()
            assert info is not None
            assert again().break_lock(info.nonce) is True
            assert storage.lock_info() is None

    def test_the_holder_of_a_broken_lease_notices(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()) as lock:
            info = storage.lock_info()
            assert info is not None
            again().break_lock(info.nonce)
            time.sleep(1.8)
            with pytest.raises(LockedError):
                lock.check()

    def test_a_lease_taken_over_is_left_to_its_new_holder(self, storage: Storage, again: Callable[[], Storage]) -> None:
        with storage.lock(asking()):
            info = storage.lock_info()
            assert info is not None
            other = again()
            other.break_lock(info.nonce)
            held = other.lock(asking(wait=10))
            held.__enter__()
        assert other.lock_info() is not None
        held.__exit__(None, None, None)
        assert other.lock_info() is None


_TRY_TO_LOCK = """
import json, sys
from distributor.errors import LockedError
from distributor.storage.base import LockRequest
from distributor.storage.opening import Target, open_storage
url, settings, mode = json.loads(sys.argv[1])
storage = open_storage(Target(url, settings))
try:
    with storage.lock(LockRequest(0.0, 3.0, "another/process", lambda holder: None)):
        print("held", flush=True)
        if mode == "hold":
            sys.stdin.read()
except LockedError as error:
    print("refused", error.holder, flush=True)
"""


def start_locker(target: Target, mode: str = "try") -> subprocess.Popen[str]:
    """Start a process that takes the lock, and with ``hold`` keeps it until its input ends."""
    arguments = json.dumps([target.url, dict(target.settings), mode])
    return subprocess.Popen(
        [sys.executable, "-c", _TRY_TO_LOCK, arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class ProcessLockContract:
    """For kinds whose root other processes can open."""

    def test_another_process_is_refused(self, storage: Storage, target: Target) -> None:
        with storage.lock(asking()):
            output, _ = start_locker(target).communicate(timeout=60)
        assert output.startswith("refused")

    def test_another_process_gets_a_released_lock(self, storage: Storage, target: Target) -> None:
        with storage.lock(asking()):
            pass
        output, _ = start_locker(target).communicate(timeout=60)
        assert output == "held\n"

    def test_a_killed_holder_does_not_block_longer_than_its_lease(self, storage: Storage, target: Target) -> None:
        other = start_locker(target, "hold")
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LockedError), storage.lock(asking()):
            pass
        other.kill()
        other.communicate(timeout=60)
        with storage.lock(asking(wait=10)) as lock:
            lock.check()
