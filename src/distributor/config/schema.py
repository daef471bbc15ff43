"""The configuration's JSON Schema (draft 7), derived from its specification, for editors."""

from __future__ import annotations

from distributor.config.kinds import Schema
from distributor.config.spec import ROOT


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
