"""Reports of ``run`` for people: what happened at each destination, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distributor.cli.render import INDENT, blocks, conflict_list, failed_list, heading, sentence, shortened, summary
from distributor.cli.running import View
from distributor.cli.style import Style
from distributor.cli.text import count, escape, size


def render_run(document: dict[str, Any], view: View) -> list[str]:
    """Return a run report as lines."""
    return blocks([_result(result, view) for result in document["results"]]) + summary(document)


def _result(result: Mapping[str, Any], view: View) -> list[str]:
    style = view.style
    lines = [result_heading(result, style), *sentence(result["message"], style)]
    if result["status"] == "published":
        lines += [INDENT + amounts(result, "sent"), *_paths(result, view)]
    return lines + result_details(result, style)


def result_heading(result: Mapping[str, Any], style: Style) -> str:
    """Return the line that names destination, status, action and reason."""
    name = f"{result['pipeline_id']}/{result['destination_id']}"
    return heading(name, result["status"], (result["action"], result["reason"]), style)


def result_details(result: Mapping[str, Any], style: Style) -> list[str]:
    """Return what has to be seen whatever the status: collisions, failures, recovery, the page."""
    lines: list[str] = []
    if result["conflicts"]:
        lines += [f"{INDENT}in the way ({len(result['conflicts']):,}):", *conflict_list(result["conflicts"], style)]
    if result["failed"]:
        lines += [f"{INDENT}failed ({len(result['failed']):,}):", *failed_list(result["failed"], style)]
    if result["recovered"]:
        lines += sentence("an interrupted run was found here and finished or undone first", style)
    if result["migrated"]:
        lines += sentence("the state was migrated to a shared root", style)
    if result["primary_url"]:
        lines.append(INDENT + style.link(escape(result["primary_url"])))
    return lines


def amounts(result: Mapping[str, Any], verb: str) -> str:
    """Return how many outputs were treated how, and how many bytes were (or are to be) sent."""
    outputs = result["outputs"]
    parts = [f"{len(outputs['deleted']):,} deleted"] if outputs["deleted"] else []
    parts.append(f"{count(len(outputs['written']), 'file')} written, {size(result['bytes_transferred'])} {verb}")
    parts += [f"{len(outputs[key]):,} {key}" for key in ("unchanged", "retained") if outputs[key]]
    return "; ".join(parts)


def _paths(result: Mapping[str, Any], view: View) -> list[str]:
    style, outputs = view.style, result["outputs"]
    lines = [f"{INDENT}  {style.paint('- deleted', 'red')}  {escape(path)}" for path in outputs["deleted"]]
    if view.verbose:
        lines += [f"{INDENT}  {style.paint('+ written', 'green')}  {escape(path)}" for path in outputs["written"]]
        kept = [f"{INDENT}  {style.paint('= kept', 'dim')}     {escape(path)}" for path in outputs["retained"]]
        lines += shortened(kept, "kept", style, view.verbose)
    return lines
