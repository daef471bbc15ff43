"""The one interface that every kind of destination implements.

A storage is opened on one root and never reaches outside it. Paths are clean
relative paths (A1); the reserved names (A2) are ordinary paths here. Every method
raises only :class:`distributor.errors.StorageError` and its subclasses, and
``NotFound`` only where the path is certainly absent (C0).

All methods but ``close`` may be called from several threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from distributor.core.observation import Entry

OVERWRITE = "overwrite"
CREATE_ONLY = "create_only"


class IfVersion(NamedTuple):
    """A condition: write only if the stored file still has this version token."""

    token: str


Condition = str | IfVersion
"""``OVERWRITE``, ``CREATE_ONLY`` or an :class:`IfVersion`."""


class Content(NamedTuple):
    """Bytes on their way to a destination.

    ``open`` starts a fresh stream of chunks and may be called again for a retry.
    It raises the source's error *before* its last chunk is yielded when the bytes
    turn out not to be those that were promised, so that a writer which finishes
    only after the stream has ended never completes a wrong file (B3).
    ``size`` is in bytes; ``sha256`` is ``sha256:<hex>``.
    """

    open: Callable[[], Iterator[bytes]]
    size: int
    sha256: str


class StoredFile(NamedTuple):
    """A file that was read whole: its bytes and its version token ('' where a kind has none)."""

    data: bytes
    version: str


class Capabilities(NamedTuple):
    """What a kind can do. Each has a fallback that the conformance suite tests.

    ``staging``: has ``stage``/``promote``, so that a publication is staged whole and
    then renamed into place (E1a). ``conditional_write``: honours ``CREATE_ONLY`` and
    ``IfVersion`` atomically; probed, not assumed, where services differ.
    ``folders``: has folders of its own (files and folders can be in each other's way).
    ``parallel``: how many operations at once pay off (1: none).
    """

    staging: bool
    conditional_write: bool
    folders: bool
    parallel: int


class LockInfo(NamedTuple):
    """Who holds a lock, as far as the system tells. ``nonce`` is '' for an OS lock.

    ``live`` is ``None`` for a lease: one look can't tell. A lease whose ``renewals``
    changes between two looks ``ttl`` seconds apart is live (E4).
    """

    holder: str
    nonce: str
    since: str | None
    live: bool | None
    renewals: int = 0
    ttl: float = 0.0


class LockRequest(NamedTuple):
    """How to take the lock (E4): seconds to wait, lease time in seconds, who asks.

    ``waiting`` is called about once a second while waiting, with the holder; it may
    raise (``Interrupted``) to give up. ``since`` is the time of asking as text, for
    people who read a lease; no decision depends on it.
    """

    wait: float
    ttl: float
    owner: str
    waiting: Callable[[str], None]
    since: str = ""


class Lock(Protocol):
    """A held lock."""

    def check(self) -> None:
        """Raise ``LockedError`` if the lock is certainly or possibly lost.

        Called before every write of an executor: cheap (no round trip for an OS lock;
        a lease compares its own clock with its last confirmed renewal).
        """


class Storage(Protocol):
    """One opened destination root."""

    @property
    def capabilities(self) -> Capabilities:
        """What this destination can do."""

    @property
    def location(self) -> str:
        """The root as a person would name it, without secrets."""

    def list(self) -> Iterator[Entry]:
        """Yield every file below the root, reserved names included, in any order.

        Complete or an error: a listing that fails or is cut off raises (D15). An
        absent root yields nothing. Links, fifos and devices are entries of kind
        ``other``; links are not followed. Kinds with folders also yield empty and
        other folders as entries of kind ``folder``.
        """

    def stat(self, path: str) -> Entry:
        """Return the entry at ``path``, not following links.

        Raises ``NotFound``, also where something else than a folder stands in the place
        of a folder of ``path``: what ``list`` does not name is not found here either.
        """

    def read(self, path: str, limit: int | None = None) -> StoredFile:
        """Read a whole regular file with its version token.

        Raises ``NotFound``; ``StorageError`` if it is no regular file or holds more
        than ``limit`` bytes.
        """

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a regular file in chunks of at most 1 MiB. Raises ``NotFound``."""

    def write(self, path: str, content: Content, condition: Condition = OVERWRITE) -> str:
        """Write one whole file, atomically: a reader sees the old or the new bytes.

        Missing folders above it are made. Returns the new version token. Raises
        ``AlreadyExists`` (``CREATE_ONLY``) or ``VersionMismatch`` (``IfVersion``, also if
        no file is there) with nothing written; on any other error the old file stands.
        An empty folder in the way is removed (D19). Durable when it returns. A retried
        write that meets its own success is recognised.
        """

    def stage(self, slot: str, content: Content) -> None:
        """Write ``content`` to the path ``slot`` under the staging folder (kinds with ``staging``).

        ``slot`` is a relative path below ``.distributor.stage/``. Not yet durable: see ``sync``.
        """

    def check_promotable(self, paths: Iterable[str]) -> None:
        """Raise ``StorageError`` if a staged file certainly can't be renamed to one of ``paths``.

        For instance because another file system is mounted below the root. Asked before
        the commit mark (E1a): after it, a rename that fails can only be waited out. A
        kind that can't tell, or renames anywhere, does nothing.
        """

    def promote(self, slot: str, path: str) -> None:
        """Rename a staged file to ``path``, replacing a file there, atomically.

        Makes missing folders; removes an empty folder in the way. A replaced file
        keeps its mode unless ``file_mode`` is set (H2). Raises ``NotFound`` if
        nothing is staged there, ``StorageError`` if a non-empty folder or a link
        stands in a folder's place.
        """

    def delete(self, path: str) -> bool:
        """Delete one file, link or other non-folder; ``False`` if none was there.

        Folders that are empty afterwards are removed, from the path up to the root,
        which stays; one that can't be removed is left. A folder at ``path`` is none
        of its business: ``False``, and its files stay.
        """

    def sync(self) -> None:
        """Make every earlier ``stage``, ``promote`` and ``delete`` durable."""

    def discard_stage(self) -> None:
        """Remove the whole staging folder, if there is one."""

    def lock(self, request: LockRequest) -> AbstractContextManager[Lock]:
        """Hold the destination's one writer lock (E4), creating the root if needed.

        Raises ``LockedError`` once ``request.wait`` is over.
        """

    def lock_info(self) -> LockInfo | None:
        """Say who holds the lock now, or ``None``. Never takes or changes it."""

    def break_lock(self, nonce: str) -> bool:
        """Remove a lease whose nonce is still ``nonce``; ``False`` if there is none.

        An OS lock can't be broken: raises ``StorageError`` that names the holder.
        """

    def is_whole_root(self) -> bool:
        """Whether the root is a filesystem root, a home folder, or a bucket without prefix (E5)."""

    def close(self) -> None:
        """Release connections and descriptors; safe to call twice."""


def bytes_content(data: bytes, sha256: str) -> Content:
    """Return ``data`` as :class:`Content`."""
    chunks: Iterable[bytes] = (data,) if data else ()
    return Content(lambda: iter(chunks), len(data), sha256)
