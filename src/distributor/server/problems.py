"""Errors of the HTTP interface as ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from distributor.errors import Problem

MEDIA_TYPE = "application/problem+json"


class Refusal(Exception):
    """An answer that is no success: status, one sentence, and what a client can act on."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        problems: Sequence[Problem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.problems = tuple(problems)
        self.headers = dict(headers or {})


def busy(status: int, detail: str, retry_after: float) -> Refusal:
    """Return a 429 or 503 that says in how many whole seconds to come again."""
    return Refusal(status, detail, headers={"Retry-After": str(max(1, int(retry_after + 0.999)))})


def problem_response(refusal: Refusal) -> Response:
    """Return the answer to a refused request."""
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": refusal.detail,
    }
    if refusal.problems:
        document["problems"] = [problem_document(problem) for problem in refusal.problems]
    body = msgspec.json.encode(document)
    return Response(body, refusal.status, {"Cache-Control": "no-store", **refusal.headers}, MEDIA_TYPE)


def problem_document(problem: Problem) -> dict[str, object]:
    """Return one problem of a bundle as JSON data (interfaces: ``bundle verify``)."""
    path = problem.path
    if path is not None:
        path = path.encode("utf-8", "backslashreplace").decode()
    return {"code": problem.code, "path": path, "message": problem.message}


async def on_refusal(request: Request, error: Exception) -> Response:
    """Answer a :class:`Refusal`."""
    if not isinstance(error, Refusal):
        raise error
    await drain(request)
    return problem_response(error)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Answer what routing refuses: unknown paths and methods."""
    if not isinstance(error, HTTPException):
        raise error
    detail = f"{request.method} {request.url.path}: {HTTPStatus(error.status_code).phrase.lower()}"
    return problem_response(Refusal(error.status_code, detail, headers=error.headers))


async def drain(request: Request) -> None:
    """Read the rest of a small body, so that a client which is still sending gets to see the answer.

    Closing a connection with unread data resets it, and the answer may be lost with it.
    """
    import asyncio

    if request.headers.get("expect"):
        return  # it waits for our word before it sends: asking for the body would be the wrong one
    left = 1024 * 1024
    try:
        async with asyncio.timeout(2.0):
            while left > 0:
                message = await request.receive()
                left -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
    except TimeoutError:
        return
