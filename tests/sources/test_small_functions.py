"""Small functions, by examples."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from kanon.base.values import Frequencies, ValueCounts
from kanon.errors import TableError
from kanon.sources.addresses import get_tables_folder
from kanon.sources.arrow_sizes import measure_expanded_column
from kanon.sources.arrow_tables import trim_column, trim_index
from kanon.sources.coverage import (
    count_column,
    count_records_per_value,
    count_values,
    find_uncovered_values,
)
from kanon.sources.encodings import decode
from kanon.sources.engines import duckdb
from kanon.sources.engines.rows import escape_sql_name
from kanon.sources.exposure import (
    build_exposure,
    count_unique_without_each,
    describe_suppressed,
    measure_exposure,
)
from kanon.sources.first_line import find_view_names, read_column_names, read_first_line
from kanon.sources.formats import FORMATS, find_format
from kanon.sources.histograms import build_table_histogram
from kanon.sources.limits import (
    MEGABYTE,
    __file__,
    _format_bytes,
    check_days,
    check_room,
    check_size,
    lift_size_limits,
    measure_path,
)
from kanon.sources.memory import (
    MemoryTable,
    build_column_classes,
    is_row_numbering,
    rank_alphabetically,
)
from kanon.sources.missing import describe_missing_cells, find_odd_numbers, mark_blanks_missing
from kanon.sources.read_back import read_back_text
from kanon.sources.read_settings import ReadSettings
from kanon.sources.repairs import Repair, describe_repair_kinds
from kanon.sources.rows import _blank_cells, name_missing_cells
from kanon.sources.separators import (
    check_separates,
    check_separator,
    describe_separator,
    is_padded,
    remove_padding,
)
from kanon.sources.sheet_rows import count_leading_blanks, fill_notes, find_row_width
from kanon.sources.sheets import decode_column_letters, measure_shared_texts
from kanon.sources.stored_values import find_positions
from kanon.sources.text_form import TextForm, needs_all_quotes
from kanon.sources.typed_files import read_parquet, read_sheet


def test_addresses_as_in_examples():
    assert get_tables_folder({}).name == "kanon-tables"


def test_arrow_sizes_as_in_examples():
    short = pa.array(["abcd"] * 3).dictionary_encode()
    assert measure_expanded_column(pa.chunked_array([short])) == 12


def test_arrow_tables_as_in_examples():
    one = pd.Series(["x", "secret"], dtype="category").iloc[:1]
    assert (list(one.cat.categories), list(trim_column(one).cat.categories)) == (
        ["secret", "x"],
        ["x"],
    )
    missing = pd.Series([1, 77], dtype="Int64").mask([False, True])
    assert (
        [
            pa.array(column).buffers()[1].to_pybytes()[8]
            for column in (missing, trim_column(missing))
        ]
    ) == [77, 0]
    assert list(trim_index(pd.CategoricalIndex(["x", "secret"])[:1]).categories) == ["x"]


def test_coverage_as_in_examples():
    assert count_values(pd.Series(["M", "F", None, "F"])) == {"F": 2, "M": 1}
    column = pd.Series(["39", " 39", "39.0", "x", None], dtype="str")
    assert sorted(count_records_per_value(column).tolist()) == [1, 3]
    assert (count_column(pd.Series(["M", None])).missing) == 1
    from kanon.hierarchy.build import suppression

    assert find_uncovered_values({"X": 2, "F": 1}, suppression(["F", "M"])) == {"X": 2}


def test_encodings_as_in_examples():
    assert (decode("Zoë;Gaël".encode("latin-1"), "t.csv")[1:]) == ("cp1252", True)


def test_the_texts_of_an_enumeration_are_selected():
    kind = "ENUM('x', 'it''s, y')[]"
    assert duckdb._select_cell('"a"', kind) == 'CAST("a" AS VARCHAR[]) AS "a"'


def test_rows_as_in_examples():
    assert escape_sql_name('a"b') == '"a""b"'


def test_exposure_as_in_examples():
    from kanon.sources.memory import build_column_classes

    table = pd.DataFrame({"a": ["x", "x", None], "who": ["Ann", "Ben", "Ben"]})
    assert measure_exposure(build_column_classes(table, ["a"])).sizes.tolist() == [1, 2]
    found = measure_exposure(build_column_classes(table, ["a"], person="who"))
    assert (found.sizes.tolist(), found.members.tolist(), found.unique) == ([1, 2], [1, 1], 1)
    assert build_exposure(Frequencies.count_frequencies([2, 1, 1])).members.tolist() == [2, 2]
    from kanon.sources.memory import build_column_classes

    table = pd.DataFrame({"a": ["x", "y"], "b": ["z", "z"]})
    assert count_unique_without_each(build_column_classes(table, ["a", "b"])) == {"a": 0, "b": 2}
    assert describe_suppressed(1).endswith("it counts as suppressed and belongs to no class.")


def test_first_line_as_in_examples():
    assert (read_first_line([["", ""], ["39", "F"], ["50", "F"]], "t.csv", header=False).names) == [
        "column 1",
        "column 2",
    ]
    assert (
        read_first_line([["age", "sex"], ["1", "39", "F"], ["2", "50", "F"]], "t.csv").lacks_name
    ) is True
    with pytest.raises(
        TableError,
        match=re.escape("'t.csv' has more than one column called 'a': names must differ."),
    ):
        read_column_names(["a", "b", "a "], "t.csv")
    assert (
        find_view_names(["a", "a_1"], "v", {"t": "CREATE TABLE t(a)", "v": "SELECT a, a FROM t"})
    ) == ["a", "a"]


def test_formats_as_in_examples():
    assert (find_format("People.TAB").name, [*FORMATS]) == (
        "tsv",
        ["csv", "tsv", "parquet", "feather", "xlsx", "sav", "dta"],
    )


def test_histograms_as_in_examples():
    assert build_table_histogram(
        "ill", ValueCounts({"flu": 2, "cold": 1}, missing=1)
    ).dense().tolist() == [[1, 2, 1]]


def test_limits_as_in_examples():
    with lift_size_limits():
        check_size("census.csv", 10**12, 9)
    with pytest.raises(TableError, match=re.escape("'t.csv' has 2")):
        check_size("t.csv", 3, 2_000_000)
    with pytest.raises(
        TableError, match=re.escape("Column 'born' holds a date outside the years 1 to 9999:")
    ):
        check_days(pd.Series(np.array(["12069-12-31"], dtype="datetime64[s]")), "born")
    with pytest.raises(TableError, match=re.escape("'release.csv' would take about 953")):
        check_room(Path("release.csv"), 10**18)
    assert measure_path(Path(__file__)) == Path(__file__).stat().st_size, measure_path(
        Path("nowhere")
    ) == (True, 0)
    assert (_format_bytes(MEGABYTE), _format_bytes(MEGABYTE - 1, up=False), _format_bytes(5)) == (
        "1 MB",
        "1 023 kB",
        "5 bytes",
    )


def test_memory_as_in_examples():
    table = pd.DataFrame({"sex": ["M", "F", "F"], "ill": ["flu", "flu", "cold"]})
    found = build_column_classes(table, ["sex"], ["ill"])
    assert (found.counts.tolist(), found.sensitive[0].dense().tolist()) == (
        [2, 1],
        [[1, 1], [0, 1]],
    )
    assert rank_alphabetically(["b", "a"]).tolist() == [2, 1, 0]
    table = MemoryTable(pd.DataFrame({"age": [39, None]}))
    assert (table.n_records, table.incomplete(["age"]), table.complete(["age"]).n_records) == (
        2,
        1,
        1,
    )
    assert (
        [is_row_numbering(pd.Index(index)) for index in (range(5, 9), [0, 1], ["Ann", "Ben"])]
    ) == [
        True,
        True,
        False,
    ]


def test_missing_as_in_examples():
    ages = pd.DataFrame({"age": ["31", "44", "999", "58"], "room": ["999", "1", "", ""]})
    assert (find_odd_numbers(ages)[0].columns, find_odd_numbers(ages)[0].other_cells) == (
        {"age": 1},
        1,
    )
    assert mark_blanks_missing(pd.DataFrame({"ill": ["flu", " ", None]}))[
        "ill"
    ].isna().tolist() == [False, True, True]
    sentences = describe_missing_cells({"age": 2}, {"?": 2, "NA": 1}, ["?"])
    assert sentences[0] == "1 column has missing cells ('?'): 'age' 2."


def test_read_back_as_in_examples():
    names, cells = read_back_text(b"age,ill\n*,flu\n*,\n")
    assert (names, [column.to_pylist() for column in cells]) == (
        ["age", "ill"],
        [["*", "*"], ["flu", ""]],
    )


def test_repairs_as_in_examples():
    assert (
        describe_repair_kinds([Repair(column="sex", replace={"m": "male"})])
        == "Before anonymisation, the table was repaired: values replaced in 1 step."
    )


def test_released_rows_as_in_examples():
    assert (
        name_missing_cells(pd.DataFrame({"age": [39.5, None], "sex": [None, "F"]})).values.tolist()
    ) == [["39.5", "(missing)"], ["(missing)", "F"]]
    assert (
        repr(_blank_cells(pd.Series([1, 2], dtype="uint8"), np.array([True, False])).dtype)
        == "UInt8Dtype()"
    )


def test_separators_as_in_examples():
    assert (describe_separator(";"), describe_separator("\t")) == ("';'", "tab")
    with pytest.raises(
        TableError, match=re.escape("Separator '::' is not allowed: choose one ASCII character")
    ):
        check_separator("::")
    with pytest.raises(
        TableError,
        match=re.escape("Separator ',' does not separate anything in 't.csv': with ';' every"),
    ):
        check_separates(b"a;b\n1;2\n", ",", "t.csv")
    assert (is_padded(b"a,b\n39, x\n", ","), is_padded(b"a,b\n39, x\n40,y\n", ",")) == (True, False)
    assert remove_padding(b'a, b\n39, "x, y"\n', ",") == b'a,b\n39,"x, y"\n'


def test_sheet_rows_as_in_examples():
    assert (find_row_width(["a", "", "b", "", ""]), find_row_width([""])) == (3, 0)
    assert (count_leading_blanks(["", "a", ""]), count_leading_blanks([""])) == (1, 1)
    assert (
        fill_notes(b"a,b,c\n1,2,3\n\nSource: x, y\n", ",") == b'a,b,c\n1,2,3\n\n"Source: x, y",,\n'
    )


def test_sheets_as_in_examples():
    assert (decode_column_letters(b"A"), decode_column_letters(b"XFD")) == (1, 16384)
    runs = b"<si><r><t>d</t></r><r><t>e</t></r></si>"
    assert measure_shared_texts(b"<sst><si><t>abc</t></si><si/>" + runs + b"</sst>") == [3, 0, 2]


def test_stored_values_as_in_examples():
    assert (
        find_positions(np.array([[0, 1], [1, 0]]), np.array([[1, 0], [0, 1], [1, 0]])).tolist()
    ) == [1, 0, 1]


def test_text_form_as_in_examples():
    assert (needs_all_quotes(b"a,b\r"), needs_all_quotes(b"a,b\n")) == (True, False)
    assert (
        repr(TextForm.find_form(b"a;b\r\n1;2\r\n", ";", "utf-8"))
        == "TextForm(separator=';', encoding='utf-8', line_end='\\r\\n')"
    )
    assert (
        repr(TextForm(";", "latin-1").choose_encoding_for("≥ 5"))
        == "TextForm(separator=';', encoding='utf-8', line_end='\\n')"
    )


def test_typed_files_as_in_examples():
    with pytest.raises(
        TableError,
        match=re.escape("'t.parquet' cannot be read as Parquet: it is damaged, locked or"),
    ):
        read_parquet(b"a,b", "t.parquet")
    with pytest.raises(
        TableError,
        match=re.escape("'t.xlsx' cannot be read as XLSX: it is damaged, locked or another"),
    ):
        read_sheet(b"a,b", "t.xlsx", ReadSettings())
