"""What a transform is: pure functions from verified source bytes to output bytes.

A transform is found by its name in the configuration: one module of this package
with that file name, or an entry point of the group ``distributor.transforms``.
The module (or the object the entry point names) provides the attributes of
:class:`Transform`. It reads no file, clock, network or environment, and gives the
same bytes for the same input on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from distributor.core.manifest import Manifest


class PlannedPath(NamedTuple):
    """One output of the destination's plan: where a source file will stand.

    ``transform`` is ``None`` for a copy. ``url`` is absolute where the destination has one.
    """

    path: str
    source_path: str
    transform: str | None
    url: str | None


class Request(NamedTuple):
    """All that one rendering may look at.

    ``output_path`` is where the result will stand; ``source_paths`` are its sources
    (one, or all that the rule matched for a transform of scope ``bundle``).
    ``read(path)`` returns the verified bytes of a file that the manifest names.
    ``outputs`` is the whole plan of this destination, for rewriting links.
    ``warn(message)`` reports what a person should know and does not fail.
    """

    output_path: str
    source_paths: tuple[str, ...]
    manifest: Manifest
    options: Mapping[str, object]
    outputs: tuple[PlannedPath, ...]
    read: Callable[[str], bytes]
    warn: Callable[[str], None]


class Transform(Protocol):
    """What a transform module or object provides.

    ``VERSION`` changes whenever the bytes for some input change: saved plans and
    recorded outputs depend on it. ``SCOPE`` is ``file`` (one output per matched
    file) or ``bundle`` (one output for all of them). ``DEFAULT_PATH`` is the path
    template used where a rule has none.
    """

    VERSION: str
    SCOPE: str
    DEFAULT_PATH: str

    def check_options(self, options: Mapping[str, object]) -> list[str]:
        """Return what is wrong with ``options``, one sentence each; empty if nothing."""

    def render(self, request: Request) -> bytes:
        """Return the output's bytes. Raises ``TransformError``."""
