"""Source manifests: reading, checking and the digest rule (A1-A6, B1, B2, B4, C8)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from distributor.core import values
from distributor.core.documents import DocumentError, is_object, parse_json
from distributor.core.paths import MANIFEST_PATH, RelPath, overlaps, path_problem
from distributor.core.values import Timestamp
from distributor.errors import BundleError, Problem


class ManifestFile(NamedTuple):
    """One listed file: clean path, ``sha256:<hex>`` and size in bytes."""

    path: RelPath
    sha256: str
    size: int


class Manifest(NamedTuple):
    """A source manifest of schema version 1, checked for form."""

    id: str
    digest: str
    created: Timestamp
    files: tuple[ManifestFile, ...]

    def same_as(self, other: Manifest) -> bool:
        """Whether both are the same manifest (B4); the order of files does not matter."""
        return (
            self.id == other.id
            and self.digest == other.digest
            and self.created.instant == other.created.instant
            and (self.files == other.files or set(self.files) == set(other.files))
        )

    def to_document(self) -> dict[str, object]:
        """Return the manifest as JSON data; ``created`` keeps its text (A3)."""
        return {
            "schema_version": 1,
            "id": self.id,
            "digest": self.digest,
            "created": self.created.text,
            "files": [{"path": f.path, "sha256": f.sha256, "size": f.size} for f in self.files],
        }


def bundle_digest(files: Iterable[ManifestFile]) -> str:
    """Return the digest over file records by rule B1 (what ``sha256sum`` would print)."""
    lines = (f"{f.sha256[7:]}  {f.path}\n" for f in sorted(files, key=lambda f: f.path))
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def decode_manifest(data: bytes) -> Manifest:
    """Read and check a bundle's ``manifest.json``.

    Raises ``BundleError`` with every problem of the document, its own digest
    included; file contents are another step.
    """
    try:
        document = parse_json(data, unique_keys=True)
    except DocumentError as error:
        problem = Problem("manifest_invalid", str(error), MANIFEST_PATH, error.line)
        raise BundleError(f"manifest.json: {error}", (problem,)) from None
    manifest, problems = check_manifest(document)
    if manifest is not None and not problems:
        computed = bundle_digest(manifest.files)
        if computed == manifest.digest:
            return manifest
        text = f"digest is {manifest.digest}, but its files give {computed}"
        problems = [Problem("digest_mismatch", text, MANIFEST_PATH)]
    raise BundleError(_summary(problems), tuple(problems))


def _summary(problems: list[Problem]) -> str:
    more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
    return f"manifest.json: {problems[0].message}{more}"


def check_manifest(document: object) -> tuple[Manifest | None, list[Problem]]:
    """Check JSON data for the form of a manifest (A1-A5) without recomputing its digest (C8).

    Returns the manifest, or ``None`` and every problem found.
    """
    if not is_object(document):
        return None, [Problem("manifest_invalid", "is not a JSON object", MANIFEST_PATH)]
    problems: list[Problem] = []

    def fault(message: str) -> None:
        problems.append(Problem("manifest_invalid", message, MANIFEST_PATH))

    version = document.get("schema_version")
    if type(version) is not int or version != 1:
        fault(f"schema_version is {version!r}, not 1")
    if not values.is_source_id(document.get("id")):
        fault(f"id {document.get('id')!r} is not an id of letters, digits, '.', '_' and '-'")
    if not values.is_digest(document.get("digest")):
        fault("digest is not sha256: and 64 lowercase hex digits")
    created = values.parse_timestamp(document.get("created"))
    if created is None:
        fault(f"created {document.get('created')!r} is not an RFC 3339 time with an offset")
    files = _check_files(document.get("files"), problems)
    if problems or created is None:
        return None, problems
    return Manifest(str(document["id"]), str(document["digest"]), created, files), []


def _check_files(listed: object, problems: list[Problem]) -> tuple[ManifestFile, ...]:
    if not isinstance(listed, list):
        problems.append(Problem("manifest_invalid", "files is not an array", MANIFEST_PATH))
        return ()
    files = [_check_file(index, item, problems) for index, item in enumerate(listed)]
    good = tuple(file for file in files if file is not None)
    seen: set[str] = set()
    for file in good:
        if file.path in seen:
            problems.append(Problem("path_duplicate", "is listed twice", file.path))
        seen.add(file.path)
    for folder, path in overlaps(seen):
        problems.append(Problem("path_duplicate", f"is a file and also the folder of {path}", folder))
    return good


def _check_file(index: int, item: object, problems: list[Problem]) -> ManifestFile | None:
    where = f"files[{index}]"
    if not is_object(item):
        problems.append(Problem("manifest_invalid", f"{where} is not an object", MANIFEST_PATH))
        return None
    path, sha256, size = item.get("path"), item.get("sha256"), item.get("size")
    if not isinstance(path, str):
        problems.append(Problem("manifest_invalid", f"{where}.path is not a string", MANIFEST_PATH))
        return None
    count = len(problems)
    fault = "is the manifest itself and may not be listed" if path == MANIFEST_PATH else path_problem(path)
    if fault:
        problems.append(Problem("path_invalid", f"{where}.path {fault}", path))
    if not values.is_digest(sha256):
        problems.append(Problem("manifest_invalid", f"{where}.sha256 is not sha256: and 64 lowercase hex digits", path))
    if not values.is_size(size):
        problems.append(Problem("manifest_invalid", f"{where}.size {size!r} is not a whole number of bytes", path))
    if len(problems) > count:
        return None
    return ManifestFile(RelPath(path), str(sha256), size if isinstance(size, int) else 0)
