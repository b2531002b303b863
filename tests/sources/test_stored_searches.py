"""All full-domain searches, on three tables, each in an engine: as in memory."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from kanon.run import run
from support.engine_tables import put_in_engine
from support.paths import ROOT
from support.plans import make_plan, qi_with
from support.spark import quick_spark
from support.stored_people import check_same

SEARCHES = (
    "datafly", "samarati", "improved-greedy", "incognito", "ola", "flash", "optimal",
)  # fmt: skip

COLUMNS = {
    "adult": ("age", "education", "marital-status", "native-country"),
    "census": ("age", "region", "education", "occupation"),
    "voters": ("zip", "gender", "race", "birth-year"),
}


@pytest.fixture(scope="module")
def tables(adult_path: Path) -> dict[str, tuple[pd.DataFrame, dict[str, str]]]:
    """Per table its records as texts, and the hierarchies of four columns."""
    found = {}
    for name in COLUMNS:
        path = adult_path if name == "adult" else ROOT / "sample_data" / f"{name}.csv"
        frame = pd.read_csv(path, sep=";", dtype=str, keep_default_na=False)
        folder, columns = ROOT / "hierarchies" / name, COLUMNS[name]
        found[name] = frame[[*columns]], {one: str(folder / f"{one}.csv") for one in columns}
    return found


@pytest.fixture(scope="module", autouse=True)
def spark() -> Iterator[None]:
    with quick_spark():
        yield


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("engine", "name"), [("duckdb", "adult"), ("other", "census"), ("spark", "voters")]
)
def test_all_searches_find_in_an_engine_what_they_find_in_memory(
    tables, tmp_path, limits, name, engine
):
    frame, trees = tables[name]
    for number, search in enumerate(SEARCHES):
        limits(classes=10_000_000)
        plan = make_plan(
            {column: qi_with(path) for column, path in trees.items()},
            5,
            search,
            read={"missing": "as-value"},
            suppression_limit={"records": len(frame) // 100},
        )
        ours = run(plan, frame)
        # All but the smallest tables stay in the engine.
        limits(classes=max(ours.recoding.n_classes, ours.prepared.classes.n_classes // 8))
        folder = tmp_path / str(number)
        folder.mkdir()
        check_same(run(plan, put_in_engine(frame, engine, folder)), ours, folder / "out")
