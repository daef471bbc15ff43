"""Options that several commands share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.app.requests import Selection


def add_common(parser: ArgumentParser) -> None:
    """Add what every command takes."""
    group = parser.add_argument_group("common options")
    group.add_argument("--json", action="store_true", help="write one JSON report to standard output")
    group.add_argument("-v", "--verbose", action="count", default=0, help="say more; twice: everything")
    group.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")


def add_config(parser: ArgumentParser) -> None:
    """Add ``--config``."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="configuration; default: $DISTRIBUTOR_CONFIG, distributor.yml here, then the user's and the system's",
    )


def add_selection(parser: ArgumentParser, *, one: bool = False) -> None:
    """Add ``-p`` and ``-d``; with ``one`` each at most once."""
    action = "store" if one else "append"
    default = "default: the one there is" if one else "may be repeated; default: all"
    parser.add_argument("-p", "--pipeline", metavar="PIPELINE", action=action, help=f"pipeline; {default}")
    parser.add_argument("-d", "--destination", metavar="DESTINATION", action=action, help=f"destination; {default}")


def selection(args: Namespace) -> Selection:
    """Return what ``-p`` and ``-d`` select."""
    return Selection(_values(args.pipeline), _values(args.destination))


def _values(given: str | list[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)
