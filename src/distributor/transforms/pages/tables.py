"""Delimited text as typed columns: sniffing the delimiter, reading rows, guessing types.

Everything is decided by the text alone, so that the same file gives the same page
everywhere; no locale takes part.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from distributor.errors import TransformError

_DELIMITERS = ("\t", ",", ";", "|")
_SAMPLE_CHARS = 64 * 1024
_SAMPLE_ROWS = 50
COLUMNS = 1_000
ROW_CHARS = 4 * 1024 * 1024
SHOWN_CELLS = 1_000_000
SHOWN_CHARS = 16 * 1024 * 1024

_NUMBER = re.compile(r"[+\-−]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z|[+\-−]?\.\d+\Z", re.ASCII)
_COMMA_NUMBER = re.compile(r"[+\-−]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?\Z", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?\Z", re.ASCII)
_AFFIXES = re.compile(r"[\s%€$£¥]")
_EMPTY = frozenset(["", "-", "–", "n/a", "N/A", "NA", "NaN", "nan", "null", "NULL", "None"])


class Kind(str, Enum):
    """What the values of a column are."""

    TEXT = "text"
    NUMBER = "number"
    COMMA_NUMBER = "comma_number"
    DATE = "date"


class Column(NamedTuple):
    """One column: its heading and what its values are."""

    name: str
    kind: Kind


class Table(NamedTuple):
    """The columns, the rows that are kept, and how many rows the file has."""

    columns: tuple[Column, ...]
    rows: list[list[str]]
    total: int


def read_table(text: str, path: str, *, delimiter: str | None, header: bool, keep: int) -> Table:
    """Read delimited ``text``; the first ``keep`` rows are kept, as far as a browser can hold them, and all counted.

    Raises ``TransformError`` with the line where the text is no table: no columns,
    too many of them, a quoted value that never ends.
    """
    rows = _rows(text, path, delimiter or sniff(text))
    first = next(rows, None)
    if first is None:
        raise TransformError("has no rows", path=path, hint="publish it as it is, or leave it out of the rule")
    names = first if header else [f"Column {number}" for number in range(1, len(first) + 1)]
    kept: list[list[str]] = [] if header else [first]
    total = len(kept)
    cells = chars = 0
    for row in rows:
        total += 1
        cells += len(row)
        chars += sum(map(len, row))
        if len(kept) >= keep or cells > SHOWN_CELLS or chars > SHOWN_CHARS:
            break
        kept.append(row)
    total += sum(1 for _ in rows)
    width = max(len(names), max((len(row) for row in kept), default=0))
    if width > COLUMNS:
        raise TransformError(f"has {width:,} columns, and a page shows at most {COLUMNS:,}", path=path)
    titles = [name.strip() or f"Column {number}" for number, name in enumerate(names, 1)]
    titles += [f"Column {number}" for number in range(len(names) + 1, width + 1)]
    columns = tuple(
        Column(title, kind_of(row[index] for row in kept if index < len(row))) for index, title in enumerate(titles)
    )
    return Table(columns, kept, total)


def _rows(text: str, path: str, delimiter: str) -> Iterator[list[str]]:
    start, pending = 1, 0

    def lines() -> Iterator[str]:
        nonlocal pending
        for line in _lines(text):
            pending += len(line)
            if pending > ROW_CHARS:
                raise csv.Error(f"a row is longer than {ROW_CHARS:,} characters")
            yield line

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield row
            start, pending = reader.line_num + 1, 0
    except csv.Error as error:
        raise TransformError(
            f"is no table from here on: {error}", path=path, line=start, hint="look for a quote that is never closed"
        ) from None


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of ``text`` one by one: a list, or a file object, would need several times its size."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def sniff(text: str) -> str:
    """Return the delimiter that cuts the beginning of ``text`` into the most columns most evenly."""
    sample = text[:_SAMPLE_CHARS]
    if len(text) > _SAMPLE_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    best = max(_DELIMITERS, key=lambda delimiter: _fit(sample, delimiter))
    return best if _fit(sample, best)[1] else ","


def _fit(sample: str, delimiter: str) -> tuple[float, int]:
    widths: list[int] = []
    try:
        for row in csv.reader(_lines(sample), delimiter=delimiter):
            if row:
                widths.append(len(row))
            if len(widths) == _SAMPLE_ROWS:
                break
    except csv.Error:
        return (0.0, 0)
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (sum(width == widths[0] for width in widths) / len(widths), widths[0])


def kind_of(values: Iterable[str]) -> Kind:
    """Return the kind that all of ``values`` share; empty ones fit anywhere."""
    possible = {Kind.NUMBER: _NUMBER, Kind.COMMA_NUMBER: _COMMA_NUMBER, Kind.DATE: _DATE}
    seen = False
    for value in values:
        text = value.strip()
        if text in _EMPTY:
            continue
        seen = True
        bare = text if Kind.DATE in possible and _DATE.match(text) else _AFFIXES.sub("", text)
        possible = {kind: pattern for kind, pattern in possible.items() if pattern.match(bare)}
        if not possible:
            return Kind.TEXT
    return next(iter(possible)) if seen else Kind.TEXT
