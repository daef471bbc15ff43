"""Progress on stderr: moving on a terminal, plain sentences elsewhere (interfaces §3)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from distributor.app.context import Progress, Silent
from distributor.cli.output import say
from distributor.cli.style import Style
from distributor.cli.text import count, escape, size

if TYPE_CHECKING:
    from distributor.cli.live import Bar

SHORT = 0.4
"""Seconds of a phase before a bar is worth showing."""


def progress_for(style: Style, *, quiet: bool, verbose: int) -> Progress:
    """Return what shows progress on a stream of this style."""
    if quiet:
        return Silent()
    return Moving(style) if style.width else Sentences(verbose)


class Sentences:
    """Progress for pipes and logs: notes, and with ``-v`` the beginning of each phase."""

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose

    def start(self, title: str, files: int, size_: int) -> None:
        """Say what begins, with ``-v``."""
        if self._verbose:
            say([f"{escape(title)}: {_amount(files, size_)}"])

    def advance(self, path: str, size_: int) -> None:
        """Say nothing."""

    def done(self, path: str) -> None:
        """Name the file, with ``-vv``."""
        if self._verbose > 1:
            say([f"  {escape(path)}"])

    def note(self, message: str) -> None:
        """Say it."""
        say([escape(message)])

    def finish(self) -> None:
        """Say nothing."""


class Moving:
    """Progress for a terminal: a bar, for phases that are not over at once."""

    def __init__(self, style: Style) -> None:
        from threading import Lock  # here: only a terminal needs it

        self._lock = Lock()
        self._style = style
        self._bar: Bar | None = None
        self._title, self._files, self._size = "", 0, 0
        self._moved, self._finished = 0, 0
        self._began = 0.0

    def start(self, title: str, files: int, size_: int) -> None:
        """Remember the phase; the bar comes once it lasts."""
        self.finish()
        self._title, self._files, self._size = title, files, size_
        self._moved, self._finished = 0, 0
        self._began = time.monotonic()

    def advance(self, path: str, size_: int) -> None:  # noqa: ARG002 - the bar has no room for names
        """Move the bar by bytes."""
        with self._lock:
            self._moved += size_
            self._update()

    def done(self, path: str) -> None:  # noqa: ARG002
        """Move the bar by a file."""
        with self._lock:
            self._finished += 1
            self._update()

    def note(self, message: str) -> None:
        """Say it, above the bar."""
        if self._bar is None:
            say([escape(message)])
        else:
            self._bar.note(escape(message))

    def finish(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        self._began = 0.0

    def _update(self) -> None:
        if self._bar is None:
            if not self._began or time.monotonic() - self._began < SHORT:
                return
            from distributor.cli.live import Bar  # here: rich takes longer to import than most runs take

            self._bar = Bar(escape(self._title), self._size or self._files, self._style, in_bytes=self._size > 0)
        self._bar.move(self._moved if self._size else self._finished)


def _amount(files: int, size_: int) -> str:
    return f"{count(files, 'file')}, {size(size_)}" if size_ else count(files, "file")
