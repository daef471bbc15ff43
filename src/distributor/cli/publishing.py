"""What ``run`` and ``plan`` have in common: their selectors and one-run overrides (D3, D4, D20)."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.app.context import Context
from distributor.app.requests import RunRequest
from distributor.cli.options import add_selection, selection
from distributor.cli.running import Report, load
from distributor.config.scalars import parse_delete_limit_option
from distributor.core.policy import DeleteLimit, TakeoverMode
from distributor.errors import UsageError


def add_publishing(parser: ArgumentParser) -> None:
    """Add the options of a publication."""
    add_selection(parser)
    parser.add_argument("--bundle", metavar="DIR", help="publish this bundle in place of the pipeline's source.path")
    group = parser.add_argument_group("overrides for this run")
    group.add_argument("--force", action="store_true", help="replace what is in the way, unmanaged files included")
    group.add_argument("--republish", action="store_true", help="publish again what is already published")
    group.add_argument("--checksum", action="store_true", help="compare stored bytes, not recorded digests and sizes")
    group.add_argument("--allow-empty", action="store_true", help="let a plan without outputs delete the recorded ones")
    group.add_argument("--allow-older", action="store_true", help="replace a newer edition by this one")
    group.add_argument(
        "--takeover",
        metavar="MODE",
        choices=[mode.value for mode in TakeoverMode],
        help="take over from another source or owner: never, source, owner, any",
    )
    group.add_argument("--max-delete", metavar="N", help="delete at most N files, or a share such as 50%%")


def request_of(args: Namespace, command: str, *, dry_run: bool) -> RunRequest:
    """Return what the options ask for. Raises ``UsageError``."""
    return RunRequest(
        selection=selection(args),
        bundle=args.bundle,
        dry_run=dry_run,
        command=command,
        force=args.force,
        republish=args.republish,
        checksum=args.checksum,
        allow_empty=args.allow_empty,
        allow_older=args.allow_older,
        takeover=TakeoverMode(args.takeover) if args.takeover else None,
        max_delete=_limit(args.max_delete),
    )


def publish(args: Namespace, request: RunRequest, context: Context) -> Report:
    """Carry out a request, with the configuration's warnings shown first (D4)."""
    from distributor.app.publish import run  # here: help and usage errors need none of it

    config = load(args, request.selection)
    for warning in config.warnings:
        context.progress.note(f"warning: {warning}")
    return run(config, request, context)


def _limit(text: str | None) -> DeleteLimit | None:
    if text is None:
        return None
    limit = parse_delete_limit_option(text)
    if limit is None:
        raise UsageError(f"--max-delete {text!r} is neither a count nor a share such as 50%")
    return limit
