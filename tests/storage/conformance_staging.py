"""What kinds with staging and with folders of their own guarantee besides; see ``conformance.py``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from distributor.core.observation import EntryKind
from distributor.errors import NotFound, StorageError
from distributor.storage.base import CREATE_ONLY, Storage
from distributor.storage.opening import Target
from tests.storage.conformance import broken_content, content, files_of, large_content


class StagingContract:
    """For kinds with ``staging``: stage, sync, promote (E1a)."""

    def test_what_is_staged_is_not_yet_in_place(self, storage: Storage) -> None:
        storage.stage("0", content(b"new"))
        with pytest.raises(NotFound):
            storage.stat("report.html")

    def test_what_is_staged_lies_under_the_staging_folder(self, storage: Storage) -> None:
        storage.stage("new/0", content(b"new"))
        assert files_of(storage) == {".distributor.stage/new/0": 3}

    def test_promoting_puts_a_staged_file_in_place(self, storage: Storage) -> None:
        storage.stage("0", content(b"new"))
        storage.promote("0", "a/b/report.html")
        assert storage.read("a/b/report.html").data == b"new"
        assert [path for path in files_of(storage) if path != "a/b/report.html"] == []

    def test_promoting_replaces_a_file(self, storage: Storage) -> None:
        storage.write("a", content(b"old"))
        storage.stage("0", content(b"new"))
        storage.promote("0", "a")
        assert storage.read("a").data == b"new"

    def test_promoting_gives_another_version(self, storage: Storage) -> None:
        before = storage.write("a", content(b"old"))
        storage.stage("0", content(b"new"))
        storage.promote("0", "a")
        assert storage.read("a").version != before or before == ""

    def test_promoting_what_is_not_staged_is_not_found(self, storage: Storage) -> None:
        storage.write("a", content(b"old"))
        with pytest.raises(NotFound):
            storage.promote("0", "a")
        assert storage.read("a").data == b"old"

    def test_promoting_twice_is_not_found(self, storage: Storage) -> None:
        storage.stage("0", content(b"new"))
        storage.promote("0", "a")
        with pytest.raises(NotFound):
            storage.promote("0", "a")
        assert storage.read("a").data == b"new"

    def test_another_opener_can_promote_what_was_staged(self, storage: Storage, again: Callable[[], Storage]) -> None:
        storage.stage("0", content(b"new"))
        storage.sync()
        again().promote("0", "a")
        assert storage.read("a").data == b"new"

    def test_a_slot_can_be_staged_again(self, storage: Storage) -> None:
        storage.stage("0", content(b"a longer first attempt"))
        storage.stage("0", content(b"second"))
        storage.promote("0", "a")
        assert storage.read("a").data == b"second"

    def test_staging_content_that_breaks_off_leaves_no_slot(self, storage: Storage) -> None:
        with pytest.raises(ZeroDivisionError):
            storage.stage("0", broken_content(ZeroDivisionError()))
        assert files_of(storage) == {}

    def test_large_content_is_staged_whole(self, storage: Storage) -> None:
        large = large_content(20)
        storage.stage("0", large)
        storage.promote("0", "large.bin")
        digest = hashlib.sha256()
        for chunk in storage.stream("large.bin"):
            digest.update(chunk)
        assert "sha256:" + digest.hexdigest() == large.sha256

    def test_discarding_removes_everything_staged_and_nothing_else(self, storage: Storage) -> None:
        storage.write("a/b", content(b"kept"))
        storage.stage("0", content(b"x"))
        storage.stage("deep/er/1", content(b"x"))
        storage.discard_stage()
        assert {entry.path for entry in storage.list()} == {"a", "a/b"}

    def test_discarding_without_staging_does_nothing(self, storage: Storage) -> None:
        storage.discard_stage()
        assert list(storage.list()) == []

    def test_staging_goes_on_after_discarding(self, storage: Storage) -> None:
        storage.stage("x/0", content(b"1"))
        storage.discard_stage()
        storage.stage("x/0", content(b"2"))
        storage.promote("x/0", "a")
        assert storage.read("a").data == b"2"

    def test_writing_leaves_what_is_staged(self, storage: Storage) -> None:
        storage.stage("0", content(b"staged"))
        storage.write(".distributor.json", content(b"{}"))
        storage.promote("0", "a")
        assert storage.read("a").data == b"staged"

    def test_sync_without_changes_does_nothing(self, storage: Storage) -> None:
        storage.sync()

    def test_sync_after_every_kind_of_change(self, storage: Storage) -> None:
        for number in range(40):
            storage.stage(str(number), content(b"x"))
        storage.sync()
        for number in range(40):
            storage.promote(str(number), f"folder{number % 3}/{number}")
        storage.delete("folder0/0")
        storage.discard_stage()
        storage.sync()
        assert len(files_of(storage)) == 39

    def test_sync_after_a_staged_file_was_promoted_and_deleted(self, storage: Storage) -> None:
        storage.stage("0", content(b"x"))
        storage.promote("0", "a/b")
        storage.delete("a/b")
        storage.sync()
        assert files_of(storage) == {}

    def test_ordinary_paths_can_be_promoted_to(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        storage.check_promotable(["a/b", "a/c", "new/folder/d", "e"])
        assert {entry.path for entry in storage.list()} == {"a", "a/b"}


class FolderContract:
    """For kinds with ``folders``: files and folders can be in each other's way (D19)."""

    def test_folders_are_listed_as_folders(self, storage: Storage) -> None:
        storage.write("a/b/c", content(b"x"))
        assert {entry.path for entry in storage.list() if entry.kind is EntryKind.FOLDER} == {"a", "a/b"}

    def test_stat_tells_a_folder(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        assert storage.stat("a").kind is EntryKind.FOLDER

    def test_a_folder_is_not_read_as_a_file(self, storage: Storage) -> None:
        storage.write(".distributor.json/x", content(b"x"))
        with pytest.raises(StorageError) as caught:
            storage.read(".distributor.json")
        assert not isinstance(caught.value, NotFound)

    def test_a_folder_is_not_streamed_as_a_file(self, storage: Storage) -> None:
        storage.write("a/x", content(b"x"))
        with pytest.raises(StorageError) as caught:
            list(storage.stream("a"))
        assert not isinstance(caught.value, NotFound)

    def test_a_folder_with_files_is_not_replaced_by_write(self, storage: Storage) -> None:
        storage.write("a/b", content(b"kept"))
        with pytest.raises(StorageError):
            storage.write("a", content(b"x"))
        assert files_of(storage) == {"a/b": 4}

    def test_a_folder_with_files_is_not_replaced_by_promote(self, storage: Storage) -> None:
        storage.write("a/b", content(b"kept"))
        storage.stage("0", content(b"x"))
        with pytest.raises(StorageError) as caught:
            storage.promote("0", "a")
        assert not isinstance(caught.value, NotFound)
        assert storage.read("a/b").data == b"kept"

    def test_a_file_in_a_folders_place_stays_when_a_file_below_is_written(self, storage: Storage) -> None:
        storage.write("a", content(b"kept"))
        with pytest.raises(StorageError):
            storage.write("a/b", content(b"x"))
        assert files_of(storage) == {"a": 4}

    def test_a_file_in_a_folders_place_stays_when_a_file_below_is_promoted(self, storage: Storage) -> None:
        storage.write("a", content(b"kept"))
        storage.stage("0", content(b"x"))
        with pytest.raises(StorageError) as caught:
            storage.promote("0", "a/b/c")
        assert not isinstance(caught.value, NotFound)
        assert storage.read("a").data == b"kept"

    def test_a_folder_takes_a_files_place_after_it_was_deleted(self, storage: Storage) -> None:
        storage.write("a", content(b"x"))
        storage.delete("a")
        storage.write("a/b", content(b"y"))
        assert files_of(storage) == {"a/b": 1}

    def test_a_file_takes_a_folders_place_after_it_was_emptied(self, storage: Storage) -> None:
        storage.write("a/b", content(b"x"))
        storage.delete("a/b")
        storage.write("a", content(b"y"))
        assert files_of(storage) == {"a": 1}


class RealFolderContract(FolderContract):
    """For kinds whose folders exist by themselves; ``make_folder`` makes one behind the storage's back."""

    def make_folder(self, target: Target, path: str) -> None:
        raise NotImplementedError

    @pytest.fixture
    def empty_folder(self, storage: Storage, target: Target) -> str:
        storage.write("other", content(b"x"))
        self.make_folder(target, "a/b")
        return "a/b"

    def test_an_empty_folder_is_listed(self, storage: Storage, empty_folder: str) -> None:
        assert empty_folder in {entry.path for entry in storage.list() if entry.kind is EntryKind.FOLDER}

    def test_an_empty_folder_in_the_way_of_write_is_removed(self, storage: Storage, empty_folder: str) -> None:
        storage.write(empty_folder, content(b"x"))
        assert storage.read(empty_folder).data == b"x"

    def test_an_empty_folder_in_the_way_of_a_creation_is_removed(self, storage: Storage, empty_folder: str) -> None:
        storage.write(empty_folder, content(b"x"), CREATE_ONLY)
        assert storage.read(empty_folder).data == b"x"

    def test_an_empty_folder_in_the_way_of_promote_is_removed(self, storage: Storage, empty_folder: str) -> None:
        storage.stage("0", content(b"x"))
        storage.promote("0", empty_folder)
        assert storage.read(empty_folder).data == b"x"

    def test_folders_that_hold_only_empty_folders_are_empty(self, storage: Storage, empty_folder: str) -> None:
        storage.stage("0", content(b"x"))
        storage.promote("0", "a")
        assert storage.read("a").data == b"x"

    def test_deleting_below_an_empty_folder_removes_it(self, storage: Storage, empty_folder: str) -> None:
        assert storage.delete(f"{empty_folder}/gone") is False
        assert {entry.path for entry in storage.list()} == {"other"}
