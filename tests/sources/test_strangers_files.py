"""Files as strangers write them: each is read as a person reads it, or refused with the way out."""

import io

import pandas as pd
import pytest

from kanon.cli.main import main
from kanon.errors import TableError, UnclearHeader
from kanon.sources.addresses import Address
from kanon.sources.opening import open_stored_file
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from support.bad_inputs import sheet

NAMES, RECORD = ReadSettings(header=True), ReadSettings(header=False)
AGES = [["34", "M"], ["71", "F"]]

READ = {
    # Lines of separators, as Excel and Numbers save deleted rows.
    "lines of commas at the end": ("age,sex\n34,M\n71,F\n,\n,\n", ["age", "sex"], AGES),
    "a line of semicolons": ("age;sex\n34;M\n;\n71;F\n", ["age", "sex"], AGES),
    "a line of tabs": ("age\tsex\n34\tM\n\t\n71\tF\n", ["age", "sex"], AGES),
    "blanks between separators": ("age,sex\n34,M\n , \n71,F\n", ["age", "sex"], AGES),
    "quotes around nothing": ('age,sex\n34,M\n"",""\n71,F\n', ["age", "sex"], AGES),
    "more separators than columns": ("age,sex\n34,M\n,,,\n71,F\n", ["age", "sex"], AGES),
    "fewer separators than columns": (
        "age,sex,ill\n34,M,flu\n,\n71,F,flu\n",
        ["age", "sex", "ill"], [["34", "M", "flu"], ["71", "F", "flu"]],
    ),
    "nothing but a blank": ("age,sex\n34,M\n \n71,F\n", ["age", "sex"], AGES),
    "separators above the header": (",\n,\nage,sex\n34,M\n71,F\n", ["age", "sex"], AGES),
    "empty lines above the header": ("\n\n,\nage,sex\n34,M\n71,F\n", ["age", "sex"], AGES),
    "separators with CRLF": ("age,sex\r\n34,M\r\n,\r\n71,F\r\n,", ["age", "sex"], AGES),
    "a record of one cell": ("age,sex\n34,\n,F\n", ["age", "sex"], [["34", None], [None, "F"]]),
    "a marker is a cell": ("age,sex\n34,M\n?,?\n", ["age", "sex"], [["34", "M"], [None, None]]),
    # A first column without a name.
    "as pandas writes an index": (",age,sex\n0,34,M\n1,71,F\n",
                                  ["column 1", "age", "sex"], [["0", *AGES[0]], ["1", *AGES[1]]]),
    "as R writes row names": ('"","age","sex"\n"a",34,"M"\n"b",71,"F"\n',
                              ["column 1", "age", "sex"], [["a", *AGES[0]], ["b", *AGES[1]]]),
    "R's write.table": ('"age" "sex"\n"1" 34 "M"\n"2" 71 "F"\n',
                        ["column 1", "age", "sex"], [["1", *AGES[0]], ["2", *AGES[1]]]),
    "one name fewer, with commas": ("age,sex\nx,34,M\ny,71,F\n",
                                    ["column 1", "age", "sex"], [["x", *AGES[0]], ["y", *AGES[1]]]),
    "one name fewer below blanks": (",\nage,sex\nx,34,M\ny,71,F\n",
                                    ["column 1", "age", "sex"], [["x", *AGES[0]], ["y", *AGES[1]]]),
    "another column has that name": (",column 1,sex\na,34,M\nb,71,F\n",
                                     ["column 1'", "column 1", "sex"],
                                     [["a", *AGES[0]], ["b", *AGES[1]]]),
    # Excel's own first line.
    "sep= with semicolons": ("sep=;\nage;sex\n34;M\n71;F\n", ["age", "sex"], AGES),
    "sep= with commas in cells": ("sep=;\nname;sex\na, b;M\nc, d;F\n",
                                  ["name", "sex"], [["a, b", "M"], ["c, d", "F"]]),
    "SEP= in quotes": ('"SEP=|"\r\nage|sex\r\n34|M\r\n71|F\r\n', ["age", "sex"], AGES),
    "sep= with a mark": ("\ufeffsep=,\nage,sex\n34,M\n71,F\n", ["age", "sex"], AGES),
    # Names that look odd, and are names.
    "years as names": ("id,2019,2020\n7,1,2\n8,3,4\n",
                       ["id", "2019", "2020"], [["7", "1", "2"], ["8", "3", "4"]]),
    "days as names": ("id,2020-01-01,2020-01-02\n1,5,6\n2,5,7\n",
                      ["id", "2020-01-01", "2020-01-02"], [["1", "5", "6"], ["2", "5", "7"]]),
    "a value called as its column": ("age,city\n34,Bonn\n35,city\n",
                                     ["age", "city"], [["34", "Bonn"], ["35", "city"]]),
    "the header again": ("a,b\nx,y\na,b\nz,y\n", ["a", "b"], [["x", "y"], ["a", "b"], ["z", "y"]]),
    "words above words": ("name,city\nAda,Bonn\nBen,Kiel\n",
                          ["name", "city"], [["Ada", "Bonn"], ["Ben", "Kiel"]]),
    "item numbers above answers": ("q1,q2\n3,5\n4,1\n", ["q1", "q2"], [["3", "5"], ["4", "1"]]),
    "a code in one record": ("age,x1\n34,a2\n35,a3\n", ["age", "x1"], [["34", "a2"], ["35", "a3"]]),
}  # fmt: skip

UNCLEAR = {
    "numbers": "28,M,Bonn\n51,F,Bonn\n44,M,Kiel\n",
    "only numbers": "1,2,3\n4,5,6\n",
    "numbers that repeat": "0,0,1\n0,1,1\n",
    "a date above dates": "Ada,2020-01-02\nBen,2021-03-04\n",
    "a value that occurs again": "Ada,F\nBen,M\nEve,F\n",
    "a code above codes": "K21.0,flu\nJ45.1,cold\nI10.9,none\n",
    "an address of mail": "ada@x.org,Bonn\nben@y.org,Kiel\n",
    "a missing cell among values": "?,M,Bonn\n51,F,Bonn\n44,M,Kiel\n",
    "a word for missing": "unknown,M,Bonn\n51,F,Bonn\n44,M,Kiel\n",
    "two cells alike": "flu,flu,Bonn\ncold,none,Kiel\n",
    "decimals with a comma": "1,5;Ada;x\n2,5;Ben;y\n",
    "one column": "34\n35\n36\n",
}


@pytest.mark.parametrize(("text", "names", "expected"), READ.values(), ids=READ)
def test_it_is_read_as_a_person_reads_it(text, names, expected):
    separator = " " if text.startswith('"age" ') else None
    table = read_table(text.encode(), "t.csv", ReadSettings(separator=separator)).table
    assert list(table.columns) == names
    assert table.astype(object).where(table.notna(), None).to_numpy().tolist() == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["duckdb"])
@pytest.mark.parametrize("which", [name for name in READ if "R's" not in name])
def test_an_engine_reads_it_alike(tmp_path, which, engine):
    text, names, expected = READ[which]
    (tmp_path / "t.csv").write_text(text, "utf-8", newline="")
    try:
        opened = open_stored_file(Address(str(tmp_path / "t.csv")), engine)
    except TableError as error:  # what it cannot read, it says, and nothing else
        assert "separators than" in which or "nothing but a blank" in which
        assert "where the header has" in str(error)
        return
    assert list(opened.records.columns) == names
    assert opened.records.n_records == len(expected)
    head = opened.records.head(10)
    assert head.astype(object).where(head.notna(), None).to_numpy().tolist() == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", UNCLEAR.values(), ids=UNCLEAR)
def test_a_first_line_that_reads_as_a_record_is_asked_about(text, tmp_path):
    with pytest.raises(UnclearHeader, match=r"seems to be a record: .* --header yes or no"):
        read_table(text.encode(), "t.csv")
    separator = ";" if ";" in text else ","
    frame = pd.read_csv(io.StringIO(text), header=None, dtype=str, sep=separator)
    table = read_table(text.encode(), "t.csv", RECORD).table
    assert list(table.columns) == [f"column {place + 1}" for place in range(frame.shape[1])]
    assert len(table) == len(frame)
    assert table.fillna("?").to_numpy().tolist() == frame.to_numpy().tolist()
    (tmp_path / "t.csv").write_text(text, "utf-8")
    if frame.shape[1] > 1:
        with pytest.raises(UnclearHeader):
            open_stored_file(Address(str(tmp_path / "t.csv")), "duckdb")
        stored = open_stored_file(Address(str(tmp_path / "t.csv")), "duckdb", RECORD).records
        assert stored.n_records == len(frame)


def test_two_equal_names_are_a_record_or_a_mistake():
    with pytest.raises(UnclearHeader, match="its cell 1 occurs twice in that line"):
        read_table(b"a,a\nb,c\n", "t.csv")
    for settings, text in ((NAMES, b"a,a\nb,c\n"), (None, b"age,age\n1,2\n")):
        with pytest.raises(TableError, match="more than one column called 'a"):
            read_table(text, "t.csv", settings)
    assert read_table(b"a,a\nb,c\n", "t.csv", RECORD).table.shape == (2, 2)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_records_without_a_value_are_none_in_any_format(kind, tmp_path):
    frame = pd.DataFrame({"age": [34.5, None, 71], "sex": ["M", " ", "F"], "n": [1, None, None]})
    path = tmp_path / f"t.{kind}"
    getattr(frame, f"to_{kind}")(path)
    file = read_table(path)
    assert file.records.n_records == 2 and "1 empty record was skipped." in file.found
    if kind == "parquet":
        opened = open_stored_file(Address(str(path)), "duckdb")
        assert opened.records.n_records == 2 and "1 empty record was skipped." in opened.found


def test_a_sheet_without_a_header_is_asked_about():
    with pytest.raises(UnclearHeader, match="a number above numbers in column 1"):
        read_table(sheet([28, "M"], [51, "F"]), "t.xlsx")
    table = read_table(sheet([28, "M"], [51, "F"]), "t.xlsx", RECORD).table
    assert table.to_numpy().tolist() == [[28, "M"], [51, "F"]]
    assert list(read_table(sheet([None, "age"], ["a", 3]), "t.xlsx").table) == ["column 1", "age"]


def test_what_is_read_otherwise_is_said():
    found = read_table(b"sep=;\n;age\na;34\n;\nb;35\n", "t.csv").found
    assert "The first column has no name: it is called 'column 1'." in found
    assert "1 empty record was skipped." in found


def test_the_command_line_asks_and_takes_the_answer(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("28,M\n51,F\n28,M\n51,F\n", "utf-8")
    given = ["measure", "--table", str(table), "--json", "--qi"]
    assert main([*given, "column 1,column 2"]) == 2
    assert "--header yes or no" in capsys.readouterr().err
    assert main([*given, "column 1,column 2", "--header", "no"]) == 0
    assert '"records": 4' in capsys.readouterr().out
    assert main([*given, "28,M", "--header", "yes"]) == 0
    assert '"records": 3' in capsys.readouterr().out
