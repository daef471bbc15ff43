"""``distributor reconcile-state``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.app.context import Context
from distributor.app.requests import RepairRequest
from distributor.cli.options import add_common, add_config, add_selection, selection
from distributor.cli.render_repair import render_reconcile
from distributor.cli.running import Report, load, perform

SUMMARY = "remove state records of outputs that no longer exist"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_selection(parser, one=True)
    parser.add_argument("--all-owners", action="store_true", help="in a shared root, check every owner's records")
    parser.add_argument("--allow-empty", action="store_true", help="go on even if every checked record would go")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and write nothing")
    add_config(parser)
    add_common(parser)


def execute(args: Namespace) -> int:
    """Repair one destination's state."""
    from distributor.app.repair import reconcile_state  # here: help and usage errors need none of it

    request = RepairRequest(selection(args), args.all_owners, args.allow_empty, args.dry_run)

    def use_case(context: Context) -> Report:
        return reconcile_state(load(args, request.selection), request, context)

    return perform(args, use_case, render_reconcile)
