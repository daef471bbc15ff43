"""The keys of ``storage``, by the kind of destination."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from distributor.config.checks import GLOB, HOST_KEY_PATTERN, HTTP_URL, header_fault, host_key_fault, scheme_of
from distributor.config.kinds import Choice, Duration, FilePath, Flag, Free, Items, Kind, Mode, Schema, Text, Whole
from distributor.config.reading import Cursor
from distributor.config.table import Key, Rule, Table, Values

_PLAIN = Text()
_SECRET = Text(secret=True)
_FILE = FilePath()


class StorageTable(Table):
    """The keys of one kind; a key of another kind is named as such."""

    def __init__(self, *keys: Key, about: str, rules: tuple[Rule, ...] = ()) -> None:
        super().__init__(*keys, rules=rules)
        self.about = about

    def _unknown(self, name: str, entry: Cursor) -> None:
        others = [table.about for table in BY_SCHEME.values() if name in table.keys]
        if others:
            kinds = " and ".join(dict.fromkeys(others))
            entry.fault(f"belongs to {kinds}; this destination is {self.about}", "unknown_key")
        else:
            super()._unknown(name, entry)


def _headers() -> Key:
    header = Text(header_fault)
    table = Table(
        Key("match", Items(GLOB, 1), "Globs of output paths.", required=True, example=["*.html"]),
        Key("cache_control", header, "The Cache-Control header.", example="public, max-age=300"),
        Key("content_type", header, "The Content-Type header, instead of the one by the file's name."),
        Key("content_disposition", header, "The Content-Disposition header.", example="attachment"),
        Key("content_encoding", header, "The Content-Encoding header, for files that are stored compressed."),
        Key("content_language", header, "The Content-Language header.", example="en"),
    )
    return Key("headers", Items(table), "Headers of objects by path; a later entry wins over an earlier one.")


def _connection() -> tuple[Key, ...]:
    return (
        Key("endpoint", HTTP_URL, "The service's URL, where it is not the provider's own."),
        Key("ca_file", _FILE, "PEM file of certificate authorities to trust, for a private service."),
        Key("allow_http", Flag(), "Allow an endpoint without TLS.", default=False),
        Key("connect_timeout", Duration(1), "How long to wait for a connection.", default="10s"),
        Key("timeout", Duration(1), "How long one request may take.", default="60s"),
        Key("retries", Whole(0, 20), "How often a request that failed for now is tried again.", default=4),
        _headers(),
    )


def _needs_tls(values: Values, at: Cursor) -> None:
    if str(values.get("endpoint", "")).startswith("http://") and values.get("allow_http") is False:
        at.within("endpoint").fault("has no TLS; use https://, or set allow_http: true beside it")


def _keys_go_together(values: Values, at: Cursor) -> None:
    del values
    entries = at.entries()
    given = [name for name in ("access_key_id", "secret_access_key") if isinstance(entries, dict) and name in entries]
    if len(given) == 1:
        at.within(given[0]).fault("stands alone; access_key_id and secret_access_key go together")


LOCAL = StorageTable(
    Key("file_mode", Mode(), "Permissions of files, as octal text; left out: as the umask says.", example="0644"),
    Key("dir_mode", Mode(), "Permissions of folders, as octal text; left out: as the umask says.", example="0755"),
    about="a local folder",
)

SFTP = StorageTable(
    Key("identity_files", Items(_FILE, 1), "Private keys to offer, before those of ~/.ssh/config and the agent."),
    Key("passphrase", _SECRET, "Passphrase of the private keys."),
    Key("password", _SECRET, "Password of the account."),
    Key("known_hosts", _FILE, "Known-hosts file; left out: ~/.ssh/known_hosts and the system's."),
    Key(
        "host_key",
        Text(host_key_fault, pattern=HOST_KEY_PATTERN),
        "The only host key to accept, as a SHA256:… fingerprint.",
    ),
    Key("ssh_config", _FILE, "OpenSSH client configuration; left out: ~/.ssh/config."),
    Key("connect_timeout", Duration(1), "How long to wait for a connection.", default="20s"),
    Key("timeout", Duration(1), "How long the server may stay silent.", default="60s"),
    Key("retries", Whole(0, 20), "How often an operation that failed for now is tried again.", default=4),
    Key("file_mode", Mode(), "Permissions of files, as octal text; left out: as the server says.", example="0644"),
    Key("dir_mode", Mode(), "Permissions of folders, as octal text; left out: as the server says.", example="0755"),
    about="an SFTP server",
)

S3 = StorageTable(
    *_connection(),
    Key("region", _PLAIN, "The bucket's region; left out: as the environment or profile says.", example="eu-central-1"),
    Key("addressing", Choice("path", "virtual"), "Whether the bucket stands in the path or in the host name."),
    Key("access_key_id", _SECRET, "Access key; left out: the usual AWS chain."),
    Key("secret_access_key", _SECRET, "Secret of the access key.", example="${S3_SECRET}"),
    Key("session_token", _SECRET, "Session token of temporary credentials."),
    Key("profile", _PLAIN, "Profile of the AWS configuration files."),
    about="an S3 bucket",
    rules=(_needs_tls, _keys_go_together),
)

GCS = StorageTable(
    *_connection(),
    Key("service_account_file", _FILE, "Key file of a service account; left out: the application's default."),
    about="a Google Cloud Storage bucket",
    rules=(_needs_tls,),
)

AZURE = StorageTable(
    *_connection(),
    Key("account", _PLAIN, "The storage account; left out: as the environment says."),
    Key("account_key", _SECRET, "Key of the storage account.", example="${AZURE_KEY}"),
    Key("sas_token", _SECRET, "Shared access signature."),
    Key("tenant_id", _PLAIN, "Tenant of an application registration."),
    Key("client_id", _PLAIN, "Application of an application registration."),
    Key("client_secret", _SECRET, "Secret of an application registration."),
    about="an Azure container",
    rules=(_needs_tls,),
)

BY_SCHEME = {"file": LOCAL, "sftp": SFTP, "s3": S3, "gs": GCS, "az": AZURE}
ANY = Free()


def storage_kind(beside: Mapping[str, Cursor]) -> Kind:
    """Return the kind of ``storage`` for the URL beside it; foreign schemes take any mapping."""
    return storage_beside("url", beside)


def storage_beside(key: str, beside: Mapping[str, Cursor]) -> Kind:
    """Return the kind of the storage keys for the URL under ``key``."""
    at = beside.get(key)
    url = at.peek() if at else None
    return ANY if url is None else BY_SCHEME.get(scheme_of(url), ANY)


def storage_conditions(key: str) -> Callable[[Schema], Schema]:
    """Return what adds to a schema which storage keys go with which URL under ``key``."""
    patterns = {scheme: f"^{scheme}://" for scheme in BY_SCHEME}
    patterns["file"] = r"^(?!.*\$)(?:file://|(?!.*://))"

    def refine(found: Schema) -> Schema:
        conditions = [
            {
                "if": {"properties": {key: {"type": "string", "pattern": patterns[scheme]}}, "required": [key]},
                "then": {"properties": {"storage": table.schema()}},
            }
            for scheme, table in BY_SCHEME.items()
        ]
        return {**found, "allOf": conditions}

    return refine
