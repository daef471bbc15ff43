"""What a Markdown page holds: structure, dialect, front matter, options, refusals."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from distributor.errors import TransformError
from distributor.transforms import markdown_to_html
from tests.transforms.making import make, page

GOLDEN = Path(__file__).with_name("golden")


def title_of(text: str) -> str:
    found = re.search("<title>(.*?)</title>", text)
    assert found is not None
    return found[1]


def test_the_page_loads_nothing_by_itself() -> None:
    assert not re.search(r"<link|@import|url\(|<script src|<iframe", page("# A\n\n![x](a.png)\n").text)


def test_the_policy_allows_our_own_script_and_style_by_hash_and_no_other() -> None:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', page("# A").text)
    assert found is not None
    policy = unescape(found[1])
    assert policy.startswith("default-src 'none'; ")
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}';", policy)
    assert re.search(r"style-src 'sha256-[A-Za-z0-9+/=]{44}';", policy)
    assert "unsafe" not in policy


def test_the_footer_names_source_and_creation_time() -> None:
    text = page("# A").text
    assert "<bdi>reports.example</bdi>" in text
    assert '<time datetime="2026-06-04T11:55:00Z">2026-06-04 11:55 UTC</time>' in text


@pytest.mark.parametrize(
    ("markdown", "title"),
    [
        ("---\ntitle: Given\n---\n# Heading\n", "Given"),
        ("text\n\n# First\n\n# Second\n", "First"),
        ("## Only a *second* level\n", "Only a second level"),
        ("no heading at all\n", "page"),
        ("<h1 align=center>Raw &amp; ready</h1>\n", "Raw &amp; ready"),
    ],
)
def test_the_title_is_the_best_the_file_offers(markdown: str, title: str) -> None:
    assert title_of(page(markdown).text) == title


def test_front_matter_becomes_header_language_and_description() -> None:
    made = page("---\ntitle: Bericht\ndate: 2026-06-04\ndescription: Kurz <b>gesagt</b>\nlang: de\n---\nHallo\n")
    assert '<html lang="de" dir="ltr">' in made.text
    assert '<meta name="description" content="Kurz &lt;b&gt;gesagt&lt;/b&gt;">' in made.text
    assert '<p class="date">2026-06-04</p>\n<h1>Bericht</h1>' in made.main


def test_a_right_to_left_language_turns_the_page() -> None:
    assert '<html lang="he" dir="rtl">' in page("---\nlang: he\n---\nשלום\n").text


def test_a_heading_of_the_text_is_not_shown_twice() -> None:
    assert page("---\ntitle: A\n---\n# A\n").main.count("<h1") == 1


def test_broken_front_matter_names_file_and_line() -> None:
    with pytest.raises(TransformError, match=r"^page\.md:3: front matter is not valid YAML"):
        page("---\ntitle: a\nb: c: d\n---\ntext\n")


def test_anchors_are_those_of_github_duplicates_included() -> None:
    made = page("# A & B, c_d!\n\n## Ünï — 日本\n\n## Same\n\n## Same\n\n## Same-1\n")
    assert re.findall(r'<h\d id="([^"]*)"', made.main) == ["a--b-c_d", "ünï--日本", "same", "same-1", "same-1-1"]


def test_an_anchor_does_not_repeat_an_id_of_the_text() -> None:
    assert '<h2 id="usage-1">' in page('<a id="usage"></a>\n\n## Usage\n').main


def test_contents_list_two_levels_below_the_title() -> None:
    text = page("# T\n\n## One\n\n### Two & <b>bold</b>\n\n#### Deep\n\n## Three\n").text
    assert re.findall(r'<li(?: class="sub")?><a href="#([^"]*)">', text) == ["one", "two--bold", "three"]
    assert "Two &amp; bold</a>" in text


def test_few_headings_need_no_contents() -> None:
    assert "<nav" not in page("# T\n\n## One\n\n## Two\n").text


def test_contents_can_be_switched_off() -> None:
    assert "<nav" not in page("## A\n\n## B\n\n## C\n", contents=False).text


def test_code_is_coloured_and_escaped() -> None:
    main = page("```python\nif a < 1: x = '<b>'\n```\n").main
    assert '<span class="tk">if</span>' in main.replace("if </span>", "if</span>")
    assert "&lt;b&gt;" in main
    assert "<b>" not in main


def test_code_of_an_unknown_language_stays_plain() -> None:
    main = page("```brainfog\na<b\n```\n").main
    assert '<div class="code" data-language="brainfog"><pre tabindex="0"><code>a&lt;b\n</code>' in main


def test_direction_overrides_in_code_are_shown() -> None:
    assert '<span class="bidi">U+202E</span>' in page("```c\n/* \u202e */\n```\n").main


def test_math_becomes_mathml_with_its_source() -> None:
    main = page("inline $x^2$ and\n\n$$\n\\frac{1}{2}\n$$\n\n```math\na < b\n```\n").main
    assert main.count("<math") == 3
    assert '<annotation encoding="application/x-tex">x^2</annotation>' in main
    assert main.count('<math display="block">') == 2


@pytest.mark.parametrize("tex", [r"\newcommand{\a}{\a\a}\a", "{" * 900, r"\begin{matrix}", "x_1_2", "a" * 6000])
def test_a_formula_that_cannot_be_set_is_shown_as_code(tex: str) -> None:
    main = page(f"$${tex}$$").main
    assert '<code class="tex"' in main
    assert "<math" not in main


def test_markup_in_formulas_is_text() -> None:
    main = page(r"$\text{<img src=x onerror=alert(1)>} \href{javascript:alert(1)}{x}$").main
    assert "<img" not in main
    assert "href=" not in main.replace("\\href", "")


def test_tasks_have_names_for_screen_readers() -> None:
    main = page("- [x] a\n- [ ] b\n").main
    assert '<span class="task done" role="img" aria-label="done"></span> a' in main
    assert '<span class="task open" role="img" aria-label="to do"></span> b' in main
    assert "<input" not in main


def test_tables_scroll_and_can_be_reached_by_keyboard() -> None:
    assert '<div class="scroll" role="region" aria-label="Table 1" tabindex="0"><table>' in page("|a|\n|-|\n|b|\n").main


def test_alerts_footnotes_and_definition_lists_are_known() -> None:
    main = page("> [!CAUTION]\n> x\n\na[^1]\n\n[^1]: note\n\nterm\n: meaning\n").main
    assert '<div class="markdown-alert markdown-alert-caution">' in main
    assert '<section class="footnotes" aria-label="Footnotes">' in main
    assert "<dt>term</dt>\n<dd>meaning</dd>" in main


def test_images_of_other_hosts_become_links_with_one_warning() -> None:
    made = page("![badge](https://img.example/a.svg) [![b](https://img.example/b.svg)](https://b.example)\n")
    assert "<img" not in made.main
    assert '<a class="remote" href="https://img.example/a.svg">badge</a>' in made.main
    assert '<a href="https://b.example"><span class="remote">b</span></a>' in made.main
    assert made.warnings == ["page.md: 2 images of other hosts became links; put images into the bundle to show them"]


def test_raw_html_is_sanitised() -> None:
    main = page(
        '<details open><summary>s</summary>x</details><p onclick="a()" style="x">y</p><script>z()</script>'
    ).main
    assert '<details open="">' in main
    assert "<p>y</p>" in main
    assert "z()" not in main


def test_raw_html_can_be_escaped() -> None:
    assert "&lt;b&gt;x&lt;/b&gt;" in page("<b>x</b>\n", raw_html="escape").main


def test_raw_html_can_be_allowed_with_what_it_loads() -> None:
    made = page("<video autoplay></video>\n<script>run()</script>\n", raw_html="allow")
    assert "<script>run()</script>" in made.main
    assert "default-src" not in made.text


def test_mermaid_is_code_by_default() -> None:
    assert '<div class="code" data-language="mermaid">' in page("```mermaid\ngraph TD; A-->B\n```\n").main


def test_css_comes_after_ours_and_into_the_policy() -> None:
    plain, styled = page("a"), page("a", css="body { color: red }")
    assert styled.text.index("body { color: red }") > styled.text.index(":root")
    policy = re.compile("style-src [^;]*")
    assert policy.search(styled.text) != policy.search(plain.text)


def test_a_template_gets_the_page_and_escapes_what_is_text() -> None:
    template = "<title>{{ title }}</title>{{ body }}|{{ source.id }}|{{ source.created }}|{{ lang }}|{{ policy }}"
    text = page("# a<b\n", template=template).text
    assert text.startswith("<title>a&lt;b</title>")
    assert '<h1 id="ab">' in text
    assert "|reports.example|2026-06-04T11:55:00Z|en|default-src" in text


@pytest.mark.parametrize("markdown", [(GOLDEN / "report.md").read_text(), "x", "# A\n\n<b>&\n"])
def test_the_example_template_is_the_built_in_page(markdown: str) -> None:
    template = (Path(__file__).parents[2] / "examples" / "page.html.j2").read_text()
    assert unescape(page(markdown, template=template).text) == unescape(page(markdown).text)


def test_a_template_that_fails_names_the_file() -> None:
    with pytest.raises(TransformError, match=r"^page\.md: the template can't show this page: 'nothing' is undefined"):
        page("a", template="{{ nothing }}")


def test_a_template_cannot_leave_its_sandbox() -> None:
    with pytest.raises(TransformError):
        page("a", template="{{ ''.__class__.__mro__[1].__subclasses__() }}")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"raw_htm": "allow"}, "raw_htm is not an option of this transform; did you mean raw_html?"),
        ({"raw_html": "yes"}, "raw_html must be sanitize, escape or allow, not 'yes'"),
        ({"contents": 1}, "contents must be true or false, not 1"),
        ({"lang": "x y"}, "lang must be a language tag such as en or pt-BR, not 'x y'"),
        ({"css": "</STYLE>"}, "css must not close its style element, not '</STYLE>'"),
        (
            {"template": "a\n{% if %}"},
            "template has a fault in line 2: Expected an expression, got 'end of statement block'",
        ),
        ({"mermaid_command": "mmdc -i"}, "mermaid_command must be a list of words, the program first, not 'mmdc -i'"),
    ],
)
def test_faulty_options_are_told_in_a_sentence(options: dict[str, object], fault: str) -> None:
    (told,) = markdown_to_html.check_options(options)
    assert told.startswith(fault)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"ok\nnot \xff\n", "page.md:2: is not UTF-8: byte 0xff can't be read"),
        (b"\xef\xbb\xbfok\n\xe4\n", "page.md:2: is not UTF-8"),
        (b"\xff\xfea\x00\x00\xd8", "page.md:1: is not UTF-16-LE"),
    ],
)
def test_undecodable_bytes_name_file_and_line(data: bytes, fault: str) -> None:
    with pytest.raises(TransformError) as caught:
        page(data)
    assert str(caught.value).startswith(fault)


def test_a_byte_order_mark_and_carriage_returns_leave_no_trace() -> None:
    assert page(b"\xef\xbb\xbf# A\r\n\r\nb\r\n").main == page("# A\n\nb\n").main
    assert page("# A\n".encode("utf-16")).main == page("# A\n").main


def test_output_depends_on_nothing_but_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    before = page("# A\n\n$x$\n").data
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    monkeypatch.setenv("LANG", "tr_TR.UTF-8")
    assert page("# A\n\n$x$\n").data == before


def test_folders_of_source_and_output_may_differ() -> None:
    made = make("markdown_to_html", {"a/b.md": "# A"}, output="x/y/z.html")
    assert made.warnings == []
