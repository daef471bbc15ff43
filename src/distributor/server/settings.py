"""What the server and its workers are told by the ``server`` key of the configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from distributor.bundle.archive import Caps
from distributor.config.model import Config, Destination
from distributor.errors import UsageError

DEFAULT_SPOOL = "distributor-spool"
"""The spool where none is configured: a folder beside the configuration file."""


class Limits(NamedTuple):
    """``server.limits``: bytes, counts, and ``idle_timeout`` in seconds."""

    caps: Caps
    max_bytes: int
    idle_timeout: float
    uploads_per_minute: int
    concurrent_uploads: int
    queued_uploads: int


class Keep(NamedTuple):
    """``server.retention``: seconds that finished uploads, their bundles and the audit log are kept."""

    uploads: int
    spool: int
    log: int


class ConfiguredToken(NamedTuple):
    """A token of the configuration file: its name, 64 hex digits, and the pipelines it may use."""

    name: str
    sha256: str
    pipelines: tuple[str, ...]


class Settings(NamedTuple):
    """Everything of ``server``.

    ``spool`` is an absolute folder or a URL with its ``storage`` settings; ``work`` a
    local folder for uploads on their way and bundles being published. ``heartbeat``
    and ``takeover_after`` are seconds, ``concurrency`` is publications at once.
    """

    host: str
    port: int
    spool: str
    storage: Mapping[str, object]
    work: Path
    database: str
    tokens: tuple[ConfiguredToken, ...]
    limits: Limits
    keep: Keep
    concurrency: int
    retries: int
    heartbeat: float
    takeover_after: float
    trusted_proxies: tuple[str, ...]


def settings_of(config: Config) -> Settings:
    """Return the server's settings.

    Raises ``UsageError`` where the configuration has no ``server`` key, or a spool that
    is no folder without a database beside it.
    """
    values: Mapping[str, Any] | None = config.server
    if values is None:
        raise UsageError(f"{config.path}: has no `server` key", hint="see `distributor schema config` for its keys")
    spool = str(values.get("spool") or Path(config.path).parent / DEFAULT_SPOOL)
    is_folder = "://" not in spool
    if not is_folder and "database" not in values:
        raise UsageError(
            f"server.database is not set, and the spool {spool} is no folder that could hold one",
            hint="set server.database to a postgresql:// or sqlite:/// URL",
        )
    work = Path(str(values.get("work") or (Path(spool) / "work" if is_folder else _default_work(spool))))
    return Settings(
        host=values["host"],
        port=values["port"],
        spool=spool,
        storage=values["storage"],
        work=work,
        database=str(values.get("database") or f"sqlite:///{spool}/distributor.sqlite"),
        tokens=tuple(_token(token) for token in values["tokens"]),
        limits=_limits(values["limits"]),
        keep=Keep(**values["retention"]),
        concurrency=values["concurrency"],
        retries=values["retries"],
        heartbeat=float(values["heartbeat"]),
        takeover_after=float(values["takeover_after"]),
        trusted_proxies=tuple(values["trusted_proxies"]),
    )


def lane_of(destination: Destination) -> str:
    """Return the key under which publications to one root wait for each other.

    Two destinations with one root share a lane, whatever their ids; it names no secret.
    """
    return hashlib.sha256(destination.url.rstrip("/").encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _default_work(spool: str) -> Path:
    from tempfile import gettempdir

    return Path(gettempdir()) / f"distributor-{hashlib.sha256(spool.encode()).hexdigest()[:12]}"


def _token(values: Mapping[str, Any]) -> ConfiguredToken:
    return ConfiguredToken(values["name"], str(values["sha256"]).removeprefix("sha256:"), tuple(values["pipelines"]))


def _limits(values: Mapping[str, Any]) -> Limits:
    caps = Caps(
        max_files=values["max_files"],
        max_unpacked_bytes=values["max_unpacked_bytes"],
        max_file_bytes=values["max_file_bytes"],
        max_ratio=values["max_ratio"],
    )
    return Limits(
        caps,
        values["max_bytes"],
        float(values["idle_timeout"]),
        values["uploads_per_minute"],
        values["concurrent_uploads"],
        values["queued_uploads"],
    )
