"""What destinations look like now, asked at most every few seconds and never by two at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from distributor.app import clock
from distributor.app.context import Context, Silent
from distributor.app.requests import Selection
from distributor.app.status import status
from distributor.errors import DistributorError
from distributor.server.configuration import LiveConfig

FRESH_SECONDS = 10.0

Statuses = Mapping[str, Mapping[str, Any]]
"""Destination id to its result of ``distributor status``."""


class StatusBoard:
    """The destinations' status by pipeline."""

    def __init__(self, live: LiveConfig) -> None:
        self._live = live
        self._known: dict[str, tuple[float, Statuses]] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def of(self, pipeline_id: str) -> Statuses:
        """Return the status of a pipeline's destinations, at most ``FRESH_SECONDS`` old."""
        async with self._asking.setdefault(pipeline_id, asyncio.Lock()):
            known = self._known.get(pipeline_id)
            if known is None or time.monotonic() - known[0] > FRESH_SECONDS:
                found = await asyncio.to_thread(self._ask, pipeline_id)
                known = self._known[pipeline_id] = (time.monotonic(), found)
            return known[1]

    def _ask(self, pipeline_id: str) -> Statuses:
        check: Callable[[], None] = _never
        context = Context(clock.now, check, Silent())
        try:
            document = status(self._live.current(), Selection((pipeline_id,)), context)
        except DistributorError as error:
            return {"": {"status": "failed", "message": str(error)}}
        results: Any = document["results"]
        return {str(result["destination_id"]): result for result in results}


def _never() -> None:
    """Status is quick: a server that stops does not wait for it."""
