"""The client of the HTTP interface (interfaces sections 5 and 6)."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlsplit

import httpx

from distributor import __version__
from distributor.bundle.reader import BundleReader, open_bundle
from distributor.client.answers import Later, refusal
from distributor.client.archive import Advance, tar_gz
from distributor.client.errors import ServerUnreachable
from distributor.errors import UsageError

_MAX_PAUSE = 60.0
_POLL_SECONDS = 2.0


class Receipt(NamedTuple):
    """An accepted upload. ``known`` says that the server had this very bundle already."""

    upload_id: str
    status_url: str
    known: bool
    warnings: tuple[Mapping[str, Any], ...]


class UploadState(NamedTuple):
    """How far an upload is: ``queued``, ``running``, ``done`` or ``failed``, and the run report so far."""

    upload_id: str
    pipeline_id: str
    state: str
    report: dict[str, Any] | None

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed")


class Client:
    """Talks to one server. ``token`` is ``$DISTRIBUTOR_TOKEN`` by default; use it as a context manager.

    Every call is tried again, ``retries`` times with growing pauses, where the network
    fails or the server says "later". ``timeout`` is the seconds that one answer, not
    one upload, may take. ``notice`` is told why a call waits.
    """

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 6,
        ca_file: str | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        secret = token if token is not None else os.environ.get("DISTRIBUTOR_TOKEN", "")
        if not secret:
            raise UsageError("there is no token", hint="set DISTRIBUTOR_TOKEN to one that the server knows")
        if urlsplit(server).scheme not in ("http", "https") or not urlsplit(server).netloc:
            raise UsageError(f"{server!r} is no http:// or https:// URL")
        self._base = server.rstrip("/")
        self._retries = retries
        self._notice = notice or (lambda _message: None)
        self._http = httpx.Client(
            timeout=httpx.Timeout(timeout, connect=min(timeout, 15.0)),
            headers={"Authorization": f"Bearer {secret}", "User-Agent": f"distributor/{__version__}"},
            verify=ssl.create_default_context(cafile=ca_file),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def upload(self, folder: str, pipeline: str, *, advance: Advance | None = None) -> Receipt:
        """Send the bundle in ``folder`` to a pipeline; when this returns, the server has it for good.

        ``advance`` is told of bytes on their way; a retry tells of them again. Raises
        ``BundleError`` for a bundle that is invalid here or there, ``ServerRefused``,
        ``ServerUnreachable``.
        """
        with open_bundle(folder) as bundle:
            return self.upload_bundle(bundle, pipeline, advance=advance)

    def upload_bundle(self, bundle: BundleReader, pipeline: str, *, advance: Advance | None = None) -> Receipt:
        """Send an opened bundle; see :meth:`upload`."""
        told = advance or (lambda _path, _size: None)
        url = f"{self._base}/v1/pipelines/{quote(pipeline, safe='')}/bundles"
        answer = self._call(
            lambda: self._http.post(url, content=tar_gz(bundle, told), headers={"Content-Type": "application/gzip"})
        )
        document = answer.json()
        warnings = tuple(document.get("warnings", ()))
        return Receipt(document["upload_id"], document["status_url"], answer.status_code == 200, warnings)

    def status(self, upload_id: str) -> UploadState:
        """Return how far an upload is. Raises ``ServerRefused``, ``ServerUnreachable``."""
        url = f"{self._base}/v1/uploads/{quote(upload_id, safe='')}"
        document = self._call(lambda: self._http.get(url)).json()
        return UploadState(document["upload_id"], document["pipeline_id"], document["state"], document["report"])

    def wait(
        self, upload_id: str, timeout: float | None = None, *, check: Callable[[], None] | None = None
    ) -> UploadState:
        """Wait until an upload is finished and return its state.

        ``check`` is called about ten times a second and may raise to give up. Raises
        ``ServerUnreachable`` after ``timeout`` seconds (``None``: never), the upload goes on.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = 0.1
        while not (found := self.status(upload_id)).finished:
            if deadline is not None and time.monotonic() > deadline:
                raise ServerUnreachable(f"upload {upload_id} is still {found.state} after {timeout:g} s")
            self._sleep(pause, check)
            pause = min(pause * 1.5, _POLL_SECONDS)
        return found

    def _call(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Send until there is a lasting answer. Raises what ``refusal`` makes of a bad one."""
        attempt = 0
        while True:
            reason, pause = "", min(0.5 * 2**attempt, _MAX_PAUSE)
            try:
                answer = send()
                if answer.is_success:
                    return answer
                found = refusal(answer)
                if not isinstance(found, Later):
                    raise found
                reason, pause = found.reason, min(max(pause, found.seconds), _MAX_PAUSE)
            except httpx.TransportError as error:
                reason = f"{self._base}: {str(error) or type(error).__name__}"
            attempt += 1
            if attempt > self._retries:
                raise ServerUnreachable(f"{reason}; gave up after {attempt} tries", hint="it is safe to send it again")
            self._notice(f"{reason}; trying again in {pause:g} s")
            time.sleep(pause)

    @staticmethod
    def _sleep(seconds: float, check: Callable[[], None] | None) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if check is not None:
                check()
            time.sleep(min(left, 0.1))
