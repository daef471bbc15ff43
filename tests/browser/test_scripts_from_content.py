"""Nothing from content runs, loads or leaves the site: shown in a browser, with our policy and without it.

Without the policy the sanitiser stands alone, so that neither is leaned on.
"""

# ruff: noqa: E501
from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Page, Request

from tests.browser.conftest import Site
from tests.transforms.making import copied, make

Visit = Callable[[bytes], list[str]]
RUN = "window.pwned=1"
TAGS = [
    "<script>RUN</script>", "<SCRIPT/x>RUN</SCRIPT>", "<scr<script>ipt>RUN</script>", "<script src=/evil.js></script>",
    "<img src=x onerror=RUN>", "<img src='x'onerror='RUN'>", "<IMG SRC=/x ONERROR=RUN//", "<img src=x:x onerror=RUN>",
    '<img """><script>RUN</script>">', "<img src=# onmouseover=RUN>", "<image src=x onerror=RUN>",
    "<svg onload=RUN>", "<svg/onload=RUN>", "<svg><script>RUN</script></svg>", "<svg><animate onbegin=RUN attributeName=x>",
    "<svg><a xlink:href='javascript:RUN'><text>a</text></a></svg>", "<svg><foreignObject><body onload=RUN></svg>",
    "<svg><style><img src=x onerror=RUN></style></svg>", "<svg></p><style><a id='</style><img src=1 onerror=RUN>'>",
    "<math><mtext><table><mglyph><style><!--</style><img src=x onerror=RUN>-->",
    "<math><annotation-xml encoding='text/html'><script>RUN</script></annotation-xml></math>",
    "<math href='javascript:RUN'>click</math>", "<maction actiontype='statusline' xlink:href='javascript:RUN'>x</maction>",
    "<body onload=RUN>", "<body onpageshow=RUN>", "<iframe src='javascript:RUN'></iframe>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>", "<object data='javascript:RUN'></object>",
    "<embed src='javascript:RUN'>", "<frameset onload=RUN>", "<video><source onerror=RUN></video>",
    "<video src=x onerror=RUN></video>", "<audio src=x onerror=RUN></audio>", "<details open ontoggle=RUN>x</details>",
    "<input autofocus onfocus=RUN>", "<select autofocus onfocus=RUN>", "<textarea autofocus onfocus=RUN>",
    "<button popovertarget=x onclick=RUN>x</button>", "<form action='javascript:RUN'><input type=submit></form>",
    "<isindex type=image src=1 onerror=RUN>", "<marquee onstart=RUN>x</marquee>", "<style>@import '/evil.css';</style>",
    "<style>*{background:url(/evil.png)}</style>", "<link rel=stylesheet href=/evil.css>",
    "<link rel=import href=/evil.js>", "<meta http-equiv=refresh content='0;url=javascript:RUN'>", "<base href='javascript:RUN//'>",
    "<base href=//evil.example/>", "<table background=/evil.png><tr><td>x</td></tr></table>",
    "<div style='background:url(/evil.png)'>x</div>", "<p style='animation:x' onanimationstart=RUN>x</p>",
    "<a href='javascript:RUN'>x</a>", "<a href='JaVaScRiPt:RUN'>x</a>", "<a href=' javascript:RUN'>x</a>",
    "<a href='java&#x09;script:RUN'>x</a>", "<a href='java&#10;script:RUN'>x</a>", "<a href='&#106;avascript:RUN'>x</a>",
    "<a href='&#x6A;&#x61;vascript:RUN'>x</a>", "<a href='\x01javascript:RUN'>x</a>", "<a href='javascript&colon;RUN'>x</a>",
    "<a href='vbscript:RUN'>x</a>", "<a href='data:text/html,<script>opener.pwned=1</script>'>x</a>",
    "<a href='data:text/html;base64,PHNjcmlwdD5wd25lZD0xPC9zY3JpcHQ+'>x</a>", "<a href=x ping=/evil>x</a>",
    "<img src='data:text/html,<script>RUN</script>'>", "<img src='data:image/svg+xml,<svg onload=RUN>'>",
    "<img src=a srcset='/evil.png 1x'>", "<picture><source srcset=/evil.png><img src=a></picture>",
    "<noscript><p title='</noscript><img src=x onerror=RUN>'></noscript>", "<xmp><p title='</xmp><img src=x onerror=RUN>'></xmp>",
    "<title><img title='</title><img src=x onerror=RUN>'></title>", "<template><script>RUN</script></template>",
    "<!--><img src=x onerror=RUN>-->", "<!--[if IE]><script>RUN</script><![endif]-->", "<!-- --!><img src=x onerror=RUN> -->",
    "<![CDATA[><img src=x onerror=RUN>]]>", "<?xml-stylesheet href='javascript:RUN'?>", "<a id=querySelectorAll name=querySelectorAll>x</a>",
    "<img name=querySelectorAll><img name=querySelector><img name=body>", "<p id=main><p class=skip>x", "<dialog open onclose=RUN>x</dialog>",
    "<span data-math-style='inline'>\\text{</span><script>RUN</script>}</span>", "<code class='language-html'><script>RUN</script></code>",
    "<pre><code class='language-mermaid'>\"><img src=x onerror=RUN></code></pre>", "<section class=footnotes onclick=RUN>x</section>",
    "<h2 id='x\"><img src=x onerror=RUN>'>y</h2>", "<h2><img src=x alt='\"><script>RUN</script>' onerror=RUN></h2>",
    "<table><td title='\"><img src=x onerror=RUN>'>x</table>", "<input type=checkbox class='\"><script>RUN</script>'>",
]  # fmt: skip
MARKDOWN = [
    "[x](javascript:RUN)", "[x](JAVASCRIPT:RUN)", "[x](java&#x0A;script:RUN)", "[x](<java\tscript:RUN>)", "[x](\\javascript:RUN)",
    "[x](data:text/html,<script>RUN</script>)", "<javascript:RUN>", "![x](javascript:RUN)", '![x](a"onerror="RUN)',
    '![x](a "t\\"onerror=\\"RUN")', '[x](a "\'><script>RUN</script>")', "[x]: javascript:RUN\n\n[x]", "[<img src=x onerror=RUN>](a)",
    "![\"><img src=x onerror=RUN>](a)", "# <img src=x onerror=RUN>", "## \"><script>RUN</script> x", "| <img src=x onerror=RUN> |\n|-|\n| <script>RUN</script> |",
    "```html\"><script>RUN</script>\nx\n```", "```html\n<script>RUN</script>\n```", "```\"onload=\"RUN\nx\n```",
    "~~~js\n</code></pre><script>RUN</script>\n~~~", "`<script>RUN</script>`", "$\\text{<img src=x onerror=RUN>}$", "$\\href{javascript:RUN}{x}$",
    "$$\\unicode{<script>RUN</script>}$$", "$`<img src=x onerror=RUN>`$", "```math\n\\text{</annotation></semantics></math><script>RUN</script>}\n```",
    "[^<img src=x onerror=RUN>]\n\n[^<img src=x onerror=RUN>]: y", "> [!NOTE] <img src=x onerror=RUN>\n> y", "- [x] <script>RUN</script>",
    "<https://a.example/\"onclick=\"RUN>", "http://a.example/\"><script>RUN</script>", "www.a.example/'><img src=x onerror=RUN>",
    "a\n: <script>RUN</script>", "&lt;script&gt;RUN&lt;/script&gt;", "\\<script>RUN\\</script>", "<a\nhref=javascript:RUN\n>x</a>",
    "![x](https://evil.example/track.png)", "<img src=//evil.example/track.png>", "![x](//evil.example/track.png)",
]  # fmt: skip
FRONT = '---\ntitle: "</title><script>RUN</script>"\nlang: "en\\" onload=\\"RUN"\ndescription: "\\"><script>RUN</script>"\ndate: "<script>RUN</script>"\n---\n'


@pytest.fixture(params=[False, True], ids=["with the policy", "without the policy"])
def visit(request: pytest.FixtureRequest, browser: Browser, site: Site) -> Iterator[Visit]:
    """Open a page, fire every event of it, and return what it did that it must not do."""
    context = browser.new_context(bypass_csp=request.param)
    page = context.new_page()
    wrong: list[str] = []
    address = site({})
    numbers = count()

    def look(sent: Request) -> None:
        if not sent.url.startswith((f"{address}/", "data:")) or "evil" in sent.url:
            wrong.append(f"asked for {sent.url}")

    def open_page(data: bytes) -> list[str]:
        wrong.clear()
        name = f"{next(numbers)}.html"  # a name of its own, so that no cache answers
        site({name: data})
        page.goto(f"{address}/{name}")
        return wrong + _harm(page)

    context.on("request", look)
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    yield open_page
    context.close()


def _harm(page: Page) -> list[str]:
    """Return what is in the page that no page may have; fires every event that content could have bound."""
    found: list[str] = page.evaluate(
        """() => {
          const wrong = [];
          for (const element of document.querySelectorAll("*")) {
            for (const attribute of element.attributes) {
              if (attribute.name.startsWith("on")) wrong.push(element.outerHTML);
              if (/^\\s*(javascript|vbscript|data:text)/i.test(attribute.value) && attribute.name !== "title" && attribute.name !== "alt")
                wrong.push(element.outerHTML);
            }
            for (const kind of ["click", "mouseover", "focus", "toggle", "error", "load", "animationstart"])
              if (element.localName !== "a") element.dispatchEvent(new Event(kind));
          }
          for (const script of document.scripts)
            if (script.type !== "application/json" && !script.textContent.startsWith("(() => {")) wrong.push(script.outerHTML);
          for (const name of ["iframe", "object", "embed", "form", "base", "link", "frame", "style ~ style"])
            if (document.querySelector(name)) wrong.push(name);
          for (const link of document.querySelectorAll("a"))
            if (!["http:", "https:", "mailto:", ":"].includes(link.protocol)) wrong.push(link.outerHTML);
          return wrong;
        }"""
    )
    page.wait_for_timeout(15)
    return found + (["a script ran"] if page.evaluate("() => 'pwned' in window") else [])


def _armed(parts: list[str]) -> str:
    return "\n\n".join(part.replace("RUN", RUN) for part in parts) + "\n"


def test_the_check_itself_sees_scripts_handlers_and_requests(visit: Visit) -> None:
    allowed = make("markdown_to_html", {"x.md": _armed(["<script>RUN</script>"])}, raw_html="allow")
    assert "a script ran" in visit(allowed.data)
    assert visit(b"<p onclick='x'>") == ['<p onclick="x"></p>']
    assert any("asked for" in wrong for wrong in visit(b"<img src=/evil.png>"))


def test_no_markdown_runs(visit: Visit) -> None:
    page = make("markdown_to_html", {"x.md": FRONT.replace("RUN", RUN) + _armed(MARKDOWN)})
    assert visit(page.data) == []


@pytest.mark.parametrize("raw_html", ["sanitize", "escape"])
def test_no_raw_html_runs(visit: Visit, raw_html: str) -> None:
    page = make("markdown_to_html", {"x.md": _armed(TAGS)}, raw_html=raw_html)
    assert visit(page.data) == []


def test_no_raw_html_runs_on_a_page_of_its_own(visit: Visit) -> None:
    """Alone, an unclosed element can't hide behind the one before it."""
    failed = {tag: wrong for tag in TAGS if (wrong := visit(make("markdown_to_html", {"x.md": _armed([tag])}).data))}
    assert failed == {}


def test_no_table_cell_runs(visit: Visit) -> None:
    cells = ["name", *(f'"{tag}"' for tag in (text.replace("RUN", RUN).replace('"', '""') for text in TAGS))] * 12
    page = make("csv_to_html", {'x"><script>pwned=1</script>.csv': "\n".join(cells)}, output="x.html")
    assert visit(page.data) == []


def test_no_notebook_runs(visit: Visit) -> None:
    html = _armed(TAGS)
    data = {"text/html": html, "text/markdown": html, "text/plain": html}
    outputs: list[dict[str, object]] = [
        {"output_type": "display_data", "data": {kind: text}} for kind, text in data.items()
    ]
    outputs += [{"output_type": "display_data", "data": {"text/html": tag.replace("RUN", RUN)}} for tag in TAGS]
    outputs += [
        {"output_type": "display_data", "data": {"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'><script>{RUN}</script></svg>"}},
        {"output_type": "display_data", "data": {"text/latex": "$\\text{" + html + "}$"}},
        {"output_type": "display_data", "data": {"application/javascript": RUN}},
        {"output_type": "stream", "text": html + f"\x1b[31m<script>{RUN}</script>\x1b]8;;javascript:{RUN}\x07x"},
        {"output_type": "error", "ename": html, "evalue": html, "traceback": [html]},
    ]  # fmt: skip
    cells = [
        {"cell_type": "markdown", "source": html, "attachments": {'"><script>': {"image/png": html}}},
        {"cell_type": "code", "source": html, "outputs": outputs},
        {"cell_type": "raw", "source": html},
    ]
    notebook = {"metadata": {"title": html, "language_info": {"name": f'"><script>{RUN}</script>'}}, "cells": cells}
    assert visit(make("notebook_to_html", {"x.ipynb": json.dumps(notebook)}).data) == []


def test_no_file_name_runs_in_an_index(visit: Visit) -> None:
    files = {f"<img src=x onerror={RUN}>": "", '"><script>pwned=1<': "", "a/x.md": FRONT.replace("RUN", RUN)}
    page = make("index_page", files, tuple(files), "index.html", plan=tuple(copied(path) for path in files))
    assert visit(page.data) == []
