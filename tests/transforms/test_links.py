"""Links between the files of a bundle lead to where the plan puts them (H3, fault row 69)."""

from __future__ import annotations

import re

import pytest

from distributor.transforms.base import PlannedPath
from tests.transforms.making import Made, copied, make, rendered

FILES = {
    "report.md": b"",
    "notes/deep/other.md": b"",
    "notes/read me.md": b"",
    "50%.md": b"",
    "data/raw.csv": b"",
    "images/a b.png": b"",
    "hidden.md": b"",
    "analysis.ipynb": b"",
}
PLAN = (
    rendered("report.md", "report.html"),
    rendered("notes/deep/other.md", "notes/deep/other.html"),
    rendered("notes/read me.md", "notes/read me.html"),
    rendered("50%.md", "50%.html"),
    copied("data/raw.csv"),
    rendered("data/raw.csv", "data/raw.html", "csv_to_html"),
    copied("images/a b.png"),
    rendered("analysis.ipynb", "out/analysis.html", "notebook_to_html"),
    copied("analysis.ipynb"),
    PlannedPath("report.md.gz", "report.md", "gzip", None),
)


def linked(markdown: str, source: str = "report.md", output: str = "report.html") -> Made:
    return make("markdown_to_html", {**FILES, source: markdown.encode()}, source, output, plan=PLAN)


def address(markdown: str, source: str = "report.md", output: str = "report.html") -> str:
    found = re.search(r'(?:href|src)="([^"]*)"', linked(markdown, source, output).main)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("notes/deep/other.md", "notes/deep/other.html"),
        ("./notes/deep/../deep/other.md", "notes/deep/other.html"),
        ("notes/deep/other.md?a=b&c#frag", "notes/deep/other.html?a=b&amp;c#frag"),
        ("notes/read%20me.md#x", "notes/read%20me.html#x"),
        ("<notes/read me.md>", "notes/read%20me.html"),
        ("50%25.md", "50%25.html"),
        ("/notes/deep/other.md", "notes/deep/other.html"),
        ("report.md#here", "report.html#here"),
        ("analysis.ipynb", "out/analysis.html"),
        ("data/raw.csv", "data/raw.csv"),
        ("data/raw.html", "data/raw.html"),
        ("data/", "data/"),
        ("#here", "#here"),
        ("?q=1", "?q=1"),
        ("https://example.com/report.md", "https://example.com/report.md"),
        ("//example.com/report.md", "//example.com/report.md"),
        ("mailto:a@example.com", "mailto:a@example.com"),
        ("../outside.md", "../outside.md"),
        ("/elsewhere/on/the/host", "/elsewhere/on/the/host"),
    ],
)
def test_a_link_leads_where_its_file_stands(written: str, leads_to: str) -> None:
    made = linked(f"[x]({written})")
    assert f'href="{leads_to}"' in made.main
    assert made.warnings == []


def test_links_are_relative_to_the_page_not_to_its_source() -> None:
    assert address("[x](../../report.md)", "notes/deep/other.md", "pages/o.html") == "../report.html"


def test_an_image_follows_when_the_page_moves() -> None:
    assert address("![x](../../images/a%20b.png)", "notes/deep/other.md", "notes/deep/other.html") == (
        "../../images/a%20b.png"
    )


def test_raw_html_links_and_images_follow_too() -> None:
    assert address('<img src="../../images/a b.png">', "notes/deep/other.md", "o.html") == "images/a%20b.png"
    assert address('<a href="../../report.md">x</a>', "notes/deep/other.md", "o.html") == "report.html"


def test_a_link_to_a_file_that_is_not_published_is_told_with_its_line() -> None:
    made = linked("---\ntitle: x\n---\n\ntext\n\n- [a](hidden.md#part)\n")
    assert made.warnings == ["report.md:7: links to 'hidden.md', which this destination does not publish"]
    assert 'href="hidden.md#part"' in made.main


def test_a_link_to_nothing_is_told_once_with_its_first_line() -> None:
    made = linked("a\n\n[b](gone.md) [c](gone.md)\n\n![d](gone.md)")
    assert made.warnings == ["report.md:3: links to 'gone.md', which is not in the bundle"]


def test_a_reference_link_is_told_where_it_is_used() -> None:
    assert linked("a\n\n[b][r]\n\n\n[r]: gone.md\n").warnings == [
        "report.md:3: links to 'gone.md', which is not in the bundle"
    ]


def test_a_dead_link_in_raw_html_is_told_with_its_line() -> None:
    assert linked('a\n\n<div>\n<img src="gone.png"></div>\n').warnings == [
        "report.md:4: links to 'gone.png', which is not in the bundle"
    ]


def test_every_printable_character_survives_the_way_into_an_address() -> None:
    """Fault row 51."""
    name = "".join(chr(code) for code in range(32, 127) if chr(code) not in "/\\<>") + "é.md"
    plan = (rendered("a.md", "a.html"), rendered(name, name + ".html"))
    escaped = re.sub(r"[ -/:-@\[-`{-~é]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), name)
    made = make("markdown_to_html", {"a.md": f"[x]({escaped})", name: ""}, "a.md", plan=plan)
    found = re.search(r'href="([^"]*)"', made.main)
    assert found is not None
    from html import unescape
    from urllib.parse import unquote

    assert unquote(unescape(found[1])) == name + ".html"
    assert made.warnings == []
