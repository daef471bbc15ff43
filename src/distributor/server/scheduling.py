"""Scheduled runs of pipelines that have a source folder (``schedule``: five cron fields, UTC)."""

from __future__ import annotations

from datetime import UTC, datetime

from croniter import croniter
from croniter.croniter import CroniterBadCronError, CroniterBadDateError

from distributor.config.model import Config, Pipeline
from distributor.server.logs import logger
from distributor.server.settings import lane_of
from distributor.server.store import BY_SCHEDULE, QUEUED, RUNNING, Arrival, Store


class Scheduler:
    """Queues each due run once, however many workers look: the run's id is its pipeline and minute.

    What fell due while no worker lived is not made up for: the next run publishes what there is.
    """

    def __init__(self, store: Store, now: datetime) -> None:
        self._store = store
        self._seen = now

    def tick(self, config: Config, now: datetime) -> None:
        """Queue what fell due since the last tick."""
        since, self._seen = self._seen, now
        for pipeline in config.pipelines:
            if pipeline.schedule is None or pipeline.source.path is None:
                continue
            due = due_between(pipeline.schedule, since, now)
            if due is not None:
                self._queue(pipeline, due, now)

    def _queue(self, pipeline: Pipeline, due: datetime, now: datetime) -> None:
        waiting = self._store.recent([pipeline.id], 100, (QUEUED, RUNNING))
        if any(upload.origin == BY_SCHEDULE for upload in waiting):
            logger().warning("schedule_skipped", pipeline_id=pipeline.id, reason="the run before it is not finished")
            return
        run_id = f"schedule-{pipeline.id}-{due:%Y%m%dT%H%MZ}"
        self._store.accept(
            Arrival(
                run_id,
                BY_SCHEDULE,
                pipeline.id,
                tuple((d.id, lane_of(d)) for d in pipeline.destinations),
                source_id="",
                digest=run_id,
                created="",
                instant="",
                size=0,
                files=0,
                token="",
                warnings=(),
                spool_key=None,
            ),
            now.timestamp(),
        )


def due_between(schedule: str, since: datetime, now: datetime) -> datetime | None:
    """Return the latest time at or before ``now``, and after ``since``, that the schedule names.

    ``None`` too for a schedule that is none; the configuration's own check has said so.
    """
    try:
        latest = croniter(schedule, now.astimezone(UTC)).get_prev(datetime)
        exact = croniter.match(schedule, now.replace(second=0, microsecond=0))
    except (CroniterBadCronError, CroniterBadDateError) as error:
        logger().error("schedule_invalid", schedule=schedule, message=str(error))
        return None
    if exact:
        latest = now.replace(second=0, microsecond=0)
    found: datetime = latest
    return found if since < found <= now else None
