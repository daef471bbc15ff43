"""``distributor status``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.app.context import Context
from distributor.cli.options import add_common, add_config, add_selection, selection
from distributor.cli.render_status import render_status
from distributor.cli.running import Report, load, perform

SUMMARY = "show what each destination holds"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_selection(parser)
    add_config(parser)
    add_common(parser)


def execute(args: Namespace) -> int:
    """Look at each destination."""
    from distributor.app.status import status  # here: help and usage errors need none of it

    chosen = selection(args)

    def use_case(context: Context) -> Report:
        return status(load(args, chosen), chosen, context)

    return perform(args, use_case, render_status)
