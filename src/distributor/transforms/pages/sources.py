"""Source bytes to text: encodings and size limits, with the line where they fail."""

from __future__ import annotations

from distributor.errors import TransformError

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_MIB = 1024 * 1024


def decode_text(data: bytes, path: str, *, limit: int, encoding: str = "utf-8") -> str:
    """Return ``data`` as text with LF line ends; a byte-order mark wins over ``encoding``.

    Raises ``TransformError`` naming the line of the first undecodable byte, or where
    ``data`` is longer than ``limit`` bytes.
    """
    if len(data) > limit:
        raise TransformError(
            f"is {len(data) / _MIB:.1f} MiB, and this transform takes at most {limit / _MIB:.0f} MiB",
            path=path,
            hint="split the file, or publish it as it is",
        )
    for mark, name in _BOMS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    try:
        decoded = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TransformError(
            f"is not {encoding.upper()}: byte 0x{data[error.start]:02x} can't be read",
            path=path,
            line=line,
            hint="save the file as UTF-8",
        ) from None
    return decoded.replace("\r\n", "\n").replace("\r", "\n")
