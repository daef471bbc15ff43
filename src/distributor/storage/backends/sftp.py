"""A folder on an SFTP server, staged and renamed into place (E1a), locked by a lease (E4).

The calls of this module's storage are plain ones, for any thread; what they do runs in one
event loop in a thread of its own, over one connection, so that the requests of all of them
are on their way at the same time. A call that fails because the connection was lost is made
again over a new one; each is written so that this is safe. See ``docs/storage-sftp.md``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from distributor.core.observation import Entry, EntryKind
from distributor.core.paths import STAGE_PATH, folders_of
from distributor.errors import AlreadyExists, NotFound, StorageError, Unavailable, VersionMismatch
from distributor.storage import lease
from distributor.storage.backends import sftp_placing as placing
from distributor.storage.backends import sftp_tree as tree
from distributor.storage.backends.sftp_address import Access, Address, parse_access, parse_address
from distributor.storage.backends.sftp_errors import FOREIGN
from distributor.storage.backends.sftp_files import Download, Upload, absent
from distributor.storage.backends.sftp_line import Line
from distributor.storage.backends.sftp_loop import LoopThread
from distributor.storage.backends.sftp_session import Replacing, Session
from distributor.storage.base import (
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

SCHEMES = ("sftp",)

T = TypeVar("T")

_SMALL = 256 << 10
"""Content up to this many bytes is read whole and sent in one go."""


def open_storage(target: Target) -> SftpStorage:
    """Open the folder that the URL names; the connection is made when something is asked.

    Raises ``UsageError`` for a URL or settings that can't be.
    """
    return SftpStorage(parse_address(target.url), parse_access(target.settings))


class SftpStorage:
    """One opened root on a server; see :class:`distributor.storage.base.Storage`."""

    def __init__(self, address: Address, access: Access) -> None:
        self.location = address.location
        self.capabilities = Capabilities(staging=True, conditional_write=False, folders=True, parallel=16)
        self._loop = LoopThread()
        self._line = Line(address, access)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the server can't do or refused, each once, for a person (fault rows 56 and 58)."""
        return self._line.destination.notes

    # Reading

    def list(self) -> Iterator[Entry]:
        """Yield everything below the root; the listing is complete before the first is yielded (D15)."""
        return iter(self._ask("list", None, tree.walk))

    def stat(self, path: str) -> Entry:
        """Return the entry at ``path``. Raises ``NotFound``."""

        async def look(session: Session) -> Entry:
            attrs = await tree.find(session, await placing.locate(session, path))
            if attrs is None:
                raise absent(session, "stat", path)
            return tree.entry_of(path, attrs)

        return self._ask("stat", path, look)

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        """Return a whole file; its version is the digest of its bytes. Raises ``NotFound``."""

        async def fetch(session: Session) -> bytes:
            download = await Download.begin(session, await placing.locate(session, path), "read")
            try:
                if limit is not None and download.size > limit:
                    raise StorageError(
                        f"{self.location}: {path} is larger than {limit} bytes", operation="read", path=path
                    )
                data = bytearray()
                while chunk := await download.chunk():
                    data += chunk
                return bytes(data)
            finally:
                await download.end()

        data = self._ask("read", path, fetch)
        return StoredFile(data, placing.version_of(data))

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield a file in chunks; goes on after a lost connection if it is still the same file."""
        download = self._ask("read", path, lambda session: Download.begin(session, path, "read"))
        identity, offset = download.identity, 0
        try:
            while True:
                try:
                    chunk = self._once("read", path, download.chunk)
                except Unavailable:
                    self._end(download)
                    download = self._resumed(path, offset, identity)
                    chunk = self._once("read", path, download.chunk)
                if not chunk:
                    return
                offset += len(chunk)
                yield chunk
        finally:
            self._end(download)

    def _resumed(self, path: str, offset: int, identity: object) -> Download:
        download = self._ask("read", path, lambda session: Download.begin(session, path, "read", offset))
        if download.identity != identity:
            self._end(download)
            raise Unavailable(f"{self.location}: {path} was changed while it was read", operation="read", path=path)
        return download

    def _end(self, download: Download) -> None:
        if self._loop.running:
            self._loop.run(download.end())

    # Writing

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        """Write one whole file; returns its version. ``IfVersion`` compares and then renames (see ``docs``)."""
        temporary = f"{STAGE_PATH}/write-{os.urandom(8).hex()}"

        def attempt(number: int) -> str:
            try:
                self._send("write", temporary, content)
                self._once_in_session("write", path, lambda session: _place(session, temporary, path, condition))
            except (AlreadyExists, VersionMismatch):
                self._drop(temporary)
                if not (number and self._holds(path, content.sha256)):
                    raise
            except BaseException:
                self._drop(temporary)
                raise
            return content.sha256

        return self._retried(attempt)

    def _holds(self, path: str, sha256: str) -> bool:
        """Whether an earlier attempt whose answer was lost had put these bytes there."""
        return self._ask("write", path, lambda session: placing.stored_version(session, path)) == sha256

    def _drop(self, temporary: str) -> None:
        async def drop(session: Session) -> None:
            await tree.remove(session, temporary)
            await tree.remove_if_empty(session, STAGE_PATH)

        try:
            self._once_in_session("write", temporary, drop)
        except StorageError:
            # Not to hide what happened before: the staging folder is discarded by the next run.
            return

    def stage(self, slot: str, content: Content) -> None:
        """Write ``content`` under the staging folder, durably where the server can."""
        self._retried(lambda _: self._send("stage", f"{STAGE_PATH}/{slot}", content))

    def _send(self, operation: str, path: str, content: Content) -> None:
        """Write one new file. What ``content`` raises passes through, with nothing left there."""
        if content.size <= _SMALL:
            data = b"".join(content.open())
            self._once_in_session(operation, path, lambda session: _send_whole(session, path, operation, data))
            return
        upload = self._once_in_session(operation, path, lambda session: Upload.begin(session, path, operation))
        try:
            for chunk in content.open():
                self._loop.run(upload.put(chunk))
            self._loop.run(upload.finish())
        except FOREIGN as error:
            self._abandon(upload, operation, error)
            raise self._line.told(error, operation, path) from error
        except BaseException as error:
            self._abandon(upload, operation, error)
            raise

    def _abandon(self, upload: Upload, operation: str, error: BaseException) -> None:
        self._loop.run(upload.abandon(operation, error))

    def check_promotable(self, paths: Iterable[str]) -> None:
        """Raise ``StorageError`` if another file system is mounted in a path's way, where the server tells."""
        folders = sorted(folders_of(paths))
        self._ask("promote", None, lambda session: tree.require_one_file_system(session, folders))

    def promote(self, slot: str, path: str) -> None:
        """Rename a staged file to ``path``. Raises ``NotFound`` if nothing is staged there."""
        staged = f"{STAGE_PATH}/{slot}"

        def attempt(number: int) -> None:
            try:
                self._once_in_session("promote", path, lambda session: placing.promote(session, staged, path))
            except NotFound:
                # An attempt whose answer was lost may have done it.
                if not (number and self._is_file(path)):
                    raise

        self._retried(attempt)

    def _is_file(self, path: str) -> bool:
        try:
            return self.stat(path).kind is EntryKind.FILE
        except NotFound:
            return False

    def delete(self, path: str) -> bool:
        """Delete one file, link or other non-folder; ``False`` if none was there."""
        found = False

        async def remove(session: Session) -> bool:
            nonlocal found
            attrs = await tree.find(session, path)
            if attrs is not None and not tree.is_folder(attrs):
                found = True
                await tree.remove(session, path)
            if session.destination.replacing is Replacing.ASIDE:
                found = await placing.drop_aside(session, path) or found
            if attrs is None or not tree.is_folder(attrs):
                await tree.remove_empty_parents(session, path)
            return found

        return self._ask("delete", path, remove)

    def sync(self) -> None:
        """Make names durable where the server lets folders be synced; bytes are since ``stage``."""
        self._ask("sync", None, tree.sync_folders)

    def discard_stage(self) -> None:
        """Remove the staging folder; a file that a cut-off replacement put aside goes back first."""
        self._ask("delete", STAGE_PATH, placing.discard_stage)

    # Locking

    @contextmanager
    def _locked(self, request: LockRequest) -> Iterator[Lock]:
        # Found out before anything is published: a server that lets nothing be replaced (fault row 15).
        self._ask("lock", None, placing.replacing)
        with lease.hold(self, request, honoured=True) as held:
            yield held

    def lock(self, request: LockRequest) -> AbstractContextManager[Lock]:
        """Hold the lease of the root, and know that the server lets files be replaced."""
        return self._locked(request)

    def lock_info(self) -> LockInfo | None:
        """Say who holds the lease."""
        return lease.info(self)

    def break_lock(self, nonce: str) -> bool:
        """Remove a lease with this nonce."""
        return lease.break_lease(self, nonce)

    def is_whole_root(self) -> bool:
        """Whether the root is the server's file system root or the account's home (E5)."""

        async def compare(session: Session) -> bool:
            home = await session.ask(session.client.realpath(b"."))
            return session.root in (b"/", home)

        return self._ask("look", None, compare)

    def close(self) -> None:
        """Close the connection and end the thread."""
        if self._loop.running:
            self._loop.run(self._line.close())
            self._loop.close()

    # Asking

    def _ask(self, operation: str, path: str | None, work: Callable[[Session], Awaitable[T]]) -> T:
        """Return what ``work`` returns, tried again over a new connection where one was lost."""
        return self._retried(lambda _: self._once_in_session(operation, path, work))

    def _once_in_session(self, operation: str, path: str | None, work: Callable[[Session], Awaitable[T]]) -> T:
        async def asked() -> T:
            return await work(await self._line.session())

        return self._once(operation, path, asked)

    def _once(self, operation: str, path: str | None, work: Callable[[], Awaitable[T]]) -> T:
        async def told() -> T:
            try:
                return await work()
            except FOREIGN as error:
                raise self._line.told(error, operation, path) from error

        return self._loop.run(told())

    def _retried(self, attempt: Callable[[int], T]) -> T:
        """Call ``attempt`` with its number, from 0, until it does not raise ``Unavailable`` or patience is over."""
        for number in range(self._line.access.retries):
            try:
                return attempt(number)
            except Unavailable:
                self._loop.run(asyncio.sleep(min(0.2 * 2**number, 5.0)))
        return attempt(self._line.access.retries)


async def _send_whole(session: Session, path: str, operation: str, data: bytes) -> None:
    upload = await Upload.begin(session, path, operation)
    try:
        await upload.put(data)
        await upload.finish()
    except BaseException as error:
        await upload.abandon(operation, error)
        raise


async def _place(session: Session, temporary: str, path: str, condition: Condition) -> None:
    await placing.place(session, temporary, path, condition)
    await tree.remove_if_empty(session, STAGE_PATH)
    await tree.sync_folders(session)
