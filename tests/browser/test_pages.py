"""Pages as their readers meet them: accessible, readable at any width, usable by keyboard, ready for paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from time import sleep

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site
from tests.transforms.making import copied, make, rendered
from tests.transforms.test_golden import CASES, FILES, PLAN

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDTHS = {"phone": 360, "tablet": 800, "desktop": 1400}
DOT = b"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect width='8' height='8' fill='teal'/></svg>"


def until(true: Callable[[], bool]) -> None:
    """Wait, up to the test's own time limit, for what a page does by and by."""
    while not true():
        sleep(0.02)


def built(name: str) -> bytes:
    transform, source, output = CASES[name]
    return make(transform, FILES, source, output, plan=PLAN).data


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:  # the server outlives the page
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    shown = context.new_page()
    errors: list[str] = []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield shown
    context.close()
    assert [text for text in errors if "404" not in text] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_axe_finds_nothing(browser: Browser, site: Site, name: str, width: str, scheme: str) -> None:
    """WCAG 2.2 AA as far as a program can tell."""
    context = browser.new_context(viewport={"width": WIDTHS[width], "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    shown = context.new_page()
    shown.goto(site({"p.html": built(name)}) + "/p.html")
    found = Axe().run(shown, options={"runOnly": WCAG}).response["violations"]
    assert [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]] == []
    context.close()


@pytest.mark.parametrize("width", [320, 360, 800, 1400])
@pytest.mark.parametrize("name", CASES)
def test_no_page_scrolls_sideways(page: Page, site: Site, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(site({"p.html": built(name)}) + "/p.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_page_asks_for_nothing_but_the_bundle_s_own_images(page: Page, site: Site) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    address = site({"report.html": built("report"), "images/latency.png": DOT})
    page.goto(f"{address}/report.html")
    assert sorted(asked) == [f"{address}/images/latency.png", f"{address}/report.html"]


def test_a_page_opened_from_a_folder_shows_its_images(page: Page, site: Site, tmp_path: object) -> None:
    data = make(
        "markdown_to_html",
        {"a.md": "![dot](dot.svg)", "dot.svg": DOT},
        plan=(rendered("a.md", "a.html"), copied("dot.svg")),
    )
    site({"a.html": data.data, "dot.svg": DOT})
    page.goto(f"file://{tmp_path}/a.html")
    assert page.evaluate("document.querySelector('article img').naturalWidth") == 8


def test_the_keyboard_s_first_stop_skips_to_the_text(page: Page, site: Site) -> None:
    page.goto(site({"p.html": built("report")}) + "/p.html")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_only_what_scrolls_is_a_stop_for_the_keyboard(page: Page, site: Site) -> None:
    wide = "|" + "a long heading|" * 40 + "\n|" + "-|" * 40 + "\n|" + "x|" * 40 + "\n"
    page.goto(site({"p.html": make("markdown_to_html", {"a.md": f"|a|\n|-|\n|b|\n\n{wide}"}).data}) + "/p.html")
    assert page.locator(".scroll").evaluate_all("boxes => boxes.map(box => box.tabIndex)") == [-1, 0]
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    box = page.locator(".scroll").nth(1)
    until(lambda: box.evaluate("box => box.scrollLeft") > 0)


def test_contents_stand_beside_the_text_and_follow_it(page: Page, site: Site) -> None:
    long = "# T\n\n" + "".join(f"## Part {number}\n\n" + "text\n\n" * 30 for number in range(5))
    page.goto(site({"p.html": make("markdown_to_html", {"a.md": long}).data}) + "/p.html")
    expect(page.locator(".contents details")).to_have_attribute("open", "")
    page.locator("#part-3").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#part-3').scrollIntoView()")
    expect(page.locator(".contents [aria-current]")).to_have_text("Part 3")
    expect(page.locator(".contents summary")).to_be_in_viewport()


def test_contents_fold_where_there_is_no_room(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(site({"p.html": built("report")}) + "/p.html")
    expect(page.locator(".contents details")).not_to_have_attribute("open", "")
    page.locator(".contents summary").click()
    page.get_by_role("link", name="Actions", exact=True).click()
    expect(page.locator(".contents details")).not_to_have_attribute("open", "")
    expect(page.locator("#actions")).to_be_in_viewport()


def test_code_is_copied_as_it_was_written(browser: Browser, site: Site) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    shown = context.new_page()
    source = "if a < 1:\n\tprint('&amp;')\n"
    shown.goto(site({"p.html": make("markdown_to_html", {"a.md": f"```python\n{source}```\n"}).data}) + "/p.html")
    shown.locator(".code").hover()
    shown.get_by_role("button", name="Copy").click()
    expect(shown.get_by_role("button", name="Copied")).to_be_visible()
    assert shown.evaluate("navigator.clipboard.readText()") == source
    context.close()


def test_a_page_without_scripts_lacks_nothing_to_read(browser: Browser, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    shown = context.new_page()
    shown.goto(site({"p.html": built("latency")}) + "/p.html")
    expect(shown.locator("tbody tr")).to_have_count(36)
    expect(shown.get_by_role("button")).to_have_count(0)
    context.close()


def test_paper_shows_text_without_its_tools(page: Page, site: Site) -> None:
    page.goto(site({"p.html": built("report")}) + "/p.html")
    page.emulate_media(media="print")
    for hidden in (".contents", ".copy", ".anchor", ".skip"):
        assert not page.locator(hidden).first.is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_reduced_motion_is_honoured(browser: Browser, site: Site) -> None:
    context = browser.new_context(reduced_motion="reduce")
    shown = context.new_page()
    shown.goto(site({"p.html": built("report")}) + "/p.html")
    assert shown.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    context.close()


CSV = "name,amount,day\n" + "".join(
    f"n{number % 7},{(number * 37) % 1000}.5,2026-01-{1 + number % 28:02}\n" for number in range(1234)
)


@pytest.fixture
def table(page: Page, site: Site) -> Page:
    page.goto(site({"t.html": make("csv_to_html", {"t.csv": CSV}).data}) + "/t.html")
    return page


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"tbody td:nth-child({number})").all_text_contents()


def test_a_table_is_paged(table: Page) -> None:
    expect(table.locator("tbody tr")).to_have_count(100)
    expect(table.get_by_text("Page 1 of 13")).to_be_visible()
    table.get_by_role("button", name="Next").click()
    expect(table.get_by_text("Page 2 of 13")).to_be_visible()
    assert column(table, 1)[0] == "n2"
    expect(table.get_by_role("button", name="Previous")).to_be_enabled()


def test_a_column_sorts_by_value_both_ways_and_says_so(table: Page) -> None:
    table.get_by_role("button", name="amount").click()
    expect(table.locator("th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    numbers = [float(text) for text in column(table, 2)]
    assert numbers == sorted(numbers)
    assert numbers[0] == 0.5
    table.get_by_role("button", name="amount").click()
    expect(table.locator("th[aria-sort]")).to_have_attribute("aria-sort", "descending")
    assert column(table, 2)[0] == "999.5"


def test_rows_are_filtered_by_all_words(table: Page) -> None:
    table.get_by_role("searchbox", name="Filter rows").fill("N3 2026-01-11")
    expect(table.locator(".count")).to_have_text(re.compile(r"^\d+ of 1,234 rows$"))
    assert set(column(table, 1)) == {"n3"}
    assert set(column(table, 3)) == {"2026-01-11"}
    table.get_by_role("searchbox", name="Filter rows").fill("")
    expect(table.locator(".count")).to_have_text("1,234 rows")


def test_sorting_works_by_keyboard(table: Page) -> None:
    table.get_by_role("button", name="day").focus()
    table.keyboard.press("Enter")
    expect(table.locator("th[aria-sort='ascending']")).to_have_text("day")
    assert column(table, 3)[0] == "2026-01-01"
