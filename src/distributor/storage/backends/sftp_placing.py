"""How a whole file gets to its final name: replacing in one step, or in two that can be finished.

A server with a working ``posix-rename`` replaces a file at once. Where that is missing, or
offered and failing, a plain rename that replaces does as well; and where there is neither,
the old file is renamed to ``.distributor.stage/aside/<path>`` and the new one into its place.
Between those two a reader misses the file. Killed between them, nothing is lost: whoever
looks for the path here finds the old file aside, and doing it again finishes it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncssh

from distributor.core.observation import EntryKind
from distributor.core.paths import STAGE_PATH
from distributor.errors import AlreadyExists, NotFound, StorageError, Unavailable, VersionMismatch
from distributor.storage.backends.sftp_errors import FOREIGN
from distributor.storage.backends.sftp_files import Download
from distributor.storage.backends.sftp_session import Replacing, Session
from distributor.storage.backends.sftp_tree import (
    clear_folder_away,
    find,
    is_folder,
    kind_of,
    make_folders_of,
    remove,
    remove_empty_parents,
    remove_if_empty,
    remove_tree,
    walk,
)
from distributor.storage.base import CREATE_ONLY, Condition, IfVersion

_TRIES = 4
_ASIDE = f"{STAGE_PATH}/aside"
_REFUSED = (
    asyncssh.SFTPFailure,
    asyncssh.SFTPPermissionDenied,
    asyncssh.SFTPOpUnsupported,
    asyncssh.SFTPFileAlreadyExists,
)


# --- finding -------------------------------------------------------------------------


async def locate(session: Session, path: str) -> str:
    """Return where the file of ``path`` is: there, or aside if its replacement was cut off."""
    if session.destination.replacing is Replacing.ASIDE and await find(session, path) is None:
        aside = _aside(path)
        if await find(session, aside) is not None:
            return aside
    return path


def _aside(path: str) -> str:
    return f"{_ASIDE}/{path}"


# --- probing -------------------------------------------------------------------------


async def replacing(session: Session) -> Replacing:
    """Return how the server lets a file be replaced: tried once, not believed (fault rows 15 and 58).

    Raises ``StorageError`` if it does not at all.
    """
    async with session.destination.probe:
        if session.destination.replacing is None:
            session.destination.replacing = await _probe(session)
    return session.destination.replacing


async def _probe(session: Session) -> Replacing:
    new, old, aside = (f"{STAGE_PATH}/probe-{os.urandom(8).hex()}" for _ in range(3))
    try:
        for name in (new, old):
            await _touch(session, name)
        if await _allowed(session.client.posix_rename, session, new, old):
            return Replacing.POSIX
        if await _allowed(session.client.rename, session, new, old):
            return Replacing.PLAIN
        if await _allowed(session.client.rename, session, old, aside) and await _allowed(
            session.client.rename, session, new, old
        ):
            session.destination.note(
                "the server can't replace a file in one step; while one is replaced, a reader may miss it for a moment"
            )
            return Replacing.ASIDE
        raise StorageError(
            f"{session.destination.location}: the server lets no file be renamed or replaced; nothing was published",
            operation="probe",
            hint="give the account the right to rename and delete",
        )
    finally:
        for name in (new, old, aside):
            with suppress(*FOREIGN):
                await remove(session, name)
        with suppress(*FOREIGN):
            await remove_if_empty(session, STAGE_PATH)


async def _touch(session: Session, name: str) -> None:
    for _ in range(_TRIES):
        await make_folders_of(session, name, "probe")
        with suppress(asyncssh.SFTPNoSuchFile):
            session.leave(file=await session.open(name, "xb"))
            return
    raise Unavailable(f"{session.destination.location}: {STAGE_PATH} vanishes again and again", operation="probe")


async def _allowed(
    rename: Callable[[bytes, bytes], Awaitable[None]], session: Session, source: str, target: str
) -> bool:
    try:
        await session.ask(rename(session.at(source), session.at(target)))
    except _REFUSED:
        return False
    return True


# --- putting in place ----------------------------------------------------------------


async def promote(session: Session, slot: str, path: str) -> None:
    """Rename the staged file ``slot`` (from the root) to ``path``. Raises ``NotFound`` if it is not there."""
    await replacing(session)
    for _ in range(_TRIES):
        try:
            await _require_folders_above(session, slot)
            await _clear_place(session, path, "promote", keep_mode_for=slot)
            await _replace(session, slot, path)
        except asyncssh.SFTPNoSuchFile:
            # Either nothing is staged, or a folder was removed as empty just now: then it is made again.
            if await find(session, slot) is None:
                raise NotFound(
                    f"{session.destination.location}: nothing is staged for {path}", operation="promote", path=path
                ) from None
            continue
        session.destination.unsynced.add(path.rpartition("/")[0])
        return
    raise _restless(session, "promote", path)


async def place(session: Session, temporary: str, path: str, condition: Condition) -> None:
    """Give the whole file ``temporary`` its final name if ``condition`` holds.

    Raises ``AlreadyExists`` and ``VersionMismatch``. ``CREATE_ONLY`` is exclusive on every
    server that was seen; ``IfVersion`` compares and then renames, and a writer that gets in
    between is overwritten.
    """
    await replacing(session)
    for _ in range(_TRIES):
        try:
            await _clear_place(session, path, "write", keep_mode_for=temporary)
            if condition == CREATE_ONLY:
                await _create(session, temporary, path)
            else:
                if isinstance(condition, IfVersion):
                    await _compare(session, path, condition)
                await _replace(session, temporary, path)
        except asyncssh.SFTPNoSuchFile:
            if await find(session, temporary) is None:
                # Whoever discards the staging takes others' temporary files with it.
                raise Unavailable(
                    f"{session.destination.location}: {path}: its temporary file was removed before it was in place",
                    operation="write",
                    path=path,
                ) from None
            continue
        session.destination.unsynced.add(path.rpartition("/")[0])
        return
    raise _restless(session, "write", path)


async def _require_folders_above(session: Session, slot: str) -> None:
    """Raise as for a missing file if what is staged could only be reached through a link."""
    if not all(map(is_folder, await session.look_above(slot))):
        raise asyncssh.SFTPNoSuchFile(slot)


async def _clear_place(session: Session, path: str, operation: str, *, keep_mode_for: str) -> None:
    """Make folders, remove an empty folder in the way, and give the new file the mode of the old (H2)."""
    folders, old = await session.look_along(path)
    if not all(map(is_folder, folders)):
        await make_folders_of(session, path, operation)
    elif old is not None and is_folder(old):
        await clear_folder_away(session, path, operation)
    elif old is not None and kind_of(old) is EntryKind.FILE and session.destination.access.file_mode is None:
        await _keep_mode(session, old, keep_mode_for)


async def _keep_mode(session: Session, old: asyncssh.SFTPAttrs, new: str) -> None:
    attrs = await session.lstat(new)
    if attrs is None or attrs.permissions is None or old.permissions is None:
        return
    if attrs.permissions != old.permissions:
        await session.permit(new, old.permissions & 0o7777)


async def _replace(session: Session, source: str, path: str) -> None:
    client, at = session.client, session.at
    match session.destination.replacing:
        case Replacing.POSIX:
            await session.ask(client.posix_rename(at(source), at(path)))
        case Replacing.PLAIN:
            await session.ask(client.rename(at(source), at(path)))
        case _:
            await _replace_in_two_steps(session, source, path)


async def _replace_in_two_steps(session: Session, source: str, path: str) -> None:
    aside = _aside(path)
    old, new, kept = await asyncio.gather(session.lstat(path), session.lstat(source), session.lstat(aside))
    if new is None:
        raise asyncssh.SFTPNoSuchFile(source)
    if old is not None:
        if kept is not None:
            # Left by one that was cut off after its second rename: the path has a newer file.
            await remove(session, aside)
        await make_folders_of(session, aside, "replace")
        await session.ask(session.client.rename(session.at(path), session.at(aside)))
    await session.ask(session.client.rename(session.at(source), session.at(path)))
    await drop_aside(session, path)


async def drop_aside(session: Session, path: str) -> bool:
    """Remove what a replacement of ``path`` put aside; ``False`` if there is nothing."""
    found = await remove(session, _aside(path))
    if found:
        await remove_empty_parents(session, _aside(path))
    return found


async def _create(session: Session, temporary: str, path: str) -> None:
    """Make ``path`` of ``temporary``: of all who try at the same time, only one does."""
    make = _link
    for attempt in range(_TRIES):
        if await find(session, await locate(session, path)) is not None:
            raise AlreadyExists(f"{session.destination.location}: {path} exists already", operation="write", path=path)
        try:
            await make(session, temporary, path)
        except _REFUSED as error:
            # Either somebody was faster (and may be gone by now), or there are no hard links here.
            if attempt or isinstance(error, asyncssh.SFTPOpUnsupported):
                make = _rename_exclusively
            if attempt == _TRIES - 1:
                raise
        else:
            return


async def _link(session: Session, temporary: str, path: str) -> None:
    await session.ask(session.client.link(session.at(temporary), session.at(path)))
    await remove(session, temporary)


async def _rename_exclusively(session: Session, temporary: str, path: str) -> None:
    if session.destination.replacing is not Replacing.PLAIN:
        await session.ask(session.client.rename(session.at(temporary), session.at(path)))
        return
    # A plain rename would replace: only the exclusive creation of an empty file, which it
    # then replaces, is what just one can do.
    session.leave(file=await session.open(path, "xb"))
    try:
        await session.ask(session.client.rename(session.at(temporary), session.at(path)))
    except asyncssh.SFTPError:
        await remove(session, path)
        raise


def _restless(session: Session, operation: str, path: str) -> Unavailable:
    return Unavailable(
        f"{session.destination.location}: {path}: its folder vanishes again and again", operation=operation, path=path
    )


# --- versions ------------------------------------------------------------------------


def version_of(data: bytes) -> str:
    """Return the version token of a file: SFTP has none, so it is the digest of its bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


async def stored_version(session: Session, path: str) -> str | None:
    """Return the version token of the file at ``path`` as it is now; ``None`` if none is there."""
    digest = hashlib.sha256()
    try:
        download = await Download.begin(session, await locate(session, path), "write")
    except NotFound:
        return None
    try:
        while chunk := await download.chunk():
            digest.update(chunk)
    finally:
        await download.end()
    return "sha256:" + digest.hexdigest()


async def _compare(session: Session, path: str, condition: IfVersion) -> None:
    if await stored_version(session, path) != condition.token:
        raise VersionMismatch(
            f"{session.destination.location}: {path} was changed by another", operation="write", path=path
        )


# --- the staging folder --------------------------------------------------------------


async def discard_stage(session: Session) -> None:
    """Remove the staging folder; a file that is only aside goes back first."""
    attrs = await session.lstat(STAGE_PATH)
    if attrs is None:
        return
    if not is_folder(attrs):
        await remove(session, STAGE_PATH)
        return
    for entry in await walk(session, _ASIDE):
        path = entry.path.removeprefix(f"{_ASIDE}/")
        if entry.kind is not EntryKind.FOLDER and await find(session, path) is None:
            await make_folders_of(session, path, "recover")
            await session.ask(session.client.rename(session.at(entry.path), session.at(path)))
    await remove_tree(session, STAGE_PATH)
