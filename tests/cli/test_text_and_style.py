"""Text that is safe to read, and what a stream can show (G9)."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distributor.cli.style import Style, style_of
from distributor.cli.text import age, columns, count, escape, moment, padded, size

NOW = datetime(2026, 6, 4, 12, tzinfo=UTC)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("raw", "safe"),
    [
        ("plain Ünïcode 日本", "plain Ünïcode 日本"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("bad\udcff", "bad\\xff"),
        ("evil\u202egpj.exe", "evil\\u202egpj.exe"),
        ("c1\x9bcontrol", "c1\\x9bcontrol"),
        ("lone \ud800", "lone \\ud800"),
    ],
)
def test_names_with_control_characters_are_escaped(raw, safe):
    """G9."""
    assert escape(raw) == safe


@given(st.text(st.characters()))
def test_escaped_text_is_one_printable_unicode_line(text):
    """G9: whatever a file is called."""
    shown = escape(text)
    shown.encode()
    assert all(ord(char) >= 32 and not 127 <= ord(char) < 160 for char in shown)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1048575, "1.0 MiB"),
        (1 << 30, "1.0 GiB"),
        (5 << 50, "5120.0 TiB"),
    ],
)
def test_sizes_are_written_as_people_write_them(number, text):
    assert size(number) == text


def test_counts_agree_with_their_noun():
    assert [count(n, "file") for n in (0, 1, 2048)] == ["0 files", "1 file", "2,048 files"]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("2026-06-04T11:59:30Z", "just now"),
        ("2026-06-04T13:00:00+02:00", "1 h ago"),
        ("2026-05-01T12:00:00Z", "34 d ago"),
        ("2026-06-04T12:00:01Z", "in the future"),
        (None, ""),
        ("broken\n", "broken\\n"),
    ],
)
def test_ages_are_told_in_their_largest_unit(time, text):
    assert age(time, NOW) == text


def test_moments_are_told_in_utc():
    assert moment("2026-06-04T14:00:59.9+02:00") == "2026-06-04 12:00"


def test_wide_characters_take_two_columns():
    assert columns("日本a\u0301") == 5
    assert padded("日本", 6) == "日本  "


def test_a_pipe_gets_neither_colour_nor_links_nor_broken_lines():
    style = style_of(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), {"TERM": "xterm", "VTE_VERSION": "7200"})
    assert style == Style(color=False, links=False, symbols=True, width=0)


@pytest.mark.parametrize(
    ("environ", "color"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({}, False),
    ],
)
def test_no_color_and_dumb_terminals_are_honoured(environ, color):
    assert style_of(Terminal(), environ).color == color


def test_links_are_clickable_only_where_the_terminal_is_known_to_do_it():
    assert style_of(Terminal(), {"TERM": "xterm", "VTE_VERSION": "7200"}).links
    assert not style_of(Terminal(), {"TERM": "xterm"}).links


def test_a_link_always_shows_its_url():
    assert Style().link("https://a/b") == "https://a/b"
    assert Style(links=True).link("https://a/b") == "\x1b]8;;https://a/b\x1b\\https://a/b\x1b]8;;\x1b\\"


def test_symbols_have_ascii_stand_ins():
    assert Style(symbols=False).symbol("✓") == "+"
