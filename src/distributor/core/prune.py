"""Prune Semantics: retention as a pure function over one owner's outputs (F3, F4, F6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from distributor.core.globs import compile_globs
from distributor.core.observation import Entry
from distributor.core.plan import is_present
from distributor.core.policy import OwnerKey, Retention
from distributor.core.state.model import OutputRecord, State
from distributor.core.values import Timestamp


class PrunePlan(NamedTuple):
    """What retention selects.

    ``deletes`` are the records to go, oldest first; ``present`` are the paths among
    them that still exist. ``kept`` counts the owner's other outputs, ``future`` those
    of them that are dated in the future and so not considered. ``over_limit`` is
    the limit's text if it is exceeded (D14).
    """

    deletes: tuple[OutputRecord, ...]
    present: frozenset[str]
    kept: int
    future: int
    over_limit: str | None


Instant = tuple[int, str]


def plan_prune(
    state: State, key: OwnerKey, retention: Retention, content: Mapping[str, Entry], now: Timestamp
) -> PrunePlan:
    """Select the outputs of ``key`` that retention lets go."""
    outputs = state.outputs_of(key)
    past = [output for output in outputs if output.updated_at.instant <= now.instant]
    protected = compile_globs(retention.protect)
    kept = _kept_publications(past, retention)
    deletes = [
        output
        for output in past
        if output.updated_at.instant not in kept
        and _is_old(output.updated_at, retention, now)
        and not protected(output.path)
    ]
    deletes.sort(key=lambda output: (output.updated_at.instant, output.path))
    present = frozenset(output.path for output in deletes if is_present(output, content))
    limit = retention.max_delete
    over = limit is not None and not limit.allows(len(present), len(outputs))
    return PrunePlan(
        deletes=tuple(deletes),
        present=present,
        kept=len(outputs) - len(deletes),
        future=len(outputs) - len(past),
        over_limit=limit.text if limit and over else None,
    )


def _is_old(updated_at: Timestamp, retention: Retention, now: Timestamp) -> bool:
    if retention.max_age is None:
        return True
    return (updated_at.seconds + retention.max_age, updated_at.fraction) < now.instant


def _kept_publications(past: list[OutputRecord], retention: Retention) -> set[Instant]:
    """Return the publications that a ``keep_*`` rule, or being the newest, protects.

    As restic does it: each rule walks the publications from the newest on and keeps
    the newest one of each period, and the oldest one while it has counts left.
    """
    times = {output.updated_at.instant: output.updated_at for output in past}
    newest_first = sorted(times, reverse=True)
    kept = set(newest_first[:1]) if retention.keep_newest else set()
    for count, period in _rules(retention):
        kept |= _keep(newest_first, times, count, period)
    return kept


Period = Callable[[Timestamp], object]


def _rules(retention: Retention) -> list[tuple[int, Period]]:
    rules: list[tuple[int | None, Period]] = [
        (retention.keep_last, lambda time: time.instant),
        (retention.keep_daily, lambda time: time.to_datetime().date()),
        (retention.keep_weekly, lambda time: time.to_datetime().isocalendar()[:2]),
        (retention.keep_monthly, lambda time: (time.to_datetime().year, time.to_datetime().month)),
        (retention.keep_yearly, lambda time: time.to_datetime().year),
    ]
    return [(count, period) for count, period in rules if count is not None]


def _keep(newest_first: list[Instant], times: Mapping[Instant, Timestamp], count: int, period: Period) -> set[Instant]:
    kept: set[Instant] = set()
    last: object = None
    for instant in newest_first:
        if len(kept) == count:
            break
        current = period(times[instant])
        if current != last or instant == newest_first[-1]:
            kept.add(instant)
            last = current
    return kept
