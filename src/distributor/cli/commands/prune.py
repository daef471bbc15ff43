"""``distributor prune``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.app.context import Context
from distributor.app.requests import PruneRequest
from distributor.cli.options import add_common, add_config, add_selection, selection
from distributor.cli.render_repair import render_prune
from distributor.cli.running import Report, load, perform

SUMMARY = "delete outputs that the retention policy lets go"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_selection(parser, one=True)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--dry-run", action="store_true", help="show what would be deleted (the default)")
    choice.add_argument("--apply", action="store_true", help="delete it")
    add_config(parser)
    add_common(parser)


def execute(args: Namespace) -> int:
    """Prune one destination; without ``--apply`` show what would go (F5)."""
    from distributor.app.prune import prune  # here: help and usage errors need none of it

    request = PruneRequest(selection(args), args.apply)

    def use_case(context: Context) -> Report:
        return prune(load(args, request.selection), request, context)

    return perform(args, use_case, render_prune)
