"""A strict reader of tar archives that come from outside (fault rows 64, 65).

Reads POSIX ustar, pax and the GNU long-name form, forward only. It yields what the
archive says, one :class:`Entry` at a time, and never touches a file system. Where
readers of tar disagree about what an archive means, the archive is refused: sparse
files, links, devices, unknown types, pax records that rename twice or for the whole
archive, sizes on entries that have no content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from distributor.bundle.decompression import ArchiveFault, NotAnArchive

BLOCK = 512
MAX_EXTENDED_BYTES = 64 * 1024
"""A pax header or long name larger than this hides something; the longest clean path has 1024 bytes."""

_ZERO_BLOCK = bytes(BLOCK)
_REGULAR, _FOLDER = b"0", b"5"
_KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a fifo",
    b"S": "a sparse file",
    b"D": "a GNU directory dump",
    b"M": "a part of a multi-volume archive",
    b"V": "a volume label",
}
_WITHOUT_CONTENT = frozenset((b"1", b"2", b"3", b"4", b"5", b"6"))
_PAX_RECORD = re.compile(rb"(\d{1,6}) ")


class Source(Protocol):
    """Bytes read forward; fewer than asked for only at the end."""

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes."""


class Entry(NamedTuple):
    """One entry: its name as written, whether it is a folder, its size in bytes and what is wrong with it.

    ``fault`` is ``(code, message)`` for an entry whose content must not be used.
    """

    name: str
    is_folder: bool
    size: int
    fault: tuple[str, str] | None


class _Extended(NamedTuple):
    """What extended headers said about the next entry."""

    path: bytes | None = None
    size: int | None = None
    fault: tuple[str, str] | None = None
    seen: str = ""


class TarReader:
    """Iterates the entries of a tar; the content of the current one is read through ``content``."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = 0
        self._padding = 0
        self._first = True

    def __iter__(self) -> Iterator[Entry]:
        """Yield every entry.

        Raises ``NotAnArchive`` if there is not even a first header, ``ArchiveFault``
        where the archive can't be read on, and at its end if it isn't a proper one.
        """
        extended = _Extended()
        while (header := self._next_header(extended)) is not None:
            flag = header[156:157]
            size = _number(header[124:136], "size")
            if flag in (b"x", b"g", b"L", b"K"):
                extended = self._extend(extended, flag, self._extended_data(size))
                continue
            yield self._entry(header, flag, size, extended)
            extended = _Extended()
        self._check_end()

    def content(self) -> Iterator[bytes]:
        """Yield the current entry's bytes in chunks of at most 64 KiB. Raises ``ArchiveFault``."""
        while self._left:
            chunk = self._source.read(min(self._left, 64 * 1024))
            if not chunk:
                raise _truncated()
            self._left -= len(chunk)
            yield chunk

    def _next_header(self, extended: _Extended) -> bytes | None:
        for _ in self.content():
            pass
        self._skip_padding()
        header = self._source.read(BLOCK)
        if header == _ZERO_BLOCK:
            if extended.seen:
                raise ArchiveFault("archive_corrupt", "ends with an extended header that belongs to no entry")
            return None
        self._check_header(header)
        self._first = False
        return header

    def _check_header(self, header: bytes) -> None:
        good = len(header) == BLOCK and _checksum_right(header)
        if self._first and not good:
            raise NotAnArchive
        if len(header) < BLOCK:
            raise _truncated()
        if not good:
            raise ArchiveFault("archive_corrupt", "holds an entry header with a wrong checksum")

    def _skip_padding(self) -> None:
        if self._padding and len(self._source.read(self._padding)) < self._padding:
            raise _truncated()
        self._padding = 0

    def _expect(self, size: int) -> None:
        self._left = size
        self._padding = -size % BLOCK

    def _extended_data(self, size: int) -> bytes | None:
        self._expect(size)
        if size > MAX_EXTENDED_BYTES:
            return None
        return b"".join(self.content())

    def _extend(self, before: _Extended, flag: bytes, data: bytes | None) -> _Extended:
        kind = flag.decode()
        if data is None:
            message = f"has an extended header of more than {MAX_EXTENDED_BYTES} bytes"
            found = _Extended(fault=("archive_unsupported", message))
        elif flag in (b"L", b"K"):
            found = _Extended(path=data.rstrip(b"\0") if flag == b"L" else None)
        else:
            found = _read_pax(data, is_global=flag == b"g")
        fault = before.fault or found.fault
        if kind in before.seen or (found.path is not None and before.path is not None):
            fault = fault or ("archive_unsupported", "has several extended headers that contradict each other")
        path = found.path if found.path is not None else before.path
        size = found.size if found.size is not None else before.size
        seen = before.seen if flag == b"g" or kind in before.seen else before.seen + kind
        return _Extended(path, size, fault, seen)

    def _entry(self, header: bytes, flag: bytes, size: int, extended: _Extended) -> Entry:
        raw = extended.path if extended.path is not None else _header_name(header)
        size = extended.size if extended.size is not None else size
        flag = _REGULAR if flag == b"\0" else flag
        fault = extended.fault or _kind_fault(flag, raw, size)
        self._expect(0 if flag in _WITHOUT_CONTENT else size)
        try:
            name = raw.decode()
        except UnicodeDecodeError:
            name = raw.decode(errors="backslashreplace")
            fault = fault or ("path_invalid", "is not UTF-8")
        return Entry(name, flag == _FOLDER, size, fault)

    def _check_end(self) -> None:
        second = self._source.read(BLOCK)
        if len(second) < BLOCK:
            raise _truncated()
        while second:
            if second.count(0) != len(second):
                raise ArchiveFault("archive_trailing_data", "holds data after its end")
            second = self._source.read(64 * 1024)


def _truncated() -> ArchiveFault:
    return ArchiveFault("archive_truncated", "ends before its end mark")


def _checksum_right(header: bytes) -> bool:
    stated = re.fullmatch(rb" *([0-7]{1,7})[ \0]*", header[148:156])
    return stated is not None and int(stated[1], 8) == sum(header[:148]) + 8 * 32 + sum(header[156:])


def _number(field: bytes, what: str) -> int:
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    match = re.fullmatch(rb"[ \0]*([0-7]*)[ \0]*", field)
    if match is None:
        raise ArchiveFault("archive_corrupt", f"holds an entry whose {what} is no number")
    return int(match[1] or b"0", 8)


def _header_name(header: bytes) -> bytes:
    name = header[:100].split(b"\0", 1)[0]
    prefix = header[345:500].split(b"\0", 1)[0] if header[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _kind_fault(flag: bytes, raw: bytes, size: int) -> tuple[str, str] | None:
    if flag == _FOLDER:
        return ("archive_unsupported", "is a folder with content") if size else None
    if flag != _REGULAR:
        kind = _KINDS.get(flag, f"an entry of unknown type {flag.decode('latin-1')!r}")
        return ("not_regular", f"is {kind}; a bundle holds regular files only")
    if raw.endswith(b"/"):
        return ("path_invalid", "is a regular file whose name ends in '/'")
    return None


def _read_pax(data: bytes, *, is_global: bool) -> _Extended:
    try:
        records = _pax_records(data)
    except ValueError:
        return _Extended(fault=("archive_unsupported", "has an extended header that can't be read"))
    keys = [key for key, _ in records]
    values = dict(records)
    meaning = {b"path", b"size", b"linkpath"} & set(keys)
    if any(key.startswith(b"GNU.sparse") for key in keys):
        return _Extended(fault=("not_regular", "is a sparse file; a bundle holds regular files only"))
    if is_global and meaning:
        return _Extended(fault=("archive_unsupported", "is renamed or resized by a header for the whole archive"))
    if any(keys.count(key) > 1 for key in meaning):
        return _Extended(fault=("archive_unsupported", "has an extended header that says a thing twice"))
    size = values.get(b"size")
    if size is not None and not re.fullmatch(rb"\d{1,18}", size):
        raise ArchiveFault("archive_corrupt", "holds an entry whose size is no number")
    return _Extended(values.get(b"path"), None if size is None else int(size))


def _pax_records(data: bytes) -> list[tuple[bytes, bytes]]:
    """Split pax records (length, space, key=value, newline). Raises ``ValueError``."""
    records: list[tuple[bytes, bytes]] = []
    at = 0
    while at < len(data):
        match = _PAX_RECORD.match(data, at)
        end = at + int(match[1]) if match else 0
        if match is None or end <= match.end() or end > len(data) or data[end - 1 : end] != b"\n":
            raise ValueError("not a pax record")
        key, separator, value = data[match.end() : end - 1].partition(b"=")
        if not separator:
            raise ValueError("not a pax record")
        records.append((key, value))
        at = end
    return records
