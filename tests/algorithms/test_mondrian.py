"""Mondrian: the paper's example, the laws of every release, and a plain recursion."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.plans import adult_with_sensitive
from kanon.algorithms import mdav, mondrian
from kanon.algorithms.lines import ValueOrder
from kanon.algorithms.task import Task
from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import Unsatisfiable
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import groups, mask, suppression
from kanon.hierarchy.ranges import build_flat_hierarchy, covers, is_flat, list_covered_leaves
from kanon.measures import general_loss, query_error
from kanon.measures.spread import estimate_leaf_counts
from kanon.measures.summary import measure_release
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.privacy.alpha_k_anonymity import AlphaKAnonymity
from kanon.privacy.conjunction import find_broken
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.population_matches import count_people_below
from kanon.privacy.t_closeness import TCloseness
from kanon.recoding import Recoding
from kanon.reference.mondrian import Mondrian, compute_node_positions, list_leaves
from kanon.run import run
from kanon.schema import Role, Schema
from kanon.sensitive import Sensitive
from kanon.sources.memory import MemorySource
from kanon.sources.reading import read_table
from support.laws import check_moves_up
from support.plans import make_plan, plan_content
from support.random_tables import examples, trees
from support.recodings import classes_of as table
from support.recodings import released

VARIANTS = tuple(mondrian.VARIANT.choices)
DIMENSIONS = tuple(mondrian.DIMENSION.choices)
RELEASES = tuple(mondrian.RELEASE.choices)


def task_of(classes: EquivalenceClasses, k: int, **options: str) -> Task:
    return Task(classes, (), k, options=options)


def told(task: Task) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(cut.attribute, cut.value, cut.sizes) for cut in mondrian.cuts(task)]


# --- By hand ------------------------------------------------------------------------------------
def patients(order: str) -> EquivalenceClasses:
    """The patients of the paper's first figure, by the given order of its columns."""
    rows = ["25 M 53711", "25 F 53712", "26 M 53711", "27 M 53710", "27 F 53712", "28 M 53711"]
    columns = {
        "age": build_flat_hierarchy(["25", "26", "27", "28"]),
        "sex": build_flat_hierarchy(["F", "M"]),
        "zip": build_flat_hierarchy(["53710", "53711", "53712"]),
    }
    cells = [dict(zip(columns, row.split(), strict=True)) for row in rows]
    names = order.split()
    return table(
        order, [columns[n] for n in names], [" ".join(row[n] for n in names) for row in cells]
    )


@pytest.mark.parametrize("order", ["sex age zip", "zip age sex"])
def test_the_patients_of_the_paper(order):
    """Its third figure; all widths are 1 at first, so the first column decides, sex or zip code."""
    recoding = mondrian.anonymise(task_of(patients(order), 2))
    found = [dict(zip(order.split(), row, strict=True)) for row in released(recoding)]
    assert sorted((row["age"], row["sex"], row["zip"]) for row in found) == [
        ("[25, 26]", "M", "53711"),
        ("[25, 27]", "F", "53712"),
        ("[27, 28]", "M", "[53710, 53711]"),
    ]
    assert recoding.counts.tolist() == [2, 2, 2]
    assert recoding.trace.steps == 2


def test_the_cuts_of_the_patients():
    first = {"sex age zip": ("sex", "F", (2, 4)), "zip age sex": ("zip", "53711", (4, 2))}
    for order, cut in first.items():
        assert told(task_of(patients(order), 2)) == [cut, ("age", "26", (2, 2))]
    # By age first, three are left on each side, and no side can be cut again.
    assert told(task_of(patients("age sex zip"), 2)) == [("age", "26", (3, 3))]
    parts = mondrian.cuts(task_of(patients("sex age zip"), 2))
    assert [[part.tolist() for part in cut.parts] for cut in parts] == [
        [[0, 1], [2, 3, 4, 5]],
        [[2, 3], [4, 5]],
    ]


def test_the_widest_range_is_cut_first_and_the_next_widest_where_it_cannot_be():
    """Ages from 20 to 60; in the lower half sizes spread wider, and stand together in the upper."""
    columns = [
        build_flat_hierarchy(["20", "22", "40", "60"]),
        build_flat_hierarchy(["1", "2", "9"]),
    ]
    rows = ["20 1", "20 9", "22 1", "22 9", "40 1", "40 2", "60 1", "60 2"]
    classes = table("age size", columns, rows)
    assert told(task_of(classes, 2)) == [
        ("age", "22", (4, 4)),
        ("size", "1", (2, 2)),  # (9 - 1) / 8 against (22 - 20) / 40
        ("age", "40", (2, 2)),  # (60 - 40) / 40 against (2 - 1) / 8
    ]
    assert told(task_of(classes, 3)) == [("age", "22", (4, 4))]
    uneven = table("age size", columns, ["20 1", "40 1", "40 9", "40 9", "40 9", "60 1"])
    # Age is as wide and comes first, but 40 is in the middle: one record is on either side of it.
    assert told(task_of(uneven, 2)) == [("size", "1", (3, 3))]


def test_a_median_at_the_top_is_cut_below():
    """Up to the median are all; what is below it still holds k."""
    classes = table("age", [build_flat_hierarchy(["1", "2"])], ["1", "1", "2", "2", "2"])
    assert told(task_of(classes, 2)) == [("age", "1", (2, 3))]
    assert told(task_of(classes, 3)) == []


def tied() -> EquivalenceClasses:
    """At the median age, 30, stand two classes, and no single side of it holds three records."""
    columns = [build_flat_hierarchy(["20", "30", "40"]), build_flat_hierarchy(["a", "b"])]
    return table("age group", columns, ["20 b", "30 a", "30 a", "30 b", "30 b", "40 b"])


def test_relaxed_sends_classes_at_the_median_to_either_side():
    assert told(task_of(tied(), 3)) == []
    assert told(task_of(tied(), 3, variant="relaxed")) == [("age", "30", (3, 3))]
    (cut,) = mondrian.cuts(task_of(tied(), 3, variant="relaxed"))
    assert [part.tolist() for part in cut.parts] == [[0, 1], [2, 3]], "30 a below, 30 b above"
    recoding = mondrian.anonymise(task_of(tied(), 3, variant="relaxed"))
    assert released(recoding) == [("[20, 30]", "*"), ("[30, 40]", "b")]


def scattered() -> EquivalenceClasses:
    """Twelve records: age spans all, size has the most values here, sex can be halved.

    Ages 1, 2, 3, 90 (5, 1, 1, 5 records), sizes 1 to 5 (7, 1, 1, 1, 2), sexes F, M (6, 6).
    """
    columns = [
        build_flat_hierarchy(["1", "2", "3", "90"]),
        build_flat_hierarchy(list("12345")),
        build_flat_hierarchy(["F", "M"]),
    ]
    rows = [
        *["1 1 F"] * 3, "1 2 F", "1 3 F", "2 4 F", "3 5 M", "90 5 M", *["90 1 M"] * 4,
    ]  # fmt: skip
    return table("age size sex", columns, rows)


@pytest.mark.parametrize(
    ("dimension", "cut"),
    [
        ("widest", ("age", "2", (6, 6))),  # all are 1 wide: the first column
        ("most-distinct", ("size", "1", (7, 5))),  # five values of four and two
        ("best-balance", ("age", "2", (6, 6))),  # as equal as by sex: the first column
    ],
)
def test_which_column_is_cut_first(dimension, cut):
    assert told(task_of(scattered(), 5, dimension=dimension)) == [cut]


def test_the_most_equal_parts_are_sought_among_cuts_that_k_allows():
    """Five women and three men; ages 3, 3, 2: at the median 6 and 2, or below it 3 and 5."""
    columns = [build_flat_hierarchy(["20", "30", "40"]), build_flat_hierarchy(["F", "M"])]
    rows = ["20 F", "20 F", "20 M", "30 F", "30 F", "30 M", "40 F", "40 M"]
    classes = table("age sex", columns, rows)
    # Up to 30 is the first cut on age that k = 2 allows, and 6 is more than 5 by sex.
    assert told(task_of(classes, 2, dimension="best-balance"))[0] == ("sex", "F", (5, 3))
    # k = 3 does not allow it; below 30 leaves 5, as by sex, and age comes first.
    assert told(task_of(classes, 3, dimension="best-balance"))[0] == ("age", "20", (3, 5))
    assert told(task_of(classes, 3))[0] == ("age", "20", (3, 5))
    assert told(task_of(classes, 2))[0] == ("age", "30", (6, 2))


def test_three_parts_may_be_more_equal_than_two():
    """By groups: pugs, huskies and boxers are four each, ages 7 and 5."""
    columns = [build_flat_hierarchy(["20", "30"]), groups([{"Dog": ["pug", "husky", "boxer"]}])]
    rows = [*["20 pug"] * 4, *["20 husky"] * 3, "30 husky", *["30 boxer"] * 4]
    task = task_of(table("age race", columns, rows), 4, variant="hierarchy")
    assert told(task) == [("age", "20", (7, 5))]
    task = replace(task, options={**task.options, "dimension": "best-balance"})
    assert told(task) == [("race", "Dog", (4, 4, 4))]


def test_regions_of_schooling_and_postcodes_with_hierarchies_and_without():
    """Figure 2.6 and equations 2.3 to 2.6 of de Spoelberch's report."""
    rows = ["dropout 34986", "dropout 34917", "Masters 34986", "PhD 34986"]
    schooling = groups([{"school": ["dropout"], "further studies": ["Masters", "PhD"]},
                        {"*": ["school", "further studies"]}])  # fmt: skip
    zips = mask(["28473", "34917", "34986"], [2])
    task = task_of(table("schooling zip", [schooling, zips], rows), 2)
    assert told(task) == [("schooling", "dropout", (2, 2))]
    with_groups = mondrian.anonymise(task)
    assert released(with_groups) == [("dropout", "34***"), ("further studies", "34986")]
    ranges = mondrian.anonymise(replace(task, options={"release": "ranges"}))
    assert released(ranges) == [("dropout", "[34917, 34986]"), ("{Masters, PhD}", "34986")]


def animals() -> Hierarchy:
    return groups([{"Felid": ["cat", "lion"], "Dog": ["pug", "husky", "boxer"]},
                   {"*": ["Felid", "Dog"]}])  # fmt: skip


def test_by_groups_no_group_is_cut_through():
    """Two felids and four dogs: the median is a dog."""
    rows = ["cat", "lion", "pug", "husky", "boxer", "boxer"]
    classes = table("race", [animals()], rows)
    assert animals().labels[:5] == ("cat", "lion", "pug", "husky", "boxer")
    assert told(task_of(classes, 2)) == [("race", "pug", (3, 3))]
    assert released(mondrian.anonymise(task_of(classes, 2))) == [("Dog",), ("*",)]
    assert told(task_of(classes, 2, variant="hierarchy")) == [("race", "*", (2, 4))]
    found = mondrian.anonymise(task_of(classes, 2, variant="hierarchy"))
    assert released(found) == [("Felid",), ("Dog",)]
    # Of the dogs every one would be a part; one boxer alone is too few, twelve dogs are enough.
    more = table("race", [animals()], ["cat", "lion", *["pug", "husky", "boxer"] * 4])
    assert told(task_of(more, 2, variant="hierarchy")) == [
        ("race", "*", (2, 12)),
        ("race", "Dog", (4, 4, 4)),
    ]


def test_records_that_have_the_group_itself_are_a_part():
    rows = ["cat", "cat", "Dog", "Dog", "*", "*"]
    classes = table("race", [animals()], rows)
    assert told(task_of(classes, 2, variant="hierarchy")) == [("race", "*", (2, 2, 2))]
    assert told(task_of(classes, 3, variant="hierarchy")) == []


def test_parts_stand_in_the_order_of_the_children_and_the_group_itself_comes_last():
    """Although the first class has the group itself; one woman alone cannot be a part."""
    rows = ["F Dog", "M Dog", "M husky", "M husky", "M pug", "M pug"]
    classes = table("sex race", [suppression(["F", "M"]), animals()], rows)
    (cut,) = mondrian.cuts(task_of(classes, 2, variant="hierarchy"))
    assert (cut.attribute, cut.value, cut.sizes) == ("race", "Dog", (2, 2, 2))
    assert [part.tolist() for part in cut.parts] == [[1], [2], [0, 3]]


def test_by_groups_a_column_without_a_hierarchy_is_cut_at_the_median():
    classes = table("age", [build_flat_hierarchy(["1", "2", "3", "4"])], ["1", "2", "3", "4"])
    assert told(task_of(classes, 2, variant="hierarchy")) == [("age", "2", (2, 2))]


def test_a_value_that_is_no_leaf_stands_in_the_middle():
    tree = groups([{"1-3": ["1", "2", "3"], "4-9": ["4", "9"]}, {"*": ["1-3", "4-9"]}])
    line = ValueOrder.from_hierarchy(tree)
    assert {label: line.at[v] for label, v in tree.node_of.items()} == {
        "1": 1, "2": 2, "3": 3, "4": 4, "9": 9, "1-3": 2, "4-9": 6.5, "*": 5,
    }  # fmt: skip
    classes = table("age", [tree], ["1-3", "2", "*", "9"])
    assert told(task_of(classes, 2)) == [("age", "2", (2, 2))]
    found = mondrian.anonymise(task_of(classes, 2, release="ranges"))
    assert sorted(released(found)) == [("*",), ("[1, 3]",)]


def test_missing_cells_stand_above_the_numbers():
    tree = Hierarchy.from_entries(
        [("*", None, None), *((x, "*", None) for x in (MISSING_LABEL, "1", "2", "4"))]
    )
    assert dict(zip(tree.labels, ValueOrder.from_hierarchy(tree).at, strict=True)) == {
        MISSING_LABEL: 5.5, "1": 1, "2": 2, "4": 4, "*": 3.25,
    }  # fmt: skip
    classes = table("age", [tree], ["1", "2", "4", MISSING_LABEL])
    found = mondrian.anonymise(task_of(classes, 2, release="ranges"))
    assert sorted(released(found)) == [(f"4 or {MISSING_LABEL}",), ("[1, 2]",)]


def test_names_that_are_taken_get_a_number():
    tree = Hierarchy.from_entries(
        [("*", None, None), ("[1, 2]", "*", None), ("3", "[1, 2]", None),
         ("1", "*", None), ("2", "*", None), ("4", "*", None)]
    )  # fmt: skip
    found = mondrian.anonymise(
        task_of(table("age", [tree], ["1", "2", "3", "4"]), 2, release="ranges")
    )
    assert sorted(released(found)) == [("[1, 2] (2)",), ("[3, 4]",)]


def test_a_set_of_very_many_texts_names_its_ends():
    words = [f"w{i:03}" for i in range(200)]
    found = mondrian.anonymise(
        task_of(table("word", [build_flat_hierarchy(words)], words), 100, release="ranges")
    )
    assert released(found) == [("{w000 … w099}, 100 values",), ("{w100 … w199}, 100 values",)]


def test_numbers_near_the_largest_there_are_stand_in_their_order():
    line = ValueOrder.from_hierarchy(build_flat_hierarchy(["1e308", "-1e308", "5", "7"]))
    assert line.tree.labels == ("-1e308", "5", "7", "1e308", "*")
    assert np.isfinite(line.at).all() and (np.diff(line.at[:4]) > 0).all()


@pytest.mark.parametrize("module", [mondrian, mdav])
def test_numbers_in_several_spellings_are_grouped_alike_in_any_order(module):
    rows = pd.DataFrame({"a": ["+3", "3", "1.5", "1e1"], "b": ["4", "4", "3", "2"]})
    schema = Schema(dict.fromkeys(rows, Role.QUASI_IDENTIFIER))
    found = []
    for order in permutations(range(4)):
        frame = rows.iloc[list(order)]
        trees = {name: build_flat_hierarchy(list(dict.fromkeys(frame[name]))) for name in rows}
        source = MemorySource(frame, schema, trees)
        options = {"variant": "relaxed"} if module is mondrian else {}
        depths = tuple(np.zeros(tree.n_nodes, dtype=np.int64) for tree in trees.values())
        task = Task(source.classes, depths, 2, options=options)
        found.append(source.release(module.anonymise(task)).sort_index())
    assert all(each.equals(found[0]) for each in found)


def test_a_model_forbids_a_cut_and_the_next_is_tried():
    """Age would part the ill from the healthy; by size both are mixed."""
    columns = [build_flat_hierarchy(["20", "30"]), build_flat_hierarchy(["1", "2"])]
    rows = ["20 1", "20 2", "30 1", "30 2"]
    classes = table("age size", columns, rows, ["ill", "ill", "well", "well"])
    assert told(task_of(classes, 2)) == [("age", "20", (2, 2))]
    task = replace(task_of(classes, 2), models=(DistinctLDiversity(2, "ill"),))
    assert told(task) == [("size", "1", (2, 2))]


def test_a_model_forbids_one_side_of_the_median_and_the_other_is_tried():
    rows, ill = ["1", "1", "2", "2", "3", "3"], ["a", "b", "a", "b", "a", "a"]
    classes = table("age", [build_flat_hierarchy(["1", "2", "3"])], rows, ill)
    assert told(task_of(classes, 2))[0] == ("age", "2", (4, 2))
    task = replace(task_of(classes, 2), models=(DistinctLDiversity(2, "ill"),))
    assert told(task) == [("age", "1", (2, 4))]
    # Relaxed: the most equal sides, then up to the median, are refused before what is below it.
    assert told(replace(task, options={"variant": "relaxed"})) == [("age", "1", (2, 4))]


def test_what_cannot_be_met_is_refused():
    with pytest.raises(Unsatisfiable, match="6 records"):
        mondrian.anonymise(task_of(tied(), 7))
    classes = table("age", [build_flat_hierarchy(["1", "2"])], ["1", "2"], ["ill", "ill"])
    with pytest.raises(Unsatisfiable, match="at most 1"):
        replace(task_of(classes, 1), models=(DistinctLDiversity(2, "ill"),)).check()


# --- Random tables ------------------------------------------------------------------------------
@st.composite
def hierarchies(draw) -> Hierarchy:
    """A tree of texts, a tree whose leaves are numbers in any order, or none."""
    kind = draw(st.sampled_from(["texts", "numbers", "numbers", "flat texts", "flat numbers"]))
    if kind == "flat texts":
        return build_flat_hierarchy(
            draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True))
        )
    sizes = st.integers(-9, 30).map(str) | st.integers(-9, 30).map(lambda i: str(i + 0.25))
    if kind == "flat numbers":
        return build_flat_hierarchy(draw(st.lists(sizes, min_size=1, max_size=8, unique=True)))
    tree = draw(trees(max_nodes=12))
    if kind == "texts":
        return tree.build()
    names = draw(st.lists(sizes, min_size=len(tree.leaves), max_size=len(tree.leaves), unique=True))
    name = dict(zip(tree.leaves, names, strict=True))
    entries = [
        (name.get(x, x), above and name.get(above, above), None)
        for x, above in tree.parents.items()
    ]
    if tree.root not in tree.leaves and draw(st.booleans()):
        entries.append((MISSING_LABEL, tree.root, None))
    return Hierarchy.from_entries(entries)


@st.composite
def tables(draw, leaves_only: bool = False) -> EquivalenceClasses:
    """Records of random values, most of them leaves, with a sensitive value."""
    columns = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    cells = [
        st.integers(0, (tree.n_leaves if leaves_only else tree.n_nodes) - 1)
        | st.integers(0, tree.n_leaves - 1)
        for tree in columns
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=24))
    nodes, counts, group = group_tuples(
        np.array(rows), np.ones(len(rows), dtype=np.int64), [tree.n_nodes for tree in columns]
    )
    codes = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    ill = Sensitive.from_records("ill", ["a", "b", "c"], False, group, codes, len(counts))
    names = tuple(f"q{j}" for j in range(len(columns)))
    return EquivalenceClasses(names, tuple(columns), nodes, counts, (ill,))


MODELS = (
    (),
    (DistinctLDiversity(2, "ill"),),
    (AlphaKAnonymity(0.7, 2, "ill"),),
    (TCloseness(0.7071, "ill", "norm1"),),
    (TCloseness(0.7071, "ill", "norm1"), DistinctLDiversity(2, "ill")),
)


def plainly(classes: EquivalenceClasses, models: tuple) -> Callable[[Sequence[int]], bool]:
    """Whether a region meets the models, by counting."""
    counts = classes.sensitive[0].dense()

    def meets(region: Sequence[int]) -> bool:
        here, whole = counts[list(region)].sum(axis=0), counts.sum(axis=0)
        share, overall = here / here.sum(), whole / whole.sum()
        for model in models:
            if isinstance(model, DistinctLDiversity) and (here > 0).sum() < model.l:
                return False
            if isinstance(model, AlphaKAnonymity) and (
                share.max() > model.alpha or here.sum() < model.k
            ):
                return False
            if isinstance(model, TCloseness) and abs(share - overall).sum() > model.t:
                return False
        return True

    return meets


@st.composite
def tasks(draw, leaves_only: bool = False, **chosen) -> Task:
    """A task that can be done."""
    classes = draw(tables(leaves_only))
    k = draw(st.integers(1, max(1, classes.n_records // 2)))
    models = chosen.pop("models", None)
    models = draw(st.sampled_from(MODELS)) if models is None else models
    options = {
        "variant": draw(st.sampled_from(VARIANTS)),
        "dimension": draw(st.sampled_from(DIMENSIONS)),
        "release": draw(st.sampled_from(RELEASES)),
        "sets": draw(st.sampled_from(["whole", "tight"])),
        **chosen,
    }
    if not plainly(classes, models)(list(range(classes.n_classes))):
        models = ()
    asked = (KAnonymity(k),) if k > 1 else ()
    return Task(classes, (), k, models=(*asked, *models), options=options)


def plain(task: Task) -> Mondrian:
    classes = task.classes
    return Mondrian(
        classes.nodes.tolist(),
        classes.counts.tolist(),
        classes.hierarchies,
        task.k,
        task.option(mondrian.VARIANT),
        plainly(classes, task.others),
        *map(task.option, (mondrian.DIMENSION, mondrian.RELEASE, mondrian.SETS)),
    )


@examples(300)
@given(tasks())
def test_the_cuts_are_those_of_the_plain_recursion(task):
    expected = plain(task)
    found = mondrian.cuts(task)
    names, columns = task.classes.attributes, task.classes.hierarchies
    assert [
        (cut.attribute, cut.value, [part.tolist() for part in cut.parts], list(cut.sizes))
        for cut in found
    ] == [
        (
            names[cut.attribute],
            columns[cut.attribute].labels[expected.get_cut_node(cut)],
            list(map(list, cut.parts)),
            [expected.size(part) for part in cut.parts],
        )
        for cut in expected.cuts
    ]
    recoding = mondrian.anonymise(task)
    assert recoding.trace.steps == len(found)
    for region in expected.regions:
        assert len({recoding.assigned[c] for c in region}) == 1
        for j, tree in enumerate(columns):
            assert names_of(recoding, region, j) == by_hand(task, tree, region, j)


def names_of(recoding: Recoding, region: list[int], j: int) -> tuple[str, int, int]:
    tree = recoding.hierarchies[j]
    node = recoding.nodes[recoding.assigned[region[0]], j]
    return tree.labels[node], int(tree.first[node]), int(tree.last[node])


def by_hand(task: Task, tree: Hierarchy, region: list[int], j: int) -> tuple[str, int, int]:
    """What a region is released as in a column: its label and leaves."""
    nodes = [int(task.classes.nodes[c, j]) for c in region]
    below = sorted({leaf for node in nodes for leaf in list_leaves(tree, node)})
    if (task.option(mondrian.RELEASE) == "hierarchy" and not is_flat(tree)) or len(below) == 1:
        above = nodes[0]
        for node in nodes:
            above = tree.lca(above, node)
        return tree.labels[above], int(tree.first[above]), int(tree.last[above])
    if len(set(nodes)) == 1:
        return tree.labels[nodes[0]], int(tree.first[nodes[0]]), int(tree.last[nodes[0]])
    at = compute_node_positions(tree)
    low, high = min(at[leaf] for leaf in below), max(at[leaf] for leaf in below)
    inside = [leaf for leaf in range(tree.n_leaves) if low <= at[leaf] <= high]
    if task.option(mondrian.SETS) == "tight" and not ValueOrder.from_hierarchy(tree).numeric:
        inside = below
    if len(inside) == tree.n_leaves:
        return tree.labels[tree.root], 0, tree.n_leaves
    ends = min(inside), max(inside) + 1
    texts = [tree.labels[leaf] for leaf in sorted(inside, key=lambda leaf: at[leaf])]
    if not ValueOrder.from_hierarchy(tree).numeric:
        return f"{{{', '.join(texts)}}}", *ends
    if texts[-1] == MISSING_LABEL:
        numbers = f"[{texts[0]}, {texts[-2]}]" if len(texts) > 2 else texts[0]
        return f"{numbers} or {MISSING_LABEL}", *ends
    return f"[{texts[0]}, {texts[-1]}]", *ends


@examples(120)
@given(tasks())
def test_every_release_meets_the_models_and_values_only_move_up(task):
    recoding = mondrian.anonymise(task)
    assert recoding.suppressed_records == 0
    assert recoding.min_k >= task.k
    assert not find_broken(task.others, recoding.released).any()
    assert recoding.trace.node is None
    check_moves_up(task, recoding)


@examples(120)
@given(tasks(ranges="outward"))
def test_outward_bounds_are_reached_by_k_records_of_the_table(task):
    """By the labels: what they name as a bound, and what is left open, counted in the records."""
    recoding = mondrian.anonymise(task)
    assert recoding.min_k >= task.k
    assert not find_broken(task.others, recoding.released).any()
    check_moves_up(task, recoding)
    classes = task.classes
    for j, (tree, ranged) in enumerate(zip(classes.hierarchies, recoding.hierarchies, strict=True)):
        used = np.unique(recoding.nodes[:, j])
        assert len({ranged.labels[node] for node in used}) == len(used)
        line = ValueOrder.from_hierarchy(tree)
        if not line.numeric:
            continue

        def records(at_least: str | None = None, at_most: str | None = None, j: int = j) -> int:
            tree = classes.hierarchies[j]
            size = {leaf: float(x) for leaf, x in enumerate(tree.labels[: tree.n_leaves])
                    if x != MISSING_LABEL}  # fmt: skip
            found = 0
            for node, count in zip(classes.nodes[:, j], classes.counts, strict=True):
                below = [size.get(leaf) for leaf in list_leaves(tree, int(node))]
                if at_least is not None:
                    found += (
                        count
                        * all(x is None or x >= float(at_least) for x in below)
                        * (below != [None])
                    )
                else:
                    found += count * all(x is not None and x <= float(at_most) for x in below)
            return found

        for node in used[used > tree.root]:
            label = ranged.labels[node].removesuffix(f" or {MISSING_LABEL}").removesuffix(" (2)")
            if label.endswith(" or less"):
                assert records(at_least=label.removesuffix(" or less")) >= task.k
            elif label.endswith(" or more"):
                assert records(at_most=label.removesuffix(" or more")) >= task.k
            else:
                low, _, high = label.strip("[]").partition(", ")
                assert records(at_most=low) >= task.k
                assert records(at_least=high or low) >= task.k


def test_outward_a_range_is_the_lowest_group_of_its_hierarchy():
    tree = groups([{"1-4": ["1", "2", "3", "4"], "5-9": ["5", "6", "9"]}, {"*": ["1-4", "5-9"]}])
    classes = table("age", [tree], ["2", "3", "4", "5", "6", "9"])
    options = {"release": "ranges", "ranges": "outward"}
    found = mondrian.anonymise(task_of(classes, 3, **options))
    assert sorted(released(found)) == [("1-4",), ("5-9",)]
    # Below the root no group holds 4 and 5, so their bounds stay, or are open.
    few = table("age", [tree], ["2", "4", "5", "6"])
    found = mondrian.anonymise(task_of(few, 4, **options))
    assert released(found) == [("*",)]
    three = table("age", [tree], ["2", "2", "2", "4", "5", "6", "9", "9", "9"])
    found = mondrian.anonymise(task_of(three, 3, **options))
    assert sorted(released(found)) == [("5-9",), ("[2, 5]",)]


def test_outward_missing_cells_stand_beside_an_open_bound():
    tree = Hierarchy.from_entries(
        [("*", None, None), *((x, "*", None) for x in (MISSING_LABEL, "1", "2", "4"))]
    )
    classes = table("age", [tree], ["1", "2", "4", MISSING_LABEL])
    found = mondrian.anonymise(task_of(classes, 2, release="ranges", ranges="outward"))
    assert sorted(released(found)) == [("2 or less",), (f"4 or more or {MISSING_LABEL}",)]


def regions_of(task: Task) -> list[list[int]]:
    """The regions, from the cuts."""
    whole = list(range(task.classes.n_classes))
    found = {tuple(whole)}
    for cut in mondrian.cuts(task):
        found.remove(tuple(np.sort(np.concatenate(cut.parts)).tolist()))
        found |= {tuple(part.tolist()) for part in cut.parts}
    return [list(region) for region in sorted(found)]


@examples(120)
@given(tasks(variant="strict", models=()))
def test_strict_no_region_can_be_cut_and_none_overlap(task):
    """No cut anywhere leaves k records on both sides, not only none at the median."""
    regions, counts = regions_of(task), task.classes.counts
    places = [[compute_node_positions(tree)[v] for v in task.classes.nodes[:, j]]
              for j, tree in enumerate(task.classes.hierarchies)]  # fmt: skip
    for region in regions:
        for at in places:
            for value in {at[c] for c in region}:
                sides = [
                    sum(counts[c] for c in region if (at[c] <= value) == low) for low in (1, 0)
                ]
                assert min(sides) < task.k
    for one, other in combinations(regions, 2):
        assert any(
            max(at[c] for c in one) < min(at[c] for c in other)
            or max(at[c] for c in other) < min(at[c] for c in one)
            for at in places
        )


@examples(100)
@given(tasks(leaves_only=True, variant="strict", models=()))
def test_strict_no_region_is_larger_than_the_paper_says(task):
    """At most 2 d (k - 1) + m records, m the most that stand at one point."""
    m = task.classes.counts.max()
    bound = 2 * len(task.classes.attributes) * (task.k - 1) + m
    assert all(task.classes.counts[region].sum() <= bound for region in regions_of(task))


def test_many_regions_need_several_stretches_and_progress_rises():
    """More classes than are looked at between two reports."""
    generator = np.random.default_rng(3)
    numbers = build_flat_hierarchy([str(i) for i in range(200)])
    letters = suppression([f"v{i}" for i in range(200)])
    rows = generator.integers(0, 200, (40_000, 2))
    nodes, counts, _ = group_tuples(rows, np.ones(len(rows), dtype=np.int64), [201, 201])
    classes = EquivalenceClasses(("n", "v"), (numbers, letters), nodes, counts)
    assert classes.n_classes > 20_000
    parts = []
    recoding = mondrian.anonymise(task_of(classes, 50), lambda part, text: parts.append(part))
    assert parts == sorted(parts)
    assert len(parts) > 5
    assert parts[-1] == 1
    assert recoding.min_k >= 50
    sizes = [sum(cut.sizes) for cut in mondrian.cuts(task_of(classes, 50))]
    assert sizes[0] == 40_000
    assert len(sizes) == recoding.trace.steps


# --- Adult --------------------------------------------------------------------------------------
def adult_task(path: Path, records: int) -> Task:
    """Eight quasi-identifiers of Adult; the salary class is sensitive."""
    whole = read_table(path).table
    sample = whole if records == len(whole) else whole.sample(records, random_state=1)
    return adult_with_sensitive(sample, "salary-class", "ncp", 2).task()


CLOSE = (TCloseness(0.5, "salary-class", "norm1"),)
ON_ADULT = [
    pytest.param(*case, variant, marks=[] if in_gate else pytest.mark.nightly)
    for place, case in enumerate((
        *((1_500, 5, models, "widest") for models in ((), CLOSE)),
        *((1_500, 5, (), dimension) for dimension in DIMENSIONS[1:]),
        *((30_162, k, (), "widest") for k in (5, 100)),
    ))
    for further in (0, 1)  # two variants each, as the rest is the same for all; one by night
    for variant in [VARIANTS[(place + further) % len(VARIANTS)]]
    for in_gate in [case[0] == 1_500 and not further]
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.adult
@pytest.mark.parametrize(("records", "k", "models", "dimension", "variant"), ON_ADULT)
def test_adult_is_cut_as_the_plain_recursion_cuts_it(
    adult_path, records, k, models, dimension, variant
):
    options = {"variant": variant, "dimension": dimension}
    task = replace(adult_task(adult_path, records), k=k, models=models, options=options)
    expected = plain(task)
    assert [[part.tolist() for part in cut.parts] for cut in mondrian.cuts(task)] == [
        list(map(list, cut.parts)) for cut in expected.cuts
    ]
    recoding = mondrian.anonymise(task)
    assert recoding.min_k >= task.k
    assert not find_broken(task.others, recoding.released).any()


# --- Through a plan -----------------------------------------------------------------------------
def test_a_plan_without_hierarchies():
    frame = pd.DataFrame(
        {"age": [21, 22, 35, 36], "city": ["Ulm", "Bonn", "Trier", "Ulm"], "ill": list("abab")}
    )
    roles = {"age": "quasi-identifier", "city": "quasi-identifier", "ill": "sensitive"}
    plan = make_plan({name: {"role": role} for name, role in roles.items()}, 2, "mondrian")
    done = run(plan, frame)
    assert done.released(order="table").to_numpy().tolist() == [
        ["[21, 22]", "*", "a"],
        ["[21, 22]", "*", "b"],
        ["[35, 36]", "{Trier, Ulm}", "a"],
        ["[35, 36]", "{Trier, Ulm}", "b"],
    ]
    measures = measure_release(done.recoding, [metric_named("ncp")])
    assert measures["classes"] == 2
    # Ages cost 2 of four leaves each, cities 3 and 2 of three: of 4 / 4 and 3 / 3 in all.
    assert measures["alteration"]["ncp"] == pytest.approx(
        100 * (4 * 2 / 4 + 2 * 3 / 3 + 2 * 2 / 3) / (4 * (1 + 1))
    )


def test_missing_cells_and_asterisks_of_a_column_without_a_hierarchy():
    """Missing cells stand last, and a range may hold them; ``*`` is everything."""
    content = plan_content(
        {"age": {"role": "quasi-identifier"}}, 2, "mondrian", read={"missing": "as-value"}
    )
    plan = Plan.from_content(content)
    frame = pd.DataFrame({"age": [1, 2, None, 4]})
    last = f"4 or {MISSING_LABEL}"
    found = run(plan, frame).released(order="table")["age"]
    assert found.tolist() == ["[1, 2]", "[1, 2]", last, last]
    again = pd.DataFrame({"age": ["1", "2", "*", "9", "10"]})
    # It stands at 5.5, the median, and goes with what is below.
    found = run(plan, again).released(order="table")["age"]
    assert found.tolist() == ["*", "*", "*", "[9, 10]", "[9, 10]"]


def test_tight_sets_hold_the_values_that_occur():
    """b stands between a and c in the order, but no record of the first class has it."""
    columns = [build_flat_hierarchy(["1", "2"]), build_flat_hierarchy(list("abcd"))]
    classes = table("size job", columns, ["1 a", "1 c", "2 b", "2 c", "2 d"])
    names = {"whole": ("{a, b, c}", "{b, c, d}"), "tight": ("{a, c}", "{b, c, d}")}
    for sets, (first, second) in names.items():
        recoding = mondrian.anonymise(task_of(classes, 2, sets=sets))
        assert released(recoding) == [("1", first), ("2", second)]
        lost = {"whole": 2 * 2 + 3 * 2, "tight": 2 * 1 + 3 * 2}[sets]
        assert general_loss.value(recoding) == pytest.approx(lost / 3 / (5 * 2))
    # All values are the root; the first and the last alone are not.
    for jobs, name in (("abcd", "*"), ("ad", "{a, d}")):
        one = table("job", columns[1:], list(jobs))
        assert released(mondrian.anonymise(task_of(one, len(jobs), sets="tight"))) == [(name,)]


@examples(120)
@given(tasks(leaves_only=True, release="ranges", sets="tight", models=()))
def test_tight_sets_cover_the_values_and_lose_no_more_than_whole_ones(task):
    """The same cuts, whatever the sets: that of least loss would differ."""
    if task.option(mondrian.DIMENSION) == "least-loss":
        task = replace(task, options={**task.options, "dimension": "widest"})
    tight = mondrian.anonymise(task)
    whole = mondrian.anonymise(replace(task, options={**task.options, "sets": "whole"}))
    assert tight.min_k >= task.k
    for j, tree in enumerate(tight.hierarchies):
        before, after = task.classes.nodes[:, j], tight.targets[:, j]
        assert all(covers(tree, after, before))
        here, there = tree.leaves_covered[after], whole.hierarchies[j].leaves_covered
        assert (here <= there[whole.targets[:, j]]).all()
        line = ValueOrder.from_hierarchy(task.classes.hierarchies[j])
        for node in np.unique(after) if not line.numeric else ():
            leaves = list_covered_leaves(tree, np.array([node]))[1]
            assert len(leaves) == tree.leaves_covered[node]
            assert {*leaves.tolist()} == {*before[after == node].tolist()}


@examples(60)
@given(
    tasks(leaves_only=True, release="ranges", dimension="least-loss", variant="strict", models=())
)
def test_the_cut_of_least_loss_by_brute_force(task):
    """Of the cuts at medians, counted over records with sets and sorted lists."""
    trees, tight = task.classes.hierarchies, task.option(mondrian.SETS) == "tight"
    columns = range(len(trees))
    at = [compute_node_positions(tree) for tree in trees]
    every = [c for c, n in enumerate(task.classes.counts) for _ in range(n)]

    def lost(part: list[int]) -> Fraction:
        total = Fraction(0)
        for j in columns:
            values = {task.classes.nodes[c, j] for c in part}
            places = [at[j][value] for value in values]
            whole = {at[j][task.classes.nodes[c, j]] for c in every}
            if tight and not ValueOrder.from_hierarchy(trees[j]).numeric:
                total += Fraction(len(values) - 1, max(trees[j].n_leaves - 1, 1))
            elif len(whole) > 1:
                total += Fraction(max(places) - min(places)) / Fraction(max(whole) - min(whole))
        return len(part) * total

    def first_cut(region: list[int], j: int) -> list[list[int]]:
        place = {c: at[j][task.classes.nodes[c, j]] for c in region}
        median = sorted(place[c] for c in region)[(len(region) - 1) // 2]
        for low in (lambda x: x <= median, lambda x: x < median):
            parts = [[c for c in region if low(place[c]) == side] for side in (True, False)]
            if min(map(len, parts)) >= task.k:
                return parts
        return []

    for cut in mondrian.cuts(task):
        whole = {*np.concatenate(cut.parts).tolist()}
        options = [first_cut([c for c in every if c in whole], j) for j in columns]
        losses = [sum(map(lost, parts)) if parts else None for parts in options]
        least = min(loss for loss in losses if loss is not None)
        assert cut.attribute == f"q{losses.index(least)}"


@examples(40)
@given(tasks(leaves_only=True, release="ranges", sets="tight", models=()), st.integers(0, 99))
def test_measures_read_tight_sets_as_their_values(task, seed):
    """Answers to counting queries, estimated counts, and whom a class could hold."""
    recoding = mondrian.anonymise(task)
    released, trees = recoding.released, recoding.hierarchies
    leaves = [
        [{*list_covered_leaves(tree, np.array([node]))[1].tolist()} for node in column]
        for tree, column in zip(trees, released.nodes.T, strict=True)
    ]
    questions = query_error.queries(task.classes, seed, 5)
    expected = np.zeros(5)
    for q, (attributes, low, high) in enumerate(
        zip(questions.attributes, questions.low, questions.high, strict=True)
    ):
        for c, count in enumerate(released.counts):
            share = Fraction(int(count))
            for j, first, last in zip(attributes, low, high, strict=True):
                if j >= 0:
                    share *= Fraction(len(leaves[j][c] & {*range(first, last)}), len(leaves[j][c]))
            expected[q] += float(share)
    assert query_error.answers(released, questions) == pytest.approx(expected)
    for j, tree in enumerate(trees):
        spread = np.zeros(tree.n_leaves)
        for c, count in enumerate(released.counts):
            spread[[*leaves[j][c]]] += count / len(leaves[j][c])
        assert estimate_leaf_counts(tree, released.cells[j]) == pytest.approx(spread)
    people = [
        sum(
            int(count)
            for row, count in zip(task.classes.nodes.tolist(), task.classes.counts, strict=True)
            if all(value in leaves[j][c] for j, value in enumerate(row))
        )
        for c in range(released.n_classes)
    ]
    assert count_people_below(released, task.classes).tolist() == people
