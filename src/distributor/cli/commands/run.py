"""``distributor run``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.cli.options import add_common, add_config
from distributor.cli.publishing import add_publishing, publish, request_of
from distributor.cli.running import Report, View, perform

SUMMARY = "publish bundles to their destinations"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_publishing(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and write nothing")
    add_config(parser)
    add_common(parser)


def execute(args: Namespace) -> int:
    """Publish."""
    request = request_of(args, "run", dry_run=args.dry_run)

    return perform(args, lambda context: publish(args, request, context), _render_plan if args.dry_run else _render_run)


def _render_run(document: Report, view: View) -> list[str]:
    from distributor.cli.render_run import render_run  # here: not needed with --json

    return render_run(document, view)


def _render_plan(document: Report, view: View) -> list[str]:
    from distributor.cli.render_plan import render_plan  # here: only a dry run needs it

    return render_plan(document, view)
