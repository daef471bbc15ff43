"""``distributor schema``: JSON Schemas for editors and other programs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.cli.options import add_common

SUMMARY = "print the JSON Schema of a configuration, manifest, state or report"
NAMES = ("config", "manifest", "state", "report")


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", choices=NAMES, help="what to describe; all are draft 7")
    add_common(parser)


def execute(args: Namespace) -> int:
    """Write one schema to standard output, with ``--json`` or without."""
    from distributor.cli import exit_codes
    from distributor.cli.output import write_document
    from distributor.config.schema import schema

    return exit_codes.OK if write_document(schema(args.name)) else exit_codes.FAILED
