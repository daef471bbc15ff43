"""``POST /v1/pipelines/{id}/bundles``: from a request's body to an accepted upload."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from starlette.requests import Request

from distributor.app import clock
from distributor.bundle.archive import ArchivedBundle, NotAnArchive, Rules
from distributor.config.model import Pipeline
from distributor.errors import BundleError, StorageError
from distributor.server.access import client_address
from distributor.server.logs import logger
from distributor.server.problems import Refusal, busy, problem_document
from distributor.server.receiving import check_headers, receive_body
from distributor.server.services import Services
from distributor.server.settings import lane_of
from distributor.server.store import Verdict, arrival_of
from distributor.server.tokens import Access

RETRY_SECONDS = 5
RESERVED_BYTES = 64 * 1024 * 1024
"""Space that an upload never takes: the database has to go on working."""


class Admission:
    """Takes uploads in."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def admit(self, request: Request, pipeline: Pipeline, access: Access) -> tuple[Verdict, str, ArchivedBundle]:
        """Receive, check and accept one upload; return the verdict, its id and the bundle.

        When this returns, the upload is durable. Raises ``Refusal``, and ``SenderGone``
        for a client that went away; nothing is left behind then.
        """
        services = self._services
        check_headers(request, services.live.settings().limits)
        services.gate.count_upload(access)
        await self._check_room(request)
        if services.places.locked():
            raise busy(503, "too many uploads are being received at once", RETRY_SECONDS)
        async with services.places:
            path = await self._receive(request)
            try:
                return await self._accept(path, pipeline, access, request)
            finally:
                with suppress(FileNotFoundError):
                    path.unlink()

    async def _check_room(self, request: Request) -> None:
        limits = self._services.live.settings().limits
        if await asyncio.to_thread(self._services.store.waiting) >= limits.queued_uploads:
            raise busy(503, f"{limits.queued_uploads} uploads wait to be published already", RETRY_SECONDS * 6)
        length = request.headers.get("content-length", "0")
        wanted = RESERVED_BYTES + (int(length) if length.isdigit() else 0)
        if shutil.disk_usage(self._services.incoming).free < wanted:
            raise busy(503, "the server has no room for this upload", 60)

    async def _receive(self, request: Request) -> Path:
        try:
            path = await receive_body(request, self._services.incoming, self._services.live.settings().limits)
        except OSError as error:
            logger().error("receiving_failed", message=error.strerror)
            raise busy(503, "the server can't store this upload now", 60) from None
        self._services.metrics.bytes.inc(path.stat().st_size)
        return path

    async def _accept(
        self, path: Path, pipeline: Pipeline, access: Access, request: Request
    ) -> tuple[Verdict, str, ArchivedBundle]:
        bundle = await self._check(path, pipeline)
        now = clock.now().timestamp()
        key = uuid4().hex
        try:
            await asyncio.to_thread(self._services.spool.keep, path, key)
        except StorageError as error:
            logger().error("spool_failed", message=str(error))
            raise busy(503, "the server can't store this upload now", 60) from None
        arrival = arrival_of(
            uuid4().hex,
            pipeline.id,
            tuple((d.id, lane_of(d)) for d in pipeline.destinations),
            bundle.manifest,
            size=bundle.size,
            token=access.name,
            warnings=tuple(problem_document(problem) for problem in bundle.warnings),
            spool_key=key,
        )
        verdict, upload_id, useless = await asyncio.to_thread(self._services.store.accept, arrival, now)
        if useless is not None:
            await asyncio.to_thread(self._services.spool.drop, useless)
        await self._note(request, access, pipeline.id, upload_id, verdict)
        return verdict, upload_id, bundle

    async def _check(self, path: Path, pipeline: Pipeline) -> ArchivedBundle:
        latest = clock.now() + timedelta(seconds=pipeline.source.max_clock_skew)
        caps = self._services.live.settings().limits.caps
        try:
            return await self._services.checker.check(path, Rules(caps, pipeline.source.unlisted_files, latest))
        except NotAnArchive as fault:
            raise Refusal(400, str(fault)) from None
        except BundleError as error:
            raise Refusal(422, error.message, problems=error.problems) from None

    async def _note(self, request: Request, access: Access, pipeline_id: str, upload_id: str, verdict: Verdict) -> None:
        entry = {
            "token": access.name,
            "address": client_address(request),
            "action": "upload",
            "pipeline_id": pipeline_id,
            "upload_id": upload_id,
            "outcome": verdict.value,
        }
        await asyncio.to_thread(lambda: self._services.store.audit(clock.now().timestamp(), **entry))
        self._services.metrics.accepted.labels(pipeline_id, verdict.value).inc()
        logger().info("upload_accepted", **entry)
