"""Every error that leaves this package.

::

    DistributorError
    ├── UsageError            the call itself is wrong (exit 2)
    ├── ConfigError           one or more faults of a configuration (exit 2)
    ├── BundleError           an invalid bundle, every problem of it (exit 3)
    ├── ConflictError         a refusal with a reason (exit 4)
    ├── LockedError           somebody else holds the destination (exit 5)
    ├── TransformError        a page could not be made (exit 1)
    ├── Interrupted           SIGINT or SIGTERM (exit 130 or 143)
    └── StorageError          a destination failed (exit 1)
        ├── NotFound          certainly not there; nothing else may mean this (C0)
        ├── AlreadyExists     a create-only write met an existing file
        ├── VersionMismatch   a conditional write met another version
        ├── Denied            credentials or permissions
        ├── OutOfSpace        disk full, quota, too many files
        └── Unavailable       unreachable or overloaded; a later try may succeed

Each carries a message for a person: what happened, where, what was left as it
was, and what to do next. ``hint`` is that last part where it is known apart.
"""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """One finding about an input.

    ``code`` is a fixed name (interfaces: bundle problems), ``path`` is the file
    or key it concerns, ``line`` is 1-based where the input has lines.
    """

    code: str
    message: str
    path: str | None = None
    line: int | None = None


class DistributorError(Exception):
    """Root of all errors raised on purpose by this package."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(DistributorError):
    """The call is wrong: an unknown pipeline, options that exclude each other."""


class ConfigError(DistributorError):
    """A configuration with faults; ``problems`` holds every one of them."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = (), *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


class BundleError(DistributorError):
    """An invalid bundle (B2); ``problems`` holds every fault that was found."""

    def __init__(self, message: str, problems: tuple[Problem, ...], *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


class ConflictError(DistributorError):
    """A refusal; ``reason`` is a member of :class:`distributor.core.policy.Reason`."""

    def __init__(self, message: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class LockedError(DistributorError):
    """The destination is locked and ``lock.wait`` is over (E4); ``holder`` says by whom."""

    def __init__(self, message: str, holder: str | None = None, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.holder = holder


class TransformError(DistributorError):
    """A transform refused its input; names the source file and, where known, its line."""

    def __init__(self, message: str, *, path: str, line: int | None = None, hint: str | None = None) -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {message}", hint=hint)
        self.path = path
        self.line = line


class Interrupted(DistributorError):
    """A signal asked this process to stop (G10)."""

    def __init__(self, signal_number: int) -> None:
        super().__init__("interrupted", hint="run again to continue")
        self.signal_number = signal_number


class StorageError(DistributorError):
    """A destination's storage failed.

    ``operation`` is a verb (``read``, ``write``, ``list`` …), ``path`` the
    destination-relative path or ``None`` for the root. Raised as itself where no
    subclass fits: it then means "failed for good, cause unknown".
    """

    retryable = False

    def __init__(self, message: str, *, operation: str, path: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.operation = operation
        self.path = path


class NotFound(StorageError):
    """The path certainly does not exist (C0)."""


class AlreadyExists(StorageError):
    """A create-only write found the path taken; nothing was written."""


class VersionMismatch(StorageError):
    """A conditional write found another version; nothing was written."""


class Denied(StorageError):
    """Credentials or permissions do not allow the operation."""


class OutOfSpace(StorageError):
    """No room, quota or file entries left at the destination."""


class Unavailable(StorageError):
    """Unreachable, timed out or throttled; safe operations may be tried again."""

    retryable = True
