"""Terminal output as HTML: colours and weight by classes, everything else of the escapes dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distributor.transforms.pages.highlighting import plain

_ESCAPE = re.compile(
    r"\x1b\[([0-9;:]*)m"  # colours and weight
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # other control sequences
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b[@-_]?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_SWITCHES = {1: "bold", 3: "italic", 4: "underline"}
_BASIC = ("0", "1", "2", "3", "4", "5", "6", "7")


class _Style:
    """What is switched on at some place of the output."""

    def __init__(self) -> None:
        self.colour = ""
        self.switched: set[str] = set()

    def apply(self, codes: str) -> None:
        """Follow the codes of one escape sequence."""
        numbers = iter([int(part) if part else 0 for part in codes.replace(":", ";").split(";") if len(part) < 4])
        for number in numbers:
            if number == 0:
                self.colour = ""
                self.switched.clear()
            elif number in _SWITCHES:
                self.switched.add(_SWITCHES[number])
            elif number - 20 in _SWITCHES or number == 22:
                self.switched.discard(_SWITCHES.get(number - 20, "bold"))
            elif 30 <= number <= 37 or 90 <= number <= 97:
                self.colour = _BASIC[number % 10]
            elif number == 39:
                self.colour = ""
            elif number in {38, 48}:
                colour = _extended(next(numbers, 0), numbers)
                self.colour = colour if number == 38 else self.colour

    def classes(self) -> str:
        """Return the class names, separated by blanks."""
        names = [f"ansi{self.colour}"] if self.colour else []
        return " ".join(names + sorted(self.switched))


def _extended(kind: int, following: Iterator[int]) -> str:
    """Return the nearest of the eight colours for a 256-colour or RGB code."""
    if kind == 5:
        index = next(following, 0)
        if index < 16:
            return _BASIC[index % 8]
        if index >= 232:
            return "7"
        red, green, blue = (index - 16) // 36, (index - 16) // 6 % 6, (index - 16) % 6
        return _nearest(red * 51, green * 51, blue * 51)
    return _nearest(next(following, 0), next(following, 0), next(following, 0)) if kind == 2 else ""


def _nearest(red: int, green: int, blue: int) -> str:
    brightest = max(red, green, blue, 1)
    return _BASIC[(red * 2 > brightest) + 2 * (green * 2 > brightest) + 4 * (blue * 2 > brightest)]


def ansi_to_html(text: str) -> str:
    """Return terminal output as HTML; lines that were overwritten show what they ended as."""
    lines = (line.rstrip("\r").rpartition("\r")[2] if "\r" in line else line for line in text.split("\n"))
    text = "\n".join(lines)
    style, position = _Style(), 0
    pieces: list[str] = []
    for match in _ESCAPE.finditer(text):
        _add(pieces, text[position : match.start()], style)
        position = match.end()
        if match[1] is not None:
            style.apply(match[1])
    _add(pieces, text[position:], style)
    return "".join(pieces)


def _add(pieces: list[str], text: str, style: _Style) -> None:
    if text:
        classes = style.classes()
        pieces.append(f'<span class="{classes}">{plain(text)}</span>' if classes else plain(text))
