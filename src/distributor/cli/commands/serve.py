"""``distributor serve``: the upload server."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.cli.options import add_common, add_config
from distributor.cli.server_extra import needs_server_extra

SUMMARY = "take bundles in over HTTP, and publish them"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_config(parser)
    parser.add_argument("--host", metavar="ADDRESS", help="address to listen on; default: server.host")
    parser.add_argument(
        "--port", metavar="PORT", type=int, help="port to listen on, 0 for a free one; default: server.port"
    )
    parser.add_argument(
        "--no-worker", action="store_true", help="only take bundles in: workers run as processes of their own"
    )
    add_common(parser)


def execute(args: Namespace) -> int:
    """Serve until a signal; 0 after a clean end."""
    with needs_server_extra():  # here: the server's libraries are slow to import, and optional
        from distributor.server.configuration import LiveConfig
        from distributor.server.logs import configure_logs
        from distributor.server.serving import serve
    live = LiveConfig(args.config)
    configure_logs("debug" if args.verbose else live.current().log_level)
    serve(live, args.host, args.port, with_worker=not args.no_worker)
    return 0
