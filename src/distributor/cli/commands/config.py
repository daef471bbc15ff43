"""``distributor config check``: every fault of a configuration at once."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from distributor.cli import exit_codes
from distributor.cli.failures import failure_document
from distributor.cli.options import add_common, add_config
from distributor.cli.output import say, write_document
from distributor.cli.style import Style, style_of
from distributor.cli.text import count, escape
from distributor.errors import ConfigError

if TYPE_CHECKING:
    from distributor.config.model import Config

SUMMARY = "check the configuration"
TITLE = "config check"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True, dest="config_command", title="commands")
    summary = "report every fault and warning of the configuration, with its line"
    check = commands.add_parser("check", help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    check.set_defaults(title=TITLE)
    add_config(check)
    add_common(check)


def execute(args: Namespace) -> int:
    """Check all pipelines, the server's keys and every variable (H1)."""
    from distributor.config.loading import find_config, load_config

    style = style_of(sys.stderr, os.environ)
    path = None
    try:
        path = find_config(args.config, os.environ)
        config = load_config(path, server=True)
    except ConfigError as error:
        if args.json:
            write_document({**failure_document(error, TITLE), "path": path, "warnings": []})
        else:
            say(_fault_lines(error, path, style))
        return exit_codes.USAGE
    if args.json:
        warnings = list(config.warnings)
        document = {"report_version": 1, "command": TITLE, "path": config.path, "warnings": warnings, "error": None}
        return exit_codes.OK if write_document(document) else exit_codes.FAILED
    if not args.quiet:
        say(_overview(config, path, style))
    return exit_codes.OK


def _fault_lines(error: ConfigError, path: str | None, style: Style) -> list[str]:
    """Return one block a fault: where it is, as editors and terminals link it, and what it is."""
    found = count(len(error.problems), "fault")
    message = f"{path}: {found} found" if error.problems else str(error)
    lines = [f"{style.paint('error:', 'red', 'bold')} {escape(message)}"]
    for problem in error.problems:
        place = ":".join(str(part) for part in (path, problem.line) if part is not None)
        where = f"{style.paint(escape(place), 'bold')}  {escape(problem.path or '')}".rstrip()
        lines += [f"  {where}", f"      {escape(problem.message)}"]
    return lines


def _overview(config: Config, path: str, style: Style) -> list[str]:
    destinations = sum(len(pipeline.destinations) for pipeline in config.pipelines)
    amount = f"{count(len(config.pipelines), 'pipeline')}, {count(destinations, 'destination')}"
    lines = [f"{style.paint(style.symbol('✓') + ' valid', 'green')}  {escape(path)}: {amount}"]
    for pipeline in config.pipelines:
        lines += [
            f"  {pipeline.id}/{destination.id}  {style.symbol('→')}  {escape(destination.url)}"
            for destination in pipeline.destinations
        ]
    lines += [f"{style.paint('warning:', 'yellow')} {escape(warning)}" for warning in config.warnings]
    return lines
