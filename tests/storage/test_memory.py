"""The kind for tests, in both of its shapes, keeps every promise of a storage."""

from __future__ import annotations

from uuid import uuid4

import pytest

from distributor.storage.base import Capabilities
from distributor.storage.opening import Target
from tests.storage.conformance import AtomicConditions, StorageContract
from tests.storage.conformance_locks import LeaseContract, OsLockContract
from tests.storage.conformance_staging import FolderContract, StagingContract


class TestMemory(StorageContract, AtomicConditions, StagingContract, FolderContract, OsLockContract):
    capabilities = Capabilities(staging=True, conditional_write=True, folders=True, parallel=4)

    @pytest.fixture
    def target(self) -> Target:
        return Target(f"memory://{uuid4()}", {})


class TestMemoryWithoutStaging(StorageContract, AtomicConditions, LeaseContract):
    capabilities = Capabilities(staging=False, conditional_write=True, folders=False, parallel=4)

    @pytest.fixture
    def target(self) -> Target:
        return Target(f"memory://{uuid4()}", {"staging": False})
