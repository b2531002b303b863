"""A lesson as tables: its records after a step, its candidates, its numbers."""

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pandas as pd

from kanon.recoding import Recoding
from kanon.schema import Role
from kanon.teaching.lesson import Candidate, Lesson, Step, write_number
from kanon.teaching.small_tables import SmallTable

_TERMS = 8  # of more products, equal ones are added up


def number_classes(table: SmallTable) -> np.ndarray:
    _, first = np.unique(table.source.row_class, return_index=True)
    return np.asarray(first.argsort().argsort() + 1)


def get_class_numbers(table: SmallTable, recoding: Recoding) -> np.ndarray:
    """The number of the current class of each original class.

    >>> from kanon.teaching.presets import load_preset_table
    >>> from kanon.teaching.small_tables import raise_to_levels
    >>> table = load_preset_table("animals-m23")
    >>> get_class_numbers(table, raise_to_levels(table.classes, {})).tolist()
    [2, 1, 3, 4]
    >>> get_class_numbers(table, raise_to_levels(table.classes, {"race": 2})).tolist()
    [1, 1, 3, 3]
    """
    own = number_classes(table)
    numbers = np.zeros(len(own), dtype=np.int64)
    for position in range(recoding.n_classes):
        members = recoding.assigned == position
        numbers[members] = own[members].min()
    return numbers


def build_records_table(table: SmallTable, recoding: Recoding) -> pd.DataFrame:
    rows = table.source.row_class
    columns: list[tuple[str, list[object]]] = [
        ("record", list(range(1, len(rows) + 1))),
        ("class", get_class_numbers(table, recoding)[rows].tolist()),
    ]
    for j, (name, tree) in enumerate(
        zip(recoding.classes.attributes, recoding.hierarchies, strict=True)
    ):
        columns.append((name, [tree.labels[node] for node in recoding.targets[rows, j]]))
    for name in table.schema.columns(Role.SENSITIVE):
        cells = table.frame[name]
        columns.append((name, ["" if pd.isna(cell) else str(cell) for cell in cells]))
    table_of_records = pd.DataFrame({place: cells for place, (_, cells) in enumerate(columns)})
    return table_of_records.set_axis(
        [name for name, _ in columns], axis=1
    )  # a column may be called "class"


def write_arithmetic(candidate: Candidate) -> tuple[str, ...]:
    paid = [term for term in candidate.terms if term.product]
    if candidate.cost is None or not candidate.terms:
        return ()
    if not paid:
        return ("nothing needs to rise: 0",)
    if len(paid) <= _TERMS:
        products_by_name = [(f"{term.attribute}, {term.low} → {term.high}", term.cost, term.records)
                for term in paid]  # fmt: skip
    else:
        together: dict[tuple[str, float], int] = {}
        for term in paid:
            key = (term.attribute, round(term.cost, 9))
            together[key] = together.get(key, 0) + term.records
        products_by_name = [(name, cost, records) for (name, cost), records in together.items()]
    lines, products = [], Fraction()
    for name, cost, records in products_by_name:
        factor, product = write_number(cost), write_number(cost * records)
        lines.append(
            f"{name}: {factor} × {records} {_write_equals(Fraction(factor) * records, product)}"
        )
        products += Fraction(product)
    total = math.fsum(term.product for term in paid)
    sum_text = f"sum {_write_equals(products, write_number(total))}"
    if math.isclose(total, candidate.cost, rel_tol=1e-6):
        return (*lines, sum_text)
    root, square = write_number(candidate.cost), write_number(total)  # a distance
    sign = "=" if Fraction(root) ** 2 == Fraction(square) else "≈"
    return (*lines, sum_text, f"√{square} {sign} {root}")


def _write_equals(result: Fraction, text: str) -> str:
    """Whether a result of the displayed numbers is equal to the displayed result, or about.

    >>> _write_equals(Fraction("0.5"), "0.5"), _write_equals(2 * Fraction("0.2545"), "0.5091")
    ('= 0.5', '≈ 0.5091')
    """
    return f"{'=' if result == Fraction(text) else '≈'} {text}"


def build_candidates_table(step: Step) -> pd.DataFrame:
    rows: list[Mapping[str, object]] = []
    for choice in step.choices:
        for candidate in choice.candidates:
            about = {
                "question": choice.question, "candidate": candidate.name,
                "chosen": int(candidate.chosen),
                "cost": candidate.cost, "l, t or k": candidate.level_left,
                "compared": "; ".join(
                    f"{rule.best}: {write_number(figure)}{rule.unit}"
                    for rule, figure in zip(choice.rules, candidate.figures, strict=False)
                    if figure is not None
                ),
                "refused": candidate.refused,
            }  # fmt: skip
            paid = [
                {"of": term.of, "column": term.attribute, "from": term.low, "to": term.high,
                 "cost per record": term.cost, "records": term.records, "product": term.product}
                for term in candidate.terms
            ]  # fmt: skip
            rows += [{**about, **term} for term in paid or [{}]]
    columns = [
        *("question", "candidate", "chosen", "cost", "l, t or k", "compared", "refused"),
        *("of", "column", "from", "to", "cost per record", "records", "product"),
    ]
    return pd.DataFrame(rows, columns=columns)


def build_numbers_table(lesson: Lesson) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"step": place, "heading": step.heading, **vars(step.numbers)}
            for place, step in enumerate(lesson.steps)
        ]
    )
