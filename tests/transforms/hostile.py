"""Inputs built to hurt: each transform must render or refuse every one within 10 s and 512 MiB.

Run as a program (``python -m tests.transforms.hostile TRANSFORM CASE``) it does one of
them under limits that the kernel enforces.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from itertools import pairwise

from distributor.errors import TransformError
from tests.transforms.making import make

MIB = 1024 * 1024
CPU_SECONDS = 10
DATA_BYTES = 512 * MIB


def _macros() -> str:
    return "".join(rf"\newcommand{{\{one}}}{{\{two}\{two}}}" for one, two in pairwise("abcdefghi"))


def _laughs() -> str:
    return "".join(f"{two}: &{two} [*{one},*{one},*{one},*{one}]\n" for one, two in pairwise("abcdefghijk"))


def _stream(text: str) -> str:
    return _notebook({"cell_type": "code", "outputs": [{"output_type": "stream", "text": text}]})


MARKDOWN: dict[str, Callable[[], str | bytes]] = {
    "quotes nested 90 deep, at length": lambda: ("> " * 90 + "a\n\n") * 2500,
    "quotes nested too deep": lambda: ">" * 60_000 + " a",
    "lists nested deep": lambda: "".join("  " * depth + "- a\n" for depth in range(900)),
    "lists on one line": lambda: "- " * 60_000 + "a",
    "brackets": lambda: "[" * 240_000,
    "links never closed": lambda: "[a](" * 120_000,
    "links and parentheses": lambda: "[ (](" * 100_000,
    "stars": lambda: "*a **a " * 90_000,
    "strong links": lambda: "**x [a*b**c*](d)" * 30_000,
    "emphasis at the limit": lambda: "*a* " * 240_000,
    "backticks of growing length": lambda: "".join("e" + "`" * count for count in range(1, 980)),
    "dollars": lambda: "$" * 480_000,
    "dollar pairs": lambda: "$$a$" * 150_000,
    "formulas": lambda: "$x$ " * 200_000,
    "different formulas": lambda: " ".join(f"$x_{{{number}}}$" for number in range(20_000)),
    "a formula of braces": lambda: "$" + "{" * 4000 + "}" * 4000 + "$",
    "a formula of scripts": lambda: "$" + "a^" * 300 + "b$",
    "macros that grow": lambda: "$" + _macros() + r"\a$",
    "table without its cells": lambda: "|" + "a|" * 10_000 + "\n|" + "-|" * 10_000 + "\n" + "|x|\n" * 1000,
    "table at the limit of added cells": lambda: "|" + "a|" * 190 + "\n|" + "-|" * 190 + "\n" + "|x|\n" * 1000,
    "table rows at the limit": lambda: "|a|b|\n|-|-|\n" + "|1|2|\n" * 120_000,
    "many tables": lambda: "|a|\n|-|\n\n" * 60_000,
    "footnotes that chain": lambda: "".join(f"[^{n}]: [^{n + 1}]\n" for n in range(60_000)),
    "one footnote named often": lambda: "[^1]" * 230_000 + "\n\n[^1]: a",
    "reference definitions": lambda: "".join(f"[a{n}]: x\n" for n in range(60_000)) + "[a1]" * 60_000,
    "a reference that is long": lambda: "[a]: " + "x" * 100_000 + "\n\n" + "[a]" * 100_000,
    "open divs": lambda: "<div>" * 80_000,
    "open bold over blocks": lambda: "".join(f"<b id={n}>" for n in range(300)) + "<p>x" * 60_000,
    "open fonts over blocks": lambda: "".join(f"<font size={n}>" for n in range(300)) + "<p>x" * 60_000,
    "links around blocks": lambda: "<a href=x><div>" * 30_000,
    "tables in tables": lambda: "<table><tr><td>" * 30_000,
    "unclosed attribute": lambda: '<a title="' + "x" * 8_000_000,
    "an element of attributes": lambda: "<a " + "x=y " * 200_000 + ">",
    "one element's attributes all quoted": lambda: "<p " + 'a="<b>" ' * 100_000 + ">x</p>",
    "comments never closed": lambda: "<!--" * 240_000,
    "declarations": lambda: "a<![CDATA[<?<!A " * 50_000,
    "entities": lambda: "&amp" * 480_000,
    "ampersands": lambda: "&" * 480_000,
    "angle brackets": lambda: "<" * 480_000,
    "quote marks": lambda: '"' * 480_000,
    "addresses": lambda: "www." * 2_000_000,
    "mail addresses": lambda: "a." * 4_000_000 + "@",
    "a line of 8 MiB": lambda: "x" * (8 * MIB),
    "more than 8 MiB": lambda: "x" * (8 * MIB + 1),
    "lines of nothing": lambda: "\n" * 480_000,
    "a line of blanks": lambda: " " * (8 * MIB),
    "a line of blanks and a bar": lambda: "a\n" + " " * (4 * MIB) + "|" + " " * (3 * MIB) + "-",
    "a rule of 8 MiB": lambda: "-" * (8 * MIB),
    "headings": lambda: "# a\n" * 50_000,
    "too many headings": lambda: "# a\n" * 450_000,
    "headings that collide": lambda: "".join(f"# a-{n % 7}\n" for n in range(50_000)),
    "definitions": lambda: "a\n: b\n" * 200_000,
    "alerts": lambda: "> [!NOTE]\n" * 110_000,
    "tasks": lambda: "- [x] a\n" * 150_000,
    "images": lambda: "![a](b)" * 110_000,
    "links that are dead": lambda: "".join(f"[a](b{n}) " for n in range(100_000)),
    "code in python": lambda: "```python\n" + "(" * 1900 + "\n" + "'" * 1900 + "\n" + ('"""\n' * 9000) + "```\n",
    "code without end": lambda: "```js\n" + "/*\n" * 400_000,
    "many blocks of code": lambda: "```py\nx\n```\n" * 50_000,
    "front matter of anchors": lambda: "---\na: &a [x]\n" + "".join(f"b{n}: [*a, *a]\n" for n in range(3000)) + "---\n",
    "front matter nested": lambda: "---\n" + "[" * 60_000 + "\n---\n",
    "front matter of billions": lambda: "---\na: &a x\n" + _laughs() + "---\nx",
    "combining characters": lambda: "a" + "\u0301" * 3_000_000,
    "direction overrides": lambda: "# \u202e\u2066 x\n" * 60_000,
    "NUL bytes": lambda: b"\0" * 2_000_000,
    "bytes that are no text": lambda: bytes(range(256)) * 1000,
    "half of UTF-16": lambda: b"\xff\xfe" + b"\x00\xd8" * 1000,
}  # fmt: skip

CSV: dict[str, Callable[[], str | bytes]] = {
    "one row of commas": lambda: "," * 2_000_000,
    "more than 32 MiB": lambda: "x" * (32 * MIB + 1),
    "32 MiB of rows": lambda: "1,2,3\n" * (5 * MIB),
    "32 MiB of quotes": lambda: '"' * (32 * MIB),
    "one cell of 30 MiB": lambda: "a\n" + "x" * (30 * MIB),
    "rows at the limit of cells": lambda: ("1," * 999 + "1\n") * 1100,
    "long texts": lambda: "a,b\n" + ("x" * 100_000 + ",1\n") * 200,
    "texts of emoji": lambda: "a,b\n" + ("\U0001f600" * 5000 + ",1\n") * 1500,
    "numbers that go on": lambda: "n\n" + ("9" * 100_000 + "\n") * 100,
    "numbers with commas": lambda: "n;m\n" + ("1" + ",111" * 20_000 + ";x\n") * 40,
    "a quote never closed": lambda: "a,b\n" + '"x,1\n' * 500_000,
    "markup in cells": lambda: "a\n" + "<script>x</script>&\n" * 400_000,
    "NUL bytes": lambda: b"\0" * 1_000_000,
    "bytes that are no text": lambda: bytes(range(256)) * 1000,
}


def _notebook(*cells: object) -> str:
    return json.dumps({"cells": cells})


def _output(**data: object) -> dict[str, object]:
    named = {name.replace("__", "/"): value for name, value in data.items()}
    return {"cell_type": "code", "source": "", "outputs": [{"output_type": "display_data", "data": named}]}


NOTEBOOK: dict[str, Callable[[], str | bytes]] = {
    "nested arrays": lambda: "[" * 3_000_000,
    "empty objects": lambda: '{"cells": [' + "{}," * 1_400_000 + "{}]}",
    "numbers": lambda: '{"cells": [], "x": [' + "1," * 2_900_000 + "1]}",
    "too many numbers": lambda: '{"cells": [], "x": [' + "1," * 4_000_000 + "1]}",
    "a number of digits": lambda: '{"cells": [' + "9" * 1_000_000 + "]}",
    "many cells of code": lambda: _notebook(*[{"cell_type": "code", "source": "x = [1]\n" * 20}] * 4000),
    "many cells of text": lambda: _notebook(*[{"cell_type": "markdown", "source": "a *b*\n\n| a |\n|-|\n"}] * 20_000),
    "escapes without end": lambda: _stream("\x1b[" * 1_000_000),
    "escapes of colour": lambda: _stream("\x1b[31mx" * 1_000_000),
    "overwritten lines": lambda: _stream("x\r" * 2_000_000),
    "an image of 20 MiB": lambda: _notebook(_output(image__png="QUFB" * (5 * MIB))),
    "html of 20 MiB": lambda: _notebook(_output(text__html="<p>x</p>" * 2_500_000, text__plain="x")),
    "html of open elements": lambda: _notebook(_output(text__html="<div>" * 1_000_000, text__plain="x")),
    "html that is a script": lambda: _notebook(_output(text__html="<script>" + "x" * 5_000_000, text__plain="x")),
    "html with a long title": lambda: _notebook(_output(text__html="<p title='" + "x" * 5_000_000 + "'></p>")),
    "json of numbers": lambda: _notebook(_output(application__json=list(range(400_000)))),
    "bytes that are no text": lambda: bytes(range(256)) * 1000,
}  # fmt: skip

CASES = {"markdown_to_html": MARKDOWN, "csv_to_html": CSV, "notebook_to_html": NOTEBOOK}


def main() -> None:
    transform, case = sys.argv[1:]
    data = CASES[transform][case]()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))
    try:
        made = make(transform, {"hostile": data}, output="hostile.html")
    except TransformError as error:
        print(f"refused: {error}")
    else:
        print(f"rendered: {len(made.data)} bytes")


if __name__ == "__main__":
    main()
