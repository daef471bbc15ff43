"""Variables in string values (interfaces section 2, H1)."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distributor.config.variables import VariableFault, Variables
from tests.config.making import GOOD, Loading, destination, faults, pipeline

ENVIRON = {"X": "value", "EMPTY": "", "TWICE": "${X}", "DOLLARS": "$$"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${X}", "value"),
        ("a${X}b${X}", "avaluebvalue"),
        ("${X:-y}", "value"),
        ("${EMPTY:-y}", "y"),
        ("${NONE:-y}", "y"),
        ("${NONE:-}", ""),
        ("${NONE:-a:-b}", "a:-b"),
        ("${EMPTY}", ""),
        ("$", "$"),
        ("a$b", "a$b"),
        ("$X", "$X"),
        ("5$", "5$"),
        ("$$", "$"),
        ("$${X}", "${X}"),
        ("$$$$", "$$"),
        ("$$${X}", "$value"),
        ("${TWICE}", "${X}"),
        ("${DOLLARS}", "$$"),
        ("${NONE:-$X}", "$X"),
    ],
)
def test_expands(text: str, expected: str) -> None:
    """H1: as shells where they agree, once, and a lone ``$`` stays."""
    assert Variables(ENVIRON, "/").expand(text) == expected


@pytest.mark.parametrize("text", ["${}", "${a b}", "${1X}", "${X-y}", "${X", "${X:?}", "${ X }"])
def test_what_is_no_variable_is_refused(text: str) -> None:
    with pytest.raises(VariableFault) as caught:
        Variables(ENVIRON, "/").expand(text)
    assert not caught.value.unset


def test_a_name_that_is_not_set_is_named() -> None:
    with pytest.raises(VariableFault, match="NONE"):
        Variables(ENVIRON, "/").expand("${NONE}")


@pytest.mark.parametrize(
    ("data", "expected"),
    [("secret\n", "secret"), ("secret", "secret"), ("a\n\n", "a\n"), ("a\r\n", "a"), ("", ""), ("${X}", "${X}")],
)
def test_a_file_gives_its_text_without_one_trailing_newline(tmp_path: Path, data: str, expected: str) -> None:
    (tmp_path / "token").write_bytes(data.encode())
    assert Variables({}, str(tmp_path)).expand("${file:token}") == expected


def test_a_file_may_have_an_absolute_path(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    assert Variables({}, "/elsewhere").expand(f"${{file:{tmp_path}/token}}") == "t"


@pytest.mark.parametrize("name", ["absent", ".", "binary", "a\0b"])
def test_a_file_that_gives_no_text_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(VariableFault, match="needs the file") as caught:
        Variables({}, str(tmp_path)).expand(f"${{file:{name}}}")
    assert caught.value.unset


names = st.from_regex(re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,8}", re.ASCII), fullmatch=True)
values = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
literals = st.text(st.characters(codec="utf-8", exclude_characters="${}"), max_size=8)
pieces = st.one_of(
    st.tuples(st.just("text"), literals),
    st.tuples(st.just("dollar"), st.just("")),
    st.tuples(st.just("name"), names),
    st.tuples(st.just("default"), st.tuples(names, literals)),
)


@given(st.lists(pieces, max_size=6), st.dictionaries(names, values, max_size=4))
def test_any_text_expands_piece_by_piece(parts: list[tuple[str, object]], environ: dict[str, str]) -> None:
    """H1, against the definition: each piece alone, values never expanded again."""
    text, expected, unset = "", "", False
    for kind, part in parts:
        if kind == "text":
            text, expected = text + str(part), expected + str(part)
        elif kind == "dollar":
            text, expected = text + "$$", expected + "$"
        elif kind == "name":
            text, expected = f"{text}${{{part}}}", expected + environ.get(str(part), "")
            unset = unset or part not in environ
        elif isinstance(part, tuple):
            text, expected = f"{text}${{{part[0]}:-{part[1]}}}", expected + (environ.get(part[0]) or part[1])
    if unset:
        with pytest.raises(VariableFault):
            Variables(environ, "/").expand(text)
    else:
        assert Variables(environ, "/").expand(text) == expected


@given(values.filter(lambda text: "$" not in text))
def test_text_without_a_dollar_stays(text: str) -> None:
    assert Variables({}, "/").expand(text) == text


@pytest.mark.parametrize("quoted", ["${N}", '"${N}"', "'${N:-1}'"])
def test_one_variable_alone_is_a_number_where_a_number_belongs(load: Loading, quoted: str) -> None:
    """H1."""
    assert load(destination(f"concurrency: {quoted}"), {"N": "7"}).pipelines[0].destinations[0].concurrency == 7


def test_a_boolean_may_come_from_a_variable(load: Loading) -> None:
    assert load(destination("allow_whole_root: ${B}"), {"B": "true"}).pipelines[0].destinations[0].allow_whole_root


def test_a_count_may_come_from_a_variable(load: Loading) -> None:
    config = load(destination("transfer: {max_delete: '${N}'}"), {"N": "12"})
    limit = config.pipelines[0].destinations[0].policy.max_delete
    assert limit is not None
    assert limit.number == 12


def test_a_variable_with_text_around_it_is_no_number(load: Loading) -> None:
    assert faults(load, destination("concurrency: 1${N}"), {"N": "7"})[0].path.endswith("concurrency")


def test_a_secret_of_digits_keeps_its_characters(load: Loading) -> None:
    """H1: a text key takes the value as it is."""
    config = load(destination("storage: {password: '${P}'}", "sftp://h/x"), {"P": "0123"})
    assert config.pipelines[0].destinations[0].storage["password"] == "0123"


def test_a_mode_out_of_a_variable_is_octal_text(load: Loading) -> None:
    config = load(destination("storage: {file_mode: '${M}'}"), {"M": "0640"})
    assert config.pipelines[0].destinations[0].storage["file_mode"] == "0640"


def test_a_whole_url_may_come_from_a_variable(load: Loading) -> None:
    text = destination("storage: {region: eu-1}", "'${URL}'")
    assert load(text, {"URL": "s3://b/p"}).pipelines[0].destinations[0].url == "s3://b/p"


TWO = """\
version: 1
pipelines:
  - {id: one, destinations: [{id: d, url: /one}]}
  - {id: two, source: {path: "${NONE}"}, destinations: [{id: d, url: "${file:none}/x", concurrency: "${NONE}"}]}
"""


def test_a_name_that_is_not_set_is_no_fault_of_a_pipeline_that_is_not_selected(load: Loading) -> None:
    """H1."""
    assert [p.id for p in load(TWO, pipelines=("one",)).pipelines] == ["one"]


@pytest.mark.parametrize("selected", [None, (), ("two",), ("one", "two")])
def test_names_that_are_not_set_are_faults_of_a_selected_pipeline(load: Loading, selected: tuple[str, ...]) -> None:
    """H1."""
    codes = [p.code for p in faults(load, TWO, pipelines=selected)]
    assert codes == ["unset_variable"] * 3


def test_a_form_fault_counts_in_a_pipeline_that_is_not_selected(load: Loading) -> None:
    text = TWO.replace("/one", "/one, colour: red").replace("id: two", "id: two, sorce: {}")
    assert [p.path for p in faults(load, text, pipelines=("one",))] == [
        "pipelines[0].destinations[0].colour",
        "pipelines[1].sorce",
    ]


def test_credentials_that_are_not_set_are_no_fault_of_an_unselected_pipeline(load: Loading) -> None:
    keys = "{access_key_id: '${A}', secret_access_key: '${B}', endpoint: 'http://h', allow_http: '${C}'}"
    text = TWO.replace("url: /one", f"url: 's3://b', storage: {keys}")
    text = text.replace(', concurrency: "${NONE}"', "").replace("${NONE}", "x").replace("${file:none}", "")
    assert [p.id for p in load(text, {"A": "x"}, pipelines=("two",)).pipelines] == ["two"]
    assert [p.code for p in faults(load, text, {"A": "x"}, pipelines=("one",))] == ["unset_variable"] * 2


def test_an_id_may_come_from_a_variable(load: Loading) -> None:
    text = TWO.replace("id: one", "id: '${ID}'")
    assert [p.id for p in load(text, {"ID": "first"}, pipelines=("first",)).pipelines] == ["first"]


def test_server_variables_matter_only_to_who_needs_the_server(load: Loading) -> None:
    text = GOOD + "server: {database: '${DB}'}\n"
    assert load(text).server is None
    assert [p.path for p in faults(load, text, server=True)] == ["server.database"]


def test_every_name_that_is_not_set_is_reported_at_once(load: Loading) -> None:
    text = pipeline("source: {path: '${A}'}\nschedule: ${B}")
    assert [p.path for p in faults(load, text)] == ["pipelines[0].source.path", "pipelines[0].schedule"]


def test_the_real_environment_is_the_default(load: Loading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISTRIBUTOR_TEST_URL", "/from/environment")
    config = load(GOOD.replace("/srv/www", "${DISTRIBUTOR_TEST_URL}"), os.environ)
    assert config.pipelines[0].destinations[0].url == "/from/environment"
