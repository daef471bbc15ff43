"""Reading the fields that all schema versions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributor.core.documents import is_object
from distributor.core.manifest import Manifest, check_manifest
from distributor.core.paths import is_reserved, overlaps, path_problem
from distributor.core.policy import OwnerKey, Reconciliation, StateMode
from distributor.core.state.model import OutputKind, OutputRecord, SourceIdentity
from distributor.core.values import Timestamp, is_digest, is_http_url, is_id, is_size, is_source_id, parse_timestamp
from distributor.errors import Problem


class Reader:
    """Collects every fault of one state document while its fields are read.

    Times are cached by their text: a state has many outputs of few publications.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._times: dict[str, Timestamp | None] = {}

    def fault(self, where: str, message: str) -> None:
        """Note that the field at ``where`` is wrong."""
        self.problems.append(Problem("invalid_state", message, where))

    def time(self, document: dict[str, Any], key: str, where: str, default: Timestamp | None = None) -> Timestamp:
        """Read a required timestamp (A3); ``default`` stands in where an older version lacks it."""
        value = document.get(key)
        if value is None and default is not None:
            return default
        found = None
        if isinstance(value, str):
            found = (
                self._times[value] if value in self._times else self._times.setdefault(value, parse_timestamp(value))
            )
        if found is None:
            self.fault(f"{where}{key}", "is not an RFC 3339 time with an offset")
            return Timestamp(0, "", "")
        return found

    def identifier(self, document: dict[str, Any], key: str, where: str) -> str:
        """Read a required pipeline or destination id (A5)."""
        return self._text(document, key, where, is_id, "is not an id")

    def _text(
        self, document: dict[str, Any], key: str, where: str, valid: Callable[[object], bool], message: str
    ) -> str:
        value = document.get(key)
        if not valid(value):
            self.fault(f"{where}{key}", message)
        return str(value)

    def mode(self, document: dict[str, Any], expected: StateMode) -> None:
        """Check ``state.mode``."""
        found = document.get("state")
        if not is_object(found) or found.get("mode") != expected.value:
            self.fault("state.mode", f"is not {expected.value!r}")

    def reconciliation(self, document: dict[str, Any], where: str) -> Reconciliation:
        """Read ``reconciliation.mode``."""
        found = document.get("reconciliation")
        mode = found.get("mode") if is_object(found) else None
        if mode not in ("replace", "merge"):
            self.fault(f"{where}reconciliation.mode", "is not 'replace' or 'merge'")
            return Reconciliation.REPLACE
        return Reconciliation(mode)

    def manifest(self, document: dict[str, Any], where: str) -> Manifest | None:
        """Read ``source.manifest``, checked for form only (C8)."""
        source = document.get("source")
        manifest, problems = check_manifest(source.get("manifest") if is_object(source) else None)
        for problem in problems:
            self.fault(f"{where}source.manifest", problem.message)
        return manifest

    def primary_url(self, document: dict[str, Any], where: str) -> str | None:
        """Read ``links.primary_url``; ``null`` is as if absent (C8)."""
        links = document.get("links")
        if links is None:
            return None
        if not is_object(links):
            self.fault(f"{where}links", "is not an object")
            return None
        return self.url(links, "primary_url", f"{where}links.")

    def url(self, document: dict[str, Any], key: str, where: str) -> str | None:
        """Read an optional absolute HTTP or HTTPS URL."""
        value = document.get(key)
        if value is None:
            return None
        if not is_http_url(value):
            self.fault(f"{where}{key}", "is not an absolute HTTP or HTTPS URL")
        return str(value)

    def source(self, document: dict[str, Any], where: str) -> SourceIdentity:
        """Read the compact source identity of a shared-root output."""
        return SourceIdentity(
            self._text(document, "source_id", where, is_source_id, "is not a source id"),
            self._text(document, "source_digest", where, is_digest, "is not sha256: and 64 lowercase hex digits"),
            self.time(document, "source_created", where),
        )

    def array(self, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
        """Read a required array of objects."""
        value = document.get(key)
        if not isinstance(value, list):
            self.fault(key, "is required and must be an array")
            return []
        good = [item for item in value if is_object(item)]
        if len(good) != len(value):
            self.fault(key, "holds something that is no object")
        return good

    def output(
        self, item: dict[str, Any], index: int, owner: OwnerKey, source: SourceIdentity, default_time: Timestamp | None
    ) -> OutputRecord:
        """Read one output record ("Output Records"); ``default_time`` stands in for version 1's missing times."""
        where = f"outputs[{index}]."
        path, source_path, kind = item.get("path"), item.get("source_path"), item.get("kind")
        sha256, size = item.get("sha256"), item.get("size")
        self._check_path(path, f"{where}path")
        if not isinstance(source_path, str) or path_problem(source_path):
            self.fault(f"{where}source_path", "is not a clean relative path")
        if kind not in ("source", "generated"):
            self.fault(f"{where}kind", "is not 'source' or 'generated'")
            kind = "source"
        if not is_digest(sha256):
            self.fault(f"{where}sha256", "is not sha256: and 64 lowercase hex digits")
        if not is_size(size):
            self.fault(f"{where}size", "is not a whole number of bytes")
            size = 0
        return OutputRecord(
            path=str(path),
            kind=OutputKind(kind),
            source_path=str(source_path),
            transform=self._transform(item, kind, where),
            url=self.url(item, "url", where) if "url" in item else None,
            sha256=str(sha256),
            size=size if isinstance(size, int) else 0,
            created_at=self.time(item, "created_at", where, default_time),
            updated_at=self.time(item, "updated_at", where, default_time),
            owner=owner,
            source=source,
            raw=item,
        )

    def _check_path(self, path: object, where: str) -> None:
        if not isinstance(path, str):
            self.fault(where, "is not a string")
        elif fault := path_problem(path):
            self.fault(where, fault)
        elif is_reserved(path):
            self.fault(where, f"{path!r} is a reserved name")

    def _transform(self, item: dict[str, Any], kind: str, where: str) -> str | None:
        transform = item.get("transform")
        if transform is None:
            if kind == "generated":
                self.fault(f"{where}transform", "is required for a generated output")
            return None
        if kind == "source":
            self.fault(f"{where}transform", "must not stand on a copied output")
        elif not isinstance(transform, str) or not transform:
            self.fault(f"{where}transform", "is not a name")
        return str(transform)

    def check_paths(self, outputs: tuple[OutputRecord, ...]) -> None:
        """Check that output paths are one set of files (A1)."""
        paths = {output.path for output in outputs}
        if len(paths) != len(outputs):
            self.fault("outputs", "names a path twice")
        for folder, path in overlaps(paths):
            self.fault("outputs", f"names {folder!r} and, as if it were a folder, {path!r}")
