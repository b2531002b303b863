"""SPSS, Stata and SAS files: read with labels, released with codes and labels again."""

import datetime
import io
import os
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.values import convert_to_text
from kanon.cli.main import main
from kanon.errors import TableError
from kanon.sources import statistics_files
from kanon.sources.formats import find_format, read_back
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.statistics_files import apply_labels
from kanon.sources.writing import explain_unwritable, table_bytes
from support.plans import make_plan, qi
from support.random_tables import examples

SEX = {1: "male", 2: "female", 9: "refused"}
DAY, MOMENT = datetime.date(1981, 3, 4), datetime.datetime(2020, 1, 2, 3, 4, 5)
WRITERS = {
    ".sav": pyreadstat.write_sav,
    ".zsav": lambda table, path, **how: pyreadstat.write_sav(table, path, compress=True, **how),
    ".dta": lambda table, path, **how: pyreadstat.write_dta(table, path, version=14, **how),
    ".xpt": pyreadstat.write_xport,
}


def write_by_pyreadstat(folder: Path, ending: str, cells: dict, **how) -> bytes:
    path = folder / f"made{ending}"
    how = {"variable_value_labels" if key == "labels" else key: value for key, value in how.items()}
    WRITERS[ending](pd.DataFrame(cells), path, **how)
    return path.read_bytes()


def get_texts(column: pd.Series) -> list[str | None]:
    return [None if pd.isna(cell) else convert_to_text(cell) for cell in column]


ALPHABETS = ["Łódź", "東京", "🙂"]
ODD = {
    "codes with labels": (".sav", {"x": [1.0, 2]}, {"labels": {"x": SEX}}, ["male", "female"]),
    "codes with labels in Stata": (
        ".dta", {"x": np.array([1, 2], "int32")}, {"labels": {"x": SEX}}, ["male", "female"],
    ),
    "compressed": (".zsav", {"x": [1.0, 2]}, {"labels": {"x": SEX}}, ["male", "female"]),
    "a user-missing code": (
        ".sav", {"x": [1.0, 9]}, {"labels": {"x": SEX}, "missing_ranges": {"x": [9]}},
        ["male", None],
    ),
    "a range of user-missing codes": (
        ".sav", {"x": [30.0, 98, 99]},
        {"labels": {"x": {99: "no"}}, "missing_ranges": {"x": [{"lo": 97, "hi": 99}]}},
        ["30", None, None],
    ),
    "a user-missing text": (
        ".sav", {"x": ["a", "NN"]}, {"missing_ranges": {"x": ["NN"]}}, ["a", None],
    ),
    "a missing value of Stata with a letter": (
        ".dta", {"x": [1, "b"]},
        {"missing_user_values": {"x": ["b"]}, "labels": {"x": {"b": "no", 1: "one"}}},
        ["one", None],
    ),
    "a code without a label": (".sav", {"x": [1.0, 3]}, {"labels": {"x": SEX}}, ["male", "3"]),
    "two codes with one label": (
        ".sav", {"x": [1.0, 2, 3]}, {"labels": {"x": {1: "a", 2: "other", 3: "other"}}},
        ["a", "2", "3"],
    ),
    "a label that is another code": (
        ".sav", {"x": [1.0, 2]}, {"labels": {"x": {1: "2"}}}, ["1", "2"],
    ),
    "empty labels": (".sav", {"x": [1.0, 2]}, {"labels": {"x": {1: "", 2: "  "}}}, ["1", "2"]),
    "labels of texts": (".sav", {"x": ["m", "f"]}, {"labels": {"x": {"m": "Mann"}}}, ["Mann", "f"]),
    "a broken code": (".sav", {"x": [1.5, 2]}, {"labels": {"x": {1.5: "half"}}}, ["half", "2"]),
    "a long label": (".dta", {"x": [1.0]}, {"labels": {"x": {1: "é" * 5_000}}}, ["é" * 5_000]),
    "a long name": (".sav", {"x" * 64: [1.0]}, {}, ["1"]),
    "letters of many alphabets": (".sav", {"größe": ALPHABETS}, {}, ALPHABETS),
    "the same in Stata": (".dta", {"größe": ALPHABETS}, {}, ALPHABETS),
    "a long text": (".sav", {"x": ["a" * 3_000, "b"]}, {}, ["a" * 3_000, "b"]),
    "a long text in Stata": (".dta", {"x": ["a" * 3_000, "b"]}, {}, ["a" * 3_000, "b"]),
    "blank texts": (".sav", {"x": ["a", "  ", None]}, {}, ["a", None, None]),
    "days": (".sav", {"x": [DAY, None]}, {}, ["1981-03-04", None]),
    "days in Stata": (".dta", {"x": [DAY, None]}, {}, ["1981-03-04", None]),
    "days in Stata, as one likes": (
        ".dta", {"x": [DAY]}, {"variable_format": {"x": "%tdDD/NN/CCYY"}}, ["1981-03-04"],
    ),
    "days in SAS": (".xpt", {"x": [DAY]}, {}, ["1981-03-04"]),
    "early days": (".sav", {"x": [datetime.date(1600, 1, 1)]}, {}, ["1600-01-01"]),
    "moments": (".sav", {"x": [MOMENT]}, {}, ["2020-01-02 03:04:05"]),
    "moments in SAS": (".xpt", {"x": [MOMENT]}, {}, ["2020-01-02 03:04:05"]),
    "hours": (".sav", {"x": [datetime.time(3, 4)]}, {}, ["03:04:00"]),
    "spans of over a day": (
        ".sav", {"x": [100_000.0]}, {"variable_format": {"x": "DTIME11"}}, ["100000"],
    ),
    "months": (
        ".sav", {"x": [12_571_632_000.0]}, {"variable_format": {"x": "MOYR8"}}, ["1981-03-01"],
    ),
    "large numbers": (".sav", {"x": [2.0**60, 0.1]}, {}, [str(2**60), "0.1"]),
    "names and numbers in SAS": (".xpt", {"AGE": [39.0, None]}, {}, ["39", None]),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("ending", "cells", "how", "expected"), ODD.values(), ids=ODD)
def test_odd_files_are_read_and_released_as_they_say(tmp_path, ending, cells, how, expected):
    cells = {"id": np.arange(1.0, len(expected) + 1), **cells}
    title = {"column_labels": {name: f"Über {name}" for name in cells}}
    content = write_by_pyreadstat(tmp_path, ending, cells, **title, **how)
    file = read_table(content, f"made{ending}", ReadSettings(missing_markers=()))
    name = [*cells][1]
    assert list(file.table) == [*cells] and get_texts(file.table[name]) == expected
    assert file.form.labels[name].title == f"Über {name}"
    for kind in ("sav", "dta"):
        if explain_unwritable(kind, lambda: file.table):
            assert kind == "dta" and len(name) == 64
            continue
        released = table_bytes(file.table, kind, file.form)
        again = read_table(released, f"again.{kind}", ReadSettings(missing_markers=()))
        assert get_texts(again.table[name]) == expected
        assert again.form.labels[name].title == f"Über {name}"[: 80 if kind == "dta" else 250]
        names, columns = read_back(released, kind)
        assert names == [*cells]
        assert [cell or None for cell in columns[1].to_pylist()] == expected


def test_old_stata_files_are_read_in_the_encoding_of_windows_or_as_told(tmp_path):
    path = tmp_path / "old.dta"
    pd.DataFrame({"x": ["caf\xe9 \x80", "b"]}).to_stata(path, version=114, write_index=False)
    assert read_table(path).table["x"][0] == "café €"
    greek = read_table(path, settings=ReadSettings(encoding="iso8859-7")).table["x"][0]
    assert greek.startswith("cafι")


def test_numbers_of_32_bits_are_as_they_were_written(tmp_path):
    path = tmp_path / "floats.dta"
    floats = pd.DataFrame({"x": np.array([0.1, 2, np.nan, 1e-9], "float32"), "id": range(4)})
    floats.to_stata(path, version=118, write_index=False)
    table = read_table(path).table
    assert get_texts(table["x"]) == ["0.1", "2", None, "1e-09"]
    assert read_back(table_bytes(table, "dta"), "dta")[1][0].to_pylist() == get_texts(table["x"])
    assert pd.read_stata(io.BytesIO(table_bytes(floats, "dta")))["x"][0] == 0.1


PEOPLE = {
    "sex": [1.0, 1.0, 2.0, 2.0, 1.0, 2.0, 9.0],
    "age": [31.0, 32, 33, 34, 38, 35, 90],
    "ill": [1.0, 2, 1, 2, 1, 2, 3],
    "born": [datetime.date(1990, 1, day) for day in range(1, 8)],
}
LABELS = {"sex": SEX, "ill": {1: "flu", 2: "cold", 3: "kuru"}}


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_a_survey_is_released_with_codes_labels_and_missing_values(tmp_path, kind, capsys):
    """Two classes of three, by hand; the one person of 90 refused an answer and is suppressed."""
    titles = {"sex": "Sex of the person", "ill": "Diagnosis"}
    if kind == "sav":
        missing = {"sex": [9]}
        content = write_by_pyreadstat(
            tmp_path, ".sav", PEOPLE, column_labels=titles, labels=LABELS, missing_ranges=missing
        )
    else:
        cells = PEOPLE | {"sex": [*PEOPLE["sex"][:6], "r"]}
        labels = LABELS | {"sex": {1: "male", 2: "female", "r": "refused"}}
        content = write_by_pyreadstat(
            tmp_path, ".dta", cells, column_labels=titles, labels=labels,
            missing_user_values={"sex": ["r"]},
        )  # fmt: skip
    (tmp_path / f"people.{kind}").write_bytes(content)
    columns = {
        "sex": qi(), "age": qi("intervals", widths=[10]), "ill": {"role": "sensitive"},
        "born": {"role": "insensitive"},
    }  # fmt: skip
    plan = make_plan(
        columns, 3, {"name": "levels", "node": {"sex": 0, "age": 1}}, suppressed="keep",
        suppression_limit=0.2, read={"missing": "as-value"},
    )  # fmt: skip
    (tmp_path / "plan.json").write_text(plan.to_json())
    out = tmp_path / f"out.{kind}"
    table = str(tmp_path / f"people.{kind}")
    command = ["run", str(tmp_path / "plan.json"), "--table", table, "--out", str(out)]
    assert main(command) == 0, capsys.readouterr().err
    released, head = getattr(pyreadstat, f"read_{kind}")(out)
    assert head.column_names_to_labels["sex"] == "Sex of the person"
    assert head.variable_value_labels["ill"] == {1: "flu", 2: "cold"}, "kuru was suppressed"
    kept = released[released["suppressed"] == 0]
    assert sorted(Counter(zip(kept["sex"], kept["age"], strict=True)).values()) == [3, 3]
    assert set(kept["age"]) == {"age 30-39"} or kept["age"].str.len().gt(2).all()
    assert sorted(kept["born"]) == PEOPLE["born"][:6]
    gone = released[released["suppressed"] == 1]
    assert len(gone) == 1 and gone[["ill", "born"]].isna().all(axis=None)
    assert b"kuru" not in out.read_bytes() and b"refused" not in out.read_bytes()


def test_labels_of_unchanged_columns_have_their_codes_and_groups_are_texts():
    file = pd.DataFrame({"x": pd.Series(["male", "female", "3", None], dtype="str")})
    form = form_of({"x": {"male": 1.0, "female": 2.0}})
    table, head = read_by_pyreadstat(table_bytes(file, "sav", form))
    assert table["x"].fillna(0).tolist() == [1, 2, 3, 0]
    assert head.variable_value_labels == {"x": {1: "male", 2: "female"}}
    group = file.replace("3", "*")
    table, head = read_by_pyreadstat(table_bytes(group, "sav", form))
    assert table["x"].tolist() == ["male", "female", "*", ""] and not head.variable_value_labels
    twice = file.replace("3", "2")
    assert read_by_pyreadstat(table_bytes(twice, "sav", form))[0]["x"].tolist()[2] == "2"


def form_of(codes):
    labels = {name: statistics_files.ColumnLabels("", own) for name, own in codes.items()}
    return statistics_files.TextForm(labels=labels)


def read_by_pyreadstat(content: bytes):
    return pyreadstat.read_sav(io.BytesIO(content))


LETTERS = st.sampled_from(["", " ", "1", "2", "a", "b", "c"])


@examples(100)
@given(
    st.dictionaries(st.integers(1, 5), LETTERS, max_size=5),
    st.lists(st.none() | st.integers(1, 5), min_size=1, max_size=8),
)
def test_different_codes_have_different_texts_and_come_back(labels, codes):
    cells, code_of = apply_labels(pd.Series(codes, dtype=float), labels)
    texts = get_texts(cells)
    assert [text is None for text in texts] == [code is None for code in codes]
    pairs = {*zip(codes, texts, strict=True)}
    assert len(pairs) == len({*codes}) == len({*texts})
    assert all(text in (str(code), labels.get(code)) for code, text in pairs - {(None, None)})
    column = pd.DataFrame({"x": cells})
    restored = statistics_files.build_variables(
        statistics_files.SPSS, column, form_of({"x": code_of})
    ).table["x"]
    assert [None if pd.isna(code) else code for code in restored] == codes


# --- bad files --------------------------------------------------------------------------------
@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta", ".xpt"])
def test_a_file_that_is_cut_off_or_changed_is_refused_in_a_sentence(tmp_path, ending):
    cells = {"x": [1.0, 2] * 20, "y": ["abc", "d"] * 20}
    content = write_by_pyreadstat(tmp_path, ending, cells)
    whole = read_table(content, f"t{ending}").table
    generator = np.random.default_rng(0)
    for cut in generator.integers(1, len(content), 8):
        try:
            part = read_table(content[:cut], f"t{ending}").table
            assert ending == ".xpt" or part.equals(whole)  # SAS does not say how many records
        except TableError as error:
            assert f"t{ending}" in str(error)
        spoiled = bytearray(content)
        spoiled[cut] ^= 255
        try:
            read_table(bytes(spoiled), f"t{ending}")
        except TableError as error:
            assert str(error)
    for junk in (b"junk" * 100, bytes(4_000), content[:100] + bytes(2_000)):
        with pytest.raises(TableError, match=r"cannot be read as (SPSS|Stata|SAS)"):
            read_table(junk, f"t{ending}")


def test_damage_that_crashes_the_reader_is_a_sentence(tmp_path):
    """A record that gives labels to a variable that is not there."""
    content = write_by_pyreadstat(tmp_path, ".sav", {"x": [1.0]}, labels={"x": SEX})
    record = struct.pack("<iii", 4, 1, 1)
    assert content.count(record) == 1
    spoiled = content.replace(record, struct.pack("<iii", 4, 1, 7_777))
    with pytest.raises(TableError, match=r"^'t\.sav' cannot be read as SPSS"):
        read_table(spoiled, "t.sav")


@pytest.fixture
def small_limits(limits):
    limits(unpacked_megabytes=2, rows=5_000)


def test_a_lie_about_the_number_of_records_reserves_no_memory(tmp_path, small_limits):
    content = bytearray(write_by_pyreadstat(tmp_path, ".sav", {"x": [1.0]}))
    for told, says in ((6_000, "5\u202f000"), (4_000, "cannot be read as SPSS")):
        content[80:84] = struct.pack("<i", told)
        with pytest.raises(TableError, match=says):
            read_table(bytes(content), "t.sav")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, small_limits):
    content = write_by_pyreadstat(tmp_path, ".zsav", {"x": ["a" * 30_000] * 200})
    assert len(content) < 200_000
    with pytest.raises(TableError, match=r"'t\.zsav' unpacks to 6 MB or more"):
        read_table(content, "t.zsav")
    content = bytearray(content)
    content[80:84] = struct.pack("<i", -1)  # it does not say how many records it has
    with pytest.raises(TableError, match=r"'t\.zsav' unpacks to 3 MB or more"):
        read_table(bytes(content), "t.zsav")


def test_a_long_text_that_many_records_share_is_refused(tmp_path, small_limits):
    path = tmp_path / "t.dta"
    table = pd.DataFrame({"x": ["a" * 30_000] * 200})
    table.to_stata(path, version=118, write_index=False, convert_strl=["x"])
    assert path.stat().st_size < 50_000
    with pytest.raises(TableError, match=r"'t\.dta' unpacks to 6 MB or more"):
        read_table(path)


def test_a_date_beyond_the_years_is_named(tmp_path):
    for kind, number, how in (
        (".sav", 1e15, "DATE11"),
        (".dta", 1e8, "%td"),
        (".xpt", 1e9, "DATE9"),
    ):
        content = write_by_pyreadstat(
            tmp_path, kind, {"born": [number]}, variable_format={"born": how}
        )
        with pytest.raises(TableError, match="Column 'born' holds a date outside"):
            read_table(content, f"t{kind}")


@pytest.mark.parametrize(
    ("kind", "cells", "says"),
    [
        ("sav", {"marital-status": ["a"]}, r"'marital-status' cannot have this name in SPSS"),
        ("sav", {"with": ["a"]}, "'with' cannot"),
        ("sav", {"a": ["x"], "A": ["x"]}, "differ in case only"),
        ("dta", {"a" * 33: ["a"]}, "at most 32 letters"),
        ("dta", {"float": ["a"]}, "'float' cannot"),
        ("sav", {"a": ["x" * 32_768]}, "more than 32,767 bytes"),
        ("dta", {"a": ["x\0y"]}, "a NUL character"),
    ],
)
def test_what_a_program_cannot_hold_is_refused(kind, cells, says):
    table = pd.DataFrame(cells)
    with pytest.raises(TableError, match=says):
        table_bytes(table, kind)
    assert explain_unwritable(kind, lambda: table)


def test_sas_files_are_not_written():
    assert find_format("x.xpt").name == "sas"
    with pytest.raises(TableError, match="kanon reads SAS files and writes none"):
        find_format("x.sas7bdat", writes=True)


def test_without_files_in_memory_nothing_stays_in_the_temporary_folder(monkeypatch, tmp_path):
    table = pd.DataFrame({"a": ["x"]})
    content = table_bytes(table, "sav")
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert table_bytes(table, "sav") == content and not list(tmp_path.iterdir())
