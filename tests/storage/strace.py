"""Running a few storage operations under ``strace``: to see their order, or to make them fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PRELUDE = """
import os, sys
from distributor.errors import StorageError
from distributor.storage.base import CREATE_ONLY, IfVersion, LockRequest, bytes_content
from distributor.storage.opening import Target, open_storage
storage = open_storage(Target(sys.argv[1], {}))
content = lambda data: bytes_content(data, "")
request = LockRequest(0.0, 3.0, "reports/archive", lambda holder: None)
"""


def traced(script: str, root: Path, *options: str) -> tuple[list[str], str]:
    """Run ``script`` on a storage at ``root``; return its system calls below the root, and its output."""
    log = root.parent / "strace.log"
    done = subprocess.run(
        ["strace", "-f", "-y", "-qq", "-o", str(log), *options, sys.executable, "-c", _PRELUDE + script, str(root)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    calls = [line.partition(" ")[2].strip() for line in log.read_text(errors="replace").splitlines()]
    return [call.replace(str(root.parent), "") for call in calls if str(root.parent) in call], done.stdout


def position(calls: list[str], *parts: str) -> int:
    """Index of the one call that contains all ``parts``. Fails if there is none or another."""
    found = [index for index, call in enumerate(calls) if all(part in call for part in parts)]
    assert len(found) == 1, (parts, [calls[index] for index in found], calls)
    return found[0]
