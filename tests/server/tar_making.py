"""Archives for tests: bundles as any tar program makes them, and hostile ones byte by byte."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping

ZEROS = bytes(512)
END = bytes(1024)


def manifest_of(files: Mapping[str, bytes], **changes: object) -> bytes:
    """The manifest of ``files``; ``changes`` replace top-level fields."""
    records = [
        {"path": path, "sha256": "sha256:" + hashlib.sha256(data).hexdigest(), "size": len(data)}
        for path, data in files.items()
    ]
    lines = "".join(f"{r['sha256'][7:]}  {r['path']}\n" for r in sorted(records, key=lambda r: r["path"].encode()))
    document = {
        "schema_version": 1,
        "id": "reports.weekly",
        "digest": "sha256:" + hashlib.sha256(lines.encode()).hexdigest(),
        "created": "2026-06-04T11:55:00Z",
        "files": records,
    }
    return json.dumps(document | changes).encode()


def header(name: bytes, size: int = 0, flag: bytes = b"0", link: bytes = b"", size_field: bytes | None = None) -> bytes:
    """One 512-byte ustar header with a right checksum, whatever it says."""
    field = size_field if size_field is not None else b"%011o\0" % size
    start = name.ljust(100, b"\0")[:100] + b"0000644\0" + b"0000000\0" * 2 + field.ljust(12, b"\0") + b"00000000000\0"
    end = flag + link.ljust(100, b"\0") + b"ustar\x0000" + bytes(32 + 32 + 8 + 8 + 155 + 12)
    total = sum(start) + 8 * 32 + sum(end)
    return start + b"%06o\0 " % total + end


def entry(name: str | bytes, data: bytes = b"", flag: bytes = b"0", **how: bytes) -> bytes:
    """A header and its padded content."""
    raw = name if isinstance(name, bytes) else name.encode()
    return header(raw, len(data), flag, **how) + data + bytes(-len(data) % 512)


def pax(records: Mapping[str, str | bytes], flag: bytes = b"x") -> bytes:
    """An extended header entry."""
    body = b""
    for key, value in records.items():
        rest = b" " + key.encode() + b"=" + (value if isinstance(value, bytes) else value.encode()) + b"\n"
        length = len(rest) + 1
        while length != len(str(length)) + len(rest):
            length = len(str(length)) + len(rest)
        body += str(length).encode() + rest
    return entry("PaxHeader", body, flag)


FILES = {"report.md": b"# Weekly\n", "data/table.csv": b"a,b\n1,2\n"}


def good_entries(files: Mapping[str, bytes] = FILES, prefix: str = "", **changes: object) -> bytes:
    """The entries of a right bundle, without an end mark."""
    body = entry(prefix + "manifest.json", manifest_of(files, **changes))
    return body + b"".join(entry(prefix + path, data) for path, data in files.items())


def bundle_tar(files: Mapping[str, bytes] = FILES, prefix: str = "", **changes: object) -> bytes:
    """A right bundle as a plain tar, as Python's own tarfile writes it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, data in {"manifest.json": manifest_of(files, **changes), **files}.items():
            info = tarfile.TarInfo(prefix + path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def gz(data: bytes) -> bytes:
    """``data`` as one gzip member."""
    return gzip.compress(data, 6, mtime=0)
