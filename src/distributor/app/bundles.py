"""Use cases of ``bundle create`` and ``bundle verify`` (interfaces §4, G7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from distributor.app.context import Context
from distributor.bundle.create import create_manifest
from distributor.bundle.verify import Watch, verify_bundle
from distributor.core.manifest import Manifest
from distributor.core.paths import look_alikes
from distributor.core.values import parse_timestamp, timestamp_of
from distributor.errors import BundleError, Problem, UsageError


class CreateRequest(NamedTuple):
    """``bundle create``: ``created`` is an RFC 3339 time or ``None`` for now."""

    folder: str
    id: str
    created: str | None = None
    force: bool = False


def verify(folder: str, context: Context) -> dict[str, object]:
    """Check a bundle and return the report; an invalid bundle is a result."""
    try:
        found = verify_bundle(folder, context.now(), _watch(context, f"checking {folder}"))
    finally:
        context.progress.finish()
    if found.manifest is not None:
        _warn_of_look_alikes(look_alikes(file.path for file in found.manifest.files), context)
    return _report("bundle verify", "valid" if found.valid else "invalid", found.manifest, found.problems)


def create(request: CreateRequest, context: Context) -> dict[str, object]:
    """Write a bundle's manifest and return the report; a tree that can't be a bundle is a result.

    Raises ``UsageError`` for a wrong id, time or folder, and for a manifest that is
    already there; ``StorageError`` where the manifest can't be written.
    """
    created = timestamp_of(context.now()) if request.created is None else parse_timestamp(request.created)
    if created is None:
        raise UsageError(
            f"--created {request.created!r} is not an RFC 3339 time with an offset, as 2026-06-04T12:00:00Z"
        )
    watch = _watch(context, f"reading {request.folder}")
    try:
        made = create_manifest(request.folder, request.id, created, watch, force=request.force)
    except BundleError as error:
        return _report("bundle create", "invalid", None, error.problems)
    finally:
        context.progress.finish()
    _warn_of_look_alikes(look_alikes(file.path for file in made.files), context)
    return _report("bundle create", "created", made, ())


def _warn_of_look_alikes(groups: list[tuple[str, ...]], context: Context) -> None:
    """Warn of names that are one on some systems (A1)."""
    for group in groups:
        context.progress.note(f"warning: these names differ only in case or Unicode form: {', '.join(group)}")


def _watch(context: Context, title: str) -> Watch:
    progress = context.progress
    return Watch(lambda files, size: progress.start(title, files, size), progress.advance, progress.done, context.check)


def _report(command: str, status: str, manifest: Manifest | None, problems: Iterable[Problem]) -> dict[str, object]:
    return {
        "report_version": 1,
        "command": command,
        "status": status,
        "id": manifest.id if manifest else None,
        "digest": manifest.digest if manifest else None,
        "created": manifest.created.text if manifest else None,
        "files": len(manifest.files) if manifest else None,
        "bytes": sum(file.size for file in manifest.files) if manifest else None,
        "problems": [{"code": p.code, "path": p.path, "message": p.message} for p in problems],
        "error": None,
    }
