"""No kind of destination without its enrolment in the conformance suite."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

from distributor.storage import backends
from distributor.storage.opening import BUILT_IN
from tests.storage.conformance import CheckedConditions, StorageContract
from tests.storage.conformance_locks import LockContract

KINDS = sorted(
    module.name
    for module in pkgutil.iter_modules(backends.__path__)
    if hasattr(importlib.import_module(f"{backends.__name__}.{module.name}"), "SCHEMES")
)


def enrolled_classes(kind: str) -> list[type]:
    module = importlib.import_module(f"tests.storage.test_{kind}")
    return [found for name, found in inspect.getmembers(module, inspect.isclass) if name.startswith("Test")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_enrolled(kind: str) -> None:
    bases = (StorageContract, CheckedConditions, LockContract)
    assert any(all(issubclass(found, base) for base in bases) for found in enrolled_classes(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_opened_by_its_own_schemes(kind: str) -> None:
    schemes = importlib.import_module(f"{backends.__name__}.{kind}").SCHEMES
    assert set(schemes) == {scheme for scheme, module in BUILT_IN.items() if module == kind}
