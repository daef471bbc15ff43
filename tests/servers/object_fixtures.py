"""Fixtures: each server is started once in a test process, when the first test needs it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import objects
from tests.servers.objects import ObjectServer


@pytest.fixture(scope="session")
def seaweed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    with objects.seaweed(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture(scope="session")
def moto_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    with objects.moto(tmp_path_factory.mktemp("moto")) as server:
        yield server


@pytest.fixture(scope="session")
def rclone_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    with objects.rclone(tmp_path_factory.mktemp("rclone")) as server:
        yield server


@pytest.fixture(scope="session")
def azurite_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    with objects.azurite(tmp_path_factory.mktemp("azurite")) as server:
        yield server
