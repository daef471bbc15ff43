"""One SFTP session: requests by destination-relative path, and what was learnt about the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from enum import Enum
from typing import Any, TypeVar, cast

import asyncssh

from distributor.core.paths import parents
from distributor.errors import Denied
from distributor.storage.backends.sftp_address import Access, Address
from distributor.storage.backends.sftp_errors import FOREIGN, breaks_connection
from distributor.storage.backends.sftp_loop import BYTES_IN_FLIGHT, Gate

T = TypeVar("T")

MAX_BLOCK = 255 << 10
"""Bytes of one read or write at most, even where the server would take more: they are held in memory."""

_MOST_OPEN = 32


class Replacing(str, Enum):
    """How a server lets a file take another's place."""

    POSIX = "posix-rename"
    PLAIN = "plain rename that replaces"
    ASIDE = "the old one renamed aside, then the new one into its place"


class Destination:
    """What stays known about a destination while connections to it come and go."""

    def __init__(self, location: str, access: Access) -> None:
        self.location = location
        self.access = access
        self.replacing: Replacing | None = None
        self.syncs_folders = True
        self.unsynced: set[str] = set()
        self.bytes = Gate(BYTES_IN_FLIGHT)
        self.probe = asyncio.Lock()
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know, each sentence once."""
        return tuple(self._notes)

    def note(self, sentence: str) -> None:
        """Keep a sentence for a person."""
        self._notes.setdefault(f"{self.location}: {sentence}")


class Session:
    """Requests to one server over one connection; paths are relative to ``root``, '' is the root.

    Every method raises what asyncssh raises. A server that stays silent for longer than
    ``timeout`` seconds while it is asked something ends the session with ``TimeoutError``.
    """

    def __init__(
        self,
        connection: asyncssh.SSHClientConnection,
        client: asyncssh.SFTPClient,
        root: bytes,
        destination: Destination,
    ) -> None:
        self.destination = destination
        self.root = root
        self.client = client
        self.block = min(client.limits.max_write_len or MAX_BLOCK, client.limits.max_read_len or MAX_BLOCK, MAX_BLOCK)
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._handles = Gate(_MOST_OPEN)
        self._looks: dict[str, asyncio.Future[asyncssh.SFTPAttrs | None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._asking = 0
        self._heard = self._loop.time()
        self._broken = False
        self._silent = False
        self._watch = self._loop.call_later(self._patience / 4, self._watch_silence)

    @property
    def _patience(self) -> float:
        return self.destination.access.timeout

    @property
    def usable(self) -> bool:
        """Whether the connection still stands, as far as is known."""
        return not (self._broken or self._connection.is_closed())

    def at(self, path: str) -> bytes:
        """Return the server's name of ``path``; undecodable names came with surrogate escapes."""
        if not path:
            return self.root
        return self.root.rstrip(b"/") + b"/" + path.encode("utf-8", "surrogateescape")

    async def ask(self, request: Awaitable[T]) -> T:
        """Return the server's answer, watched for silence."""
        if self._asking == 0:
            self._heard = self._loop.time()
        self._asking += 1
        try:
            return await request
        except FOREIGN as error:
            self._broken = self._broken or breaks_connection(error)
            if self._silent:
                raise TimeoutError(f"no answer for {self._patience:g} s") from error
            raise
        finally:
            self._asking -= 1
            self._heard = self._loop.time()

    async def lstat(self, path: str) -> asyncssh.SFTPAttrs | None:
        """Return what stands at ``path``, links not followed; ``None`` where there certainly is nothing."""
        try:
            return await self.ask(self.client.lstat(self.at(path)))
        except asyncssh.SFTPNoSuchFile:
            return None

    async def look(self, folder: str) -> asyncssh.SFTPAttrs | None:
        """Do as ``lstat``; those who ask for the same folder at the same time share one request."""
        asked = self._looks.get(folder)
        if asked is None:
            asked = asyncio.ensure_future(self.lstat(folder))
            self._looks[folder] = asked
            asked.add_done_callback(lambda _: self._looks.pop(folder, None))
        return await asyncio.shield(asked)

    async def look_above(self, path: str) -> list[asyncssh.SFTPAttrs | None]:
        """Return what stands at each folder above ``path``, topmost first."""
        return await asyncio.gather(*(self.look(folder) for folder in reversed(list(parents(path)))))

    async def look_along(self, path: str) -> tuple[list[asyncssh.SFTPAttrs | None], asyncssh.SFTPAttrs | None]:
        """Return what stands at each folder above ``path``, and at ``path`` itself."""
        return await asyncio.gather(self.look_above(path), self.lstat(path))

    async def open(self, path: str, mode: str) -> asyncssh.SFTPClientFile:
        """Open a file. ``leave`` it when done: where the server limits open files, others wait for it."""

        def opened() -> Coroutine[Any, Any, asyncssh.SFTPClientFile]:
            return self.ask(self._opened(path, mode))

        return await self._entered(path, opened)

    async def _opened(self, path: str, mode: str) -> asyncssh.SFTPClientFile:
        # Blocks are cut by us, at the server's limit: parallel writing of asyncssh's own costs a task each.
        return await self.client.open(self.at(path), mode, block_size=0)

    async def read(self, file: asyncssh.SFTPClientFile, length: int, offset: int) -> bytes:
        """Return up to ``length`` bytes, fewer only where the server has no more at once; none at the end."""
        return cast("bytes", await self.ask(file.read(length, offset)))

    async def scan(self, folder: str) -> list[asyncssh.SFTPName]:
        """Return all names in ``folder``, or raise: never a part of them (D15)."""

        async def scanned() -> list[asyncssh.SFTPName]:
            return [name async for name in self._names(folder)]

        names = await self._entered("", scanned)
        self._handles.leave()
        return names

    async def _names(self, folder: str) -> Any:
        names = self.client.scandir(self.at(folder))
        while (name := await self.ask(anext(names, None))) is not None:
            yield name

    async def _entered(self, path: str, opening: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Open something; where the server refuses and others are open, with fewer at a time."""
        while True:
            await self._handles.enter()
            try:
                return await opening()
            except BaseException as error:
                others = self._handles.used - 1
                self._handles.leave()
                limited = type(error) is asyncssh.SFTPFailure and others > 0
                if not limited or (path and await self.lstat(path) is not None):
                    raise
                self._handles.narrow(others)

    def leave(self, *, file: asyncssh.SFTPClientFile | None = None) -> None:
        """Let go of an open file; with ``file`` close it, without waiting for the answer."""
        if file is None:
            self._handles.leave()
        else:
            task = self._loop.create_task(self._close(file))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close(self, file: asyncssh.SFTPClientFile) -> None:
        # Only where nothing was written, or what was is given up: its failure tells nothing.
        with suppress(*FOREIGN):
            await self.ask(file.close())
        self._handles.leave()

    async def permit(self, path: str, mode: int) -> None:
        """Set permission bits; a refusal is a note and no failure (fault row 56)."""
        await self.tolerated(self.client.setstat(self.at(path), asyncssh.SFTPAttrs(permissions=mode)))

    async def tolerated(self, setting: Awaitable[None]) -> None:
        """Await the setting of a mode; a refusal is a note."""
        try:
            await self.ask(setting)
        except (asyncssh.SFTPPermissionDenied, asyncssh.SFTPOpUnsupported, asyncssh.SFTPFailure):
            self.destination.note("the server does not let modes be set; files have those that it gives them")

    async def abandon(self) -> None:
        """Close the connection at once; whoever waits for an answer gets an error."""
        self._watch.cancel()
        self._connection.abort()
        with suppress(*FOREIGN):
            await self._connection.wait_closed()

    def _watch_silence(self) -> None:
        if self._asking and self._loop.time() - self._heard > self._patience:
            self._silent = True
            self._connection.abort()
            return
        self._watch = self._loop.call_later(self._patience / 4, self._watch_silence)


async def start_session(
    connection: asyncssh.SSHClientConnection, address: Address, destination: Destination
) -> Session:
    """Open the sftp subsystem and find the root: links up to it are followed here, once (E5)."""
    client = await connection.start_sftp_client(path_encoding=None)
    name = address.folder.encode("utf-8", "surrogateescape")
    if address.from_home:
        home = await client.realpath(b".")
        name = home.rstrip(b"/") + b"/" + name if name else home
    try:
        root = await client.realpath(name)
    except asyncssh.SFTPNoSuchFile:
        # Nothing is there yet; whoever makes it makes it where the URL says.
        root = name
    except asyncssh.SFTPPermissionDenied as error:
        raise Denied(
            f"{destination.location}: the server denies access to the folder",
            operation="open",
            hint="check its permissions, and those of the folders above it, for that account",
        ) from error
    return Session(connection, client, root, destination)
