"""Mermaid diagrams as inline SVG: the command's contract, and what survives of its answer."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from distributor.errors import TransformError
from tests.transforms.making import Made, page

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" id="my-svg" viewBox="0 0 9 9"><style>#my-svg .n{fill:red}</style>'
    '<defs><marker id="end"/></defs><path id="p" marker-end="url(#end)" d="M0 0"/>%s</svg>'
)


@pytest.fixture
def renderer(tmp_path: Path) -> Path:
    """A program that answers with SVG around what it was given (the real renderer needs a browser of its own)."""
    program = tmp_path / "renderer"
    program.write_text('#!/bin/sh\ncat >"$0.in"\ncat "$0.svg"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def draw(renderer: Path, svg: str, text: str = "# A\n\n```mermaid\ngraph TD; A-->B\n```\n") -> Made:
    renderer.with_name("renderer.svg").write_text(svg)
    return page(text, mermaid="svg", mermaid_command=[str(renderer)])


def test_a_diagram_becomes_svg_in_the_page(renderer: Path) -> None:
    made = draw(renderer, SVG % "<text>A</text>")
    assert renderer.with_name("renderer.in").read_text() == "graph TD; A-->B\n"
    assert (
        '<figure class="diagram" role="img" aria-label="Diagram 1"><svg id="mermaid-1-my-svg" viewBox="0 0 9 9">'
        in made.main
    )
    assert "<text>A</text>" in made.main


def test_two_diagrams_share_no_ids(renderer: Path) -> None:
    main = draw(renderer, SVG % "", "```mermaid\na\n```\n\n```mermaid\nb\n```\n").main
    assert 'marker-end="url(#mermaid-2-end)"' in main
    assert "#mermaid-1-my-svg .n{fill:red}" in main


@pytest.mark.parametrize(
    "harm",
    [
        "<script>x()</script>", '<a href="javascript:x()"><text>y</text></a>', '<path onclick="x()" d=""/>',
        '<image href="https://evil.example/x"/>', "<style>@import 'https://evil.example/x'</style>",
        "<style>.a{background:url(https://evil.example/x)}</style>",
        '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://evil.example"/></foreignObject>',
        '<use href="https://evil.example/x#y"/>', '<path style="fill:url(https://evil.example/x)"/>',
        '<set attributeName="href" to="javascript:x()"/>',
    ],
)  # fmt: skip
def test_only_drawing_survives(renderer: Path, harm: str) -> None:
    main = draw(renderer, SVG % harm).main
    assert "evil" not in main
    assert "x()" not in main


def test_a_missing_renderer_fails_the_page_with_its_line() -> None:
    with pytest.raises(TransformError) as caught:
        page("# A\n\n```mermaid\ngraph TD\n```\n", mermaid="svg", mermaid_command=["no-such-renderer"])
    assert str(caught.value).startswith(
        "page.md:4: mermaid: svg needs the renderer 'no-such-renderer', which is not installed; install it"
    )


@pytest.mark.parametrize(
    ("svg", "fault"),
    [
        ("no svg", "SVG can't be read"),
        ("<html/>", "did not answer with SVG"),
        ('<!DOCTYPE svg [<!ENTITY a "aa">]><svg/>', "declares entities"),
    ],
)
def test_an_answer_that_is_no_drawing_fails_the_page(renderer: Path, svg: str, fault: str) -> None:
    with pytest.raises(TransformError, match=fault):
        draw(renderer, svg)


def test_a_renderer_that_fails_is_quoted(renderer: Path) -> None:
    renderer.write_text("#!/bin/sh\necho 'Parse error on line 1' >&2\nexit 3\n")
    with pytest.raises(TransformError, match="ended with 3: Parse error on line 1"):
        draw(renderer, "")
