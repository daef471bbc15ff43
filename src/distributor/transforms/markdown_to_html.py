"""Markdown to a self-contained page.

CommonMark with GitHub's extensions, front matter, definition lists, math and
Mermaid; see ``docs/transforms.md``. Deterministic, except with ``mermaid: svg``,
which draws with a command of the machine it runs on.
"""

from __future__ import annotations

from collections.abc import Mapping

from distributor.transforms import options as options_of
from distributor.transforms.base import Request
from distributor.transforms.options import Option

VERSION = "1"
SCOPE = "file"
DEFAULT_PATH = "{dir}{stem}.html"

MERMAID_COMMAND = ("mmdc", "--input", "-", "--output", "-", "--outputFormat", "svg", "--quiet")


def _options() -> tuple[Option, ...]:
    from distributor.transforms.pages.look import LOOK

    return (
        Option("raw_html", "sanitize", options_of.one_of("sanitize", "escape", "allow")),
        Option("mermaid", "code", options_of.one_of("code", "svg")),
        Option("mermaid_command", list(MERMAID_COMMAND), options_of.command),
        Option("contents", True, options_of.boolean),
        *LOOK,
    )


def check_options(options: Mapping[str, object]) -> list[str]:
    """Return what is wrong with ``options``, one sentence each."""
    return options_of.check_options(options, _options())


def render(request: Request) -> bytes:
    """Return the page of the Markdown file; warns of links that lead nowhere. Raises ``TransformError``."""
    from distributor.transforms.pages.documents import read_document
    from distributor.transforms.pages.page import assemble

    settings = options_of.with_defaults(request.options, _options())
    page = read_document(request, request.source_paths[0], settings)
    return assemble(page, request.manifest, settings)
