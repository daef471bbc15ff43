"""A folder on an OpenSSH server keeps every promise of a storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from distributor.core.observation import EntryKind
from distributor.storage.base import Capabilities, Storage
from distributor.storage.opening import Target
from tests.servers.sftp import sshd
from tests.storage.conformance import CheckedConditions, StorageContract, content
from tests.storage.conformance_locks import LeaseContract, ProcessLockContract
from tests.storage.conformance_staging import RealFolderContract, StagingContract


class TestSftp(
    StorageContract, CheckedConditions, StagingContract, RealFolderContract, LeaseContract, ProcessLockContract
):
    capabilities = Capabilities(staging=True, conditional_write=False, folders=True, parallel=16)

    @pytest.fixture
    def target(self, tmp_path: Path) -> Target:
        return sshd().target(tmp_path / "new" / "root")

    def make_folder(self, target: Target, path: str) -> None:
        Path("/" + target.url.split("/", 3)[3], path).mkdir(parents=True)

    def test_stat_tells_kind_size_and_version(self, storage: Storage) -> None:
        """SFTP has no version: what read and write return is a digest, which a look can't tell."""
        storage.write("a/b", content(b"12345"))
        assert storage.stat("a/b")[:3] == ("a/b", EntryKind.FILE, 5)
