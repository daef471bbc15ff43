"""Writing to stdout and stderr: one document there, sentences here, and nothing that breaks either."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from distributor.cli.text import escape


def write_document(document: object) -> bool:
    """Write one JSON document to stdout. ``False`` if it could not be written, which stderr then says.

    A reader that closed its end (``| head -1``) is no failure.
    """
    import json  # here: the human way does not need an encoder

    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if not _is_unicode(text):
        text = json.dumps(_readable(document), indent=2, ensure_ascii=False) + "\n"
    return write_stdout(text.encode())


def write_stdout(data: bytes) -> bool:
    """Write bytes to stdout; see :func:`write_document` for what it returns."""
    if sys.stdout is None:  # closed by whoever started us: descriptor 1 may be any file by now
        say(["distributor: standard output is closed"])
        return False
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]
    except BrokenPipeError:
        return True
    except OSError as error:
        say([f"distributor: standard output can't be written: {error.strerror}"])
        return False
    return True


def settle_stdout() -> None:
    """Flush what ``print`` and argparse left in stdout, so that a closed reader is no error at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def say(lines: Iterable[str]) -> None:
    """Write lines for a person to stderr; without a usable stderr they are lost, and nothing else."""
    if sys.stderr is None:
        return
    text = "".join(f"{line}\n" for line in lines)
    if text:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            # Nobody is left to be told. The descriptor must not fail again at exit.
            sys.stderr = None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _readable(value: object) -> object:
    """Return JSON data with undecodable names written as escapes, so that every reader accepts it (A1)."""
    if isinstance(value, str):
        return value if _is_unicode(value) else escape(value)
    if isinstance(value, list | tuple):
        return [_readable(item) for item in value]
    if isinstance(value, dict):
        return {key: _readable(item) for key, item in value.items()}
    return value
