"""One event loop in a thread of its own, and the bytes that may be on their way in it."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

BYTES_IN_FLIGHT = 8 << 20
"""Bytes handed to the connection and not yet acknowledged, over all files of one storage.

More would not be faster (OpenSSH takes 2 MiB before it wants to acknowledge) and every
byte of it is held about three times: as it came, in a packet, and encrypted.
"""


class LoopThread:
    """Runs coroutines for threads that know nothing of them. Started by the first one."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of ``work``, or raise its error; an interrupted wait cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def running(self) -> bool:
        """Whether there is a loop to be closed."""
        return self._loop is not None

    def close(self) -> None:
        """End the loop and its thread; what still runs in it is cancelled."""
        with self._guard:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="sftp", daemon=True)
                self._thread.start()
            return self._loop


async def _cancel_all() -> None:
    mine = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not mine]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Gate:
    """Lets at most ``limit`` units through at a time, first come, first served. Used within one loop."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def enter(self, units: int = 1) -> None:
        """Wait for room for ``units``; more than the limit get through alone."""
        if not self._waiting and self._fits(units):
            self.used += units
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((units, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(units)
            raise

    def leave(self, units: int = 1) -> None:
        """Give ``units`` back."""
        self.used -= units
        self._admit()

    def narrow(self, limit: int) -> None:
        """Let fewer through from now on; never none."""
        self.limit = max(1, min(self.limit, limit))

    def _fits(self, units: int) -> bool:
        return self.used == 0 or self.used + units <= self.limit

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0][1].done() or self._fits(self._waiting[0][0])):
            units, turn = self._waiting.popleft()
            if not turn.done():
                self.used += units
                turn.set_result(None)
