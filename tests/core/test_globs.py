"""Globs of the configuration: the table of the interfaces, and an independent matcher for everything else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distributor.core.globs import compile_globs, glob_problem


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "report.md"),
        ("*", ".hidden"),
        ("**", "a/b/c"),
        ("**", "a"),
        ("**/*.md", "report.md"),
        ("**/*.md", "a/b/report.md"),
        ("**/x", "x"),
        ("a/**", "a/b/c"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("a**b", "a/x/b"),
        ("a**/b", "ax/y/b"),
        ("?.md", "a.md"),
        ("[abc].md", "b.md"),
        ("[!abc].md", "d.md"),
        ("[a-c]x", "bx"),
        ("[]]", "]"),
        ("[!]]", "a"),
        ("[", "["),
        ("[!]", "[!]"),
        ("[a-]", "-"),
        ("[.-]", "-"),
        ("{a,b}", "{a,b}"),
        ("a+b(c)", "a+b(c)"),
        ("**/.git/**", ".git/config"),
        ("***", "a/b"),
        ("*/*", "a/b"),
        ("ü*", "über"),
    ],
)
def test_matches(pattern: str, path: str) -> None:
    assert compile_globs([pattern])(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "a/report.md"),
        ("*", "a/b"),
        ("?", "/"),
        ("a?b", "a/b"),
        ("[!x]", "/"),
        ("a[!x]b", "a/b"),
        ("a[/]b", "a/b"),
        ("[z-a]", "z"),
        ("report", "report.md"),
        ("report.md", "a/report.md"),
        ("**/x", "ax"),
        ("a/**", "a"),
        ("a/**/b", "ab"),
        ("{a,b}", "a"),
        ("*.MD", "report.md"),
        ("*.md", "report.md\n"),
        ("", "a"),
    ],
)
def test_does_not_match(pattern: str, path: str) -> None:
    assert not compile_globs([pattern])(path)


def test_several_patterns_match_what_one_of_them_matches() -> None:
    matches = compile_globs(["*.md", "img/**"])
    assert [path for path in ("a.md", "img/x/y.png", "b.txt") if matches(path)] == ["a.md", "img/x/y.png"]


def test_no_pattern_matches_nothing() -> None:
    assert not compile_globs([])("a")


@pytest.mark.parametrize("pattern", ["", "/a", "a//b", "./a", "a/..", "a\\b", "a/"])
def test_a_pattern_that_can_match_no_path_is_named(pattern: str) -> None:
    assert glob_problem(pattern)


@pytest.mark.parametrize("pattern", ["**", "**/*.md", "a/**", ".hidden", "[.]x", "..."])
def test_an_ordinary_pattern_has_no_problem(pattern: str) -> None:
    assert glob_problem(pattern) is None


def naive(pattern: str, path: str, start: bool = True) -> bool:
    """Match by definition, character by character; ``start`` says whether a segment of the pattern begins here."""
    if not pattern:
        return not path
    if pattern.startswith("**"):
        rest = pattern.lstrip("*")
        if start and rest.startswith("/"):
            ends = [0] + [i + 1 for i, char in enumerate(path) if char == "/"]
            return any(naive(rest[1:], path[end:], start=True) for end in ends)
        return any(naive(rest, path[i:], start=False) for i in range(len(path) + 1))
    if pattern[0] == "*":
        limit = path.find("/") if "/" in path else len(path)
        return any(naive(pattern[1:], path[i:], start=False) for i in range(limit + 1))
    if not path:
        return False
    if pattern[0] == "?":
        return path[0] != "/" and naive(pattern[1:], path[1:], start=False)
    if pattern[0] == "[":
        inside, rest = pattern[1 : pattern.index("]")], pattern[pattern.index("]") + 1 :]
        hit = (path[0] in inside.lstrip("!")) != inside.startswith("!")
        return path[0] != "/" and hit and naive(rest, path[1:], start=False)
    return pattern[0] == path[0] and naive(pattern[1:], path[1:], start=pattern[0] == "/")


patterns = st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?", "[a]", "[!a]", "."]), max_size=9).map(
    "".join
)
paths = st.text("ab./", max_size=10)


@settings(max_examples=1500, deadline=None)
@given(patterns, paths)
def test_any_pattern_matches_as_its_definition_says(pattern: str, path: str) -> None:
    assert compile_globs([pattern])(path) == naive(pattern, path)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("pattern", ["**a" * 60 + "!", "*a" * 60 + "!", "**/a*" * 60 + "!", "?*" * 60 + "!"])
def test_a_hostile_pattern_ends(pattern: str) -> None:
    """Exponential matching would run into this test's time limit."""
    assert not compile_globs([pattern])("a" * 900 + "/a" * 50)
