"""Jupyter notebooks (format 4) as values: cells and outputs, checked, with bounds.

A notebook comes from outside: every field may be missing or of another type, and
what is not understood is left out rather than trusted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from distributor.errors import TransformError

NOTEBOOK_BYTES = 32 * 1024 * 1024
VALUES = 3_000_000
CELLS = 20_000
_SURROGATE = re.compile("[\ud800-\udfff]")


class Output(NamedTuple):
    """One output of a cell. ``kind`` is ``stream``, ``data`` or ``error``; ``data`` maps media types to text."""

    kind: str
    text: str
    data: Mapping[str, str]
    stderr: bool = False


class Cell(NamedTuple):
    """One cell. ``attachments`` maps names to media types to base64 text; ``number`` is the execution count."""

    kind: str
    source: str
    outputs: tuple[Output, ...]
    attachments: Mapping[str, Mapping[str, str]]
    number: int | None
    tags: frozenset[str]


class Notebook(NamedTuple):
    """The cells, and the language of the code in them."""

    cells: tuple[Cell, ...]
    language: str
    title: str | None


def read_notebook(text: str, path: str) -> Notebook:
    """Return the notebook in ``text``. Raises ``TransformError`` with the line where it is none."""
    if sum(text.count(mark) for mark in ",[{") > VALUES:
        raise TransformError(f"has more than {VALUES:,} values", path=path, hint="clear outputs that hold raw data")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise TransformError(f"is not a notebook: {error.msg}", path=path, line=error.lineno) from None
    except RecursionError:
        raise TransformError("is not a notebook: its JSON is nested too deep", path=path) from None
    except ValueError as error:  # a number of thousands of digits
        raise TransformError(f"is not a notebook: {error}", path=path) from None
    fields = _mapping(document)
    cells = fields.get("cells")
    if not isinstance(cells, list):
        raise TransformError(
            "is not a notebook of format 4: it has no list of cells",
            path=path,
            hint="open and save it with a current Jupyter",
        )
    if len(cells) > CELLS:
        raise TransformError(f"has {len(cells):,} cells, and a page shows at most {CELLS:,}", path=path)
    metadata = _mapping(fields.get("metadata"))
    language = _mapping(metadata.get("language_info")).get("name") or _mapping(metadata.get("kernelspec")).get(
        "language"
    )
    title = metadata.get("title")
    return Notebook(
        tuple(_cell(_mapping(cell)) for cell in cells),
        _joined(language) or "python",
        _joined(title).strip() or None,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _joined(value: object) -> str:
    """Return text that notebooks store whole or as a list of lines; JSON can hold halves of characters."""
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    if not isinstance(value, str):
        return ""
    if _SURROGATE.search(value):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _texts(value: object) -> dict[str, str]:
    """Return a media bundle's texts; JSON types are written out."""
    texts: dict[str, str] = {}
    for name, content in _mapping(value).items():
        if isinstance(content, str | list) and not name.endswith("json"):
            texts[name] = _joined(content)
        elif name.endswith("json"):
            texts[name] = _joined(json.dumps(content, ensure_ascii=False, indent=1))
    return texts


def _cell(cell: Mapping[str, object]) -> Cell:
    number = cell.get("execution_count")
    outputs = cell.get("outputs")
    tags = _mapping(cell.get("metadata")).get("tags")
    return Cell(
        kind=str(cell.get("cell_type")),
        source=_joined(cell.get("source")),
        outputs=tuple(_outputs(outputs if isinstance(outputs, list) else [])),
        attachments={name: _texts(content) for name, content in _mapping(cell.get("attachments")).items()},
        number=number if type(number) is int else None,
        tags=frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else frozenset(),
    )


def _outputs(outputs: Iterable[object]) -> Iterable[Output]:
    for item in outputs:
        output = _mapping(item)
        match output.get("output_type"):
            case "stream":
                yield Output("stream", _joined(output.get("text")), {}, stderr=output.get("name") == "stderr")
            case "display_data" | "execute_result":
                yield Output("data", "", _texts(output.get("data")))
            case "error":
                trace = output.get("traceback")
                lines = [line for line in trace if isinstance(line, str)] if isinstance(trace, list) else []
                summary = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
                yield Output("error", _joined("\n".join(lines) or summary), {})
            case _:
                continue
