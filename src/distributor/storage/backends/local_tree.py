"""A folder tree that is only reached through descriptors, from an opened root down (E5).

Each segment of a path is opened relative to the folder above it, without following
links; so a link that stands, or is swapped in, anywhere below the root leads nowhere.
The root itself may be a link, which is followed when it is opened.

Everything here raises plain ``OSError``; who calls knows what it means.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import NamedTuple

from distributor.core.observation import Entry, EntryKind
from distributor.storage.processes import read_proc

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_MAX_CACHED = 64
_UTF8_NAMES = sys.getfilesystemencoding() == "utf-8"


class Folder:
    """An open folder; its descriptor is closed when its last user lets go.

    Reference counting decides who is last: a thread may still write into a folder
    that the cache has forgotten.
    """

    __slots__ = ("fd", "identity")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.identity = identity_of(os.fstat(fd))

    def __del__(self) -> None:
        os.close(self.fd)


class Found(NamedTuple):
    """One thing in a folder. ``status`` is ``None`` for a folder; undecodable bytes are surrogate escapes."""

    name: str
    status: os.stat_result | None


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """Return what tells a file or folder from every other on this machine."""
    return (status.st_dev, status.st_ino)


def name_bytes(name: str) -> bytes:
    """Return a name as it is on disk: UTF-8 whatever the locale; undecodable bytes as they were."""
    return name.encode("utf-8", "surrogateescape")


def split(path: str) -> tuple[str, bytes]:
    """Split a path into the folder it lies in ('' for the root) and its name.

    Raises ``OSError`` (``EINVAL``) for what could lead out of the root: no such path
    comes this far, and none goes further.
    """
    folder, _, name = path.rpartition("/")
    return folder, _segment(name)


def _segment(name: str) -> bytes:
    if name in ("", ".", "..") or "\0" in name or "/" in name:
        raise OSError(errno.EINVAL, f"{name!r} is no name of a file", name)
    return name_bytes(name)


class Tree:
    """The folders below one root. ``dir_mode`` is for new ones; ``None`` leaves it to the umask."""

    def __init__(self, root: str, dir_mode: int | None) -> None:
        self.root_path = root
        self.unsynced: set[str] = set()
        self._dir_mode = dir_mode
        self._root: Folder | None = None
        self._cache: dict[str, Folder] = {}

    def root(self, *, make: bool = False) -> Folder:
        """Return the opened root. Raises ``FileNotFoundError`` where it is absent and not to be made."""
        root = self._root
        if root is None:
            root = self._root = self.open_root(make=make)
        return root

    def open_root(self, *, make: bool) -> Folder:
        """Open the root anew, following it if it is a link."""
        if make:
            self._make_root()
        try:
            return Folder(os.open(self.root_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except FileNotFoundError as error:
            if os.path.islink(self.root_path):
                # A link to nowhere is a disk that is not mounted, not a fresh destination (C0).
                raise NotADirectoryError(errno.ENOTDIR, "the root is a link to nowhere", self.root_path) from error
            raise

    def use_root(self, root: Folder) -> None:
        """Go on below ``root``, which was opened by :meth:`open_root`."""
        self._cache.clear()
        self._root = root

    def folder(self, path: str, *, make: bool = False) -> Folder:
        """Return the folder at ``path``, '' for the root; with ``make``, missing ones are made.

        Folders met before are kept open, and checked to be still in their place.
        """
        folder = self.root(make=make)
        if not path:
            return folder
        so_far = ""
        for segment in path.split("/"):
            above, so_far = so_far, f"{so_far}/{segment}" if so_far else segment
            folder = self._step(folder, above, so_far, _segment(segment), make=make)
        return folder

    def _step(self, parent: Folder, above: str, path: str, name: bytes, *, make: bool) -> Folder:
        try:
            cached = self._cache.get(path)
            if cached is not None:
                found = identity_of(os.stat(name, dir_fd=parent.fd, follow_symlinks=False))
                if found == cached.identity:
                    return cached
            folder = Folder(os.open(name, FOLDER_FLAGS, dir_fd=parent.fd))
        except FileNotFoundError:
            if not make:
                raise
            folder = self._make(parent, name)
            self.unsynced.add(above)
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        self._cache[path] = folder
        return folder

    def _make(self, parent: Folder, name: bytes) -> Folder:
        try:
            os.mkdir(name, 0o777, dir_fd=parent.fd)
        except FileExistsError:
            return Folder(os.open(name, FOLDER_FLAGS, dir_fd=parent.fd))
        folder = Folder(os.open(name, FOLDER_FLAGS, dir_fd=parent.fd))
        if self._dir_mode is not None:
            os.fchmod(folder.fd, self._dir_mode)
        return folder

    def _make_root(self) -> None:
        missing = []
        head = self.root_path
        while not os.path.isdir(head) and head != "/":
            missing.append(head)
            head = os.path.dirname(head)
        for path in reversed(missing):
            try:
                os.mkdir(path, 0o777)
            except FileExistsError:
                continue  # made by another run at this moment; or no folder, which opening it tells
            if self._dir_mode is not None:
                os.chmod(path, self._dir_mode)
            _fsync_path(os.path.dirname(path))

    def scan(self, path: str) -> list[Found]:
        """Return what is in the folder at ``path``, read through a descriptor of its own.

        Descriptors share their position: a cached one may be read by another thread.
        """
        folder = self.folder(path)
        fd = os.open(".", FOLDER_FLAGS, dir_fd=folder.fd)
        try:
            with os.scandir(fd) as entries:
                return [found for found in map(_look_at, entries) if found is not None]
        finally:
            os.close(fd)

    def prune(self, path: str) -> None:
        """Remove the folder at ``path`` and those above it while they are empty; the root stays.

        One that can't be removed, for whatever reason, stays: folders are never content (D19).
        """
        while path:
            above, name = split(path)
            try:
                os.rmdir(name, dir_fd=self.folder(above).fd)
            except OSError:
                return
            self._cache.pop(path, None)
            self.unsynced.add(above)
            path = above

    def remove_empty(self, path: str) -> None:
        """Remove the folder at ``path`` if nothing but folders is in it.

        Raises ``OSError`` (``ENOTEMPTY``) and leaves all of it where there is content.
        """
        for folder in sorted(self._folders_below(path), key=len, reverse=True):
            above, name = split(folder)
            os.rmdir(name, dir_fd=self.folder(above).fd)
            self._cache.pop(folder, None)

    def remove_tree(self, path: str) -> None:
        """Remove the folder at ``path`` with all that is in it; an absent one is no fault."""
        folders = [path]
        try:
            self.folder(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        for folder in folders:
            for found in self.scan(folder):
                if found.status is None:
                    folders.append(f"{folder}/{found.name}")
                else:
                    os.unlink(name_bytes(found.name), dir_fd=self.folder(folder).fd)
        for folder in reversed(folders):
            above, name = split(folder)
            os.rmdir(name, dir_fd=self.folder(above).fd)
            self._cache.pop(folder, None)
        self.unsynced.difference_update(folders)
        self.unsynced.add(split(path)[0])

    def _folders_below(self, path: str) -> list[str]:
        folders = [path]
        for folder in folders:
            for found in self.scan(folder):
                if found.status is not None:
                    raise OSError(errno.ENOTEMPTY, "the folder has content", path)
                folders.append(f"{folder}/{found.name}")
        return folders

    def forget(self) -> None:
        """Let go of every descriptor."""
        self._cache.clear()
        self._root = None


def _look_at(entry: os.DirEntry[str]) -> Found | None:
    name = entry.name if _UTF8_NAMES else os.fsencode(entry.name).decode("utf-8", "surrogateescape")
    if entry.is_dir(follow_symlinks=False):
        return Found(name, None)
    try:
        return Found(name, entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        return None  # deleted since the folder was read: it is not there


def is_regular(status: os.stat_result) -> bool:
    """Whether this is the status of a regular file."""
    return stat.S_ISREG(status.st_mode)


def entry_of(path: str, status: os.stat_result | None) -> Entry:
    """Return the entry for a status as :meth:`Tree.scan` gives it."""
    if status is None or stat.S_ISDIR(status.st_mode):
        return Entry(path, EntryKind.FOLDER, 0)
    if is_regular(status):
        return Entry(path, EntryKind.FILE, status.st_size, version_of(status))
    return Entry(path, EntryKind.OTHER, 0)


def version_of(status: os.stat_result) -> str:
    """Return the version token of a file: another one whenever its content was replaced."""
    return f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"


def mount_of(folder: Folder) -> tuple[int, bytes]:
    """Return device and mount of a folder: renaming works only where both are equal."""
    try:
        lines = read_proc(f"self/fdinfo/{folder.fd}").splitlines()
    except FileNotFoundError:
        lines = []  # no /proc: the device has to do
    return folder.identity[0], next((line for line in lines if line.startswith(b"mnt_id:")), b"")


def _fsync_path(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
