"""Files that would take all memory are refused before they do; what is large and honest is read."""

import contextlib
import functools
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import types
import zipfile

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.unzipping import Unreadable, extract_members
from kanon.errors import TableError
from kanon.run import run
from kanon.sources import typed_files
from kanon.sources.addresses import Address
from kanon.sources.arrow_sizes import measure_arrow, measure_parquet, read_footer_length
from kanon.sources.engines.duckdb_errors import explain_duckdb_error
from kanon.sources.engines.settings import get_duckdb_settings, set_spilling_limit
from kanon.sources.limits import check_room
from kanon.sources.reading import read_table
from kanon.sources.sheets import measure_copied_texts, measure_extent, measure_shared_texts
from kanon.sources.stored import open_stored
from kanon.sources.writing import table_bytes, write_whole
from support import bombs
from support.plans import make_plan, qi
from support.random_tables import examples
from support.spark import SPARK, require_spark

NAMES = [name for files in bombs.BOMBS.values() for name in files]
MOST_MEGABYTES = 200
"""A bomb may raise the peak of memory by so much under limits of 20 MB: its file has 40."""

HIT = {
    "two corners.xlsx": "limit is 300\u202f000 (cells, see docs/operate/limits.md).",
    "zeros, its footer a lie.parquet": "limit is 20 MB (unpacked_megabytes, see",
    "many records.csv": "200\u202f001 records; the limit is 200\u202f000 (rows",
    "a million columns.csv": "1\u202f000\u202f001 columns; the limit",
    "packed.csv.gz": "unpack it first",
    "a text in many cells.xlsx": "unpacks to 500 MB or more; the limit is 20 MB",
    "many texts promised.xlsx": "claims to have 4294967295 texts",
}
"""What is said of some of them."""


@pytest.fixture(scope="module")
def tried(request, tmp_path_factory):
    """Per bomb that a test is about what was said, and by how many megabytes its peak rose."""
    folder = tmp_path_factory.mktemp("bombs")
    cases = [item for item in request.session.items if item.path == request.path]
    asked = {item.callspec.params.get("name") for item in cases if hasattr(item, "callspec")}
    bombs.write_all(folder, asked.union(HIT))
    limits = folder / "limits.toml"
    limits.write_text(bombs.LIMITS)
    done = subprocess.run(
        [sys.executable, bombs.__file__, str(folder)],
        env={**os.environ, "KANON_SETTINGS": str(limits)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: (said, rise) for name, said, rise, _ in lines}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_bomb_is_refused_in_a_sentence_and_takes_no_memory(tried, name):
    said, rise = tried[name]
    assert said.endswith(".") and "\n" not in said and not said.startswith("read:")
    assert rise < MOST_MEGABYTES


def test_what_was_hit_is_said_and_where_it_is_set(tried):
    for name, part in HIT.items():
        assert part in tried[name][0], name


# --- What is honest is read ---------------------------------------------------------------------
TEXTS = ["short", "x" * 200, "é", None]


@examples(60)
@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=50),
    st.sampled_from(["none", "snappy", "gzip", "zstd", "lz4"]),
    st.sampled_from(["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", None]),
    st.sampled_from(["1.0", "2.0"]),
)
def test_the_pages_of_a_parquet_file_have_what_its_footer_says_if_that_is_true(
    cells, compression, encoding, version
):
    table = pa.table({"a": pa.array(cells, pa.string()), "n": list(range(len(cells)))})
    out = io.BytesIO()
    encodings = {"a": encoding, "n": "PLAIN"} if encoding else None
    pyarrow.parquet.write_table(
        table, out, compression=compression, column_encoding=encodings, row_group_size=7,
        use_dictionary=encoding is None, data_page_version=version, data_page_size=64,
    )  # fmt: skip
    about = pyarrow.parquet.ParquetFile(out).metadata
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    footer = sum(group.column(j).total_uncompressed_size for group in groups for j in range(2))
    unpacked, reach = measure_parquet(out.getvalue())
    # A page has a cell at least, and its header the least and the greatest of its cells.
    assert unpacked <= footer <= unpacked + 600 * len(cells) * len(groups)
    assert (reach > 0) == (encoding in (None, "DELTA_BYTE_ARRAY") and unpacked > 0)
    longest = max(len(cell.encode()) for cell in [*cells, ""] if cell is not None)
    assert not reach or reach >= longest, "no row has more than the reach"
    found = read_table(out.getvalue(), "a.parquet").table["a"]
    assert [None if pd.isna(cell) else cell for cell in found] == cells


@pytest.mark.parametrize("how", ["dictionary", "prefixes"])
def test_values_that_many_rows_mean_are_read_in_pieces_while_they_fit(limits, how):
    limits(unpacked_megabytes=2)
    cells = ["x" * 1_000, "y" * 900] * 800
    encoding = {} if how == "dictionary" else {"column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    data = bombs.parquet(
        pa.table({"a": cells}), use_dictionary=how == "dictionary", store_schema=False, **encoding
    )
    assert read_table(data, "a.parquet").table["a"].tolist() == cells
    with pytest.raises(TableError, match="unpacks to 3 MB or more; the limit is 2 MB"):
        read_table(bombs.parquet(pa.table({"a": cells * 2})), "a.parquet")


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_the_size_of_an_arrow_file_is_known_before_it_is_unpacked(compression):
    table = pa.table({"a": ["0" * 100] * 500, "n": np.arange(500)})
    data = bombs.feather(table, compression=compression)
    rows, size = measure_arrow(data[8:])
    assert rows == 500
    assert 500 * 108 + 501 * 4 <= size <= 500 * 108 + 502 * 8
    assert measure_arrow(bombs.stream(table)) == (rows, measure_arrow(bombs.stream(table))[1])
    assert len(read_table(data, "a.feather").table) == 500


@pytest.mark.parametrize("change", [
    lambda byte: byte ^ 1,
    *(pytest.param(change, marks=pytest.mark.nightly)
      for change in (lambda byte: byte + 19, lambda _: 0)),
])  # fmt: skip
def test_no_byte_of_a_footer_ends_the_process(change):
    """pyarrow aborted where what a footer says of a column does not fit its schema."""
    data = bombs.parquet(pa.table({"a": ["x", "y", None] * 20, "n": range(60)}))
    for place in range(len(data) - 8 - read_footer_length(data), len(data)):
        broken = bytearray(data)
        broken[place] = change(data[place]) % 256
        with contextlib.suppress(TableError):
            read_table(bytes(broken), "t.parquet")


def test_a_footer_that_names_a_field_twice_is_refused():
    """One reader goes by the first, another by the second."""
    data = bombs.parquet(pa.table({"a": ["x", "y"]}))
    length = read_footer_length(data)
    body = data[-8 - length : -9]  # without the end of the structure
    twice = body + b"\x09\x08\x0c" + b"\x00"  # field 4 once more: no groups of rows
    again = data[: -8 - length] + twice + len(twice).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError, match="occurs twice"):
        measure_parquet(again)


def test_a_footer_beyond_all_tables_is_told_of(monkeypatch):
    data = bombs.parquet(pa.table({"a": ["x", "y"]}))
    monkeypatch.setattr(typed_files, "LONGEST_FOOTER", read_footer_length(data) - 1)
    with pytest.raises(TableError, match="write it with larger row groups"):
        read_table(data, "t.parquet")


@examples(300)
@given(st.integers(0, 10_000), st.integers(0, 255), st.sampled_from(["parquet", "feather"]))
def test_a_byte_that_was_changed_is_a_table_or_a_sentence(place, value, kind):
    table = pa.table({"a": ["x", "y", "x"] * 20, "n": list(range(60))})
    make = bombs.parquet if kind == "parquet" else bombs.feather
    data = bytearray(make(table, compression="zstd"))
    data[place % len(data)] = value
    try:
        read_table(bytes(data), f"a.{kind}")
    except TableError as error:
        assert error.sentence.endswith(".")


# --- Sheets -------------------------------------------------------------------------------------
@examples(100)
@given(
    st.dictionaries(st.tuples(st.integers(1, 40), st.integers(1, 60)), st.booleans(), max_size=12),
    st.sampled_from(["", "x:"]),
    st.sampled_from(['"', "'"]),
)
def test_the_extent_of_a_sheet_is_never_less_than_it_is(cells, prefix, quote):
    rows: dict[int, str] = {}
    for (row, column), placed in sorted(cells.items()):
        place = f" r={quote}{_letters(column)}{row}{quote}" if placed else ""
        rows[row] = rows.get(row, "") + f"<{prefix}c{place}><{prefix}v>1</{prefix}v></{prefix}c>"
    text = "".join(
        f"<{prefix}row r={quote}{row}{quote}>{inner}</{prefix}row>" for row, inner in rows.items()
    )
    last_row, last_column = measure_extent(text.encode())
    told = [place for place, placed in cells.items() if placed]
    assert last_row >= max((row for row, _ in cells), default=0)
    assert last_column >= max((column for _, column in told), default=0)
    if all(cells.values()):
        assert last_row == max((row for row, _ in told), default=0)
        assert last_column == max((column for _, column in told), default=0)


def _letters(column: int) -> str:
    return ("" if column <= 26 else chr(64 + (column - 1) // 26)) + chr(65 + (column - 1) % 26)


def test_a_place_that_lies_across_two_pieces_is_found():
    for blanks in range((1 << 20) - 20, (1 << 20) + 3):
        assert measure_extent(b" " * blanks + b'<c r="XFD1048576"/>') == (1_048_576, 16_384)


@pytest.mark.nightly
def test_a_sheet_that_is_large_and_honest_is_read(limits):
    limits(cells=30_000)
    table = pd.DataFrame({f"c{i}": range(990) for i in range(30)})
    found = read_table(table_bytes(table, "xlsx"), "a.xlsx").table
    pd.testing.assert_frame_equal(found, table)
    with pytest.raises(TableError, match=r"the limit is 30.000 \(cells"):
        read_table(table_bytes(pd.concat([table, table[:20]]), "xlsx"), "a.xlsx")


def test_a_sheet_has_no_more_columns_than_its_letters_can_name():
    """A reader makes room for a cell called ``nullB1``, in column 6,775,186."""
    data = table_bytes(pd.DataFrame({"a": [1], "b": [2]}), "xlsx")
    beyond = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as book, zipfile.ZipFile(beyond, "w") as broken:
        for part in book.namelist():
            broken.writestr(part, book.read(part).replace(b'r="B1"', b'r="nullB1"'))
    with pytest.raises(
        TableError, match=r"spans 6.775.186 columns; an XLSX file has at most 16.384"
    ):
        read_table(beyond.getvalue(), "a.xlsx")


def test_the_records_and_columns_of_a_sheet_are_limited(limits):
    data = table_bytes(pd.DataFrame({"a": range(9), "b": 1, "c": 2}), "xlsx")
    limits(rows=8)
    with pytest.raises(TableError, match=r"'a.xlsx' has 9 records; the limit is 8"):
        read_table(data, "a.xlsx")
    limits(columns=2)
    with pytest.raises(TableError, match=r"'a.xlsx' has 3 columns; the limit is 2"):
        read_table(data, "a.xlsx")


@examples(100)
@given(st.lists(st.sampled_from(["short", "x" * 9_000, "é", "<&'", "b\n "]), min_size=1))
def test_the_texts_of_a_sheet_are_counted_once_per_cell(cells):
    data = table_bytes(pd.DataFrame({"a": cells, "n": 1}), "xlsx")
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        texts = measure_shared_texts(book.read("xl/sharedStrings.xml"))
        assert sorted(texts) == sorted(len(text.encode()) for text in {"a", "n", *cells})
        size = sum(len(text.encode()) for text in ["a", "n", *cells])
        assert measure_copied_texts(book, 0) == size
        assert measure_copied_texts(book, 10**9) == 0, "far from what is allowed: not counted"


def test_a_long_text_beside_many_short_ones_is_read(limits):
    limits(unpacked_megabytes=1)
    cells = ["x" * 30_000] * 20 + ["short"] * 2_000
    found = read_table(table_bytes(pd.DataFrame({"a": cells}), "xlsx"), "a.xlsx").table
    assert found["a"].tolist() == cells
    with pytest.raises(TableError, match="unpacks to 2 MB or more; the limit is 1 MB"):
        read_table(table_bytes(pd.DataFrame({"a": cells[:1] * 40}), "xlsx"), "a.xlsx")


@pytest.mark.parametrize(
    "texts", [b"<sst><si><si/></si></sst>", b"<sst><si></sst>", b"<!DOCTYPE sst><sst><si/></sst>"]
)
def test_texts_that_cannot_be_counted_are_damaged(texts):
    with pytest.raises(Unreadable):
        measure_shared_texts(texts)


def test_the_reader_of_sheets_sees_nothing_that_was_not_counted():
    hidden = bombs.book()
    data = bombs.book() + b"PK\5\6"  # more behind the end of the zip
    assert read_table(hidden, "a.xlsx").table.shape == (1, 1)
    with pytest.raises(TableError):
        read_table(data, "a.xlsx")
    with pytest.raises(Unreadable):
        list(extract_members(data, 10**6, 10))


def test_a_csv_at_its_limits_is_read(limits):
    limits(rows=3, columns=2, cells=6)
    for text in (
        b"a,b\n1,2\n3,4\n5,6\n",
        b"a,b\r\n1,2\r\n\r\n\r\n3,4\r\n5,6",
        b'a\n"1\n2\n3\n4"\n',
    ):
        assert len(read_table(text, "a.csv").table) <= 3
    for text, said in (
        (b"a,b\n1,2\n3,4\n5,6\n7,8\n", "4 records; the limit is 3 .rows"),
        (b"a,b,c\n1,2,3\n", "3 columns; the limit is 2 .columns"),
    ):
        with pytest.raises(TableError, match=said):
            read_table(text, "a.csv")
    limits(cells=5)
    with pytest.raises(TableError, match=r"6 cells; the limit is 5 \(cells"):
        read_table(b"a,b\n1,2\n3,4\n5,6\n", "a.csv")


@pytest.mark.parametrize("kind", [0x00, 0x15, 0x1C, 0x2C, 0x3C])
@pytest.mark.parametrize("place", range(24))
def test_a_page_header_with_another_kind_of_field_is_damaged(place, kind):
    """A structure where a number belongs, and the other way round: the fuzzer's."""
    out = io.BytesIO()
    pyarrow.parquet.write_table(
        pa.table({"a": [1, 2, 3]}), out, compression="none", use_dictionary=False
    )
    broken = bytearray(out.getvalue())
    at = pyarrow.parquet.ParquetFile(out).metadata.row_group(0).column(0).data_page_offset
    broken[at + place] = kind
    with contextlib.suppress(TableError):
        assert len(read_table(bytes(broken), "t.parquet").table) == 3


# --- Releases -----------------------------------------------------------------------------------
WIDE = """
COPY (SELECT 1 AS age, repeat(md5(i::VARCHAR), {times}) AS note FROM range({rows}) t(i))
TO '{path}' (FORMAT parquet)
"""
TARGETS = ["out", "out.parquet", "out.csv", "out.tsv", "out.duckdb#released"]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Runs on tables whose releases are much larger than anything that is needed to make them."""
    folder = tmp_path_factory.mktemp("wide")

    @functools.cache
    def made(rows, times, engine=None):
        path = folder / f"{rows}.parquet"
        duckdb.sql(WIDE.format(rows=rows, times=times, path=path))
        if engine == "other":
            frame, path = duckdb.read_parquet(str(path)).df(), path.with_suffix(".sqlite")
            with contextlib.closing(sqlite3.connect(path)) as base, base:
                frame.to_sql("t", base, index=False)
        return run(PLAN, open_stored(Address(str(path)), engine))

    return made


PLAN = make_plan({"age": qi(), "note": {"role": "insensitive"}})


@pytest.mark.nightly
@pytest.mark.parametrize("name", TARGETS)
def test_a_release_larger_than_allowed_is_not_begun(tmp_path, limits, wide, name, monkeypatch):
    """A Parquet file of 184 KB filled a disk: it stood for 30 million records of 20 KB."""
    done = wide(rows=1_000, times=1_000)
    limits(release_megabytes=1)
    monkeypatch.setattr("kanon.sources.stored_source.get_part_path", lambda path: 1 / 0)
    size = 31 if name in ("out.csv", "out.tsv") else 4
    with pytest.raises(TableError) as refused:
        done.write(Address.parse(str(tmp_path / name)))
    said = f"would take about {size} MB; the limit is 1 MB (release_megabytes, see docs/"
    assert said in refused.value.sentence


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "engine"), [*((name, None) for name in TARGETS), ("out", "spark")]
)
def test_a_release_that_grows_beyond_what_is_allowed_is_stopped(
    tmp_path, limits, wide, name, engine, monkeypatch
):
    """Its first records are short, or packing it helped less than it was expected to."""
    if engine == "spark":
        require_spark()
    for variable, value in SPARK.items():
        monkeypatch.setenv(variable, value)
    done = wide(rows=400_000 if engine else 100_000, times=10, engine=engine)
    limits(release_megabytes=1)
    monkeypatch.setattr("kanon.sources.stored_source.check_room", lambda path, size: None)
    with pytest.raises(TableError) as refused:
        done.write(Address.parse(str(tmp_path / name)))
    assert "Writing was stopped: 'out" in refused.value.sentence
    assert "the limit is 1 MB (release_megabytes, see docs/" in refused.value.sentence
    assert [path for path in tmp_path.iterdir() if path.suffix != ".toml"] == []


@pytest.mark.nightly
def test_a_release_from_a_database_is_held_to_the_same(tmp_path, limits, wide, monkeypatch):
    done = wide(rows=20_000, times=10, engine="other")
    limits(release_megabytes=1)
    with pytest.raises(TableError, match=r"'out.csv' would take about 7 MB; the limit is 1"):
        done.write(Address(str(tmp_path / "out.csv")))
    monkeypatch.setattr("kanon.sources.stored_source.check_room", lambda path, size: None)
    with pytest.raises(TableError, match=r"Writing was stopped: 'out.csv' had reached"):
        done.write(Address(str(tmp_path / "out.csv")))
    assert [path for path in tmp_path.iterdir() if path.suffix != ".toml"] == []


@pytest.mark.nightly
def test_a_table_of_a_database_takes_no_more_than_is_allowed(tmp_path, limits, wide, monkeypatch):
    """The parts that it is made from are small; what is made of them is not."""
    wide(rows=1_000, times=1_000).write(Address(str(tmp_path / "there.duckdb"), "first"))
    done = wide(rows=200_000, times=10)
    monkeypatch.setattr("kanon.sources.stored_source.limit_growth", lambda progress, *_: progress)
    monkeypatch.setattr("kanon.sources.stored_source.check_room", lambda path, size: None)
    limits(release_megabytes=1)
    for name in ("new.duckdb", "there.duckdb"):
        with pytest.raises(TableError, match=f"Writing was stopped: '{name}' had reached"):
            done.write(Address(str(tmp_path / name), "second"))
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".toml"] == ["there.duckdb"]
    with duckdb.connect(str(tmp_path / "there.duckdb")) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("first",)]


@pytest.mark.nightly
def test_a_release_larger_than_what_is_free_is_not_begun(tmp_path, wide, monkeypatch):
    done = wide(rows=1_000, times=1_000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: types.SimpleNamespace(free=3 << 20))
    with pytest.raises(
        TableError, match=r"'out' would take about .* but the disk has only 3 MB free"
    ):
        done.write(Address(str(tmp_path / "out")))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_a_release_that_fills_the_disk_is_stopped_before_it_is_full(tmp_path, wide, monkeypatch):
    done = wide(rows=400_000, times=10)
    monkeypatch.setattr("kanon.sources.stored_source.check_room", lambda path, size: None)
    monkeypatch.setattr("shutil.disk_usage", lambda path: types.SimpleNamespace(free=1))
    with pytest.raises(TableError, match=r"disk is full except for 64 MB: writing 'out.csv' was s"):
        done.write(Address(str(tmp_path / "out.csv")))
    assert [path for path in tmp_path.iterdir() if path.suffix != ".toml"] == []


def test_what_fits_exactly_is_written(tmp_path, limits, monkeypatch):
    limits(release_megabytes=1)
    monkeypatch.setattr("shutil.disk_usage", lambda path: types.SimpleNamespace(free=1 << 20))
    write_whole(b"x" * (1 << 20), tmp_path / "a.csv")
    with pytest.raises(TableError, match=r"'a.csv' would take about 2 MB; the limit is 1"):
        write_whole(b"x" * (1 << 20 | 1), tmp_path / "a.csv")
    monkeypatch.setattr("shutil.disk_usage", lambda path: types.SimpleNamespace(free=9))
    with pytest.raises(
        TableError, match=r"would take about 10 bytes, but the disk has only 9 bytes free"
    ):
        write_whole(b"x" * 10, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").stat().st_size == 1 << 20, "what stood there stays"


@pytest.mark.parametrize(
    ("size", "free"),
    [(1 << 20, (1 << 20) - 1), (900_000, 850_000), (1_500_000, 1_200_000), (1000, 999), (2, 1),
     ((3 << 20) + 1, 3 << 20), (1 << 10, 1), (1, 0)],
)  # fmt: skip
def test_what_is_needed_and_what_is_free_never_read_the_same(tmp_path, monkeypatch, size, free):
    monkeypatch.setattr("shutil.disk_usage", lambda path: types.SimpleNamespace(free=free))
    with pytest.raises(TableError) as error:
        check_room(tmp_path / "a.csv", size)
    needed, there = re.search(
        r"about (.+), but the disk has only (.+) free", str(error.value)
    ).groups()
    assert needed != there


def test_what_is_spilled_is_limited(tmp_path, limits, monkeypatch):
    monkeypatch.setenv("KANON_SCRATCH", str(tmp_path))
    monkeypatch.setenv("KANON_MEMORY", "30MB")
    counting = "SELECT count(DISTINCT md5(i::VARCHAR)) FROM range(1000000) t(i)"

    def counted():
        with duckdb.connect(config={**get_duckdb_settings(), "threads": 1}) as connection:
            set_spilling_limit(connection.execute)
            return connection.execute(counting).fetchone()

    assert counted() == (1_000_000,)
    limits(scratch_megabytes=1)
    with pytest.raises(duckdb.Error) as refused:
        counted()
    said = explain_duckdb_error(Address(str(tmp_path)), str(refused.value))
    assert said is not None and "up to 1 MB (scratch_megabytes, see docs/" in said
