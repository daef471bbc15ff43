"""Transforms named in a configuration: they exist, and accept their options."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.making import Loading, destination, faults

OPTIONS = "pipelines[0].destinations[0].outputs[0].options"

PLUGIN = """\
VERSION = "1"
SCOPE = "file"
DEFAULT_PATH = "{path}.out"


def check_options(options):
    return [f"{name} is {value!r}, which shout does not know" for name, value in options.items() if name != "loud"]


def render(request):
    return request.read(request.source_paths[0]).upper()
"""


@pytest.fixture(autouse=True)
def shout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with a transform of its own."""
    site = tmp_path / "site"
    info = site / "shout-1.dist-info"
    info.mkdir(parents=True)
    (site / "shout_plugin.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shout\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[distributor.transforms]\nshout = shout_plugin\n")
    monkeypatch.syspath_prepend(str(site))


def test_a_third_partys_transform_is_found(load: Loading) -> None:
    rule = load(destination("outputs: [{transform: shout}]")).pipelines[0].destinations[0].outputs[0]
    assert rule.transform == "shout"


def test_its_options_reach_the_rule(load: Loading) -> None:
    text = "outputs: [{transform: shout, options: {loud: [1, yes]}}]"
    rule = load(destination(text)).pipelines[0].destinations[0].outputs[0]
    assert rule.options == (("loud", [1, "yes"]),)


def test_options_it_does_not_accept_are_faults(load: Loading) -> None:
    found = faults(load, destination("outputs: [{transform: shout, options: {quiet: 1, soft: 2}}]"))
    assert [(p.path, p.message.split()[0]) for p in found] == [(OPTIONS, "quiet"), (OPTIONS, "soft")]


def test_a_fault_of_options_does_not_show_what_a_variable_holds(load: Loading) -> None:
    text = "outputs: [{transform: shout, options: {quiet: {a: ['${S}']}}}]"
    (found,) = faults(load, destination(text), {"S": "canary-4711"})
    assert "canary" not in found.message


def test_a_name_that_is_nearly_right_gets_a_suggestion(load: Loading) -> None:
    (found,) = faults(load, destination("outputs: [{transform: shuot}]"))
    assert "did you mean 'shout'?" in found.message


def test_an_unselected_pipelines_transform_may_miss_its_variable(load: Loading) -> None:
    text = destination("outputs: [{transform: '${T}'}]")
    text += "  - {id: other, destinations: [{id: d, url: /other}]}\n"
    assert [p.id for p in load(text, pipelines=("other",)).pipelines] == ["other"]
