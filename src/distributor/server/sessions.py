"""Dashboard sessions: a cookie no script can read, and forms no other site can send."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from distributor.app import clock
from distributor.server.problems import Refusal
from distributor.server.services import Services
from distributor.server.tokens import SESSION_SECONDS, Access

_FORM_BYTES = 8192


class Session(NamedTuple):
    """Who looks at the dashboard; ``csrf`` is what its forms must carry."""

    access: Access
    csrf: str


def cookie_name(request: Request) -> str:
    """Return the session cookie's name; over TLS one that only this very host can set."""
    return "__Host-distributor" if request.url.scheme == "https" else "distributor"


async def session_of(request: Request, services: Services) -> Session | None:
    """Return the request's session, if it has one that is still good."""
    secret = request.cookies.get(cookie_name(request))
    if not secret:
        return None
    tokens = services.live.settings().tokens
    access = await asyncio.to_thread(services.tokens.session, secret, tokens, clock.now())
    return None if access is None else Session(access, _csrf(secret))


def give_cookie(request: Request, response: Response, secret: str) -> None:
    """Put a session into the answer."""
    response.set_cookie(
        cookie_name(request),
        secret,
        max_age=SESSION_SECONDS,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


async def end_session(request: Request, services: Services) -> Response:
    """End the request's session."""
    secret = request.cookies.get(cookie_name(request))
    if secret:
        await asyncio.to_thread(services.tokens.close_session, secret)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="strict")
    return response


async def read_form(request: Request, session: Session | None) -> dict[str, str]:
    """Return the fields of a form of our own pages.

    Raises ``Refusal`` 403 for one that another site sent, or that lacks the session's
    secret, 413 and 415 for what is no such form.
    """
    _same_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise Refusal(415, "this is no form of the dashboard")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _FORM_BYTES:
            raise Refusal(413, "this is no form of the dashboard")
    fields = dict(parse_qsl(body.decode("utf-8", "replace")))
    if session is not None and not hmac.compare_digest(fields.get("csrf", "").encode(), session.csrf.encode()):
        raise Refusal(403, "the form is out of date; load the page again")
    return fields


def _same_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")
    if foreign or site not in ("same-origin", "none"):
        raise Refusal(403, "the form comes from another site")


def _csrf(secret: str) -> str:
    return hashlib.sha256(b"form\0" + secret.encode()).hexdigest()
