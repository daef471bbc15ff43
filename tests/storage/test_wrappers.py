"""What wraps a storage does what it says, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from uuid import uuid4

import pytest

from distributor.errors import NotFound, StorageError
from distributor.storage.backends.memory import MemoryStorage, open_storage
from distributor.storage.base import LockRequest, Storage
from distributor.storage.opening import Target
from distributor.storage.ops import read_optional
from distributor.storage.wrappers import ReadOnly
from tests.storage.conformance import content, files_of
from tests.storage.faulty import CHANGES, LOOKS, Faulty, Killed, fail

METHODS = {name for name, _ in inspect.getmembers(Storage) if not name.startswith("_")}

REFUSED: dict[str, Callable[[Storage], object]] = {
    "write": lambda s: s.write("a", content(b"x")),
    "stage": lambda s: s.stage("0", content(b"x")),
    "promote": lambda s: s.promote("0", "a"),
    "delete": lambda s: s.delete("a"),
    "sync": lambda s: s.sync(),
    "discard_stage": lambda s: s.discard_stage(),
    "lock": lambda s: s.lock(LockRequest(0, 1, "me", lambda _holder: None)),
    "break_lock": lambda s: s.break_lock(""),
}
ALLOWED: dict[str, Callable[[Storage], object]] = {
    "capabilities": lambda s: s.capabilities,
    "location": lambda s: s.location,
    "list": lambda s: list(s.list()),
    "stat": lambda s: s.stat("a"),
    "read": lambda s: s.read("a"),
    "stream": lambda s: list(s.stream("a")),
    "check_promotable": lambda s: s.check_promotable(["b"]),
    "lock_info": lambda s: s.lock_info(),
    "is_whole_root": lambda s: s.is_whole_root(),
    "close": lambda s: s.close(),
}


@pytest.fixture
def memory() -> MemoryStorage:
    storage = open_storage(Target(f"memory://{uuid4()}", {}))
    storage.write("a", content(b"1"))
    storage.stage("0", content(b"2"))
    return storage


class TestReadOnly:
    def test_it_refuses_or_passes_on_every_method_there_is(self) -> None:
        assert REFUSED.keys() | ALLOWED.keys() == METHODS
        assert REFUSED.keys() & ALLOWED.keys() == set()

    @pytest.mark.parametrize("method", sorted(REFUSED))
    def test_it_refuses_to_change(self, memory: MemoryStorage, method: str) -> None:
        before = files_of(memory)
        with pytest.raises(StorageError, match="only looked at"):
            REFUSED[method](ReadOnly(memory))
        assert files_of(memory) == before

    @pytest.mark.parametrize("method", sorted(ALLOWED))
    def test_it_passes_on_what_looks(self, memory: MemoryStorage, method: str) -> None:
        assert ALLOWED[method](ReadOnly(memory)) == ALLOWED[method](memory)


class TestFaulty:
    def test_it_passes_on_everything_else(self, memory: MemoryStorage) -> None:
        storage = Faulty(memory)
        storage.promote("0", "b")
        assert storage.delete("a") is True
        assert files_of(storage) == {"b": 1}
        assert storage.log == [("promote", "b"), ("delete", "a")]

    def test_it_fails_before_the_operation(self, memory: MemoryStorage) -> None:
        storage = Faulty(memory, 2, fail)
        storage.delete("a")
        with pytest.raises(StorageError):
            storage.promote("0", "a")
        assert files_of(memory) == {".distributor.stage/0": 1}

    def test_it_fails_after_the_operation(self, memory: MemoryStorage) -> None:
        storage = Faulty(memory, 1, fail, after=True)
        with pytest.raises(StorageError):
            storage.promote("0", "a")
        assert files_of(memory) == {"a": 1}

    def test_a_failure_passes(self, memory: MemoryStorage) -> None:
        storage = Faulty(memory, 1, fail)
        with pytest.raises(StorageError):
            storage.sync()
        assert storage.delete("a") is True

    def test_a_lasting_failure_stays(self, memory: MemoryStorage) -> None:
        storage = Faulty(memory, 1, fail, lasting=True)
        for _ in range(2):
            with pytest.raises(StorageError):
                storage.delete("a")

    def test_a_killed_storage_stays_dead(self, memory: MemoryStorage) -> None:
        storage = Faulty(memory, 1)
        for operation in (storage.sync, storage.discard_stage, lambda: storage.read("a")):
            with pytest.raises(Killed):
                operation()
        assert len(files_of(memory)) == 2

    def test_it_can_count_looks_as_well(self, memory: MemoryStorage) -> None:
        storage = Faulty(memory, 2, fail, counted=LOOKS | CHANGES)
        storage.read("a")
        with pytest.raises(StorageError):
            list(storage.list())


class TestReadOptional:
    def test_a_file_is_read(self, memory: MemoryStorage) -> None:
        assert read_optional(memory, "a") == memory.read("a")

    def test_an_absent_file_is_none(self, memory: MemoryStorage) -> None:
        assert read_optional(memory, ".distributor.json") is None

    def test_any_other_failure_is_raised(self, memory: MemoryStorage) -> None:
        """C0, fault row 11."""
        with pytest.raises(StorageError) as caught:
            read_optional(Faulty(memory, 1, fail, counted=LOOKS), ".distributor.json")
        assert not isinstance(caught.value, NotFound)
