"""Whole pages against stored ones: ``python -m tests.transforms.test_golden`` stores them anew.

A change of a stored page is a change of bytes for users: raise the transform's VERSION with it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from distributor.transforms.base import PlannedPath
from tests.transforms.making import copied, make, rendered

GOLDEN = Path(__file__).with_name("golden")
FILES = {
    "report.md": (GOLDEN / "report.md").read_bytes(),
    "analysis.ipynb": (GOLDEN / "analysis.ipynb").read_bytes(),
    "data/latency.csv": (GOLDEN / "latency.csv").read_bytes(),
    "images/latency.png": b"",
    "incidents/checkout.md": b"---\ntitle: Checkout incident\ndate: 2026-06-02\n---\n## Timeline\n",
    "docs/runbook.md": b"# Runbook\n",
}
PLAN = (
    rendered("report.md", "report.html"),
    rendered("incidents/checkout.md", "incidents/checkout.html"),
    rendered("analysis.ipynb", "analysis.html", "notebook_to_html"),
    rendered("data/latency.csv", "data/latency.html", "csv_to_html"),
    copied("data/latency.csv"),
    copied("images/latency.png"),
    PlannedPath("index.html", "analysis.ipynb", "index_page", None),
)
CASES = {
    "report": ("markdown_to_html", "report.md", "report.html"),
    "analysis": ("notebook_to_html", "analysis.ipynb", "analysis.html"),
    "latency": ("csv_to_html", "data/latency.csv", "data/latency.html"),
    "index": ("index_page", tuple(sorted(FILES)), "index.html"),
}


def build(name: str) -> str:
    transform, source, output = CASES[name]
    return make(transform, FILES, source, output, plan=PLAN).main + "\n"


@pytest.mark.parametrize("name", CASES)
def test_the_page_is_the_stored_one(name: str) -> None:
    assert build(name) == (GOLDEN / f"{name}.main.html").read_text()


@pytest.mark.parametrize("name", CASES)
def test_a_page_is_the_same_bytes_every_time(name: str) -> None:
    transform, source, output = CASES[name]
    assert len({make(transform, FILES, source, output, plan=PLAN).data for _ in range(3)}) == 1


if __name__ == "__main__":
    for case in CASES:
        (GOLDEN / f"{case}.main.html").write_text(build(case))
