"""Where an object store's destination is: bucket and prefix, from its URL."""

from __future__ import annotations

from typing import NamedTuple

from distributor.core.paths import path_problem
from distributor.errors import UsageError

BUCKETS = {"s3": "bucket", "gs": "bucket", "az": "container"}
"""URL scheme to what that provider calls a bucket."""


class Address(NamedTuple):
    """A root in an object store.

    ``prefix`` is '' for the whole bucket, else without outer slashes. ``endpoint`` is
    the service's URL where it is not the provider's own.
    """

    scheme: str
    bucket: str
    prefix: str
    endpoint: str = ""

    @property
    def url(self) -> str:
        """The root as a person would name it."""
        return f"{self.scheme}://{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")

    def key(self, path: str) -> str:
        """Return the key of a destination-relative path."""
        return f"{self.prefix}/{path}" if self.prefix else path

    def path(self, key: str) -> str:
        """Return the destination-relative path of a key below the prefix."""
        return key[len(self.prefix) + 1 :] if self.prefix else key


def parse_address(url: str) -> Address:
    """Read ``s3://bucket/prefix``, ``gs://bucket/prefix`` or ``az://container/prefix``.

    The prefix is taken as it stands (no percent-decoding, as in the providers' own
    tools) and must be a clean path (A1). Raises ``UsageError``.
    """
    scheme, _, rest = url.partition("://")
    bucket, _, tail = rest.partition("/")
    kind = BUCKETS[scheme.lower()]
    if not bucket or any(character in bucket for character in "@:?# \\"):
        raise UsageError(
            f"{scheme}://…: names no {kind}",
            hint=f"write {scheme}://{kind.upper()}/PREFIX; keys and endpoint belong under `storage`",
        )
    prefix = tail.strip("/")
    problem = path_problem(prefix) if prefix else None
    if problem is not None:
        raise UsageError(f"{scheme}://{bucket}: the prefix {prefix!r} {problem}")
    return Address(scheme.lower(), bucket, prefix)
