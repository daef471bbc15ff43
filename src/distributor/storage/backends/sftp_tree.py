"""Folders and names at an SFTP destination: looking, listing, making and removing.

No link is followed below the root: every folder of a path is looked at before anything
is written under it. What is left is the moment between that look and the request that
relies on it; SFTP has no way to close it (``docs/storage-sftp.md``).
"""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Sequence

import asyncssh

from distributor.core.observation import Entry, EntryKind
from distributor.core.paths import parents
from distributor.errors import OutOfSpace, StorageError, Unavailable
from distributor.storage.backends.sftp_session import MAX_BLOCK, Session

_TRIES = 4
_AT_ONCE = 64


def kind_of(attrs: asyncssh.SFTPAttrs) -> EntryKind:
    """Return what ``attrs`` are of; a server that tells no type has no folder or file there."""
    mode = attrs.permissions
    if mode is not None and stat.S_IFMT(mode):
        if stat.S_ISREG(mode):
            return EntryKind.FILE
        return EntryKind.FOLDER if stat.S_ISDIR(mode) else EntryKind.OTHER
    by_type = {asyncssh.FILEXFER_TYPE_REGULAR: EntryKind.FILE, asyncssh.FILEXFER_TYPE_DIRECTORY: EntryKind.FOLDER}
    return by_type.get(attrs.type, EntryKind.OTHER)


def is_folder(attrs: asyncssh.SFTPAttrs | None) -> bool:
    """Whether a folder stands there."""
    return attrs is not None and kind_of(attrs) is EntryKind.FOLDER


def entry_of(path: str, attrs: asyncssh.SFTPAttrs) -> Entry:
    """Return the entry; its version is made of size and time of change, which has a second's grain."""
    kind = kind_of(attrs)
    if kind is not EntryKind.FILE:
        return Entry(path, kind, 0)
    size = attrs.size or 0
    return Entry(path, kind, size, f"{size}-{attrs.mtime or 0}")


async def find(session: Session, path: str) -> asyncssh.SFTPAttrs | None:
    """Return what stands at ``path`` reached through folders alone, or ``None``."""
    folders, last = await session.look_along(path)
    return last if all(map(is_folder, folders)) else None


# --- listing -------------------------------------------------------------------------


async def walk(session: Session, top: str = "") -> list[Entry]:
    """Return everything below ``top``; nothing if nothing is there. Complete, or an error (D15)."""
    try:
        found, folders = await _read_folder(session, top)
    except asyncssh.SFTPNoSuchFile:
        # OpenSSH says the same where no folder, but something else is.
        attrs = await session.lstat(top)
        if attrs is None:
            return []
        raise StorageError(
            f"{session.destination.location}: {top or 'the root'} can't be listed: it is no folder",
            operation="list",
            path=top or None,
        ) from None
    while folders:
        listed = await asyncio.gather(*(_read_subfolder(session, folder) for folder in folders))
        folders = [folder for _, subfolders in listed for folder in subfolders]
        found.extend(entry for entries, _ in listed for entry in entries)
    return found


async def _read_subfolder(session: Session, folder: str) -> tuple[list[Entry], list[str]]:
    try:
        return await _read_folder(session, folder)
    except asyncssh.SFTPNoSuchFile as error:
        # Its parent named it: it went meanwhile, or the server hides it. Both leave the listing unsure.
        raise Unavailable(
            f"{session.destination.location}: {folder} was listed, but the server says it does not exist",
            operation="list",
            path=folder,
            hint="is another program changing this folder? otherwise check its permissions",
        ) from error


async def _read_folder(session: Session, folder: str) -> tuple[list[Entry], list[str]]:
    entries: list[Entry] = []
    for name in await session.scan(folder):
        raw = name.filename if isinstance(name.filename, bytes) else name.filename.encode()
        if raw in (b".", b".."):
            continue
        if not raw or b"/" in raw:
            raise StorageError(
                f"{session.destination.location}: the server lists an impossible name, {raw!r}, in {folder or 'it'}",
                operation="list",
                path=folder or None,
            )
        text = raw.decode("utf-8", "surrogateescape")
        entries.append(entry_of(f"{folder}/{text}" if folder else text, name.attrs))
    return entries, [entry.path for entry in entries if entry.kind is EntryKind.FOLDER]


# --- making folders ------------------------------------------------------------------


async def make_folders_of(session: Session, path: str, operation: str) -> None:
    """Make the folders above ``path`` that are missing, the root included.

    Raises ``StorageError`` where something else stands in a folder's place.
    """
    folders = ["", *reversed(list(parents(path)))]
    seen = await asyncio.gather(*map(session.look, folders))
    for folder, attrs in zip(folders, seen, strict=True):
        if attrs is not None and not is_folder(attrs):
            raise _no_folder(session, folder, path, operation)
    for folder, attrs in zip(folders, seen, strict=True):
        if attrs is None:
            await (_make_folder(session, folder, operation) if folder else _make_root(session))


async def _make_folder(session: Session, folder: str, operation: str) -> None:
    refusal: asyncssh.SFTPError | None = None
    for _ in range(_TRIES):
        try:
            await session.ask(session.client.mkdir(session.at(folder)))
        except asyncssh.SFTPNoSuchFile:
            # Somebody removed a folder above as empty.
            await make_folders_of(session, folder, operation)
            continue
        except (asyncssh.SFTPFailure, asyncssh.SFTPFileAlreadyExists) as error:
            attrs = await session.lstat(folder)
            if attrs is None:
                # Refused, or it was there and is removed already: once more tells.
                refusal = error
                continue
            if not is_folder(attrs):
                raise _no_folder(session, folder, folder, operation) from None
            return
        await _made(session, folder)
        return
    if refusal is not None:
        await raise_if_full(session, operation, folder)
        raise refusal
    raise Unavailable(
        f"{session.destination.location}: {folder} is removed again and again while it is made",
        operation=operation,
        path=folder,
    )


async def _made(session: Session, folder: str) -> None:
    session.destination.unsynced.add(folder.rpartition("/")[0])
    mode = session.destination.access.dir_mode
    if mode is not None:
        await session.permit(folder, mode)


async def _make_root(session: Session) -> None:
    """Make the root and what is missing above it, where links are the server's affair (E5)."""
    parts = session.root.split(b"/")
    for end in range(2, len(parts) + 1):
        name = b"/".join(parts[:end])
        try:
            await session.ask(session.client.mkdir(name))
        except (asyncssh.SFTPFailure, asyncssh.SFTPFileAlreadyExists, asyncssh.SFTPPermissionDenied):
            # There already, or not to be made: whether it is there is what counts.
            await session.ask(session.client.stat(name))
    if session.destination.access.dir_mode is not None:
        await session.permit("", session.destination.access.dir_mode)


def _no_folder(session: Session, folder: str, path: str, operation: str) -> StorageError:
    where = folder or "the root"
    return StorageError(
        f"{session.destination.location}: {path} can't be made: a file or a link stands at {where}",
        operation=operation,
        path=path,
        hint="remove it, or choose another path: links are never followed inside a destination",
    )


async def raise_if_full(session: Session, operation: str, path: str) -> None:
    """Raise ``OutOfSpace`` if the server says that its file system is full: SFTP has no code for it."""
    try:
        room = await session.ask(session.client.statvfs(session.root))
    except asyncssh.SFTPError:
        return
    if room.bavail * (room.frsize or room.bsize) < MAX_BLOCK or (room.files and room.favail == 0):
        raise OutOfSpace(
            f"{session.destination.location}: {path}: the file system has no room or no file entries left",
            operation=operation,
            path=path,
            hint="free some room and run again",
        )


async def require_one_file_system(session: Session, folders: Sequence[str]) -> None:
    """Raise ``StorageError`` if a folder is on another file system than the root, where the server tells."""
    own = await _file_system(session, "")
    if own is None:
        return
    for start in range(0, len(folders), _AT_ONCE):
        some = folders[start : start + _AT_ONCE]
        found = await asyncio.gather(*(_file_system(session, folder) for folder in some))
        for folder, other in zip(some, found, strict=True):
            if other not in (None, own):
                raise StorageError(
                    f"{session.destination.location}: another file system is mounted at {folder}, "
                    "where staged files can't be renamed to; nothing was published",
                    operation="promote",
                    path=folder,
                    hint="make the mount a destination of its own",
                )


async def _file_system(session: Session, folder: str) -> int | None:
    try:
        return (await session.ask(session.client.statvfs(session.at(folder)))).fsid or None
    except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPOpUnsupported, asyncssh.SFTPFailure, asyncssh.SFTPPermissionDenied):
        return None


# --- removing ------------------------------------------------------------------------


async def remove(session: Session, path: str) -> bool:
    """Remove one file, link or other non-folder; ``False`` if none is there (any more)."""
    try:
        await session.ask(session.client.remove(session.at(path)))
    except asyncssh.SFTPNoSuchFile:
        return False
    session.destination.unsynced.add(path.rpartition("/")[0])
    return True


async def remove_empty_parents(session: Session, path: str) -> None:
    """Remove the folders above ``path`` that are empty, up to the root, which stays."""
    for folder in parents(path):
        if not await remove_if_empty(session, folder):
            return


async def remove_if_empty(session: Session, folder: str) -> bool:
    """Remove a folder; ``False`` where it has content or can't be removed."""
    try:
        await session.ask(session.client.rmdir(session.at(folder)))
    except asyncssh.SFTPNoSuchFile:
        return True
    except (asyncssh.SFTPFailure, asyncssh.SFTPPermissionDenied, asyncssh.SFTPDirNotEmpty):
        return False
    session.destination.unsynced.add(folder.rpartition("/")[0])
    return True


async def clear_folder_away(session: Session, path: str, operation: str) -> None:
    """Remove a folder that holds nothing but empty folders (D19). Raises ``StorageError`` if it holds more."""
    if await remove_if_empty(session, path):
        return
    below = await walk(session, path)
    content = [entry.path for entry in below if entry.kind is not EntryKind.FOLDER]
    if not content:
        await _remove_folders(session, [entry.path for entry in below])
        if await remove_if_empty(session, path):
            return
    raise StorageError(
        f"{session.destination.location}: {path} is a folder with content, which stays",
        operation=operation,
        path=path,
        hint="move it away, or choose another path",
    )


async def remove_tree(session: Session, top: str) -> None:
    """Remove the folder ``top`` and everything below it; what vanishes meanwhile is no error."""
    below = await walk(session, top)
    files = [entry.path for entry in below if entry.kind is not EntryKind.FOLDER]
    for start in range(0, len(files), _AT_ONCE):
        await asyncio.gather(*(remove(session, path) for path in files[start : start + _AT_ONCE]))
    await _remove_folders(session, [entry.path for entry in below if entry.kind is EntryKind.FOLDER])
    await remove_if_empty(session, top)


async def _remove_folders(session: Session, folders: list[str]) -> None:
    for folder in sorted(folders, key=lambda path: -path.count("/")):
        await remove_if_empty(session, folder)


async def sync_folders(session: Session) -> None:
    """Ask the server to make names durable: fsync of each changed folder, where it opens folders at all."""
    destination = session.destination
    changed, destination.unsynced = destination.unsynced, set()
    for folder in sorted(changed):
        if not destination.syncs_folders:
            return
        await _sync_folder(session, folder)


async def _sync_folder(session: Session, folder: str) -> None:
    try:
        opened = await session.open(folder, "rb")
    except asyncssh.SFTPNoSuchFile:
        return
    except (asyncssh.SFTPFailure, asyncssh.SFTPPermissionDenied, asyncssh.SFTPOpUnsupported):
        session.destination.syncs_folders = False
        return
    try:
        await session.ask(opened.fsync())
    except (asyncssh.SFTPFailure, asyncssh.SFTPPermissionDenied, asyncssh.SFTPOpUnsupported):
        session.destination.syncs_folders = False
    finally:
        session.leave(file=opened)
