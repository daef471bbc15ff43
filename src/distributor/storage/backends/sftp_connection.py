"""How a connection is made: whom to trust, who to be, and nothing but the sftp subsystem.

A host key that known hosts do not name, or another than the pinned one, always fails,
whatever the OpenSSH configuration says. The agent is asked to sign, never forwarded; no
command is ever run on the server.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import asyncssh

from distributor.errors import Denied, StorageError
from distributor.storage.backends.sftp_address import Access, Address

# AES-GCM takes a third less time than what asyncssh and OpenSSH agree on by themselves, and
# curve25519 a fraction of OpenSSH's default key exchange.
_CIPHERS = "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"
_KEY_EXCHANGE = "^curve25519-sha256,curve25519-sha256@libssh.org"

_HOST_KEYS = (
    ("ssh-ed25519",),
    ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    ("rsa-sha2-512", "rsa-sha2-256"),
)
"""Kinds of host keys. A server has one of each and shows the first that the client asks for."""

_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2", "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")


class Shown(NamedTuple):
    """A host key that a server showed and nobody vouches for."""

    host: str
    port: int
    key: asyncssh.SSHKey


class _Trust(NamedTuple):
    """Whom to trust. ``attempts`` are lists of host key algorithms to try, () for the usual ones."""

    known_hosts: object
    files: tuple[str, ...]
    pin: str | None
    attempts: tuple[tuple[str, ...], ...]


async def connect(address: Address, access: Access) -> asyncssh.SSHClientConnection:
    """Return an authenticated connection to a server whose host key was found to be right.

    Raises ``StorageError`` for a host key that is not, with its fingerprint, and
    whatever asyncssh raises otherwise (see ``sftp_errors``).
    """
    arguments = _arguments(address, access)
    # The OpenSSH configuration alone, without keys: decrypting one takes a while, so it is done once, below.
    configured = await asyncssh.SSHClientConnectionOptions.construct(**arguments, host=address.host, client_keys=None)
    arguments |= _algorithms(configured)
    trust = _pinned(access.host_key) if access.host_key else _known(access.known_hosts, configured)
    if access.identity_files:
        arguments["client_keys"] = [_readable(name, "identity_files") for name in access.identity_files]
    shown: list[Shown] = []
    for algorithms in trust.attempts:
        try:
            return await asyncssh.connect(
                address.host,
                **arguments,
                client_factory=lambda: _Guard(trust.pin, shown),
                known_hosts=trust.known_hosts,
                server_host_key_algs=algorithms,
            )
        except asyncssh.HostKeyNotVerifiable as error:
            if not shown:
                raise _untold_refusal(address, error) from error
        except asyncssh.KeyExchangeFailed:
            # Not the first attempt: then the server just has no host key of this kind.
            if not shown:
                raise
    raise _refusal(address, trust, shown)


def _pinned(fingerprint: str) -> _Trust:
    every = tuple(name for kinds in _HOST_KEYS for name in kinds)
    # Known hosts that know nobody: so the guard is asked about every key.
    return _Trust(([], [], []), (), fingerprint.rstrip("="), (every, *_HOST_KEYS))


def _known(setting: str | None, configured: asyncssh.SSHClientConnectionOptions) -> _Trust:
    if setting is not None:
        files: tuple[str, ...] = (_readable(setting, "known_hosts"),)
    else:
        # `UserKnownHostsFile none` gives None, which asyncssh takes for "trust everybody".
        named = configured.known_hosts if isinstance(configured.known_hosts, list) else []
        found = (os.path.expanduser(str(name)) for name in named or _KNOWN_HOSTS)
        files = tuple(name for name in found if Path(name).is_file())
    return _Trust(asyncssh.read_known_hosts(files), files, None, ((),))


def _arguments(address: Address, access: Access) -> dict[str, object]:
    arguments: dict[str, object] = {
        "agent_forwarding": False,
        "x11_forwarding": False,
        "command": None,
        "request_pty": False,
        "connect_timeout": access.connect_timeout,
        "login_timeout": access.connect_timeout,
        "keepalive_interval": access.timeout / 3,
        "passphrase": access.passphrase,
        "password": access.password,
    }
    if address.port is not None:
        arguments["port"] = address.port
    if address.user is not None:
        arguments["username"] = address.user
    if access.ssh_config is not None:
        arguments["config"] = [_readable(access.ssh_config, "ssh_config")]
    return arguments


def _algorithms(configured: asyncssh.SSHClientConnectionOptions) -> dict[str, object]:
    """Return the preferences where the OpenSSH configuration has none of its own."""
    preferred = {"Ciphers": ("encryption_algs", _CIPHERS), "KexAlgorithms": ("kex_algs", _KEY_EXCHANGE)}
    chosen: dict[str, object] = {
        argument: value for key, (argument, value) in preferred.items() if configured.config.get(key) is None
    }
    if configured.config.get("Compression") is None:
        chosen["compression_algs"] = ["none"]
    return chosen


def _readable(name: str, setting: str) -> str:
    path = os.path.expanduser(name)
    if not os.access(path, os.R_OK):
        raise Denied(f"{setting}: {path} can't be read", operation="connect", hint="check the path and its permissions")
    return path


class _Guard(asyncssh.SSHClient):
    """Is shown every host key that known hosts do not name; trusts none but the pinned one."""

    def __init__(self, pin: str | None, shown: list[Shown]) -> None:
        self._pin = pin
        self._shown = shown

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002
        """Whether ``key`` is the pinned one."""
        self._shown.append(Shown(host, port, key))
        return key.get_fingerprint().rstrip("=") == self._pin

    def validate_host_ca_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002
        """Trust no certificate authority that known hosts do not name."""
        self._shown.append(Shown(host, port, key))
        return False


def _untold_refusal(address: Address, error: asyncssh.HostKeyNotVerifiable) -> StorageError:
    """Tell of a key that was refused without asking the guard: one that is marked as revoked."""
    return StorageError(
        f"{address.location}: the server's host key is not trusted: {error.reason}; nothing was sent",
        operation="connect",
        hint="ask the server's operator which key is right",
    )


def _refusal(address: Address, trust: _Trust, shown: Sequence[Shown]) -> StorageError:
    name = shown[0].host if shown[0].port == 22 else f"[{shown[0].host}]:{shown[0].port}"
    fingerprints = " or ".join(dict.fromkeys(f"{item.key.get_fingerprint()} ({_kind(item.key)})" for item in shown))
    if trust.pin is not None:
        fault = f"the server shows the host key {fingerprints}, not the pinned {trust.pin}"
        hint = "if the server's operator confirms the new key, change storage.host_key"
    elif _has_keys(trust.known_hosts, shown[0]):
        fault = f"the host key has CHANGED: the server shows {fingerprints}, known hosts have another for {name}"
        hint = (
            "somebody may be in between: only if the server's operator confirms the new key, "
            f"remove the old one (ssh-keygen -R '{name}') and add the new"
        )
    else:
        fault = f"the host key is unknown: the server shows {fingerprints}, and {name} is not in " + (
            " or ".join(trust.files) or "any known-hosts file (there is none)"
        )
        hint = "if that is the server's key, connect once with ssh to add it, or set storage.host_key to it"
    return StorageError(f"{address.location}: {fault}; nothing was sent", operation="connect", hint=hint)


def _kind(key: asyncssh.SSHKey) -> str:
    return str(key.get_algorithm())


def _has_keys(known_hosts: object, shown: Shown) -> bool:
    if not isinstance(known_hosts, asyncssh.SSHKnownHosts):
        return False
    port = None if shown.port == 22 else shown.port
    return any(known_hosts.match(shown.host, "", port)[:2])
