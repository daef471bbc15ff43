"""Sending bundles to a ``distributor serve``: small, typed, without the server's libraries."""

from distributor.client.client import Client, Receipt, UploadState
from distributor.client.errors import ServerRefused, ServerUnreachable

__all__ = ["Client", "Receipt", "ServerRefused", "ServerUnreachable", "UploadState"]
