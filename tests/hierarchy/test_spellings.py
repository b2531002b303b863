"""Values that look like spellings of one: which are found, and what joining them does to a tree."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import CoverageError, HierarchyError
from kanon.hierarchy import edit
from kanon.hierarchy.build import groups, intervals, suppression
from kanon.hierarchy.spellings import (
    MOST_VALUES,
    Spellings,
    add_look_alikes,
    find_look_alikes,
    find_separate_spellings,
    find_spellings,
    join_spellings,
)
from kanon.sources.coverage import check_coverage
from support.job_titles import job_titles
from support.paths import ROOT
from support.random_tables import examples


def found(counts):
    return [list(one.records) for one in find_spellings(counts)]


# --- what is alike ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("frequent", "rare"),
    [
        ("Accountant", "Acountant"),  # missing
        ("Accountant", "Accountannt"),  # too many
        ("Accountant", "Accountamt"),  # wrong
        ("Accountant", "Accuontant"),  # swapped
        ("Accountant", "Acuontant"),  # two of them
        ("Accountant", "Bccountant"),  # a long word, even in its first letter
        ("Nurse", "Nurce"),
        ("Sales manager", "Sales manger"),
        ("Krankenschwester", "Krankenschwster"),
    ],
)
def test_a_rare_value_with_a_mistake_is_a_spelling(frequent, rare):
    assert found({rare: 10, "Cook": 7, frequent: 40}) == [[frequent, rare]]
    assert found({rare: 11, "Cook": 7, frequent: 40}) == [], "not one of four: another word"


@pytest.mark.parametrize(
    "rare", ["bus driver", "Bus-driver", "Busdriver", "BUS  DRIVER", "Bús driver"]
)
def test_case_accents_punctuation_and_blanks_make_no_other_value(rare):
    assert found({rare: 39, "Bus driver": 40}) == [["Bus driver", rare]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("male", "female"), ("Nurse", "Nurse assistant"), ("Cook", "Book"), ("Tailor", "Sailor"),
        ("Lehrer", "Lehrerin"), ("Krankenpfleger", "Krankenpflegerin"),
        ("Policeman", "Policewoman"),
        ("Radiologist", "Cardiologist"), ("Unit A", "Unit B"), ("Nurse I", "Nurse V"),
        ("Level 1", "Level 2"), ("E11.9", "E11.8"), ("2021-03-04", "2021-03-05"),
        ("12345", "12346"),
        ("Accountant (grade 1)", "Acountant (grade 1)"), ("north", "south"), ("yes", "yes?!no"),
    ],
)  # fmt: skip
def test_other_words_numbers_codes_and_dates_are_no_spellings(one, other):
    assert found({one: 400, other: 1}) == found({one: 1, other: 400}) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("I21.0", "I210"), ("i-21 0", "I21.0"), ("1.5", "1.50"), ("None", "n/a"), ("B-12", "b12")],
)
def test_codes_numbers_and_words_for_missing_that_read_alike_are_spellings(one, other):
    assert found({one: 4, "I21.1": 9, "1.51": 8, other: 3}) == [[one, other]]


def test_each_value_goes_to_the_nearest_and_mistakes_do_not_add_up():
    counts = {"Psychologist": 100, "Psychologyst": 20, "Psichologyst": 4, "Psichologysd": 1}
    assert found(counts) == [["Psychologist", "Psychologyst", "Psichologyst"]]
    assert find_spellings(counts)[0].name == "Psychologist"
    near = {"Assembler": 50, "Assembled": 40, "Assemblerd": 1, "Assembeld": 1}
    assert found(near) == [["Assembler", "Assemblerd"], ["Assembled", "Assembeld"]]


def test_among_too_many_values_none_are_looked_for():
    counts = {
        f"Accountant {'x' * (n % 40)} {chr(97 + n % 26) * (n // 40)}": 9 for n in range(MOST_VALUES)
    }
    assert len(counts) == MOST_VALUES
    assert find_spellings({**counts, "Accountant": 90, "Acountant": 1}) == []


# --- the same by other means --------------------------------------------------------------------
def plainly_alike(one: str, other: str, records: dict[str, int]) -> int | None:
    """The rule as it is documented, for two values; slow."""
    if re.search(r"\d", one + other):
        return None
    mine, theirs = ([
        "".join(mark for mark in unicodedata.normalize("NFKD", word) if mark.isalpha())
        for word in re.split(r"[\W_]+", text.casefold()) if word
    ] for text in (one, other))  # fmt: skip
    if "".join(mine) == "".join(theirs):
        return 0 if mine else None
    more, less = max(records[one], records[other]), min(records[one], records[other])
    if len(mine) != len(theirs) or more < 4 * less:
        return None
    total = 0
    for a, b in zip(mine, theirs, strict=True):
        mistakes = plain_distance(a, b)
        shorter = min(len(a), len(b))
        most = (0 if shorter < 5 else 1 if shorter < 8 else 2) - (a[0] != b[0])
        if a != b and (mistakes > most or abs(len(a) - len(b)) > 1):
            return None
        total += mistakes
    return total if total <= 2 else None


def plain_distance(a: str, b: str) -> int:
    """Letters wrong, missing, too many, or swapped with their neighbours."""
    table = np.add.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            ways = [
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
            ]
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
                ways.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(ways)
    return int(table[-1, -1])


WORD = st.text("abA", min_size=3, max_size=9)
VALUES = st.lists(WORD, min_size=1, max_size=2).map(" ".join) | st.sampled_from(["a1", "-", "Ab.a"])
COUNTS = st.dictionaries(VALUES, st.sampled_from([1, 2, 4, 9, 40]), min_size=1, max_size=14)


@examples(200)
@given(COUNTS, st.randoms())
def test_groups_are_those_of_the_rule_whatever_the_order_of_the_rows(counts, random):
    ordered = sorted(counts, key=lambda text: (-counts[text], text))
    names: dict[str, list[str]] = {}
    for value in ordered:
        near = [(plainly_alike(name, value, counts), place) for place, name in enumerate(names)]
        near = [one for one in near if one[0] is not None]
        names.setdefault([*names][min(near)[1]] if near else value, []).append(value)
    expected = sorted(members for members in names.values() if len(members) > 1)
    shuffled = dict(random.sample(list(counts.items()), len(counts)))
    assert sorted(found(shuffled)) == expected
    assert find_spellings(shuffled) == find_spellings(counts)
    members = [value for group in found(counts) for value in group]
    assert len(members) == len(set(members)), "each value in one group at most"


# --- in the tree --------------------------------------------------------------------------------
def test_joined_values_come_under_the_parent_of_the_frequent_one():
    tree = groups([{"care": ["Nurse", "Midwife"], "other": ["Nurce", "Cook"], "typos": ["Norse"]}])
    (one,) = find_spellings({"Nurse": 40, "Nurce": 3, "Norse": 1, "Midwife": 9, "Cook": 9})
    made = join_spellings(tree, [one])
    parents = {label: above for label, above, _ in made.entries()}
    assert parents == {
        "Nurse": "NURSE", "Nurce": "NURSE", "Norse": "NURSE", "NURSE": "care",
        "Midwife": "care", "Cook": "other", "care": "*", "other": "*",
        "*": None,
    }  # fmt: skip
    assert (
        find_separate_spellings(tree, [one]) == [one] and find_separate_spellings(made, [one]) == []
    )
    assert find_separate_spellings(edit.remove_leaves(tree, ["Norse"]), [one]) == [], (
        "not all have a place"
    )
    with pytest.raises(HierarchyError, match="value withheld"):
        join_spellings(edit.remove_leaves(tree, ["Norse"]), [one])
    with pytest.raises(HierarchyError, match="is a group"):
        edit.join(tree, {"new": ["care"]})


def test_joined_groups_are_not_proposed_again():
    counts = {
        "Chirurgie": 40,
        "Chirugie": 3,
        "CHIRURGIE": 2,
        "Urologie": 30,
        "Urolgie": 2,
        "HNO": 9,
    }
    found = find_spellings(counts)
    tree = suppression(sorted(counts))
    made = join_spellings(tree, found)
    assert find_separate_spellings(made, found) == []
    nested = edit.group(made, ["Chirugie", "CHIRURGIE"], "rare")
    assert find_separate_spellings(nested, found) == [], "in a group of the group"
    names = [made.labels[made.parent[made.node_of[value]]] for value in ("Chirugie", "Urolgie")]
    both = edit.ungroup(edit.group(made, names, "wards"), names)
    assert find_separate_spellings(both, found) == [], "several proposals in one group"
    other = groups([{"wards": ["Chirurgie", "Chirugie", "CHIRURGIE", "HNO"]}])
    assert [one.name for one in find_separate_spellings(other, found[:1])] == ["Chirurgie"]


def test_a_name_that_is_taken_is_written_in_another_way_and_drawn_weights_are_split():
    tree = suppression(["Nurse", "Nurce", "NURSE"])
    tree = edit.with_weights(tree, np.array([2.0, 4.0, 1.0, 0.0]))
    made = join_spellings(tree, [Spellings({"Nurse": 40, "Nurce": 3})])
    weights = dict(zip(made.labels, made.weight.tolist(), strict=True))
    assert weights == {"Nurse": 1, "Nurce": 3, "NURSE": 1, "nurse": 1, "*": 0}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (["chirurgie", "chirurgi"], "Chirurgie"),
        (["Chirurgie", "Chirugie"], "CHIRURGIE"),
        (["Chirurgie", "CHIRURGIE"], "chirurgie"),
        (["straße", "Straße", "STRASSE"], "straße, any spelling"),
        (["I21.0", "I210"], "i21.0"),
        (["1.5", "1.50"], "1.5, any spelling"),
    ],
)
def test_a_group_is_called_plainly_after_its_most_frequent_spelling(values, name):
    records = {value: 9 - place for place, value in enumerate(values)}
    made = join_spellings(suppression([*values, "x"]), [Spellings(records)])
    assert {made.labels[made.parent[made.node_of[value]]] for value in values} == {name}
    assert len({*made.labels}) == made.n_nodes


def test_what_is_joined_is_not_proposed_again():
    one = Spellings({"Nurse": 40, "Nurce": 3})
    tree = groups([{"NURSE": ["Nurse", "Nurce", "Norse"]}, {"*": ["NURSE", "Cook"]}])
    assert find_separate_spellings(tree, [one]) == [], "by its name"
    care = edit.rename(tree, "NURSE", "care")
    assert find_separate_spellings(care, [one]) == [one]
    assert find_separate_spellings(care, [one], {"Nurse", "Nurce", "Cook"}) == [], (
        "nobody is a Norse now"
    )
    steps = edit.group(care, ["Nurse", "Norse"], "first")
    both = Spellings({"Nurse": 40, "Nurce": 3, "Norse": 1})
    assert find_separate_spellings(steps, [both]) == [], "in two steps"
    cooks = Spellings({"Cook": 9, "Cok": 1})
    wards = groups([{"care": ["Nurse", "Nurce", "Cook", "Cok"]}, {"*": ["care", "Painter"]}])
    assert find_separate_spellings(wards, [one, cooks]) == [], "with other spellings"
    assert find_separate_spellings(
        suppression(["Nurse", "Nurce", "Cook", "Cok"]), [one, cooks]
    ) == [one, cooks]


@examples(100)
@given(COUNTS)
def test_joining_all_keeps_the_values_and_leaves_nothing_to_join(counts):
    tree = suppression(sorted(counts))
    proposed = find_separate_spellings(tree, find_spellings(counts))
    made = join_spellings(tree, proposed)
    assert sorted(made.labels[: made.n_leaves]) == sorted(tree.labels[: tree.n_leaves])
    for one in proposed:
        node = made.parent[made.node_of[one.name]]
        assert sorted(made.labels[made.first[node] : made.last[node]]) == sorted(one.records)
        assert made.parent[node] == made.root
    assert find_separate_spellings(made, proposed) == []


def test_numbers_in_intervals_have_no_spellings():
    ages = {str(age): age for age in range(10, 90)}
    assert (
        find_spellings(ages) == [] and find_separate_spellings(intervals(list(ages), [5]), []) == []
    )


# --- what looks the same ------------------------------------------------------------------------
COMPOSED, APART = "Jos\u00e9", "Jose\u0301"


@pytest.mark.parametrize(
    ("value", "leaf"),
    [
        (APART, COMPOSED),
        (COMPOSED, APART),
        ("New\u00a0York", "New York"),
        ("New  York", "New York"),
        ("Bonn\u200b", "Bonn"),
        ("\ufeffBonn", "Bonn"),
        ("\u1100\u1161", "\uac00"),
    ],
)
def test_a_value_that_looks_like_a_leaf_is_said_and_takes_its_place(value, leaf):
    tree = groups([{"here": [leaf, "x"]}, {"*": ["here", "y"]}])
    with pytest.raises(CoverageError) as caught:
        check_coverage("n", {value: 2, "x": 1}, tree)
    assert "different characters (Unicode form, blanks)" in str(caught.value)
    assert find_look_alikes(tree, [value, "z"]) == {value: leaf}
    made = add_look_alikes(tree, {value: leaf}, {value, "x"})
    check_coverage("n", {value: 2, "x": 1}, made)
    assert made.n_leaves == tree.n_leaves and leaf not in made.node_of
    both = add_look_alikes(tree, {value: leaf}, {value, leaf})
    assert both.labels[both.parent[both.node_of[leaf]]] == "here"
    assert both.labels[both.parent[both.node_of[value]]] == "here"


def test_what_looks_otherwise_is_lacking_as_before():
    with pytest.raises(CoverageError, match="add them to the hierarchy"):
        check_coverage("n", {"Jose": 2, "bonn": 1}, suppression([COMPOSED, "Bonn"]))


# --- how good it is -----------------------------------------------------------------------------
def test_what_is_found_among_470_job_titles_is_what_the_docs_say():
    right = proposed = mistyped = 0
    for seed in range(1, 7):
        counts, meant = job_titles(seed)
        assert len(counts) == 470
        name_of = {
            value: one.name for one in find_spellings(counts) for value in list(one.records)[1:]
        }
        right += sum(meant[value] == name for value, name in name_of.items())
        proposed += len(name_of)
        mistyped += sum(value != title for value, title in meant.items())
    said = (ROOT / "docs" / "how-to" / "hierarchies.md").read_text("utf-8")
    assert f"{100 * right / mistyped:.0f} % of the mistyped values" in said
    assert f"{100 * right / proposed:.0f} % of the proposals" in said
