"""Which workers live: each counts its beats, and every other watches the counters.

A worker is dead when its counter stood still for ``takeover_after`` by the watcher's
own monotonic clock, so that wrong clocks on other machines decide nothing.
"""

from __future__ import annotations

import time

import sqlalchemy as sa

from distributor.server.database import WORKERS


class Heartbeats:
    """One worker's own beats, and its watch over the others."""

    def __init__(self, engine: sa.Engine, worker_id: str, host: str, takeover_after: float) -> None:
        self._engine = engine
        self._id = worker_id
        self._host = host
        self._patience = takeover_after
        self._watched: dict[str, tuple[int, float]] = {}

    def beat(self, now: float) -> None:
        """Say that this worker lives; one that was declared dead meanwhile comes back."""
        mine = sa.update(WORKERS).where(WORKERS.c.id == self._id)
        row = {"id": self._id, "host": self._host, "beats": 1, "started_at": now, "seen_at": now}
        with self._engine.begin() as db:
            if not db.execute(mine.values(beats=WORKERS.c.beats + 1, seen_at=now)).rowcount:
                db.execute(sa.insert(WORKERS).values(row))

    def silent(self, suspects: set[str]) -> set[str]:
        """Return which of ``suspects``, and of all that ever beat, were silent for too long.

        A suspect that never beat (it holds jobs, but has no row) is watched from when it is first seen.
        """
        with self._engine.begin() as db:
            beats = {row.id: row.beats for row in db.execute(sa.select(WORKERS.c.id, WORKERS.c.beats))}
        moment = time.monotonic()
        seen = {worker: beats.get(worker, -1) for worker in (set(beats) | suspects) - {self._id}}
        self._watched = {
            worker: self._watched[worker] if self._watched.get(worker, (None,))[0] == count else (count, moment)
            for worker, count in seen.items()
        }
        return {worker for worker, (_, since) in self._watched.items() if moment - since > self._patience}

    def bury(self, worker_id: str) -> None:
        """Forget a dead worker, or this one at its end."""
        with self._engine.begin() as db:
            db.execute(sa.delete(WORKERS).where(WORKERS.c.id == worker_id))

    def alive(self) -> int:
        """Return how many workers have a row."""
        with self._engine.begin() as db:
            return db.execute(sa.select(sa.func.count()).select_from(WORKERS)).scalar_one()
