"""How text may look on a given stream: colour, links, symbols, width."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, TextIO

_COLOURS = {"green": "32", "cyan": "36", "yellow": "33", "red": "31", "bold": "1", "dim": "2"}
_ASCII = {"✓": "+", "→": ">", "·": "=", "✗": "x", "⊘": "#", "…": "...", "—": "-", "▲": "!"}

# Terminals that are known to make OSC 8 text clickable; others would show nothing, a few show rubbish.
_LINKING = ("VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR")
_LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio")


class Style(NamedTuple):
    """What a stream can show. ``width`` is in columns, 0 where lines should not be broken (pipes)."""

    color: bool = False
    links: bool = False
    symbols: bool = True
    width: int = 0

    def paint(self, text: str, *colours: str) -> str:
        """Return ``text`` in the given colours, or as it is where there are none."""
        if not self.color or not text:
            return text
        codes = ";".join(_COLOURS[name] for name in colours)
        return f"\x1b[{codes}m{text}\x1b[0m"

    def symbol(self, char: str) -> str:
        """Return a symbol, or its ASCII stand-in."""
        return char if self.symbols else _ASCII.get(char, char)

    def link(self, url: str) -> str:
        """Return an escaped URL, clickable where the terminal can; its text always shows."""
        shown = self.paint(url, "cyan")
        return f"\x1b]8;;{url}\x1b\\{shown}\x1b]8;;\x1b\\" if self.links else shown


def style_of(stream: TextIO | None, environ: Mapping[str, str]) -> Style:
    """Return what ``stream`` can show. ``NO_COLOR`` (not empty) and ``TERM=dumb`` mean no colour."""
    if stream is None:
        return Style()
    symbols = (stream.encoding or "").lower().replace("-", "") == "utf8"
    if not stream.isatty():
        return Style(symbols=symbols)
    dumb = environ.get("TERM", "dumb") == "dumb"
    return Style(
        color=not dumb and not environ.get("NO_COLOR"),
        links=not dumb and _can_link(environ),
        symbols=symbols,
        width=_width(stream),
    )


def _can_link(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in _LINKING) or environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS


def _width(stream: TextIO) -> int:
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        return 80
    return max(width, 40) if width else 80
