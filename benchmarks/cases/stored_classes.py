"""More classes than come here: an engine counts, merges and releases; time, memory, growth."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.case import Case
from benchmarks.cases.large_tables import released, the_engine_alone
from benchmarks.fresh import ROOT, in_fresh_process
from benchmarks.markdown import aim, seconds, table, thousands
from benchmarks.plans import adult_path
from benchmarks.timing import exponent

__all__ = ["CASE", "least", "plan_for", "released_where_it_is", "write_people"]

K = 10
TABLES = ((1_500_000, 150), (5_000_000, 150), (20_000_000, 120), (100_000_000, 120))
"""Records, and the number of places that they live in."""

FULL_DOMAIN = (20_000_000, 1000)
MOST_EXPONENT, MOST_MEGABYTES, MOST_TIMES = 1.15, 4000, 3.0
_SETTINGS = {"KANON_MEMORY": "4GB"}
_COLUMNS = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation",
)  # fmt: skip
_FROM = {"age": "b", "workclass": "b", "marital-status": "c", "education": "c",
         "occupation": "d", "salary-class": "d"}  # fmt: skip


def write_people(path: str, records: int, places: int) -> None:
    """Have DuckDB make people out of Adult: each takes columns from four records of it.

    Parameters
    ----------
    places
        They live in so many places, in few of them most.
    """
    with duckdb.connect(config={"memory_limit": "8GB"}) as connection:
        connection.execute("SET preserve_insertion_order=false; SET enable_progress_bar=false")
        connection.execute(
            "CREATE TABLE adult AS SELECT row_number() OVER () - 1 AS i, * FROM "
            f"read_csv('{adult_path()}', all_varchar=true, delim=';', header=true)"
        )
        (size,) = connection.execute("SELECT count(*) FROM adult").fetchall()[0]
        columns = [*_COLUMNS, "salary-class"]
        cells = ", ".join(f'{_FROM.get(column, "a")}."{column}"' for column in columns)
        place = f"floor({places} * pow(hash(r, 5) % 1000003 / 1000003.0, 3))::INTEGER"
        joins = " ".join(
            f"JOIN adult {one} ON {one}.i = hash(r, {number}) % {size}"
            for number, one in enumerate("abcd", start=1)
        )
        connection.execute(
            f"COPY (SELECT {cells}, lpad({place}::VARCHAR, 3, '0') AS place "
            f"FROM range({records}) people(r) {joins}) TO '{path}' (FORMAT parquet)"
        )


def plan_for(algorithm: str, k: int = K) -> dict[str, Any]:
    """A plan for these people: nine quasi-identifiers."""
    folder = ROOT / "hierarchies" / "adult"
    columns: dict[str, Any] = {
        column: {"role": "quasi-identifier", "hierarchy": str(folder / f"{column}.csv")}
        for column in _COLUMNS
    }
    columns["place"] = {
        "role": "quasi-identifier", "hierarchy": {"build": "mask", "keep": [2, 1]},
    }  # fmt: skip
    return {
        "version": 2,
        "columns": {**columns, "salary-class": {"role": "insensitive"}},
        "algorithm": {"name": algorithm, "metric": "nllm"},
        "privacy": [{"model": "k-anonymity", "k": k}],
    }


def released_where_it_is(path: str, out: str, algorithm: str) -> dict[str, Any]:
    """Run a plan on a table whose classes stay in DuckDB; in a fresh process."""
    return released(path, out, plan_for(algorithm))


def least(out: str) -> int:
    """The smallest class of a release, asked of the engine itself."""
    by = ", ".join(f'"{column}"' for column in (*_COLUMNS, "place"))
    with duckdb.connect(config={"memory_limit": "8GB"}) as connection:
        found = connection.execute(
            f"SELECT min(n) FROM (SELECT count(*) AS n FROM '{out}/*.parquet' GROUP BY {by})"
        ).fetchall()
    return int(found[0][0])


@contextmanager
def _limits(folder: str, **more: str) -> Iterator[None]:
    """Classes stay in the engine from a million on; it may spill."""
    path = Path(folder) / "settings.toml"
    path.write_text("classes = 1_000_000\n", "utf-8")
    scratch = Path(folder) / "scratch"
    scratch.mkdir(exist_ok=True)
    given = {**_SETTINGS, "KANON_SETTINGS": str(path), "KANON_SCRATCH": str(scratch), **more}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _row(folder: str, records: int, places: int, algorithm: str) -> dict[str, Any]:
    path, out = f"{folder}/people.parquet", f"{folder}/released"
    in_fresh_process(__name__, "write_people", path, records, places)
    alone, _ = in_fresh_process(
        "benchmarks.cases.large_tables", the_engine_alone.__name__, path, f"{folder}/copied",
        [*_COLUMNS, "place"],
    )  # fmt: skip
    found, peak = in_fresh_process(__name__, released_where_it_is.__name__, path, out, algorithm)
    assert least(out) == found["min_k"] >= K, "the engine finds another release"
    for name in ("released", "copied"):
        for part in Path(folder, name).glob("*.parquet"):
            part.unlink()
        Path(folder, name).rmdir()
    whole = found["count"] + found["merge"] + found["write"]
    return {**found, "peak": peak, "alone": alone["group"] + alone["copy"], "whole": whole}


def _cells(found: dict[str, Any], algorithm: str) -> list[str]:
    ratio = (found["trace"].get("parts_sample") or {}).get("loss_ratio")
    return [
        algorithm, thousands(found["records"]), thousands(found["original"]),
        seconds(found["count"]), seconds(found["merge"]), seconds(found["write"]),
        seconds(found["alone"]), f"{found['whole'] / found['alone']:.1f}", str(found["min_k"]),
        f"{found['loss']:.2f}", "" if ratio is None else f"{ratio:.3f}", thousands(found["peak"]),
    ]  # fmt: skip


def _run() -> str:
    merged = []
    with tempfile.TemporaryDirectory() as folder:
        with _limits(folder):
            merged = [_row(folder, *size, "gaa") for size in TABLES]
        with _limits(folder, KANON_MEMORY="2GB"):
            levels = _row(folder, *FULL_DOMAIN, "optimal")
    grown = exponent([one["original"] for one in merged], [one["merge"] for one in merged])
    header = [
        "algorithm", "records", "classes", "count, s", "run, s", "write, s", "engine, s", "times",
        "min k", "loss, %", "parts' loss", "peak, MB",
    ]  # fmt: skip
    largest = merged[-1]
    return "\n\n".join(
        [
            "People made out of Adult by DuckDB, nine quasi-identifiers, k = "
            f"{K}, from Parquet to Parquet, no class fetched "
            "(`classes = 1_000_000`); DuckDB may take "
            f"{_SETTINGS['KANON_MEMORY']} (2GB for the full-domain search) and spill. "
            "*Engine* is its own `GROUP BY` of the same columns, the groups fetched, and its own "
            "copy; *times* is all of ours against that. *Parts' loss* is measured on a sample of "
            "20,000 classes. Merging grows with the classes by the power "
            f"{grown:.2f}.",
            table(header, [*(_cells(one, "gaa") for one in merged), _cells(levels, "optimal")]),
            aim(f"growth over the classes below {MOST_EXPONENT}", f"{grown:.2f}",
                grown < MOST_EXPONENT),
            aim(f"the full-domain search in less than {thousands(MOST_MEGABYTES)} MB",
                f"{thousands(levels['peak'])} MB", levels["peak"] < MOST_MEGABYTES),
            aim(f"{thousands(largest['records'])} records: at most {MOST_TIMES:g} times the "
                "engine's own", f"{largest['whole'] / largest['alone']:.1f}",
                largest["whole"] <= MOST_TIMES * largest["alone"]),
        ]
    )  # fmt: skip


CASE = Case(
    name="stored-classes",
    about="up to 30 million classes that stay in DuckDB: seconds, memory, growth",
    classes=30_000_000,
    run=_run,
    needs_adult=True,
)
