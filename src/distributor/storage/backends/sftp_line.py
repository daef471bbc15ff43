"""The line to one server: connected when needed, again when lost."""

from __future__ import annotations

import asyncio

from distributor.errors import StorageError
from distributor.storage.backends.sftp_address import Access, Address
from distributor.storage.backends.sftp_connection import connect
from distributor.storage.backends.sftp_errors import FOREIGN, translate
from distributor.storage.backends.sftp_session import Destination, Session, start_session


class Line:
    """Keeps one session to ``address``, used by all who ask at the same time."""

    def __init__(self, address: Address, access: Access) -> None:
        self.address = address
        self.access = access
        self.destination = Destination(address.location, access)
        self._connecting = asyncio.Lock()
        self._session: Session | None = None

    async def session(self) -> Session:
        """Return the session; connects if there is none or it was lost.

        Raises ``StorageError`` where that fails, told as a failure to connect.
        """
        async with self._connecting:
            if self._session is not None and not self._session.usable:
                await self.close()
            if self._session is None:
                self._session = await self._connected()
            return self._session

    async def _connected(self) -> Session:
        try:
            connection = await connect(self.address, self.access)
            try:
                return await start_session(connection, self.address, self.destination)
            except BaseException:
                connection.abort()
                raise
        except FOREIGN as error:
            raise self.told(error, "connect", None) from error

    def told(self, error: BaseException, operation: str, path: str | None) -> StorageError:
        """Return ``error`` as this package tells it."""
        return translate(error, self.destination.location, operation, path)

    async def close(self) -> None:
        """Close the connection, if there is one."""
        session, self._session = self._session, None
        if session is not None:
            await session.abandon()
