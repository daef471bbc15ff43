"""From a failed request to an error for a person: the one table of what services answer.

Clients' messages hold URLs, signed headers and whole response bodies, so nothing of
them is passed on but the service's own error code and one-line message.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from distributor.errors import (
    AlreadyExists,
    Denied,
    NotFound,
    OutOfSpace,
    StorageError,
    Unavailable,
    VersionMismatch,
)
from distributor.storage.backends.objects_address import BUCKETS, Address

_READING = ("read", "stat", "stream")


class Rule(NamedTuple):
    """What one kind of answer means. ``retry``: the same request may succeed in a moment."""

    error: type[StorageError]
    says: str
    hint: str | None = None
    retry: bool = False


_ABSENT = Rule(NotFound, "does not exist")
_NO_BUCKET = Rule(
    StorageError, "the {bucket} does not exist", "create it, or correct the destination's url, region or endpoint"
)
_BAD_KEY = Rule(Denied, "the service does not know these credentials", "check the access key and the endpoint")
_BAD_SECRET = Rule(Denied, "the service does not accept the signature", "check the secret key and the endpoint")
_EXPIRED = Rule(Denied, "the credentials have expired", "renew them")
_FORBIDDEN = Rule(Denied, "the credentials do not allow it", "check their permissions on this {bucket} and prefix")
_UNTELLABLE = Rule(
    Denied,
    "the service refuses to say whether it exists: absent can't be told from forbidden",
    "allow reading it and listing the {bucket} (on S3 s3:GetObject and s3:ListBucket)",
)
_CLOCK = Rule(
    StorageError, "this machine's clock and the service's are too far apart", "set this machine's clock (NTP)"
)
_BUSY = Rule(Unavailable, "the service is overloaded or failed for now", "try again later", retry=True)
_FULL = Rule(OutOfSpace, "the service has no room left", "free some, or raise the quota")
_REGION = Rule(StorageError, "the {bucket} is in another region", "set storage.region to the {bucket}'s own")
_DAMAGED = Rule(Unavailable, "the bytes were damaged on their way to the service", "try again", retry=True)
_TAKEN = Rule(AlreadyExists, "exists already")
_OTHER_VERSION = Rule(VersionMismatch, "was changed by another")
_LONG = Rule(StorageError, "the name is longer than the service allows", "shorten the output's path")
_LARGE = Rule(StorageError, "is larger than the service allows")

_BY_CODE = {
    "NoSuchKey": _ABSENT,
    "BlobNotFound": _ABSENT,
    "NoSuchBucket": _NO_BUCKET,
    "ContainerNotFound": _NO_BUCKET,
    "InvalidBucketName": _NO_BUCKET,
    "ContainerBeingDeleted": _NO_BUCKET,
    "InvalidAccessKeyId": _BAD_KEY,
    "InvalidToken": _BAD_KEY,
    "InvalidSecurity": _BAD_KEY,
    "InvalidAuthenticationInfo": _BAD_KEY,
    "SignatureDoesNotMatch": _BAD_SECRET,
    "AuthenticationFailed": _BAD_SECRET,
    "AuthorizationFailure": _BAD_SECRET,
    "ExpiredToken": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "AccessDenied": _FORBIDDEN,
    "AllAccessDisabled": _FORBIDDEN,
    "AccountProblem": _FORBIDDEN,
    "AccountIsDisabled": _FORBIDDEN,
    "AuthorizationPermissionMismatch": _FORBIDDEN,
    "InsufficientAccountPermissions": _FORBIDDEN,
    "NoAuthenticationInformation": _FORBIDDEN,
    "RequestTimeTooSkewed": _CLOCK,
    "RequestExpired": _CLOCK,
    "SlowDown": _BUSY,
    "Throttling": _BUSY,
    "ThrottlingException": _BUSY,
    "TooManyRequests": _BUSY,
    "RequestLimitExceeded": _BUSY,
    "ServiceUnavailable": _BUSY,
    "ServerBusy": _BUSY,
    "InternalError": _BUSY,
    "OperationTimedOut": _BUSY,
    "RequestTimeout": _BUSY,
    "OperationAborted": _BUSY,
    "ConditionalRequestConflict": _BUSY,
    "QuotaExceeded": _FULL,
    "InsufficientStorage": _FULL,
    "XMinioStorageFull": _FULL,
    "XMinioAdminBucketQuotaExceeded": _FULL,
    "PermanentRedirect": _REGION,
    "TemporaryRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "BadDigest": _DAMAGED,
    "InvalidDigest": _DAMAGED,
    "XAmzContentSHA256Mismatch": _DAMAGED,
    "XAmzContentChecksumMismatch": _DAMAGED,
    "Md5Mismatch": _DAMAGED,
    "KeyTooLongError": _LONG,
    "KeyTooLong": _LONG,
    "EntityTooLarge": _LARGE,
    "RequestBodyTooLarge": _LARGE,
}

_BY_STATUS = {
    301: _REGION,
    307: _REGION,
    401: Rule(Denied, "the service does not accept the credentials", "check them and the endpoint"),
    403: _FORBIDDEN,
    # Not "absent" (C0): a proxy, or an endpoint that is no object store, says 404 to everything.
    404: Rule(StorageError, "the service answers 404 without saying what is absent", "check the endpoint"),
    408: _BUSY,
    413: _LARGE,
    429: _BUSY,
    500: _BUSY,
    502: _BUSY,
    503: _BUSY,
    504: _BUSY,
    507: _FULL,
}

_CONDITIONS = {"AlreadyExistsError": _TAKEN, "PreconditionError": _OTHER_VERSION}
_ABOUT_CONDITIONS = frozenset(
    {"", "PreconditionFailed", "ConditionNotMet", "TargetConditionNotMet", "BlobAlreadyExists", "NoSuchKey"}
    | {"BlobNotFound"}
)

_REFUSED = Rule(Unavailable, "nothing answers at {endpoint}", "check the endpoint, its port and the network")
_NO_HOST = Rule(Unavailable, "the host name of {endpoint} is not known", "check the endpoint, the region and DNS")
_UNTRUSTED = Rule(
    StorageError, "the TLS certificate of {endpoint} is not trusted", "for a private authority, set storage.ca_file"
)
_NO_CREDENTIALS = Rule(
    Denied,
    "no credentials were found: neither in the configuration, the environment nor a profile, "
    "and no instance role answers",
    "set storage.access_key_id and secret_access_key, or storage.profile",
)
_TIMED_OUT = Rule(Unavailable, "the service did not answer in time", "try again later", retry=True)
_CUT = Rule(Unavailable, "the connection broke off", "try again", retry=True)
_UNREADABLE = Rule(
    StorageError, "the answer can't be understood", "check that the endpoint is an object store", retry=True
)
_BAD_NAME = Rule(
    StorageError, "the listing holds a key that is no clean path: {detail}", "rename or remove it with another tool"
)
_UNKNOWN = Rule(StorageError, "the request failed")

_TRANSPORT = (
    # The first that is found in the client's message applies.
    (re.compile(r"Encountered object with invalid path"), _BAD_NAME),
    (re.compile(r"169\.254\.169\.254|metadata.google.internal|/latest/api/token|computeMetadata"), _NO_CREDENTIALS),
    (re.compile(r"certificate|InvalidCertificate|UnknownIssuer|CertNotValidForName|TLS handshake"), _UNTRUSTED),
    (re.compile(r"dns error"), _NO_HOST),
    (re.compile(r"ConnectionRefused|Connection refused|NetworkUnreachable|HostUnreachable"), _REFUSED),
    (re.compile(r"kind: Timeout|TimedOut|timed out"), _TIMED_OUT),
    (re.compile(r"kind: (?:Connect|Request|Interrupted|Decode)|IncompleteMessage|UnexpectedEof|HTTP error|Body"), _CUT),
    (
        re.compile(r"ListResponse|InvalidListResponse|XML|InvalidMultipartResponse|InvalidPutResponse|Metadata"),
        _UNREADABLE,
    ),
)

_STATUS = re.compile(r"status code: (\d{3})|\(code: (\d{3})\)|status: (\d{3}),")
_CODE = re.compile(r"<Code>\s*([A-Za-z0-9]{1,64})\s*</Code>")
_MESSAGE = re.compile(r"<Message>\s*([^<\n]{1,200})")
_BAD_PATH = re.compile(r'path: (".*?(?<!\\)"),')


class Fault(NamedTuple):
    """A request's failure, understood. ``status`` is 0 and ``code`` '' where there is none."""

    rule: Rule
    status: int
    code: str
    detail: str

    @property
    def lacks_body(self) -> bool:
        """Whether the service refused without a reason, as it must in answer to HEAD."""
        return self.status in (400, 401, 403, 404) and not self.code

    def to_error(self, address: Address, operation: str, path: str | None) -> StorageError:
        """Return the error for a person; ``path`` is destination-relative, ``None`` for the root."""
        rule = self.rule
        if rule is _FORBIDDEN and operation in _READING:
            rule = _UNTELLABLE
        bucket = f"{BUCKETS[address.scheme]} {address.bucket}"
        where = f"{address.url}: {path}" if path else address.url
        said = ": ".join(part for part in (self.code, self.detail) if part)
        answer = f" ({said or f'HTTP {self.status}'})" if said or self.status else ""
        plain = rule in (_ABSENT, _TAKEN, _OTHER_VERSION)
        subject = f"{where} " if plain or rule == _LARGE else f"{where}: can't {operation}: "
        says = rule.says.format(bucket=bucket, endpoint=address.endpoint or "the service", detail=self.detail)
        hint = rule.hint.format(bucket=BUCKETS[address.scheme]) if rule.hint else None
        shown = "" if plain or rule is _BAD_NAME else answer
        return rule.error(f"{subject}{says}{shown}", operation=operation, path=path, hint=hint)


def diagnose(error: Exception) -> Fault:
    """Understand what the client raised."""
    text = str(error)
    status = next((int(group) for match in _STATUS.finditer(text) for group in match.groups() if group), 0)
    code = _first(_CODE, text)
    detail = _first(_MESSAGE, text)
    if status == 0 and not code:
        rule = next((rule for pattern, rule in _TRANSPORT if pattern.search(text)), _UNKNOWN)
        return Fault(rule, 0, "", _first(_BAD_PATH, text) if rule is _BAD_NAME else "")
    return Fault(_rule_of(type(error).__name__, status, code, detail), status, code, detail)


def _rule_of(kind: str, status: int, code: str, detail: str) -> Rule:
    condition = _CONDITIONS.get(kind)
    if condition is not None and code in _ABOUT_CONDITIONS:
        return condition
    if code == "AuthenticationFailed" and re.search(r"\b(date|clock|time)\b", detail, re.IGNORECASE):
        return _CLOCK
    return _BY_CODE.get(code) or _BY_STATUS.get(status) or _UNKNOWN


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(1).strip() if found else ""
