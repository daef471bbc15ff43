"""What the kernel's refusals mean for a local destination: one table."""

from __future__ import annotations

import errno
from types import TracebackType
from typing import NamedTuple

from distributor.errors import Denied, OutOfSpace, StorageError, Unavailable


class Vanished(StorageError):
    """Something was removed by another process between finding and using it; worth another try."""


class ConditionFailed(Exception):
    """Another version is in place than the condition asks for."""


class Fault(NamedTuple):
    """How one error number is told."""

    kind: type[StorageError]
    sentence: str
    hint: str | None = None


_PERMISSIONS = "check the permissions of this path and of the folders above it"
_LINK = "remove it, or choose another path: links are never followed inside a destination"
_ROOM = "free some room and run again"

FAULTS = {
    errno.EACCES: Fault(Denied, "permission denied", _PERMISSIONS),
    errno.EPERM: Fault(Denied, "not permitted", "check the owner and the attributes of this path (lsattr)"),
    errno.EROFS: Fault(Denied, "the file system is mounted read-only", "mount it writable"),
    errno.ENOSPC: Fault(OutOfSpace, "no room or no file entries left on the file system", _ROOM),
    errno.EDQUOT: Fault(OutOfSpace, "the disk quota is used up", _ROOM),
    errno.EFBIG: Fault(OutOfSpace, "the file is larger than the file system or a limit allows", "see ulimit -f"),
    errno.EMLINK: Fault(OutOfSpace, "the folder holds as many folders as the file system allows"),
    errno.EMFILE: Fault(StorageError, "this process has too many files open", "raise the limit (ulimit -n)"),
    errno.ENFILE: Fault(StorageError, "the system has too many files open", "raise fs.file-max"),
    errno.ENOMEM: Fault(StorageError, "the system is out of memory"),
    errno.ENOENT: Fault(Vanished, "it vanished meanwhile", "is another program changing this folder?"),
    errno.ENOTDIR: Fault(StorageError, "a file or a link stands in the place of a folder", _LINK),
    errno.ELOOP: Fault(StorageError, "a link stands in the way", _LINK),
    errno.ENXIO: Fault(StorageError, "a fifo or device stands in the way", "remove it, or choose another path"),
    errno.ENODEV: Fault(StorageError, "a device stands in the way", "remove it, or choose another path"),
    errno.EISDIR: Fault(StorageError, "a folder stands in the way", "remove it, or choose another path"),
    errno.EEXIST: Fault(StorageError, "something else stands in the way", "remove it, or choose another path"),
    errno.ENOTEMPTY: Fault(StorageError, "a folder with content stands in the way; it was left", "move it away"),
    errno.EXDEV: Fault(
        StorageError,
        "another file system is mounted below the destination, where files can't be renamed to",
        "make the mount a destination of its own",
    ),
    errno.ENAMETOOLONG: Fault(StorageError, "the name is too long for the file system", "choose a shorter path"),
    errno.EINVAL: Fault(StorageError, "the file system does not allow this name or operation"),
    errno.EILSEQ: Fault(StorageError, "the file system does not allow these characters in a name"),
    errno.EOVERFLOW: Fault(StorageError, "the file is too large for this system"),
    errno.EBUSY: Fault(Unavailable, "it is in use by the system (a mount point?)"),
    errno.ETXTBSY: Fault(Unavailable, "it is a program that is running"),
    errno.EAGAIN: Fault(Unavailable, "the system asks to try again later"),
    errno.EIO: Fault(StorageError, "the disk reported an error", "check the system's log (dmesg)"),
    errno.EUCLEAN: Fault(StorageError, "the file system is damaged", "check it (fsck)"),
    errno.ESTALE: Fault(Unavailable, "the network file system lost it", "mount it again"),
    errno.ETIMEDOUT: Fault(Unavailable, "the network file system did not answer in time"),
    errno.EHOSTDOWN: Fault(Unavailable, "the network file system's server is down"),
    errno.EHOSTUNREACH: Fault(Unavailable, "the network file system's server can't be reached"),
    errno.ENOTCONN: Fault(Unavailable, "the file system is no longer connected", "mount it again"),
    errno.ECONNREFUSED: Fault(Unavailable, "the network file system's server refused"),
    errno.ECONNRESET: Fault(Unavailable, "the network file system's server broke off"),
    errno.EREMOTEIO: Fault(StorageError, "the network file system reported an error"),
    errno.ENOLCK: Fault(StorageError, "the file system has no locks left"),
    errno.ENOSYS: Fault(StorageError, "the system does not know this operation"),
    errno.EOPNOTSUPP: Fault(StorageError, "the file system does not support this operation"),
}
"""Error number to its meaning. ``ENOENT`` becomes ``NotFound`` only where a path was asked for."""


def translate(error: OSError, operation: str, location: str, path: str | None) -> StorageError:
    """Return what ``error`` means for the destination at ``location``."""
    number = error.errno or 0
    fault = FAULTS.get(number) or Fault(StorageError, error.strerror or f"system error {number}")
    where = f"{location}/{path}" if path else location
    return fault.kind(f"{where}: {operation} failed: {fault.sentence}", operation=operation, path=path, hint=fault.hint)


class Translated:
    """A ``with`` block whose ``OSError`` leaves as a :class:`StorageError`.

    A class, not a generator: it wraps every file of a publication.
    """

    __slots__ = ("_location", "_operation", "_path")

    def __init__(self, operation: str, location: str, path: str | None) -> None:
        self._operation = operation
        self._location = location
        self._path = path

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Translate."""
        if isinstance(error, OSError):
            raise translate(error, self._operation, self._location, self._path) from error
