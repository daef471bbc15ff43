"""The headers that objects are stored with: content types, and the configuration's by glob."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from distributor.core.globs import compile_globs
from distributor.core.media_types import media_type
from distributor.core.paths import is_reserved

_HEADERS = {
    "cache_control": "Cache-Control",
    "content_type": "Content-Type",
    "content_disposition": "Content-Disposition",
    "content_encoding": "Content-Encoding",
    "content_language": "Content-Language",
}

_RESERVED = {"Content-Type": "application/json; charset=utf-8", "Cache-Control": "private, no-store"}
"""State, journal and lock: for nobody's cache, as they change and are not part of what is published."""


class _Rule(NamedTuple):
    matches: Callable[[str], bool]
    headers: dict[str, str]


class Headers:
    """Says which headers a path is stored with.

    ``rules`` is the setting ``headers``: each has ``match`` (globs) and the headers to
    set; a later rule wins over an earlier one, and every rule over the content type
    that the name suggests.
    """

    def __init__(self, rules: Iterable[Mapping[str, Any]]) -> None:
        self._rules = tuple(
            _Rule(compile_globs(rule["match"]), {_HEADERS[key]: str(rule[key]) for key in _HEADERS if key in rule})
            for rule in rules
        )

    def of(self, path: str) -> dict[str, str]:
        """Return the headers for ``path``; those of reserved names (A2) are fixed."""
        if is_reserved(path):
            return dict(_RESERVED)
        headers = {"Content-Type": media_type(path)}
        for rule in self._rules:
            if rule.matches(path):
                headers.update(rule.headers)
        return headers
