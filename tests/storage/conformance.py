"""What every kind of destination guarantees: one test per promise of ``storage/base.py``.

A kind enrols with a class of twenty lines in ``test_<module>.py``: it derives from
:class:`StorageContract` and from the mixins that its capabilities call for, and gives a
fixture ``target`` that names a fresh, absent root. See ``test_memory.py``.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ClassVar

import pytest

from distributor.core.observation import Entry, EntryKind
from distributor.core.paths import MAX_PATH_BYTES
from distributor.errors import AlreadyExists, NotFound, StorageError, VersionMismatch
from distributor.storage.base import CREATE_ONLY, Capabilities, Content, IfVersion, Storage
from distributor.storage.opening import Target, open_storage

MIB = 1 << 20

ODD_NAMES = {
    "space": "a name/with spaces .txt",
    "plus": "a+b+c.txt",
    "percent": "100%.txt",
    "percent escape": "a%20b%2Fc.txt",
    "hash": "#anchor#.txt",
    "question": "what?.txt",
    "ampersand": "a&b=c;d.txt",
    "quotes": 'it\'s "quoted" `so`.txt',
    "brackets": "[x]{y}(z)<w>.txt",
    "glob": "*.t?t",
    "shell": "$HOME;|!~^.txt",
    "colon comma at": "a:b,c@d=.txt",
    "composed": "caf\u00e9.txt",
    "decomposed": "cafe\u0301.txt",
    "cjk": "報告/週次.txt",
    "emoji": "📈/🧪.txt",
    "leading dot": ".hidden/.file",
    "leading dash": "-rf/--all",
    "trailing dot and space": "dots./space ",
    "only dots": ".../....",
}


def content(data: bytes) -> Content:
    """``data`` as content with its true digest."""
    return Content(lambda: iter([data] if data else []), len(data), "sha256:" + hashlib.sha256(data).hexdigest())


def large_content(mebibytes: int) -> Content:
    """Content of many chunks that is never whole in memory; it can be opened again."""
    digest = hashlib.sha256()
    for number in range(mebibytes):
        digest.update(_block(number))
    return Content(
        lambda: (_block(number) for number in range(mebibytes)), mebibytes * MIB, "sha256:" + digest.hexdigest()
    )


def broken_content(error: Exception) -> Content:
    """Content whose stream fails before its last chunk, as a bundle that changed does (B3)."""

    def stream() -> Iterator[bytes]:
        yield b"x" * MIB
        raise error

    return Content(stream, 2 * MIB, "sha256:" + "0" * 64)


def _block(number: int) -> bytes:
    return bytes([number % 251]) * MIB


def files_of(storage: Storage) -> dict[str, int]:
    """Path and size of every file in a listing."""
    return {entry.path: entry.size for entry in storage.list() if entry.kind is EntryKind.FILE}


def at_once(actions: Iterable[Callable[[], object]]) -> list[object]:
    """Run all actions at the same moment; return their results, or the errors they raised."""
    waiting = list(actions)
    barrier = threading.Barrier(len(waiting))

    def run(action: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return action()
        except StorageError as error:
            return error

    with ThreadPoolExecutor(len(waiting)) as pool:
        return list(pool.map(run, waiting))


class StorageContract:
    """For every kind. ``target`` is a fixture that each kind gives."""

    capabilities: ClassVar[Capabilities]
    longest_segment: ClassVar[int] = 255

    @pytest.fixture
    def storage(self, target: Target) -> Iterator[Storage]:
        opened = open_storage(target)
        yield opened
        opened.close()

    @pytest.fixture
    def again(self, target: Target) -> Iterator[Callable[[], Storage]]:
        """Open the same root once more, as another run would."""
        opened: list[Storage] = []

        def open_again() -> Storage:
            opened.append(open_storage(target))
            return opened[-1]

        yield open_again
        for storage in opened:
            storage.close()

    # --- opening -----------------------------------------------------------------

    def test_it_can_what_it_says(self, storage: Storage) -> None:
        assert storage.capabilities == self.capabilities

    def test_an_absent_root_lists_nothing(self, storage: Storage) -> None:
        assert list(storage.list()) == []

    def test_an_absent_root_holds_no_file(self, storage: Storage) -> None:
        with pytest.raises(NotFound):
            storage.read(".distributor.json")

    def test_deleting_in_an_absent_root_finds_nothing(self, storage: Storage) -> None:
        assert storage.delete("a/b.txt") is False

    def test_its_location_shows_no_secret(self, storage: Storage, target: Target) -> None:
        secrets = [str(v) for k, v in target.settings.items() if "password" in k or "secret" in k or "token" in k]
        assert storage.location
        assert [secret for secret in secrets if secret in storage.location] == []

    def test_it_can_be_closed_twice(self, target: Target) -> None:
        opened = open_storage(target)
        opened.close()
        opened.close()

    def test_what_one_wrote_another_reads(self, storage: Storage, again: Callable[[], Storage]) -> None:
        storage.write("a/b.txt", content(b"hello"))
        assert again().read("a/b.txt").data == b"hello"

    # --- reading -----------------------------------------------------------------

    def test_what_was_written_is_read(self, storage: Storage) -> None:
        storage.write("report.html", content(b"<p>"))
        assert storage.read("report.html").data == b"<p>"

    def test_an_empty_file_is_a_file(self, storage: Storage) -> None:
        storage.write("empty", content(b""))
        assert storage.read("empty").data == b""
        assert files_of(storage) == {"empty": 0}

    def test_an_absent_file_is_not_found_by_read(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        with pytest.raises(NotFound):
            storage.read("a/c")

    def test_an_absent_file_is_not_found_by_stat(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        with pytest.raises(NotFound):
            storage.stat("c/d")

    def test_an_absent_file_is_not_found_by_stream(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        with pytest.raises(NotFound):
            list(storage.stream("c"))

    def test_a_path_below_a_file_is_not_found(self, storage: Storage) -> None:
        storage.write("a", content(b"x"))
        with pytest.raises(NotFound):
            storage.read("a/b")

    def test_a_file_above_the_limit_is_not_read(self, storage: Storage) -> None:
        storage.write("big", content(b"12345"))
        with pytest.raises(StorageError) as caught:
            storage.read("big", limit=4)
        assert not isinstance(caught.value, NotFound)

    def test_a_file_at_the_limit_is_read(self, storage: Storage) -> None:
        storage.write("big", content(b"12345"))
        assert storage.read("big", limit=5).data == b"12345"

    def test_stat_tells_kind_size_and_version(self, storage: Storage) -> None:
        version = storage.write("a/b", content(b"12345"))
        assert storage.stat("a/b") == Entry("a/b", EntryKind.FILE, 5, version)

    def test_a_stream_comes_in_chunks_of_a_mebibyte_at_most(self, storage: Storage) -> None:
        storage.write("big", large_content(3))
        chunks = list(storage.stream("big"))
        assert max(map(len, chunks)) <= MIB
        assert b"".join(chunks) == b"".join(large_content(3).open())

    def test_an_error_names_operation_and_path(self, storage: Storage) -> None:
        with pytest.raises(NotFound) as caught:
            storage.read("no/such/file")
        assert (caught.value.operation, caught.value.path) == ("read", "no/such/file")
        assert "no/such/file" in str(caught.value)

    # --- writing -----------------------------------------------------------------

    def test_write_replaces_a_file(self, storage: Storage) -> None:
        storage.write("a", content(b"a longer first version"))
        storage.write("a", content(b"second"))
        assert storage.read("a").data == b"second"

    def test_write_returns_the_version_that_read_tells(self, storage: Storage) -> None:
        version = storage.write("a", content(b"1"))
        assert storage.read("a").version == version

    def test_another_content_has_another_version(self, storage: Storage) -> None:
        versions = {storage.write("a", content(str(number).encode())) for number in range(4)}
        assert len(versions) == 4 or versions == {""}

    def test_write_leaves_nothing_beside_the_file(self, storage: Storage) -> None:
        storage.write("a/b", content(b"1"))
        assert {entry.path for entry in storage.list() if entry.kind is not EntryKind.FOLDER} == {"a/b"}
        assert {entry.path for entry in storage.list()} - {"a", "a/b"} == set()

    def test_large_content_arrives_whole(self, storage: Storage) -> None:
        large = large_content(20)
        storage.write("large.bin", large)
        digest = hashlib.sha256()
        for chunk in storage.stream("large.bin"):
            digest.update(chunk)
        assert "sha256:" + digest.hexdigest() == large.sha256

    def test_content_can_be_written_twice(self, storage: Storage) -> None:
        once = content(b"same")
        storage.write("a", once)
        storage.write("b", once)
        assert storage.read("a").data == storage.read("b").data == b"same"

    def test_content_that_breaks_off_leaves_nothing_at_the_path(self, storage: Storage) -> None:
        with pytest.raises(ZeroDivisionError):
            storage.write("a/b", broken_content(ZeroDivisionError()))
        assert files_of(storage) == {}
        with pytest.raises(NotFound):
            storage.stat("a/b")

    def test_content_that_breaks_off_leaves_the_old_file(self, storage: Storage) -> None:
        storage.write("a", content(b"old"))
        with pytest.raises(ZeroDivisionError):
            storage.write("a", broken_content(ZeroDivisionError()))
        assert storage.read("a").data == b"old"

    def test_a_reader_sees_the_old_or_the_new_bytes(self, storage: Storage, again: Callable[[], Storage]) -> None:
        reader = again()
        old, new = b"o" * 300_000, b"n" * 200_000
        storage.write("a", content(old))
        stop = threading.Event()

        def rewrite() -> None:
            for number in range(10):
                storage.write("a", content(old if number % 2 else new))
            stop.set()

        seen = set()
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(rewrite)
            while not stop.is_set() and not writing.done():
                seen.add(reader.read("a").data)
            writing.result()
        assert seen <= {old, new}

    # --- names -------------------------------------------------------------------

    @pytest.mark.parametrize("path", ODD_NAMES.values(), ids=ODD_NAMES.keys())
    def test_odd_names_come_back_as_they_went(self, storage: Storage, path: str) -> None:
        storage.write(path, content(path.encode()))
        assert files_of(storage) == {path: len(path.encode())}
        assert storage.read(path).data == path.encode()
        assert storage.stat(path).path == path
        assert storage.delete(path) is True
        assert list(storage.list()) == []

    def test_every_printable_ascii_character_can_stand_in_a_name(self, storage: Storage) -> None:
        name = "".join(map(chr, range(0x20, 0x7F))).translate({ord("/"): None, ord("\\"): None})
        storage.write(name, content(b"x"))
        assert storage.read(name).data == b"x"
        assert list(files_of(storage)) == [name]

    def test_composed_and_decomposed_names_are_two_files(self, storage: Storage) -> None:
        storage.write("caf\u00e9", content(b"composed"))
        storage.write("cafe\u0301", content(b"decomposed"))
        assert storage.read("caf\u00e9").data == b"composed"
        assert len(files_of(storage)) == 2

    def test_names_that_differ_in_case_are_two_files(self, storage: Storage) -> None:
        storage.write("A.html", content(b"upper"))
        storage.write("a.html", content(b"lower"))
        assert storage.read("A.html").data == b"upper"

    def test_a_segment_may_be_255_bytes_long(self, storage: Storage) -> None:
        name = "n" * self.longest_segment
        storage.write(name, content(b"x"))
        assert list(files_of(storage)) == [name]

    def test_a_path_may_be_1000_bytes_long(self, storage: Storage) -> None:
        path = "/".join(["d" * 99] * 10)[:1000]
        assert len(path) <= MAX_PATH_BYTES
        storage.write(path, content(b"x"))
        assert storage.read(path).data == b"x"
        assert list(files_of(storage)) == [path]

    # --- listing -----------------------------------------------------------------

    def test_a_listing_names_every_file_with_its_size(self, storage: Storage) -> None:
        files = {"a": b"1", "b/c": b"22", "b/d/e": b"", ".distributor.json": b"{}"}
        for path, data in files.items():
            storage.write(path, content(data))
        assert files_of(storage) == {path: len(data) for path, data in files.items()}

    def test_a_listing_beyond_a_thousand_files_is_complete(self, storage: Storage) -> None:
        paths = [f"many/{number % 7}/{number:04}.txt" for number in range(1100)]
        with ThreadPoolExecutor(max(1, storage.capabilities.parallel)) as pool:
            list(pool.map(lambda path: storage.write(path, content(b"x")), paths))
        assert sorted(files_of(storage)) == sorted(paths)

    def test_a_listing_tells_the_versions_that_stat_tells(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        assert [entry for entry in storage.list() if entry.kind is EntryKind.FILE] == [storage.stat("a/b")]

    # --- deleting ----------------------------------------------------------------

    def test_a_deleted_file_is_gone(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        assert storage.delete("a/b") is True
        with pytest.raises(NotFound):
            storage.read("a/b")

    def test_deleting_twice_says_that_nothing_was_there(self, storage: Storage) -> None:
        storage.write("a", content(b"x"))
        storage.delete("a")
        assert storage.delete("a") is False

    def test_deleting_removes_folders_that_became_empty(self, storage: Storage) -> None:
        storage.write("a/b/c/d", content(b"x"))
        storage.write("a/e", content(b"x"))
        storage.delete("a/b/c/d")
        assert {entry.path for entry in storage.list()} <= {"a", "a/e"}

    def test_deleting_a_path_where_a_folder_stands_deletes_nothing(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        assert storage.delete("a") is False
        assert storage.read("a/b").data == b"x"

    def test_deleting_a_path_below_a_file_deletes_nothing(self, storage: Storage) -> None:
        storage.write("a", content(b"x"))
        assert storage.delete("a/b") is False
        assert storage.read("a").data == b"x"

    def test_a_path_can_be_written_again_after_it_was_deleted(self, storage: Storage) -> None:
        storage.write("a/b", content(b"1"))
        storage.delete("a/b")
        storage.write("a/b", content(b"2"))
        assert storage.read("a/b").data == b"2"

    # --- several threads ---------------------------------------------------------

    def test_files_of_one_new_folder_can_be_written_at_once(self, storage: Storage) -> None:
        paths = [f"new/folder/{number}" for number in range(8)]
        results = at_once([lambda path=path: storage.write(path, content(b"x")) for path in paths])
        assert [result for result in results if isinstance(result, Exception)] == []
        assert sorted(files_of(storage)) == paths

    def test_files_of_one_folder_can_be_deleted_at_once(self, storage: Storage) -> None:
        paths = [f"old/folder/{number}" for number in range(8)]
        for path in paths:
            storage.write(path, content(b"x"))
        assert at_once([lambda path=path: storage.delete(path) for path in paths]) == [True] * 8
        assert list(storage.list()) == []


class CheckedConditions:
    """For every kind: conditions hold where nobody else writes at that moment."""

    def test_create_only_writes_where_nothing_is(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"), CREATE_ONLY)
        assert storage.read("a/b").data == b"x"

    def test_create_only_refuses_where_a_file_is(self, storage: Storage) -> None:
        storage.write("a", content(b"old"))
        with pytest.raises(AlreadyExists):
            storage.write("a", content(b"new"), CREATE_ONLY)
        assert storage.read("a").data == b"old"

    def test_create_only_writes_again_after_a_deletion(self, storage: Storage) -> None:
        storage.write("a", content(b"1"), CREATE_ONLY)
        storage.delete("a")
        storage.write("a", content(b"2"), CREATE_ONLY)
        assert storage.read("a").data == b"2"

    def test_the_version_that_was_read_is_replaced(self, storage: Storage) -> None:
        storage.write("a", content(b"old"))
        storage.write("a", content(b"new"), IfVersion(storage.read("a").version))
        assert storage.read("a").data == b"new"

    def test_the_version_that_write_returned_is_replaced(self, storage: Storage) -> None:
        version = storage.write("a", content(b"1"))
        for number in range(2, 5):
            version = storage.write("a", content(str(number).encode()), IfVersion(version))
        assert storage.read("a").data == b"4"

    def test_another_version_is_not_replaced(self, storage: Storage) -> None:
        version = storage.write("a", content(b"1"))
        storage.write("a", content(b"2"))
        with pytest.raises(VersionMismatch):
            storage.write("a", content(b"3"), IfVersion(version))
        assert storage.read("a").data == b"2"

    def test_a_version_of_a_deleted_file_is_not_replaced(self, storage: Storage) -> None:
        version = storage.write("a", content(b"1"))
        storage.delete("a")
        with pytest.raises(VersionMismatch):
            storage.write("a", content(b"2"), IfVersion(version))
        assert files_of(storage) == {}

    def test_a_refused_write_leaves_nothing_behind(self, storage: Storage) -> None:
        version = storage.write("a", content(b"1"))
        storage.write("a", content(b"2"))
        for condition in (CREATE_ONLY, IfVersion(version)):
            with pytest.raises((AlreadyExists, VersionMismatch)):
                storage.write("a", content(b"3"), condition)
        assert [entry.path for entry in storage.list()] == ["a"]


class AtomicConditions(CheckedConditions):
    """For kinds with ``conditional_write``: of writers at once, exactly one wins."""

    def test_of_many_that_create_one_wins(self, storage: Storage, again: Callable[[], Storage]) -> None:
        openers = [storage, *(again() for _ in range(7))]
        for round_number in range(5):
            path = f"race/{round_number}"
            results = at_once(
                [partial(s.write, path, content(f"writer {n}".encode()), CREATE_ONLY) for n, s in enumerate(openers)]
            )
            winners = [n for n, result in enumerate(results) if isinstance(result, str)]
            assert len(winners) == 1
            assert storage.read(path).data == f"writer {winners[0]}".encode()
            assert all(isinstance(r, AlreadyExists) for n, r in enumerate(results) if n != winners[0])

    def test_of_many_that_replace_one_version_one_wins(self, storage: Storage, again: Callable[[], Storage]) -> None:
        openers = [storage, *(again() for _ in range(7))]
        version = storage.write("state", content(b"start"))
        for round_number in range(5):
            condition = IfVersion(version)
            # New bytes each round: where a version is a digest, equal bytes are the same version.
            bodies = [f"round {round_number}, writer {n}".encode() for n in range(8)]
            results = at_once([partial(s.write, "state", content(bodies[n]), condition) for n, s in enumerate(openers)])
            winners = [n for n, result in enumerate(results) if isinstance(result, str)]
            assert len(winners) == 1
            assert storage.read("state").data == bodies[winners[0]]
            version = storage.read("state").version

    def test_no_update_of_a_counter_is_lost(self, storage: Storage, again: Callable[[], Storage]) -> None:
        storage.write("counter", content(b"000"))

        def count(opened: Storage) -> None:
            done = 0
            while done < 5:
                seen = opened.read("counter")
                try:
                    opened.write("counter", content(b"%03d" % (int(seen.data) + 1)), IfVersion(seen.version))
                except VersionMismatch:
                    continue
                done += 1

        openers = [storage, *(again() for _ in range(3))]
        at_once([lambda s=s: count(s) for s in openers])
        assert storage.read("counter").data == b"020"
