"""The server's tables, on SQLite or PostgreSQL alike.

Instants are seconds since 1970 (UTC) as floats; documents are JSON text. An accepted
upload is one row of ``uploads`` and one of ``jobs`` for each destination, committed
together: that commit is the acceptance.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError, ProgrammingError

from distributor.errors import DistributorError

METADATA = sa.MetaData()

UPLOADS = sa.Table(
    "distributor_uploads",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("origin", sa.String(16), nullable=False),
    sa.Column("pipeline_id", sa.String(128), nullable=False),
    sa.Column("source_id", sa.String(200), nullable=False),
    sa.Column("digest", sa.String(128), nullable=False),
    sa.Column("created", sa.String(64), nullable=False),
    sa.Column("instant", sa.String(64), nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("files", sa.Integer, nullable=False),
    sa.Column("token", sa.String(128), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("received_at", sa.Float, nullable=False),
    sa.Column("finished_at", sa.Float),
    sa.Column("warnings", sa.Text, nullable=False),
    sa.Column("spool_key", sa.String(64)),
    sa.UniqueConstraint("pipeline_id", "source_id", "digest", "instant", name="distributor_uploads_same"),
    sa.Index("distributor_uploads_received", "received_at"),
    sa.Index("distributor_uploads_state", "state", "received_at"),
)

JOBS = sa.Table(
    "distributor_jobs",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("upload_id", sa.String(64), nullable=False),
    sa.Column("pipeline_id", sa.String(128), nullable=False),
    sa.Column("destination_id", sa.String(128), nullable=False),
    sa.Column("lane", sa.String(64), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("starts", sa.Integer, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("not_before", sa.Float, nullable=False),
    sa.Column("batch", sa.String(64)),
    sa.Column("started_at", sa.Float),
    sa.Column("finished_at", sa.Float),
    sa.Column("report", sa.Text),
    sa.Index("distributor_jobs_waiting", "state", "lane", "id"),
    sa.Index("distributor_jobs_upload", "upload_id"),
    sa.Index("distributor_jobs_destination", "pipeline_id", "destination_id", "finished_at"),
    sqlite_autoincrement=True,
)

LANES = sa.Table(
    "distributor_lanes",
    METADATA,
    sa.Column("lane", sa.String(64), primary_key=True),
    sa.Column("batch", sa.String(64), nullable=False),
)
"""Lanes with a batch of jobs under way: the row is what keeps a second batch away."""

WORKERS = sa.Table(
    "distributor_workers",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("host", sa.String(255), nullable=False),
    sa.Column("beats", sa.BigInteger, nullable=False),
    sa.Column("started_at", sa.Float, nullable=False),
    sa.Column("seen_at", sa.Float, nullable=False),
)

TOKENS = sa.Table(
    "distributor_tokens",
    METADATA,
    sa.Column("name", sa.String(128), primary_key=True),
    sa.Column("sha256", sa.String(64), nullable=False, unique=True),
    sa.Column("pipelines", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("revoked_at", sa.Float),
)

SESSIONS = sa.Table(
    "distributor_sessions",
    METADATA,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("token_sha256", sa.String(64), nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)

AUDIT = sa.Table(
    "distributor_audit",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("token", sa.String(128), nullable=False),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("pipeline_id", sa.String(128)),
    sa.Column("upload_id", sa.String(64)),
    sa.Column("outcome", sa.String(255), nullable=False),
    sa.Index("distributor_audit_at", "at"),
)


def is_sqlite(url: str) -> bool:
    """Whether a database URL names SQLite."""
    return url.startswith("sqlite:")


def sqlite_path(url: str) -> Path:
    """Return the file of a ``sqlite:///`` URL."""
    return Path(url.removeprefix("sqlite:///"))


def open_database(url: str, *, durable: bool = True) -> sa.Engine:
    """Connect, and create the tables where they are missing.

    ``durable`` makes every commit survive power loss; a worker does without on SQLite,
    since what it loses it does again. Raises ``DistributorError`` where the database
    can't be used.
    """
    if is_sqlite(url):
        sqlite_path(url).parent.mkdir(parents=True, exist_ok=True)
    try:
        engine = sa.create_engine(_driver(url), pool_size=8, max_overflow=8, pool_pre_ping=not is_sqlite(url))
        if is_sqlite(url):
            sa.event.listen(engine, "connect", _sqlite_setup(durable=durable))
        _create(engine)
    except (sa.exc.SQLAlchemyError, ModuleNotFoundError) as error:
        raise DistributorError(f"server.database: {_reason(error)}", hint="check the URL and that it is up") from None
    return engine


def _create(engine: sa.Engine) -> None:
    try:
        METADATA.create_all(engine)
    except (OperationalError, ProgrammingError, sa.exc.IntegrityError):
        METADATA.create_all(engine)  # another process created them at the same moment


def _driver(url: str) -> str:
    for scheme in ("postgresql://", "postgres://"):
        if url.startswith(scheme):
            return "postgresql+psycopg://" + url[len(scheme) :]
    return url


def _reason(error: Exception) -> str:
    """Say what failed without the statement, its values or the password."""
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split("\n")[0].split())[:200]


def _sqlite_setup(*, durable: bool) -> Any:
    def setup(connection: Any, _record: object) -> None:
        # Transactions begin with the write lock, so that none fails half-way for lack of it.
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("journal_mode=WAL", f"synchronous={'FULL' if durable else 'NORMAL'}", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {pragma}")

    return setup
