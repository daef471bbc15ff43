"""What a configuration key may hold: one class per kind of value.

Each kind reads a value from the document (``read``), takes a default from the
specification (``convert``) and describes itself to editors (``schema``, JSON
Schema draft 7), so that the three can't disagree.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from distributor.config.reading import INVALID, Cursor, Invalid, Secret
from distributor.config.scalars import parse_delete_limit, parse_duration

Schema = dict[str, object]
VARIABLE: Schema = {"type": "string", "pattern": r"^\$\{[^}]*\}$"}
"""A value that is one variable and nothing else, which any plain value may be (H1)."""

_MODE = re.compile(r"[0-7]{3,4}\Z")
ABSENT: Final = object()
"""The default of a key that simply stays out when it is left out."""


class Kind(Protocol):
    """A kind of value."""

    def read(self, at: Cursor) -> object:
        """Return the value, or ``INVALID`` once its faults are recorded."""

    def convert(self, raw: object) -> object:
        """Return the value of a default. Raises ``ValueError`` that says what ``raw`` is not."""

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""


class Plain:
    """A single value that is no text: read as a YAML scalar even out of a variable (H1)."""

    what = "a value"

    def read(self, at: Cursor) -> object:
        """Return the value, or ``INVALID`` once its faults are recorded."""
        raw = at.scalar()
        if isinstance(raw, Invalid):
            return raw
        if raw is None:
            return at.fault("is empty; give it a value, or leave the key out")
        try:
            return self.convert(raw)
        except ValueError as error:
            return at.fault(f"{at.shown} {error}")

    def convert(self, raw: object) -> object:
        """Return ``raw`` as this kind has it. Raises ``ValueError``."""
        raise NotImplementedError

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        raise NotImplementedError


class Flag(Plain):
    """``true`` or ``false``."""

    def convert(self, raw: object) -> bool:
        """Return the boolean."""
        if isinstance(raw, bool):
            return raw
        raise ValueError("is not true or false")

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        return {"anyOf": [{"type": "boolean"}, VARIABLE]}


class Whole(Plain):
    """A whole number from ``least`` to ``most``."""

    def __init__(self, least: int, most: int = 2**53) -> None:
        self.least = least
        self.most = most

    def convert(self, raw: object) -> int:
        """Return the number."""
        if type(raw) is not int:
            raise ValueError("is not a whole number")
        if raw < self.least:
            raise ValueError(f"is less than {self.least}")
        if raw > self.most:
            raise ValueError(f"is more than {self.most}")
        return raw

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        return {"anyOf": [{"type": "integer", "minimum": self.least, "maximum": self.most}, VARIABLE]}


class Choice(Plain):
    """One of a few words."""

    def __init__(self, *values: str) -> None:
        self.values = values

    def convert(self, raw: object) -> str:
        """Return the word."""
        if isinstance(raw, str) and raw in self.values:
            return str(raw)
        guess = "" if isinstance(raw, Secret) else nearest(raw, self.values)
        raise ValueError(f"is none of {', '.join(self.values)}{guess}")

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        return {"anyOf": [{"enum": list(self.values)}, VARIABLE]}


class Duration(Plain):
    """A time span such as ``30s``; its value is in seconds."""

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def convert(self, raw: object) -> int:
        """Return the seconds."""
        seconds = parse_duration(raw)
        if seconds is None:
            raise ValueError("is not a duration such as 30s, 15m, 12h, 90d or 4w")
        if seconds < self.least:
            raise ValueError(f"is less than {self.least}s")
        return seconds

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        digits = "[0-9]{1,9}" if self.least == 0 else "(?!0+[smhdw])[0-9]{1,9}"
        return {"anyOf": [{"type": "string", "pattern": f"^{digits}[smhdw]$"}, VARIABLE]}


class DeleteLimitKind(Plain):
    """``max_delete``: a count, or a share of the owner's outputs (D14)."""

    def convert(self, raw: object) -> object:
        """Return the limit."""
        limit = parse_delete_limit(raw)
        if limit is None:
            raise ValueError('is neither a count such as 20 nor a share such as "50%"')
        return limit

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        share = r"^(?:100(?:\.0{1,6})?|[0-9]{1,2}(?:\.[0-9]{1,6})?)%$"
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": share}, VARIABLE]}


class Mode(Plain):
    """Permission bits as quoted octal text (H2), which is also its value."""

    def convert(self, raw: object) -> str:
        """Return the octal text."""
        if not isinstance(raw, str) or not _MODE.match(raw):
            raise ValueError('is not octal text in quotes, such as "0644"')
        return str(raw)

    def read(self, at: Cursor) -> object:
        """Return the octal text; what a variable holds is taken as the text it is (H1)."""
        if not at.has_variable:
            return super().read(at)
        text = at.text()
        if isinstance(text, Invalid) or _MODE.match(text):
            return text if isinstance(text, Invalid) else str(text)
        return at.fault(f"{at.shown} does not give octal digits such as 0644")

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        return {"anyOf": [{"type": "string", "pattern": "^[0-7]{3,4}$"}, VARIABLE]}


Check = Callable[[str], str | None]
"""Says what is wrong with a text (``is no absolute URL``), or ``None``."""


class Text:
    """Text, taken as it is (H1).

    ``check`` says what is wrong with a text. With ``quotes`` it may quote from the
    text; ``what`` (``path template``) then stands for it where a variable was expanded,
    whose value no message may show. ``pattern`` is for editors. ``secret`` text is
    never shown.
    """

    def __init__(
        self,
        check: Check | None = None,
        *,
        what: str = "text",
        quotes: bool = False,
        pattern: str | None = None,
        secret: bool = False,
    ) -> None:
        self.check = check
        self.what = what
        self.quotes = quotes
        self.pattern = pattern
        self.secret = secret

    def read(self, at: Cursor) -> object:
        """Return the text, or ``INVALID`` once its faults are recorded."""
        text = at.text(secret=self.secret)
        if isinstance(text, Invalid):
            return text
        if not text:
            return at.fault(f"{at.shown} expands to nothing" if at.has_variable else "is empty")
        fault = self.check(text) if self.check else None
        if fault is None:
            return self.finish(text, at)
        if at.has_variable:
            return at.fault(f"{at.shown} gives {'no ' + self.what if self.quotes else 'what ' + fault}")
        return at.fault(fault if self.secret else f"{at.shown} {fault}")

    def finish(self, text: str, at: Cursor) -> object:
        """Return the checked text as the program uses it."""
        del at
        return Secret(text) if self.secret else text

    def convert(self, raw: object) -> object:
        """Return a default."""
        return raw

    def schema(self) -> Schema:
        """Return the kind's JSON Schema; a text with a variable in it may become anything."""
        if self.pattern is None:
            return {"type": "string", "minLength": 1}
        return {"type": "string", "anyOf": [{"pattern": self.pattern}, {"pattern": r"\$"}]}


class FilePath(Text):
    """A path on this machine; relative ones begin at the configuration's folder, ``~/`` at home."""

    def __init__(self) -> None:
        super().__init__(lambda text: "contains a NUL character" if "\0" in text else None)

    def finish(self, text: str, at: Cursor) -> object:
        """Return the absolute path."""
        return absolute(text, at)


def absolute(text: str, at: Cursor) -> str:
    """Return ``text`` as an absolute, normal path: from home for ``~/``, else from the file's folder."""
    variables = at.reading.variables
    if text.startswith("~/") and (home := variables.environ.get("HOME")):
        text = home + text[1:]
    path = os.path.normpath(os.path.join(variables.folder, text))
    return Secret(path) if isinstance(text, Secret) else path


class Items:
    """A list of values of one kind, of ``least`` or more.

    ``unused`` says of an entry that this run does not use it (H1).
    """

    def __init__(self, item: Kind, least: int = 0, *, unused: Callable[[Cursor], bool] | None = None) -> None:
        self.item = item
        self.least = least
        self.unused = unused

    def read(self, at: Cursor) -> object:
        """Return a tuple; entries with faults are ``INVALID`` in it."""
        entries = at.items()
        if isinstance(entries, Invalid):
            return entries
        if len(entries) < self.least:
            return at.fault("is empty; give it an entry, or leave the key out")
        return tuple(_read_part(self.item, entry, self.unused) for entry in entries)

    def convert(self, raw: object) -> tuple[object, ...]:
        """Return a default."""
        return tuple(self.item.convert(item) for item in raw) if isinstance(raw, list) else ()

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        found: Schema = {"type": "array", "items": self.item.schema()}
        return {**found, "minItems": self.least} if self.least else found


class Later:
    """A kind that is made only when the key is there; ``unused`` as for :class:`Items`."""

    def __init__(self, make: Callable[[], Kind], *, unused: Callable[[Cursor], bool] | None = None) -> None:
        self.make = make
        self.unused = unused

    def read(self, at: Cursor) -> object:
        """Return the value, or ``INVALID`` once its faults are recorded."""
        return _read_part(self.make(), at, self.unused)

    def convert(self, raw: object) -> object:
        """Return a default; only an empty one can be had without the kind."""
        return () if raw == [] else self.make().convert(raw)

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        return self.make().schema()


def _read_part(kind: Kind, at: Cursor, unused: Callable[[Cursor], bool] | None) -> object:
    reading = at.reading
    outer = reading.lenient
    reading.lenient = outer or (unused is not None and unused(at))
    try:
        return kind.read(at)
    finally:
        reading.lenient = outer


class Free:
    """A mapping whose keys another part knows: a transform's options, a foreign kind's storage."""

    def read(self, at: Cursor) -> object:
        """Return plain YAML data; text in it is taken as it is (H1)."""
        entries = at.entries()
        if isinstance(entries, Invalid):
            return entries
        return {name: _free(entry) for name, entry in entries.items()}

    def convert(self, raw: object) -> object:
        """Return a default."""
        return dict(raw) if isinstance(raw, Mapping) else raw

    def schema(self) -> Schema:
        """Return the kind's JSON Schema."""
        return {"type": "object"}


def _free(at: Cursor) -> object:
    if at.is_mapping:
        entries = at.entries()
        return {name: _free(e) for name, e in entries.items()} if isinstance(entries, dict) else INVALID
    if at.is_list:
        items = at.items()
        return INVALID if isinstance(items, Invalid) else [_free(item) for item in items]
    return at.text() if at.has_variable else at.scalar()


def nearest(word: object, known: tuple[str, ...]) -> str:
    """Return ``"; did you mean …?"`` for the nearest of ``known``, or nothing."""
    from difflib import get_close_matches  # here: only a fault needs it

    found = get_close_matches(str(word), known, 1)
    return f"; did you mean {found[0]!r}?" if found else ""
