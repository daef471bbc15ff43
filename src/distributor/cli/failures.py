"""Errors that end a command: as a document, or as sentences on stderr (interfaces §4, G8)."""

from __future__ import annotations

import os
import signal
import sys
from types import TracebackType

from distributor.cli import exit_codes
from distributor.cli.output import say, write_document
from distributor.cli.style import Style, style_of
from distributor.cli.text import count, escape
from distributor.errors import (
    BundleError,
    ConfigError,
    ConflictError,
    DistributorError,
    Interrupted,
    LockedError,
    Problem,
    UsageError,
)

WITH_RESULTS = ("run", "plan", "status", "verify", "adopt", "retire", "doctor")
"""Commands whose documents have ``results``, also where they could not get that far."""

_KINDS = ((UsageError, "usage"), (ConfigError, "config"), (Interrupted, "interrupted"))
_CODES = (
    (UsageError, exit_codes.USAGE),
    (ConfigError, exit_codes.USAGE),
    (BundleError, exit_codes.INVALID_BUNDLE),
    (LockedError, exit_codes.LOCKED),
    (ConflictError, exit_codes.CONFLICT),
)


def report_failure(error: BaseException, command: str | None, *, as_json: bool, verbose: int) -> int:
    """Report an error that ended ``command`` and return the exit code.

    A traceback is shown with ``-v`` only, and without the error's own text: that of
    a foreign error may hold anything, a password included.
    """
    if isinstance(error, KeyboardInterrupt):
        error = Interrupted(signal.SIGINT)
    if not isinstance(error, DistributorError):
        say(_frames(error) if verbose else ())
        error = _internal(error)
    if as_json:
        write_document(failure_document(error, command))
    else:
        say(failure_lines(error, style_of(sys.stderr, os.environ)))
    return code_of(error)


def failure_document(error: DistributorError, command: str | None) -> dict[str, object]:
    """Return the document of a command that could not get as far as a result."""
    kind = next((kind for cls, kind in _KINDS if isinstance(error, cls)), "internal")
    details = [{"message": p.message, "line": p.line, "path": p.path} for p in problems_of(error)]
    document: dict[str, object] = {"report_version": 1, "command": command}
    if command in WITH_RESULTS:
        document["results"] = []
    return document | {"error": {"kind": kind, "message": str(error), "details": details}}


def failure_lines(error: DistributorError, style: Style) -> list[str]:
    """Return an error as lines for a person, every detail of it."""
    label = style.paint("error:", "red", "bold") if not isinstance(error, Interrupted) else "stopped:"
    lines = [f"{label} {escape(error.message)}"]
    for problem in problems_of(error):
        where = [f"line {problem.line}"] if problem.line is not None else []
        where += [escape(problem.path)] if problem.path else []
        prefix = style.paint(": ".join(where), "bold") + ": " if where else ""
        lines.append(f"  {prefix}{escape(problem.message)}")
    if error.hint:
        lines.append(f"  {escape(error.hint)}")
    return lines


def problems_of(error: DistributorError) -> tuple[Problem, ...]:
    """Return the single problems that an error is made of."""
    return error.problems if isinstance(error, ConfigError | BundleError) else ()


def code_of(error: DistributorError) -> int:
    """Return the exit code that an error stands for."""
    if isinstance(error, Interrupted):
        return exit_codes.of_signal(error.signal_number)
    return next((code for cls, code in _CODES if isinstance(error, cls)), exit_codes.FAILED)


def _internal(error: BaseException) -> DistributorError:
    kind = type(error).__name__
    where = _steps(error.__traceback__)
    last = f" at {where[-1]}" if where else ""
    message = f"an unexpected {kind}{last}: this is a fault of distributor itself"
    return DistributorError(message, hint="run it again with -v for the way there, and report it")


def _frames(error: BaseException) -> list[str]:
    steps = _steps(error.__traceback__)
    return [f"{count(len(steps), 'step')} to an unexpected {type(error).__name__}:", *(f"  {step}" for step in steps)]


def _steps(trace: TracebackType | None) -> list[str]:
    steps = []
    while trace is not None:
        code = trace.tb_frame.f_code
        steps.append(f"{code.co_filename}:{trace.tb_lineno} in {code.co_qualname}")
        trace = trace.tb_next
    return steps
