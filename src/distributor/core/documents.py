"""JSON as this project reads and writes it (A6, C3)."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeGuard


class DocumentError(ValueError):
    """Not acceptable JSON; says why, with the 1-based line where it is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"{message} (line {line})")
        self.line = line


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether JSON data is an object."""
    return isinstance(value, dict)


def parse_json(data: bytes, *, unique_keys: bool = False) -> object:
    """Parse UTF-8 JSON (A6).

    Refuses a byte-order mark, ``NaN`` and ``Infinity``, numbers too large to be
    written again, nesting too deep to be read safely and text that is not valid
    Unicode; with ``unique_keys`` also a repeated key. Raises ``DocumentError``.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError(f"is not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise DocumentError("begins with a byte-order mark")
    try:
        document: object = json.loads(
            text,
            object_pairs_hook=_unique if unique_keys else None,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise DocumentError(f"is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise DocumentError("is nested too deeply") from None
    except DocumentError:
        raise
    except ValueError as error:
        raise DocumentError(f"is not acceptable JSON: {error}") from None
    if "\\ud" in text or "\\uD" in text:
        _refuse_surrogates(document)
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise DocumentError(f"repeats the key {next(k for k in keys if keys.count(k) > 1)!r}")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise DocumentError(f"contains {name}, which is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise DocumentError(f"contains the number {text}, which is too large")
    return number


def _refuse_surrogates(document: object) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DocumentError("contains text that is not valid Unicode") from None


def format_json(document: object) -> bytes:
    """Write JSON with two-space indents and a final newline (C3)."""
    import msgspec.json  # here: a run that skips writes nothing and should not pay for its import

    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
