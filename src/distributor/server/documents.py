"""The JSON documents of the HTTP interface; the OpenAPI description derives from these types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

State = Literal["queued", "running", "done", "failed"]
Report = Annotated[dict[str, Any], Meta(description="The report of `distributor run` (report schema version 1).")]


class BundleProblem(msgspec.Struct):
    """One fault of a bundle or its archive."""

    code: str
    path: str | None
    message: str


class Problem(msgspec.Struct, omit_defaults=True):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    problems: list[BundleProblem] = msgspec.field(default_factory=list)


class Accepted(msgspec.Struct, omit_defaults=True):
    """An accepted upload."""

    upload_id: str
    status_url: str
    warnings: list[BundleProblem] = msgspec.field(default_factory=list)


class UploadStatus(msgspec.Struct):
    """How far an upload is. `report` grows while destinations finish, and is null before the first did."""

    upload_id: str
    pipeline_id: str
    state: State
    report: Report | None


class DestinationStatus(msgspec.Struct):
    """One destination as `distributor status` reports it; `status` is null while it can't be told."""

    id: str
    status: dict[str, Any] | None


class Pipeline(msgspec.Struct):
    """One pipeline that the token may see."""

    id: str
    upload: bool
    schedule: str | None
    destinations: list[DestinationStatus]


class Pipelines(msgspec.Struct):
    """Every pipeline that the token may see."""

    pipelines: list[Pipeline]
