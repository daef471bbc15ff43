"""What HTML from content may contain. Everything goes through here unless ``raw_html: allow`` says otherwise.

Scripts, styles, forms, frames and event handlers are dropped; links keep web, mail
and telephone schemes. ``data:`` passes here and is cut down to images afterwards,
since the sanitiser's list of schemes is one for all attributes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nh3

_TAGS = frozenset(
    (  # noqa: SIM905 (words wrap better than a list)
        "a abbr address article aside audio b bdi bdo blockquote br caption center cite code col colgroup dd del"
        " details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img input ins kbd"
        " li mark ol p pre q rp rt ruby s samp section small source span strike strong sub summary sup table tbody"
        " td tfoot th thead time tr tt u ul var video wbr"
    ).split()
)
_DROPPED_WITH_CONTENT = frozenset(["script", "style", "title", "template", "noscript", "iframe", "svg", "math"])
_ATTRIBUTES = {
    "*": frozenset(["id", "title", "lang", "dir", "align"]),
    "a": frozenset(["href", "name", "aria-label"]),
    "audio": frozenset(["src", "controls"]),
    "blockquote": frozenset(["cite"]),
    "code": frozenset(["class"]),
    "col": frozenset(["span"]),
    "colgroup": frozenset(["span"]),
    "del": frozenset(["cite", "datetime"]),
    "details": frozenset(["open"]),
    "img": frozenset(["src", "alt", "width", "height"]),
    "input": frozenset(["checked"]),
    "ins": frozenset(["cite", "datetime"]),
    "ol": frozenset(["start", "type", "reversed"]),
    "source": frozenset(["src", "type"]),
    "td": frozenset(["colspan", "rowspan", "valign", "width"]),
    "th": frozenset(["colspan", "rowspan", "scope", "valign", "width"]),
    "time": frozenset(["datetime"]),
    "video": frozenset(["src", "controls", "width", "height"]),
}
_VALUES = {
    "code": {"data-math-style": frozenset(["inline", "display"])},
    "input": {"type": frozenset(["checkbox"])},
    "span": {"data-math-style": frozenset(["inline", "display"])},
}
_ALERTS = ("note", "tip", "important", "warning", "caution")
_CLASSES = {
    "a": frozenset(["footnote-backref"]),
    "div": frozenset(["markdown-alert", *(f"markdown-alert-{kind}" for kind in _ALERTS)]),
    "li": frozenset(["task-list-item"]),
    "p": frozenset(["markdown-alert-title"]),
    "section": frozenset(["footnotes"]),
    "sup": frozenset(["footnote-ref"]),
    "ul": frozenset(["contains-task-list"]),
}
_SCHEMES = frozenset(["http", "https", "mailto", "tel", "data"])


@lru_cache(maxsize=1)
def _cleaner() -> nh3.Cleaner:
    import nh3

    return nh3.Cleaner(
        tags=set(_TAGS),
        clean_content_tags=set(_DROPPED_WITH_CONTENT),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        tag_attribute_values={
            tag: {name: set(values) for name, values in rules.items()} for tag, rules in _VALUES.items()
        },
        allowed_classes={tag: set(names) for tag, names in _CLASSES.items()},
        url_schemes=set(_SCHEMES),
        link_rel=None,
    )


def sanitize(html: str) -> str:
    """Return ``html`` well-formed and with nothing in it that could run, load or submit."""
    return _cleaner().clean(html)
