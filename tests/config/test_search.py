"""Where the configuration is found (interfaces section 2, H4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from distributor.config.loading import load_config
from distributor.errors import ConfigError, UsageError
from tests.config.making import GOOD, Loading


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def put(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(GOOD, encoding="utf-8")
    return str(path)


def test_the_option_wins(place: Path) -> None:
    chosen, other = put(place / "a.yml"), put(place / "b.yml")
    put(place / "work/distributor.yml")
    assert load_config(chosen, environ={"DISTRIBUTOR_CONFIG": other}).path == chosen


def test_then_the_environment(place: Path) -> None:
    put(place / "work/distributor.yml")
    chosen = put(place / "b.yml")
    assert load_config(environ={"DISTRIBUTOR_CONFIG": chosen}).path == chosen


def test_then_the_working_folder(place: Path) -> None:
    put(place / "work/distributor.yaml")
    chosen = put(place / "work/distributor.yml")
    assert load_config(environ={"HOME": str(place)}).path == chosen


def test_with_either_ending(place: Path) -> None:
    put(place / ".config/distributor/config.yml")
    chosen = put(place / "work/distributor.yaml")
    assert load_config(environ={"HOME": str(place)}).path == chosen


def test_then_the_users_configuration(place: Path) -> None:
    put(place / ".config/distributor/config.yml")
    chosen = put(place / "xdg/distributor/config.yml")
    assert load_config(environ={"HOME": str(place), "XDG_CONFIG_HOME": str(place / "xdg")}).path == chosen


@pytest.mark.parametrize("environ", [{}, {"XDG_CONFIG_HOME": ""}])
def test_which_is_below_dot_config_where_xdg_says_nothing(place: Path, environ: dict[str, str]) -> None:
    """H4."""
    chosen = put(place / ".config/distributor/config.yml")
    assert load_config(environ={"HOME": str(place), **environ}).path == chosen


def test_none_at_all_says_where_it_looked(place: Path) -> None:
    with pytest.raises(ConfigError, match=r"distributor\.yml") as caught:
        load_config(environ={"HOME": str(place)})
    assert "/etc/distributor/config.yml" in str(caught.value)
    assert "init" in str(caught.value)


@pytest.mark.parametrize("name", ["absent.yml", "."])
def test_a_named_file_that_cannot_be_read_is_an_error(place: Path, name: str) -> None:
    put(place / "work/distributor.yml")
    with pytest.raises(ConfigError, match="can't be read"):
        load_config(name, environ={})


def test_an_unknown_pipeline_is_a_wrong_call_that_names_the_known_ones(load: Loading) -> None:
    with pytest.raises(UsageError, match="there are: reports"):
        load(GOOD, pipelines=("other",))
