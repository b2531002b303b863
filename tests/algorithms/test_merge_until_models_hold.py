"""Merging on for other models than k-anonymity: what has to hold, checked without kanon.

A release is checked by pandas and a few lines of arithmetic on its rows; the merges by the pure
version of the algorithm, which knows no path that is continued.
"""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kanon.algorithms.merge_until_models_hold
import kanon.algorithms.merging
from kanon.algorithms import gaa, gaa_small
from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.solution import FINISHED_K, run_algorithm
from kanon.base.progress import ignore_progress
from kanon.errors import Unsatisfiable
from kanon.experiments.sweep import PlannedRun, run_sweep, sweep
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.t_closeness import TCloseness
from kanon.run import prepare, run
from kanon.strategies import LOOKS_AT
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support.model_tables import (
    BY_COST,
    breaks,
    greedy_of,
    guides,
    models,
    released_breaks,
    rows_of,
    source_of,
    tables,
    task_of,
)
from support.paths import ROOT
from support.plans import make_plan, qi, qi_with
from support.random_tables import PlainTree, Problem, examples, seeds
from support.works import with_fields


# --- What comes out holds, and is what the definition gives -------------------------------------
@examples(90)
@given(tables(max_records=24), models(), st.data())
def test_the_release_holds_or_is_refused(table, wanted, data):
    problem, columns = table
    guide = data.draw(guides(problem))
    source = source_of(problem, columns)
    task = task_of(source, guide, wanted)
    impossible = breaks(columns, wanted, range(len(problem.rows)))
    for algorithm in (gaa, gaa_small):
        if algorithm is gaa_small and LOOKS_AT[task.strategy]:
            task = replace(task, strategy="s1")
        if impossible:
            with pytest.raises(Unsatisfiable):
                algorithm.anonymise(task)
            continue
        recoding = algorithm.anonymise(task)
        released = source.release(recoding)
        assert released_breaks(released, problem.columns, wanted) == []
        assert int(recoding.counts.sum()) == len(problem.rows)


@examples(70)
@given(tables(), models(), st.data())
def test_gaa_is_the_algorithm_of_the_paper(table, wanted, data):
    """While a class breaks a model, the smallest such class is merged with its best partner."""
    problem, columns = table
    assume(not breaks(columns, wanted, range(len(problem.rows))))
    guide = data.draw(guides(problem))
    source = source_of(problem, columns)
    plain = greedy_of(problem, columns, guide).merge(lambda rows: breaks(columns, wanted, rows))
    released = source.release(gaa.anonymise(task_of(source, guide, wanted)))
    assert rows_of(problem, released) == plain.released


@examples(60)
@given(tables(), models(), st.data())
def test_the_variant_goes_on_as_gaa_does(table, wanted, data):
    problem, columns = table
    assume(not breaks(columns, wanted, range(len(problem.rows))))
    guide = {**data.draw(guides(problem)), "strategy": "s1"}
    source = source_of(problem, columns)
    task = task_of(source, guide, wanted)
    greedy = greedy_of(problem, columns, guide)
    begun = greedy.merge(lambda rows: len(rows) < task.k, small=task.k)
    plain = greedy.merge(lambda rows: breaks(columns, wanted, rows), begun=begun.groups)
    released = source.release(gaa_small.anonymise(task))
    assert rows_of(problem, released) == plain.released


@pytest.mark.parametrize("seed", seeds(16, in_gate=6))
def test_a_large_class_that_breaks_a_model_may_meet_a_smaller_one(seed):
    """Classes of very different size; many are equal in size, and ties are hashed by a seed."""
    rng = np.random.default_rng(seed)
    leaves = [f"v{place}" for place in range(9)]
    above = {leaf: f"g{rng.integers(3)}" for leaf in leaves}
    groups = sorted(set(above.values()))
    parents = {"*": None, **dict.fromkeys(groups, "*"), **above}
    weights = {node: int(rng.integers(1, 9)) / 4 for node in parents if node != "*"}
    tree = PlainTree(parents, weights)
    sizes = {leaf: int(rng.choice([1, 1, 2, 3, 12])) for leaf in leaves}
    sizes |= {leaves[0]: 12, leaves[1]: 12}
    pure = {leaf: bool(rng.random() < 0.5) for leaf in leaves} | dict.fromkeys(leaves[:2], True)
    problem = Problem((tree,), tuple((leaf,) for leaf, n in sizes.items() for _ in range(n)))
    ill = [
        "A" if pure[leaf] or place == 0 else "B" for leaf, n in sizes.items() for place in range(n)
    ]
    columns = {"ill": [*ill[:-1], "B"], "pay": [1.0] * len(ill)}
    wanted = [DistinctLDiversity(2, "ill")]
    strategy = ["s1", "s2", "s5"][seed % 3]
    guide = {**BY_COST, "tie_seed": seed, "strategy": strategy, "scope": "class"}
    source = source_of(problem, columns)
    plain = greedy_of(problem, columns, guide).merge(lambda rows: breaks(columns, wanted, rows))
    released = source.release(gaa.anonymise(task_of(source, guide, wanted)))
    assert rows_of(problem, released) == plain.released


@pytest.mark.parametrize("cheap", ["x", "y"])
def test_the_cheapest_partner_may_be_smaller_than_the_class(cheap):
    """Ten with A alone are merged with two of A and B: 10 · 1 + 2 · 2 = 14, or 10 · 1 + 2 · 3 = 16.

    A bound that took the partner for as large as the class would be 30 or 40, and leave out the
    one that is met later.
    """
    weights = {"c": 1, "x": 3, "y": 3, "z": 50} | {cheap: 2}
    tree = PlainTree({"*": None, **dict.fromkeys(weights, "*")}, weights)
    rows = [("c",)] * 10 + [("x",), ("y",), ("z",)] * 2
    columns = {"ill": ["A"] * 10 + ["A", "A", "A", "B", "B", "B"], "pay": [1.0] * 16}
    source = source_of(Problem((tree,), tuple(rows)), columns)
    release = gaa.anonymise(task_of(source, BY_COST, [DistinctLDiversity(2, "ill")]))
    released = source.release(release)["q0"].tolist()
    kept = {"x", "y", "z"} - {cheap}
    assert released == ["*" if row[0] not in kept else row[0] for row in rows]


@examples(60)
@given(tables(), st.integers(1, 6), st.data())
def test_nothing_is_merged_where_nothing_is_broken(table, k, data):
    problem, columns = table
    k = min(k, len(problem.rows))
    wanted = [
        EntropyLDiversity(1, "ill"),
        TCloseness(2.0, "pay"),
        TCloseness(1.0, "ill", "emd-equal"),
    ]
    source = source_of(problem, columns)
    task = replace(task_of(source, data.draw(guides(problem)), wanted), k=k)
    on_the_path = gaa.merge_path(task).at(k)
    assert merge_breaking_classes(on_the_path, task) is on_the_path
    alone = gaa.anonymise(replace(task, models=()))
    assert np.array_equal(gaa.anonymise(task).targets, alone.targets)


@examples(40)
@given(tables(max_records=24), models(), st.data())
def test_a_repaired_release_is_not_repaired_again(table, wanted, data):
    """It only moves up from the release for k, whole classes at a time, and then stays."""
    problem, columns = table
    assume(not breaks(columns, wanted, range(len(problem.rows))))
    source = source_of(problem, columns)
    task = task_of(source, data.draw(guides(problem)), wanted)
    before = gaa.merge_path(task).at(task.k)
    after = merge_breaking_classes(before, task)
    assert merge_breaking_classes(after, task) is after
    pairs = {(int(a), int(b)) for a, b in zip(before.assigned, after.assigned, strict=True)}
    assert len(pairs) == before.n_classes, "what was together stays together"
    for one, other in pairs:
        for tree, low, high in zip(
            problem.trees, before.nodes[one], after.nodes[other], strict=True
        ):
            assert tree.order[high] in tree.paths[tree.order[low]]


def test_what_is_handed_over_is_not_changed():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"age": rng.integers(20, 60, 200), "ill": rng.choice(list("AAAB"), 200)})
    task = prepare(small_plan(3, {"model": "distinct-l-diversity", "l": 2}), table).task()
    before = gaa.merge_path(task).at(3)
    arrays = [before.nodes, before.counts, before.assigned, before.released.nodes,
              before.released.counts, before.released.sensitive[0].count]  # fmt: skip
    copies = [array.copy() for array in arrays]
    assert merge_breaking_classes(before, task).n_classes < before.n_classes
    assert all(np.array_equal(a, b) for a, b in zip(arrays, copies, strict=True))


def test_many_merges_are_told_as_they_go():
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {"age": rng.integers(0, 900, 1500), "ill": rng.choice(list("AAAAB"), 1500)}
    )
    task = prepare(small_plan(2, {"model": "distinct-l-diversity", "l": 2}), table).task()
    told = []
    merge_breaking_classes(
        gaa.merge_path(task).at(2), task, lambda part, text: told.append((part, text))
    )
    assert len(told) >= 2
    assert all(0 <= part <= 1 and "classes left to merge" in text for part, text in told)


# --- What cannot hold ---------------------------------------------------------------------------
@pytest.mark.parametrize("algorithm", [gaa, gaa_small])
@pytest.mark.parametrize(
    ("model", "said"),
    [
        (EntropyLDiversity(2, "ill"), "l is at most 1.75"),  # 4 / 3^(3/4) = 1.7548 of (3, 1)
        (KAnonymity(9), "8 records"),
    ],
)
def test_the_impossible_is_refused_before_anything_is_computed(algorithm, model, said, monkeypatch):
    """Six of eight have A, two B."""
    table = pd.DataFrame({"age": range(8), "ill": list("AAAAAABB")})
    task = prepare(small_plan(2, {"model": "distinct-l-diversity", "l": 2}), table).task()
    task = replace(task, models=(model,), k=getattr(model, "k", 2))

    def computed(*args: object, **kwargs: object) -> None:
        raise AssertionError("something was computed")

    monkeypatch.setattr(kanon.algorithms.merging, "begin_merging", computed)
    monkeypatch.setattr(kanon.algorithms.merge_until_models_hold, "begin_merging", computed)
    k = task.k if isinstance(model, KAnonymity) else 2  # of a sweep, whose own k counts
    for attempt in (
        lambda: algorithm.anonymise(task),
        lambda: run_algorithm(ignore_progress, algorithm.CARD.name, task, []),
        lambda: run_sweep(ignore_progress, [PlannedRun(algorithm.CARD.name, task)], [k], []),
    ):
        with pytest.raises(Unsatisfiable) as caught:
            attempt()
        assert said in caught.value.sentence


# --- Several k at once --------------------------------------------------------------------------
def small_plan(k: int, *others: dict[str, Any], **algorithm: Any) -> Plan:
    return make_plan(
        {"age": qi("intervals", widths=[5, 10, 50]), "ill": {"role": "sensitive"}},
        k,
        {"name": "gaa", **algorithm},
        models=others,
    )


OTHERS = [
    [{"model": "entropy-l-diversity", "l": 2.0}],
    [{"model": "t-closeness", "t": 0.6}, {"model": "distinct-l-diversity", "l": 3}],
    [{"model": "alpha-k-anonymity", "alpha": 0.6, "k": 6}],
    [{"model": "basic-beta-likeness", "beta": 1.0}],
    [{"model": "distinct-l-diversity", "l": 2}, {"model": "t-closeness", "t": 0.5}],
]


def people(records: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    ages = rng.integers(20, 90, records)
    ill = np.where(ages < 45, "none", rng.choice(list("ABC"), records))
    ill = np.where(rng.random(records) < 0.3, rng.choice(list("ABC"), records), ill)
    return pd.DataFrame({"age": ages, "ill": ill})


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("others", "strategy"), [
    pytest.param(others, name, marks=marks)  # each with two strategies, one of them by night
    for place, others in enumerate(OTHERS)
    for further, marks in ((0, []), (2, pytest.mark.nightly))
    for name in [("s1", "s3", "s7", "t")[(place + further) % 4]]
])  # fmt: skip
def test_a_solution_knows_the_releases_that_single_runs_give(others, strategy):
    table = people()
    plan = small_plan(9, *others, strategy=strategy)
    solution = run_algorithm(
        ignore_progress, "gaa", prepare(plan, table).task(), [metric_named("nllm")]
    )
    n = len(table)
    assert solution.known == tuple(sorted({9, *(k for k in FINISHED_K if k <= n)}))
    assert 2 in solution.known
    for k in solution.known:
        alone = run(plan.with_k(k), table)
        assert np.array_equal(solution.at(k).targets, alone.recoding.targets), k
        row = {name: values[0] for name, values in solution.curves.at([k]).items()}
        assert row["min_k"] == alone.measures["min_k"]
        assert row["entropy_l"] == pytest.approx(alone.measures["entropy_l"])
        assert row["t_norm1"] == pytest.approx(alone.measures["t_norm1"])
        assert row["alteration_nllm"] == pytest.approx(alone.measures["alteration"]["nllm"])
    with pytest.raises(ValueError, match="k = 6 was not computed"):
        solution.at(6)
    with pytest.raises(ValueError, match="not computed"):
        solution.at(n + 1)


def test_models_that_the_table_meets_already_leave_every_k():
    table = people()
    plan = small_plan(5, {"model": "t-closeness", "t": 2.0})
    solution = run_algorithm(
        ignore_progress, "gaa", prepare(plan, table).task(), [metric_named("nllm")]
    )
    assert solution.known is None
    assert solution.finished == {}
    for k in (2, 6, 77, 150):
        alone = run(plan.with_k(k), table).recoding
        assert np.array_equal(solution.at(k).targets, alone.targets)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("others", "name"),
    [
        pytest.param(others, name, marks=[] if place % 2 == turn else [pytest.mark.nightly])
        for place, others in enumerate(OTHERS)
        for turn, name in enumerate(("gaa-small", "gaa"))
    ],
)
def test_a_sweep_with_models_is_made_of_single_runs(others, name):
    table, ks = people(), [3, 10, 60]
    strategies = ["s1", "s4"] if name == "gaa" else ["s1"]
    plan = small_plan(5, *others, name=name)
    found = sweep(plan, table, ks, ["nllm"], strategies)
    assert found[["strategy", "k"]].values.tolist() == [[s, k] for s in strategies for k in ks]
    for row in found.to_dict("records"):
        guided = plan.with_k(row["k"])
        chosen = guided.algorithm.model_copy(update={"strategy": row["strategy"]})
        alone = run(guided.model_copy(update={"algorithm": chosen}), table)
        for criterion in ("min_k", "classes", "root_percent", "entropy_l", "t_norm1"):
            assert row[criterion] == pytest.approx(alone.measures[criterion]), criterion
        assert row["alteration_nllm"] == pytest.approx(alone.measures["alteration"]["nllm"])
        counts = alone.released().groupby(["age", "ill"]).size().unstack(fill_value=0)
        shares = counts.div(counts.sum(axis=1), axis=0)
        whole = counts.sum() / counts.sum().sum()
        assert row["t_norm1"] == pytest.approx((shares - whole).abs().sum(axis=1).max())


def test_runs_with_models_and_without_stand_side_by_side():
    table, ks = people(), [3, 10]
    plans = [small_plan(2), small_plan(2, *OTHERS[0]), small_plan(2, *OTHERS[0], name="gaa-small")]
    runs = [PlannedRun(plan.algorithm.name, prepare(plan, table).task()) for plan in plans]
    metrics = [metric_named("nllm")]
    together = run_sweep(ignore_progress, runs, ks, metrics)
    for each, planned in zip(together, runs, strict=True):
        (alone,) = run_sweep(ignore_progress, [planned], ks, metrics, workers=1)
        for name, values in alone.at(ks).items():
            assert each.at(ks)[name].tolist() == values.tolist()
    assert together[0].at(ks)["entropy_l"].min() < 2 <= together[1].at(ks)["entropy_l"].min() + 1e-9


# --- Adult --------------------------------------------------------------------------------------
def adult_plan(path: Path, sensitive: str, others: list[dict[str, Any]], **algorithm: Any) -> Plan:
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file, delimiter=";"))
    folder = ROOT / "hierarchies" / "adult"
    columns: dict[str, Any] = {column: qi_with(str(folder / f"{column}.csv")) for column in header}
    columns[sensitive] = {"role": "sensitive"}
    return make_plan(columns, 5, {"name": "gaa", **algorithm}, models=others)


@pytest.mark.sampled(2)
@pytest.mark.adult
@pytest.mark.parametrize("name", ["gaa", "gaa-small"])
def test_adult_with_five_records_and_two_occupations(adult_path, name):
    frame = pd.read_csv(adult_path, sep=";", dtype=str, keep_default_na=False)
    plan = adult_plan(
        adult_path, "occupation", [{"model": "entropy-l-diversity", "l": 2}], name=name
    )
    released = run(plan, frame).released(order="table")
    quasi = [column for column in frame.columns if column != "occupation"]
    counts = released.groupby([*quasi, "occupation"]).size()
    sizes = counts.groupby(level=list(range(len(quasi)))).sum()
    assert len(released) == len(frame) == int(sizes.sum())
    assert released["occupation"].tolist() == frame["occupation"].tolist()
    assert sizes.min() >= 5
    shares = counts / counts.groupby(level=list(range(len(quasi)))).transform("sum")
    entropy = -(shares * np.log(shares)).groupby(level=list(range(len(quasi)))).sum()
    assert np.exp(entropy).min() >= 2 * (1 - 1e-9)
    assert len(sizes) > 500


@pytest.mark.adult
def test_adult_with_two_salaries_is_refused(adult_path):
    """75 and 25 percent: no release has an entropy l above 1.75."""
    frame = pd.read_csv(adult_path, sep=";", dtype=str, keep_default_na=False)
    plan = adult_plan(adult_path, "salary-class", [{"model": "entropy-l-diversity", "l": 2}])
    with pytest.raises(Unsatisfiable, match=r"at most 1\.75"):
        run(plan, frame)


def test_progress_never_goes_back():
    work = open_sample("hospital", version=1)
    model = DistinctLDiversity(2, *work.table.sensitive_columns)
    plan = build_plan(with_fields(work, models=(model,)))
    task = prepare(plan, work.table.records).task()
    told = []
    found = run_algorithm(lambda part, text: told.append(part), "gaa", task, [plan.metric])
    assert found.finished and told == sorted(told) and 0 <= told[0] <= told[-1] <= 1
    assert any(part >= 0.5 for part in told), "the part that finishes releases tells too"
