"""A Jupyter notebook to a page: text, code and the outputs it was saved with; nothing is run."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from distributor.transforms import options as options_of
from distributor.transforms.base import Request
from distributor.transforms.options import Option

VERSION = "1"
SCOPE = "file"
DEFAULT_PATH = "{dir}{stem}.html"


def _options() -> tuple[Option, ...]:
    from distributor.transforms.pages.look import LOOK

    return (
        Option("code", "show", options_of.one_of("show", "hide")),
        Option("contents", True, options_of.boolean),
        *LOOK,
    )


def check_options(options: Mapping[str, object]) -> list[str]:
    """Return what is wrong with ``options``, one sentence each."""
    return options_of.check_options(options, _options())


def render(request: Request) -> bytes:
    """Return the page of the notebook; warns of links that lead nowhere. Raises ``TransformError``."""
    from distributor.transforms.pages.cells import render_cells
    from distributor.transforms.pages.notebooks import NOTEBOOK_BYTES, read_notebook
    from distributor.transforms.pages.page import Page, assemble
    from distributor.transforms.pages.sources import decode_text

    settings = options_of.with_defaults(request.options, _options())
    source = request.source_paths[0]
    text = decode_text(request.read(source), source, limit=NOTEBOOK_BYTES)
    notebook = read_notebook(text, source)
    del text  # as large as the file; the page is built beside it
    content = render_cells(notebook, request, source, show_code=settings["code"] == "show")
    main = next((heading for heading in content.headings if heading.level == 1), None)
    first = main or next(iter(content.headings), None)
    stem = posixpath.splitext(posixpath.basename(source))[0]
    page = Page(
        title=notebook.title or (first.text if first else stem),
        body=content.html,
        source_path=source,
        headings=content.headings,
        show_title=main is None and (notebook.title is not None or first is None),
        contents=settings["contents"] is True,
        styles=("notebook.css",),
    )
    return assemble(page, request.manifest, settings)
