"""Throwing away what was kept long enough: archives, finished uploads, the audit log, leftovers."""

from __future__ import annotations

import shutil
from pathlib import Path

import sqlalchemy as sa

from distributor.server.database import AUDIT, JOBS, SESSIONS, UPLOADS, WORKERS
from distributor.server.logs import logger
from distributor.server.settings import Keep
from distributor.server.spool import Spool
from distributor.server.store import DONE, FAILED

INCOMING = "incoming"
STALE_SECONDS = 3600
"""Leftovers older than this belong to a process that died: a living one writes or finishes in minutes."""


class Cleaner:
    """Cleans one database, its spool and this machine's work folder."""

    def __init__(self, engine: sa.Engine, spool: Spool, work: Path) -> None:
        self._engine = engine
        self._spool = spool
        self._work = work
        self._orphans: set[str] = set()

    def clean(self, keep: Keep, now: float) -> None:
        """Do all of it once. Raises ``StorageError`` where the spool fails."""
        self._drop_archives(now - keep.spool)
        self._drop_orphans()
        self._forget(now - keep.uploads, now - keep.log, now)
        self._sweep_work(now)

    def _drop_archives(self, before: float) -> None:
        over = sa.and_(UPLOADS.c.state.in_((DONE, FAILED)), UPLOADS.c.finished_at < before)
        with self._engine.begin() as db:
            rows = db.execute(
                sa.select(UPLOADS.c.id, UPLOADS.c.spool_key).where(over, UPLOADS.c.spool_key.is_not(None)).limit(1000)
            ).all()
        for row in rows:
            same = sa.and_(UPLOADS.c.id == row.id, UPLOADS.c.spool_key == row.spool_key, over)
            with self._engine.begin() as db:
                if not db.execute(sa.update(UPLOADS).where(same).values(spool_key=None)).rowcount:
                    continue  # queued again meanwhile: it needs its archive
            self._spool.drop(row.spool_key)
            logger().info("archive_dropped", upload_id=row.id)

    def _drop_orphans(self) -> None:
        """Drop archives that no upload names twice in a row: between, one was just being accepted."""
        stored = set(self._spool.keys())
        with self._engine.begin() as db:
            named = set(db.execute(sa.select(UPLOADS.c.spool_key).where(UPLOADS.c.spool_key.is_not(None))).scalars())
        orphans = stored - named
        for key in orphans & self._orphans:
            self._spool.drop(key)
            logger().info("orphan_dropped", spool_key=key)
        self._orphans = orphans

    def _forget(self, uploads_before: float, log_before: float, now: float) -> None:
        over = sa.and_(UPLOADS.c.state.in_((DONE, FAILED)), UPLOADS.c.finished_at < uploads_before)
        gone = sa.and_(over, UPLOADS.c.spool_key.is_(None))
        with self._engine.begin() as db:
            db.execute(sa.delete(JOBS).where(JOBS.c.upload_id.in_(sa.select(UPLOADS.c.id).where(gone))))
            db.execute(sa.delete(UPLOADS).where(gone))
            db.execute(sa.delete(AUDIT).where(AUDIT.c.at < log_before))
            db.execute(sa.delete(SESSIONS).where(SESSIONS.c.expires_at < now))

    def _sweep_work(self, now: float) -> None:
        with self._engine.begin() as db:
            living = set(db.execute(sa.select(WORKERS.c.id)).scalars())
        for entry in self._work.iterdir():
            if (
                entry.is_dir()
                and entry.name not in living
                and entry.name != INCOMING
                and _age(entry, now) > STALE_SECONDS
            ):
                shutil.rmtree(entry, ignore_errors=True)
        incoming = self._work / INCOMING
        for entry in incoming.iterdir() if incoming.is_dir() else ():
            if _age(entry, now) > STALE_SECONDS:
                entry.unlink(missing_ok=True)


def _age(path: Path, now: float) -> float:
    try:
        return now - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
