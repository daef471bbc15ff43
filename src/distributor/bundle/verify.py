"""Checking a whole bundle and finding every problem at once (B2, B6, G7)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from distributor.bundle.reader import (
    future_problem,
    open_tree,
    read_manifest,
    unlisted,
    unlisted_problems,
    verified_chunks,
)
from distributor.bundle.tree import Tree
from distributor.core.documents import parse_json
from distributor.core.manifest import Manifest, ManifestFile, check_manifest, decode_manifest
from distributor.core.paths import MANIFEST_PATH
from distributor.errors import BundleError, Problem

LARGE = 1 << 20
"""Files from this size on are hashed in threads; for smaller ones a thread costs more than it saves."""

DEFAULT_SKEW = 24 * 3600
"""Seconds that ``created`` may be ahead of the clock where no pipeline says otherwise (B6)."""


class Watch(NamedTuple):
    """Who watches a long reading: ``start(files, bytes)``, ``advance(path, bytes)``, ``done(path)``.

    ``check`` may raise to stop it. All but ``start`` are called from several threads.
    """

    start: Callable[[int, int], None]
    advance: Callable[[str, int], None]
    done: Callable[[str], None]
    check: Callable[[], None]


class Verification(NamedTuple):
    """The manifest, as far as one could be read, and every problem sorted by path."""

    manifest: Manifest | None
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        """Whether nothing but unlisted files was found (G7)."""
        return self.manifest is not None and all(problem.code == "unlisted_file" for problem in self.problems)


def verify_bundle(folder: str, now: datetime, watch: Watch, max_skew: int = DEFAULT_SKEW) -> Verification:
    """Check manifest, files and tree of a bundle; an invalid one is a result, not an error.

    ``now`` is aware; ``max_skew`` in seconds. A manifest whose digest is wrong still
    has its files checked, so that one look shows everything.
    """
    try:
        tree = open_tree(folder)
    except BundleError as error:
        return Verification(None, error.problems)
    try:
        manifest, problems = _decode(read_manifest(tree, folder))
        if manifest is None:
            return Verification(None, tuple(problems))
        if future := future_problem(manifest, now, max_skew):
            problems.append(future)
        problems += check_files(tree, manifest.files, watch)
        problems += unlisted_problems(unlisted(tree, {file.path for file in manifest.files}))
        return Verification(manifest, tuple(sorted(problems, key=_order)))
    except BundleError as error:
        return Verification(None, error.problems)
    finally:
        tree.close()


def check_files(tree: Tree, files: tuple[ManifestFile, ...], watch: Watch) -> list[Problem]:
    """Read every file and return what is wrong with them."""
    watch.start(len(files), sum(file.size for file in files))
    large = [file for file in files if file.size >= LARGE]
    small = [file for file in files if file.size < LARGE]
    if len(large) < 2:
        return _check_each(tree, files, watch)
    from concurrent.futures import ThreadPoolExecutor  # here: only bundles with large files need it

    with ThreadPoolExecutor(min(len(large), os.cpu_count() or 1, 4)) as pool:
        waiting = [pool.submit(_check_each, tree, (file,), watch) for file in large]
        try:
            problems = _check_each(tree, small, watch)
            for one in waiting:
                problems += one.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return problems


def _check_each(tree: Tree, files: Iterable[ManifestFile], watch: Watch) -> list[Problem]:
    problems: list[Problem] = []
    for file in files:
        watch.check()
        try:
            for chunk in verified_chunks(tree, file):
                watch.advance(file.path, len(chunk))
                watch.check()
        except BundleError as error:
            problems += error.problems
        watch.done(file.path)
    return problems


def _decode(data: bytes) -> tuple[Manifest | None, list[Problem]]:
    try:
        return decode_manifest(data), []
    except BundleError as error:
        problems = list(error.problems)
    if all(problem.code == "digest_mismatch" for problem in problems):
        manifest, _ = check_manifest(parse_json(data, unique_keys=True))
        return manifest, problems
    return None, problems


def _order(problem: Problem) -> tuple[bool, bytes, str]:
    """The manifest's own problems first, then by path."""
    path = problem.path or ""
    return path != MANIFEST_PATH, path.encode(errors="surrogateescape"), problem.code
