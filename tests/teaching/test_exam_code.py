"""An exam gives out no marks and no solutions without the teacher's code."""

import io
import json
import pickle

import pytest

from kanon.cli.main import main
from kanon.errors import ExerciseError
from kanon.teaching.exam_code import check_code, hash_code
from kanon.teaching.exercises import read_exercises
from kanon.teaching.handout import write_handout
from kanon.teaching.marks import mark_answers, mark_class
from support.exercise_sets import CODE, EXAM_KEYS, GIVEN, exercises_of, handed_in

EXAM = exercises_of(GIVEN | EXAM_KEYS)
FIRST = EXAM.questions[0]
ANSWERS = handed_in(EXAM, "Chi", {"k": 1})


def test_a_hash_fits_its_code_only():
    stored = hash_code("Drei blaue Lo\u0308wen")
    for same in ("Drei blaue L\u00f6wen", " Drei blaue L\u00f6wen\n"):
        check_code(same, stored)
    for other in ("drei blaue L\u00f6wen", "", "\x00" * 9, "\ud800" * 9, "x" * 10**6, stored):
        with pytest.raises(ExerciseError, match="not the code of the exam"):
            check_code(other, stored)
    assert hash_code(CODE) != hash_code(CODE), "each file has a salt of its own"
    assert CODE not in EXAM.to_json()


@pytest.mark.parametrize("code", ["", "short", " " * 20, "x" * 101])
def test_a_code_that_is_too_short_or_too_long_is_refused(code):
    with pytest.raises(ExerciseError, match="it must have 8 to 100"):
        hash_code(code)


def copy_as_worker(exercises):
    return pickle.loads(pickle.dumps(exercises))  # noqa: S301


STEPS = {
    "mark": lambda exam: exam.mark(FIRST, None),
    "a student": lambda exam: mark_answers(exam, ANSWERS),
    "a class": lambda exam: mark_class(exam, [("a", ANSWERS.to_json().encode())]),
    "solutions": lambda exam: write_handout(exam, solutions=True),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_marks_and_solutions_need_the_code(step):
    for locked in (EXAM, read_exercises(EXAM.to_json().encode()), copy_as_worker(EXAM)):
        with pytest.raises(ExerciseError, match="need the teacher's code"):
            step(locked)
    assert step(EXAM.unlock(CODE)) is not None
    assert step(copy_as_worker(EXAM.unlock(CODE))) is not None
    with pytest.raises(ExerciseError, match="not the code"):
        EXAM.unlock("another code")
    with pytest.raises(ExerciseError):
        step(read_exercises(EXAM.unlock(CODE).to_json().encode()))


def test_a_handout_without_solutions_has_none():
    page, solved = write_handout(EXAM), write_handout(EXAM.unlock(CODE), solutions=True)
    for text in ("Solutions", "race 1", "15.0", "(Felid)"):
        assert text in solved and text not in page


def test_a_set_without_its_code_or_with_another_is_another_set():
    content = json.loads(EXAM.to_json())
    sets = [EXAM, exercises_of(content | {"exam": False}), exercises_of(GIVEN),
            exercises_of(content | {"code": hash_code("the student's own")})]  # fmt: skip
    assert len({one.fingerprint for one in sets}) == 4
    with pytest.raises(ExerciseError, match="to another exercise set"):
        mark_answers(sets[2], ANSWERS)


@pytest.mark.parametrize(("typed", "status"), [(f"{CODE}\n", 0), ("wrong code\n", 2), ("", 2)])
def test_the_command_line_asks_for_the_code(tmp_path, monkeypatch, capsys, typed, status):
    (tmp_path / "set.json").write_text(EXAM.to_json(), "utf-8")
    (tmp_path / "chi.json").write_text(ANSWERS.to_json(), "utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    names = [str(tmp_path / name) for name in ("set.json", "chi.json", "scores.csv")]
    assert main(["exercises", "score", *names[:2], "--out", names[2]]) == status
    said = capsys.readouterr()
    assert (tmp_path / "scores.csv").exists() == (status == 0)
    assert ("1 file marked" in said.out) == (status == 0)
    assert ("not the code of the exam" in said.err) == (status == 2)
