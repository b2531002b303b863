"""The lesson on the page: its table, algorithm and settings, and the lesson built from them."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from kanon.algorithms.catalogue import algorithm_named, uses
from kanon.base.fingerprint import fingerprint_of
from kanon.base.formatting import counted
from kanon.base.sentences import records_said
from kanon.errors import TableError
from kanon.experiments.sweep import Configuration
from kanon.metrics import BESIDE, PUBLISHED
from kanon.plan import VERSION, Plan
from kanon.run import PreparedRun
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource, MemoryTable
from kanon.strategies import STRATEGIES, needs_sensitive
from kanon.studio.learn.state import LessonsView, StepsView
from kanon.studio.session.run_plan import plan_content, plan_of
from kanon.studio.session.work import Work, usable_metrics, usable_strategies
from kanon.studio.widgets.picture import PictureSettings, configurations_said
from kanon.teaching.case import texts_of
from kanon.teaching.lesson import Lesson
from kanon.teaching.lesson_builder import MOST, lesson_of
from kanon.teaching.presets import PRESETS, preset_for, preset_table
from kanon.teaching.small_tables import SmallTable
from kanon.teaching.tables import own_numbers

FEWEST = 6  # the fewest records of a lesson on the user's table

OWN = "own"  # what stands for the table that the session works on


@dataclass(frozen=True, eq=False)
class TableLesson:
    table: SmallTable
    lesson: Lesson
    key: str  # a fingerprint of all that both depend on


def table_of(view: StepsView) -> str:
    return view.table or preset_for(algorithm_named(view.algorithm))


def metrics_of(work: Work, view: StepsView) -> tuple[list[str], str]:
    name = table_of(view)
    if name == OWN:
        usable, usual = usable_metrics(work), work.settings.metric
    else:
        trees = preset_table(name).classes.hierarchies
        has_weights = all(tree.weight is not None for tree in trees)
        usable = [*PUBLISHED, *BESIDE, *(["custom"] if has_weights else [])]
        usual = PRESETS[name].metric
    return usable, next(metric for metric in (view.metric, usual, *usable) if metric in usable)


def strategies_of(work: Work, view: StepsView) -> tuple[list[str], str]:
    name = table_of(view)
    if name == OWN:
        inside = work.with_parts(replace(work.settings, algorithm=view.algorithm))
        usable = usable_strategies(inside)
    else:
        has_sensitive = Role.SENSITIVE in PRESETS[name].roles.values()
        candidates = STRATEGIES if uses(view.algorithm, "strategy") else ["s1"]
        usable = [
            strategy for strategy in candidates if has_sensitive or not needs_sensitive(strategy)
        ]
    return usable, view.strategy if view.strategy in usable else usable[0]


def largest_k(work: Work, view: StepsView) -> tuple[int, int]:
    name = table_of(view)
    if name == OWN:
        most, usual = min(view.records, work.table.records.n_records), work.settings.k
    else:
        most, usual = len(preset_table(name).frame), PRESETS[name].k
    most = max(most, 2)
    return most, min(view.k or usual, most)


def told(
    work: Work, remember: Callable[[str, Hashable, Callable[[], TableLesson]], TableLesson]
) -> TableLesson:
    view, is_own = work.view(LessonsView).steps, table_of(work.view(LessonsView).steps) == OWN
    k, guide = largest_k(work, view)[1], _get_guide(work, view)
    inside = work.with_parts(
        replace(work.table, person=None),  # each of a handful of records is shown by itself
        replace(work.settings, algorithm=view.algorithm, k=k, **guide),
    )
    content = plan_content(inside, trees=False) if is_own else _build_preset_content(work, view)
    trees = tuple(work.table.trees.items()) if is_own else ()
    draw_settings = (view.records, view.seed) if is_own else ()

    def create_lesson() -> TableLesson:
        plan = plan_of(inside) if is_own else Plan.from_content(content)
        table = _take_own_table(work, view) if is_own else preset_table(table_of(view))
        prepared_run, module = PreparedRun(plan, table.source, 0), algorithm_named(view.algorithm)
        weights, numbers = prepared_run.attribute_weights, own_numbers(table).tolist()
        lesson = lesson_of(module, prepared_run.task(), plan.metric, weights, numbers)
        about = [(name, tree.entries()) for name, tree in trees]
        return TableLesson(
            table, lesson, fingerprint_of(table_of(view), draw_settings, content, about)
        )

    return remember("lesson", (table_of(view), draw_settings, repr(content), trees), create_lesson)


def _build_preset_content(work: Work, view: StepsView) -> dict[str, Any]:
    preset, (_, k) = PRESETS[table_of(view)], largest_k(work, view)
    algorithm: dict[str, Any] = {"name": view.algorithm, **_get_guide(work, view)}
    if uses(view.algorithm, "node"):
        algorithm["node"] = dict(preset.levels)
    return {
        "version": VERSION,
        "columns": {name: {"role": role.value} for name, role in preset.roles.items()},
        "algorithm": algorithm,
        "privacy": [{"model": "k-anonymity", "k": k}],
    }


def _get_guide(work: Work, view: StepsView) -> dict[str, Any]:
    return {"metric": metrics_of(work, view)[1], "strategy": strategies_of(work, view)[1]}


def own_records(work: Work, use: str) -> MemoryTable:
    # An engine is not asked for its incomplete records.
    if isinstance(work.table.records, MemoryTable):
        records = work.table.coarse_records
        if isinstance(records, MemoryTable):
            return records
    raise TableError(
        f"The table stays in its engine, and {use} needs its records here; download a "
        "few of them as a table of their own, or choose a table that comes with kanon."
    )


def exercise_table(work: Work, size: int) -> SmallTable:
    used_roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    roles = {name: role for name, role in work.table.roles.items() if role in used_roles}
    first = own_records(work, "an exercise").frame.head(size)
    frame = pd.DataFrame({name: texts_of(first[name]) for name in roles}, dtype="str")
    schema, trees = Schema(roles), work.table.trees
    used_trees = {name: trees[name] for name in schema.quasi_identifiers if name in trees}
    return SmallTable(frame, schema, MemorySource(frame, schema, used_trees))


def _take_own_table(work: Work, view: StepsView) -> SmallTable:
    own_table = own_records(work, "a lesson")
    if own_table.n_records < FEWEST:
        records_text = records_said(own_table.n_records)
        if own_table.n_records < work.table.records.n_records:
            records_text = f"{records_text} with all quasi-identifiers"
        raise TableError(
            f"A lesson takes {FEWEST} to {MOST} records, and the table has {records_text}; choose "
            "one that comes with kanon."
        )
    size = min(max(view.records, FEWEST), MOST, own_table.n_records)
    frame = own_table.frame.head(size)
    if view.seed is not None:
        frame = own_table.frame.sample(size, random_state=view.seed).sort_index()
    frame, schema = frame.reset_index(drop=True), Schema(dict(work.table.roles))
    return SmallTable(frame, schema, MemorySource(frame, schema, work.table.trees))


def settings_of_lesson(work: Work, pair: TableLesson) -> PictureSettings:
    lesson, task, classes = (pair.lesson, pair.lesson.task, pair.table.classes)
    name = table_of(work.view(LessonsView).steps)
    configuration = Configuration(
        lesson.metric.name, task.strategy, scope=task.scope, algorithm=lesson.algorithm
    )
    return PictureSettings.of(
        f"Some of {work.table.title}" if name == OWN else PRESETS[name].title,
        counted(classes.n_records, "record"),
        classes.attributes,
        configurations_said([(configuration, lesson.metric)]),
        k=task.k,
        counting=classes.of,
    )
