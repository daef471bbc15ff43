"""Structured logs: one JSON object a line on standard error, with upload and run ids."""

from __future__ import annotations

import logging
import sys
from datetime import UTC
from typing import Any, cast

import structlog

from distributor.app import clock


def configure_logs(level: str) -> None:
    """Send everything, libraries' records too, to standard error as JSON lines."""
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _stamp,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(ensure_ascii=False)],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter = structlog.stdlib.ProcessorFormatter(processors=[remove, renderer], foreign_pre_chain=[*shared, _name])
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def logger() -> structlog.typing.FilteringBoundLogger:
    """Return the program's logger; events are snake_case names, the rest are fields."""
    return cast("structlog.typing.FilteringBoundLogger", structlog.get_logger())


def _stamp(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    event["time"] = clock.now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return event


def _name(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    record = event.get("_record")
    if isinstance(record, logging.LogRecord):
        event["logger"] = record.name
    return event
