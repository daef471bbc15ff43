"""``status`` for people: one row for each destination, and what needs attention below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from distributor.cli.render import INDENT, LOOKS, sentence
from distributor.cli.running import View
from distributor.cli.style import Style
from distributor.cli.text import age, columns, count, escape, padded, size

_HEADS = ("DESTINATION", "STATUS", "SOURCE", "PUBLISHED", "OUTPUTS", "SIZE")
_RIGHT = (4, 5)
_SHRINK = ((2, 20), (0, 24), (2, 10), (0, 12))
"""Columns that are cut where a terminal is too narrow, and how far."""


def render_status(document: dict[str, Any], view: View) -> list[str]:
    """Return a status report as a table."""
    results, style = document["results"], view.style
    rows = [_row(result, view) for result in results]
    widths = _fit([max(map(columns, cells)) for cells in zip(_HEADS, *rows, strict=True)], style)
    lines = ["  " + style.paint("  ".join(_cells(_HEADS, widths, style)).rstrip(), "bold")]
    for result, row in zip(results, rows, strict=True):
        look = LOOKS[result["status"]]
        cells = _cells(row, widths, style)
        cells[1] = style.paint(cells[1], *look.colours)
        lines.append(f"{style.paint(style.symbol(look.symbol), *look.colours, 'bold')} {'  '.join(cells).rstrip()}")
        lines += _notes(result, view)
    return lines


def _row(result: Mapping[str, Any], view: View) -> tuple[str, ...]:
    source = result["source"]
    return (
        escape(f"{result['pipeline_id']}/{result['destination_id']}"),
        result["status"],
        escape(source["id"]) if source else "",
        age(result["published_at"] or result["updated_at"], view.now),
        "" if result["outputs"] is None else f"{result['outputs']:,}",
        "" if result["bytes"] is None else size(result["bytes"]),
    )


def _fit(widths: list[int], style: Style) -> list[int]:
    over = 2 + sum(widths) + 2 * (len(widths) - 1) - style.width if style.width else 0
    for index, least in _SHRINK:
        cut = min(max(over, 0), max(widths[index] - least, 0))
        widths[index] -= cut
        over -= cut
    return widths


def _cells(texts: Sequence[str], widths: list[int], style: Style) -> list[str]:
    return [
        " " * (width - columns(text)) + text if index in _RIGHT else padded(_cut(text, width, style), width)
        for index, (text, width) in enumerate(zip(texts, widths, strict=True))
    ]


def _cut(text: str, width: int, style: Style) -> str:
    """Shorten in the middle: both ends of an id tell it from others."""
    if columns(text) <= width:
        return text
    dots = style.symbol("…")
    head = (width - len(dots)) // 2
    tail = width - len(dots) - head
    return text[:head] + dots + text[-tail:]


def _notes(result: Mapping[str, Any], view: View) -> Iterator[str]:
    style = view.style
    yield from sentence(result.get("message"), style)
    if result["locked_by"]:
        yield from sentence(f"locked by {result['locked_by']}", style)
    if result["pending_journal"]:
        yield from sentence("an interrupted run left a journal: the next run finishes or undoes it", style)
    owners = result["owners"] or []
    if len(owners) > 1:
        names = ", ".join(f"{owner['pipeline_id']}/{owner['destination_id']}" for owner in owners)
        yield from sentence(f"shared by {count(len(owners), 'owner')}: {names}", style)
    if result.get("primary_url"):
        yield INDENT + style.link(escape(result["primary_url"]))
