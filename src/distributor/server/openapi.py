"""The OpenAPI 3.1 description, made from the types of :mod:`distributor.server.documents`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from distributor import __version__
from distributor.config.checks import ID_PATTERN
from distributor.server import documents

Json = dict[str, Any]

_SHOWN = (
    documents.Problem,
    documents.Accepted,
    documents.UploadStatus,
    documents.Pipeline,
    documents.Pipelines,
)
_ARCHIVES = ("application/x-tar", "application/gzip", "application/zstd", "application/octet-stream")
_REFUSALS = {
    400: "Not an archive at all, or a wrong parameter.",
    401: "No token, or one that is unknown or revoked.",
    403: "The token is not for this pipeline, or the pipeline takes no uploads.",
    404: "There is no such thing.",
    408: "Nothing was sent for too long.",
    411: "The body has no length and is not chunked.",
    413: "The body is too large.",
    415: "The body is of another type.",
    422: "The archive or the bundle in it is invalid; `problems` lists every fault.",
    429: "Too many requests of this token, or too many wrong tokens from this address.",
    503: "Not now.",
}


def description() -> Json:
    """Return the whole description."""
    schemas, components = msgspec.json.schema_components(_SHOWN, ref_template="#/components/schemas/{name}")
    refs = {shown.__name__: schema for shown, schema in zip(_SHOWN, schemas, strict=True)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "distributor", "version": __version__, "license": {"name": "Apache-2.0"}},
        "security": [{"token": []}],
        "paths": _paths(refs),
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths(refs: Mapping[str, Json]) -> Json:
    pipeline = _parameter("pipeline_id", {"type": "string", "pattern": ID_PATTERN})
    upload = _parameter("upload_id", {"type": "string", "minLength": 1, "pattern": "^[A-Za-z0-9._-]+$"})
    plain = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
    return {
        "/v1/pipelines": {"get": _operation("listPipelines", refs, {200: refs["Pipelines"]}, (401, 429))},
        "/v1/pipelines/{pipeline_id}": {
            "parameters": [pipeline],
            "get": _operation("showPipeline", refs, {200: refs["Pipeline"]}, (401, 403, 404, 429)),
        },
        "/v1/pipelines/{pipeline_id}/bundles": {"parameters": [pipeline], "post": _upload_operation(refs)},
        "/v1/uploads/{upload_id}": {
            "parameters": [upload],
            "get": _operation("showUpload", refs, {200: refs["UploadStatus"]}, (401, 403, 404, 429)),
        },
        "/healthz": {"get": _operation("health", refs, {200: plain}, ()) | {"security": []}},
        "/readyz": {"get": _operation("readiness", refs, {200: plain}, (503,)) | {"security": []}},
        "/metrics": {"get": _metrics_operation(refs)},
        "/openapi.json": {"get": _operation("describe", refs, {200: {"type": "object"}}, (401, 429))},
    }


def _upload_operation(refs: Mapping[str, Json]) -> Json:
    report = {"type": "object", "description": "The run report, with `wait=1`."}
    answers = {200: {"anyOf": [refs["Accepted"], report]}, 202: refs["Accepted"]}
    operation = _operation("uploadBundle", refs, answers, tuple(_REFUSALS))
    wait = {"name": "wait", "in": "query", "schema": {"enum": ["0", "1"]}}
    binary: Json = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}
    body = {"required": True, "content": dict.fromkeys(_ARCHIVES, binary)}
    return operation | {"parameters": [wait], "requestBody": body}


def _metrics_operation(refs: Mapping[str, Json]) -> Json:
    operation = _operation("metrics", refs, {}, (401, 429))
    text = {"text/plain": {"schema": {"type": "string"}}}
    operation["responses"]["200"] = {"description": "Prometheus text.", "content": text}
    return operation


def _operation(name: str, refs: Mapping[str, Json], answers: Mapping[int, Json], refusals: tuple[int, ...]) -> Json:
    responses: Json = {
        str(status): {"description": "Done." if status == 200 else "Accepted.", "content": _content(schema)}
        for status, schema in answers.items()
    }
    for status in refusals:
        content = {"application/problem+json": {"schema": refs["Problem"]}}
        responses[str(status)] = {"description": _REFUSALS[status], "content": content}
    return {"operationId": name, "responses": responses}


def _content(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _parameter(name: str, schema: Json) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": schema}
