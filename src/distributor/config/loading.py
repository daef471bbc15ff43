"""Finding, reading and checking the configuration file (interfaces section 2; H1, H4)."""

from __future__ import annotations

import hashlib
import os
import os.path
from collections.abc import Mapping, Sequence
from typing import Any

from distributor.config.building import build_pipeline, warnings_of
from distributor.config.document import config_error, parse_document
from distributor.config.model import Config
from distributor.config.reading import Cursor, Reading, TooLarge
from distributor.config.spec import ROOT
from distributor.config.variables import Variables
from distributor.errors import ConfigError, UsageError

_MAX_BYTES = 16 << 20
_NAMES = ("distributor.yml", "distributor.yaml")


def load_config(
    path: str | None = None,
    *,
    pipelines: Sequence[str] | None = None,
    server: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Find, read and check a configuration.

    ``path`` is a file, or ``None`` to look where the interfaces say. ``pipelines``
    selects some (``None`` or empty: all): only these are in the result, and a
    variable that is not set is no fault anywhere else (H1); form is checked
    everywhere. ``server`` says that the server's keys are needed; without it
    ``Config.server`` is ``None``. ``environ`` is ``os.environ`` by default.

    Raises ``ConfigError`` with every fault at once, ``UsageError`` for a selected
    pipeline that is not there.
    """
    env = os.environ if environ is None else environ
    file = os.path.abspath(find_config(path, env))
    label = _label(file)
    data = _read(file)
    reading = Reading(Variables(env, os.path.dirname(file)), tuple(pipelines or ()), server=server)
    values = _check(data, label, reading)
    built = tuple(build_pipeline(v) for v in _selected(values["pipelines"], reading.selected))
    return Config(
        path=file,
        pipelines=built,
        server=values.get("server") if server else None,
        hooks=values["hooks"],
        warnings=tuple(warnings_of(built, label)),
        digest=_digest(data, reading.variables.used),
        metrics_textfile=values["metrics"].get("textfile"),
        log_format=values["logging"]["format"],
        log_level=values["logging"]["level"],
    )


def find_config(path: str | None, environ: Mapping[str, str]) -> str:
    """Return the configuration file to use. Raises ``ConfigError`` where there is none."""
    chosen = path or environ.get("DISTRIBUTOR_CONFIG")
    if chosen:
        return chosen
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".config")
    places = (*_NAMES, os.path.join(home, "distributor", "config.yml"), "/etc/distributor/config.yml")
    for place in places:
        if os.path.exists(place):
            return place
    message = f"no configuration found: neither {', '.join(places[:-1])} nor {places[-1]} exists"
    raise ConfigError(message, hint="name one with --config, or let `distributor init` write one")


def _label(file: str) -> str:
    """Return the file as messages name it: relative where it lies below the working folder."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - pathlib would slow every start
            data = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{_label(file)}: can't be read: {error.strerror}") from None
    if len(data) > _MAX_BYTES:
        raise ConfigError(f"{_label(file)}: is larger than 16 MiB, which is no configuration")
    return data


def _check(data: bytes, label: str, reading: Reading) -> dict[str, Any]:
    root = Cursor(parse_document(data, label), "", reading)
    try:
        values = ROOT.read(root)
    except TooLarge:
        root.fault("is too large: aliases or nesting expand to more than 100,000 values or 64 levels", "too_large")
        values = None
    if reading.problems:
        raise config_error(label, reading.problems)
    if not isinstance(values, dict):
        raise TypeError("a mapping without faults has values")
    return values


def _selected(values: Sequence[Mapping[str, Any]], selected: tuple[str, ...]) -> list[Mapping[str, Any]]:
    if not selected:
        return list(values)
    known = [str(value["id"]) for value in values if "id" in value]
    for name in selected:
        if name not in known:
            raise UsageError(f"no pipeline is called {name!r}", hint=f"there are: {', '.join(known)}")
    return [value for value in values if value.get("id") in selected]


def _digest(data: bytes, used: Mapping[str, str]) -> str:
    found = hashlib.sha256(hashlib.sha256(data).digest())
    for name, value in sorted(used.items()):
        for text in (name, value):
            encoded = text.encode("utf-8", "surrogateescape")
            found.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"sha256:{found.hexdigest()}"
