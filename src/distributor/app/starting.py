"""The use case of ``init``: files to start from, and never over existing ones."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec

from distributor.app.context import Context
from distributor.bundle.create import create_manifest
from distributor.bundle.verify import Watch
from distributor.config.schema import schema
from distributor.core.values import timestamp_of
from distributor.errors import UsageError

CONFIG = "distributor.yml"
SCHEMA = "distributor.schema.json"
BUNDLE = "bundles/weekly-operations"
SOURCE_ID = "operations.weekly"
_PAGES_BEGIN, _PAGES_END = "        # pages: begin\n", "        # pages: end\n"


def start_here(folder: str, context: Context) -> dict[str, object]:
    """Write a configuration, its schema and a sample bundle below ``folder``, and report the paths.

    The bundle's manifest is dated now, so that it is never in the future (B6). Raises
    ``UsageError`` with every path that exists already; then nothing is written.
    """
    sample = files("distributor") / "data" / "sample"
    contents = {CONFIG: _config_text((sample / CONFIG).read_text(encoding="utf-8")).encode()}
    contents[SCHEMA] = (json.dumps(schema("config"), indent=1) + "\n").encode()
    contents |= {f"{BUNDLE}/{path}": file.read_bytes() for path, file in _walk(sample / "bundle", "")}
    _refuse_existing(folder)
    for path, data in contents.items():
        context.check()
        _write(os.path.join(folder, path), data)
    watch = Watch(lambda _files, _size: None, lambda _path, _size: None, lambda _path: None, context.check)
    create_manifest(os.path.join(folder, BUNDLE), SOURCE_ID, timestamp_of(context.now()), watch)
    return {
        "report_version": 1,
        "command": "init",
        "path": os.path.abspath(folder),
        "written": sorted([*contents, f"{BUNDLE}/manifest.json"]),
        "error": None,
    }


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for item in folder.iterdir():
        path = f"{prefix}{item.name}"
        found += _walk(item, f"{path}/") if item.is_dir() else [(path, item)]
    return found


def _refuse_existing(folder: str) -> None:
    existing = [path for path in (CONFIG, SCHEMA, BUNDLE) if os.path.lexists(os.path.join(folder, path))]
    if existing:
        verb = "exists" if len(existing) == 1 else "exist"
        raise UsageError(
            f"{', '.join(existing)} {verb} already in {os.path.abspath(folder)}; nothing was written",
            hint="name another folder: distributor init DIR",
        )


def _config_text(text: str) -> str:
    """Return the sample configuration, its pages commented out where what renders them is not installed."""
    before, _, rest = text.partition(_PAGES_BEGIN)
    pages, _, after = rest.partition(_PAGES_END)
    if find_spec("comrak") is None:
        pages = "".join(f"        # {line[8:]}" for line in pages.splitlines(keepends=True))
    return before + pages + after


def _write(path: str, data: bytes) -> None:
    """Create one file; what appeared there meanwhile is left as it is."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    try:
        with open(path, "xb") as file:  # noqa: PTH123 - exclusive creation
            file.write(data)
    except FileExistsError:
        raise UsageError(f"{path} appeared meanwhile; it was left as it is") from None
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}") from None
