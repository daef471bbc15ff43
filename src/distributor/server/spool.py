"""Where accepted archives wait: a folder, or any kind of destination storage.

An archive is kept as it arrived, under a random key. ``keep`` returns once it is
durable. A worker unpacks it into a folder of its own, checking all of it again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol

from distributor.errors import NotFound, StorageError
from distributor.server.settings import Settings
from distributor.storage.base import Content, Storage
from distributor.storage.opening import Target, open_storage

_CHUNK = 1024 * 1024


class Spool(Protocol):
    """Archives by key. Every method raises ``StorageError`` where the spool fails."""

    def keep(self, received: Path, key: str) -> None:
        """Move a received file into the spool, durably. The file is gone afterwards."""

    def open(self, key: str) -> IO[bytes]:
        """Open an archive for reading from its start. Raises ``NotFound``."""

    def drop(self, key: str) -> None:
        """Remove an archive; one that is gone already is fine."""

    def keys(self) -> Iterator[str]:
        """Yield the key of every archive."""


def open_spool(settings: Settings) -> Spool:
    """Open the spool, making its local folders. Raises ``StorageError``."""
    try:
        settings.work.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise _failed("open", error) from None
    if "://" not in settings.spool:
        return FolderSpool(Path(settings.spool) / "bundles")
    return StoredSpool(open_storage(Target(settings.spool, settings.storage, 4)), settings.work)


class FolderSpool:
    """A folder; ``received`` files must be on its file system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise _failed("open", error) from None

    def keep(self, received: Path, key: str) -> None:
        """Move a received file into the spool; see :class:`Spool`."""
        try:
            sync_file(received)
            received.rename(self._folder / key)
            sync_file(self._folder)
        except OSError as error:
            raise _failed("write", error) from None

    def open(self, key: str) -> IO[bytes]:
        """Open an archive; see :class:`Spool`."""
        try:
            return (self._folder / key).open("rb")
        except FileNotFoundError:
            raise NotFound("the uploaded bundle is no longer in the spool", operation="read", path=key) from None
        except OSError as error:
            raise _failed("read", error) from None

    def drop(self, key: str) -> None:
        """Remove an archive; see :class:`Spool`."""
        try:
            (self._folder / key).unlink(missing_ok=True)
        except OSError as error:
            raise _failed("delete", error) from None

    def keys(self) -> Iterator[str]:
        """Yield every key; see :class:`Spool`."""
        try:
            yield from sorted(entry.name for entry in self._folder.iterdir())
        except OSError as error:
            raise _failed("list", error) from None


class StoredSpool:
    """Any kind of destination storage, an object store for instance."""

    def __init__(self, storage: Storage, work: Path) -> None:
        self._storage = storage
        self._work = work

    def keep(self, received: Path, key: str) -> None:
        """Send a received file to the store; see :class:`Spool`."""
        with received.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        content = Content(lambda: _chunks(received), received.stat().st_size, f"sha256:{digest}")
        self._storage.write(key, content)
        received.unlink()

    def open(self, key: str) -> IO[bytes]:
        """Fetch an archive into an unnamed local file; see :class:`Spool`."""
        from tempfile import TemporaryFile

        local = TemporaryFile(dir=self._work)  # noqa: SIM115 - handed to the caller
        try:
            for chunk in self._storage.stream(key):
                local.write(chunk)
        except BaseException:
            local.close()
            raise
        local.seek(0)
        return local

    def drop(self, key: str) -> None:
        """Remove an archive; see :class:`Spool`."""
        with suppress(NotFound):
            self._storage.delete(key)

    def keys(self) -> Iterator[str]:
        """Yield every key; see :class:`Spool`."""
        for entry in self._storage.list():
            if entry.kind == "file":
                yield entry.path


def sync_file(path: Path) -> None:
    """Make a file's bytes, or a folder's entries, durable. Raises ``OSError``."""
    with _descriptor(path) as fd:
        os.fsync(fd)


@contextmanager
def _descriptor(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _failed(operation: str, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(f"server.spool: {reason}", operation=operation, hint="check its folder, rights and free space")
