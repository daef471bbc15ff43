"""Making a local destination's changes survive power loss, as cheaply as that allows.

Staged files and changed folders are only remembered until :meth:`Unsynced.flush`. A few
are made durable one by one (``fsync``); from ``MANY`` on, one ``syncfs`` for the whole
file system is cheaper: measured on ext4, an ``fsync`` costs 0.2 to 2 ms, and loading
what ``syncfs`` needs about 10 ms once. It also waits for what other programs wrote.
"""

from __future__ import annotations

import os
import threading

from distributor.storage.backends.local_tree import FOLDER_FLAGS, READ_FLAGS, Tree, split

MANY = 24


class Unsynced:
    """The files below a tree that were written and not yet made durable."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._guard = threading.Lock()
        self._files: set[str] = set()

    def wrote(self, path: str) -> None:
        """Remember a file with new bytes."""
        self._files.add(path)

    def renamed(self, old: str, new: str) -> None:
        """Remember that a file moved: its folder's entry is to be made durable, and its bytes where they are not."""
        if old in self._files:
            self._files.discard(old)
            self._files.add(new)
        self._tree.unsynced.add(split(new)[0])

    def removed(self, path: str) -> None:
        """Remember that a file is gone: its folder no longer names it."""
        self._files.discard(path)
        self._tree.unsynced.add(split(path)[0])

    def flush(self) -> None:
        """Make everything remembered durable: bytes first, then the folders that name them.

        Raises ``OSError``; what was remembered is then still to be done.
        """
        with self._guard:
            files, folders = set(self._files), set(self._tree.unsynced)
            if len(files) + len(folders) > MANY:
                sync_file_system(self._tree.root().fd)
            else:
                self._one_by_one(files, folders)
            self._files -= files
            self._tree.unsynced -= folders

    def _one_by_one(self, files: set[str], folders: set[str]) -> None:
        for path in files:
            folder, name = split(path)
            self._fsync(folder, name, READ_FLAGS)
        for path in folders:
            self._fsync(path, b".", FOLDER_FLAGS)

    def _fsync(self, folder: str, name: bytes, flags: int) -> None:
        try:
            fd = os.open(name, flags, dir_fd=self._tree.folder(folder).fd)
        except (FileNotFoundError, NotADirectoryError):
            return  # gone since: then its absence counts, and the folder above makes that durable
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def sync_file_system(fd: int) -> None:
    """Make everything on the file system of ``fd`` durable. Raises ``OSError``."""
    import ctypes  # here: loading it takes 10 ms, and only runs with many files need it

    library = ctypes.CDLL(None, use_errno=True)
    if library.syncfs(fd) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
