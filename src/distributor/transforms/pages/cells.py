"""A notebook's cells as the content of one page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from urllib.parse import quote

from distributor.errors import TransformError
from distributor.transforms.base import Request
from distributor.transforms.pages import bounds
from distributor.transforms.pages.ansi import ansi_to_html
from distributor.transforms.pages.commonmark import to_html
from distributor.transforms.pages.documents import dead_link
from distributor.transforms.pages.enriching import Enriched, enrich, text_of
from distributor.transforms.pages.linking import Links
from distributor.transforms.pages.notebooks import Cell, Notebook, Output
from distributor.transforms.pages.sanitizing import sanitize

OUTPUT_CHARS = 1024 * 1024
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*\Z")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
_HIDDEN = frozenset(["remove_cell", "remove-cell", "hide_cell", "hide-cell"])
_CODE_HIDDEN = frozenset(["remove_input", "remove-input", "hide_input", "hide-input"])
_FOOTNOTE = re.compile(r'( id="| href="#)(fn(?:ref)?-)')


def render_cells(notebook: Notebook, request: Request, source: str, *, show_code: bool) -> Enriched:
    """Return all cells as one enriched piece of content. Raises ``TransformError`` where it is too much."""
    return _Cells(notebook, request, source, show_code=show_code).run()


class _Cells:
    """Collects safe HTML cell by cell; it is enriched once, so that anchors are unique on the page.

    What is ours to write (code, terminal text, images as data) is escaped where it is made.
    """

    def __init__(self, notebook: Notebook, request: Request, source: str, *, show_code: bool) -> None:
        self._notebook = notebook
        self._request = request
        self._source = source
        self._show_code = show_code
        self._links = Links(request, source)
        self._notes = 0

    def run(self) -> Enriched:
        parts = [self._cell(cell) for cell in self._notebook.cells if not cell.tags & _HIDDEN]
        html = "\n".join(part for part in parts if part)
        content = enrich(html, self._links)
        for target, wanted in self._links.dead.items():
            cells = (number for number, cell in enumerate(self._notebook.cells, 1) if target in cell.source)
            number = next(cells, None)
            where = f"{self._source}: cell {number}" if number else f"{self._source}:"
            self._request.warn(f"{where} {dead_link(self._request, wanted)}")
        return content

    def _cell(self, cell: Cell) -> str:
        if cell.kind == "markdown":
            return self._markdown(cell.source, cell.attachments)
        if cell.kind == "code":
            code = self._code(cell.source) if self._show_code and not cell.tags & _CODE_HIDDEN else ""
            return code + "".join(self._output(output) for output in cell.outputs)
        return f"<pre>{escape(cell.source, quote=False)}</pre>" if cell.source.strip() else ""

    def _markdown(self, text: str, attachments: Mapping[str, Mapping[str, str]]) -> str:
        bounds.check_markdown(text, self._source)
        # Each cell numbers its footnotes from 1; on the page they must stay apart.
        self._notes += 1
        html = _FOOTNOTE.sub(rf"\g<1>c{self._notes}-\2", to_html(text))
        for name, content in attachments.items():
            if (image := _image_data(content)) is not None:
                for written in (escape(name), quote(name)):
                    html = html.replace(f'src="attachment:{written}"', f'src="{image}"')
        bounds.check_html(html, self._source)
        return sanitize(html)

    def _code(self, source: str) -> str:
        if not source.strip():
            return ""
        language = escape(self._notebook.language)
        return f'<pre><code class="language-{language}">{escape(source, quote=False)}</code></pre>'

    def _output(self, output: Output) -> str:
        if output.kind == "data":
            return self._data(output.data)
        kind = "error" if output.kind == "error" else "stderr" if output.stderr else "stdout"
        return self._terminal(output.text, kind)

    def _terminal(self, text: str, kind: str) -> str:
        if not text.strip():
            return ""
        shown = ansi_to_html(text[:OUTPUT_CHARS].rstrip("\n"))
        cut = len(text) - OUTPUT_CHARS
        note = f'<p class="cut">{cut:,} more characters of this output are left out.</p>' if cut > 0 else ""
        return f'<div class="output {kind}"><pre>{shown}</pre>{note}</div>'

    def _data(self, data: Mapping[str, str]) -> str:
        """Show the richest form of an output that is safe and says something."""
        if html := self._safe_html(data.get("text/html", "")):
            return f'<div class="output rich">{html}</div>'
        if image := _image_data(data):
            label = escape(" ".join(data.get("text/plain", "").split())[:200] or "Output of the cell above")
            return f'<div class="output"><img src="{image}" alt="{label}"></div>'
        if markdown := data.get("text/markdown"):
            return f'<div class="output rich">{self._markdown(markdown, {})}</div>'
        if latex := data.get("text/latex"):
            tex = latex.strip().strip("$").strip()
            return f'<div class="output"><span data-math-style="display">{escape(tex, quote=False)}</span></div>'
        text = data.get("text/plain") or data.get("application/json") or ""
        return self._terminal(text, "result")

    def _safe_html(self, html: str) -> str:
        """Return sanitised HTML, or nothing where all that mattered in it was a script."""
        if not html or len(html) > bounds.HTML_CHARS:
            return ""
        try:
            bounds.check_html(html, self._source)
        except TransformError:
            # One output in a strange form has others: the plain text says the same.
            return ""
        clean = sanitize(html).strip()
        return clean if "<img" in clean or text_of(clean) else ""


def _image_data(data: Mapping[str, str]) -> str | None:
    """Return the first image of a media bundle as a ``data:`` address."""
    if svg := data.get("image/svg+xml"):
        # As an image, not inline: an image runs no scripts and loads nothing.
        return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    for kind in _IMAGES:
        content = data.get(kind, "")
        if content and _BASE64.match(content):
            return f"data:{kind};base64,{''.join(content.split())}"
    return None
