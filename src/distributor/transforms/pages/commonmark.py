"""The Markdown dialect: CommonMark with GitHub's extensions, definition lists and math, by comrak."""

from __future__ import annotations

import re
from collections.abc import Iterator

_POSITION = re.compile(r'data-sourcepos="(\d+):[^"]*"[^>]*? (?:href|src)="([^"]*)"')


def to_html(text: str, *, escape_html: bool = False, positions: bool = False) -> str:
    """Return ``text`` as unsanitised HTML; raw HTML is passed through or, with ``escape_html``, shown as text.

    With ``positions``, elements carry the source lines they come from.
    """
    import comrak

    extension = comrak.ExtensionOptions()
    extension.table = extension.strikethrough = extension.autolink = extension.tasklist = True
    extension.footnotes = extension.alerts = extension.description_lists = True
    extension.math_dollars = extension.math_code = True
    render = comrak.RenderOptions()
    render.tasklist_classes = True
    render.sourcepos = positions
    if escape_html:
        render.escape = True
    else:
        render.unsafe_ = True
    return comrak.render_markdown(text, extension, comrak.ParseOptions(), render)


def link_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield each link and image target of ``text``, as written in HTML, with its line (from 1)."""
    for match in _POSITION.finditer(to_html(text, positions=True)):
        yield match[2], int(match[1])
