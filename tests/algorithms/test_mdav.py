"""MDAV: groups by hand, the laws of every release, and a slow version with exact fractions."""

from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import mdav
from kanon.algorithms.task import Task
from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import groups
from kanon.hierarchy.ranges import build_flat_hierarchy
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.sensitive import Sensitive
from support.laws import check_moves_up, check_order_of_rows
from support.random_tables import examples, trees
from support.recodings import classes_of as table
from support.recodings import released


def numbers(*given: float) -> EquivalenceClasses:
    """One column without a hierarchy."""
    texts = [f"{each:g}" for each in given]
    return table("age", [build_flat_hierarchy(list(dict.fromkeys(texts)))], texts)


def groups_of(task: Task) -> list[list[str]]:
    """The groups in the order in which they were made, by the labels of their classes."""
    found = mdav.partition(task)
    labels = [
        " ".join(t.labels[v] for t, v in zip(task.classes.hierarchies, row, strict=True))
        for row in task.classes.nodes
    ]
    return [
        [label for label, each in zip(labels, found, strict=True) if each == group]
        for group in range(found.max() + 1)
    ]


# --- By hand ------------------------------------------------------------------------------------
def test_eight_ages():
    """Fewer than 3k: farthest from the mean, 10, is 21; it takes 20 and 12; the rest is a group."""
    task = Task(numbers(1, 2, 3, 10, 11, 12, 20, 21), (), 3)
    assert groups_of(task) == [["12", "20", "21"], ["1", "2", "3", "10", "11"]]
    assert released(mdav.anonymise(task)) == [("18",), ("5",)]
    beside = replace(task, options={"ranges": "beside"})
    assert released(mdav.anonymise(beside)) == [("[12, 21], mean 17.67",), ("[1, 11], mean 5.4",)]


def test_ten_ages_from_the_outside_inwards():
    """Their mean is 11: 25 is farthest, and 1 from that; 10, 11, 12 and 17 are one last group."""
    task = Task(numbers(1, 2, 3, 10, 11, 12, 17, 20, 21, 25), (), 3)
    assert groups_of(task) == [["20", "21", "25"], ["1", "2", "3"], ["10", "11", "12", "17"]]
    assert mdav.anonymise(task).trace.steps == 3


def test_fewer_than_2k_are_one_group():
    assert groups_of(Task(numbers(1, 2, 3, 4, 5), (), 3)) == [["1", "2", "3", "4", "5"]]
    assert groups_of(Task(numbers(1, 2, 3, 4, 6, 7), (), 3)) == [["4", "6", "7"], ["1", "2", "3"]]


def test_ties_go_to_the_first_in_canonical_order():
    """1 and 7 are equally far from 4, their mean."""
    assert groups_of(Task(numbers(1, 3, 5, 7), (), 2)) == [["1", "3"], ["5", "7"]]
    # All four are equally far from the middle; the second and third are as far from the first.
    three = build_flat_hierarchy(["0", "1", "2"])
    square = table("x y", [three, three], ["0 1", "1 0", "1 2", "2 1"])
    assert groups_of(Task(square, (), 2)) == [["0 1", "1 0"], ["1 2", "2 1"]]


def test_of_equally_near_records_the_first_joins_although_a_nearer_one_comes_later():
    """From (4, 2, 9), the farthest, (5, 2, 0) is nearest; (4, 0, 0) and (4, 4, 0) are as near."""
    columns = [
        build_flat_hierarchy(["4", "5", "9"]),
        build_flat_hierarchy(["0", "2", "4"]),
        build_flat_hierarchy(["0", "9"]),
    ]
    rows = ["4 2 9", "4 0 0", "4 4 0", "5 2 0", "9 0 0", "9 2 0", "9 4 0"]
    assert groups_of(Task(table("x y z", columns, rows), (), 3)) == [
        ["4 0 0", "4 2 9", "5 2 0"],
        ["4 4 0", "9 0 0", "9 2 0", "9 4 0"],
    ]


def test_differences_count_in_standard_deviations():
    """Between 0 m and 1000 m is a record's whole range, then a ninth of it."""
    rows = ["0 10", "0 20", "1000 10", "1000 20"]
    years = build_flat_hierarchy(["10", "20"])
    narrow = table("m y", [build_flat_hierarchy(["0", "1000"]), years], rows)
    assert groups_of(Task(narrow, (), 2)) == [["0 10", "0 20"], ["1000 10", "1000 20"]]
    wide = table(
        "m y", [build_flat_hierarchy(["0", "1000", "9000"]), years], [*rows, "9000 10", "9000 10"]
    )
    # Means 3333 and 13.3, standard deviations 4028 and 4.7: farthest from the mean is (0, 20).
    assert groups_of(Task(wide, (), 2)) == [["0 20", "1000 20"], ["9000 10"], ["0 10", "1000 10"]]


def test_a_whole_class_moves_and_leftovers_join_the_nearest_mean():
    """Five times 40: a group of its own. One record is left at the end, and joins 1 and 2."""
    task = Task(numbers(1, 2, 5, *[40] * 5), (), 2)
    # Mean 26: 1 is farthest, and from there 40; with 2, 5 is left alone.
    assert groups_of(task) == [["1", "2", "5"], ["40"]]
    far = Task(numbers(1, 2, 30, *[40] * 5), (), 2)
    assert groups_of(far) == [["1", "2"], ["30", "40"]]


def test_what_joins_the_nearest_mean_goes_to_the_first_of_two():
    task = Task(numbers(*[0] * 4, 5, *[10] * 4), (), 2)
    assert groups_of(task) == [["0", "5"], ["10"]]


def test_a_first_group_that_took_many_leaves_one_group_not_two():
    """Around -20 are four; of the three that are left, fewer than 2k, none joins them."""
    task = Task(numbers(-20, *[-5] * 3, -4, 5, 6), (), 2)
    assert groups_of(task) == [["-20", "-5"], ["-4", "5", "6"]]


def test_a_group_may_take_in_the_record_that_is_farthest_from_it():
    """The one record takes its nearest class, which is all others."""
    assert groups_of(Task(numbers(1, *[40] * 9), (), 2)) == [["1", "40"]]


def test_no_group_is_made_around_the_farthest_if_it_is_in_the_first():
    """From 100 all others are equally far, in the middle of their groups; 2 is the first."""
    tree = groups([{"1-3": ["1", "2", "3"]}, {"0-4": ["0", "1-3", "4"]}, {"*": ["0-4", "100"]}])
    classes = table("age", [tree], ["2", "2", "1-3", "1-3", "0-4", "0-4", "100"])
    assert groups_of(Task(classes, (), 2)) == [["2", "100"], ["1-3"], ["0-4"]]


def test_one_value_stays_and_other_groups_get_the_mean():
    classes = table(
        "age size",
        [build_flat_hierarchy(["1", "2", "4"]), build_flat_hierarchy(["7", "8"])],
        ["1 7", "2 7", "2 7", "4 8", "4 8"],
    )
    found = mdav.anonymise(Task(classes, (), 2))
    assert released(found) == [("4", "8"), ("2", "7")]
    assert found.counts.tolist() == [2, 3]
    ages = found.hierarchies[0]
    assert ages.leaves_below[found.nodes[1, 0]] == 2


def test_all_values_are_a_range_too_because_the_mean_says_more():
    task = Task(numbers(1, 2, 4), (), 3)
    assert released(mdav.anonymise(task)) == [("2",)]
    found = mdav.anonymise(replace(task, options={"ranges": "beside"}))
    assert released(found) == [("[1, 4], mean 2.33",)]
    assert found.hierarchies[0].level[found.nodes[0, 0]] == 2


def test_groups_with_the_same_means_are_one_class():
    """20 and 24, 21 and 23, and 22 twice: anyone who reads the file sees six records of 22."""
    task = Task(numbers(20, 21, 22, 22, 23, 24), (), 2)
    columns, group = mdav.columns_of(task.classes), np.array([0, 1, 2, 1, 0])
    found = mdav.released(task, columns, group)
    assert (released(found), found.counts.tolist()) == ([("22",)], [6])
    tree, node = found.hierarchies[0], found.nodes[0, 0]
    assert (tree.first[node], tree.last[node]) == (0, 5)
    assert tree.node_of["22"] == 2  # the value itself, where somebody looks for it


def test_a_value_in_two_spellings_is_released_in_one():
    classes = table("x", [build_flat_hierarchy(["1", "1.00", "3", "4"])], ["1", "1.00", "3", "4"])
    assert sorted(released(mdav.anonymise(Task(classes, (), 2)))) == [("1",), ("4",)]


def test_one_mean_in_a_column_may_stand_for_several_ranges():
    """21, 22, 24 and 21, 22, 23 have one mean, and the other column tells them apart."""
    columns = [build_flat_hierarchy(["21", "22", "23", "24"]), build_flat_hierarchy(["1", "9"])]
    classes = table("x y", columns, ["21 1", "22 1", "24 1", "21 9", "22 9", "23 9"])
    group = np.array([int(row[1]) for row in classes.nodes])
    found = mdav.released(Task(classes, (), 3), mdav.columns_of(classes), group)
    assert released(found) == [("22", "1"), ("22", "9")]
    assert found.hierarchies[0].leaves_below[found.nodes[:, 0]].tolist() == [4, 3]


def test_huge_numbers_are_rounded_and_still_told_apart():
    """Sums of them would not fit into 64 bits."""
    big = [str(10**18 * i) for i in (1, 2, 7, 9)]
    assert groups_of(Task(table("x", [build_flat_hierarchy(big)], big), (), 2)) == [
        big[2:],
        big[:2],
    ]
    tiny = ["0", "1e-300", "1", "1.5"]
    assert [
        sorted(each)
        for each in groups_of(Task(table("x", [build_flat_hierarchy(tiny)], tiny), (), 2))
    ] == [
        ["1", "1.5"],
        ["0", "1e-300"],
    ]


# --- What it refuses ----------------------------------------------------------------------------
def test_missing_cells_are_refused():
    tree = Hierarchy.from_entries(
        [("*", None, None), *((x, "*", None) for x in ("1", "2", MISSING_LABEL))]
    )
    with pytest.raises(PlanError, match="'age' has missing cells"):
        mdav.check(Task(table("age", [tree], ["1", "2"]), (), 2))


def test_other_models_are_refused():
    classes = numbers(1, 2)
    ill = Sensitive.from_records("ill", ["a", "b"], False, [0, 1], [0, 1], 2)
    classes = replace(classes, sensitive=(ill,))
    models = (KAnonymity(2), DistinctLDiversity(2, "ill"))
    with pytest.raises(PlanError, match="cannot meet Distinct l-diversity with l = 2 for 'ill'"):
        mdav.check(Task(classes, (), 2, models=models))
    mdav.check(Task(classes, (), 2, models=models[:1]))


# --- The slow version ---------------------------------------------------------------------------
def plain(
    points: list[tuple[Fraction, ...]], counts: list[int], k: int, number: type = Fraction
) -> list[list[int]]:
    """MDAV by its definition; distances are exact, or floats of exact differences."""
    m, n = len(points[0]), sum(counts)
    units = [lcm(*(point[j].denominator for point in points)) for j in range(m)]
    lowest = [min(point[j] for point in points) for j in range(m)]
    at = [tuple(int((p[j] - lowest[j]) * units[j]) for j in range(m)) for p in points]
    weights = []
    for j in range(m):
        mean = Fraction(sum(c * x[j] for c, x in zip(counts, at, strict=True)), n)
        variance = sum(c * (x[j] - mean) ** 2 for c, x in zip(counts, at, strict=True)) / n
        weights.append(number(1 / variance) if variance else number(0))

    def squares(differences: list) -> Fraction | float:
        total = number(0)
        for each, weight in zip(differences, weights, strict=True):
            total += number(each) * number(each) * weight
        return total

    def apart(one: int, other: int) -> Fraction | float:
        return squares([at[one][j] - at[other][j] for j in range(m)])

    def size(members: list[int]) -> int:
        return sum(counts[c] for c in members)

    def sums(members: list[int]) -> list[int]:
        return [sum(counts[c] * at[c][j] for c in members) for j in range(m)]

    def farthest_from_mean(members: list[int]) -> int:
        total, summed = size(members), sums(members)
        return max(
            members, key=lambda c: (squares([total * at[c][j] - summed[j] for j in range(m)]), -c)
        )

    def around(centre: int, members: list[int]) -> list[int]:
        group = [centre]
        others = sorted((c for c in members if c != centre), key=lambda c: (apart(centre, c), c))
        while size(group) < k:
            group.append(others.pop(0))
        return group

    left, found = list(range(len(points))), []

    def close(group: list[int]) -> None:
        found.append(group)
        left[:] = [c for c in left if c not in group]

    while size(left) >= 3 * k:
        r = farthest_from_mean(left)
        others = [c for c in left if c != r]
        s = max(others, key=lambda c: (apart(r, c), -c)) if others else None
        close(around(r, left))
        if s in left and size(left) >= 2 * k:
            close(around(s, left))
    if size(left) >= 2 * k:
        close(around(farthest_from_mean(left), left))
    if size(left) >= k:
        close(list(left))
    means = [(size(group), sums(group)) for group in found]
    for c in left:

        def far(g: int, c: int = c) -> Fraction | float:
            records, summed = means[g]
            if number is float:
                return squares(
                    [float(records * at[c][j] - summed[j]) / float(records) for j in range(m)]
                )
            return squares([at[c][j] - Fraction(summed[j], records) for j in range(m)])

        found[min(range(len(means)), key=lambda g: (far(g), g))].append(c)
    return found


def middle(tree: Hierarchy, node: int) -> Fraction:
    below = [Fraction(tree.labels[x]) for x in range(tree.first[node], tree.last[node])]
    return (min(below) + max(below)) / 2


@st.composite
def hierarchies(draw) -> Hierarchy:
    """Numbers without a hierarchy, or as the leaves of any tree, in any order."""
    sizes = st.integers(-9, 40).map(str) | st.sampled_from(["0.5", "-2.25", "7.1", "12.125"])
    kind = draw(st.sampled_from(["grid", "grid", "flat", "tree"]))
    if kind == "grid":  # where many are equally far
        return build_flat_hierarchy(["0", "1", "2", "3", "4"])
    if kind == "flat":
        return build_flat_hierarchy(draw(st.lists(sizes, min_size=1, max_size=12, unique=True)))
    tree = draw(trees(max_nodes=14))
    leaves = len(tree.leaves)
    names = draw(st.lists(sizes, min_size=leaves, max_size=leaves, unique=True))
    name = dict(zip(tree.leaves, names, strict=True))
    return Hierarchy.from_entries(
        (name.get(x, x), above and name.get(above, above), None)
        for x, above in tree.parents.items()
    )


@st.composite
def tasks(draw, max_attributes: int = 3) -> Task:
    columns = draw(st.lists(hierarchies(), min_size=1, max_size=max_attributes))
    cells = [
        st.integers(0, tree.n_nodes - 1) | st.integers(0, tree.n_leaves - 1) for tree in columns
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=30))
    nodes, counts, _ = group_tuples(
        np.array(rows), np.ones(len(rows), dtype=np.int64), [tree.n_nodes for tree in columns]
    )
    names = tuple(f"q{j}" for j in range(len(columns)))
    classes = EquivalenceClasses(names, tuple(columns), nodes, counts)
    return Task(classes, (), draw(st.integers(1, max(1, min(6, len(rows))))))


def points_of(task: Task) -> list[tuple[Fraction, ...]]:
    return [
        tuple(middle(t, int(v)) for t, v in zip(task.classes.hierarchies, row, strict=True))
        for row in task.classes.nodes
    ]


def members(found: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(found == group).tolist() for group in range(found.max() + 1)]


@examples(150)
@given(tasks(max_attributes=1))
def test_one_column_gives_the_groups_of_exact_distances(task):
    expected = plain(points_of(task), task.classes.counts.tolist(), task.k)
    assert members(mdav.partition(task)) == [sorted(group) for group in expected]


@examples(150)
@given(tasks())
def test_the_groups_are_those_of_the_slow_version(task):
    expected = plain(points_of(task), task.classes.counts.tolist(), task.k, float)
    assert members(mdav.partition(task)) == [sorted(group) for group in expected]
    recoding = mdav.anonymise(task)
    assert recoding.trace.steps == len(expected)
    points, counts = points_of(task), task.classes.counts.tolist()
    beside = mdav.anonymise(replace(task, options={"ranges": "beside"}))
    for group in expected:
        records = sum(counts[c] for c in group)
        for j, tree in enumerate(beside.hierarchies):
            (target,) = {int(beside.targets[c, j]) for c in group}
            (centroid,) = {int(recoding.targets[c, j]) for c in group}
            values = {int(task.classes.nodes[c, j]) for c in group}
            leaves = {x for v in values for x in range(tree.first[v], tree.last[v])}
            by_size = sorted(leaves, key=lambda x: Fraction(tree.labels[x]))
            mean = sum(counts[c] * points[c][j] for c in group) / records
            among = recoding.hierarchies[j]
            assert abs(Fraction(among.labels[centroid]) - mean) <= half_a_unit(task, j)
            assert among.first[centroid] <= min(leaves)
            assert among.last[centroid] > max(leaves)
            if len(values) == 1 or len(leaves) == 1:
                assert target == max(values)
                continue
            ends = tree.labels[by_size[0]], tree.labels[by_size[-1]]
            label, shown = tree.labels[target].split(", mean ")
            assert label == f"[{ends[0]}, {ends[1]}]"
            assert abs(Fraction(shown) - mean) <= Fraction(1, 200)
            low, high = map(Fraction, ends)
            inside = [x for x in range(tree.n_leaves) if low <= Fraction(tree.labels[x]) <= high]
            assert (tree.first[target], tree.last[target]) == (min(inside), max(inside) + 1)


def half_a_unit(task: Task, j: int) -> Fraction:
    """Half of the last decimal that the values of a column have."""
    tree, nodes = task.classes.hierarchies[j], set(task.classes.nodes[:, j].tolist())
    labels = [tree.labels[node] for node in nodes if node < tree.n_leaves]
    decimals = [len(label.partition(".")[2]) for label in labels]
    return Fraction(1, 2 * 10 ** max(decimals, default=0))


@examples(100)
@given(tasks())
def test_every_release_meets_k_and_values_only_move_up(task):
    recoding = mdav.anonymise(task)
    assert recoding.suppressed_records == 0
    assert recoding.min_k >= task.k
    check_moves_up(task, recoding)


@examples(60)
@given(tasks(), st.data())
def test_the_order_of_the_rows_does_not_matter_and_nothing_given_is_changed(task, data):
    check_order_of_rows(mdav.anonymise, task, data)


def test_many_records_are_grouped_and_progress_rises():
    """About 19,000 classes of two columns: several stretches of the compiled loop."""
    generator = np.random.default_rng(5)
    column = build_flat_hierarchy([str(i) for i in range(1000)])
    rows = generator.integers(0, 1000, (20_000, 2))
    nodes, counts, _ = group_tuples(rows, np.ones(len(rows), dtype=np.int64), [1001, 1001])
    classes = EquivalenceClasses(("x", "y"), (column, column), nodes, counts)
    parts = []
    recoding = mdav.anonymise(Task(classes, (), 20), lambda part, text: parts.append(part))
    assert recoding.min_k >= 20
    assert len([part for part in parts if part < 1]) > 1
    assert parts == sorted(parts)
    assert parts[-1] == 1
    # Records do not often share all values, so groups are hardly larger than k.
    assert recoding.trace.steps > 950


# Through a plan
