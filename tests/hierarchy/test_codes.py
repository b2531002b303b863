"""Codes: cut at separators, to prefixes, joined by ranges; those of the ICD by its chapters."""

import itertools
import re
import string

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.codes import (
    CodeRange,
    build_code_hierarchy,
    find_outside_ranges,
    parse_ranges,
    read_icd_10_chapters,
    write_ranges,
)
from kanon.hierarchy.plans import CodesPlan, build_hierarchy, get_hierarchy_file
from kanon.hierarchy.suggest import propose, suggest_builder
from kanon.sources.coverage import count_column
from kanon.studio.session.choices import build_choice, suggest_choice, suggest_first_choice
from support.random_tables import examples

BLOCKS = """from;to;name
J00;J99;J00–J99 Respiratory
J40;J47;J40–J47 Chronic lower respiratory
E10;E14;E10–E14 Diabetes
E00;E90
"""
ICD = [f"{letter}{number}.{last}" for letter in "CEJ" for number in (10, 45) for last in range(3)]


def path(tree: Hierarchy, value: str) -> list[str]:
    return [tree.labels[node] for node in tree.path(tree.node_of[value])]


def groups(tree: Hierarchy) -> set[tuple[str, ...]]:
    """The sets of values that have a node."""
    return {tuple(sorted(tree.labels[tree.first[v] : tree.last[v]])) for v in range(tree.n_nodes)}


def refused(build, *arguments, **named) -> str:
    with pytest.raises(HierarchyError) as caught:
        build(*arguments, **named)
    assert caught.value.sentence.endswith(".") and "\n" not in caught.value.sentence
    return caught.value.sentence


# --- the tree -----------------------------------------------------------------------------------
def test_codes_by_hand():
    values = ["J45.0", "J45.1", "J45", "J09.0", "E11.9", "E11.72", "E70", "U07.1", "unknown"]
    tree = build_code_hierarchy(values, ".", [], parse_ranges(BLOCKS))
    assert {value: path(tree, value)[1:] for value in values} == {
        "J45.0": ["J45 (group)", "J40–J47 Chronic lower respiratory", "J00–J99 Respiratory", "*"],
        "J45.1": ["J45 (group)", "J40–J47 Chronic lower respiratory", "J00–J99 Respiratory", "*"],
        "J45": ["J45 (group)", "J40–J47 Chronic lower respiratory", "J00–J99 Respiratory", "*"],
        "J09.0": ["J09", "J00–J99 Respiratory", "*"],
        "E11.9": ["E11", "E10–E14 Diabetes", "E00–E90", "*"],
        "E11.72": ["E11", "E10–E14 Diabetes", "E00–E90", "*"],
        "E70": ["E00–E90", "*"],
        "U07.1": ["U07", "*"],
        "unknown": ["*"],
    }
    assert find_outside_ranges(tree, parse_ranges(BLOCKS)) == ["U07", "unknown"]


def test_separators_are_cut_from_the_last_and_prefixes_are_of_what_is_left():
    tree = build_code_hierarchy(["62.01-3", "62.02-1", "63.11-9", "6"], ".-", [1])
    assert path(tree, "62.01-3") == ["62.01-3", "62.01", "62", "6 (group)", "*"]
    assert path(tree, "6") == ["6", "6 (group)", "*"]
    assert path(build_code_hierarchy(["E119", "E11.9"], ".", [3]), "E119") == ["E119", "E11", "*"]
    odd = build_code_hierarchy(["a..b", "a.", ".a", "."], ".")
    assert path(odd, "a..b") == ["a..b", "a", "*"] and path(odd, "a.") == ["a.", "a", "*"]
    assert path(odd, ".a") == [".a", "*"] and path(odd, ".") == [".", "*"]


STAYS = "0;2\n3;9\n10;19\n20;365"


@pytest.mark.parametrize(
    ("values", "ranges", "above"),
    [
        # Numbers, of one length and of several.
        (["2", "3", "10", "19", "105"], STAYS, ["0–2", "3–9", "10–19", "10–19", "20–365"]),
        (["1", "10", "15"], "0;2\n3;9", ["0–2", "*", "*"]),
        (["10-19", "0-2", "3-9", "20-29", "50+"], "0;2\n10;19", ["10–19", "0–2", "*", "*", "*"]),
        (["5", "17", "18"], "5;17", ["5–17", "5–17", "*"]),
        (["250.01", "279", "1000"], "240;279", ["250", "240–279", "*"]),
        # Codes, of which the beginning is meant.
        (["47601", "48711", "01067"], "47;48\n01;09", ["47–48", "47–48", "01–09"]),
        (["2211", "1120", "7115"], "1;3\n7;7", ["1–3", "1–3", "7–7"]),
        (["0010", "25000", "4019"], "001;139\n240;279\n390;459", ["001–139", "240–279", "390–459"]),
        (["E1165", "E119", "E11"], "E10;E14", ["E10–E14"] * 3),
    ],
)  # fmt: skip
def test_numbers_are_compared_as_numbers_and_codes_by_how_they_begin(values, ranges, above):
    tree = build_code_hierarchy(values, ranges=parse_ranges(ranges))
    assert [path(tree, value)[1] for value in values] == above


def test_values_that_the_name_of_their_group_excludes_are_named():
    values = count_column(pd.Series(["A1", "A3", "A10", "B7", "1-2", "2-15", "19"]))
    choice = build_choice(
        "codes", {"separators": ".", "ranges": "A1;A3\n0;2\n10;19"}, "grade", values
    )
    assert choice.remarks[:2] == (
        "'A1–A3' also contains 'A10': the beginning fits the range, but the number does not.",
        "'0–2' also contains '2-15': the beginning fits the range, but the number does not.",
    )
    postcodes = count_column(pd.Series(["47601", "48711"]))
    assert build_choice("codes", {"ranges": "47;48"}, "zip", postcodes).remarks == ()


CODES = st.lists(st.text("ab1.-", min_size=1, max_size=6), min_size=1, max_size=12, unique=True)


@examples(150)
@given(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=10, unique=True),
       st.sets(st.integers(1, 5), min_size=1))  # fmt: skip
def test_groups_by_prefix_are_those_of_pandas(values, prefixes):
    tree = build_code_hierarchy(values, "", sorted(prefixes, reverse=True))
    series = pd.Series(values)
    expected = {(value,) for value in values} | {tuple(sorted(values))}
    for count in prefixes:
        expected |= {tuple(sorted(same)) for _, same in series.groupby(series.str.slice(0, count))}
    assert groups(tree) == expected


@examples(150)
@given(st.lists(st.from_regex(r"[ab]{1,2}(\.[ab]{1,2}){0,3}", fullmatch=True), min_size=1,
                max_size=10, unique=True))  # fmt: skip
def test_groups_by_separator_are_those_of_pandas(values):
    tree = build_code_hierarchy(values, ".")
    parts = pd.Series(values).str.split(".")
    expected = {(value,) for value in values} | {tuple(sorted(values))}
    for depth in range(1, 4):
        start = parts[parts.str.len() >= depth].str[:depth].str.join(".")
        expected |= {
            tuple(sorted(values[row] for row in same))
            for _, same in start.groupby(start).groups.items()
        }
    assert groups(tree) == expected


@examples(150)
@given(CODES, st.sets(st.integers(1, 4)), st.randoms())
def test_the_order_of_the_rows_does_not_matter_and_each_value_has_its_place(values, keeps, random):
    prefixes = sorted(keeps, reverse=True)
    tree = build_code_hierarchy(values, ".-", prefixes)
    shuffled = random.sample(values, len(values))
    assert build_code_hierarchy(shuffled, ".-", prefixes) == tree
    assert sorted(tree.labels[: tree.n_leaves]) == sorted(values)


CODE = st.tuples(st.sampled_from("AB"), st.integers(0, 99)).map(lambda one: f"{one[0]}{one[1]:02}")


@examples(150)
@given(st.lists(CODE, min_size=1, max_size=15, unique=True),
       st.lists(st.tuples(CODE, CODE), min_size=1, max_size=6))  # fmt: skip
def test_a_code_lies_in_all_ranges_around_it_from_narrow_to_wide(values, ends):
    given_ranges = [CodeRange(first=a, last=b, name=f"range {n}") for n, (a, b) in enumerate(ends)]
    around = {
        value: [one for one in given_ranges if one.first <= value <= one.last] for value in values
    }
    ordered = all(one.first <= one.last for one in given_ranges)
    apart = all(
        one.last < other.first or other.last < one.first
        or one.first <= other.first <= other.last <= one.last
        or other.first <= one.first <= one.last <= other.last
        for one in given_ranges for other in given_ranges
    )  # fmt: skip
    if not ordered or not apart or not any(around.values()):
        refused(build_code_hierarchy, values, "", (), given_ranges)
        return
    tree = build_code_hierarchy(values, "", (), given_ranges)
    for value in values:
        names = path(tree, value)[1:-1]
        assert sorted(names) == sorted(one.name for one in around[value])
        wide = [next(one for one in given_ranges if one.name == name) for name in names]
        for inner, outer in itertools.pairwise(wide):
            assert outer.first <= inner.first and inner.last <= outer.last


# --- what is refused ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"separators": ""}, "Choose separators"),
        ({"prefixes": [2, 3]}, "shorter from level to level"),
        ({"prefixes": [0]}, "at least 1"),
        ({"prefixes": [2], "ranges": parse_ranges(BLOCKS)}, "up to 3 characters"),
        ({"ranges": parse_ranges("Q00;Q99")}, "No value of the column lies in any"),
        ({"ranges": parse_ranges("J00;J50\nJ45;J60")}, "overlap"),
        ({"ranges": parse_ranges("J00;J50;x\nK00;K50;x")}, "Two ranges of codes are called 'x'"),
        ({"ranges": parse_ranges("J50;J00")}, "'J50–J00' does not"),
        ({"ranges": parse_ranges("J5;J70")}, "of the same length"),
        ({"ranges": parse_ranges("J45.0;J45.9")}, "cannot contain a separator"),
        ({"ranges": [CodeRange(first="J00", last="J99", name=" ")]}, "has no name"),
        ({"ranges": parse_ranges("J00;J99;J45.0")}, "has the name of a group"),
    ],
)
def test_what_cannot_be_built_is_said(arguments, said):
    assert said in refused(build_code_hierarchy, ["J45.0", "J45.1"], **arguments)


def test_lines_of_ranges():
    assert write_ranges(parse_ranges(BLOCKS)).splitlines()[-1] == "E00;E90;E00–E90"
    (tabbed,) = parse_ranges("\ufeffFrom\tTo\nA00\tB99\n")
    assert (tabbed.first, tabbed.last, tabbed.name) == ("A00", "B99", "A00–B99")
    assert parse_ranges('A00,B99,"fever, and more"')[0].name == "fever, and more"
    assert parse_ranges("\n \n") == []
    for bad in ("A00", "A00;", ";B99;x", "A;B;C;D"):
        assert refused(parse_ranges, f"E00;E90\n{bad}").startswith("Line 2 of the ranges")


@examples(100)
@given(st.lists(st.tuples(*[st.text(string.ascii_letters + '";, é', min_size=1).map(str.strip)
                            .filter(bool)] * 3), max_size=5))  # fmt: skip
def test_ranges_are_read_as_they_were_written(rows):
    given_ranges = [CodeRange(first=a, last=b, name=c) for a, b, c in rows]
    given_ranges = [
        one for one in given_ranges if (one.first.lower(), one.last.lower()) != ("from", "to")
    ]
    assert parse_ranges(write_ranges(given_ranges)) == given_ranges


# --- the ICD ------------------------------------------------------------------------------------
def test_the_chapters_of_the_icd_lie_one_behind_the_other():
    chapters = read_icd_10_chapters()
    assert len(chapters) == 22
    for one in chapters:
        assert one.name.startswith(f"{one.first}–{one.last} ")
        assert re.fullmatch(r"[A-Z]\d\d", one.first) and re.fullmatch(r"[A-Z]\d\d", one.last)
    ordered = sorted(chapters, key=lambda one: one.first)
    assert all(a.last < b.first for a, b in itertools.pairwise(ordered))
    letters = {letter for one in chapters for letter in
               string.ascii_uppercase[ord(one.first[0]) - 65 : ord(one.last[0]) - 64]}  # fmt: skip
    assert letters == set(string.ascii_uppercase)


def test_codes_of_the_icd_are_proposed_by_chapter():
    for proposal in (propose(dict.fromkeys([*ICD, "unknown"], 3)), suggest_builder(ICD)):
        assert proposal.builder == "codes" and "ICD-10" in proposal.reason
    choice = suggest_choice("icd", count_column(pd.Series([*ICD, "unknown"])))
    assert choice.plan is not None and choice.builder == "codes"
    assert path(choice.tree, "E10.1") == [
        "E10.1", "E10", "E00–E90 Endocrine, nutritional and metabolic diseases", "*"
    ]  # fmt: skip
    assert "'unknown' is outside all ranges" in choice.remarks[-1]
    assert suggest_first_choice("icd", count_column(pd.Series(ICD))).builder == "codes"


@pytest.mark.parametrize(
    "values",
    [
        [f"{47000 + n}" for n in range(40)],
        [f"A{n:03}" for n in range(40)],
        [f"seat {n}" for n in range(40)],
        [*ICD, "none", "unknown", "n/k"],  # fewer than 9 of 10
        ICD[:5],
    ],
)
def test_other_codes_are_not_taken_for_the_icd(values):
    assert suggest_builder(values).builder != "codes"
    assert propose(dict.fromkeys(values, 2)).builder != "codes"


def test_what_is_typed_becomes_a_plan_or_a_sentence():
    values = count_column(pd.Series(ICD))
    typed = {"separators": " . ", "prefixes": "", "ranges": BLOCKS}
    choice = build_choice("codes", typed, "icd", values)
    assert choice.plan.separators == "." and len(choice.plan.ranges) == 4
    assert choice.remarks == ("2 values or groups are outside all ranges and directly under the "
                              "root: 'C10', 'C45'.",)  # fmt: skip
    for wrong, said in (({"prefixes": "1.5"}, "whole numbers"), ({"ranges": "J"}, "Line 1"),
                        ({"separators": "", "ranges": ""}, "Choose separators")):  # fmt: skip
        choice = build_choice("codes", {**typed, **wrong}, "icd", values)
        assert said in choice.problem and choice.plan is None


def test_a_plan_names_a_file_of_ranges(tmp_path):
    (tmp_path / "blocks.csv").write_text(BLOCKS, encoding="utf-8")
    plan = CodesPlan(build="codes", ranges_file="blocks.csv")
    tree = build_hierarchy("icd", plan, ICD, tmp_path)
    assert (
        tree == build_code_hierarchy(ICD, ranges=parse_ranges(BLOCKS))
        and get_hierarchy_file(plan) == "blocks.csv"
    )
    said = refused(build_hierarchy, "icd", plan, ICD, tmp_path / "nowhere")
    assert "'icd'" in said and "'blocks.csv'" in said
