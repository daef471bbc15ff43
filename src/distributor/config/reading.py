"""Walking a configuration's nodes: every fault is collected, with its line and path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import yaml

from distributor.config import document
from distributor.config.variables import VariableFault, Variables, is_one_variable
from distributor.errors import Problem

_URL_PASSWORD = re.compile(r"(://[^/@:]*:)[^/@]*@")
_MAX_VALUES = 100_000
_MAX_DEPTH = 64


class Invalid:
    """The value of what could not be read; its fault is recorded, or it is not needed (H1)."""

    __slots__ = ()


INVALID: Final = Invalid()


class Secret(str):
    """Text that may be secret: usable as ever, but not shown where values are printed for debugging."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


class TooLarge(Exception):
    """Aliases or nesting make the document too large to read."""


class Reading:
    """The state of reading one file: what was found wrong, and how variables expand.

    ``selected`` are the pipelines of this run (empty: all), ``server`` says whether it
    needs the server's keys. ``lenient`` is on while a part is read that it does not
    use: variables that are not set are no fault there (H1).
    """

    def __init__(self, variables: Variables, selected: tuple[str, ...] = (), *, server: bool = True) -> None:
        self.variables = variables
        self.selected = selected
        self.server = server
        self.problems: list[Problem] = []
        self.lenient = False
        self._values = 0

    def count(self, values: int, depth: int) -> None:
        """Note that ``values`` more values are read at ``depth``. Raises ``TooLarge``."""
        self._values += values
        if self._values > _MAX_VALUES or depth > _MAX_DEPTH:
            raise TooLarge


class Cursor:
    """One node of the document with its path, as ``pipelines[0].source.path``."""

    __slots__ = ("depth", "node", "path", "reading")

    def __init__(self, node: yaml.Node, path: str, reading: Reading, depth: int = 0) -> None:
        self.node = node
        self.path = path
        self.reading = reading
        self.depth = depth

    @property
    def line(self) -> int:
        """The 1-based line where this value begins."""
        return int(self.node.start_mark.line) + 1

    @property
    def is_mapping(self) -> bool:
        """Whether a mapping stands here."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether a list stands here."""
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def shown(self) -> str:
        """The value as the file has it, for messages: variables stand unexpanded."""
        if isinstance(self.node, yaml.ScalarNode):
            text = _URL_PASSWORD.sub(r"\1***@", str(self.node.value))
            text = text if len(text) <= 60 else text[:57] + "..."
            return repr(text) if self.node.tag == document.TEXT else text
        return "a mapping" if self.is_mapping else "a list"

    @property
    def has_variable(self) -> bool:
        """Whether this is text with a ``$`` in it, whose expansion no message may show."""
        return isinstance(self.node, yaml.ScalarNode) and "$" in self.node.value

    def fault(self, message: str, code: str = "invalid_value") -> Invalid:
        """Record what is wrong with this value."""
        self.reading.problems.append(Problem(code, message, self.path or None, self.line))
        return INVALID

    def scalar(self) -> object:
        """Return a plain value: text, number, boolean or ``None``, variables expanded.

        A value that is one variable and nothing else is read as a YAML scalar (H1).
        """
        text = self._expanded()
        if isinstance(text, str) and self.has_variable and is_one_variable(self.node.value):
            return document.core_value(text)
        if not isinstance(text, str) or self.node.tag == document.TEXT:
            return text
        return document.core_value(text)

    def text(self, *, secret: bool = False) -> str | Invalid:
        """Return text with its variables expanded; a number or boolean in its place is a fault."""
        tag = self.node.tag
        if isinstance(self.node, yaml.ScalarNode):
            if tag == document.EMPTY:
                return self.fault("is empty; give it a value, or leave the key out")
            if tag in (document.WHOLE, document.NUMBER, document.FLAG):
                kind = "a boolean" if tag == document.FLAG else "a number"
                example = "" if secret else f': "{self.node.value}"'
                return self.fault(f"is {kind}, not text; write it in quotes{example}")
        return self._expanded()

    def peek(self) -> str | None:
        """Return the text that stands here, or ``None``; faults are recorded where it is read for good."""
        silent = Reading(self.reading.variables)
        silent.lenient = True
        text = Cursor(self.node, self.path, silent).text()
        return text if isinstance(text, str) else None

    def _expanded(self) -> str | Invalid:
        if not isinstance(self.node, yaml.ScalarNode):
            return self.fault(f"is {self.shown}, not a single value")
        if not self.node.tag.startswith("tag:yaml.org,2002:") or self.node.tag == document.MERGE:
            return self.fault(f"has the tag {self.node.tag}, which means nothing here")
        if "$" not in self.node.value:
            return str(self.node.value)
        try:
            return Secret(self.reading.variables.expand(self.node.value, use=not self.reading.lenient))
        except VariableFault as fault:
            if fault.unset and self.reading.lenient:
                return INVALID
            return self.fault(str(fault), "unset_variable" if fault.unset else "invalid_variable")

    def items(self) -> Sequence[Cursor] | Invalid:
        """Return the entries of a list."""
        if not isinstance(self.node, yaml.SequenceNode) or self.node.tag != document.SEQUENCE:
            hint = f"; write [{self.node.value}]" if isinstance(self.node, yaml.ScalarNode) and self.node.value else ""
            return self.fault(f"is not a list{hint}")
        self.reading.count(len(self.node.value), self.depth)
        return [
            Cursor(node, f"{self.path}[{index}]", self.reading, self.depth + 1)
            for index, node in enumerate(self.node.value)
        ]

    def entries(self) -> dict[str, Cursor] | Invalid:
        """Return the values of a mapping by key, merge keys resolved; repeated keys are faults (H4)."""
        if not isinstance(self.node, yaml.MappingNode) or self.node.tag != document.MAPPING:
            return self.fault("is empty; give it keys, or leave it out" if self._is_empty() else "is not a mapping")
        merged: dict[str, Cursor] = {}
        own: dict[str, Cursor] = {}
        self.reading.count(len(self.node.value), self.depth)
        for key, value in self.node.value:
            if key.tag == document.MERGE:
                for cursor in self._merged(value):
                    merged = {**(_valid(cursor.entries()) or {}), **merged}
            elif (name := self._key(key, own)) is not None:
                own[name] = Cursor(value, f"{self.path}.{name}" if self.path else name, self.reading, self.depth + 1)
        return {**merged, **own}

    def _is_empty(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and not self.node.value

    def _merged(self, value: yaml.Node) -> Iterator[Cursor]:
        for node in value.value if isinstance(value, yaml.SequenceNode) else (value,):
            # The merged mapping's keys stand in this one, so its paths begin here.
            yield Cursor(node, self.path, self.reading, self.depth + 1)

    def _key(self, key: yaml.Node, known: dict[str, Cursor]) -> str | None:
        at = Cursor(key, self.path, self.reading, self.depth)
        if not isinstance(key, yaml.ScalarNode) or key.tag != document.TEXT:
            at.fault(f"has a key that is not text: {at.shown}")
            return None
        name = str(key.value)
        if name in known:
            at = Cursor(key, known[name].path, self.reading, self.depth)
            at.fault(f"is repeated; it stands in line {known[name].line} already", "repeated_key")
            return None
        return name

    def within(self, *steps: str | int) -> Cursor:
        """Return the nearest value on the way to ``steps``, for a fault that concerns it."""
        at = self
        for step in steps:
            before = len(self.reading.problems)
            below: object = at.entries() if isinstance(step, str) else at.items()
            del self.reading.problems[before:]  # already recorded when these were read
            if isinstance(below, dict) and step in below:
                at = below[str(step)]
            elif isinstance(below, list) and isinstance(step, int) and step < len(below):
                at = below[step]
            else:
                break
        return at


def _valid(entries: dict[str, Cursor] | Invalid) -> dict[str, Cursor] | None:
    return None if isinstance(entries, Invalid) else entries
