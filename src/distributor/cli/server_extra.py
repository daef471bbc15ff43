"""A friendly word where the optional libraries of the server or the client are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from distributor.errors import UsageError


@contextmanager
def needs_server_extra(extra: str = "server") -> Iterator[None]:
    """Turn a missing library into a ``UsageError`` that names the extra which brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("distributor"):
            raise
        raise UsageError(
            f"this command needs the package {error.name!r}",
            hint=f"install it with: pip install 'distributor[{extra}]'",
        ) from None
