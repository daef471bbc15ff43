"""Names of processes for people: who holds a lock."""

from __future__ import annotations

import os


def read_proc(name: str) -> bytes:
    """Return a whole file of ``/proc``. Raises ``OSError``."""
    fd = os.open(f"/proc/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(fd, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def this_process() -> str:
    """Name this process as ``user@host pid 12 (command)``; see :func:`describe`."""
    return describe(os.getpid())


def describe(pid: int) -> str:
    """Name a process of this host as far as the system tells.

    Of its command line only the program is told: what follows may be secret.
    """
    return f"{_user(pid)}@{os.uname().nodename} pid {pid}{_command(pid)}"


def _user(pid: int) -> str:
    import pwd  # here: only locks that somebody holds need it

    try:
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:  # the process has ended, or there is no /proc
        return "somebody"
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _command(pid: int) -> str:
    try:
        words = read_proc(f"{pid}/cmdline").split(b"\0")
    except OSError:  # as above
        return ""
    names = [os.path.basename(os.fsdecode(word)) for word in words[:2]]
    is_script = names[0].startswith("python") and len(words) > 1 and not words[1].startswith(b"-")
    return f" ({names[1] if is_script else names[0]})" if names[0] else ""
