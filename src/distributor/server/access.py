"""Who asks: bearer tokens, and how often each may ask."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from starlette.requests import Request

from distributor.server.configuration import LiveConfig
from distributor.server.problems import Refusal, busy
from distributor.server.tokens import Access, Tokens

FAILURES_PER_MINUTE = 30
"""Wrong tokens that one address may show in a minute before it has to wait."""

_REMEMBERED = 10_000


class Buckets:
    """Token buckets by key: ``per_minute`` in a burst, refilled evenly. Memory is bounded."""

    def __init__(self) -> None:
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, per_minute: int, amount: float = 1.0) -> float:
        """Take from a key's bucket and return 0, or return in how many seconds there is enough."""
        moment = time.monotonic()
        level, since = self._levels.pop(key, (float(per_minute), moment))
        level = min(float(per_minute), level + (moment - since) * per_minute / 60)
        wait = 0.0 if level >= amount else (amount - level) * 60 / per_minute
        self._levels[key] = (level - amount if wait == 0.0 else level, moment)
        if len(self._levels) > _REMEMBERED:
            self._levels.popitem(last=False)
        return wait


class Gate:
    """Lets requests with a good token through."""

    def __init__(self, tokens: Tokens, live: LiveConfig) -> None:
        self._tokens = tokens
        self._live = live
        self._failures = Buckets()
        self._uploads = Buckets()

    async def bearer(self, request: Request) -> Access:
        """Return what the request's token may do. Raises ``Refusal`` 401, or 429 after many wrong ones."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise _unauthorized("a token is needed: send it as `Authorization: Bearer TOKEN`")
        access = await self.login(secret.strip(), client_address(request))
        if access is None:
            raise _unauthorized("the token is unknown or revoked")
        return access

    async def login(self, secret: str, address: str) -> Access | None:
        """Return what a token may do, or ``None``; wrong ones are counted. Raises ``Refusal`` 429."""
        access = await asyncio.to_thread(self._tokens.check, secret, self._live.settings().tokens)
        if access is None:
            wait = self._failures.take(address, FAILURES_PER_MINUTE)
            if wait:
                raise busy(429, "too many wrong tokens from this address", wait)
        return access

    async def for_pipeline(self, request: Request, pipeline_id: str) -> Access:
        """As :meth:`bearer`, for a token that may use a pipeline. Raises ``Refusal`` 403, 404."""
        access = await self.bearer(request)
        if not access.allows(pipeline_id):
            raise Refusal(403, f"this token is not for the pipeline {pipeline_id!r}")
        if self._live.pipeline(pipeline_id) is None:
            raise Refusal(404, f"there is no pipeline {pipeline_id!r}")
        return access

    def count_upload(self, access: Access) -> None:
        """Count an upload of a token. Raises ``Refusal`` 429 for one too many."""
        per_minute = self._live.settings().limits.uploads_per_minute
        wait = self._uploads.take(access.sha256, per_minute)
        if wait:
            raise busy(429, f"more than {per_minute} uploads a minute with this token", wait)


def client_address(request: Request) -> str:
    """Return the address a request comes from, as trusted proxies tell it."""
    return request.client.host if request.client else "unknown"


def _unauthorized(detail: str) -> Refusal:
    return Refusal(401, detail, headers={"WWW-Authenticate": 'Bearer realm="distributor"'})
