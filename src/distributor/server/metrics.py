"""Metrics for Prometheus: counters of this process, and gauges read from the database at each scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from distributor.config.model import Config
from distributor.server.lanes import Lanes
from distributor.server.store import Store
from distributor.server.workers import Heartbeats

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one ``serve`` process."""

    def __init__(self, store: Store, lanes: Lanes, hearts: Heartbeats, config: Callable[[], Config]) -> None:
        disable_created_metrics()
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "distributor_http_requests", "Answered requests.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "distributor_http_request_seconds", "Time to an answer.", ["route"], registry=self.registry
        )
        self.bytes = Counter("distributor_upload_bytes", "Bytes of received archives.", registry=self.registry)
        self.accepted = Counter(
            "distributor_uploads_accepted", "Accepted uploads.", ["pipeline", "verdict"], registry=self.registry
        )
        self.registry.register(_FromDatabase(store, lanes, hearts, config))

    def render(self) -> bytes:
        """Return the exposition text."""
        return generate_latest(self.registry)


class _FromDatabase(Collector):
    def __init__(self, store: Store, lanes: Lanes, hearts: Heartbeats, config: Callable[[], Config]) -> None:
        self._store = store
        self._lanes = lanes
        self._hearts = hearts
        self._config = config

    def describe(self) -> list[GaugeMetricFamily]:
        """Name nothing ahead: registering must not ask the database."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Read the gauges."""
        uploads = GaugeMetricFamily("distributor_uploads", "Uploads by state.", labels=["state"])
        for state, count in self._store.counts().items():
            uploads.add_metric([state], count)
        yield uploads
        yield GaugeMetricFamily("distributor_workers", "Workers that say they live.", self._hearts.alive())
        owners = [(p.id, d.id) for p in self._config().pipelines for d in p.destinations]
        failures = GaugeMetricFamily(
            "distributor_consecutive_failures",
            "Publications of a destination that failed since its last good one.",
            labels=["pipeline", "destination"],
        )
        for owner, count in self._lanes.failures_in_a_row(owners).items():
            failures.add_metric(list(owner), count)
        yield failures
