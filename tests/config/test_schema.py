"""The schemas that editors and programs get agree with what the program accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from distributor.config.document import TEXT, Loader, core_value
from distributor.config.schema import schema
from distributor.config.spec import ROOT
from distributor.config.table import Key, Table
from tests.config.making import GOOD, destination, pipeline
from tests.config.test_faults import DESTINATIONS, FILES, PARTS, PIPELINES, STORAGE, URLS

CONFIG = jsonschema.Draft7Validator(schema("config"))

REJECTED = (
    [destination(text) for text, *_ in DESTINATIONS]
    + [destination("", url) for url, _ in URLS]
    + [destination(f"storage: {storage}", url) for url, storage, _ in STORAGE]
    + [pipeline(text) for text, *_ in PIPELINES]
    + [text for text, _ in FILES]
    + [f"{GOOD}{text}\n" for text, _ in PARTS]
)

BEYOND_A_SCHEMA = {
    destination("id: x"): "a repeated key is gone before a schema sees it",
    destination("outputs: [{exclude: ['a/../b']}]"): "segments of globs",
    destination("outputs: [{transform: no_such_thing}]"): "what is installed",
    destination("outputs: [{transform: base}]"): "what is installed",
    destination("outputs: [{options: {a: 1}}]"): "options that nothing takes",
    destination("retention: {keep_last: 3.0}"): "in JSON Schema 3.0 is an integer",
    destination("storage: !local {}"): "tags",
    destination("concurrency: !count 3"): "tags",
    destination("", "ftp://h/x"): "what is installed",
    destination("", "sfpt://h/x"): "what is installed",
    destination("", "sftp://h:port/x"): "ports",
    destination("storage: {endpoint: 'http://h'}", "s3://b"): "keys that go together",
    destination("storage: {endpoint: 'http://h', allow_http: false}", "az://b"): "keys that go together",
    destination("storage: {access_key_id: x}", "s3://b"): "keys that go together",
    pipeline('source: {path: "a\\0b"}'): "characters of paths",
    pipeline("schedule: 61 * * * *"): "the bounds of cron fields",
    pipeline("schedule: '* * * 13 *'"): "the bounds of cron fields",
    pipeline("schedule: '5-1 * * * *'"): "the bounds of cron fields",
    GOOD + "  - {id: reports, destinations: [{id: a, url: /x}]}\n": "ids that repeat",
    GOOD + "      - {id: archive, url: /x}\n": "ids that repeat",
}

ACCEPTED = [
    GOOD,
    (Path(__file__).parent / "example.yml").read_text(encoding="utf-8"),
    destination("concurrency: ${N}\nallow_whole_root: '${B}'\nlock: {wait: '${W}'}\ntransfer: {max_delete: '${M}'}"),
    destination("transfer: {max_delete: 0}"),
    destination("outputs: [{}]\nlinks: {base_url: '${BASE}', primary: ['${P}']}"),
    destination('storage: {file_mode: "0640", dir_mode: "${M}"}', "../out"),
    destination("storage: {host_key: '${KEY}', password: '${file:pw}'}", "sftp://me@host:22/srv"),
    destination("storage: {anything: [1]}", "other://x"),
    destination("storage: {anything: [1]}", "${URL}"),
    destination("storage: {region: eu-1, headers: [{match: ['*'], cache_control: no-cache}]}", "s3://${BUCKET}/x"),
    GOOD + "hooks: [{heartbeat: 'https://h/x'}]\nserver: {port: 0}\nmetrics: {textfile: m}\nlogging: {level: debug}\n",
    pipeline("schedule: 0 6 * * mon-fri\nsource: {upload: true}"),
]


def plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.tag == TEXT else core_value(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    return {plain(key): plain(value) for key, value in node.value}


def accepts(text: str) -> bool:
    return CONFIG.is_valid(plain(yaml.compose(text, Loader=Loader)))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["config", "manifest", "state", "report"])
def test_a_schema_is_a_valid_draft_7_schema(name: str) -> None:
    jsonschema.Draft7Validator.check_schema(schema(name))


@pytest.mark.parametrize("text", ACCEPTED)
def test_the_schema_accepts_what_the_loader_may_accept(text: str) -> None:
    assert accepts(text)


@pytest.mark.parametrize("text", [text for text in REJECTED if text not in BEYOND_A_SCHEMA])
def test_the_schema_rejects_what_the_loader_rejects(text: str) -> None:
    assert not accepts(text)


@pytest.mark.parametrize("text", BEYOND_A_SCHEMA)
def test_what_a_schema_cannot_know_is_listed_with_its_reason(text: str) -> None:
    assert accepts(text)


def keys_of(table: Table, path: str = "") -> list[tuple[str, Key]]:
    found: list[tuple[str, Key]] = []
    for name, key in table.keys.items():
        kind = getattr(key.kind, "make", lambda kind=key.kind: kind)()
        kind = getattr(kind, "item", kind)
        found += [(f"{path}{name}", key), *(keys_of(kind, f"{path}{name}.") if isinstance(kind, Table) else [])]
    return found


@pytest.mark.parametrize(("path", "key"), keys_of(ROOT))
def test_every_key_says_in_a_sentence_what_it_is(path: str, key: Key) -> None:
    assert key.doc[0].isupper() or key.doc.startswith("`"), path
    assert key.doc.endswith("."), path


@pytest.mark.parametrize(("path", "key"), keys_of(ROOT))
def test_every_default_and_example_is_valid_itself(path: str, key: Key) -> None:
    found = key.schema()
    for value in [found.get("default", ...), *found.get("examples", [])]:  # type: ignore[misc]
        assert value is ... or jsonschema.Draft7Validator(found).is_valid(value), path


DIGEST = "sha256:" + "a" * 64
MANIFEST = {
    "schema_version": 1,
    "id": "reports.example",
    "digest": DIGEST,
    "created": "2026-06-04T11:55:00.123456789+02:00",
    "files": [{"path": ".a/ü b.md", "sha256": DIGEST, "size": 0}],
}


def test_the_manifest_schema_accepts_a_manifest() -> None:
    assert jsonschema.Draft7Validator(schema("manifest")).is_valid(MANIFEST)


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"id": "-x"},
        {"digest": "sha256:" + "A" * 64},
        {"created": "2026-06-04T11:55:00"},
        {"files": None},
        *(
            {"files": [{"path": path, "sha256": DIGEST, "size": 1}]}
            for path in ("", "/a", "a/", "a//b", "./a", "a/..", "a\\b", "a\nb", "manifest.json", "x" * 1025)
        ),
        {"files": [{"path": "a", "sha256": DIGEST, "size": -1}]},
        {"files": [{"path": "a", "sha256": DIGEST, "size": "1"}]},
        {"files": [{"path": "a", "sha256": DIGEST}]},
    ],
)
def test_the_manifest_schema_rejects_what_breaks_a_rule(change: dict[str, object]) -> None:
    """A1, A3, A4, A5."""
    assert not jsonschema.Draft7Validator(schema("manifest")).is_valid({**MANIFEST, **change})


T = "2026-06-04T12:00:00.000001Z"
COPIED = {"path": "a", "kind": "source", "source_path": "a", "sha256": DIGEST, "size": 1}
MADE = {**COPIED, "path": "a.html", "kind": "generated", "transform": "markdown_to_html", "url": "https://h/a.html"}
TIMES = {"created_at": T, "updated_at": T}
OWNER = {"pipeline_id": "reports", "destination_id": "archive"}
SOURCE = {"source_id": "reports.example", "source_digest": DIGEST, "source_created": T}
BASE = {"source": {"manifest": MANIFEST}, "links": {"primary_url": "https://h/a.html"}}
STATES = {
    1: {"schema_version": 1, **OWNER, "published_at": T, **BASE, "outputs": [COPIED, MADE]},
    2: {
        "schema_version": 2,
        "distributor_version": "dev",
        **OWNER,
        "published_at": T,
        **TIMES,
        "state": {"mode": "single_owner"},
        "reconciliation": {"mode": "replace"},
        **BASE,
        "outputs": [{**COPIED, **TIMES}, {**MADE, **TIMES, "extra": 1}],
    },
    3: {
        "schema_version": 3,
        **TIMES,
        "state": {"mode": "shared_root"},
        "owners": [{**OWNER, "reconciliation": {"mode": "merge"}, **BASE}],
        "outputs": [{**MADE, **TIMES, **OWNER, **SOURCE}],
    },
}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_state_schema_accepts_every_version(version: int) -> None:
    """C1."""
    assert jsonschema.Draft7Validator(schema("state")).is_valid(STATES[version])


@pytest.mark.parametrize(
    ("version", "key"), [(version, key) for version, state in STATES.items() for key in state if key != "links"]
)
def test_the_state_schema_requires_every_required_field(version: int, key: str) -> None:
    without = {name: value for name, value in STATES[version].items() if name != key}
    expected = key == "distributor_version"
    assert jsonschema.Draft7Validator(schema("state")).is_valid(without) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "copied"},
        {"transform": "markdown_to_html"},
        {"kind": "generated"},
        {"url": "/a"},
        {"path": "../a"},
        {"sha256": "a" * 64},
        {"size": 1.5},
        {"updated_at": "2026-06-04"},
        {"source_digest": None},
        {"pipeline_id": "a b"},
    ],
)
def test_the_state_schema_rejects_a_broken_output(change: dict[str, object]) -> None:
    output = {**COPIED, **TIMES, **OWNER, **SOURCE}
    validator = jsonschema.Draft7Validator(schema("state"))
    assert validator.is_valid({**STATES[3], "outputs": [output]})
    assert not validator.is_valid({**STATES[3], "outputs": [{**output, **change}]})


RESULT = {
    **OWNER,
    "source": {"id": "reports.example", "digest": DIGEST, "created": T},
    "status": "published",
    "action": "publish",
    "reason": "no_state",
    "message": "published",
    "outputs": {"written": ["report.html"], "unchanged": [], "retained": [], "deleted": []},
    "conflicts": [{"path": "a", "pipeline_id": None, "destination_id": None}],
    "outputs_differ": False,
    "migrated": False,
    "recovered": False,
    "failed": [{"path": "a", "message": "b"}],
    "bytes_transferred": 2345,
    "primary_url": None,
}
COUNTS = dict.fromkeys(("published", "planned", "skipped", "conflict", "locked", "failed"), 0)
ERROR = {"kind": "config", "message": "m", "details": [{"message": "m", "line": 12, "path": "pipelines[0].id"}]}
REPORTS: dict[str, dict[str, object]] = {
    "run": {"dry_run": False, "started_at": T, "finished_at": T, "results": [RESULT], "summary": COUNTS},
    "reconcile-state": {
        "dry_run": True,
        **OWNER,
        "all_owners": False,
        "status": "planned",
        "reason": None,
        "message": "m",
        "missing": [{"path": "a", **OWNER}],
        "unmanaged": ["x"],
    },
    "prune": {
        "applied": False,
        **OWNER,
        "status": "planned",
        "reason": None,
        "message": "m",
        "deletes": [{"path": "a", "updated_at": T, "size": 1}],
        "kept": 12,
        "failed": [],
    },
    "verify": {
        "results": [
            {
                **OWNER,
                "status": "drift",
                "checked": 1,
                "missing": [],
                "changed": ["a"],
                "unverified": [],
                "unmanaged": [],
            }
        ]
    },
    "status": {
        "results": [
            {
                **OWNER,
                "status": "managed",
                "schema_version": 2,
                "source": RESULT["source"],
                "published_at": T,
                "updated_at": T,
                "outputs": 12,
                "bytes": 34567,
                "owners": [],
                "locked_by": None,
                "pending_journal": False,
            }
        ]
    },
    "bundle verify": {
        "status": "invalid",
        "id": None,
        "digest": None,
        "created": None,
        "files": None,
        "bytes": None,
        "problems": [{"code": "manifest_missing", "path": None, "message": "m"}],
    },
    "config check": {"path": "/x/distributor.yml", "warnings": ["w"]},
}


@pytest.mark.parametrize("command", REPORTS)
def test_the_report_schema_accepts_each_commands_document(command: str) -> None:
    document = {"report_version": 1, "command": command, **REPORTS[command], "error": None}
    jsonschema.Draft7Validator(schema("report")).validate(document)


@pytest.mark.parametrize("command", REPORTS)
def test_the_report_schema_rejects_a_field_that_is_not_fixed(command: str) -> None:
    document = {"report_version": 1, "command": command, **REPORTS[command], "error": None, "more": 1}
    assert not jsonschema.Draft7Validator(schema("report")).is_valid(document)


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        ({"command": "run", "results": [], "error": ERROR}, True),
        ({"command": "run", "error": ERROR}, False),
        ({"command": "run", "results": [RESULT], "error": ERROR}, False),
        ({"command": "prune", "error": ERROR}, True),
        ({"command": None, "error": {**ERROR, "kind": "usage"}}, True),
        ({"command": "prune", "error": {**ERROR, "kind": "other"}}, False),
    ],
)
def test_the_report_schema_knows_commands_that_did_not_get_far(document: dict[str, object], valid: bool) -> None:
    """G8."""
    assert jsonschema.Draft7Validator(schema("report")).is_valid({"report_version": 1, **document}) == valid


def test_the_schemas_are_json_that_can_be_written() -> None:
    assert json.loads(json.dumps(schema("config"))) == schema("config")
