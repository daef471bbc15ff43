"""A Brotli twin of a file, or of its page, for servers that send precompressed files."""

from __future__ import annotations

from collections.abc import Mapping

from distributor.transforms import options as options_of
from distributor.transforms.base import Request
from distributor.transforms.options import Option

VERSION = "1"
SCOPE = "file"
DEFAULT_PATH = "{path}.br"


def _options() -> tuple[Option, ...]:
    from distributor.transforms.pages.compression import OF

    return (Option("quality", 11, options_of.whole_number(0, 11)), *OF)


def check_options(options: Mapping[str, object]) -> list[str]:
    """Return what is wrong with ``options``, one sentence each."""
    from distributor.transforms.pages.compression import check_of

    return options_of.check_options(options, _options()) + check_of(options)


def render(request: Request) -> bytes:
    """Return the compressed bytes."""
    import brotli  # type: ignore[import-untyped]

    from distributor.transforms.pages.compression import original

    settings = options_of.with_defaults(request.options, _options())
    quality = settings["quality"]
    compressed: bytes = brotli.compress(
        original(request, settings), quality=quality if isinstance(quality, int) else 11
    )
    return compressed
