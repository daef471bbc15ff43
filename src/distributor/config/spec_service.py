"""The keys of ``server`` and ``hooks``."""

from __future__ import annotations

from distributor.config.checks import (
    HTTP_PATTERN,
    ID,
    DestinationUrl,
    digest_fault,
    email_fault,
    http_url_fault,
)
from distributor.config.kinds import Choice, Duration, FilePath, Free, Items, Schema, Text, Whole
from distributor.config.reading import Cursor
from distributor.config.spec_storage import storage_beside, storage_conditions
from distributor.config.table import Key, Table, Values, unique

_SECRET = Text(secret=True)
_MIB = 1024 * 1024
ACTIONS = ("command", "webhook", "email", "heartbeat")


TOKEN = Table(
    Key("name", ID, "Who uses the token; it appears in the audit log.", required=True, example="nightly-build"),
    Key(
        "sha256",
        Text(digest_fault, pattern="^(sha256:)?[0-9a-f]{64}$", secret=True),
        "SHA-256 of the token, in hex.",
        required=True,
    ),
    Key("pipelines", Items(ID, 1), "Pipelines the token may upload to.", required=True, example=["reports"]),
)

LIMITS = Table(
    Key("max_bytes", Whole(1), "Most bytes of one upload.", default=5 * 1024 * _MIB),
    Key("max_files", Whole(1), "Most files of one bundle.", default=100_000),
    Key("max_unpacked_bytes", Whole(1), "Most bytes of one unpacked bundle.", default=10 * 1024 * _MIB),
    Key("max_file_bytes", Whole(1), "Most bytes of one file.", default=5 * 1024 * _MIB),
    Key("max_ratio", Whole(1), "Most bytes that one byte of an upload may unpack to.", default=200),
    Key("idle_timeout", Duration(1), "How long a request may send nothing.", default="30s"),
    Key("uploads_per_minute", Whole(1), "Most uploads of one token in a minute.", default=600),
    Key("concurrent_uploads", Whole(1), "Most uploads received at once.", default=256),
    Key("queued_uploads", Whole(1), "Most uploads waiting to be published.", default=20_000),
)

SERVER = Table(
    Key("host", Text(), "Address to listen on.", default="127.0.0.1"),
    Key("port", Whole(0, 65535), "Port to listen on; 0 takes a free one.", default=8080),
    Key(
        "spool",
        DestinationUrl(),
        "Where uploads wait: a folder or an object store; left out: distributor-spool beside this file.",
        example="/var/spool/distributor",
    ),
    Key(
        "storage",
        Free(),
        "Settings of the spool's kind of storage, as of a destination.",
        default={},
        choose=lambda beside: storage_beside("spool", beside),
    ),
    Key("work", FilePath(), "Local folder for uploads on their way; left out: inside the spool folder."),
    Key(
        "database",
        Text(secret=True),
        "URL of the queue's database; left out: SQLite in the spool folder.",
        example="postgresql://distributor@db/distributor",
    ),
    Key("tokens", Items(TOKEN), "Tokens, beside those that `distributor token create` keeps.", default=[]),
    Key("limits", LIMITS, "What uploads may be.", default={}),
    Key(
        "retention",
        Table(
            Key("uploads", Duration(1), "How long finished uploads are listed.", default="30d"),
            Key("spool", Duration(), "How long a finished upload's bundle is kept.", default="1d"),
            Key("log", Duration(1), "How long the audit log is kept.", default="52w"),
        ),
        "How long things are kept.",
        default={},
    ),
    Key("concurrency", Whole(1, 64), "How many publications one process makes at once.", default=4),
    Key("retries", Whole(0, 20), "How often a publication that a destination failed is tried again.", default=5),
    Key("heartbeat", Duration(1), "How often a worker says that it lives.", default="10s"),
    Key("takeover_after", Duration(2), "When a silent worker's jobs go to another.", default="45s"),
    Key("trusted_proxies", Items(Text()), "Proxies whose X-Forwarded-* headers count.", default=[]),
    rules=(unique("tokens", "name"),),
    refine=storage_conditions("spool"),
)


def _one_action(values: Values, at: Cursor) -> None:
    del values
    entries = at.entries()
    given = [name for name in ACTIONS if name in entries] if isinstance(entries, dict) else []
    if len(given) != 1:
        found = f"has {' and '.join(given)}" if given else "does nothing"
        at.fault(f"{found}; give it one of {', '.join(ACTIONS)}", "hook_action")


def _hook_schema(found: Schema) -> Schema:
    return {**found, "oneOf": [{"required": [name]} for name in ACTIONS]}


EMAIL = Table(
    Key("to", Items(Text(email_fault), 1), "Recipients.", required=True),
    Key("from", Text(email_fault), "Sender.", required=True),
    Key("host", Text(), "Mail server.", default="localhost"),
    Key("port", Whole(1, 65535), "Port of the mail server.", default=25),
    Key("tls", Choice("none", "starttls", "tls"), "How the connection is secured.", default="none"),
    Key("user", Text(), "Account at the mail server."),
    Key("password", _SECRET, "Password of the account.", example="${SMTP_PASSWORD}"),
)

HOOK = Table(
    Key(
        "on",
        Items(Choice("start", "published", "skipped", "conflict", "failed"), 1),
        "Events that call it.",
        default=["published", "conflict", "failed"],
    ),
    Key("pipelines", Items(ID, 1), "Pipelines it concerns; left out: all."),
    Key(
        "command",
        Items(Text(), 1),
        "Program and arguments, run without a shell; the report is its standard input.",
        example=["/usr/local/bin/notify", "--quiet"],
    ),
    Key("webhook", Text(http_url_fault, pattern=HTTP_PATTERN, secret=True), "URL that gets the event as JSON by POST."),
    Key("email", EMAIL, "Mail to send."),
    Key(
        "heartbeat",
        Text(http_url_fault, pattern=HTTP_PATTERN, secret=True),
        "URL to call by GET: silence is then the alarm.",
    ),
    Key("timeout", Duration(1), "How long the hook may take.", default="10s"),
    rules=(_one_action,),
    refine=_hook_schema,
)

HOOKS = Items(HOOK)
