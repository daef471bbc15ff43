"""Which documents are manifests (A1-A6, B1, C8; fault rows 22, 39, 52), seen through ``open_bundle``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from distributor.bundle.reader import open_bundle
from distributor.core.manifest import Manifest
from distributor.errors import BundleError
from tests.bundle.making import CREATED, digest_over, sha256

FILE = {"path": "a.md", "sha256": sha256(b"a"), "size": 1}


def document(**fields: Any) -> dict[str, Any]:
    files = fields.pop("files", [FILE])
    listed = files if isinstance(files, list) and all(isinstance(f, dict) for f in files) else []
    complete = [f for f in listed if isinstance(f.get("sha256"), str) and isinstance(f.get("path"), str)]
    try:
        digest = digest_over(complete)
    except UnicodeEncodeError:
        digest = sha256(b"")
    plain = {"schema_version": 1, "id": "weekly", "digest": digest, "created": CREATED, "files": files}
    return {key: value for key, value in (plain | fields).items() if value is not ...}


def opened(folder: Path, data: bytes | dict[str, Any]) -> Manifest:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    (folder / "manifest.json").write_bytes(raw)
    with open_bundle(str(folder)) as bundle:
        return bundle.manifest


def refusal(folder: Path, data: bytes | dict[str, Any]) -> list[tuple[str, str | None]]:
    with pytest.raises(BundleError) as error:
        opened(folder, data)
    return [(problem.code, problem.path) for problem in error.value.problems]


def test_a_plain_manifest_is_read(tmp_path):
    manifest = opened(tmp_path, document())
    assert (manifest.id, manifest.created.text, [f.path for f in manifest.files]) == ("weekly", CREATED, ["a.md"])


def test_unknown_fields_are_read_without_complaint(tmp_path):
    """A6."""
    assert opened(tmp_path, document(note="x", files=[FILE | {"mime": "text/markdown"}])).id == "weekly"


def test_the_order_of_files_does_not_matter(tmp_path):
    """B1, B4."""
    files = [{"path": p, "sha256": sha256(p.encode()), "size": 1} for p in ("b", "a", "é", "a b")]
    assert opened(tmp_path, document(files=files)).same_as(opened(tmp_path, document(files=files[::-1])))


GOOD = json.dumps(document())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 100,
        b"[]",
        b"null",
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace('"size": 1', '"size": 1, "size": 2').encode(),
        GOOD.replace('"id"', '"id": "other", "id"').encode(),
        GOOD.replace('"size": 1', '"size": NaN').encode(),
        GOOD.replace('"size": 1', '"size": 1e400').encode(),
        GOOD.replace('"weekly"', '"week\\ud800ly"').encode(),
        GOOD.encode("utf-16"),
        GOOD.encode("latin-1").replace(b"weekly", b"w\xe9ekly"),
        GOOD.encode()[:-1],
        GOOD.encode() + b"{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"size": ' + b"9" * 10_000 + b"}",
    ],
    ids=[
        "empty", "nul bytes", "array", "null", "byte-order mark", "repeated key", "repeated top key", "NaN", "1e400",
        "lone surrogate", "utf-16", "not utf-8", "cut off", "trailing data", "deep arrays", "deep objects",
        "long number",
    ],
)  # fmt: skip
def test_what_is_no_acceptable_json_is_refused(tmp_path, data):
    """A6, fault row 22."""
    assert set(refusal(tmp_path, data)) == {("manifest_invalid", "manifest.json")}


@pytest.mark.parametrize("field", ["schema_version", "id", "digest", "created", "files"])
@pytest.mark.parametrize("value", [..., None, 3.5, {}])
def test_every_field_is_required_and_typed(tmp_path, field, value):
    assert ("manifest_invalid", "manifest.json") in refusal(tmp_path, document(**{field: value}))


@pytest.mark.parametrize("version", [0, 2, 1.0, True, "1"])
def test_only_version_one_is_known(tmp_path, version):
    assert refusal(tmp_path, document(schema_version=version)) == [("manifest_invalid", "manifest.json")]


@pytest.mark.parametrize("size", [1.0, True, "1", -1, None])
def test_a_size_is_a_whole_number_of_bytes(tmp_path, size):
    """A4."""
    assert refusal(tmp_path, document(files=[FILE | {"size": size}])) == [("manifest_invalid", "a.md")]


@pytest.mark.parametrize("digest", ["0" * 64, "sha256:" + "A" * 64, "sha256:" + "0" * 63, "sha256:" + "0" * 64 + "\n"])
def test_a_digest_is_lower_case_hex(tmp_path, digest):
    """A4."""
    assert ("manifest_invalid", "a.md") in refusal(tmp_path, document(files=[FILE | {"sha256": digest}]))


@pytest.mark.parametrize(
    "path",
    [
        "", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\\b", "a\nb", "a\x7fb", "a\0b",
        "x" * 256, "/".join(["x" * 200] * 6), "manifest.json",
    ],
)  # fmt: skip
def test_an_unclean_path_is_refused(tmp_path, path):
    """A1, A2, fault row 52."""
    assert refusal(tmp_path, document(files=[FILE | {"path": path}])) == [("path_invalid", path)]


@pytest.mark.parametrize("path", ["...", "a/.b", "x" * 255, "~a", "a:b", "é" * 127, "sub/manifest.json", " ", "CON"])
def test_an_odd_path_may_still_be_clean(tmp_path, path):
    """A1."""
    assert opened(tmp_path, document(files=[FILE | {"path": path}])).files[0].path == path


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a", "a/b"), ("a/b/c", "a")])
def test_two_paths_that_exclude_each_other_are_refused(tmp_path, one, other):
    """A1."""
    listed = [FILE | {"path": one}, FILE | {"path": other}]
    assert [code for code, _ in refusal(tmp_path, document(files=listed))] == ["path_duplicate"]


def test_paths_that_differ_in_case_or_form_are_two_paths(tmp_path):
    """A1, fault rows 49 and 50."""
    listed = [FILE | {"path": path} for path in ("A", "a", "\u00e9", "e\u0301")]
    assert len(opened(tmp_path, document(files=listed)).files) == 4


@pytest.mark.parametrize(
    "created",
    [
        "2026-06-04T11:55:00", "2026-06-04", "2026-06-04 11:55:00Z", "2026-06-04T11:55:60Z", "2026-06-04T24:00:00Z",
        "2026-02-30T00:00:00Z", "2026-06-04T11:55:00+2:00", "2026-06-04T11:55:00.Z", 1780000000,
    ],
)  # fmt: skip
def test_a_time_needs_rfc_3339_and_an_offset(tmp_path, created):
    """A3, H5."""
    assert refusal(tmp_path, document(created=created)) == [("manifest_invalid", "manifest.json")]


@pytest.mark.parametrize(
    "created", ["2026-06-04t11:55:00z", "2026-06-04T11:55:00.123456789Z", "2026-06-04T11:55:00.1234567-10:00"]
)
def test_times_of_other_writers_keep_their_text(tmp_path, created):
    """A3, H5, fault row 39."""
    assert opened(tmp_path, document(created=created)).created.text == created


def test_order_is_kept_below_a_microsecond(tmp_path):
    """A3, fault row 39."""
    early = opened(tmp_path, document(created="2026-06-04T11:55:00.123456788Z")).created
    late = opened(tmp_path, document(created="2026-06-04T13:55:00.123456789+02:00")).created
    assert early.instant < late.instant


def test_every_problem_is_told_at_once(tmp_path):
    listed = [FILE | {"path": "../a"}, FILE | {"size": -1}, FILE | {"path": "b", "sha256": "x"}]
    problems = refusal(tmp_path, document(id="a b", created="now", files=listed))
    assert problems == [
        ("manifest_invalid", "manifest.json"),
        ("manifest_invalid", "manifest.json"),
        ("path_invalid", "../a"),
        ("manifest_invalid", "a.md"),
        ("manifest_invalid", "b"),
    ]
