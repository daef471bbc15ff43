"""``distributor token``: create, list and revoke upload tokens in the server's database."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from distributor.app import clock
from distributor.cli.options import add_common, add_config
from distributor.cli.output import say, write_document, write_stdout
from distributor.cli.server_extra import needs_server_extra
from distributor.errors import UsageError

if TYPE_CHECKING:
    from distributor.config.model import Config
    from distributor.server.tokens import Tokens

SUMMARY = "create, list and revoke the tokens that uploads need"


def configure(parser: ArgumentParser) -> None:
    """Add the three commands."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    create = commands.add_parser("create", help="make a token and show it once")
    create.add_argument("name", metavar="NAME", help="who will use it; it appears in the audit log")
    scope = create.add_mutually_exclusive_group(required=True)
    scope.add_argument("-p", "--pipeline", metavar="PIPELINE", action="append", help="pipeline it may upload to")
    scope.add_argument("--all-pipelines", action="store_true", help="it may upload to every pipeline, future ones too")
    revoke = commands.add_parser("revoke", help="make a token useless at once")
    revoke.add_argument("name", metavar="NAME", help="the token's name")
    listed = commands.add_parser("list", help="show every token, never its secret")
    for name, command, part in (("create", create, _create), ("list", listed, _list), ("revoke", revoke, _revoke)):
        command.set_defaults(part=part, title=f"token {name}")
        add_config(command)
        add_common(command)


def execute(args: Namespace) -> int:
    """Do what the chosen subcommand does."""
    code: int = args.part(args)
    return code


def _open(args: Namespace) -> tuple[Tokens, Config]:
    with needs_server_extra():  # here: the database library is slow to import, and optional
        from distributor.server.database import open_database
        from distributor.server.settings import settings_of
        from distributor.server.tokens import Tokens
    from distributor.config.loading import load_config

    config = load_config(args.config, server=True)
    return Tokens(open_database(settings_of(config).database)), config


def _create(args: Namespace) -> int:
    tokens, config = _open(args)
    known = [pipeline.id for pipeline in config.pipelines]
    for wanted in args.pipeline or ():
        if wanted not in known:
            raise UsageError(f"no pipeline is called {wanted!r}", hint=f"there are: {', '.join(known)}")
    pipelines = ["*"] if args.all_pipelines else args.pipeline
    secret = tokens.create(args.name, pipelines, clock.now())
    scope = ", ".join(sorted(pipelines))
    document: dict[str, object] = {"name": args.name, "pipelines": sorted(pipelines), "token": secret}
    _show(args, document, [f"token {args.name} for {scope}; it is not shown again:"])
    if not args.json:
        write_stdout(f"{secret}\n".encode())
    return 0


def _list(args: Namespace) -> int:
    tokens, config = _open(args)
    from distributor.server.settings import settings_of

    rows: list[dict[str, object]] = [
        {
            "name": token.name,
            "pipelines": list(token.pipelines),
            "created_at": _time(token.created_at),
            "revoked_at": None if token.revoked_at is None else _time(token.revoked_at),
            "source": "database",
        }
        for token in tokens.stored()
    ]
    rows += [
        {
            "name": t.name,
            "pipelines": list(t.pipelines),
            "created_at": None,
            "revoked_at": None,
            "source": "configuration",
        }
        for t in settings_of(config).tokens
    ]
    _show(
        args, {"tokens": rows}, [_line(row) for row in rows] or ["no tokens; make one with `distributor token create`"]
    )
    return 0


def _revoke(args: Namespace) -> int:
    tokens, _ = _open(args)
    tokens.revoke(args.name, clock.now())
    _show(args, {"name": args.name}, [f"token {args.name} is revoked, and every dashboard session with it"])
    return 0


def _line(row: dict[str, object]) -> str:
    pipelines = row["pipelines"]
    scope = ", ".join(str(p) for p in pipelines) if isinstance(pipelines, list) else ""
    when = (
        f"revoked {row['revoked_at']}"
        if row["revoked_at"]
        else f"created {row['created_at'] or 'in the configuration'}"
    )
    return f"{row['name']}  {scope}  {when}"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _show(args: Namespace, document: dict[str, object], lines: Sequence[str]) -> None:
    if args.json:
        write_document({"report_version": 1, "command": args.title, **document, "error": None})
    else:
        say(lines)
