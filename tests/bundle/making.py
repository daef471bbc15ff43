"""Bundles for tests, made without the code under test."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

CREATED = "2026-06-04T11:55:00Z"


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_over(files: list[dict[str, object]]) -> str:
    """B1, written out once more: what ``sha256sum`` prints, in byte order of the paths."""
    ordered = sorted(files, key=lambda file: str(file["path"]).encode())
    return sha256("".join(f"{str(f['sha256'])[7:]}  {f['path']}\n" for f in ordered).encode())


def make_bundle(folder: Path, contents: dict[str, bytes], **fields: object) -> Path:
    """Write files and a manifest that lists them; ``fields`` replace the manifest's own."""
    files: list[dict[str, object]] = []
    for path, data in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        files.append({"path": path, "sha256": sha256(data), "size": len(data)})
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"schema_version": 1, "id": "weekly", "digest": digest_over(files), "created": CREATED, "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest | fields, ensure_ascii=False), encoding="utf-8")
    return folder
