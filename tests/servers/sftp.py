"""A private OpenSSH server for the tests, started as the documentation of this project's servers says.

``sshd()`` starts one per process, on a free loopback port, with keys of its own; it ends with the
process. Debian's package is ``openssh-server``; nothing of the system's own server is used.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from distributor.storage.opening import Target

SSHD = "/usr/sbin/sshd"


def free_port() -> int:
    """A loopback port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """Make a key pair; return the private key's path."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", path], check=True)
    return path


def fingerprint(public_key: Path) -> str:
    """The ``SHA256:…`` fingerprint, as OpenSSH tells it."""
    told = subprocess.run(["ssh-keygen", "-l", "-f", public_key], check=True, capture_output=True, text=True)
    return told.stdout.split()[1]


class SshServer:
    """A running sshd. ``user_key`` is let in as every user; ``known_hosts`` names its host keys."""

    def __init__(self, options: Iterable[str] = (), host_keys: Iterable[str] = ("ed25519",)) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="distributor-sshd-"))
        # Keys are looked up as the user who logs in.
        self.folder.chmod(0o755)
        self.port = free_port()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.host_keys = [make_key(self.folder / f"host_{kind}", kind) for kind in host_keys]
        self.user_key = make_key(self.folder / "id")
        self.authorized_keys = self.folder / "authorized_keys"
        self.authorized_keys.write_bytes(self.user_key.with_suffix(".pub").read_bytes())
        self.known_hosts = self.folder / "known_hosts"
        self.known_hosts.write_text("".join(self.known_hosts_line(key) for key in self.host_keys))
        self._config = self.folder / "sshd_config"
        self._config.write_text("\n".join([*self._options(), *options]) + "\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _options(self) -> list[str]:
        return [
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            *(f"HostKey {key}" for key in self.host_keys),
            f"PidFile {self.folder / 'sshd.pid'}",
            f"AuthorizedKeysFile {self.authorized_keys}",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin yes",
            "MaxStartups 200",
            "MaxSessions 64",
            "PrintMotd no",
            "Subsystem sftp internal-sftp",
            f"SetEnv HOME={self.home}",
        ]

    def known_hosts_line(self, host_key: Path) -> str:
        """The line of a known-hosts file for one of its keys."""
        kind, key = host_key.with_suffix(".pub").read_text().split()[:2]
        return f"[127.0.0.1]:{self.port} {kind} {key}\n"

    def start(self) -> None:
        """Start it and wait until it accepts connections."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen([SSHD, "-D", "-e", "-f", self._config], stdout=log, stderr=log)
        log.close()
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                if probe.recv(4) == b"SSH-":
                    return
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.02)

    def stop(self) -> None:
        """End it; sessions go on until they are closed."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def remove(self) -> None:
        """End it for good."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def children(self) -> list[int]:
        """The processes that serve its sessions."""
        assert self._process is not None
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self._process.pid)], check=False, capture_output=True, text=True
        )
        return [int(line) for line in listed.stdout.split()]

    def url(self, folder: Path | str, user: str = "root") -> str:
        """The URL of an absolute folder."""
        return f"sftp://{user}@127.0.0.1:{self.port}{folder}"

    def settings(self, **more: object) -> dict[str, object]:
        """Settings that get in, without a look at the account's own files."""
        settings: dict[str, object] = {
            "identity_files": [str(self.user_key)],
            "known_hosts": str(self.known_hosts),
            "ssh_config": os.devnull,
        }
        return settings | more

    def target(self, folder: Path | str, **more: object) -> Target:
        """A target for ``open_storage``."""
        return Target(self.url(folder), self.settings(**more))


@functools.cache
def sshd() -> SshServer:
    """The server that most tests of this process share."""
    server = SshServer()
    atexit.register(server.remove)
    return server
