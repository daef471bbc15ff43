"""A folder on disk, read through descriptors so that no link is ever followed (B2, fault row 57)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from distributor.core.paths import MAX_PATH_BYTES
from distributor.errors import BundleError, Problem

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a fifo must not wait for somebody to write to it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KEPT_FOLDERS = 128


class Kind(str, Enum):
    """What a walk finds; only ``FILE`` can be published."""

    FILE = "file"
    LINK = "symbolic link"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"
    UNREADABLE = "unreadable folder"
    TOO_DEEP = "folder with too long a path"


class Found(NamedTuple):
    """One thing below the root; an undecodable name comes with surrogate escapes."""

    path: str
    kind: Kind


class Tree:
    """An opened folder. The folder itself may be a link; nothing below it is followed.

    Methods may be called from several threads at once, ``close`` last.
    """

    def __init__(self, root: int) -> None:
        self.root = root
        # Folders stay open up to a limit: most files share few of them, and with
        # nothing ever evicted no thread can find its folder closed.
        self._folders: dict[str, int] = {}

    @classmethod
    def open(cls, folder: str) -> Tree:
        """Open ``folder``. Raises ``OSError`` where it is absent or no folder."""
        return cls(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    def close(self) -> None:
        """Close every descriptor; safe to call twice."""
        for descriptor in self._folders.values():
            os.close(descriptor)
        self._folders.clear()
        if self.root >= 0:
            os.close(self.root)
            self.root = -1

    def open_file(self, path: str) -> tuple[int, os.stat_result]:
        """Open a regular file for reading.

        Raises ``BundleError``: ``file_missing``, or ``not_regular`` where it is
        something else or a link stands in the way.
        """
        folder, _, name = path.rpartition("/")
        try:
            parent, kept = self._folder(folder)
            try:
                descriptor = os.open(name, _FILE, dir_fd=parent)
            finally:
                if not kept:
                    os.close(parent)
        except OSError as error:
            raise file_error(self._explain(path, error)) from None
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            return descriptor, found
        os.close(descriptor)
        raise file_error(Problem("not_regular", f"is a {_kind_of(found.st_mode)}, not a regular file", path))

    def walk(self) -> Iterator[Found]:
        """Yield everything below the root but folders, in no order that matters.

        A folder that can't be listed is yielded as such. Folders deeper than any
        clean path (A1) are not entered.
        """
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                listing = self._list(folder)
            except OSError:
                yield Found(folder, Kind.UNREADABLE)
                continue
            for name, kind in listing:
                path = f"{folder}/{name}" if folder else name
                if kind is not None:
                    yield Found(path, kind)
                elif len(os.fsencode(path)) > MAX_PATH_BYTES:
                    yield Found(path, Kind.TOO_DEEP)
                else:
                    waiting.append(path)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, or none if it can't be listed."""
        try:
            return [name for name, _ in self._list(folder)]
        except OSError:
            return []

    def _list(self, folder: str) -> list[tuple[str, Kind | None]]:
        """List a folder's names with their kinds, ``None`` for a folder."""
        descriptor, kept = self._folder(folder)
        try:
            with os.scandir(descriptor) as entries:
                return [(e.name, None if e.is_dir(follow_symlinks=False) else _entry_kind(e)) for e in entries]
        finally:
            if not kept:
                os.close(descriptor)

    def _folder(self, path: str) -> tuple[int, bool]:
        """Return a descriptor of a folder and whether the tree keeps (and closes) it."""
        if not path:
            return self.root, True
        known = self._folders.get(path)
        if known is not None:
            return known, True
        above, _, name = path.rpartition("/")
        parent, kept = self._folder(above)
        try:
            descriptor = os.open(name, _FOLDER, dir_fd=parent)
        finally:
            if not kept:
                os.close(parent)
        if len(self._folders) >= _KEPT_FOLDERS:
            return descriptor, False
        winner = self._folders.setdefault(path, descriptor)
        if winner != descriptor:
            os.close(descriptor)
        return winner, True

    def _explain(self, path: str, error: OSError) -> Problem:
        """Find out what stood in the way of a file, segment by segment."""
        for segment in _prefixes(path):
            try:
                mode = self._lstat(segment).st_mode
            except FileNotFoundError:
                return Problem("file_missing", _missing(self, path, segment), path)
            except OSError as reason:
                return Problem("file_missing", f"can't be read: {reason.strerror}", path)
            if segment != path and stat.S_ISLNK(mode):
                return Problem("not_regular", f"is reached through {segment}, which is a symbolic link", path)
            if segment != path and not stat.S_ISDIR(mode):
                return Problem("file_missing", f"is missing: {segment} is a {_kind_of(mode)}, not a folder", path)
            if segment == path and not stat.S_ISREG(mode):
                return Problem("not_regular", f"is a {_kind_of(mode)}, not a regular file", path)
        return Problem("file_missing", f"can't be read: {error.strerror}", path)

    def _lstat(self, path: str) -> os.stat_result:
        folder, _, name = path.rpartition("/")
        parent, kept = self._folder(folder)
        try:
            return os.stat(name, dir_fd=parent, follow_symlinks=False)
        finally:
            if not kept:
                os.close(parent)


def file_error(problem: Problem) -> BundleError:
    """Return the error about one file of a bundle."""
    return BundleError(f"{problem.path}: {problem.message}", (problem,))


def is_unreachable(error: OSError) -> bool:
    """Whether ``error`` says that a folder is certainly not there (C0)."""
    return error.errno in (errno.ENOENT, errno.ENOTDIR)


def _prefixes(path: str) -> Iterator[str]:
    end = path.find("/")
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path


def _missing(tree: Tree, path: str, segment: str) -> str:
    """Say that a file is missing, and whether its other Unicode spelling exists (fault row 49)."""
    if segment.isascii():
        return "is missing"
    from unicodedata import normalize  # here: only a missing file needs it

    folder, _, name = segment.rpartition("/")
    wanted = normalize("NFC", name)
    for other in tree.names(folder):
        if normalize("NFC", other) == wanted:
            on_disk = "decomposed (NFD)" if other == normalize("NFD", name) else "composed (NFC)"
            what = "a file" if segment == path else "a folder"
            return f"is missing, but {what} whose name looks the same is there in {on_disk} Unicode; rename it"
    return "is missing"


def _kind_of(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return Kind.LINK.value
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISFIFO(mode):
        return Kind.FIFO.value
    if stat.S_ISSOCK(mode):
        return Kind.SOCKET.value
    return Kind.DEVICE.value if not stat.S_ISREG(mode) else Kind.FILE.value


def _entry_kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_file(follow_symlinks=False):
        return Kind.FILE
    if entry.is_symlink():
        return Kind.LINK
    return Kind(_kind_of(entry.stat(follow_symlinks=False).st_mode))
