"""Proxies that fail on purpose, between a client and a real server on loopback.

:class:`HttpFaultProxy` knows requests: it fails the n-th one that a filter names, before
or after the server has seen it. :class:`TcpFaultProxy` knows only bytes, for every other
protocol: it cuts, resets or stalls a connection at the n-th byte of one direction.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Self

_CHUNK = 1 << 16


class Request(NamedTuple):
    """A request as it arrived: ``target`` is path and query; header names are lower-case."""

    method: str
    target: str
    headers: dict[str, str]
    head: bytes
    body: bytes


class Response(NamedTuple):
    """A response: its head without the final empty line, and its body as it was sent."""

    head: bytes
    body: bytes

    def with_body(self, body: bytes) -> Response:
        """The response with another body, and its length told truly."""
        lines = [
            line
            for line in self.head.split(b"\r\n")
            if not line.lower().startswith((b"content-length:", b"transfer-encoding:"))
        ]
        return Response(b"\r\n".join([*lines, b"Content-Length: %d" % len(body)]), body)


class _Close(Exception):
    """End the client's connection, by a reset or in order."""

    def __init__(self, *, reset: bool = False) -> None:
        self.reset = reset


class Exchange:
    """One request on its way: what a fault may look at and change."""

    def __init__(self, request: Request, forward: Callable[[bytes], Response], send: Callable[[bytes], None]) -> None:
        self.request = request
        self._forward = forward
        self._send = send

    def forward(self, data: bytes | None = None) -> Response:
        """Let the server answer the request, or these bytes in its stead."""
        return self._forward(self.request.head + self.request.body if data is None else data)

    def send(self, response: Response) -> None:
        """Give the client this response."""
        self._send(response.head + b"\r\n\r\n" + response.body)

    def send_bytes(self, data: bytes) -> None:
        """Give the client these bytes."""
        self._send(data)


Act = Callable[[Exchange], None]
"""What a fault does with an exchange; returning normally keeps the connection."""


def answer(status: int, code: str = "", message: str = "", headers: str = "") -> Act:
    """Answer in the server's stead with an S3 error; the server never sees the request."""

    def act(exchange: Exchange) -> None:
        body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode() if code else b""
        body = b"" if exchange.request.method == "HEAD" else body
        head = f"HTTP/1.1 {status} Fault\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}{headers}"
        exchange.send(Response(head.encode(), body))

    return act


def delay(seconds: float) -> Act:
    """Let the server answer, but later."""

    def act(exchange: Exchange) -> None:
        time.sleep(seconds)
        exchange.send(exchange.forward())

    return act


def cut_before(exchange: Exchange) -> None:
    """Close the connection; the server never sees the request."""
    raise _Close


def reset_before(exchange: Exchange) -> None:
    """Reset the connection; the server never sees the request."""
    raise _Close(reset=True)


def cut_after(exchange: Exchange) -> None:
    """Let the server act, then close the connection without its answer."""
    exchange.forward()
    raise _Close


def reset_after(exchange: Exchange) -> None:
    """Let the server act, then reset the connection without its answer."""
    exchange.forward()
    raise _Close(reset=True)


def answer_after(status: int, code: str = "") -> Act:
    """Let the server act, then give another answer than its own."""

    def act(exchange: Exchange) -> None:
        exchange.forward()
        answer(status, code)(exchange)

    return act


def truncate(size: int) -> Act:
    """Send the head and the first ``size`` bytes of the server's answer, then close."""

    def act(exchange: Exchange) -> None:
        response = exchange.forward()
        exchange.send_bytes(response.head + b"\r\n\r\n" + response.body[:size])
        raise _Close

    return act


def change_answer(change: Callable[[bytes], bytes]) -> Act:
    """Change the body of the server's answer; the client can't tell."""

    def act(exchange: Exchange) -> None:
        response = exchange.forward()
        exchange.send(response.with_body(change(response.body)))

    return act


def damage(exchange: Exchange) -> None:
    """Flip a bit in the middle of the request's body on its way to the server."""
    request = exchange.request
    body = bytearray(request.body)
    body[len(body) // 2] ^= 1
    exchange.send(exchange.forward(request.head + bytes(body)))


class _Fault(NamedTuple):
    matches: Callable[[Request], bool]
    act: Act
    first: int
    last: float


class HttpFaultProxy:
    """An HTTP/1.1 proxy in front of ``127.0.0.1:upstream``; ``requests`` is what it has seen.

    With ``tls`` it speaks TLS to the client. It also takes requests as a configured
    proxy does (``GET http://host/…``) and hands them on by their path.
    """

    def __init__(self, upstream: int, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self._upstream = upstream
        self._tls = tls
        self._faults: list[_Fault] = []
        self._seen: dict[int, int] = {}
        self._guard = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]

    def fail(
        self, act: Act, *, method: str = "", target: str = "", nth: int = 1, times: float = 1, query: str = ""
    ) -> None:
        """Apply ``act`` to the ``nth`` request of this method and path's part, and to ``times`` in a row."""

        def matches(request: Request) -> bool:
            path, _, asked = request.target.partition("?")
            return method in ("", request.method) and target in path and query in asked

        with self._guard:
            self._faults.append(_Fault(matches, act, nth, nth + times - 1))

    def heal(self) -> None:
        """Forget every fault."""
        with self._guard:
            self._faults.clear()
            self._seen.clear()

    def count(self, method: str, target: str = "") -> int:
        """How many requests of this method and path's part were seen."""
        return sum(r.method == method and target in r.target for r in list(self.requests))

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), client:
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
            reader = client.makefile("rb")
            with socket.create_connection(("127.0.0.1", self._upstream)) as server:
                answers = server.makefile("rb")
                while (request := _read_request(reader)) is not None:
                    try:
                        self._handle(request, client, server, answers)
                    except _Close as end:
                        _end(client, reset=end.reset)
                        return

    def _handle(self, request: Request, client: socket.socket, server: socket.socket, answers: object) -> None:
        def forward(data: bytes) -> Response:
            server.sendall(data)
            return _read_response(answers, request.method)

        exchange = Exchange(request, forward, client.sendall)
        act = self._choose(request)
        if act is None:
            exchange.send(exchange.forward())
        else:
            act(exchange)

    def _choose(self, request: Request) -> Act | None:
        with self._guard:
            self.requests.append(request)
            chosen = None
            for number, fault in enumerate(self._faults):
                if fault.matches(request):
                    seen = self._seen[number] = self._seen.get(number, 0) + 1
                    if chosen is None and fault.first <= seen <= fault.last:
                        chosen = fault.act
            return chosen


def _end(connection: socket.socket, *, reset: bool) -> None:
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    else:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def _read_head(reader: object) -> bytes:
    head = b""
    while True:
        line = reader.readline()  # type: ignore[attr-defined]
        if not line:
            return b""
        if line in (b"\r\n", b"\n"):
            return head
        head += line


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}


def _read_request(reader: object) -> Request | None:
    head = _read_head(reader)
    if not head:
        return None
    method, target, version = head.split(b"\r\n")[0].decode().split(" ")
    headers = _headers(head)
    if target.startswith("http://"):
        target = "/" + target[len("http://") :].partition("/")[2]
        head = f"{method} {target} {version}\r\n".encode() + head.partition(b"\r\n")[2]
    body = _read_body(reader, headers)
    return Request(method, target, headers, head + b"\r\n", body)


def _read_response(reader: object, method: str) -> Response:
    head = _read_head(reader)
    while head.split(b" ")[1:2] == [b"100"]:
        head = _read_head(reader)
    status = head.split(b" ")[1:2]
    if not head:
        raise _Close
    body = b"" if method == "HEAD" or status in ([b"204"], [b"304"]) else _read_body(reader, _headers(head))
    return Response(head.removesuffix(b"\r\n"), body)


def _read_body(reader: object, headers: dict[str, str]) -> bytes:
    """Read a body as it is sent, chunk heads included."""
    if "chunked" not in headers.get("transfer-encoding", ""):
        return reader.read(int(headers.get("content-length", 0)))  # type: ignore[attr-defined, no-any-return]
    parts = []
    while True:
        size = reader.readline()  # type: ignore[attr-defined]
        data = reader.read(int(size.split(b";")[0], 16) + 2)  # type: ignore[attr-defined]
        parts += [size, data]
        if len(data) == 2:
            return b"".join(parts)


class TcpFaultProxy:
    """A TCP proxy in front of ``127.0.0.1:upstream`` that fails at a byte.

    Counted are the bytes of all connections since the last :meth:`fail_at`, in the one
    direction ``to_server`` or the other.
    """

    def __init__(self, upstream: int) -> None:
        self.connections = 0
        self.passed = {True: 0, False: 0}
        self._upstream = upstream
        self._at: int | None = None
        self._direction = True
        self._reset = False
        self._stall = 0.0
        self._guard = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]

    def fail_at(self, byte: int, *, to_server: bool = True, reset: bool = False, stall: float = 0.0) -> None:
        """Once, after ``byte`` more bytes of that direction: close, reset, or first stall for some seconds."""
        with self._guard:
            self.passed = {True: 0, False: 0}
            self._at, self._direction, self._reset, self._stall = byte, to_server, reset, stall

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                server = socket.create_connection(("127.0.0.1", self._upstream))
                self.connections += 1
                for source, sink, to_server in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pump, args=(source, sink, to_server), daemon=True).start()
                continue
            client.close()

    def _pump(self, source: socket.socket, sink: socket.socket, to_server: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                passing = self._admit(len(data), to_server)
                sink.sendall(data[:passing])
                if passing < len(data):
                    time.sleep(self._stall)
                    _end(source, reset=self._reset)
                    _end(sink, reset=self._reset)
                    return
            sink.shutdown(socket.SHUT_WR)

    def _admit(self, size: int, to_server: bool) -> int:
        """How many of ``size`` bytes may pass before the fault, which then is over."""
        with self._guard:
            before = self.passed[to_server]
            if self._at is None or to_server is not self._direction or before + size <= self._at:
                self.passed[to_server] += size
                return size
            passing = self._at - before
            self.passed[to_server] += passing
            self._at = None
            return passing
