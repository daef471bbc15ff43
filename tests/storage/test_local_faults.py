"""What a local destination answers when the system refuses: clear errors, and the old file intact."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from distributor.errors import Denied, LockedError, OutOfSpace, StorageError, Unavailable
from distributor.storage.backends.local import LocalStorage, open_storage
from distributor.storage.backends.local_errors import FAULTS, translate
from distributor.storage.opening import Target
from tests.storage.conformance import content, files_of, large_content
from tests.storage.conformance_locks import asking, start_locker
from tests.storage.strace import traced

NOBODY = 65534


def local(root: Path) -> LocalStorage:
    return open_storage(Target(str(root), {}))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def public_root() -> Iterator[Path]:
    """A root that every user can reach: pytest's own folders are closed to others."""
    top = Path(tempfile.mkdtemp())
    top.chmod(0o755)
    folder = top / "root"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(top)


def as_nobody(action: Callable[[], object]) -> str:
    """Run ``action`` in a process of another user; return the name and text of the error it raises, or ''."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child only calls this and ends
        child = os.fork()
    if child == 0:
        answer = ""
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            action()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        finally:
            os.write(writer, answer.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        answer = answers.read().decode()
    os.waitpid(child, 0)
    return answer


class TestPermissions:
    def test_a_folder_that_may_not_be_written_is_denied(self, public_root: Path) -> None:
        assert as_nobody(lambda: local(public_root).write("a", content(b"x"))).startswith("Denied")
        assert files_of(local(public_root)) == {}

    def test_a_file_that_may_not_be_read_is_denied_and_not_absent(self, public_root: Path) -> None:
        """C0, fault row 11."""
        (public_root / ".distributor.json").write_bytes(b"{}")
        (public_root / ".distributor.json").chmod(0o600)
        answer = as_nobody(lambda: local(public_root).read(".distributor.json"))
        assert answer.startswith("Denied")
        assert "permission denied" in answer

    def test_a_folder_that_may_not_be_searched_is_denied_and_not_absent(self, public_root: Path) -> None:
        (public_root / "a").mkdir(mode=0o700)
        assert as_nobody(lambda: local(public_root).stat("a/b")).startswith("Denied")

    def test_a_listing_that_is_cut_off_is_an_error(self, public_root: Path) -> None:
        """D15."""
        (public_root / "closed").mkdir(mode=0o700)
        assert as_nobody(lambda: list(local(public_root).list())).startswith("Denied")

    def test_a_root_that_may_not_be_made_is_denied(self, public_root: Path) -> None:
        def lock() -> None:
            with local(public_root / "new").lock(asking()):
                pass

        assert as_nobody(lock).startswith("Denied")

    def test_a_file_that_may_not_be_deleted_is_denied_and_stays(self, public_root: Path) -> None:
        """Fault row 14."""
        (public_root / "a").write_bytes(b"x")
        assert as_nobody(lambda: local(public_root).delete("a")).startswith("Denied")
        assert (public_root / "a").exists()

    def test_a_folder_that_may_not_be_removed_does_not_fail_a_deletion(self, public_root: Path) -> None:
        """Fault row 14: the folder stays, the deletion is done."""
        (public_root / "a").mkdir()
        (public_root / "a/b").write_bytes(b"x")
        os.chown(public_root / "a", NOBODY, NOBODY)
        assert as_nobody(lambda: local(public_root).delete("a/b")) == ""
        assert list((public_root / "a").iterdir()) == []

    def test_a_denial_names_the_path_and_what_to_check(self, public_root: Path) -> None:
        answer = as_nobody(lambda: local(public_root).write("a", content(b"x")))
        assert str(public_root) in answer
        assert "check the permissions" in answer

    def test_another_user_can_write_where_the_folder_allows_it(self, public_root: Path) -> None:
        public_root.chmod(0o777)
        assert as_nobody(lambda: local(public_root).write("a/b", content(b"x"))) == ""
        assert (public_root / "a/b").stat().st_uid == NOBODY


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[Path, str], Path]]:
    """Mount a tmpfs of its own; unmounted at the end."""
    mounts: list[Path] = []

    def mount(folder: Path, options: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
        mounts.append(folder)
        return folder

    yield mount
    for folder in reversed(mounts):
        subprocess.run(["umount", "-l", str(folder)], check=True)


class TestDiskFull:
    """Fault row 19."""

    def test_a_full_disk_leaves_the_old_file_and_nothing_else(self, tmp_path, mounted) -> None:
        storage = local(mounted(tmp_path / "small", "size=1m"))
        storage.write(".distributor.json", content(b"old"))
        with pytest.raises(OutOfSpace, match="no room"):
            storage.write(".distributor.json", large_content(2))
        assert storage.read(".distributor.json").data == b"old"
        assert [entry.path for entry in storage.list() if entry.path != ".distributor.stage"] == [".distributor.json"]

    def test_a_full_disk_while_staging_leaves_no_slot(self, tmp_path, mounted) -> None:
        storage = local(mounted(tmp_path / "small", "size=1m"))
        with pytest.raises(OutOfSpace):
            storage.stage("0", large_content(2))
        assert files_of(storage) == {}

    def test_room_made_is_used_again(self, tmp_path, mounted) -> None:
        storage = local(mounted(tmp_path / "small", "size=1m"))
        with pytest.raises(OutOfSpace):
            storage.stage("0", large_content(2))
        storage.write("a", content(b"x" * 900_000))
        assert files_of(storage) == {"a": 900_000}

    def test_no_file_entries_left_is_out_of_space(self, tmp_path, mounted) -> None:
        storage = local(mounted(tmp_path / "small", "size=1m,nr_inodes=5"))
        storage.write("first", content(b"x"))
        for number in range(2):
            (tmp_path / "small" / str(number)).touch()
        with pytest.raises(OutOfSpace, match="file entries"):
            storage.write("first", content(b"new"))
        assert storage.read("first").data == b"x"

    def test_a_limit_on_file_size_is_out_of_space(self, root: Path) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with pytest.raises(OutOfSpace, match="larger"):
                local(root).write("a", content(b"x" * 10_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert files_of(local(root)) == {}

    def test_too_many_open_files_is_told_as_that(self, root: Path) -> None:
        storage = local(root)
        storage.write("a", content(b"x"))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        next_number = os.open("/", os.O_RDONLY)
        os.close(next_number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_number, hard))
        try:
            with pytest.raises(StorageError, match="ulimit -n"):
                storage.read("a")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class TestMounts:
    def test_a_read_only_mount_is_denied(self, tmp_path, mounted) -> None:
        folder = mounted(tmp_path / "ro", "ro")
        with pytest.raises(Denied, match="read-only"):
            local(folder).write("a", content(b"x"))

    def test_another_file_system_below_the_root_is_found_before_anything_is_visible(self, root, mounted) -> None:
        """E1a."""
        storage = local(root)
        storage.stage("0", content(b"x"))
        mounted(root / "a", "size=1m")
        with pytest.raises(StorageError, match="another file system"):
            storage.check_promotable(["b", "a/deep/er/c"])

    def test_a_folder_bound_from_the_same_file_system_is_found_too(self, root, tmp_path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (root / "a").mkdir()
        subprocess.run(["mount", "--bind", str(tmp_path / "elsewhere"), str(root / "a")], check=True)
        try:
            with pytest.raises(StorageError, match="another file system"):
                local(root).check_promotable(["a/b"])
        finally:
            subprocess.run(["umount", str(root / "a")], check=True)

    def test_promoting_onto_another_file_system_is_an_error(self, root, mounted) -> None:
        storage = local(root)
        storage.stage("0", content(b"x"))
        mounted(root / "a", "size=1m")
        with pytest.raises(StorageError, match="another file system"):
            storage.promote("0", "a/b")
        assert files_of(storage) == {".distributor.stage/0": 1}

    def test_a_mount_in_an_emptied_folder_stays(self, root, mounted) -> None:
        storage = local(root)
        mounted(root / "a", "size=1m")
        (root / "a" / "b").write_bytes(b"x")
        assert storage.delete("a/b") is True
        assert (root / "a").is_mount()


class TestFileSystemsThatCanLess:
    """``strace`` makes the kernel answer as a network file system or a FAT does."""

    @pytest.mark.parametrize("name", ["ENOLCK", "EOPNOTSUPP", "EINVAL", "EBADF"])
    def test_where_flock_is_refused_the_lock_is_a_lease(self, root: Path, name: str) -> None:
        script = "with storage.lock(request): print(os.path.exists(sys.argv[1] + '/.distributor.lock'))"
        _, output = traced(script, root, "-e", "trace=flock", "-e", f"inject=flock:error={name}")
        assert output == "True\n"
        assert list(root.iterdir()) == []

    def test_where_flock_is_refused_conditions_are_not_called_atomic(self, root: Path) -> None:
        script = (
            "version = storage.write('a', content(b'1'))\n"
            "storage.write('a', content(b'2'), IfVersion(version))\n"
            "print(storage.read('a').data, storage.capabilities.conditional_write)"
        )
        _, output = traced(script, root, "-e", "trace=flock", "-e", "inject=flock:error=ENOLCK")
        assert output == "b'2' False\n"

    @pytest.mark.parametrize("name", ["EPERM", "EOPNOTSUPP", "EMLINK"])
    def test_where_hard_links_are_refused_creating_still_refuses_to_replace(self, root: Path, name: str) -> None:
        script = (
            "storage.write('a', content(b'1'), CREATE_ONLY)\n"
            "try: storage.write('a', content(b'2'), CREATE_ONLY)\n"
            "except StorageError as error: print(type(error).__name__, storage.read('a').data)"
        )
        _, output = traced(script, root, "-e", "trace=linkat", "-e", f"inject=linkat:error={name}")
        assert output == "AlreadyExists b'1'\n"
        assert [path.name for path in root.iterdir()] == ["a"]

    @pytest.mark.parametrize(
        ("call", "name", "kind"),
        [("fsync", "EIO", "StorageError"), ("fsync", "ENOSPC", "OutOfSpace"), ("fsync", "EDQUOT", "OutOfSpace")],
    )
    def test_a_sync_that_fails_leaves_the_old_file(self, root: Path, call: str, name: str, kind: str) -> None:
        (root / "a").write_bytes(b"old")
        script = (
            "try: storage.write('a', content(b'new'))\n"
            "except StorageError as error: print(type(error).__name__, storage.read('a').data)"
        )
        _, output = traced(script, root, "-e", f"trace={call}", "-e", f"inject={call}:error={name}:when=1")
        assert output == f"{kind} b'old'\n"
        assert [path.name for path in root.iterdir() if path.name != ".distributor.stage"] == ["a"]


class TestLockHolders:
    def test_a_refusal_names_the_other_process(self, root: Path) -> None:
        """Fault row 33: who, host, process, program."""
        other = start_locker(Target(str(root), {}), "hold")
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(LockedError) as caught, local(root).lock(asking()):
            pass
        other.communicate()
        assert f"@{os.uname().nodename} pid {other.pid} (" in str(caught.value)

    def test_a_holders_arguments_are_not_shown(self, root: Path) -> None:
        secret = "password=hunter2"
        other = subprocess.Popen(
            ["flock", str(root), "sh", "-c", "echo; read line", secret], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert other.stdout is not None
        other.stdout.readline()
        info = local(root).lock_info()
        other.communicate(b"\n")
        assert info is not None
        assert "pid" in info.holder
        assert secret not in info.holder

    def test_processes_that_count_under_the_lock_lose_no_count(self, root: Path) -> None:
        """Four processes, 25 rounds each: read, add one, write, with nothing but the lock between them."""
        script = (
            "import sys; from distributor.storage.opening import Target, open_storage\n"
            "from distributor.storage.base import LockRequest, bytes_content\n"
            "storage = open_storage(Target(sys.argv[1], {}))\n"
            "for _ in range(25):\n"
            "    with storage.lock(LockRequest(60.0, 3.0, 'counter', lambda holder: None)):\n"
            "        count = int(storage.read('count').data) + 1\n"
            "        storage.stage('0', bytes_content(b'%d' % count, ''))\n"
            "        storage.promote('0', 'count')\n"
        )
        (root / "count").write_bytes(b"0")
        counters = [subprocess.Popen([sys.executable, "-c", script, str(root)]) for _ in range(4)]
        assert [counter.wait(timeout=120) for counter in counters] == [0, 0, 0, 0]
        assert (root / "count").read_bytes() == b"100"

    def test_a_root_replaced_while_waiting_is_locked_in_its_new_place(self, root: Path, tmp_path: Path) -> None:
        def replace(_holder: str) -> None:
            root.rename(tmp_path / "old")
            root.mkdir()

        storage = local(root)
        with local(root).lock(asking()), storage.lock(asking(wait=5, waiting=replace)):
            storage.write("a", content(b"x"))
        assert (root / "a").exists()


# What open(2), mkdir(2), rename(2), link(2), unlink(2), rmdir(2), stat(2), read(2), write(2), fsync(2), syncfs(2),
# getdents(2), fchmod(2), utimensat(2) and flock(2) can answer for a destination. Not: EFAULT, EBADF, EINTR and the
# like, which only a fault of the program causes.
ANSWERS = [
    "EACCES", "EAGAIN", "EBUSY", "EDQUOT", "EEXIST", "EFBIG", "EINVAL", "EIO", "EISDIR",
    "ELOOP", "EMFILE", "EMLINK", "ENAMETOOLONG", "ENFILE", "ENODEV", "ENOENT", "ENOLCK", "ENOMEM",
    "ENOSPC", "ENOSYS", "ENOTDIR", "ENOTEMPTY", "ENXIO", "EOPNOTSUPP", "EOVERFLOW", "EPERM", "EROFS",
    "ESTALE", "ETXTBSY", "EUCLEAN", "EXDEV", "EILSEQ", "ETIMEDOUT", "EHOSTDOWN", "EHOSTUNREACH", "ENOTCONN",
    "ECONNREFUSED", "ECONNRESET", "EREMOTEIO",
]  # fmt: skip


class TestErrorTable:
    @pytest.mark.parametrize("name", ANSWERS)
    def test_every_answer_of_the_kernel_has_its_sentence(self, name: str) -> None:
        assert getattr(errno, name) in FAULTS

    def test_every_fault_is_an_answer(self) -> None:
        assert sorted(errno.errorcode[number] for number in FAULTS) == sorted(
            errno.errorcode[getattr(errno, name)] for name in ANSWERS
        )

    def test_an_unknown_answer_is_told_in_the_systems_words(self) -> None:
        error = translate(OSError(errno.ECHILD, "No child processes"), "write", "/srv/www", "a")
        assert str(error) == "/srv/www/a: write failed: No child processes"

    def test_only_passing_faults_are_retryable(self) -> None:
        retryable = {errno.errorcode[number] for number, fault in FAULTS.items() if fault.kind is Unavailable}
        assert retryable == {
            "EAGAIN", "EBUSY", "ETXTBSY", "ESTALE", "ETIMEDOUT", "EHOSTDOWN", "EHOSTUNREACH", "ENOTCONN",
            "ECONNREFUSED", "ECONNRESET",
        }  # fmt: skip
