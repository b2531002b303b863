"""Exercise sets in the making: as a file and back, and what is not right yet in one sentence."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import KanonError
from kanon.hierarchy.build import suppression
from kanon.metrics import PUBLISHED
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from kanon.teaching.exercise_draft import (
    EMPTY,
    ColumnFields,
    build_exercise_set,
    build_new_question,
    check_draft,
    draft_set,
    draft_small_table,
    find_free_name,
    is_field_used,
    list_form_fields,
    list_records,
    put_in,
    rename_table,
    replace_records,
)
from kanon.teaching.exercises import read_exercises
from kanon.teaching.presets import PRESETS, load_preset_table
from kanon.teaching.questions import KINDS, NumberQuestion
from kanon.teaching.small_tables import SmallTable
from support.exercise_sets import EXAM_KEYS, GIVEN, exercises_of
from support.random_tables import examples

TREE = "*\n  Felid\n    cat\n    lion\n  dog"


def table_of(name, roles, rows, tree=TREE):
    """A table of a draft, whose columns called race have a tree."""
    columns = [
        {
            "name": column,
            "role": role,
            "tree": tree if column == "race" else "",
            "cells": [row[place] for row in rows],
        }
        for place, (column, role) in enumerate(roles)
    ]
    return {"name": name, "columns": columns, "own": False}


ROLES = [("race", "quasi-identifier"), ("ill", "sensitive")]
TABLE = table_of("zoo", ROLES, [("cat", "flu")] * 3)
RECODE = {"id": "q1", "table": "zoo", "kind": "recode", "k": 2}
DRAFT = {**EMPTY, "title": "Zoo", "tables": [TABLE], "questions": [RECODE]}

TEXT = st.text(st.sampled_from(list("abé漢 ;\"'<>&=*_\n")), max_size=12)
NAME = TEXT.map(str.strip).filter(bool)
METRIC = st.sampled_from(list(PUBLISHED))


@st.composite
def tables(draw, name):
    """A table with one tree that was typed, one that is flat, and a sensitive column."""
    names = draw(st.lists(NAME, min_size=4, max_size=4, unique=True))
    values = draw(
        st.lists(NAME.filter(lambda text: text != "*"), min_size=2, max_size=4, unique=True)
    )
    flat = st.sampled_from(["F", "M"])
    records = draw(
        st.lists(
            st.tuples(NAME, st.sampled_from(["cat", "lion", "dog"]), flat, st.sampled_from(values)),
            min_size=2,
            max_size=5,
        )
    )
    roles = ("identifier", "quasi-identifier", "quasi-identifier", "sensitive")
    table = table_of(name, zip(names, roles, strict=True), records)
    return put_in(table, TREE, "columns", 1, "tree")


@st.composite
def questions(draw, number, table):
    """A question of any kind about a table."""
    kind = draw(st.sampled_from(["recode", "levels", "number", "choice"]))
    found = {
        "id": f"q{number}",
        "table": table["name"],
        "kind": kind,
        "title": draw(TEXT),
        "text": draw(TEXT),
        "points": draw(st.floats(0.01, 1000)),
    }
    if kind in ("recode", "levels"):
        return found | {"k": draw(st.integers(2, 30)), "metric": draw(METRIC)}
    if kind == "number":
        levels = {table["columns"][1]["name"]: draw(st.integers(0, 2))}
        more = {
            "number": draw(st.sampled_from(list(NumberQuestion.TITLES))),
            "levels": draw(st.sampled_from([{}, levels])),
            "tolerance": draw(st.floats(0, 10)),
            "sensitive": table["columns"][3]["name"],
        }
        return found | more | {"metric": draw(METRIC)}
    chosen = draw(st.sampled_from(["smallest", "partner"]))
    return found | {"choose": chosen, "merges": draw(st.integers(0, 29)), "metric": draw(METRIC)}


@st.composite
def drafts(draw):
    names = draw(st.lists(NAME, min_size=1, max_size=2, unique=True))
    made = [draw(tables(name)) for name in names]
    asked = [
        draw(questions(number, draw(st.sampled_from(made))))
        for number in range(draw(st.integers(1, 4)))
    ]
    return {
        "title": draw(NAME),
        "author": draw(TEXT),
        "exam": draw(st.booleans()),
        "code": draw(st.sampled_from(["", EXAM_KEYS["code"]])),
        "tables": made,
        "questions": asked,
    }


@examples(100)
@given(drafts())
def test_a_draft_is_a_file_and_the_file_is_that_draft(draft):
    made = build_exercise_set(draft)
    again = draft_set(made)
    assert build_exercise_set(again) == made and draft_set(build_exercise_set(again)) == again
    assert [*map(list_records, again["tables"])] == [*map(list_records, draft["tables"])]
    assert [one["id"] for one in again["questions"]] == [one["id"] for one in draft["questions"]]
    for one, other in zip(draft["questions"], again["questions"], strict=True):
        assert {key: other[key] for key in one} == one
    try:
        read = read_exercises(made.to_json().encode())
    except KanonError:  # k above the records, merges beyond the last one
        with pytest.raises(KanonError):
            check_draft(draft)
    else:
        assert read == made == check_draft(draft) and read.fingerprint == made.fingerprint


@pytest.mark.parametrize("name", PRESETS)
def test_a_table_that_comes_with_kanon_is_taken_with_its_trees(name):
    table = load_preset_table(name)
    draft = draft_small_table(name, table)
    made = build_exercise_set(
        {**DRAFT, "tables": [draft], "questions": [{**RECODE, "table": name}]}
    ).made[name]
    assert made.frame.to_numpy().tolist() == table.frame.astype(str).to_numpy().tolist()
    for tree, taken in zip(table.classes.hierarchies, made.classes.hierarchies, strict=True):
        if tree.n_leaves <= 20:
            assert taken == tree
        else:
            assert taken.n_leaves <= 20 and set(taken.labels) <= set(tree.labels)


def test_of_a_large_tree_what_occurs_is_taken():
    frame = pd.DataFrame({"n": ["1", "7"]}, dtype="str")
    schema = Schema({"n": Role.QUASI_IDENTIFIER})
    tree = suppression([str(number) for number in range(30)])
    table = SmallTable(frame, schema, MemorySource(frame, schema, {"n": tree}))
    draft = draft_small_table("t", table, own=True)
    assert draft["columns"][0]["tree"].split() == ["*", "1", "7"] and draft["own"]


def test_what_a_kind_does_not_have_counts_for_nothing():
    exercises = exercises_of(GIVEN)
    draft = draft_set(exercises)
    more = [{**one, "choose": "partner", "k": 2} for one in draft["questions"]]
    assert build_exercise_set({**draft, "questions": more}).questions[:3] == exercises.questions[:3]
    asked = asking(kind="number", number="k", levels={"race": 1, "a column of another table": 2})
    assert build_exercise_set(asked).questions[1].levels == {"race": 1}


def column(name, **changed):
    race = {**TABLE["columns"][0], "name": name, **changed}
    return put_in(DRAFT, race, "tables", 0, "columns", 0)


def records(*rows):
    return {**DRAFT, "tables": [table_of("zoo", ROLES, rows)]}


def asking(**keys):
    return {**DRAFT, "questions": [RECODE, {**RECODE, "id": "q2", **keys}]}


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ({**DRAFT, "title": " "}, "The set has no title; type one."),
        ({**DRAFT, "tables": []}, "The set has no table; add one."),
        ({**DRAFT, "questions": []}, "The set has no question; add one."),
        ({**DRAFT, "tables": [TABLE, TABLE]}, "Two tables are called 'zoo'; give each"),
        ({**DRAFT, "tables": [{**TABLE, "name": ""}]}, "The table 1 has no name; type one."),
        (column(""), "Table 'zoo': The column 1 has no name; type one."),
        (column("ill"), "Table 'zoo': Two columns are called 'ill'; give each"),
        (column("x" * 101), "it has to be text of at most 100 characters"),
        (column("race", tree="*\n  cat\n  cat"), "Table 'zoo': Tree of 'race': Line 3: 'cat'"),
        (column("race", tree="*\n  dog"), "hierarchy lacks 1 distinct value ('cat')"),
        (column("race", role="insensitive"), "Table 'zoo': No column is a quasi-identifier"),
        (records(), "Table 'zoo': 0 records; a table has 1 to 30."),
        (records(*[("cat", "flu")] * 31), "Table 'zoo': 31 records; a table has 1 to 30."),
        (
            records(("cat", "")),
            "the cell of 'ill' in record 1 has 0 characters; a cell has 1 to 100",
        ),
        (asking(k=1), "Question 2 key k: '1' is not allowed; it has to be at least 2."),
        (asking(points=0.0), "Question 2 key points: '0.0' is not allowed; it has to be above 0."),
        (asking(title="x" * 61), "Question 2 key title"),
        (asking(table="u"), "Question 2: there is no table 'u'; choose from 'zoo'."),
        (asking(k=4), "Question 2 Recode the table: k = 4 cannot be reached"),
        (
            asking(metric="custom"),
            "Question 2 Recode the table: The metric 'custom' needs a weight",
        ),
        (
            asking(kind="choice", choose="partner", title="Which one"),
            "Question 2 Which one: The table has one class, so there is nothing to merge.",
        ),
    ],
)
def test_what_is_not_right_yet_is_said_with_its_place(draft, said):
    with pytest.raises(KanonError) as error:
        check_draft(draft)
    assert said in error.value.sentence, error.value.sentence


def test_a_set_that_no_file_may_hold_is_refused():
    big = "*\n" + "\n".join(f"    {number:0100}" for number in range(9000)) + "\n    cat"
    with pytest.raises(KanonError, match="the limit is 1\u202f048\u202f576"):
        check_draft(column("race", tree=big))


def test_one_question_is_made_whatever_the_others_are():
    half = {"name": "half done", "columns": [], "own": False}
    draft = {**asking(k=1), "title": "", "tables": [TABLE, half]}
    (question,) = build_exercise_set(draft, only=0).questions
    assert question.k == 2
    with pytest.raises(KanonError, match="Question 2 key k"):
        build_exercise_set(draft, only=1)


def test_changes_keep_the_rest():
    wide = table_of("zoo", [*ROLES, ("sex", "insensitive")], [("cat", "flu", "")] * 3)
    typed = pd.DataFrame([[" cat ", None, "F"], [None, None, ""], ["", "flu", None]])
    assert list_records(replace_records(wide, typed)) == [("cat", "", "F"), ("", "flu", "")]
    assert put_in(wide, wide["columns"][:2], "columns") == TABLE
    renamed = rename_table(DRAFT, 0, "farm")
    assert renamed["questions"][0]["table"] == renamed["tables"][0]["name"] == "farm"
    two = {**DRAFT, "tables": [TABLE, {**TABLE, "name": "farm"}]}
    assert rename_table(two, 1, "zoo")["tables"][1]["name"] == "zoo2"
    more = DRAFT
    for _ in range(2):
        more = {**more, "questions": [*more["questions"], build_new_question(more)]}
    assert [one["id"] for one in more["questions"]] == ["q1", "q2", "q3"]
    assert check_draft(more).questions[2].table == "zoo"
    assert find_free_name("q2", ["q2", "q3"]) == "q4"


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_of_any_kind_begins_with_values_that_are_allowed(kind):
    asked = {"id": "q1", "table": "zoo", "kind": kind}
    (question,) = build_exercise_set({**DRAFT, "questions": [asked]}).questions
    assert question.kind == kind
    fields = list_form_fields(KINDS[kind])
    assert {*fields} == {*KINDS[kind].model_fields} - {"id"}, "each is a field of the form"


def test_a_field_of_a_form_has_the_limits_of_its_class():
    fields = list_form_fields(NumberQuestion)
    assert fields["tolerance"]["minimum"] == 0 and fields["tolerance"]["optional"]
    assert fields["title"]["maxLength"] == 60 and fields["points"]["exclusiveMinimum"] == 0
    assert is_field_used(fields["metric"], {"number": "alteration"})
    assert not is_field_used(fields["metric"], {"number": "k"})
    assert list_form_fields(ColumnFields)["role"]["enum"] == [role.value for role in Role]
