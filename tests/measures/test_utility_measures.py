"""Distributions, associations and counts under uniform spread, against records in fractions."""

import gc
import math
import weakref
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given

from kanon import measures
from kanon.cards import parts_of
from kanon.hierarchy.ranges import LeafRange, add_ranges, build_flat_hierarchy
from kanon.measures import association_change, distribution_change, query_error
from kanon.measures.overview import build_all_at_root, build_identity, build_overview
from kanon.measures.query_error import answers, queries, study
from kanon.measures.summary import measure_release
from kanon.measures.yardstick import convert_recoding
from kanon.metrics import METRICS
from kanon.recoding import Recoding
from kanon.sensitive import Sensitive
from support.measured_tables import AGES, SEX, by_hand, recoded, releases
from support.random_tables import PlainTree, Problem, examples, problems

NEW = (distribution_change, association_change, query_error)


# --- the plainest possible answers ------------------------------------------------------------
def shared_out(tree: PlainTree, node: str) -> dict[str, Fraction]:
    """A cell as parts of a record at leaves."""
    below = [leaf for leaf in tree.leaves if node in tree.paths[leaf]]
    return {leaf: Fraction(1, len(below)) for leaf in below}


def plain_changes(trees, before, after):
    """Per column its total variation. None: suppressed."""
    n, left = len(before), [row for row in after if row is not None]
    variation = []
    for j, tree in enumerate(trees):
        apart: Counter = Counter()
        for sign, rows in ((1, before), (-1, left)):
            for row in rows:
                for leaf, part in shared_out(tree, row[j]).items():
                    apart[leaf] += sign * part
        variation.append((sum(map(abs, apart.values())) + n - len(left)) / (2 * n))
    return variation


def plain_answer(trees, rows, query) -> Fraction:
    """How many of some records match, each in parts."""
    total = Fraction(0)
    for row in rows:
        part = Fraction(1)
        for j, leaves in query.items():
            part *= sum(shared_out(trees[j], row[j]).get(leaf, 0) for leaf in leaves)
        total += part
    return total


def asked_of(trees, found, number: int) -> dict[int, list[str]]:
    """A query as the leaves that match, per attribute."""
    return {
        int(j): trees[j].order[low:high]
        for j, low, high in zip(
            found.attributes[number], found.low[number], found.high[number], strict=True
        )
        if j >= 0
    }


# --- the same numbers ---------------------------------------------------------------------------
@examples(70)
@given(releases())
def test_changes_are_what_fractions_of_records_say(case):
    problem, to, recoding = case
    after = [to[row] for row in problem.rows]
    variation = plain_changes(problem.trees, list(problem.rows), after)
    found = distribution_change.each(recoding)
    assert list(found) == problem.columns
    assert list(found.values()) == pytest.approx([float(x) for x in variation], abs=1e-12)
    assert distribution_change.value(recoding) == pytest.approx(
        float(sum(variation) / len(variation)), abs=1e-12
    )


@examples(40)
@given(releases())
def test_counts_are_what_fractions_of_records_say(case):
    problem, to, recoding = case
    after = [to[row] for row in problem.rows if to[row] is not None]
    n, found = len(problem.rows), study(recoding)
    errors = []
    for number in (*range(12), *range(500, 512)):
        query = asked_of(problem.trees, found.queries, number)
        true = plain_answer(problem.trees, problem.rows, query)
        estimated = plain_answer(problem.trees, after, query)
        assert found.true[number] == pytest.approx(float(true), abs=1e-12)
        assert found.estimated[number] == pytest.approx(float(estimated), abs=1e-12)
        errors.append(float(100 * abs(estimated - true) / max(true, Fraction(n, 1000))))
        assert found.errors[number] == pytest.approx(errors[-1], abs=1e-9)
    assert query_error.value(recoding) == pytest.approx(median(found.errors.tolist()))
    assert found.quantile(0.9) >= found.quantile(0.5) >= 0


# --- by hand ------------------------------------------------------------------------------------
def test_a_rare_answer_is_measured_by_a_thousandth_of_the_records():
    rows = [("a",)] * 1999 + [("b",)]
    problem = Problem((AGES,), tuple(rows))
    asked = query_error.Queries(
        np.array([[0], [0]]), np.array([[1], [2]]), np.array([[2], [3]]), np.zeros(2, dtype=bool)
    )
    true = answers(problem.classes(), asked)
    assert true.tolist() == [1, 0]
    found = query_error.QueryStudy(asked, true, np.array([3.0, 1.0]), 2000)
    assert found.errors.tolist() == [100, 50], "two off of two, one off of two"


# --- queries --------------------------------------------------------------------------------------
def grid(m: int) -> Problem:
    """Records of m columns of four ages."""
    rows = [tuple("abcd"[(i + i // 4 * j) % 4] for j in range(m)) for i in range(40)]
    return Problem((AGES,) * m, tuple(rows))


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_queries_are_of_two_or_three_columns(m):
    found = queries(grid(m).classes())
    used = [[j for j in row if j >= 0] for row in found.attributes.tolist()]
    assert len(used) == 1000 and found.of_ranges.sum() == 500
    assert all(len(set(row)) == len(row) for row in used), "no column twice"
    widths = Counter(map(len, used))
    if m < 3:
        assert set(widths) == {m}
    else:
        assert set(widths) == {2, 3} and 430 < widths[2] < 570
    times = Counter(j for row in used for j in row)
    assert set(times) == set(range(m))
    assert max(times.values()) < 1.25 * min(times.values())
    assert (found.low < found.high).all() and (found.high <= 4).all() and (found.low >= 0).all()


def test_runs_are_between_two_leaves_drawn_with_equal_chance():
    found = queries(grid(1).classes(), number=8000)
    runs = Counter(zip(found.low[:4000, 0].tolist(), found.high[:4000, 0].tolist(), strict=True))
    assert set(runs) == {(a, b + 1) for a in range(4) for b in range(a, 4)}
    for (low, high), times in runs.items():
        chance = (1 if high - low == 1 else 2) / 16
        assert abs(times - 4000 * chance) < 5 * math.sqrt(4000 * chance)


@examples(40)
@given(problems(max_records=14))
def test_cells_are_those_of_a_record(problem):
    """Every query of the second half matches somebody: the record that it was drawn from."""
    found = queries(problem.classes(), number=60)
    assert not found.of_ranges[30:].any() and found.of_ranges[:30].all()
    for number in range(30, 60):
        query = asked_of(problem.trees, found, number)
        assert any(
            all(
                set(shared_out(problem.trees[j], row[j])) == set(leaves)
                for j, leaves in query.items()
            )
            for row in problem.rows
        )


def test_frequent_records_are_asked_for_more_often():
    problem = Problem((AGES,), (("a",),) * 90 + (("b",),) * 10)
    found = queries(problem.classes())
    assert 0.85 < (found.low[500:, 0] == 0).mean() < 0.95


# --- laws -----------------------------------------------------------------------------------------
@examples(40)
@given(problems(max_records=14))
def test_the_identity_changes_nothing_to_the_last_digit(problem):
    """Of leaves and of inner nodes: what is not a leaf is spread before, too."""
    recoding = recoded(problem, {labels: labels for labels in problem.sizes})
    then = association_change.before(recoding.classes).cramers_v
    assert np.array_equal(then, association_change.after(recoding).cramers_v, equal_nan=True)
    assert [distribution_change.value(recoding), query_error.value(recoding)] == [0, 0]
    assert study(recoding).errors.max() == 0


@examples(40)
@given(problems(max_records=14))
def test_at_the_roots_every_value_is_equally_likely(problem):
    recoding = recoded(
        problem, dict.fromkeys(problem.sizes, tuple(tree.root for tree in problem.trees))
    )
    for one, tree in zip(distribution_change.distributions(recoding), problem.trees, strict=True):
        assert one.after == pytest.approx([len(problem.rows) / len(tree.leaves)] * len(tree.leaves))
        assert one.values == tuple(tree.order[: len(tree.leaves)])
    now = association_change.after(recoding).cramers_v
    assert np.nanmax(now, initial=0) == pytest.approx(0, abs=1e-7), "columns are independent"


def test_what_is_remembered_goes_with_its_classes():
    recoding = by_hand()
    assert study(recoding).queries is study(recoding).queries
    assert association_change.before(recoding.classes) is association_change.before(
        recoding.classes
    )
    assert study(by_hand()).queries is not study(recoding).queries
    assert study(recoding, 1).queries.low.tolist() != study(recoding).queries.low.tolist()
    gone = weakref.ref(recoding.classes)
    del recoding
    gc.collect()
    assert gone() is None, "nothing of a table stays"


# --- ranges, other hierarchies, nothing -----------------------------------------------------------
def test_a_release_of_ranges_is_spread_over_its_leaves():
    """Ages 1, 2, 2, 3 and 9 in [1, 2] and [2, 9], which overlap."""
    tree = build_flat_hierarchy(["1", "2", "3", "9"])
    plain = PlainTree({"*": None, "1": "*", "2": "*", "3": "*", "9": "*"})
    problem = Problem((plain,), (("1",), ("2",), ("2",), ("3",), ("9",)))
    classes = replace(problem.classes(), hierarchies=(tree,))
    ranges = (add_ranges(tree, [LeafRange(0, 2, "[1, 2]"), LeafRange(1, 4, "[2, 9]")]),)
    recoding = Recoding.from_targets(classes, np.array([[5], [5], [6], [6]]), hierarchies=ranges)
    (found,) = distribution_change.distributions(recoding)
    assert found.before.tolist() == [1, 2, 1, 1]
    assert found.after == pytest.approx([1.5, 1.5 + 2 / 3, 2 / 3, 2 / 3])
    assert found.total_variation == pytest.approx((0.5 + 1 / 6 + 1 / 3 + 1 / 3) / 10)
    asked = query_error.Queries(
        np.array([[0]]), np.array([[1]]), np.array([[3]]), np.ones(1, dtype=bool)
    )
    assert answers(recoding.released, asked) == pytest.approx([3 / 2 + 2 * 2 / 3])
    assert association_change.value(recoding) == 0, "there is no pair"
    elsewhere = convert_recoding(recoding, (plain.build(),))
    assert distribution_change.each(elsewhere)["q0"] > found.total_variation, "at the root there"


def test_a_table_without_records_or_pairs_has_lost_nothing():
    problem = Problem((AGES, SEX), (("a", "F"),))
    nobody = problem.classes()
    nobody = replace(nobody, nodes=nobody.nodes[:0], counts=nobody.counts[:0])
    recoding = Recoding.from_targets(nobody, nobody.nodes)
    assert [module.value(recoding) for module in NEW] == [0, 0, 0]
    assert len(study(recoding).errors) == 0 and study(recoding).quantile(0.9) == 0


def test_what_has_too_many_pairs_of_values_is_left_out_and_said(monkeypatch):
    problem = Problem((AGES, SEX, SEX), (("a", "F", "F"), ("b", "M", "M")) * 2)
    recoding = recoded(problem, dict.fromkeys(problem.sizes, ("*", "*", "*")))
    monkeypatch.setattr(association_change, "MOST_PAIRS", 4)
    found = association_change.before(recoding.classes)
    assert found.left_out == (("q0", "q1"), ("q0", "q2"))
    assert np.isnan(found.cramers_v[0]).all() and found.cramers_v[1, 2] == pytest.approx(1)
    assert association_change.value(recoding) == pytest.approx(1), "of the pair that is left"
    again = recoded(problem, dict.fromkeys(problem.sizes, ("*", "*", "*")))
    monkeypatch.setattr(association_change, "MOST_PAIRS", 3)
    assert association_change.value(again) is None, "nothing is known, which is not 0"


# --- all measures in one table --------------------------------------------------------------------
def with_two(recoding: Recoding) -> Recoding:
    """The same with two sensitive columns: one value per class, and one for all."""
    n = recoding.classes.n_classes
    group = np.repeat(np.arange(n), recoding.classes.counts)
    one = Sensitive.from_records("one", [f"{i}" for i in range(n)], False, group, group, n)
    two = Sensitive.from_records("two", ["x"], False, group, 0 * group, n)
    return replace(recoding, classes=replace(recoding.classes, sensitive=(one, two)))


def table_of(recoding: Recoding, columns=(), k: int = 2):
    metrics = [METRICS["ncp"], METRICS["total"]]
    three = build_identity(recoding.classes), recoding, build_all_at_root(recoding.classes)
    return build_overview(*(measure_release(one, metrics, k) for one in three), metrics, columns)


def test_the_table_holds_every_measure_of_the_folder_but_of_privacy():
    found = table_of(with_two(by_hand()), ("one", "two"))
    names = Counter(one.card.name for one in found)
    assert set(names) == {*parts_of(measures)} - {"min_k"} | {"mean_alteration"}
    assert names["alteration"] == names["classification_metric"] == 2
    assert {one.column for one in found if one.column} == {"one", "two"}
    titles = [one.card.title.lower() for one in found]
    assert titles == sorted(titles)
    by_name = {(one.card.name, one.column): one for one in found}
    # Discernibility: 2² + 1 + 1 + 2² + 2² before, 9 + 1 + 4 + 2 · 8 after, 8² at the root.
    one = by_name["discernibility", ""]
    assert (one.before, one.after, one.at_root) == (14, 30, 64)
    assert one.way == pytest.approx(100 * 16 / 50)
    assert by_name["precision", ""].before == 1 and by_name["precision", ""].at_root == 0
    # Ages: four of them half way up and two at the root; sex: three at the root; of 16 cells.
    assert by_name["precision", ""].way == pytest.approx(100 * (4 / 2 + 2 + 3) / 16)
    levels = by_name["level_of_generalisation", ""]
    assert (levels.before, levels.after, levels.at_root, levels.way) == (0, None, 3, None)
    # Of one value for all nothing can be wrong but of whom nothing is known.
    assert by_name["classification_metric", "two"].way is None
    assert by_name["classification_metric", "two"].after == 2 / 8


@examples(25)
@given(problems(max_records=14))
def test_the_way_begins_at_the_table_and_ends_at_the_root(problem):
    classes = with_two(recoded(problem, {row: row for row in problem.sizes})).classes
    for made, end in ((build_identity(classes), 0), (build_all_at_root(classes), 100)):
        for one in table_of(made, ("one", "two")):
            assert one.way is None or one.way == pytest.approx(end), one.card.name
            if one.way is None:
                assert one.before == one.at_root
    assert build_identity(classes).trace.node == (0,) * len(problem.trees)
    assert build_all_at_root(classes).n_classes == 1


def test_of_one_sensitive_column_the_numbers_stand_with_the_others():
    recoding = with_two(by_hand())
    only = replace(
        recoding, classes=replace(recoding.classes, sensitive=recoding.classes.sensitive[:1])
    )
    several = [one for one in table_of(recoding, ("one", "two")) if one.column == "one"]
    single = [one for one in table_of(only, ("one",)) if one.column == "one"]
    assert several == single and len(single) == 1


def test_which_pair_changed_most():
    problem = Problem((SEX, SEX, SEX), tuple((x, x, y) for x in "FM" for y in "FFM"))
    lost = recoded(problem, {row: (row[0], "*", row[2]) for row in problem.sizes})
    then, now = association_change.before(lost.classes), association_change.after(lost)
    assert association_change.strongest(then, now) == ("q0", "q1", pytest.approx(1), 0)
    assert association_change.strongest(then, then) is None
