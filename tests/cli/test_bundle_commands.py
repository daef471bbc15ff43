"""``bundle create`` and ``bundle verify`` as a user calls them (interfaces §3 and §4, G7, G9)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.bundle.making import make_bundle
from tests.cli.running import distributor

GOLDEN_INVALID = """\
✗ b  invalid  3 problems in 3 places
    id       weekly
    created  2126-06-04T11:55:00Z
    digest   {digest}
    holds    2 files, 12 B
    manifest.json
      created 2126-06-04T11:55:00Z is more than 86400 seconds ahead of the clock; check the clocks  [created_in_future]
    line\\nbreak\\x1b[2J
      is not listed in the manifest; it is not published  [unlisted_file]
    report.md
      has 7 bytes, not the listed 6  [file_size]
"""

GOLDEN_REFUSED = """\
✗ b  invalid  2 problems in 2 places
    bad\\xff
      is not valid Unicode; rename it  [path_invalid]
    link
      is no regular file (symbolic link)  [not_regular]

No manifest was written.
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return make_bundle(tmp_path / "b", {"report.md": b"report", "data.csv": b"a,b,c\n"})


def digest_of(bundle: Path) -> str:
    digest: str = json.loads((bundle / "manifest.json").read_bytes())["digest"]
    return digest


def test_a_valid_bundle_is_told_with_what_it_is(bundle):
    done = distributor("bundle", "verify", "b", cwd=bundle.parent)
    lines = done.stderr.splitlines()
    assert lines == [
        "✓ b  valid",
        "    id       weekly",
        "    created  2026-06-04T11:55:00Z",
        f"    digest   {digest_of(bundle)}",
        "    holds    2 files, 12 B",
    ]
    assert (done.returncode, done.stdout) == (0, "")


def test_problems_are_grouped_by_file_and_names_are_escaped(tmp_path):
    """G9."""
    bundle = make_bundle(
        tmp_path / "b", {"report.md": b"report", "data.csv": b"a,b,c\n"}, created="2126-06-04T11:55:00Z"
    )
    (bundle / "report.md").write_bytes(b"changed")
    (bundle / "line\nbreak\x1b[2J").write_bytes(b"")
    done = distributor("bundle", "verify", "b", cwd=tmp_path)
    assert done.stderr == GOLDEN_INVALID.format(digest=digest_of(bundle))
    assert done.returncode == 3


def test_a_report_has_exactly_the_fixed_fields(bundle):
    """Interfaces §4."""
    done = distributor("bundle", "verify", "b", "--json", cwd=bundle.parent)
    assert json.loads(done.stdout) == {
        "report_version": 1,
        "command": "bundle verify",
        "status": "valid",
        "id": "weekly",
        "digest": digest_of(bundle),
        "created": "2026-06-04T11:55:00Z",
        "files": 2,
        "bytes": 12,
        "problems": [],
        "error": None,
    }
    assert done.stderr == ""


def test_a_missing_bundle_is_reported_as_an_invalid_one(tmp_path):
    """G2."""
    done = distributor("bundle", "verify", "absent", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["status"], [p["code"] for p in document["problems"]]) == ("invalid", ["manifest_missing"])
    assert (document["id"], document["files"], document["error"]) == (None, None, None)
    assert done.returncode == 3


def test_an_undecodable_name_leaves_the_document_valid_unicode(bundle):
    """A1: every JSON reader accepts the report."""
    (bundle / os.fsdecode(b"bad\xff")).write_bytes(b"")
    done = distributor("bundle", "verify", "b", "--json", cwd=bundle.parent)
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["path"] == "bad\\xff"
    assert "\\ud" not in done.stdout


def test_create_then_verify(tmp_path):
    (tmp_path / "b/sub").mkdir(parents=True)
    (tmp_path / "b/sub/a.md").write_bytes(b"a")
    made = distributor(
        "bundle", "create", "b", "--id", "weekly", "--created", "2026-06-04t12:00:00+02:00", "--json", cwd=tmp_path
    )
    document = json.loads(made.stdout)
    assert (document["status"], document["command"], made.returncode) == ("created", "bundle create", 0)
    manifest = json.loads((tmp_path / "b/manifest.json").read_bytes())
    assert manifest["created"] == "2026-06-04t12:00:00+02:00"
    assert distributor("bundle", "verify", "b", cwd=tmp_path).returncode == 0


def test_a_refused_tree_lists_every_reason(tmp_path):
    """G7."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b/link").symlink_to("/etc/passwd")
    (tmp_path / "b" / os.fsdecode(b"bad\xff")).write_bytes(b"")
    done = distributor("bundle", "create", "b", "--id", "weekly", cwd=tmp_path)
    assert done.stderr == GOLDEN_REFUSED
    assert done.returncode == 3
    assert sorted(os.listdir(tmp_path / "b")) == [os.fsdecode(b"bad\xff"), "link"]


def test_names_that_look_alike_are_warned_of(tmp_path):
    """A1, fault row 50."""
    (tmp_path / "b").mkdir()
    for name in ("A.html", "a.html"):
        (tmp_path / "b" / name).write_bytes(b"")
    done = distributor("bundle", "create", "b", "--id", "weekly", cwd=tmp_path)
    assert done.stderr.startswith("warning: these names differ only in case or Unicode form: A.html, a.html\n")
    assert done.returncode == 0


def test_an_existing_manifest_stays_without_force(bundle):
    """G7."""
    before = (bundle / "manifest.json").read_bytes()
    done = distributor("bundle", "create", "b", "--id", "weekly", cwd=bundle.parent)
    assert done.stderr == "error: b has a manifest.json already; it was left as it is\n  replace it with --force\n"
    assert (done.returncode, (bundle / "manifest.json").read_bytes()) == (2, before)


def test_a_bare_local_time_is_refused(tmp_path):
    """A3."""
    (tmp_path / "b").mkdir()
    done = distributor("bundle", "create", "b", "--id", "w", "--created", "2026-06-04T12:00:00", cwd=tmp_path)
    assert done.returncode == 2
    assert "RFC 3339" in done.stderr


def test_quiet_says_nothing_but_trouble(bundle):
    assert distributor("bundle", "verify", "b", "-q", cwd=bundle.parent).stderr == ""
    (bundle / "report.md").write_bytes(b"changed")
    assert "file_size" in distributor("bundle", "verify", "b", "-q", cwd=bundle.parent).stderr


def test_an_undecodable_folder_name_can_be_given_and_shown(tmp_path):
    folder = os.fsdecode(b"b\xff")
    make_bundle(tmp_path / folder, {"a.md": b"a"})
    done = distributor("bundle", "verify", folder, cwd=tmp_path)
    assert done.stderr.startswith("✓ b\\xff  valid\n")


def test_verbose_says_what_is_being_read(bundle):
    done = distributor("bundle", "verify", "b", "-vv", cwd=bundle.parent)
    assert done.stderr.startswith("checking b: 2 files, 12 B\n  report.md\n  data.csv\n")
