"""The primary URL: "``links.primary_url``: URL selected by destination link policy"."""

from __future__ import annotations

from collections.abc import Iterable

from distributor.core.globs import compile_globs
from distributor.core.policy import Links
from distributor.core.values import url_of


def primary_path(paths: Iterable[str], links: Links) -> str | None:
    """Return the primary output among newly planned ``paths``: first glob that matches, then least path."""
    candidates = sorted(paths)
    for pattern in links.primary:
        matches = compile_globs((pattern,))
        for path in candidates:
            if matches(path):
                return path
    return None


def primary_url(paths: Iterable[str], links: Links) -> str | None:
    """Return the primary output's URL, or ``None`` without ``base_url`` or without a match."""
    if links.base_url is None:
        return None
    path = primary_path(paths, links)
    return None if path is None else url_of(links.base_url, path)
