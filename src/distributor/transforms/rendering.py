"""Finding transforms by name, and rendering a plan's pages into a spool folder on all cores.

Few pages are rendered in this process. Many are spread over worker processes that
are started afresh, not forked: the caller may hold locks and threads that a copy of
it must not share. Workers get sources through this process alone, so that what they
render is what the bundle reader verified (B3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from distributor.core.manifest import Manifest
from distributor.errors import ConfigError
from distributor.transforms.base import PlannedPath, Request, Transform

ENTRY_POINTS = "distributor.transforms"
FEW = 24
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_REQUIRED = ("VERSION", "SCOPE", "DEFAULT_PATH", "check_options", "render")


class Job(NamedTuple):
    """One output to render: which transform, from which sources, to stand where."""

    output_path: str
    transform: str
    source_paths: tuple[str, ...]
    options: Mapping[str, object]


class Rendered(NamedTuple):
    """One rendered output: its bytes are in ``file``; ``sha256`` is ``sha256:<hex>``, ``size`` in bytes."""

    output_path: str
    file: str
    sha256: str
    size: int
    warnings: tuple[str, ...]


class Task(NamedTuple):
    """What is the same for all jobs of a destination."""

    manifest: Manifest
    outputs: tuple[PlannedPath, ...]
    out_dir: str


def load(name: str) -> Transform:
    """Return the transform called ``name``: a module of this package, else an entry point.

    The name is never more than a name: it selects among installed transforms and can't
    point anywhere else. Raises ``ConfigError`` where there is none, or it is not whole.
    """
    found = _built_in(name) if _NAME.match(name) else None
    if found is None:
        found = _entry_point(name)
    lacking = [attribute for attribute in _REQUIRED if not hasattr(found, attribute)]
    if lacking:
        raise ConfigError(f"transform {name!r} lacks {', '.join(lacking)}", hint="see docs/adding-a-transform.md")
    if found.SCOPE not in {"file", "bundle"}:
        raise ConfigError(f"transform {name!r} has the scope {found.SCOPE!r}, which is neither file nor bundle")
    return found


def _built_in(name: str) -> Transform | None:
    from importlib import import_module

    module = f"{__package__}.{name}"
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name == module:
            return None
        raise
    # This package also holds modules that are no transforms.
    return cast("Transform", found) if hasattr(found, "DEFAULT_PATH") else None


def _entry_point(name: str) -> Transform:
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS, name=name):
        return cast("Transform", point.load())
    import difflib

    known = names()
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(known)}"
    raise ConfigError(f"there is no transform {name!r}", hint=hint)


def names() -> tuple[str, ...]:
    """Return the names of all installed transforms, sorted."""
    from importlib.metadata import entry_points
    from pkgutil import iter_modules

    import distributor.transforms as package

    own = {module.name for module in iter_modules(package.__path__) if not module.ispkg and _built_in(module.name)}
    return tuple(sorted(own | {point.name for point in entry_points(group=ENTRY_POINTS)}))


def render_all(
    jobs: Sequence[Job],
    task: Task,
    read: Callable[[str], bytes],
    check: Callable[[], None],
    *,
    workers: int | None = None,
) -> Iterator[Rendered]:
    """Render ``jobs`` into files of ``task.out_dir``, yielding each as it is done.

    ``read(path)`` returns verified bytes of a source; it is called in this process and
    thread only. ``check()`` raises to stop. The first ``TransformError`` ends it all;
    workers are gone when the iterator ends, however it ends. ``workers`` is for tests
    and benchmarks: left out, many jobs use all cores and few use none beside this.
    """
    if workers is None:
        workers = _cores() if len(jobs) > FEW else 0
    if workers < 2:
        for index, job in enumerate(jobs):
            check()
            yield render_one(index, job, task, read)
        return
    from distributor.transforms.workers import render_in_processes  # starts processes: only where there is enough work

    yield from render_in_processes(jobs, task, read, check, min(workers, len(jobs)))


def render_one(index: int, job: Job, task: Task, read: Callable[[str], bytes]) -> Rendered:
    """Render ``job`` to the file named ``index`` in the spool folder. Raises ``TransformError``."""
    import hashlib
    from pathlib import Path

    warnings: list[str] = []
    request = Request(
        job.output_path, job.source_paths, task.manifest, job.options, task.outputs, read, warnings.append
    )
    data = load(job.transform).render(request)
    file = Path(task.out_dir) / str(index)
    file.write_bytes(data)
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return Rendered(job.output_path, str(file), digest, len(data), tuple(warnings))


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
