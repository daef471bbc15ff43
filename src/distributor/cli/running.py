"""Carrying out one use case: signals, progress, report, exit code."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from distributor.app import clock
from distributor.app.context import Context
from distributor.app.requests import Selection
from distributor.cli import exit_codes
from distributor.cli.failures import failure_document
from distributor.cli.output import say, write_document
from distributor.cli.progress import progress_for
from distributor.cli.signals import Interruption
from distributor.cli.style import Style, style_of
from distributor.core.policy import OwnerKey
from distributor.errors import Interrupted

if TYPE_CHECKING:
    from distributor.config.model import Config
    from distributor.core.plan import Plan

Report = dict[str, Any]
"""A document of interfaces §4."""


class View(NamedTuple):
    """How a person wants to see a report, and what is known beside it."""

    style: Style
    verbose: int
    now: datetime
    plans: Mapping[OwnerKey, Plan]


def perform(
    args: Namespace,
    use_case: Callable[[Context], Report],
    render: Callable[[Report, View], list[str]],
    judge: Callable[[int, Report], int] | None = None,
) -> int:
    """Run ``use_case``, show its report as asked for, and return the exit code.

    ``judge`` may turn the code into another, given the report.

    Errors of the use case go on to the caller. A process that was asked to stop
    exits as such even if the work could still be finished (G10).
    """
    interruption = Interruption(lambda number: _last_words(args, number))
    interruption.install()
    style = style_of(sys.stderr, os.environ)
    plans: dict[OwnerKey, Plan] = {}
    progress = progress_for(style, quiet=args.quiet, verbose=args.verbose)
    try:
        document = use_case(Context(clock.now, interruption.check, progress, plans.__setitem__))
    finally:
        progress.finish()
    code = exit_codes.exit_code(document)
    code = judge(code, document) if judge else code
    if args.json:
        written = write_document(document)
        code = code if written or code else exit_codes.FAILED
    elif not args.quiet or code:
        say(render(document, View(style, args.verbose, clock.now(), plans)))
    return code if interruption.number is None else exit_codes.of_signal(interruption.number)


def load(args: Namespace, chosen: Selection) -> Config:
    """Load the configuration for the chosen pipelines. Raises ``ConfigError`` and ``UsageError``."""
    from distributor.config.loading import load_config  # here: bundle commands read no configuration

    return load_config(args.config, pipelines=chosen.pipelines)


def _last_words(args: Namespace, number: int) -> None:
    if args.json:
        write_document(failure_document(Interrupted(number), args.title))
    else:
        say(["stopped before everything was finished; the next run takes it up from the journal"])
