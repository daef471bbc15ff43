"""Transforms as the configuration knows them: that they exist and accept their options."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Protocol

from distributor.config.kinds import nearest
from distributor.config.reading import Cursor, Secret
from distributor.config.table import Values

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_ATTRIBUTES = ("VERSION", "SCOPE", "DEFAULT_PATH", "check_options", "render")


class ChecksOptions(Protocol):
    """The part of a transform that the configuration needs."""

    def check_options(self, options: Mapping[str, object]) -> list[str]:
        """Return what is wrong with ``options``, one sentence each."""


def check_transform(values: Values, at: Cursor) -> None:
    """Record that an output rule's transform is unknown, or what is wrong with its options."""
    name = values.get("transform")
    options = values.get("options")
    if not isinstance(options, dict):
        return
    if not isinstance(name, str):
        if options and at.within("transform") is at:
            at.within("options").fault("belong to a transform, and this rule copies", "unknown_key")
        return
    where = at.within("transform")
    try:
        transform = find_transform(name)
    except ModuleNotFoundError as error:
        where.fault(
            f"{where.shown} needs the package {error.name!r}; install it with: pip install 'distributor[pages]'",
            "missing_package",
        )
        return
    if transform is None:
        guess = "" if where.has_variable else nearest(name, _known())
        where.fault(f"{where.shown} is no transform that is installed{guess}", "unknown_transform")
        return
    faults = transform.check_options(options)
    if faults and _hides(options):
        faults = [f"are not what {name} accepts; values out of variables are not shown"]
    for fault in faults:
        at.within("options").fault(fault, "invalid_options")


def find_transform(name: str) -> ChecksOptions | None:
    """Return the transform called ``name``: a module of the package, else an entry point, else ``None``.

    The text of a configuration becomes no import path: only a module of
    ``distributor.transforms`` with all that a transform has counts. Raises
    ``ModuleNotFoundError`` where a package that it needs is not installed.
    """
    if not _NAME.match(name):
        return None
    full = f"distributor.transforms.{name}"
    try:
        module = importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
    else:
        if all(hasattr(module, attribute) for attribute in _ATTRIBUTES):
            built_in: ChecksOptions = module
            return built_in
    return _third_party(name)


def _third_party(name: str) -> ChecksOptions | None:
    from importlib.metadata import entry_points  # here: slow to import, and only foreign transforms need it

    for point in entry_points(group="distributor.transforms", name=name):
        found: ChecksOptions = point.load()
        return found
    return None


def _known() -> tuple[str, ...]:
    import pkgutil  # here: only a fault needs it
    from importlib.metadata import entry_points

    package = importlib.import_module("distributor.transforms")
    built_in = [module.name for module in pkgutil.iter_modules(package.__path__)]
    return (*built_in, *(point.name for point in entry_points(group="distributor.transforms")))


def _hides(value: object) -> bool:
    """Whether plain YAML data holds text that came out of a variable."""
    if isinstance(value, dict):
        return any(_hides(item) for item in value.values())
    if isinstance(value, list):
        return any(_hides(item) for item in value)
    return isinstance(value, Secret)
