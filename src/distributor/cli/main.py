"""From a command line to an exit code."""

from __future__ import annotations

from collections.abc import Sequence

from distributor.cli import exit_codes
from distributor.cli.failures import report_failure
from distributor.cli.parsing import parse, title_of

COMMANDS = {
    "init": "init",
    "run": "run",
    "plan": "plan",
    "status": "status",
    "reconcile-state": "reconcile_state",
    "prune": "prune",
    "bundle": "bundle",
    "config": "config",
    "schema": "schema",
}
"""Command to module of ``cli.commands``, in the order of the help."""


def main(argv: Sequence[str]) -> int:
    """Run one command; every error that leaves it becomes a message or a document, and a code."""
    title, as_json, verbose = title_of(COMMANDS, argv), "--json" in argv, 0
    try:
        args = parse(COMMANDS, argv)
        title, verbose = args.title, args.verbose
        code: int = args.execute(args)
    except SystemExit as stop:  # argparse has shown help or version
        return stop.code if isinstance(stop.code, int) else exit_codes.OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - nothing is hidden: it is reported, and the code says so
        return report_failure(error, title, as_json=as_json, verbose=verbose)
    return code
