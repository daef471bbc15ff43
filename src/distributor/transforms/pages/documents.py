"""A Markdown file as a page: front matter, title, content, and warnings with their lines."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from html import unescape
from typing import NamedTuple

from distributor.transforms.base import Request
from distributor.transforms.pages import bounds, mermaid
from distributor.transforms.pages.commonmark import link_lines, to_html
from distributor.transforms.pages.enriching import Diagram, Enriched, enrich, text_of
from distributor.transforms.pages.frontmatter import split_front_matter
from distributor.transforms.pages.linking import Links
from distributor.transforms.pages.page import Page
from distributor.transforms.pages.sanitizing import sanitize
from distributor.transforms.pages.sources import decode_text


class Markdown(NamedTuple):
    """Markdown text with where it stands: its file, and the line (from 1) it begins at."""

    text: str
    path: str
    first_line: int = 1

    def line_of(self, excerpt: str) -> int | None:
        """Return the line of the file where ``excerpt`` first stands, or ``None``."""
        position = self.text.find(excerpt)
        return None if position < 0 else self.first_line + self.text.count("\n", 0, position)


def fragment(markdown: Markdown, links: Links, raw_html: str = "sanitize", diagram: Diagram | None = None) -> Enriched:
    """Return Markdown as HTML for a page. Raises ``TransformError`` where it is too much for one."""
    bounds.check_markdown(markdown.text, markdown.path, markdown.first_line)
    html = to_html(markdown.text, escape_html=raw_html == "escape")
    bounds.check_html(html, markdown.path)
    return enrich(html if raw_html == "allow" else sanitize(html), links, diagram)


def read_document(request: Request, source: str, settings: Mapping[str, object]) -> Page:
    """Return the Markdown file ``source`` as a page; tells ``request.warn`` what a person should know.

    Raises ``TransformError``, naming file and line, where the file can't be a page.
    """
    text = decode_text(request.read(source), source, limit=bounds.MARKDOWN_BYTES)
    front, body = split_front_matter(text, source)
    markdown = Markdown(body, source, front.lines + 1)
    links = Links(request, source)
    diagram = _diagrams(markdown, settings) if settings["mermaid"] == "svg" else None
    content = fragment(markdown, links, str(settings["raw_html"]), diagram)
    warn_of_links(request, markdown, links)
    if content.remote_images:
        images = "1 image" if content.remote_images == 1 else f"{content.remote_images} images"
        request.warn(f"{source}: {images} of other hosts became links; put images into the bundle to show them")
    main = next((heading for heading in content.headings if heading.level == 1), None)
    first = main or next(iter(content.headings), None)
    title = front.title or (first.text if first else "") or posixpath.splitext(posixpath.basename(source))[0]
    return Page(
        title=title,
        body=content.html,
        source_path=source,
        headings=content.headings,
        show_title=main is None and (front.title is not None or first is None),
        lang=front.lang,
        date=front.date,
        description=front.description,
        contents=settings["contents"] is True,
        allow_content=settings["raw_html"] == "allow",
        inline_styles=content.diagrams > 0,
    )


def _diagrams(markdown: Markdown, settings: Mapping[str, object]) -> Diagram:
    words = settings["mermaid_command"]
    command = tuple(str(word) for word in words) if isinstance(words, list) else ()

    def draw(source: str, number: int) -> str:
        line = markdown.line_of(source)
        return mermaid.draw(source, command, path=markdown.path, line=line, number=number)

    return draw


def warn_of_links(request: Request, markdown: Markdown, links: Links) -> None:
    """Warn of every link of ``links`` that leads nowhere, with its line."""
    if not links.dead:
        return
    # Positions cost time and size, so they are asked for only once something is wrong.
    lines: dict[str, int] = {}
    for target, line in link_lines(markdown.text):
        lines.setdefault(unescape(target), line + markdown.first_line - 1)
    for target, wanted in links.dead.items():
        at = lines.get(target) or markdown.line_of(target)
        where = f"{markdown.path}:{at}" if at else markdown.path
        request.warn(f"{where}: {dead_link(request, wanted)}")


def dead_link(request: Request, wanted: str) -> str:
    """Say what is wrong with a link to the bundle path ``wanted``, which no output is made from."""
    known = any(file.path == wanted for file in request.manifest.files)
    state = "this destination does not publish" if known else "is not in the bundle"
    return f"links to {wanted!r}, which {state}"


def title_of(data: bytes, path: str) -> tuple[str | None, str | None]:
    """Return title and date that the Markdown file itself gives, as far as it does.

    Raises ``TransformError`` as :func:`read_document` would.
    """
    front, body = split_front_matter(decode_text(data, path, limit=bounds.MARKDOWN_BYTES), path)
    if front.title:
        return front.title, front.date
    bounds.check_markdown(body, path, front.lines + 1)
    html = to_html(body)
    bounds.check_html(html, path)
    start = html.find("<h1")
    heading = html[start : html.find("</h1>", start)] if start >= 0 else ""
    return text_of(sanitize(heading)) or None, front.date
