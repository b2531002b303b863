"""l and t along a merge path: those of every release on it, measured one by one."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import gaa
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.experiments.sweep import sweep
from kanon.hierarchy.build import suppression
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.measures.along import measure_curves, measure_points
from kanon.measures.histograms import build_histograms
from kanon.metrics import exact_potentials, metric_named
from kanon.plan import Plan
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.recoding import MergePath
from kanon.run import run
from kanon.schema import Role, Schema
from kanon.sensitive import Sensitive
from kanon.sources.memory import MemorySource
from kanon.strategies import STRATEGIES
from support.plans import make_plan, qi, qi_with
from support.random_tables import SEVEN, Problem, algorithms, examples, problems

NLLM = [metric_named("nllm")]


def classes_of(problem: Problem, sensitive: dict[str, list]) -> EquivalenceClasses:
    """The classes of a table with those sensitive columns."""
    frame = problem.frame().assign(**sensitive)
    roles = {
        **dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER),
        **dict.fromkeys(sensitive, Role.SENSITIVE),
    }
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    return MemorySource(frame, Schema(roles), trees).classes


def path_of(classes: EquivalenceClasses, **chosen) -> MergePath:
    depths = exact_potentials(metric_named(chosen.pop("metric", "nllm")), classes.hierarchies)
    n = classes.n_records
    return gaa.merge_path(Task(classes, scale_potentials(depths, n), n, **chosen))


@st.composite
def paths(draw) -> MergePath:
    """A run over a random table with up to three sensitive columns, cells missing."""
    problem = draw(problems(max_records=25))
    n = len(problem.rows)
    names = draw(st.sampled_from([["ill"], ["ill", "pay"], ["pay", "ill", "party"]]))
    cell = st.sampled_from([*"ABCDEFG"[: draw(st.integers(1, 7))], None])
    columns = {name: draw(st.lists(cell, min_size=n, max_size=n)) for name in names}
    chosen = draw(algorithms(problem))
    return path_of(
        classes_of(problem, columns),
        metric=chosen["metric"],
        weighted=chosen["cost"] == "weighted",
        tie_seed=chosen["tie_seed"],
        strategy=draw(st.sampled_from(list(STRATEGIES))),
        scope=draw(st.sampled_from(["table", "class"])),
        sensitive=names[0],
    )


def plain_levels(path: MergePath, place: int, k: int) -> tuple[float, float]:
    """l and t of the worst class of the release for k, by counting the records of each class."""
    sensitive = path.classes.sensitive[place]
    dense, release = sensitive.dense(), path.at(k)
    merged = [Counter() for _ in range(release.n_classes)]
    for counts, to in zip(dense.tolist(), release.assigned.tolist(), strict=True):
        merged[to].update(dict(enumerate(counts)))
    n, total = sum(map(Counter.total, merged)), sum(merged, Counter())
    ls, ts = [], []
    for mix in merged:
        shares = {v: Fraction(mix[v], mix.total()) for v in total}
        ls.append(np.exp(-sum(float(p) * np.log(float(p)) for p in shares.values() if p)))
        ts.append(sum(abs(shares[v] - Fraction(total[v], n)) for v in total))
    return min(ls), float(max(ts))


@examples(40)
@given(paths())
def test_curves_are_those_of_every_release(path):
    curves = measure_curves(path, NLLM)
    names = [each.name for each in path.classes.sensitive]
    assert list(curves.entropy_l) == list(curves.t_norm1) == names
    for k in range(1, path.classes.n_records + 1):
        row, released = curves.row(k), path.at(k).released
        for place, name in enumerate(names):
            sensitive = released.sensitive_named(name)
            found = curves.entropy_l[name][row], curves.t_norm1[name][row]
            assert found[0] == pytest.approx(entropy_l_diversity.each(sensitive).min(), rel=1e-12)
            assert found[1] == t_closeness.each(sensitive).max()
            assert found == pytest.approx(plain_levels(path, place, k), rel=1e-12, abs=1e-12)


@examples(40)
@given(paths(), st.data())
def test_curves_and_points_are_one(path, data):
    n = path.classes.n_records
    ks = data.draw(st.lists(st.integers(1, n), min_size=1, max_size=5, unique=True))
    metrics = [metric_named(name) for name in SEVEN]
    along = measure_curves(path, metrics).at(ks)
    one_by_one = measure_points({k: path.at(k) for k in ks}, metrics).at(ks)
    assert list(along) == list(one_by_one)
    for name, values in along.items():
        assert values.tolist() == pytest.approx(one_by_one[name].tolist(), rel=1e-12, abs=1e-9)
    for wrong in (n + 1, max(ks) + n):
        with pytest.raises(PlanError, match="was not computed"):
            measure_curves(path, metrics).at([wrong])
        with pytest.raises(PlanError, match="was not computed; choose from"):
            measure_points({k: path.at(k) for k in ks}, metrics).at([wrong])


def test_nothing_sensitive_gives_no_columns():
    tree = suppression(["a", "b"])
    classes = EquivalenceClasses(
        ("q",), (tree,), np.array([[0], [1]], dtype=np.int32), np.array([1, 2])
    )
    found = measure_curves(path_of(classes), NLLM).at([1, 2])
    assert not any(name.startswith(("entropy_l", "t_norm1")) for name in found)


# --- Many values, long paths: the room for histograms is used up and tidied ---------------------
def test_there_is_room_for_every_histogram():
    """Twice the entries: compiled loops would write past the end unseen."""
    ill = wide(20, 9, seed=3).sensitive[0]
    room = build_histograms(ill, 40)
    assert len(room.value) == len(room.tally) == 2 * len(ill.value)
    assert len(room.start) == len(room.length) == 40


def wide(classes: int, values: int, seed: int) -> EquivalenceClasses:
    """A class per value of one column, each with its own few of many sensitive values."""
    rng = np.random.default_rng(seed)
    tree = suppression([f"v{place:04}" for place in range(classes)])
    sizes = rng.integers(1, 9, classes)
    group = np.repeat(np.arange(classes), sizes)
    codes = rng.integers(0, values, len(group))
    codes[:values] = np.arange(values)[: len(codes)]
    names = [f"s{place:03}" for place in range(values)]
    ill = Sensitive.from_records("ill", names, False, group, codes, classes)
    nodes = np.arange(classes, dtype=np.int32)[:, None]
    return EquivalenceClasses(("q",), (tree,), nodes, ill.sizes, (ill,))


@pytest.mark.parametrize(("classes", "values"), [(400, 300), (900, 700), (600, 5)])
def test_the_room_for_histograms_is_tidied_and_nothing_is_lost(classes, values):
    """The merged histograms need more than the room there is: so it was tidied on the way."""
    start = wide(classes, values, seed=classes)
    path = path_of(start, strategy="s1")
    ill = start.sensitive[0]
    curves = measure_curves(path, NLLM)
    held = [set(ill.value[ill.start[c] : ill.start[c + 1]].tolist()) for c in range(classes)]
    written = len(ill.value)
    for parts in path.parts.tolist():
        held.append(set().union(*(held[part] for part in parts if part >= 0)))
        written += len(held[-1])
    if values > 5:
        assert written > 2 * len(ill.value), "else nothing had to be tidied"
    for k in (*range(1, 40), 60, 100, 200, 500, start.n_records):
        row, sensitive = curves.row(k), path.at(k).released.sensitive[0]
        assert curves.t_norm1["ill"][row] == t_closeness.each(sensitive).max()
        least = entropy_l_diversity.each(sensitive).min()
        assert curves.entropy_l["ill"][row] == pytest.approx(least, rel=1e-12)


def test_measuring_leaves_the_table_alone():
    start = wide(100, 60, seed=2)
    ill = start.sensitive[0]
    copies = [ill.start.copy(), ill.value.copy(), ill.count.copy(), ill.total.copy()]
    path = path_of(start)
    first, second = measure_curves(path, NLLM), measure_curves(path, NLLM)
    assert first.t_norm1["ill"].tolist() == second.t_norm1["ill"].tolist()
    for before, now in zip(copies, (ill.start, ill.value, ill.count, ill.total), strict=True):
        assert np.array_equal(before, now)


def test_counts_beyond_the_table_of_logarithms_are_measured_alike():
    """Counts of about a million, where n ln n is computed and no longer looked up."""
    rng = np.random.default_rng(1)
    tree = suppression([f"v{place}" for place in range(12)])
    counts = rng.integers(2**19, 2**21, (12, 3))
    ill = Sensitive(
        "ill", ("A", "B", "C"), False, np.arange(13) * 3, np.tile(np.arange(3, dtype=np.int32), 12),
        counts.ravel(), counts.sum(axis=0),
    )  # fmt: skip
    nodes = np.arange(12, dtype=np.int32)[:, None]
    path = path_of(EquivalenceClasses(("q",), (tree,), nodes, ill.sizes, (ill,)))
    curves = measure_curves(path, NLLM)
    for k in path.distinct_k.tolist():
        row, sensitive = curves.row(k), path.at(k).released.sensitive[0]
        assert curves.t_norm1["ill"][row] == t_closeness.each(sensitive).max()
        least = entropy_l_diversity.each(sensitive).min()
        assert curves.entropy_l["ill"][row] == pytest.approx(least, rel=1e-12)


# --- Names and files ----------------------------------------------------------------------------
def table() -> pd.DataFrame:
    rng = np.random.default_rng(9)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 70, 120),
            "sex": rng.choice(["F", "M"], 120),
            "ill": rng.choice(["gout", "flu", "cold", None], 120),
            "pay": rng.integers(1, 6, 120) * 100,
        }
    )


def plan_of(columns: list[str], **algorithm) -> Plan:
    tree = {"build": "intervals", "widths": [5, 10]}
    return make_plan(
        {"age": qi_with(tree), "sex": qi(), **{name: {"role": "sensitive"} for name in columns}},
        2,
        {"name": "gaa", **algorithm},
    )


def levels(released: pd.DataFrame, name: str) -> tuple[float, float]:
    """l and t of the worst class of a released table, by pandas."""
    counts = pd.crosstab([released["age"], released["sex"]], released[name].fillna("(none)"))
    shares = counts.div(counts.sum(axis=1), axis=0)
    logs = np.log(shares.where(shares > 0, 1.0))
    whole = counts.sum() / counts.to_numpy().sum()
    l_ = np.exp(-(shares * logs).sum(axis=1)).min()
    return l_, (shares - whole).abs().sum(axis=1).max()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sensitive", [[], ["ill"], ["ill", "pay"], ["pay", "ill"]])
@pytest.mark.parametrize("name", ["gaa", "gaa-small"])
def test_a_sweep_has_a_column_for_each(sensitive, name):
    strategies = ["s1", "s3", "s6"] if name == "gaa" and sensitive else ["s1"]
    plan = plan_of(sensitive, name=name, sensitive=sensitive[0] if sensitive else None)
    frame, ks = table()[["age", "sex", *sensitive]], [2, 5, 30]
    found = sweep(plan, frame, ks, ["ncp"], strategies)
    suffixes = [""] if len(sensitive) == 1 else [f"_{column}" for column in sensitive]
    expected = [
        f"{what}{x}" for x in suffixes[: len(sensitive)] for what in ("entropy_l", "t_norm1")
    ]
    after = found.columns.get_loc("deleted_among_modified_percent") + 1
    assert found.columns.tolist()[after:] == expected
    for row in found.to_dict("records"):
        algorithm = plan.algorithm.model_copy(update={"metric": "ncp", "strategy": row["strategy"]})
        alone = run(plan.with_k(row["k"]).model_copy(update={"algorithm": algorithm}), frame)
        for column, suffix in zip(sensitive, suffixes, strict=False):
            l_, t = levels(alone.released(), column)
            assert row[f"entropy_l{suffix}"] == pytest.approx(l_)
            assert row[f"t_norm1{suffix}"] == pytest.approx(t)
