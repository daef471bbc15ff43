"""The dashboard at ``/``: server-rendered pages, one small script of our own, nothing from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from distributor.app import clock
from distributor.config.model import Pipeline
from distributor.server import wording
from distributor.server.access import client_address
from distributor.server.advice import advice_for
from distributor.server.previews import PREVIEWS, preview
from distributor.server.problems import Refusal
from distributor.server.services import Services
from distributor.server.sessions import Session, end_session, give_cookie, read_form, session_of
from distributor.server.settings import lane_of
from distributor.server.store import DONE, FAILED, QUEUED, RUNNING, Upload

_HERE = Path(__file__).parent
_STATIC = {"dashboard.css": "text/css", "dashboard.js": "text/javascript", "icon.svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STATES = (QUEUED, RUNNING, DONE, FAILED)
_LISTED = 100
_PUBLICATIONS = 10

Page = Callable[[Request, Session], Awaitable[Response]]


class Dashboard:
    """The pages of one process."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"size": wording.size, "exact": wording.exact}
        self._templates.globals |= {"advice_for": advice_for, "age": lambda value: wording.age(value, clock.now())}

    def routes(self) -> list[Route]:
        """Return every route of the dashboard."""
        return [
            Route("/", self._page(self.overview), methods=["GET"]),
            Route("/live", self._page(self.live), methods=["GET"]),
            Route("/uploads", self._page(self.uploads), methods=["GET"]),
            Route("/uploads/{upload_id}", self._page(self.upload), methods=["GET"]),
            Route("/uploads/{upload_id}/retry", self._page(self.retry), methods=["POST"]),
            Route("/pipelines/{pipeline_id}/{destination_id}", self._page(self.destination), methods=["GET"]),
            Route("/login", self.login_page, methods=["GET"]),
            Route("/login", self.login, methods=["POST"]),
            Route("/logout", self._page(self.logout), methods=["POST"]),
            Route("/static/{name}", self.static, methods=["GET"]),
        ]

    def _page(self, page: Page) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that shows the page to whoever is logged in, and the login to others."""

        async def show(request: Request) -> Response:
            session = await session_of(request, self._services)
            if session is None:
                wanted = request.url.path if request.method == "GET" else "/"
                return RedirectResponse(f"/login?next={quote(wanted)}", 303, _HEADERS)
            try:
                return await page(request, session)
            except Refusal as refusal:
                return self._render("error.html", session, refusal.status, refusal=refusal)

        return show

    def _render(self, template: str, session: Session | None, code: int = 200, **values: object) -> Response:
        text = self._templates.get_template(template).render(session=session, **values)
        return Response(text, code, _HEADERS, "text/html; charset=utf-8")

    async def overview(self, request: Request, session: Session) -> Response:
        """Show pipelines, their destinations, and what is under way."""
        del request
        pipelines = self._visible(session)
        statuses = await asyncio.gather(*(self._services.board.of(p.id) for p in pipelines))
        cards = await asyncio.to_thread(
            lambda: [self._card(p, found) for p, found in zip(pipelines, statuses, strict=True)]
        )
        live = await self._live_values(session)
        return self._render("overview.html", session, cards=cards, **live)

    async def live(self, request: Request, session: Session) -> Response:
        """Return the part of the overview that the script fetches again and again."""
        del request
        return self._render("_live.html", session, **await self._live_values(session))

    async def uploads(self, request: Request, session: Session) -> Response:
        """List the latest uploads, of one state if asked for."""
        state = request.query_params.get("state", "")
        states = (state,) if state in _STATES else ()
        ids = [p.id for p in self._visible(session)]
        found = await asyncio.to_thread(self._services.store.recent, ids, _LISTED, states)
        return self._render("uploads.html", session, uploads=found, state=state, states=_STATES, limit=_LISTED)

    async def upload(self, request: Request, session: Session) -> Response:
        """Show one upload, what came of it, and why."""
        found = await self._upload(request, session)
        template = "_upload.html" if request.query_params.get("part") else "upload.html"
        return self._render(template, session, upload=found)

    async def retry(self, request: Request, session: Session) -> Response:
        """Queue a failed upload again."""
        await read_form(request, session)
        found = await self._upload(request, session)
        pipeline = self._services.live.pipeline(found.pipeline_id)
        lanes = [(d.id, lane_of(d)) for d in pipeline.destinations] if pipeline else []
        if not lanes or not await asyncio.to_thread(self._services.store.retry, found.upload_id, lanes):
            raise Refusal(409, "this upload can't be queued again: it did not fail, or its bundle is no longer kept")
        entry = {
            "token": session.access.name,
            "address": client_address(request),
            "action": "retry",
            "pipeline_id": found.pipeline_id,
            "upload_id": found.upload_id,
            "outcome": "again",
        }
        await asyncio.to_thread(lambda: self._services.store.audit(clock.now().timestamp(), **entry))
        return RedirectResponse(f"/uploads/{found.upload_id}", 303, _HEADERS)

    async def destination(self, request: Request, session: Session) -> Response:
        """Show one destination: state, owners, publications, and a preview if asked for."""
        pipeline, destination_id = self._destination(request, session)
        statuses = await self._services.board.of(pipeline.id)
        publications = await asyncio.to_thread(
            self._services.store.publications, pipeline.id, destination_id, _PUBLICATIONS
        )
        wanted = request.query_params.get("preview", "")
        shown = None
        if wanted in PREVIEWS:
            config = self._services.live.current()
            shown = await asyncio.to_thread(preview, wanted, config, pipeline.id, destination_id)
        found = next(d for d in pipeline.destinations if d.id == destination_id)
        return self._render(
            "destination.html",
            session,
            pipeline=pipeline,
            destination=found,
            status=_status(statuses, destination_id),
            publications=publications,
            preview=shown,
        )

    async def login_page(self, request: Request) -> Response:
        """Ask for a token."""
        return self._render("login.html", None, next=_local(request.query_params.get("next", "/")), failed=False)

    async def login(self, request: Request) -> Response:
        """Start a session for a good token."""
        fields = await read_form(request, None)
        target = _local(fields.get("next", "/"))
        access = await self._services.gate.login(fields.get("token", "").strip(), client_address(request))
        if access is None:
            return self._render("login.html", None, 401, next=target, failed=True)
        secret = await asyncio.to_thread(self._services.tokens.open_session, access, clock.now())
        response = RedirectResponse(target, 303, _HEADERS)
        give_cookie(request, response, secret)
        return response

    async def logout(self, request: Request, session: Session) -> Response:
        """End the session."""
        await read_form(request, session)
        return await end_session(request, self._services)

    async def static(self, request: Request) -> Response:
        """Return a file of our own."""
        name = request.path_params["name"]
        if name not in _STATIC:
            raise Refusal(404, "there is no such file")
        body = await asyncio.to_thread((_HERE / "static" / name).read_bytes)
        headers = {**_HEADERS, "Cache-Control": "public, max-age=3600"}
        return Response(body, 200, headers, f"{_STATIC[name]}; charset=utf-8")

    def _visible(self, session: Session) -> list[Pipeline]:
        return [p for p in self._services.live.current().pipelines if session.access.allows(p.id)]

    async def _upload(self, request: Request, session: Session) -> Upload:
        upload_id = request.path_params["upload_id"]
        found = await asyncio.to_thread(self._services.store.upload, upload_id)
        if found is None or not session.access.allows(found.pipeline_id):
            raise Refusal(404, "there is no such upload, or it finished too long ago to be remembered")
        return found

    def _destination(self, request: Request, session: Session) -> tuple[Pipeline, str]:
        pipeline_id, destination_id = request.path_params["pipeline_id"], request.path_params["destination_id"]
        for pipeline in self._visible(session):
            if pipeline.id == pipeline_id and any(d.id == destination_id for d in pipeline.destinations):
                return pipeline, destination_id
        raise Refusal(404, "there is no such destination")

    def _card(self, pipeline: Pipeline, statuses: Mapping[str, Mapping[str, Any]]) -> dict[str, object]:
        destinations = []
        for destination in pipeline.destinations:
            last = self._services.store.publications(pipeline.id, destination.id, 1)
            destinations.append(
                {
                    "id": destination.id,
                    "url": destination.url,
                    "status": _status(statuses, destination.id),
                    "last": last[0] if last else None,
                }
            )
        return {"pipeline": pipeline, "destinations": destinations}

    async def _live_values(self, session: Session) -> dict[str, Any]:
        ids = [p.id for p in self._visible(session)]
        active = await asyncio.to_thread(self._services.store.recent, ids, 20, (QUEUED, RUNNING))
        failed = await asyncio.to_thread(self._services.store.recent, ids, 5, (FAILED,))
        done = await asyncio.to_thread(self._services.store.recent, ids, 5, (DONE,))
        counts = await asyncio.to_thread(self._services.store.counts)
        return {"active": active, "failed": failed, "done": done, "counts": counts}


def _status(statuses: Mapping[str, Mapping[str, Any]], destination_id: str) -> Mapping[str, Any]:
    """Return a destination's status; where it could not be asked for, what went wrong."""
    return statuses.get(destination_id) or statuses.get("") or {"status": "failed"}


def _local(target: str) -> str:
    """Return where to go after login: a path of this server, whatever was asked for."""
    return target if target.startswith("/") and not target.startswith(("//", "/\\")) else "/"
