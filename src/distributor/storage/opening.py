"""From a destination's URL to an opened storage."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from distributor.errors import UsageError
from distributor.storage.base import Storage

BUILT_IN = {
    "file": "local",
    "sftp": "sftp",
    "s3": "objects",
    "gs": "objects",
    "az": "objects",
    "memory": "memory",
}
"""URL scheme to module of ``distributor.storage.backends``."""

EXTRAS = {"sftp": "sftp", "objects": "objects"}
"""Backend module to the extra that installs its client."""


class Target(NamedTuple):
    """Where and how to open a destination.

    ``url`` is as configured, with relative folders made absolute; ``settings`` is the
    destination's ``storage`` mapping, checked by the configuration's specification.
    """

    url: str
    settings: Mapping[str, object]
    concurrency: int = 16


class Backend(Protocol):
    """What a storage module (or the object of a ``distributor.storage`` entry point) provides."""

    def open_storage(self, target: Target) -> Storage:
        """Open the root. Raises ``StorageError``; an absent root is no error."""


def scheme_of(url: str) -> str:
    """Return the scheme of a destination URL; a plain path is ``file``."""
    head, separator, _ = url.partition("://")
    return head.lower() if separator else "file"


def open_storage(target: Target) -> Storage:
    """Open the storage that the target's URL names.

    Raises ``UsageError`` for an unknown scheme or a missing extra, ``StorageError``
    where the destination can't be opened.
    """
    scheme = scheme_of(target.url)
    name = BUILT_IN.get(scheme)
    backend = _third_party(scheme) if name is None else _built_in(name)
    return backend.open_storage(target)


def _built_in(name: str) -> Backend:
    try:
        module: Backend = importlib.import_module(f"distributor.storage.backends.{name}")
    except ModuleNotFoundError as error:
        if name not in EXTRAS or (error.name or "").startswith("distributor"):
            raise
        raise UsageError(
            f"this destination needs the package {error.name!r}",
            hint=f"install it with: pip install 'distributor[{EXTRAS[name]}]'",
        ) from None
    return module


def _third_party(scheme: str) -> Backend:
    from importlib.metadata import entry_points  # here: slow to import, and only foreign kinds need it

    for point in entry_points(group="distributor.storage", name=scheme):
        backend: Backend = point.load()
        return backend
    known = ", ".join(sorted(BUILT_IN))
    raise UsageError(f"no storage kind for {scheme}:// is installed", hint=f"known kinds: {known}")
