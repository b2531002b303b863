"""Writing tables: what is written is what is read again."""

import datetime
import decimal
import io
import os
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon.base.values import convert_to_text
from kanon.errors import TableError
from kanon.sources.arrow_tables import build_arrow_table
from kanon.sources.formats import FORMATS, read_back
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.text_form import TextForm
from kanon.sources.writing import explain_unwritable, table_bytes, write_whole
from support.random_tables import examples
from support.table_files import write_table

# No NUL (a file with one is refused), no halves of a pair (they have no UTF-8).
LETTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from(
    list(" ,;\t|\"'\n\r=é€漢🙂_<>&")
)
CELLS = st.none() | st.text(LETTERS, max_size=8).filter(lambda text: text.strip())
# A row without any value is no record.
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(CELLS, min_size=width, max_size=width).filter(any), min_size=1, max_size=5
    )
)


def again(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    separator = {"csv": ",", "tsv": "\t"}.get(kind)
    encoding = "utf-8" if separator else None
    known = ReadSettings(separator, encoding, missing_markers=("",), header=True)
    return read_table(table_bytes(table, kind), f"t.{kind}", known).table


def cells(table: pd.DataFrame) -> list[list[object]]:
    plain = table.astype(object).to_numpy().tolist()
    return [[None if pd.isna(value) else value for value in row] for row in plain]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", FORMATS)
@examples(100)
@given(rows=TABLES)
@example(rows=[["a", " x"], ["b", " y"]])
@example(rows=[[None, "a"], ["b", None]])
@example(rows=[[None, None, "0"], ["AA", None, None]])
@example(rows=[["a\rb"], ["\ufeff"]])
@example(rows=[["_x0041_", "\x01"]])
def test_text_comes_back_as_it_was(kind, rows):
    if kind == "xlsx":  # a sheet has no rows without a cell
        rows = [["id", *row] for row in rows]
    table = pd.DataFrame(rows, columns=[f"c{i}" for i in range(len(rows[0]))], dtype="str")
    # XML has no such characters.
    if kind == "xlsx" and any(c and ("\ufffe" in c or "\uffff" in c) for row in rows for c in row):
        return
    if kind == "sav":  # SPSS fills texts with blanks
        rows = [[cell and cell.rstrip(" ") for cell in row] for row in rows]
    assert cells(again(table, kind)) == rows


@examples(100)
@given(rows=TABLES, separator=st.sampled_from(",;|\t: "), mark=st.booleans(), crlf=st.booleans())
def test_every_separator_mark_and_line_end(rows, separator, mark, crlf):
    table = pd.DataFrame(rows, columns=[f"c{i}" for i in range(len(rows[0]))], dtype="str")
    form = TextForm(separator, "utf-8-sig" if mark else "utf-8", "\r\n" if crlf else "\n")
    content = table_bytes(table, "csv", form)
    file = read_table(content, "t.csv", ReadSettings(separator, "utf-8", ("",), header=True))
    assert cells(file.table) == rows
    assert table_bytes(file.table, "csv", file.form) == content, "it is found and kept"
    header, again = read_back(content, "csv", separator, form.encoding)
    assert header == list(table.columns)
    found = [[cell or None for cell in column.to_pylist()] for column in again]
    assert found == [[cell or None for cell in column] for column in zip(*rows, strict=True)]


def test_a_found_separator_reads_what_was_written():
    table = pd.DataFrame({"zip": ["007", "1.10"], "note": ["a,b;c", "<script>=1+1</script>"]})
    for kind in FORMATS:
        assert cells(read_table(table_bytes(table, kind), f"t.{kind}").table) == cells(table)


def test_csv_is_plain():
    table = pd.DataFrame({"a": ["x", None], "n": pd.array([1, None], "Int64"), "q": ['"', "y;z"]})
    assert table_bytes(table, "csv") == b'a,n,q\nx,1,""""\n,,y;z\n'
    assert table_bytes(table, "csv", TextForm(";")) == b'a;n;q\nx;1;""""\n;;"y;z"\n'
    assert table_bytes(table, "tsv") == b'a\tn\tq\nx\t1\t""""\n\t\ty;z\n'


def test_the_index_is_not_written():
    table = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["Jane", "Joe"], name="who"))
    for kind in FORMATS:
        file = read_table(table_bytes(table, kind), f"t.{kind}")
        assert list(file.table.columns) == ["a"]
        assert [convert_to_text(value) for value in file.table["a"]] == ["1", "2"]


class Odd:
    def __str__(self) -> str:
        return "odd"


UTC, EAST = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))


def moment(zone, hour=10):
    return datetime.datetime(2020, 1, 2, hour, 4, tzinfo=zone)


MIXED = {
    "zones": [moment(UTC), moment(EAST), None],
    "one moment in two zones": [moment(UTC, 8), moment(EAST)],
    "zones and none": [moment(UTC), moment(None)],
    "zones and days": [datetime.date(2020, 1, 2), moment(EAST)],
    "stamps of zones": [pd.Timestamp(moment(UTC)), pd.Timestamp(moment(EAST))],
    "hours of zones": [moment(UTC).timetz(), moment(EAST).timetz()],
    "one zone": [moment(EAST), None],
    "numbers and text": [1, "x", 2.0, None],
    "numbers in text": [39.0, "39", 1.5],
    "truth and numbers": [True, 1, 1.5],
    "truth": [True, False, None],
    "days and moments": [datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4)],
    "days": [datetime.date(2020, 1, 2), None],
    "early days": [datetime.date(1850, 1, 2), None],
    "days and text": [datetime.date(2020, 1, 2), "x"],
    "huge": [2**70, 1],
    "long": [1234567890123456789, 1],
    "long and text": [1234567890123456789, "x"],
    "decimals": [decimal.Decimal("1.25"), None],
    "anything": [Odd(), "x"],
    "hour": [datetime.time(3, 4), None],
    "numpy": [np.int64(3), np.float64(2.5), "x"],
    "endless": [float("inf"), 1.0],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("values", MIXED.values(), ids=MIXED)
def test_mixed_columns_keep_their_texts(kind, values):
    table = pd.DataFrame({"id": range(len(values)), "v": pd.Series(values, dtype=object)})
    got = again(table, kind)["v"]
    want = [None if value is None else convert_to_text(value) for value in values]
    assert [None if pd.isna(value) else convert_to_text(value) for value in got] == want


@pytest.mark.parametrize("kind", FORMATS)
def test_other_dtypes(kind):
    table = pd.DataFrame(
        {
            "id": ["a", "b"],
            "group": pd.Categorical(["x", None]),
            "moment": pd.to_datetime(["2020-01-02 03:04:05", None]),
            "there": pd.to_datetime(["2020-01-02 03:04:05", None]).tz_localize("UTC"),
            "span": pd.to_timedelta([1, 2], unit="D"),
            "month": pd.period_range("2020-01", periods=2, freq="M"),
            "whole": pd.array([1, None], "Int64"),
            "yes": pd.array([True, None], "boolean"),
            "gone": [None, None],
            "no_text": pd.array([None, None], "str"),
            "no_string": pd.array([None, None], "string"),
            "no_group": pd.Categorical([None, None]),
            "nothing": pd.array([None, None], pd.ArrowDtype(pa.null())),
        }
    )
    got = again(table, kind)
    assert list(got.columns) == list(table.columns)
    for name in table.columns:
        texts = [
            [None if pd.isna(value) else convert_to_text(value) for value in frame[name]]
            for frame in (table, got)
        ]
        if kind in ("csv", "tsv") and name == "span":
            texts[1] = [str(pd.Timedelta(text)) for text in texts[1]]
        assert texts[0] == texts[1], name


def test_excel_runs_nothing():
    table = pd.DataFrame({"=1+1": ["=cmd|' /C calc'!A0", "http://example.org"]})
    content = table_bytes(table, "xlsx")
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        page = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in page and "hyperlink" not in page


def test_a_sheet_does_not_tell_when_it_was_made():
    with zipfile.ZipFile(io.BytesIO(table_bytes(pd.DataFrame({"a": [1]}), "xlsx"))) as book:
        about = book.read("docProps/core.xml").decode()
        days = {member.date_time[:3] for member in book.infolist()}
    told = set(re.findall(r"\d{4}-\d\d-\d\d", about))
    assert told == {"1980-01-01"} and days == {(1980, 1, 1)}


def test_too_much_for_a_sheet():
    with pytest.raises(TableError, match=r"1,048,576 records .* does not fit on a sheet"):
        table_bytes(pd.DataFrame({"a": np.zeros(1_048_576, dtype=int)}), "xlsx")
    with pytest.raises(TableError, match=r"Column 'a' has a cell of more than 32,767") as caught:
        table_bytes(pd.DataFrame({"a": ["secret" * 6000]}), "xlsx")
    assert "secret" not in caught.value.sentence
    assert (
        explain_unwritable("xlsx", lambda: pd.DataFrame(index=range(1_048_575), columns=["a"]))
        is None
    )


@pytest.mark.parametrize(
    ("value", "changed"),
    [
        (10**15 - 1, False),
        (10**15, True),
        (-(10**15), True),
        (datetime.date(1900, 3, 1), False),
        (datetime.date(1900, 2, 28), True),
    ],
)
@pytest.mark.parametrize("missing", [[], [None]])
def test_a_sheet_has_as_text_what_excel_would_change_and_nothing_else(value, changed, missing):
    table = pd.DataFrame({"a": pd.Series([value, *missing], dtype=object)})
    content = io.BytesIO(table_bytes(table, "xlsx"))
    (cell, *_) = pd.read_excel(content, dtype=object, engine="calamine")["a"]
    assert isinstance(cell, str) is changed


@pytest.mark.parametrize(
    ("values", "kind"), [([1, None], "int64"), ([True, None], "bool"), ([1, "x"], "string")]
)
def test_objects_of_one_type_keep_it_in_parquet_and_feather(values, kind):
    made = build_arrow_table(pd.DataFrame({"a": pd.Series(values, dtype=object)}))
    assert str(made.schema.field("a").type).removeprefix("large_") == kind


def test_a_file_beyond_what_is_allowed_or_write_protected_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "released.csv"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(TableError, match="write-protected: choose another name"):
        write_whole(b"new", path)
    path.chmod(0o644)
    monkeypatch.setattr("kanon.sources.limits.get_byte_limit", lambda _: 2)
    with pytest.raises(TableError, match="release_megabytes"):
        write_whole(b"new", path)
    assert path.read_bytes() == b"old"


def test_bad_kinds_and_separators():
    table = pd.DataFrame({"a": [1]})
    with pytest.raises(TableError, match=r"Kind 'docx' is unknown: choose from csv, tsv"):
        table_bytes(table, "docx")
    with pytest.raises(TableError, match=r"Separator '::' is not allowed"):
        table_bytes(table, "csv", TextForm("::"))


@pytest.mark.parametrize("ending", [end for its in FORMATS.values() for end in its.endings])
def test_files(tmp_path, ending):
    path = tmp_path / f"released{ending}"
    path.write_bytes(b"old")
    write_table(pd.DataFrame({"a": ["x"], "b": ["y"]}), path)
    assert cells(read_table(path).table) == [["x", "y"]]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_nothing_half_written_stays(tmp_path, monkeypatch):
    path = tmp_path / "released.csv"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(TableError, match=r"cannot be written: no space left on device\.$"):
        write_table(pd.DataFrame({"a": [1]}), path)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["released.csv"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_file_that_is_replaced_keeps_its_rights(tmp_path, mode, monkeypatch):
    """Whoever shut a file for others has its new content shut too, from the first byte on."""
    path = tmp_path / "released.csv"
    path.write_bytes(b"old")
    path.chmod(mode)
    seen, chmod = [], Path.chmod

    def watched(part: Path, wanted: int) -> None:
        seen.append(part.stat().st_size)
        chmod(part, wanted)

    monkeypatch.setattr(Path, "chmod", watched)
    write_table(pd.DataFrame({"a": ["x"]}), path)
    assert path.read_bytes() == b"a\nx\n" and path.stat().st_mode & 0o777 == mode
    assert seen == [0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="such a system has no pipes with names")
def test_a_pipe_is_not_replaced(tmp_path):
    path = tmp_path / "a.csv"
    os.mkfifo(path)
    with pytest.raises(TableError, match="a pipe or a device, not a file: choose"):
        write_table(pd.DataFrame({"a": [1]}), path)
    assert path.is_fifo() and [file.name for file in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("name", ["a.docx", "a", "folder/a.csv"])
def test_places_that_cannot_be(tmp_path, name):
    with pytest.raises(TableError, match=r"has to end with one of \.csv|cannot be written"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a.csv").mkdir()  # a folder in the way
    with pytest.raises(TableError, match="cannot be written"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "a.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]
