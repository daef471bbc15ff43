"""The durable-execution engine behind the lanes, and nothing else knows of it.

A batch of jobs is one workflow of ``dbos``, each job one step: what a killed worker
left is resumed where it stood, on SQLite by the next worker process, on PostgreSQL by
any living one. Steps may run twice; a publication that was made is a skip the second
time. The engine does not take over a dead worker's workflows by itself, so
:meth:`Engine.take_over` does, by queue name, which keeps the queue's limits.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from dbos import DBOS, DBOSConfig, SetWorkflowID

from distributor.server.database import is_sqlite, sqlite_path
from distributor.server.lanes import Batch

QUEUE = "distributor_publications"
VERSION = "1"
"""The workflow's shape: raised when a new release can't resume an old one's batches."""

_POLL_SECONDS = 0.1
_ENDED = frozenset(("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"))

Step = Callable[[str, int], bool]
"""Run a job of a batch; ``False`` ends the batch."""


class Engine:
    """The engine of this process; there can be one."""

    def __init__(
        self, database: str, worker_id: str, concurrency: int, step: Step, release: Callable[..., None]
    ) -> None:
        self._concurrency = concurrency
        config = DBOSConfig(
            name="distributor",
            system_database_url=_engine_url(database),
            application_version=VERSION,
            executor_id=worker_id,
            log_level="WARNING",
            notification_listener_polling_interval_sec=1.0,
            scheduler_polling_interval_sec=3600.0,
        )
        DBOS(config=config)
        _to_our_log()

        @DBOS.step(name="publish")
        def run_job(batch: str, job: int) -> bool:
            return step(batch, job)

        @DBOS.step(name="release")
        def let_go(lane: str, batch: str) -> None:
            release(lane, batch)

        @DBOS.workflow(name="publish_batch")
        def publish_batch(lane: str, batch: str, jobs: list[int]) -> None:
            for job in jobs:
                if not run_job(batch, job):
                    break
            let_go(lane, batch)

        self._workflow: Callable[[str, str, list[int]], None] = publish_batch

    def start(self) -> None:
        """Begin to run what is queued, and first of all what this worker id left unfinished."""
        DBOS.launch()
        DBOS.register_queue(
            QUEUE,
            worker_concurrency=self._concurrency,
            polling_interval_sec=_POLL_SECONDS,
            on_conflict="always_update",
        )

    def enqueue(self, batch: Batch) -> None:
        """Queue a claimed batch; queued twice, it runs once."""
        with SetWorkflowID(batch.id):
            DBOS.enqueue_workflow(QUEUE, self._workflow, batch.lane, batch.id, list(batch.jobs))

    def has_ended(self, batch_id: str) -> bool | None:
        """Whether a batch is over for the engine; ``None`` if it never heard of it."""
        status = DBOS.get_workflow_status(batch_id)
        return None if status is None else status.status in _ENDED

    def holders(self) -> set[str]:
        """Return the ids of the workers that have workflows under way."""
        return {str(status.executor_id) for status in self._pending()}

    def take_over(self, worker_id: str) -> int:
        """Queue again what a dead worker had under way; return how many batches."""
        left = [status.workflow_id for status in self._pending(worker_id)]
        if left:
            DBOS.resume_workflows(left, queue_name=QUEUE)
        return len(left)

    def forget_before(self, instant: str) -> None:
        """Delete what the engine remembers of batches that ended before an RFC 3339 instant."""
        old = DBOS.list_workflows(
            status=["SUCCESS", "ERROR", "CANCELLED"], end_time=instant, limit=1000, load_input=False, load_output=False
        )
        if old:
            DBOS.delete_workflows([status.workflow_id for status in old])

    def stop(self, patience: float) -> None:
        """Take nothing new, wait up to ``patience`` seconds for what runs, and end."""
        DBOS.destroy(workflow_completion_timeout_sec=max(1, int(patience)))

    def _pending(self, worker_id: str | None = None) -> Iterable[Any]:
        return DBOS.list_workflows(
            status="PENDING", executor_id=worker_id, queue_name=QUEUE, load_input=False, load_output=False
        )


def _engine_url(database: str) -> str:
    """Return where the engine keeps its tables: the same PostgreSQL database, or a second SQLite file."""
    if not is_sqlite(database):
        return database
    path = sqlite_path(database)
    file = path.with_name(f"{path.stem}.queue{path.suffix}")
    # The engine leaves SQLite's journal mode alone; a write-ahead log keeps its many small commits cheap.
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    return f"sqlite:///{file}"


def _to_our_log() -> None:
    engine_log = logging.getLogger("dbos")
    for handler in list(engine_log.handlers):
        engine_log.removeHandler(handler)
    engine_log.propagate = True
