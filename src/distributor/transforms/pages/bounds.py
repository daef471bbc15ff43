"""Limits that keep every page within 10 s and 512 MiB, whatever its author wrote.

Each limit depends on the input alone, so that a page is made or refused alike on
every machine. The figures come from measuring the parser and the sanitiser on
inputs built to hurt them: the worst need about 600 bytes for each mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from distributor.errors import TransformError

MARKDOWN_BYTES = 8 * 1024 * 1024
HTML_CHARS = 24 * 1024 * 1024
HTML_TAGS = 1_200_000
HTML_AMPERSANDS = 200_000
HEADINGS = 50_000
MARKS = 500_000
QUOTE_DEPTH = 100
TABLE_CELLS = 200_000
ELEMENT_DEPTH = 400
REOPENED = 200_000

_MARKS = "\n*_`[]|<&~$\"'"
_QUOTES = re.compile(r"^[ \t>*+\-0-9.)]*>", re.MULTILINE)
# Possessive throughout: backtracking over blanks would itself be quadratic.
_DELIMITER_ROW = re.compile(
    r"^[ \t>]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)++(?:\|[ \t]*+)?$", re.MULTILINE
)
_HEADING = re.compile(r"<h[1-6]\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")

_VOID = frozenset(["area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
_CLOSED_BY_OTHERS = frozenset(
    ["p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "colgroup"]
)
_FORMATTING = frozenset(
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
)


def check_markdown(text: str, path: str, first_line: int = 1) -> None:
    """Raise ``TransformError`` if ``text`` is too much for one page; ``first_line`` is its place in ``path``."""
    marks = sum(text.count(mark) for mark in _MARKS)
    if marks > MARKS:
        raise TransformError(
            f"has {marks:,} characters that Markdown gives a meaning, and a page may have {MARKS:,}",
            path=path,
            hint="split it, or publish tables as CSV with csv_to_html",
        )
    for match in _QUOTES.finditer(text):
        if match[0].count(">") > QUOTE_DEPTH:
            line = first_line + text.count("\n", 0, match.start())
            raise TransformError(f"quotes are nested more than {QUOTE_DEPTH} deep", path=path, line=line)
    for line, cells in _missing_cells(text):
        if cells > TABLE_CELLS:
            message = f"the table lacks {cells:,} cells of its width, more than the {TABLE_CELLS:,} that are filled in"
            raise TransformError(message, path=path, line=first_line + line)


def _missing_cells(text: str) -> Iterator[tuple[int, int]]:
    """Yield, for each possible table, its line (from 0) and how many cells a parser would have to add."""
    for match in _DELIMITER_ROW.finditer(text):
        end = text.find("\n\n", match.end())
        body = text[match.end() : end if end >= 0 else len(text)]
        columns, rows = match[0].count("-|") + match[0].count(" |") + 1, body.count("\n")
        if columns * rows > TABLE_CELLS:
            yield text.count("\n", 0, match.start()), columns * rows - body.count("|")


def check_html(html: str, path: str) -> None:
    """Raise ``TransformError`` if sanitising ``html`` could take more than a page may."""
    if len(html) > HTML_CHARS:
        raise TransformError(
            f"makes {len(html) / 1e6:.0f} million characters of HTML, and a page may have {HTML_CHARS / 1e6:.0f}",
            path=path,
            hint="split it",
        )
    # The sanitiser takes quadratic time over ampersands in one text.
    if html.count("<") > HTML_TAGS or html.count("&amp") > HTML_AMPERSANDS:
        raise TransformError("makes too many HTML elements or entities for one page", path=path, hint="split it")
    if len(_HEADING.findall(html)) > HEADINGS:
        raise TransformError(f"has more than {HEADINGS:,} headings", path=path, hint="split it")
    depth = formatting = reopened = 0
    for closing, name in _TAG.findall(html):
        tag = name.lower()
        if tag in _VOID:
            continue
        if tag in _FORMATTING:
            formatting = max(0, formatting + (-1 if closing else 1))
        elif not closing:
            # A parser opens unclosed formatting again in each following block.
            reopened += formatting
        if tag not in _CLOSED_BY_OTHERS:
            depth = max(0, depth + (-1 if closing else 1))
        if depth > ELEMENT_DEPTH or reopened > REOPENED:
            raise TransformError("HTML elements are nested too deep, or left open over too many blocks", path=path)
