"""The marks of an exam of thirty students, three of whose files are not as they were handed in."""

from __future__ import annotations

import json

from benchmarks.case import Case, CaseError
from benchmarks.markdown import spread, table
from benchmarks.timing import alternately
from kanon.teaching.exercises import BUILT_IN, AnswerChange, Answers, ExerciseSet, read_exercises
from kanon.teaching.marks import ClassMarks, mark_class

__all__ = ["CASE"]

REPETITIONS = 5
STUDENTS, CHANGES, ODD = 30, 200, 3
LONGEST = 2.0


def _exam() -> bytes:
    return json.dumps(json.loads(BUILT_IN.read_bytes()) | {"exam": True}).encode()


def _files(exam: ExerciseSet) -> list[tuple[str, bytes]]:
    """The files of a class: one changed by hand, one twice, one whose fingerprint is gone."""
    names = [question.id for question in exam.questions]
    answers = {
        question.id: question.solution(exam.get_table(question)) for question in exam.questions
    }
    results = []
    for student in range(STUDENTS):
        log = [
            AnswerChange(at=student + 10.0 * place, question=names[place % len(names)])
            for place in range(CHANGES)
        ]
        given = Answers(
            version=2, set=exam.fingerprint, student=f"Student {student}", answers=answers, log=log
        ).add_fingerprint()
        results.append(given.to_json().encode())
    results[3] = results[3].replace(b"Student 3", b"Student 33")
    results[7] = results[6]
    results[9] = json.dumps(json.loads(results[9]) | {"fingerprint": None}).encode()
    return [(f"answers-{place}.json", content) for place, content in enumerate(results)]


def _run() -> str:
    content = _exam()
    files = _files(read_exercises(content))

    def marked() -> ClassMarks:
        return mark_class(read_exercises(content), files)

    (timed,), (marks,) = alternately(marked, repetitions=REPETITIONS)
    odd = int((marks.files["remark"] != "").sum())
    if odd != ODD:
        raise CaseError(f"{odd} files are flagged, where {ODD} are odd.")
    found = "Met" if timed.worst < LONGEST else "Missed"
    return "\n\n".join(
        [
            f"{STUDENTS} files of answers to the {len(marks.questions)} questions that come with "
            f"kanon, each with a log of {CHANGES} changes; the set is read and its best answers "
            "are found anew each time.",
            table(["what", "seconds"], [["the set read, all marked", spread(timed)]]),
            f"Aim: at most {LONGEST:g} seconds. Found: {timed.worst:.2g}. **{found}.**",
        ]
    )


CASE = Case(
    name="exam-marks",
    about="an exam of thirty students, marked: against two seconds",
    classes=9,
    run=_run,
)
