"""``distributor worker``: publishes what ``serve`` accepted."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.cli.options import add_common, add_config
from distributor.cli.server_extra import needs_server_extra

SUMMARY = "publish uploaded bundles and scheduled pipelines, beside `serve`"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_config(parser)
    parser.add_argument("--stop-with-stdin", action="store_true", help="stop when standard input ends")
    add_common(parser)


def execute(args: Namespace) -> int:
    """Work until a signal; 0 after a clean end."""
    with needs_server_extra():  # here: the server's libraries are slow to import, and optional
        from distributor.server.configuration import LiveConfig
        from distributor.server.logs import configure_logs
        from distributor.server.working import work
    live = LiveConfig(args.config)
    configure_logs("debug" if args.verbose else live.current().log_level)
    work(live, stop_with_stdin=args.stop_with_stdin)
    return 0
