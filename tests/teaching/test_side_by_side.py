"""Two lessons side by side: walked through together to the end, and where they part."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.task import Task
from kanon.errors import PlanError, Unsatisfiable
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.strategies import LOOKS_AT
from kanon.teaching.lesson import Lesson
from kanon.teaching.lesson_builder import build_lesson
from kanon.teaching.presets import PRESETS, load_preset_table
from kanon.teaching.side_by_side import SideBySide
from support.lesson_tables import ILL, classes_of
from support.random_tables import SEVEN, examples, problems

MERGING = ("gaa", "gaa-small", "kaca")
TOLD = [name for name in algorithms() if name != "mdav"]  # which takes numbers alone


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Lesson, Lesson]:
    """Two lessons on one table: other algorithms, metrics, strategies, or all the same."""
    problem = draw(problems(max_records=12))
    n = len(problem.rows)
    assume(n >= 2)
    classes = classes_of(problem, draw(st.lists(st.sampled_from(ILL), min_size=n, max_size=n)))
    k = draw(st.integers(2, min(n, 5)))
    both = MERGING if draw(st.booleans()) else TOLD
    found = []
    for _ in range(2):
        name, metric = draw(st.sampled_from(both)), metric_named(draw(st.sampled_from(SEVEN)))
        uses = algorithms()[name].CARD.uses
        strategy = draw(st.sampled_from(list(LOOKS_AT))) if "strategy" in uses else "s1"
        node = [draw(st.integers(0, tree.height - 1)) for tree in classes.hierarchies]
        task = Task(
            classes, scale_metric_potentials(classes, metric), k, strategy=strategy,
            sensitive="ill", node=tuple(node) if "node" in uses else None,
        )  # fmt: skip
        try:
            found.append(build_lesson(algorithms()[name], task, metric))
        except (Unsatisfiable, PlanError):
            assume(False)
    return found[0], found[1]


def groups(lesson: Lesson, position: int) -> list[set[int]]:
    """The original classes that are one class, by whether their records look the same."""
    recoding = lesson.steps[position].recoding
    found: dict[tuple[int, ...], set[int]] = {}
    for each, row in enumerate(recoding.targets.tolist()):
        if recoding.assigned[each] >= 0:
            found.setdefault(tuple(row), set()).add(each)
    return sorted(found.values(), key=min)


def released(lesson: Lesson) -> list[list[str]]:
    last = lesson.steps[-1].recoding
    return [
        [tree.labels[node] for tree, node in zip(last.hierarchies, row, strict=True)]
        for row in last.targets.tolist()
    ]


@given(pairs())
@examples(150)
def test_both_are_walked_through_to_their_end_and_part_where_their_classes_do(lessons):
    pair = SideBySide(*lessons)
    assert SideBySide(lessons[0], lessons[0]).parting_place is None
    walked = [pair.get_positions(place) for place in range(pair.last + 1)]
    for side, lesson in enumerate(lessons):
        reached = [positions[side] for positions in walked]
        assert sorted({*reached}) == list(range(len(lesson.steps)))
        assert all(after - before in (0, 1) for before, after in pairwise(reached))
    assert len({*walked}) == len(walked), "at every place something goes on"
    alike = [groups(lessons[0], one) == groups(lessons[1], other) for one, other in walked]
    assert pair.parting_place == (alike.index(False) if False in alike else None)
    shown = [released(lesson) for lesson in lessons]
    assert pair.has_same_release == (alike[-1] and shown[0] == shown[1])


def on(table: str, name: str, k: int, strategy: str = "s1", metric: str = "") -> Lesson:
    """A lesson on a table that comes with kanon."""
    classes = load_preset_table(table).classes
    counted = metric_named(metric or PRESETS[table].metric)
    task = Task(
        classes, scale_metric_potentials(classes, counted), k, strategy=strategy,
        sensitive=classes.sensitive[0].name if classes.sensitive else None,
    )  # fmt: skip
    return build_lesson(algorithms()[name], task, counted)


def test_two_strategies_on_ten_patients_part_at_the_last_merge():
    """S1 and S3 make the same six merges; at the seventh the partners differ."""
    pair = SideBySide(on("hospital", "gaa", 3), on("hospital", "gaa", 3, "s3"))
    assert (pair.last, pair.parting_place, pair.has_same_release) == (8, 7, False)
    one, other = (lesson.steps[7].detail for lesson in (pair.one, pair.other))
    assert one.picked.label == other.picked.label
    assert one.partner.label != other.partner.label
    # S1 looks at the cost alone, so the seventh costs it less.
    paid = [lesson.steps[7].choices[-1].chosen.cost for lesson in (pair.one, pair.other)]
    assert paid[0] < paid[1]
    # S1 and S6 part at the fifth merge, and end alike.
    pair = SideBySide(pair.one, on("hospital", "gaa", 3, "s6"))
    assert (pair.parting_place, pair.has_same_release) == (5, True)


def test_the_shorter_lesson_waits_at_its_release():
    pair = SideBySide(on("hospital", "gaa", 3), on("hospital", "datafly", 3))
    assert (len(pair.one.steps), len(pair.other.steps)) == (9, 10)
    assert [pair.get_positions(place) for place in (0, 8, pair.last)] == [(0, 0), (8, 8), (8, 9)]


def test_lessons_on_two_tables_stand_not_side_by_side():
    with pytest.raises(ValueError, match="not on the same table"):
        SideBySide(on("hospital", "gaa", 3), on("animals-m23", "gaa", 3))
