"""What the precompressed twins share: whose bytes they compress, a file's or a page's."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from distributor.transforms.base import Request
from distributor.transforms.options import Option


def _transform(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return "must be the name of a transform"
    from distributor.errors import ConfigError
    from distributor.transforms.rendering import load

    try:
        return None if load(value).SCOPE == "file" else "must be a transform of single files"
    except ConfigError as error:
        return f"must be the name of a transform: {error}"


def _options(value: object) -> str | None:
    return None if isinstance(value, Mapping) else "must be a mapping"


OF = (Option("of", None, _transform), Option("of_options", {}, _options))
"""``of``: compress what this transform makes of the file, instead of the file itself."""


def check_of(options: Mapping[str, object]) -> list[str]:
    """Return what is wrong with ``of_options`` for the transform that ``of`` names."""
    name, inner = options.get("of"), options.get("of_options", {})
    if _transform(name) or not isinstance(inner, Mapping):
        return []
    if not isinstance(name, str):
        return ["of_options needs of"] if inner else []
    from distributor.transforms.rendering import load

    return [f"of_options: {fault}" for fault in load(name).check_options(inner)]


def original(request: Request, settings: Mapping[str, object]) -> bytes:
    """Return the bytes to compress. Raises ``TransformError`` where the inner transform does."""
    name, inner = settings["of"], settings["of_options"]
    if not isinstance(name, str) or not isinstance(inner, Mapping):
        return request.read(request.source_paths[0])
    from distributor.transforms.rendering import load

    stem, _ = posixpath.splitext(request.output_path)
    return load(name).render(request._replace(output_path=stem, options=inner))
