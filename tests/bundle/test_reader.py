"""Opening a bundle and reading its files, verified (B2, B3, B5)."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from distributor.bundle import reader as reader_module
from distributor.bundle.reader import future_problem, open_bundle
from distributor.errors import BundleError
from tests.bundle.making import make_bundle

MIB = 1 << 20
BIG = os.urandom(MIB) * 3 + b"tail"


def codes_of(error: pytest.ExceptionInfo[BundleError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def read_error(folder: Path, path: str) -> BundleError:
    with open_bundle(str(folder)) as bundle, pytest.raises(BundleError) as error:
        bundle.read(path)
    return error.value


def test_a_listed_file_is_read_whole(tmp_path):
    make_bundle(tmp_path, {"data/big.bin": BIG, "empty.txt": b""})
    with open_bundle(str(tmp_path)) as bundle:
        assert bundle.read("data/big.bin") == BIG
        assert bundle.read("empty.txt") == b""


def test_chunks_are_at_most_one_mebibyte(tmp_path):
    make_bundle(tmp_path, {"big.bin": BIG})
    with open_bundle(str(tmp_path)) as bundle:
        assert [len(chunk) for chunk in bundle.stream("big.bin")] == [MIB, MIB, MIB, 4]


def test_opening_looks_at_nothing_but_the_manifest(tmp_path):
    """B5: a run that skips everywhere needs no file to be there."""
    make_bundle(tmp_path, {"a.md": b"a"})
    (tmp_path / "a.md").unlink()
    with open_bundle(str(tmp_path)) as bundle:
        assert [file.path for file in bundle.manifest.files] == ["a.md"]


def test_a_wrong_digest_shows_before_the_last_chunk(tmp_path):
    """B3: a writer that completes with the stream's end never completes a wrong file."""
    make_bundle(tmp_path, {"big.bin": BIG})
    (tmp_path / "big.bin").write_bytes(BIG[:-1] + b"X")
    received: list[bytes] = []
    with open_bundle(str(tmp_path)) as bundle, pytest.raises(BundleError) as error:
        received.extend(bundle.stream("big.bin"))
    assert codes_of(error) == ["file_digest"]
    assert b"".join(received) == BIG[: 3 * MIB]


def test_a_small_wrong_file_yields_nothing(tmp_path):
    """B3."""
    make_bundle(tmp_path, {"a.md": b"right"})
    (tmp_path / "a.md").write_bytes(b"wrong")
    with open_bundle(str(tmp_path)) as bundle:
        stream = bundle.stream("a.md")
        with pytest.raises(BundleError):
            next(stream)


def test_another_size_shows_before_anything_is_read(tmp_path):
    make_bundle(tmp_path, {"big.bin": BIG})
    with (tmp_path / "big.bin").open("ab") as file:
        file.write(b"more")
    with open_bundle(str(tmp_path)) as bundle, pytest.raises(BundleError) as error:
        next(bundle.stream("big.bin"))
    assert codes_of(error) == ["file_size"]


@pytest.mark.parametrize("change", ["grow", "shrink"])
def test_a_file_that_changes_its_size_while_it_is_read_is_refused(tmp_path, change):
    """B3."""
    make_bundle(tmp_path, {"big.bin": BIG})
    with open_bundle(str(tmp_path)) as bundle:
        stream = bundle.stream("big.bin")
        next(stream)
        os.truncate(tmp_path / "big.bin", len(BIG) + 10 if change == "grow" else 2 * MIB)
        with pytest.raises(BundleError) as error:
            list(stream)
    assert codes_of(error) == ["file_size"]


def test_a_missing_file_is_named(tmp_path):
    make_bundle(tmp_path, {"data/a.md": b"a"})
    (tmp_path / "data/a.md").unlink()
    error = read_error(tmp_path, "data/a.md")
    assert [(p.code, p.path) for p in error.problems] == [("file_missing", "data/a.md")]


@pytest.mark.parametrize(("stored", "form"), [("NFD", "decomposed (NFD)"), ("NFC", "composed (NFC)")])
def test_a_name_in_the_other_unicode_form_is_said_to_be_there(tmp_path, stored, form):
    """Fault row 49."""
    from unicodedata import normalize

    listed = normalize("NFC" if stored == "NFD" else "NFD", "résumé/é.md")
    make_bundle(tmp_path, {listed: b"a"})
    folder, name = listed.split("/")
    (tmp_path / listed).rename(tmp_path / folder / normalize(stored, name))
    error = read_error(tmp_path, listed)
    assert error.problems[0].code == "file_missing"
    assert form in error.problems[0].message


def test_a_link_is_no_file_of_a_bundle(tmp_path):
    """B2, fault row 57."""
    make_bundle(tmp_path / "b", {"a.md": b"a"})
    (tmp_path / "outside").write_bytes(b"a")
    (tmp_path / "b/a.md").unlink()
    (tmp_path / "b/a.md").symlink_to(tmp_path / "outside")
    error = read_error(tmp_path / "b", "a.md")
    assert [(p.code, p.message) for p in error.problems] == [("not_regular", "is a symbolic link, not a regular file")]


def test_a_file_reached_through_a_linked_folder_is_refused(tmp_path):
    """B2, fault row 57."""
    make_bundle(tmp_path / "b", {"data/deep/a.md": b"a"})
    (tmp_path / "b/data").rename(tmp_path / "outside")
    (tmp_path / "b/data").symlink_to(tmp_path / "outside")
    error = read_error(tmp_path / "b", "data/deep/a.md")
    assert error.problems[0].code == "not_regular"
    assert "reached through data" in error.problems[0].message


def test_a_folder_swapped_for_a_link_during_a_run_is_not_followed(tmp_path):
    """Fault row 57: the descriptor of the first look stays, a later look refuses the link."""
    make_bundle(tmp_path / "b", {"data/a.md": b"a", "data/b.md": b"b", "more/c.md": b"c"})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.md").write_bytes(b"b")
    (tmp_path / "outside/c.md").write_bytes(b"c")
    with open_bundle(str(tmp_path / "b")) as bundle:
        bundle.read("data/a.md")
        for name in ("data", "more"):
            (tmp_path / "b" / name).rename(tmp_path / f"was-{name}")
            (tmp_path / "b" / name).symlink_to(tmp_path / "outside")
        (tmp_path / "outside/b.md").write_bytes(b"X")
        assert bundle.read("data/b.md") == b"b"
        with pytest.raises(BundleError) as error:
            bundle.read("more/c.md")
    assert codes_of(error) == ["not_regular"]


def test_the_bundle_folder_itself_may_be_a_link(tmp_path):
    make_bundle(tmp_path / "2026-06-04", {"a.md": b"a"})
    (tmp_path / "latest").symlink_to("2026-06-04")
    with open_bundle(str(tmp_path / "latest")) as bundle:
        assert bundle.read("a.md") == b"a"


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


@pytest.mark.parametrize("make", [make_fifo, make_socket, Path.mkdir])
@pytest.mark.timeout(20)
def test_a_special_file_is_refused_and_never_waited_for(tmp_path, make):
    """B2: opening a fifo that nobody writes to must not hang."""
    make_bundle(tmp_path, {"a.md": b"a"})
    (tmp_path / "a.md").unlink()
    make(tmp_path / "a.md")
    assert read_error(tmp_path, "a.md").problems[0].code == "not_regular"


def test_a_path_below_a_file_is_missing(tmp_path):
    make_bundle(tmp_path, {"a/b.md": b"a"})
    (tmp_path / "a/b.md").unlink()
    (tmp_path / "a").rmdir()
    (tmp_path / "a").write_bytes(b"")
    error = read_error(tmp_path, "a/b.md")
    assert error.problems[0].code == "file_missing"
    assert "a is a file, not a folder" in error.problems[0].message


def test_only_listed_paths_can_be_read(tmp_path):
    make_bundle(tmp_path, {"a.md": b"a"})
    (tmp_path / "b.md").write_bytes(b"b")
    with open_bundle(str(tmp_path)) as bundle, pytest.raises(KeyError):
        bundle.read("b.md")


@pytest.mark.parametrize("kind", ["no folder", "no manifest", "a file"])
def test_an_absent_bundle_is_manifest_missing(tmp_path, kind):
    """G2."""
    folder = tmp_path / "b"
    if kind == "no manifest":
        folder.mkdir()
    if kind == "a file":
        folder.write_bytes(b"")
    with pytest.raises(BundleError) as error:
        open_bundle(str(folder))
    assert codes_of(error) == ["manifest_missing"]


def test_a_manifest_that_is_a_link_is_invalid(tmp_path):
    make_bundle(tmp_path / "other", {})
    (tmp_path / "b").mkdir()
    (tmp_path / "b/manifest.json").symlink_to(tmp_path / "other/manifest.json")
    with pytest.raises(BundleError) as error:
        open_bundle(str(tmp_path / "b"))
    assert codes_of(error) == ["manifest_invalid"]


def test_a_manifest_of_unreasonable_size_is_not_read(tmp_path):
    make_bundle(tmp_path, {})
    os.truncate(tmp_path / "manifest.json", reader_module.MAX_MANIFEST + 1)
    with pytest.raises(BundleError) as error:
        open_bundle(str(tmp_path))
    assert codes_of(error) == ["manifest_invalid"]


def test_a_manifest_with_another_digest_shows_both(tmp_path):
    """B1."""
    make_bundle(tmp_path, {"a.md": b"a"}, digest="sha256:" + "0" * 64)
    with pytest.raises(BundleError) as error:
        open_bundle(str(tmp_path))
    assert codes_of(error) == ["digest_mismatch"]
    assert error.value.problems[0].message.count("sha256:") == 2


def test_a_backslash_in_a_path_is_refused(tmp_path):
    """Fault row 52."""
    make_bundle(tmp_path, {"a\\b.md": b"a"})
    with pytest.raises(BundleError) as error:
        open_bundle(str(tmp_path))
    assert codes_of(error) == ["path_invalid"]


@pytest.mark.parametrize("name", ["a#b?c+d%20.md", "a b.md", "ä/日本.md", "'\"`$.md", "-rf", "~"])
def test_odd_but_clean_names_are_read_as_they_are(tmp_path, name):
    """Fault row 51."""
    make_bundle(tmp_path, {name: b"a"})
    with open_bundle(str(tmp_path)) as bundle:
        assert bundle.read(name) == b"a"


def test_newlines_are_hashed_as_they_are(tmp_path):
    """Fault row 52: no text mode anywhere."""
    make_bundle(tmp_path, {"a.txt": b"a\r\nb\n\x1a\r"})
    with open_bundle(str(tmp_path)) as bundle:
        assert bundle.read("a.txt") == b"a\r\nb\n\x1a\r"


def test_many_threads_read_many_folders(tmp_path):
    contents = {f"d{i}/e{i % 7}/f.txt": str(i).encode() for i in range(300)}
    make_bundle(tmp_path, contents)
    with open_bundle(str(tmp_path)) as bundle, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(bundle.read, contents)) == list(contents.values())


def test_closing_twice_is_harmless_and_leaves_no_descriptor(tmp_path):
    contents = {f"d{i}/f.txt": b"x" for i in range(200)}
    make_bundle(tmp_path, contents)
    before = len(os.listdir("/proc/self/fd"))
    bundle = open_bundle(str(tmp_path))
    for path in contents:
        bundle.read(path)
    bundle.close()
    bundle.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_unlisted_files_are_found_whatever_they_are(tmp_path):
    """B2, G7."""
    make_bundle(tmp_path, {"a.md": b"a"})
    (tmp_path / "new").mkdir()
    (tmp_path / "new/b.md").write_bytes(b"b")
    (tmp_path / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"bad\xff")).write_bytes(b"")
    with open_bundle(str(tmp_path)) as bundle:
        found = [(one.path, one.kind.value) for one in bundle.unlisted()]
    assert found == [("bad\udcff", "file"), ("link", "symbolic link"), ("new/b.md", "file"), ("pipe", "fifo")]


def test_unlisted_files_warn_by_default_policy(tmp_path):
    make_bundle(tmp_path, {"a.md": b"a"})
    (tmp_path / "b.md").write_bytes(b"b")
    with open_bundle(str(tmp_path)) as bundle:
        assert [(p.code, p.path) for p in bundle.check_unlisted("warn")] == [("unlisted_file", "b.md")]
        assert bundle.check_unlisted("ignore") == []


def test_unlisted_files_can_fail(tmp_path):
    make_bundle(tmp_path, {"a.md": b"a"})
    (tmp_path / "b.md").write_bytes(b"b")
    (tmp_path / "c.md").write_bytes(b"c")
    with open_bundle(str(tmp_path)) as bundle, pytest.raises(BundleError) as error:
        bundle.check_unlisted("fail")
    assert [p.path for p in error.value.problems] == ["b.md", "c.md"]


def test_a_walk_enters_no_folder_that_is_deeper_than_any_clean_path(tmp_path):
    """A1."""
    make_bundle(tmp_path, {})
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(8):
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    with open_bundle(str(tmp_path)) as bundle:
        (found,) = bundle.unlisted()
    assert found.kind.value == "folder with too long a path"


@pytest.mark.parametrize(
    ("created", "future"),
    [
        ("2026-06-05T12:00:00Z", False),
        ("2026-06-05T12:00:00.000000001Z", True),
        ("2036-06-04T12:00:00Z", True),
        ("2026-06-05T14:00:00+02:00", False),
        ("1970-01-01T00:00:00Z", False),
    ],
)
def test_a_bundle_may_be_ahead_of_the_clock_only_by_the_skew(tmp_path, created, future):
    """B6, fault rows 38 and 39."""
    make_bundle(tmp_path, {}, created=created)
    with open_bundle(str(tmp_path)) as bundle:
        problem = future_problem(bundle.manifest, datetime(2026, 6, 4, 12, tzinfo=UTC), 86400)
    assert (problem is not None and problem.code == "created_in_future") == future


def test_created_keeps_its_text_and_nine_digits(tmp_path):
    """A3, fault row 39."""
    make_bundle(tmp_path, {}, created="2026-06-04T11:55:00.123456789-10:00")
    with open_bundle(str(tmp_path)) as bundle:
        assert bundle.manifest.created.text == "2026-06-04T11:55:00.123456789-10:00"
        assert bundle.manifest.created.fraction == "123456789"
