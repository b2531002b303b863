"""Released files of every kind, by every engine: what whoever gets them counts in them.

Files are read by the csv module, openpyxl, pyarrow and DuckDB, none of them by kanon. A cell that
is blank or null is missing there, and all missing cells are one value.
"""

from __future__ import annotations

import csv
import io
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from benchmarks.reliability.random_plans import Drawn, draw_plan, draw_table
from benchmarks.reliability.reckoning import MISSING, NARROW, missed_by
from kanon.errors import KanonError, PrivacyWarning, ReleaseError
from kanon.plan import Plan
from kanon.run import prepare, run
from kanon.sources.addresses import Address
from kanon.sources.formats import FORMATS
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.stored import open_stored

__all__ = ["Files", "read_file", "release_files"]

MARKERS = ("?", "NA", "nothing")
"""What may mark a missing cell, beside a blank one."""

STORED = {".csv": "csv", ".parquet": "parquet", "": "folder", ".duckdb": "duckdb"}
"""The kinds that an engine writes, by their endings."""


@dataclass
class Files:
    """How often what happened.

    Attributes
    ----------
    released
        Per engine and kind of file how many were written and looked at.
    refused
        How many plans were refused before anything was written.
    withheld
        How many files kanon's own check did not give out.
    tables
        How many tables there were.
    faults
        What was found wrong with files that were given out.
    seconds
        How long it took.
    """

    released: Counter = field(default_factory=Counter)
    refused: int = 0
    withheld: int = 0
    tables: int = 0
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Files) -> None:
        """Add what came of other tables."""
        self.released += other.released
        self.refused += other.refused
        self.withheld += other.withheld
        self.tables += other.tables
        self.faults += other.faults


def release_files(wanted: int, seed: int, stored_every: int = 8) -> Files:
    """Release tables until so many files were written and looked at.

    Parameters
    ----------
    wanted
        How many files.
    seed
        Table number i is drawn from ``Random(f"{seed}/{i}")``, so that one can be repeated.
    stored_every
        One table in so many is released by engines too, which takes longer than the rest.
    """
    found, began = Files(), time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="kanon-files-") as name,
        warnings.catch_warnings(action="ignore", category=PrivacyWarning),
    ):
        while found.released.total() < wanted:
            table = f"{seed}/{found.tables}"
            for fault in _release(Random(table), found, Path(name), stored_every):
                found.faults.append(f"table {table}, {fault}")
            found.tables += 1
    found.seconds = time.perf_counter() - began
    return found


def _release(draw: Random, found: Files, folder: Path, stored_every: int) -> Iterator[str]:
    """Release a table, by whatever algorithm is drawn; what is wrong with its files."""
    made = draw_table(draw)
    cells = _written(draw, made)
    name = draw.choice(made.algorithms)
    content = _plan(draw, made, name)
    engines: list[str] = ["memory"]
    if found.tables % stored_every == 0:
        engines += ["duckdb", "sqlite"]
    for engine in engines:
        given = folder / f"{found.tables}.{engine if engine == 'sqlite' else 'csv'}"
        try:
            writers = list(_writers(engine, given, cells, content))
        except KanonError:
            found.refused += 1
            continue
        rows: dict[str, Counter] = {}
        for kind, write in writers:
            try:
                header, columns = write()
            except ReleaseError:
                found.withheld += 1
                continue
            except KanonError:  # pseudonyms, which not every engine makes
                found.refused += 1
                continue
            found.released[f"{engine}, {kind}"] += 1
            table = dict(zip(header, columns, strict=True))
            for fault in _broken(table, content):
                yield f"{engine}, {kind}: {fault}"
            kept = [column for name, column in table.items() if name not in made.of("identifier")]
            rows[kind] = Counter(zip(*kept, strict=True))  # pseudonyms are drawn for each file
        if any(row != next(iter(rows.values())) for row in rows.values()):
            yield f"{engine}: {', '.join(rows)} do not hold the same rows"
        given.unlink(missing_ok=True)


def _written(draw: Random, made: Drawn) -> dict[str, list[str]]:
    """The cells of a table as a CSV holds them, each missing one marked in one of many ways."""
    used = draw.sample(MARKERS, draw.randint(0, len(MARKERS)))
    made.read = {**made.read, "missing_markers": used}
    ways = ["", "", " ", *used]
    if "pay" in made.table and draw.random() < 0.5:
        made.table["pay"] = [None if draw.random() < 0.2 else v for v in made.table["pay"]]
    return {
        str(name): [
            draw.choice(ways) if pd.isna(cell) else f"{cell:g}" if _is_number(cell) else str(cell)
            for cell in column.tolist()
        ]
        for name, column in made.table.items()
    }


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float)


def _plan(draw: Random, made: Drawn, name: str) -> dict[str, Any]:
    columns = made.columns
    bare = {"version": 2, "columns": columns, "algorithm": {"name": name}, "privacy": _K_2}
    try:
        trees = prepare(Plan.from_content({**bare, "read": made.read}), made.table).classes
        heights = {
            column: tree.height
            for column, tree in zip(trees.attributes, trees.hierarchies, strict=True)
        }
    except KanonError:
        heights = dict.fromkeys(made.texts, 2)
    content = draw_plan(draw, made, name, heights)
    if columns.get("name", {}).get("pseudonym") and draw.random() < 0.5:
        content["person"] = "name"
    return content


_K_2 = [{"model": "k-anonymity", "k": 2}]

Read = Callable[[], tuple[list[str], list[list]]]


def _writers(
    engine: str, given: Path, cells: Mapping[str, Sequence[str]], content: Mapping[str, Any]
) -> Iterator[tuple[str, Read]]:
    """Run a plan by an engine; what writes each kind of file and reads it again."""
    plan, markers = Plan.from_content(content), tuple(content["read"]["missing_markers"])
    if engine == "sqlite":
        _write_sqlite(given, cells)
    else:
        with given.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([list(cells), *zip(*cells.values(), strict=True)])
    settings = ReadSettings(",", "utf-8", markers)
    if engine == "memory":
        run_result = run(plan, read_table(given, given.name, settings).records)
        for kind in FORMATS:
            yield kind, lambda kind=kind: _READERS[kind](run_result.content(kind))
        return
    if engine == "sqlite":
        address, by, settings = (
            Address(str(given), "given"),
            None,
            ReadSettings(None, None, markers),
        )
    else:
        address, by = Address(str(given)), "duckdb"
    run_result = run(plan, open_stored(address, by, settings))
    for ending, kind in STORED.items():
        path = given.with_name(f"{given.stem}-released{ending}")
        target = Address(str(path), "released" if kind == "duckdb" else None)
        yield (
            kind,
            lambda kind=kind, path=path, target=target: _stored(run_result, kind, path, target),
        )


def _stored(done: Any, kind: str, path: Path, target: Address) -> tuple[list[str], list[list]]:
    try:
        done.write(target)
        if kind == "duckdb":
            with closing(duckdb.connect(path, read_only=True)) as connection:
                return _of_arrow(connection.sql("SELECT * FROM released").to_arrow_table())
        return read_file(path)
    finally:
        for part in path.iterdir() if path.is_dir() else []:
            part.unlink()
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)


def _write_sqlite(path: Path, cells: Mapping[str, Sequence[str]]) -> None:
    import sqlite3

    with closing(sqlite3.connect(path)) as connection:
        names = ", ".join(f'"{name}" TEXT' for name in cells)
        connection.execute(f"CREATE TABLE given ({names})")
        places = ", ".join("?" * len(cells))
        rows = zip(*cells.values(), strict=True)
        connection.executemany(f"INSERT INTO given VALUES ({places})", rows)
        connection.commit()


# --- how whoever gets a file reads it -----------------------------------------------------------
def read_file(path: Path) -> tuple[list[str], list[list]]:
    """The header of a released file, or of a folder of Parquet files, and the cells per column."""
    if path.is_dir():
        return _of_arrow(pa.parquet.read_table(path))
    return _READERS[path.suffix[1:]](path.read_bytes())


def _of_csv(content: bytes, separator: str = ",") -> tuple[list[str], list[list]]:
    lines = io.StringIO(content.decode("utf-8"), newline="")
    header, *rows = csv.reader(lines, delimiter=separator, strict=True)
    return header, _cells(header, rows)


def _of_xlsx(content: bytes) -> tuple[list[str], list[list]]:
    import openpyxl  # nothing else needs it

    with closing(openpyxl.load_workbook(io.BytesIO(content), read_only=True)) as book:
        header, *rows = book.worksheets[0].iter_rows(values_only=True)
    names = [str(name) for name in header]
    return names, _cells(names, [(*row, *[None] * (len(names) - len(row))) for row in rows])


def _of_arrow(table: pa.Table) -> tuple[list[str], list[list]]:
    return table.column_names, [
        [_cell(cell) for cell in column.to_pylist()] for column in table.columns
    ]


_READERS: Mapping[str, Callable[[bytes], tuple[list[str], list[list]]]] = {
    "csv": _of_csv,
    "tsv": lambda content: _of_csv(content, "\t"),
    "xlsx": _of_xlsx,
    "parquet": lambda content: _of_arrow(pa.parquet.read_table(pa.BufferReader(content))),
    "feather": lambda content: _of_arrow(pa.feather.read_table(pa.BufferReader(content))),
}


def _cells(header: Sequence[str], rows: Sequence[Sequence]) -> list[list]:
    return [[_cell(row[place]) for row in rows] for place in range(len(header))]


def _cell(cell: object) -> object:
    """A cell as a value: numbers are numbers however they are written, blank is missing."""
    if cell is None or not str(cell).strip():
        return MISSING
    try:
        return float(str(cell))
    except ValueError:
        return str(cell)


# --- what must be true --------------------------------------------------------------------------
def _broken(table: Mapping[str, Sequence], content: Mapping[str, Any]) -> Iterator[str]:
    """Which parts of a plan a file does not meet."""
    marked = table.get("suppressed", [])
    left = [row for row, mark in enumerate(marked) if mark == 0.0] if marked else None
    kept = {
        name: column if left is None else [column[row] for row in left]
        for name, column in table.items()
    }
    roles = {name: column["role"] for name, column in content["columns"].items()}
    quasi = [kept[name] for name, role in roles.items() if role == "quasi-identifier"]
    tuples = list(zip(*quasi, strict=True))
    for part in content["privacy"]:
        named = {"column": next((n for n, role in roles.items() if role == "sensitive"), None)}
        missed = missed_by({**named, **part}, tuples, kept)
        if missed > NARROW:
            yield f"{part} of {content['algorithm']['name']} is missed by {missed:g}"
    if "person" in content:
        k = max([1, *(part["k"] for part in content["privacy"] if "k" in part)])
        persons: dict[tuple, set] = {}
        for row, who in zip(tuples, kept[content["person"]], strict=True):
            persons.setdefault(row, set()).add(who)
        if any(len(person) < k for person in persons.values()):
            yield f"k = {k} is missed in persons"
