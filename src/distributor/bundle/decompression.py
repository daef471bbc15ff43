"""Bounded decompression of an arriving archive: gzip, zstd or none, found by magic bytes.

Whatever the compressed bytes say, a read returns at most what was asked for, so a
bomb costs time up to the caps of :class:`Caps` and never memory. Archive formats
come from outside: every fault is a :class:`ArchiveFault` with a fixed code.
"""

from __future__ import annotations

import sys
import time
import zlib
from typing import IO, NamedTuple, Protocol

READ_SIZE = 64 * 1024
ZSTD_WINDOW_LOG = 23
"""8 MiB, what RFC 8878 asks every decoder to support; a larger window costs the server its memory."""

RATIO_FREE_BYTES = 16 * 1024 * 1024
"""Unpacked bytes below which no ratio is a bomb: an empty log file compresses a thousandfold too."""


class ArchiveFault(Exception):
    """The archive can't be read on; ``code`` is a problem code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotAnArchive(ArchiveFault):
    """The bytes are no tar, tar.gz or tar.zst at all."""

    def __init__(self) -> None:
        super().__init__("not_an_archive", "the body is no tar, tar.gz or tar.zst archive")


class Caps(NamedTuple):
    """What one archive may cost (fault row 65), checked while it streams.

    ``max_unpacked_bytes`` counts every byte that comes out of the compression, headers
    and padding included; ``max_ratio`` is unpacked to packed bytes; ``max_seconds`` is
    wall time of one pass.
    """

    max_files: int = 100_000
    max_unpacked_bytes: int = 10 * 1024**3
    max_file_bytes: int = 5 * 1024**3
    max_ratio: int = 200
    max_seconds: float = 300.0


class _Decoder(Protocol):
    """One compression's stream of members or frames."""

    @property
    def at_boundary(self) -> bool:
        """Whether everything decoded so far is whole."""

    def feed(self, data: bytes, limit: int) -> bytes:
        """Decode ``data`` and what is left over; return at most ``limit`` bytes."""

    @property
    def needs_input(self) -> bool:
        """Whether more can only come from more input."""


class _Gzip:
    """Concatenated gzip members, as ``gzip`` and ``pigz`` write them."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._rest = b""
        self.at_boundary = False

    @property
    def needs_input(self) -> bool:
        return not self._rest

    def feed(self, data: bytes, limit: int) -> bytes:
        data = self._rest + data
        if not data:
            return b""
        if self._member.eof:
            self._member = zlib.decompressobj(wbits=31)
        try:
            out = self._member.decompress(data, limit)
        except zlib.error as error:
            code = "archive_trailing_data" if self.at_boundary else "archive_corrupt"
            raise ArchiveFault(code, f"the gzip stream is broken: {error}") from None
        self._rest = self._member.unconsumed_tail or self._member.unused_data
        self.at_boundary = self._member.eof
        return out


class _Zstd:
    """Concatenated zstd frames with a bounded window."""

    def __init__(self) -> None:
        # here: only zstd archives need it
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        self._error = zstd.ZstdError
        self._options: dict[int, int] = {int(zstd.DecompressionParameter.window_log_max): ZSTD_WINDOW_LOG}
        self._type = zstd.ZstdDecompressor
        self._frame = self._type(options=self._options)
        self._rest = b""
        self.at_boundary = False

    @property
    def needs_input(self) -> bool:
        return not self._rest and (self._frame.eof or self._frame.needs_input)

    def feed(self, data: bytes, limit: int) -> bytes:
        data, self._rest = self._rest + data, b""
        if self._frame.eof:
            if not data:
                return b""
            self._frame = self._type(options=self._options)
        try:
            out = self._frame.decompress(data, limit)
        except self._error as error:
            code = "archive_trailing_data" if self.at_boundary else "archive_corrupt"
            raise ArchiveFault(code, f"the zstd stream is broken: {error}") from None
        self.at_boundary = self._frame.eof
        if self._frame.eof:
            self._rest = self._frame.unused_data
        return out


class _Plain:
    """No compression."""

    at_boundary = True

    def __init__(self) -> None:
        self._rest = b""

    @property
    def needs_input(self) -> bool:
        return not self._rest

    def feed(self, data: bytes, limit: int) -> bytes:
        data = self._rest + data
        self._rest = data[limit:]
        return data[:limit]


def _decoder_for(head: bytes) -> _Decoder:
    if head[:2] == b"\x1f\x8b":
        return _Gzip()
    skippable_frame = head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F
    if head[:4] == b"\x28\xb5\x2f\xfd" or skippable_frame:
        return _Zstd()
    return _Plain()


class Unpacked:
    """The unpacked bytes of an archive file, read forward only and under :class:`Caps`."""

    def __init__(self, archive: IO[bytes], caps: Caps) -> None:
        self._archive = archive
        self._caps = caps
        self._deadline = time.monotonic() + caps.max_seconds
        head = archive.read(READ_SIZE)
        self._packed = len(head)
        self._unpacked = 0
        self._pending = head
        self._ended = not head
        self._decoder = _decoder_for(head)

    @property
    def offset(self) -> int:
        """How many unpacked bytes were read so far."""
        return self._unpacked

    def read(self, size: int) -> bytes:
        """Return exactly ``size`` bytes, fewer only at the end of the archive.

        Raises ``ArchiveFault`` where the compression is broken or a cap is passed.
        """
        parts: list[bytes] = []
        missing = size
        while missing:
            chunk = self._some(min(missing, READ_SIZE))
            if not chunk:
                break
            parts.append(chunk)
            missing -= len(chunk)
        return b"".join(parts) if len(parts) != 1 else parts[0]

    def _some(self, limit: int) -> bytes:
        while True:
            if not self._pending and self._decoder.needs_input and not self._ended:
                self._refill()
            chunk = self._decoder.feed(self._pending, limit)
            self._pending = b""
            if chunk:
                self._account(len(chunk))
                return chunk
            if self._ended and self._decoder.needs_input:
                self._check_end()
                return b""
            self._check_time()

    def _refill(self) -> None:
        self._pending = self._archive.read(READ_SIZE)
        self._packed += len(self._pending)
        self._ended = not self._pending

    def _check_end(self) -> None:
        if not self._decoder.at_boundary:
            raise ArchiveFault("archive_truncated", "the archive ends in the middle of its compressed data")

    def _account(self, count: int) -> None:
        self._unpacked += count
        caps = self._caps
        if self._unpacked > caps.max_unpacked_bytes:
            raise ArchiveFault("archive_too_large", f"unpacks to more than {caps.max_unpacked_bytes} bytes")
        if self._unpacked > RATIO_FREE_BYTES and self._unpacked > self._packed * caps.max_ratio:
            message = f"unpacks to more than {caps.max_ratio} times its size, as only a decompression bomb does"
            raise ArchiveFault("archive_ratio", message)
        self._check_time()

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise ArchiveFault("archive_too_slow", f"takes longer than {self._caps.max_seconds:g} s to unpack")
