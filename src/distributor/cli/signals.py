"""SIGINT and SIGTERM: ask the work to stop, and end it after ten seconds (G10)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType

from distributor.cli.exit_codes import of_signal
from distributor.errors import Interrupted

PATIENCE = 10.0
"""Seconds that a process may take to finish or undo what it began."""


class Interruption:
    """Whether the process was asked to stop. ``check`` is handed to use cases.

    ``last_words`` is called once, just before a process that did not stop in time,
    or was asked twice, is ended hard; its journal is left to the next run.
    """

    def __init__(self, last_words: Callable[[int], None]) -> None:
        self.number: int | None = None
        self._last_words = last_words

    def install(self) -> None:
        """Handle the signals from now on; one that was ignored at the start stays ignored (``nohup``)."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def check(self) -> None:
        """Raise ``Interrupted`` if the process was asked to stop."""
        if self.number is not None:
            raise Interrupted(self.number)

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as `signal` calls it
        if self.number is not None:
            self._end(self.number)
        self.number = number
        from threading import Timer  # here: needed only by a process that is asked to stop

        watchdog = Timer(PATIENCE, self._end, (number,))
        watchdog.daemon = True
        watchdog.start()

    def _end(self, number: int) -> None:
        self._last_words(number)
        os._exit(of_signal(number))
