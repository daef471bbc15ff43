"""Requests to an object store: retried where that is safe, and failing with errors for people."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import obstore
from obstore.exceptions import BaseError

from distributor.errors import AlreadyExists, NotFound, VersionMismatch
from distributor.storage.backends.objects_connection import Connection, Store
from distributor.storage.backends.objects_errors import diagnose

if TYPE_CHECKING:
    from obstore import PutMode

T = TypeVar("T")
Meta = Mapping[str, Any]
"""What the service tells of an object: ``path`` (its key), ``size``, ``e_tag``, ``version``."""

Tags = Mapping[str, Any]
"""What the service tells of an object just written: ``e_tag`` and ``version``."""


class Parts(NamedTuple):
    """How a large object is sent: parts of ``size`` bytes, ``at_once`` of them."""

    size: int
    at_once: int


_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
_PROMPT_LIMIT = 1 << 18
"""Bytes up to which a body is sent with the short timeout."""

_FAILURES = (BaseError, OSError, ValueError, NotImplementedError)
"""What the client raises when a request fails."""


class ObjectClient:
    """The requests of one opened root; keys are whole keys, bucket and prefix included in them.

    ``path`` arguments are destination-relative, for messages. Raises ``StorageError``
    and its subclasses.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._address = connection.address
        self._prompt = self._made(connection.prompt_client)

    @cached_property
    def _patient(self) -> Store:
        return self._made(lambda: self._connection.patient_client(retrying=False))

    @cached_property
    def _retrying(self) -> Store:
        return self._made(lambda: self._connection.patient_client(retrying=True))

    def _made(self, make: Callable[[], Store]) -> Store:
        try:
            return make()
        except _FAILURES as error:
            raise diagnose(error).to_error(self._address, "open", None) from None

    def call(self, operation: str, path: str | None, request: Callable[[], T]) -> T:
        """Make one request that is safe to repeat, and repeat it while it fails for now.

        What nobody answers at all fails at once. Raises ``StorageError``.
        """
        pause = _FIRST_PAUSE
        for _ in range(self._connection.retries):
            try:
                return request()
            except _FAILURES as error:
                fault = diagnose(error)
                if not fault.rule.retry:
                    raise fault.to_error(self._address, operation, path) from None
            # Half of it at random: those who were refused together do not come back together.
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - no secret depends on it
            pause = min(pause * 2, _LONGEST_PAUSE)
        return self.once(operation, path, request)

    def once(self, operation: str, path: str | None, request: Callable[[], T]) -> T:
        """Make one request. Raises ``StorageError``."""
        try:
            return request()
        except _FAILURES as error:
            raise diagnose(error).to_error(self._address, operation, path) from None

    def head(self, path: str) -> Meta:
        """Return what the service tells of an object. Raises ``NotFound``."""
        key = self._address.key(path)
        try:
            return obstore.head(self._prompt, key)
        except _FAILURES as error:
            if not (fault := diagnose(error)).lacks_body and not fault.rule.retry:
                raise fault.to_error(self._address, "stat", path) from None
        # An answer to HEAD has no body to say why it failed, and a missing bucket is no missing object.
        return self.call("stat", path, lambda: obstore.get(self._prompt, key).meta)

    def get(self, path: str, accept: Callable[[Meta], None]) -> tuple[bytes, Meta]:
        """Return a whole object; ``accept`` may raise over its size before it is fetched. Raises ``NotFound``."""
        key = self._address.key(path)

        def request() -> tuple[bytes, Meta]:
            result = obstore.get(self._prompt, key)
            accept(result.meta)
            return bytes(result.bytes()), result.meta

        return self.call("read", path, request)

    def stream(self, path: str, chunk: int) -> Iterator[memoryview]:
        """Yield an object's bytes in chunks of about ``chunk`` bytes. Raises ``NotFound``."""
        key = self._address.key(path)
        result = self.call("stream", path, lambda: obstore.get(self._retrying, key))
        chunks = iter(result.stream(min_chunk_size=chunk))
        while True:
            data = self.once("stream", path, lambda: next(chunks, None))
            if data is None:
                return
            yield memoryview(data)

    def put(self, path: str, data: bytes, headers: dict[str, str], mode: PutMode) -> Tags:
        """Write an object with one request.

        Raises ``AlreadyExists`` or ``VersionMismatch`` if the condition of ``mode`` does
        not hold, unless it is this very write that an earlier attempt had brought there.
        """
        key = self._address.key(path)
        store = self._prompt if len(data) <= _PROMPT_LIMIT else self._patient
        attempts = 0

        def request() -> Tags:
            nonlocal attempts
            attempts += 1
            return obstore.put(store, key, data, attributes=headers, mode=mode, use_multipart=False)

        try:
            return self.call("write", path, request)
        except (AlreadyExists, VersionMismatch) as refusal:
            tags = self._tags_of_own(path, data) if attempts > 1 else None
            if tags is None:
                raise refusal from None
            return tags

    def _tags_of_own(self, path: str, data: bytes) -> Tags | None:
        try:
            stored, meta = self.get(path, lambda _: None)
        except NotFound:
            return None
        return meta if stored == data else None

    def put_parts(self, path: str, source: Iterator[bytes], headers: dict[str, str], parts: Parts) -> Tags:
        """Write an object in parts that become visible at once, after ``source`` has ended.

        Where the source or the service fails, the upload is aborted and the source's own
        error raised as it is.
        """
        watched = _Watched(source)
        try:
            return obstore.put(
                self._retrying,
                self._address.key(path),
                watched,
                attributes=headers,
                use_multipart=True,
                chunk_size=parts.size,
                max_concurrency=parts.at_once,
            )
        except _FAILURES as error:
            if watched.error is not None:
                raise watched.error from None
            fault = diagnose(error)
            if fault.code == "NoSuchUpload" and (meta := self._meta_of(path, watched.digest)) is not None:
                return meta
            raise fault.to_error(self._address, "write", path) from None

    def _meta_of(self, path: str, digest: str) -> Tags | None:
        """Return the tags of the stored object if it has this digest: completed, but the answer was lost."""
        found = hashlib.sha256()
        try:
            meta = self.head(path)
            for chunk in self.stream(path, 1 << 20):
                found.update(chunk)
        except NotFound:
            return None
        return meta if found.hexdigest() == digest else None

    def delete(self, path: str) -> None:
        """Delete an object. Raises ``NotFound`` where the service tells."""
        key = self._address.key(path)
        self.call("delete", path, lambda: obstore.delete(self._prompt, key))

    def pages(self, after: str | None) -> Iterator[Sequence[Meta]]:
        """Yield what is below the root, in pages; of keys, those behind the key ``after``.

        A page that fails or is cut off raises (D15).
        """
        prefix = self._address.prefix or None
        stream = self.once("list", None, lambda: obstore.list(self._retrying, prefix, offset=after, chunk_size=1000))
        while page := self.once("list", None, lambda: next(stream, None)):
            yield page


class _Watched:
    """A source on its way into the client: keeps its error and the digest of what passed."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self.error: Exception | None = None
        self._source = source
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            chunk = next(self._source)
        except StopIteration:
            raise
        except Exception as error:
            self.error = error
            raise
        self._hash.update(chunk)
        return chunk
