"""Index pages and precompressed twins."""

from __future__ import annotations

import gzip

import brotli
import pytest

from distributor.errors import TransformError
from distributor.transforms.rendering import load
from tests.transforms.making import copied, make, rendered

FILES = {
    "b/old.md": "---\ntitle: Old & <b>bold</b>\ndate: 2026-01-01\n---\n",
    "b/new.md": "---\ndate: 2026-02-01\n---\n# New\n",
    "b/chart.png": b"x" * 1_234_567,
    "unpublished.md": "# Secret\n",
    "broken.md": b"\xff",
    "data.csv": "a\n",
}
PLAN = (
    rendered("b/old.md", "b/old.html"),
    rendered("b/new.md", "b/new.html"),
    rendered("b/new.md", "b/new.html.gz", "gzip"),
    copied("b/new.md"),
    copied("b/chart.png"),
    copied("broken.md"),
    copied("data.csv"),
    rendered("data.csv", "data.html", "csv_to_html"),
    rendered("b/chart.png", "index.html", "index_page"),
)


def index(output: str = "index.html", **options: object) -> str:
    return make("index_page", FILES, tuple(sorted(FILES)), output, plan=PLAN, **options).main


def test_files_are_grouped_by_folder_pages_first_where_there_are_some() -> None:
    main = index()
    assert main.index('href="data.html"') < main.index("<bdi>b</bdi></h2>") < main.index('href="b/new.html"')
    assert 'href="b/new.md"' not in main
    assert "new.html.gz" not in main


def test_dated_files_come_first_the_newest_on_top() -> None:
    main = index()
    assert main.index("b/new.html") < main.index("b/old.html") < main.index("b/chart.png")


def test_titles_dates_and_sizes_are_shown_as_text() -> None:
    main = index()
    assert "<bdi>Old &amp; &lt;b&gt;bold&lt;/b&gt;</bdi>" in main
    assert "<span>2026-01-01</span>" in main
    assert "<span>1.2 MB</span>" in main


def test_what_this_destination_does_not_publish_is_not_listed() -> None:
    assert "unpublished" not in index()


def test_a_file_that_cannot_be_a_page_is_listed_by_its_name() -> None:
    assert '<a href="broken.md"><bdi>broken.md</bdi></a>' in index()


def test_an_index_elsewhere_links_from_there() -> None:
    assert 'href="../b/chart.png"' in index("lists/all.html", title="All files")
    assert "<h1>All files</h1>" in index("lists/all.html", title="All files")


@pytest.mark.parametrize(("name", "expand"), [("gzip", gzip.decompress), ("brotli", brotli.decompress)])
def test_a_twin_expands_to_the_file(name: str, expand: object) -> None:
    data = b"report " * 1000
    twin = make(name, {"a.txt": data}, output="a.txt.x").data
    assert callable(expand)
    assert expand(twin) == data
    assert len(twin) < 100


@pytest.mark.parametrize("name", ["gzip", "brotli"])
def test_a_twin_is_the_same_bytes_every_time(name: str) -> None:
    assert make(name, {"a.txt": b"x"}).data == make(name, {"a.txt": b"x"}).data


def test_a_gzip_twin_holds_neither_time_nor_name() -> None:
    assert make("gzip", {"a.txt": b"x"}).data[3:8] == b"\0\0\0\0\0"


@pytest.mark.parametrize(
    ("name", "end", "expand"), [("gzip", "gz", gzip.decompress), ("brotli", "br", brotli.decompress)]
)
def test_a_twin_of_a_page_expands_to_the_page(name: str, end: str, expand: object) -> None:
    files = {"d/a.md": "# A\n\n[b](../b.md)", "b.md": ""}
    plan = (rendered("d/a.md", "d/a.html"), rendered("b.md", "b.html"), rendered("d/a.md", f"d/a.html.{end}", name))
    page = make("markdown_to_html", files, output="d/a.html", plan=plan, contents=False).data
    options = {"of": "markdown_to_html", "of_options": {"contents": False}}
    assert callable(expand)
    assert expand(make(name, files, output=f"d/a.html.{end}", plan=plan, **options).data) == page


def test_a_twin_of_a_page_fails_as_the_page_does() -> None:
    with pytest.raises(TransformError, match=r"^a\.md:1: is not UTF-8"):
        make("gzip", {"a.md": b"\xff"}, of="markdown_to_html")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"level": 10}, "level must be a whole number from 1 to 9, not 10"),
        ({"of": "index_page"}, "of must be a transform of single files, not 'index_page'"),
        ({"of": "markdown"}, "of must be the name of a transform: there is no transform 'markdown'"),
        ({"of_options": {"a": 1}}, "of_options needs of"),
        ({"of": "csv_to_html", "of_options": {"heder": True}}, "of_options: heder is not an option of this transform"),
    ],
)
def test_faulty_options_are_told_in_a_sentence(options: dict[str, object], fault: str) -> None:
    (told,) = load("gzip").check_options(options)
    assert told.startswith(fault)
