"""Making a manifest over a folder of files (B1, B7, G7)."""

from __future__ import annotations

import hashlib
import os
import stat

from distributor.bundle.reader import CHUNK
from distributor.bundle.tree import Found, Kind, Tree, file_error
from distributor.bundle.verify import Watch
from distributor.core.documents import format_json
from distributor.core.manifest import Manifest, ManifestFile, bundle_digest
from distributor.core.paths import MANIFEST_PATH, RelPath, path_problem
from distributor.core.values import Timestamp, is_source_id
from distributor.errors import BundleError, Problem, StorageError, UsageError

PARTIAL_PATH = ".manifest.json.partial"
"""Where a manifest is written before it is renamed; a leftover of a killed process is no bundle file."""


def create_manifest(folder: str, source_id: str, created: Timestamp, watch: Watch, *, force: bool = False) -> Manifest:
    """Write ``manifest.json`` for every file below ``folder``, atomically.

    The same files, id and time give the same bytes. Raises ``UsageError`` for a
    wrong id, an absent folder, or an existing manifest without ``force``, and
    ``BundleError`` with every link, fifo, undecodable or unclean name; then nothing
    is written.
    """
    if not is_source_id(source_id):
        raise UsageError(f"{source_id!r} is no source id", hint="use up to 200 letters, digits, '.', '_' and '-'")
    try:
        tree = Tree.open(folder)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"the folder {folder} can't be opened: {reason}") from None
    try:
        _check_existing(tree, folder, force=force)
        files = _records(tree, _publishable(tree), watch)
        manifest = Manifest(source_id, bundle_digest(files), created, files)
        _write(tree, folder, format_json(manifest.to_document()))
    finally:
        tree.close()
    return manifest


def _check_existing(tree: Tree, folder: str, *, force: bool) -> None:
    try:
        found = os.stat(MANIFEST_PATH, dir_fd=tree.root, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode):
        raise file_error(Problem("not_regular", "is a folder, where the manifest has to go", MANIFEST_PATH))
    if not force:
        raise UsageError(f"{folder} has a manifest.json already; it was left as it is", hint="replace it with --force")


def _publishable(tree: Tree) -> list[RelPath]:
    """Return every file's path, sorted, or raise every reason why the tree can't be a bundle."""
    found = [one for one in tree.walk() if one.path not in (MANIFEST_PATH, PARTIAL_PATH)]
    problems = [problem for one in found if (problem := _refusal(one))]
    if problems:
        problems.sort(key=lambda problem: os.fsencode(problem.path or ""))
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        first = problems[0]
        raise BundleError(f"{first.path} {first.message}{more}; no manifest was written", tuple(problems))
    return sorted(RelPath(one.path) for one in found)


def _refusal(found: Found) -> Problem | None:
    if fault := path_problem(found.path):
        return Problem("path_invalid", f"{fault}; rename it", found.path)
    if found.kind is not Kind.FILE:
        return Problem("not_regular", f"is no regular file ({found.kind.value})", found.path)
    return None


def _records(tree: Tree, paths: list[RelPath], watch: Watch) -> tuple[ManifestFile, ...]:
    watch.start(len(paths), 0)
    records = []
    for path in paths:
        watch.check()
        records.append(_record(tree, path, watch))
        watch.done(path)
    return tuple(records)


def _record(tree: Tree, path: RelPath, watch: Watch) -> ManifestFile:
    descriptor, before = tree.open_file(path)
    try:
        digest, size = hashlib.sha256(), 0
        while chunk := os.read(descriptor, CHUNK):
            digest.update(chunk)
            size += len(chunk)
            watch.advance(path, len(chunk))
            watch.check()
        after = os.fstat(descriptor)
    except OSError as error:
        raise file_error(Problem("file_missing", f"can't be read: {error.strerror}", path)) from None
    finally:
        os.close(descriptor)
    if size != after.st_size or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise file_error(Problem("file_digest", "changed while it was read; no manifest was written", path))
    return ManifestFile(path, "sha256:" + digest.hexdigest(), size)


def _write(tree: Tree, folder: str, data: bytes) -> None:
    """Write the manifest beside its place and rename it, so that a reader sees the old or the new one."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(PARTIAL_PATH, flags, 0o666, dir_fd=tree.root)
            with os.fdopen(descriptor, "wb") as partial:
                partial.write(data)
                partial.flush()
                os.fsync(descriptor)
            os.rename(PARTIAL_PATH, MANIFEST_PATH, src_dir_fd=tree.root, dst_dir_fd=tree.root)
        except OSError:
            if PARTIAL_PATH in tree.names(""):
                os.unlink(PARTIAL_PATH, dir_fd=tree.root)
            raise
        os.fsync(tree.root)
    except OSError as error:
        message = f"manifest.json can't be written in {folder}: {error.strerror}; an earlier one was left as it was"
        raise StorageError(message, operation="write", path=MANIFEST_PATH) from None
