"""Configurations for these tests: a good one, and changes to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from distributor.config.loading import load_config
from distributor.config.model import Config
from distributor.errors import ConfigError, Problem

GOOD = """\
version: 1
pipelines:
  - id: reports
    destinations:
      - id: archive
        url: /srv/www
"""


def destination(text: str, url: str = "/srv/www") -> str:
    """Return a configuration whose one destination has the keys of ``text`` (flow or one line)."""
    indented = "\n".join("        " + line for line in text.splitlines())
    return GOOD.replace("/srv/www", url) + indented + "\n"


def pipeline(text: str) -> str:
    """Return a configuration whose one pipeline has the keys of ``text``."""
    return GOOD + "\n".join("    " + line for line in text.splitlines()) + "\n"


Loading = Callable[..., Config]


def loading(folder: Path) -> Loading:
    """Return a function that loads a text as ``distributor.yml`` of ``folder``."""

    def load(text: str, environ: Mapping[str, str] | None = None, **options: object) -> Config:
        file = folder / "distributor.yml"
        file.write_text(text, encoding="utf-8")
        return load_config(str(file), environ=environ or {}, **options)  # type: ignore[arg-type]

    return load


def faults(load: Loading, text: str, environ: Mapping[str, str] | None = None, **options: object) -> list[Problem]:
    """Return the faults of a text that must have some."""
    with pytest.raises(ConfigError) as caught:
        load(text, environ, **options)
    return list(caught.value.problems)
