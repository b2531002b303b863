"""Builds the lesson of an algorithm on a task, by the module of the algorithm's family."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from types import ModuleType

from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.errors import PlanError
from kanon.metrics import Metric
from kanon.recoding import Recoding
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Lesson, Step
from kanon.teaching.worked import write_loss

FEWEST, MOST = 2, 30  # records of the table of a lesson

MOST_STEPS = 300  # longer lessons are refused: nobody goes through them

Replay = Callable[[Blackboard], Iterator[Step]]


def build_lesson(
    module: ModuleType,
    task: Task,
    metric: Metric,
    attribute_weights: Sequence[float] = (),
    numbers: Sequence[int] = (),
) -> Lesson:
    records = task.classes.n_records
    if not FEWEST <= records <= MOST:
        raise PlanError(
            f"A lesson is for {FEWEST} to {MOST} records, so that every step can be followed; this "
            f"table has {write_count(records)}."
        )
    task = replace(task, level_bounds=())  # no reference keeps any
    check = getattr(module, "check", None)
    if check is not None:
        check(task)
    task.check()
    board = Blackboard(task, metric, tuple(attribute_weights), tuple(numbers))
    steps = [_build_first_step(board)]
    replay = find_replay(module)
    if replay is not None:
        steps += islice(replay(board), MOST_STEPS)
        if len(steps) > MOST_STEPS:
            raise PlanError(
                f"A lesson of {module.CARD.title} on this table would have more than "
                f"{write_count(MOST_STEPS)} steps; take fewer "
                "quasi-identifiers or smaller hierarchies."
            )
        release = steps[-1].recoding
    else:
        release = module.anonymise(task)
    steps.append(_build_last_step(board, release, replay is not None))
    return Lesson(
        algorithm=module.CARD.name,
        title=module.CARD.title,
        task=task,
        metric=metric,
        sensitive=board.sensitive,
        steps=tuple(steps),
        unit=board.unit,
        complete=replay is not None,
    )


def find_replay(module: ModuleType) -> Replay | None:
    name = f"kanon.teaching.{module.CARD.family}"
    family = importlib.import_module(name) if find_spec(name) else None
    replay: Replay | None = getattr(family, "REPLAYS", {}).get(module.CARD.name)
    return replay


def _build_first_step(board: Blackboard) -> Step:
    task, classes = board.task, board.task.classes
    small = int(classes.counts[classes.counts < task.k].sum())
    sizes = f"Every class already holds at least k = {task.k} records."
    if small:
        records = count_noun(small, "record is", "records are")
        sizes = f"{records} in classes of fewer than k = {task.k}."
    return board.step(
        "The table",
        f"{count_noun(classes.n_records, 'record')} in "
        f"{count_noun(classes.n_classes, 'class', 'classes')}"
        f": records with the same quasi-identifiers are one class. {sizes}",
        board.build_recoding(()),
    )


def _build_last_step(board: Blackboard, release: Recoding, has_steps: bool) -> Step:
    numbers, suppressed, smallest = board.numbers(release), "", "nothing is released"
    if numbers.suppressed:
        suppressed = f" {count_noun(numbers.suppressed, 'record is', 'records are')} suppressed."
    if numbers.min_k is not None:
        smallest = f"the smallest holds {count_noun(numbers.min_k, 'record')}"
    altered = f"{board.metric.card.title}: {write_loss(release, board.metric, by_hand=False)}"
    return board.step(
        "The release",
        ("" if has_steps else "The steps of this algorithm are not shown, only its release. ")
        + f"{count_noun(numbers.classes, 'class', 'classes')}; {smallest}, and k = {board.task.k} "
        f"was required.{suppressed} Alteration, measured by {altered} of what could be lost.",
        release,
    )
