"""The writer lock of a local destination: ``flock`` on the root folder itself (E4).

The system holds it for the process and frees it when the process ends, however it ends;
nothing is left behind. Who holds it is told from ``/proc/locks``, which knows the
processes of this host (and of this container) only.
"""

from __future__ import annotations

import errno
import fcntl
import os
from time import monotonic, sleep

from distributor.errors import LockedError
from distributor.storage.backends.local_tree import Folder, Tree, identity_of
from distributor.storage.base import LockRequest
from distributor.storage.processes import describe, read_proc

REFUSALS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EBADF, errno.EISDIR})
"""What ``flock`` answers where a file system has no such locks: network file systems mostly."""

_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 0.25


class FolderLock:
    """A held ``flock``: the system keeps it, so it can't be lost."""

    def __init__(self, root: Folder) -> None:
        self._root = root

    def check(self) -> None:
        """Do nothing: it is held until it is released."""

    def release(self) -> None:
        """Free it at once, also where a child process still has the descriptor."""
        fcntl.flock(self._root.fd, fcntl.LOCK_UN)


def acquire(tree: Tree, request: LockRequest) -> FolderLock | None:
    """Lock the root, making it if it is absent; ``None`` where the file system has no such locks.

    Raises ``LockedError`` once ``request.wait`` is over, ``OSError`` where the root
    can't be made or opened.
    """
    deadline = monotonic() + request.wait
    told, pause = 0.0, _FIRST_PAUSE
    while True:
        root = tree.open_root(make=True)
        taken = _try(root)
        if taken is None:
            return None
        if taken and _is_in_place(tree, root):
            tree.use_root(root)
            return FolderLock(root)
        now = monotonic()
        if now >= deadline:
            holder = holder_of(root) or "another process"
            raise LockedError(
                f"{tree.root_path}: is locked by {holder}", holder, hint="it is free when that process ends"
            )
        if now - told >= 1.0:
            told = now
            request.waiting(holder_of(root) or "another process")
        sleep(min(pause, max(0.0, deadline - now)))
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _try(root: Folder) -> bool | None:
    try:
        fcntl.flock(root.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in REFUSALS:
            return None
        raise
    return True


def _is_in_place(tree: Tree, root: Folder) -> bool:
    """Whether the folder just locked is still the root: it may have been replaced while we waited."""
    try:
        return identity_of(os.stat(tree.root_path)) == root.identity
    except FileNotFoundError:
        return False


def holder_of(root: Folder) -> str | None:
    """Name the process that holds the lock on ``root``, or ``None`` if this system shows none."""
    device, inode = root.identity
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}:{inode}"
    try:
        rows = [line.split() for line in read_proc("locks").decode("ascii").splitlines()]
    except FileNotFoundError:  # no /proc
        return None
    for row in rows:
        # A waiter's row has an arrow in its second place, and so never matches.
        if row[1] == "FLOCK" and row[5] == wanted:
            return describe(int(row[4])) if int(row[4]) > 0 else "a process outside this container"
    return None
