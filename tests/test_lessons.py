"""Lessons: the release is the algorithm's, every choice is confirmed, the arithmetic adds up."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_tables import SEVEN, PlainTree, Problem, edge_weights, examples, path_cost, problems

import kanon.lessons
from kanon.algorithms import gaa, lattice_sweep, mondrian
from kanon.algorithms.search import LOSS
from kanon.algorithms.task import Task
from kanon.cards import Card
from kanon.errors import KanonError, PlanError, Unsatisfiable
from kanon.lessons.building import lesson_of, replay_of
from kanon.lessons.clusters import Growing
from kanon.lessons.lesson import Lesson
from kanon.measures.cells import whole_potentials
from kanon.metrics import metric_named
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.t_closeness import TCloseness
from kanon.run import algorithms
from kanon.sensitive import Sensitive
from kanon.strategies import LOOKS_AT

ILL = ("cold", "flu", "gout")


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


def classes_of(problem: Problem, ill: list[str]) -> Any:
    """The classes of a table with its sensitive column."""
    classes = problem.classes()
    place = {labels: number for number, labels in enumerate(problem.sizes)}
    group = [place[row] for row in problem.rows]
    codes = [ILL.index(value) for value in ill]
    sensitive = Sensitive.from_records("ill", ILL, False, group, codes, classes.n_classes)
    return type(classes)(
        classes.attributes, classes.hierarchies, classes.nodes, classes.counts, (sensitive,)
    )


@st.composite
def cases(draw: st.DrawFn, name: str) -> tuple[Problem, list[str], str, tuple[float, ...], Task]:
    """A table, its illnesses, a metric, attribute weights, and a task for an algorithm."""
    module = algorithms()[name]
    problem = draw(numeric_problems() if name == "mdav" else problems(max_records=16))
    n = len(problem.rows)
    assume(n >= 2)
    ill = draw(st.lists(st.sampled_from(ILL), min_size=n, max_size=n))
    classes = classes_of(problem, ill)
    metric = draw(st.sampled_from(SEVEN))
    weights = draw(
        st.just(()) | st.tuples(*(st.sampled_from([0.5, 1.0, 3.0]) for _ in problem.trees))
    )
    k = draw(st.integers(2, min(n, 6)))
    others = draw(
        st.sampled_from([(), (), (DistinctLDiversity(2, "ill"),), (TCloseness(1.0, "ill"),)])
    )
    strategy = draw(st.sampled_from(list(LOOKS_AT))) if "strategy" in module.USES else "s1"
    options = {
        each.name: draw(st.sampled_from([choice for choice in each.choices]))
        for each in getattr(module, "PARAMETERS", ())
        if each.name != "parts"
    }
    tops = [tree.height - 1 for tree in classes.hierarchies]
    task = Task(
        classes,
        whole_potentials(classes, metric_named(metric), weights or None),
        k,
        weighted=draw(st.booleans()) or "cost" not in module.USES,
        tie_seed=draw(st.none() | st.integers(0, 9)) if "tie_seed" in module.USES else None,
        strategy=strategy,
        scope=draw(st.sampled_from(["table", "class"])),
        sensitive="ill" if LOOKS_AT[strategy] else None,
        models=(KAnonymity(k), *others),
        suppression=draw(st.sampled_from([None, 0, 2])) if "suppression" in module.USES else None,
        seed=draw(st.integers(0, 9)),
        options=options,
        node=tuple(draw(st.integers(0, top)) for top in tops) if "node" in module.USES else None,
    )
    return problem, ill, metric, weights, task


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
    return lowest, float(highest)


def check_lesson(lesson: Lesson, module: ModuleType) -> None:
    """What holds of every lesson."""
    task = lesson.task
    first, last = lesson.steps[0], lesson.steps[-1]
    assert first.numbers.alteration == 0
    assert np.array_equal(first.recoding.targets, task.classes.nodes)
    release = module.anonymise(task)
    assert lesson.complete
    assert np.array_equal(last.recoding.assigned, release.assigned)
    labels = [
        [[tree.labels[v] for tree, v in zip(each.hierarchies, row, strict=True)]
         for row in each.nodes.tolist()]
        for each in (last.recoding, release)
    ]  # fmt: skip
    assert labels[0] == labels[1]
    for step in lesson.steps:
        found = step.recoding
        assert found.classes is task.classes
        assert found.counts.sum() + found.suppressed_records == task.classes.n_records
        for number, size in enumerate(found.counts.tolist()):
            assert task.classes.counts[found.assigned == number].sum() == size
        assert step.numbers.suppressed == found.suppressed_records
        assert step.sentence.endswith(".") and step.heading
        for choice in step.choices:
            assert sum(each.chosen for each in choice.candidates) == 1, choice.question
            assert choice.confirmed, f"{step.heading}: {choice.question}"


def check_arithmetic(
    lesson: Lesson, problem: Problem, metric: str, weights: tuple[float, ...]
) -> None:
    """Costs by walking up the plain trees, in fractions."""
    drawn = edge_weights(metric, problem.trees)
    place = {name: j for j, name in enumerate(problem.columns)}
    for candidate in (
        each for step in lesson.steps for choice in step.choices for each in choice.candidates
    ):
        for term in candidate.terms:
            j = place[term.attribute]
            exact = path_cost(problem.trees[j], drawn[j], term.low, term.high)
            assert term.cost == pytest.approx(float(exact) * (weights or [1] * 9)[j], abs=1e-9)
            assert term.product == pytest.approx(term.cost * term.records)
        if candidate.terms:
            total = sum(term.product for term in candidate.terms)
            assert candidate.cost == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("name", algorithms())
def test_a_lesson_ends_with_the_release_and_every_choice_is_confirmed(name):
    module = algorithms()[name]

    @given(cases(name))
    @examples(100)
    def law(case):
        problem, ill, metric, weights, task = case
        try:
            module.anonymise(task)
        except (Unsatisfiable, PlanError):
            assume(False)
        lesson = lesson_of(module, task, metric_named(metric), weights)
        check_lesson(lesson, module)
        if name != "mdav":
            check_arithmetic(lesson, problem, metric, weights)
        place = {labels: number for number, labels in enumerate(problem.sizes)}
        for step in lesson.steps:
            group = [int(step.recoding.assigned[place[row]]) for row in problem.rows]
            if not step.numbers.suppressed and step.numbers.classes:
                diverse, close = plain_numbers(ill, group)
                assert step.numbers.l == pytest.approx(diverse)
                assert step.numbers.t == pytest.approx(close)

    law()
