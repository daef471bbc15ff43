"""``distributor bundle create`` and ``distributor bundle verify``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from distributor.app.bundles import CreateRequest, create, verify
from distributor.cli.options import add_common
from distributor.cli.render_bundle import render_bundle
from distributor.cli.running import Report, View, perform

SUMMARY = "make or check a bundle's manifest"


def configure(parser: ArgumentParser) -> None:
    """Add the two commands and their arguments."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    making = commands.add_parser("create", help="write manifest.json over a folder's files")
    making.add_argument("folder", metavar="DIR", help="the folder that becomes a bundle")
    making.add_argument("--id", required=True, help="the series: the editions of one report share it")
    making.add_argument("--created", metavar="T", help="RFC 3339 time of this edition; default: now")
    making.add_argument("--force", action="store_true", help="replace a manifest that is already there")
    making.set_defaults(part=_create, title="bundle create")
    add_common(making)
    checking = commands.add_parser("verify", help="check manifest, digests and sizes of a bundle")
    checking.add_argument("folder", metavar="DIR", help="the bundle")
    checking.set_defaults(part=_verify, title="bundle verify")
    add_common(checking)


def execute(args: Namespace) -> int:
    """Do what the chosen subcommand does."""
    code: int = args.part(args)
    return code


def _create(args: Namespace) -> int:
    request = CreateRequest(args.folder, args.id, args.created, args.force)
    return perform(args, lambda context: create(request, context), _renderer(args.folder))


def _verify(args: Namespace) -> int:
    return perform(args, lambda context: verify(args.folder, context), _renderer(args.folder))


def _renderer(folder: str) -> Callable[[Report, View], list[str]]:
    return lambda document, view: render_bundle(document, view, folder)
