"""The options that every page-making transform takes.

Apart from the page itself: a configuration is checked on every run, also on those
that make no page and should not load what pages need.
"""

from __future__ import annotations

import re

from distributor.transforms.options import Option, text
from distributor.transforms.pages.frontmatter import is_language


def _language(value: object) -> str | None:
    return None if is_language(value) else "must be a language tag such as en or pt-BR"


def _css(value: object) -> str | None:
    if not isinstance(value, str):
        return "must be text"
    return "must not close its style element" if re.search(r"</style", value, re.IGNORECASE) else None


def _template(value: object) -> str | None:
    if not isinstance(value, str):
        return text(value)
    from jinja2 import TemplateSyntaxError

    from distributor.transforms.pages.templates import compile_template

    try:
        compile_template(value)
    except TemplateSyntaxError as error:
        return f"has a fault in line {error.lineno}: {error.message}"
    return None


def optional_text(value: object) -> str | None:
    """Accept text, or nothing."""
    return None if value is None else text(value)


LOOK = (
    Option("lang", "en", _language),
    Option("css", "", _css),
    Option("template", None, _template),
)
"""Language, added CSS, and the text of another template."""
