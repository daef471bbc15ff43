"""The one specification of every configuration key: validation, defaults and schema derive from it.

The interfaces fix the names; decisions A5, D4, D14, F3 and H1-H4 the values.
"""

from __future__ import annotations

from distributor.config.checks import (
    BASE_URL_PATTERN,
    GLOB,
    ID,
    TEMPLATE_PATTERN,
    DestinationUrl,
    base_url_fault,
    cron_fault,
    template_fault,
)
from distributor.config.kinds import (
    Choice,
    DeleteLimitKind,
    Duration,
    FilePath,
    Flag,
    Free,
    Items,
    Kind,
    Later,
    Schema,
    Text,
    Whole,
)
from distributor.config.reading import Cursor
from distributor.config.spec_storage import storage_conditions, storage_kind
from distributor.config.table import Key, Table, Values, unique
from distributor.config.transforms import check_transform

_COUNT = Whole(1)
KEEP_RULES = ("keep_last", "keep_daily", "keep_weekly", "keep_monthly", "keep_yearly")
_POLICIES = ("max_age", *KEEP_RULES)


def _needs_policy(values: Values, at: Cursor) -> None:
    """No policy is a configuration error (F3)."""
    del values
    entries = at.entries()
    if isinstance(entries, dict) and not any(rule in entries for rule in _POLICIES):
        at.fault(f"selects nothing; give it max_age or one of {', '.join(KEEP_RULES)}", "no_policy")


def _not_used(at: Cursor) -> bool:
    """Whether a run selects other pipelines than this one (H1)."""
    selected = at.reading.selected
    at_id = at.within("id")
    return bool(selected) and (at_id is at or at_id.peek() not in selected)


def _no_server(at: Cursor) -> bool:
    return not at.reading.server


def _server() -> Kind:
    from distributor.config.spec_service import SERVER  # here: most configurations have none

    return SERVER


def _hooks() -> Kind:
    from distributor.config.spec_service import HOOKS  # here: most configurations have none

    return HOOKS


def _retention_schema(found: Schema) -> Schema:
    return {**found, "anyOf": [{"required": [rule]} for rule in _POLICIES]}


def _mode(*choices: str, doc: str) -> Table:
    return Table(Key("mode", Choice(*choices), doc, default=choices[0]))


class Version(Whole):
    """The version of the format."""

    def __init__(self) -> None:
        super().__init__(1, 1)

    def convert(self, raw: object) -> int:
        """Return 1. Raises ``ValueError``."""
        if raw != 1 or type(raw) is not int:
            raise ValueError("is no version that this program reads; write 1")
        return raw


OUTPUT_RULE = Table(
    Key("include", Items(GLOB, 1), "Globs of source files; left out: every file.", default=["**"]),
    Key("exclude", Items(GLOB), "Globs of source files to leave out again.", default=[]),
    Key(
        "transform",
        Text(pattern="^[a-z][a-z0-9_]*$"),
        "What makes the output; left out: the file is copied as it is.",
        example="markdown_to_html",
    ),
    Key(
        "path",
        Text(template_fault, what="path template", quotes=True, pattern=TEMPLATE_PATTERN),
        "Template of the output's path, of {path}, {dir}, {name}, {stem}, {ext}, {source_id} and {created:%Y-%m-%d}; "
        "left out: the transform's own, or {path}.",
        example="{dir}{stem}.html",
    ),
    Key("options", Free(), "The transform's options.", default={}),
    rules=(check_transform,),
)

TRANSFER = Table(
    Key("on_destination_older", Choice("replace", "skip"), "What an older destination gets.", default="replace"),
    Key("on_destination_newer", Choice("skip", "replace"), "What a newer destination gets.", default="skip"),
    Key(
        "on_conflict",
        Choice("fail", "replace"),
        "What a conflict ends in; replace is forced replacement, which deletes unmanaged content.",
        default="fail",
    ),
    Key("allow_empty", Flag(), "Whether a plan without outputs may delete recorded ones.", default=False),
    Key(
        "max_delete",
        DeleteLimitKind(),
        "Most deletions of one plan: a count, or a share of the outputs.",
        example="50%",
    ),
)

RETENTION = Table(
    Key("max_age", Duration(1), "Prune publications older than this.", example="90d"),
    Key("keep_last", _COUNT, "Keep this many publications, the newest first.", example=3),
    Key("keep_daily", _COUNT, "Keep the newest publication of this many days."),
    Key("keep_weekly", _COUNT, "Keep the newest publication of this many weeks."),
    Key("keep_monthly", _COUNT, "Keep the newest publication of this many months."),
    Key("keep_yearly", _COUNT, "Keep the newest publication of this many years."),
    Key("protect", Items(GLOB), "Globs of outputs that are never pruned.", default=[], example=["index.html"]),
    Key("keep_newest", Flag(), "Never prune the owner's newest publication.", default=True),
    Key("max_delete", DeleteLimitKind(), "Most deletions of one prune: a count, or a share of the outputs."),
    rules=(_needs_policy,),
    refine=_retention_schema,
)

DESTINATION = Table(
    Key("id", ID, "Name of the destination, recorded in its state.", required=True, example="archive"),
    Key(
        "url",
        DestinationUrl(),
        "Where it is: a path, file://, sftp://[user@]host[:port]/path, s3://bucket/prefix, gs://… or az://….",
        required=True,
        example="/srv/www/reports",
    ),
    Key("storage", Free(), "Settings of the kind of storage.", default={}, choose=storage_kind),
    Key(
        "state",
        _mode("single_owner", "shared_root", doc="Whether the root is this destination's alone or shared by owners."),
        "Who owns the root.",
        default={},
    ),
    Key(
        "reconciliation",
        _mode("replace", "merge", doc="Whether outputs that are no longer planned are deleted or kept."),
        "What becomes of earlier outputs.",
        default={},
    ),
    Key("transfer", TRANSFER, "When a destination is replaced.", default={}),
    Key(
        "takeover",
        _mode("never", "source", "owner", "any", doc="Whose managed outputs may be taken over."),
        "Taking over another source's or owner's outputs.",
        default={},
    ),
    Key("outputs", Items(OUTPUT_RULE, 1), "Which files become which outputs; left out: every file is copied."),
    Key(
        "links",
        Table(
            Key(
                "base_url",
                Text(base_url_fault, pattern=BASE_URL_PATTERN),
                "Where the destination's root is served.",
                example="https://reports.example.com/archive/",
            ),
            Key(
                "primary",
                Items(GLOB, 1),
                "Globs of the page to link to; the first that matches wins.",
                default=["index.html", "*.html"],
            ),
        ),
        "URLs of the outputs.",
        default={},
    ),
    Key("retention", RETENTION, "What `distributor prune` may delete."),
    Key(
        "lock",
        Table(
            Key("wait", Duration(), "How long to wait for another writer.", default="90s"),
            Key("ttl", Duration(5), "How long a lease lives without being renewed.", default="60s"),
        ),
        "The lock of the destination's one writer.",
        default={},
    ),
    Key(
        "allow_whole_root",
        Flag(),
        "Allow forced replacement of a filesystem root, a home folder or a bucket without prefix.",
        default=False,
    ),
    Key("concurrency", Whole(1, 256), "How many transfers go on at once.", default=16),
    numbered=True,
    refine=storage_conditions("url"),
)

SOURCE = Table(
    Key(
        "path",
        FilePath(),
        "The bundle folder; left out where bundles only arrive by upload or --bundle.",
        example="bundles/reports",
    ),
    Key(
        "unlisted_files",
        Choice("warn", "fail", "ignore"),
        "What a file that the manifest does not list leads to.",
        default="warn",
    ),
    Key("max_clock_skew", Duration(), "How far ahead of the clock `created` may be.", default="24h"),
    Key("upload", Flag(), "Whether `distributor serve` accepts bundles for this pipeline.", default=False),
)

PIPELINE = Table(
    Key("id", ID, "Name of the pipeline, recorded in every state it writes.", required=True, example="reports"),
    Key("source", SOURCE, "Where bundles come from.", default={}),
    Key("destinations", Items(DESTINATION, 1), "Where they go; each is independent of the others.", required=True),
    Key(
        "schedule",
        Text(cron_fault, pattern=r"^\S+( \S+){4}$"),
        "When `serve` and `worker` run it, as five cron fields in UTC.",
    ),
    rules=(unique("destinations", "id"),),
)

ROOT = Table(
    Key("version", Version(), "Version of this format: 1.", required=True, example=1),
    Key("pipelines", Items(PIPELINE, 1, unused=_not_used), "What is published where.", required=True),
    Key("server", Later(_server, unused=_no_server), "The upload server and its workers."),
    Key("hooks", Later(_hooks), "Who is told of what happens.", default=[]),
    Key(
        "metrics",
        Table(Key("textfile", FilePath(), "File for Prometheus' textfile collector, rewritten after each run.")),
        "Metrics of runs.",
        default={},
    ),
    Key(
        "logging",
        Table(
            Key("format", Choice("text", "json"), "How log lines are written.", default="text"),
            Key(
                "level", Choice("debug", "info", "warning", "error"), "The least level that is written.", default="info"
            ),
        ),
        "The program's log.",
        default={},
    ),
    rules=(unique("pipelines", "id"),),
)
