"""Lessons: the release is the algorithm's, every choice is confirmed, the arithmetic adds up."""

from dataclasses import replace
from itertools import pairwise
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms import datafly, gaa, mdav, mondrian
from kanon.algorithms.algorithm_card import AlgorithmCard
from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, Unsatisfiable
from kanon.experiments.exploration import measure_nodes
from kanon.hierarchy.ranges import build_flat_hierarchy
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.t_closeness import TCloseness
from kanon.run import prepare
from kanon.strategies import LOOKS_AT
from kanon.teaching.lesson import Choice, Lesson, Numbers, Step
from kanon.teaching.lesson_builder import build_lesson, find_replay
from kanon.teaching.nodes import NodeView
from support import lesson_tables
from support.random_tables import (
    SEVEN,
    PlainTree,
    Problem,
    edge_weights,
    examples,
    path_cost,
    problems,
)


@st.composite
def cases(draw: st.DrawFn, name: str) -> tuple[Problem, list[str], str, tuple[float, ...], Task]:
    """A table, its illnesses, a metric, attribute weights, and a task for an algorithm."""
    module = algorithms()[name]
    problem = draw(lesson_tables.numeric_problems() if name == "mdav" else problems(max_records=16))
    n = len(problem.rows)
    assume(n >= 2)
    ill = draw(st.lists(st.sampled_from(lesson_tables.ILL), min_size=n, max_size=n))
    classes = lesson_tables.classes_of(problem, ill)
    metric = draw(st.sampled_from(SEVEN))
    weights = draw(
        st.just(()) | st.tuples(*(st.sampled_from([0.5, 1.0, 3.0]) for _ in problem.trees))
    )
    k = draw(st.integers(2, min(n, 6)))
    others = draw(
        st.sampled_from([(), (), (DistinctLDiversity(2, "ill"),), (TCloseness(1.0, "ill"),)])
    )
    strategy = draw(st.sampled_from(list(LOOKS_AT))) if "strategy" in module.CARD.uses else "s1"
    options = {
        each.name: draw(st.sampled_from(list(each.choices)))
        for each in module.CARD.parameters
        if each.name != "parts"
    }
    tops = [tree.height - 1 for tree in classes.hierarchies]
    task = Task(
        classes,
        scale_metric_potentials(classes, metric_named(metric), weights or None),
        k,
        weighted=draw(st.booleans()) or "cost" not in module.CARD.uses,
        tie_seed=draw(st.none() | st.integers(0, 9)) if "tie_seed" in module.CARD.uses else None,
        strategy=strategy,
        scope=draw(st.sampled_from(["table", "class"])),
        sensitive="ill" if LOOKS_AT[strategy] else None,
        models=(KAnonymity(k), *others),
        suppression=draw(st.sampled_from([None, 0, 2]))
        if "suppression" in module.CARD.uses
        else None,
        seed=draw(st.integers(0, 9)),
        options=options,
        node=tuple(draw(st.integers(0, top)) for top in tops)
        if "node" in module.CARD.uses
        else None,
    )
    return problem, ill, metric, weights, task


def check_lesson(lesson: Lesson, module: ModuleType) -> None:
    """What holds of every lesson."""
    task = lesson.task
    first, last = lesson.steps[0], lesson.steps[-1]
    assert first.numbers.alteration == 0
    assert np.array_equal(first.recoding.targets, task.classes.nodes)
    release = module.anonymise(task)
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
            assert lesson_tables.is_confirmed(choice), f"{step.heading}: {choice.question}"


def check_arithmetic(
    lesson: Lesson, problem: Problem, metric: str, weights: tuple[float, ...]
) -> None:
    """Costs by walking up the plain trees, in fractions."""
    for step in lesson.steps:
        met = getattr(step.detail, "met", None)
        if met is not None:  # what the chosen one pays is what raising both to where they meet does
            paid = {(term.of, term.attribute, term.low) for term in step.choices[-1].chosen.terms}
            assert {of for of, _, _ in paid} <= {held.label for held in met}
            for held in met:
                assert {low for of, _, low in paid if of == held.label} >= set(
                    held.label.split(", ")
                )
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", algorithms())
def test_a_lesson_ends_with_the_release_and_every_choice_is_confirmed(name):
    module = algorithms()[name]

    @given(cases(name))
    @examples(60, in_gate=2 if name == "optimal-local" else 6)  # which has two steps alone
    def law(case):
        problem, ill, metric, weights, task = case
        try:
            module.anonymise(task)
        except (Unsatisfiable, PlanError):
            assume(False)
        lesson = build_lesson(module, task, metric_named(metric), weights)
        check_lesson(lesson, module)
        if name != "mdav":
            check_arithmetic(lesson, problem, metric, weights)
        place = {labels: number for number, labels in enumerate(problem.sizes)}
        for step in lesson.steps:
            group = [int(step.recoding.assigned[place[row]]) for row in problem.rows]
            if not step.numbers.suppressed and step.numbers.classes:
                diverse, close = lesson_tables.plain_numbers(ill, group)
                assert step.numbers.l == pytest.approx(diverse)
                assert step.numbers.t == pytest.approx(close)

    law()


def halved(name: str, look: NodeView) -> None:
    """OLA looks half-way up between two nodes, or at the lower of neighbours; Flash at a middle."""
    if name == "ola" and look.between:
        low, high = look.between
        steps = sum(high) - sum(low)
        assert look.node == low if steps <= 1 else sum(look.node) == sum(low) + steps // 2
        assert all(a <= b <= c for a, b, c in zip(low, look.node, high, strict=True))
    if name == "flash" and look.between:
        assert look.node == look.between[(len(look.between) - 1) // 2]
        assert all(sum(b) == sum(a) + 1 for a, b in pairwise(look.between))


@pytest.mark.parametrize("name", ["mingen", "incognito", "ola", "flash", "optimal"])
def test_what_is_concluded_about_nodes_that_nobody_looked_at_is_true(name):
    module = algorithms()[name]

    @given(cases(name))
    @examples(20)
    def law(case):
        _, _, metric, weights, task = case
        try:
            module.check(task)
            task.check()
        except (Unsatisfiable, PlanError):
            assume(False)
        for step in build_lesson(module, task, metric_named(metric), weights).steps:
            if isinstance(step.detail, NodeView):
                found = measure_nodes(task, [step.detail.node, *step.detail.implied_nodes])
                assert (found.satisfying == step.detail.satisfies).all()
                halved(name, step.detail)
                place = found.places[step.detail.node]
                assert found.reached[place] == step.detail.reached
                # Where too many break k alone, the search does not ask the other models.
                assert found.suppressed[place] <= step.detail.too_small

    law()


# --- sheets by hand ---------------------------------------------------------------------------
def told(choice: Choice) -> dict[str, float | None]:
    """What each candidate costs, by its name."""
    return {each.name: each.cost for each in choice.candidates}


def sheet(choice: Choice, name: str) -> list[tuple[str, str, str, float, int, float]]:
    """The arithmetic of a candidate, without what costs nothing."""
    found = next(each for each in choice.candidates if each.name == name)
    return [
        (term.of, term.low, term.high, term.cost, term.records, term.product)
        for term in found.terms
        if term.product
    ]


def test_gaa_on_the_animals_of_the_paper():
    """Four classes of two; all that can be lost is 72.

    Gender: 8 records x 5 = 40. Race: Lion, Cat and Dog are each 4 below Mammal (1 + 3, 1 + 3, 4),
    8 records x 4 = 32. Together 72.
    """
    lesson = build_lesson(gaa, lesson_tables.animals(), metric_named("custom"))
    start, first, second, end = lesson.steps

    # At first broken paw alone is in [M, Cat]: l = 1, and t = (|1 - 2/8| + 6/8) / 2 = 0.75.
    assert start.numbers == Numbers(2, 4, 0, 0.0, 1.0, 0.75)

    # All four hold 2 records; [F, Lion] comes first, as F does before M and Lion before Dog.
    assert first.choices[0].chosen.name == "F, Lion (2 records)"
    assert [each.key[0] for each in first.choices[0].candidates] == [2, 2, 2, 2]
    # With [F, Dog]:  race    2 x (1 + 3) + 2 x 4 = 16.
    # With [M, Cat]:  gender  2 x 5 + 2 x 5 = 20, race 2 x 1 + 2 x 1 = 4, together 24.
    # With [M, Lion]: gender  2 x 5 + 2 x 5 = 20, race nothing.
    partner = first.choices[1]
    assert told(partner) == {
        "F, Dog (2 records)": 16.0,
        "M, Cat (2 records)": 24.0,
        "M, Lion (2 records)": 20.0,
    }
    assert sheet(partner, "F, Dog (2 records)") == [
        ("F, Lion", "Lion", "Mammal", 4.0, 2, 8.0),
        ("F, Dog", "Dog", "Mammal", 4.0, 2, 8.0),
    ]
    assert sheet(partner, "M, Cat (2 records)") == [
        ("F, Lion", "F", "*", 5.0, 2, 10.0),
        ("F, Lion", "Lion", "Felid", 1.0, 2, 2.0),
        ("M, Cat", "M", "*", 5.0, 2, 10.0),
        ("M, Cat", "Cat", "Felid", 1.0, 2, 2.0),
    ]
    assert partner.chosen.name == "F, Dog (2 records)"
    assert first.detail.joined.label == "F, Mammal" and first.detail.third is None
    # 16 of 72 is 22.2 %. The two cats still share their illness.
    assert first.numbers == Numbers(2, 3, 0, pytest.approx(100 * 16 / 72), 1.0, 0.75)
    assert "fewest records, 2 for all 4; the tie goes to the first in tree order" in first.sentence
    assert "merged with “F, Dog”: least cost, 16 against 20 and 24." in first.sentence

    # [M, Cat] and [M, Lion] hold 2, [F, Mammal] 4.
    assert [each.key[0] for each in second.choices[0].candidates] == [2, 2, 4]
    assert second.choices[0].chosen.name == "M, Cat (2 records)"
    # With [F, Mammal]: gender 2 x 5 + 4 x 5 = 30, race 2 x (1 + 3) + 4 x 0 = 8, together 38.
    # With [M, Lion]:   race 2 x 1 + 2 x 1 = 4.
    assert told(second.choices[1]) == {"F, Mammal (4 records)": 38.0, "M, Lion (2 records)": 4.0}
    assert second.detail.joined.label == "M, Felid"
    # 20 of 72 is 27.8 %. Both classes hold one illness twice and two once: the entropy is
    # 1/2 ln 2 + 2 x 1/4 ln 4 = 3/2 ln 2, so l = 2 ** 1.5; [F, Mammal] differs from the table by
    # cold 1/2 - 1/4, conjunctivitis 1/4 - 1/8, paw 1/4 and angina 1/8: t = 3/8.
    by_hand = Numbers(4, 2, 0, pytest.approx(100 * 20 / 72), pytest.approx(2**1.5), 0.375)
    assert second.numbers == by_hand and end.numbers == by_hand
    assert end.heading == "The release"
    assert "measured by Custom: 20 of 72 ≈ 27.8 % of what could be lost." in end.sentence


@pytest.mark.parametrize("name", ["gaa", "datafly", "mondrian"])
def test_a_plan_says_all_that_a_lesson_needs(name):
    """Weights too, where the algorithm takes them."""
    problem = Problem(
        (PlainTree({"*": None, "A": "*", "a": "A", "b": "A", "c": "*"}),) * 2,
        (("a", "b"), ("a", "c"), ("b", "b"), ("c", "c")),
    )
    content = problem.plan(2, name=name, metric="entropy", attribute_weights={"q0": 3})
    plan = Plan.from_content(content)
    prepared = prepare(plan, problem.frame())
    module = algorithms()[name]
    lesson = build_lesson(module, prepared.task(), plan.metric, prepared.attribute_weights)
    check_lesson(lesson, module)
    assert prepared.attribute_weights == ((3, 1) if name == "gaa" else (1, 1))


def test_datafly_on_ten_patients():
    """Levels of age, zip and sex; at most k = 2 records may be suppressed.

    Agnes 23 47601 F, Bruno 27 47602 M, Clara 29 47605 F, Dmitri 31 47671 M, Elif and Fatma 34 47673
    F, Greta 45 47901 F, Hugo 48 47904 M, Ines 52 47906 F, Jonas 57 47951 M.
    """
    lesson = build_lesson(datafly, lesson_tables.hospital(), metric_named("total"))
    table, *looks, release, end = lesson.steps
    assert table.numbers.classes == 9  # Elif and Fatma share all three
    by_hand = [
        # Elif and Fatma are two, the other eight are alone.
        ((0, 0, 0), 8),
        # Decades: nobody else shares decade, zip and sex.
        ((1, 0, 0), 8),
        # 4760*: Agnes and Clara meet. Alone: Bruno, Dmitri, Greta, Hugo, Ines, Jonas.
        ((1, 1, 0), 6),
        # 40-59: Greta and Ines meet. Alone: Bruno, Dmitri, Hugo, Jonas.
        ((2, 1, 0), 4),
        # 476** and 479**: four women and two men, two women and two men.
        ((2, 2, 0), 0),
    ]
    assert [(step.detail.node, step.detail.too_small) for step in looks] == by_hand
    assert [step.detail.satisfies for step in looks] == [False] * 4 + [True]
    # Values before each step up, in age, zip and sex; of equal numbers the first column counts.
    # 9, 9 and 2: age. 4 decades, 9, 2: zip. 4, 4 zips of four digits, 2: age. 2, 4, 2: zip.
    raised = [step.choices[0].chosen.name for step in looks[1:]]
    assert raised == ["age", "zip", "age", "zip"]
    values = [[-each.key[0] for each in step.choices[0].candidates] for step in looks[1:]]
    assert values == [[9, 9, 2], [4, 9, 2], [4, 4, 2], [2, 4, 2]]
    # Nobody may be left in too small a class unsaid: six would have to go after the third look.
    assert "6 records are in classes of fewer than k = 2" in looks[2].sentence
    # Age and zip at level 2 of 3, sex as it is: (2/3 + 2/3 + 0) of 3 = 44.4 %, for all ten alike.
    for step in (release, end):
        assert step.numbers.min_k == 2 and step.numbers.classes == 4
        assert step.numbers.suppressed == 0
        assert step.numbers.alteration == pytest.approx(100 * 4 / 9)
    # Along the way: one column of three at level 1 of 3 is a ninth of all, two are two ninths.
    shares = [step.numbers.alteration / 100 for step in looks]
    assert shares == pytest.approx([0, 1 / 9, 2 / 9, 3 / 9, 4 / 9])


def test_who_is_left_over_joins_after_the_groups_were_made():
    """MDAV, k = 2: (1, 1) and (1, 0), then the three (0, 0); (2, 0) alone is too few for a group.

    The variances are 5/9 and 5/36. From (2, 0) it is 1 · 9/5 + 1/4 · 36/5 = 3.6 to the mean of the
    first group, and 4 · 9/5 = 7.2 to the second.
    """
    one, two = (PlainTree({"*": None, **dict.fromkeys(values, "*")}) for values in ("012", "01"))
    rows = [("0", "0")] * 3 + [("1", "0"), ("1", "1"), ("2", "0")]
    classes = Problem((one, two), tuple(rows)).classes()
    task = Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 2)
    steps = build_lesson(mdav, task, metric_named("ncp")).steps
    assert [step.heading for step in steps[1:-1]] == [
        "A group begins with 1, 1",
        "1, 0 joins the group of 1, 1",
        "A group begins with 0, 0",
        "2, 0 is left over",
    ]
    assert steps[4].choices[0].chosen.key == pytest.approx((3.6, 0))


def test_mondrian_on_two_attributes():
    """Ages span 20, wards span 4. NCP: ages lose up to 8/8 each, wards 4/4: 8 + 8 = 16 in all."""
    lesson = build_lesson(mondrian, lesson_tables.eight_points(), metric_named("ncp"))
    steps = lesson.steps
    stay = ["2 records stay"] * 2
    cuts = [f"Cut {cut}" for cut in ("8 records on age", "4 records on ward", "4 records on age")]
    headings = ["The table", "One region", *cuts[:2], *stay, cuts[2], *stay, "The release"]
    assert [step.heading for step in steps] == headings
    # Everything is as wide as the table: 100 % is lost.
    assert steps[1].numbers.alteration == 100

    # Both axes are as wide as the table, age is first. Of eight, four do not exceed 26.
    axes, where = steps[2].choices
    assert [(each.name, each.key) for each in axes.candidates] == [
        ("age", (-1.0, 0)),
        ("ward", (-1.0, 1)),
    ]
    assert where.chosen.name == "up to 26"
    # Ages 20-26 and 28-40 are 4 of 8 values each: 8 records x 4/8 = 4; wards lose all: 8 x 4/4 = 8.
    assert steps[2].numbers.alteration == pytest.approx(100 * 12 / 16)
    assert boxes(steps[2]) == [((20, 1), (26, 5), 4), ((28, 1), (40, 5), 4)]

    # 20-26: age spans 6 of 20, ward 4 of 4. Wards 1, 2, 4, 5: two of four do not exceed 2.
    axes, where = steps[3].choices
    assert [(each.name, each.key[0]) for each in axes.candidates] == [("age", -0.3), ("ward", -1)]
    assert where.chosen.name == "up to 2"
    # Both parts: ages three values (20-24, 22-26), 4 x 3/8 = 1.5; wards two values, 4 x 2/4 = 2.
    # The other half still loses 4 x 4/8 + 4 x 4/4 = 6: together 9.5 of 16.
    assert steps[3].numbers.alteration == pytest.approx(100 * 9.5 / 16)
    assert boxes(steps[3]) == [((20, 1), (24, 2), 2), ((22, 4), (26, 5), 2), ((28, 1), (40, 5), 4)]
    assert "fewer than 2 k = 4 records" in steps[4].sentence

    # 28-40: ward is widest (4 of 4), but three records are in ward 1 and one in 5: up to 1 leaves
    # one record, below 1 none. Age spans 12 of 20: two of four do not exceed 30.
    axes, where = steps[6].choices
    assert [(each.name, each.key) for each in axes.candidates] == [
        ("age", (-0.6, 0)),
        ("ward", (-1.0, 1)),
    ]
    assert axes.candidates[1].figures == (100,)
    assert axes.candidates[1].refused == "a part would hold 1 record"
    assert where.chosen.name == "up to 30"
    assert "“ward” would come first, but a part would hold 1 record" in steps[6].sentence
    # 28, 30: ages two values, 2 x 2/8; ward 1 as it is. 34, 40: 2 x 2/8, wards lose all, 2 x 4/4.
    # 0.5 + 0.5 + 2 = 3 here, 3.5 in the other half: 6.5 of 16.
    assert steps[6].numbers.alteration == pytest.approx(100 * 6.5 / 16)
    assert boxes(steps[6])[2:] == [((28, 1), (30, 1), 2), ((34, 1), (40, 5), 2)]
    assert steps[-1].numbers.min_k == 2 and steps[-1].numbers.classes == 4
    released = steps[-1].recoding
    labels = [[tree.labels[v] for tree, v in zip(released.hierarchies, row, strict=True)]
              for row in released.targets.tolist()]  # fmt: skip
    assert labels == [
        ["[20, 24]", "[1, 2]"], ["[22, 26]", "[4, 5]"], ["[20, 24]", "[1, 2]"],
        ["[22, 26]", "[4, 5]"], ["[28, 30]", "1"], ["[28, 30]", "1"],
        ["[34, 40]", "*"], ["[34, 40]", "*"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("dimension", "axis", "figures", "said"),
    [
        # All eight ages differ; wards are 1, 2, 4 and 5.
        ("most-distinct", "age", (8, 4), "most distinct values in the region, 8 against 4."),
        # Four do not exceed 26; four have ward 1 (20, 28, 30, 34).
        ("best-balance", "age", (4, 4),
         "fewest records in the larger part, 4 for “age” and “ward”; "
         "the tie goes to the first column."),
        # Of 16 cells: by age 20 to 26 and 28 to 40, each with wards 1 to 5, 4 * (6 + 12) / 20 + 8;
        # by ward 1, ages 20 to 34, and 2 to 5, ages 22 to 40, 4 * (14 + 18) / 20 + 4 * 3 / 4.
        ("least-loss", "ward", (72.5, 58.75),
         "least loss of values after the cut, 58.75 % against 72.5 %."),
    ],
)  # fmt: skip
def test_mondrian_by_another_choice_of_the_axis(dimension, axis, figures, said):
    task = replace(lesson_tables.eight_points(), options={"dimension": dimension})
    step = build_lesson(mondrian, task, metric_named("ncp")).steps[2]
    axes, _ = step.choices
    assert axes.chosen.name == axis and lesson_tables.is_confirmed(axes)
    assert tuple(each.figures[0] for each in axes.candidates) == figures
    assert said in step.sentence


def boxes(step: Step) -> list[tuple[tuple[float, ...], tuple[float, ...], int]]:
    """The regions after a step."""
    return [(each.low, each.high, each.records) for each in step.detail.regions]


# --- what must be noticed ---------------------------------------------------------------------
def test_a_wrong_decision_is_noticed(monkeypatch):
    """A path whose first partner costs 24, where 16 was to be had: the lesson parts from it."""
    true = gaa.merge_path

    def wrong(task, progress=ignore_progress):
        path = true(task, progress)
        nodes, counts = path.nodes.copy(), path.counts.copy()
        nodes[4], nodes[5] = [2, 3], [2, 4]
        parts = np.array([[0, 2, -1], [1, 3, -1]], dtype=np.int32)
        return replace(path, parts=parts, nodes=nodes, counts=counts)

    monkeypatch.setattr(gaa, "merge_path", wrong)
    lesson = build_lesson(gaa, lesson_tables.animals(), metric_named("custom"))
    assert lesson.steps[1].choices[1].chosen.cost == 16
    with pytest.raises(AssertionError):
        check_lesson(lesson, gaa)


def test_every_algorithm_but_the_solver_has_a_lesson():
    """Local suppression is the lattice sweep, whose lesson shows it, on trees of height 2."""
    untold = {name for name, module in algorithms().items() if find_replay(module) is None}
    assert untold == {"optimal-local", "local-suppression"}, "what the solver does is no step"


@pytest.mark.parametrize("family", ["merging", "levels", "regions", "clusters", "elsewhere"])
def test_an_algorithm_that_nobody_told_has_a_start_and_an_end(family):
    card = AlgorithmCard(
        "new", "New", "One. Two.", "2026", family=family, how="", guarantees="", slow=""
    )
    module = SimpleNamespace(CARD=card, anonymise=gaa.anonymise)
    lesson = build_lesson(module, lesson_tables.animals(), metric_named("custom"))
    assert [step.heading for step in lesson.steps] == ["The table", "The release"]
    assert not lesson.complete
    assert lesson.steps[-1].sentence.startswith("The steps of this algorithm are not shown")
    assert lesson.steps[-1].numbers.alteration == pytest.approx(100 * 20 / 72)


def grown(task: Task, each: int) -> Task:
    """The same with so many records in each class."""
    counts = np.full(task.classes.n_classes, each, dtype=np.int64)
    return replace(task, classes=replace(task.classes, counts=counts, sensitive=()))


def one_record() -> Task:
    tree = build_flat_hierarchy(["a", "b"])
    nodes = np.array([[0]], dtype=np.int32)
    classes = EquivalenceClasses(("one",), (tree,), nodes, np.array([1]))
    return Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 1)


def deep() -> Task:
    """A lattice of 16 x 8 x 8 = 1,024 nodes."""
    chains = []
    for levels in (16, 8, 8):
        names = [f"n{level}" for level in range(levels)]
        chains.append(PlainTree(dict(zip(names, [None, *names[:-1]], strict=True))))
    problem = Problem(tuple(chains), (("n15", "n7", "n7"), ("n14", "n7", "n7")))
    classes = problem.classes()
    return Task(classes, scale_metric_potentials(classes, metric_named("total")), 2)


IN_PARTS = replace(lesson_tables.animals(), options={"parts": "2"})


@pytest.mark.parametrize(
    ("name", "task", "metric", "weights", "part"),
    [
        ("gaa", grown(lesson_tables.animals(), 8), "custom", (), "for 2 to 30 records"),
        ("gaa", one_record(), "ncp", (), "this table has 1."),
        ("gaa", lesson_tables.animals(), "total", (), "not those of the metric 'total'"),
        ("gaa", lesson_tables.animals(), "custom", (1.0, 3.0), "not those of the metric 'custom'"),
        ("gaa", IN_PARTS, "custom", (), "choose parts '1'"),
        ("flash", deep(), "total", (), "a lesson searches at most 1\u202f000"),
        ("lattice-sweep", deep(), "total", (), "a lesson searches at most 1\u202f000"),
        ("mdav", lesson_tables.animals(), "custom", (), "'q0' holds texts"),
        ("gaa", replace(lesson_tables.animals(), k=9), "custom", (), "k = 9 cannot be reached"),
    ],
)
def test_what_has_no_lesson_is_refused_in_a_sentence(name, task, metric, weights, part):
    with pytest.raises((PlanError, Unsatisfiable)) as refused:
        build_lesson(algorithms()[name], task, metric_named(metric), weights)
    assert part in refused.value.sentence


def test_a_lesson_of_too_many_steps_is_refused(monkeypatch):
    monkeypatch.setattr("kanon.teaching.lesson_builder.MOST_STEPS", 2)
    with pytest.raises(PlanError, match="would have more than 2 steps"):
        build_lesson(gaa, replace(lesson_tables.animals(), k=8), metric_named("custom"))
