"""Small files that would take all memory or time, if they were unpacked as they ask.

Run as a program, ``python bombs.py FOLDER`` tries all that :func:`write_all` has written there, in
one process, and prints per bomb how it was refused, by how many megabytes the peak of memory rose,
and how many seconds that took.
"""

import contextlib
import gzip
import io
import json
import resource
import struct
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

MB = 1 << 20

# --- XLSX -----------------------------------------------------------------------------------
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_KINDS = "http://schemas.openxmlformats.org/package/2006/content-types"
_LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_KINDS}"><Default Extension="xml" '
    'ContentType="application/xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_LINKS}"><Relationship Id="r1" '
    f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>'
    '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_LINKS}"><Relationship Id="r1" '
    f'Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" '
    f'Type="{_RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
}
_HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'
_CELL = '<row r="2"><c r="A2"><v>1</v></c></row>'


def zipped(members: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def book(rows: str = _HEAD + _CELL, strings: str = "", before: str = "", **more: bytes) -> bytes:
    """An XLSX of these rows, its parts as they are given."""
    sheet = f'{before}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    shared = strings or f'<sst xmlns="{_MAIN}" count="0" uniqueCount="0"/>'
    parts = {**_PARTS, "xl/worksheets/sheet1.xml": sheet, "xl/sharedStrings.xml": shared, **more}
    return zipped(parts)


def with_a_lie(data: bytes, size: int, told: int) -> bytes:
    """A zip that tells another size of the member that has this one."""
    assert size.to_bytes(4, "little") in data
    return data.replace(size.to_bytes(4, "little"), told.to_bytes(4, "little"))


def overlapping(name: str, content: bytes, times: int) -> bytes:
    """A zip whose directory names one member many times."""
    data = zipped({name: content})
    start = data.index(b"PK\1\2")
    end = data.index(b"PK\5\6")
    entry = data[start:end]
    counts = times.to_bytes(2, "little") * 2
    sizes = (len(entry) * times).to_bytes(4, "little") + start.to_bytes(4, "little")
    return data[:start] + entry * times + b"PK\5\6" + bytes(4) + counts + sizes + bytes(2)


_LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 10)
) + "]>"  # fmt: skip
_CORNERS = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
)


def _meaning(cell: str, times: int = 500) -> bytes:
    """A book whose cells mean a short text by this cell, or the long one beside it."""
    texts = f'<sst xmlns="{_MAIN}"><si><t>x</t></si><si><t>{"x" * MB}</t></si></sst>'
    return book(_HEAD + f"<row>{cell}</row>" * times, texts)


def _sheets() -> dict[str, Callable[[], bytes]]:
    wide = 40 * MB
    blank = _HEAD + " " * wide + _CELL
    return {
        "sheet of blanks": lambda: book(blank),
        "sheet of blanks, its size a lie": lambda: with_a_lie(
            book(blank), len(_PLAIN_SHEET) + wide, 100
        ),
        "two corners": lambda: book(_CORNERS),
        "two corners without a blank": lambda: book(_CORNERS.replace(" r=", ' t="n"r=')),
        "two corners in small letters": lambda: book(_CORNERS.replace("XFD", "xfd")),
        "two corners, other quotes": lambda: book(
            _CORNERS.replace('"', "'").replace("r=", "r  = ")
        ),
        "a row without a place": lambda: book(
            '<row r="1048576"><c r="XFC1048576"><v>1</v></c><c><v>1</v></c></row>' + _CELL
        ),
        "a row beyond all rows": lambda: book(_HEAD + '<row r="4294967290"><c><v>1</v></c></row>'),
        "entities in the sheet": lambda: book(
            _HEAD + '<row r="2"><c r="A2" t="inlineStr"><is><t>&a9;</t></is></c></row>',
            before=_LAUGHS,
        ),
        "entities in the texts": lambda: book(
            '<row r="1"><c r="A1" t="s"><v>0</v></c></row>' + _CELL,
            strings=f'{_LAUGHS}<sst xmlns="{_MAIN}"><si><t>&a9;</t></si></sst>',
        ),
        "many texts promised": lambda: book(
            strings=f'<sst xmlns="{_MAIN}" count="4294967295" uniqueCount="4294967295"/>'
        ),
        "a text in many cells": lambda: _meaning('<c t="s"><v>1</v></c>'),
        "a text in many cells, behind other signs": lambda: _meaning(
            "<c\nq=\"\"t = 's' ><v q='r'>1</v></c>"
        ),
        "a text in many cells, twice": lambda: _meaning('<c t="s"><v>0</v><v>1</v></c>'),
        "a text in many cells, and another": lambda: _meaning(
            '<c t="s" q="><v>0</v></c>"><v>1</v></c>'
        ),
        "a text in many cells, one in another": lambda: _meaning(
            """<c q='r t="s" u=' t="s" w='><v>0</v></c>'><v>1</v></c>"""
        ),
        "a member many times": lambda: overlapping("xl/sharedStrings.xml", b" " * 5 * MB, 9_000),
        "a large directory": lambda: overlapping("a.xml", b"", 60_000) * 4,
        "zip in zip": lambda: zipped({"a.xlsx": book(blank)}),
    }


_PLAIN_SHEET = f'<worksheet xmlns="{_MAIN}"><sheetData>{_HEAD}{_CELL}</sheetData></worksheet>'


# --- Parquet and Feather --------------------------------------------------------------------
def parquet(table: pa.Table, **how: object) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out, **how)
    return out.getvalue()


def meant_by_many(rows: int, size: int) -> pa.Table:
    """A column with one long value that every row means."""
    codes = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * size]))})


def viewed(rows: int, size: int) -> pa.Array:
    """An array whose rows all show the same long value."""
    views = struct.pack("<i4sii", size, b"xxxx", 0, 0) * rows
    buffers = [None, pa.py_buffer(views), pa.py_buffer(b"x" * size)]
    return pa.Array.from_buffers(pa.string_view(), rows, buffers)


def feather(table: pa.Table, **how: object) -> bytes:
    out = io.BytesIO()
    pyarrow.feather.write_feather(table, out, **how)
    return out.getvalue()


def stream(table: pa.Table) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def lying_footer(data: bytes) -> bytes:
    """A Parquet file whose footer tells of every column that it has one byte, unpacked."""
    about = pyarrow.parquet.ParquetFile(pa.BufferReader(data)).metadata
    size = about.row_group(0).column(0).total_uncompressed_size
    true, lie = _varint(size), [0x82] + [0x80] * (len(_varint(size)) - 2) + [0]
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert bytes(true) in data[start:]
    found = data[:start] + data[start:].replace(bytes(true), bytes(lie))
    told = pyarrow.parquet.ParquetFile(pa.BufferReader(found)).metadata
    assert told.row_group(0).column(0).total_uncompressed_size == 1
    return found


def _varint(number: int) -> list[int]:
    number, found = 2 * number, []
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return [*found, number]


def _by_delta(size: int, rows: int) -> bytes:
    table = pa.table({"a": ["x" * size] * rows})
    return parquet(table, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})


def _arrow() -> dict[str, Callable[[], bytes]]:
    zeros = pa.table({"a": ["0" * MB] * 40})
    views = pa.table({"a": viewed(1_000, MB)})
    nothing = pa.Array.from_buffers(pa.null(), 2**31 - 1, [None])
    ends = pa.array([2**31 - 1], pa.int32())
    runs = pa.RunEndEncodedArray.from_arrays(ends, pa.array(["x" * MB]))
    plain = {"use_dictionary": False, "compression": "zstd"}
    many = {f"c{i}": [1] for i in range(2_001)}
    fixed = pa.table({"a": pa.array([b"x" * MB] * 40, pa.binary(MB))})
    return {
        "zeros.parquet": lambda: parquet(zeros, **plain),
        "zeros, its footer a lie.parquet": lambda: lying_footer(parquet(zeros, **plain)),
        "one value of many rows.parquet": lambda: parquet(
            meant_by_many(1_000, MB), dictionary_pagesize_limit=2 * MB, store_schema=False
        ),
        "one value, as categories.parquet": lambda: parquet(
            meant_by_many(1_000, MB), dictionary_pagesize_limit=2 * MB
        ),
        "many rows of one value.parquet": lambda: parquet(meant_by_many(200_001, 1)),
        "values by their prefix.parquet": lambda: _by_delta(MB // 10, 400),
        "values of one width.parquet": lambda: parquet(fixed, dictionary_pagesize_limit=2 * MB),
        "many columns.parquet": lambda: parquet(pa.table(many)),
        "zeros.feather": lambda: feather(zeros, compression="zstd"),
        "zeros.arrow": lambda: feather(zeros, compression="lz4"),
        "one value of many rows.feather": lambda: feather(meant_by_many(1_000, MB)),
        "one value as a stream.arrow": lambda: stream(meant_by_many(1_000, MB)),
        "views of one value.feather": lambda: feather(views),
        "rows of nothing.feather": lambda: stream(pa.table({"a": nothing})),
        "one run of all rows.feather": lambda: stream(pa.table({"a": runs})),
        "many columns.feather": lambda: feather(pa.table(many)),
    }


# --- text and hierarchies -------------------------------------------------------------------
def _texts() -> dict[str, Callable[[], bytes]]:
    members = gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n" * 10 * MB)
    return {
        "a million columns.csv": lambda: b"a," * 1_000_000 + b"b\n" + b"1," * 1_000_000 + b"1\n",
        "columns in quotes.csv": lambda: b'"a",' * 1_000_000 + b"b\n1\n",
        "many records.csv": lambda: b"a,b\n" + b"1,1\n" * 200_001,
        "records in quotes.csv": lambda: b'a,b\n"1",1\n' + b"1,1\n" * 200_001,
        "no line ends.csv": lambda: b"," * 10 * MB,
        "packed.csv.gz": lambda: members,
        "packed.csv": lambda: members,
        "packed.zip": lambda: zipped({"a.csv": b"a,b\n" + b"1,2\n" * MB}),
    }


def _growing_entities() -> bytes:
    """Ten entities, each ten times the one before: a billion laughs."""
    lines = [f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 10)]
    return f"<!DOCTYPE g [<!ENTITY e0 'ha'>{''.join(lines)}]><graphml>&e9;</graphml>".encode()


def _hierarchies() -> dict[str, Callable[[], bytes]]:
    zeros, lines = b"0" * 30 * MB, "".join(f"{i};{i}a;*\n" for i in range(10_001)).encode()
    inner = zipped({"a.csv": zeros})
    for _ in range(3):
        inner = zipped({"a.zip": inner})
    return {
        "zeros.zip": lambda: zipped({"a.csv": zeros}),
        "zeros, its size a lie.zip": lambda: with_a_lie(
            zipped({"a.csv": zeros}), len(zeros), 1_000
        ),
        "packed by bzip2, its size a lie.zip": lambda: with_a_lie(
            zipped({"a.csv": zeros}, zipfile.ZIP_BZIP2), len(zeros), 1_000
        ),
        "packed by lzma, its size a lie.zip": lambda: with_a_lie(
            zipped({"a.csv": zeros}, zipfile.ZIP_LZMA), len(zeros), 1_000
        ),
        "zips in zips.zip": lambda: inner,
        "a member many times.zip": lambda: overlapping("a.csv", b"0" * MB, 900),
        "a large directory.zip": lambda: overlapping("a.csv", b"", 60_000),
        "deep.json": lambda: b'{"nodes":' + b"[" * 1_000_000,
        "deep objects.json": lambda: b'{"nodes":' + b'{"a":' * 1_000_000,
        "a long number.json": lambda: b'{"nodes":[{"name":' + b"1" * 5 * MB + b"}]}",
        "many nodes.json": lambda: b'{"nodes":[' + b"{}," * 200_000 + b"{}]}",
        "many nodes.csv": lambda: lines,
        "entities.graphml": _growing_entities,
        "many nodes.graphml": lambda: b"<graphml><graph>" + b"<node/>" * 300_000,
        "many tags.graphml": lambda: b"<graphml><graph>" + b"<a/>" * 2_000_000,
        "deep.graphml": lambda: b"<a>" * 100_000,
        "many edges.json": lambda: b'{"nodes":[{"id":"*"}],"edges":[' + b"{}," * 200_000 + b"{}]}",
        "one long line.csv": lambda: ";".join(map(str, range(21_000))).encode(),
        "too large.csv": lambda: zeros,
    }


BOMBS: Mapping[str, Mapping[str, Callable[[], bytes]]] = {
    "tables": {
        **{f"{name}.xlsx": make for name, make in _sheets().items()},
        **_arrow(),
        **_texts(),
    },
    "hierarchies": _hierarchies(),
}


# --- trying them ----------------------------------------------------------------------------
LIMITS = """
unpacked_megabytes = 20
rows = 200_000
columns = 2_000
cells = 300_000
hierarchy_nodes = 20_000
"""
"""Smaller limits than the defaults, so that the bombs are quick to make."""


def peak() -> float:
    """The most memory that this process ever had, in megabytes."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def tried(path: Path) -> str:
    """What a table says that is opened as the dashboard does, and by the command line."""
    from kanon.cli.main import main
    from kanon.errors import KanonError
    from kanon.sources.opening import open_table

    try:
        found = open_table(path.read_bytes(), path.name).table
        said = f"read: {found.shape}"
    except KanonError as error:
        said = error.sentence
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        status = main(["measure", "--table", str(path), "--qi", "a", "--engine", "memory"])
    assert status == 2 and told.getvalue() == f"kanon: {said}\n", told.getvalue()
    return said


def tried_hierarchy(path: Path) -> str:
    """What a hierarchy file or a zip of them says."""
    from kanon.hierarchy.bundle import read_bundle

    found = read_bundle([(path.name, path.read_bytes())], ["a"])
    problems = [item.problem for item in found]
    return problems[0] if None not in problems else f"read: {len(found)}"


def write_all(folder: Path, asked: Collection[str]) -> None:
    """Write every bomb that is asked for to a folder."""
    warnings.simplefilter("ignore")  # a name twice in a zip
    for name, files in BOMBS.items():
        (folder / name).mkdir()
        for file, make in files.items():
            if file in asked:
                (folder / name / file).write_bytes(make())


def report(folder: Path) -> None:
    """Try every bomb of a folder, the small ones first, and print what came of it."""
    # What is imported once is no bomb's.
    import charset_normalizer  # noqa: F401
    import networkx  # noqa: F401

    import kanon.cli.measure  # noqa: F401
    from kanon.sources.opening import open_table

    open_table(book(), "a.xlsx")
    open_table(parquet(pa.table({"a": ["x"]})), "a.parquet")
    open_table(b"a,b\n1,2\n", "a.csv")
    for place, trial in ((folder / "tables", tried), (folder / "hierarchies", tried_hierarchy)):
        for path in sorted(place.iterdir(), key=lambda path: path.stat().st_size):
            before, started = peak(), time.perf_counter()
            said = trial(path)
            taken = time.perf_counter() - started
            print(json.dumps([path.name, said, peak() - before, taken]), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))  # kanon need not be installed
    report(Path(sys.argv[1]))
