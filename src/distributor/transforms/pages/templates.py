"""Custom templates: the page's filling in a Jinja template of the operator's, in a sandbox."""

from __future__ import annotations

from functools import lru_cache

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from distributor.errors import TransformError
from distributor.transforms.pages.skeleton import Filling


@lru_cache(maxsize=16)
def compile_template(source: str) -> Template:
    """Return the template. Raises ``jinja2.TemplateSyntaxError``."""
    environment = ImmutableSandboxedEnvironment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    return environment.from_string(source)


def fill_template(template: str, filling: Filling) -> str:
    """Return the page that ``template`` makes of ``filling``. Raises ``TransformError`` where it can't."""
    values = filling._asdict()
    for name in ("body", "style", "script"):
        values[name] = Markup(values[name])  # noqa: S704 (sanitised, ours, or the operator's)
    try:
        return compile_template(template).render(values)
    except (TemplateError, TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise TransformError(
            f"the template can't show this page: {error}",
            path=filling.source.path,
            hint="correct the transform's template option",
        ) from error
