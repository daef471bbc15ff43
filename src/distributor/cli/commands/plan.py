"""``distributor plan``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.cli.exit_codes import detailed
from distributor.cli.options import add_common, add_config
from distributor.cli.publishing import add_publishing, publish, request_of
from distributor.cli.render_plan import render_plan
from distributor.cli.running import perform

SUMMARY = "show what `run` would do, and write nothing"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_publishing(parser)
    parser.add_argument("--detailed-exitcode", action="store_true", help="exit with 10 if there are changes to make")
    add_config(parser)
    add_common(parser)


def execute(args: Namespace) -> int:
    """Plan."""
    request = request_of(args, "plan", dry_run=True)

    return perform(
        args,
        lambda context: publish(args, request, context),
        render_plan,
        judge=detailed if args.detailed_exitcode else None,
    )
