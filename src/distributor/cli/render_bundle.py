"""``bundle create`` and ``bundle verify`` for people: problems grouped by file."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from distributor.cli.render import INDENT, heading
from distributor.cli.running import View
from distributor.cli.style import Style
from distributor.cli.text import count, escape, size


def render_bundle(document: dict[str, Any], view: View, folder: str) -> list[str]:
    """Return a bundle report as lines; every problem is shown."""
    style, problems = view.style, document["problems"]
    summary = (_count_problems(problems),) if problems else ()
    lines = [heading(folder, document["status"], summary, style)]
    if document["id"] is not None:
        lines += _facts(document, style)
    for path, group in groupby(problems, key=lambda problem: problem["path"]):
        lines.append(f"{INDENT}{style.paint(escape(path or folder), 'bold')}")
        lines += [f"{INDENT}  {escape(p['message'])}  {style.paint('[' + p['code'] + ']', 'dim')}" for p in group]
    if problems and document["command"] == "bundle create":
        lines += ["", "No manifest was written."]
    return lines


def _facts(document: dict[str, Any], style: Style) -> list[str]:
    amount = f"{count(document['files'], 'file')}, {size(document['bytes'])}"
    facts = (
        ("id", document["id"]),
        ("created", document["created"]),
        ("digest", document["digest"]),
        ("holds", amount),
    )
    return [f"{INDENT}{style.paint(f'{name:<8}', 'dim')} {escape(value)}" for name, value in facts]


def _count_problems(problems: list[dict[str, Any]]) -> str:
    places = len({problem["path"] for problem in problems})
    return f"{count(len(problems), 'problem')} in {count(places, 'place')}"
