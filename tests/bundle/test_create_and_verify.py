"""``create_manifest`` and ``verify_bundle`` (B1, B2, B6, G7)."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distributor.bundle.create import PARTIAL_PATH, create_manifest
from distributor.bundle.verify import LARGE, Verification, Watch, verify_bundle
from distributor.core.paths import path_problem
from distributor.core.values import Timestamp, parse_timestamp
from distributor.errors import BundleError, StorageError, UsageError
from tests.bundle.making import CREATED, make_bundle

NOW = datetime(2026, 6, 4, 12, tzinfo=UTC)
QUIET = Watch(lambda files, size: None, lambda path, size: None, lambda path: None, lambda: None)


def created() -> Timestamp:
    time = parse_timestamp(CREATED)
    assert time is not None
    return time


def create(folder: Path, *, source_id: str = "weekly", force: bool = False):
    return create_manifest(str(folder), source_id, created(), QUIET, force=force)


def verify(folder: Path) -> Verification:
    return verify_bundle(str(folder), NOW, QUIET)


def found(folder: Path) -> list[tuple[str, str | None]]:
    return [(problem.code, problem.path) for problem in verify(folder).problems]


def write(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"content of {path}\n", encoding="utf-8")


def test_a_created_bundle_is_valid(tmp_path):
    write(tmp_path, "report.md", "data/figures.csv", ".hidden")
    create(tmp_path)
    assert verify(tmp_path).problems == ()


def test_the_digest_is_what_coreutils_compute(tmp_path):
    """B1: ``sha256sum`` and ``LC_ALL=C sort`` alone can check a bundle."""
    write(tmp_path, "b.md", "a/z.md", "a.md", "Ä.md", "a b.md", "ÿ/1", "\U0001f600.md", "\uffee.md")
    manifest = create(tmp_path)
    listing = "LC_ALL=C; export LC_ALL; find . -type f ! -path ./manifest.json -printf '%P\\0' | sort -z | "
    command = listing + "xargs -0 sha256sum | sha256sum | cut -d' ' -f1"
    output = subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert manifest.digest == f"sha256:{output.strip()}"


def test_the_same_files_give_the_same_bytes(tmp_path):
    for name, order in (("one", ["a.md", "b.md"]), ("two", ["b.md", "a.md"])):
        write(tmp_path / name, *order)
        create(tmp_path / name)
    assert (tmp_path / "one/manifest.json").read_bytes() == (tmp_path / "two/manifest.json").read_bytes()


def test_a_folder_without_files_is_a_bundle(tmp_path):
    """G2."""
    assert create(tmp_path).files == ()
    assert verify(tmp_path).valid


def test_a_manifest_is_replaced_only_by_force(tmp_path):
    """G7."""
    write(tmp_path, "a.md")
    create(tmp_path)
    before = (tmp_path / "manifest.json").read_bytes()
    write(tmp_path, "b.md")
    with pytest.raises(UsageError):
        create(tmp_path)
    assert (tmp_path / "manifest.json").read_bytes() == before
    create(tmp_path, force=True)
    assert verify(tmp_path).problems == ()


def test_force_replaces_a_link_and_not_what_it_points_to(tmp_path):
    write(tmp_path / "b", "a.md")
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "b/manifest.json").symlink_to(tmp_path / "precious")
    create(tmp_path / "b", force=True)
    assert (tmp_path / "precious").read_text() == "precious"
    assert verify(tmp_path / "b").valid


def test_every_reason_against_a_bundle_is_listed_and_nothing_written(tmp_path):
    """G7."""
    write(tmp_path, "a.md", "back\\slash.md", "line\nbreak.md")
    (tmp_path / "link").symlink_to("a.md")
    (tmp_path / "folder").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"bad\xff")).write_bytes(b"")
    with pytest.raises(BundleError) as error:
        create(tmp_path)
    assert [(p.code, p.path) for p in error.value.problems] == [
        ("path_invalid", "back\\slash.md"),
        ("path_invalid", "bad\udcff"),
        ("not_regular", "folder"),
        ("path_invalid", "line\nbreak.md"),
        ("not_regular", "link"),
        ("not_regular", "pipe"),
    ]
    assert not (tmp_path / "manifest.json").exists()


def test_a_folder_that_can_not_be_listed_is_a_reason_too(tmp_path):
    """Run as another user: nothing refuses root."""
    write(tmp_path, "a.md", "closed/b.md")
    (tmp_path / "closed").chmod(0)
    code = (
        "import os, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "from tests.bundle.test_create_and_verify import create\n"
        "from distributor.errors import BundleError\n"
        "from pathlib import Path\n"
        "try: create(Path('.'))\n"
        "except BundleError as error: print([(p.code, p.path) for p in error.problems])\n"
    )
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    assert run_python(code, tmp_path) == "[('not_regular', 'closed')]\n"


def run_python(code: str, folder: Path) -> str:
    import sys

    path = os.pathsep.join(entry for entry in sys.path if entry)
    root = str(Path(__file__).parents[2])
    preloaded = "import hashlib, distributor.bundle.create, tests.bundle.test_create_and_verify\n"
    done = subprocess.run(
        [sys.executable, "-c", preloaded + code],
        cwd=folder,
        env={"PYTHONPATH": f"{root}{os.pathsep}{path}"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_a_full_disk_leaves_the_old_manifest(tmp_path):
    """A file-size limit stands for a full disk: the write fails half-way."""
    write(tmp_path, *(f"{i}.md" for i in range(100)))
    create(tmp_path)
    before = (tmp_path / "manifest.json").read_bytes()
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from tests.bundle.test_create_and_verify import create\n"
        "from distributor.errors import StorageError\n"
        "from pathlib import Path\n"
        "try: create(Path('.'), force=True)\n"
        "except StorageError as error: print(error.operation)\n"
    )
    assert run_python(code, tmp_path) == "write\n"
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert not (tmp_path / PARTIAL_PATH).exists()


def test_the_leftover_of_a_killed_process_is_no_bundle_file(tmp_path):
    write(tmp_path, "a.md", PARTIAL_PATH)
    assert [file.path for file in create(tmp_path).files] == ["a.md"]
    assert not (tmp_path / PARTIAL_PATH).exists()


@pytest.mark.parametrize("source_id", ["", "a b", "-a", "a/b", "a" * 201, "ä"])
def test_a_wrong_id_is_refused(tmp_path, source_id):
    """A5."""
    with pytest.raises(UsageError):
        create(tmp_path, source_id=source_id)
    assert os.listdir(tmp_path) == []


def test_a_folder_where_the_manifest_goes_is_refused_even_by_force(tmp_path):
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(BundleError):
        create(tmp_path, force=True)


def test_an_absent_folder_is_a_wrong_call(tmp_path):
    with pytest.raises(UsageError):
        create(tmp_path / "absent")


def test_a_manifest_below_the_root_is_a_file_like_any_other(tmp_path):
    """A2."""
    write(tmp_path, "sub/manifest.json")
    assert [file.path for file in create(tmp_path).files] == ["sub/manifest.json"]


def test_every_problem_is_found_at_once(tmp_path):
    """B2, B6, G7."""
    contents = {"digest.md": b"a", "gone.md": b"a", "link.md": b"a", "ok.md": b"a", "size.md": b"a"}
    make_bundle(tmp_path, contents, created="2036-06-04T12:00:00Z", digest="sha256:" + "0" * 64)
    (tmp_path / "digest.md").write_bytes(b"b")
    (tmp_path / "size.md").write_bytes(b"aa")
    (tmp_path / "gone.md").unlink()
    (tmp_path / "link.md").unlink()
    (tmp_path / "link.md").symlink_to("ok.md")
    (tmp_path / "extra.md").write_bytes(b"")
    assert found(tmp_path) == [
        ("created_in_future", "manifest.json"),
        ("digest_mismatch", "manifest.json"),
        ("file_digest", "digest.md"),
        ("unlisted_file", "extra.md"),
        ("file_missing", "gone.md"),
        ("not_regular", "link.md"),
        ("file_size", "size.md"),
    ]
    assert not verify(tmp_path).valid


def test_unlisted_files_alone_leave_a_bundle_valid(tmp_path):
    """G7."""
    make_bundle(tmp_path, {"a.md": b"a"})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"bad\xff")).write_bytes(b"")
    assert found(tmp_path) == [("unlisted_file", "bad\udcff"), ("unlisted_file", "pipe")]
    assert verify(tmp_path).valid


@pytest.mark.parametrize("bad", [{0}, {1, 3}, set(range(5)), set()])
def test_large_files_are_checked_side_by_side(tmp_path, bad):
    contents = {f"{i}.bin": bytes([i]) * (LARGE + i) for i in range(5)} | {"small.md": b"s"}
    make_bundle(tmp_path, contents)
    for i in bad:
        (tmp_path / f"{i}.bin").write_bytes(b"x" * (LARGE + i))
    assert found(tmp_path) == [("file_digest", f"{i}.bin") for i in sorted(bad)]


def test_what_watches_is_told_every_byte_and_file(tmp_path):
    contents = {f"{i}.bin": b"x" * (LARGE + 1) for i in range(3)} | {"small.md": b"s"}
    make_bundle(tmp_path, contents)
    started: list[tuple[int, int]] = []
    sizes: list[int] = []
    done: list[str] = []
    watch = Watch(lambda f, s: started.append((f, s)), lambda p, s: sizes.append(s), done.append, lambda: None)
    verify_bundle(str(tmp_path), NOW, watch)
    assert started == [(4, sum(sizes))]
    assert sorted(done) == sorted(contents)


def test_checking_can_be_stopped(tmp_path):
    """G10."""

    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    make_bundle(tmp_path, {f"{i}.bin": b"x" * LARGE for i in range(3)})
    with pytest.raises(Stop):
        verify_bundle(str(tmp_path), NOW, QUIET._replace(check=stop))


names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(
    lambda name: path_problem(name) is None and "/" not in name and name not in ("manifest.json", PARTIAL_PATH)
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(names, st.binary(max_size=20), max_size=6))
def test_whatever_is_created_verifies(tmp_path_factory, contents):
    folder = tmp_path_factory.mktemp("bundle")
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    manifest = create(folder)
    assert {file.path for file in manifest.files} == set(contents)
    assert verify(folder).problems == ()


def test_a_failed_write_names_the_folder(tmp_path):
    write(tmp_path, "a.md")
    (tmp_path / PARTIAL_PATH).mkdir()
    with pytest.raises(StorageError, match=str(tmp_path)):
        create(tmp_path)
