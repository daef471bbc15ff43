"""A bundle folder as a tar.gz stream: verified as it is read (B3), the same bytes each time."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterator

from distributor.bundle.reader import BundleReader
from distributor.core.documents import format_json
from distributor.core.manifest import Manifest
from distributor.core.paths import MANIFEST_PATH

_BLOCK = 512
_LEVEL = 3
"""Most of what better levels save, at several times their speed."""

Advance = Callable[[str, int], None]
"""Told of each file how many more of its bytes are on their way."""


def tar_gz(bundle: BundleReader, advance: Advance) -> Iterator[bytes]:
    """Yield the archive of a bundle: its manifest, then the files it lists, and nothing else.

    Raises ``BundleError`` before the archive is complete where a file is not what the
    manifest says, so that a wrong bundle never arrives whole.
    """
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
    for chunk in _tar(bundle, advance):
        packed = packer.compress(chunk)
        if packed:
            yield packed
    yield packer.flush()


def upload_size(manifest: Manifest) -> int:
    """Return how many bytes of files an upload carries, before compression."""
    return sum(file.size for file in manifest.files)


def _tar(bundle: BundleReader, advance: Advance) -> Iterator[bytes]:
    document = format_json(bundle.manifest.to_document())
    yield _header(MANIFEST_PATH, len(document))
    yield document + bytes(-len(document) % _BLOCK)
    for file in bundle.manifest.files:
        yield _header(file.path, file.size)
        for chunk in bundle.stream(file.path):
            advance(file.path, len(chunk))
            yield chunk
        yield bytes(-file.size % _BLOCK)
    yield bytes(2 * _BLOCK)


def _header(path: str, size: int) -> bytes:
    info = tarfile.TarInfo(path)
    info.size = size
    return info.tobuf(tarfile.PAX_FORMAT)
