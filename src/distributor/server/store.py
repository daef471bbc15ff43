"""Uploads and their jobs as the database has them: accepting, reading, finishing, cleaning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from distributor.core.manifest import Manifest
from distributor.server.database import AUDIT, JOBS, UPLOADS
from distributor.server.reports import combined

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
BY_UPLOAD, BY_SCHEDULE = "upload", "schedule"


class Arrival(NamedTuple):
    """A checked bundle that asks to be accepted; ``destinations`` are ``(id, lane)`` pairs."""

    upload_id: str
    origin: str
    pipeline_id: str
    destinations: tuple[tuple[str, str], ...]
    source_id: str
    digest: str
    created: str
    instant: str
    size: int
    files: int
    token: str
    warnings: tuple[Mapping[str, object], ...]
    spool_key: str | None


class Verdict(str, Enum):
    """What became of an arrival: a new upload, a known one, or a failed one that is queued again."""

    NEW = "new"
    KNOWN = "known"
    AGAIN = "again"


class Upload(NamedTuple):
    """One upload; instants are seconds since 1970, ``report`` the run report so far."""

    upload_id: str
    origin: str
    pipeline_id: str
    source_id: str
    created: str
    size: int
    files: int
    token: str
    state: str
    attempt: int
    received_at: float
    finished_at: float | None
    warnings: tuple[Mapping[str, Any], ...]
    spooled: bool
    report: dict[str, object] | None


def arrival_of(
    upload_id: str, pipeline_id: str, destinations: tuple[tuple[str, str], ...], manifest: Manifest, **rest: Any
) -> Arrival:
    """Return the arrival of an uploaded bundle with that manifest."""
    seconds, fraction = manifest.created.instant
    return Arrival(
        upload_id,
        BY_UPLOAD,
        pipeline_id,
        destinations,
        source_id=manifest.id,
        digest=manifest.digest,
        created=manifest.created.text,
        instant=f"{seconds}.{fraction}",
        files=len(manifest.files),
        **rest,
    )


class Store:
    """The uploads of one database. Methods may be called from several threads."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def accept(self, arrival: Arrival, now: float) -> tuple[Verdict, str, str | None]:
        """Accept an arrival, durably, and return the verdict, the upload's id and a spool key to drop.

        The same pipeline, id, digest and created instant (B4) is the same upload, whoever
        is first: one that failed is queued again with the new archive, any other stays
        as it is. Of parallel twins one is new and the rest are known.
        """
        try:
            with self._engine.begin() as db:
                db.execute(sa.insert(UPLOADS).values(_upload_row(arrival, now)))
                db.execute(sa.insert(JOBS), _job_rows(arrival, arrival.upload_id))
        except IntegrityError:
            return self._accept_known(arrival)
        return Verdict.NEW, arrival.upload_id, None

    def _accept_known(self, arrival: Arrival) -> tuple[Verdict, str, str | None]:
        same = sa.and_(
            UPLOADS.c.pipeline_id == arrival.pipeline_id,
            UPLOADS.c.source_id == arrival.source_id,
            UPLOADS.c.digest == arrival.digest,
            UPLOADS.c.instant == arrival.instant,
        )
        with self._engine.begin() as db:
            row = db.execute(sa.select(UPLOADS.c.id, UPLOADS.c.spool_key).where(same)).one()
            if not _requeue(db, row.id, arrival.spool_key):
                return Verdict.KNOWN, row.id, arrival.spool_key
            db.execute(sa.insert(JOBS), _job_rows(arrival, row.id))
        return Verdict.AGAIN, row.id, row.spool_key

    def retry(self, upload_id: str, destinations: Sequence[tuple[str, str]]) -> bool:
        """Queue a failed upload again with the archive it has; ``False`` if it can't be."""
        with self._engine.begin() as db:
            row = db.execute(sa.select(UPLOADS).where(UPLOADS.c.id == upload_id)).one_or_none()
            if row is None or (row.origin == BY_UPLOAD and row.spool_key is None):
                return False
            if not _requeue(db, upload_id, row.spool_key):
                return False
            db.execute(sa.insert(JOBS), [_job(upload_id, row.pipeline_id, *pair) for pair in destinations])
        return True

    def upload(self, upload_id: str) -> Upload | None:
        """Return one upload with its report, or ``None``."""
        with self._engine.begin() as db:
            row = db.execute(sa.select(UPLOADS).where(UPLOADS.c.id == upload_id)).one_or_none()
            if row is None:
                return None
            jobs = db.execute(sa.select(JOBS.c.report).where(JOBS.c.upload_id == upload_id).order_by(JOBS.c.id)).all()
        reports = [json.loads(job.report) for job in jobs if job.report is not None]
        return _upload(row, combined(reports) if reports else None)

    def state(self, upload_id: str) -> str | None:
        """Return just an upload's state."""
        with self._engine.begin() as db:
            return db.execute(sa.select(UPLOADS.c.state).where(UPLOADS.c.id == upload_id)).scalar()

    def recent(self, pipelines: Sequence[str], limit: int, states: Sequence[str] = ()) -> list[Upload]:
        """Return the latest uploads of some pipelines without their reports, the newest first."""
        wanted = sa.select(UPLOADS).where(UPLOADS.c.pipeline_id.in_(pipelines))
        if states:
            wanted = wanted.where(UPLOADS.c.state.in_(states))
        with self._engine.begin() as db:
            rows = db.execute(wanted.order_by(UPLOADS.c.received_at.desc()).limit(limit)).all()
        return [_upload(row, None) for row in rows]

    def publications(self, pipeline_id: str, destination_id: str, limit: int) -> list[Mapping[str, Any]]:
        """Return the latest finished results of one destination, each with ``upload_id`` and ``finished_at``."""
        wanted = (
            sa.select(JOBS.c.upload_id, JOBS.c.finished_at, JOBS.c.report)
            .where(JOBS.c.pipeline_id == pipeline_id, JOBS.c.destination_id == destination_id)
            .where(JOBS.c.finished_at.is_not(None), JOBS.c.report.is_not(None))
            .order_by(JOBS.c.finished_at.desc())
            .limit(limit)
        )
        with self._engine.begin() as db:
            rows = db.execute(wanted).all()
        found: list[Mapping[str, Any]] = []
        for row in rows:
            results = json.loads(row.report).get("results") or [{}]
            found.append({**results[0], "upload_id": row.upload_id, "finished_at": row.finished_at})
        return found

    def counts(self) -> dict[str, int]:
        """Return how many uploads are in each state."""
        with self._engine.begin() as db:
            rows = db.execute(sa.select(UPLOADS.c.state, sa.func.count()).group_by(UPLOADS.c.state)).all()
        return {QUEUED: 0, RUNNING: 0, DONE: 0, FAILED: 0} | {row[0]: row[1] for row in rows}

    def waiting(self) -> int:
        """Return how many uploads are not finished."""
        unfinished = sa.select(sa.func.count()).where(UPLOADS.c.state.in_((QUEUED, RUNNING)))
        with self._engine.begin() as db:
            return db.execute(unfinished).scalar_one()

    def audit(self, now: float, **entry: str | None) -> None:
        """Append one line to the audit log."""
        with self._engine.begin() as db:
            db.execute(sa.insert(AUDIT).values(at=now, **entry))

    def audit_log(self, limit: int) -> list[Mapping[str, Any]]:
        """Return the latest lines of the audit log, the newest first."""
        with self._engine.begin() as db:
            rows = db.execute(sa.select(AUDIT).order_by(AUDIT.c.id.desc()).limit(limit)).mappings().all()
        return [dict(row) for row in rows]


def _requeue(db: sa.Connection, upload_id: str, spool_key: str | None) -> bool:
    change = (
        sa.update(UPLOADS)
        .where(UPLOADS.c.id == upload_id, UPLOADS.c.state == FAILED)
        .values(state=QUEUED, attempt=UPLOADS.c.attempt + 1, finished_at=None, spool_key=spool_key)
    )
    if not db.execute(change).rowcount:
        return False
    db.execute(sa.delete(JOBS).where(JOBS.c.upload_id == upload_id))
    return True


def _upload_row(arrival: Arrival, now: float) -> dict[str, object]:
    return {
        "id": arrival.upload_id,
        "origin": arrival.origin,
        "pipeline_id": arrival.pipeline_id,
        "source_id": arrival.source_id,
        "digest": arrival.digest,
        "created": arrival.created,
        "instant": arrival.instant,
        "size": arrival.size,
        "files": arrival.files,
        "token": arrival.token,
        "state": QUEUED,
        "attempt": 1,
        "received_at": now,
        "finished_at": None,
        "warnings": json.dumps(arrival.warnings),
        "spool_key": arrival.spool_key,
    }


def _job_rows(arrival: Arrival, upload_id: str) -> list[dict[str, object]]:
    return [_job(upload_id, arrival.pipeline_id, *pair) for pair in arrival.destinations]


def _job(upload_id: str, pipeline_id: str, destination_id: str, lane: str) -> dict[str, object]:
    return {
        "upload_id": upload_id,
        "pipeline_id": pipeline_id,
        "destination_id": destination_id,
        "lane": lane,
        "state": QUEUED,
        "starts": 0,
        "tries": 0,
        "not_before": 0.0,
    }


def _upload(row: Any, report: dict[str, object] | None) -> Upload:
    return Upload(
        row.id,
        row.origin,
        row.pipeline_id,
        row.source_id,
        row.created,
        row.size,
        row.files,
        row.token,
        row.state,
        row.attempt,
        row.received_at,
        row.finished_at,
        tuple(json.loads(row.warnings)),
        row.spool_key is not None,
        report,
    )
