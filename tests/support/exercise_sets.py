"""Exercise sets and answers to them."""

import json

from kanon.teaching.exam_code import hash_code
from kanon.teaching.exercises import AnswerChange, Answers, read_exercises

TABLE = {
    "columns": {
        "name": {"role": "identifier"},
        "race": {
            "role": "quasi-identifier",
            "nodes": [
                {"name": "Mammal"},
                {"name": "Felid", "parent": "Mammal", "weight": 3},
                {"name": "Cat", "parent": "Felid", "weight": 1},
                {"name": "Lion", "parent": "Felid", "weight": 1},
                {"name": "Dog", "parent": "Mammal", "weight": 4},
            ],
        },
        "ill": {"role": "sensitive"},
    },
    "records": [
        ["Ada", "Cat", "cold"],
        ["Bo", "Cat", "flu"],
        ["Cy", "Lion", "cold"],
        ["Di", "Dog", "cold"],
        ["Ed", "Dog", "cold"],
    ],
}


QUESTIONS = [
    {"id": "recode", "table": "t", "kind": "recode", "k": 2, "metric": "custom", "points": 4},
    {"id": "levels", "table": "t", "kind": "levels", "k": 2, "metric": "custom", "points": 4},
    {"id": "k", "table": "t", "kind": "number", "number": "k"},
    {"id": "smallest", "table": "t", "kind": "choice", "choose": "smallest", "metric": "custom"},
    {"id": "partner", "table": "t", "kind": "choice", "choose": "partner", "metric": "custom"},
]


GIVEN = {
    "format": "kanon-exercises",
    "version": 1,
    "title": "By hand",
    "tables": {"t": TABLE},
    "questions": QUESTIONS,
}


CODE = "three blue lions"
EXAM_KEYS = {"exam": True, "code": hash_code(CODE, bytes(16))}
"""What makes an exercise file an exam."""


def exercises_of(content):
    return read_exercises(json.dumps(content).encode())


def handed_in(exercises, student, answers, times=None):
    """An exam's answers as the page hands them in, each given at a time of its own."""
    times = times or [len(student) + 10.5 * place for place in range(len(answers))]
    log = [AnswerChange(at=at, question=name) for at, name in zip(times, answers, strict=True)]
    given = Answers(version=2, set=exercises.fingerprint, student=student, answers=answers, log=log)
    return given.add_fingerprint()
