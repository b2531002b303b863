"""Plans for the tables of the cases."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.case import CaseError
from benchmarks.fresh import ROOT
from benchmarks.tables import COLUMNS
from kanon.algorithms.task import Task
from kanon.hierarchy.files import to_nodes
from kanon.hierarchy.plans import NodesPlan
from kanon.plan import Plan
from kanon.run import PreparedRun, prepare
from kanon.sources.opening import open_table

__all__ = [
    "adult_content",
    "adult_path",
    "adult_task",
    "adult_with_sensitive",
    "beside_adult",
    "census_trees",
    "content",
    "full_task",
    "voters",
]


def content(
    hierarchies: Mapping[str, Any], metric: str, k: int, sensitive: str | None = None
) -> dict[str, Any]:
    """A plan for GAA: every column with a hierarchy is a quasi-identifier."""
    columns: dict[str, Any] = {
        column: {"role": "quasi-identifier", "hierarchy": chosen}
        for column, chosen in hierarchies.items()
    }
    if sensitive is not None:
        columns[sensitive] = {"role": "sensitive"}
    return {
        "version": 2,
        "columns": columns,
        "algorithm": {"name": "gaa", "metric": metric},
        "privacy": [{"model": "k-anonymity", "k": k}],
    }


def full_task(table: pd.DataFrame, hierarchies: Mapping[str, Any], metric: str) -> Task:
    """The task of merging to the end: one run that serves every k."""
    prepared = prepare(Plan.from_content(content(hierarchies, metric, 2)), table)
    return replace(prepared.task(), k=prepared.classes.n_records)


def adult_path() -> Path:
    """The file of the Adult table, from the environment variable KANON_ADULT.

    Raises
    ------
    CaseError
        The variable does not name a file.
    """
    given = os.environ.get("KANON_ADULT", "")
    if not given or not Path(given).is_file():
        raise CaseError("Adult is missing: set KANON_ADULT to the path of adult.csv.")
    return Path(given).resolve()


def _adult_trees(table: pd.DataFrame, sensitive: str | None = None) -> dict[str, str]:
    """The hierarchies that come with kanon for all columns but one, in the order of the table."""
    folder = ROOT / "hierarchies" / "adult"
    columns = (str(column) for column in table.columns if column != sensitive)
    return {column: str(folder / f"{column}.csv") for column in columns}


def beside_adult(path: Path, columns: Iterable[str]) -> dict[str, str]:
    """The hierarchy files that stand beside the Adult table.

    Raises
    ------
    CaseError
        A file is missing.
    """
    files = {name: path.parent / f"{path.stem}_hierarchy_{name}.csv" for name in columns}
    missing = [file.name for file in files.values() if not file.is_file()]
    if missing:
        raise CaseError(f"Beside the Adult table {missing[0]} is missing.")
    return {name: str(file) for name, file in files.items()}


def census_trees(names: Iterable[str] = COLUMNS) -> dict[str, Any]:
    """The hierarchies of the generated tables, as a plan holds them."""
    return {
        name: json.loads(NodesPlan(nodes=to_nodes(COLUMNS[name].tree)).model_dump_json())
        for name in names
    }


def adult_content(metric: str, k: int) -> dict[str, Any]:
    """A plan for Adult."""
    return content(_adult_trees(open_table(adult_path()).table), metric, k)


def adult_task(metric: str) -> Task:
    """Adult's task of merging to the end."""
    table = open_table(adult_path()).table
    return full_task(table, _adult_trees(table), metric)


def adult_with_sensitive(table: pd.DataFrame, sensitive: str, metric: str, k: int) -> PreparedRun:
    """Adult, or some of it, with one sensitive column; all others are quasi-identifiers."""
    trees = _adult_trees(table, sensitive)
    return prepare(Plan.from_content(content(trees, metric, k, sensitive)), table)


def voters(metric: str, k: int = 2) -> PreparedRun:
    """The voters sample: the party is sensitive, all other columns are quasi-identifiers."""
    table = open_table(ROOT / "sample_data" / "voters.csv").table
    folder = ROOT / "hierarchies" / "voters"
    trees = {
        str(column): str(next(folder.glob(f"{column}.*")))
        for column in table.columns
        if column != "party"
    }
    return prepare(Plan.from_content(content(trees, metric, k, "party")), table)
