"""A loaded configuration as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from distributor.core.policy import Links, OutputRule, PublishPolicy, Retention


class LockSettings(NamedTuple):
    """``lock``: seconds to wait for another writer, and a lease's life in seconds (E4)."""

    wait: float = 90.0
    ttl: float = 60.0


class Destination(NamedTuple):
    """One configured destination.

    ``url`` is an absolute path for a local folder, else as configured. ``storage`` is
    the kind's own mapping, defaults filled in: durations in seconds, modes as octal text,
    files as absolute paths; of a foreign kind as it stands in the file.
    ``policy`` holds what comparison and planning depend on. ``line`` is where the
    destination stands in the file, for messages.
    """

    id: str
    url: str
    storage: Mapping[str, object]
    policy: PublishPolicy
    outputs: tuple[OutputRule, ...]
    links: Links
    retention: Retention | None
    lock: LockSettings
    allow_whole_root: bool
    concurrency: int
    line: int


class Source(NamedTuple):
    """``source`` of a pipeline. ``path`` is absolute or ``None``; ``max_clock_skew`` in seconds (B6)."""

    path: str | None
    unlisted_files: str
    max_clock_skew: int
    upload: bool


class Pipeline(NamedTuple):
    """One configured pipeline with its destinations in file order."""

    id: str
    source: Source
    destinations: tuple[Destination, ...]
    schedule: str | None = None


class Config(NamedTuple):
    """A whole configuration.

    ``pipelines`` are the selected ones. ``warnings`` are for a person (D4, E4).
    ``server`` is the checked ``server`` mapping with defaults filled in (durations in
    seconds), or ``None`` where there is none or the caller did not ask for it;
    ``hooks`` likewise. ``digest`` is the SHA-256 over the file's bytes and every
    expanded variable, without revealing them. ``metrics_textfile`` is an absolute path.
    ``log_format`` is ``text`` or ``json``.
    """

    path: str
    pipelines: tuple[Pipeline, ...]
    server: Mapping[str, object] | None
    hooks: tuple[Mapping[str, object], ...]
    warnings: tuple[str, ...]
    digest: str
    metrics_textfile: str | None = None
    log_format: str = "text"
    log_level: str = "info"
