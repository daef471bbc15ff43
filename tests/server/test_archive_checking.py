"""Archives from outside: what is accepted, and every hostile one refused (fault rows 64, 65; B2)."""

from __future__ import annotations

import io
import os
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st
from tar_making import END, FILES, ZEROS, bundle_tar, entry, good_entries, gz, header, manifest_of, pax

from distributor.bundle.archive import Caps, NotAnArchive, Rules, check_archive, unpack_archive
from distributor.core.values import parse_timestamp
from distributor.errors import BundleError

GOOD = good_entries() + END


def check(data: bytes, rules: Rules = Rules(), **caps: float):  # noqa: B008 - immutable
    if caps:
        rules = rules._replace(caps=Caps()._replace(**caps))
    return check_archive(io.BytesIO(data), rules)


def problems(data: bytes, rules: Rules = Rules(), **caps: float) -> list[tuple[str, str | None]]:  # noqa: B008
    with pytest.raises(BundleError) as caught:
        check(data, rules, **caps)
    return [(p.code, p.path) for p in caught.value.problems]


def codes(data: bytes, rules: Rules = Rules(), **caps: float) -> list[str]:  # noqa: B008
    return [code for code, _ in problems(data, rules, **caps)]


# --- what is accepted -------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gz, zstd.compress], ids=["tar", "tar.gz", "tar.zst"])
def test_a_bundle_is_accepted_in_every_compression(pack):
    bundle = check(pack(bundle_tar()))
    assert (bundle.manifest.id, bundle.size, bundle.warnings) == ("reports.weekly", 17, ())


@pytest.mark.parametrize("prefix", ["", "./", "weekly/", "./weekly/"])
def test_the_manifest_is_at_the_root_or_under_one_single_top_folder(prefix):
    assert len(check(bundle_tar(prefix=prefix)).manifest.files) == 2


@pytest.mark.parametrize("form", ["ustar", "pax", "gnu", "oldgnu", "v7"])
def test_what_gnu_tar_writes_is_accepted_in_every_format(tmp_path, form):
    files = dict(FILES)
    if form in ("pax", "gnu", "oldgnu"):
        files["deep/" * 20 + "a-long-name-" * 10 + "ü.txt"] = b"long"
    for path, data in {**files, "manifest.json": manifest_of(files)}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    done = subprocess.run(["tar", f"--format={form}", "-cC", tmp_path, "."], capture_output=True, check=True)
    assert len(check(done.stdout).manifest.files) == len(files)


def test_concatenated_gzip_members_are_one_archive():
    data = bundle_tar()
    assert check(gz(data[:700]) + gz(data[700:])).manifest.id == "reports.weekly"


def test_concatenated_zstd_frames_are_one_archive():
    data = bundle_tar()
    assert check(zstd.compress(data[:700]) + zstd.compress(data[700:])).manifest.id == "reports.weekly"


def test_a_global_comment_as_git_archive_writes_it_is_harmless():
    assert check(pax({"comment": "0123abcd"}, b"g") + GOOD).manifest.id == "reports.weekly"


def test_the_manifest_may_come_last():
    data = b"".join(entry(path, content) for path, content in FILES.items())
    assert check(data + entry("manifest.json", manifest_of(FILES)) + END).manifest.id == "reports.weekly"


def test_a_bundle_without_files_is_valid():
    assert check(good_entries({}) + END).manifest.files == ()


# --- names, types, tricks ---------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/etc/passwd", "a//b", "a/./b", "..", "a\\b", "a\x01b", "a/..", "x" * 256, "././a"],
)
def test_an_unclean_name_is_refused_and_named(name):
    data = pax({"path": name}) + entry("x", b"evil") + GOOD
    assert ("path_invalid", name) in problems(data)


def test_a_name_that_is_not_utf8_is_refused():
    assert "path_invalid" in codes(entry(b"caf\xe9.txt", b"x") + GOOD)


def test_a_pax_path_of_more_than_4096_characters_is_refused():
    assert codes(pax({"path": "a/" * 2100 + "b"}) + entry("x") + GOOD) == ["path_invalid"]


def test_a_path_with_a_nul_in_a_pax_header_is_refused():
    assert codes(pax({"path": b"report.md\0.exe"}) + entry("x") + GOOD) == ["path_invalid"]


@pytest.mark.parametrize(
    ("flag", "word"),
    [
        (b"1", "hard link"),
        (b"2", "symbolic link"),
        (b"3", "character device"),
        (b"4", "block device"),
        (b"6", "fifo"),
        (b"S", "sparse"),
        (b"7", "unknown type"),
        (b"Z", "unknown type"),
    ],
)
def test_everything_but_files_and_folders_is_refused_by_its_kind(flag, word):
    with pytest.raises(BundleError, match=word) as caught:
        check(header(b"thing", 0, flag, link=b"report.md") + GOOD)
    assert [(p.code, p.path) for p in caught.value.problems] == [("not_regular", "thing")]


@pytest.mark.parametrize("records", [{"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}, {"GNU.sparse.size": "9"}])
def test_a_sparse_file_in_pax_clothes_is_refused(records):
    assert codes(pax(records) + entry("x", b"1\n0\n") + GOOD) == ["not_regular"]


def test_a_global_header_that_renames_is_refused():
    assert "archive_unsupported" in codes(pax({"path": "report.md"}, b"g") + GOOD)


def test_two_extended_headers_for_one_entry_are_refused():
    assert codes(pax({"path": "a"}) + pax({"path": "b"}) + entry("x") + GOOD) == ["archive_unsupported"]


def test_a_long_name_and_a_pax_path_for_one_entry_are_refused():
    data = entry("././@LongLink", b"one\0", b"L") + pax({"path": "two"}) + entry("x") + GOOD
    assert codes(data) == ["archive_unsupported"]


def test_a_pax_header_that_says_a_path_twice_is_refused():
    body = b"10 path=a\n" * 2
    assert codes(entry("PaxHeader", body, b"x") + entry("x") + GOOD) == ["archive_unsupported"]


@pytest.mark.parametrize("body", [b"8 path=a\n", b"99 path=a\n", b"path=a\n", b"11 path=a\n", b"7 patha\n", b"0 \n"])
def test_a_broken_pax_header_is_refused(body):
    assert "archive_unsupported" in codes(entry("PaxHeader", body, b"x") + entry("x") + GOOD)


def test_a_huge_pax_header_is_refused_without_being_held_in_memory():
    data = gz(header(b"PaxHeader", 200_000_000, b"x") + bytes(200_000_000) + entry("x") + GOOD)
    tracemalloc.start()
    found = codes(data, max_ratio=10**9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["archive_unsupported"]
    assert peak < 8 * 1024 * 1024


def test_an_extended_header_without_an_entry_is_refused():
    assert codes(good_entries() + pax({"path": "a"}) + END) == ["archive_corrupt"]


def test_a_folder_with_content_is_refused():
    assert codes(entry("folder/", b"hidden", b"5") + GOOD)[0] == "archive_unsupported"


def test_a_file_name_that_ends_in_a_slash_is_refused():
    assert codes(entry("folder/", b"x") + GOOD) == ["path_invalid"]


def test_a_name_that_is_in_the_archive_twice_is_refused():
    assert problems(good_entries() + entry("report.md", b"# Other\n") + END) == [("path_duplicate", "report.md")]


def test_a_name_that_is_twice_there_with_and_without_dot_slash_is_refused():
    assert codes(good_entries() + entry("./report.md", b"# Weekly\n") + END) == ["path_duplicate"]


def test_a_file_that_is_also_a_folder_is_refused():
    data = good_entries() + entry("report.md/inside", b"x") + END
    assert ("path_duplicate", "report.md") in problems(data)


def test_a_negative_size_is_refused():
    data = header(b"x", size_field=b"\xff" * 12) + GOOD
    assert codes(data) == ["archive_corrupt"]


def test_a_size_that_is_no_number_is_refused():
    assert codes(header(b"x", size_field=b"12monkeys\0\0\0") + GOOD) == ["archive_corrupt"]


def test_a_size_beyond_every_archive_is_refused():
    assert "archive_truncated" in codes(header(b"x", size_field=b"\x80" + b"\xff" * 11) + GOOD)


# --- the manifest -----------------------------------------------------------------


def test_an_archive_without_a_manifest_is_refused():
    assert codes(entry("report.md", b"x") + END) == ["manifest_missing"]


def test_an_empty_tar_has_no_manifest():
    assert codes(bytes(10240)) == ["manifest_missing"]


def test_a_manifest_two_folders_down_is_no_manifest():
    assert codes(good_entries(prefix="a/b/") + END) == ["manifest_missing"]


def test_a_manifest_in_one_of_two_top_folders_is_no_manifest():
    assert codes(good_entries(prefix="a/") + entry("b/x", b"") + END) == ["manifest_missing"]


def test_a_manifest_that_is_there_twice_is_refused():
    data = good_entries() + entry("manifest.json", manifest_of({})) + END
    assert problems(data) == [("path_duplicate", "manifest.json")]


def test_a_manifest_that_repeats_a_key_is_refused():
    twice = manifest_of(FILES)[:-1] + b', "id": "other"}'
    data = entry("manifest.json", twice) + END
    assert "manifest_invalid" in codes(data)


def test_a_manifest_with_another_digest_is_refused():
    assert codes(good_entries(digest="sha256:" + "0" * 64) + END) == ["digest_mismatch"]


def test_a_listed_file_that_is_missing_is_named():
    data = entry("manifest.json", manifest_of(FILES)) + entry("report.md", FILES["report.md"]) + END
    assert problems(data) == [("file_missing", "data/table.csv")]


def test_other_bytes_than_the_manifest_says_are_refused():
    files = {**FILES, "report.md": b"# Weakly\n"}
    data = entry("manifest.json", manifest_of(FILES)) + b"".join(entry(p, d) for p, d in files.items()) + END
    assert problems(data) == [("file_digest", "report.md")]


def test_another_size_than_the_manifest_says_is_refused():
    files = {**FILES, "report.md": b"# Weekly report\n"}
    data = entry("manifest.json", manifest_of(FILES)) + b"".join(entry(p, d) for p, d in files.items()) + END
    assert problems(data) == [("file_size", "report.md")]


def test_every_fault_is_reported_at_once():
    bad = header(b"link", 0, b"2", link=b"/etc") + entry("../up", b"x") + entry("report.md", b"y")
    data = bad + entry("manifest.json", manifest_of(FILES)) + END
    found = [("not_regular", "link"), ("path_invalid", "../up"), ("file_size", "report.md")]
    assert problems(data) == [*found, ("file_missing", "data/table.csv")]


def test_faults_before_a_break_are_still_reported():
    assert codes(entry("../up", b"x") + good_entries()) == ["path_invalid", "archive_truncated"]


def test_a_thousand_faults_are_counted_not_listed():
    data = b"".join(entry(f"../{n}") for n in range(1000)) + GOOD
    found = codes(data)
    assert (len(found), found[-1]) == (201, "more_problems")


@pytest.mark.parametrize(("setting", "warnings"), [("warn", 1), ("ignore", 0)])
def test_an_unlisted_file_is_dropped_by_default(setting, warnings):
    bundle = check(good_entries() + entry("notes.txt", b"x") + END, Rules(unlisted_files=setting))
    assert len(bundle.warnings) == warnings


def test_an_unlisted_file_fails_where_the_pipeline_says_so():
    data = good_entries() + entry("notes.txt", b"x") + END
    assert problems(data, Rules(unlisted_files="fail")) == [("unlisted_file", "notes.txt")]


def test_a_bundle_from_the_future_is_refused_B6():
    latest = parse_timestamp("2026-06-04T11:54:59.9Z").to_datetime()
    assert codes(GOOD, Rules(latest=latest)) == ["created_in_future"]


# --- broken archives --------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"x", b"hello " * 200, b"PK\x03\x04" + bytes(600), bytes(100), gz(b"text")])
def test_what_is_no_archive_at_all_is_told_apart(data):
    with pytest.raises(NotAnArchive):
        check(data)


@pytest.mark.parametrize("pack", [bytes, gz, zstd.compress], ids=["tar", "tar.gz", "tar.zst"])
def test_an_archive_cut_off_anywhere_is_refused(pack):
    data = pack(GOOD)
    for end in range(1, len(data), max(1, len(data) // 97)):
        with pytest.raises((BundleError, NotAnArchive)):
            check(data[:end])


@pytest.mark.parametrize("pack", [gz, zstd.compress], ids=["tar.gz", "tar.zst"])
def test_a_compression_cut_off_after_the_tars_end_is_refused(pack):
    assert codes(pack(GOOD)[:-2])[-1] == "archive_truncated"


@pytest.mark.parametrize("junk", [b"junk", ZEROS + b"junk", GOOD])
def test_data_after_the_tars_end_is_refused(junk):
    assert codes(GOOD + junk) == ["archive_trailing_data"]


@pytest.mark.parametrize("pack", [gz, zstd.compress], ids=["tar.gz", "tar.zst"])
def test_data_after_the_compression_is_refused(pack):
    assert codes(pack(GOOD) + b"trailing garbage") == ["archive_trailing_data"]


def test_one_lone_zero_block_is_no_end():
    assert codes(good_entries() + ZEROS) == ["archive_truncated"]


def test_a_wrong_header_checksum_is_refused():
    data = bytearray(GOOD)
    start = len(entry("manifest.json", manifest_of(FILES)))
    data[start] ^= 1
    assert codes(bytes(data)) == ["archive_corrupt"]


def test_flipped_bits_in_a_gzip_stream_are_refused():
    data = bytearray(gz(GOOD))
    data[-6] ^= 0xFF
    assert codes(bytes(data))[-1] in ("archive_corrupt", "archive_truncated")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=3000), st.sampled_from([b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"]), st.booleans())
def test_no_bytes_cause_anything_but_a_refusal(noise, magic, in_tar):
    data = good_entries() + noise if in_tar else magic + noise
    with pytest.raises((BundleError, NotAnArchive)):
        check(data)


# --- bombs ------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gz, zstd.compress], ids=["gzip", "zstd"])
def test_a_bomb_by_ratio_is_stopped_early_and_costs_no_memory(pack):
    bomb = pack(entry("zeros", bytes(64 * 1024 * 1024)) + GOOD)
    tracemalloc.start()
    found = codes(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["archive_ratio"]
    assert peak < 8 * 1024 * 1024


def test_a_bomb_by_total_size_is_stopped():
    data = entry("a", os.urandom(3000)) + entry("b", os.urandom(3000)) + GOOD
    assert codes(data, max_unpacked_bytes=5000) == ["archive_too_large"]


def test_a_bomb_in_one_entry_is_refused():
    assert problems(entry("a", bytes(3000)) + GOOD, max_file_bytes=2999) == [("file_too_large", "a")]


def test_a_header_that_lies_about_its_size_cannot_pass_the_caps():
    data = gz(header(b"a", 8 * 1024**3 - 1) + bytes(1_000_000))
    assert codes(data, max_file_bytes=1000) == ["file_too_large", "archive_truncated"]


def test_a_bomb_by_count_is_stopped():
    data = b"".join(entry(f"{n}") for n in range(12)) + GOOD
    assert codes(data, max_files=10) == ["archive_too_many_files"]


def test_folders_count_as_entries():
    data = b"".join(entry(f"{n}/", flag=b"5") for n in range(12)) + GOOD
    assert codes(data, max_files=10) == ["archive_too_many_files"]


def test_endless_zeros_after_the_end_are_counted():
    assert "archive_too_large" in codes(gz(GOOD + bytes(10_000_000)), max_unpacked_bytes=1_000_000)


def test_an_archive_that_takes_too_long_is_stopped():
    assert codes(GOOD, max_seconds=-1) == ["archive_too_slow"]


def test_a_zstd_frame_with_a_huge_window_is_refused():
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.compression_level: 1}
    packer = zstd.ZstdCompressor(options=options)
    data = packer.compress(GOOD) + packer.flush()
    assert codes(data) == ["archive_corrupt"]


def test_a_compressed_file_that_unpacks_to_another_as_a_quine_does_is_unpacked_once_and_refused():
    with pytest.raises(NotAnArchive):
        check(gz(gz(GOOD)))


def test_many_empty_gzip_members_are_only_slow():
    assert check(gz(b"") * 3000 + gz(GOOD)).manifest.id == "reports.weekly"


# --- unpacking --------------------------------------------------------------------


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("prefix", ["", "weekly/"])
def test_unpacking_builds_exactly_the_bundle(tmp_path, prefix):
    extra = entry(prefix + "unlisted.txt", b"x")
    unpack_archive(io.BytesIO(good_entries(prefix=prefix) + extra + END), tmp_path, Rules())
    assert tree(tmp_path) == {**FILES, "manifest.json": manifest_of(FILES)}


def test_equal_files_are_unpacked_as_files_of_their_own(tmp_path):
    files = {"a": b"same", "b": b"same"}
    unpack_archive(io.BytesIO(good_entries(files) + END), tmp_path, Rules())
    assert (tmp_path / "a").stat().st_nlink == 1


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil-distributor", "link/evil"])
def test_a_refused_archive_leaves_nothing_outside_its_folder(tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    data = header(b"link", 0, b"2", link=str(tmp_path).encode()) + pax({"path": name}) + entry("x", b"evil") + GOOD
    with pytest.raises(BundleError):
        unpack_archive(io.BytesIO(data), inside, Rules())
    assert [p.name for p in tmp_path.iterdir()] == ["inside"]
    assert not Path("/tmp/evil-distributor").exists()


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text(
            st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1, max_size=40
        ).filter(lambda t: t not in (".", "..", "manifest.json", ".slots") and len(t.encode()) < 200),
        st.binary(max_size=2000),
        max_size=8,
    )
)
def test_whatever_is_packed_is_unpacked_the_same(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("bundle")
    unpack_archive(io.BytesIO(gz(bundle_tar(files, prefix="top/"))), folder, Rules())
    assert tree(folder) == {**files, "manifest.json": manifest_of(files)}
