"""A folder of this machine as a destination.

Everything is reached through descriptors from the opened root down, without following
links (E5); a new file is made under ``.distributor.stage/`` and renamed into place; what
is durable when is said at each method. The lock is the system's (:mod:`.local_lock`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from distributor.core.observation import Entry, EntryKind
from distributor.core.paths import STAGE_PATH
from distributor.errors import AlreadyExists, NotFound, StorageError, UsageError, VersionMismatch
from distributor.storage.backends.local_errors import ConditionFailed, Translated, Vanished
from distributor.storage.backends.local_tree import (
    READ_FLAGS,
    Folder,
    Found,
    Tree,
    entry_of,
    is_regular,
    mount_of,
    split,
    version_of,
)
from distributor.storage.base import (
    CREATE_ONLY,
    OVERWRITE,
    Capabilities,
    Condition,
    Content,
    Lock,
    LockInfo,
    LockRequest,
    StoredFile,
)
from distributor.storage.opening import Target

if TYPE_CHECKING:
    from distributor.storage.backends.local_files import FileWriter

SCHEMES = ("file",)

_CHUNK = 1 << 20
_TRIES = 8

T = TypeVar("T")


def open_storage(target: Target) -> LocalStorage:
    """Open a folder: a plain absolute path or ``file:///…``. An absent one is no error.

    The settings ``file_mode`` and ``dir_mode`` are octal text (H2). Raises
    ``UsageError`` for a ``file://`` URL of another host.
    """
    return LocalStorage(
        folder_of(target.url), _mode(target.settings.get("file_mode")), _mode(target.settings.get("dir_mode"))
    )


def folder_of(url: str) -> str:
    """Return the absolute path that a destination's URL names. Raises ``UsageError``."""
    if url[:7].lower() != "file://":
        return os.path.normpath(url)
    from urllib.parse import unquote  # here: plain paths need none of it

    host, slash, path = url[7:].partition("/")
    if host not in ("", "localhost") or not slash:
        raise UsageError(f"{url}: names another host", hint="write file:///absolute/path")
    return os.path.normpath("/" + unquote(path))


def _mode(setting: object) -> int | None:
    return None if setting is None else int(str(setting), 8)


class LocalStorage:
    """One opened folder; see :class:`distributor.storage.base.Storage`."""

    def __init__(self, root: str, file_mode: int | None, dir_mode: int | None) -> None:
        self.location = root
        self._tree = Tree(root, dir_mode)
        self._file_mode = file_mode
        self._writer: FileWriter | None = None

    @property
    def capabilities(self) -> Capabilities:
        """Everything; conditional writes are atomic unless the file system refuses locks (NFS)."""
        atomic = self._writer is None or self._writer.conditions_atomic
        return Capabilities(staging=True, conditional_write=atomic, folders=True, parallel=1)

    @property
    def _files(self) -> FileWriter:
        if self._writer is None:
            from distributor.storage.backends.local_files import FileWriter  # here: runs that skip write nothing

            self._writer = FileWriter(self._tree, self._file_mode)
        return self._writer

    # --- looking -----------------------------------------------------------------

    def list(self) -> Iterator[Entry]:
        """Yield everything below the root; nothing where the root is absent.

        A folder that another process removes meanwhile is not there.
        """
        folders = [""] if self._has_root("list") else []
        while folders:
            folder = folders.pop()
            for found in self._scan(folder):
                entry = entry_of(f"{folder}/{found.name}" if folder else found.name, found.status)
                if entry.kind is EntryKind.FOLDER:
                    folders.append(entry.path)
                yield entry

    def _scan(self, folder: str) -> Sequence[Found]:
        with self._translated("list", folder):
            try:
                return self._tree.scan(folder)
            except FileNotFoundError:
                return []

    def stat(self, path: str) -> Entry:
        """Return the entry at ``path``, not following links. Raises ``NotFound``."""
        found = self._parent("stat", path)
        if found is not None:
            folder, name = found
            with self._translated("stat", path):
                try:
                    return entry_of(path, os.stat(name, dir_fd=folder.fd, follow_symlinks=False))
                except FileNotFoundError:
                    pass  # as if its folder were not there
        raise self._not_found("stat", path)

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        """Read a whole regular file. Raises ``NotFound``; ``StorageError`` for anything else there."""
        fd, status = self._open("read", path)
        try:
            if limit is not None and status.st_size > limit:
                raise self._error("read", path, f"is larger than {limit} bytes")
            with self._translated("read", path):
                return StoredFile(b"".join(_chunks(fd)), version_of(status))
        finally:
            os.close(fd)

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield a regular file in chunks of at most 1 MiB. Raises as :meth:`read`."""
        fd, _status = self._open("read", path)
        try:
            with self._translated("read", path):
                yield from _chunks(fd)
        finally:
            os.close(fd)

    # --- changing ----------------------------------------------------------------

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        """Write one file; durable when it returns: bytes (``fsync``), then name (``fsync`` of its folder)."""
        return _until_in_place(lambda: self._write(path, content, condition))

    def _write(self, path: str, content: Content, condition: Condition) -> str:
        translated = self._translated("write", path)
        temporary = f"{STAGE_PATH}/write-{os.urandom(8).hex()}"
        version = self._files.fill_durably(temporary, content, path, translated)
        try:
            with translated:
                self._files.place(temporary, path, condition)
        except BaseException as error:
            with suppress(StorageError):  # it goes when the staging folder is discarded
                self.delete(temporary)
            if isinstance(error, ConditionFailed):
                raise self._refusal(path, condition) from None
            raise
        with translated:
            self._tree.prune(STAGE_PATH)
            self._files.unsynced.flush_name(path)
        return version

    def _refusal(self, path: str, condition: Condition) -> StorageError:
        if condition == CREATE_ONLY:
            return AlreadyExists(f"{self.location}/{path}: exists already", operation="write", path=path)
        return VersionMismatch(f"{self.location}/{path}: was changed by another program", operation="write", path=path)

    def stage(self, slot: str, content: Content) -> None:
        """Write a file under the staging folder, in one pass; durable after :meth:`sync`."""
        path = f"{STAGE_PATH}/{slot}"
        _until_in_place(lambda: self._files.fill(path, content, self._translated("stage", path)))
        self._files.unsynced.wrote(path)

    def check_promotable(self, paths: Iterable[str]) -> None:
        """Raise ``StorageError`` for the first path on another file system than the staging folder (E1a)."""
        with self._translated("check", None):
            home = mount_of(self._deepest(STAGE_PATH))
            seen: dict[str, str] = {split(path)[0]: path for path in paths}
            for folder, path in seen.items():
                if mount_of(self._deepest(folder)) != home:
                    raise self._error(
                        "check",
                        path,
                        "is on another file system mounted below the destination, "
                        "where files can't be renamed to; nothing was changed",
                        hint="make the mount a destination of its own",
                    )

    def _deepest(self, path: str) -> Folder:
        """Return the folder at ``path`` or the nearest above it that is there."""
        while True:
            try:
                return self._tree.folder(path)
            except (FileNotFoundError, NotADirectoryError):
                if not path:
                    raise
                path = split(path)[0]

    def promote(self, slot: str, path: str) -> None:
        """Rename a staged file to ``path``; durable after :meth:`sync`. Raises ``NotFound``."""
        _until_in_place(lambda: self._promote(f"{STAGE_PATH}/{slot}", path))

    def _promote(self, staged: str, path: str) -> None:
        with self._translated("promote", path):
            try:
                changed = self._files.adopt_mode(staged, path)
            except FileNotFoundError:
                raise self._not_found("promote", staged) from None
            self._files.place(staged, path, OVERWRITE)
        self._files.unsynced.renamed(staged, path)
        if changed:
            self._files.unsynced.wrote(path)

    def delete(self, path: str) -> bool:
        """Remove one file or link, and folders left empty; durable after :meth:`sync`."""
        found = self._parent("delete", path)
        if found is None:
            deleted = False
        else:
            folder, name = found
            with self._translated("delete", path):
                deleted = _unlink(folder, name)
        above = split(path)[0]
        if deleted:
            self._files.unsynced.removed(path)
        if found is not None and above:
            self._tree.prune(above)
        return deleted

    def sync(self) -> None:
        """Make all that was staged, promoted and deleted durable: ``fsync`` each, or one ``syncfs``."""
        with self._translated("sync", None):
            self._files.unsynced.flush()

    def discard_stage(self) -> None:
        """Remove the staging folder, or the link or file in its place; durable after :meth:`sync`."""
        if not self.delete(STAGE_PATH) and self._parent("discard", STAGE_PATH) is not None:
            with self._translated("discard", STAGE_PATH):
                self._tree.remove_tree(STAGE_PATH)

    # --- locking -----------------------------------------------------------------

    @contextmanager
    def lock(self, request: LockRequest) -> Iterator[Lock]:
        """Hold the root by ``flock``; by a lease where its file system has no such locks (E4)."""
        from distributor.storage.backends import local_lock  # here: runs that skip take no lock

        with self._translated("lock", None):
            held = local_lock.acquire(self._tree, request)
        if held is None:
            from distributor.storage import lease  # here: few file systems need it

            self._files.conditions_atomic = False
            with lease.hold(self, request, honoured=False) as leased:
                yield leased
            return
        try:
            yield held
        finally:
            held.release()

    def lock_info(self) -> LockInfo | None:
        """Say who holds the root, from ``/proc/locks``: processes of other hosts are not seen."""
        from distributor.storage import lease  # here: few commands ask

        holder = self._holder()
        return LockInfo(holder, nonce="", since=None, live=True) if holder else lease.info(self)

    def break_lock(self, nonce: str) -> bool:
        """Remove a lease with this nonce. Raises ``StorageError`` where the system holds the lock."""
        from distributor.storage import lease  # here: one command asks

        holder = self._holder()
        if holder:
            raise StorageError(
                f"{self.location}: is locked by {holder}, and the system frees such a lock only with its process",
                operation="unlock",
                hint="wait for that process, or end it",
            )
        return lease.break_lease(self, nonce)

    def _holder(self) -> str | None:
        from distributor.storage.backends import local_lock  # here: runs that skip ask for no holder

        with self._translated("lock", None):
            try:
                return local_lock.holder_of(self._tree.root())
            except FileNotFoundError:
                return None

    # --- the rest ----------------------------------------------------------------

    def is_whole_root(self) -> bool:
        """Whether the folder is ``/``, ``$HOME`` or the account's home, links resolved (E5)."""
        import pwd  # here: only forced replacement asks

        homes = {os.environ.get("HOME")}
        try:
            homes.add(pwd.getpwuid(os.getuid()).pw_dir)
        except KeyError:
            homes.add(None)  # an account without a name has no home of its own
        wholes = {"/", *(os.path.realpath(home) for home in homes if home)}
        return os.path.realpath(self.location) in wholes

    def close(self) -> None:
        """Close every descriptor; used again, it opens them again."""
        self._tree.forget()

    def _parent(self, operation: str, path: str) -> tuple[Folder, bytes] | None:
        """Open the folder that ``path`` lies in; ``None`` where there certainly is none."""
        if not self._has_root(operation):
            return None
        with self._translated(operation, path):
            above, name = split(path)
            try:
                return self._tree.folder(above), name
            except (FileNotFoundError, NotADirectoryError):
                return None

    def _has_root(self, operation: str) -> bool:
        with self._translated(operation, None):
            try:
                self._tree.root()
            except FileNotFoundError:
                return False
        return True

    def _open(self, operation: str, path: str) -> tuple[int, os.stat_result]:
        """Open a regular file for reading. Never waits for a fifo, never follows a link."""
        found = self._parent(operation, path)
        if found is None:
            raise self._not_found(operation, path)
        folder, name = found
        with self._translated(operation, path):
            try:
                fd = os.open(name, READ_FLAGS, dir_fd=folder.fd)
            except FileNotFoundError:
                raise self._not_found(operation, path) from None
        status = os.fstat(fd)
        if not is_regular(status):
            os.close(fd)
            raise self._error(operation, path, "is no regular file", hint="move it away and run again")
        return fd, status

    def _translated(self, operation: str, path: str | None) -> Translated:
        return Translated(operation, self.location, path)

    def _not_found(self, operation: str, path: str) -> NotFound:
        return NotFound(f"{self.location}/{path}: does not exist", operation=operation, path=path)

    def _error(self, operation: str, path: str, fault: str, hint: str | None = None) -> StorageError:
        return StorageError(f"{self.location}/{path}: {fault}", operation=operation, path=path, hint=hint)


def _until_in_place(action: Callable[[], T]) -> T:
    """Do ``action`` again while folders that it needs are removed under its hands."""
    for _ in range(_TRIES):
        try:
            return action()
        except Vanished:
            continue
    return action()


def _unlink(folder: Folder, name: bytes) -> bool:
    try:
        os.unlink(name, dir_fd=folder.fd)
    except (FileNotFoundError, IsADirectoryError):
        return False
    return True


def _chunks(fd: int) -> Iterator[bytes]:
    while chunk := os.read(fd, _CHUNK):
        yield chunk
