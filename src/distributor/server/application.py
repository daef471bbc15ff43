"""The ASGI application of one ``serve`` process."""

from __future__ import annotations

import time
import traceback
from uuid import uuid4

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from distributor.server.api import Api
from distributor.server.dashboard import Dashboard
from distributor.server.logs import logger
from distributor.server.metrics import Metrics
from distributor.server.problems import Refusal, on_http_exception, on_refusal, problem_response
from distributor.server.services import Services

_QUIET = frozenset(("/healthz", "/readyz", "/metrics", "/live"))
"""Paths that something asks every few seconds: their requests are counted, not logged."""


def build_application(services: Services) -> ASGIApp:
    """Return the application over opened services."""
    application = Starlette(
        routes=[*Api(services).routes(), *Dashboard(services).routes()],
        exception_handlers={Refusal: on_refusal, HTTPException: on_http_exception, Exception: _on_fault},
    )
    return _Observed(application, services.metrics)


async def _on_fault(request: Request, error: Exception) -> Response:
    """Answer an unexpected error; it is in the log, and its text stays there."""
    del request
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger().error("unexpected_error", kind=type(error).__name__, traceback=frames)
    return problem_response(Refusal(500, "the server made a mistake; its log says which"))


class _Observed:
    """Counts, times and logs every request, and gives it an id that its log lines carry."""

    def __init__(self, application: ASGIApp, metrics: Metrics) -> None:
        self._application = application
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        status = 500
        began = time.monotonic()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=uuid4().hex[:16]):
            try:
                await self._application(scope, receive, watch)
            finally:
                self._note(scope, status, time.monotonic() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        if scope["path"] not in _QUIET:
            path = scope["path"].encode("utf-8", "backslashreplace").decode()
            logger().info("request", method=method, path=path, status=status, ms=round(seconds * 1000, 1))
