"""A folder of this machine keeps every promise of a storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from distributor.storage.base import Capabilities
from distributor.storage.opening import Target
from tests.storage.conformance import AtomicConditions, StorageContract
from tests.storage.conformance_locks import OsLockContract, ProcessLockContract
from tests.storage.conformance_staging import RealFolderContract, StagingContract


class TestLocal(
    StorageContract, AtomicConditions, StagingContract, RealFolderContract, OsLockContract, ProcessLockContract
):
    capabilities = Capabilities(staging=True, conditional_write=True, folders=True, parallel=1)

    @pytest.fixture
    def target(self, tmp_path: Path) -> Target:
        return Target(str(tmp_path / "new" / "root"), {})

    def make_folder(self, target: Target, path: str) -> None:
        Path(target.url, path).mkdir(parents=True)
