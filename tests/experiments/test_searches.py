"""Three searches of one lattice: against the definitions counted by hand, bounds, pictures."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon.experiments.searches
from kanon.algorithms import samarati
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.charts import searches
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.searches import (
    SEARCHES,
    Searches,
    check_searches,
    choose_column_numbers,
    compute_time_ratio,
    count_comparisons,
    count_lattice_sizes,
    count_most_evaluated,
    measure_searches,
    select_first_columns,
)
from kanon.hierarchy.build import suppression
from kanon.measures import alteration
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.run import prepare
from kanon.studio.compare.searches_panel import plan_searches
from kanon.studio.session.table_loading import open_uploaded_table
from oracles import plain_lattice as plain
from oracles.plain_lattice import PlainLattice
from support.lattice_losses import by_potential
from support.random_tables import SEVEN, PlainTree, Problem, examples, problems

NLLM = metric_named("nllm")


@pytest.fixture
def once(monkeypatch):
    """Every run is made once: what is found does not depend on how often it is timed."""
    monkeypatch.setattr(kanon.experiments.searches, "_REPEATS", ())


def task_of(problem: Problem, metric: str = "nllm", **more) -> Task:
    classes = problem.classes()
    return Task(classes, scale_metric_potentials(classes, metric_named(metric)), k=1, **more)


def deep(prefix: str, widths: list[int]) -> PlainTree:
    """A balanced tree with so many children per node at each depth."""
    parents: dict[str, str | None] = {prefix: None}
    layer = [prefix]
    for width in widths:
        below = [f"{node}{i}" for node in layer for i in range(width)]
        parents |= {node: node[:-1] for node in below}
        layer = below
    return PlainTree(parents)


def a_table(n_records: int, n_columns: int, seed: int = 7) -> Problem:
    """Records over trees of different heights, drawn at random and the same each time."""
    chance = random.Random(seed)
    shapes = ([2, 2], [3], [2, 1, 2], [2], [3, 2], [2], [2, 2], [3])
    trees = tuple(deep("abcdefgh"[j], shapes[j]) for j in range(n_columns))
    rows = tuple(tuple(chance.choice(tree.leaves) for tree in trees) for _ in range(n_records))
    return Problem(trees, rows)


def by_hand(
    problem: Problem, task: Task, k: int, limit: int
) -> dict[str, tuple[PlainLattice, tuple]]:
    """Per search the lattice as it counted it, and the node that it released."""
    found, cost = {}, by_potential(problem, task)
    for name in SEARCHES:
        lattice = PlainLattice(problem, k, limit)
        if name == "datafly":
            node = plain.datafly(lattice)
        elif name == "samarati":
            node = plain.samarati(lattice, partial(lattice.cells, cost=cost))
        else:
            node = plain.improved_greedy(lattice)[-1]
        found[name] = lattice, node
    return found


def plain_iloss(lattice: PlainLattice, node: tuple[int, ...]) -> Fraction:
    trees = lattice.problem.trees
    return sum(
        (
            Fraction(tree.leaves_covered[label] - 1, len(tree.leaves))
            for labels in lattice.released(node)
            for tree, label in zip(trees, labels, strict=True)
        ),
        Fraction(0),
    )


def agrees(problem: Problem, metric: str, limit: int | None) -> None:
    """All numbers over k are those of the searches as they are written down."""
    task = task_of(problem, metric, suppression=limit)
    found = measure_searches(ignore_progress, task, metric_named(metric))
    n = len(problem.rows)
    assert found.ks == tuple(k for k in PAPER_K if k <= n)
    assert found.limit == (limit or 0) and found.n_records == n
    rows = found.over_k.set_index(["k", "algorithm"])
    assert len(rows) == 3 * len(found.ks) and (rows["seconds"] > 0).all()
    for k in found.ks:
        for name, (lattice, node) in by_hand(problem, task, k, limit or 0).items():
            row = rows.loc[(k, name)]
            assert row["nodes_evaluated"] == len(lattice.evaluated)
            assert row["level_of_generalisation"] == sum(node)
            assert row["suppressed"] == len(lattice.suppressed(node))
            lost = plain_iloss(lattice, node)
            assert row["iloss"] == pytest.approx(float(lost))
            assert row["iloss_mean"] == pytest.approx(float(lost / (n * len(problem.trees))))
            sizes = [len(each) for each in lattice.kept(node)]
            assert (row["min_k"] is pd.NA and not sizes) or row["min_k"] == min(sizes) >= k


@pytest.mark.parametrize("limit", [None, 3])
def test_the_numbers_over_k_are_those_of_the_definitions(once, limit):
    agrees(a_table(40, 3), "nllm", limit)


@examples(30)
@given(problems(max_attributes=3, max_records=14, max_nodes=5), st.sampled_from(SEVEN), st.data())
def test_so_they_are_on_any_table(problem, metric, data):
    n = len(problem.rows)
    if n < PAPER_K[0]:
        with pytest.raises(PlanError):
            measure_searches(ignore_progress, task_of(problem), NLLM)
        return
    limit = data.draw(st.none() | st.integers(0, n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kanon.experiments.searches, "_REPEATS", ())
        agrees(problem, metric, limit)


def test_alteration_is_that_of_the_release(once):
    problem = a_table(40, 3)
    task = task_of(problem)
    found = measure_searches(ignore_progress, task, NLLM)
    for k in found.ks:
        row = found.over_k.query("k == @k and algorithm == 'samarati'").iloc[0]
        release = samarati.anonymise(replace(task, k=k, suppression=0))
        assert row["alteration"] == alteration.value(release, NLLM)


def test_over_columns_each_lattice_is_that_of_the_first_ones(once):
    """The same as tables that have the first columns alone; all records stay."""
    problem = a_table(60, 5)
    task = task_of(problem)
    found = measure_searches(ignore_progress, task, NLLM)
    rows = found.over_columns.set_index(["columns", "algorithm"])
    assert sorted({number for number, _ in rows.index}) == [3, 4, 5] and not found.lacking
    for number in (3, 4, 5):
        less = Problem(problem.trees[:number], tuple(row[:number] for row in problem.rows))
        small = select_first_columns(task, number)
        assert small.classes.attributes == found.attributes[:number]
        assert small.classes.n_records == 60
        sums = [sum(node) for node in PlainLattice(less, 1).nodes()]
        for name, (lattice, _) in by_hand(less, small, 10, 0).items():
            row = rows.loc[(number, name)]
            assert row["adds"] == problem.columns[number - 1] and row["k"] == 10
            assert row["nodes_evaluated"] == len(lattice.evaluated) <= row["most_evaluated"]
            assert row["lattice_nodes"] == len(sums)
            assert row["largest_height"] == max(map(sums.count, sums))
            assert row["most_evaluated"] == count_most_evaluated(name, less.hierarchies)


def test_the_settings_of_a_task_are_left_alone(once):
    task = task_of(a_table(30, 3), models=(DistinctLDiversity(2, "none"),))
    before = task.classes.nodes.copy(), [depth.copy() for depth in task.potentials]
    found = measure_searches(ignore_progress, task, NLLM)
    bare = measure_searches(ignore_progress, replace(task, models=()), NLLM)
    same = ["k", "algorithm", "nodes_evaluated", "iloss", "min_k"]
    assert found.over_k[same].equals(bare.over_k[same]), "k-anonymity alone is asked for"
    assert np.array_equal(task.classes.nodes, before[0])
    assert all(map(np.array_equal, task.potentials, before[1]))


# --- bounds -----------------------------------------------------------------------------------
@examples(150)
@given(problems(max_attributes=4, max_records=12, max_nodes=6), st.data())
def test_no_search_evaluates_more_than_its_bound(problem, data):
    k = data.draw(st.integers(1, len(problem.rows)))
    limit = data.draw(st.integers(0, len(problem.rows)))
    task = task_of(problem, suppression=limit).for_k(k)
    for name in SEARCHES:
        evaluated = kanon.experiments.searches._run_search(
            name, task, ignore_progress
        ).trace.evaluated
        assert 1 <= evaluated <= count_most_evaluated(name, problem.hierarchies)


@pytest.mark.parametrize("m", range(1, 7))
def test_the_bounds_of_improved_greedy_and_datafly_are_reached(m):
    """A single record whose twin differs everywhere: only the top satisfies."""
    tree = suppression(["x", "y"])
    trees = (tree,) * m
    rows = np.array([[0] * m, [1] * m], dtype=np.int32)
    classes = classes_of(trees, rows)
    task = Task(classes, scale_metric_potentials(classes, NLLM), 2, suppression=0)
    greedy = kanon.experiments.searches._run_search("improved-greedy", task, ignore_progress).trace
    assert (
        greedy.evaluated == 1 + m * (m + 1) // 2 <= count_most_evaluated("improved-greedy", trees)
    )
    assert (
        kanon.experiments.searches._run_search("datafly", task, ignore_progress).trace.evaluated
        == m + 1
    )
    assert count_most_evaluated("datafly", trees) == m + 1
    assert count_most_evaluated("improved-greedy", trees) == 1 + m * m


def classes_of(trees, rows):
    names = tuple(f"q{j}" for j in range(len(trees)))
    return EquivalenceClasses(names, trees, rows, np.ones(len(rows), dtype=np.int64))


def heights_tried(top: int, lowest: int) -> set[int]:
    """Which heights a binary search over 0..top looks at, written as a recursion."""

    def look(low: int, high: int) -> set[int]:
        if low == high:
            return {lowest}
        middle = (low + high) // 2
        return {middle} | (look(low, middle) if lowest <= middle else look(middle + 1, high))

    return look(0, top)


@examples(100)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_samarati_counts_whole_heights_at_the_worst(tops):
    trees = [deep("a", [1] * (top - 1) + [2]).build() for top in tops]
    sizes: dict[int, int] = {}
    for node in np.ndindex(*(top + 1 for top in tops)):
        sizes[sum(node)] = sizes.get(sum(node), 0) + 1
    top, largest = sum(tops), max(sizes.values())
    worst = max(
        sum(sizes[height] for height in heights_tried(top, lowest)) for lowest in range(top + 1)
    )
    bound = count_most_evaluated("samarati", trees)
    assert bound == worst <= (math.ceil(math.log2(top + 1)) + 1) * largest
    found = count_lattice_sizes(trees)
    assert found["lattice_nodes"] == sum(sizes.values()) and found["largest_height"] == largest
    spread = sum(((t + 1) ** 2 - 1) / 12 for t in tops)
    by_formula = sum(sizes.values()) / math.sqrt(2 * math.pi * spread)
    assert found["largest_height_by_formula"] == pytest.approx(by_formula)


# --- what cannot be run -----------------------------------------------------------------------
def test_what_cannot_be_run_is_refused_with_a_sentence():
    with pytest.raises(PlanError, match="k = 3 and above, but the table has only 2 records"):
        check_searches([suppression(["a", "b"])], 2)
    high = [deep("a", [2] * 9).build()] * 8
    with pytest.raises(PlanError, match=r"100.000.000 nodes, but Samarati searches at most"):
        check_searches(high, 1000)


@pytest.mark.parametrize(
    ("records", "columns", "why"),
    [
        (40, 2, "It needs at least 3 quasi-identifiers; the table has 2."),
        (9, 4, "It runs at k = 10, but the table has only 9 records."),
    ],
)
def test_too_few_columns_or_records_leave_the_experiment_over_columns_out(
    once, records, columns, why
):
    found = measure_searches(ignore_progress, task_of(a_table(records, columns)), NLLM)
    assert found.lacking == why and found.over_columns.empty and len(found.over_k)
    assert list(choose_column_numbers(columns, records)) == []
    with pytest.raises(ValueError, match="It "):
        searches.draw_over_columns(found)


def test_at_most_eight_columns():
    assert list(choose_column_numbers(12, 50)) == [3, 4, 5, 6, 7, 8]
    assert list(choose_column_numbers(4, 10)) == [3, 4]


# --- time -------------------------------------------------------------------------------------
class Watch:
    """A clock on which every run takes what is written down."""

    def __init__(self, taken):
        self.taken, self.now, self.runs = list(taken), 0.0, 0

    def perf_counter(self):
        return self.now

    def run(self, name, task, progress):
        self.now += self.taken[self.runs]
        self.runs += 1
        return "found"


@pytest.mark.parametrize(
    ("taken", "runs", "counts"),
    [
        ([0.1, 0.5, 0.3], 3, 0.3),
        ([0.199, 0.1, 9.0], 3, 0.199),
        ([0.25, 7.0, 7.0], 1, 0.25),
        ([0.001, *[0.5] * 3, *[0.002] * 5], 9, 0.002),
    ],
)
def test_short_runs_are_repeated_and_their_median_counts(monkeypatch, taken, runs, counts):
    watch = Watch(taken)
    monkeypatch.setattr(kanon.experiments.searches, "time", watch)
    monkeypatch.setattr(kanon.experiments.searches, "_run_search", watch.run)
    clock = kanon.experiments.searches._Clock(ignore_progress, 100.0)
    seconds, found = clock.measure_search("samarati", None, "k = 3")
    assert seconds == pytest.approx(counts) and watch.runs == runs and found == "found"


def test_the_bar_never_goes_back():
    told = []
    measure_searches(lambda part, text: told.append((part, text)), task_of(a_table(30, 4)), NLLM)
    parts = [part for part, _ in told]
    assert parts == sorted(parts) and parts[0] == 0 and parts[-1] == 1
    assert any("Samarati, k = 10" in text for _, text in told)
    assert any("Improved greedy, 4 quasi-identifiers" in text for _, text in told)


# --- what is said -----------------------------------------------------------------------------
def made(
    losses: dict[str, list[float]],
    seconds: dict[str, list[float]] | None = None,
    levels: dict[str, list[int]] | None = None,
) -> Searches:
    """Measurements with these losses."""
    ks = PAPER_K[: len(losses["datafly"])]
    rows = [
        {
            "k": k, "algorithm": name, "iloss": losses[name][i],
            "seconds": seconds[name][i] if seconds else 1.0,
            "level_of_generalisation": levels[name][i] if levels else 3,
        }
        for i, k in reversed(list(enumerate(ks)))
        for name in SEARCHES
    ]  # fmt: skip
    none = pd.DataFrame()
    return Searches(pd.DataFrame(rows), none, ("q",), NLLM, 0, 99, (2,), "")


MIXED = made(
    {
        "datafly": [4.0, 4.0, 4.0, 4.0],
        "samarati": [2.0, 2.0, 3.0, 5.0],
        "improved-greedy": [1.0, 2.0 * (1 + 1e-12), 4.0, 4.5],
    },
    {
        "datafly": [1.0, 1.0, 1.0, 1.0],
        "samarati": [30.0, 10.0, 20.0, 10.0],
        "improved-greedy": [3.0, 2.0, 2.0, 3.0],
    },
    {"datafly": [2, 4, 5, 6], "samarati": [2, 3, 4, 4], "improved-greedy": [2, 3, 4, 5]},
)


def test_who_loses_less_is_counted_over_k_and_equal_is_equal():
    assert count_comparisons(MIXED, "iloss", "improved-greedy", "samarati") == (2, 1, 1)
    assert count_comparisons(MIXED, "iloss", "improved-greedy", "datafly") == (2, 1, 1)
    assert compute_time_ratio(MIXED, "improved-greedy", "datafly") == 2.5
    assert compute_time_ratio(MIXED, "improved-greedy", "samarati") == pytest.approx(0.15)
    assert searches.describe_searches(MIXED) == (
        "Improved greedy rises fewer levels than Datafly at 3 of 4 k, and loses less at 2"
    )


def test_what_is_said_of_improved_greedy_is_checked_and_not_repeated():
    """In all it loses 11.5, Samarati 12: 0.958 times as much."""
    levels, loss, seconds = searches.describe_claims(MIXED)
    assert "fewer than Datafly at 3 of 4 k" in levels and "is better than Datafly" in levels
    assert "0.96 times that of Samarati" in loss and "mostly better than Datafly" in loss
    assert "2.5 times that of Datafly and 0.15 times" in seconds and " clearly slower" in seconds


# --- pictures ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def measured():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kanon.experiments.searches, "_REPEATS", ())
        return measure_searches(ignore_progress, task_of(a_table(60, 5)), NLLM)


def drawn(figure, meta, axis):
    (found,) = [
        trace for trace in figure.data if trace.meta == meta and (trace.yaxis or "y") == axis
    ]
    return found


def test_the_picture_over_k_holds_the_numbers(measured):
    figure = searches.draw_over_k(measured)
    assert figure.layout.title.text == searches.describe_searches(measured)
    columns = {"y": "iloss_mean", "y2": "level_of_generalisation", "y3": "seconds"}
    for axis, column in columns.items():
        layout = figure.layout[axis.replace("y", "yaxis")]
        low, high = layout.range
        for name in SEARCHES:
            trace = drawn(figure, name, axis)
            assert list(trace.x) == list(measured.ks)
            own = measured.over_k.query("algorithm == @name")
            assert list(trace.y) == own[column].tolist()
            scale = np.log10 if layout.type == "log" else np.asarray
            assert ((scale(trace.y) >= low) & (scale(trace.y) <= high)).all(), "all is in view"
    assert figure.layout.yaxis3.type == "log" and figure.layout.xaxis2.type == "log"
    (line,) = figure.layout.shapes
    assert line.y0 == line.y1 == sum(measured.tops)
    heads = [note.text for note in figure.layout.annotations]
    assert sum("(↓ better)" in head for head in heads) == 3
    looks = [(trace.line.color, trace.line.dash, trace.marker.symbol) for trace in figure.data[:3]]
    assert all(len({look[i] for look in looks}) == 3 for i in range(3)), "not by colour alone"


def test_the_picture_over_columns_holds_the_numbers_and_the_bounds(measured):
    figure = searches.draw_over_columns(measured)
    assert figure.layout.title.text == searches.describe_effort(measured)
    assert "with 5 quasi-identifiers" in figure.layout.title.text.replace("\u202f", "")
    bounds = {trace.name: trace for trace in figure.data if trace.meta == "bound"}
    for name, title in zip(SEARCHES, ("Datafly", "Samarati", "Improved greedy"), strict=True):
        own = measured.over_columns.query("algorithm == @name")
        assert list(drawn(figure, name, "y").y) == own["seconds"].tolist()
        evaluated = drawn(figure, name, "y2")
        assert list(evaluated.x) == [3, 4, 5]
        assert list(evaluated.y) == own["nodes_evaluated"].tolist()
        bound = bounds[f"{title} at most"]
        assert list(bound.y) == own["most_evaluated"].tolist() and bound.line.dash == "dash"
    lattice = drawn(figure, "lattice", "y2")
    assert list(lattice.y) == own["lattice_nodes"].tolist()
    named = {trace.name for trace in figure.data if trace.showlegend is not False}
    assert named == {*bounds, "Datafly", "Samarati", "Improved greedy", "All nodes"}


def test_what_is_downloaded_says_what_it_was_made_with(measured):
    table = searches.build_over_k_table(measured)
    assert {"alteration_nllm", "seconds", "nodes_evaluated", "min_k"} <= set(table)
    assert (table["quasi_identifiers"] == 5).all() and (table["suppression_limit"] == 0).all()
    assert len(searches.build_over_columns_table(measured)) == 9
    assert "alteration" in measured.over_k, "the measurements stay as they are"


# --- Adult ------------------------------------------------------------------------------------
@pytest.mark.adult
@pytest.mark.nightly
def test_on_adult_the_walks_stay_within_their_bounds(adult_path):
    work = open_uploaded_table(adult_path.read_bytes(), "adult.csv", 1)
    plan = plan_searches(work)
    found = measure_searches(ignore_progress, prepare(plan, work.table.records).task(), plan.metric)
    assert found.ks == PAPER_K and (found.over_k["min_k"] >= found.over_k["k"]).all()
    assert (found.over_columns["nodes_evaluated"] <= found.over_columns["most_evaluated"]).all()
    least = found.get_values("level_of_generalisation", "samarati")
    assert all(
        (least <= found.get_values("level_of_generalisation", name)).all() for name in SEARCHES
    )
