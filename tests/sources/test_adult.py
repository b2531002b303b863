"""Adult, the table of the papers: k counted by pandas alone, trees read by the csv module alone."""

import csv
import json
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kanon.algorithms import gaa
from kanon.cli.main import main
from kanon.plan import Plan
from kanon.run import prepare, run
from oracles.plain_scan import scan
from support.paths import ROOT
from support.plans import plan_content, qi_with

pytestmark = pytest.mark.adult

TREES = ROOT / "hierarchies" / "adult"
SEVEN = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
ONE_NOW = [
    metric if metric == "nllm" else pytest.param(metric, marks=pytest.mark.nightly)
    for metric in SEVEN
]
"""All seven metrics, but for one only at night."""

SOME = (2, 10, 100, 1500)


@cache
def rows_of(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the records of a CSV, by the csv module."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    return header, rows


@cache
def frame_of(path: Path) -> pd.DataFrame:
    header, rows = rows_of(path)
    return pd.DataFrame(rows, columns=header)


@cache
def above(column: str) -> dict[str, set[str]]:
    """Per node of a hierarchy file the node itself and all above it."""
    parent: dict[str, str] = {}
    with (TREES / f"{column}.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.reader(file, delimiter=";"):
            parent |= dict(pairwise(dict.fromkeys(line)))
    found = {}
    for node in {*parent, *parent.values()}:
        path = [node]
        while path[-1] in parent:
            path.append(parent[path[-1]])
        found[node] = set(path)
    return found


def content(path: Path, k: int, **algorithm: Any) -> dict[str, Any]:
    """A plan with all nine columns as quasi-identifiers."""
    columns = {column: qi_with(str(TREES / f"{column}.csv")) for column in rows_of(path)[0]}
    return plan_content(columns, k, {"name": "gaa", **algorithm})


def check_release(path: Path, released: pd.DataFrame, k: int) -> None:
    """Every class holds k records, rows keep their order, and values only move up."""
    header, rows = rows_of(path)
    assert released.columns.tolist() == header
    assert len(released) == len(rows)
    assert released.groupby(header, observed=True).size().min() >= k
    for j, column in enumerate(header):
        changes = set(zip((row[j] for row in rows), released[column], strict=True))
        assert all(after in above(column)[before] for before, after in changes), column


@cache
def prepared_for(path: Path, metric: str):
    plan = Plan.from_content(content(path, len(rows_of(path)[1]), metric=metric))
    return prepare(plan, frame_of(path))


@cache
def path_for(path: Path, metric: str):
    """One run that serves every k."""
    return gaa.merge_path(prepared_for(path, metric).task())


def test_adult_is_the_table_of_the_papers(adult_path):
    header, rows = rows_of(adult_path)
    assert (len(rows), len(header)) == (30_162, 9)
    assert len(Counter(map(tuple, rows))) == 19_502
    classes = prepared_for(adult_path, "nllm").classes
    assert (classes.n_records, classes.n_classes, classes.min_k) == (30_162, 19_502, 1)
    assert sorted(classes.counts.tolist()) == sorted(Counter(map(tuple, rows)).values())


@pytest.mark.nightly  # in every run: browser/test_pages.py, at one k
@pytest.mark.parametrize("metric", ONE_NOW)
def test_every_release_on_the_path_is_k_anonymous(adult_path, metric):
    source = prepared_for(adult_path, metric).source
    path = path_for(adult_path, metric)
    for k in (2, 5, 10, 100, 1500, 30_162):
        recoding = path.at(k)
        released = source.release(recoding)
        check_release(adult_path, released, k)
        sizes = released.groupby(released.columns.tolist(), observed=True).size()
        assert (recoding.min_k, recoding.n_classes) == (sizes.min(), len(sizes))


SEPARATE = [(SEVEN[0], 2), (SEVEN[-1], 100)]
AT_NIGHT = [pytest.param(m, k, marks=pytest.mark.nightly) for m in SEVEN for k in SOME]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("metric", "k"), [*SEPARATE, *AT_NIGHT])
def test_a_place_on_the_path_is_a_run_of_its_own(adult_path, metric, k):
    """The plan's own run for k gives the same table, cell by cell."""
    done = run(Plan.from_content(content(adult_path, k, metric=metric)), frame_of(adult_path))
    on_the_path = prepared_for(adult_path, metric).source.release(
        path_for(adult_path, metric).at(k)
    )
    released = done.released(order="table")
    pd.testing.assert_frame_equal(released, on_the_path)
    check_release(adult_path, released, k)


@pytest.mark.nightly
@pytest.mark.parametrize("metric", ONE_NOW)
def test_the_prefix_tree_takes_the_merges_of_the_plain_scan(adult_path, metric):
    prepared = prepared_for(adult_path, metric)
    task = replace(prepared.task(), k=prepared.classes.n_records)
    found, expected = gaa.merge_path(task), scan(task)
    assert np.array_equal(found.parts, expected.parts)
    assert np.array_equal(found.nodes, expected.nodes)
    assert np.array_equal(found.counts, expected.counts)


@pytest.mark.nightly
def test_the_variant_of_2020_reaches_k_too(adult_path):
    plan = Plan.from_content(content(adult_path, 10, metric="nllm", name="gaa-small"))
    check_release(adult_path, run(plan, frame_of(adult_path)).released(order="table"), 10)


def test_the_command_line_releases_adult(adult_path, tmp_path, capsys):
    (tmp_path / "plan.json").write_text(
        json.dumps({**content(adult_path, 10), "order": "table"}), "utf-8"
    )
    out, measures = tmp_path / "released.csv", tmp_path / "m.json"
    arguments = ["run", str(tmp_path / "plan.json"), "--table", str(adult_path)]
    assert main([*arguments, "--out", str(out), "--measures", str(measures)]) == 0
    assert capsys.readouterr().out.startswith("30\u202f162 records; ")
    released = pd.read_csv(out, dtype=str, keep_default_na=False)
    check_release(adult_path, released, 10)
    found = json.loads(measures.read_text("utf-8"))
    sizes = released.groupby(released.columns.tolist()).size()
    assert (found["records"], found["classes"], found["min_k"], found["suppressed"]) == (
        *(30_162, len(sizes), sizes.min(), 0),
    )
    original = frame_of(adult_path).to_numpy()
    cells = released.to_numpy()
    assert found["generalised_percent"] == pytest.approx(100 * (cells != original).mean())
    assert found["root_percent"] == pytest.approx(100 * (cells == "*").mean())
    assert 0 < found["alteration"]["nllm"] < 100
