"""Recoding by hand, step by step: worked examples, and what holds after any steps."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.metrics import metric_named
from kanon.schema import Role, Schema
from kanon.teaching.attack_tables import build_attack_case
from kanon.teaching.attacks import ATTACKS, REGISTER_ATTACKS, list_targets, run_attack
from kanon.teaching.by_hand import (
    build_unchanged_answer,
    measure_hand_recoding,
    set_value,
    step_column,
)
from kanon.teaching.case import build_case
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.handout import draw_trees
from kanon.teaching.worked import write_loss
from support.exercise_sets import GIVEN, exercises_of
from support.random_tables import examples

SET = exercises_of(GIVEN)
RECODE, LEVELS = SET.questions[:2]
TABLE = SET.made["t"]
PLENTY = read_exercises(BUILT_IN)
HOSPITAL, QUESTION = PLENTY.made["hospital"], PLENTY.questions[-1]


# Two cats, a lion, two dogs; Cat and Lion weigh 1, Felid 3 and Dog 4, so that each value costs 4.


def test_a_table_as_it_stands_has_a_row_for_records_that_look_alike():
    now = measure_hand_recoding(RECODE, TABLE, build_unchanged_answer(TABLE))
    assert [(row.records, row.values["race"], row.letter, row.size) for row in now.rows] == [
        ((0, 1), "Cat", "A", 2),
        ((2,), "Lion", "B", 1),
        ((3, 4), "Dog", "C", 2),
    ]
    assert now.rows[1].choices == {"race": ("Lion", "Felid", "Mammal")}
    assert (now.classes, now.k, now.small_classes, now.loss) == (3, 1, 1, "0 of 20 = 0.0 %")


def test_raising_the_lion_alone_and_then_the_cats():
    lion = set_value(TABLE, build_unchanged_answer(TABLE), [2], "race", "Felid")
    now = measure_hand_recoding(RECODE, TABLE, lion)
    assert (now.classes, now.k, now.small_classes) == (3, 1, 1)
    assert now.loss == "1 of 20 = 5.0 %"  # 1 of 5 records that could lose 4
    both = set_value(TABLE, lion, [0, 1], "race", "Felid")
    now = measure_hand_recoding(RECODE, TABLE, both)
    assert [(row.letter, row.size) for row in now.rows] == [("A", 3), ("A", 3), ("B", 2)]
    assert (now.classes, now.k, now.small_classes) == (2, 2, 0)
    assert now.loss == "3 of 20 = 15.0 %"


def test_a_column_is_raised_step_by_step_and_stops_at_the_root():
    once = step_column(TABLE, None, "race", up=True)
    assert [each["race"] for each in once] == ["Felid"] * 3 + ["Mammal"] * 2
    twice = step_column(TABLE, once, "race", up=True)
    assert twice == step_column(TABLE, twice, "race", up=True)
    assert measure_hand_recoding(RECODE, TABLE, twice).loss == "20 of 20 = 100.0 %"
    back = step_column(TABLE, twice, "race", up=False)
    assert [each["race"] for each in back] == ["Felid"] * 3 + ["Dog"] * 2


def test_levels_are_seen_in_the_same_way():
    now = measure_hand_recoding(LEVELS, TABLE, {"race": 1})
    assert [(row.values["race"], row.size) for row in now.rows] == [
        ("Felid", 3), ("Felid", 3), ("Dog", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("answer", [None, "no", [{}], [{"race": "Bird"}] * 5, {"race": 9}])
def test_an_answer_that_is_none_raises_nothing(answer):
    assert measure_hand_recoding(RECODE, TABLE, answer) == measure_hand_recoding(
        RECODE, TABLE, build_unchanged_answer(TABLE)
    )
    first = set_value(TABLE, answer, [2], "race", "Felid")
    assert first == set_value(TABLE, build_unchanged_answer(TABLE), [2], "race", "Felid")


steps = st.one_of(
    st.tuples(st.sampled_from(HOSPITAL.classes.attributes), st.booleans()),
    st.tuples(
        st.integers(0, HOSPITAL.classes.n_classes - 1),
        st.sampled_from(HOSPITAL.classes.attributes),
        st.integers(0, 3),
    ),
)


@examples(100, in_gate=8)
@given(st.lists(steps, max_size=8))
def test_after_any_steps_the_answer_is_allowed_and_the_state_is_that_of_its_release(taken):
    answer = build_unchanged_answer(HOSPITAL)
    for step in taken:
        if len(step) == 2:
            answer = step_column(HOSPITAL, answer, *step)
        else:
            row, column, chosen = step
            one = measure_hand_recoding(QUESTION, HOSPITAL, answer).rows[row]
            value = one.choices[column][min(chosen, len(one.choices[column]) - 1)]
            answer = set_value(HOSPITAL, answer, one.records, column, value)
    now, release = (
        measure_hand_recoding(QUESTION, HOSPITAL, answer),
        QUESTION.read(HOSPITAL, answer),
    )
    seen = Counter(tuple(each.values()) for each in answer)  # an oracle that knows no classes
    assert (now.classes, now.k) == (len(seen), min(seen.values()))
    assert now.small_classes == sum(size < QUESTION.k for size in seen.values())
    assert now.loss == write_loss(release, metric_named(QUESTION.metric))
    letters = {}
    for row in now.rows:
        for record in row.records:
            assert row.values == answer[record]
            assert row.size == seen[tuple(row.values.values())]
        assert letters.setdefault(row.letter, row.values) == row.values
    assert len(letters) == now.classes
    assert sorted(place for row in now.rows for place in row.records) == list(range(10))


# --- Whom attacks are after, and trees as pictures ----------------------------------------------
@pytest.mark.parametrize("kind", ATTACKS)
def test_the_person_attacked_first_is_one_of_those_that_can_be(kind):
    case = build_attack_case(kind)
    people = list_targets(kind, case)
    assert len(people) == len(case.register if kind in REGISTER_ATTACKS else case.table)
    assert len({one.name for one in people}) == len(people)
    assert run_attack(kind, case).known in [one.known for one in people]
    assert run_attack(kind, case, people[-1].known).known == people[-1].known


def test_people_without_names_are_numbered():
    roles = {**TABLE.schema.roles, "name": Role.INSENSITIVE}
    case = build_case(TABLE.frame, Schema(roles), {"race": TABLE.classes.hierarchies[0]}, k=2)
    assert [one.name for one in list_targets("linkage", case)][:2] == ["person 1", "person 2"]
    found = list_targets("homogeneity", case)
    assert found[2].name == "person 3" and found[2].known == {"race": "Lion"}


def test_a_tree_is_a_picture_that_stands_by_itself():
    (picture,) = draw_trees(TABLE, metric_named("custom"))
    assert picture.name == "race" and picture.left_out == 0
    assert picture.svg.startswith('<svg xmlns="http://www.w3.org/2000/svg" ')
    assert f'width="{picture.width}"' in picture.svg
    for label in ("Mammal", "Felid", "Cat", "Lion", "Dog"):
        assert f">{label}</text>" in picture.svg
