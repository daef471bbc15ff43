from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.making import Loading, loading


@pytest.fixture
def load(tmp_path: Path) -> Loading:
    return loading(tmp_path)
