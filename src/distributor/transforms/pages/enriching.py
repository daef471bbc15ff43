"""One pass over sanitised HTML that turns it into what a page shows.

Headings get anchors and go into the contents, code gets colours, math becomes
MathML, tables scroll, task boxes get names, links and images lead into the
destination. Sanitised HTML is regular: attribute values are quoted and hold no
``<`` or ``>``, so that a pattern is enough to find its elements, in linear time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from html import escape, unescape
from typing import NamedTuple

from distributor.transforms.pages.highlighting import PAGE_CHARS, highlight, plain
from distributor.transforms.pages.linking import Links
from distributor.transforms.pages.mathml import to_mathml

Diagram = Callable[[str, int], str]
"""Draws the Mermaid text of the n-th diagram of a page (from 1)."""

_TOKEN = re.compile(
    r"<pre><code(?P<code_attributes>[^>]*)>(?P<code>[^<]*)</code></pre>"
    r'|<(?P<math_tag>span|code) data-math-style="(?P<math_style>inline|display)">(?P<math>[^<]*)</(?P=math_tag)>'
    r"|<(?P<close>/?)(?P<tag>h[1-6]|a|img|table|input|section|video|audio|source|pre)(?P<attributes>(?: [^>]*)?)>"
)
_EMPTY_HEADER = re.compile(r"<th((?: [^>]*)?)></th>")
_ATTRIBUTE = re.compile(r' ([^\s=>"]+)(?:="([^"]*)")?')
_MARKUP = re.compile(r"<annotation[^>]*>[^<]*</annotation>|<[^>]*>")
_ID = re.compile(r' id="([^"]+)"')
_LANGUAGE = re.compile(r"(?:^|\s)language-(\S+)")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_IMAGE_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]", re.IGNORECASE)


class Heading(NamedTuple):
    """A heading of the page: its level from 1 to 6, its anchor, and its text."""

    level: int
    anchor: str
    text: str


class Enriched(NamedTuple):
    """The page's content, its headings in order, and how many images of other hosts became links."""

    html: str
    headings: tuple[Heading, ...]
    remote_images: int
    diagrams: int


def enrich(html: str, links: Links, diagram: Diagram | None = None) -> Enriched:
    """Return sanitised ``html`` ready for a page. ``diagram`` draws Mermaid blocks; without it they stay code."""
    return _Enricher(html, links, diagram).run()


class _Enricher:
    def __init__(self, html: str, links: Links, diagram: Diagram | None) -> None:
        # A header that says nothing is read out as one all the same.
        self._html = _EMPTY_HEADER.sub(r"<td\1></td>", html)
        self._links = links
        self._diagram = diagram
        self._out: list[str] = []
        self._headings: list[Heading] = []
        self._slugs = Slugs(_ID.findall(html))
        self._open_heading: tuple[str, str, int] | None = None
        self._tables = 0
        self._footnotes = 0
        self._table_depth = 0
        self._in_link = False
        self._remote = 0
        self._diagrams = 0
        self._colourable = PAGE_CHARS

    def run(self) -> Enriched:
        position = 0
        for match in _TOKEN.finditer(self._html):
            self._out.append(self._html[position : match.start()])
            position = match.end()
            if match["code"] is not None:
                self._out.append(self._code(match["code_attributes"], match["code"]))
            elif match["math"] is not None:
                self._out.append(self._math(match["math"], display=match["math_style"] == "display"))
            else:
                self._out.append(self._tag(match))
        self._out.append(self._html[position:])
        return Enriched("".join(self._out), tuple(self._headings), self._remote, self._diagrams)

    def _tag(self, match: re.Match[str]) -> str:
        tag, closing, attributes = match["tag"], bool(match["close"]), match["attributes"]
        if tag[0] == "h":
            return self._end_heading(tag, match[0]) if closing else self._begin_heading(attributes, match[0])
        if tag == "table":
            return self._table(match[0], closing=closing)
        if tag == "a":
            self._in_link = not closing
            return match[0] if closing else self._link(attributes)
        if closing:
            return match[0]
        if tag == "pre":
            return f'<pre tabindex="0"{attributes}>'
        if tag == "img":
            return self._image(_attributes(attributes))
        if tag == "input":
            return _task(_attributes(attributes))
        if tag == "section":
            return self._section(attributes)
        return self._media(tag, _attributes(attributes))

    def _begin_heading(self, attributes: str, whole: str) -> str:
        if self._open_heading is not None:
            return whole
        given = _ID.search(attributes)
        self._open_heading = (attributes, given[1] if given else "", len(self._out))
        return ""

    def _end_heading(self, tag: str, whole: str) -> str:
        if self._open_heading is None:
            return whole
        attributes, anchor, start = self._open_heading
        self._open_heading = None
        inner = "".join(self._out[start:])
        del self._out[start:]
        text = text_of(inner)
        if not anchor:
            anchor = self._slugs.slug(text)
            attributes += f' id="{escape(anchor)}"'
        else:
            anchor = unescape(anchor)
        if not text:
            return f"<{tag}{attributes}>{inner}</{tag}>"
        self._headings.append(Heading(int(tag[1]), anchor, text))
        label = escape(f"Link to section: {text}")
        link = f'<a class="anchor" href="#{escape(anchor)}" aria-label="{label}"></a>'
        return f'<div class="heading"><{tag}{attributes}>{inner}</{tag}>{link}</div>'

    def _section(self, attributes: str) -> str:
        if 'class="footnotes"' not in attributes:
            return f"<section{attributes}>"
        self._footnotes += 1
        name = "Footnotes" if self._footnotes == 1 else f"Footnotes {self._footnotes}"
        return f'<section{attributes} aria-label="{name}">'

    def _table(self, whole: str, *, closing: bool) -> str:
        if closing:
            self._table_depth -= 1
            return f"{whole}</div>" if self._table_depth == 0 else whole
        self._table_depth += 1
        if self._table_depth > 1:
            return whole
        self._tables += 1
        return f'<div class="scroll" role="region" aria-label="Table {self._tables}" tabindex="0">{whole}'

    def _link(self, attributes: str) -> str:
        values = _attributes(attributes)
        target = values.pop("href", None)
        if target is not None and not target.lstrip().lower().startswith("data:"):
            values = {"href": self._links.page(target), **values}
        return _open_tag("a", values)

    def _image(self, values: dict[str, str]) -> str:
        source = values.get("src", "").strip()
        if _IMAGE_DATA.match(source):
            return _open_tag("img", values)
        if _REMOTE.match(source):
            return self._remote_image(source, values.get("alt", ""))
        return _open_tag("img", {**values, "src": self._links.media(source), "alt": values.get("alt", "")})

    def _remote_image(self, source: str, alt: str) -> str:
        # A page requests nothing from other hosts: who reads a report is nobody else's business.
        self._remote += 1
        text = escape(alt.strip() or source.rpartition("/")[2] or "image", quote=False)
        if self._in_link or not source.lower().startswith(("http:", "https:")):
            return f'<span class="remote">{text}</span>'
        return f'<a class="remote" href="{escape(source)}">{text}</a>'

    def _media(self, tag: str, values: dict[str, str]) -> str:
        source = values.pop("src", "")
        if source and not _REMOTE.match(source.strip()):
            values["src"] = self._links.media(source)
        return _open_tag(tag, values)

    def _code(self, attributes: str, body: str) -> str:
        found = _LANGUAGE.search(_attributes(attributes).get("class", ""))
        language = found[1] if found else ""
        code = unescape(body)
        if language == "math":
            return f'<div class="math">{self._math(body, display=True)}</div>'
        if language == "mermaid" and self._diagram is not None:
            self._diagrams += 1
            return self._diagram(code, self._diagrams)
        coloured = highlight(code, language) if language and len(code) <= self._colourable else None
        if coloured is None:
            coloured = plain(code)
        else:
            self._colourable -= len(code)
        label = f' data-language="{escape(language)}"' if language else ""
        return f'<div class="code"{label}><pre tabindex="0"><code>{coloured}</code></pre></div>'

    def _math(self, body: str, *, display: bool) -> str:
        tex = unescape(body)
        math = to_mathml(tex, display=display)
        if math is not None:
            return math
        return f'<code class="tex" title="this formula could not be set">{plain(tex.strip())}</code>'


def _task(values: dict[str, str]) -> str:
    if values.get("type") != "checkbox":
        return ""
    state, name = ("done", "done") if "checked" in values else ("open", "to do")
    return f'<span class="task {state}" role="img" aria-label="{name}"></span>'


def _attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}


def _open_tag(tag: str, values: dict[str, str]) -> str:
    return f"<{tag}" + "".join(f' {name}="{escape(value)}"' for name, value in values.items()) + ">"


def text_of(html: str) -> str:
    """Return the text of sanitised ``html``, on one line."""
    return " ".join(unescape(_MARKUP.sub("", html)).split())


class Slugs:
    """Anchors as GitHub makes them, unique on the page."""

    def __init__(self, taken: list[str]) -> None:
        self._counts: dict[str, int] = dict.fromkeys((unescape(name) for name in taken), 0)

    def slug(self, text: str) -> str:
        """Return the anchor for a heading with ``text``; the second of its kind ends in ``-1``."""
        base = "".join("-" if char == " " else char for char in text.lower() if _stays(char)) or "section"
        anchor, count = base, self._counts.get(base)
        while count is not None and anchor in self._counts:
            count += 1
            anchor = f"{base}-{count}"
        if count is not None:
            self._counts[base] = count
        self._counts[anchor] = 0
        return anchor


def _stays(char: str) -> bool:
    return char.isalnum() or char in " -_" or unicodedata.category(char) in {"Mn", "Mc", "Me", "Pc", "Nl", "No"}
