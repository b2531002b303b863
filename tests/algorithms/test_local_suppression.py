"""Local suppression against a slow version by its definition, its laws, and the least possible."""

import time
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from benchmarks.plans import adult_content
from kanon.algorithms import local_suppression, optimal_local
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.hierarchy.build import suppression
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.run import prepare, run, run_prepared
from kanon.sources.opening import open_table
from oracles.plain_clustering import check_nothing_changes
from support.plans import plan_content
from support.random_tables import PlainTree, Problem, examples, problems
from support.reference_tables import result

Row = tuple[str, ...]


# --- The slow version ---------------------------------------------------------------------------
def blank(problem: Problem, row: Row, columns) -> Row:
    pairs = enumerate(zip(problem.trees, row, strict=True))
    return tuple(tree.root if j in columns else x for j, (tree, x) in pairs)


def suppressed_slowly(problem: Problem, weights: list[Fraction], k: int) -> dict[Row, Row]:
    """Per tuple what it becomes: set by set of columns, then the rest one by one."""
    m, sizes = len(weights), problem.sizes
    filled = [sum(row[j] != problem.trees[j].root for row in problem.rows) for j in range(m)]
    sets = [tuple(chosen) for size in range(m + 1) for chosen in combinations(range(m), size)]
    levels = {chosen: tuple(int(j in chosen) for j in range(m)) for chosen in sets}
    sets.sort(key=lambda s: (sum(weights[j] * filled[j] for j in s), levels[s]))
    # A table of one value is its root already: nothing to blank there.
    sets = [s for s in sets if not any(len(problem.trees[j].parents) == 1 for j in s)]
    left, becomes = dict(sizes), {}
    for columns in sets:
        groups = defaultdict(list)
        for row in left:
            groups[blank(problem, row, columns)].append(row)
        for target, rows in groups.items():
            if sum(sizes[row] for row in rows) >= k:
                becomes |= dict.fromkeys(rows, target)
                left = {row: n for row, n in left.items() if row not in rows}
        if sum(left.values()) < k:
            break

    def cost(low: Row, high: Row) -> Fraction:
        return sum((weights[j] for j in range(m) if low[j] != high[j]), Fraction(0))

    for row in list(left):
        released = sorted(set(becomes.values()), key=problem.numbers)
        counts = Counter()
        for member, target in becomes.items():
            counts[target] += sizes[member]

        def met(target: Row, row: Row = row) -> Row:
            return tuple(
                x if x == y else tree.root
                for tree, x, y in zip(problem.trees, target, row, strict=True)
            )

        best = min(
            released,
            key=lambda target: (
                counts[target] * cost(target, met(target)) + sizes[row] * cost(row, met(target))
            ),
        )
        joined = met(best)
        becomes = {who: joined if at == best else at for who, at in becomes.items()}
        becomes[row] = joined
    return becomes


@st.composite
def weighted_tables(draw, **kwargs):
    problem = draw(problems(**kwargs))
    halves = st.integers(0, 6).map(lambda number: number / 2)
    weights = [draw(halves) for _ in problem.trees]
    return problem, weights, draw(st.integers(1, len(problem.rows)))


def build_task(problem: Problem, weights: list[float], k: int) -> Task:
    classes = problem.classes()
    potentials = scale_metric_potentials(classes, metric_named("ncp"))
    return Task(classes, potentials, k, attribute_weights=tuple(weights))


@examples(300, in_gate=30)
@given(weighted_tables(max_records=18, max_attributes=4))
def test_it_equals_the_slow_version(case):
    problem, weights, k = case
    found = local_suppression.anonymise(build_task(problem, weights, k))
    expected = suppressed_slowly(problem, [Fraction(weight) for weight in weights], k)
    assert result(problem, found) == expected
    if len(set(expected.values())) > 1:
        event("several classes")


# --- Laws ---------------------------------------------------------------------------------------
@examples(150, in_gate=15)
@given(weighted_tables(max_records=18))
def test_every_cell_is_its_value_or_blank_and_k_holds(case):
    problem, weights, k = case
    task = build_task(problem, weights, k)
    release = local_suppression.anonymise(task)
    assert release.classes is task.classes and release.suppressed_records == 0
    assert release.counts.min() >= k and release.counts.sum() == len(problem.rows)
    for low, high in result(problem, release).items():
        for tree, x, y in zip(problem.trees, low, high, strict=True):
            assert y in (x, tree.root)
    check_nothing_changes(local_suppression, task)


@examples(60, in_gate=8)
@given(weighted_tables(max_records=12), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case, shuffler):
    problem, weights, k = case
    rows = list(problem.rows)
    shuffler.shuffle(rows)
    other = Problem(problem.trees, tuple(rows))
    tasks = [build_task(each, weights, k) for each in (problem, other)]
    one, two = (result(problem, local_suppression.anonymise(task)) for task in tasks)
    assert one == two


@examples(100, in_gate=10)
@given(weighted_tables(max_records=16), st.data())
def test_a_column_that_outweighs_all_others_is_blanked_only_where_it_has_to_be(case, data):
    """Each of its values occurs k times, so blanking all others would do."""
    problem, weights, k = case
    heavy = data.draw(st.integers(0, len(weights) - 1))
    counts = Counter(row[heavy] for row in problem.rows)
    assume(min(counts.values()) >= k)
    weights[heavy] = 1000.0
    found = result(problem, local_suppression.anonymise(build_task(problem, weights, k)))
    assert all(low[heavy] == high[heavy] for low, high in found.items())


def weighted_cells(task: Task, release) -> Fraction:
    """What is blanked, weighted."""
    total = Fraction(0)
    for j, weight in enumerate(task.attribute_weights):
        root = task.classes.hierarchies[j].root
        raised = (release.targets[:, j] == root) & (task.classes.nodes[:, j] != root)
        total += Fraction(weight) * int(task.classes.counts[raised].sum())
    return total


@st.composite
def stars(draw):
    """A small table where all trees are values under a root."""
    sizes = draw(st.lists(st.integers(2, 3), min_size=2, max_size=4))
    trees = tuple(PlainTree({"*": None} | {f"v{i}": "*" for i in range(size)}) for size in sizes)
    cells = st.tuples(*(st.sampled_from(tree.leaves) for tree in trees))
    rows = draw(st.lists(cells, min_size=3, max_size=14))
    weights = [draw(st.integers(1, 4)) / 2 for _ in trees]
    return Problem(trees, tuple(rows)), weights, draw(st.integers(2, len(rows)))


@examples(100, in_gate=8)
@given(stars())
def test_it_never_blanks_less_than_the_least_possible(case):
    problem, weights, k = case
    task = build_task(problem, weights, k)
    potentials = scale_metric_potentials(task.classes, metric_named("total"), weights)
    least = optimal_local.anonymise(replace(task, potentials=potentials))
    ours = weighted_cells(task, local_suppression.anonymise(task))
    assert least.trace.gap == 0 and ours >= weighted_cells(task, least)
    event("as few" if ours == weighted_cells(task, least) else "more")


# --- By hand ------------------------------------------------------------------------------------
def blanked(rows: list[str], k: int, *weights: float) -> list[str]:
    """Rows such as ``ax``, released in their order."""
    columns = list(zip(*rows, strict=True))
    trees = tuple(
        PlainTree({"*": None} | dict.fromkeys(sorted(set(column)), "*")) for column in columns
    )
    problem = Problem(trees, tuple(map(tuple, rows)))
    found = result(problem, local_suppression.anonymise(build_task(problem, [*weights], k)))
    return ["".join(found[tuple(row)]) for row in rows]


def test_worked_examples():
    # ax and ay twice each; bx and cx alone: together they are *x, for one cell each.
    rows = ["ax", "ax", "ay", "ay", "bx", "cx"]
    assert blanked(rows, 2, 1, 1) == ["ax", "ax", "ay", "ay", "*x", "*x"]
    # dz shares nothing with anyone: with ax or ay it costs 6 cells, with *x only 4: dz both, the
    # two others their x.
    assert blanked([*rows, "dz"], 2, 1, 1)[4:] == ["**", "**", "**"]


def test_a_light_column_is_blanked_first():
    rows = ["ax", "ay", "bx", "by"]
    assert blanked(rows, 2, 1, 2) == ["*x", "*y", "*x", "*y"]
    assert blanked(rows, 2, 2, 1) == ["a*", "a*", "b*", "b*"]
    assert blanked(rows, 2, 1, 1) == ["a*", "a*", "b*", "b*"], "a tie goes to the last column"


def test_a_blank_is_a_value_of_its_own():
    """sdcMicro would blank one cell of bx, which then matches ax. Here a class goes with it."""
    assert blanked(["ax", "ax", "bx"], 2, 1, 1) == ["*x", "*x", "*x"]


def test_equal_records_stay_together():
    """Parting the four ax, two of them with bx, would blank 3 cells; kept together, 5."""
    assert blanked(["ax"] * 4 + ["bx"], 2, 1, 1) == ["*x"] * 5


# --- A plan -------------------------------------------------------------------------------------
def build_plan(k: int, columns=("age", "sex"), models=(), **own) -> Plan:
    age = {"build": "intervals", "widths": [10]}
    chosen = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": age if name == "age" else {"build": "suppression"},
        }
        for name in columns
    }
    chosen["ill"] = {"role": "sensitive"}
    algorithm = {"name": "local-suppression", **own}
    return Plan.from_content(plan_content(chosen, k, algorithm, models=[*models]))


PEOPLE = pd.DataFrame(
    {"age": [31, 31, 32, 44, 44, 45], "sex": list("FFMFMM"),
     "ill": ["flu", "cold", "flu", "flu", "cold", "flu"]}
)  # fmt: skip


def test_a_plan_with_weights_and_a_model():
    """By k alone 31 F is a class; blanking sex groups 44; blanking age the two others, both M."""
    done = run(build_plan(2), PEOPLE)
    assert done.released(order="table")["age"].tolist() == ["31", "31", "*", "44", "44", "*"]
    assert done.released(order="table")["sex"].tolist() == ["F", "F", "M", "*", "*", "M"]
    light = run(build_plan(2, attribute_weights={"age": 0.5}), PEOPLE).released(order="table")
    assert light["age"].tolist() == ["*"] * 6, "the three others who are M, then 44 F joins 31 F"
    assert light["sex"].tolist() == PEOPLE["sex"].tolist()
    diverse = run(build_plan(2, models=[{"model": "distinct-l-diversity", "l": 2}]), PEOPLE)
    assert diverse.released().groupby(["age", "sex"])["ill"].nunique().min() >= 2


def test_with_a_highest_level_cells_are_raised_to_it_and_not_blanked():
    content = build_plan(2).model_dump(mode="json")
    content["columns"]["age"]["levels"] = {"most": 1}
    released = run(Plan.from_content(content), PEOPLE).released(order="table")
    assert set(released["age"]) <= {"31", "30-39", "44", "40-49"}


def test_too_many_columns_are_refused():
    most = local_suppression.MOST_COLUMNS
    tree = suppression(["a", "b"])
    for number in (most, most + 1):
        names = tuple(f"q{j}" for j in range(number))
        nodes = np.array([[0] * number, [1] * number], dtype=np.int32)
        classes = EquivalenceClasses(names, (tree,) * number, nodes, np.array([2, 2]))
        task = Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 2)
        if number == most:
            local_suppression.check(task)
            continue
        with pytest.raises(PlanError, match=rf"at most {most} quasi-identifiers, but there are"):
            local_suppression.check(task)


@pytest.mark.nightly
def test_adult_takes_less_than_ten_seconds(adult_path):
    content = adult_content("nllm", 5)
    del content["columns"]["salary-class"]
    content |= {"algorithm": {"name": "local-suppression"}, "read": {"missing": "as-value"}}
    prepared = prepare(Plan.from_content(content), open_table(adult_path).table)
    run_prepared(prepared)  # which compiles
    start = time.perf_counter()
    release = run_prepared(prepared).recoding
    assert time.perf_counter() - start < 10
    blanks = sum(
        int(at[tree.root]) for tree, at in zip(release.hierarchies, release.cells, strict=True)
    )
    assert blanks == 33_558 and release.min_k == 5
