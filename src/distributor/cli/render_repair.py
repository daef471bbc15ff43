"""``reconcile-state`` and ``prune`` for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distributor.cli.render import INDENT, column, failed_list, heading, owner_of, sentence, shortened
from distributor.cli.running import View
from distributor.cli.style import Style
from distributor.cli.text import count, escape, moment, padded, size


def render_reconcile(document: dict[str, Any], view: View) -> list[str]:
    """Return a report of ``reconcile-state`` as lines."""
    style, missing, unmanaged = view.style, document["missing"], document["unmanaged"]
    lines = [_heading(document, style), *sentence(document["message"], style)]
    if missing:
        done = "removed from the state" if document["status"] == "repaired" else "recorded, but not there"
        width = column((escape(item["path"]) for item in missing), style)
        lines.append(f"{INDENT}{done} ({len(missing):,}):")
        lines += [f"{INDENT}  {padded(escape(m['path']), width)} {style.symbol('—')} {owner_of(m)}" for m in missing]
    if unmanaged:
        lines.append(f"{INDENT}there, but not managed ({len(unmanaged):,}); they were left alone:")
        lines += shortened([f"{INDENT}  {escape(path)}" for path in unmanaged], "not managed", style, view.verbose)
    if document["status"] == "planned":
        lines += ["", "Nothing was changed: this was a dry run."]
    return lines


def render_prune(document: dict[str, Any], view: View) -> list[str]:
    """Return a report of ``prune`` as lines: every deletion with its date and size."""
    style, deletes = view.style, document["deletes"]
    lines = [_heading(document, style), *sentence(document["message"], style)]
    width = column((escape(item["path"]) for item in deletes), style, room=44)
    lines += [_deletion(item, width, style) for item in deletes]
    if deletes or document["kept"]:
        total = size(sum(item["size"] for item in deletes))
        verb = "deleted" if document["status"] == "pruned" else "to delete"
        lines.append(f"{INDENT}{count(len(deletes), 'file')} {verb}, {total}; {document['kept']:,} kept")
    if document["failed"]:
        lines += [f"{INDENT}failed ({len(document['failed']):,}):", *failed_list(document["failed"], style)]
    if document["status"] == "planned":
        lines += ["", "Nothing was deleted; `--apply` does it."]
    return lines


def _heading(document: Mapping[str, Any], style: Style) -> str:
    name = f"{document['pipeline_id']}/{document['destination_id']}"
    return heading(name, document["status"], (document["reason"],), style)


def _deletion(item: Mapping[str, Any], width: int, style: Style) -> str:
    facts = style.paint(f"{moment(item['updated_at'])}  {size(item['size']):>10}", "dim")
    return f"{INDENT}{style.paint('- delete', 'red')}  {padded(escape(item['path']), width)}  {facts}"
