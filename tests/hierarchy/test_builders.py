"""Builders that need an order or the records of the values, and what is proposed."""

import contextlib
import itertools
import math
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.formatting import write_count
from kanon.base.values import ValueCounts, convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import ages, dates, intervals, mask, mask_steps, ordered, suppression
from kanon.hierarchy.codes import build_code_hierarchy
from kanon.hierarchy.files import parse_csv, parse_nodes
from kanon.hierarchy.frequencies import build_by_frequency, build_quantile_intervals
from kanon.hierarchy.suggest import propose, starting_parameters
from kanon.studio.session.choices import (
    build_choice,
    get_start_parameters,
    suggest_choice,
    suggest_first_choice,
)
from support.random_tables import examples

BUILDERS = {
    "suppression": lambda counts: suppression(list(counts)),
    "quantiles": lambda counts, parts: build_quantile_intervals(counts, parts),
    "frequency": lambda counts, least: build_by_frequency(counts, least),
    "dates": lambda counts, levels: dates(list(counts), levels),
    "codes": lambda counts, *rest: build_code_hierarchy(list(counts), *rest),
    "mask": lambda counts, keep: mask(list(counts), keep),
}


def leaves(tree: Hierarchy) -> list[str]:
    return list(tree.labels[: tree.n_leaves])


def members(tree: Hierarchy, label: str) -> list[str]:
    node = tree.node_of[label]
    return list(tree.labels[tree.first[node] : tree.last[node]])


def refused(build, *arguments) -> str:
    with pytest.raises(HierarchyError) as caught:
        build(*arguments)
    error = caught.value
    assert error.sentence.endswith(".") and "\n" not in error.sentence
    if error.cells:
        assert "(value withheld)" in str(error)
    return error.sentence


# --- Ordered groups -----------------------------------------------------------------------------
WORDS = st.lists(st.text("abcdé –7", min_size=1).map(str.strip).filter(bool), min_size=1,
                 max_size=20, unique=True)  # fmt: skip


def test_ordered_groups_by_hand():
    tree = ordered(["xs", "s", "m", "l", "xl", "xxl", "huge"], sizes=[2, 2])
    paths = [[tree.labels[v] for v in tree.path(leaf)] for leaf in range(tree.n_leaves)]
    assert paths == [
        ["xs", "xs – s", "xs – l", "*"],
        ["s", "xs – s", "xs – l", "*"],
        ["m", "m – l", "xs – l", "*"],
        ["l", "m – l", "xs – l", "*"],
        ["xl", "xl – xxl", "xl – huge", "*"],
        ["xxl", "xl – xxl", "xl – huge", "*"],
        ["huge", "xl – huge", "*"],
    ]


def test_a_level_of_one_group_is_the_root():
    assert ordered(["a", "b", "c", "d"], [2, 2, 9]).labels == ("a", "b", "c", "d",
                                                              "a – b", "c – d", "*")  # fmt: skip
    assert ordered(["a"], [2]).labels == ("a", "*")
    assert ordered(["a", "b"], [10**30]).labels == ("a", "b", "*")


@examples(200)
@given(WORDS, st.lists(st.integers(2, 4), min_size=1, max_size=3))
def test_ordered_groups_are_runs_of_the_given_order(values, sizes):
    try:
        tree = ordered(values, sizes)
    except HierarchyError:
        assert any("–" in value for value in values), "only such values can clash with names"
        return
    texts = leaves(tree)
    assert texts == list(dict.fromkeys(suppression(values).labels))[:-1]
    lengths = list(itertools.accumulate(sizes, lambda one, other: one * other))
    for label in tree.labels[tree.n_leaves : tree.root]:
        run = members(tree, label)
        assert label == f"{run[0]} – {run[-1]}"
        first = texts.index(run[0])
        assert any(first % n == 0 and run == texts[first : first + n] for n in lengths)


def test_groups_that_would_get_one_name_are_refused():
    said = refused(ordered, ["a", "b – c", "a – b", "c", "z"], [2])
    assert said == "Two groups would be called 'a – b – c'; change a size."
    assert "has the name of a group" in refused(ordered, ["a", "b", "a – b"], [2])
    assert "blank" in refused(ordered, ["a", ""], [2])
    assert "no lines" in refused(ordered, [], [2]) or "value" in refused(ordered, [], [2])


@pytest.mark.parametrize("sizes", [[], [1], [2, 0], [2.5], [True], ["2"], [math.inf]])
def test_bad_sizes_are_refused(sizes):
    assert "whole numbers of at least 2" in refused(ordered, ["a", "b"], sizes)


# --- Rare values --------------------------------------------------------------------------------
COUNTS = st.dictionaries(st.text("abc", min_size=1, max_size=4), st.integers(0, 30), min_size=1)


def test_rare_values_by_hand():
    tree = build_by_frequency({"yak": 1, "cat": 90, "okapi": 2, "dog": 5}, least=5)
    assert tree.labels == ("cat", "dog", "yak", "okapi", "Other (fewer than 5 records)", "*")
    assert members(tree, "Other (fewer than 5 records)") == ["yak", "okapi"]
    assert build_by_frequency({"a": 5, "b": 7}, 5) == suppression(["a", "b"])
    assert "Other (fewer than 1 record)" in build_by_frequency({"a": 5, "b": 0}, 1).labels
    assert build_by_frequency({"39": 3, "39.0": 3}, 5).labels == ("39", "*"), (
        "one value, two writings"
    )


@examples(200)
@given(COUNTS, st.integers(1, 20))
def test_frequent_values_are_alone_and_rare_ones_together(counts, least):
    rare = [value for value, count in counts.items() if count < least]
    if len(rare) == len(counts):
        assert f"fewer than {write_count(least)} records" in refused(
            build_by_frequency, counts, least
        )
        return
    tree = build_by_frequency(counts, least)
    assert sorted(leaves(tree)) == sorted(counts)
    groups = tree.labels[tree.n_leaves : tree.root]
    assert [members(tree, label) for label in groups] == ([rare] if rare else [])


def test_bad_numbers_of_records_are_refused():
    for least in (0, -1, 2.5, True, "5"):
        assert "whole number of at least 1" in refused(build_by_frequency, {"a": 1}, least)
    name = "Other (fewer than 5 records)"
    assert "has the name of a group" in refused(build_by_frequency, {"a": 1, "b": 9, name: 9}, 5)


# --- Intervals by records -----------------------------------------------------------------------
def test_intervals_by_records_by_hand():
    counts = {"17": 10, "18": 10, "20": 10, "21": 10, "35": 20, "40": 5, "41": 5, "90": 10}
    tree = build_quantile_intervals(counts, [4, 2])
    paths = {leaf: [tree.labels[v] for v in tree.path(tree.node_of[leaf])][1:-1] for leaf in counts}
    assert paths == {
        "17": ["17 to 18", "17 to 21"],
        "18": ["17 to 18", "17 to 21"],
        "20": ["20 to 21", "17 to 21"],
        "21": ["20 to 21", "17 to 21"],
        "35": ["35 to 90"],
        "40": ["40 to 90", "35 to 90"],
        "41": ["40 to 90", "35 to 90"],
        "90": ["40 to 90", "35 to 90"],
    }


def test_numbers_that_a_computer_takes_for_equal_are_parted_by_records():
    records = {"9007199254740992": 3, "9007199254740993": 3, "9007199254740994": 3, "1": 3}
    assert build_quantile_intervals(records, [2]).labels[4:-1] == (
        "1 to 9007199254740992", "9007199254740993 to 9007199254740994",
    )  # fmt: skip


def test_a_number_with_most_records_is_never_split():
    tree = build_quantile_intervals({"0": 900, "1": 1, "2": 1, "5.5": 1, "7": 97}, [4, 2])
    assert members(tree, "1 to 7") == ["1", "2", "5.5", "7"]
    assert tree.labels[tree.n_leaves :] == ("1 to 7", "*")


def test_negative_numbers_decimals_and_writings():
    tree = build_quantile_intervals({"-1.5": 2, "-7": 2, "1e1": 2, "10": 2, "3.0": 2}, [2])
    assert leaves(tree) == ["-7", "-1.5", "3", "10", "1e1"]
    assert members(tree, "3 to 1e1") == ["3", "10", "1e1"]


@examples(300)
@given(
    st.dictionaries(st.integers(-60, 60), st.integers(0, 40), min_size=1, max_size=30).filter(
        lambda counts: sum(counts.values())
    ),
    st.integers(2, 3),
    st.lists(st.integers(2, 3), max_size=3),
)
def test_intervals_by_records_nest_and_are_as_even_as_can_be(counts, coarsest, factors):
    parts = [coarsest]
    for factor in factors:
        parts.insert(0, parts[0] * factor)
    tree = build_quantile_intervals({str(value): count for value, count in counts.items()}, parts)
    ascending = sorted(counts)
    assert leaves(tree) == [str(value) for value in ascending]
    records = sum(counts.values())
    for label in tree.labels[tree.n_leaves : tree.root]:
        inside = [int(text) for text in members(tree, label)]
        assert label == f"{inside[0]} to {inside[-1]}"
        assert inside == [v for v in ascending if inside[0] <= v <= inside[-1]]
    # Per level at most so many groups, none larger than its share and half of each number
    # at its ends: the bounds are the nearest to the quantiles.
    total = tree.sum_below(
        np.array([counts.get(int(x), 0) if x in set(leaves(tree)) else 0 for x in tree.labels])
    )
    top = tree.children[tree.root]
    assert len(top) <= parts[-1] or len(top) == tree.n_leaves
    for v in top:
        ends = (tree.labels[tree.first[v]], tree.labels[tree.last[v] - 1])
        extra = sum(counts[int(end)] for end in ends) / 2
        assert total[v] <= records / parts[-1] + extra or len(top) == tree.n_leaves


@pytest.mark.parametrize(
    ("counts", "parts", "said"),
    [
        ({"1": 1, "x": 2, "02": 1}, [2], "2 distinct values are something else ('x', '02')"),
        ({}, [2], "no values to build"),
        ({"1": 0}, [2], "at least one record"),
        ({"1": 1}, [], "at least 2"),
        ({"1": 1}, [1], "at least 2"),
        ({"1": 1}, [4, 2.0], "at least 2"),
        ({"1": 1}, [True], "at least 2"),
        ({"1": 1}, [6, 4], "6 is not a multiple of the number 4"),
        ({"1": 1}, [2, 4], "2 is not a multiple"),
        ({"1": 1}, [4, 4], "4 is not a multiple"),
    ],
)
def test_bad_intervals_by_records_are_refused(counts, parts, said):
    assert said in refused(build_quantile_intervals, counts, parts)


# --- Numbers beyond what numbers reach; levels beyond what anybody draws ------------------------
@examples(200)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
    st.lists(
        st.floats(min_value=0, exclude_min=True, allow_infinity=False), min_size=1, max_size=3
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_widths_and_numbers_give_a_tree_or_a_sentence(values, widths, origin):
    with contextlib.suppress(HierarchyError):
        tree = intervals([convert_to_text(value) for value in values], sorted(widths), origin)
        assert tree.height <= len(widths) + 2


@pytest.mark.parametrize(
    ("values", "widths", "said"),
    [
        (["1", "2"], [1e-320, 1], "The width"),
        (["1", "2"], [5e-324, 1e308], "The width"),
        (["1", "2.5"], [0.3333333333333333, 1], "is not a multiple"),
        (["1e308", "-1e308"], [1e307, 1e308], "too large for the numbers"),
    ],
)
def test_widths_that_do_not_nest_or_reach_beyond_all_numbers_are_refused(values, widths, said):
    assert said in refused(intervals, values, widths)


@examples(200)
@given(
    st.lists(st.decimals(-9999, 9999, places=3), min_size=2, max_size=12, unique=True),
    st.sampled_from([(0.1, 0.3), (0.001, 0.01), (0.07,), (0.05, 0.15), (1.1,), (0.025, 5)]),
    st.sampled_from([0, 0.01, -0.3]),
)
def test_a_decimal_lies_in_the_interval_that_names_it(values, widths, origin):
    texts = [str(value) for value in values]
    tree = intervals(texts, list(widths), origin)
    for text in texts:
        names = [tree.labels[node] for node in tree.path(tree.node_of[convert_to_text(text)])]
        for name, width in zip(names[1:-1], widths, strict=True):
            low, high = map(Decimal, name.split(" to <"))
            assert low <= Decimal(text) < high and high - low == Decimal(str(width))
            assert (low - Decimal(str(origin))) % Decimal(str(width)) == 0


@pytest.mark.parametrize(
    ("texts", "widths", "wanted"),
    [
        (["0.3", "5.015"], [0.1], ["0.3 to <0.4", "5 to <5.1"]),
        (["0,7", "1,1"], [0.1], ["0.7 to <0.8", "1.1 to <1.2"]),
        (["1.000,29", "7,10"], [0.01], ["1000.29 to <1000.3", "7.1 to <7.11"]),
        (["12345678901234567", "12345678901234568"], [2000],
         ["12345678901234000-12345678901235999"] * 2),
        (["0.1", "1e-400"], [0.1], ["0.1 to <0.2", "0 to <0.1"]),
    ],
)  # fmt: skip
def test_intervals_of_decimals_by_hand(texts, widths, wanted):
    tree = intervals(texts, widths)
    assert [tree.labels[tree.parent[tree.node_of[text]]] for text in texts] == wanted


def test_a_column_without_values_is_said():
    for build in (lambda: intervals([], [5]), lambda: dates([], ["year"]), lambda: mask([], [2]),
                  lambda: ages([], date(2020, 1, 1), [5]), lambda: suppression([])):  # fmt: skip
        assert refused(build) == "The column has no values to build a hierarchy from."


def test_a_hierarchy_has_no_more_levels_than_the_settings_allow(limits):
    limits(hierarchy_levels=5)
    widths = [5, 10, 20, 40]
    assert intervals(["1", "50"], widths[:3]).height <= 5
    too_many = "levels or more; the limit is 5 (hierarchy_levels, see docs/operate/limits.md)."
    assert too_many in refused(intervals, ["1", "50"], widths)
    chain = [{"name": str(i), "parent": str(i + 1)} for i in range(5)] + [{"name": "5"}]
    assert too_many in refused(parse_nodes, chain)
    assert too_many in refused(parse_csv, "a;b;c;d;e;f\n")


# --- Fixed steps of a mask, open ends of intervals ----------------------------------------------
@examples(100)
@given(st.integers(1, 30), st.integers(1, 30))
def test_the_steps_of_a_mask(longest, step):
    if step >= longest:
        assert "choose a smaller step" in refused(mask_steps, longest, step)
        return
    keep = mask_steps(longest, step)
    assert [longest - sum([step] * n) for n in range(1, len(keep) + 1)] == keep
    assert 1 <= keep[-1] <= step
    code = "".join(chr(97 + i % 26) for i in range(longest))
    assert mask([code], keep).height == len(keep) + 2


def test_a_step_masks_at_least_one_character():
    for step in (0, -1, 1.5, True):
        assert "at least 1" in refused(mask_steps, 5, step)


def test_open_ends_read_well():
    tree = intervals([str(age) for age in range(17, 91)], [10, 20], lowest=20, highest=80)
    top = [tree.labels[v] for v in tree.children[tree.root]]
    assert top == ["<20", "20-39", "40-59", "60-79", "80", ">80"]
    assert members(tree, "<20") == ["17", "18", "19"]
    assert members(tree, ">80") == [str(age) for age in range(81, 91)]


# --- Proposals ----------------------------------------------------------------------------------
OCCUPATIONS = {f"occupation {chr(97 + i) * (i + 1)}": 2 ** (i // 2) for i in range(20)}
PROPOSED = {
    "ages": (
        {str(age): 30162 // 74 + (age < 17 + 30162 % 74) for age in range(17, 91)},
        "quantiles",
        {"parts": [16, 8, 4, 2]},
    ),
    "few ages": ({str(age): 3 for age in range(20)}, "quantiles", {"parts": [8, 4, 2]}),
    "mostly zero": (
        {"0": 27624, **{str(1000 + 50 * i): 22 for i in range(118)}},
        "quantiles",
        {"parts": [16, 8, 4, 2]},
    ),
    "three numbers": ({"1": 5, "2": 5, "3": 5}, "suppression", {}),
    "dates": (
        {f"20{year:02}-{month:02}-05": 1 for year in (9, 21) for month in range(1, 13)},
        "dates",
        {"levels": ["month", "quarter", "year", "decade"]},
    ),
    "dates of one year": (
        {f"2023-{month:02}-{day:02}": 1 for month in range(1, 13) for day in range(1, 4)},
        "dates",
        {"levels": ["month", "quarter"]},
    ),
    "days of one quarter": (
        {f"{day}.{month}.2023": 1 for month in (1, 2) for day in range(1, 29)},
        "dates",
        {"levels": ["month"]},
    ),
    "days of one month": ({f"{day}.3.2023": 1 for day in range(1, 29)}, "suppression", {}),
    "moments of one month": (
        {f"2023-03-{day:02} {hour:02}:00": 1 for day in range(1, 9) for hour in range(8, 18)},
        "dates",
        {"levels": ["part of day", "day"]},
    ),
    "times of one part of the day": (
        {f"{hour:02}:{minute:02}": 1 for hour in (12, 13) for minute in range(30)},
        "dates",
        {"levels": ["hour"]},
    ),
    "zip": ({f"{47000 + 7 * i}": 2 for i in range(40)}, "mask", {"keep": [4, 3]}),
    "zip with zeros": ({f"0{7000 + 70 * i}": 2 for i in range(40)}, "mask", {"keep": [4, 3, 2]}),
    "codes that differ at the end": ({f"AB{i}": 2 for i in range(11, 20)}, "suppression", {}),
    "codes of one chapter": (
        {f"J{block}.{i}": 1 for block in (10, 45) for i in range(9)},
        "codes",
        {"separators": ".", "prefixes": [], "ranges": []},
    ),
    "sex": ({"F": 10, "M": 20}, "suppression", {}),
    "countries": (OCCUPATIONS, "frequency", {"least": 20}),
    "all frequent": (dict.fromkeys(OCCUPATIONS, 50), "suppression", {}),
    "all rare": (dict.fromkeys(OCCUPATIONS, 2), "suppression", {}),
    "years among dates": ({"1999": 3, "2001-04-05": 2}, "dates", {"levels": ["year", "decade"]}),
    "codes that are masked in part": (
        {**{f"{47000 + 9 * i}": 2 for i in range(40)}, "470**": 1},
        "suppression",
        {},
    ),
    "nothing": ({}, "suppression", {}),
}


@pytest.mark.parametrize(("counts", "builder", "given"), PROPOSED.values(), ids=PROPOSED)
def test_what_is_proposed_fits_the_values(counts, builder, given):
    proposal = propose(counts)
    assert proposal.builder == builder
    assert dict(proposal.parameters) == given
    assert f"{write_count(len(counts))} " in proposal.reason and proposal.reason.endswith(".")


@examples(200)
@given(
    st.dictionaries(
        st.integers(0, 99_999).map(str) | st.dates().map(str) | st.text("ab <é", min_size=1),
        st.integers(1, 500),
        max_size=40,
    )
)
def test_what_is_proposed_can_be_built_of_the_values(counts):
    counts = {value.strip(): count for value, count in counts.items() if value.strip()}
    proposal = propose(counts)
    assert proposal.reason.endswith(".")
    if counts:
        tree = BUILDERS[proposal.builder](counts, *proposal.parameters.values())
        assert set(leaves(tree)) == set(counts)


@pytest.mark.parametrize("values", [
    [f"2023-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 32, 9)],
    [f"{47000 + i}" for i in range(90)],
    [f"J45.{i}" for i in range(9)] + [f"J4{i}" for i in range(9)],
    [str(age) for age in range(40, 60)],
])  # fmt: skip
def test_no_suggested_level_holds_all_values(values):
    counted = ValueCounts(dict.fromkeys(values, 1))
    for choice in (suggest_first_choice("a", counted), suggest_choice("a", counted)):
        assert len(choice.tree.children[choice.tree.root]) > 1, choice.typed
    for builder in ("dates", "mask", "codes", "ages"):
        choice = build_choice(builder, get_start_parameters(builder, counted), "a", counted)
        if choice.tree is not None and builder != "codes":
            assert len(choice.tree.children[choice.tree.root]) > 1, choice.typed


def test_ages_start_without_a_width_that_holds_all():
    year = date.today().year
    born = [f"{day}.1.{year - age}" for age in (41, 42, 48) for day in (1, 2)]
    assert starting_parameters("ages", born)["widths"] == [1, 5]


def test_intervals_end_where_other_groups_begin():
    tree = intervals([str(n) for n in range(18, 91)], [5, 10, 20], lowest=33, highest=77)
    parent = {label: above for label, above, _ in tree.entries()}
    assert parent["33"] == "33-34" and parent["33-34"] == "33-39" and parent["33-39"] == "*"
    assert parent["77"] == "75-77" and parent["75-77"] == "70-77" and parent["70-77"] == "60-77"
    assert parent["32"] == "<33" and parent["78"] == ">77" and parent["50"] == "50-54"
    halves = intervals(["0.5", "1.5", "2.5", "4"], [1], lowest=0.75, highest=3.5)
    assert {"<0.75", "1 to <2", "2 to <3", ">3.5"} < set(halves.labels)
    assert "0.75 to <1" in intervals(["0.8", "1.5"], [1], lowest=0.75).labels
    assert "3 to 3.5" in intervals(["3.2", "1.5"], [1], highest=3.5).labels
