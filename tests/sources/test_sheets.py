"""Sheets as people make them: formats of codes, long numbers, two header rows, totals and notes."""

import io
import re
import zipfile

import pandas as pd
import pytest
import xlsxwriter

from kanon.errors import TableError
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.sheet_rows import count_footer
from kanon.sources.sheets import write_by_format
from support.bad_inputs import parquet


def sheet(*rows, formats=()):
    """A sheet whose columns have number formats, from the first one on."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        page = book.add_worksheet("People & more")
        styles = [book.add_format({"num_format": code}) for code in formats]
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                if cell is not None:
                    page.write(r, c, cell, *styles[c : c + 1])
    return buffer.getvalue()


def rewritten(content, part, change):
    """An XLSX with one of its parts changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, change(text) if name == part else text)
    return out.getvalue()


# --- formats of codes ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (1067, "00000", "01067"),
        (10671, "00000", "10671"),
        (123456, "00000", "123456"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1234567, "000-00-0000", "001-23-4567"),
        (672030042, "00000-0000", "67203-0042"),
        (5551234, "[<=9999999]###-####;(###) ###-####", "555-1234"),
        (3035551234, "[<=9999999]###-####;(###) ###-####", "(303) 555-1234"),
        (1067, '"D-"00000', "D-01067"),
        (1067, "\\D\\-00000", "D-01067"),
        (7, "[$-407]00000;@", "00007"),
        (930, '00":"00', "09:30"),
        (-5, "000", "-005"),
        (-5, "000;(000)", "(005)"),
        (4111, "0000 0000", "0000 4111"),
        *((1234, code, None) for code in ("0", "0.00", "#,##0", "# ##0", "0%", "00.00", "General")),
        *(
            (70, code, None)
            for code in ('0" kg"', "0.00E+00", "# ?/?", "@", "", "[$€-2] 0", "yyyy")
        ),
    ],
)
def test_a_number_is_shown_by_its_format(number, code, shown):
    assert write_by_format(number, code) == shown


def test_codes_of_a_sheet_are_read_as_shown():
    rows = [["zip", "ssn", "year", "age"], [1067, 1234567, 2021, 39], [None, 123456789, 2022, 40]]
    file = read_table(sheet(*rows, formats=["00000", "000-00-0000", "0000", "0"]), "t.xlsx")
    assert file.table["zip"].tolist()[0] == "01067" and file.missing == {"zip": 1}
    assert file.table["ssn"].tolist() == ["001-23-4567", "123-45-6789"]
    assert file.table["year"].dtype == file.table["age"].dtype == "int64"
    assert (
        "These columns were read as the sheet shows them, not as numbers: 'zip', 'ssn'."
        in file.found
    )


def test_cells_with_a_format_and_texts_are_one_column():
    rows = [["zip", "ill"], [1067, "a"], ["01067", "b"], ["01099", "c"]]
    file = read_table(sheet(*rows, formats=["00000"]), "t.xlsx")
    assert file.table["zip"].tolist() == ["01067", "01067", "01099"]
    assert not any("two ways" in sentence for sentence in file.found)


def test_cells_without_places_and_with_prefixes_are_found():
    """As other programs than Excel write them."""
    content = sheet(["zip", "ill"], [1067, "a"], [10671, "b"], formats=["00000", "00000"])
    part = "xl/worksheets/sheet1.xml"
    bare = rewritten(content, part, lambda xml: re.sub(rb' r="[A-Z]*[0-9]+"', b"", xml))
    assert read_table(bare, "t.xlsx").table["zip"].tolist() == ["01067", "10671"]


def test_entities_in_the_styles_of_a_sheet_are_refused():
    content = sheet(["zip"], [1067], formats=["00000"])
    bomb = b'<!DOCTYPE s [<!ENTITY a "aaaa">]>'
    bad = rewritten(
        content, "xl/styles.xml", lambda xml: xml.replace(b"<styleSheet", bomb + b"<styleSheet")
    )
    with pytest.raises(TableError, match="cannot be read as XLSX"):
        read_table(bad, "t.xlsx")


# --- long numbers -------------------------------------------------------------------------------
@pytest.mark.parametrize("texts", [
    ["9007199254740992", "9007199254740993", "9007199254740994"],
    ["12345678901234567891", "12345678901234567892", "7"],
    ["9007199254740993", "9007199254740992", "1.5"],
])  # fmt: skip
def test_long_numbers_of_a_sheet_stay_apart(texts):
    content = sheet(["id", "ill"], [1, "a"], [2, "b"], [3, "c"])

    def change(xml):
        for place, text in enumerate(texts, 1):
            xml = xml.replace(
                b'<v>%d</v></c><c r="B' % place, b'<v>%b</v></c><c r="B' % text.encode()
            )
        return xml

    file = read_table(rewritten(content, "xl/worksheets/sheet1.xml", change), "t.xlsx")
    assert file.table["id"].map(str).tolist() == texts
    assert file.records.count_distinct("id").values == 3


@pytest.mark.parametrize(
    ("content", "name", "is_said"),
    [
        (sheet(["id", "n"], [1234567890123450, 1], [1234567890123460, 2]), "t.xlsx", True),
        (sheet(["id", "n"], [123456789012345, 1], [123456789012346, 2]), "t.xlsx", False),
        (sheet(["id", "n"], [1.2345678901234e19, 1], [2.0, 2]), "t.xlsx", True),
        (parquet({"id": [9007199254740993.0, 1.0]}), "t.parquet", True),
        (parquet({"id": [2**53 + 1, 2**53]}), "t.parquet", False),
        (parquet({"id": [1700000000000000000, 1700000000000001000]}), "t.parquet", False),
        (b"id;n\n1,23457E+19;1\n1,23458E+19;2\n", "t.csv", True),
        (b"id;n\n12345678901234567891;1\n12345678901234567892;2\n", "t.csv", False),
        (b"id;n\n1.5e3;1\n2;2\n", "t.csv", False),
    ],
)
def test_numbers_that_may_have_lost_digits_are_said(content, name, is_said):
    file = read_table(content, name)
    said = [sentence for sentence in file.notices if "more than 15 digits" in sentence]
    assert len(said) == is_said
    assert all("'id'" in sentence and "'n'" not in sentence for sentence in said)


# --- two header rows ----------------------------------------------------------------------------
PEOPLE = [["Ana", 30, 60], ["Ben", 41, 80], ["Eve", 19, 55]]


@pytest.mark.parametrize(
    ("above", "names", "said"),
    [
        ([["name", "age", "weight"]], ["name", "age", "weight"], ""),
        ([["name", "age", "weight"], [None, "years", "kg"]], ["name", "age", "weight"],
         "The row below the names was left out"),
        ([["Person", None, "Visit"], ["name", "age", "weight"]], ["name", "age", "weight"],
         "Rows 1 and 2 hold the names of the columns."),
        ([["Person", "Before", None], [None, "kg", "kg "]], ["Person", "Before kg", "Before kg 2"],
         None),
        ([["Person", "Age", "Body"], ["name", "age", "weight"]], ["Person", "Age", "Body"],
         "The row below the names was left out"),
        ([["id", "Age", "Age"], [None, "first", "last"]], ["id", "first", "last"],
         "Rows 1 and 2 hold the names of the columns."),
        ([["id", "2020", None], [None, "min", "max"]], ["id", "min", "max"],
         "Rows 1 and 2 hold the names of the columns."),
    ],
)  # fmt: skip
def test_two_header_rows(above, names, said):
    content = sheet(*above, *PEOPLE)
    if said is None:
        with pytest.raises(TableError, match="more than one column called 'Before kg'"):
            read_table(content, "t.xlsx")
        return
    file = read_table(content, "t.xlsx")
    assert list(file.table) == names
    assert file.table.to_numpy().tolist() == PEOPLE
    assert file.table[names[1]].dtype == "int64"
    assert any(sentence.startswith(said) for sentence in file.found) or not said


def test_groups_above_names_that_repeat_make_them_differ():
    groups = ["", "", "2020", "", "2021", ""]
    names = ["id", "town", "m", "f", "m", "f"]
    rows = [[n, "Kiel", n, n + 1, n + 2, n + 3] for n in range(4)]
    file = read_table(sheet(groups, names, *rows), "t.xlsx")
    assert list(file.table) == ["id", "town", "2020 m", "2020 f", "2021 m", "2021 f"]
    assert file.table.to_numpy().tolist() == rows
    assert "Rows 1 and 2 hold the names of the columns." in file.found


@pytest.mark.parametrize("first", [
    ["Ana", "n/a", "unknown"], ["Ana", "", ""], ["Ana", ">90", "55"], ["Ana", 30, "kg"],
])  # fmt: skip
def test_a_record_is_no_second_header(first):
    file = read_table(sheet(["name", "age", "weight"], first, *PEOPLE), "t.xlsx")
    assert len(file.table) == 4
    texts = [["name", "town"], ["Ana", "Kiel"], ["Ben", "Bonn"], ["Eve", "Kiel"]]
    assert len(read_table(sheet(*texts), "t.xlsx").table) == 3


# --- totals and notes ---------------------------------------------------------------------------
NOTE = ["Source: ward 3", None, None]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("below", "rows"),
    [
        ([], 0),
        ([["Total", 90, 195]], 1),
        ([["Total:", 90, None]], 1),
        ([["Summe", None, 195], NOTE], 2),
        ([["TOTAL", 3, 3], NOTE, ["* provisional", None, None]], 3),
        ([NOTE], 1),
        ([[None, 90, 195]], 1),
        ([[None, 31, 62]], 0),  # blank where others are filled, and no sum
        ([["Durchschnitt", 30, 65]], 1),
        ([["Toto", 90, 195]], 0),
        ([["Zoe", None, 50]], 0),
        ([[None, 7, None]], 0),  # a number alone is no note
        ([[None, "7", None]], 0),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_totals_and_notes_at_the_end_are_noticed(below, rows, kind):
    table = [["name", "age", "weight"], *PEOPLE, *below]
    text = "\n".join(";".join("" if c is None else str(c) for c in row) for row in table)
    content = sheet(*table) if kind == "xlsx" else text.encode()
    file = read_table(content, f"t.{kind}")
    assert file.footer_like == rows and len(file.table) == 3 + len(below)
    assert sum("read.footer" in sentence for sentence in file.notices) == (rows > 0)
    kept = read_table(content, f"t.{kind}", ReadSettings(footer=0))
    assert kept.footer_like == 0 and not any("footer" in one for one in kept.notices)
    if rows:
        settled = read_table(content, f"t.{kind}", ReadSettings(footer=rows))
        assert settled.table.to_numpy().astype(str).tolist() == [list(map(str, p)) for p in PEOPLE]
        assert settled.settings.footer == rows and settled.footer_like == 0
        assert any("left out, as requested" in sentence for sentence in settled.notices)


def test_records_with_one_cell_are_no_notes():
    sparse = [["a", None, None], ["b", 1, 2], ["c", None, None]]
    assert count_footer(pd.DataFrame(sparse)) == 0


@pytest.mark.parametrize(
    ("below", "rows"),
    [
        ("Source: ward 3\n", 1),
        ("\nTotal;90;195\n\nSource: ward 3; 2021\n", 2),
        ("Created by the ward\r\n", 1),
        ("* provisional", 1),
    ],
)
def test_notes_of_fewer_cells_are_no_broken_records(below, rows):
    text = "name;age;weight\n" + "".join(f"{a};{b};{c}\n" for a, b, c in PEOPLE) + below
    file = read_table(text.encode(), "t.csv")
    assert file.footer_like == rows
    settled = read_table(text.encode(), "t.csv", ReadSettings(footer=rows))
    assert settled.table["name"].tolist() == ["Ana", "Ben", "Eve"]


@pytest.mark.parametrize("below", ["Zoe;7\n", "8\n", '"Source: ward 3"\n', "Zoe;7;8;9\n"])
def test_a_record_of_fewer_cells_is_refused(below):
    with pytest.raises(TableError, match="where the header has 3"):
        read_table(b"name;age;weight\nAna;30;60\nBen;41;80\n" + below.encode(), "t.csv")


def test_no_record_may_be_left():
    with pytest.raises(TableError, match="2 rows below its header, but 2 at the end"):
        read_table(b"a,b\n1,2\n3,4\n", "t.csv", ReadSettings(footer=2))
