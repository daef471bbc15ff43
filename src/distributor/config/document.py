"""From a YAML file to nodes that know their line, by the rules of YAML 1.2's core schema.

PyYAML resolves plain scalars by YAML 1.1, where ``on`` and ``no`` are booleans
and ``012`` is ten; here the composer's nodes are tagged anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import yaml

from distributor.errors import ConfigError, Problem

_PREFIX = "tag:yaml.org,2002:"
TEXT, WHOLE, NUMBER, FLAG, EMPTY = (_PREFIX + name for name in ("str", "int", "float", "bool", "null"))
MERGE, MAPPING, SEQUENCE = (_PREFIX + name for name in ("merge", "map", "seq"))

_CORE = (
    (EMPTY, re.compile(r"(?:~|null|Null|NULL)?\Z")),
    (FLAG, re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")),
    (WHOLE, re.compile(r"(?:[-+]?[0-9]{1,40}|0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40})\Z")),
    (NUMBER, re.compile(r"[-+]?(?:(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))\Z")),
    (NUMBER, re.compile(r"\.(?:nan|NaN|NAN)\Z")),
)


class Loader(yaml.CSafeLoader):
    """A composer whose plain scalars are tagged by YAML 1.2's core schema."""

    def resolve(self, kind: type, value: str | None, implicit: object) -> str:
        """Return the tag of a node that has none of its own."""
        if kind is yaml.ScalarNode and isinstance(implicit, tuple):
            plain = implicit[0]
            return MERGE if plain and value == "<<" else core_tag(value or "") if plain else TEXT
        return MAPPING if kind is yaml.MappingNode else SEQUENCE


def core_tag(text: str) -> str:
    """Return the tag of a plain scalar by YAML 1.2's core schema."""
    for tag, pattern in _CORE:
        if pattern.match(text):
            return tag
    return TEXT


def core_value(text: str) -> object:
    """Return what a plain scalar means: ``None``, a boolean, a number or text."""
    tag = core_tag(text)
    if tag == WHOLE:
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if tag == NUMBER:
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if tag == FLAG:
        return text.lower() == "true"
    return None if tag == EMPTY else text


def parse_document(data: bytes, label: str) -> yaml.Node:
    """Return the root node of one YAML document.

    Raises ``ConfigError`` with the line where the text is no YAML, not UTF-8, empty
    or several documents. ``label`` names the file in messages.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _syntax_error(label, "is not UTF-8 text", line) from None
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        context = f" {error.context}" if error.context else ""
        raise _syntax_error(label, f"is not YAML: {error.problem}{context}", mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _syntax_error(label, "is not YAML: it contains a control character", line) from None
    if root is None:
        raise _syntax_error(label, "is empty; `distributor init` writes a configuration to start from", None)
    return root


def config_error(label: str, problems: Iterable[Problem]) -> ConfigError:
    """Return the error for every fault of a file, in the order of its lines."""
    ordered = tuple(sorted(dict.fromkeys(problems), key=lambda problem: problem.line or 0))
    amount = "one fault" if len(ordered) == 1 else f"{len(ordered)} faults"
    return ConfigError(f"{label}: the configuration has {amount}; nothing was done", ordered)


def _syntax_error(label: str, message: str, line: int | None) -> ConfigError:
    return config_error(label, [Problem("syntax", message, None, line)])
