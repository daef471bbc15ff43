"""A moving bar on a terminal; the only module that imports ``rich``."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from distributor.cli.style import Style


class Bar:
    """A bar over bytes or files, removed when it is stopped. Safe to move from several threads."""

    def __init__(self, title: str, total: int, style: Style, *, in_bytes: bool) -> None:
        # A little narrower than the terminal: an echoed ^C must not wrap, or the bar could not be wiped away.
        console = Console(stderr=True, no_color=not style.color, width=style.width - 4, highlight=False)
        amount = DownloadColumn(binary_units=True) if in_bytes else MofNCompleteColumn()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None, complete_style="cyan", finished_style="green"),
            amount,
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            expand=True,
        )
        self._task = self._progress.add_task(title, total=total)
        self._progress.start()

    def move(self, completed: int) -> None:
        """Show how much is done."""
        self._progress.update(self._task, completed=completed)

    def note(self, message: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(Text(message))

    def stop(self) -> None:
        """Take the bar away."""
        self._progress.stop()
