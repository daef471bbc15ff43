"""Options of transforms: one declaration gives checking, defaults and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

Check = Callable[[object], str | None]


class Option(NamedTuple):
    """One key that a transform takes under ``options``.

    ``check`` says what is wrong with a value ("must be ..."), or returns ``None``.
    """

    name: str
    default: object
    check: Check


def one_of(*choices: str) -> Check:
    """Return a check that accepts exactly ``choices``."""
    listed = ", ".join(choices[:-1]) + f" or {choices[-1]}"
    return lambda value: None if isinstance(value, str) and value in choices else f"must be {listed}"


def boolean(value: object) -> str | None:
    """Accept ``true`` and ``false``."""
    return None if isinstance(value, bool) else "must be true or false"


def text(value: object) -> str | None:
    """Accept any text."""
    return None if isinstance(value, str) else "must be text"


def whole_number(least: int, most: int) -> Check:
    """Return a check that accepts integers from ``least`` to ``most``."""
    return lambda value: (
        None if type(value) is int and least <= value <= most else f"must be a whole number from {least} to {most}"
    )


def command(value: object) -> str | None:
    """Accept a command line as a list of words, its program first."""
    if isinstance(value, list) and value and all(isinstance(word, str) and word for word in value):
        return None
    return "must be a list of words, the program first"


def check_options(options: Mapping[str, object], known: tuple[Option, ...]) -> list[str]:
    """Return what is wrong with ``options``, one sentence each, in the order they are given."""
    by_name = {option.name: option for option in known}
    faults: list[str] = []
    for name, value in options.items():
        if name not in by_name:
            faults.append(_unknown(name, tuple(by_name)))
        elif fault := by_name[name].check(value):
            faults.append(f"{name} {fault}, not {value!r:.60}")
    return faults


def _unknown(name: str, known: tuple[str, ...]) -> str:
    import difflib  # only a faulty configuration needs it

    near = difflib.get_close_matches(str(name), known, n=1)
    advice = f"did you mean {near[0]}?" if near else f"there is {', '.join(known)}"
    return f"{name} is not an option of this transform; {advice}"


def with_defaults(options: Mapping[str, object], known: tuple[Option, ...]) -> dict[str, object]:
    """Return every option of ``known`` with its value from ``options`` or its default."""
    return {option.name: options.get(option.name, option.default) for option in known}
