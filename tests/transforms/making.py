"""Bundles of a few files, and what a transform makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from distributor.core.manifest import Manifest, ManifestFile
from distributor.core.paths import RelPath
from distributor.core.values import parse_timestamp
from distributor.transforms.base import PlannedPath, Request
from distributor.transforms.rendering import load


class Made(NamedTuple):
    """A page: all of it, the part between ``<main>`` and ``</main>``, and the warnings."""

    data: bytes
    main: str
    warnings: list[str]

    @property
    def text(self) -> str:
        return self.data.decode()


def manifest_of(files: Mapping[str, bytes]) -> Manifest:
    created = parse_timestamp("2026-06-04T11:55:00Z")
    assert created is not None
    listed = tuple(ManifestFile(RelPath(path), "sha256:" + "0" * 64, len(data)) for path, data in sorted(files.items()))
    return Manifest("reports.example", "sha256:" + "0" * 64, created, listed)


def make(
    transform: str,
    files: Mapping[str, bytes | str],
    source: str | tuple[str, ...] | None = None,
    output: str | None = None,
    *,
    plan: tuple[PlannedPath, ...] | None = None,
    **options: object,
) -> Made:
    """Render ``source`` (the first file by default) of a bundle of ``files``."""
    contents = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
    sources = source if isinstance(source, tuple) else (source or next(iter(files)),)
    path = output or re.sub(r"\.\w+$", ".html", sources[0])
    warnings: list[str] = []
    request = Request(
        path,
        sources,
        manifest_of(contents),
        options,
        (PlannedPath(path, sources[0], transform, None),) if plan is None else plan,
        contents.__getitem__,
        warnings.append,
    )
    assert load(transform).check_options(options) == []
    data = load(transform).render(request)
    main = re.search(rb"<main.*</main>", data, re.DOTALL)
    return Made(data, main[0].decode() if main else "", warnings)


def page(markdown: str | bytes, **options: object) -> Made:
    """Render one Markdown file, ``page.md``."""
    return make("markdown_to_html", {"page.md": markdown}, **options)


def copied(path: str) -> PlannedPath:
    return PlannedPath(path, path, None, None)


def rendered(source: str, output: str, transform: str = "markdown_to_html") -> PlannedPath:
    return PlannedPath(output, source, transform, None)
