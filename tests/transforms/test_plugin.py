"""The example package of a third-party transform, installed as its users would."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from distributor.errors import ConfigError, TransformError
from distributor.transforms.rendering import Job, Task, load, names, render_all
from tests.transforms.making import make, manifest_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "transform-plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the example is installed into, from a copy so that building leaves nothing behind."""
    copy, target = tmp_path_factory.mktemp("plugin") / "source", tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLE, copy)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--target", str(target), str(copy)],
        check=True, capture_output=True,
    )  # fmt: skip
    return target


@pytest.fixture
def on_path(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))


@pytest.mark.usefixtures("on_path")
def test_an_installed_transform_is_found_by_its_name() -> None:
    assert "log_to_html" in names()
    assert load("log_to_html").DEFAULT_PATH == "{path}.html"


@pytest.mark.usefixtures("on_path")
def test_it_renders_with_its_options() -> None:
    page = make("log_to_html", {"a.log": "ok <1>\nFATAL end\n"}, mark="FATAL").text
    assert "ok &lt;1&gt;\n<b>FATAL end</b>" in page


@pytest.mark.usefixtures("on_path")
def test_it_refuses_options_and_files() -> None:
    assert load("log_to_html").check_options({"colour": 1}) == ["colour is not an option; there is only mark"]
    with pytest.raises(TransformError, match=r"^a\.log: is not UTF-8"):
        make("log_to_html", {"a.log": b"\xff"})


@pytest.mark.usefixtures("on_path")
def test_it_renders_in_worker_processes_too(tmp_path: Path) -> None:
    files = {f"{number}.log": b"x" for number in range(4)}
    jobs = [Job(f"{path}.html", "log_to_html", (path,), {}) for path in files]
    done = list(
        render_all(jobs, Task(manifest_of(files), (), str(tmp_path)), files.__getitem__, lambda: None, workers=2)
    )
    assert len(done) == 4


@pytest.mark.usefixtures("on_path")
def test_a_transform_that_lacks_a_part_is_refused(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "half-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[distributor.transforms]\nhalf = half_transform\n")
    (tmp_path / "half_transform.py").write_text("VERSION = SCOPE = 'file'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="transform 'half' lacks DEFAULT_PATH, check_options, render"):
        load("half")


def test_the_example_is_about_twenty_lines() -> None:
    assert len([line for line in (EXAMPLE / "log_to_html.py").read_text().splitlines() if line.strip()]) <= 20
