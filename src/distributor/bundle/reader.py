"""An opened source bundle: its manifest, and file contents that are checked as they are read (B2, B3, B5)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterator
from datetime import datetime, timedelta
from typing import Self

from distributor.bundle.tree import Found, Kind, Tree, file_error, is_unreachable
from distributor.core.manifest import Manifest, ManifestFile, decode_manifest
from distributor.core.paths import MANIFEST_PATH
from distributor.core.values import timestamp_of
from distributor.errors import BundleError, Problem

CHUNK = 1 << 20
"""Bytes that are read at once, and the most that is held back (B3)."""

MAX_MANIFEST = 256 << 20
"""A larger ``manifest.json`` is not read: 100,000 files take about 20 MB."""


class BundleReader:
    """A bundle whose manifest document is valid; its files are looked at only on demand (B5).

    ``stream`` and ``read`` may be called from several threads at once.
    """

    def __init__(self, tree: Tree, manifest: Manifest) -> None:
        self.manifest = manifest
        self.tree = tree
        self._listed: dict[str, ManifestFile] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Release every descriptor; safe to call twice."""
        self.tree.close()

    @property
    def listed(self) -> dict[str, ManifestFile]:
        """The manifest's files by path."""
        if self._listed is None:
            self._listed = {file.path: file for file in self.manifest.files}
        return self._listed

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a listed file in chunks of at most 1 MiB, verified (B3).

        Raises ``BundleError`` (``file_missing``, ``not_regular``, ``file_size``,
        ``file_digest``) before the last chunk where the bytes are not those that the
        manifest names, and ``KeyError`` for a path that it does not list.
        """
        return verified_chunks(self.tree, self.listed[path])

    def read(self, path: str) -> bytes:
        """Return the verified bytes of a listed file; raises what ``stream`` does."""
        return b"".join(self.stream(path))

    def unlisted(self) -> list[Found]:
        """Walk the tree and return what the manifest does not list, sorted by path.

        Links, fifos and undecodable names are among it. Listed paths are not judged
        here: reading them does that.
        """
        return unlisted(self.tree, self.listed)

    def check_unlisted(self, policy: str) -> list[Problem]:
        """Apply ``source.unlisted_files`` (B2).

        ``ignore`` looks at nothing, ``warn`` returns a problem for each unlisted
        file, ``fail`` raises them as one ``BundleError``.
        """
        problems = [] if policy == "ignore" else unlisted_problems(self.unlisted())
        if problems and policy == "fail":
            count = "1 file is" if len(problems) == 1 else f"{len(problems)} files are"
            raise BundleError(
                f"{count} in the bundle and not in its manifest, such as {problems[0].path}",
                tuple(problems),
                hint="list them (distributor bundle create), remove them, or set source.unlisted_files to warn",
            )
        return problems


def open_bundle(folder: str) -> BundleReader:
    """Open a bundle and check its manifest document, nothing else (B5).

    Raises ``BundleError``: ``manifest_missing`` where folder or manifest are
    certainly absent, ``manifest_invalid`` where the document can't be read, and
    what :func:`distributor.core.manifest.decode_manifest` finds.
    """
    tree = open_tree(folder)
    try:
        return BundleReader(tree, decode_manifest(read_manifest(tree, folder)))
    except BaseException:
        tree.close()
        raise


def open_tree(folder: str) -> Tree:
    """Open a bundle's folder. Raises ``BundleError`` (``manifest_missing``, ``manifest_invalid``)."""
    try:
        return Tree.open(folder)
    except OSError as error:
        code = "manifest_missing" if is_unreachable(error) else "manifest_invalid"
        problem = Problem(code, f"the bundle folder {folder} can't be opened: {error.strerror}", MANIFEST_PATH)
        raise BundleError(problem.message, (problem,)) from None
    except ValueError:
        problem = Problem("manifest_missing", "the bundle folder's name contains a null character", MANIFEST_PATH)
        raise BundleError(problem.message, (problem,)) from None


def read_manifest(tree: Tree, folder: str) -> bytes:
    """Return the bytes of ``manifest.json``; ``folder`` is for messages. Raises ``BundleError``."""
    try:
        descriptor, found = tree.open_file(MANIFEST_PATH)
    except BundleError as error:
        (problem,) = error.problems
        gone = problem.code == "file_missing" and problem.message == "is missing"
        message = f"{problem.message} in {folder}" if gone else problem.message
        raise _manifest_error("manifest_missing" if gone else "manifest_invalid", message) from None
    try:
        if found.st_size > MAX_MANIFEST:
            raise _manifest_error("manifest_invalid", f"has {found.st_size} bytes, more than {MAX_MANIFEST}")
        return b"".join(_chunks(descriptor, MAX_MANIFEST))
    except OSError as error:
        raise _manifest_error("manifest_invalid", f"can't be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def future_problem(manifest: Manifest, now: datetime, max_skew: int) -> Problem | None:
    """Return ``created_in_future`` if the bundle is more than ``max_skew`` seconds ahead of ``now`` (B6)."""
    if manifest.created.instant <= timestamp_of(now + timedelta(seconds=max_skew)).instant:
        return None
    message = f"created {manifest.created.text} is more than {max_skew} seconds ahead of the clock; check the clocks"
    return Problem("created_in_future", message, MANIFEST_PATH)


def unlisted(tree: Tree, listed: Container[str]) -> list[Found]:
    """Return what stands in a bundle and is neither listed nor the manifest, sorted by path."""
    found = (one for one in tree.walk() if one.path != MANIFEST_PATH and one.path not in listed)
    return sorted(found, key=lambda one: os.fsencode(one.path))


def unlisted_problems(found: list[Found]) -> list[Problem]:
    """Return a problem ``unlisted_file`` for each thing that the manifest does not list."""
    return [Problem("unlisted_file", _unlisted(one.kind), one.path) for one in found]


def _unlisted(kind: Kind) -> str:
    if kind is Kind.FILE:
        return "is not listed in the manifest; it is not published"
    return f"is not listed in the manifest and no regular file ({kind.value}); it is not published"


def verified_chunks(tree: Tree, file: ManifestFile) -> Iterator[bytes]:
    """Yield a file's bytes, the last chunk only after size and digest were found right (B3)."""
    descriptor, found = tree.open_file(file.path)
    try:
        if found.st_size != file.size:
            raise _size_error(file, found.st_size)
        digest, size, held = hashlib.sha256(), 0, b""
        for chunk in _chunks(descriptor, file.size):
            if held:
                yield held
            digest.update(chunk)
            size += len(chunk)
            held = chunk
    except OSError as error:
        raise file_error(Problem("file_missing", f"can't be read: {error.strerror}", file.path)) from None
    finally:
        os.close(descriptor)
    if size != file.size:
        raise file_error(Problem("file_size", f"changed its size of {file.size:,} bytes while it was read", file.path))
    computed = "sha256:" + digest.hexdigest()
    if computed != file.sha256:
        message = f"has the digest {computed}, not the listed {file.sha256}"
        raise file_error(Problem("file_digest", message, file.path))
    if held:
        yield held


def _chunks(descriptor: int, expected: int) -> Iterator[bytes]:
    """Yield what can be read up to one byte more than ``expected``, so that a grown file shows."""
    room = expected + 1
    while room > 0:
        chunk = os.read(descriptor, min(CHUNK, room))
        if not chunk:
            return
        room -= len(chunk)
        yield chunk


def _size_error(file: ManifestFile, size: int) -> BundleError:
    message = f"has {size:,} bytes, not the listed {file.size:,}"
    return file_error(Problem("file_size", message, file.path))


def _manifest_error(code: str, message: str) -> BundleError:
    return BundleError(f"manifest.json {message}", (Problem(code, message, MANIFEST_PATH),))
