"""Marks of a class: what is odd about its files, its means, what was most often answered."""

import json
from random import Random

import pytest

from kanon.errors import ExerciseError
from kanon.teaching.exercises import (
    BUILT_IN,
    MOST_CHANGES,
    Answers,
    format_name_for_file,
    read_answers,
)
from kanon.teaching.marks import check_answers, mark_class
from support.exercise_sets import CODE, EXAM_KEYS, GIVEN, exercises_of, handed_in

EXAM = exercises_of(GIVEN | EXAM_KEYS).unlock(CODE)
RIGHT = {each.id: each.solution(EXAM.get_table(each)) for each in EXAM.questions}


def contents(given):
    return {name: one if isinstance(one, bytes) else of(one) for name, one in given.items()}


def of(answers):
    return answers.to_json().encode()


def changed(given, /, **keys):
    """A file that somebody wrote into, and left its fingerprint as it was."""
    return json.dumps(json.loads(given.to_json()) | keys).encode()


def marked(exercises, **given):
    """The marks, with the remarks by file."""
    found = mark_class(exercises, list(contents(given).items()))
    return found, dict(zip(found.files["file"], found.files["remark"], strict=True))


def test_of_thirty_files_those_three_are_flagged_that_were_tampered_with_or_doubled():
    exam = exercises_of(json.loads(BUILT_IN.read_bytes()) | EXAM_KEYS).unlock(CODE)
    right = {each.id: each.solution(exam.get_table(each)) for each in exam.questions}
    draw = Random(1)
    files = {}
    for number in range(30):
        times = sorted(round(draw.uniform(1, 3600), 1) for _ in right)
        answers = {name: right[name] if draw.random() < 0.7 else 5 for name in right}
        files[f"a{number}"] = handed_in(exam, f"Student {number}", answers, times)
    files["a7"] = changed(files["a7"], answers=right)
    files["a12"] = files["a3"]
    files["a20"] = files["a20"].model_copy(update={"student": "Somebody else"})
    found, remarks = marked(exam, **files)
    assert found.files["percent"].notna().all()
    assert {name for name, said in remarks.items() if said} == {"a7", "a12", "a20"}
    assert "fingerprint" in remarks["a7"] and "'a3'" in remarks["a12"]
    assert "fingerprint" in remarks["a20"], "another name is another content"
    assert found.files["fingerprint"].nunique() == 29


def test_everything_in_a_file_counts_for_its_fingerprint():
    answers = handed_in(EXAM, "Chi", {"k": 1, "partner": ["Dog"]})
    again = read_answers(of(answers))
    assert again == answers and again.is_as_handed_in
    for keys in (
        {"student": "Dee"}, {"set": "0" * 16}, {"answers": {"k": 2, "partner": ["Dog"]}},
        {"answers": {"k": 1.0, "partner": ["Dog"]}}, {"log": []}, {"version": 1},
        {"log": [{"at": 3.0, "question": "k"}, {"at": 13.6, "question": "partner"}]},
        {"fingerprint": "AAAA-AAAA-AAAA"}, {"fingerprint": None}, {"log": None},
    ):  # fmt: skip
        assert not read_answers(changed(answers, **keys)).is_as_handed_in, keys


def test_the_answers_of_practice_are_files_as_they_were(tmp_path):
    given = json.loads(Answers(set="0" * 16, student="Chi", answers={"k": 1}).to_json())
    assert given == {
        "format": "kanon-answers", "version": 1, "set": "0" * 16, "student": "Chi",
        "answers": {"k": 1},
    }  # fmt: skip
    practice = exercises_of(GIVEN)
    found, remarks = marked(practice, a=Answers(set=practice.fingerprint, student="Chi"))
    assert remarks == {"a": ""} and found.files["minutes"].isna().all()


def test_marks_count_the_help_that_was_seen():
    practice = exercises_of(GIVEN)
    right = {each.id: each.solution(practice.get_table(each)) for each in practice.questions}
    seen = {"recode": "hint", "k": "solution"}
    given = Answers(
        version=3, set=practice.fingerprint, student="Chi", answers=right, help_seen=seen
    )
    found, _ = marked(practice, a=given)
    points = {name: found.files[f"question {name}"][0] for name in right}
    assert points == {"recode": 2, "levels": 4, "k": 0, "smallest": 1, "partner": 1}
    assert read_answers(of(given)) == given and given.own_fingerprint != (
        given.model_copy(update={"help_seen": {}}).own_fingerprint
    )
    other = read_answers(changed(given, help_seen={"z": "hint"}))
    with pytest.raises(ExerciseError, match="a question 'z' that the set does not have"):
        check_answers(practice, other)
    with pytest.raises(ExerciseError, match=r"help_seen\.k: .* 'hint' or 'solution'"):
        read_answers(changed(given, help_seen={"k": "all"}))


def test_one_name_twice_is_flagged_however_it_is_typed():
    named = {"a": "Ada  Lovelace", "b": "ada love\u200blace ", "c": "Ada Lovelac"}
    files = {name: handed_in(EXAM, one, {"k": 1}) for name, one in named.items()}
    _, remarks = marked(EXAM, **files, d=handed_in(EXAM, "Ａda Lovelace", {"k": 2}))
    assert "'b', 'd'" in remarks["a"] and "'a', 'd'" in remarks["b"] and not remarks["c"]


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ({"log": None, "fingerprint": None, "version": 1}, "The log or the fingerprint"),
        ({"fingerprint": None}, "The log or the fingerprint"),
        ({"log": [{"at": 1, "question": "k"}]}, "no answer to question 5"),
        ({"log": [{"at": 9, "question": "k"}, {"at": 8, "question": "partner"}]}, "go backwards"),
    ],
)
def test_an_exam_that_the_page_did_not_write_is_flagged(keys, part):
    answers = json.loads(handed_in(EXAM, "Chi", {"k": 1, "partner": ["Cat"]}).to_json()) | keys
    given = Answers.model_validate(answers)
    given = given.add_fingerprint() if answers["fingerprint"] else given
    found, remarks = marked(EXAM, a=given)
    assert part in remarks["a"] and found.files["points"][0] == 2


def test_means_and_what_was_most_often_answered_and_wrong():
    numbers = [1, 1, 2.0, 2, 2, "two", None]
    files = {
        f"f{place}": handed_in(EXAM, f"Student {place}", RIGHT | {"k": number})
        for place, number in enumerate(numbers)
    }
    found, _ = marked(EXAM, **files, again=files["f0"], other=b"{}")
    rows = found.questions.set_index("question")
    assert list(rows.index) == [
        "1 Recode the table", "2 Choose the levels", "3 The k of the table",
        "4 The class that GAA takes", "5 The cheapest partner",
    ]  # fmt: skip
    k = rows.loc["3 The k of the table"].to_dict()
    assert k == {
        "mean": 0.29, "of": 1, "answered": 6, "right": 2, "most often": "2 (3 of 6)",
        "most often wrong": "2 (3 of 4)",
    }  # fmt: skip
    recoded = rows.loc["1 Recode the table"]
    assert recoded["most often"] == "(Dog) × 2; (Felid) × 3: k = 2, alteration 15.0 % (7 of 7)"
    assert recoded["most often wrong"] == "" and recoded["mean"] == 4
    assert rows["most often"]["2 Choose the levels"].startswith("race 1: k = 2, alteration 15.0 %")
    assert found.lines[2] == (
        "3 The k of the table: 0.29 of 1 on average, 6 answered, 2 right; "
        "most often 2 (3 of 6); most often wrong 2 (3 of 4)"
    )


def test_a_class_without_any_answers_has_rows_and_no_means():
    found, _ = marked(EXAM, a=b"", b=b"{}")
    assert found.questions["mean"].isna().all() and found.lines == []


def test_odd_answers_of_strangers_are_told_and_stop_nothing():
    odd = [10**400, "(Cat)", [["Cat"]], {"race": {}}, [{"race": "Cat"}] * 9, True, "1"]
    files = {
        f"f{place}": handed_in(EXAM, f"S{place}", {each.id: one for each in EXAM.questions})
        for place, one in enumerate(odd)
    }
    found, _ = marked(EXAM, **files)
    assert (found.files["points"] == 0).all()
    assert (found.questions["most often wrong"] == "not allowed (7 of 7)").all()


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"version": 4}, "Answer file key version: '4' is not allowed; it has to be 1, 2 or 3."),
        ({"log": 3}, "Answer file key log: '3' is not allowed; it has to be a list."),
        ({"log": [[1, "k"]]}, "Answer file key log.0 is a list; it has to be an object."),
        ({"log": [{"at": -1, "question": "k"}]}, "Answer file key log.0.at: '-1' is not allowed"),
        ({"log": [{"at": 1, "question": "k", "by": 1}]}, "Answer file key log.0: the key 'by' is"),
        (
            {"log": [{"at": 1, "question": "k"}] * (MOST_CHANGES + 1)},
            "Answer file key log has 2\u202f001 entries; it has to be a list of at most",
        ),
        ({"fingerprint": "A" * 41}, "Answer file key fingerprint: "),
    ],
)
def test_a_log_that_is_none_is_refused_in_one_sentence(keys, sentence):
    with pytest.raises(ExerciseError) as told:
        read_answers(changed(handed_in(EXAM, "Chi", {"k": 1}), **keys))
    assert told.value.sentence.startswith(sentence), told.value.sentence


def test_answers_nested_without_an_end_are_refused_in_one_sentence():
    for depth in (100, 300, 900, 5000):
        nested = "[" * depth + "]" * depth
        content = changed(Answers(set="a", student="A", answers={"k": "x"})).decode()
        try:
            assert not read_answers(content.replace('"x"', nested).encode()).is_as_handed_in
        except ExerciseError as error:
            assert error.sentence.startswith("The answer file ")


def test_a_name_in_a_file_name_is_one_everywhere():
    for name in ("a/b", "..", "a\\b", "a:b", "\u202ecod.exe", "a\nb", "CON", "x" * 200, " . "):
        safe = format_name_for_file(name)
        assert safe and len(safe.encode()) < 200
        assert not set(safe) & set('/\\:*?"<>|.\n\u202e ')
    assert format_name_for_file("Zoe\u0308 अदिति") == "Zoë-अदिति"
