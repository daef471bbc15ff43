"""Delimited text to a page with a table that sorts and filters.

The first rows are ordinary HTML, readable and printable without a script; the rest
of a long table lies beside them as data, and the page's own script shows it in pages.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import TYPE_CHECKING

from distributor.transforms import options as options_of
from distributor.transforms.base import Request
from distributor.transforms.options import Option

if TYPE_CHECKING:
    from distributor.transforms.pages.tables import Column, Table

VERSION = "1"
SCOPE = "file"
DEFAULT_PATH = "{dir}{stem}.html"

INPUT_BYTES = 32 * 1024 * 1024
STATIC_ROWS = 500
_ENCODINGS = ("utf-8", "utf-16-le", "windows-1252", "iso-8859-1", "iso-8859-15")


def _delimiter(value: object) -> str | None:
    good = value is None or (isinstance(value, str) and len(value) == 1 and value not in '"\r\n')
    return None if good else "must be one character"


def _options() -> tuple[Option, ...]:
    from distributor.transforms.pages.look import LOOK, optional_text

    return (
        Option("delimiter", None, _delimiter),
        Option("header", True, options_of.boolean),
        Option("encoding", "utf-8", options_of.one_of(*_ENCODINGS)),
        Option("title", None, optional_text),
        Option("max_rows", 100_000, options_of.whole_number(1, 1_000_000)),
        *LOOK,
    )


def check_options(options: Mapping[str, object]) -> list[str]:
    """Return what is wrong with ``options``, one sentence each."""
    return options_of.check_options(options, _options())


def render(request: Request) -> bytes:
    """Return the page of the table; warns where rows are left out. Raises ``TransformError``."""
    from distributor.transforms.pages.page import Page, assemble
    from distributor.transforms.pages.sources import decode_text
    from distributor.transforms.pages.tables import read_table

    settings = options_of.with_defaults(request.options, _options())
    source = request.source_paths[0]
    text = decode_text(request.read(source), source, limit=INPUT_BYTES, encoding=str(settings["encoding"]))
    delimiter, most = settings["delimiter"], settings["max_rows"]
    table = read_table(
        text,
        source,
        delimiter=str(delimiter) if delimiter else None,
        header=settings["header"] is True,
        keep=most if isinstance(most, int) else 0,
    )
    del text  # as large as the file; the page is built beside it
    if len(table.rows) < table.total:
        request.warn(f"{source}: the page shows the first {len(table.rows):,} of {table.total:,} rows")
    page = Page(
        title=str(settings["title"] or posixpath.basename(source)),
        body=_body(table, _download(request, source)),
        source_path=source,
        styles=("table.css",),
        scripts=("page.js", "table.js"),
        contents=False,
        wide=True,
    )
    return assemble(page, request.manifest, settings)


def _download(request: Request, source: str) -> str | None:
    """Return the address of the file itself, if this destination has it."""
    from distributor.transforms.pages.linking import relative_address

    copies = sorted(out.path for out in request.outputs if out.source_path == source and out.transform is None)
    return relative_address(copies[0], posixpath.dirname(request.output_path)) if copies else None


def _body(table: Table, download: str | None) -> str:
    from html import escape

    count = f"{table.total:,} row" + ("" if table.total == 1 else "s")
    link = f' · <a href="{escape(download)}" download>Download the file</a>' if download else ""
    head = "".join(_heading(index, column) for index, column in enumerate(table.columns))
    classes = [" class=n" if _aligned_right(column) else "" for column in table.columns]
    rows = "".join(_row(row, classes) for row in table.rows[:STATIC_ROWS])
    return (
        f'<div class="table-tools"><p class="count" role="status">{count}</p><p class="about">{len(table.columns)} '
        f"columns{link}</p></div>{_notice(table)}"
        f'<div class="scroll data" role="region" aria-label="Table" tabindex="0"><table data-total="{table.total}">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{_rest(table)}"
    )


def _notice(table: Table) -> str:
    shown = len(table.rows)
    parts = []
    if shown > STATIC_ROWS:
        parts.append(
            f'<p class="notice needs-script">Without scripts, this page shows the first {STATIC_ROWS:,} rows.</p>'
        )
    if shown < table.total:
        parts.append(
            f'<p class="notice"><strong>Cut off:</strong> this page holds the first {shown:,} of {table.total:,} rows. '
            "The file has them all.</p>"
        )
    return "".join(parts)


def _heading(index: int, column: Column) -> str:
    from html import escape

    side = " class=n" if _aligned_right(column) else ""
    return f'<th scope="col" data-kind="{column.kind.value}" data-index="{index}"{side}>{escape(column.name)}</th>'


def _aligned_right(column: Column) -> bool:
    return column.kind.value in {"number", "comma_number"}


def _row(row: list[str], classes: list[str]) -> str:
    from distributor.transforms.pages.highlighting import plain

    cells = [f"<td{side}>{plain(value)}</td>" for value, side in zip(row, classes, strict=False)]
    cells += ["<td></td>"] * (len(classes) - len(row))
    return f"<tr>{''.join(cells)}</tr>"


def _rest(table: Table) -> str:
    """Return the rows beyond the first ones as a data block, in which nothing can end the element."""
    import json

    rows = table.rows[STATIC_ROWS:]
    if not rows:
        return ""
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c")
    return f'<script type="application/json" class="rows">{data}</script>'
