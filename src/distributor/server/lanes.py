"""Who publishes what next: jobs are claimed in batches, one batch to a lane at a time.

A lane is one destination root. Its jobs run in the order of their acceptance; a job
that waits for another try holds its lane, so that editions never overtake each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from distributor.server.database import JOBS, LANES, UPLOADS
from distributor.server.reports import is_good
from distributor.server.store import DONE, FAILED, QUEUED, RUNNING

BATCH_SIZE = 25
"""Jobs that one claim takes: enough that the engine's own cost per batch does not count."""


class Batch(NamedTuple):
    """Jobs of one lane that go together; ``id`` is the engine's workflow id."""

    id: str
    lane: str
    jobs: tuple[int, ...]


class Job(NamedTuple):
    """One publication: an upload (or a scheduled run, without ``spool_key``) to one destination."""

    id: int
    upload_id: str
    pipeline_id: str
    destination_id: str
    origin: str
    spool_key: str | None
    starts: int
    tries: int


class Lanes:
    """The jobs of one database. Methods may be called from several threads and processes."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def free(self, now: float, limit: int) -> list[str]:
        """Return lanes that have work due and no batch under way, those that wait longest first."""
        taken = sa.select(LANES.c.lane)
        heads = (
            sa.select(sa.func.min(JOBS.c.id).label("id"))
            .where(JOBS.c.state == QUEUED, JOBS.c.lane.not_in(taken))
            .group_by(JOBS.c.lane)
            .subquery()
        )
        wanted = (
            sa.select(JOBS.c.lane)
            .where(JOBS.c.id.in_(sa.select(heads.c.id)), JOBS.c.not_before <= now)
            .order_by(JOBS.c.id)
            .limit(limit)
        )
        with self._engine.begin() as db:
            return list(db.execute(wanted).scalars())

    def claim(self, lane: str, batch_id: str, now: float) -> Batch | None:
        """Take the lane for a new batch, or return ``None`` if somebody else was first."""
        due = (
            sa.select(JOBS.c.id, JOBS.c.not_before)
            .where(JOBS.c.lane == lane, JOBS.c.state == QUEUED)
            .order_by(JOBS.c.id)
            .limit(BATCH_SIZE)
        )
        try:
            with self._engine.begin() as db:
                db.execute(sa.insert(LANES).values(lane=lane, batch=batch_id))
                jobs: list[int] = []
                for row in db.execute(due):
                    if row.not_before > now:
                        break
                    jobs.append(row.id)
                db.execute(sa.update(JOBS).where(JOBS.c.id.in_(jobs)).values(batch=batch_id))
        except IntegrityError:
            return None
        return Batch(batch_id, lane, tuple(jobs))

    def start(self, job_id: int, batch_id: str, now: float) -> Job | None:
        """Mark a job as running, or return ``None`` if it is no longer this batch's to run."""
        mine = sa.and_(JOBS.c.id == job_id, JOBS.c.batch == batch_id, JOBS.c.state.in_((QUEUED, RUNNING)))
        begun = sa.update(JOBS).where(mine).values(state=RUNNING, starts=JOBS.c.starts + 1, started_at=now)
        joined = sa.select(JOBS, UPLOADS.c.origin, UPLOADS.c.spool_key).join_from(
            JOBS, UPLOADS, JOBS.c.upload_id == UPLOADS.c.id
        )
        with self._engine.begin() as db:
            if not db.execute(begun).rowcount:
                return None
            row = db.execute(joined.where(JOBS.c.id == job_id)).one()
            same = sa.and_(UPLOADS.c.id == row.upload_id, UPLOADS.c.state == QUEUED)
            db.execute(sa.update(UPLOADS).where(same).values(state=RUNNING))
        fields = (row.upload_id, row.pipeline_id, row.destination_id, row.origin, row.spool_key, row.starts, row.tries)
        return Job(row.id, *fields)

    def is_over(self, job_id: int) -> bool:
        """Whether a job needs no more of this batch; one that waits for another try does."""
        with self._engine.begin() as db:
            return db.execute(sa.select(JOBS.c.state).where(JOBS.c.id == job_id)).scalar() not in (QUEUED, RUNNING)

    def finish(self, job: Job, report: Mapping[str, Any], now: float) -> str | None:
        """Record a job's report; return the upload's state if this was its last job."""
        state = DONE if is_good(report) else FAILED
        values = {"state": state, "report": json.dumps(report), "finished_at": now, "batch": None}
        left = sa.select(JOBS.c.state, sa.func.count()).where(JOBS.c.upload_id == job.upload_id).group_by(JOBS.c.state)
        with self._engine.begin() as db:
            db.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(values))
            states = {row[0] for row in db.execute(left)}
            if states & {QUEUED, RUNNING}:
                return None
            final = FAILED if FAILED in states else DONE
            db.execute(sa.update(UPLOADS).where(UPLOADS.c.id == job.upload_id).values(state=final, finished_at=now))
        return final

    def postpone(self, job: Job, report: Mapping[str, Any] | None, not_before: float) -> None:
        """Put a job back into its lane; ``report`` says what failed, ``None`` that it was only interrupted."""
        values: dict[str, object] = {"state": QUEUED, "batch": None, "not_before": not_before}
        if report is None:
            values["starts"] = JOBS.c.starts - 1
        else:
            values |= {"tries": JOBS.c.tries + 1, "report": json.dumps(report), "starts": 0}
        with self._engine.begin() as db:
            db.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(values))

    def release(self, lane: str, batch_id: str) -> None:
        """Give the lane free, and with it what the batch did not get to."""
        mine = sa.and_(JOBS.c.batch == batch_id, JOBS.c.state.in_((QUEUED, RUNNING)))
        with self._engine.begin() as db:
            db.execute(sa.update(JOBS).where(mine).values(batch=None, state=QUEUED))
            db.execute(sa.delete(LANES).where(LANES.c.lane == lane, LANES.c.batch == batch_id))

    def taken(self) -> list[tuple[str, str]]:
        """Return every lane that has a batch under way, with the batch."""
        with self._engine.begin() as db:
            return [(row.lane, row.batch) for row in db.execute(sa.select(LANES))]

    def failures_in_a_row(self, owners: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Return how many publications of each destination failed since the last that did not (fault row 72)."""
        found = dict.fromkeys(owners, 0)
        for pipeline_id, destination_id in owners:
            own = sa.and_(JOBS.c.pipeline_id == pipeline_id, JOBS.c.destination_id == destination_id)
            last_good = sa.select(sa.func.coalesce(sa.func.max(JOBS.c.finished_at), 0.0)).where(
                own, JOBS.c.state == DONE
            )
            failed = sa.select(sa.func.count()).where(own, JOBS.c.state == FAILED)
            with self._engine.begin() as db:
                since = db.execute(last_good).scalar_one()
                count = db.execute(failed.where(JOBS.c.finished_at > since)).scalar_one()
            found[(pipeline_id, destination_id)] = count
        return found
