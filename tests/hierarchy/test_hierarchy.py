"""Hierarchies: laws of the tree, its files, its builders."""

import json
import math
import re
import time
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy import Hierarchy, files
from kanon.hierarchy.build import dates, groups, intervals, mask, suppression
from kanon.hierarchy.bundle import read_bundle
from support.labelled_trees import LABELS, labelled_trees
from support.paths import ROOT
from support.random_tables import examples, trees

AGE = ROOT / "hierarchies" / "adult" / "age.csv"


def edges(tree: Hierarchy) -> dict[str, str | None]:
    """The tree as a dict from label to the label of the parent."""
    return {
        label: None if above < 0 else tree.labels[above]
        for label, above in zip(tree.labels, tree.parent, strict=True)
    }


# --- Laws of the tree ---------------------------------------------------------------------------
@examples(200)
@given(trees(max_nodes=14))
def test_nodes_are_numbered_and_levelled_as_defined(plain):
    tree = plain.build()
    assert list(tree.labels) == plain.order
    assert edges(tree) == dict(plain.parents)
    assert [tree.level[v] for v in range(tree.n_nodes)] == [plain.level[x] for x in tree.labels]
    assert tree.leaves_below.tolist() == [plain.leaves_below[x] for x in tree.labels]
    assert tree.leaves_covered.tolist() == [plain.leaves_covered[x] for x in tree.labels]
    assert (tree.n_leaves, tree.height) == (len(plain.leaves), plain.height)
    assert tree.labels[tree.root] == plain.root
    assert tree.node_of == plain.number
    assert all(tree.parent[v] > v for v in range(tree.root)), "a parent has the larger number"
    for v, label in enumerate(tree.labels):
        below = [plain.number[x] for x in plain.leaves if label in plain.paths[x]]
        assert sorted(below) == list(range(tree.first[v], tree.last[v]))
        assert [tree.labels[u] for u in tree.children[v]] == plain.children(label)
        assert [tree.labels[u] for u in tree.path(v)] == plain.paths[label]


@examples(200)
@given(trees(max_nodes=12))
def test_ancestors_and_lca_agree_with_the_sets_of_ancestors(plain):
    tree = plain.build()
    above = {label: set(path) for label, path in plain.paths.items()}
    for u, one in enumerate(tree.labels):
        for v, other in enumerate(tree.labels):
            assert tree.is_ancestor(u, v) == (one in above[other])
            common = above[one] & above[other]
            lowest = next(x for x in common if common <= above[x])
            assert tree.labels[tree.lca(u, v)] == lowest


def test_a_chain_of_single_children_shares_a_range_and_keeps_its_order():
    tree = files.parse_csv("17;15-19;10-19;0-19;*\n30;30-34;30-39;20-39;*").hierarchy
    chain = [tree.node_of[label] for label in ("17", "15-19", "10-19", "0-19")]
    assert len({(tree.first[v], tree.last[v]) for v in chain}) == 1
    for low, lower in enumerate(chain):
        for high, higher in enumerate(chain):
            assert tree.is_ancestor(higher, lower) == (low <= high)
            assert tree.lca(lower, higher) == chain[max(low, high)]


def test_the_tree_cannot_be_changed():
    tree = files.parse_nodes([{"name": "*"}, {"name": "a", "parent": "*", "weight": 2}])
    for array in (tree.parent, tree.first, tree.last, tree.level, tree.weight):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# --- Files --------------------------------------------------------------------------------------
@examples(300)
@given(labelled_trees(max_nodes=10, weighted=True))
def test_json_keeps_everything(plain):
    tree = plain.build()
    again = files.parse_json(files.to_json(tree))
    assert again == tree
    assert edges(again) == {x: plain.parents[x] for x in again.labels}
    if tree.n_nodes > 1:
        found = dict(zip(again.labels, again.weight.tolist(), strict=True))
        assert {x: found[x] for x in plain.weights} == plain.weights


@examples(300)
@given(labelled_trees(max_nodes=10))
def test_csv_to_json_to_csv_keeps_the_tree(plain):
    assume(len(plain.parents) > 1)
    tree = plain.build()
    text = files.to_csv(tree)
    imported = files.parse_csv(text)
    assert imported.hierarchy == tree
    assert imported.notes == ()
    assert files.to_csv(files.parse_json(files.to_json(imported.hierarchy))) == text


def test_a_tree_of_one_node_survives_its_csv():
    """``a;a`` says that a value is never generalised; what is written can be read again."""
    tree = files.parse_csv("a;a").hierarchy
    assert tree.labels == ("a",)
    assert files.parse_csv(files.to_csv(tree)).hierarchy == tree


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfa;A;*\nb;A;*\n",
        b"a;A;*\r\nb;A;*\r\n",
        b"\n\na;A;*\n\n\nb;A;*\n\n",
        b" a ; A;*\nb;A ;* \n",
        b"leaf;level 1;level 2\na;A;*\nb;A;*\n",
        b"LEAF;group;all\na;A;*\nb;A;*\n",
        b"value;Level_1;level-2\na;A;*\nb;A;*\n",
        b"\xef\xbb\xbfleaf;level 1;level 2\r\na;A;*\r\nb;A;*\r\n",
        b'"a";"A";"*"\n"b";"A";"*"\n',
        b"a;A;*\nb;A;*",
    ],
    ids=["bom", "crlf", "empty-lines", "blanks", "leaf", "LEAF", "level", "all", "quotes", "end"],
)
def test_ways_to_write_one_tree(data):
    tree = files.read_hierarchy(data, "t.csv").hierarchy
    assert edges(tree) == {"a": "A", "b": "A", "A": "*", "*": None}


def test_a_header_alone_is_no_tree():
    with pytest.raises(HierarchyError, match="no lines"):
        files.parse_csv("leaf;level 1;level 2\n")


def test_a_group_that_is_called_level_is_no_header():
    tree = files.parse_csv("porter;Level 1;*\nnurse;Level 1;*\ndoctor;Level 2;*\n").hierarchy
    assert set(tree.labels[: tree.n_leaves]) == {"porter", "nurse", "doctor"}


def test_separators_quotes_and_html_in_labels():
    text = '"a;b";"<b>A</b> & ""co""";*\n"c,d|e";"<b>A</b> & ""co""";*\n'
    tree = files.parse_csv(text).hierarchy
    assert tree.labels == ("a;b", "c,d|e", '<b>A</b> & "co"', "*")
    assert files.to_csv(tree) == '"a;b";"<b>A</b> & ""co""";*\nc,d|e;"<b>A</b> & ""co""";*\n'


def test_a_leaf_may_hang_directly_under_the_root():
    imported = files.parse_csv("a;A;*\nb;A;*\nc;A;*\nd;B;*\ne;B;*\nf;f;*\n")
    tree = imported.hierarchy
    assert edges(tree)["f"] == "*"
    assert tree.level.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 2]
    assert imported.notes == ()


def test_a_level_that_every_line_skips_vanishes_and_is_told():
    imported = files.parse_csv("a;a;A;*\nb;b;B;*\n")
    assert imported.hierarchy == files.parse_csv("a;A;*\nb;B;*\n").hierarchy
    assert imported.notes == ("Level 1 repeats level 0 in every line and was left out.",)
    assert files.parse_csv("a;a;*\nb;B;*\n").notes == (), "one line that does not skip it keeps it"


def test_leaves_of_a_group_need_not_stand_together():
    tree = files.parse_csv("a;A;*\nb;B;*\nc;A;*\n").hierarchy
    assert tree.labels == ("a", "c", "b", "A", "B", "*")


# What strangers' files hold: text, the path of each value, notes.
STRANGE_CSV = {
    "a line twice": (
        "a;A;*\nb;A;*\nb;A;*\n",
        {"a": ["A", "*"], "b": ["A", "*"]},
        ["Identical lines count once; 1 line was left out."],
    ),
    "a line twice, as numbers": (
        "leaf,level 1\n39,*\n40,*\n39.0,*\n39,*\n",
        {"39": ["*"], "40": ["*"]},
        ["Identical lines count once; 2 lines were left out."],
    ),
    "a value that is its own group": (
        "Other relative;Other relative;Relative;*\nCousin;Other relative;Relative;*\n",
        {"Other relative": ["Other relative (group)", "Relative", "*"],
         "Cousin": ["Other relative (group)", "Relative", "*"]},
        ["'Other relative' occurs at two levels; the upper one is called "
         "'Other relative (group)'."],
    ),
    "a value named like another group": (
        "a;b;B;*\nb;B;B;*\n",
        {"a": ["b (group)", "B", "*"], "b": ["B", "*"]},
        ["'b' occurs at two levels; the upper one is called 'b (group)'."],
    ),
    "a group at two levels": (
        "Aunt;Other relative;Relative;*\nWard;Minor;Other relative;*\nGuest;Guest;Guest;*\n",
        {"Aunt": ["Other relative", "Relative", "*"],
         "Ward": ["Minor", "Other relative (level 2)", "*"], "Guest": ["*"]},
        ["'Other relative' occurs at two levels; the upper one is called "
         "'Other relative (level 2)'."],
    ),
    "two groups above each other": (
        "a;A;B;*\nb;B;A;*\n",
        {"a": ["A", "B (level 2)", "*"], "b": ["B", "A (level 2)", "*"]},
        ["2 names occur at several levels; the upper ones are called 'A (level 2)', "
         "'B (level 2)'."],
    ),
    "no value, as ARX writes missing cells": (
        "M;*\nF;*\n;*\n",
        {"M": ["*"], "F": ["*"]},
        ["Line 3 has no value, so it stands for missing cells, '(missing)'."],
    ),
    "no value, with fewer levels": (
        ";*\nM;person;*\nF;person;*\n",
        {"M": ["person", "*"], "F": ["person", "*"]},
        ["Line 1 has no value, so it stands for missing cells, '(missing)'."],
    ),
    "no value, in a group": (
        "M;known;*;*\nF;known;*;*\n;;unknown;*\n",
        {"M": ["known", "*"], "F": ["known", "*"], "(missing)": ["unknown", "*"]},
        ["Line 3 has no value, so it stands for missing cells, '(missing)'."],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "paths", "notes"), STRANGE_CSV.values(), ids=STRANGE_CSV)
def test_files_of_other_programs_are_read_and_it_is_said_how(text, paths, notes):
    read = files.parse_csv(text)
    tree = read.hierarchy
    assert list(read.notes) == notes
    assert {
        leaf: [tree.labels[node] for node in tree.path(tree.node_of[leaf])][1:]
        for leaf in tree.labels[: tree.n_leaves]
    } == paths
    assert files.parse_csv(files.to_csv(tree)).hierarchy == tree


@pytest.mark.nightly
def test_many_repeats_are_read_at_once():
    values = [f"A{number:05}" for number in range(14_000)]
    lines = [f"{value};{value};*\n{value}x;{value};*\n" for value in values]
    start = time.process_time()  # other tests may keep the machine busy
    read = files.parse_csv("".join(lines) + "".join(lines))
    assert time.process_time() - start < 10
    assert read.hierarchy.n_leaves == 28_000
    assert read.hierarchy.labels[-2:] == ("A13999 (group)", "*")
    assert read.notes[0].startswith("14\u202f000 names occur at several levels; the upper ones are")
    assert read.notes[1] == "Identical lines count once; 28\u202f000 lines were left out."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("name", ["city.csv", "city.json"])
def test_a_hierarchy_file_is_read_in_the_encoding_that_it_has(encoding, name):
    tree = suppression(["Köln", "München", "Düsseldorf"])
    text = files.to_csv(tree) if name.endswith("csv") else files.to_json(tree, "city")
    read = files.read_hierarchy(text.encode(encoding), name)
    assert read.hierarchy == tree
    guessed = encoding == "cp1252"
    assert read.notes == (("CP1252 is a guess: check names with accents.",) if guessed else ())
    (found,) = read_bundle([(name, text.encode(encoding))], ["city"])
    assert found.problem is None and found.column == "city"


# Beside those of tests/support/bad_inputs.py.
BAD_CSV = {
    "value twice as numbers": ("39;A;*\n39.0;B;*\n", ["Line 2", "'39' is listed a second time"]),
    "two groups of one level": ("a;A;B;*\nb;A;C;*\n", ["Line 2", "two parents"]),
    "a name at two levels, and two parents": ("a;a;A;*\nb;a;B;*\n", ["two parents"]),
    "two lines without a value": (";A;*\na;A;*\n;B;*\n", ["Line 3", "a cell is empty"]),
    "root below": ("a;*;A;*\n", ["Line 1", "'*' is above itself"]),
    "blank cell": ("a;A;*\nb; ;*\n", ["Line 2", "a cell is empty"]),
    "ragged below empty lines": ("a;A;*\n\n\nb;*\n", ["Line 4 has 2 cells and line 1 has 3"]),
    "separators alone": (";;\n;;\n", ["empty"]),
    "quotes alone": ('""\n', ["empty"]),
}


@pytest.mark.parametrize(("text", "said"), BAD_CSV.values(), ids=BAD_CSV)
def test_a_bad_csv_is_refused_in_one_sentence(text, said):
    with pytest.raises(HierarchyError) as caught:
        files.parse_csv(text)
    check_sentence(caught.value, said)


def node(name, parent=None, weight=None):
    entry = {"name": name} if parent is None else {"name": name, "parent": parent}
    return entry if weight is None else {**entry, "weight": weight}


def with_weight(weight):
    return [node("*"), node("a", "*", 1), node("b", "*") | {"weight": weight}]


BAD_NODES = {
    "no root": ([node("a", "b"), node("b", "a")], ["'a', 'b' form a cycle"]),
    "own parent": ([node("*"), node("a", "a")], ["'a' form a cycle"]),
    "listed twice as numbers": ([node("*"), node(39, "*"), node("39.0", "*")], ["'39' is listed"]),
    "no name at all": ([node("*"), {"name": None, "parent": "*"}], ["name"]),
    "not an object": ([node("*"), "a"], ['Node 2 has no "name"']),
    "weight yes": (with_weight(True), ["weight 'True' above 'b'"]),
    "weight NaN": (with_weight(math.nan), ["weight 'nan' above 'b'"]),
    "weight too long for a number": (with_weight(10**400), ["weight", "above 'b'"]),
    "weight is a list": (with_weight([1]), ["The text in place of a weight above 'b'"]),
}


@pytest.mark.parametrize(("nodes", "said"), BAD_NODES.values(), ids=BAD_NODES)
def test_bad_nodes_are_refused_in_one_sentence(nodes, said):
    for read in (
        lambda: files.parse_nodes(nodes),
        lambda: files.parse_json(json.dumps({"nodes": nodes})),
    ):
        with pytest.raises(HierarchyError) as caught:
            read()
        check_sentence(caught.value, said)


@pytest.mark.parametrize("name", ["absent.csv", ".", "a\0b.csv"], ids=["absent", "folder", "nul"])
def test_a_file_that_cannot_be_opened_is_named(name, tmp_path):
    with pytest.raises(HierarchyError) as caught:
        files.read_hierarchy(tmp_path / name)
    check_sentence(caught.value, ["cannot be opened"])


def check_sentence(error: HierarchyError, said: list[str]) -> None:
    """One line that says what it should, and keeps what the cells hold out of ``str``."""
    for part in said:
        assert part in error.sentence
    assert "\n" not in error.sentence
    assert error.sentence.endswith(".")
    assert "{" not in str(error).replace("{cells}", "{")
    if error.cells:
        assert "(value withheld)" in str(error)


def test_cells_stay_out_of_the_text_of_an_error():
    with pytest.raises(HierarchyError) as caught:
        files.parse_csv("Zebedee;A;*\nZebedee;B;*\n")
    assert "Zebedee" not in str(caught.value)
    assert "'Zebedee'" in caught.value.sentence


# --- Values are canonical -----------------------------------------------------------------------
@pytest.mark.parametrize("value", [39, 39.0, "39", " 39.0 ", np.int8(39), np.float32(39)])
def test_one_value_in_many_writings(value):
    assert suppression([value]).labels == ("39", "*")
    entries = [("*", None, None), (value, "*", None)]
    assert Hierarchy.from_entries(entries).labels == ("39", "*")
    assert "39" in files.parse_csv(f"{value};A;*\n40;A;*").hierarchy.node_of


def test_codes_keep_their_zeros():
    assert suppression(["007", "7"]).labels == ("007", "7", "*")
    assert suppression(["-0", "0", "+0"]).labels == ("0", "*")


# --- Builders -----------------------------------------------------------------------------------
def test_intervals_of_adult_are_the_bundled_file():
    built = intervals([str(age) for age in range(17, 91)], widths=[5, 10, 20])
    assert built.n_nodes == 105
    assert built == files.read_hierarchy(AGE).hierarchy
    assert files.to_csv(built) == AGE.read_text("utf-8")


def test_intervals_of_negative_numbers():
    tree = intervals(["-7", "-1", "0", "3"], widths=[5, 10])
    assert files.to_csv(tree).splitlines() == [
        "-7;-10 to -6;-10 to -1;*",
        "-1;-5 to -1;-10 to -1;*",
        "0;0-4;0-9;*",
        "3;0-4;0-9;*",
    ]


def test_intervals_of_decimals():
    tree = intervals(["0.1", "0.3", "0.25", "1"], widths=[0.1, 0.5])
    assert files.to_csv(tree).splitlines() == [
        "0.1;0.1 to <0.2;0 to <0.5;*",
        "0.25;0.2 to <0.3;0 to <0.5;*",
        "0.3;0.3 to <0.4;0 to <0.5;*",
        "1;1 to <1.1;1 to <1.5;*",
    ]


def test_intervals_with_open_ends_and_an_origin():
    tree = intervals(["1", "18", "22", "99"], widths=[5, 10], origin=3, lowest=18, highest=90)
    assert tree.labels[: tree.n_leaves] == ("1", "18", "22", "99")
    assert edges(tree) == {
        "1": "<18",
        "<18": "*",
        "18": "18-22",
        "22": "18-22",
        "18-22": "*",  # 13 to 17 stand elsewhere
        "99": ">90",
        ">90": "*",
        "*": None,
    }


@pytest.mark.parametrize("bound", [1_234_567, 0.1234567, -10_000_001])
def test_open_ends_name_the_bound_exactly(bound):
    tree = intervals([str(bound - 1), str(bound), str(bound + 1)], [1], lowest=bound)
    group = next(label for label in tree.labels if label.startswith("<"))
    assert float(group[1:]) == bound


@examples(200)
@given(
    st.lists(st.integers(-500, 500), min_size=1, max_size=12, unique=True),
    st.integers(1, 7),
    st.lists(st.integers(2, 4), max_size=3),
    st.integers(-9, 9),
)
def test_every_number_lies_in_its_intervals(values, narrowest, factors, origin):
    widths = [narrowest]
    for factor in factors:
        widths.append(widths[-1] * factor)
    tree = intervals([str(value) for value in values], widths, origin=origin)
    for value in values:
        path = [tree.labels[v] for v in tree.path(tree.node_of[str(value)])]
        above = path[1:-1] if narrowest > 1 else path[-1 - len(widths) : -1]
        spans = [re.fullmatch(r"(-?\d+)(?:-| to )(-?\d+)", label) for label in above]
        found = [(int(s[1]), int(s[2])) if s else (value, value) for s in spans]
        assert [high - low + 1 for low, high in found] == widths[len(widths) - len(found) :]
        assert all(low <= value <= high and (low - origin) % (high - low + 1) == 0
                   for low, high in found)  # fmt: skip


@pytest.mark.parametrize(
    ("values", "arguments", "said"),
    [
        (["1", "nan", "inf"], {"widths": [5]}, ["need numbers", "'nan', 'inf'"]),
        (["1"], {"widths": [0]}, ["above 0"]),
        (["1"], {"widths": [math.nan]}, ["above 0"]),
        (["1"], {"widths": [math.inf]}, ["above 0"]),
        (["1"], {"widths": [5, 5]}, ["5 has to be larger than the width 5"]),
        (["1"], {"widths": [5], "origin": math.nan}, ["origin"]),
        ([], {"widths": [5]}, ["."]),
    ],
)
def test_bad_intervals_are_refused(values, arguments, said):
    with pytest.raises(HierarchyError) as caught:
        intervals(values, **arguments)
    check_sentence(caught.value, said)


def test_masks_on_the_left_and_on_the_right():
    assert files.to_csv(mask(["4711", "4712", "4811"], [3, 2, 1])).splitlines() == [
        "4711;471*;47**;4***;*",
        "4712;471*;47**;4***;*",
        "4811;481*;48**;4***;*",
    ]
    assert files.to_csv(mask(["4711", "3711", "4712"], [2], side="right")).splitlines() == [
        "3711;**11;*",
        "4711;**11;*",
        "4712;**12;*",
    ]


def test_masks_of_codes_of_different_lengths():
    tree = mask(["E11.9", "E11.72", "E11", "E1"], [3])
    assert edges(tree) == {"E11.9": "E11*", "E11.72": "E11*", "E11": "E11*", "E1": "*",
                           "E11*": "*", "*": None}  # fmt: skip
    assert "E11**" in mask(["E11.9", "E12.1"], [3]).labels, "of one length: a star per character"
    tree = mask(["11-7", "8811-7", "9-7"], [4, 2], side="right")
    assert edges(tree) == {"11-7": "*11-7", "8811-7": "*11-7", "9-7": "*-7", "*11-7": "*-7",
                           "*-7": "*", "*": None}  # fmt: skip


@examples(100)
@given(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=8, unique=True),
       st.sets(st.integers(1, 5), min_size=1), st.sampled_from(["left", "right"]))  # fmt: skip
def test_codes_that_keep_the_same_share_a_group_whatever_their_length(values, keeps, side):
    keep = sorted(keeps, reverse=True)
    tree = mask(values, keep, side)
    groups = {tuple(sorted(tree.labels[tree.first[v] : tree.last[v]])) for v in range(tree.n_nodes)}
    expected = {(value,) for value in values} | {tuple(sorted(values))}
    for count in keep:
        series = pd.Series(values)
        kept = series.str.slice(0, count) if side == "left" else series.str.slice(-count)
        expected |= {tuple(sorted(same)) for _, same in series.groupby(kept)}
    assert groups == expected
    one_length = len(set(map(len, values))) == 1
    for label in tree.labels[tree.n_leaves : tree.root]:
        assert len(label) == len(values[0]) if one_length else label.count("*") == 1


@examples(100)
@given(st.lists(st.dates(date(1000, 1, 1)), min_size=1, max_size=8, unique=True))
def test_dates_stand_under_their_periods(days):
    tree = dates([day.isoformat() for day in days], ["month", "quarter", "year", "decade"])
    for day in days:
        quarter = next(q for q in (1, 2, 3, 4) if day.month <= 3 * q)
        assert [tree.labels[v] for v in tree.path(tree.node_of[day.isoformat()])] == [
            day.isoformat(),
            f"{day.year}-{day.month:02}",
            f"{day.year}-Q{quarter}",
            str(day.year),
            f"{str(day.year)[:3]}0s",
            "*",
        ]


def test_dates_are_sorted_and_may_have_a_time():
    tree = dates(["2021-03-05", "2021-03-04T23:59", "2020-12-31"], ["day", "year"])
    assert tree.labels[: tree.n_leaves] == ("2020-12-31", "2021-03-04T23:59", "2021-03-05")
    assert edges(tree) == {
        "2020-12-31": "2020",
        "2021-03-04T23:59": "2021-03-04",
        "2021-03-04": "2021",
        "2021-03-05": "2021",
        "2020": "*",
        "2021": "*",
        "*": None,
    }


def test_years_and_months_count_as_dates():
    tree = dates(["2021", "2022-03"], ["decade"])
    assert edges(tree) == {"2021": "2020s", "2022-03": "2020s", "2020s": "*", "*": None}


def test_groups_by_hand():
    tree = groups([{"Felid": ["Cat", "Lion"]}, {"Mammal": ["Felid", "Dog"]}, {"Fish": ["Cod"]}])
    up = {"Cat": "Felid", "Lion": "Felid", "Dog": "Mammal", "Cod": "Fish"}
    assert edges(tree) == {**up, "Felid": "Mammal", "Mammal": "*", "Fish": "*", "*": None}
    assert groups([{"A": [39.0]}, {"*": ["A", "b"]}]).labels == ("39", "b", "A", "*")


def test_suppression_keeps_or_loses():
    tree = suppression(["M", "F", "M", "39.0", "39"])
    assert tree.labels == ("M", "F", "39", "*")
    assert tree.height == 2
    with pytest.raises(HierarchyError):
        suppression([])


def test_a_value_that_is_the_root_itself_is_refused():
    with pytest.raises(HierarchyError, match="has the name of a group"):
        suppression(["*", "a"])


@example(["a", "b"])
@given(st.lists(LABELS.filter(bool), min_size=1, max_size=6, unique=True))
@examples(50)
def test_nodes_of_a_tree_can_be_written_out(values):
    assume("*" not in values)
    tree = suppression(values)
    assert files.to_nodes(tree) == [
        {"name": "*", "parent": None},
        *({"name": value, "parent": "*"} for value in values),
    ]
