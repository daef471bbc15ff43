"""Tables: delimiters, types, bounds, and what a page holds without a script."""

from __future__ import annotations

import json
import re

import pytest

from distributor.errors import TransformError
from distributor.transforms import csv_to_html
from distributor.transforms.pages.tables import Kind, kind_of, sniff
from tests.transforms.making import Made, copied, make, rendered


def table(text: str | bytes, **options: object) -> Made:
    return make("csv_to_html", {"t.csv": text}, **options)


def kinds(made: Made) -> list[str]:
    return re.findall(r'data-kind="(\w+)"', made.main)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb, c\n1\t2, 3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('a,b\n"x;y;z",2\n', ","),
        ("single\nvalue\n", ","),
    ],
)
def test_the_delimiter_is_the_one_that_cuts_evenly(text: str, delimiter: str) -> None:
    assert sniff(text) == delimiter


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2.5", "1e9", "", "n/a"], Kind.NUMBER),
        (["1,234,567.8", "12 %", "$3.50"], Kind.NUMBER),
        (["1.234,5", "2,25"], Kind.COMMA_NUMBER),
        (["2026-01-01", "2026-01-01T10:00:00Z", "2026-01"], Kind.DATE),
        (["1", "two"], Kind.TEXT),
        (["", ""], Kind.TEXT),
        (["1.2.3"], Kind.TEXT),
        (["192.168.1.1"], Kind.TEXT),
    ],
)
def test_a_column_has_the_kind_that_all_its_values_share(values: list[str], kind: Kind) -> None:
    assert kind_of(values) is kind


def test_numbers_stand_to_the_right() -> None:
    made = table("name,n\na,1\n")
    assert kinds(made) == ["text", "number"]
    assert "<td>a</td><td class=n>1</td>" in made.main


def test_values_are_text_never_markup() -> None:
    made = table('a\n"<script>x()</script>"\n')
    assert "<td>&lt;script&gt;x()&lt;/script&gt;</td>" in made.main


def test_rows_beyond_the_first_lie_beside_the_table_as_data() -> None:
    rows = "".join(f"{number},</script><b>\n" for number in range(1200))
    made = table(f"n,t\n{rows}")
    assert made.main.count("<tr>") == 1 + csv_to_html.STATIC_ROWS
    data = re.search(r'<script type="application/json" class="rows">(.*?)</script>', made.main)
    assert data is not None
    assert json.loads(data[1])[-1] == ["1199", "</script><b>"]
    assert "Without scripts, this page shows the first 500 rows." in made.main


def test_a_cut_table_says_so_and_links_to_the_file() -> None:
    files = {"d/t.csv": "n\n" + "1\n" * 30}
    made = make(
        "csv_to_html", files, output="p/t.html", plan=(rendered("d/t.csv", "p/t.html"), copied("d/t.csv")), max_rows=10
    )
    assert "this page holds the first 10 of 30 rows" in made.main
    assert '<a href="../d/t.csv" download>' in made.main
    assert made.warnings == ["d/t.csv: the page shows the first 10 of 30 rows"]


def test_a_file_that_is_not_published_is_not_linked() -> None:
    assert "download" not in table("a,b\n1,2\n").main


def test_short_rows_are_filled_and_long_rows_get_columns() -> None:
    made = table("a,b\n1\n1,2,3\n")
    assert "Column 3" in made.main
    assert "<tr><td class=n>1</td><td></td><td></td></tr>" in made.main


def test_without_a_header_columns_are_numbered() -> None:
    made = table("x,1\ny,2\n", header=False)
    assert "Column 1" in made.main
    assert "2 rows" in made.main


def test_quoted_line_ends_belong_to_their_value() -> None:
    assert "<td>x\ny</td>" in table('a,b\r\n"x\r\ny",1\r\n').main


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "t.csv: has no rows"),
        (b'a,b\n1,2\n"x,3\n4,5\n', "t.csv:3: is no table from here on: unexpected end of data"),
        (b'a\n"x"y\n', "t.csv:2: is no table from here on"),
        (b"a\nb\xff\n", "t.csv:2: is not UTF-8"),
        (b",".join([b"x"] * 2000), "t.csv: has 2,000 columns, and a page shows at most 1,000"),
        (b"a\n" + b"x" * 200_000, "t.csv:2: is no table from here on: field larger than field limit"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(data: bytes, fault: str) -> None:
    with pytest.raises(TransformError) as caught:
        table(data)
    assert str(caught.value).startswith(fault)


def test_another_encoding_is_read_when_named() -> None:
    assert "<td>Müller</td>" in table("name\nMüller\n".encode("windows-1252"), encoding="windows-1252").main


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"delimiter": "::"}, "delimiter must be one character, not '::'"),
        ({"max_rows": 0}, "max_rows must be a whole number from 1 to 1000000, not 0"),
        ({"encoding": "ebcdic"}, "encoding must be utf-8, utf-16-le, windows-1252, iso-8859-1 or iso-8859-15"),
        ({"headers": True}, "headers is not an option of this transform; did you mean header?"),
    ],
)
def test_faulty_options_are_told_in_a_sentence(options: dict[str, object], fault: str) -> None:
    (told,) = csv_to_html.check_options(options)
    assert told.startswith(fault)
