"""TeX to MathML, bounded, and serialised by ourselves so that nothing in it can be markup."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TEX_CHARS = 5_000
NESTABLE = 600

_TAGS = frozenset(
    (  # noqa: SIM905 (words wrap better than a list)
        "math mrow mi mo mn mtext mspace ms mfrac msqrt mroot mstyle merror mpadded mphantom mfenced menclose"
        " msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr"
    ).split()
)
_ATTRIBUTES = frozenset(
    (  # noqa: SIM905 (words wrap better than a list)
        "display displaystyle scriptlevel mathvariant stretchy fence separator form lspace rspace minsize maxsize"
        " symmetric largeop movablelimits accent accentunder linethickness columnalign rowlines columnlines"
        " columnspacing rowspacing width height depth voffset notation mathcolor mathbackground mathsize frame"
        " open close separators"
    ).split()
)
_NESTABLE = re.compile(r"\\[a-zA-Z]+|[{^_\[]")
_DEFINES = re.compile(r"\\(?:re)?newcommand|\\providecommand|\\[gex]?def\b|\\let\b|\\DeclareMathOperator")
_FRAMES = 12_000


@lru_cache(maxsize=4096)
def to_mathml(tex: str, *, display: bool) -> str | None:
    """Return ``tex`` as a ``<math>`` element, or ``None`` where it can't be set: it is then shown as code.

    Macro definitions are refused, since a few of them can ask for unbounded work.
    """
    if len(tex) > TEX_CHARS or _DEFINES.search(tex) or len(_NESTABLE.findall(tex)) > NESTABLE:
        return None
    from latex2mathml.converter import convert_to_element

    # The converter recurses over what was just bounded; without more room the result
    # would depend on how deep the caller's own stack is.
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        root = convert_to_element(tex, display="block" if display else "inline")
        body = _serialize(root)
    except _conversion_errors():
        return None
    finally:
        sys.setrecursionlimit(limit)
    source = escape(tex.strip(), quote=False)
    note = f'<annotation encoding="application/x-tex">{source}</annotation>'
    shape = ' display="block"' if display else ""
    return f"<math{shape}><semantics><mrow>{body}</mrow>{note}</semantics></math>"


def _conversion_errors() -> tuple[type[Exception], ...]:
    """Every way in which the converter gives up: its own errors derive from nothing but ``Exception``."""
    from latex2mathml import exceptions

    own = tuple(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception))
    # On malformed input it also runs into its own assumptions.
    return (*own, RecursionError, StopIteration, RuntimeError, LookupError, ValueError, TypeError, AttributeError)


def _serialize(root: Element) -> str:
    """Return what stands inside ``root``, with known elements and attributes only."""
    return "".join(_element(child) for child in root)


def _element(element: Element) -> str:
    inner = escape(unescape(element.text or ""), quote=False) + "".join(_element(child) for child in element)
    tail = escape(unescape(element.tail or ""), quote=False)
    if element.tag not in _TAGS:
        return inner + tail
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in element.attrib.items() if name in _ATTRIBUTES)
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>{tail}"
