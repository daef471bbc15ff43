"""Object stores keep every promise of a storage, on four real servers."""

from __future__ import annotations

from uuid import uuid4

import pytest

from distributor.storage.base import Capabilities
from distributor.storage.opening import Target
from tests.servers.objects import BUCKET, ObjectServer
from tests.storage.conformance import AtomicConditions, CheckedConditions, StorageContract
from tests.storage.conformance_locks import LeaseContract, ProcessLockContract

CAPABILITIES = Capabilities(staging=False, conditional_write=True, folders=False, parallel=16)


class TestSeaweed(StorageContract, AtomicConditions, LeaseContract, ProcessLockContract):
    capabilities = CAPABILITIES

    @pytest.fixture
    def target(self, seaweed_server: ObjectServer) -> Target:
        return Target(f"s3://{BUCKET}/{uuid4()}/site", seaweed_server.settings)


class TestMoto(StorageContract, AtomicConditions, LeaseContract):
    capabilities = CAPABILITIES

    @pytest.fixture
    def target(self, moto_server: ObjectServer) -> Target:
        return Target(f"s3://{BUCKET}/{uuid4()}", moto_server.settings)


class TestRclone(StorageContract, CheckedConditions, LeaseContract):
    """It ignores every condition; the lease finds that out (fault row 34)."""

    capabilities = CAPABILITIES  # until the lock has probed

    @pytest.fixture
    def target(self, rclone_server: ObjectServer) -> Target:
        return Target(f"s3://{BUCKET}/{uuid4()}", rclone_server.settings)


class TestAzurite(StorageContract, AtomicConditions, LeaseContract):
    capabilities = CAPABILITIES

    @pytest.fixture
    def target(self, azurite_server: ObjectServer) -> Target:
        return Target(f"az://{BUCKET}/{uuid4()}", azurite_server.settings)
