"""What the loader makes of a good file: defaults, paths, kinds of values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distributor.config.document import core_value
from distributor.config.model import Destination, LockSettings, Source
from distributor.config.scalars import parse_delete_limit_option, parse_duration
from distributor.core.policy import (
    DeleteLimit,
    Links,
    OutputRule,
    OwnerKey,
    PublishPolicy,
    Reconciliation,
    Retention,
    StateMode,
    TakeoverMode,
)
from tests.config.making import GOOD, Loading, destination, pipeline


def only(load: Loading, text: str, url: str = "/srv/www") -> Destination:
    return load(destination(text, url)).pipelines[0].destinations[0]


def test_the_least_configuration_has_the_documented_defaults(load: Loading) -> None:
    (found,) = load(GOOD).pipelines
    assert found.source == Source(None, "warn", 86400, False)
    assert found.schedule is None
    assert found.destinations == (
        Destination(
            id="archive",
            url="/srv/www",
            storage={},
            policy=PublishPolicy(OwnerKey("reports", "archive")),
            outputs=(),
            links=Links(None, ("index.html", "*.html")),
            retention=None,
            lock=LockSettings(90.0, 60.0),
            allow_whole_root=False,
            concurrency=16,
            line=5,
        ),
    )


def test_a_small_configuration_has_no_warning_and_no_server(load: Loading) -> None:
    config = load(GOOD)
    assert (config.warnings, config.server, config.hooks, config.metrics_textfile) == ((), None, (), None)


def test_every_policy_key_reaches_the_policy(load: Loading) -> None:
    text = """\
state: {mode: shared_root}
reconciliation: {mode: merge}
transfer: {on_destination_older: skip, on_destination_newer: replace, on_conflict: replace, allow_empty: true, \
max_delete: 20}
takeover: {mode: owner}"""
    assert only(load, text).policy == PublishPolicy(
        owner=OwnerKey("reports", "archive"),
        state_mode=StateMode.SHARED_ROOT,
        reconciliation=Reconciliation.MERGE,
        replace_older=False,
        replace_newer=True,
        force=True,
        allow_empty=True,
        max_delete=DeleteLimit(20, None, "20"),
        takeover=TakeoverMode.OWNER,
    )


def test_output_rules_keep_their_order_and_templates(load: Loading) -> None:
    text = 'outputs:\n- {include: ["**/*.md"], exclude: [x.md], path: "{dir}{stem}.txt"}\n- {}'
    assert only(load, text).outputs == (
        OutputRule(("**/*.md",), ("x.md",), None, "{dir}{stem}.txt"),
        OutputRule(("**",), ()),
    )


def test_retention_counts_and_durations_are_read(load: Loading) -> None:
    text = "retention: {max_age: 4w, keep_last: 3, keep_yearly: 1, protect: [a], keep_newest: false, max_delete: 25%}"
    assert only(load, text).retention == Retention(
        max_age=4 * 7 * 86400,
        keep_last=3,
        keep_yearly=1,
        protect=("a",),
        keep_newest=False,
        max_delete=DeleteLimit(None, 25.0, "25%"),
    )


def test_a_limit_of_no_deletions_is_a_limit(load: Loading) -> None:
    limit = only(load, "transfer: {max_delete: 0}").policy.max_delete
    assert limit == DeleteLimit(0, None, "0")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("15m", 900), ("12h", 43200), ("90d", 7776000), ("4w", 2419200), ("1h30m", None), ("-1s", None)],
)
def test_durations(text: str, seconds: int | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "limit"),
    [("20", DeleteLimit(20, None, "20")), ("50%", DeleteLimit(None, 50.0, "50%")), ("-1", None), ("1.5", None)],
)
def test_delete_limits_of_the_command_line(text: str, limit: DeleteLimit | None) -> None:
    assert parse_delete_limit_option(text) == limit


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("no", "no"),
        ("y", "y"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("12", 12),
        ("012", 12),
        ("-3", -3),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2026-06-04", "2026-06-04"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("1.", 1.0),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    found = core_value(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("word", ["on", "off", "yes", "no"])
def test_words_that_yaml_1_1_takes_for_booleans_are_text(load: Loading, word: str) -> None:
    assert load(GOOD.replace("id: reports", f"id: {word}")).pipelines[0].id == word


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/srv/www/", "/srv/www"),
        ("out", "{folder}/out"),
        ("../out", "{parent}/out"),
        (".", "{folder}"),
        ("~/out", "/home/me/out"),
        ("file:///srv/my%20www", "/srv/my www"),
        ("file://localhost/srv", "/srv"),
        ("s3://bucket/a/b", "s3://bucket/a/b"),
        ("sftp://me@host:2222/srv", "sftp://me@host:2222/srv"),
        ("memory://x", "memory://x"),
    ],
)
def test_local_urls_become_absolute_paths(load: Loading, tmp_path: Path, url: str, expected: str) -> None:
    text = GOOD.replace("/srv/www", url)
    found = load(text, {"HOME": "/home/me"}).pipelines[0].destinations[0].url
    assert found == expected.format(folder=tmp_path, parent=tmp_path.parent)


def test_a_relative_source_begins_at_the_configuration(load: Loading, tmp_path: Path) -> None:
    assert load(pipeline("source: {path: bundles/a}")).pipelines[0].source.path == f"{tmp_path}/bundles/a"


def test_storage_keys_have_their_defaults_even_where_none_is_given(load: Loading) -> None:
    assert only(load, "", "sftp://h/x").storage == {"connect_timeout": 20, "timeout": 60, "retries": 4}


def test_storage_values_are_ready_to_use(load: Loading, tmp_path: Path) -> None:
    text = 'storage: {identity_files: [key], known_hosts: /k, file_mode: "0640", timeout: 2m, retries: 0}'
    assert only(load, text, "sftp://h/x").storage == {
        "identity_files": (f"{tmp_path}/key",),
        "known_hosts": "/k",
        "file_mode": "0640",
        "timeout": 120,
        "connect_timeout": 20,
        "retries": 0,
    }


def test_s3_headers_are_read(load: Loading) -> None:
    text = "storage: {headers: [{match: ['*.html'], cache_control: no-cache}]}"
    assert only(load, text, "s3://b").storage["headers"] == ({"match": ("*.html",), "cache_control": "no-cache"},)


def test_transforms_get_plain_data_as_options(load: Loading) -> None:
    """Checked through a foreign storage, which is free-form as well."""
    text = "storage: {a: [1, 2.5, {b: null}], c: yes, d: '${X}', e: true}"
    with_plugin = destination(text, "memory://x")
    found = load(with_plugin, {"X": "5"}).pipelines[0].destinations[0].storage
    assert found == {"a": [1, 2.5, {"b": None}], "c": "yes", "d": "5", "e": True}


def test_merge_keys_and_anchors_work(load: Loading) -> None:
    text = """\
version: 1
pipelines:
  - id: a
    destinations:
      - &base {id: one, url: /one, concurrency: 3, lock: {wait: 5s}}
      - {<<: *base, id: two, url: /two}
      - {<<: [*base, {concurrency: 9, allow_whole_root: true}], id: three, url: /three}
"""
    found = load(text).pipelines[0].destinations
    assert [(d.id, d.url, d.concurrency, d.lock.wait, d.allow_whole_root) for d in found] == [
        ("one", "/one", 3, 5.0, False),
        ("two", "/two", 3, 5.0, False),
        ("three", "/three", 3, 5.0, True),
    ]


def test_the_server_has_its_defaults_where_it_is_asked_for(load: Loading) -> None:
    server = load(GOOD + "server: {spool: spool}\n", server=True).server
    assert server is not None
    assert (server["host"], server["port"], server["heartbeat"]) == ("127.0.0.1", 8080, 10)
    assert isinstance(server["limits"], dict)
    assert server["limits"]["max_files"] == 100_000


def test_hooks_and_metrics_and_logging_are_read(load: Loading, tmp_path: Path) -> None:
    text = (
        GOOD + "hooks: [{on: [failed], command: [notify, -q]}]\nmetrics: {textfile: m.prom}\nlogging: {format: json}\n"
    )
    config = load(text)
    assert [(h["on"], h["command"], h["timeout"]) for h in config.hooks] == [(("failed",), ("notify", "-q"), 10)]
    assert (config.metrics_textfile, config.log_format, config.log_level) == (f"{tmp_path}/m.prom", "json", "info")


@pytest.mark.parametrize("schedule", ["0 6 * * 1-5", "*/15 * * * *", "30 4 1,15 jan-jun sun", "0 0 * * 7"])
def test_cron_schedules_are_accepted(load: Loading, schedule: str) -> None:
    assert load(pipeline(f"schedule: '{schedule}'")).pipelines[0].schedule == schedule


def test_the_example_of_the_interfaces_loads(load: Loading) -> None:
    text = (Path(__file__).parent / "example.yml").read_text(encoding="utf-8")
    found = load(text).pipelines[0]
    assert (found.id, found.destinations[0].links.base_url) == ("reports", "https://reports.example.com/archive/")


def test_a_byte_order_mark_and_windows_lines_are_no_obstacle(load: Loading) -> None:
    assert load("\ufeff" + GOOD.replace("\n", "\r\n")).pipelines[0].id == "reports"


def test_the_path_is_absolute(load: Loading, tmp_path: Path) -> None:
    assert load(GOOD).path == os.path.join(tmp_path, "distributor.yml")
