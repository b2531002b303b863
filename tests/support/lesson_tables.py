"""The small tables of the lessons, random ones too, and their l and t."""

import csv
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st

from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.sensitive import Sensitive
from kanon.teaching.lesson import Choice
from kanon.teaching.presets import load_preset_table
from support.paths import ROOT
from support.random_tables import PlainTree, Problem

ILL = ("cold", "flu", "gout")


def classes_of(problem: Problem, ill: list[str], values: Sequence[str] = ILL) -> EquivalenceClasses:
    """The classes of a table with its sensitive column."""
    classes = problem.classes()
    place = {labels: number for number, labels in enumerate(problem.sizes)}
    group = [place[row] for row in problem.rows]
    codes = [values.index(value) for value in ill]
    sensitive = Sensitive.from_records("ill", values, False, group, codes, classes.n_classes)
    return replace(classes, sensitive=(sensitive,))


def animals() -> Task:
    """The worked table of Mauger, Le Mahec, Dequen 2023, with k = 4."""
    gender = PlainTree({"*": None, "F": "*", "M": "*"}, {"F": 5, "M": 5})
    race = PlainTree(
        {"Mammal": None, "Felid": "Mammal", "Cat": "Felid", "Lion": "Felid", "Dog": "Mammal"},
        {"Felid": 3, "Cat": 1, "Lion": 1, "Dog": 4},
    )
    rows = ["F Lion", "F Dog", "F Lion", "F Dog", "M Cat", "M Cat", "M Lion", "M Lion"]
    ill = ["cold", "bronchitis", "cold", "conjunctivitis"]
    ill += ["broken paw", "broken paw", "angina", "bronchitis"]
    problem = Problem((gender, race), tuple(tuple(row.split()) for row in rows))
    classes = classes_of(problem, ill, sorted(set(ill)))
    return Task(classes, scale_metric_potentials(classes, metric_named("custom")), 4)


def hospital() -> Task:
    """Ten invented patients, k = 2; Total counts levels as a share of the height."""
    parents: list[dict[str, str | None]] = []
    for column in ("age", "zip", "sex"):
        text = (ROOT / "hierarchies" / "hospital" / f"{column}.csv").read_text("utf-8")
        above: dict[str, str | None] = {"*": None}
        for line in text.splitlines():
            path = line.split(";")
            above |= dict(pairwise(path))
        parents.append(above)
    with (ROOT / "sample_data" / "hospital.csv").open(encoding="utf-8") as file:
        rows = [(row["age"], row["zip"], row["sex"]) for row in csv.DictReader(file, delimiter=";")]
    problem = Problem(tuple(PlainTree(each) for each in parents), tuple(rows))
    classes = problem.classes()
    classes = replace(classes, attributes=("age", "zip", "sex"))
    return Task(classes, scale_metric_potentials(classes, metric_named("total")), 2)


def eight_points() -> Task:
    """Eight records of age and ward, all different; k = 2.

    20 1, 22 5, 24 2, 26 4, 28 1, 30 1, 34 1, 40 5.
    """
    classes = load_preset_table("points").classes
    return Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 2)


@st.composite
def numeric_problems(draw: st.DrawFn) -> Problem:
    """A table of numbers, each column under one root: what MDAV takes."""
    m = draw(st.integers(1, 3))
    columns = [
        draw(st.lists(st.integers(-9, 30), min_size=1, max_size=8, unique=True)) for _ in range(m)
    ]
    trees = tuple(
        PlainTree({"*": None, **{str(number): "*" for number in column}}) for column in columns
    )
    n = draw(st.integers(2, 20))
    row = st.tuples(*(st.sampled_from(column).map(str) for column in columns))
    return Problem(trees, tuple(draw(st.lists(row, min_size=n, max_size=n))))


def plain_numbers(ill: list[str], group: list[int]) -> tuple[float, float]:
    """The lowest l and the highest t of some classes of records, by their definitions."""
    n, whole = len(ill), Counter(ill)
    lowest, highest = math.inf, 0.0
    for each in set(group) - {-1}:
        held = Counter(value for value, one in zip(ill, group, strict=True) if one == each)
        size = held.total()
        shares = [held[value] / size for value in held]
        lowest = min(lowest, math.exp(-sum(share * math.log(share) for share in shares)))
        highest = max(
            highest, sum(abs(Fraction(held[v], size) - Fraction(whole[v], n)) for v in whole)
        )
    return lowest, float(highest) / 2


def is_confirmed(choice: Choice) -> bool:
    """Whether the chosen one is not refused and none that is not has a lower key."""
    return not choice.chosen.refused and choice.chosen.key == min(
        each.key for each in choice.candidates if not each.refused
    )
