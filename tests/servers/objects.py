"""Object stores for the tests: three of S3, one of Azure.

Seaweed honours conditions and checks signatures and checksums; moto honours conditions
and takes any key; ``rclone serve s3`` ignores every condition, in silence.
"""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.servers.processes import answers, free_ports, running

BUCKET = "bucket1"
KEY, SECRET = "testkey", "testsecret"
READER_KEY, READER_SECRET = "readerkey", "readersecret"
BLIND_KEY, BLIND_SECRET = "blindkey", "blindsecret"

AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = base64.b64encode(b"a key of the emulator's only account").decode()

_IDENTITIES = {
    "identities": [
        {
            "name": "admin",
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        },
        {
            "name": "reader",
            "credentials": [{"accessKey": READER_KEY, "secretKey": READER_SECRET}],
            "actions": ["Read", "List"],
        },
        {
            "name": "blind",
            "credentials": [{"accessKey": BLIND_KEY, "secretKey": BLIND_SECRET}],
            "actions": [f"Write:{BUCKET}"],
        },
        {"name": "anonymous", "actions": [f"Read:{BUCKET}"]},
    ]
}


class ObjectServer(NamedTuple):
    """A running service: its port, and the settings with which its bucket is reached."""

    port: int
    settings: dict[str, Any]

    @property
    def endpoint(self) -> str:
        return str(self.settings["endpoint"])

    def through(self, port: int) -> dict[str, Any]:
        """The settings, by way of a proxy on another port."""
        return {**self.settings, "endpoint": self.endpoint.replace(f":{self.port}", f":{port}")}

    def s3(self) -> Any:
        """An independent client (boto3) with the same credentials."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.settings["access_key_id"],
            aws_secret_access_key=self.settings["secret_access_key"],
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"),
        )


def _s3_server(port: int) -> ObjectServer:
    settings = {
        "endpoint": f"http://127.0.0.1:{port}",
        "region": "us-east-1",
        "access_key_id": KEY,
        "secret_access_key": SECRET,
        "allow_http": True,
    }
    return ObjectServer(port, settings)


def program(name: str) -> str:
    """The path of a program that was installed beside this Python."""
    return str(Path(sys.executable).parent / name)


@contextmanager
def seaweed(folder: Path) -> Iterator[ObjectServer]:
    """SeaweedFS with the bucket, made and writable."""
    identities = folder / "identities.json"
    identities.write_text(json.dumps(_IDENTITIES))
    (folder / "data").mkdir()
    s3, master, volume, filer, admin = _weed_ports()
    command = [
        *(program("weed"), "-logtostderr=true", "mini", f"-dir={folder / 'data'}"),
        *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.port={s3}", f"-master.port={master}"),
        *(f"-volume.port={volume}", f"-filer.port={filer}", f"-admin.port={admin}", f"-s3.config={identities}"),
        *("-s3.port.iceberg=0", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false", f"-bucket={BUCKET}"),
        "-s3.domainName=s3.test",
    ]
    server = _s3_server(s3)
    with running(command, folder / "log", lambda: _takes_objects(server)):
        yield server


def _weed_ports() -> list[int]:
    """Ports for seaweed, which also takes each of them plus 10,000."""
    while True:
        ports = free_ports(5)
        if all(port + 10_000 < 65_536 and not answers(port + 10_000) for port in ports):
            return ports


def _takes_objects(server: ObjectServer) -> bool:
    if not answers(server.port):
        return False
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        server.s3().put_object(Bucket=BUCKET, Key="ready", Body=b"")
        server.s3().delete_object(Bucket=BUCKET, Key="ready")
    except (BotoCoreError, ClientError):
        return False
    return True


@contextmanager
def moto(folder: Path) -> Iterator[ObjectServer]:
    """moto's server with the bucket."""
    (port,) = free_ports(1)
    server = _s3_server(port)
    command = [program("moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    with running(command, folder / "log", lambda: answers(port)):
        server.s3().create_bucket(Bucket=BUCKET)
        yield server


@contextmanager
def rclone(folder: Path) -> Iterator[ObjectServer]:
    """``rclone serve s3`` over a folder; its subfolders are the buckets."""
    (folder / "data" / BUCKET).mkdir(parents=True)
    (port,) = free_ports(1)
    command = [
        *(program("rclone"), "--config", "/dev/null", "serve", "s3", "--addr", f"127.0.0.1:{port}"),
        *("--auth-key", f"{KEY},{SECRET}", "--vfs-cache-mode", "off", str(folder / "data")),
    ]
    with running(command, folder / "log", lambda: answers(port)):
        yield _s3_server(port)


@contextmanager
def azurite(folder: Path) -> Iterator[ObjectServer]:
    """Azurite with a container of the bucket's name."""
    (port,) = free_ports(1)
    command = [
        *("node", str(azurite_script()), "--silent", "--disableTelemetry", "--location", str(folder)),
        *("--blobHost", "127.0.0.1", "--blobPort", str(port), "--skipApiVersionCheck"),
    ]
    settings = {
        "endpoint": f"http://127.0.0.1:{port}/{AZURE_ACCOUNT}",
        "account": AZURE_ACCOUNT,
        "account_key": AZURE_KEY,
        "allow_http": True,
    }
    environment = {**os.environ, "AZURITE_ACCOUNTS": f"{AZURE_ACCOUNT}:{AZURE_KEY}"}
    with running(command, folder / "log", lambda: answers(port), environment):
        make_container(port, BUCKET)
        yield ObjectServer(port, settings)


def azurite_script() -> Path:
    """Azurite's program in the cache folder, installed by npm the first time.

    The folder is ``DISTRIBUTOR_TEST_CACHE`` (the Makefile sets it), else ``.cache``.
    """
    root = Path(__file__).parents[2]
    cache = Path(os.environ.get("DISTRIBUTOR_TEST_CACHE", root / ".cache")) / "npm"
    script = cache / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    if not script.exists():
        install_azurite(cache)
    return script


def install_azurite(cache: Path) -> None:
    """Install Azurite by npm; of several test processes at once, one does and the others wait."""
    import fcntl

    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (cache / "node_modules" / "azurite").exists():
            return
        making = cache / "making"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir()
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(making), "azurite@3"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        (making / "node_modules").rename(cache / "node_modules")


def make_container(port: int, name: str) -> None:
    """Make a container with the account's key; the storage itself never makes any."""
    date = email.utils.formatdate(usegmt=True)
    version = "2021-08-06"
    to_sign = (
        "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:{version}\n"
        f"/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{name}\nrestype:container"
    )
    signature = base64.b64encode(hmac.new(base64.b64decode(AZURE_KEY), to_sign.encode(), hashlib.sha256).digest())
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/{AZURE_ACCOUNT}/{name}?restype=container",
        method="PUT",
        headers={
            "x-ms-date": date,
            "x-ms-version": version,
            "Authorization": f"SharedKey {AZURE_ACCOUNT}:{signature.decode()}",
            "Content-Length": "0",
        },
    )
    with urllib.request.urlopen(request):
        pass
