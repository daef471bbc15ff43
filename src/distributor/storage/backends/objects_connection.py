"""From an address and the ``storage`` settings to clients of the service."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from obstore.store import AzureStore, GCSStore, S3Store

from distributor.errors import UsageError
from distributor.storage.backends.objects_address import Address
from distributor.storage.backends.objects_profiles import Profile, read_profile, static_provider

if TYPE_CHECKING:
    from obstore.store import (
        AzureConfig,
        ClientConfig,
        GCSConfig,
        RetryConfig,
        S3Config,
        S3CredentialProvider,
    )

Store = AzureStore | GCSStore | S3Store

_AzureKey = Literal["account_name", "account_key", "sas_key", "tenant_id", "client_id", "client_secret"]

_FIRST_PAUSE = timedelta(milliseconds=200)
_LONGEST_PAUSE = timedelta(seconds=10)
_PATIENCE = 600
"""Seconds that a large body may take: many of them may share a thin line."""

_AZURE_KEYS: tuple[tuple[str, _AzureKey], ...] = (
    ("account", "account_name"),
    ("account_key", "account_key"),
    ("sas_token", "sas_key"),
    ("tenant_id", "tenant_id"),
    ("client_id", "client_id"),
    ("client_secret", "client_secret"),
)


class Connection(NamedTuple):
    """How the service is reached; the clients are made from it.

    ``address`` names the endpoint. ``retries`` is how often a request that failed for
    now is tried again; ``timeout`` is in seconds.
    """

    address: Address
    retries: int
    timeout: int
    make: Callable[[ClientConfig, RetryConfig], Store]

    def prompt_client(self) -> Store:
        """Return a client for small requests: it does not retry, and gives up after ``timeout`` of silence."""
        options: ClientConfig = {"read_timeout": f"{self.timeout}s", "timeout": f"{_PATIENCE}s"}
        return self.make(options, {"max_retries": 0})

    def patient_client(self, *, retrying: bool) -> Store:
        """Return a client for large bodies and listings, which may retry each of their requests."""
        retry: RetryConfig = {
            "max_retries": self.retries if retrying else 0,
            "retry_timeout": timedelta(seconds=_PATIENCE),
            "backoff": {"init_backoff": _FIRST_PAUSE, "max_backoff": _LONGEST_PAUSE, "base": 2},
        }
        return self.make({"timeout": f"{self.timeout + _PATIENCE}s"}, retry)


def connect(address: Address, settings: Mapping[str, Any]) -> Connection:
    """Work out how to reach ``address``; nothing is asked of the service yet.

    Raises ``UsageError`` for settings that exclude each other, an unreadable CA file or
    an unknown profile.
    """
    provider = _PROVIDERS[address.scheme](address, settings)
    allow_http = bool(settings.get("allow_http", False))
    endpoint = _without_user(provider.endpoint)
    if endpoint.startswith("http://") and not allow_http:
        raise UsageError(
            f"{address.url}: the endpoint {endpoint} has no TLS",
            hint="use https, or set storage.allow_http: true",
        )
    options: ClientConfig = {
        "allow_http": allow_http,
        "connect_timeout": f"{settings.get('connect_timeout', 10)}s",
        "user_agent": "distributor",
        "pool_idle_timeout": "20s",
    }
    if (authorities := _authorities(address, settings)) is not None:
        options["root_certificate"] = authorities
    return Connection(
        address._replace(endpoint=endpoint),
        int(settings.get("retries", 4)),
        int(settings.get("timeout", 60)),
        lambda more, retry: provider.make({**options, **more}, retry),
    )


def _authorities(address: Address, settings: Mapping[str, Any]) -> bytes | None:
    file = settings.get("ca_file")
    if file is None:
        return None
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - pathlib would be imported for nothing else
            data: bytes = opened.read()
            return data
    except OSError as error:
        raise UsageError(f"{address.url}: storage.ca_file {file} can't be read: {error.strerror}") from None


class _Provider(NamedTuple):
    """A provider's endpoint ('' for its own) and what makes its clients."""

    endpoint: str
    make: Callable[[ClientConfig, RetryConfig], Store]


def _s3(address: Address, settings: Mapping[str, Any]) -> _Provider:
    profile = _profile(settings)
    known = profile.values if profile else {}
    endpoint = str(
        settings.get("endpoint")
        or os.environ.get("AWS_ENDPOINT_URL_S3")
        or os.environ.get("AWS_ENDPOINT_URL")
        or os.environ.get("AWS_ENDPOINT")
        or known.get("endpoint_url", "")
    )
    # Buckets with a dot match no wildcard certificate, and few private services know host names of buckets.
    usual = "path" if endpoint or "." in address.bucket else "virtual"
    virtual = settings.get("addressing", usual) == "virtual"
    config: S3Config = {
        "bucket": address.bucket,
        "virtual_hosted_style_request": virtual,
        # One request per object: not every service knows the bulk call, and none of its answers is all or nothing.
        "disable_bulk_delete": True,
    }
    region = settings.get("region") or _environment_region() or known.get("region")
    if region:
        config["region"] = region
    if endpoint:
        config["aws_endpoint_url_s3"] = _with_bucket(endpoint, address.bucket) if virtual else endpoint
    else:
        # Compatible services may refuse the header; to them the signed payload is the checksum.
        config["checksum_algorithm"] = "SHA256"
    provider = _s3_credentials(address, settings, profile)
    return _Provider(
        endpoint,
        lambda options, retry: S3Store(
            config=config, client_options=options, retry_config=retry, credential_provider=provider
        ),
    )


def _profile(settings: Mapping[str, Any]) -> Profile | None:
    """Return the profile that keys, region or endpoint may come from; configured keys need none."""
    if "access_key_id" in settings and "profile" not in settings:
        return None
    return read_profile(settings.get("profile"), os.environ)


def _environment_region() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


def _s3_credentials(
    address: Address, settings: Mapping[str, Any], profile: Profile | None
) -> S3CredentialProvider | None:
    """Return what gives the keys; ``None`` leaves it to the client: environment, web identity, container, instance."""
    key, secret = settings.get("access_key_id"), settings.get("secret_access_key")
    if key and secret:
        return static_provider(str(key), str(secret), settings.get("session_token"))
    if key or secret:
        raise UsageError(f"{address.url}: access_key_id and secret_access_key go together", hint="set both, or neither")
    in_environment = "AWS_ACCESS_KEY_ID" in os.environ or "AWS_WEB_IDENTITY_TOKEN_FILE" in os.environ
    if profile is None or (in_environment and "profile" not in settings):
        return None
    return profile.provider()


def _with_bucket(endpoint: str, bucket: str) -> str:
    parts = urlsplit(endpoint)
    return urlunsplit(parts._replace(netloc=f"{bucket}.{parts.netloc}"))


def _gcs(address: Address, settings: Mapping[str, Any]) -> _Provider:
    config: GCSConfig = {"bucket": address.bucket}
    endpoint = str(settings.get("endpoint", ""))
    if endpoint:
        config["base_url"] = endpoint
    if "service_account_file" in settings:
        config["service_account"] = settings["service_account_file"]
    return _Provider(
        endpoint, lambda options, retry: GCSStore(config=config, client_options=options, retry_config=retry)
    )


def _azure(address: Address, settings: Mapping[str, Any]) -> _Provider:
    config: AzureConfig = {"container_name": address.bucket}
    for key, name in _AZURE_KEYS:
        if key in settings:
            config[name] = str(settings[key])
    endpoint = str(
        settings.get("endpoint") or os.environ.get("AZURE_STORAGE_ENDPOINT") or os.environ.get("AZURE_ENDPOINT") or ""
    )
    if endpoint:
        config["endpoint"] = endpoint
    if "account" not in settings and "AZURE_STORAGE_ACCOUNT_NAME" not in os.environ:
        raise UsageError(
            f"{address.url}: names no storage account", hint="set storage.account or AZURE_STORAGE_ACCOUNT_NAME"
        )
    return _Provider(
        endpoint, lambda options, retry: AzureStore(config=config, client_options=options, retry_config=retry)
    )


_PROVIDERS: Mapping[str, Callable[[Address, Mapping[str, Any]], _Provider]] = {"s3": _s3, "gs": _gcs, "az": _azure}


def _without_user(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))
