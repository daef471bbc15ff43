"""Links between files of a bundle, rewritten to where the plan puts those files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote

from distributor.core.paths import parents
from distributor.transforms.base import PlannedPath, Request
from distributor.transforms.rendering import load

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_DOCUMENTS = (".md", ".markdown", ".mdown", ".ipynb")
_TWINS = (".gz", ".br")


class Plan(NamedTuple):
    """The destination's plan, indexed once for all pages of it."""

    outputs: tuple[PlannedPath, ...]
    by_source: dict[str, list[PlannedPath]]
    paths: frozenset[str]
    folders: frozenset[str]


_latest: Plan | None = None


def index(outputs: tuple[PlannedPath, ...]) -> Plan:
    """Return ``outputs`` by their sources, and every path and folder of them."""
    # All pages of a destination get the same tuple: indexing it per page would be quadratic.
    global _latest  # noqa: PLW0603
    if _latest is None or _latest.outputs is not outputs:
        by_source: dict[str, list[PlannedPath]] = {}
        whole = {name for name in {output.transform for output in outputs} if name and load(name).SCOPE == "bundle"}
        for output in outputs:
            # What is made from all files stands for none of them.
            if output.transform not in whole:
                by_source.setdefault(output.source_path, []).append(output)
        paths = frozenset(output.path for output in outputs)
        folders = frozenset(folder for path in paths for folder in parents(path))
        _latest = Plan(outputs, by_source, paths, folders)
    return _latest


class Links:
    """Rewrites the relative links of one page; ``dead`` collects those that lead nowhere."""

    def __init__(self, request: Request, source: str) -> None:
        self._plan = index(request.outputs)
        self._source_folder = posixpath.dirname(source)
        self._output_folder = posixpath.dirname(request.output_path)
        self.dead: dict[str, str] = {}

    def page(self, target: str) -> str:
        """Return ``target``, the address of a link, as it is to stand in the page."""
        return self._rewrite(target, embedded=False)

    def media(self, target: str) -> str:
        """Return ``target``, the address of an image or other media, as it is to stand in the page."""
        return self._rewrite(target, embedded=True)

    def _rewrite(self, target: str, *, embedded: bool) -> str:
        address = target.strip()
        if not address or address[0] in "#?" or _ABSOLUTE.match(address):
            return target
        path, rest = split_address(address)
        wanted = self._resolve(unquote(path))
        if wanted is None:
            return target
        output = self._find(wanted, embedded=embedded)
        if output is not None:
            return relative_address(output, self._output_folder) + rest
        if wanted in self._plan.folders or wanted == "" or self._is_output(unquote(path)):
            return target
        if not path.startswith("/"):
            self.dead.setdefault(target, wanted)
        return target

    def _resolve(self, path: str) -> str | None:
        """Return the bundle path that ``path`` means, or ``None`` if it lies outside the bundle."""
        joined = path.lstrip("/") if path.startswith("/") else posixpath.join(self._source_folder, path)
        wanted = posixpath.normpath(joined) if joined else ""
        if wanted == ".." or wanted.startswith("../") or "\0" in wanted:
            return None
        return "" if wanted == "." else wanted

    def _find(self, wanted: str, *, embedded: bool) -> str | None:
        candidates = self._plan.by_source.get(wanted)
        document = wanted.lower().endswith(_DOCUMENTS) and not embedded
        return best_output(candidates, page=document).path if candidates else None

    def _is_output(self, path: str) -> bool:
        """Whether ``path`` already names an output, as seen from the page itself."""
        return posixpath.normpath(posixpath.join(self._output_folder, path)) in self._plan.paths


def split_address(address: str) -> tuple[str, str]:
    """Split a relative address before its query or fragment."""
    cut = min((position for mark in "?#" if (position := address.find(mark)) >= 0), default=len(address))
    return address[:cut], address[cut:]


def best_output(candidates: Iterable[PlannedPath], *, page: bool) -> PlannedPath:
    """Choose the output of one source that a link should open: its page, or else the file itself."""

    def rank(output: PlannedPath) -> tuple[bool, bool, bool, str]:
        copied = output.transform is None
        return (output.path.endswith(_TWINS), copied == page, not output.path.endswith(".html"), output.path)

    return min(candidates, key=rank)


def relative_address(path: str, folder: str) -> str:
    """Return the percent-encoded address of the output ``path`` as seen from ``folder`` (H3)."""
    return quote(posixpath.relpath(path, folder or "."), safe="/-._~")
