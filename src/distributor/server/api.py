"""The HTTP interface under ``/v1``, and what operators' tools ask (interfaces section 5)."""

from __future__ import annotations

import asyncio
import time

import msgspec
import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from distributor.app import clock
from distributor.config.model import Pipeline
from distributor.server import documents
from distributor.server.access import client_address
from distributor.server.metrics import CONTENT_TYPE
from distributor.server.openapi import description
from distributor.server.problems import Refusal, problem_document
from distributor.server.receiving import SenderGone
from distributor.server.services import Services
from distributor.server.store import DONE, FAILED, Upload, Verdict
from distributor.server.tokens import Access
from distributor.server.uploads import Admission

WAIT_SECONDS = 600.0
"""How long ``?wait=1`` waits at most; then the answer is the ordinary 202."""


class Api:
    """The handlers of one process."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._admission = Admission(services)
        self._description = msgspec.json.encode(description())

    def routes(self) -> list[Route]:
        """Return every route of the interface."""
        return [
            Route("/v1/pipelines/{pipeline_id}/bundles", self.upload, methods=["POST"], name="upload"),
            Route("/v1/uploads/{upload_id}", self.upload_status, methods=["GET"], name="upload_status"),
            Route("/v1/pipelines", self.pipelines, methods=["GET"]),
            Route("/v1/pipelines/{pipeline_id}", self.pipeline, methods=["GET"]),
            Route("/healthz", self.health, methods=["GET"]),
            Route("/readyz", self.ready, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
        ]

    async def upload(self, request: Request) -> Response:
        """Accept a bundle: 202, or 200 for one that is known already or was waited for."""
        wait = _wait_wanted(request)
        pipeline, access = await self._uploadable(request)
        try:
            verdict, upload_id, bundle = await self._admission.admit(request, pipeline, access)
        except Refusal as refusal:
            await self._note_refusal(request, access, pipeline, refusal)
            raise
        except SenderGone:
            await self._note_refusal(request, access, pipeline, Refusal(400, "the sender went away"))
            return Response(status_code=400)
        if wait:
            report = await self._report_of(upload_id, request)
            if report is not None:
                return _json(report)
        status_url = str(request.url_for("upload_status", upload_id=upload_id))
        warnings = [msgspec.convert(problem_document(problem), documents.BundleProblem) for problem in bundle.warnings]
        answer = documents.Accepted(upload_id, status_url, warnings)
        return _json(answer, 200 if verdict is Verdict.KNOWN else 202, {"Location": status_url})

    async def upload_status(self, request: Request) -> Response:
        """Say how far an upload is."""
        access = await self._services.gate.bearer(request)
        upload_id = request.path_params["upload_id"]
        upload = await asyncio.to_thread(self._services.store.upload, upload_id)
        if upload is None:
            raise Refusal(404, "there is no such upload, or it finished too long ago to be remembered")
        if not access.allows(upload.pipeline_id):
            raise Refusal(403, "this token is not for the upload's pipeline")
        return _json(_upload_document(upload))

    async def pipelines(self, request: Request) -> Response:
        """List what the token may see."""
        access = await self._services.gate.bearer(request)
        seen = [p for p in self._services.live.current().pipelines if access.allows(p.id)]
        found = await asyncio.gather(*(self._pipeline_document(pipeline) for pipeline in seen))
        return _json(documents.Pipelines(list(found)))

    async def pipeline(self, request: Request) -> Response:
        """Show one pipeline with each destination's status."""
        pipeline_id = request.path_params["pipeline_id"]
        await self._services.gate.for_pipeline(request, pipeline_id)
        pipeline = self._pipeline(pipeline_id)
        return _json(await self._pipeline_document(pipeline))

    async def health(self, request: Request) -> Response:
        """Say that the process answers."""
        del request
        return _json({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Say whether uploads could be accepted now: database and spool answer."""
        del request
        try:
            await asyncio.to_thread(self._probe)
        except (sa.exc.SQLAlchemyError, OSError):
            raise Refusal(503, "the database or the spool does not answer", headers={"Retry-After": "5"}) from None
        return _json({"status": "ready"})

    async def metrics(self, request: Request) -> Response:
        """Render the metrics."""
        await self._services.gate.bearer(request)
        body = await asyncio.to_thread(self._services.metrics.render)
        return Response(body, media_type=CONTENT_TYPE)

    async def openapi(self, request: Request) -> Response:
        """Describe this interface."""
        await self._services.gate.bearer(request)
        return Response(self._description, media_type="application/json")

    def _probe(self) -> None:
        self._services.store.waiting()
        probe = self._services.incoming / ".probe"
        probe.write_bytes(b"")
        probe.unlink()

    async def _uploadable(self, request: Request) -> tuple[Pipeline, Access]:
        pipeline_id = request.path_params["pipeline_id"]
        access = await self._services.gate.for_pipeline(request, pipeline_id)
        pipeline = self._pipeline(pipeline_id)
        if not pipeline.source.upload:
            detail = f"the pipeline {pipeline_id!r} takes no uploads; its configuration lacks `source.upload: true`"
            raise Refusal(403, detail)
        return pipeline, access

    def _pipeline(self, pipeline_id: str) -> Pipeline:
        pipeline = self._services.live.pipeline(pipeline_id)
        if pipeline is None:
            raise Refusal(404, f"there is no pipeline {pipeline_id!r}")
        return pipeline

    async def _pipeline_document(self, pipeline: Pipeline) -> documents.Pipeline:
        statuses = await self._services.board.of(pipeline.id)
        destinations = [documents.DestinationStatus(d.id, _plain(statuses.get(d.id))) for d in pipeline.destinations]
        return documents.Pipeline(pipeline.id, pipeline.source.upload, pipeline.schedule, destinations)

    async def _report_of(self, upload_id: str, request: Request) -> dict[str, object] | None:
        """Wait for an upload's end and return its report; ``None`` after ``WAIT_SECONDS``."""
        deadline = time.monotonic() + WAIT_SECONDS
        pause = 0.05
        while time.monotonic() < deadline and not await request.is_disconnected():
            if await asyncio.to_thread(self._services.store.state, upload_id) in (DONE, FAILED, None):
                upload = await asyncio.to_thread(self._services.store.upload, upload_id)
                return None if upload is None else upload.report
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 1.0)
        return None

    async def _note_refusal(self, request: Request, access: Access, pipeline: Pipeline, refusal: Refusal) -> None:
        entry = {
            "token": access.name,
            "address": client_address(request),
            "action": "upload",
            "pipeline_id": pipeline.id,
            "upload_id": None,
            "outcome": f"{refusal.status} {refusal.detail}".encode("utf-8", "backslashreplace").decode()[:255],
        }
        await asyncio.to_thread(lambda: self._services.store.audit(clock.now().timestamp(), **entry))


def _upload_document(upload: Upload) -> documents.UploadStatus:
    return msgspec.convert(
        {
            "upload_id": upload.upload_id,
            "pipeline_id": upload.pipeline_id,
            "state": upload.state,
            "report": upload.report,
        },
        documents.UploadStatus,
    )


def _plain(status: object) -> dict[str, object] | None:
    return dict(status) if isinstance(status, dict) else None


def _wait_wanted(request: Request) -> bool:
    value = request.query_params.get("wait", "0")
    if value not in ("0", "1"):
        raise Refusal(400, f"wait={value}: is neither 0 nor 1")
    return value == "1"


def _json(document: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(document), status, {"Cache-Control": "no-store", **(headers or {})}, "application/json"
    )
