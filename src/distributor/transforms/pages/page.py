"""The page around the content: template, styles, the little script, and the policy that allows no other.

A page is one file. Its content security policy names the hashes of our own style and
script and forbids everything else but images and media of the same site.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from distributor.core.manifest import Manifest
from distributor.transforms.pages.enriching import Heading
from distributor.transforms.pages.skeleton import Filling, Source, fill

_DATA = Path(__file__).with_name("data")
_RIGHT_TO_LEFT = frozenset(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"])
_MIN_CONTENTS, _MAX_CONTENTS = 3, 500


class Page(NamedTuple):
    """What one page shows.

    ``body`` is trusted HTML. ``show_title`` puts the title above it as the page's
    main heading. ``scripts`` and ``styles`` name files of ``data/`` beyond the common
    ones, ``css`` is added after them. ``allow_content`` is for ``raw_html: allow``:
    the policy then permits the content's own scripts and styles, and other hosts.
    ``inline_styles`` permits style attributes and elements (diagrams).
    """

    title: str
    body: str
    source_path: str
    headings: tuple[Heading, ...] = ()
    show_title: bool = True
    lang: str | None = None
    date: str | None = None
    description: str | None = None
    contents: bool = True
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ("page.js",)
    css: str = ""
    wide: bool = False
    allow_content: bool = False
    inline_styles: bool = False


def assemble(page: Page, manifest: Manifest, look: Mapping[str, object]) -> bytes:
    """Return the finished page. ``look`` holds the options of :data:`~distributor.transforms.pages.look.LOOK`.

    Raises ``TransformError`` where a custom template fails.
    """
    style = "".join(_read(name) for name in ("page.css", *page.styles)) + page.css + str(look["css"])
    script = "".join(_read(name) for name in page.scripts)
    lang = page.lang or str(look["lang"])
    created = manifest.created
    filling = Filling(
        title=page.title,
        body=page.body,
        lang=lang,
        direction="rtl" if lang.partition("-")[0].lower() in _RIGHT_TO_LEFT else "ltr",
        date=page.date,
        description=page.description,
        show_title=page.show_title,
        contents=_contents(page),
        wide=page.wide,
        policy=_policy(page, style, script),
        style=style,
        script=script,
        source=Source(manifest.id, page.source_path, created.text, f"{created.to_datetime():%Y-%m-%d %H:%M} UTC"),
    )
    template = look["template"]
    if template is None:
        return fill(filling).encode()
    from distributor.transforms.pages.templates import fill_template  # the engine is slow to load

    return fill_template(str(template), filling).encode()


def _contents(page: Page) -> list[Heading]:
    """Return the headings for the contents: two levels below the page's title, if there are enough and not too many."""
    if not page.contents:
        return []
    levels = sorted({heading.level for heading in page.headings if heading.level > 1})[:2]
    while levels:
        listed = [heading for heading in page.headings if heading.level in levels]
        if len(listed) <= _MAX_CONTENTS:
            return listed if len(listed) >= _MIN_CONTENTS else []
        levels.pop()
    return []


def _policy(page: Page, style: str, script: str) -> str:
    if page.allow_content:
        return "base-uri 'none'; object-src 'none'"
    styles = "'unsafe-inline'" if page.inline_styles else _hash(style)
    # `file:` lets a page that is opened from a folder show its images.
    return (
        f"default-src 'none'; img-src 'self' data: file:; media-src 'self' file:; style-src {styles}; "
        f"script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=32)
def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


@lru_cache(maxsize=32)
def _read(name: str) -> str:
    return (_DATA / name).read_text(encoding="utf-8")
