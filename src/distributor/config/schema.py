"""JSON Schemas (draft 7): the configuration's derives from its specification, the others are files."""

from __future__ import annotations

import json
from importlib.resources import files

from distributor.config.kinds import Schema
from distributor.config.spec import ROOT


def schema(name: str) -> Schema:
    """Return the schema called ``config``, ``manifest``, ``state`` or ``report``."""
    if name == "config":
        return config_schema()
    found: Schema = json.loads((files("distributor") / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def config_schema() -> Schema:
    """Return the schema of a configuration file.

    It says of each key what the loader checks of it alone: kind, choices, bounds,
    default, meaning, and which ``storage`` keys go with which URL. What depends on
    the machine or on several keys (variables, duplicate ids, transforms) is left to
    ``distributor config check``.
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "distributor configuration",
        "description": "Which bundles go to which destinations, and how.",
        **ROOT.schema(),
    }
