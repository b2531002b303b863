"""Reading tables: what is found out, what is refused, and that cells stay as they are."""

import datetime
import io
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.values import encode_texts
from kanon.errors import TableError
from kanon.sources.memory import convert_to_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile, read_table
from kanon.sources.separators import is_padded
from kanon.sources.writing import table_bytes
from support import bombs
from support.bad_inputs import parquet
from support.random_tables import examples

SECRET = "Jane-Doe-1234"


def rows(file: TableFile) -> list[list[object]]:
    return [[None if pd.isna(v) else v for v in row] for row in file.table.to_numpy().tolist()]


def sheet(*sheets: list[list[object]]) -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for cells in sheets:
            page = book.add_worksheet()
            for r, row in enumerate(cells):
                for c, cell in enumerate(row):
                    if isinstance(cell, datetime.date):
                        page.write_datetime(r, c, cell, day)
                    elif cell is not None:
                        page.write(r, c, cell)
    return buffer.getvalue()


def feather(table: dict) -> bytes:
    return bombs.feather(pa.table(table))


# --- CSV: cells stay as they are ----------------------------------------------------------------
def test_cells_are_text_exactly_as_written():
    file = read_table(b"a,b,c,d\n007,1.10, x y ,1e5\nTrue,+1,2020-01-02,<b>&amp;</b>\n", "t.csv")
    assert rows(file) == [
        ["007", "1.10", " x y ", "1e5"],
        ["True", "+1", "2020-01-02", "<b>&amp;</b>"],
    ]


def test_settings_are_filled_in():
    file = read_table(b"a;b\n1;NA\n", "t.csv")
    assert file.settings == ReadSettings(";", "utf-8", ("NA",))
    again = read_table(b"a;b\n1;NA\n", "t.csv", file.settings)
    assert rows(again) == rows(file) == [["1", None]]
    assert again.found[0] == "Separator ';' and encoding UTF-8 were given."
    half = read_table(b"a;b\n1;NA\n", "t.csv", ReadSettings(separator=";"))
    assert half.found[0] == "Separator ';' was given; encoding UTF-8 was found."


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("kind", ["csv", "txt", "tsv", "tab", "CSV"])
def test_the_separator_is_found(separator, kind):
    data = separator.join("abc") + "\n" + f"1,5{separator}x{separator}3\n" * 3
    if separator == ",":
        data = "a,b,c\n" + '"1,5",x,3\n' * 3
    file = read_table(data.encode(), f"t.{kind}")
    assert file.settings.separator == separator
    assert rows(file) == [["1,5", "x", "3"]] * 3


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'a,b\n"x, y","say ""hi"""\n', [["x, y", 'say "hi"']]),
        (b'a,b\n"two\nlines",1\n', [["two\nlines", "1"]]),
        (b'a,b\n"two\r\nlines",1\n', [["two\r\nlines", "1"]]),
        (b"a,b\r\n1,2\r\n3,4", [["1", "2"], ["3", "4"]]),
        (b"a,b\r1,2\r3,4\r", [["1", "2"], ["3", "4"]]),
        (b"a,b\n1,2\n\n3,4\n\n\n", [["1", "2"], ["3", "4"]]),
        (b"\n\na,b\n1,2\n", [["1", "2"]]),
        (b"a,b\n5'11\",x\n6'0\",y\n", [["5'11\"", "x"], ["6'0\"", "y"]]),
        (b"a,b\n5'11\",x\n", [["5'11\"", "x"]]),
        (b" a , b\n1,2\n", [["1", "2"]]),
        (b'"a","b"\n"1","2"\n', [["1", "2"]]),
        (b'a,b\n"",x\n', [[None, "x"]]),
    ],
)
def test_quotes_and_lines(data, expected):
    file = read_table(data, "t.csv")
    assert rows(file) == expected
    assert list(file.table.columns) == ["a", "b"]


def test_a_column_may_stand_alone():
    file = read_table(b"age\n39\n50\n", "t.csv")
    assert rows(file) == [["39"], ["50"]]
    assert file.found == ("One column without a separator and encoding UTF-8 were found.",)
    assert rows(read_table(b"x\na,b\nc\nd\n", "t.csv")) == [["a,b"], ["c"], ["d"]]
    assert rows(read_table(b"age\n39\n", "t.csv", ReadSettings(separator=";"))) == [["39"]]
    notes = b"note\nHello, all\nHi, you\n"
    with pytest.raises(
        TableError, match=r"has 2 cells .* choose a separator that does not occur\.$"
    ):
        read_table(notes, "t.csv")
    file = read_table(notes, "t.csv", ReadSettings(separator=";"))
    assert rows(file) == [["Hello, all"], ["Hi, you"]]


def test_a_long_cell_is_no_error():
    text = "x" * 300_000
    assert rows(read_table(f'a,b\n"{text}",1\n'.encode(), "t.csv")) == [[text, "1"]]


# --- padding ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a, b, c\n39, State-gov, x\n50, ?,  y\n", [["39", "State-gov", "x"], ["50", None, "y"]]),
        (b"a,b,c\n39, State-gov, x\n", [["39", "State-gov", "x"]]),
        (b'a, b\n39, "x, y"\n40, "z,z"\n', [["39", "x, y"], ["40", "z,z"]]),
        (b'a, b\n39, "say ""so"", he"\n', [["39", 'say "so", he']]),
        (b'a, b\n5\'11", "x, y"\n6\'0", z\n', [["5'11\"", "x, y"], ["6'0\"", "z"]]),
        (b"a,b\n39, x\n40,y\n", [["39", " x"], ["40", "y"]]),
        (b'a,b\n39," x"\n', [["39", " x"]]),
    ],
)
def test_a_blank_after_every_separator_is_padding(data, expected):
    assert rows(read_table(data, "t.csv")) == expected


def test_a_space_as_separator_has_no_padding():
    assert not is_padded(b"a b\n1  2\n", " ")
    assert rows(read_table(b"a b\n1 2\n", "t.csv", ReadSettings(separator=" "))) == [["1", "2"]]


# --- encodings ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("encoding", "given", "settled"),
    [
        ("utf-8", None, "utf-8"),
        ("utf-8-sig", None, "utf-8"),
        ("utf-8-sig", "utf-8", "utf-8"),
        ("utf-16", None, "utf-16"),
        ("utf-16-le", "utf-16-le", "utf-16-le"),
        ("utf-32", None, "utf-32"),
        ("latin-1", None, "cp1252"),
        ("latin-1", "latin-1", "iso8859-1"),
        ("cp1252", "Windows-1252", "cp1252"),
    ],
)
def test_encodings(encoding, given, settled):
    data = "name;city\r\nJosé;Orléans\r\nRené;Besançon\r\n".encode(encoding)
    file = read_table(data, "t.csv", ReadSettings(encoding=given))
    assert rows(file) == [["José", "Orléans"], ["René", "Besançon"]]
    assert list(file.table.columns) == ["name", "city"]
    assert file.settings.encoding == settled
    assert any("guess" in line for line in file.found) == (encoding == "latin-1" and not given)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Nuñez;Begoña\nBjørn;Tromsø\n"),
        ("cp1252", "Zoë;“quoted”\nBrontë;5 €\n"),
        ("cp1251", "Иван;Москва\nПётр;Казань\n"),
        ("cp1253", "Γιώργος;Αθήνα\nΕλένη;Θεσσαλονίκη\n"),
        ("shift_jis", "山田太郎;東京\n鈴木;大阪\n"),
        ("gb18030", "王伟;北京\n李娜;上海\n"),
        ("euc_kr", "김철수;서울\n이영희;부산\n"),
    ],
)
def test_encodings_without_a_mark_are_guessed(encoding, text):
    file = read_table(f"name;city\n{text}".encode(encoding), "t.csv")
    assert file.settings.encoding == encoding
    assert rows(file) == [line.split(";") for line in text.split("\n")[:-1]]
    assert file.found[1] == f"{encoding.upper()} is a guess: check names with accents."


@pytest.mark.nightly
def test_a_letter_outside_the_sample_is_still_decoded():
    data = b"a;b\n" + b"x;y\n" * 100_000 + "é;ü\n".encode("latin-1")
    assert rows(read_table(data, "t.csv"))[-1] == ["é", "ü"]


# --- missing cells ------------------------------------------------------------------------------
def test_known_markers_that_occur_are_used():
    data = b"a,b,c\n?,x, NA \n,y,z\nNone,y,z\n"
    file = read_table(data, "t.csv")
    assert rows(file) == [[None, "x", None], [None, "y", "z"], ["None", "y", "z"]]
    assert dict(file.missing) == {"a": 2, "c": 1}
    assert dict(file.markers_present) == {"": 1, "?": 1, "NA": 1, "None": 1}
    assert file.settings.missing_markers == ("", "?", "NA")
    assert file.found[1] == "2 columns have missing cells (blank, '?', 'NA'): 'a' 2, 'c' 1."


def test_given_markers_are_the_only_ones_beside_blank_cells():
    data = b"country,n\nNA, -9 \n?,1\n,NULL\n"
    file = read_table(data, "t.csv", ReadSettings(missing_markers=("?", "-9")))
    assert rows(file) == [["NA", None], [None, "1"], [None, "NULL"]]
    assert dict(file.markers_present) == {"": 1, "?": 1, "NA": 1, "NULL": 1, "-9": 1}
    assert file.found[-1] == "These count as values, not as missing: 'NA' (1), 'NULL' (1)."
    none = read_table(data, "t.csv", ReadSettings(missing_markers=()))
    assert dict(none.missing) == {"country": 1}
    assert none.settings.missing_markers == ()


def test_texts_that_look_like_a_marker_are_counted_and_stay_values():
    data = b"a,b\nn/a,-\nk.A.,x\nunbekannt, - \nUnknown,none of these\n"
    file = read_table(data, "t.csv")
    assert not file.missing and rows(file)[0] == ["n/a", "-"]
    assert dict(file.markers_present) == {"-": 2, "n/a": 1, "k.A.": 1, "unbekannt": 1, "Unknown": 1}
    told = ReadSettings(missing_markers=("-", "k.A."))
    assert dict(read_table(data, "t.csv", told).missing) == {"a": 1, "b": 2}


def test_cells_of_stars_alone_may_be_missing():
    file = read_table(b"a,b\n*,x\n**,*y\n*,010**\n", "t.csv")
    assert dict(file.markers_present) == {"*": 2, "**": 1} and not file.missing
    assert file.found[-1] == "These count as values, not as missing: '*' (2), '**' (1)."


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["39", "39.0", "40"], "with '.0' (1 value) and without: they count as the same"),
        (["39", "40.0", "41.0"], "with '.0' (2 values) and without: they count as the same"),
        (["1,5", "2.5"], "with a comma (1 value) and with a point (1 value): they count as"),
        (["1.234,50", "12,50"], ""),
        (["1,234.50", "1,234", "12.50"], ""),
        (["01067", "1067", "10671"], "with zeros in front (1 value) and without: they count as"),
        (["01067", "10671"], ""),
        (["1.5", "2.0"], ""),
        (["a", "1"], ""),
    ],
)
def test_numbers_written_in_two_ways_are_said(cells, said):
    content = "n;m\n" + "".join(f"{cell};x\n" for cell in cells)
    notices = read_table(content.encode(), "t.csv").notices
    assert len(notices) == bool(said)
    for notice in notices:
        assert notice.startswith(f"'n' has numbers written in two ways, {said}")
        assert not any(cell in notice for cell in cells if len(cell) > 2)


def test_numbers_as_text_in_a_sheet_are_said():
    notices = read_table(sheet([["n", "m"], [39, "x"], ["40", "y"], [41, "z"]]), "t.xlsx").notices
    assert notices == (
        "'n' has numbers written in two ways, as text (1 value) and as numbers: they count as the "
        "same.",
    )


def written(table, kind):
    """Whole incomes without a point, as people type them; a sheet has numbers."""
    return table.assign(income=table["income"].map("{:g}".format)) if kind == "csv" else table


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(4))
def test_numbers_that_stand_out_are_asked_about_and_others_not(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "age": rng.integers(18, 96, 500), "year": rng.integers(1930, 2010, 500),
        "grade": rng.integers(1, 6, 500), "income": rng.integers(0, 900, 500) / 10,
        "code": rng.integers(0, 10_000, 500), "visits": rng.integers(0, 12, 500),
    })  # fmt: skip
    clean = table.copy()
    for column, marker in (("age", 99), ("year", 9999), ("grade", 9), ("income", -1)):
        table.loc[rng.random(500) < 0.1, column] = marker
    expected = {
        str(marker): (int((table[column] == marker).sum()),
                      int((table.drop(columns=column) == marker).sum().sum()))
        for column, marker in (("age", 99), ("year", 9999), ("grade", 9), ("income", -1))
    }  # fmt: skip
    for kind in ("csv", "xlsx"):
        content, unmarked = (table_bytes(written(one, kind), kind) for one in (table, clean))
        file = read_table(content, f"t.{kind}")
        found = {odd.marker: (sum(odd.columns.values()), odd.other_cells) for odd in file.odd}
        assert found == expected
        told = ReadSettings(missing_markers=("9999", "-1"))
        again = read_table(content, f"t.{kind}", told)
        assert again.missing["year"] == expected["9999"][0]
        assert {odd.marker for odd in again.odd} == {"9", "99"}
        assert not read_table(unmarked, f"t.{kind}").odd


def test_a_column_of_missing_cells_only():
    file = read_table(b"a,b\n,1\n,2\n", "t.csv")
    assert dict(file.missing) == {"a": 2}


def test_markers_apply_to_text_only():
    table = {"n": pa.array([-9, 1, None]), "t": ["-9", "NA", None], "f": [0.5, None, float("nan")]}
    file = read_table(parquet(table), "t.parquet", ReadSettings(missing_markers=("-9",)))
    assert rows(file) == [[-9, None, 0.5], [1, "NA", None]]
    assert dict(file.missing) == {"t": 1, "f": 1}
    assert "1 empty record was skipped." in file.found
    assert dict(file.markers_present) == {"NA": 1, "-9": 1}


# --- kinds with types ---------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["parquet", "pq", "feather", "arrow"])
def test_arrow_kinds_keep_their_types(kind):
    day = datetime.date(2020, 1, 2)
    table = {
        "whole": pa.array([2**60 + 1, None]),
        "big": pa.array([2**64 - 1, None], pa.uint64()),
        "yes": [True, None],
        "day": [day, None],
        "text": ["007", "?"],
        "word": pa.array(["x", "NA"]).dictionary_encode(),
        "bytes": [b"ab", b"c"],
        "view": pa.array(["x", "y"], pa.string_view()),
        "none": pa.nulls(2),
    }
    make = parquet if kind in ("parquet", "pq") else feather
    if make is parquet:
        table.pop("view")  # not a type of Parquet
    file = read_table(make(table), f"t.{kind}")
    first = [2**60 + 1, 2**64 - 1, True, day, "007", "x", "ab", "x", None]
    second = [None, None, None, None, None, None, "c", "y", None]
    drop = [7] if make is parquet else []
    for got, want in zip(rows(file), (first, second), strict=True):
        assert got == [v for i, v in enumerate(want) if i not in drop]
    assert file.settings == ReadSettings(None, None, ("?", "NA"))


def test_a_pandas_index_is_a_column_too():
    buffer = io.BytesIO()
    pd.DataFrame({"a": [1]}, index=pd.Index(["x"], name="id")).to_parquet(buffer)
    assert list(read_table(buffer.getvalue(), "t.parquet").table.columns) == ["a", "id"]


def test_an_arrow_stream_is_read():
    data = bombs.stream(pa.table({"a": [1, 2]}))
    assert rows(read_table(data, "t.arrow")) == [[1], [2]]


def test_a_sheet_keeps_its_types():
    day = datetime.date(2020, 1, 2)
    data = sheet(
        [
            [" age ", 2021, "part", "yes", "day", "mixed", "zip"],
            [39, 1, 0.5, True, day, "x", "007"],
            [50, None, 2, False, None, 39, "NA"],
            [None],
            [51, 3, None, True, day, 1.5, " b "],
        ],
        [["other"]],
    )
    file = read_table(data, "t.xlsx")
    assert list(file.table.columns) == ["age", "2021", "part", "yes", "day", "mixed", "zip"]
    stamp = pd.Timestamp(day)
    assert [list(row) for row in file.table.astype(object).to_numpy()[[0]]] == [
        [39, 1, 0.5, True, stamp, "x", "007"]
    ]
    assert file.table["age"].dtype == "int64"
    assert file.table["2021"].dtype == "Int64"
    assert file.table["mixed"].tolist() == ["x", 39, 1.5]
    assert dict(file.missing) == {"2021": 1, "part": 1, "day": 1, "zip": 1}
    assert file.found[:2] == (
        "Sheet 'Sheet1' was read, the largest of 2.",
        "1 empty row was skipped.",
    )
    assert file.settings == ReadSettings(None, None, ("NA",), "Sheet1")
    assert file.sheets == {"Sheet1": (5, 7), "Sheet2": (1, 1)}


@pytest.mark.parametrize("seed", range(3))
def test_a_cover_sheet_and_a_title_do_not_stop_the_work(seed):
    rng = np.random.default_rng(seed)
    records = rng.integers(0, 9, (int(rng.integers(2, 9)), 4)).tolist()
    aside, above = int(rng.integers(0, 3)), int(rng.integers(0, 3))
    page = [["Register of 2024"], [], *[[]] * above, list("abcd"), *records]
    data = sheet(
        [["Made by"], [None, "the office"]], [[None] * aside + row for row in page], [[1] * 9]
    )
    file = read_table(data, "t.xlsx")
    assert list(file.table.columns) == list("abcd") and file.table.to_numpy().tolist() == records
    assert file.settings.sheet == "Sheet2"
    assert file.sheets["Sheet1"] == (2, 2) and file.sheets["Sheet2"][0] == len(page)
    assert file.found[1].startswith(f"Row {above + 3} holds the names")
    assert "left out" in file.found[1]


def test_a_sheet_is_chosen_by_name_and_a_hidden_one_by_nothing_else():
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        for name, rows_there in (("seen", 2), ("hidden", 9)):
            page = book.add_worksheet(name)
            for row in range(rows_there):
                page.write_row(row, 0, ["n", "m"] if not row else [row, name])
        page.hide()
    data = buffer.getvalue()
    assert read_table(data, "t.xlsx").settings.sheet == "seen"
    chosen = read_table(data, "t.xlsx", ReadSettings(sheet="hidden"))
    assert len(chosen.table) == 8 and chosen.settings.sheet == "hidden"
    with pytest.raises(
        TableError, match="has no sheet 'absent' with data; choose 'seen', 'hidden'"
    ):
        read_table(data, "t.xlsx", ReadSettings(sheet="absent"))


def test_a_sheet_of_empty_texts_is_told():
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        book.add_worksheet().write_formula(0, 0, '=""', None, "")
    with pytest.raises(TableError, match=r"has no(thing on| sheet .* with data)"):
        read_table(buffer.getvalue(), "t.xlsx")


def test_a_header_with_a_gap_is_no_title():
    with pytest.raises(TableError, match="Column 2 of "):
        read_table(sheet([["a", None, "c"], [1, 2, 3], [4, 5, 6]]), "t.xlsx")


# --- refusals, beside those of tests/support/bad_inputs.py --------------------------------------
BAD_TEXT = {
    "byte order mark only": (b"\xef\xbb\xbf\n", "is empty"),
    "header and blank lines": (b"a,b\r\n\r\n", "has a header but no records"),
    "control characters": (b"a,b\n\x01\xff,\xfe\n", "holds binary data"),
    "name in the middle": (b"a,,b\n0,1,2\n", "Column 2 of 't.csv' has no name"),
    "short row": (b"a,b\n1,2\n" + SECRET.encode() + b"\n3,4\n", "Line 3 of 't.csv' has 1 cell "),
    "long row": (b"a,b\n1,2\n3,4,Jane-Doe-1234\n", "Line 3 of 't.csv' has 3 cells where the"),
    "line after quoted lines": (b'a,b\n"x\ny",2\n\n1\n', "Line 5 of 't.csv' has 1 cell "),
    "title above ragged lines": (b"My table\na,b\n1,2,3\n4\n", "with the separator ',': the first"),
    "all ragged": (b"a,b\n1\n1,2,3\n", "Line 2 of 't.csv' has 1 cell "),
    "open quote": (b'a,b\n1,2\n"Jane-Doe-1234,2\n3,4\n', "Line 3 of 't.csv' has a quote"),
    "open quote in the last cell": (b'a,b\n1,2\n3,"x\n4,5\n', "Line 3 of 't.csv' has a quote"),
    "text after a quote": (b'a,b\n"x"y,2\n', "Line 2 of 't.csv' has a quote"),
    "open quote in the header": (b'a,"b\n1,2\n', "Line 1 of 't.csv' has a quote"),
}


def refused(error: TableError, part: str) -> None:
    for text in (str(error), error.sentence):
        assert part in text
        assert text.endswith(".") and "\n" not in text
        assert SECRET not in text


GIVEN = {
    "none": (b"a,b\n1,2\n", ReadSettings(""), "Separator '' is not allowed"),
    "quote": (b"a,b\n1,2\n", ReadSettings('"'), "is not allowed"),
    "line": (b"a,b\n1,2\n", ReadSettings("\n"), "Separator line break is not allowed"),
    "not ASCII": (b"a,b\n1,2\n", ReadSettings("§"), "is not allowed"),
    "wrong": (b"a;b\n1;2\n", ReadSettings(","), "with ';' every line has 2 cells"),
    "header of one cell": (
        b"a\n1;2\n3\n4\n",
        ReadSettings(";"),
        "with the separator ';': the first",
    ),
    "tab": (b"a\tb\n1\t2\n", ReadSettings(";"), "with tab every line has 2 cells"),
    "no text encoding": (b"a,b\n1,2\n", ReadSettings(encoding="hex"), "'hex' is unknown"),
    "odd encoding": (b"a,b\n1,2\n", ReadSettings(encoding="a\0b"), "is unknown"),
    "not UTF-8": (b"a,b\n1,2\n\xe9,2\n", ReadSettings(encoding="utf-8"), "Line 3 of 't.csv'"),
    "not UTF-16": (b"a,b\n1,2\n3", ReadSettings(encoding="utf-16"), "encoding UTF-16"),
    "not UTF-32": (b"a,b\n1,2\n", ReadSettings(encoding="utf-32"), "encoding UTF-32"),
}


@pytest.mark.parametrize(("data", "settings", "part"), GIVEN.values(), ids=GIVEN)
def test_given_settings_are_checked(data, settings, part):
    with pytest.raises(TableError) as caught:
        read_table(data, "t.csv", settings)
    refused(caught.value, part)


BAD = {
    **{what: (data, "t.csv", part) for what, (data, part) in BAD_TEXT.items()},
    "damaged Parquet": (b"PAR1 nothing PAR1", "t.parquet", "cannot be read as Parquet"),
    "cut Feather": (feather({"a": [1]})[:-20], "t.arrow", "cannot be read as Feather"),
    "cut XLSX": (sheet([["a"], [1]])[:-100], "t.xlsx", "cannot be read as XLSX"),
    "Parquet as CSV": (parquet({"a": [1]}), "t.csv", "holds binary data"),
    "XLSX as CSV": (sheet([["a"], [1]]), "t.csv", "holds binary data"),
    **{
        f"year 12069 in {unit}": (
            parquet({"a": pa.array([318723120000 * each, 0], pa.timestamp(unit))}),
            "t.parquet",
            "'a' holds a date outside the years 1 to 9999",
        )
        for unit, each in {"s": 1, "ms": 1000, "us": 1000000}.items()
    },
    "a year of billions": (
        feather({"a": pa.array([2**62, None], pa.timestamp("s"))}),
        "t.feather",
        "years 1 to 9999",
    ),
    "a far moment in a zone": (
        feather({"a": pa.array([2**62, None], pa.timestamp("s", "Asia/Tokyo"))}),
        "t.feather",
        "years 1",
    ),
    "a far day": (parquet({"a": pa.array([2**30], pa.date32())}), "t.parquet", "years 1 to 9999"),
    "before the first year": (
        parquet({"a": pa.array([-(2**40)], pa.timestamp("s"))}),
        "t.parquet",
        "years 1 to 9999",
    ),
    "no rows": (parquet({"a": pa.array([], pa.int64())}), "t.parquet", "no records"),
    "blank twin": (parquet({"a": [1], " a": [2]}), "t.parquet", "more than one column"),
    "nameless": (parquet({"": [1]}), "t.parquet", "Column 1 of"),
    "sheet with twins": (sheet([["a", "a"], [1, 2]]), "t.xlsx", "more than one column called 'a'"),
    "sheet with no name": (sheet([["a"], [1, SECRET]]), "t.xlsx", "Column 2 of"),
    "no file name": (b"a,b\n1,2\n", None, "has to end with one of .csv, .txt"),
}


@pytest.mark.parametrize(("data", "name", "part"), BAD.values(), ids=BAD)
def test_bad_files_are_refused_in_one_sentence(data, name, part):
    with pytest.raises(TableError) as caught:
        read_table(data, name)
    refused(caught.value, part)


def test_the_last_day_of_all_is_a_date():
    """Many tables have it for "never"."""
    last = pd.Timestamp("9999-12-31").as_unit("s").to_datetime64().astype("int64").item()
    found = read_table(parquet({"a": pa.array([last, None, 0], pa.timestamp("s"))}), "t.parquet")
    assert encode_texts(found.table["a"])[1] == ["9999-12-31", "1970-01-01"]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_far_date_in_a_table_of_pandas_is_refused(zone):
    """Such a table was read by others."""
    days = pd.Series(np.array(["12069-12-31", "NaT"], dtype="datetime64[s]")).dt.tz_localize(zone)
    with pytest.raises(TableError) as caught:
        convert_to_table(pd.DataFrame({"born": days}))
    refused(caught.value, "'born' holds a date outside the years 1 to 9999")


def test_places_without_a_file(tmp_path):
    with pytest.raises(TableError, match=r"does not exist\.$"):
        read_table(tmp_path / "none.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(TableError, match=r"is a folder, not a file\.$"):
        read_table(folder)
    with pytest.raises(TableError, match=r"cannot be opened"):
        read_table(Path("a\0b.csv"))


def test_a_path_and_another_name(tmp_path):
    path = tmp_path / "upload.bin"
    path.write_bytes(b"a;b\n1;2\n")
    file = read_table(path, "people.csv")
    assert (file.name, rows(file)) == ("people.csv", [["1", "2"]])


TEXT = st.text(alphabet='ab,;"\n\r \té', max_size=40).map(str.encode)


@examples(4000)
@given(
    st.tuples(TEXT, st.sampled_from(["a.csv", "a.tsv"]))
    | st.tuples(st.binary(max_size=200), st.sampled_from(["a.csv", "a.arrow", "a.xlsx"]))
)
def test_any_bytes_give_a_table_or_a_sentence(upload):
    data, name = upload
    try:
        file = read_table(data, name)
    except TableError as error:
        assert "\n" not in error.sentence
    else:
        assert len(file.table) and len(file.table.columns)


# --- size ---------------------------------------------------------------------------------------
@pytest.mark.nightly
def test_records_across_blocks_stay_in_order(limits):
    limits(record_megabytes=1)  # a block is as long as a record may be
    chance = random.Random(1)
    cells = [[str(i), chance.choice(["x", "two\nlines", 'q"q', ""])] for i in range(120_000)]
    text = "n,t\n" + "".join(
        f'{n},"{t.replace(chr(34), chr(34) * 2)}"\n' if t else f"{n},\n" for n, t in cells
    )
    file = read_table((text + "\n" * 5).encode(), "t.csv", ReadSettings(missing_markers=()))
    assert file.table.fillna("").to_numpy().tolist() == cells
    long = text + "x" * 10 + "\n"
    with pytest.raises(TableError, match=r"has 1 cell where the header has 2\.$"):
        read_table(long.encode(), "t.csv")
