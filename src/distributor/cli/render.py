"""What every report for people is made of: headings, lists, sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from distributor.cli.style import Style
from distributor.cli.text import columns, count, escape, padded

INDENT = "    "
SHOWN = 10
"""How many of a long list of unimportant paths are shown without ``-v``."""


class Look(NamedTuple):
    """A status as a symbol and colours; the word itself is always written too."""

    symbol: str
    colours: tuple[str, ...]


_GOOD, _DUE, _IDLE = Look("✓", ("green",)), Look("→", ("cyan",)), Look("·", ("dim",))
_CONFLICT, _FAILED, _LOCKED = Look("▲", ("yellow",)), Look("✗", ("red",)), Look("⊘", ("yellow",))

LOOKS = {
    "published": _GOOD,
    "planned": _DUE,
    "skipped": _IDLE,
    "conflict": _CONFLICT,
    "locked": _LOCKED,
    "failed": _FAILED,
    "clean": _GOOD,
    "repaired": _GOOD,
    "pruned": _GOOD,
    "valid": _GOOD,
    "created": _GOOD,
    "invalid": _FAILED,
    "managed": _GOOD,
    "empty": _IDLE,
    "unmanaged": _CONFLICT,
    "drift": _CONFLICT,
}


def heading(name: str, status: str, extra: Iterable[object], style: Style) -> str:
    """Return the first line about something: symbol, name, status in words, and why."""
    look = LOOKS[status]
    mark = style.paint(style.symbol(look.symbol), *look.colours, "bold")
    word = style.paint(status, *look.colours, "bold")
    words = ", ".join(str(part).replace("_", " ") for part in extra if part and part not in ("none", status))
    tail = "  " + style.paint(words, "dim") if words else ""
    return f"{mark} {style.paint(escape(name), 'bold')}  {word}{tail}"


def sentence(message: object, style: Style) -> list[str]:
    """Return a sentence, indented, and broken where the stream has a width."""
    text = escape(str(message or ""))
    if not text:
        return []
    if not style.width:
        return [INDENT + text]
    from textwrap import wrap  # here: only a terminal needs it

    return wrap(
        text,
        min(style.width, 100),
        initial_indent=INDENT,
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def owner_of(item: Mapping[str, Any]) -> str:
    """Return ``pipeline/destination``, or ``not managed`` where nobody owns it."""
    pipeline, destination = item.get("pipeline_id"), item.get("destination_id")
    return "not managed" if pipeline is None else f"owned by {escape(f'{pipeline}/{destination}')}"


def conflict_list(conflicts: Sequence[Mapping[str, Any]], style: Style) -> list[str]:
    """Return every colliding path with its owner; never shortened."""
    width = column((escape(item["path"]) for item in conflicts), style)
    dash = style.symbol("—")
    return [f"{INDENT}  {padded(escape(item['path']), width)} {dash} {owner_of(item)}" for item in conflicts]


def failed_list(failed: Sequence[Mapping[str, Any]], style: Style) -> list[str]:
    """Return every path that failed, and why; never shortened."""
    return [f"{INDENT}  {style.paint(escape(f['path']), 'bold')}: {escape(f['message'])}" for f in failed]


def shortened(lines: list[str], what: str, style: Style, verbose: int) -> list[str]:
    """Return a list of unimportant lines with its middle left out, unless ``-v`` asks for all."""
    if verbose or len(lines) <= SHOWN:
        return lines
    head, tail = lines[: SHOWN - 3], lines[-2:]
    left = len(lines) - len(head) - len(tail)
    more = style.paint(f"{style.symbol('…')} and {left:,} more {what} (-v shows all)", "dim")
    return [*head, f"{INDENT}  {more}", *tail]


def column(texts: Iterable[str], style: Style, room: int = 24) -> int:
    """Return the width of a column that holds ``texts``, leaving ``room`` for what follows."""
    widest = max((columns(text) for text in texts), default=0)
    return min(widest, max(20, (style.width or 100) - room))


def blocks(parts: Sequence[list[str]]) -> list[str]:
    """Return the lines of several destinations, a blank line between two."""
    return [line for index, part in enumerate(parts) for line in ([""] if index else []) + part]


def summary(document: Mapping[str, Any]) -> list[str]:
    """Return the closing line over several destinations."""
    results = document["results"]
    if len(results) < 2:
        return []
    counts: dict[str, int] = {}
    for result in results:
        counts[result["status"]] = counts.get(result["status"], 0) + 1
    ordered = [f"{counts[status]:,} {status}" for status in LOOKS if status in counts]
    return ["", f"{count(len(results), 'destination')}: {', '.join(ordered)}"]
