"""Ten million records that stay in a file: counted, merged and released, and what that takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from benchmarks.case import Case
from benchmarks.fresh import in_fresh_process
from benchmarks.markdown import aim, seconds, table, thousands
from benchmarks.plans import adult_content, adult_path, census_trees, content
from benchmarks.tables import census_like
from benchmarks.timing import exponent
from kanon.plan import Plan
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.stored import open_stored

__all__ = ["CASE", "MONTHS", "released", "the_engine_alone", "write_census"]

K = {"adult": 1000, "census": 10}
RECORDS = 10_000_000
_PART = 1_000_000
COPIES = (1, 33, 332)
MOST_TIMES = 3.0
MOST_MEGABYTES = {"small": 2000, "large": 6000}

MONTHS = {"build": "groups", "levels": [
    {f"quarter {q + 1}": [str(3 * q + month) for month in (1, 2, 3)] for q in range(4)},
]}  # fmt: skip


def write_census(path: str, records: int) -> None:
    """Generate a census of so many records, part by part, with a month of birth for each."""
    writer = None
    for part in range(-(-records // _PART)):
        frame = census_like(min(_PART, records - part * _PART), seed=part)
        frame["birth-month"] = [f"{1 + (7 * i + part) % 12}" for i in range(len(frame))]
        rows = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pyarrow.parquet.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    assert writer is not None
    writer.close()


def _copies(path: str, copies: int) -> None:
    with _quiet() as connection:
        connection.execute(
            f"COPY (SELECT given.* FROM read_csv('{adult_path()}', all_varchar=true) AS given, "
            f"range({copies})) TO '{path}' (FORMAT parquet)"
        )


def _quiet() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar=false; SET preserve_insertion_order=false")
    return connection


def the_engine_alone(path: str, out: str, columns: list[str]) -> dict[str, float]:
    """The engine's own GROUP BY, its groups fetched, and its own copy; in a fresh process."""
    by = ", ".join(f'"{column}"' for column in columns)
    with _quiet() as connection:
        started = time.perf_counter()
        groups = connection.execute(
            f"SELECT {by}, count(*) FROM '{path}' GROUP BY ALL"
        ).to_arrow_table()
        grouped = time.perf_counter() - started
        del groups
        started = time.perf_counter()
        connection.execute(
            f"COPY (SELECT * FROM '{path}') TO '{out}' (FORMAT parquet, PER_THREAD_OUTPUT true)"
        )
        return {"group": grouped, "copy": time.perf_counter() - started}


def released(path: str, out: str, plan: dict[str, Any]) -> dict[str, Any]:
    """Run a plan on a stored table and have the engine write the release; in a fresh process."""
    import_module("kanon.sources.engines.duckdb")  # what a process loads once is not timed
    started = time.perf_counter()
    stored = open_stored(Address(path))
    run_result = run(Plan.from_content(plan), stored)
    whole = time.perf_counter() - started
    started = time.perf_counter()
    run_result.write(Address(out))
    wrote = time.perf_counter() - started
    measured = {name: run_result.measures[name] for name in ("records", "classes", "min_k")}
    return {
        **measured,
        "original": run_result.prepared.classes.n_classes,
        "count": whole - run_result.seconds,
        "merge": run_result.seconds,
        "write": wrote,
        "loss": run_result.measures["alteration"]["nllm"],
        "trace": {name: n for name, n in run_result.measures.items() if name.startswith("parts")},
    }


def _least(out: str, columns: list[str]) -> int:
    """The smallest class of a release, asked of the engine itself."""
    by = ", ".join(f'"{column}"' for column in columns)
    with _quiet() as connection:
        found = connection.execute(
            f"SELECT min(n) FROM (SELECT count(*) AS n FROM '{out}/*.parquet' GROUP BY {by})"
        ).fetchone()
    assert found is not None
    return int(found[0])


def _row(folder: str, name: str, plan: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    path, out = f"{folder}/{name}.parquet", f"{folder}/{name}-released"
    columns = [column for column, its in plan["columns"].items() if "hierarchy" in its]
    copied = f"{folder}/{name}-copied"
    alone, _ = in_fresh_process(__name__, "the_engine_alone", path, copied, columns)
    found, peak = in_fresh_process(__name__, "released", path, out, plan)
    least, k = _least(out, columns), plan["privacy"][0]["k"]
    assert least == found["min_k"] >= k, "the engine finds another release"
    found |= {
        "peak": peak,
        "count times": found["count"] / alone["group"],
        "write times": found["write"] / alone["copy"],
    }
    row = [
        name, thousands(found["records"]), thousands(found["original"]),
        f"{seconds(found['count'])} ({found['count times']:.1f})",
        seconds(found["merge"]),
        f"{seconds(found['write'])} ({found['write times']:.1f})",
        f"{seconds(alone['group'])} / {seconds(alone['copy'])}",
        str(least), f"{found['loss']:.2f}", thousands(peak),
    ]  # fmt: skip
    return row, found


def _census_plan() -> dict[str, Any]:
    return content({**census_trees(), "birth-month": MONTHS}, "nllm", K["census"])


def _run() -> str:
    rows, small = [], []
    with tempfile.TemporaryDirectory() as folder:
        for copies in COPIES:
            name = f"adult-x{copies}"
            _copies(f"{folder}/{name}.parquet", copies)
            row, found = _row(folder, name, adult_content("nllm", K["adult"]))
            rows.append(row)
            small.append(found)
        in_fresh_process(__name__, "write_census", f"{folder}/census.parquet", RECORDS)
        row, large = _row(folder, "census", _census_plan())
        rows.append(row)
    ten = [small[-1], large]
    peaks = {"small": max(found["peak"] for found in small), "large": large["peak"]}
    sizes = [found["records"] for found in small]
    grown = exponent(sizes, [found["count"] + found["merge"] + found["write"] for found in small])
    header = [
        "table", "records", "classes", "count, s (×)", "merge, s", "write, s (×)",
        "GROUP BY / copy, s", "min k", "loss, %", "peak, MB",
    ]  # fmt: skip
    times = [(part, max(found[f"{part} times"] for found in ten)) for part in ("count", "write")]
    return "\n\n".join(
        [
            "Parquet files that DuckDB reads and writes where they are, GAA with metric NLLM, at "
            f"k = {thousands(K['adult'])} for Adult and {K['census']} for the generated census. "
            "*Count* is all until the merging begins: opening, the distinct values of every "
            "column, the classes, hierarchies, the plan's checks. *(×)* is against the engine's "
            "own `GROUP BY` of the same columns, its groups fetched, and its own copy of the "
            "table, in a process of their own. The least k is what a query of the engine finds in "
            "the written release. Each table in a fresh process; the peak is that of the whole "
            "process. Adult copied 332 times has the classes of Adult. Time grows with the records "
            f"of Adult by the power {grown:.2f}.",
            table(header, rows),
            *(
                aim(f"{part}: at most {MOST_TIMES:g} times the engine's own, at ten million",
                    f"{worst:.1f}", worst <= MOST_TIMES)
                for part, worst in times
            ),
            *(
                aim(f"below {thousands(most)} MB ({which} numbers of classes)",
                    f"{thousands(peaks[which])} MB", peaks[which] < most)
                for which, most in MOST_MEGABYTES.items()
            ),
        ]
    )  # fmt: skip


CASE = Case(
    name="large-tables",
    about="ten million records in a Parquet file: seconds against the engine's own, peak memory",
    classes=6_000_000,
    run=_run,
    needs_adult=True,
)
