"""Exercise sets and answers to them."""

from __future__ import annotations

import json

from kanon.teaching.exercises import (
    read_exercises,
)

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


def exercises_of(content):
    return read_exercises(json.dumps(content).encode())
