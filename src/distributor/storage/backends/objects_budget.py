"""A bound on the bytes that are in flight at once, whatever the number and size of files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ByteBudget:
    """``total`` bytes to be shared by all threads of one opened storage."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._free = total
        self._returned = threading.Condition()

    @contextmanager
    def reserve(self, size: int) -> Iterator[None]:
        """Hold ``size`` bytes for the ``with`` block, waiting until there is room.

        What is larger than the whole budget waits until it has all of it.
        """
        share = min(size, self._total)
        with self._returned:
            self._returned.wait_for(lambda: self._free >= share)
            self._free -= share
        try:
            yield
        finally:
            with self._returned:
                self._free += share
                self._returned.notify_all()
