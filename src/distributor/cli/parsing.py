"""Arguments to a namespace; a wrong call is a ``UsageError``, never an exit from within."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Mapping, Sequence
from typing import NoReturn, Protocol, cast

from distributor.errors import UsageError

GROUPS = ("bundle", "config", "token")
"""Commands that have commands of their own."""


class Command(Protocol):
    """What a module of ``cli.commands`` provides."""

    SUMMARY: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""

    def execute(self, args: argparse.Namespace) -> int:
        """Do it and return the exit code."""


class Formatter(argparse.HelpFormatter):
    """Help with room for the longest command, and no wider than is good to read."""

    def __init__(self, prog: str) -> None:
        # Given no width, the base class imports shutil and all of its compressors, for every argument that is added.
        super().__init__(prog, max_help_position=26, width=min(_columns(), 100) - 2)

    def add_argument(self, action: argparse.Action) -> None:
        """Add an argument; the names of commands are indented, which the base class does not count."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER and action.choices:
            self._action_max_length = max(self._action_max_length, 4 + max(map(len, action.choices)))


class Parser(argparse.ArgumentParser):
    """An argument parser that raises ``UsageError`` and takes no abbreviated options."""

    def __init__(self, *args: object, **options: object) -> None:
        options["allow_abbrev"] = False
        options["formatter_class"] = Formatter
        super().__init__(*args, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the call, and where its help is."""
        raise UsageError(f"{self.prog}: {message}", hint=f"see `{self.prog} --help`")


def load_command(module: str) -> Command:
    """Import one command's module."""
    return cast("Command", importlib.import_module(f"distributor.cli.commands.{module}"))


def build(commands: Mapping[str, str], only: str | None) -> Parser:
    """Return the parser of the whole program, or of one command where its name is known.

    Only the named command's module is imported, for start-up's sake.
    """
    parser = Parser(
        prog="distributor",
        description="Publishes bundles of report files to folders, SFTP servers and object stores, "
        "and never deletes what is not its own.",
        epilog="See `distributor COMMAND --help` for one command.",
    )
    parser.add_argument("--version", action="version", version=_version())
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, dest="command", title="commands")
    for name in [only] if only else commands:
        command = load_command(commands[name])
        sub = subparsers.add_parser(name, help=command.SUMMARY, description=_sentence(command.SUMMARY))
        sub.set_defaults(execute=command.execute, title=name)
        command.configure(sub)
    return parser


def parse(commands: Mapping[str, str], argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line. Raises ``UsageError``; ``SystemExit`` after ``--help`` and ``--version``."""
    word = _first_word(argv)
    if word is not None and word not in commands:
        raise UsageError(f"there is no command {word!r}", hint=_suggestion(word, commands))
    return build(commands, word).parse_args(argv)


def title_of(commands: Mapping[str, str], argv: Sequence[str]) -> str | None:
    """Return which command a command line means (``bundle verify``), even if the rest of it is wrong."""
    word = _first_word(argv)
    if word not in commands:
        return None
    if word not in GROUPS:
        return word
    after = argv[list(argv).index(word) + 1 :]
    return f"{word} {after[0]}" if after and not after[0].startswith("-") else word


def _first_word(argv: Sequence[str]) -> str | None:
    # The program's own options (--help, --version) take no value.
    return next((arg for arg in argv if not arg.startswith("-")), None)


def _suggestion(word: str, commands: Mapping[str, str]) -> str:
    from difflib import get_close_matches  # here: only a wrong word needs it

    near = get_close_matches(word, commands, 1)
    return f"did you mean `distributor {near[0]}`?" if near else "see `distributor --help`"


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _version() -> str:
    from distributor import __version__

    return f"distributor {__version__}"
