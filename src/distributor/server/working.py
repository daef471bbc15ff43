"""Running ``worker``: signals, the parent's end, and the one place of a SQLite database."""

from __future__ import annotations

import os
import signal
import threading

from distributor.server.configuration import LiveConfig
from distributor.server.worker import Stopping, Worker, only_worker


def work(live: LiveConfig, *, stop_with_stdin: bool) -> None:
    """Work until SIGINT or SIGTERM, or until standard input ends if that was asked for.

    Raises ``DistributorError`` where database or spool can't be used.
    """
    stopping = Stopping()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, _frame: stopping.ask(signum))
    if stop_with_stdin:
        threading.Thread(target=_watch_stdin, args=(stopping,), daemon=True).start()
    with only_worker(live.settings().database, stopping) as mine:
        if mine:
            Worker(live, stopping).run()


def _watch_stdin(stopping: Stopping) -> None:
    while os.read(0, 4096):
        continue
    stopping.ask()
