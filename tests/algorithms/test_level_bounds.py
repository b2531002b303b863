"""Level bounds: each algorithm keeps them or refuses, against definitions and brute force."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pandas as pd
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from kanon import notebook
from kanon.algorithms import optimal_local
from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.gaa import merge_path
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.level_bounds import find_lowest_nodes
from kanon.errors import PlanError, ReleaseError, Unsatisfiable
from kanon.plan import Plan
from kanon.release.check import check_release, require_verdicts
from kanon.report.explanations import describe_plan
from kanon.run import prepare, run
from oracles.plain_clustering import Plain, check_nothing_changes, least_loss
from support.plans import plan_content
from support.random_tables import PlainTree, Problem, examples, trees
from support.reference_tables import cases, chosen_task, integer_cost, moves_up, result, scaled

SEARCHES = ("optimal", "flash", "ola", "incognito")
OTHERS = [
    name
    for name, module in algorithms().items()
    if module.CARD.family != "levels" and name != "mdav"
]


# --- By definition ------------------------------------------------------------------------------
def lowest(tree: PlainTree, label: str, least: int) -> str:
    return next(node for node in tree.paths[label] if tree.level[node] >= least)


def highest(tree: PlainTree, label: str, most: int) -> str:
    return [node for node in tree.paths[label] if tree.level[node] <= most or node == label][-1]


@examples(100)
@given(trees(max_nodes=12), st.data())
def test_lowest_nodes_are_those_of_the_paths(tree, data):
    level = data.draw(st.integers(0, tree.height - 1))
    built = tree.build()
    labels = [built.labels[node] for node in find_lowest_nodes(built, level)]
    assert labels == [lowest(tree, label, level) for label in built.labels]


@st.composite
def bounded(draw, **kwargs):
    """A table, what guides, k, and bounds that leave every value a group."""
    problem, chosen = draw(cases(**kwargs))
    bounds = []
    for tree in problem.trees:
        least = draw(st.integers(0, tree.height - 1))
        bounds.append((least, draw(st.integers(least, tree.height - 1))))
    for tree, column, (least, most) in zip(
        problem.trees, zip(*problem.rows, strict=True), bounds, strict=True
    ):
        assume(all(tree.level[lowest(tree, label, least)] <= most for label in column))
    return problem, chosen, draw(st.integers(1, len(problem.rows))), tuple(bounds)


def raise_rows(problem: Problem, bounds) -> Problem:
    """The table at its lowest allowed nodes."""
    least = [low for low, _ in bounds]
    rows = (tuple(map(lowest, problem.trees, row, least)) for row in problem.rows)
    return Problem(problem.trees, tuple(rows))


def split(problem: Problem, bounds) -> list[Problem]:
    """The parts of a raised table that share no class, as no allowed group holds both."""
    parts, most = defaultdict(list), [high for _, high in bounds]
    for row in raise_rows(problem, bounds).rows:
        parts[tuple(map(highest, problem.trees, row, most))].append(row)
    return [Problem(problem.trees, tuple(rows)) for rows in parts.values()]


def check_bounds(problem: Problem, found: dict, bounds) -> None:
    for target in found.values():
        for tree, label, (least, most) in zip(problem.trees, target, bounds, strict=True):
            assert least <= tree.level[label] <= most


# --- All algorithms that merge, cut or cluster --------------------------------------------------
@pytest.mark.parametrize("name", OTHERS)
def test_bounds_hold_or_a_part_has_too_few_records(name):
    module = algorithms()[name]

    @examples(80, in_gate=2 if name == "optimal-local" else 5)
    @given(bounded(max_records=14))
    def law(case):
        problem, chosen, k, bounds = case
        task = replace(chosen_task(problem, chosen, k), level_bounds=bounds)
        sizes = [len(part.rows) for part in split(problem, bounds)]
        if min(sizes) < k:
            event("refused")
            with pytest.raises(Unsatisfiable, match="highest allowed levels"):
                module.anonymise(task)
            return
        before = task.classes.nodes.copy()
        recoding = module.anonymise(task)
        found = result(problem, recoding)
        check_bounds(problem, found, bounds)
        assert recoding.classes is task.classes and (task.classes.nodes == before).all()
        assert recoding.counts.min() >= k and recoding.counts.sum() == len(problem.rows)
        assert all(moves_up(problem, low, high) for low, high in found.items())
        event(f"{min(len(sizes), 3)} parts or more")

    law()


@pytest.mark.parametrize("name", OTHERS)
def test_bounds_that_allow_all_levels_change_nothing(name):
    @examples(30, in_gate=1 if name == "optimal-local" else 3)
    @given(cases(max_records=14), st.data())
    def law(case, data):
        problem, chosen = case
        module, k = algorithms()[name], data.draw(st.integers(1, len(problem.rows)))
        task = chosen_task(problem, chosen, k)
        bounds = tuple((0, tree.height - 1) for tree in problem.trees)
        with_bounds = module.anonymise(replace(task, level_bounds=bounds))
        assert result(problem, with_bounds) == result(problem, module.anonymise(task))

    law()


@examples(60, in_gate=5)
@given(bounded(max_records=8))
def test_optimal_local_loses_as_little_as_the_best_partition_of_each_part(case):
    problem, chosen, k, bounds = case
    parts = split(problem, bounds)
    assume(min(len(part.rows) for part in parts) >= k)
    task = replace(chosen_task(problem, chosen, k), level_bounds=bounds)
    found, depths = optimal_local.anonymise(task), scaled(problem, chosen)
    cost = integer_cost(problem, depths)
    pairs = zip(problem.rows, raise_rows(problem, bounds).rows, strict=True)
    raised = sum(cost(low, high) for low, high in pairs)
    assert total_loss(task, found) == raised + sum(
        least_loss(Plain(part, depths, k)) for part in parts
    )
    assert found.trace.gap == 0


# --- Full-domain searches -----------------------------------------------------------------------
def at_levels(tree: PlainTree, label: str, level: int) -> str:
    within = [node for node in tree.paths[label] if tree.level[node] <= level]
    return within[-1] if within else label


def best_node(problem: Problem, depths, k: int, limit: int, bounds) -> tuple[int, tuple] | None:
    """The least loss within the bounds and the first node that has it, by looking at all."""
    cost, best = integer_cost(problem, depths), None
    roots, start = tuple(tree.root for tree in problem.trees), raise_rows(problem, bounds).rows
    for node in product(*(range(least, most + 1) for least, most in bounds)):
        rows = [tuple(map(at_levels, problem.trees, row, node)) for row in start]
        sizes = Counter(rows)
        small = [sizes[row] < k for row in rows]
        if sum(small) > limit:
            continue
        lost = sum(
            cost(own, roots if out else row)
            for own, row, out in zip(problem.rows, rows, small, strict=True)
        )
        best = min(best or (lost, node), (lost, node))
    return best


@examples(200, in_gate=12)
@given(bounded(max_records=12), st.integers(0, 3))
def test_searches_find_the_best_node_within_the_bounds(case, limit):
    problem, chosen, k, bounds = case
    task = replace(
        chosen_task(problem, chosen, k), level_bounds=bounds, suppression=limit, models=()
    )
    expected = best_node(problem, scaled(problem, chosen), k, limit, bounds)
    for name in SEARCHES:
        module = algorithms()[name]
        if expected is None:
            event("no node")
            with pytest.raises(Unsatisfiable, match="between the levels that the plan allows"):
                module.anonymise(task)
            continue
        found = module.anonymise(task)
        assert total_loss(task, found) == expected[0], name
        assert found.trace.node == expected[1], name
        kept = {low: high for (low, high), group in zip(
            result(problem, found).items(), found.assigned, strict=True) if group >= 0}  # fmt: skip
        check_bounds(problem, kept, bounds)


@examples(60, in_gate=6)
@given(bounded(max_records=12), st.integers(0, 3))
def test_walks_stay_within_the_bounds_or_are_refused(case, limit):
    problem, chosen, k, bounds = case
    task = replace(chosen_task(problem, chosen, k), level_bounds=bounds, suppression=limit)
    possible = best_node(problem, scaled(problem, chosen), k, limit, bounds) is not None
    for name in ("datafly", "improved-greedy", "samarati"):
        try:
            found = algorithms()[name].anonymise(task)
        except Unsatisfiable:
            assert not possible, name
            continue
        assert found.suppressed_records <= limit, name
        for node in [*found.trace.walk, *found.trace.visited.tolist()]:
            assert all(a <= level <= b for level, (a, b) in zip(node, bounds, strict=True))


# --- A plan -------------------------------------------------------------------------------------
AGE = {"build": "intervals", "widths": [10, 30]}


def build_plan(name="gaa", k=2, levels=None, models=(), **more):
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": AGE},
        "sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
        "ill": {"role": "sensitive"},
    }
    if levels is not None:
        columns["age"]["levels"] = levels
    content = plan_content(columns, k, {"name": name, **more.pop("own", {})}, models=[*models])
    return Plan.from_content(content | more)


TABLE = pd.DataFrame(
    {
        "age": [31, 31, 32, 38, 44, 45, 61, 61],
        "sex": list("FFMMFMFM"),
        "ill": ["flu", "cold", "flu", "cold", "flu", "flu", "cold", "flu"],
    }
)


def test_a_worked_example():
    """Without bounds the two women of 31 stay as they are; with them all ages are tens at least.

    30-39 has four people, 40-49 two of different sex, 60-69 two of different sex.
    """
    free = run(build_plan(), TABLE)
    assert "31" in {str(age) for age in free.released()["age"]}
    done = run(build_plan(levels={"least": 1, "most": 1}), TABLE)
    rows = sorted(map(tuple, done.released()[["age", "sex"]].to_numpy().tolist()))
    assert rows == [("30-39", "F")] * 2 + [("30-39", "M")] * 2 + [
        *[("40-49", "*")] * 2, *[("60-69", "*")] * 2
    ]  # fmt: skip
    # Measured from the original values: every age was raised, and four cells of sex.
    assert done.measures["generalised_percent"] == pytest.approx(100 * 12 / 16)
    assert sum(int(same.sum()) for same in done.recoding.unchanged) == 4


def test_a_loss_counts_from_the_original_values():
    """Total: an age raised to tens loses 1 of 3 levels, a blanked sex all."""
    done = run(build_plan(levels={"least": 1, "most": 1}, own={"metric": "total"}), TABLE)
    lost, possible = 8 * Fraction(1, 3) + 4, 16
    assert done.alteration == pytest.approx(float(100 * lost / possible))


def test_suppressed_records_are_bound_by_no_highest_level():
    """55 alone would need 30-59: it is suppressed, and its row is all roots."""
    table = pd.concat([TABLE, pd.DataFrame({"age": [55], "sex": ["F"], "ill": ["flu"]})])
    plan = build_plan(
        "optimal", levels={"most": 1}, suppression_limit={"records": 1}, suppressed="keep"
    )
    released = run(plan, table).released(order="table")
    assert released["suppressed"].tolist() == [0] * 8 + [1]
    assert released["age"].iloc[-1] == "*" and set(released["age"].iloc[:-1]) == {
        "30-39", "40-49", "60-69"
    }  # fmt: skip
    for name in ("gaa", "local-suppression"):
        with pytest.raises(Unsatisfiable) as caught:
            run(build_plan(name, levels={"most": 1}), table)
        assert "1 record may only be generalised up to '50-59', '*'" in caught.value.sentence
        assert "50-59" not in str(caught.value)


REFUSED = [
    ({"least": 4}, "Plan key columns.age.levels.least: level 4 is not allowed; the hierarchy has "
     "levels 0 to 3."),
    ({"most": 9}, "Plan key columns.age.levels.most: level 9 is not allowed; the hierarchy has "
     "levels 0 to 3."),
    ({"least": 2, "most": 1}, "Plan key columns.age.levels: least is 2 and most is 1, but least "
     "has to be at most most."),
    ({"least": -1}, "Plan key columns.age.levels.least: '-1' is not allowed; it has to be at least "
     "0."),
    ({"lowest": 1}, "Plan key columns.age.levels: the key 'lowest' is unknown; choose from least, "
     "most."),
]  # fmt: skip


@pytest.mark.parametrize(("levels", "sentence"), REFUSED)
def test_bounds_that_cannot_be_are_refused_in_one_sentence(levels, sentence):
    with pytest.raises(PlanError) as caught:
        prepare(build_plan(levels=levels), TABLE).check()
    assert caught.value.sentence.startswith(sentence)


def test_only_a_quasi_identifier_with_a_hierarchy_can_have_bounds():
    content = build_plan().model_dump(mode="json")
    content["columns"]["ill"]["levels"] = {"least": 1}
    with pytest.raises(PlanError, match=r"'ill' has the role sensitive\. Only a quasi-identifier"):
        Plan.from_content(content)
    columns = {"age": {"role": "quasi-identifier", "levels": {"least": 1}}}
    bare = Plan.from_content(plan_content(columns, 2, {"name": "mondrian"}))
    with pytest.raises(PlanError, match="'age' has no hierarchy"):
        prepare(bare, TABLE[["age"]]).check()


def test_a_branch_without_a_group_between_the_bounds_is_named():
    nodes = {"nodes": [{"name": "*", "parent": None}, {"name": "A", "parent": "*"},
             {"name": "a", "parent": "A"}, {"name": "f", "parent": "*"}]}  # fmt: skip
    column = {"role": "quasi-identifier", "hierarchy": nodes, "levels": {"least": 1, "most": 1}}
    plan = Plan.from_content(plan_content({"x": column}, 2, {"name": "gaa"}))
    with pytest.raises(PlanError) as caught:
        prepare(plan, pd.DataFrame({"x": ["a", "a", "f", "f"]})).check()
    assert caught.value.sentence.startswith(
        "Column 'x': 'f' has no group from level 1 to level 1, the bounds in columns.x.levels."
    )


def test_ranges_and_models_of_the_table_are_refused_with_the_reason():
    for name, own in (("mdav", {}), ("mondrian", {"release": "ranges"})):
        columns = {"age": {"role": "quasi-identifier", "hierarchy": AGE, "levels": {"least": 1}}}
        plan = Plan.from_content(plan_content(columns, 3, {"name": name, **own}))
        with pytest.raises(PlanError, match="Level bounds are levels of a hierarchy, but"):
            run(plan, TABLE[["age"]])
    close = [{"model": "t-closeness", "t": 0.9}]
    with pytest.raises(PlanError, match="divide the table into 3 parts"):
        run(build_plan(levels={"most": 1}, models=close), TABLE)
    assert run(build_plan(levels={"least": 1}, models=close), TABLE).recoding.min_k >= 2
    assert run(build_plan("optimal", levels={"most": 2}, models=close), TABLE).recoding.min_k >= 2


def test_models_hold_with_bounds():
    diverse = [{"model": "distinct-l-diversity", "l": 2}]
    for name in ("gaa", "lattice-sweep", "mondrian", "k-member", "optimal", "local-suppression"):
        done = run(build_plan(name, levels={"least": 1, "most": 2}, models=diverse), TABLE)
        assert done.released().groupby(["age", "sex"])["ill"].nunique().min() >= 2, name


def test_a_chosen_node_has_to_lie_within_the_bounds():
    own = {"node": {"age": 0, "sex": 1}}
    with pytest.raises(
        PlanError, match=r"node\.age: level 0 is not allowed; the plan allows levels 1"
    ):
        prepare(build_plan("levels", levels={"least": 1}, own=own), TABLE).check()
    own = {"node": {"age": 2, "sex": 1}}
    done = run(build_plan("levels", levels={"least": 1, "most": 2}, own=own), TABLE)
    assert done.measures["node"] == {"age": 2, "sex": 1}
    assert set(done.released()["age"]) == {"30-59", "60-89"}


def test_one_run_does_not_serve_every_k():
    plan = build_plan(levels={"least": 1})
    with pytest.raises(PlanError, match="'gaa' with level bounds runs for one k at a time"):
        notebook.every_k(plan, TABLE)
    assert notebook.every_k(plan, TABLE, ks=[2, 3]).release(2).recoding.min_k >= 2
    with pytest.raises(PlanError, match="it cannot keep level bounds"):
        merge_path(prepare(plan, TABLE).task())


def test_outliers_go_with_bounds():
    """The one of 5 would raise six others to the root."""
    table = pd.DataFrame({"age": [31] * 6 + [5], "sex": ["F"] * 7, "ill": ["flu"] * 7})
    done = run(build_plan(k=3, levels={"least": 1}, outliers={"records": 1}), table)
    assert done.released()["age"].tolist() == ["30-39"] * 6


def test_the_check_of_a_release_counts_levels_from_the_labels():
    bounds = build_plan(levels={"least": 1, "most": 2})
    done = run(bounds, TABLE)
    assert all(verdict.holds for verdict in done.verdicts)
    labels = done._coarse_labels
    assert set(labels["age"]) >= {"31", "61", "*"} and not labels["age"] & {"30-39", "30-59"}
    for age in ("31", "*"):
        released = done.released()
        released["age"] = released["age"].where(released.index > 1, age)
        (verdict,) = check_release(released, bounds, coarse=labels)
        with pytest.raises(ReleaseError, match="outside level 1 to level 2 of its hierarchy"):
            require_verdicts([verdict])
    assert done.content("csv")


def test_the_report_names_the_bounds():
    terms = dict(describe_plan(run(build_plan(levels={"least": 1}), TABLE)))
    assert terms["Level bounds"] == "age from level 1 to the root"
    assert "Level bounds" not in dict(describe_plan(run(build_plan(), TABLE)))


@pytest.mark.parametrize("name", ["gaa", "k-member", "local-suppression", "optimal"])
def test_the_order_of_rows_does_not_matter_with_bounds(name):
    plan = build_plan(name, levels={"least": 1, "most": 2})
    one, other = run(plan, TABLE), run(plan, TABLE.iloc[::-1])
    assert one.released().equals(other.released())


@examples(20, in_gate=3)
@given(bounded(max_records=10))
def test_inputs_stay_as_they_were(case):
    problem, chosen, k, bounds = case
    assume(min(len(part.rows) for part in split(problem, bounds)) >= k)
    task = replace(chosen_task(problem, chosen, k), level_bounds=bounds)
    check_nothing_changes(algorithms()["k-member"], task)
