"""What a server may answer instead of accepting."""

from __future__ import annotations

from distributor.errors import DistributorError


class ServerUnreachable(DistributorError):
    """No answer, or none but "later", within all tries; the upload may or may not have been accepted.

    Sending the same bundle again is safe: it is the same upload.
    """


class ServerRefused(DistributorError):
    """The server refused the request for good; ``status`` is its HTTP status.

    An invalid bundle is a ``BundleError`` with every problem instead.
    """

    def __init__(self, message: str, status: int, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
