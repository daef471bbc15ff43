"""Notebooks: outputs in their richest safe form, and what is no notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from distributor.errors import TransformError
from distributor.transforms.pages.ansi import ansi_to_html
from tests.transforms.making import Made, make, rendered

PIXEL = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


def notebook(*cells: Mapping[str, object], **options: object) -> Made:
    text = json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})
    return make("notebook_to_html", {"n.ipynb": text}, **options)


def code(source: object, *outputs: Mapping[str, object], **more: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": outputs, **more}


def shown(**data: object) -> dict[str, object]:
    return {"output_type": "display_data", "data": {name.replace("__", "/"): value for name, value in data.items()}}


def test_text_and_code_come_in_order() -> None:
    main = notebook({"cell_type": "markdown", "source": ["# A\n", "b"]}, code(["x = 1\n", "y"])).main
    assert main.index("<h1") < main.index("<p>b</p>") < main.index('x = <span class="tn">1')


def test_code_can_be_hidden() -> None:
    main = notebook(code("secret()", {"output_type": "stream", "text": "seen"}), code="hide").main
    assert "secret" not in main
    assert "seen" in main


@pytest.mark.parametrize(("tag", "kept"), [("hide-input", "out"), ("remove_cell", "")])
def test_tags_hide_input_or_cell(tag: str, kept: str) -> None:
    main = notebook(code("source()", {"output_type": "stream", "text": "out"}, metadata={"tags": [tag]})).main
    assert "source()" not in main
    assert ("out</pre>" in main) == bool(kept)


def test_the_richest_safe_form_of_an_output_is_shown() -> None:
    main = notebook(code("", shown(text__html="<table><tr><td>1</td></tr></table>", text__plain="plain"))).main
    assert "<td>1</td>" in main
    assert "plain" not in main


def test_html_that_was_all_script_gives_way_to_the_next_form() -> None:
    main = notebook(code("", shown(text__html="<script>draw()</script><div id='p'></div>", text__plain="Figure"))).main
    assert "draw()" not in main
    assert "Figure</pre>" in main


def test_images_are_embedded() -> None:
    main = notebook(code("", shown(image__gif=PIXEL[:20] + "\n" + PIXEL[20:], text__plain="<dot>"))).main
    assert f'<img src="data:image/gif;base64,{PIXEL}" alt="&lt;dot&gt;">' in main


def test_an_image_that_is_no_base64_is_left_out() -> None:
    main = notebook(code("", shown(image__png='"><script>x()</script>', text__plain="text"))).main
    assert "<img" not in main
    assert "text</pre>" in main


def test_svg_is_an_image_so_that_it_runs_nothing() -> None:
    assert '<img src="data:image/svg+xml;base64,' in notebook(code("", shown(**{"image__svg+xml": ["<svg/>"]}))).main


def test_attachments_are_embedded() -> None:
    cell = {
        "cell_type": "markdown",
        "source": "![x](attachment:a%20b.gif)",
        "attachments": {"a b.gif": {"image/gif": PIXEL}},
    }
    assert f'src="data:image/gif;base64,{PIXEL}"' in notebook(cell).main


def test_a_traceback_keeps_its_colours() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mE\x1b[0m: <v>"]}
    assert '<div class="output error"><pre tabindex="0"><span class="ansi1">E</span>: &lt;v&gt;</pre>' in (
        notebook(code("", error)).main
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a\x1b[1mb\x1b[22mc", 'a<span class="bold">b</span>c'),
        ("\x1b[38;5;196mx\x1b[39m", '<span class="ansi1">x</span>'),
        ("\x1b[38;2;0;0;255mx", '<span class="ansi4">x</span>'),
        ("\x1b[48;5;1mx", "x"),
        ("10%\r 50%\r100%\n", "100%\n"),
        ("\x1b]8;;javascript:x\x07link\x1b]8;;\x07", "link"),
        ("a\x1b[2J\x07\x00b<", "ab&lt;"),
        ("\x1b[999999999999m\x1b[mx", "x"),
    ],
)
def test_terminal_text_keeps_colour_and_loses_control(text: str, html: str) -> None:
    assert ansi_to_html(text) == html


def test_anchors_and_footnotes_of_cells_stay_apart() -> None:
    cell = {"cell_type": "markdown", "source": "## Same\n\nx[^1]\n\n[^1]: note"}
    main = notebook(cell, cell).main
    assert 'id="same"' in main
    assert 'id="same-1"' in main
    assert main.count('id="c1-fn-1"') == main.count('id="c2-fn-1"') == 1


def test_a_dead_link_is_told_with_its_cell() -> None:
    assert notebook(code(""), {"cell_type": "markdown", "source": "[x](gone.md)"}).warnings == [
        "n.ipynb: cell 2 links to 'gone.md', which is not in the bundle"
    ]


def test_links_lead_to_pages() -> None:
    text = json.dumps({"cells": [{"cell_type": "markdown", "source": "[x](a.md#b)"}]})
    plan = (rendered("n.ipynb", "n.html"), rendered("a.md", "a.html"))
    assert 'href="a.html#b"' in make("notebook_to_html", {"n.ipynb": text, "a.md": ""}, plan=plan).main


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"cells": [\n}', "n.ipynb:2: is not a notebook: Expecting value"),
        ("[]", "n.ipynb: is not a notebook of format 4: it has no list of cells"),
        ('{"worksheets": []}', "n.ipynb: is not a notebook of format 4"),
        ("[" * 100_000, "n.ipynb: is not a notebook: its JSON is nested too deep"),
        ('{"cells": [' + "9" * 5000 + "]}", "n.ipynb: is not a notebook: Exceeds the limit"),
    ],
)
def test_what_is_no_notebook_is_refused(text: str, fault: str) -> None:
    with pytest.raises(TransformError) as caught:
        make("notebook_to_html", {"n.ipynb": text})
    assert str(caught.value).startswith(fault)


@pytest.mark.parametrize(
    "cell",
    [
        None, 1, [], {}, {"cell_type": 3, "source": {}}, {"cell_type": "markdown", "source": [1, None]},
        {"cell_type": "code", "source": "x", "outputs": {"a": 1}},
        {"cell_type": "code", "source": "x", "outputs": [None, {"output_type": "stream"}, {"output_type": "error"}]},
        {"cell_type": "code", "source": "\ud800", "outputs": [{"output_type": "stream", "text": ["\udfff"]}]},
        {"cell_type": "markdown", "source": "\ud83d\ude00 \ud800", "attachments": {"a": 1}},
        {"cell_type": "code", "source": "", "outputs": [{"output_type": "display_data", "data": {"text/html": 5}}]},
    ],
)  # fmt: skip
def test_odd_cells_do_not_hinder_the_others(cell: object) -> None:
    text = json.dumps({"cells": [cell, {"cell_type": "markdown", "source": "after"}], "metadata": []})
    assert "<p>after</p>" in make("notebook_to_html", {"n.ipynb": text}).main
