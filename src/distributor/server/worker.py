"""The worker process: dispatching, beats, taking over from the dead, schedules, cleaning."""

from __future__ import annotations

import fcntl
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import uuid4

from sqlalchemy.exc import OperationalError

from distributor.app import clock
from distributor.errors import Interrupted, StorageError
from distributor.server.cleaning import Cleaner
from distributor.server.configuration import LiveConfig
from distributor.server.database import is_sqlite, open_database, sqlite_path
from distributor.server.lanes import Lanes
from distributor.server.logs import logger
from distributor.server.publishing import Publisher
from distributor.server.queue import Engine
from distributor.server.scheduling import Scheduler
from distributor.server.spool import open_spool
from distributor.server.store import Store
from distributor.server.workers import Heartbeats

TICK_SECONDS = 0.1
SWEEP_SECONDS = 5.0
CLEAN_SECONDS = 60.0
UNKNOWN_SECONDS = 10.0
"""How long a claimed batch may be unknown to the engine: its claimer is just queueing it, or died."""

FINISH_SECONDS = 20.0
"""How long a stopping worker lets publications finish before it interrupts them (they then have 10 s, G10)."""

LOCAL = "local"
"""The one worker of a SQLite database: under a constant id the engine resumes its work at every start."""


class Stopping:
    """The wish to stop: set once, by a signal or by the parent's end."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._interrupting = threading.Event()
        self.signal_number = 15

    def ask(self, signal_number: int = 15) -> None:
        """Ask the worker to stop."""
        self.signal_number = signal_number
        self.event.set()

    def interrupt(self) -> None:
        """Interrupt the publications that still run."""
        self._interrupting.set()

    def check(self) -> None:
        """Raise ``Interrupted`` once publications have to give up."""
        if self._interrupting.is_set():
            raise Interrupted(self.signal_number)


class Worker:
    """One worker. Settings that shape the process are read once, at its start."""

    def __init__(self, live: LiveConfig, stopping: Stopping) -> None:
        settings = live.settings()
        self._live = live
        self._stopping = stopping
        self._settings = settings
        self.id = LOCAL if is_sqlite(settings.database) else f"{socket.gethostname()}-{uuid4().hex[:12]}"
        database = open_database(settings.database, durable=False)
        spool = open_spool(settings)
        self._work = settings.work / self.id
        shutil.rmtree(self._work, ignore_errors=True)
        self._lanes = Lanes(database)
        publisher = Publisher(live, self._lanes, spool, self._work, stopping.check)
        self._engine = Engine(settings.database, self.id, settings.concurrency, publisher.step, self._lanes.release)
        self._hearts = Heartbeats(database, self.id, socket.gethostname(), settings.takeover_after)
        self._scheduler = Scheduler(Store(database), clock.now())
        self._cleaner = Cleaner(database, spool, settings.work)
        self._mine: set[str] = set()
        self._unknown: dict[str, float] = {}

    def run(self) -> None:
        """Work until asked to stop, then finish what runs."""
        self._hearts.beat(clock.now().timestamp())
        self._engine.start()
        logger().info("worker_started", worker_id=self.id, concurrency=self._settings.concurrency)
        duties = [
            _Duty(self._dispatch, TICK_SECONDS),
            _Duty(self._beat, self._settings.heartbeat),
            _Duty(self._take_over, min(self._settings.heartbeat, SWEEP_SECONDS)),
            _Duty(self._free_lanes, SWEEP_SECONDS),
            _Duty(lambda: self._scheduler.tick(self._live.current(), clock.now()), 1.0),
            _Duty(self._clean, CLEAN_SECONDS),
        ]
        while not self._stopping.event.wait(TICK_SECONDS):
            for duty in duties:
                duty.attend()
        self._end()

    def _end(self) -> None:
        logger().info("worker_stopping", worker_id=self.id)
        watchdog = threading.Timer(FINISH_SECONDS, self._stopping.interrupt)
        watchdog.daemon = True
        watchdog.start()
        self._engine.stop(FINISH_SECONDS + 10)
        watchdog.cancel()
        self._hearts.bury(self.id)
        shutil.rmtree(self._work, ignore_errors=True)
        logger().info("worker_stopped", worker_id=self.id)

    def _dispatch(self) -> None:
        self._mine &= {batch for _, batch in self._lanes.taken()}
        slots = self._settings.concurrency - len(self._mine)
        now = clock.now().timestamp()
        for lane in self._lanes.free(now, slots) if slots > 0 else ():
            batch = self._lanes.claim(lane, uuid4().hex, now)
            if batch is None:
                continue
            if not batch.jobs:
                self._lanes.release(lane, batch.id)
                continue
            self._mine.add(batch.id)
            self._engine.enqueue(batch)

    def _beat(self) -> None:
        self._hearts.beat(clock.now().timestamp())

    def _take_over(self) -> None:
        for worker_id in self._hearts.silent(self._engine.holders() - {self.id}):
            count = self._engine.take_over(worker_id)
            self._hearts.bury(worker_id)
            logger().warning("worker_dead", worker_id=worker_id, batches_taken_over=count)

    def _free_lanes(self) -> None:
        """Give free the lanes of batches that ended without doing so, or that were never queued."""
        moment = time.monotonic()
        unknown: dict[str, float] = {}
        for lane, batch in self._lanes.taken():
            ended = self._engine.has_ended(batch)
            if ended is None:
                unknown[batch] = self._unknown.get(batch, moment)
                ended = moment - unknown[batch] > UNKNOWN_SECONDS
            if ended:
                self._lanes.release(lane, batch)
                logger().warning("lane_freed", batch=batch)
        self._unknown = unknown

    def _clean(self) -> None:
        self._cleaner.clean(self._live.settings().keep, clock.now().timestamp())
        self._engine.forget_before((clock.now() - timedelta(hours=1)).isoformat())


class _Duty:
    """Something done again and again; a database or spool that is away for a while does not end the worker."""

    def __init__(self, action: Callable[[], None], seconds: float) -> None:
        self._action = action
        self._seconds = seconds
        self._due = 0.0

    def attend(self) -> None:
        """Do it if it is due."""
        moment = time.monotonic()
        if moment < self._due:
            return
        try:
            self._action()
            self._due = moment + self._seconds
        except (OperationalError, StorageError) as error:
            reason = str(getattr(error, "orig", error))
            logger().error("duty_failed", message=reason, next_try_seconds=max(1.0, self._seconds))
            self._due = moment + max(1.0, self._seconds)


@contextmanager
def only_worker(database: str, stopping: Stopping) -> Iterator[bool]:
    """Hold the one worker's place of a SQLite database, waiting for it; yields ``False`` if asked to stop first.

    On PostgreSQL there is nothing to hold.
    """
    if not is_sqlite(database):
        yield True
        return
    path = sqlite_path(database)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.stem}.worker.lock").open("ab") as file:
        told = False
        while not stopping.event.is_set():
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not told:
                    told = True
                    logger().warning(
                        "waiting_for_worker", note="SQLite has one worker; more need server.database on PostgreSQL"
                    )
                stopping.event.wait(0.5)
                continue
            yield True
            return
        yield False
