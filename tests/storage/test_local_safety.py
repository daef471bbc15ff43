"""Nothing outside a local root is read, written or deleted (E5, fault row 57); names and modes stay right."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from distributor.core.observation import EntryKind
from distributor.errors import NotFound, StorageError, UsageError
from distributor.storage.backends.local import LocalStorage, folder_of, open_storage
from distributor.storage.base import CREATE_ONLY, IfVersion
from distributor.storage.opening import Target
from tests.storage.conformance import content, files_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the root that must not change."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "kept.txt").write_bytes(b"kept")
    return folder


@pytest.fixture
def storage(root: Path) -> Iterator[LocalStorage]:
    opened = open_storage(Target(str(root), {}))
    yield opened
    opened.close()


def tree_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestLinks:
    def test_a_link_in_a_folders_place_is_not_followed_by_write(self, storage, root, outside):
        (root / "a").symlink_to(outside)
        with pytest.raises(StorageError, match="link"):
            storage.write("a/new.txt", content(b"x"))
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_link_in_a_folders_place_is_not_followed_by_promote(self, storage, root, outside):
        (root / "a").symlink_to(outside)
        storage.stage("0", content(b"x"))
        with pytest.raises(StorageError, match="link"):
            storage.promote("0", "a/kept.txt")
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_link_in_a_folders_place_is_not_followed_by_delete(self, storage, root, outside):
        (root / "a").symlink_to(outside)
        assert storage.delete("a/kept.txt") is False
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_link_in_a_folders_place_is_not_followed_by_read(self, storage, root, outside):
        (root / "a").symlink_to(outside)
        with pytest.raises(NotFound):
            storage.read("a/kept.txt")

    def test_a_link_at_a_path_is_not_read(self, storage, root, outside):
        (root / ".distributor.json").symlink_to(outside / "kept.txt")
        with pytest.raises(StorageError, match="link") as caught:
            storage.read(".distributor.json")
        assert not isinstance(caught.value, NotFound)

    def test_a_link_to_nowhere_is_not_absent(self, storage, root):
        (root / ".distributor.json").symlink_to(root / "nowhere")
        with pytest.raises(StorageError, match="link") as caught:
            storage.read(".distributor.json")
        assert not isinstance(caught.value, NotFound)

    def test_a_link_at_a_path_is_replaced_and_not_written_through(self, storage, root, outside):
        (root / "a").symlink_to(outside / "kept.txt")
        storage.write("a", content(b"new"))
        assert (root / "a").read_bytes() == b"new"
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_link_at_a_path_does_not_match_a_version(self, storage, root, outside):
        version = storage.write("a", content(b"x"))
        (root / "a").unlink()
        (root / "a").symlink_to(outside / "kept.txt")
        with pytest.raises(StorageError):
            storage.write("a", content(b"new"), IfVersion(version))
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_link_at_a_path_is_deleted_and_not_its_target(self, storage, root, outside):
        (root / "a").symlink_to(outside / "kept.txt")
        assert storage.delete("a") is True
        assert tree_of(outside) == {"kept.txt": b"kept"}
        assert list(storage.list()) == []

    def test_a_link_is_listed_as_other_and_not_entered(self, storage, root, outside):
        (root / "a").symlink_to(outside)
        assert [(entry.path, entry.kind) for entry in storage.list()] == [("a", EntryKind.OTHER)]

    def test_a_link_in_place_of_the_staging_folder_is_not_followed(self, storage, root, outside):
        (root / ".distributor.stage").symlink_to(outside)
        with pytest.raises(StorageError, match="link"):
            storage.stage("kept.txt", content(b"x"))
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_discarding_removes_a_link_in_place_of_the_staging_folder(self, storage, root, outside):
        (root / ".distributor.stage").symlink_to(outside)
        storage.discard_stage()
        assert tree_of(outside) == {"kept.txt": b"kept"}
        assert list(storage.list()) == []

    def test_discarding_does_not_follow_links_in_the_staging_folder(self, storage, root, outside):
        storage.stage("0", content(b"x"))
        (root / ".distributor.stage" / "link").symlink_to(outside)
        storage.discard_stage()
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_link_put_into_the_staging_folder_is_not_promoted(self, storage, root, outside):
        storage.stage("0", content(b"x"))
        (root / ".distributor.stage" / "0").unlink()
        (root / ".distributor.stage" / "0").symlink_to(outside / "kept.txt")
        with pytest.raises(StorageError, match="link"):
            storage.promote("0", "a")
        assert not (root / "a").is_symlink()

    def test_a_hard_link_put_into_the_staging_folder_is_not_written_through(self, storage, root, outside):
        (root / ".distributor.stage").mkdir()
        os.link(outside / "kept.txt", root / ".distributor.stage" / "0")
        storage.stage("0", content(b"x"))
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_link_swapped_in_between_two_promotions_is_not_followed(self, storage, root, outside):
        storage.stage("0", content(b"x"))
        storage.stage("1", content(b"y"))
        storage.promote("0", "a/b/first.txt")
        (root / "a" / "b").rename(root / "moved")
        (root / "a" / "b").symlink_to(outside)
        with pytest.raises(StorageError, match="link"):
            storage.promote("1", "a/b/second.txt")
        assert tree_of(outside) == {"kept.txt": b"kept"}
        assert tree_of(root / "moved") == {"first.txt": b"x"}

    def test_a_folder_moved_out_of_the_root_is_not_written_to(self, storage, root, outside):
        storage.write("a/b/first.txt", content(b"x"))
        (root / "a").rename(outside / "a")
        (root / "a").symlink_to(outside / "a")
        with pytest.raises(StorageError, match="link"):
            storage.write("a/b/second.txt", content(b"y"))
        assert storage.delete("a/b/first.txt") is False
        assert tree_of(outside) == {"kept.txt": b"kept", "a/b/first.txt": b"x"}

    def test_links_swapped_in_all_the_time_never_lead_outside(self, storage, root, outside):
        """A race: the folder is now a folder, now a link to the outside."""
        stop = threading.Event()

        def swap() -> None:
            while not stop.is_set():
                with suppress(OSError):  # the writer makes folders at any moment
                    (root / "a").rename(root / "gone")
                with suppress(OSError):
                    (root / "a").symlink_to(outside)
                    (root / "a").unlink()
                with suppress(OSError):
                    shutil.rmtree(root / "gone")

        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            for number in range(300):
                try:
                    storage.stage("0", content(b"x"))
                    storage.promote("0", f"a/{number}.txt")
                except StorageError:
                    continue
        finally:
            stop.set()
            swapper.join(timeout=5)
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_a_root_that_is_a_link_is_followed_once(self, root, tmp_path):
        (tmp_path / "link").symlink_to(root)
        storage = open_storage(Target(str(tmp_path / "link"), {}))
        storage.write("a", content(b"x"))
        assert (root / "a").read_bytes() == b"x"

    def test_a_root_that_is_a_link_to_nowhere_is_not_absent(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "not mounted")
        storage = open_storage(Target(str(tmp_path / "link"), {}))
        with pytest.raises(StorageError) as caught:
            storage.read(".distributor.json")
        assert not isinstance(caught.value, NotFound)

    def test_a_root_that_is_a_file_is_not_absent(self, tmp_path):
        (tmp_path / "file").write_bytes(b"x")
        storage = open_storage(Target(str(tmp_path / "file"), {}))
        with pytest.raises(StorageError) as caught:
            list(storage.list())
        assert not isinstance(caught.value, NotFound)


class TestPaths:
    @pytest.mark.parametrize("path", ["../outside/kept.txt", "a/../../outside/kept.txt", "/etc/hostname", "a//b", "."])
    def test_a_path_that_leads_out_is_refused(self, storage, root, outside, path):
        storage.write("a/b", content(b"x"))
        for action in (storage.read, storage.stat, storage.delete, lambda p: storage.write(p, content(b"x"))):
            with pytest.raises(StorageError):
                action(path)
        assert tree_of(outside) == {"kept.txt": b"kept"}

    def test_undecodable_names_are_listed_and_deleted(self, storage, root):
        Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9")).write_bytes(b"x")
        assert files_of(storage) == {"caf\udce9": 1}
        assert storage.delete("caf\udce9") is True

    def test_names_are_utf8_whatever_the_locale(self, root):
        script = (
            "import sys; from distributor.storage.opening import Target, open_storage\n"
            "from distributor.storage.base import bytes_content\n"
            "s = open_storage(Target(sys.argv[1], {})); s.write('caf\\u00e9', bytes_content(b'x', ''))\n"
            "assert [e.path for e in s.list()] == ['caf\\u00e9']"
        )
        environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        subprocess.run([sys.executable, "-c", script, str(root)], env=environment, check=True)
        assert os.listdir(os.fsencode(root)) == ["café".encode()]

    def test_a_file_url_is_decoded(self):
        assert folder_of("file:///srv/my%20site/") == "/srv/my site"

    def test_a_plain_path_is_not_decoded(self):
        assert folder_of("/srv/100%25") == "/srv/100%25"

    def test_a_file_url_of_another_host_is_refused(self):
        with pytest.raises(UsageError, match="another host"):
            folder_of("file://server/share")


class TestOddFiles:
    def test_a_fifo_is_not_waited_for(self, storage, root):
        os.mkfifo(root / ".distributor.json")
        with pytest.raises(StorageError, match="no regular file") as caught:
            storage.read(".distributor.json")
        assert not isinstance(caught.value, NotFound)

    def test_a_fifo_and_a_socket_are_other(self, storage, root):
        os.mkfifo(root / "fifo")
        assert storage.stat("fifo").kind is EntryKind.OTHER

    def test_a_fifo_is_replaced(self, storage, root):
        os.mkfifo(root / "a")
        storage.write("a", content(b"x"))
        assert storage.read("a").data == b"x"

    def test_a_device_is_not_read(self, storage, root):
        os.mknod(root / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        with pytest.raises(StorageError, match="no regular file"):
            storage.read("null")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


class TestModes:
    """H2, fault row 55."""

    def test_a_written_file_has_the_mode_that_the_umask_leaves(self, storage, root, umask):
        storage.write("a/b", content(b"x"))
        assert (mode_of(root / "a/b"), mode_of(root / "a")) == (0o640, 0o750)

    def test_a_created_file_has_the_mode_that_the_umask_leaves(self, storage, root, umask):
        storage.write("a", content(b"x"), CREATE_ONLY)
        assert mode_of(root / "a") == 0o640

    def test_a_promoted_file_has_the_mode_that_the_umask_leaves(self, storage, root, umask):
        storage.stage("0", content(b"x"))
        storage.promote("0", "a/b")
        assert (mode_of(root / "a/b"), mode_of(root / "a")) == (0o640, 0o750)

    def test_a_made_root_has_the_mode_that_the_umask_leaves(self, root, umask):
        open_storage(Target(str(root / "new"), {})).write("a", content(b"x"))
        assert mode_of(root / "new") == 0o750

    def test_a_file_replaced_by_promote_keeps_its_mode(self, storage, root):
        storage.write("a", content(b"old"))
        (root / "a").chmod(0o604)
        storage.stage("0", content(b"new"))
        storage.promote("0", "a")
        assert mode_of(root / "a") == 0o604

    def test_a_file_replaced_by_write_keeps_its_mode(self, storage, root):
        storage.write("a", content(b"old"))
        (root / "a").chmod(0o604)
        storage.write("a", content(b"new"))
        assert mode_of(root / "a") == 0o604

    def test_a_replaced_file_does_not_keep_set_user_id(self, storage, root):
        storage.write("a", content(b"old"))
        (root / "a").chmod(0o4755)
        storage.write("a", content(b"new"))
        assert mode_of(root / "a") == 0o755

    def test_file_mode_is_set_whatever_umask_and_old_mode_say(self, root, umask):
        storage = open_storage(Target(str(root), {"file_mode": "0664", "dir_mode": "0775"}))
        storage.write("a/b", content(b"old"))
        (root / "a/b").chmod(0o600)
        storage.write("a/b", content(b"new"))
        storage.stage("0", content(b"x"))
        storage.promote("0", "a/c")
        assert (mode_of(root / "a/b"), mode_of(root / "a/c"), mode_of(root / "a")) == (0o664, 0o664, 0o775)

    def test_dir_mode_is_set_on_a_made_root(self, root, umask):
        open_storage(Target(str(root / "x/y"), {"dir_mode": "0711"})).write("a", content(b"x"))
        assert (mode_of(root / "x"), mode_of(root / "x/y")) == (0o711, 0o711)


class TestWholeRoot:
    """E5."""

    def test_the_file_system_root_is_whole(self):
        assert open_storage(Target("/", {})).is_whole_root()

    def test_the_home_of_the_environment_is_whole(self, root, monkeypatch):
        monkeypatch.setenv("HOME", str(root))
        assert open_storage(Target(str(root), {})).is_whole_root()

    def test_the_home_of_the_account_is_whole(self, monkeypatch, root):
        import pwd

        monkeypatch.setenv("HOME", str(root))
        assert open_storage(Target(pwd.getpwuid(os.getuid()).pw_dir, {})).is_whole_root()

    def test_a_link_to_home_is_whole(self, root, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(root))
        (tmp_path / "link").symlink_to(root)
        assert open_storage(Target(str(tmp_path / "link"), {})).is_whole_root()

    def test_a_folder_in_home_is_not_whole(self, root, monkeypatch):
        monkeypatch.setenv("HOME", str(root))
        assert not open_storage(Target(str(root / "site"), {})).is_whole_root()


class TestDescriptors:
    def test_closing_leaves_no_descriptor_open(self, storage):
        before = len(os.listdir("/proc/self/fd"))
        for number in range(200):
            storage.write(f"folder{number}/a/b", content(b"x"))
        list(storage.list())
        storage.lock_info()
        storage.close()
        assert len(os.listdir("/proc/self/fd")) <= before

    def test_many_folders_need_few_descriptors(self, storage):
        before = len(os.listdir("/proc/self/fd"))
        for number in range(300):
            storage.write(f"folder{number}/a", content(b"x"))
        assert len(list(storage.list())) == 600
        assert len(os.listdir("/proc/self/fd")) - before < 100

    def test_a_deep_tree_is_listed_and_emptied(self, storage):
        path = "/".join(["d"] * 500)
        storage.write(path, content(b"x"))
        assert files_of(storage) == {path: 1}
        storage.delete(path)
        assert list(storage.list()) == []


class TestThreads:
    def test_a_folder_that_comes_and_goes_under_many_threads_loses_no_file(self, storage):
        """One thread's deletion removes the folder that another is about to write into."""

        def come_and_go(number: int) -> None:
            for _ in range(40):
                storage.write(f"a/b/{number}", content(b"x"))
                assert storage.read(f"a/b/{number}").data == b"x"
                assert storage.delete(f"a/b/{number}") is True

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(come_and_go, range(6)))
        assert list(storage.list()) == []
