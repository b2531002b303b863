"""The tables that the guess is made from and held against: samples, Adult, generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pandas as pd

from benchmarks.plans import adult_path, adult_with_sensitive, census_trees, content
from benchmarks.tables import census_like
from kanon.experiments.simulated.columns import Column, simulated, value_names
from kanon.plan import Plan
from kanon.run import Prepared, prepare
from kanon.sources.opening import open_table
from kanon.studio.session.samples import SAMPLES, bundled_file

__all__ = ["Known", "known_tables"]

_FEW = 3000


@dataclass(frozen=True)
class Known:
    """A table that every way was tried on.

    Attributes
    ----------
    name
        What the page calls it.
    origin
        Where its records come from: a guess never goes by a table of the same origin.
    prepared
        Makes it, ready to run.
    """

    name: str
    origin: str
    prepared: Callable[[], Prepared]


def known_tables() -> Iterator[Known]:
    """All of them; needs the Adult table."""
    for column in ("health", "income-band"):
        yield _sample("census", column)
    yield _sample("census", "education", records=_FEW)
    yield _sample("census", "health", records=_FEW)
    yield _sample("census", "health", columns=("age", "sex", "region"))
    yield _sample("voters", "party", records=3 * _FEW)
    yield _sample("voters", "party", records=_FEW)
    yield _sample("voters", "race", records=_FEW)
    yield _sample("voters", "party", columns=("gender", "race", "birth-year"))
    yield _sample("hospital", "disease")
    yield Known("Adult, occupation", "Adult", partial(_adult, "occupation"))
    for column in ("occupation", "marital-status", "age"):
        yield Known(f"Adult, {column}, {_FEW} records", "Adult", partial(_adult, column, _FEW))
    for values in (5, 50, 500):
        column = Column("equivalent", values)
        yield Known(f"generated, {values} values", "generated", partial(_generated, column))
    skewed = Column("geometric", 50)
    yield Known("generated, 50 skewed values", "generated", partial(_generated, skewed))


def _sample(name: str, sensitive: str, records: int = 0, columns: tuple[str, ...] = ()) -> Known:
    more = f", {records} records" if records else ""
    more += f", {len(columns)} columns" if columns else ""
    made = partial(_prepared_sample, name, sensitive, records, columns)
    return Known(f"{name}, {sensitive}{more}", name, made)


def _prepared_sample(name: str, sensitive: str, records: int, columns: tuple[str, ...]) -> Prepared:
    table = open_table(SAMPLES[name].path).table
    files = {
        str(column): bundled_file(name, str(column))
        for column in columns or table.columns
        if column != sensitive
    }
    trees = {column: str(file) for column, file in files.items() if file is not None}
    return prepare(
        Plan.from_content(content(trees, "nllm", 2, sensitive)),
        table.head(records) if records else table,
    )


def _adult(sensitive: str, records: int = 0) -> Prepared:
    table = open_table(adult_path()).table
    return adult_with_sensitive(table.head(records) if records else table, sensitive, "nllm", 2)


def _generated(column: Column) -> Prepared:
    table = census_like(_FEW)
    names = value_names(column)
    cells = pd.Series(
        [names[place] for place in simulated(_FEW, column)], name="value", dtype="str"
    )
    table = pd.concat([table, cells], axis=1)
    return prepare(Plan.from_content(content(census_trees(), "nllm", 2, "value")), table)
