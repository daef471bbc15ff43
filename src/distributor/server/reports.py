"""Run reports of single destinations, and one upload's report out of them (interfaces section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

STATUSES = ("published", "planned", "skipped", "conflict", "locked", "failed")
GOOD = frozenset(("published", "skipped"))
TRANSIENT = frozenset(("storage_failed", "locked"))
"""Reasons worth another try: the destination may recover. A conflict never does by itself."""


def combined(reports: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """Return one run report over the reports of an upload's destinations."""
    summary = dict.fromkeys(STATUSES, 0)
    results: list[object] = []
    for report in reports:
        results += report["results"]
        for status, count in report["summary"].items():
            summary[status] = summary.get(status, 0) + count
    return {
        "report_version": 1,
        "command": "run",
        "dry_run": False,
        "started_at": min(report["started_at"] for report in reports),
        "finished_at": max(report["finished_at"] for report in reports),
        "results": results,
        "summary": summary,
        "error": next((report["error"] for report in reports if report["error"]), None),
    }


def is_good(report: Mapping[str, Any]) -> bool:
    """Whether a report says that everything asked for is now so."""
    return not report["error"] and all(result["status"] in GOOD for result in report["results"])


def is_transient(report: Mapping[str, Any]) -> bool:
    """Whether what failed may well succeed later, unchanged."""
    bad = [result for result in report["results"] if result["status"] not in GOOD]
    return not report["error"] and bool(bad) and all(result["reason"] in TRANSIENT for result in bad)


def failure_report(kind: str, message: str, at: str) -> dict[str, object]:
    """Return the report of a run that could not get as far as a result."""
    return {
        "report_version": 1,
        "command": "run",
        "dry_run": False,
        "started_at": at,
        "finished_at": at,
        "results": [],
        "summary": dict.fromkeys(STATUSES, 0),
        "error": {"kind": kind, "message": message, "details": []},
    }
