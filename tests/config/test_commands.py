"""``init``, ``config check`` and ``schema`` as a user calls them."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from distributor.cli.main import main
from distributor.config.schema import schema
from tests.config.making import GOOD


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        jsonschema.Draft7Validator(schema("report")).validate(found)
        return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "DISTRIBUTOR_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(here: Path, capfd: pytest.CaptureFixture[str]) -> Any:
    def call(*argv: str) -> Ran:
        code = main(argv)
        return Ran(code, *capfd.readouterr())

    return call


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_init_writes_what_config_check_calls_valid(run: Any) -> None:
    run("init")
    assert run("config", "check").code == 0


def test_init_writes_a_bundle_that_bundle_verify_calls_valid(run: Any) -> None:
    run("init", "demo")
    assert run("bundle", "verify", "demo/bundles/weekly-operations", "--json").document["status"] == "valid"


def test_init_reports_each_file_it_wrote(run: Any, here: Path) -> None:
    assert run("init", "a b", "--json").document["written"] == tree(here / "a b")


def test_init_quotes_the_folder_in_what_to_do_next(run: Any) -> None:
    assert "cd 'a b' && distributor plan" in run("init", "a b").err


def test_init_begins_with_a_schema_that_is_there(run: Any, here: Path) -> None:
    run("init")
    first = (here / "distributor.yml").read_text().splitlines()[0]
    name = first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads((here / name).read_text()) == schema("config")


@pytest.mark.parametrize("existing", ["distributor.yml", "distributor.schema.json", "bundles/weekly-operations"])
def test_init_overwrites_nothing(run: Any, here: Path, existing: str) -> None:
    (here / existing).parent.mkdir(exist_ok=True)
    (here / existing).write_text("mine")
    found = run("init")
    assert (found.code, existing in found.err, tree(here)) == (2, True, [existing])


def test_init_does_not_write_through_a_dangling_link(run: Any, here: Path) -> None:
    (here / "distributor.yml").symlink_to(here / "elsewhere")
    assert (run("init").code, (here / "elsewhere").exists()) == (2, False)


def test_init_comments_pages_out_where_they_cannot_be_made(here: Path) -> None:
    code = (
        "import sys; sys.modules['comrak'] = None\n"
        "from distributor.cli.main import main\n"
        "sys.exit(main(['init']) or main(['config', 'check']))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=here, check=True, capture_output=True)
    assert "# outputs:" in (here / "distributor.yml").read_text()


def sample() -> Path:
    import distributor

    return Path(distributor.__file__).parent / "data" / "sample" / "bundle"


def figures(rows: Sequence[dict[str, str]]) -> str:
    orders, on_time, late, returned = (sum(int(r[k]) for r in rows) for k in ("orders", "on_time", "late", "returned"))
    revenue = sum(round(float(r["revenue_eur"]) * 100) for r in rows) / 100
    return (
        f"| {orders:,} | {on_time:,} | {late:,} | {on_time / orders:.2%} | {returned / orders:.2%} | {revenue:,.2f} |"
    )


def test_the_sample_reports_figures_add_up() -> None:
    with (sample() / "data/orders.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    page = (sample() / "index.md").read_text()
    groups = [rows] + [
        [r for r in rows if r[key] == value] for key in ("region", "date") for value in {r[key] for r in rows}
    ]
    assert [figures(group) for group in groups if figures(group) not in page] == []


def test_the_sample_reports_links_lead_somewhere() -> None:
    broken = [
        (page.name, link)
        for page in sample().rglob("*.md")
        for link in re.findall(r"\]\(([^)#]+)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_config_check_reports_every_fault_with_its_place(run: Any, here: Path) -> None:
    (here / "distributor.yml").write_text(GOOD.replace("version: 1", "version: 2") + "colour: red\n")
    found = run("config", "check")
    assert found.code == 2
    assert re.findall(r"distributor\.yml:\d+  \S+", found.err) == [
        "distributor.yml:1  version",
        "distributor.yml:7  colour",
    ]


def test_config_check_as_json_gives_the_same_details(run: Any, here: Path) -> None:
    (here / "distributor.yml").write_text(GOOD + "colour: red\n")
    document = run("config", "check", "--json").document
    assert [(d["line"], d["path"]) for d in document["error"]["details"]] == [(7, "colour")]
    assert (document["command"], document["error"]["kind"]) == ("config check", "config")


def test_config_check_of_no_configuration_is_exit_2(run: Any) -> None:
    found = run("config", "check", "--json")
    assert (found.code, found.document["error"]["kind"], found.document["path"]) == (2, "config", None)


def test_config_check_shows_warnings_and_is_still_0(run: Any, here: Path) -> None:
    (here / "distributor.yml").write_text(GOOD + "        transfer: {on_conflict: replace}\n")
    found = run("config", "check")
    assert (found.code, "warning:" in found.err) == (0, True)


def test_config_check_as_json_has_path_and_warnings(run: Any, here: Path) -> None:
    (here / "distributor.yml").write_text(GOOD + "        transfer: {on_conflict: replace}\n")
    document = run("config", "check", "--json").document
    assert (document["path"], len(document["warnings"])) == (str(here / "distributor.yml"), 1)


def test_config_check_needs_the_variables_of_every_part(run: Any, here: Path) -> None:
    (here / "distributor.yml").write_text(GOOD + "server: {database: '${NONE}'}\n")
    assert "NONE" in run("config", "check").err


def test_quiet_says_nothing_of_a_valid_configuration(run: Any, here: Path) -> None:
    (here / "distributor.yml").write_text(GOOD)
    assert run("config", "check", "-q") == Ran(0, "", "")


@pytest.mark.parametrize("name", ["config", "manifest", "state", "report"])
def test_schema_prints_a_schema(run: Any, name: str) -> None:
    found = run("schema", name)
    assert (found.code, json.loads(found.out), found.err) == (0, schema(name), "")


def test_schema_of_anything_else_is_a_wrong_call(run: Any) -> None:
    assert run("schema", "colours").code == 2


HEAVY = (
    "dataclasses asyncio logging subprocess importlib.metadata rich msgspec ctypes tempfile click concurrent.futures "
    "pathlib difflib distributor.config.spec_service distributor.config.schema"
)


def test_loading_a_configuration_imports_nothing_heavy(here: Path) -> None:
    (here / "distributor.yml").write_text((Path(__file__).parent / "example.yml").read_text())
    code = (
        "import sys; before = set(sys.modules)\n"
        "from distributor.config.loading import load_config; load_config()\n"
        f"print(*sorted(set({HEAVY.split()!r}) & (set(sys.modules) - before)))"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=here, check=True, capture_output=True, text=True)
    assert found.stdout.strip() == ""
