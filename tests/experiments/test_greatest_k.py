"""The reverse: by hand, by its laws, and against the pure version of greedy merging."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.plans import adult_with_sensitive
from kanon.algorithms.solution import FINISHED_K
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.errors import Unsatisfiable
from kanon.experiments import greatest_k
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.privacy.conjunction import find_broken
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.run import prepare, run
from kanon.sources.reading import read_table
from support.model_tables import breaks, greedy_of, guides, models, source_of, tables, task_of
from support.paths import ROOT
from support.plans import qi, qi_with
from support.random_tables import Problem, examples
from support.reference_tables import worked
from support.strategy_tables import ILLS, merges_of, star
from support.strategy_tables import task_of as strategy_task

CUSTOM = metric_named("custom")
PAGE = ROOT / "docs" / "explanation" / "reverse.md"


def reached(found: greatest_k.GreatestK, way: str | None = None) -> list[tuple[float, int, int]]:
    """The alteration, k and classes of a way, or of the curve."""
    rows = found.curve if way is None else found.ways[found.ways["way"] == way]
    parts = zip(rows["alteration"], rows["k"], rows["classes"], strict=True)
    return [(round(float(lost), 9), int(k), int(classes)) for lost, k, classes in parts]


def percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 9)


# --- By hand ------------------------------------------------------------------------------------
def two_values(problem: Problem, values: list[str], **chosen: Any) -> Task:
    return replace(
        strategy_task(problem, values, k=1, **chosen), models=(DistinctLDiversity(2, "ill"),)
    )


def test_the_worked_table():
    """F Lion (Cold twice) and M Cat (Broken paw twice) have one disease; two are asked for.

    F Lion goes with F Dog, 2 · 4 + 2 · 4 = 16, to F Mammal; M Cat goes with M Lion, 2 + 2 = 4, to
    M Felid: with F Mammal M Lion would be left with two. So k = 4. All at the root costs 8 · 5 for
    the gender, and 6 · 4 + 2 · 4 for the race, as a Dog is 4 below Mammal and a Cat or Lion 1 + 3:
    72. One class more is one class.
    """
    found = greatest_k.run_greatest_k(ignore_progress, two_values(worked(), list(ILLS)), CUSTOM)
    for way in greatest_k.GREATEST_K_SEARCHES:
        assert reached(found, way) == [(percent(20, 72), 4, 2), (100, 8, 1)]
    assert found.find_k(27.7) is None and found.find_k(27.8) == 4


def test_k_first_and_least_cost_first_reach_different_k():
    """Four values under one root, whose records cost 1 (a), 9 (b), 5 (c), 1 (d) each: 38 in all.

    The one record of a has one illness, all others have two. K merges it with b, 1 + 2 · 9 = 19,
    and the smallest class has 3. S1 merges it with d, 1 + 4 = 5, and b has 2; then b with those,
    18, and c has 3; then all. K goes on with c, the first of three records: with d the class of a
    and b is met, so all are one. A plan with k = 2 does what S1 does.
    """
    problem, _ = star(
        {"a": 1, "b": 9, "c": 5, "d": 1}, {x: x * n for n, x in enumerate("abcd", start=1)}
    )
    found = greatest_k.run_greatest_k(
        ignore_progress, two_values(problem, list("xxyxyyxyxy")), CUSTOM
    )
    cheap = [(percent(5, 38), 2, 3), (percent(23, 38), 3, 2), (100, 10, 1)]
    assert reached(found, "k") == [(50, 3, 3), (100, 10, 1)]
    assert reached(found, "s1") == reached(found, "k-first") == cheap
    assert reached(found) == [(percent(5, 38), 2, 3), (50, 3, 3), (100, 10, 1)]
    assert found.curve["way"].tolist()[1] == "k"
    assert [found.find_k(most) for most in (13, 14, 49, 50, 99, 100)] == [None, 2, 2, 3, 3, 10]


def test_where_the_models_hold_from_the_start_nothing_is_lost():
    problem, _ = star({"a": 1, "b": 1}, {"a": "aa", "b": "bb"})
    found = greatest_k.run_greatest_k(ignore_progress, two_values(problem, list("xyxy")), CUSTOM)
    assert reached(found) == [(0, 2, 2), (100, 4, 1)]


PLACES = pd.DataFrame({"place": list("aabc"), "ill": list("xyxy")})


def plan_of_places(*privacy: dict[str, Any], **algorithm: str) -> Plan:
    return Plan.from_content(
        {
            "version": 2,
            "columns": {"place": qi(), "ill": {"role": "sensitive"}},
            "algorithm": {"name": "gaa", **algorithm},
            "privacy": list(privacy),
        }
    )


def test_what_the_table_as_one_class_does_not_meet_is_refused():
    with pytest.raises(Unsatisfiable, match="at most 2"):
        greatest_k.find_greatest_k(
            plan_of_places({"model": "distinct-l-diversity", "l": 3}), PLACES
        )


def test_the_k_the_strategy_and_the_scope_of_the_plan_give_way():
    asked = ({"model": "k-anonymity", "k": 4}, {"model": "distinct-l-diversity", "l": 2})
    plan = plan_of_places(*asked, strategy="s3", scope="class")
    task = greatest_k.prepare_greatest_k(prepare(plan, PLACES))
    assert task.k == 1 and len(task.models) == 1
    assert reached(greatest_k.find_greatest_k(plan, PLACES)) == [(50, 2, 2), (100, 4, 1)]


# --- Laws ---------------------------------------------------------------------------------------
@st.composite
def cases(draw, **kwargs):
    """A table, a task with models that can be met, and what guides the pure version."""
    problem, columns = draw(tables(**kwargs))
    source = source_of(problem, columns)
    guide = draw(guides(problem))
    task = task_of(source, guide, draw(models(most_k=3))).for_k(1)
    try:
        task.check()
    except Unsatisfiable:
        assume(False)
    return problem, columns, guide, task


@examples(30)
@given(cases())
def test_every_release_on_the_way_meets_the_models(case):
    *_, task = case
    path = greatest_k.merge_models_first(task)
    for k in path.distinct_k[path.distinct_k > 0].tolist():
        release = path.at(k)
        assert not find_broken(task.models, release.released).any()
        assert release.min_k == k
    assert path.at(task.classes.n_records).n_classes == 1


@examples(30)
@given(cases())
def test_the_curve_rises_from_the_least_alteration_to_one_class(case):
    *_, task = case
    found = greatest_k.run_greatest_k(ignore_progress, task, CUSTOM)
    for rows in [found.curve, *(each for _, each in found.ways.groupby("way"))]:
        assert rows["k"].is_monotonic_increasing and rows["k"].is_unique
        assert rows["alteration"].is_monotonic_increasing
        assert rows["k"].iloc[-1] == task.classes.n_records
    assert found.curve["alteration"].iloc[0] == found.ways["alteration"].min()
    for lost, k in zip(found.ways["alteration"], found.ways["k"], strict=True):
        assert found.find_k(lost) >= k
    for way in ("k", "s1"):
        rows = found.ways[found.ways["way"] == way]
        path = greatest_k.merge_models_first(replace(task, strategy=way, scope="table"))
        for lost, k, classes in rows[["alteration", "k", "classes"]].to_numpy():
            release = path.at(int(k))
            assert release.n_classes == classes
            assert alteration.value(release, CUSTOM) == pytest.approx(lost)


# --- Against the pure version -------------------------------------------------------------------
@examples(25)
@given(cases(max_records=10))
def test_models_first_makes_the_merges_of_the_pure_version(case):
    problem, columns, guide, task = case
    greedy = greedy_of(problem, columns, guide)
    begun = greedy.merge(lambda rows: len(rows) < task.k)
    met = greedy.merge(lambda rows: breaks(columns, task.models, rows), begun=begun.groups)
    done = greedy.merge(lambda rows: len(rows) < len(problem.rows), begun=met.groups)
    needed = [*begun.merges, *met.merges]
    path = greatest_k.merge_models_first(task)
    assert merges_of(problem, path) == [*needed, *done.merges]
    assert path.merges_for(1) == len(needed)


# --- On Adult -----------------------------------------------------------------------------------
@pytest.mark.adult
@pytest.mark.nightly
def test_the_figures_of_the_page_are_ours(adult_path: Path):
    """Half a minute."""
    table = read_table(adult_path).table
    prepared = adult_with_sensitive(table, "occupation", "nllm", 2)
    task = replace(prepared.task(), k=1, models=(EntropyLDiversity(2, "occupation"),))
    found = greatest_k.run_greatest_k(ignore_progress, task, prepared.plan.metric)
    page = PAGE.read_text("utf-8")
    first = found.curve.iloc[0]
    assert f"**{first['alteration']:.2f} %, with k = {first['k']}**" in page
    assert f"{first['classes']:,} classes" in page
    rows = re.findall(r"^\| (\d+) % \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 8
    for most, cells in rows:
        within = found.ways[found.ways["alteration"] <= float(most)]
        own = within.groupby("way")["k"].max()
        said = [int(cell.replace(",", "")) for cell in cells.split(" | ")]
        assert said == [*own[["k", "s1", "k-first"]], found.find_k(float(most))]
    shares = found.curve["way"].value_counts()
    told = f"Of the {len(found.curve)} releases on the curve, {shares['s1']} come from S1"
    assert told in page


# --- Persons ------------------------------------------------------------------------------------
def test_k_counts_persons_where_the_plan_tells_them_apart_by_pandas():
    """Every release on both paths, and those of k first, joined to the rows and counted again."""
    draw = np.random.default_rng(1)
    who = np.repeat(np.arange(15), np.minimum(draw.zipf(1.6, 15), 5))
    table = pd.DataFrame({c: draw.choice([*"abc"], len(who), p=[0.6, 0.2, 0.2]) for c in "xyz"})
    table["ill"] = draw.choice(["flu", "cold", "gout", None], len(who))
    table["who"] = [f"p{one}" for one in who]
    nodes = [{"name": "*", "parent": None}, *({"name": c, "parent": "*"} for c in "abc")]
    quasi = qi_with({"nodes": nodes})
    content = {
        "version": 2,
        "columns": {
            **dict.fromkeys("xyz", quasi), "ill": {"role": "sensitive"},
            "who": {"role": "identifier"},
        },
        "person": "who",
        "algorithm": {"name": "gaa"},
        "privacy": [{"model": "distinct-l-diversity", "l": 2}],
    }  # fmt: skip
    plan = Plan.from_content(content)
    prepared = prepare(plan, table)
    found = greatest_k.find_greatest_k(plan, table)
    assert found.of == "persons"

    def counted(recoding):
        """The alteration, which is the share of starred cells, and the persons of each class."""
        rows = prepared.source.release(recoding)
        groups = [rows[c] for c in "xyz"]
        if table["ill"].fillna("none").groupby(groups).nunique().min() < 2:
            return None
        persons = table["who"].groupby(groups).nunique().min()
        return 100 * (rows[[*"xyz"]] == "*").mean().mean(), persons

    released = {}
    for way in ("k", "s1"):
        path = greatest_k.merge_models_first(
            replace(greatest_k.prepare_greatest_k(prepared), strategy=way)
        )
        released[way] = [counted(path.after(m)) for m in range(len(path.parts) + 1)]
    rest = {"columns": content["columns"], "person": "who", "algorithm": {"name": "gaa"}}
    released["k-first"] = [
        counted(run(Plan.from_content({"version": 2, **rest, "privacy": [
            *content["privacy"], {"model": "k-anonymity", "k": k}]}), table).recoding)
        for k in FINISHED_K if k <= table["who"].nunique()
    ]  # fmt: skip
    every = [one for way in released.values() for one in way if one is not None]
    for most in range(0, 101, 4):
        within = [k for lost, k in every if lost <= most + 1e-9]
        assert found.find_k(most + 1e-9) == (max(within) if within else None)
    for way, rows in found.ways.groupby("way"):
        reached = {(round(lost, 6), k) for lost, k in filter(None, released[way])}
        assert reached.issuperset(
            zip(rows["alteration"].round(6), rows["k"].astype(int), strict=True)
        )
    assert found.curve["k"].iloc[-1] == table["who"].nunique()
