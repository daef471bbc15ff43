"""Exit codes as a function of the report (interfaces §3; fault row 73)."""

from __future__ import annotations

import pytest

from distributor.cli.exit_codes import detailed, exit_code


def report(*results: tuple[str, str | None]) -> dict[str, object]:
    return {"command": "run", "results": [{"status": s, "reason": r} for s, r in results], "error": None}


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], 0),
        ([("published", "no_state")], 0),
        ([("skipped", "same_source"), ("planned", "no_state")], 0),
        ([("failed", "storage_failed")], 1),
        ([("failed", "transform_failed")], 1),
        ([("failed", "invalid_bundle")], 3),
        ([("conflict", "invalid_state")], 4),
        ([("locked", "locked")], 5),
    ],
)
def test_each_status_has_its_code(results, code):
    assert exit_code(report(*results)) == code


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["conflict", "locked", "invalid_bundle", "failed"], 1),
        (["conflict", "locked", "invalid_bundle"], 3),
        (["conflict", "locked"], 5),
        (["published", "conflict"], 4),
    ],
)
def test_the_gravest_of_several_wins(statuses, code):
    """1, 3, 5, 4, whatever the order of the results; a partial success is never 0 (fault row 73)."""
    results = [("failed", s) if s == "invalid_bundle" else (s, None) for s in statuses]
    assert exit_code(report(*results)) == code
    assert exit_code(report(*reversed(results))) == code


@pytest.mark.parametrize(("kind", "code"), [("usage", 2), ("config", 2), ("internal", 1)])
def test_an_error_without_results_has_the_code_of_its_kind(kind, code):
    assert exit_code({"command": "run", "results": [], "error": {"kind": kind}}) == code


@pytest.mark.parametrize(
    ("command", "status", "code"),
    [
        ("bundle verify", "valid", 0),
        ("bundle verify", "invalid", 3),
        ("bundle create", "created", 0),
        ("bundle create", "invalid", 3),
        ("reconcile-state", "repaired", 0),
        ("reconcile-state", "conflict", 4),
        ("prune", "locked", 5),
        ("prune", "failed", 1),
    ],
)
def test_a_report_about_one_thing_is_judged_by_its_own_status(command, status, code):
    assert exit_code({"command": command, "status": status, "error": None}) == code


@pytest.mark.parametrize(
    ("status", "code"), [("managed", 0), ("empty", 0), ("unmanaged", 4), ("invalid", 4), ("failed", 1), ("drift", 4)]
)
def test_status_and_verify_tell_what_needs_attention(status, code):
    """G6a."""
    assert exit_code({"command": "status", "results": [{"status": status}], "error": None}) == code


@pytest.mark.parametrize(
    ("statuses", "code"),
    [(["skipped"], 0), (["planned"], 10), (["planned", "conflict"], 4), (["planned", "failed"], 1)],
)
def test_the_detailed_code_turns_only_a_success_into_ten(statuses, code):
    """G4."""
    document = report(*((status, None) for status in statuses))
    assert detailed(exit_code(document), document) == code
