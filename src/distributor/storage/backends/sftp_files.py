"""The bytes of files on their way to and from an SFTP server: pipelined, and bounded by bytes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress

import asyncssh

from distributor.core.observation import EntryKind
from distributor.errors import NotFound, StorageError, Unavailable
from distributor.storage.backends.sftp_errors import FOREIGN
from distributor.storage.backends.sftp_session import Session
from distributor.storage.backends.sftp_tree import find, kind_of, make_folders_of, raise_if_full, remove

_READS_AHEAD = 8


class Upload:
    """One new file that is being written. End it with ``finish`` or ``abandon``."""

    def __init__(self, session: Session, path: str, file: asyncssh.SFTPClientFile) -> None:
        self._session = session
        self._path = path
        self._file = file
        self._offset = 0
        self._writes: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._closed = False

    @classmethod
    async def begin(cls, session: Session, path: str, operation: str) -> Upload:
        """Start the new file ``path``: never through a link, never into an existing file (another's hard link)."""
        for _ in range(3):
            await make_folders_of(session, path, operation)
            try:
                return cls(session, path, await session.open(path, "xb"))
            except asyncssh.SFTPNoSuchFile:
                # A folder was removed as empty between the look and the opening: make it again.
                continue
            except (asyncssh.SFTPFailure, asyncssh.SFTPFileAlreadyExists):
                if not await remove(session, path):
                    await raise_if_full(session, operation, path)
                    raise
        raise Unavailable(
            f"{session.destination.location}: {path} can't be made: its folder vanishes again and again",
            operation=operation,
            path=path,
        )

    async def put(self, data: bytes) -> None:
        """Send ``data``; returns when it is on its way and there is room for more."""
        for start in range(0, len(data), self._session.block):
            piece = data[start : start + self._session.block]
            await self._session.destination.bytes.enter(len(piece))
            if self._failure is not None:
                self._session.destination.bytes.leave(len(piece))
                raise self._failure
            task = asyncio.create_task(self._write(piece, self._offset))
            self._offset += len(piece)
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)

    async def _write(self, piece: bytes, offset: int) -> None:
        try:
            await self._session.ask(self._file.write(piece, offset))
        except FOREIGN as error:
            self._failure = self._failure or error
        finally:
            self._session.destination.bytes.leave(len(piece))

    async def finish(self) -> None:
        """Make the file whole and durable, as far as the server can, and close it."""
        # In one go, the writes first: a server does what it is asked about one file in the order it is asked.
        steps: list[Awaitable[None]] = [*self._writes, self._sync()]
        mode = self._session.destination.access.file_mode
        if mode is not None:
            steps.append(self._session.tolerated(self._file.setstat(asyncssh.SFTPAttrs(permissions=mode))))
        self._closed = True
        results = await asyncio.gather(*steps, self._session.ask(self._file.close()), return_exceptions=True)
        self._session.leave()
        failure = self._failure or next((found for found in results if found is not None), None)
        if failure is not None:
            raise failure
        self._session.destination.unsynced.add(self._path.rpartition("/")[0])

    async def _sync(self) -> None:
        try:
            await self._session.ask(self._file.fsync())
        except asyncssh.SFTPOpUnsupported:
            self._session.destination.note(
                "the server can't be asked to make files durable; what is published may not survive its power loss"
            )

    async def abandon(self, operation: str, error: BaseException) -> None:
        """Close and remove what was written so far. Raises ``OutOfSpace`` if that is why ``error`` was met."""
        await asyncio.gather(*self._writes, return_exceptions=True)
        try:
            if type(error) is asyncssh.SFTPFailure:
                await raise_if_full(self._session, operation, self._path)
        finally:
            with suppress(*FOREIGN):
                if not self._closed:
                    await self._session.ask(self._file.close())
                    self._session.leave()
                await remove(self._session, self._path)


class Download:
    """One file that is being read, some blocks ahead of whoever takes them."""

    def __init__(self, session: Session, path: str, file: asyncssh.SFTPClientFile, attrs: asyncssh.SFTPAttrs) -> None:
        self.size = attrs.size or 0
        self.identity = (attrs.size, attrs.mtime)
        self._session = session
        self._path = path
        self._file = file
        self._next = 0
        self._reads: deque[asyncio.Task[bytes]] = deque()

    @classmethod
    async def begin(cls, session: Session, path: str, operation: str, offset: int = 0) -> Download:
        """Open ``path`` for reading from ``offset``. Raises ``NotFound``; ``StorageError`` if it is no regular file."""
        attrs = await find(session, path)
        if attrs is None:
            raise absent(session, operation, path)
        if kind_of(attrs) is not EntryKind.FILE:
            raise StorageError(
                f"{session.destination.location}: {path} is no regular file, so it is not read",
                operation=operation,
                path=path,
            )
        try:
            file = await session.open(path, "rb")
        except asyncssh.SFTPNoSuchFile:
            if await session.lstat(path) is None:
                raise absent(session, operation, path) from None
            # It is there, and still the server says it is not: forbidden is what it means (C0).
            raise StorageError(
                f"{session.destination.location}: {path} is listed by the server, which then says it does not exist",
                operation=operation,
                path=path,
                hint="check its permissions: some servers hide what may not be read",
            ) from None
        download = cls(session, path, file, await session.ask(file.stat()))
        download._next = offset
        return download

    async def chunk(self) -> bytes:
        """Return the next bytes, at most one block; none at the end."""
        while self._next < self.size and len(self._reads) < _READS_AHEAD:
            length = min(self._session.block, self.size - self._next)
            self._reads.append(asyncio.create_task(self._read(self._next, length)))
            self._next += length
        return await self._reads.popleft() if self._reads else b""

    async def _read(self, offset: int, length: int) -> bytes:
        data = await self._session.read(self._file, length, offset)
        while len(data) < length:
            more = await self._session.read(self._file, length - len(data), offset + len(data))
            if not more:
                raise Unavailable(
                    f"{self._session.destination.location}: {self._path} became shorter while it was read",
                    operation="read",
                    path=self._path,
                )
            data += more
        return data

    async def end(self) -> None:
        """Close the file; what was read ahead is dropped."""
        for task in self._reads:
            task.cancel()
        await asyncio.gather(*self._reads, return_exceptions=True)
        self._session.leave(file=self._file)


def absent(session: Session, operation: str, path: str) -> NotFound:
    """Return the error for a path at which there certainly is nothing."""
    return NotFound(f"{session.destination.location}: {path} does not exist", operation=operation, path=path)
