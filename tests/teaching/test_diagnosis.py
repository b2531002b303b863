"""What is said of a wrong answer: worked examples, and that it never gives the right one away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import KanonError
from kanon.measures import alteration
from kanon.metrics import PUBLISHED, metric_named
from kanon.teaching.by_hand import build_unchanged_answer, step_column
from kanon.teaching.diagnosis import find_mistake
from kanon.teaching.small_tables import format_tuple
from support.exercise_sets import GIVEN, exercises_of
from support.random_tables import examples
from teaching.test_worked import NUMBERS, RECORDS, made

BY_HAND = exercises_of(GIVEN)
RECODE, LEVELS, K, SMALLEST, PARTNER = BY_HAND.questions
SMALL = BY_HAND.made["t"]


def recoded(*races):
    return [{"race": race} for race in races]


@pytest.mark.parametrize(
    ("k", "answer", "sentence"),
    [
        (2, recoded("Cat", "Cat", "Lion", "Dog", "Dog"),
         "Not 2-anonymous: the class (Lion) has 1 record."),
        (3, recoded("Felid", "Felid", "Felid", "Dog", "Dog"),
         "Not 3-anonymous: the class (Dog) has 2 records. It is the least alteration for k = 2, "
         "but the question asks for k = 3."),
        (2, recoded(*["Mammal"] * 5),
         "The table is 5-anonymous with an alteration of 100.0 %, but less is possible. It is the "
         "least alteration for k = 5, but the question asks for k = 2."),
        (2, recoded("Felid", "Felid", "Felid", "Mammal", "Mammal"),
         "The table is 2-anonymous with an alteration of 55.0 %, but less is possible. In race, "
         "Mammal of (Mammal) is above the values of its records, but higher than where they first "
         "meet."),
        (2, recoded("Cat"),
         "The answer must be a list of 5 records, each with a value for 'race'."),
    ],
)  # fmt: skip
def test_a_recoding_by_hand(k, answer, sentence):
    assert find_mistake(RECODE.model_copy(update={"k": k}), SMALL, answer) == sentence


def test_classes_that_are_too_large_or_cut_in_another_way():
    """Two of each sex, race and age alike: F cats and M dogs need no change for k = 2."""
    records = [["F", "Cat", "a"]] * 2 + [["M", "Dog", "a"]] * 2 + [["F", "Lion", "a"]] * 2
    exercises = made(records, {"kind": "recode", "k": 2}, {"kind": "levels", "k": 2})
    (recode, levels), table = exercises.questions, exercises.made["t"]
    answer = build_unchanged_answer(table)
    for place in (0, 1, 4, 5):
        answer[place] = {"gender": "F", "race": "Felid"}
    assert find_mistake(recode, table, answer).endswith(
        "(F, Felid) has 4 records, enough for two classes."
    )
    assert find_mistake(levels, table, {"gender": 1, "race": 0}).endswith(
        "One column can go down a level, and every class still has at least 2 records."
    )


def test_levels_that_alter_more_than_another_combination():
    """Gender at its root loses half of all; Felid is half of the way up for race: a quarter."""
    records = [["F", "Cat", "a"], ["M", "Cat", "a"], ["F", "Lion", "a"], ["M", "Lion", "a"]]
    exercises = made(records, {"kind": "levels", "k": 2, "metric": "total"})
    assert find_mistake(*exercises.questions, exercises.made["t"], {"gender": 1, "race": 0}) == (
        "The table is 2-anonymous with an alteration of 50.0 %, but less is possible. No single "
        "column can go down a level; combine the levels in another way."
    )


PERCENT = {"number": "alteration", "metric": "custom", "levels": {"race": 1}}


@pytest.mark.parametrize(
    ("more", "answer", "part"),
    [
        # Raised to Felid, three records lose 1 of 20 each by Custom: 15 %.
        (PERCENT, 0.15, "a share from"),
        (PERCENT, 85, "what is kept"),
        (PERCENT, 15.1, "close: round"),
        (PERCENT, 0, "table as it is"),
        (PERCENT, 100, "race at level 2"),
        (PERCENT, 30, "what Total counts"),
        # 1.649 = exp(0.5004) for four colds and a flu.
        ({"number": "entropy-l", "levels": {"race": 2}}, 0.5, "the entropy; l is exp of it"),
        ({"number": "entropy-l", "levels": {"race": 2}}, 0.722, "in bits"),
        ({"number": "entropy-l", "levels": {"race": 2}, "tolerance": 0.01}, 1.6, "rounding"),
        # Of cats and the lion a flu in 3, of dogs none: l = 1.89 and 1.
        ({"number": "entropy-l", "levels": {"race": 1}}, 1.89, "of (Felid); find the class where"),
        ({"number": "t", "levels": {"race": 1}}, 20, "in percent"),
        ({"number": "t", "levels": {"race": 1}}, 0.4, "half of it"),
        ({"number": "t", "levels": {"race": 1}, "tolerance": 0.01}, 0.133, "of (Felid)"),
        ({"number": "k"}, 3, "the number of classes"),
        ({"number": "k", "levels": {"race": 1}}, 3, "the size of (Felid)"),
        ({"number": "classes"}, 2, "race at level 1"),
        ({"number": "classes"}, 17, "none of the usual slips"),
        ({"number": "classes"}, "two", "The answer must be a number."),
    ],
)  # fmt: skip
def test_a_number_by_hand(more, answer, part):
    question = {"id": "n", "table": "t", "kind": "number", **more}
    exercises = exercises_of(GIVEN | {"questions": [question]})
    (question,) = exercises.questions
    assert question.mark(exercises.made["t"], answer).share == 0
    assert part in find_mistake(question, exercises.made["t"], answer)


def test_a_choice_by_hand():
    assert find_mistake(SMALLEST, SMALL, ["Cat"]) == (
        "(Cat) has 2 records, and another class has fewer."
    )
    assert find_mistake(PARTNER, SMALL, ["Dog"]) == (
        "(Dog) is not the cheapest: 1 class costs less."
    )
    assert "must be one of the classes" in find_mistake(PARTNER, SMALL, ["Bird"])


def test_a_class_that_is_taken_at_another_step():
    records = [["F", "Cat", "a"], ["F", "Dog", "a"], ["F", "Dog", "a"], *[["M", "Dog", "a"]] * 3]
    exercises = made(records, {"kind": "choice", "choose": "smallest", "merges": 1})
    (question,), table = exercises.questions, exercises.made["t"]
    first = question.list_merges(table)[0]
    wrong = [one for one in question.options(table) if list(one) != question.solution(table)]
    for labels in wrong:
        said = find_mistake(question, table, list(labels))
        assert "another class has fewer" in said
        assert labels != table.get_labels(first.picked.nodes) or "after no merge" in said


# --- laws -----------------------------------------------------------------------------------
@examples(60)
@given(
    RECORDS, st.sampled_from(PUBLISHED), st.integers(2, 3), st.lists(st.integers(0, 2), max_size=6)
)
def test_a_release_gets_all_points_or_a_diagnosis_that_is_not_the_solution(records, name, k, steps):
    asked = {"k": k, "metric": name}
    exercises = made(records, {"kind": "recode"} | asked, {"kind": "levels"} | asked)
    (recode, levels), table = exercises.questions, exercises.made["t"]
    answer = build_unchanged_answer(table)
    for step in steps:
        answer = step_column(table, answer, ("gender", "race")[step % 2], step < 2)
    roots = [{"gender": "*", "race": "Mammal"}] * len(records)
    heights = {"gender": 1, "race": 2}
    for question, given_answer, root in (
        (recode, answer, roots),
        (levels, {"gender": 0, "race": 1}, heights),
    ):
        best, mark = question.best(table), question.mark(table, given_answer)
        assert question.mark(table, root).share == (best.alteration == 100), (
            "the root earns nothing"
        )
        assert 0 <= mark.share <= 1
        if mark.share == 1:
            continue
        said = find_mistake(question, table, given_answer)
        assert said.startswith(("Not ", "The table is ")) and said.endswith(".")
        assert question.describe_solution(table) not in said
        assert f" {best.alteration:.1f} %" not in said.partition("alteration of")[2] or (
            f"{alteration.value(question.read(table, given_answer), metric_named(name)):.1f}"
            == f"{best.alteration:.1f}"
        )
        assert ("Not " in said) == (
            mark.share == 0 and question.read(table, given_answer).min_k < k
        )


@examples(60)
@given(RECORDS, st.sampled_from(NUMBERS), st.integers(0, 1), st.integers(0, 2), st.floats(0, 110))
def test_a_wrong_number_gets_a_diagnosis_without_the_right_one(
    records, which, gender, race, answer
):
    asked = {"kind": "number", "number": which, "levels": {"gender": gender, "race": race}}
    exercises = made(records, asked)
    (question,), table = exercises.questions, exercises.made["t"]
    right = question.mark(table, answer).share == 1
    said = find_mistake(question, table, answer)
    assert said.endswith(".") and (right or question.describe_solution(table) not in said)
    for number in (answer, int(answer)):
        if question.mark(table, number).share == 0:
            words = (
                find_mistake(question, table, number).replace("(", " ").replace(",", " ").split()
            )
            levels = {str(level) for level in range(3)} | {"1;", "0"}
            right_text = question.describe_solution(table).removeprefix("About ").rstrip(".")
            assert right_text in levels or right_text not in words


@examples(60)
@given(
    RECORDS, st.sampled_from(PUBLISHED), st.integers(0, 3), st.sampled_from(["smallest", "partner"])
)
def test_a_wrong_choice_gets_a_diagnosis_without_the_right_one(records, name, merges, choose):
    try:
        exercises = made(
            records, {"kind": "choice", "choose": choose, "metric": name, "merges": merges}
        )
    except KanonError:
        return
    (question,), table = exercises.questions, exercises.made["t"]
    for labels in question.options(table):
        if question.mark(table, list(labels)).share == 0:
            said = find_mistake(question, table, list(labels))
            assert said.startswith(format_tuple(labels))
            assert format_tuple(tuple(question.solution(table))) not in said
