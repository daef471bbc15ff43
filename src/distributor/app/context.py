"""What a use case gets from whoever calls it: the clock, progress, and the wish to stop."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

from distributor.core.plan import Plan
from distributor.core.policy import OwnerKey


class Progress(Protocol):
    """Told what goes on, for a person to watch. Calls may come from several threads."""

    def start(self, title: str, files: int, size: int) -> None:
        """A phase begins (``publishing reports/archive``) over ``files`` files and ``size`` bytes."""

    def advance(self, path: str, size: int) -> None:
        """``size`` more bytes of ``path`` are done."""

    def done(self, path: str) -> None:
        """The file ``path`` is done."""

    def note(self, message: str) -> None:
        """A sentence worth showing at once: waiting for a lock, a warning."""

    def finish(self) -> None:
        """The phase is over."""


class Silent:
    """A :class:`Progress` that shows nothing."""

    def start(self, title: str, files: int, size: int) -> None:
        """Show nothing."""

    def advance(self, path: str, size: int) -> None:
        """Show nothing."""

    def done(self, path: str) -> None:
        """Show nothing."""

    def note(self, message: str) -> None:
        """Show nothing."""

    def finish(self) -> None:
        """Show nothing."""


def nobody_reads(owner: OwnerKey, plan: Plan) -> None:
    """Do nothing with a plan."""


class Context(NamedTuple):
    """Carried through every use case.

    ``now`` reads the clock (aware, UTC). ``check`` raises ``Interrupted`` once the
    process was asked to stop; it is called between files and chunks (G10).
    ``planned`` is given each destination's plan once it is made, for a person who
    wants to read it with sizes.
    """

    now: Callable[[], datetime]
    check: Callable[[], None]
    progress: Progress
    planned: Callable[[OwnerKey, Plan], None] = nobody_reads
