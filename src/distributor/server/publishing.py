"""One job: fetch the bundle, publish it to one destination, record what came of it.

Runs in the worker's threads. A job may run twice after a crash; the publication is a
skip then, so it happens once in effect.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import structlog

from distributor.app import clock
from distributor.app.context import Context, Silent
from distributor.app.publish import run
from distributor.app.requests import RunRequest, Selection
from distributor.bundle.archive import NotAnArchive, Rules, unpack_archive
from distributor.errors import ConfigError, DistributorError, Interrupted, StorageError, UsageError
from distributor.server.configuration import LiveConfig
from distributor.server.lanes import Job, Lanes
from distributor.server.logs import logger
from distributor.server.reports import failure_report, is_good, is_transient
from distributor.server.spool import Spool

MAX_STARTS = 4
"""A job whose worker died this often while publishing it is at fault itself."""

BACK_OFF_SECONDS = 2.0
MAX_BACK_OFF_SECONDS = 300.0

Report = dict[str, Any]


class Publisher:
    """Runs jobs; ``check`` raises ``Interrupted`` once the worker has to stop."""

    def __init__(self, live: LiveConfig, lanes: Lanes, spool: Spool, work: Path, check: Callable[[], None]) -> None:
        self._live = live
        self._lanes = lanes
        self._spool = spool
        self._work = work
        self._check = check

    def step(self, batch_id: str, job_id: int) -> bool:
        """Run one job of a batch. ``False``: the batch ends here, its other jobs go back to the lane."""
        job = self._lanes.start(job_id, batch_id, clock.now().timestamp())
        if job is None:
            return self._lanes.is_over(job_id)
        bound = {"upload_id": job.upload_id, "pipeline_id": job.pipeline_id, "destination_id": job.destination_id}
        with structlog.contextvars.bound_contextvars(run_id=batch_id, **bound):
            return self._carry_out(job)

    def _carry_out(self, job: Job) -> bool:
        try:
            report, again = self._report(job)
        except Interrupted:
            self._lanes.postpone(job, None, 0.0)
            logger().info("publication_interrupted")
            return False
        now = clock.now().timestamp()
        if again and job.tries < self._live.settings().retries:
            delay = min(BACK_OFF_SECONDS * 2**job.tries, MAX_BACK_OFF_SECONDS)
            self._lanes.postpone(job, report, now + delay)
            logger().warning("publication_postponed", seconds=delay, attempt=job.tries + 1, message=_message(report))
            return False
        state = self._lanes.finish(job, report, now)
        event = "publication_done" if is_good(report) else "publication_failed"
        log = logger().info if is_good(report) else logger().error
        log(event, message=_message(report), upload_state=state)
        return True

    def _report(self, job: Job) -> tuple[Report, bool]:
        """Return the job's report and whether another try may help. Raises ``Interrupted``."""
        at = clock.now().isoformat().replace("+00:00", "Z")
        if job.starts > MAX_STARTS:
            message = f"the worker died {MAX_STARTS} times while it published this; it is not tried again"
            return failure_report("internal", message, at), False
        try:
            self._check()
            report = self._publish(job)
        except Interrupted:
            raise
        except (UsageError, ConfigError) as error:
            return failure_report("config", str(error), at), False
        except StorageError as error:
            return failure_report("internal", str(error), at), error.retryable
        except DistributorError as error:
            return failure_report("internal", str(error), at), False
        except OSError as error:
            return failure_report("internal", f"server.work: {error.strerror or error}", at), True
        except Exception as error:  # noqa: BLE001 - nothing is hidden: it is logged, and the upload fails with it
            logger().error("unexpected_error", traceback=traceback.format_exc())
            message = f"an unexpected {type(error).__name__}: this is a fault of distributor itself"
            return failure_report("internal", message, at), False
        return report, is_transient(report)

    def _publish(self, job: Job) -> Report:
        selection = Selection((job.pipeline_id,), (job.destination_id,))
        context = Context(clock.now, self._check, Silent())
        config = self._live.current()
        if job.spool_key is None:
            return run(config, RunRequest(selection=selection), context)
        with self._unpacked(job.spool_key) as folder:
            return run(config, RunRequest(selection=selection, bundle=str(folder)), context)

    @contextmanager
    def _unpacked(self, spool_key: str) -> Iterator[Path]:
        folder = self._work / f"bundle-{uuid4().hex}"
        folder.mkdir(parents=True, mode=0o700)
        try:
            with self._spool.open(spool_key) as archive:
                unpack_archive(archive, folder, Rules(self._live.settings().limits.caps, "ignore"))
            yield folder
        except NotAnArchive as fault:
            raise DistributorError(f"server.spool: {fault}") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _message(report: Report) -> str:
    if report["error"]:
        return str(report["error"]["message"])
    return "; ".join(str(result.get("message")) for result in report["results"])
