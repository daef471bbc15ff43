"""Variables in string values: ``${NAME}``, ``${NAME:-default}``, ``${file:PATH}`` and ``$$`` (H1)."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$(?:\$|\{([^}]*)(\}?))")
_WHOLE = re.compile(r"\$\{[^}]*\}\Z")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(:-)?", re.ASCII)
_MAX_FILE_BYTES = 1 << 20


class VariableFault(Exception):
    """A variable that can't be expanded; says why and never a value.

    ``unset`` marks what is no fault of the text itself: the environment or a file
    lacks the value, which matters only where the value is used (H1).
    """

    def __init__(self, message: str, *, unset: bool = False) -> None:
        super().__init__(message)
        self.unset = unset


def is_one_variable(text: str) -> bool:
    """Whether ``text`` is one variable and nothing else (H1)."""
    return _WHOLE.match(text) is not None


class Variables:
    """Expands the variables of one configuration and remembers which were used.

    ``folder`` is where relative paths of ``${file:PATH}`` begin. ``used`` maps each
    text that was expanded to what became of it, for the configuration's digest only.
    """

    def __init__(self, environ: Mapping[str, str], folder: str) -> None:
        self.environ = environ
        self.folder = folder
        self.used: dict[str, str] = {}

    def expand(self, text: str, *, use: bool = True) -> str:
        """Return ``text`` with its variables replaced, once: values are not expanded again (H1).

        A lone ``$`` stays. ``use`` says that the result takes part in the run. Raises
        ``VariableFault``.
        """
        value = _VARIABLE.sub(self._replace, text)
        if use:
            self.used[text] = value
        return value

    def _replace(self, match: re.Match[str]) -> str:
        inside, end = match.groups()
        if inside is None:
            return "$"
        if not end:
            raise VariableFault("has '${' without '}'; write '$${' for the characters themselves")
        return self._from_file(inside[5:]) if inside.startswith("file:") else self._from_environment(inside)

    def _from_environment(self, inside: str) -> str:
        match = _NAME.match(inside)
        if match is None or (match[2] is None and match.end() < len(inside)):
            forms = "${NAME}, ${NAME:-default} or ${file:PATH}"
            raise VariableFault(f"has ${{{inside}}}, which is no variable: write {forms}, or '$$' for a '$'")
        value = self.environ.get(match[1])
        if match[2] is not None:
            return value or inside[match.end() :]
        if value is None:
            raise VariableFault(f"needs the environment variable {match[1]}, which is not set", unset=True)
        return value

    def _from_file(self, path: str) -> str:
        full = os.path.join(self.folder, path)
        try:
            with open(full, "rb") as file:  # noqa: PTH123 - pathlib would slow every start
                data = file.read(_MAX_FILE_BYTES + 1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "not a path"
            raise VariableFault(f"needs the file {path}, which can't be read: {why}", unset=True) from None
        if len(data) > _MAX_FILE_BYTES:
            raise VariableFault(f"needs the file {path}, which is larger than 1 MiB", unset=True)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise VariableFault(f"needs the file {path}, which is not UTF-8 text", unset=True) from None
        return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
