"""The command line: exit statuses, one line on standard error, and nothing written on failure."""

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from collections import Counter

import pandas as pd
import pytest

from kanon.algorithms import gaa
from kanon.cli.main import main
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.files import create_study_inputs, write_study
from kanon.experiments.simulated.study import RUNS, create_study, list_missing_runs
from kanon.plan import Plan
from kanon.run import prepare
from support.command_line import PLAN, RELEASED, RUN, TABLE, Said, check_failure, files, write_plan
from support.paths import ROOT
from support.plans import qi, qi_with
from support.table_files import write_table


def test_a_mistake_of_its_own_is_told_without_its_text(kanon, monkeypatch):
    """The text of an exception can hold a cell."""
    monkeypatch.delenv("KANON_TRACEBACK", raising=False)
    monkeypatch.setattr("kanon.cli.run.run", lambda *_: int("SECRET"))
    said = kanon(*RUN)
    check_failure(said, 1, ["ValueError at ", "test_command_line.py:", "report this line"])
    assert "SECRET" not in said.err
    monkeypatch.setenv("KANON_TRACEBACK", "1")
    said = kanon(*RUN)
    assert said.status == 1 and "ValueError: invalid literal" in said.err and "SECRET" in said.err


# --- run ----------------------------------------------------------------------------------------
def test_run_writes_the_release_and_says_what_it_did(kanon, folder):
    said = kanon(*RUN)
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith("6 records; 3 classes, the smallest of 2 records; alteration ")
    assert said.out.endswith("% of all that could be lost (NCP)\n")
    assert said.out.count("\n") == 1
    rows = list(csv.reader(io.StringIO((folder / "released.csv").read_text("utf-8"))))
    assert rows == [["age", "sex", "disease"], *RELEASED]
    assert (folder / "people.csv").read_text("utf-8") == TABLE


@pytest.mark.parametrize("more", [(), ("--seed", "3")])
def test_a_plan_of_version_1_runs_and_one_line_names_what_changed(kanon, folder, more):
    write_plan(folder, version=1)
    said = kanon(*RUN, *more)
    assert said.status == 0 and (folder / "released.csv").exists()
    assert said.err.startswith("kanon: warning: The plan was made by an earlier version (1), ")
    assert "nl(leaf) = 0" in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("r.csv", pd.read_csv),
        ("r.tsv", lambda path, dtype: pd.read_csv(path, sep="\t", dtype=dtype)),
        ("r.parquet", lambda path, dtype: pd.read_parquet(path)),
        ("r.feather", lambda path, dtype: pd.read_feather(path)),
        ("r.xlsx", lambda path, dtype: pd.read_excel(path, dtype=dtype, engine="calamine")),
        ("R.CSV", pd.read_csv),
    ],
)
def test_run_writes_every_kind_of_table(kanon, folder, name, read):
    assert kanon(*RUN[:-1], name).status == 0
    assert read(folder / name, dtype=str).to_numpy().tolist() == RELEASED


@pytest.mark.parametrize("how", [[], ["--csv", "table"], ["--csv", "plain"], ["--csv", "excel"]])
def test_a_csv_is_plain_or_written_as_the_table_was(kanon, folder, how):
    """Separator, encoding and ends of lines."""
    given = TABLE.replace("flu", "grippé").replace("\n", "\r\n")
    (folder / "people.csv").write_bytes(given.encode("cp1252"))
    assert kanon(*RUN, *how).status == 0
    content = (folder / "released.csv").read_bytes()
    separator, encoding, end = {
        "table": (";", "cp1252", "\r\n"), "excel": (";", "utf-8-sig", "\r\n")
    }.get(how[-1] if how else "", (",", "utf-8", "\n"))  # fmt: skip
    wanted = [[cell.replace("flu", "grippé") for cell in row] for row in RELEASED]
    lines = [["age", "sex", "disease"], *wanted]
    assert content == "".join(separator.join(line) + end for line in lines).encode(encoding)


def test_a_form_that_cannot_be_written_is_refused(kanon):
    check_failure(kanon(*RUN[:-1], "r.xlsx", "--csv", "excel"), 2, ["--csv", "CSV and TSV"])
    check_failure(kanon(*RUN, "--csv", "plain", "--engine", "duckdb"), 2, ["--csv", "in memory"])


def test_a_label_that_the_encoding_lacks_is_written_in_utf_8(kanon, folder):
    (folder / "people.csv").write_bytes(TABLE.replace("flu", "grippé").encode("cp1252"))
    ages = ({"name": age, "parent": "≥ 0"} for age in ("31", "34", "38", "52", "57"))
    tree = {"nodes": [{"name": "≥ 0", "parent": None}, *ages]}
    write_plan(folder, columns={**PLAN["columns"], "age": qi_with(tree)})
    said = kanon(*RUN, "--csv", "table")
    assert said.status == 0 and "CP1252 lacks a character" in said.err
    assert "≥ 0" in (folder / "released.csv").read_text("utf-8")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.xlsx", "t.tsv"])
def test_run_reads_every_kind_of_table(kanon, folder, name):
    write_table(pd.read_csv(io.StringIO(TABLE), sep=";"), folder / name)
    assert kanon("run", "plan.json", "--table", name, "--out", "released.csv").status == 0
    rows = list(csv.reader(io.StringIO((folder / "released.csv").read_text("utf-8"))))
    assert rows[1:] == RELEASED


def test_measures_have_the_keys_of_the_contract(kanon, folder):
    assert kanon(*RUN, "--measures", "m.json").status == 0
    found = json.loads((folder / "m.json").read_text("utf-8"))
    assert {
        *("records", "classes", "min_k", "suppressed", "alteration", "mean_alteration"),
        *("generalised_percent", "root_percent", "deleted_among_modified_percent", "seconds"),
    } <= set(found)
    assert set(found["alteration"]) == {
        *("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
    }
    assert (found["records"], found["classes"], found["min_k"], found["suppressed"]) == (6, 3, 2, 0)
    # NCP: of five ages three are in the thirties and two in the fifties; two sexes
    lost = 2 * 3 / 5 + 2 * 2 / 5 + 2 * 2 / 2
    assert found["alteration"]["ncp"] == pytest.approx(100 * lost / (6 * (5 / 5 + 2 / 2)))


def test_progress_shows_a_bar_and_ends_its_line(kanon):
    said = kanon(*RUN, "--progress")
    assert said.status == 0 and "█" in said.err and "100%" in said.err and said.err.endswith("\n")


def test_the_seed_is_taken_from_the_command_line(kanon, folder):
    assert kanon(*RUN, "--seed", "5").status == 0
    first = (folder / "released.csv").read_bytes()
    assert kanon(*RUN).status == 0
    assert (folder / "released.csv").read_bytes() == first, "ties have a seed of their own"
    check_failure(kanon(*RUN, "--seed", "-1"), 2, ["algorithm.seed", "'-1'"])


def test_a_separator_may_be_given(kanon, folder):
    (folder / "people.csv").write_text(TABLE.replace(";", "#"), "utf-8")
    assert kanon(*RUN, "--sep", "#").status == 0
    write_plan(folder, read={"separator": "#"})
    assert kanon(*RUN).status == 0
    check_failure(kanon(*RUN, "--sep", "##"), 2, ["Separator '##'"])


def test_a_sheet_is_the_largest_or_the_one_that_is_named(kanon, folder):
    table = pd.read_csv(io.StringIO(TABLE), sep=";")
    with pd.ExcelWriter(folder / "book.xlsx", engine="xlsxwriter") as book:
        pd.DataFrame({"Register": ["of", "2024"]}).to_excel(book, sheet_name="Cover", index=False)
        table.to_excel(book, sheet_name="All", index=False)
        table.head(4).to_excel(book, sheet_name="Some", index=False)
    asked = ["run", "plan.json", "--table", "book.xlsx", "--out", "released.csv"]
    assert kanon(*asked).out.startswith("6 records; ")
    assert kanon(*asked, "--sheet", "Some").out.startswith("4 records; ")
    write_plan(folder, read={"sheet": "Some"})
    assert kanon(*asked).out.startswith("4 records; ")
    assert kanon(*asked, "--sheet", "All").out.startswith("6 records; ")
    check_failure(kanon(*asked, "--sheet", "None"), 2, ["'None'", "'Cover', 'All', 'Some'"])
    counted = kanon("measure", "--table", "book.xlsx", "--sheet", "Some", "--qi", "sex", "--json")
    assert json.loads(counted.out)["records"] == 4


def test_dropped_records_are_told(kanon, folder):
    (folder / "people.csv").write_text(TABLE + "Max;?;M;flu\n", "utf-8")
    check_failure(kanon(*RUN), 2, ["1 record", "read.missing", "'drop-records' or 'as-value'"])
    write_plan(folder, read={"missing": "drop-records"})
    said = kanon(*RUN, "--measures", "m.json")
    assert said.out.startswith("6 records, 1 dropped for missing values; 3 classes")
    assert json.loads((folder / "m.json").read_text("utf-8"))["dropped"] == 1
    write_plan(folder, read={"missing": "as-value"})
    assert kanon(*RUN).out.startswith("7 records; ")


def test_a_failure_leaves_an_older_release_as_it_was(kanon, folder):
    (folder / "released.csv").write_text("older", "utf-8")
    write_plan(folder, privacy=[{"model": "k-anonymity", "k": 7}])
    assert kanon(*RUN).status == 3
    assert (folder / "released.csv").read_text("utf-8") == "older"


@pytest.mark.parametrize(
    "arguments",
    [[], ["fly"], ["run"], ["run", "plan.json"], ["run", *RUN[1:], "--fast"], ["hierarchy"]],
    ids=["nothing", "unknown", "no plan", "no table", "unknown option", "half"],
)
def test_a_wrong_call_shows_how_it_is_meant(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "usage: kanon" in said.err


# --- how a table was read -----------------------------------------------------------------------
READ = [
    ["measure", "--qi", "age"],
    ["quasi-identifiers"],
    ["run", "plan.json", "--out", "released.csv"],
    ["check", "plan.json"],
]


@pytest.mark.parametrize("command", READ, ids=lambda command: command[0])
def test_every_command_says_how_the_table_was_read(kanon, folder, command):
    rows = [line.split(";") for line in TABLE.splitlines()]
    towns = ["town", "Köln", "NA", "NA", "*", "?", "Köln"]
    cells = [[*row, town] for row, town in zip(rows, towns, strict=True)]
    text = "".join(";".join(row) + "\n" for row in cells).replace("31;", "31.0;", 1)
    (folder / "people.csv").write_text(text, "cp1252")
    said = kanon(*command, "--table", "people.csv")
    notes = [line for line in said.err.splitlines() if line.startswith("kanon: note: ")]
    assert said.status == 0 and said.err.startswith(notes[0]), "before the work begins"
    parts = [
        "CP1252 is a guess",
        "1 column has missing cells ('?', 'NA'): 'town' 3.",
        "cells that hold '?', 'NA' will be blank",
        "These count as values, not as missing: '*' (1).",
        "'age' has numbers written in two ways, with '.0' (1 value) and without",
    ]
    assert all(part in note for note, part in zip(notes, parts, strict=True))
    assert "Köln" not in said.err
    quiet = kanon(*command, "--table", "people.csv", "--quiet")
    assert "note:" not in quiet.err and quiet.out == said.out
    if command[0] == "run":
        assert "are released, with cells that count as missing left blank" in said.err
        assert "'town' passes into the release with missing cells blank" in said.err
        assert "unchanged" not in said.err


def test_a_sheet_and_its_empty_rows_are_said(kanon, folder):
    with pd.ExcelWriter(folder / "people.xlsx") as book:
        people = pd.DataFrame({"age": ["31", None, "34"], "sex": ["F", None, "M"]})
        people.to_excel(book, sheet_name="people", index=False)
        people.head(1).to_excel(book, sheet_name="old", index=False)
    said = kanon("measure", "--table", "people.xlsx", "--qi", "age")
    assert said.err.splitlines() == [
        "kanon: note: Sheet 'people' was read, the largest of 2.",
        "kanon: note: 1 empty row was skipped.",
    ]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_a_hierarchy_reads_or_does_not_hold_is_said(kanon, folder, engine):
    (folder / "visits.csv").write_text("zip,code\n01,A1\n01,A1\n01,A10\n13,B7\n13,B7\n", "utf-8")
    (folder / "zip.csv").write_text("01;0x;*\n13;1x;*\n01;0x;*\n", "utf-8")
    ranges = [{"first": "A1", "last": "A3", "name": "A"}]
    code = qi("codes", separators=".", ranges=ranges)
    write_plan(folder, columns={"zip": qi_with("zip.csv"), "code": code})
    run = ("run", "plan.json", "--table", "visits.csv", "--out", "out.csv", "--engine", engine)
    assert [line for line in kanon(*run).err.splitlines() if "note: Hierarchy" in line] == [
        "kanon: note: Hierarchy of column 'zip': Identical lines count once; 1 line was left out.",
        "kanon: note: Hierarchy of column 'code': 'A' also contains 'A10': the beginning fits "
        "the range, but the number does not.",
        "kanon: note: Hierarchy of column 'code': 'B7' is outside all ranges and directly "
        "under the root.",
    ]
    assert "note" not in kanon(*run, "--quiet").err


def test_a_total_at_the_end_is_said_and_left_out(kanon, folder):
    (folder / "people.csv").write_text(TABLE + "Total;263;;\n", "utf-8")
    command = ("measure", "--table", "people.csv", "--qi", "age", "--json")
    said = kanon(*command)
    assert json.loads(said.out)["records"] == 7
    assert "The last row looks like a total or a note, and counts as a record" in said.err
    assert json.loads(kanon(*command, "--footer", "1").out)["records"] == 6
    assert "looks like" not in kanon(*command, "--footer", "0").err
    write_plan(folder, read={"footer": 1})
    assert kanon(*RUN).status == 0
    assert "Total" not in (folder / "released.csv").read_text("utf-8")
    check_failure(kanon(*command, "--footer", "-1"), 2, ["--footer: -1 is not allowed"])
    said = kanon(*command, "--footer", "1", "--engine", "duckdb")
    check_failure(said, 2, ["footer", "--engine memory"])


@pytest.mark.parametrize(
    ("options", "classes"),
    [
        ([], 2),  # NA and the blank cell are missing, * counts as suppressed
        (["--missing", "*"], 3),  # * and the blank cell are
        (["--missing", "*,NA"], 2),
        (["--missing", "*", "--missing", "NA"], 2),
        (["--missing", '"a,b",NA, *'], 1),
        (["--missing", ""], 3),
    ],
)
def test_markers_are_given_without_a_plan(kanon, folder, options, classes):
    (folder / "t.csv").write_text('a,b\nNA,1\n*,1\n"a,b",1\n,1\n', "utf-8")
    said = kanon("measure", "--table", "t.csv", "--qi", "a", "--json", *options)
    assert json.loads(said.out)["classes"] == classes


# --- measure ------------------------------------------------------------------------------------
def test_measure_counts_a_table(kanon):
    said = kanon("measure", "--table", "people.csv", "--qi", "age,sex", "--json")
    assert (said.status, said.err) == (0, "")
    rows = [line.split(";") for line in TABLE.splitlines()[1:]]
    sizes = Counter((row[1], row[2]) for row in rows)
    assert json.loads(said.out) == {
        "records": 6,
        "classes": len(sizes),
        "min_k": min(sizes.values()),
        "unique_records": sum(size == 1 for size in sizes.values()),
    }
    plain = kanon("measure", "--table", "people.csv", "--qi", " age , sex ")
    assert plain.out == "records: 6\nclasses: 5\nmin_k: 1\nunique_records: 4\n"


@pytest.mark.parametrize(
    "arguments", [["--qi", 'age, "City, State"'], ["--qi", "City, State", "--qi", "age"]]
)
def test_a_name_with_a_comma_is_quoted_or_stands_alone(kanon, folder, arguments):
    cells = '30,"Kiel, SH",a\n30,"Bonn, NW",b\n30,"Kiel, SH",a\n'
    (folder / "t.csv").write_text(f'age,"City, State","ill, today"\n{cells}', "utf-8")
    said = kanon("measure", "--table", "t.csv", *arguments, "--sensitive", "ill, today", "--json")
    assert json.loads(said.out)["classes"] == 2 and json.loads(said.out)["distinct_l"] == 1
    names = [text.replace("--qi", "--columns") for text in arguments]
    found = kanon("quasi-identifiers", "--table", "t.csv", *names, "--json")
    assert found.status == 0 and '"City, State"' in found.out
    for text, part in (
        ("City, State,age", "put a name with a comma, such as 'City, State', in double quotes"),
        ('age,"City', "is not closed."),
    ):
        said = kanon("measure", "--table", "t.csv", "--qi", text)
        check_failure(said, 2, ["--qi: ", part])


@pytest.mark.parametrize(
    "arguments",
    [
        ["measure", "--table", "pipe.csv", "--qi", "age"],
        ["measure", "--table", "pipe.csv", "--qi", "age", "--engine", "duckdb"],
        ["run", "pipe.csv", "--table", "people.csv", "--out", "released.csv"],
        ["hierarchy", "check", "pipe.csv"],
        ["exercises", "score", "pipe.csv", "people.csv", "--out", "scores.csv"],
    ],
)
def test_a_pipe_is_named_with_the_way_out(kanon, folder, arguments):
    os.mkfifo(folder / "pipe.csv")
    check_failure(kanon(*arguments), 2, ["is a pipe or a device, not a file. Save its output"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("lines", "classes", "suppressed"),
    [
        (["*;*;flu"], [2, 3], 1),  # ARX: the sensitive value stays
        (["*;*;", "*;*;"], [2, 3], 2),
        ([";;cold", ";;flu"], [2, 3], 2),  # sdcMicro: blank in all key variables
        (["*;;cold"], [2, 3], 1),
        (["*****;*;cold"], [2, 3], 1),
        (["*;F;cold"], [1, 2, 3], 0),  # it shows the sex
        ([";F;cold"], [1, 2, 3], 0),
        ([], [2, 3], 0),
    ],
)
def test_rows_that_another_tool_suppressed_are_no_class(
    kanon, folder, engine, lines, classes, suppressed
):
    rows = ["30-39;F;flu", "30-39;F;cold", *["40-49;M;flu"] * 3, *lines]
    (folder / "t.csv").write_text("\n".join(["age;sex;ill", *rows]) + "\n", "utf-8")
    call = ("measure", "--table", "t.csv", "--qi", "age,sex", "--sensitive", "ill", "--json")
    said = kanon(*call, "--engine", engine)
    found = json.loads(said.out)
    assert (found["records"], found["min_k"]) == (sum(classes), min(classes))
    assert (found["classes"], found.get("suppressed", 0)) == (len(classes), suppressed)
    assert ("nothing in any quasi-identifier" in said.err) is (suppressed > 0)
    if suppressed:  # of five records that are left four have a flu, of the second class all
        assert found["t_variational"] == pytest.approx(0.3)


@pytest.mark.parametrize("others", [0, 2])
def test_a_class_at_the_root_stays_a_class(kanon, folder, others):
    (folder / "t.csv").write_text("age;sex\n" + 3 * "*;*\n" + others * "30;F\n", "utf-8")
    said = kanon("measure", "--table", "t.csv", "--qi", "age,sex", "--json")
    numbers = json.loads(said.out)
    assert (numbers["classes"], numbers["min_k"]) == ((2, 2) if others else (1, 3))
    assert "suppressed" not in numbers and "suppressed" not in said.err


def test_suppressed_rows_are_left_out_beside_a_population(kanon, folder):
    (folder / "t.csv").write_text("a;b\nx;1\nx;1\n*;*\n", "utf-8")
    (folder / "p.csv").write_text("a;b\n" + "x;1\n" * 4, "utf-8")
    call = ("measure", "--table", "t.csv", "--qi", "a,b", "--json", "--population", "p.csv")
    assert json.loads(kanon(*call).out)["journalist"]["highest"] == 0.25


SENSITIVE_KEYS = {
    *("entropy_l", "distinct_l", "t_norm1", "t_variational", "t_emd_equal", "alpha"),
    *("recursive_c", "delta", "delta_present", "basic_beta", "enhanced_beta"),
}
FOUR = ("records", "classes", "min_k", "unique_records")


def test_measure_looks_at_a_sensitive_column(kanon):
    assert kanon(*RUN).status == 0
    call = ("measure", "--table", "released.csv", "--qi", "age,sex", "--sensitive", "disease")
    found = json.loads(kanon(*call, "--json").out)
    assert set(found) == {*FOUR, *SENSITIVE_KEYS}
    # Three classes of two, each with a flu and a cold, as the table.
    assert (found["distinct_l"], found["t_norm1"], found["alpha"]) == (2, 0, 0.5)
    assert found["entropy_l"] == pytest.approx(2)
    assert "\nentropy_l: 2\ndistinct_l: 2\nt_norm1: 0\n" in kanon(*call).out


def test_measure_looks_at_several_sensitive_columns(kanon):
    call = ("measure", "--table", "people.csv", "--qi", "sex", "--json")
    one = json.loads(kanon(*call, "--sensitive", "disease").out)
    for several in (["disease,age"], ["disease", "--sensitive", "age"]):
        found = json.loads(kanon(*call, "--sensitive", *several).out)
        assert set(found) == {*FOUR, "sensitive"}
        assert {name: one[name] for name in SENSITIVE_KEYS} == found["sensitive"]["disease"]
        assert set(found["sensitive"]["age"]) == {*SENSITIVE_KEYS, "t_emd_ordered"}, "numbers"
    said = kanon(*call[:-1], "--sensitive", "disease,age")
    assert "\nsensitive age delta: ∞\n" in said.out


def test_measure_counts_for_someone_who_knows_some_columns(kanon, folder):
    (folder / "t.csv").write_text("a,b\nx,1\nx,2\ny,1\ny,2\ny,2\n", "utf-8")
    call = ("measure", "--table", "t.csv", "--qi", "a,b", "--json", "--known")
    for known, fewest in ((1, 2), (2, 1), (9, 1)):
        found = json.loads(kanon(*call, str(known)).out)
        assert set(found) == {*FOUR, "known", "min_k_known"}
        assert (found["known"], found["min_k_known"]) == (known, fewest)
    check_failure(kanon(*call, "0"), 2, ["known has to be a whole number of at least 1, not 0"])


def test_measure_holds_a_table_against_a_population(kanon, folder):
    (folder / "t.csv").write_text("a,b\nx,1\nx,1\ny,1\n", "utf-8")
    (folder / "p.csv").write_text("b,a\n1,x\n1,x\n1,x\n1,x\n1,y\n2,y\n", "utf-8")
    call = ("measure", "--table", "t.csv", "--qi", "a,b", "--json", "--population")
    found = json.loads(kanon(*call, "p.csv").out)
    assert set(found) == {*FOUR, "prosecutor", "journalist", "marketer"}
    assert found["journalist"]["highest"] == 1
    assert found["marketer"] == pytest.approx((1 / 4 + 1 / 4 + 1) / 3)
    (folder / "p.csv").write_text("b,a\n1,x\n1,y\n", "utf-8")
    check_failure(kanon(*call, "p.csv"), 2, ["1 class of the table has fewer people"])
    (folder / "p.csv").write_text("b,c\n1,x\n", "utf-8")
    check_failure(kanon(*call, "p.csv"), 2, ["no column 'a'"])


# --- hierarchy check ----------------------------------------------------------------------------
def test_check_tells_of_a_level_that_vanishes(kanon, folder):
    (folder / "race.csv").write_text("a;a;A;*\nb;b;A;*\n", "utf-8")
    said = kanon("hierarchy", "check", "race.csv")
    assert said.status == 0
    assert said.out.splitlines()[1:] == ["Level 1 repeats level 0 in every line and was left out."]


def test_check_says_whether_a_column_is_covered(kanon, folder):
    (folder / "sex.csv").write_text("F;*\nM;*\nX;*\n", "utf-8")
    said = kanon("hierarchy", "check", "sex.csv", "--table", "people.csv", "--column", "sex")
    assert (said.status, said.err) == (0, "")
    assert "1 leaf is not in the table" in said.out


def test_check_does_not_take_a_group_for_a_value(kanon, folder):
    """A table may hold inner nodes; they are no leaves that occur."""
    (folder / "race.csv").write_text("Cat;Felid;*\nLion;Felid;*\n", "utf-8")
    (folder / "t.csv").write_text("race;n\nFelid;1\nCat;2\n", "utf-8")
    said = kanon("hierarchy", "check", "race.csv", "--table", "t.csv", "--column", "race")
    assert "1 leaf is not in the table" in said.out


def test_every_bundled_hierarchy_is_checked(capsys):
    found = sorted((ROOT / "hierarchies").rglob("*.csv"))
    found += sorted((ROOT / "hierarchies").rglob("*.json"))
    found.remove(ROOT / "hierarchies" / "icd-10" / "chapters.csv")  # ranges for a builder
    assert len(found) > 20
    for path in found:
        assert main(["hierarchy", "check", str(path)]) == 0, path
    assert capsys.readouterr().err == ""


# --- As a process of its own --------------------------------------------------------------------
def test_the_statuses_reach_the_shell(folder):
    """A status of 0 and what is released then: tests/cli/test_endings.py."""
    write_plan(folder, privacy=[{"model": "k-anonymity", "k": 7}])
    done = subprocess.run(
        [sys.executable, "-m", "kanon", *RUN],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False,
        env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "PATH": ""},
    )  # fmt: skip
    check_failure(Said(done.returncode, done.stdout, done.stderr), 3, ["k = 7"])


def test_who_stops_reading_is_no_mistake(folder, monkeypatch, capsys):
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "w") as stdout, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stdout)
        patched.chdir(folder)
        assert main(["measure", "--table", "people.csv", "--qi", "sex,age"]) == 141
    assert capsys.readouterr().err == ""


# --- sweep --------------------------------------------------------------------------------------
SWEEP = ("sweep", "plan.json", "--table", "people.csv", "--out", "curves.csv")


def test_reverse_writes_a_row_per_way_and_k(kanon, folder):
    write_plan(folder, privacy=[{"model": "distinct-l-diversity", "l": 2}])
    said = kanon("reverse", "plan.json", "--table", "people.csv", "--out", "curve.csv")
    assert (said.status, said.err) == (0, "")
    curve = pd.read_csv(folder / "curve.csv")
    assert curve.columns.tolist() == [
        *("way", "alteration", "k", "classes", "entropy_l", "t_variational", "greatest")
    ]
    assert set(curve["way"]) == {"k", "s1", "k-first"}
    assert curve.groupby("way")["k"].max().tolist() == [6, 6, 6]
    first = curve[curve["greatest"] == 1].sort_values("k").iloc[0]
    assert said.out.startswith(
        f"{len(curve)} rows; the models are first met at {first['alteration']:.1f} % alteration "
        f"(NCP), with k = {first['k']}\n"
    )


def test_sweep_writes_a_row_per_metric_and_k(kanon, folder):
    said = kanon(*SWEEP, "--k", "2, 3,6", "--metrics", "all", "--strategies", "s1")
    assert said == (0, "21 rows: 7 metrics, 1 strategy, 3 k\n", "")
    curves = pd.read_csv(folder / "curves.csv")
    assert curves.columns[:5].tolist() == ["metric", "strategy", "k", "min_k", "classes"]
    assert curves["k"].tolist() == [2, 3, 6] * 7
    asked = {"algorithm": {"name": "gaa", "metric": "llm"}}
    write_plan(folder, **asked, privacy=[{"model": "k-anonymity", "k": 3}])
    assert kanon(*RUN, "--measures", "m.json").status == 0
    alone = json.loads((folder / "m.json").read_text("utf-8"))
    row = curves[(curves["metric"] == "llm") & (curves["k"] == 3)].iloc[0]
    assert row["alteration_total"] == pytest.approx(alone["alteration"]["total"])
    share = "deleted_among_modified_percent"
    assert (row["min_k"], row[share]) == (alone["min_k"], pytest.approx(alone[share]))


def test_sweep_takes_a_composed_metric_of_the_plan(kanon, folder):
    write_plan(folder, metrics={"mine": {"intermediate": "levels", "multiplier": "w2"}})
    assert kanon(*SWEEP, "--k", "2", "--metrics", "mine,ncp").status == 0
    curves = pd.read_csv(folder / "curves.csv")
    assert curves["metric"].tolist() == ["mine", "ncp"] and "alteration_mine" in curves


def test_sweep_puts_several_algorithms_below_each_other(kanon, folder):
    by = ("--k", "2,3", "--metrics", "ncp,nllm")
    said = kanon(*SWEEP, *by, "--algorithms", "flash,gaa")
    assert said == (0, "8 rows: 2 algorithms, 2 metrics, 1 strategy, 2 k\n", "")
    both = pd.read_csv(folder / "curves.csv")
    assert both.columns[:4].tolist() == ["algorithm", "metric", "strategy", "k"]
    for name in ("flash", "gaa"):
        write_plan(folder, algorithm={"name": name})
        assert kanon(*SWEEP, *by).status == 0
        own = both[both["algorithm"] == name].drop(columns="algorithm")
        assert own.to_csv(index=False) == (folder / "curves.csv").read_text("utf-8"), name


def test_sweep_writes_areas_values_and_ranks(kanon, folder):
    """The area from 2 to 6 by trapezoids over 2, 3, 4, 5 and 6, which the curves have."""
    more = ("--algorithms", "gaa,flash", "--areas", "areas.csv")
    assert kanon(*SWEEP, "--k", "2,3,4,5,6", "--metrics", "ncp", *more).status == 0
    curves, areas = (pd.read_csv(folder / name) for name in ("curves.csv", "areas.csv"))
    assert areas.columns.tolist() == [
        *("algorithm", "metric", "strategy", "criterion", "column", "from_k", "to_k"),
        *("value", "rank"),
    ]
    for ends in [(2, 6), (3, 3)]:
        inside = curves[curves["k"].between(*ends)].groupby("algorithm")["mean_alteration"]
        hand = {
            name: (values.sum() - (values.iloc[0] + values.iloc[-1]) / 2) / 4
            if len(values) > 1
            else values.iloc[0]
            for name, values in inside
        }
        rows = areas[(areas["from_k"] == ends[0]) & (areas["to_k"] == ends[1])]
        rows = rows[rows["criterion"] == "mean_alteration"].set_index("algorithm")
        assert rows["value"].to_dict() == pytest.approx(hand)
        shown = rows["value"].round(1)
        assert rows["rank"].to_dict() == shown.rank(method="min").astype(int).to_dict()


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--algorithms", "gaa,gone"], ["'gone' is unknown", "flash"]),
        (["--algorithms", "gaa,gaa"], ["algorithm 'gaa' is named twice"]),
        (["--algorithms", ","], ["at least one algorithm"]),
        (["--algorithms", "gaa,levels"], ["'levels'", "one k"]),
        (["--algorithms", "gaa,flash", "--strategies", "s3"], ["'flash'", "'s3'"]),
        (["--areas", "a.csv"], ["--areas needs at least two k"]),
        (["--areas", "curves.csv"], ["named for two purposes"]),
    ],
)
def test_sweep_says_what_it_cannot_compare(kanon, folder, options, parts):
    check_failure(kanon(*SWEEP, "--k", "2", *options), 2, parts)
    assert not (folder / "curves.csv").exists()


def test_what_is_written_appears_whole_or_not_at_all(kanon, folder, monkeypatch):
    (folder / "curves.csv").write_text("old", "utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kanon.sources.writing.os.replace", full)
    check_failure(kanon(*SWEEP, "--k", "2"), 2, ["curves.csv", "cannot be written"])
    assert (folder / "curves.csv").read_text("utf-8") == "old"
    assert not list(folder.glob(".*.part"))


SIMULATE = ("simulate", "plan.json", "--table", "people.csv", "--out", "results.csv")


def test_simulate_ranks_the_strategies_and_goes_on_when_interrupted(kanon, folder, monkeypatch):
    """Four of the columns, as all of them take their time."""
    few = [run for run in RUNS if run.column in COLUMNS[::6]]
    monkeypatch.setattr(
        "kanon.cli.simulate.list_missing_runs",
        lambda found: [run for run in list_missing_runs(found) if run in few],
    )
    said = kanon(*SIMULATE)
    assert said.status == 0 and said.err == ""
    first, second = said.out.splitlines()
    assert first == "84 rows: 21 columns, 7 strategies, areas on k from 3 to 6"
    assert second.startswith("Mean rank (1 is best): s")
    found = pd.read_csv(folder / "results.csv")
    assert found.columns.tolist() == [
        *("distribution", "values", "strategy", "criterion", "k_from", "k_to"),
        *("nauc_percent", "rank"),
    ]
    assert len(found) == 84 and found["rank"].between(1, 7).all()
    assert found.groupby(["distribution", "values", "criterion"])["rank"].min().eq(1).all()
    whole = (folder / "results.csv").read_bytes()
    (folder / "results.csv").unlink()
    real, asked = gaa.merge_path, []

    def impatient(task, progress):
        asked.append(task.strategy)
        if len(asked) == 15:
            raise KeyboardInterrupt
        return real(task, progress)

    with monkeypatch.context() as patch:
        patch.setattr("kanon.experiments.simulated.study.gaa.merge_path", impatient)
        said = kanon(*SIMULATE, "--state", "study.json")
    assert said.status == 130 and said.out == ""
    assert said.err == (
        "Interrupted; 'study.json' was written, 'results.csv' was not. The same command continues "
        "from 'study.json'.\n"
    )
    assert not (folder / "results.csv").exists()
    kept = len(json.loads((folder / "study.json").read_text("utf-8"))["found"])
    assert 4 < kept < 28
    assert kanon(*SIMULATE, "--state", "study.json").status == 0
    assert (folder / "results.csv").read_bytes() == whole
    nothing_left = "kanon.experiments.simulated.study.gaa.merge_path"
    monkeypatch.setattr(nothing_left, None)
    assert kanon(*SIMULATE, "--state", "study.json", "--seed", "0", "--progress").status == 0
    assert (folder / "results.csv").read_bytes() == whole


def test_simulate_without_a_state_keeps_nothing(kanon, folder, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    before = files(folder)
    monkeypatch.setattr("kanon.experiments.simulated.study.gaa.merge_path", stop)
    assert kanon(*SIMULATE) == (130, "", "Interrupted; nothing was written.\n")
    assert files(folder) == before


@pytest.mark.parametrize(
    ("arguments", "changes", "status", "parts"),
    [
        (("--state", "people.csv"), {}, 2, ["'people.csv'", "different files"]),
        (("--state", "results.csv"), {}, 2, ["'results.csv'", "different files"]),
        (("--state", "no/study.json"), {}, 2, ["study.json", "cannot be written"]),
        (("--state", "study.json", "--seed", "4"), {}, 2, ["made with another seed"]),
        ((), {"algorithm": {"name": "datafly"}}, 2, ["'datafly' has none; choose 'gaa'"]),
    ],
)  # fmt: skip
def test_simulate_refuses_bad_input(kanon, folder, arguments, changes, status, parts):
    plan = Plan.load(write_plan(folder))
    study = create_study(prepare(plan, pd.read_csv(folder / "people.csv", sep=";"), folder))
    (folder / "study.json").write_bytes(write_study(create_study_inputs(study), []))
    write_plan(folder, **changes)
    before = files(folder)
    check_failure(kanon(*SIMULATE, *arguments), status, parts)
    assert files(folder) == before


@pytest.mark.parametrize("command", [("run",), ("sweep", "--k", "2")])
def test_a_hierarchy_of_the_plan_is_not_overwritten(kanon, folder, command):
    (folder / "trees").mkdir()
    tree = folder / "trees" / "sex.csv"
    tree.write_text("F;*\nM;*\n", "utf-8")
    column = qi_with("trees/sex.csv")
    write_plan(folder, columns={**PLAN["columns"], "sex": column})
    name, *rest = command
    said = kanon(name, "plan.json", "--table", "people.csv", *rest, "--out", "trees/sex.csv")
    check_failure(said, 2, ["different files"])
    assert tree.read_text("utf-8") == "F;*\nM;*\n"


@pytest.mark.parametrize("name", ["linked.csv", "x" * 300, "circle.csv"])
def test_no_name_of_an_output_is_a_traceback(kanon, folder, name):
    (folder / "linked.csv").hardlink_to(folder / "people.csv")
    (folder / "circle.csv").symlink_to("circle.csv")
    said = kanon("sweep", "plan.json", "--table", "people.csv", "--k", "2", "--out", name)
    check_failure(said, 2, ["different files" if name == "linked.csv" else "cannot be written"])
    assert (folder / "people.csv").read_text("utf-8") == TABLE


@pytest.mark.parametrize("option", ["--out", "--measures", "--pin"])
def test_a_pipe_is_no_place_for_a_file(kanon, folder, option):
    os.mkfifo(folder / "pipe.csv")
    said = kanon(*RUN, option, "pipe.csv")
    check_failure(said, 2, ["'pipe.csv' is a pipe or a device, not a file"])
    assert (folder / "pipe.csv").is_fifo()


# --- the lower bound ----------------------------------------------------------------------------
BOUND = (*RUN, "--bound")


def test_bound_says_how_far_the_release_is_from_the_least_possible(kanon, folder):
    said = kanon(*BOUND, "--measures", "m.json")
    assert said.status == 0
    outcome, sentence = said.out.splitlines()
    assert outcome.startswith("6 records; ")
    measures = json.loads((folder / "m.json").read_text("utf-8"))
    least, lost = measures["lower_bound"], measures["alteration"]["ncp"]
    assert 0 < least <= lost
    assert sentence.startswith("No release with these hierarchies that keeps all records can lose ")
    assert f"{lost:.2f} %" in sentence and "(NCP)" in sentence
    plain = kanon(*RUN, "--measures", "without.json")
    assert plain.out.splitlines() == [outcome]
    without = json.loads((folder / "without.json").read_text("utf-8"))
    assert [*measures] == [*without, "lower_bound"]
    assert kanon(*BOUND).out == said.out, "it needs no --measures"


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithm": {"name": "datafly", "metric": "ncp"}, "suppression_limit": 0.4},
        {"privacy": [*PLAN["privacy"], {"model": "distinct-l-diversity", "l": 2}]},
        {"person": "name"},
    ],
)
def test_bound_is_that_of_k_whatever_the_plan_asks_for_beside(kanon, folder, changes):
    kanon(*BOUND, "--measures", "m.json")
    least = json.loads((folder / "m.json").read_text("utf-8"))["lower_bound"]
    write_plan(folder, **changes)
    said = kanon(*BOUND, "--measures", "m.json")
    measures = json.loads((folder / "m.json").read_text("utf-8"))
    assert said.status == 0 and measures["lower_bound"] <= measures["alteration"]["ncp"]
    if measures["suppressed"]:
        assert measures["lower_bound"] <= least and "keeps all records" not in said.out
    else:
        assert measures["lower_bound"] == least


def test_bound_of_a_lattice_too_large_is_a_warning(kanon, folder, monkeypatch):
    monkeypatch.setattr("kanon.algorithms.lattice_size.MOST_NODES", 3)
    monkeypatch.setattr("kanon.report.optimality_gap.MOST_NODES", 3)
    said = kanon(*BOUND, "--measures", "m.json")
    assert said.status == 0 and said.out.count("\n") == 1
    (line,) = said.err.splitlines()
    assert line.startswith("kanon: warning: --bound: It is not known how close a release is to the")
    assert "has 6 nodes, and a lower bound is computed for at most 3" in line
    assert "lower_bound" not in json.loads((folder / "m.json").read_text("utf-8"))
    assert (folder / "released.csv").exists()
    before = files(folder)
    call = ("report", "plan.json", "--table", "people.csv", "--out", "report.html", "--bound")
    check_failure(kanon(*call), 2, ["a lower bound is computed for at most 3"])
    assert files(folder) == before


def test_a_bound_is_said_in_the_internal_report_alone(kanon, folder):
    sentence = kanon(*BOUND, "--bundle", "release.zip").out.splitlines()[1]
    call = ("report", "plan.json", "--table", "people.csv", "--out", "report.html", "--bound")
    assert kanon(*call).status == 0
    with zipfile.ZipFile(folder / "release.zip") as archive:
        pages = [archive.read("report.html").decode(), (folder / "report.html").read_text("utf-8")]
    assert [page.count(sentence) for page in pages] == [0, 2], "in plain words, and in section 7"


# --- remarks, and next month's table ------------------------------------------------------------
def test_run_warns_of_what_no_model_looks_at(kanon, folder):
    """Without two colds in a class, everybody there has the same: 4 of 6 records."""
    table = TABLE.replace("cold", "flu").replace("52;M;flu", "52;M;cold")
    (folder / "people.csv").write_text(table, "utf-8")
    said = kanon(*RUN)
    assert said.status == 0
    (line,) = said.err.splitlines()
    assert line.startswith("kanon: warning: 4 records, 66.7 %, are in 2 classes in each of which")
    assert line.endswith("require l-diversity of the column too.")
    assert "flu" not in said.err and "cold" not in said.err


NEXT = TABLE.replace("\n", "\nx;", 6).replace("name;", "note;name;").replace("F;cold", "D;gout", 1)
CHECK = ("check", "plan.json", "--table", "next.csv")


def test_check_says_what_is_new_in_a_table(kanon, folder):
    (folder / "next.csv").write_text(NEXT, "utf-8")
    before = files(folder)
    said = kanon(*CHECK, "--before", "people.csv")
    assert said.status == 2
    starts = ("note: The column 'note' is new", "stops: 'sex' has 1", "note: The sensitive column")
    for line, start in zip(said.out.splitlines(), starts, strict=True):
        assert line.startswith(start)
    assert said.err == "kanon: The plan cannot be run on this table: 1 problem to fix.\n"
    assert files(folder) == before


def test_check_of_what_no_release_can_meet(kanon, folder):
    (folder / "next.csv").write_text("\n".join(TABLE.splitlines()[:2]), "utf-8")
    said = kanon(*CHECK)
    assert said.status == 3 and said.out.startswith("stops: ") and "1 problem" in said.err


def test_levels_are_pinned_for_the_next_table(kanon, folder):
    """The pinned plan names the hierarchy from where it lies, and releases the same again."""
    (folder / "pins").mkdir()
    write_plan(folder, algorithm={"name": "optimal"})
    assert kanon(*RUN, "--pin", "pins/next.json").status == 0
    first = (folder / "released.csv").read_bytes()
    pinned = json.loads((folder / "pins" / "next.json").read_text("utf-8"))
    chosen = pinned["algorithm"]
    assert (chosen["name"], chosen["node"]) == ("levels", {"age": 1, "sex": 1})
    assert pinned["columns"]["sex"]["hierarchy"] == "../sex.csv"
    assert kanon("run", "pins/next.json", *RUN[2:]).status == 0
    assert (folder / "released.csv").read_bytes() == first
    shifted = TABLE.replace("Eve;57;F", "Eve;77;F").replace("Dan;52;M", "Dan;12;F")
    (folder / "next.csv").write_text(shifted, "utf-8")
    said = kanon("check", "pins/next.json", "--table", "next.csv")
    assert said.status == 3 and "2 records would have to be suppressed" in said.out
    said = kanon(*CHECK, "--before", "people.csv")
    assert said.status == 0 and said.out.startswith("note: The counts have shifted: ")


def test_an_algorithm_without_levels_pins_none(kanon, folder):
    check_failure(kanon(*RUN, "--pin", "next.json"), 2, ["--pin", "'gaa'", "anew for each table"])
    assert not (folder / "released.csv").exists() and not (folder / "next.json").exists()
    write_plan(folder, algorithm={"name": "datafly"})
    check_failure(kanon(*RUN, "--pin", "people.csv"), 2, ["different files"])
