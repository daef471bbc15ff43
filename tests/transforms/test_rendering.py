"""Finding transforms by name, and rendering many pages, in this process and in others."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from distributor.errors import BundleError, ConfigError, Interrupted, TransformError
from distributor.transforms.rendering import FEW, Job, Rendered, Task, load, names, render_all
from tests.transforms.making import manifest_of, rendered

FILES = {f"p{number:03}.md": f"# Page {number}\n\n[next](p{number + 1:03}.md)\n".encode() for number in range(60)}
JOBS = [Job(path.replace(".md", ".html"), "markdown_to_html", (path,), {}) for path in FILES]
PLAN = tuple(rendered(path, path.replace(".md", ".html")) for path in FILES)


OWN = {"markdown_to_html", "csv_to_html", "notebook_to_html", "index_page", "gzip", "brotli"}


def idle() -> None:
    """Nothing asks to stop."""


def run(
    folder: Path,
    jobs: list[Job] = JOBS,
    read: Callable[[str], bytes] = FILES.__getitem__,
    check: Callable[[], None] = idle,
    workers: int | None = None,
) -> Iterator[Rendered]:
    return render_all(jobs, Task(manifest_of(FILES), PLAN, str(folder)), read, check, workers=workers)


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_every_transform_of_the_package_is_known_by_its_file_name() -> None:
    assert set(names()) >= OWN
    assert not {"base", "rendering", "workers", "options", "pages"} & set(names())


@pytest.mark.parametrize("name", names())
def test_every_transform_is_whole(name: str) -> None:
    transform = load(name)
    assert transform.SCOPE in {"file", "bundle"}
    assert transform.check_options({}) == []


def test_checking_a_configuration_loads_nothing_that_pages_need() -> None:
    """A run that skips must start fast."""
    heavy = set(
        "comrak nh3 jinja2 pygments latex2mathml brotli yaml csv json html subprocess multiprocessing asyncio logging"
        " dataclasses tempfile importlib.metadata pathlib".split()
    )
    program = (
        "import sys\nfrom distributor.transforms.rendering import load\nbefore = set(sys.modules)\n"
        f"for name in {[n for n in names() if n in OWN]}: load(name).check_options({{}})\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) & heavy == set()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("markdown_to_htm", "did you mean markdown_to_html?"),
        ("os", "there is "),
        ("pages.page", ""),
        ("base", ""),
        ("", ""),
    ],
)
def test_a_name_is_never_an_import_path(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match="there is no transform") as caught:
        load(name)
    assert hint in str(caught.value)


@pytest.mark.parametrize("workers", [0, 2])
def test_all_pages_lie_in_the_spool_with_their_digests(tmp_path: Path, workers: int) -> None:
    done = {item.output_path: item for item in run(tmp_path, workers=workers)}
    assert sorted(done) == sorted(job.output_path for job in JOBS)
    for item in done.values():
        data = Path(item.file).read_bytes()
        assert (item.sha256, item.size) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
    assert done["p059.html"].warnings == ("p059.md:3: links to 'p060.md', which is not in the bundle",)


def test_processes_make_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = {(item.output_path, item.sha256) for item in run(tmp_path / "one", workers=0)}
    assert one == {(item.output_path, item.sha256) for item in run(tmp_path / "two", workers=2)}


def test_many_pages_are_spread_and_few_are_not(tmp_path: Path) -> None:
    before = children()
    pages = run(tmp_path)
    next(pages)
    assert len(children() - before) == min(len(os.sched_getaffinity(0)), len(JOBS)) or len(os.sched_getaffinity(0)) == 1
    pages.close()
    assert children() == before
    few = run(tmp_path, JOBS[:FEW])
    next(few)
    assert children() == before


@pytest.mark.parametrize("workers", [0, 2])
def test_the_first_failure_ends_it_and_names_file_and_line(tmp_path: Path, workers: int) -> None:
    files = {**FILES, "p030.md": b"a\nb\xff"}
    before = children()
    with pytest.raises(TransformError, match=r"^p030\.md:2: is not UTF-8: .*; save the file as UTF-8$"):
        list(run(tmp_path, read=files.__getitem__, workers=workers))
    assert children() == before


@pytest.mark.parametrize("workers", [0, 2])
def test_a_source_that_fails_its_check_ends_it(tmp_path: Path, workers: int) -> None:
    """What is rendered is what was verified (B3)."""

    def read(path: str) -> bytes:
        if path == "p030.md":
            raise BundleError("p030.md: changed while it was read", ())
        return FILES[path]

    with pytest.raises(BundleError, match="changed while it was read"):
        list(run(tmp_path, read=read, workers=workers))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_wish_to_stop_is_heard_between_pages(tmp_path: Path, workers: int) -> None:
    """Signals end a run in bounded time (G10)."""
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 5:
            raise Interrupted(signal.SIGTERM)

    before = children()
    with pytest.raises(Interrupted):
        list(run(tmp_path, check=check, workers=workers))
    assert children() == before


def test_a_worker_that_is_killed_fails_its_page_and_not_the_program(tmp_path: Path) -> None:
    before = children()
    pages = run(tmp_path, workers=2)
    next(pages)
    for pid in children() - before:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(TransformError, match=r"p\d+\.md: could not be rendered: .* ended by signal 9"):
        list(pages)


def test_workers_read_other_files_through_their_parent(tmp_path: Path) -> None:
    asked: list[str] = []

    def read(path: str) -> bytes:
        asked.append(path)
        return FILES[path]

    jobs = [Job("index.html", "index_page", tuple(FILES), {}), Job("p000.html", "markdown_to_html", ("p000.md",), {})]
    done = {item.output_path: Path(item.file).read_text() for item in run(tmp_path, jobs, read, workers=2)}
    assert "<bdi>Page 59</bdi>" in done["index.html"]
    assert set(asked) == set(FILES)


def test_a_worker_s_modules_do_not_come_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "comrak.py").write_text("raise SystemExit('imported from the working folder')")
    monkeypatch.chdir(tmp_path)
    assert len(list(run(tmp_path, workers=2))) == len(JOBS)
