"""Every hostile input is rendered or refused within limits that the kernel enforces."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.transforms.hostile import CASES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("transform", "case"), [(transform, case) for transform, cases in CASES.items() for case in cases]
)
def test_it_ends_within_10_s_and_512_mib(transform: str, case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.transforms.hostile", transform, case],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith(("rendered: ", "refused: hostile"))
