"""Archives are checked in processes of their own, so that none can cost the server its memory or its pace."""

from __future__ import annotations

import asyncio
import os
import resource
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from distributor.bundle.archive import ArchivedBundle, NotAnArchive, Rules, check_archive
from distributor.errors import BundleError, Problem

PROCESSES = 2
MEMORY_BYTES = 1024 * 1024 * 1024
_CHECKS_PER_PROCESS = 2000


class _Invalid(NamedTuple):
    """What a ``BundleError`` says."""

    message: str
    problems: tuple[Problem, ...]


_Outcome = ArchivedBundle | _Invalid | None
"""``None``: no archive at all."""


class Checker:
    """A pool of checking processes."""

    def __init__(self) -> None:
        self._pool = _new_pool()

    async def check(self, path: Path, rules: Rules) -> ArchivedBundle:
        """Check a received archive.

        Raises ``NotAnArchive``, ``BundleError``; an archive that a checking process
        died of is refused as a bundle too.
        """
        pool = self._pool
        try:
            outcome = await asyncio.get_running_loop().run_in_executor(pool, _check, path, rules)
        except BrokenProcessPool:
            self._replace(pool)
            raise BundleError(_CANT, (_TOO_MUCH,)) from None
        if outcome is None:
            raise NotAnArchive
        if isinstance(outcome, _Invalid):
            raise BundleError(outcome.message, outcome.problems)
        return outcome

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        if self._pool is broken:
            self._pool = _new_pool()
            broken.shutdown(wait=False)


_CANT = "the archive can't be checked"
_TOO_MUCH = Problem("archive_too_large", "the archive takes more memory to check than a bundle does", None)


def _new_pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        PROCESSES, get_context("spawn"), _begin, (os.getpid(),), max_tasks_per_child=_CHECKS_PER_PROCESS
    )


def _begin(parent: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.nice(5)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End when the server is gone: a pool's process would wait for its next task for ever."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _check(path: Path, rules: Rules) -> _Outcome:
    """Check in the pool's process; errors come back as values, since these exceptions can't be pickled."""
    try:
        with path.open("rb") as archive:
            return check_archive(archive, rules)
    except NotAnArchive:
        return None
    except BundleError as error:
        return _Invalid(error.message, error.problems)
    except MemoryError:
        return _Invalid(_CANT, (_TOO_MUCH,))
