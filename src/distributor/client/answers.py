"""What an unsuccessful answer means: come later, an invalid bundle, or a refusal for good."""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx

from distributor.client.errors import ServerRefused
from distributor.errors import BundleError, DistributorError, Problem

_LATER = frozenset((408, 429, 500, 502, 503, 504))
_HINTS = {
    401: "check DISTRIBUTOR_TOKEN; `distributor token list` on the server shows which names are in use",
    403: "use a token of this pipeline, and check that its configuration has `source.upload: true`",
    404: "check the pipeline's name and the server's URL",
    413: "make the bundle smaller, or raise server.limits",
}


class Later(NamedTuple):
    """The server may accept it later: why, and in how many seconds at the earliest."""

    reason: str
    seconds: float


def refusal(answer: httpx.Response) -> Later | DistributorError:
    """Return what an answer that is no success means."""
    document = _problem(answer)
    detail = str(document.get("detail") or document.get("title") or answer.reason_phrase)
    message = f"the server answered {answer.status_code}: {detail}"
    if answer.status_code in _LATER:
        after = answer.headers.get("retry-after", "")
        return Later(message, float(after) if after.isdigit() else 0.0)
    problems = tuple(_bundle_problem(item) for item in document.get("problems") or ())
    if answer.status_code == 422 and problems:
        return BundleError(f"the server refused the bundle: {detail}", problems)
    return ServerRefused(message, answer.status_code, hint=_HINTS.get(answer.status_code))


def _problem(answer: httpx.Response) -> dict[str, Any]:
    try:
        document = answer.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _bundle_problem(item: dict[str, Any]) -> Problem:
    return Problem(str(item.get("code")), str(item.get("message")), item.get("path"))
