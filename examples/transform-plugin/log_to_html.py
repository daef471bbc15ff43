"""A log file as a page, its errors marked: a whole transform for `distributor`."""

from html import escape

from distributor.errors import TransformError

VERSION, SCOPE, DEFAULT_PATH = "1", "file", "{path}.html"


def check_options(options):
    return [f"{name} is not an option; there is only mark" for name in options if name != "mark"]


def render(request):
    path = request.source_paths[0]
    try:
        lines = request.read(path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise TransformError(f"is not UTF-8: {error.reason}", path=path) from None
    mark = str(request.options.get("mark", "ERROR"))
    rows = (f"<b>{escape(line)}</b>" if mark in line else escape(line) for line in lines)
    return f"<!doctype html><title>{escape(path)}</title><pre>{chr(10).join(rows)}</pre>".encode()
