"""Reports as people read them, against golden files at 80 columns and in a pipe (fault rows 9 and 42).

The files are what was looked at and found right; a difference is a change to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from distributor.cli.render_plan import render_plan
from distributor.cli.render_repair import render_prune, render_reconcile
from distributor.cli.render_run import render_run
from distributor.cli.render_status import render_status
from distributor.cli.running import View
from distributor.cli.style import Style
from distributor.cli.text import columns
from distributor.core.observation import Entry, EntryKind
from distributor.core.plan import Plan
from distributor.core.policy import Action, OwnerKey, Reason, StateMode
from distributor.core.state.model import OutputKind, OutputRecord, SourceIdentity, State
from distributor.core.values import Timestamp, timestamp_of

GOLDEN = Path(__file__).parent / "golden"
NOW = datetime(2026, 6, 5, tzinfo=UTC)
TERMINAL, PIPE = Style(width=80), Style()
OWNER = OwnerKey("reports", "archive")


def view(style: Style = TERMINAL, verbose: int = 0, plans: dict[OwnerKey, Plan] | None = None) -> View:
    return View(style, verbose, NOW, plans or {})


def result(destination: str, status: str, **fields: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "pipeline_id": "reports",
        "destination_id": destination,
        "source": None,
        "status": status,
        "action": "none",
        "reason": None,
        "message": "",
        "conflicts": [],
        "outputs_differ": False,
        "migrated": False,
        "recovered": False,
        "failed": [],
        "bytes_transferred": 0,
        "primary_url": None,
    }
    outputs = {key: fields.pop(key, []) for key in ("written", "unchanged", "retained", "deleted")}
    return plain | {"outputs": outputs} | fields


def path(name: str, *owner: str) -> dict[str, Any]:
    return {"path": name, "pipeline_id": owner[0] if owner else None, "destination_id": owner[1] if owner else None}


RUN = {
    "command": "run",
    "results": [
        result(
            "archive",
            "published",
            action="publish",
            reason="no_state",
            message="First publication of reports.example",
            written=["index.html"] * 12,
            bytes_transferred=1234567,
            primary_url="https://reports.example.com/archive/index.html",
        ),
        result("mirror", "skipped", reason="same_source", message="already published: it holds this edition"),
        result(
            "public",
            "published",
            action="replace",
            reason="destination_older",
            message="Replaced by this edition of reports.example",
            written=["index.html", "new.html"],
            unchanged=["a"] * 940,
            deleted=["data/old chart.png", "pages/2026-05.html"],
            bytes_transferred=45678,
            recovered=True,
        ),
        result(
            "shared",
            "conflict",
            reason="output_owner_mismatch",
            message="2 planned path(s) belong to another owner, first index.html; choose other paths, or take them "
            "over with --takeover owner",
            conflicts=[path("index.html", "weekly", "archive"), path("data.csv"), path("\x1b[2J.html", "w", "a")],
        ),
        result("s3", "locked", reason="locked", message="locked by host7 (process 4711); run again later"),
        result(
            "sftp",
            "failed",
            reason="storage_failed",
            message="sftp://host/reports: permission denied; nothing was written",
            failed=[{"path": "report.html", "message": "permission denied"}],
        ),
    ],
}

UNCHANGED = [f"pages/{i:03}.html" for i in range(40)]
DELETED = [f"old/{i:02}.html" for i in range(15)]

PLAN = {
    "command": "plan",
    "results": [
        result(
            "archive",
            "planned",
            action="replace",
            reason="destination_older",
            message="Replaced by this edition of reports.example",
            written=["data/figures.csv", "index.html"],
            unchanged=UNCHANGED,
            retained=["kept.html"],
            deleted=DELETED,
        )
    ],
}

STATUS = {
    "results": [
        {
            "pipeline_id": "reports",
            "destination_id": destination,
            "status": status,
            "source": {"id": source} if source else None,
            "published_at": None,
            "updated_at": updated,
            "outputs": outputs,
            "bytes": size,
            "owners": owners,
            "locked_by": locked,
            "pending_journal": locked is not None,
        }
        for destination, status, source, updated, outputs, size, owners, locked in (
            ("archive", "managed", "weekly", "2026-06-04T12:00:00Z", 1234, 34567890, [], None),
            (
                "a-destination-with-a-long-name",
                "managed",
                "reports.example.with-a-long-id.2026-06-04",
                "2026-06-04T23:58:00Z",
                12,
                345,
                [path("", "reports", "x"), path("", "daily", "y")],
                "host7, process 4711",
            ),
            ("new", "empty", None, None, 0, 0, [], None),
            ("odd", "unmanaged", None, None, None, None, None, None),
        )
    ]
}

PRUNE = {
    "pipeline_id": "reports",
    "destination_id": "archive",
    "status": "planned",
    "reason": None,
    "message": "1 publication is older than 90 days and not kept",
    "deletes": [
        {"path": "2026-01.html", "updated_at": "2026-01-04T12:00:00Z", "size": 12345},
        {"path": "data/2026-01 figures.csv", "updated_at": "2026-01-04T12:00:00Z", "size": 123},
    ],
    "kept": 12,
    "failed": [],
}

RECONCILE = {
    "pipeline_id": "reports",
    "destination_id": "archive",
    "status": "planned",
    "reason": None,
    "message": "1 recorded output is missing",
    "missing": [path("index.html", "reports", "archive")],
    "unmanaged": ["notes.txt"],
}


def plan_of(document: dict[str, Any]) -> Plan:
    """The plan behind ``PLAN``: sizes, and that ``index.html`` is there already."""
    outputs = document["results"][0]["outputs"]
    recorded = outputs["written"] + outputs["unchanged"] + outputs["retained"]
    time = timestamp_of(NOW)
    records = tuple(record(name, 1000 + i, time) for i, name in enumerate(recorded))
    state = State(2, StateMode.SINGLE_OWNER, time, time, time, (), records)
    deletes = tuple(Entry(name, EntryKind.FILE, 5 << 20) for name in outputs["deleted"])
    return Plan(Action.REPLACE, Reason.DESTINATION_OLDER, state, (), (), (), deletes, ("index.html",), False, None)


def record(name: str, size: int, time: Timestamp) -> OutputRecord:
    source = SourceIdentity("weekly", "sha256:" + "0" * 64, time)
    digest = "sha256:" + "0" * 64
    return OutputRecord(name, OutputKind.SOURCE, name, None, None, digest, size, time, time, OWNER, source)


Render = Callable[[dict[str, Any], View], list[str]]
REPORTS: dict[str, tuple[Render, dict[str, Any]]] = {
    "run": (render_run, RUN),
    "plan": (render_plan, PLAN),
    "status": (render_status, STATUS),
    "prune": (render_prune, PRUNE),
    "reconcile": (render_reconcile, RECONCILE),
}


def rendered(name: str, style: Style, verbose: int = 0) -> str:
    render, document = REPORTS[name]
    return text_of(render(document, view(style, verbose, {OWNER: plan_of(PLAN)})))


def text_of(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("where", ["terminal", "pipe"])
def test_a_report_reads_as_it_was_approved(name, where):
    shown = rendered(name, TERMINAL if where == "terminal" else PIPE)
    assert shown == (GOLDEN / f"{name}.{where}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_fits_eighty_columns(name):
    assert max(columns(line) for line in rendered(name, TERMINAL).splitlines()) <= 80


@pytest.mark.parametrize("name", REPORTS)
def test_colour_is_never_the_only_sign(name):
    """Without its colours a report has the same words."""
    import re

    coloured = rendered(name, Style(color=True, width=80))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == rendered(name, TERMINAL)
    assert "\x1b[" in coloured


@pytest.mark.parametrize("name", REPORTS)
def test_a_terminal_without_unicode_gets_ascii(name):
    assert rendered(name, Style(symbols=False, width=80)).isascii()


def test_deletions_come_first_and_every_one_is_shown():
    """Fault row 9."""
    lines = [line.split() for line in rendered("plan", TERMINAL).splitlines()]
    listed = [line[2] for line in lines if line[:1] and line[0] in "-+~="]
    assert listed[: len(DELETED)] == DELETED


def test_only_what_stays_as_it_is_is_shortened():
    shown = rendered("plan", TERMINAL)
    assert "… and 31 more unchanged (-v shows all)" in shown
    assert all(name in rendered("plan", TERMINAL, verbose=1) for name in UNCHANGED)


def test_what_is_new_and_what_is_replaced_are_told_apart():
    lines = [line.split()[:3] for line in rendered("plan", PIPE).splitlines()]
    assert ["+", "new", "data/figures.csv"] in lines
    assert ["~", "replace", "index.html"] in lines


def test_a_hundred_conflicts_are_a_hundred_lines():
    """Fault row 42: each with its owner."""
    conflicts = [path(f"{i}.html", "weekly", "archive") for i in range(100)]
    shown = render_run({"command": "run", "results": [result("a", "conflict", conflicts=conflicts)]}, view())
    assert sum("owned by weekly/archive" in line for line in shown) == 100


def test_a_primary_url_is_clickable_where_the_terminal_can():
    shown = text_of(render_run(RUN, view(Style(links=True, width=80))))
    assert "\x1b]8;;https://reports.example.com/archive/index.html\x1b\\" in shown


def test_every_path_of_a_publication_is_shown_on_request():
    assert "+ written  new.html" in rendered("run", PIPE, verbose=1)
    assert "+ written" not in rendered("run", PIPE)


def test_a_dry_run_says_that_nothing_was_changed():
    assert render_plan(PLAN | {"command": "run"}, view())[-1] == "Nothing was changed: this was a dry run."


def test_a_plan_that_refuses_claims_no_changes_to_make():
    shown = render_plan({"command": "plan", "results": [result("a", "conflict", reason="would_empty")]}, view())
    assert shown == ["▲ reports/a  conflict  would empty"]


def test_applied_repairs_speak_in_the_past():
    assert "removed from the state (1):" in text_of(render_reconcile(RECONCILE | {"status": "repaired"}, view()))
    assert "2 files deleted, 12.2 KiB; 12 kept" in text_of(render_prune(PRUNE | {"status": "pruned"}, view()))
