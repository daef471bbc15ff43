"""Plans for people: a diff to read, deletions first and never hidden (fault row 9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from distributor.cli.render import INDENT, blocks, column, sentence, shortened, summary
from distributor.cli.render_run import result_details, result_heading
from distributor.cli.running import View
from distributor.cli.text import escape, padded, size
from distributor.core.plan import Plan
from distributor.core.policy import OwnerKey


class _Line(NamedTuple):
    """One path of a plan; ``bytes`` is ``None`` where it is not known."""

    path: str
    bytes: int | None


class _Group(NamedTuple):
    """Paths that are treated alike. ``whole`` groups are never shortened."""

    sign: str
    verb: str
    colour: str
    lines: tuple[_Line, ...]
    whole: bool

    @property
    def bytes(self) -> int:
        return sum(line.bytes or 0 for line in self.lines)


def render_plan(document: dict[str, Any], view: View) -> list[str]:
    """Return the report of a plan or dry run as lines."""
    lines = blocks([_result(result, view) for result in document["results"]])
    planned = any(result["status"] == "planned" for result in document["results"])
    return lines + summary(document) + (["", _closing(document)] if planned else [])


def _result(result: Mapping[str, Any], view: View) -> list[str]:
    plan = view.plans.get(OwnerKey(result["pipeline_id"], result["destination_id"]))
    diff = _diff(_groups(result, plan), view) if result["status"] == "planned" else []
    lines = [result_heading(result, view.style), *sentence(result["message"], view.style)]
    return lines + diff + result_details(result, view.style)


def _closing(document: Mapping[str, Any]) -> str:
    if document["command"] == "plan":
        return "Nothing was changed; `distributor run` with the same options does this."
    return "Nothing was changed: this was a dry run."


def _groups(result: Mapping[str, Any], plan: Plan | None) -> list[_Group]:
    outputs = result["outputs"]
    sizes = _sizes(plan) if plan else {}
    overwrites = set(plan.overwrites) if plan else set()

    def lines(paths: Iterable[str]) -> tuple[_Line, ...]:
        return tuple(_Line(path, sizes.get(path)) for path in paths)

    return [
        _Group("-", "delete", "red", lines(outputs["deleted"]), whole=True),
        _Group("+", "new", "green", lines(p for p in outputs["written"] if p not in overwrites), whole=True),
        _Group("~", "replace", "yellow", lines(p for p in outputs["written"] if p in overwrites), whole=True),
        _Group("=", "unchanged", "dim", lines(outputs["unchanged"]), whole=False),
        _Group(" ", "keep", "dim", lines(outputs["retained"]), whole=False),
    ]


def _sizes(plan: Plan) -> dict[str, int]:
    recorded = {record.path: record.size for record in plan.state.outputs}
    return recorded | {entry.path: entry.size for entry in plan.deletes}


def _diff(groups: list[_Group], view: View) -> list[str]:
    width = column((escape(line.path) for group in groups for line in group.lines), view.style, room=32)
    lines: list[str] = []
    for group in groups:
        drawn = [_line(group, line, width, view) for line in group.lines]
        lines += drawn if group.whole else shortened(drawn, group.verb, view.style, view.verbose)
    return [*lines, INDENT + _sum(groups)]


def _line(group: _Group, line: _Line, width: int, view: View) -> str:
    label = view.style.paint(f"{group.sign} {group.verb:<9}", group.colour)
    path = escape(line.path)
    if line.bytes is None:
        return f"{INDENT}{label}  {path}"
    return f"{INDENT}{label}  {padded(path, width)}  {view.style.paint(f'{size(line.bytes):>10}', 'dim')}"


def _sum(groups: list[_Group]) -> str:
    names = {"delete": "to delete", "new": "new", "replace": "to replace", "unchanged": "unchanged", "keep": "kept"}
    parts = [f"{len(group.lines):,} {names[group.verb]}" for group in groups if group.lines]
    moving = sum(group.bytes for group in groups if group.verb in ("new", "replace"))
    return ", ".join(parts or ["no files"]) + (f"; {size(moving)} to write" if moving else "")
