"""What an SFTP server's answers and a failing connection mean: one table."""

from __future__ import annotations

from typing import NamedTuple

import asyncssh

from distributor.errors import Denied, NotFound, OutOfSpace, StorageError, Unavailable


class Fault(NamedTuple):
    """How one class of foreign errors is told. The first entry that matches counts."""

    foreign: type[BaseException]
    kind: type[StorageError]
    sentence: str
    hint: str | None = None


_ROOM = "free some room or raise the quota, then run again"
_CONNECTION = "check that the server is up and reachable, then run again"
_IN_THE_WAY = "look at what stands there"

FAULTS = (
    Fault(asyncssh.SFTPNoSuchFile, NotFound, "does not exist"),
    Fault(asyncssh.SFTPNoSuchPath, NotFound, "does not exist"),
    Fault(
        asyncssh.SFTPPermissionDenied,
        Denied,
        "the server denies it",
        "check the permissions of this path and of the folders above it for that account",
    ),
    Fault(asyncssh.SFTPWriteProtect, Denied, "the file system is read-only there", "mount it writable"),
    Fault(asyncssh.SFTPCannotDelete, Denied, "the server does not let it be deleted"),
    Fault(asyncssh.SFTPNoSpaceOnFilesystem, OutOfSpace, "no room is left on the server", _ROOM),
    Fault(asyncssh.SFTPQuotaExceeded, OutOfSpace, "the account's quota is used up", _ROOM),
    Fault(asyncssh.SFTPConnectionLost, Unavailable, "the connection was lost", _CONNECTION),
    Fault(asyncssh.SFTPNoConnection, Unavailable, "the server has no connection to its storage", _CONNECTION),
    Fault(asyncssh.SFTPEOFError, Unavailable, "the server's answer ended early", _CONNECTION),
    Fault(asyncssh.SFTPNoMedia, Unavailable, "the server has no medium there"),
    Fault(asyncssh.SFTPLockConflict, Unavailable, "another program has the file locked"),
    Fault(asyncssh.SFTPOpUnsupported, StorageError, "the server does not support this operation"),
    Fault(asyncssh.SFTPFileAlreadyExists, StorageError, "something stands there already", _IN_THE_WAY),
    Fault(asyncssh.SFTPDirNotEmpty, StorageError, "a folder with content stands in the way", _IN_THE_WAY),
    Fault(asyncssh.SFTPNotADirectory, StorageError, "no folder stands in a folder's place", _IN_THE_WAY),
    Fault(asyncssh.SFTPFileIsADirectory, StorageError, "a folder stands in the way", _IN_THE_WAY),
    Fault(asyncssh.SFTPInvalidFilename, StorageError, "the server does not allow this name", "choose another path"),
    Fault(
        asyncssh.SFTPFailure,
        StorageError,
        "the server refuses without a reason",
        "often a quota, a limit of open files, or a mount point; the server's log knows more",
    ),
    Fault(asyncssh.SFTPError, StorageError, "the server refuses"),
    Fault(
        asyncssh.PermissionDenied,
        Denied,
        "the server accepts none of the credentials",
        "check user, identity_files and password of the destination, ~/.ssh/config, and the agent (ssh-add -l)",
    ),
    Fault(asyncssh.KeyExchangeFailed, StorageError, "no common algorithms with the server"),
    Fault(
        asyncssh.ChannelOpenError,
        StorageError,
        "the server opens no SFTP session",
        "check that the account may use the sftp subsystem",
    ),
    Fault(asyncssh.DisconnectError, Unavailable, "the connection was lost", _CONNECTION),
    Fault(
        asyncssh.KeyEncryptionError,
        Denied,
        "a private key can't be decrypted",
        "check the passphrase of the destination",
    ),
    Fault(
        asyncssh.KeyImportError,
        Denied,
        "a private key can't be read",
        "check identity_files, and the passphrase where the key is encrypted",
    ),
    Fault(asyncssh.ConfigParseError, StorageError, "the OpenSSH client configuration can't be read"),
    Fault(TimeoutError, Unavailable, "the server did not answer in time", _CONNECTION),
    Fault(FileNotFoundError, StorageError, "a file of this machine is missing"),
    Fault(PermissionError, Denied, "this machine denies it", "check the permissions of key files, and the firewall"),
    Fault(OSError, Unavailable, "the server can't be reached", _CONNECTION),
    Fault(ValueError, StorageError, "the connection can't be set up"),
)

FOREIGN = (asyncssh.Error, OSError, ValueError)
"""Everything that asyncssh raises on purpose; ``TimeoutError`` is an ``OSError``."""

_BROKEN = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, asyncssh.SFTPBadMessage, asyncssh.DisconnectError)


def breaks_connection(error: BaseException) -> bool:
    """Whether nothing more can be asked over the connection on which ``error`` was met."""
    return isinstance(error, _BROKEN) or (isinstance(error, OSError) and not isinstance(error, asyncssh.SFTPError))


def translate(error: BaseException, location: str, operation: str, path: str | None) -> StorageError:
    """Return ``error`` as this package tells it. Raises it again if no entry of the table matches."""
    for fault in FAULTS:
        if isinstance(error, fault.foreign):
            where = f"{location}: " if path is None else f"{location}: {path}: "
            reason = _reason(error)
            told = f"{where}{fault.sentence}{reason} (to {operation})"
            return fault.kind(told, operation=operation, path=path, hint=fault.hint)
    raise error


_SAY_NOTHING_NEW = {"", "failure", "no such file", "permission denied", "connection lost", "no such file or directory"}


def _reason(error: BaseException) -> str:
    reason = str(getattr(error, "reason", "") or error).strip()
    # A server's text may hold anything: one line of it, made printable, is enough.
    text = reason.splitlines()[0][:200] if reason else ""
    text = text if text.isprintable() else ascii(text)
    return "" if text.lower() in _SAY_NOTHING_NEW else f": {text}"
