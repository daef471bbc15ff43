"""``distributor init``: a configuration and a bundle to start from."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from distributor.cli.options import add_common

SUMMARY = "write a commented configuration and a sample bundle that `run` publishes as they are"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="where to write; default: here")
    add_common(parser)


def execute(args: Namespace) -> int:
    """Write the files; existing ones are never overwritten."""
    from distributor.app.starting import start_here
    from distributor.cli.running import perform

    return perform(
        args, lambda context: start_here(args.folder, context), lambda report, _: _lines(report, args.folder)
    )


def _lines(report: dict[str, object], folder: str) -> list[str]:
    import shlex

    from distributor.cli.text import escape

    written = report["written"]
    paths = written if isinstance(written, list) else []
    top = [path for path in paths if "/" not in path]
    bundle = [path for path in paths if "/" in path]
    there = "" if folder == "." else f"cd {shlex.quote(folder)} && "
    return [
        *(f"wrote {escape(path)}" for path in top),
        f"wrote a sample bundle of {len(bundle)} files: {escape(bundle[0].rpartition('/')[0])}/",
        "",
        f"next: {escape(there)}distributor plan   shows what would be published",
        f"      {escape(there)}distributor run    publishes it",
    ]
