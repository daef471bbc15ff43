"""What was seen at a destination, as values: the only way I/O reaches the pure heart."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from distributor.core.state.model import Decoded


class EntryKind(str, Enum):
    """What stands at a path. ``OTHER`` is a link, fifo, socket or device (D19)."""

    FILE = "file"
    FOLDER = "folder"
    OTHER = "other"


class Entry(NamedTuple):
    """One thing below a destination root; ``size`` in bytes is meaningful for files.

    ``path`` may be unclean (A1): undecodable names come with surrogate escapes.
    ``version`` is a token that changes with the content where the kind has one
    (ETag; inode, size and mtime), else ''.
    """

    path: str
    kind: EntryKind
    size: int
    version: str = ""


class Absent(NamedTuple):
    """There certainly is no state file (C0)."""


class FoundState(NamedTuple):
    """State bytes were read: what they decode to, their digest, and the storage's version token."""

    decoded: Decoded
    digest: str
    version: str


SeenState = Absent | FoundState
