"""Code to HTML with a few classes of tokens; the lexers are Pygments', the markup and colours are ours."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

BLOCK_CHARS = 50_000
LINE_CHARS = 2_000
PAGE_CHARS = 400_000

_LANGUAGES = {
    "bash": "bash sh shell zsh ksh",
    "bat": "bat batch cmd dosbatch",
    "c": "c h",
    "console": "console shell-session sh-session shellsession",
    "cpp": "cpp c++ cc cxx hpp",
    "csharp": "csharp c# cs",
    "css": "css",
    "dart": "dart",
    "diff": "diff patch udiff",
    "docker": "docker dockerfile",
    "elixir": "elixir ex exs",
    "go": "go golang",
    "graphql": "graphql",
    "haskell": "haskell hs",
    "html": "html htm",
    "http": "http",
    "ini": "ini cfg conf dosini",
    "java": "java",
    "javascript": "javascript js mjs cjs jsx node",
    "json": "json jsonc json5 jsonl ndjson",
    "julia": "julia jl",
    "kotlin": "kotlin kt kts",
    "lua": "lua",
    "make": "make makefile mf",
    "matlab": "matlab",
    "nginx": "nginx",
    "perl": "perl pl",
    "php": "php",
    "powershell": "powershell ps1 pwsh posh",
    "protobuf": "protobuf proto",
    "pycon": "pycon python-console",
    "python": "python py python3 py3 ipython ipython3 sage",
    "r": "r splus rscript",
    "rst": "rst rest restructuredtext",
    "ruby": "ruby rb",
    "rust": "rust rs",
    "scala": "scala",
    "sql": "sql mysql postgresql postgres sqlite tsql plsql",
    "swift": "swift",
    "terraform": "terraform tf hcl",
    "tex": "tex latex",
    "toml": "toml",
    "typescript": "typescript ts tsx",
    "xml": "xml svg xsd xsl xslt",
    "yaml": "yaml yml",
}
_LEXERS = {alias: lexer for lexer, aliases in _LANGUAGES.items() for alias in aliases.split()}

_CLASSES = {
    "Comment": "tc",
    "Comment.Hashbang": "tc",
    "Comment.Preproc": "td",
    "Generic.Deleted": "tx",
    "Generic.Error": "tx",
    "Generic.Heading": "tf",
    "Generic.Inserted": "ti",
    "Generic.Prompt": "tc",
    "Generic.Subheading": "tf",
    "Keyword": "tk",
    "Keyword.Constant": "tn",
    "Keyword.Type": "tb",
    "Literal": "ts",
    "Literal.Number": "tn",
    "Literal.String": "ts",
    "Literal.String.Interpol": "tn",
    "Name.Attribute": "tb",
    "Name.Builtin": "tb",
    "Name.Class": "tf",
    "Name.Constant": "tn",
    "Name.Decorator": "td",
    "Name.Exception": "tf",
    "Name.Function": "tf",
    "Name.Label": "td",
    "Name.Namespace": "tf",
    "Name.Tag": "tk",
    "Name.Variable": "tb",
    "Operator.Word": "tk",
}
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def highlight(code: str, language: str) -> str | None:
    """Return ``code`` as HTML with token classes, or ``None`` where it is to be shown plain.

    Plain are unknown languages, long blocks and long lines: some lexers take quadratic
    time on them, and minified code gains nothing from colours.
    """
    name = _LEXERS.get(language.lower())
    if name is None or len(code) > BLOCK_CHARS or _has_long_line(code):
        return None
    pieces: list[str] = []
    run: list[str] = []
    current = ""
    for _, token, value in _lexer(name).get_tokens_unprocessed(code):
        css = _class_of(token)
        if css != current and not value.isspace():
            _flush(pieces, run, current)
            run, current = [], css
        run.append(value)
    _flush(pieces, run, current)
    return "".join(pieces)


def plain(code: str) -> str:
    """Return ``code`` as HTML text, with direction overrides made visible."""
    text = escape(code, quote=False)
    return text if text.isascii() else _BIDI.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    return f'<span class="bidi">U+{ord(match[0]):04X}</span>'


def _flush(pieces: list[str], run: list[str], css: str) -> None:
    if run:
        text = plain("".join(run))
        pieces.append(f'<span class="{css}">{text}</span>' if css else text)


def _has_long_line(code: str) -> bool:
    return any(len(line) > LINE_CHARS for line in code.split("\n"))


@lru_cache(maxsize=64)
def _lexer(name: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


@lru_cache(maxsize=512)
def _class_of(token: _TokenType) -> str:
    """Return the class of the nearest token type that has one, or ``""``."""
    names = list(token)
    while names:
        if css := _CLASSES.get(".".join(names)):
            return css
        names.pop()
    return ""
