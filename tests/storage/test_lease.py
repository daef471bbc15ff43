"""The lease: never broken while it lives, never in the way for longer than its life (E4)."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from uuid import uuid4

import pytest

from distributor.core.paths import LOCK_PATH
from distributor.errors import AlreadyExists, LockedError, NotFound, Unavailable
from distributor.storage import lease
from distributor.storage.backends.memory import open_storage
from distributor.storage.base import CREATE_ONLY, OVERWRITE, Condition, Content, LockRequest, StoredFile
from distributor.storage.lease import Lease, LeaseStore, Pace
from distributor.storage.opening import Target
from tests.storage.conformance import content

TTL = 60.0


class Store:
    """A store in memory whose operations a test can hook into."""

    location = "memory://store"

    def __init__(self, url: str | None = None) -> None:
        self.url = url or f"memory://{uuid4()}"
        self.inner = open_storage(Target(self.url, {"staging": False}))
        self.before_write: Callable[[], None] = lambda: None

    def again(self) -> Store:
        return type(self)(self.url)

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        return self.inner.read(path, limit)

    def write(self, path: str, data: Content, condition: Condition = OVERWRITE) -> str:
        hook, self.before_write = self.before_write, lambda: None
        hook()
        return self.inner.write(path, data, condition)

    def delete(self, path: str) -> bool:
        return self.inner.delete(path)


class IgnoringStore(Store):
    """A service that takes conditions and ignores them (fault row 34)."""

    def write(self, path: str, data: Content, condition: Condition = OVERWRITE) -> str:
        return super().write(path, data)


class LateStore(IgnoringStore):
    """As seen by one who read before everybody else wrote, and writes only now."""

    first = True

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        if self.first:
            self.first = False
            raise NotFound("not yet", operation="read", path=path)
        return super().read(path, limit)


class DeleteMarkerStore(Store):
    """A versioned bucket: after a deletion, creating answers that the file exists (fault row 35)."""

    deleted = False

    def write(self, path: str, data: Content, condition: Condition = OVERWRITE) -> str:
        if self.deleted and condition == CREATE_ONLY:
            raise AlreadyExists("exists", operation="write", path=path)
        self.deleted = False
        return super().write(path, data, condition)

    def delete(self, path: str) -> bool:
        self.deleted = super().delete(path)
        return self.deleted


class Time:
    """A clock that only sleeping moves, and what to do while sleeping."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.while_asleep: Callable[[], None] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        hook, self.while_asleep = self.while_asleep, lambda: None
        hook()

    @property
    def pace(self) -> Pace:
        return Pace(lambda: self.now, self.sleep, settle=1.0)


def asking(wait: float = 0.0, waiting: Callable[[str], None] = lambda _holder: None, since: str = "") -> LockRequest:
    return LockRequest(wait, TTL, "reports/archive", waiting, since)


def take(store: LeaseStore, clock: Time, request: LockRequest | None = None, honoured: bool | None = True) -> Lease:
    return lease.take(store, request or asking(), honoured=honoured, pace=clock.pace)


def holder_in(store: LeaseStore) -> str:
    return json.loads(store.read(LOCK_PATH).data)["nonce"]


class TestStaleness:
    def test_a_dead_holder_is_outlasted_by_waiting_longer_than_its_lease(self) -> None:
        store, clock = Store(), Time()
        take(store, clock)
        begun = clock.now
        take(store.again(), clock, asking(wait=TTL + 10)).check()
        assert TTL <= clock.now - begun <= TTL + 2

    def test_a_dead_holder_is_not_outlasted_by_waiting_less(self) -> None:
        store, clock = Store(), Time()
        take(store, clock)
        with pytest.raises(LockedError):
            take(store.again(), clock, asking(wait=TTL - 1))

    def test_a_lease_seen_for_the_first_time_is_not_stale_however_old_it_is(self) -> None:
        """Fault row 36: what the times in it say does not count."""
        store = Store()
        take(store, Time(), asking(since="2001-01-01T00:00:00Z"))
        with pytest.raises(LockedError):
            take(store.again(), Time(now=10**9))

    @pytest.mark.parametrize("hours", [-2, 2])
    def test_a_renewed_lease_is_not_stolen_whatever_the_clocks_say(self, hours: int) -> None:
        """Fault row 36."""
        store = Store()
        mine, theirs = Time(), Time(now=1000.0 + hours * 3600)
        held = take(store, mine)

        def renew(_holder: str) -> None:
            mine.now += 1.0
            if mine.now % 20 == 0:
                held.renew()

        with pytest.raises(LockedError):
            take(store.again(), theirs, asking(wait=10 * TTL, waiting=renew))
        held.check()

    def test_two_waiters_do_not_both_take_a_stale_lease(self) -> None:
        store, clock = Store(), Time()
        take(store, clock)
        first, second = store.again(), store.again()
        winners: list[Lease] = []
        first.before_write = lambda: winners.append(take(second, clock, asking(wait=TTL + 10)))
        with pytest.raises(LockedError):
            take(first, clock, asking(wait=TTL + 5))
        assert len(winners) == 1
        winners[0].renew()
        winners[0].check()

    def test_two_that_find_it_free_do_not_both_take_it(self) -> None:
        store, clock = Store(), Time()
        first, second = store.again(), store.again()
        winners: list[Lease] = []
        first.before_write = lambda: winners.append(take(second, clock))
        with pytest.raises(LockedError):
            take(first, clock)
        winners[0].check()

    @pytest.mark.parametrize(
        "data",
        [b"", b"\0" * 100, b"[]", b'{"nonce": "x"}', b'{"nonce": 1, "renewals": 1e999, "holder": "", "ttl": 1}'],
    )
    def test_an_unreadable_lease_is_stale_once_it_went_unchanged_for_a_lease_of_ours(self, data: bytes) -> None:
        store, clock = Store(), Time()
        store.inner.write(LOCK_PATH, content(data))
        with pytest.raises(LockedError, match="unreadable"):
            take(store.again(), clock, asking(wait=TTL - 1))
        take(store, clock, asking(wait=TTL + 2)).check()

    @pytest.mark.parametrize("ttl", [1e12, -1, "NaN", "Infinity", 0])
    def test_a_lease_that_claims_an_absurd_life_has_an_ordinary_one(self, ttl: object) -> None:
        store, clock = Store(), Time()
        data = {"nonce": "n", "renewals": 0, "holder": "h", "owner": "", "since": "", "ttl": ttl}
        store.inner.write(LOCK_PATH, content(json.dumps(data).encode()))
        take(store, clock, asking(wait=TTL + 2)).check()


class TestHolding:
    def test_a_lease_not_renewed_in_time_is_lost(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)
        clock.now += TTL * 0.95
        with pytest.raises(LockedError, match="renewed in time"):
            held.check()

    def test_a_renewed_lease_lives_on(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)
        for _ in range(10):
            clock.now += TTL / 3
            held.renew()
            held.check()

    def test_its_life_counts_from_before_the_renewal_was_sent(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)

        def slow() -> None:
            clock.now += TTL * 0.5

        store.before_write = slow
        held.renew()
        clock.now += TTL * 0.45
        with pytest.raises(LockedError):
            held.check()

    def test_a_lease_another_took_is_lost_and_its_holder_is_told(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)
        clock.now += 2 * TTL
        other = store.again()
        other.delete(LOCK_PATH)
        take(other, clock)
        assert held.renew() is False
        with pytest.raises(LockedError, match=f"@{os.uname().nodename} pid {os.getpid()}"):
            held.check()

    def test_a_lease_that_was_removed_is_lost(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)
        store.delete(LOCK_PATH)
        assert held.renew() is False
        with pytest.raises(LockedError, match="removed"):
            held.check()

    def test_a_renewal_that_fails_leaves_the_lease_until_it_runs_out(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)

        def fail() -> None:
            raise Unavailable("away", operation="write")

        store.before_write = fail
        clock.now += TTL / 3
        with pytest.raises(Unavailable):
            held.renew()
        held.check()

    def test_a_renewal_that_arrived_though_its_answer_was_lost_does_not_lose_the_lease(self) -> None:
        class LosesAnswers(Store):
            losing = False

            def write(self, path: str, data: Content, condition: Condition = OVERWRITE) -> str:
                version = super().write(path, data, condition)
                if self.losing:
                    self.losing = False
                    raise Unavailable("answer lost", operation="write")
                return version

        store, clock = LosesAnswers(), Time()
        held = take(store, clock)
        store.losing = True
        with pytest.raises(Unavailable):
            held.renew()
        assert held.renew() is True
        held.check()

    def test_a_lease_whose_creation_was_answered_by_its_own_success_is_taken(self) -> None:
        class RetriesBlindly(Store):
            first = True

            def write(self, path: str, data: Content, condition: Condition = OVERWRITE) -> str:
                version = super().write(path, data, condition)
                if self.first:
                    self.first = False
                    return super().write(path, data, condition)
                return version

        clock = Time()
        take(RetriesBlindly(), clock, asking(wait=5)).check()
        assert clock.now < 1000.0 + TTL


class TestReleasing:
    def test_a_released_lease_leaves_nothing(self) -> None:
        store, clock = Store(), Time()
        take(store, clock).release()
        assert list(store.inner.list()) == []

    def test_a_lease_of_another_is_not_released(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)
        store.delete(LOCK_PATH)
        other = take(store.again(), clock)
        held.release()
        other.renew()
        other.check()

    def test_a_lease_that_ran_out_is_not_removed(self) -> None:
        """It may be another's by the time the deletion arrives."""
        store, clock = Store(), Time()
        held = take(store, clock)
        clock.now += TTL
        held.release()
        assert holder_in(store)

    def test_a_release_that_fails_does_not_fail_the_run(self) -> None:
        class CannotDelete(Store):
            def delete(self, path: str) -> bool:
                raise Unavailable("away", operation="delete")

        store = CannotDelete()
        with lease.hold(store, asking(), honoured=True) as held:
            held.check()
        assert holder_in(store)

    def test_the_renewing_thread_ends_with_the_lease(self) -> None:
        with lease.hold(Store(), asking(), honoured=True):
            assert "lease renewal" in {thread.name for thread in threading.enumerate()}
        assert "lease renewal" not in {thread.name for thread in threading.enumerate()}


class TestStoresThatIgnoreConditions:
    """Fault row 34."""

    def test_taking_the_lease_finds_them_out(self) -> None:
        found: list[bool] = []
        with lease.hold(IgnoringStore(), asking(), on_probe=found.append, pace=Time().pace) as held:
            held.check()
        assert found == [False]

    def test_taking_the_lease_finds_honest_ones_out_too(self) -> None:
        found: list[bool] = []
        with lease.hold(Store(), asking(), on_probe=found.append) as held:
            held.check()
        assert found == [True]

    def test_a_store_known_to_honour_conditions_is_not_probed(self) -> None:
        found: list[bool] = []
        store = Store()
        with lease.hold(store, asking(), honoured=True, on_probe=found.append):
            assert json.loads(store.read(LOCK_PATH).data)["renewals"] == 0
        assert found == []

    def test_a_live_lease_is_respected(self) -> None:
        store, clock = IgnoringStore(), Time()
        take(store, clock, honoured=None)
        with pytest.raises(LockedError):
            take(store.again(), clock, asking(wait=TTL / 2), honoured=None)

    def test_a_dead_holder_is_outlasted(self) -> None:
        store, clock = IgnoringStore(), Time()
        take(store, clock, honoured=None)
        held = take(store.again(), clock, asking(wait=TTL + 10), honoured=None)
        assert held.renew() is True
        held.check()

    @pytest.mark.parametrize("honoured", [None, False])
    def test_of_two_writers_at_once_the_last_has_it(self, honoured: bool | None) -> None:
        store, clock = IgnoringStore(), Time()
        late = LateStore(store.url)
        winners: list[Lease] = []
        clock.while_asleep = lambda: winners.append(take(late, Time(clock.now), honoured=honoured))
        with pytest.raises(LockedError):
            take(store, clock, honoured=honoured)
        assert len(winners) == 1
        assert winners[0].renew() is True

    def test_a_lease_written_over_is_noticed_at_the_next_renewal(self) -> None:
        store, clock = IgnoringStore(), Time()
        held = take(store, clock, honoured=None)
        store.inner.write(LOCK_PATH, content(b'{"nonce": "x", "renewals": 0, "holder": "thief", "ttl": 60}'))
        assert held.renew() is False
        with pytest.raises(LockedError, match="thief"):
            held.check()


class TestDeleteMarkers:
    """Fault row 35."""

    def test_a_lease_can_be_taken_after_it_was_released(self) -> None:
        store, clock = DeleteMarkerStore(), Time()
        take(store, clock).release()
        take(store, clock, asking(wait=10)).check()

    def test_one_that_wrote_over_a_marker_gives_way_to_the_last_writer(self) -> None:
        store, clock = DeleteMarkerStore(), Time()
        take(store, clock).release()
        other = content(b'{"nonce": "x", "renewals": 0, "holder": "other", "ttl": 60}')

        def sleep(seconds: float) -> None:
            clock.now += seconds
            if not store.deleted:
                store.inner.write(LOCK_PATH, other)

        with pytest.raises(LockedError, match="other"):
            lease.take(store, asking(wait=20), honoured=True, pace=Pace(lambda: clock.now, sleep, settle=1.0))


class TestTelling:
    def test_a_holder_is_named_by_user_host_process_program_and_purpose(self) -> None:
        """Fault row 33."""
        store = Store()
        take(store, Time(), asking(since="2026-06-04T12:00:00Z"))
        info = lease.info(store)
        assert info is not None
        assert f"@{os.uname().nodename} pid {os.getpid()} (" in info.holder
        assert info.holder.endswith("for reports/archive since 2026-06-04T12:00:00Z")

    def test_a_holders_arguments_are_not_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "argv", ["distributor", "upload", "secret-token"])
        store = Store()
        take(store, Time())
        assert b"secret-token" not in store.read(LOCK_PATH).data

    def test_two_leases_have_two_nonces(self) -> None:
        store, clock = Store(), Time()
        nonces = set()
        for _ in range(2):
            held = take(store, clock)
            nonces.add(holder_in(store))
            held.release()
        assert len(nonces) == 2

    def test_looking_twice_tells_a_live_lease_by_its_renewals(self) -> None:
        store, clock = Store(), Time()
        held = take(store, clock)
        first = lease.info(store)
        held.renew()
        second = lease.info(store)
        assert first is not None
        assert second is not None
        assert (first.nonce, first.renewals + 1) == (second.nonce, second.renewals)

    def test_the_clock_goes_on_while_the_machine_sleeps(self) -> None:
        """A holder that overslept must notice."""
        import time

        assert abs(Pace().clock() - time.clock_gettime(time.CLOCK_BOOTTIME)) < 5
