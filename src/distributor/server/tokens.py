"""Tokens: created once, kept as SHA-256, compared in constant time, scoped to pipelines."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from distributor.errors import UsageError
from distributor.server.database import SESSIONS, TOKENS
from distributor.server.settings import ConfiguredToken

PREFIX = "dst_"
"""What every token begins with, so that a secret scanner can find one that leaked."""

ALL = "*"
SESSION_SECONDS = 12 * 3600


class Access(NamedTuple):
    """What a request may do: the token's name and the pipelines it may use (``*``: all)."""

    name: str
    pipelines: tuple[str, ...]
    sha256: str

    def allows(self, pipeline_id: str) -> bool:
        """Whether the token may see and use a pipeline."""
        return ALL in self.pipelines or pipeline_id in self.pipelines


class StoredToken(NamedTuple):
    """A token as the database keeps it; instants are seconds since 1970."""

    name: str
    pipelines: tuple[str, ...]
    created_at: float
    revoked_at: float | None


def sha256_hex(secret: str) -> str:
    """Return the SHA-256 of a token as 64 hex digits."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Tokens:
    """The tokens and dashboard sessions of one database, beside those of the configuration."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def create(self, name: str, pipelines: Sequence[str], now: datetime) -> str:
        """Make a token and return it; it can't be shown again. Raises ``UsageError`` for a name in use."""
        secret = PREFIX + secrets.token_urlsafe(32)
        row = {
            "name": name,
            "sha256": sha256_hex(secret),
            "pipelines": json.dumps(sorted(pipelines)),
            "created_at": now.timestamp(),
            "revoked_at": None,
        }
        with self._engine.begin() as db:
            # A revoked name may be given again: rotation keeps the name in the audit log.
            db.execute(sa.delete(TOKENS).where(TOKENS.c.name == name, TOKENS.c.revoked_at.is_not(None)))
            if db.execute(sa.select(TOKENS.c.name).where(TOKENS.c.name == name)).first():
                raise UsageError(f"there is a token {name!r} already", hint="revoke it first, or choose another name")
            db.execute(sa.insert(TOKENS).values(row))
        return secret

    def stored(self) -> list[StoredToken]:
        """Return every token of the database by name, revoked ones too."""
        with self._engine.begin() as db:
            rows = db.execute(sa.select(TOKENS).order_by(TOKENS.c.name)).all()
        return [StoredToken(r.name, tuple(json.loads(r.pipelines)), r.created_at, r.revoked_at) for r in rows]

    def revoke(self, name: str, now: datetime) -> None:
        """Make a token useless from now on. Raises ``UsageError`` if there is none of that name in use."""
        change = sa.update(TOKENS).where(TOKENS.c.name == name, TOKENS.c.revoked_at.is_(None))
        with self._engine.begin() as db:
            if not db.execute(change.values(revoked_at=now.timestamp())).rowcount:
                raise UsageError(
                    f"no token {name!r} is in use here",
                    hint="`distributor token list` shows them; one of the configuration is removed there",
                )

    def check(self, secret: str, configured: Sequence[ConfiguredToken]) -> Access | None:
        """Return what a token may do, or ``None`` for one that is unknown or revoked."""
        return self._by_digest(sha256_hex(secret), configured)

    def open_session(self, access: Access, now: datetime) -> str:
        """Start a dashboard session and return its secret."""
        secret = secrets.token_urlsafe(32)
        expires = now.timestamp() + SESSION_SECONDS
        row = {"sha256": sha256_hex(secret), "token_sha256": access.sha256, "expires_at": expires}
        with self._engine.begin() as db:
            db.execute(sa.insert(SESSIONS).values(row))
        return secret

    def session(self, secret: str, configured: Sequence[ConfiguredToken], now: datetime) -> Access | None:
        """Return what a session may do: it ends with its time, and with its token."""
        wanted = sa.select(SESSIONS.c.token_sha256).where(
            SESSIONS.c.sha256 == sha256_hex(secret), SESSIONS.c.expires_at > now.timestamp()
        )
        with self._engine.begin() as db:
            token = db.execute(wanted).scalar()
        return None if token is None else self._by_digest(token, configured)

    def close_session(self, secret: str) -> None:
        """End a dashboard session."""
        with self._engine.begin() as db:
            db.execute(sa.delete(SESSIONS).where(SESSIONS.c.sha256 == sha256_hex(secret)))

    def _by_digest(self, digest: str, configured: Sequence[ConfiguredToken]) -> Access | None:
        with self._engine.begin() as db:
            in_use = sa.select(TOKENS.c.name, TOKENS.c.sha256, TOKENS.c.pipelines).where(TOKENS.c.revoked_at.is_(None))
            rows = db.execute(in_use).all()
        known = [Access(r.name, tuple(json.loads(r.pipelines)), r.sha256) for r in rows]
        known += [Access(t.name, t.pipelines, t.sha256) for t in configured]
        found = None
        for access in known:  # every one is compared: the time it takes tells nothing
            if hmac.compare_digest(access.sha256, digest):
                found = access
        return found
