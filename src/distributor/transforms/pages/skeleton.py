"""The built-in page around its content, written out without a template engine.

Loading the engine takes longer than most pages do; it is there for custom templates.
``examples/page.html.j2`` is this page as a template, to start one's own from.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from distributor.transforms.pages.enriching import Heading

_WIDE = ' class="wide"'
_SUB = ' class="sub"'


class Source(NamedTuple):
    """Where the page comes from: the bundle's id, the file, and the bundle's creation time in two forms."""

    id: str
    path: str
    created: str
    created_text: str


class Filling(NamedTuple):
    """What a template shows. ``body``, ``style`` and ``script`` are HTML, CSS and JavaScript; the rest is text."""

    title: str
    body: str
    lang: str
    direction: str
    date: str | None
    description: str | None
    show_title: bool
    contents: list[Heading]
    wide: bool
    policy: str
    style: str
    script: str
    source: Source


def fill(page: Filling) -> str:
    """Return the whole page."""
    title, source = escape(page.title), page.source
    description = f'<meta name="description" content="{escape(page.description)}">\n' if page.description else ""
    kind = "page with-contents" if page.contents else "page"
    return (
        f'<!doctype html>\n<html lang="{escape(page.lang)}" dir="{page.direction}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(page.policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n{description}"
        f'<meta name="distributor-source" content="{escape(source.id)}">\n<style>{page.style}</style>\n</head>\n'
        f"<body{_WIDE if page.wide else ''}>\n"
        '<a class="skip" href="#page.main">Skip to content</a>\n'
        f'<div class="{kind}">\n{_contents(page.contents)}'
        f'<main id="page.main" tabindex="-1">\n{_header(page)}<article>\n{page.body}\n</article>\n</main>\n'
        f"<footer>\n<p><bdi>{escape(source.path)}</bdi> · <bdi>{escape(source.id)}</bdi> · "
        f'<time datetime="{escape(source.created)}">{escape(source.created_text)}</time></p>\n</footer>\n</div>\n'
        f"<script>{page.script}</script>\n</body>\n</html>\n"
    )


def _contents(headings: list[Heading]) -> str:
    if not headings:
        return ""
    top = min(heading.level for heading in headings)
    items = "".join(
        f"<li{_SUB if heading.level > top else ''}>"
        f'<a href="#{escape(heading.anchor)}">{escape(heading.text)}</a></li>\n'
        for heading in headings
    )
    return (
        '<nav class="contents" aria-label="Contents">\n<details>\n<summary>Contents</summary>\n'
        f"<ol>\n{items}</ol>\n</details>\n</nav>\n"
    )


def _header(page: Filling) -> str:
    parts = [f'<p class="date">{escape(page.date)}</p>\n'] if page.date else []
    if page.show_title:
        parts.append(f"<h1>{escape(page.title)}</h1>\n")
        if page.description:
            parts.append(f'<p class="lead">{escape(page.description)}</p>\n')
    return f"<header>\n{''.join(parts)}</header>\n" if parts else ""
