"""The real command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMAND = (sys.executable, "-m", "distributor")


def environment(**extra: str) -> dict[str, str]:
    """A plain environment: UTF-8, no terminal's hints, no colour settings of the caller."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    return kept | {"LANG": "C.UTF-8", "TERM": "xterm-256color"} | extra


def distributor(*arguments: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end with both outputs in pipes."""
    return subprocess.run(
        [*COMMAND, *arguments],
        check=False,
        cwd=cwd,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=60,
    )
