"""Writing one file below a local root: new bytes first, then its name, atomically."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from distributor.storage.backends.local_errors import ConditionFailed, Translated
from distributor.storage.backends.local_lock import REFUSALS
from distributor.storage.backends.local_sync import Unsynced
from distributor.storage.backends.local_tree import (
    CREATE_FLAGS,
    FOLDER_FLAGS,
    READ_FLAGS,
    Folder,
    Tree,
    identity_of,
    is_regular,
    split,
    version_of,
)
from distributor.storage.base import CREATE_ONLY, Condition, Content, IfVersion

_MODE_BITS = 0o777
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_RENAME_NOREPLACE = 1


class NewFile(NamedTuple):
    """A file that was just made: where, under which name, and open for writing."""

    folder: Folder
    name: bytes
    fd: int


class FileWriter:
    """Writes files below ``tree``; ``file_mode`` is for all of them, ``None`` leaves it to umask and old file (H2).

    ``conditions_atomic`` turns false once the file system refused the lock that makes
    comparing and replacing one step: then only the writer lock keeps others away.
    """

    def __init__(self, tree: Tree, file_mode: int | None) -> None:
        self.conditions_atomic = True
        self.unsynced = Unsynced(tree)
        self._tree = tree
        self._file_mode = file_mode

    def fill(self, path: str, content: Content, translated: Translated) -> None:
        """Make the file ``path`` with the bytes of ``content``; not durable.

        A file there is removed before. If the content breaks off, nothing is left.
        """
        with translated:
            new = self._create(path)
        _copy(new, content, translated, self._set_mode)

    def fill_durably(self, path: str, content: Content, like: str, translated: Translated) -> str:
        """As :meth:`fill`, durable and with the mode of the file at ``like``, if there is one; return its version."""
        with translated:
            new = self._create(path)
        version = ""

        def finish(fd: int) -> None:
            nonlocal version
            self._set_mode(fd, self._mode_of(like))
            version = _mark_version(fd)
            os.fsync(fd)

        _copy(new, content, translated, finish)
        return version

    def _create(self, path: str) -> NewFile:
        above, name = split(path)
        folder = self._tree.folder(above, make=True)
        try:
            return NewFile(folder, name, os.open(name, CREATE_FLAGS, 0o666, dir_fd=folder.fd))
        except FileExistsError:
            # Never written into: it could be a hard link to another file.
            os.unlink(name, dir_fd=folder.fd)
            return NewFile(folder, name, os.open(name, CREATE_FLAGS, 0o666, dir_fd=folder.fd))

    def _set_mode(self, fd: int, old_mode: int | None = None) -> None:
        mode = old_mode if self._file_mode is None else self._file_mode
        if mode is not None:
            os.fchmod(fd, mode)

    def _mode_of(self, path: str) -> int | None:
        above, name = split(path)
        try:
            status = os.stat(name, dir_fd=self._tree.folder(above).fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mode & _MODE_BITS if is_regular(status) else None

    def adopt_mode(self, staged: str, path: str) -> bool:
        """Give a staged file the mode of the file it is about to replace; whether that changed it.

        Raises ``FileNotFoundError`` if nothing is staged there, ``OSError`` (``ELOOP``)
        if it is no regular file: then somebody else put it there.
        """
        above, name = split(staged)
        folder = self._tree.folder(above)
        status = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
        if not is_regular(status):
            raise OSError(errno.ELOOP, "what is staged is no regular file", staged)
        if self._file_mode is not None:
            return False
        mode = self._mode_of(path)
        if mode is None or mode == status.st_mode & _MODE_BITS:
            return False
        fd = os.open(name, READ_FLAGS, dir_fd=folder.fd)
        try:
            os.fchmod(fd, mode)
        finally:
            os.close(fd)
        return True

    def place(self, staged: str, path: str, condition: Condition) -> None:
        """Give the file at ``staged`` the name ``path`` if the condition holds.

        An empty folder in the way is removed. Raises ``ConditionFailed``, or ``OSError``
        with the staged file left where it is.
        """
        source_above, source_name = split(staged)
        above, name = split(path)
        source = self._tree.folder(source_above)
        target = self._tree.folder(above, make=True)
        try:
            self._give_name(source, source_name, target, name, condition)
        except (IsADirectoryError, FileExistsError) as error:
            if not _is_folder(target, name):
                raise ConditionFailed from error
            self._tree.remove_empty(path)
            self._give_name(source, source_name, target, name, condition)

    def _give_name(self, source: Folder, old: bytes, target: Folder, new: bytes, condition: Condition) -> None:
        if condition == CREATE_ONLY:
            _link_new(source, old, target, new)
        elif isinstance(condition, IfVersion):
            self._replace_version(source, old, target, new, condition.token)
        else:
            os.rename(old, new, src_dir_fd=source.fd, dst_dir_fd=target.fd)

    def _replace_version(self, source: Folder, old: bytes, target: Folder, new: bytes, token: str) -> None:
        """Compare and replace in one step: whoever replaces this very file by its version holds its lock.

        An unconditional write asks for no such lock: files that are written with
        conditions are written with them always, or under the writer lock.
        """
        try:
            fd = os.open(new, READ_FLAGS, dir_fd=target.fd)
        except FileNotFoundError as error:
            raise ConditionFailed from error
        try:
            self._lock_file(fd)
            if not _is_version(fd, target, new, token):
                raise ConditionFailed
            os.rename(old, new, src_dir_fd=source.fd, dst_dir_fd=target.fd)
        finally:
            os.close(fd)

    def _lock_file(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in REFUSALS:
                raise
            self.conditions_atomic = False


def _copy(new: NewFile, content: Content, translated: Translated, finish: Callable[[int], None]) -> None:
    """Write all chunks and finish. Only faults of this destination are translated, not the content's own."""
    try:
        try:
            for chunk in content.open():
                with translated:
                    _write_all(new.fd, chunk)
            with translated:
                finish(new.fd)
        finally:
            with translated:
                os.close(new.fd)
    except BaseException:
        _unlink_if_there(new.folder, new.name)
        raise


def _is_version(fd: int, folder: Folder, name: bytes, token: str) -> bool:
    held = os.fstat(fd)
    try:
        current = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return identity_of(held) == identity_of(current) and version_of(current) == token


def _is_folder(folder: Folder, name: bytes) -> bool:
    try:
        os.close(os.open(name, FOLDER_FLAGS, dir_fd=folder.fd))
    except (NotADirectoryError, FileNotFoundError):
        return False
    return True


def _unlink_if_there(folder: Folder, name: bytes) -> None:
    try:
        os.unlink(name, dir_fd=folder.fd)
    except OSError:
        # What went wrong before is what is told; the rest goes when the staging folder is discarded.
        return


def _write_all(fd: int, chunk: bytes) -> None:
    written = os.write(fd, chunk)
    if written < len(chunk):
        view = memoryview(chunk)
        while written < len(chunk):
            written += os.write(fd, view[written:])


def _mark_version(fd: int) -> str:
    """Make the file's time of change its own, below a millisecond, and return its version.

    Clocks of file systems tick slowly and inode numbers are used again: without this, a
    file replaced twice within one tick could look as if it had not been.
    """
    status = os.fstat(fd)
    fraction = int.from_bytes(os.urandom(4), "big") % 1_000_000
    os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns // 1_000_000 * 1_000_000 + fraction))
    return version_of(os.fstat(fd))


def _link_new(source: Folder, old: bytes, target: Folder, new: bytes) -> None:
    """Move a file to a name that nothing has. Raises ``FileExistsError``.

    By a hard link; on file systems without them by a rename that refuses to replace.
    """
    try:
        os.link(old, new, src_dir_fd=source.fd, dst_dir_fd=target.fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_new(source, old, target, new)
    else:
        with suppress(FileNotFoundError):  # the staging folder was discarded meanwhile
            os.unlink(old, dir_fd=source.fd)


def _rename_new(source: Folder, old: bytes, target: Folder, new: bytes) -> None:
    import ctypes  # here: only file systems without hard links need it

    library = ctypes.CDLL(None, use_errno=True)
    if library.renameat2(source.fd, old, target.fd, new, _RENAME_NOREPLACE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
