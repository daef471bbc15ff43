"""Checks of single texts: ids, URLs, globs, templates (A5, D22, H1)."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from distributor.config.kinds import Text, absolute, nearest
from distributor.config.reading import Cursor, Secret
from distributor.core.globs import glob_problem
from distributor.core.outputs import template_problem
from distributor.core.values import is_digest, is_http_url, is_id

ID_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
GLOB_PATTERN = r"^[^/\\][^\\]*$"
HTTP_PATTERN = r"^https?://[^/\s]"
BASE_URL_PATTERN = r"^https?://[^/?#\s][^?#\s]*$"
HOST_KEY_PATTERN = "^SHA256:[A-Za-z0-9+/]{43}=?$"
URL_PATTERN = (
    r"^(?!sftp://(?:/|[^/]*$))(?!(?:s3|gs|az)://(?:/|$))(?!file://(?!/|localhost/))"
    r"(?![^/]*://[^/@:]*:[^/@]*@)(?:[A-Za-z][A-Za-z0-9+.-]*://|(?!.*://)).+$"
)
TEMPLATE_PATTERN = (
    r"^(?!/)(?!\.distributor\.)(?!(?:.*/)?\.{1,2}(?:/|$))"
    r"(?:[^{}\\]|\{(?:path|dir|name|stem|ext|source_id|created:[^{}]+)\})+$"
)
BUILT_IN_SCHEMES = ("file", "sftp", "s3", "gs", "az", "memory")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_EMAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+\Z")


def id_fault(text: str) -> str | None:
    """A5."""
    if is_id(text):
        return None
    return "is no id: up to 128 letters, digits, '.', '_' and '-', beginning with a letter or digit"


def glob_fault(text: str) -> str | None:
    """A pattern that can match no path at all is a mistake."""
    return glob_problem(text)


def template_fault(text: str) -> str | None:
    """What the template alone shows to break A1 or A2 (D22)."""
    return template_problem(text)


def http_url_fault(text: str) -> str | None:
    """Absolute HTTP and HTTPS URLs only."""
    return None if is_http_url(text) else "is no absolute http:// or https:// URL"


def base_url_fault(text: str) -> str | None:
    """A base URL gets paths appended, so it has no query and no fragment."""
    if "?" in text or "#" in text:
        return "has a query or fragment; output paths are appended to it"
    return http_url_fault(text)


def digest_fault(text: str) -> str | None:
    """A stored token is the SHA-256 of what the client sends."""
    digest = text if text.startswith("sha256:") else f"sha256:{text}"
    return None if is_digest(digest) else "is not 64 lowercase hex digits"


def host_key_fault(text: str) -> str | None:
    """What ``ssh-keygen -l`` prints."""
    return (
        None
        if re.fullmatch(HOST_KEY_PATTERN[1:-1], text)
        else "is no fingerprint such as SHA256:… (see `ssh-keygen -lf`)"
    )


def email_fault(text: str) -> str | None:
    """An address without a display name."""
    return None if _EMAIL.match(text) else "is no e-mail address"


def header_fault(text: str) -> str | None:
    """A header value is one line."""
    return None if text.isprintable() else "contains a control character"


_CRON_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day", 1, 31, ()),
    ("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    ("weekday", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)
_CRON_PART = re.compile(r"(?:\*|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/([1-9][0-9]?))?\Z")


def cron_fault(text: str) -> str | None:
    """Five fields of numbers, names, ranges, lists and steps."""
    fields = text.lower().split()
    if len(fields) != len(_CRON_FIELDS):
        return "is no schedule of five cron fields: minute, hour, day, month, weekday"
    for field, (name, least, most, names) in zip(fields, _CRON_FIELDS, strict=True):
        for part in field.split(","):
            match = _CRON_PART.match(part)
            numbers = [_cron_number(item, least, most, names) for item in match.groups()[:2] if item] if match else [-1]
            if -1 in numbers or numbers != sorted(numbers):
                return f"has no {name} between {least} and {most} in its {name} field"
    return None


def _cron_number(text: str, least: int, most: int, names: tuple[str, ...]) -> int:
    """Return the number of a cron item, or -1."""
    if text in names:
        return least + names.index(text)
    return int(text) if text.isdecimal() and least <= int(text) <= most else -1


def scheme_of(text: str) -> str:
    """Return the scheme of a destination URL; a plain path is ``file``."""
    head, separator, _ = text.partition("://")
    return head.lower() if separator else "file"


def url_fault(text: str) -> str | None:
    """Say what is wrong with a destination URL."""
    scheme = scheme_of(text)
    if "\x00" in text:
        return "contains a NUL character"
    if "://" not in text:
        return None
    if not SCHEME.match(scheme):
        return "is neither a path nor a URL such as s3://bucket/prefix"
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return "is no URL, or has a port that is no number"
    if parts.password is not None:
        return "holds a password; put it under storage, out of a variable"
    if scheme == "file":
        return None if parts.netloc in ("", "localhost") and parts.path else "is no file URL such as file:///srv/www"
    if scheme == "sftp" and not (parts.hostname and parts.path):
        return "is no SFTP URL such as sftp://user@host/path"
    if scheme in ("s3", "gs", "az") and not parts.netloc:
        return f"names no {'container' if scheme == 'az' else 'bucket'}, as in {scheme}://bucket/prefix"
    return None if scheme in BUILT_IN_SCHEMES else _foreign_fault(scheme)


def _foreign_fault(scheme: str) -> str | None:
    from importlib.metadata import entry_points  # here: slow to import, and only foreign kinds need it

    found = tuple(point.name for point in entry_points(group="distributor.storage"))
    if scheme in found:
        return None
    known = (*BUILT_IN_SCHEMES, *found)
    guess = nearest(scheme, known) or f"; known: {', '.join(known)}"
    return f"has a scheme that no installed kind of storage has{guess}"


class DestinationUrl(Text):
    """Where a destination is; folders become absolute paths, other URLs stay as they are."""

    def __init__(self) -> None:
        super().__init__(url_fault, pattern=URL_PATTERN)

    def finish(self, text: str, at: Cursor) -> object:
        """Return an absolute path or the URL."""
        scheme = scheme_of(text)
        if scheme != "file":
            return text
        if "://" not in text:
            return absolute(text, at)
        path = unquote(urlsplit(text).path)
        return absolute(Secret(path) if isinstance(text, Secret) else path, at)


ID = Text(id_fault, pattern=ID_PATTERN)
GLOB = Text(glob_fault, pattern=GLOB_PATTERN)
HTTP_URL = Text(http_url_fault, pattern=HTTP_PATTERN)
