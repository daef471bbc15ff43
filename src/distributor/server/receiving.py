"""A request's body to disk: streamed, bounded, and ended when its sender goes silent."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from starlette.requests import Request

from distributor.server.problems import Refusal
from distributor.server.settings import Limits

_WRITE_BYTES = 128 * 1024
"""Bytes held for one upload before they are written; 256 uploads at once hold 32 MiB."""

MEDIA_TYPES = frozenset(
    (
        "application/x-tar",
        "application/tar",
        "application/gzip",
        "application/x-gzip",
        "application/x-tgz",
        "application/x-gtar",
        "application/x-compressed-tar",
        "application/tar+gzip",
        "application/zstd",
        "application/x-zstd",
        "application/octet-stream",
        "application/x-www-form-urlencoded",  # what curl's --data-binary says unasked
    )
)


class SenderGone(Exception):
    """The client closed the connection before the end of its body."""


def check_headers(request: Request, limits: Limits) -> None:
    """Refuse by its headers what need not be received: 411, 413, 415."""
    media_type = request.headers.get("content-type", "application/octet-stream").partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        raise Refusal(415, f"the body is {media_type}; send a tar, tar.gz or tar.zst archive", headers=_ACCEPT)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "send the archive itself, without Content-Encoding", headers=_ACCEPT)
    length = request.headers.get("content-length")
    if length is None and "chunked" not in request.headers.get("transfer-encoding", "").lower():
        raise Refusal(411, "the request has neither Content-Length nor a chunked body")
    if length is not None and length.isdigit() and int(length) > limits.max_bytes:
        raise _too_large(limits)


async def receive_body(request: Request, folder: Path, limits: Limits) -> Path:
    """Stream the body into a file of its own in ``folder`` and return its path.

    Raises ``Refusal`` 413 or 408 and ``SenderGone``, with nothing left behind; an
    ``OSError`` where the disk fails, likewise.
    """
    path = folder / f"{uuid4().hex}.part"
    try:
        with path.open("xb") as file:
            await _copy(request, file, limits)
    except BaseException:
        with suppress(FileNotFoundError):
            path.unlink()
        raise
    return path


async def _copy(request: Request, file: IO[bytes], limits: Limits) -> None:
    size = 0
    held: list[bytes] = []
    holding = 0
    more = True
    while more:
        chunk, more = await _next(request, limits.idle_timeout)
        size += len(chunk)
        if size > limits.max_bytes:
            raise _too_large(limits)
        held.append(chunk)
        holding += len(chunk)
        if holding >= _WRITE_BYTES or not more:
            data, held, holding = b"".join(held), [], 0
            await asyncio.to_thread(file.write, data)


async def _next(request: Request, patience: float) -> tuple[bytes, bool]:
    try:
        async with asyncio.timeout(patience):
            message = await request.receive()
    except TimeoutError:
        raise Refusal(408, f"nothing was sent for {patience:g} s", headers={"Connection": "close"}) from None
    if message["type"] == "http.disconnect":
        raise SenderGone
    return message.get("body", b""), message.get("more_body", False)


def _too_large(limits: Limits) -> Refusal:
    return Refusal(413, f"more than {limits.max_bytes} bytes", headers={"Connection": "close"})


_ACCEPT = {"Accept": "application/x-tar, application/gzip, application/zstd"}
