"""Write ``first-set.json``, the exercise set that comes with kanon, from the sample tables.

python sample_data/exercises/generate.py           writes it
python sample_data/exercises/generate.py --check   exits with 1 if the file differs
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.presets import load_preset_table
from kanon.teaching.small_tables import ExerciseTable

NAME = "first-set.json"

TABLES = ("animals-v21", "animals-m23", "hospital")
"""The tables, of those that come with kanon."""

QUESTIONS = [
    {
        "id": "count", "table": "animals-m23", "kind": "number", "number": "k",
        "text": "Records that share gender and race are one class.",
    },
    {
        "id": "unique", "table": "hospital", "kind": "number", "number": "unique",
        "text": "Names are gone, and still most patients stand alone.",
    },
    {
        "id": "price", "table": "animals-v21", "kind": "number", "number": "alteration",
        "levels": {"gender": 0, "race": 1}, "metric": "total", "points": 2,
    },
    {
        "id": "sort", "table": "animals-m23", "kind": "number", "number": "entropy-l",
        "levels": {"gender": 1, "race": 1}, "points": 2,
        "text": "Two equally frequent diseases make 2, one disease makes 1.",
    },
    {
        "id": "partner", "table": "animals-m23", "kind": "choice", "choose": "partner",
        "metric": "custom", "points": 2,
        "text": "Here each edge of the trees has a weight that was drawn on it.",
    },
    {
        "id": "next", "table": "animals-v21", "kind": "choice", "choose": "smallest",
        "merges": 1, "metric": "total",
    },
    {
        "id": "levels", "table": "animals-v21", "kind": "levels", "k": 2, "metric": "total",
        "points": 3,
    },
    {
        "id": "animals", "table": "animals-v21", "kind": "recode", "k": 3, "metric": "total",
        "points": 4,
    },
    {
        "id": "hospital", "table": "hospital", "kind": "recode", "k": 3, "metric": "nllm",
        "points": 6,
        "text": "When you are done, look at the diseases of each class.",
    },
]  # fmt: skip


def made() -> ExerciseSet:
    """The set, checked."""
    tables = {}
    for name in TABLES:
        table = load_preset_table(name)
        trees = dict(zip(table.classes.attributes, table.classes.hierarchies, strict=True))
        tables[name] = ExerciseTable.from_frame(table.frame, table.schema, trees)
    found = ExerciseSet.model_validate(
        {
            "title": "First steps in k-anonymity",
            "author": "kanon",
            "tables": tables,
            "questions": QUESTIONS,
        }
    )
    found.check()
    return found


def main(arguments: Sequence[str], folder: Path = Path(__file__).parent) -> int:
    """Write the file, or check it; returns the exit status."""
    path, content = folder / NAME, made().to_json().encode()
    if "--check" not in arguments:
        path.write_bytes(content)
        return 0
    same = path.exists() and path.read_bytes() == content
    print(f"{NAME} {'is' if same else 'differs from'} what the generator writes.")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
