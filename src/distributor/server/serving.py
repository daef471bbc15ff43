"""Running ``serve``: the listening socket, uvicorn, the worker beside it, and a clean end."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from distributor.errors import UsageError
from distributor.server.application import build_application
from distributor.server.configuration import LiveConfig
from distributor.server.logs import logger
from distributor.server.services import open_services

HEADER_SECONDS = 30.0
"""How long a connection may take to send a whole request head."""

STOP_SECONDS = 30
"""How long uploads under way may go on once the server is asked to stop."""

MAX_PAUSE_SECONDS = 30.0


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, which by itself waits for ever for the rest of a request's head."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Take data in; once it completes a head, the waiting is over."""
        super().data_received(data)
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._forget_head()
        elif self._head_timer is None:
            self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._forget_head()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        self._head_timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _forget_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: :func:`serve` handles them, and ends without raising them again."""
        yield


def serve(live: LiveConfig, host: str | None, port: int | None, *, with_worker: bool) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises ``UsageError`` where the address can't be listened on, ``DistributorError``
    where database or spool can't be used.
    """
    settings = live.settings()
    listener = _listen(settings.host if host is None else host, settings.port if port is None else port)
    asyncio.run(_serve(live, listener, with_worker=with_worker))


async def _serve(live: LiveConfig, listener: socket.socket, *, with_worker: bool) -> None:
    settings = live.settings()
    services = open_services(live)
    server = _Server(
        uvicorn.Config(
            build_application(services),
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=list(settings.trusted_proxies),
            timeout_keep_alive=15,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
    )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    children = asyncio.create_task(_keep_worker(live.current().path, stop)) if with_worker else None
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    address, bound_port = listener.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    logger().info("serving", url=f"http://{shown}:{bound_port}/", worker=with_worker)
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    logger().info("stopping")
    stop.set()
    server.should_exit = True
    await serving
    if children is not None:
        await children
    services.close()
    logger().info("stopped")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise UsageError(
            f"can't listen on {host}:{port}: {error.strerror or error}", hint="choose another with --host and --port"
        ) from None


async def _keep_worker(config: str, stop: asyncio.Event) -> None:
    """Keep one worker process beside the server, until ``stop``; one that dies is started again."""
    pause = 1.0
    while not stop.is_set():
        process = await _start_worker(config)
        began = asyncio.get_running_loop().time()
        ended = asyncio.create_task(process.wait())
        asked = asyncio.create_task(stop.wait())
        await asyncio.wait((ended, asked), return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            await _stop_worker(process)
            await ended
            return
        asked.cancel()
        lived = asyncio.get_running_loop().time() - began
        pause = 1.0 if lived > MAX_PAUSE_SECONDS else min(pause * 2, MAX_PAUSE_SECONDS)
        logger().error("worker_ended", code=process.returncode, restart_seconds=pause)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)


async def _start_worker(config: str) -> Process:
    # Its standard input is a pipe that nothing is written to: its end tells the worker that this process is gone.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "distributor",
        "worker",
        "--config",
        config,
        "--stop-with-stdin",
        stdin=asyncio.subprocess.PIPE,
    )


async def _stop_worker(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
