"""Bundles that arrive as one archive: checked while streaming, unpacked without trusting a name.

Fault rows 64 and 65: nothing is ever extracted by the name an archive gives. Content
goes to numbered slots; only when the manifest, its digest, and every listed file's
size and digest are right is a bundle folder built, and then under the manifest's own
clean paths (A1). Every fault of an archive is reported at once (B2).

A bundle's manifest is at the archive's root or under one single top folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple

from distributor.bundle.decompression import ArchiveFault, Caps, NotAnArchive, Unpacked
from distributor.bundle.tar_reader import Entry, TarReader
from distributor.core.manifest import Manifest, decode_manifest
from distributor.core.paths import MANIFEST_PATH, overlaps, path_problem
from distributor.core.values import timestamp_of
from distributor.errors import BundleError, Problem

__all__ = ["ArchiveFault", "ArchivedBundle", "Caps", "NotAnArchive", "Rules", "check_archive", "unpack_archive"]

MAX_MANIFEST_BYTES = 32 * 1024 * 1024
"""Twice the manifest of a bundle of 100,000 files."""

MAX_PROBLEMS = 200
"""How many problems one answer names; the rest is counted."""


class Rules(NamedTuple):
    """What is asked of an archive beside the contract.

    ``unlisted_files`` is the pipeline's setting (B2); ``latest`` is the last instant
    that ``created`` may name (B6), ``None`` for any.
    """

    caps: Caps = Caps()
    unlisted_files: str = "warn"
    latest: datetime | None = None


class ArchivedBundle(NamedTuple):
    """A valid bundle in an archive: its manifest, the bytes of its files, and warnings."""

    manifest: Manifest
    size: int
    warnings: tuple[Problem, ...]


class _Member(NamedTuple):
    """A regular file of the archive: size, ``sha256:<hex>``, and the number of its slot."""

    size: int
    sha256: str
    slot: int


class _Findings:
    """Problems in the order they were met, no more than ``MAX_PROBLEMS`` of them kept."""

    def __init__(self) -> None:
        self._kept: list[Problem] = []
        self._count = 0

    def add(self, code: str, message: str, path: str | None = None) -> None:
        """Note one problem."""
        self._count += 1
        if self._count <= MAX_PROBLEMS:
            self._kept.append(Problem(code, message, path))

    def raise_any(self) -> None:
        """Raise ``BundleError`` with everything noted, if anything was."""
        if not self._count:
            return
        first = self._kept[0]
        where = f"{first.path}: " if first.path else ""
        more = f" (and {self._count - 1} more problems)" if self._count > 1 else ""
        if self._count > MAX_PROBLEMS:
            rest = f"{self._count - MAX_PROBLEMS} more problems are not listed"
            self._kept.append(Problem("more_problems", rest))
        raise BundleError(f"{where}{first.message}{more}", tuple(self._kept))


class _Contents:
    """What an archive holds, as far as it was read."""

    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self.findings = _Findings()
        self.files: dict[str, _Member] = {}
        self.manifests: dict[str, bytes] = {}
        self._entries = 0

    def admit(self, entry: Entry) -> str | None:
        """Return the clean name under which the entry's content is wanted, or ``None``."""
        self._entries += 1
        if self._entries > self.caps.max_files:
            raise ArchiveFault("archive_too_many_files", f"holds more than {self.caps.max_files} entries")
        name = entry.name.removeprefix("./")
        if entry.is_folder:
            name = name.removesuffix("/")
        if entry.fault:
            self.findings.add(*entry.fault, entry.name)
            return None
        if entry.is_folder and name in ("", "."):
            return None
        problem = self._problem(name, entry)
        if problem:
            self.findings.add(*problem, entry.name)
        return None if problem or entry.is_folder else name

    def _problem(self, name: str, entry: Entry) -> tuple[str, str] | None:
        fault = path_problem(name)
        if fault:
            return "path_invalid", fault
        if name in self.files:
            return "path_duplicate", "is in the archive twice"
        limit = MAX_MANIFEST_BYTES if _may_be_manifest(name) else self.caps.max_file_bytes
        if entry.size > limit:
            return "file_too_large", f"has {entry.size} bytes, more than the {limit} allowed"
        return None


def check_archive(archive: IO[bytes], rules: Rules) -> ArchivedBundle:
    """Read a whole archive and check the bundle in it; nothing is written.

    Raises ``NotAnArchive`` for bytes of another kind, ``BundleError`` with every
    problem otherwise.
    """
    return _judge(_read(archive, rules.caps, None), rules)


def unpack_archive(archive: IO[bytes], folder: Path, rules: Rules) -> ArchivedBundle:
    """Check an archive and build its bundle in ``folder``, which must exist and be empty.

    Raises as :func:`check_archive`; on an error ``folder`` holds leftovers for the
    caller to remove, and never one of them under a name from the archive.
    """
    slots = folder / ".slots"
    slots.mkdir(mode=0o700)
    contents = _read(archive, rules.caps, slots)
    bundle = _judge(contents, rules)
    prefix = _prefix(contents) or ""
    for file in bundle.manifest.files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        _slot(slots, contents.files[prefix + file.path].slot).rename(target)
    (folder / MANIFEST_PATH).write_bytes(contents.manifests[prefix])
    for left in slots.iterdir():
        left.unlink()
    slots.rmdir()
    return bundle


def _slot(slots: Path, number: int) -> Path:
    return slots / f"{number:08d}"


def _may_be_manifest(name: str) -> bool:
    folder, _, last = name.rpartition("/")
    return last == MANIFEST_PATH and "/" not in folder


def _read(archive: IO[bytes], caps: Caps, slots: Path | None) -> _Contents:
    contents = _Contents(caps)
    try:
        reader = TarReader(Unpacked(archive, caps))
        for entry in reader:
            name = contents.admit(entry)
            if name is not None:
                _take(contents, name, reader.content(), slots)
    except NotAnArchive:
        raise
    except ArchiveFault as fault:
        contents.findings.add(fault.code, f"the archive {fault}" if fault.code.startswith("archive") else str(fault))
        contents.findings.raise_any()
    return contents


def _take(contents: _Contents, name: str, chunks: Iterator[bytes], slots: Path | None) -> None:
    digest = hashlib.sha256()
    size = 0
    kept: list[bytes] | None = [] if _may_be_manifest(name) else None
    number = len(contents.files)
    with ExitStack() as stack:
        out = None if slots is None else stack.enter_context(_slot(slots, number).open("xb"))
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            if out is not None:
                out.write(chunk)
            if kept is not None:
                kept.append(chunk)
    contents.files[name] = _Member(size, f"sha256:{digest.hexdigest()}", number)
    if kept is not None:
        contents.manifests[name.removesuffix(MANIFEST_PATH)] = b"".join(kept)


def _prefix(contents: _Contents) -> str | None:
    """Return the folder of the manifest with its slash, '' for the root, ``None`` without one."""
    if "" in contents.manifests:
        return ""
    tops = {name.partition("/")[0] + "/" for name in contents.files}
    top = tops.pop() if len(tops) == 1 else None
    return top if top in contents.manifests else None


def _judge(contents: _Contents, rules: Rules) -> ArchivedBundle:
    findings = contents.findings
    for folder, path in overlaps(contents.files):
        findings.add("path_duplicate", f"is a file and also the folder of {path}", folder)
    prefix = _prefix(contents)
    if prefix is None:
        message = "is neither at the archive's root nor under one single top folder"
        findings.add("manifest_missing", message, MANIFEST_PATH)
        findings.raise_any()
    manifest = _manifest(contents, prefix or "")
    files = {name[len(prefix or "") :]: member for name, member in contents.files.items()}
    _compare(manifest, files, findings)
    unlisted = _unlisted(manifest, files)
    if rules.unlisted_files == "fail":
        for problem in unlisted:
            findings.add(*problem[:3])
    if rules.latest is not None and manifest.created.instant > timestamp_of(rules.latest).instant:
        message = f"created {manifest.created.text} is too far in the future; it would block every later edition"
        findings.add("created_in_future", message, MANIFEST_PATH)
    findings.raise_any()
    warnings = unlisted[:MAX_PROBLEMS] if rules.unlisted_files == "warn" else ()
    return ArchivedBundle(manifest, sum(file.size for file in manifest.files), tuple(warnings))


def _manifest(contents: _Contents, prefix: str) -> Manifest:
    try:
        return decode_manifest(contents.manifests[prefix])
    except BundleError as error:
        for problem in error.problems:
            contents.findings.add(*problem[:3])
        contents.findings.raise_any()
        raise


def _compare(manifest: Manifest, files: dict[str, _Member], findings: _Findings) -> None:
    for file in manifest.files:
        member = files.get(file.path)
        if member is None:
            findings.add("file_missing", "is listed but not in the archive", file.path)
        elif member.size != file.size:
            findings.add("file_size", f"has {member.size} bytes, the manifest says {file.size}", file.path)
        elif member.sha256 != file.sha256:
            findings.add("file_digest", f"is {member.sha256}, the manifest says {file.sha256}", file.path)


def _unlisted(manifest: Manifest, files: dict[str, _Member]) -> list[Problem]:
    names = files.keys() - {file.path for file in manifest.files} - {MANIFEST_PATH}
    text = "is in the archive but not listed in the manifest; it is not published"
    return [Problem("unlisted_file", text, name) for name in sorted(names)]
