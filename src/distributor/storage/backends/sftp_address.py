"""What an ``sftp://`` URL and the ``storage`` settings beside it say, checked and as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from distributor.errors import UsageError


class Address(NamedTuple):
    """A server and a folder on it.

    ``host`` may be a ``Host`` of the OpenSSH configuration; ``port`` and ``user`` are
    ``None`` where that, or the default, decides. ``folder`` is absolute, or relative to
    the account's home where ``from_home`` is set; '' is then the home itself.
    """

    host: str
    port: int | None
    user: str | None
    folder: str
    from_home: bool

    @property
    def location(self) -> str:
        """The address as a person would write it."""
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port else ""
        folder = f"/~/{self.folder}".rstrip("/") if self.from_home else self.folder
        return f"sftp://{user}{host}{port}{folder}"


class Access(NamedTuple):
    """How to get in, and how files are made there; times in seconds, modes as permission bits.

    An empty ``identity_files`` and a ``None`` leave the choice to the OpenSSH client's
    files, the agent, and the server.
    """

    identity_files: tuple[str, ...] = ()
    passphrase: str | None = None
    password: str | None = None
    known_hosts: str | None = None
    host_key: str | None = None
    ssh_config: str | None = None
    connect_timeout: float = 20.0
    timeout: float = 60.0
    retries: int = 4
    file_mode: int | None = None
    dir_mode: int | None = None


def parse_address(url: str) -> Address:
    """Return what ``url`` names; percent escapes are decoded, ``/~/x`` starts at the home folder.

    Raises ``UsageError``, which never shows a password, for a URL that holds one or
    names no host or folder.
    """
    parts = urlsplit(url)
    if parts.password is not None:
        raise UsageError(
            f"sftp://{parts.hostname or ''}: the URL holds a password, which belongs in no URL",
            hint="move it to the destination's storage.password, for instance as ${SFTP_PASSWORD}",
        )
    try:
        port = parts.port
    except ValueError:
        raise UsageError(f"{url}: the port is no number between 1 and 65535") from None
    if not parts.hostname or not parts.path:
        raise UsageError(f"{url}: names no host and folder", hint="write it as sftp://user@host/path")
    if parts.query or parts.fragment:
        raise UsageError(f"{url}: holds ? or #", hint="write them as %3F and %23 if they belong to the folder's name")
    # The host as it was written: a `Host` of the OpenSSH configuration may have capitals.
    host = parts.netloc.rpartition("@")[2]
    host = parts.hostname if host.startswith("[") else host.partition(":")[0]
    user = unquote(parts.username) if parts.username else None
    segments = [part for part in unquote(parts.path, errors="surrogateescape").split("/") if part not in ("", ".")]
    if ".." in segments or any("\0" in part for part in segments):
        raise UsageError(f"{url}: its folder holds .. or a NUL character", hint="write the folder's full path")
    from_home = segments[:1] == ["~"]
    folder = "/".join(segments[1:]) if from_home else "/" + "/".join(segments)
    return Address(host, port, user, folder, from_home)


def parse_access(settings: Mapping[str, object]) -> Access:
    """Return the settings as values; those left out take their defaults.

    The configuration's specification has checked them; what is given here by other
    callers may hold modes as octal text. Raises ``UsageError`` for an unknown key.
    """
    unknown = sorted(set(settings) - set(Access._fields))
    if unknown:
        raise UsageError(f"unknown SFTP setting {unknown[0]!r}", hint="known are: " + ", ".join(Access._fields))
    given = {key: value for key, value in settings.items() if value is not None}
    files = given.pop("identity_files", ())
    numbers = {key: float(str(given.pop(key))) for key in ("connect_timeout", "timeout") if key in given}
    modes = {key: _mode(given.pop(key)) for key in ("file_mode", "dir_mode") if key in given}
    retries = {key: int(str(given.pop(key))) for key in ("retries",) if key in given}
    texts = {key: str(value) for key, value in given.items()}
    paths = tuple(map(str, files)) if isinstance(files, list | tuple) else (str(files),)
    return Access(paths, **texts, **numbers, **retries, **modes)  # type: ignore[arg-type]  # keys are the fields' names


def _mode(setting: object) -> int:
    return setting if isinstance(setting, int) else int(str(setting), 8)
