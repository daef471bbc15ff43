"""Every call ends in one document or in sentences, whatever went wrong (interfaces §3 and §4, G8)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distributor.cli.failures import failure_document, failure_lines, report_failure
from distributor.cli.main import COMMANDS, main
from distributor.cli.parsing import GROUPS, build, load_command, title_of
from distributor.cli.style import Style
from distributor.errors import BundleError, ConfigError, Interrupted, LockedError, Problem, StorageError, UsageError
from tests.bundle.making import digest_over, make_bundle
from tests.cli.running import COMMAND, distributor, environment


def test_a_wrong_word_suggests_the_right_one(tmp_path):
    done = distributor("bundel", cwd=tmp_path)
    assert done.stderr == "error: there is no command 'bundel'\n  did you mean `distributor bundle`?\n"
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["bundle", "create", "--json"], "bundle create"),
        (["bundle", "--json"], "bundle"),
        (["bundle", "verify", "a", "b", "--json"], "bundle verify"),
        (["bundle", "verify", "a", "--js", "--json"], "bundle verify"),
        (["nonsense", "--json"], None),
        (["--json"], None),
    ],
)
def test_a_wrong_call_with_json_is_one_document(tmp_path, arguments, command):
    """G8: commands without results have just the version, their name and the error."""
    done = distributor(*arguments, cwd=tmp_path)
    document = json.loads(done.stdout)
    assert list(document) == ["report_version", "command", "error"]
    assert (document["command"], document["error"]["kind"], done.returncode) == (command, "usage", 2)
    assert done.stderr == ""


def test_a_command_with_results_has_an_empty_list_of_them(tmp_path):
    """Interfaces §4."""
    done = distributor("run", "--nonsense", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["command"], document["results"], document["error"]["kind"]) == ("run", [], "usage")
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["run", "plan", "status"])
def test_a_missing_configuration_is_a_configuration_error(tmp_path, command):
    done = distributor(command, "--json", cwd=tmp_path, HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))
    document = json.loads(done.stdout)
    assert (document["error"]["kind"], document["results"], done.returncode) == ("config", [], 2)


def test_options_are_never_abbreviated(tmp_path):
    """``--for`` must not become ``--force``."""
    (tmp_path / "b").mkdir()
    assert distributor("bundle", "create", "b", "--id", "w", "--forc", cwd=tmp_path).returncode == 2


def test_every_command_has_help_and_the_common_options(tmp_path):
    for name in COMMANDS:
        done = distributor(name, "--help", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), name
        if name not in GROUPS:
            assert all(option in done.stdout for option in ("--json", "--verbose", "--quiet")), name


def test_the_help_lists_every_command(tmp_path):
    shown = distributor("--help", cwd=tmp_path).stdout
    assert all(re.search(rf"^    {name} ", shown, re.MULTILINE) for name in COMMANDS)


def test_the_help_fits_eighty_columns(tmp_path):
    for arguments in ([], ["run"], ["plan"], ["bundle", "create"]):
        shown = distributor(*arguments, "--help", cwd=tmp_path, COLUMNS="80").stdout
        assert max(map(len, shown.splitlines())) <= 80


def test_only_the_called_command_is_imported():
    """Start-up: one module of ``cli.commands`` for one command."""
    code = (
        "import sys\nfrom distributor.cli.main import main\nmain(['bundle', 'verify', 'absent', '-q'])\n"
        "print([m for m in sys.modules if m.startswith('distributor.cli.commands.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment())
    assert done.stdout == "['distributor.cli.commands.bundle']\n"


def test_every_command_module_has_what_the_skeleton_needs():
    for module in COMMANDS.values():
        command = load_command(module)
        assert command.SUMMARY
        assert not command.SUMMARY.endswith(".")
        assert callable(command.configure)
        assert callable(command.execute)


def test_a_title_is_known_without_a_parser():
    assert title_of(COMMANDS, ["-v", "bundle", "verify", "x"]) == "bundle verify"
    assert title_of(COMMANDS, ["run", "-p", "x"]) == "run"
    assert title_of(COMMANDS, []) is None


def test_the_whole_parser_builds():
    assert build(COMMANDS, None).prog == "distributor"


CONFIG_ERROR = ConfigError(
    "distributor.yml has 2 faults",
    (
        Problem("unknown_key", "unknown key 'urll'; did you mean 'url'?", "pipelines[0].destinations[0]", 12),
        Problem("missing", "id is missing", None, None),
    ),
)


def test_a_configuration_error_gives_line_and_path():
    """Interfaces §4."""
    assert failure_document(CONFIG_ERROR, "run") == {
        "report_version": 1,
        "command": "run",
        "results": [],
        "error": {
            "kind": "config",
            "message": "distributor.yml has 2 faults",
            "details": [
                {
                    "message": "unknown key 'urll'; did you mean 'url'?",
                    "line": 12,
                    "path": "pipelines[0].destinations[0]",
                },
                {"message": "id is missing", "line": None, "path": None},
            ],
        },
    }


def test_a_configuration_error_is_readable():
    assert failure_lines(CONFIG_ERROR, Style()) == [
        "error: distributor.yml has 2 faults",
        "  line 12: pipelines[0].destinations[0]: unknown key 'urll'; did you mean 'url'?",
        "  id is missing",
    ]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (CONFIG_ERROR, 2),
        (BundleError("x", ()), 3),
        (LockedError("x"), 5),
        (StorageError("x", operation="read"), 1),
        (Interrupted(signal.SIGINT), 130),
        (Interrupted(signal.SIGTERM), 143),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("x"), 1),
    ],
)
def test_every_error_has_its_code(error, code, capfd):
    assert report_failure(error, "prune", as_json=False, verbose=0) == code
    assert capfd.readouterr().err


@pytest.mark.parametrize("verbose", [0, 2])
@pytest.mark.parametrize("as_json", [False, True])
def test_an_unexpected_error_never_shows_its_own_text(capfd, monkeypatch, as_json, verbose):
    """Fault row 74: it may hold anything, a password included."""
    import distributor.cli.commands.bundle as command

    def fail(args: object) -> int:
        raise ValueError("canary-secret")

    monkeypatch.setattr(command, "execute", fail)
    flags = ["--json"] * as_json + ["-v"] * verbose
    assert main(["bundle", "verify", "x", *flags]) == 1
    shown = capfd.readouterr()
    assert "canary-secret" not in shown.out + shown.err
    assert "ValueError" in shown.out + shown.err
    assert ("step" in shown.err) == bool(verbose)
    if as_json:
        assert json.loads(shown.out)["error"]["kind"] == "internal"


def test_a_reader_that_stops_reading_is_no_failure(tmp_path):
    make_bundle(tmp_path / "b", {f"{i}.md": b"x" for i in range(3)})
    for i in range(3):
        (tmp_path / "b" / f"extra{i}").write_bytes(b"")
    line = f"{' '.join(COMMAND)} bundle verify b --json | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], check=False, cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_help_into_a_closed_pipe_is_no_failure(tmp_path):
    line = f"{' '.join(COMMAND)} --help | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], check=False, cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("redirection", "message"), [("> /dev/full", "No space left on device"), (">&-", "standard output is closed")]
)
def test_a_report_that_can_not_be_written_is_a_failure(tmp_path, redirection, message):
    make_bundle(tmp_path / "b", {})
    line = f"{' '.join(COMMAND)} bundle verify b --json {redirection}"
    done = subprocess.run(
        ["bash", "-c", line], check=False, cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_without_a_usable_stderr_the_code_still_tells(tmp_path, redirection):
    make_bundle(tmp_path / "b", {})
    line = f"{' '.join(COMMAND)} bundle verify b {redirection}"
    assert subprocess.run(["bash", "-c", line], check=False, cwd=tmp_path, env=environment()).returncode == 0


def huge_bundle(folder: Path) -> Path:
    """A bundle whose checking takes minutes: a sparse file of 200 GiB."""
    bundle = make_bundle(folder / "b", {})
    listed = [{"path": "huge.bin", "sha256": "sha256:" + "0" * 64, "size": 200 << 30}]
    make_bundle(bundle, {}, files=listed, digest=digest_over(listed))
    with (bundle / "huge.bin").open("wb") as file:
        file.truncate(200 << 30)
    return bundle


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_signal_stops_the_work_at_once(tmp_path, number, code, flags):
    """G10."""
    huge_bundle(tmp_path)
    process = subprocess.Popen(
        [*COMMAND, "bundle", "verify", "b", "-v", *flags],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("checking b")
    process.send_signal(number)
    out, err = process.communicate(timeout=9)
    assert process.returncode == code
    if flags:
        assert json.loads(out)["error"]["message"].startswith("interrupted")
    else:
        assert err == "stopped: interrupted\n  run again to continue\n"


STUBBORN = """
import sys, time
from argparse import Namespace
from distributor.cli import running, signals
signals.PATIENCE = 0.3
def stubborn(context):
    print("working", file=sys.stderr, flush=True)
    while True:
        time.sleep(0.05)
args = Namespace(json="--json" in sys.argv, quiet=False, verbose=0, title="run")
running.perform(args, stubborn, lambda document, view: [])
"""


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_work_that_does_not_stop_is_ended_hard(tmp_path, flags):
    """G10: after ten seconds (here less); the document is still one."""
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN, *flags],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "working\n"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 143
    assert json.loads(out)["results"] == [] if flags else "the next run takes it up" in err


def test_a_second_signal_ends_it_at_once(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN.replace("0.3", "60")], env=environment(), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130


def test_an_ignored_signal_stays_ignored(tmp_path):
    """``nohup`` and shells that start things in the background mean it."""
    huge_bundle(tmp_path)
    process = subprocess.Popen(
        ["bash", "-c", f"trap '' INT; exec {' '.join(COMMAND)} bundle verify b -v"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 143


def on_terminal(arguments: list[str], cwd: Path, seconds: float = 30, **extra: str) -> str:
    """Run with stderr on a terminal of 80 columns; return what it showed. Stopped after ``seconds``."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen([*COMMAND, *arguments], cwd=cwd, env=environment(**extra), stderr=theirs)
    os.close(theirs)
    shown, until = b"", time.monotonic() + seconds
    while True:
        if time.monotonic() > until:
            until = float("inf")
            process.terminate()
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        shown += piece
    os.close(ours)
    process.wait(timeout=20)
    return shown.decode()


def test_a_terminal_gets_colours(tmp_path):
    make_bundle(tmp_path / "b", {})
    assert "\x1b[32;1mvalid\x1b[0m" in on_terminal(["bundle", "verify", "b"], tmp_path)


def test_no_color_is_honoured_on_a_terminal(tmp_path):
    make_bundle(tmp_path / "b", {})
    shown = on_terminal(["bundle", "verify", "b"], tmp_path, NO_COLOR="1")
    assert "\x1b" not in shown
    assert "✓ b  valid" in shown


def test_a_terminal_gets_a_moving_bar_when_it_takes_long(tmp_path):
    huge_bundle(tmp_path)
    shown = on_terminal(["bundle", "verify", "b"], tmp_path, seconds=3)
    assert "checking b" in shown
    assert "200.0 GiB" in shown
    assert shown.endswith("stopped: interrupted\r\n  run again to continue\r\n")


def test_a_pipe_never_gets_a_moving_bar(tmp_path):
    huge_bundle(tmp_path)
    process = subprocess.Popen(
        [*COMMAND, "bundle", "verify", "b"], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    time.sleep(2)
    process.terminate()
    _, err = process.communicate(timeout=20)
    assert err == "stopped: interrupted\n  run again to continue\n"
