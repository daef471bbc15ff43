"""Profiles of the AWS configuration files: what the client does not read by itself.

The client knows the environment, web identities, container and instance roles. Static
keys of a profile are read here; profiles that must first ask for their keys (SSO,
roles, processes) are left to boto3, an extra.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from typing import TYPE_CHECKING, NamedTuple

from distributor.errors import UsageError

if TYPE_CHECKING:
    from obstore.store import S3Credential, S3CredentialProvider

_ASKS_FOR_KEYS = ("sso_session", "sso_start_url", "role_arn", "credential_process", "login_session")


class Profile(NamedTuple):
    """One profile: its values out of both files, those of the credentials file first."""

    name: str
    values: Mapping[str, str]

    @property
    def asks_for_keys(self) -> bool:
        """Whether its keys are to be had only by asking somebody."""
        return any(key in self.values for key in _ASKS_FOR_KEYS) and "aws_access_key_id" not in self.values

    def provider(self) -> S3CredentialProvider | None:
        """Return what gives the profile's credentials, or ``None`` if it has none. Raises ``UsageError``."""
        if self.asks_for_keys:
            return _boto3_provider(self.name)
        key, secret = self.values.get("aws_access_key_id"), self.values.get("aws_secret_access_key")
        if not key or not secret:
            return None
        return static_provider(key, secret, self.values.get("aws_session_token"))


def static_provider(key: str, secret: str, token: str | None) -> S3CredentialProvider:
    """Return what gives these credentials, whatever the environment says."""
    credentials: S3Credential = {
        "access_key_id": key,
        "secret_access_key": secret,
        "token": token,
        "expires_at": None,
    }
    return lambda: credentials


def read_profile(name: str | None, environment: Mapping[str, str]) -> Profile | None:
    """Read a profile of the AWS configuration files.

    ``name`` is as configured; without it, ``AWS_PROFILE`` or ``default``. Returns
    ``None`` where nobody named one and there is no default. Raises ``UsageError`` for a
    named one that is in neither file.
    """
    wanted = name or environment.get("AWS_PROFILE")
    chosen = wanted or "default"
    config = environment.get("AWS_CONFIG_FILE", "~/.aws/config")
    credentials = environment.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
    section = chosen if chosen == "default" else f"profile {chosen}"
    values = {**_section(config, section), **_section(credentials, chosen)}
    if values:
        return Profile(chosen, values)
    if wanted is None:
        return None
    raise UsageError(
        f"the AWS profile {chosen!r} is neither in {config} nor in {credentials}",
        hint="correct storage.profile or AWS_PROFILE",
    )


def _section(file: str, section: str) -> dict[str, str]:
    parser = ConfigParser(interpolation=None, default_section="\0", strict=False)
    try:
        parser.read(os.path.expanduser(file), encoding="utf-8")
    except (ConfigParserError, UnicodeDecodeError):
        raise UsageError(f"the AWS configuration file {file} can't be read", hint="correct it, or remove it") from None
    return dict(parser[section]) if parser.has_section(section) else {}


def _boto3_provider(profile: str) -> S3CredentialProvider:
    try:
        import boto3  # type: ignore[import-untyped]  # here: an extra, and slow to import
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ModuleNotFoundError:
        raise UsageError(
            f"the AWS profile {profile!r} gets its keys by SSO, a role or a process, which needs the package 'boto3'",
            hint="install it with: pip install 'distributor[aws]'",
        ) from None
    try:
        return Boto3CredentialProvider(boto3.Session(profile_name=profile))
    except ValueError:
        raise UsageError(
            f"the AWS profile {profile!r} gives no credentials", hint=f"try: aws sso login --profile {profile}"
        ) from None
