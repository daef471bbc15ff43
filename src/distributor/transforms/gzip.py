"""A gzip twin of a file, or of its page, for servers that send precompressed files."""

from __future__ import annotations

from collections.abc import Mapping

from distributor.transforms import options as options_of
from distributor.transforms.base import Request
from distributor.transforms.options import Option

VERSION = "1"
SCOPE = "file"
DEFAULT_PATH = "{path}.gz"


def _options() -> tuple[Option, ...]:
    from distributor.transforms.pages.compression import OF

    return (Option("level", 9, options_of.whole_number(1, 9)), *OF)


def check_options(options: Mapping[str, object]) -> list[str]:
    """Return what is wrong with ``options``, one sentence each."""
    from distributor.transforms.pages.compression import check_of

    return options_of.check_options(options, _options()) + check_of(options)


def render(request: Request) -> bytes:
    """Return the compressed bytes; the header holds neither a time nor a name, so that they are reproducible."""
    import gzip

    from distributor.transforms.pages.compression import original

    settings = options_of.with_defaults(request.options, _options())
    level = settings["level"]
    return gzip.compress(original(request, settings), level if isinstance(level, int) else 9, mtime=0)
