"""What is durable when, seen in the order of system calls: power loss itself can't be tried here.

Fault row 18: bytes are synced before the rename, the folder after it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.strace import position, traced

CALLS = "trace=mkdir,mkdirat,write,fsync,fdatasync,syncfs,rename,renameat,renameat2,linkat,unlinkat"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def test_write_syncs_bytes_before_the_rename_and_the_folder_after(root: Path) -> None:
    (root / "a").mkdir()
    calls, _ = traced("storage.write('a/b', content(b'x'))", root, "-e", CALLS)
    written = position(calls, "write(", ".distributor.stage")
    synced = position(calls, "fsync(", ".distributor.stage/write-")
    renamed = position(calls, "renameat(", '"b"')
    folder = position(calls, "fsync(", "/root/a>")
    assert written < synced < renamed < folder


def test_create_only_syncs_bytes_before_the_link_and_the_folder_after(root: Path) -> None:
    calls, _ = traced("storage.write('b', content(b'x'), CREATE_ONLY)", root, "-e", CALLS)
    synced = position(calls, "fsync(", ".distributor.stage/write-")
    linked = position(calls, "linkat(", '"b"')
    folder = position(calls, "fsync(", "/root>")
    assert synced < linked < folder


def test_write_syncs_the_folders_it_made(root: Path) -> None:
    calls, _ = traced("storage.write('a/b/c', content(b'x'))", root, "-e", CALLS)
    renamed = position(calls, "renameat(", '"c"')
    assert all(position(calls, "fsync(", folder) > renamed for folder in ("/root>", "/root/a>", "/root/a/b>"))


def test_making_the_root_syncs_the_folder_above(root: Path) -> None:
    calls, _ = traced("storage.write('a', content(b'x'))", root / "new", "-e", CALLS)
    made = position(calls, "mkdir(", '"/new"')
    assert made < position(calls, "fsync(", "<>") < position(calls, "renameat(", '"a"')


def test_sync_after_staging_syncs_bytes_and_the_staging_folder(root: Path) -> None:
    calls, _ = traced("storage.stage('0', content(b'x')); storage.sync()", root, "-e", CALLS)
    written = position(calls, "write(", ".distributor.stage/0")
    synced = position(calls, "fsync(", ".distributor.stage/0>")
    folder = position(calls, "fsync(", ".distributor.stage>")
    above = position(calls, "fsync(", "/root>")
    assert written < synced < min(folder, above)


def test_staging_alone_syncs_nothing(root: Path) -> None:
    calls, _ = traced("storage.stage('0', content(b'x'))", root, "-e", CALLS)
    assert [call for call in calls if "sync" in call.split("(")[0]] == []


def test_sync_after_promoting_syncs_the_folders_that_changed(root: Path) -> None:
    script = "storage.stage('0', content(b'x')); storage.sync(); storage.promote('0', 'a/b'); storage.sync()"
    calls, _ = traced(script, root, "-e", CALLS)
    renamed = position(calls, "renameat(", '"b"')
    after = calls[renamed:]
    assert position(after, "fsync(", "/root/a>") > 0
    assert position(after, "fsync(", "/root>") > 0
    assert [call for call in after if ".distributor.stage/0>" in call] == []


def test_sync_after_deleting_syncs_the_folder(root: Path) -> None:
    (root / "a").mkdir()
    (root / "a/b").touch()
    (root / "a/c").touch()
    calls, _ = traced("storage.delete('a/b'); storage.sync()", root, "-e", CALLS)
    assert position(calls, "unlinkat(", '"b"') < position(calls, "fsync(", "/root/a>")


def test_many_staged_files_are_synced_at_once(root: Path) -> None:
    script = "[storage.stage(str(n), content(b'x')) for n in range(100)]; storage.sync()"
    calls, _ = traced(script, root, "-e", CALLS)
    assert position(calls, "syncfs(", "/root>") == len(calls) - 1
    assert [call for call in calls if call.startswith("fsync")] == []


def test_new_bytes_are_never_written_beside_the_file(root: Path) -> None:
    calls, _ = traced(
        "storage.write('a', content(b'x'), CREATE_ONLY); storage.write('a', content(b'y'))", root, "-e", CALLS
    )
    assert [call for call in calls if call.startswith("write(") and ".distributor.stage/" not in call] == []
