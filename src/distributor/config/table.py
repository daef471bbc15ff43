"""Mappings of the configuration: their keys, each with its kind, default and meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from distributor.config.kinds import ABSENT, Kind, Schema, nearest
from distributor.config.reading import INVALID, Cursor, Invalid

Values = dict[str, object]
Rule = Callable[[Values, Cursor], None]
"""Looks at a whole mapping once its values are read, and records what does not fit together."""


class Key:
    """One key: ``default`` as a configuration would write it, ``doc`` one sentence, ``example`` a value.

    ``choose`` picks the kind by what stands beside the key, where that matters.
    """

    __slots__ = ("choose", "default", "doc", "example", "kind", "name", "required")

    def __init__(
        self,
        name: str,
        kind: Kind,
        doc: str,
        *,
        default: object = ABSENT,
        example: object = None,
        required: bool = False,
        choose: Callable[[Mapping[str, Cursor]], Kind] | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.doc = doc
        self.default = default
        self.example = example
        self.required = required
        self.choose = choose

    def schema(self) -> Schema:
        """Return the key's JSON Schema with its meaning."""
        found: Schema = {"description": self.doc, **self.kind.schema()}
        if self.default is not ABSENT and self.default != {}:
            found["default"] = self.default
        if self.example is not None:
            found["examples"] = [self.example]
        return found


class Table:
    """A mapping with known keys; anything else in it is a fault.

    ``rules`` see the whole mapping. ``refine`` adds to the JSON Schema what depends on
    several keys. With ``numbered`` the values carry their ``line``.
    """

    def __init__(
        self,
        *keys: Key,
        rules: tuple[Rule, ...] = (),
        refine: Callable[[Schema], Schema] | None = None,
        numbered: bool = False,
    ) -> None:
        self.keys = {key.name: key for key in keys}
        self.rules = rules
        self.refine = refine
        self.numbered = numbered

    def read(self, at: Cursor) -> object:
        """Return the values by key, defaults filled in; ``INVALID`` ones are left out."""
        entries = at.entries()
        if isinstance(entries, Invalid):
            return entries
        values: Values = {"line": at.line} if self.numbered else {}
        for name, entry in entries.items():
            key = self.keys.get(name)
            if key is None:
                self._unknown(name, entry)
                continue
            value = (key.choose(entries) if key.choose else key.kind).read(entry)
            if value is not INVALID:
                values[name] = value
        self._fill(values, entries, at)
        for rule in self.rules:
            rule(values, at)
        return values

    def _unknown(self, name: str, entry: Cursor) -> None:
        guess = nearest(name, tuple(self.keys)) or f"; known keys: {', '.join(self.keys) or 'none'}"
        entry.fault(f"is no known key{guess}", "unknown_key")

    def _fill(self, values: Values, entries: Mapping[str, Cursor], at: Cursor) -> None:
        for name, key in self.keys.items():
            if name in entries:
                continue
            if key.required:
                missing = Cursor(at.node, f"{at.path}.{name}" if at.path else name, at.reading)
                missing.fault("is missing", "missing_key")
            elif key.default is not ABSENT:
                values[name] = (key.choose(entries) if key.choose else key.kind).convert(key.default)

    def convert(self, raw: object) -> Values:
        """Return the values of an empty mapping: every key's default."""
        del raw
        return {name: key.kind.convert(key.default) for name, key in self.keys.items() if key.default is not ABSENT}

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        found: Schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: key.schema() for name, key in self.keys.items()},
        }
        if required := [name for name, key in self.keys.items() if key.required]:
            found["required"] = required
        return self.refine(found) if self.refine else found


def unique(listed: str, field: str) -> Rule:
    """Return a rule: ``field`` differs among the entries of the list under the key ``listed``."""

    def rule(values: Values, at: Cursor) -> None:
        entries = values.get(listed)
        first: dict[object, int] = {}
        for index, entry in enumerate(entries if isinstance(entries, tuple) else ()):
            value = entry.get(field) if isinstance(entry, dict) else None
            if value in first:
                where = at.within(listed, index, field)
                where.fault(f"{where.shown} is the {field} of {listed}[{first[value]}] already", "duplicate")
            elif value is not None:
                first[value] = index

    return rule
