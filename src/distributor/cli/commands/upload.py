"""``distributor upload``: sends a bundle to a ``distributor serve``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from distributor.app.context import Context
from distributor.cli.options import add_common
from distributor.cli.running import Report, View, perform
from distributor.cli.server_extra import needs_server_extra
from distributor.cli.text import escape

if TYPE_CHECKING:
    from distributor.bundle.reader import BundleReader
    from distributor.client import Client, Receipt

SUMMARY = "send a bundle to a `distributor serve`"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", metavar="DIR", help="the bundle")
    parser.add_argument("--server", metavar="URL", required=True, help="the server, as https://reports.example.com")
    parser.add_argument("-p", "--pipeline", metavar="PIPELINE", required=True, help="the pipeline that publishes it")
    parser.add_argument(
        "--wait", action="store_true", help="wait until it is published; the exit code is that of `run`"
    )
    parser.add_argument("--ca-file", metavar="FILE", help="certificates to trust, for a server with a private CA")
    parser.epilog = "The token is read from the environment variable DISTRIBUTOR_TOKEN."
    add_common(parser)


def execute(args: Namespace) -> int:
    """Send it, and say what became of it."""
    return perform(args, lambda context: _upload(args, context), _render)


def _upload(args: Namespace, context: Context) -> Report:
    with needs_server_extra("client"):  # here: the HTTP library is slow to import, and optional
        from distributor.client import Client
    from distributor.bundle.reader import open_bundle

    with (
        open_bundle(args.folder) as bundle,
        Client(args.server, ca_file=args.ca_file, notice=context.progress.note) as client,
    ):
        receipt = _send(client, bundle, args, context)
        return _report(client, receipt, args, context)


def _send(client: Client, bundle: BundleReader, args: Namespace, context: Context) -> Receipt:
    files = bundle.manifest.files
    context.progress.start(f"uploading to {args.pipeline}", len(files), sum(file.size for file in files))

    def advance(path: str, size: int) -> None:
        context.check()
        context.progress.advance(path, size)

    try:
        return client.upload_bundle(bundle, args.pipeline, advance=advance)
    finally:
        context.progress.finish()


def _report(client: Client, receipt: Receipt, args: Namespace, context: Context) -> Report:
    report: Report = {
        "report_version": 1,
        "command": "upload",
        "upload_id": receipt.upload_id,
        "pipeline_id": args.pipeline,
        "status_url": receipt.status_url,
        "known": receipt.known,
        "warnings": [dict(warning) for warning in receipt.warnings],
        "state": "queued",
        "results": [],
        "error": None,
    }
    if args.wait:
        found = client.wait(receipt.upload_id, check=context.check)
        run = found.report or {}
        report |= {"state": found.state, "results": run.get("results", []), "error": run.get("error")}
    return report


def _render(report: Report, view: View) -> list[str]:
    known = " (the server had it already)" if report["known"] else ""
    lines = [f"upload {report['upload_id']} is {report['state']}{known}"]
    warnings, results, error = report["warnings"], report["results"], report["error"]
    if isinstance(warnings, list):
        lines += [f"  warning: {escape(str(w['path']))}: {escape(str(w['message']))}" for w in warnings]
    for result in results if isinstance(results, list) else ():
        style = "green" if result["status"] in ("published", "skipped") else "red"
        where = f"{result['pipeline_id']}/{result['destination_id']}"
        lines.append(f"  {where}: {view.style.paint(result['status'], style)}  {escape(str(result['message']))}")
        if result.get("primary_url"):
            lines.append(f"    {escape(result['primary_url'])}")
    if isinstance(error, dict):
        lines.append(f"  {view.style.paint('error:', 'red')} {escape(str(error.get('message')))}")
    if report["state"] == "queued":
        lines.append(f"  {escape(str(report['status_url']))}")
    return lines
