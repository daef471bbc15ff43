"""What the loader refuses: one row a fault, each with its path and a word of its message."""

from __future__ import annotations

import pytest

from tests.config.making import GOOD, Loading, destination, faults, pipeline

D = "pipelines[0].destinations[0]"


DESTINATIONS = [
    ("id: x", f"{D}.id", "repeated"),
    ("colour: red", f"{D}.colour", "no known key"),
    ("stat: {}", f"{D}.stat", "did you mean 'state'"),
    ("state: {mode: shared}", f"{D}.state.mode", "none of single_owner, shared_root; did you mean 'shared_root'"),
    ("state: {mode: }", f"{D}.state.mode", "is empty"),
    ("state:", f"{D}.state", "is empty"),
    ("state: single_owner", f"{D}.state", "not a mapping"),
    ("reconciliation: {mode: overwrite}", f"{D}.reconciliation.mode", "replace, merge"),
    ("takeover: {mode: all}", f"{D}.takeover.mode", "never, source, owner, any"),
    ("transfer: {on_conflict: skip}", f"{D}.transfer.on_conflict", "fail, replace"),
    ("transfer: {on_destination_older: fail}", f"{D}.transfer.on_destination_older", "replace, skip"),
    ("transfer: {allow_empty: yes}", f"{D}.transfer.allow_empty", "true or false"),
    ("transfer: {allow_empty: 'true'}", f"{D}.transfer.allow_empty", "true or false"),
    ("transfer: {max_delete: -1}", f"{D}.transfer.max_delete", "count"),
    ("transfer: {max_delete: 1.5}", f"{D}.transfer.max_delete", "count"),
    ("transfer: {max_delete: 101%}", f"{D}.transfer.max_delete", "share"),
    ("transfer: {max_delete: '20'}", f"{D}.transfer.max_delete", "count"),
    ("transfer: {max_delete: true}", f"{D}.transfer.max_delete", "count"),
    ("outputs: []", f"{D}.outputs", "is empty"),
    ("outputs: {}", f"{D}.outputs", "not a list"),
    ("outputs: [{include: []}]", f"{D}.outputs[0].include", "is empty"),
    ("outputs: [{include: '*.md'}]", f"{D}.outputs[0].include", "write [*.md]"),
    ("outputs: [{include: [/x]}]", f"{D}.outputs[0].include[0]", "relative"),
    ("outputs: [{exclude: ['a/../b']}]", f"{D}.outputs[0].exclude[0]", "segment"),
    ("outputs: [{path: '../x'}]", f"{D}.outputs[0].path", "'..' segment"),
    ("outputs: [{path: '/x/{name}'}]", f"{D}.outputs[0].path", "absolute"),
    ("outputs: [{path: '.distributor.x'}]", f"{D}.outputs[0].path", "reserved"),
    ("outputs: [{path: '{folder}/x'}]", f"{D}.outputs[0].path", "unknown variable"),
    ("outputs: [{transform: ''}]", f"{D}.outputs[0].transform", "is empty"),
    ("outputs: [{transform: no_such_thing}]", f"{D}.outputs[0].transform", "no transform"),
    ("outputs: [{transform: base}]", f"{D}.outputs[0].transform", "no transform"),
    ("outputs: [{transform: ../x}]", f"{D}.outputs[0].transform", "no transform"),
    ("outputs: [{options: {a: 1}}]", f"{D}.outputs[0].options", "transform"),
    ("links: {base_url: /archive}", f"{D}.links.base_url", "absolute"),
    ("links: {base_url: 'ftp://h/'}", f"{D}.links.base_url", "absolute"),
    ("links: {base_url: 'https://h/?q='}", f"{D}.links.base_url", "query"),
    ("links: {primary: index.html}", f"{D}.links.primary", "not a list"),
    ("retention: {}", f"{D}.retention", "selects nothing"),
    ("retention: {protect: [x]}", f"{D}.retention", "selects nothing"),
    ("retention: {keep_last: 0}", f"{D}.retention.keep_last", "less than 1"),
    ("retention: {keep_daily: -3}", f"{D}.retention.keep_daily", "less than 1"),
    ("retention: {keep_last: 3.0}", f"{D}.retention.keep_last", "whole number"),
    ("retention: {max_age: 90}", f"{D}.retention.max_age", "duration"),
    ("retention: {max_age: 90 d}", f"{D}.retention.max_age", "duration"),
    ("retention: {max_age: 0d}", f"{D}.retention.max_age", "less than"),
    ("retention: {max_age: 3y}", f"{D}.retention.max_age", "duration"),
    ("lock: {wait: -1s}", f"{D}.lock.wait", "duration"),
    ("lock: {ttl: 0s}", f"{D}.lock.ttl", "less than"),
    ("concurrency: 0", f"{D}.concurrency", "less than 1"),
    ("concurrency: 1000", f"{D}.concurrency", "more than"),
    ("concurrency: on", f"{D}.concurrency", "whole number"),
    ("concurrency: 012x", f"{D}.concurrency", "whole number"),
    ("storage: {file_mode: 0644}", f"{D}.storage.file_mode", "quotes"),
    ("storage: {file_mode: 0o644}", f"{D}.storage.file_mode", "quotes"),
    ("storage: {file_mode: '0888'}", f"{D}.storage.file_mode", "octal"),
    ("storage: {region: x}", f"{D}.storage.region", "belongs to an S3 bucket; this destination is a local folder"),
    ("storage: !local {}", f"{D}.storage", "not a mapping"),
    ("concurrency: !count 3", f"{D}.concurrency", "tag"),
    ("1: x", D, "key that is not text"),
]


@pytest.mark.parametrize(("text", "path", "message"), DESTINATIONS)
def test_a_destination_is_refused(load: Loading, text: str, path: str, message: str) -> None:
    found = faults(load, destination(text))
    assert [(p.path, message in p.message) for p in found] == [(path, True)], found


URLS = [
    ("ftp://h/x", "scheme"),
    ("sfpt://h/x", "did you mean 'sftp'"),
    ("sftp://h", "no SFTP URL"),
    ("sftp:///x", "no SFTP URL"),
    ("sftp://h:port/x", "port"),
    ("sftp://u:hunter2@h/x", "password"),
    ("s3:///x", "bucket"),
    ("az://", "container"),
    ("file://host/x", "file URL"),
    ("1://x", "neither a path nor a URL"),
    ('""', "is empty"),
    ("12", "in quotes"),
]


@pytest.mark.parametrize(("url", "message"), URLS)
def test_a_url_is_refused(load: Loading, url: str, message: str) -> None:
    found = faults(load, destination("", url))
    assert [(p.path, message in p.message) for p in found] == [(f"{D}.url", True)], found


STORAGE = [
    ("sftp://h/x", "{host_key: MD5:00}", "host_key"),
    ("sftp://h/x", "{identity_files: []}", "identity_files"),
    ("sftp://h/x", "{endpoint: 'https://h'}", "endpoint"),
    ("s3://b", "{addressing: vhost}", "addressing"),
    ("s3://b", "{endpoint: h}", "endpoint"),
    ("s3://b", "{headers: [{cache_control: x}]}", "headers[0].match"),
    ("s3://b", "{account: x}", "account"),
    ("s3://b", "{endpoint: 'http://h'}", "endpoint"),
    ("az://b", "{endpoint: 'http://h', allow_http: false}", "endpoint"),
    ("s3://b", "{access_key_id: x}", "access_key_id"),
    ("az://c", "{profile: x}", "profile"),
    ("gs://b", "{region: x}", "region"),
]


@pytest.mark.parametrize(("url", "storage", "key"), STORAGE)
def test_storage_keys_are_checked_by_the_kind_of_the_url(load: Loading, url: str, storage: str, key: str) -> None:
    assert [p.path for p in faults(load, destination(f"storage: {storage}", url))] == [f"{D}.storage.{key}"]


PIPELINES = [
    ("source: {max_clock_skew: 1}", "pipelines[0].source.max_clock_skew", "duration"),
    ("source: {unlisted_files: error}", "pipelines[0].source.unlisted_files", "warn, fail, ignore"),
    ("source: {upload: maybe}", "pipelines[0].source.upload", "true or false"),
    ("source: {path: [a]}", "pipelines[0].source.path", "a list"),
    ('source: {path: "a\\0b"}', "pipelines[0].source.path", "NUL"),
    ("schedule: daily", "pipelines[0].schedule", "five"),
    ("schedule: 61 * * * *", "pipelines[0].schedule", "minute"),
    ("schedule: '* * * 13 *'", "pipelines[0].schedule", "month"),
    ("schedule: '5-1 * * * *'", "pipelines[0].schedule", "minute"),
]


@pytest.mark.parametrize(("text", "path", "message"), PIPELINES)
def test_a_pipeline_is_refused(load: Loading, text: str, path: str, message: str) -> None:
    found = faults(load, pipeline(text))
    assert [(p.path, message in p.message) for p in found] == [(path, True)], found


FILES = [
    ("version: 1\n", ["pipelines"]),
    ("version: 1\npipelines: []\n", ["pipelines"]),
    ("version: 1\npipelines: [{id: a, destinations: []}]\n", ["pipelines[0].destinations"]),
    ("version: 1\npipelines: [{id: a}]\n", ["pipelines[0].destinations"]),
    ("version: 1\npipelines: [{destinations: [{}]}]\n", [f"{D}.id", f"{D}.url", "pipelines[0].id"]),
    (GOOD.replace("version: 1", "version: 2"), ["version"]),
    (GOOD.replace("version: 1\n", ""), ["version"]),
    (GOOD.replace("id: reports", "id: -x"), ["pipelines[0].id"]),
    (GOOD.replace("id: reports", f"id: {'x' * 129}"), ["pipelines[0].id"]),
    (GOOD + "  - {id: reports, destinations: [{id: a, url: /x}]}\n", ["pipelines[1].id"]),
    (GOOD + "      - {id: archive, url: /x}\n", ["pipelines[0].destinations[1].id"]),
    ("- 1\n", [None]),
    ("just text\n", [None]),
]


@pytest.mark.parametrize(("text", "paths"), FILES)
def test_a_file_is_refused(load: Loading, text: str, paths: list[str | None]) -> None:
    assert sorted(p.path or "" for p in faults(load, text)) == sorted(path or "" for path in paths)


PARTS = [
    ("hooks: [{}]", "hooks[0]"),
    ("hooks: [{command: [a], webhook: 'https://h'}]", "hooks[0]"),
    ("hooks: [{command: rm -rf}]", "hooks[0].command"),
    ("hooks: [{on: [finish], command: [a]}]", "hooks[0].on[0]"),
    ("hooks: [{webhook: h}]", "hooks[0].webhook"),
    ("hooks: [{email: {to: [a@b]}}]", "hooks[0].email.from"),
    ("server: {port: 65536}", "server.port"),
    ("server: {tokens: [{name: x, sha256: abc, pipelines: [p]}]}", "server.tokens[0].sha256"),
    ("server: {limits: {max_bytes: 0}}", "server.limits.max_bytes"),
    ("server: {spool: 's3://b', storage: {host_key: x}}", "server.storage.host_key"),
    ("metrics: {file: x}", "metrics.file"),
    ("logging: {level: loud}", "logging.level"),
]


@pytest.mark.parametrize(("text", "path"), PARTS)
def test_other_parts_are_checked_too(load: Loading, text: str, path: str) -> None:
    assert [p.path for p in faults(load, GOOD + text + "\n", server=True)] == [path]


def test_two_tokens_of_one_name_are_refused(load: Loading) -> None:
    token = f"{{name: x, sha256: {'ab' * 32}, pipelines: [reports]}}"
    found = faults(load, f"{GOOD}server: {{tokens: [{token}, {token}]}}\n", server=True)
    assert [p.path for p in found] == ["server.tokens[1].name"]


def test_every_fault_comes_at_once_and_in_the_order_of_lines(load: Loading) -> None:
    text = GOOD.replace("version: 1", "version: 3").replace("id: reports", "id: a b") + "colour: red\n"
    assert [(p.line, p.path) for p in faults(load, text)] == [(1, "version"), (3, "pipelines[0].id"), (7, "colour")]


def test_a_repeated_key_names_both_lines(load: Loading) -> None:
    """H4."""
    (found,) = faults(load, GOOD + "version: 1\n")
    assert (found.line, found.code) == (7, "repeated_key")
    assert "line 1" in found.message


@pytest.mark.parametrize(
    ("text", "line"),
    [("version: 1\npipelines: [\n", 3), ("a: b: c\n", 1), ("a: 1\n---\nb: 2\n", 2), ("a:\n\t- b\n", 2), ("a: *x\n", 1)],
)
def test_what_is_no_yaml_is_refused_with_its_line(load: Loading, text: str, line: int) -> None:
    (found,) = faults(load, text)
    assert (found.code, found.line) == ("syntax", line)


@pytest.mark.parametrize("text", ["", "# nothing\n", "a: \x01\n"])
def test_what_holds_no_document_is_refused(load: Loading, text: str) -> None:
    assert [p.code for p in faults(load, text)] == ["syntax"]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("options", ["{x: *i}", "{x: &r [*r]}", "&m {<<: *m}", "{x: " + "[" * 900 + "]" * 900 + "}"])
def test_aliases_and_nesting_are_bounded(load: Loading, options: str) -> None:
    text = BOMB + destination(f"storage: {options}", "other://x")
    assert "too_large" in [p.code for p in faults(load, text)]
