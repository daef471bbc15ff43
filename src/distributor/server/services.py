"""Everything the HTTP side works with, made once per process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from distributor.server.access import Gate
from distributor.server.checking import Checker
from distributor.server.cleaning import INCOMING
from distributor.server.configuration import LiveConfig
from distributor.server.database import open_database
from distributor.server.lanes import Lanes
from distributor.server.metrics import Metrics
from distributor.server.spool import Spool, open_spool
from distributor.server.statuses import StatusBoard
from distributor.server.store import Store
from distributor.server.tokens import Tokens
from distributor.server.workers import Heartbeats


class Services(NamedTuple):
    """The parts of one ``serve`` process. ``places`` bounds the uploads received at once."""

    live: LiveConfig
    engine: sa.Engine
    store: Store
    lanes: Lanes
    tokens: Tokens
    gate: Gate
    spool: Spool
    checker: Checker
    board: StatusBoard
    metrics: Metrics
    incoming: Path
    places: asyncio.Semaphore

    def close(self) -> None:
        """Release processes and connections."""
        self.checker.close()
        self.engine.dispose()


def open_services(live: LiveConfig) -> Services:
    """Open the database and the spool. Raises ``DistributorError`` where one can't be used."""
    settings = live.settings()
    engine = open_database(settings.database)
    spool = open_spool(settings)
    incoming = settings.work / INCOMING
    incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
    store, lanes, tokens = Store(engine), Lanes(engine), Tokens(engine)
    hearts = Heartbeats(engine, "", "", settings.takeover_after)
    return Services(
        live,
        engine,
        store,
        lanes,
        tokens,
        Gate(tokens, live),
        spool,
        Checker(),
        StatusBoard(live),
        Metrics(store, lanes, hearts, live.current),
        incoming,
        asyncio.Semaphore(settings.limits.concurrent_uploads),
    )
