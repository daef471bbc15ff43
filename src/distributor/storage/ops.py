"""Operations composed of a storage's own, the same for every kind."""

from __future__ import annotations

from distributor.errors import NotFound
from distributor.storage.base import Storage, StoredFile


def read_optional(storage: Storage, path: str, limit: int | None = None) -> StoredFile | None:
    """Read a whole file, or return ``None`` where it is certainly absent (C0).

    Every other failure raises, as :meth:`Storage.read` does.
    """
    try:
        return storage.read(path, limit)
    except NotFound:
        return None
