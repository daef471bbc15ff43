"""The dialect against the official example suites; every exception is listed with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distributor.transforms.pages.commonmark import to_html
from distributor.transforms.pages.frontmatter import split_front_matter
from tests.transforms.making import page

DATA = Path(__file__).with_name("data")
COMMONMARK = json.loads((DATA / "commonmark-0.31.2.json").read_text())
GFM = json.loads((DATA / "gfm-0.29.json").read_text())

BARE_LINKS = "GitHub's autolink extension links bare addresses; plain CommonMark shows them as text"
NEWER_COMMENTS = "CommonMark 0.31 takes HTML comments as browsers do; GFM 0.29 is older"
TAGS_SANITISED = "disallowed tags are dropped by the sanitiser that follows, not escaped by the parser"
TASKS = "task lists are marked 'disabled' in the suite itself; GitHub's own tests leave them out"

COMMONMARK_EXCEPTIONS = {602: BARE_LINKS, 608: BARE_LINKS, 611: BARE_LINKS, 612: BARE_LINKS}
GFM_EXCEPTIONS = {
    279: TASKS, 280: TASKS, 610: BARE_LINKS, 616: BARE_LINKS, 619: BARE_LINKS, 620: BARE_LINKS,
    645: NEWER_COMMENTS, 646: NEWER_COMMENTS, 653: TAGS_SANITISED,
}  # fmt: skip


def test_all_examples_of_both_suites_are_here() -> None:
    assert (len(COMMONMARK), len(GFM)) == (652, 673)


@pytest.mark.parametrize(
    ("examples", "exceptions"), [(COMMONMARK, COMMONMARK_EXCEPTIONS), (GFM, GFM_EXCEPTIONS)], ids=["commonmark", "gfm"]
)
def test_the_suite_passes_but_for_exactly_the_listed_exceptions(
    examples: list[dict[str, object]], exceptions: dict[int, str]
) -> None:
    failed = {e["example"] for e in examples if to_html(str(e["markdown"])) != e["html"]}
    assert failed == set(exceptions)


@pytest.mark.parametrize("examples", [COMMONMARK, GFM], ids=["commonmark", "gfm"])
def test_no_example_is_taken_for_front_matter(examples: list[dict[str, object]]) -> None:
    assert [e["example"] for e in examples if split_front_matter(str(e["markdown"]), "a.md")[0].lines] == []


@pytest.mark.parametrize("examples", [COMMONMARK, GFM], ids=["commonmark", "gfm"])
def test_every_example_makes_a_page(examples: list[dict[str, object]]) -> None:
    assert all(page(str(e["markdown"])).main for e in examples)
