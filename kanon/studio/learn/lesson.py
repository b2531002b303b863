"""The lesson that is shown: which table, which algorithm and settings, and what comes of them."""

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

FEWEST = 6  # the fewest records of a lesson on a table of one's own

OWN = "own"  # what stands for the table that the session works on


@dataclass(frozen=True, eq=False)
class TableLesson:
    table: SmallTable
    lesson: Lesson
    key: str  # a fingerprint of all that both depend on


def table_of(view: StepsView) -> str:
    """The table that is shown: the chosen one, or that on which the algorithm is seen best."""
    return view.table or preset_for(algorithm_named(view.algorithm))


def metrics_of(work: Work, view: StepsView) -> tuple[list[str], str]:
    """The metrics that can be chosen, and the one that guides."""
    name = table_of(view)
    if name == OWN:
        usable, usual = usable_metrics(work), work.settings.metric
    else:
        trees = preset_table(name).classes.hierarchies
        drawn = all(tree.weight is not None for tree in trees)
        usable = [*PUBLISHED, *BESIDE, *(["custom"] if drawn else [])]
        usual = PRESETS[name].metric
    return usable, next(one for one in (view.metric, usual, *usable) if one in usable)


def strategies_of(work: Work, view: StepsView) -> tuple[list[str], str]:
    name = table_of(view)
    if name == OWN:
        inside = work.with_parts(replace(work.settings, algorithm=view.algorithm))
        usable = usable_strategies(inside)
    else:
        able = Role.SENSITIVE in PRESETS[name].roles.values()
        known = STRATEGIES if uses(view.algorithm, "strategy") else ["s1"]
        usable = [one for one in known if able or not needs_sensitive(one)]
    return usable, view.strategy if view.strategy in usable else usable[0]


def largest_k(work: Work, view: StepsView) -> tuple[int, int]:
    """The largest k that the records allow, and the one that is asked for."""
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
    """The lesson of the page's settings; KanonError says why there is none."""
    view, own = work.view(LessonsView).steps, table_of(work.view(LessonsView).steps) == OWN
    k, guided = largest_k(work, view)[1], _guided(work, view)
    inside = work.with_parts(
        replace(work.table, person=None),  # each of a handful of records is shown by itself
        replace(work.settings, algorithm=view.algorithm, k=k, **guided),
    )
    content = plan_content(inside, trees=False) if own else _content(work, view)
    trees = tuple(work.table.trees.items()) if own else ()
    drawn = (view.records, view.seed) if own else ()

    def make() -> TableLesson:
        plan = plan_of(inside) if own else Plan.from_content(content)
        table = _own_table(work, view) if own else preset_table(table_of(view))
        prepared, module = PreparedRun(plan, table.source, 0), algorithm_named(view.algorithm)
        weights, numbers = prepared.attribute_weights, own_numbers(table).tolist()
        lesson = lesson_of(module, prepared.task(), plan.metric, weights, numbers)
        about = [(name, tree.entries()) for name, tree in trees]
        return TableLesson(table, lesson, fingerprint_of(table_of(view), drawn, content, about))

    return remember("lesson", (table_of(view), drawn, repr(content), trees), make)


def _content(work: Work, view: StepsView) -> dict[str, Any]:
    preset, (_, k) = PRESETS[table_of(view)], largest_k(work, view)
    algorithm: dict[str, Any] = {"name": view.algorithm, **_guided(work, view)}
    if uses(view.algorithm, "node"):
        algorithm["node"] = dict(preset.levels)
    return {
        "version": VERSION,
        "columns": {name: {"role": role.value} for name, role in preset.roles.items()},
        "algorithm": algorithm,
        "privacy": [{"model": "k-anonymity", "k": k}],
    }


def _guided(work: Work, view: StepsView) -> dict[str, Any]:
    return {"metric": metrics_of(work, view)[1], "strategy": strategies_of(work, view)[1]}


def own_records(work: Work, what: str) -> MemoryTable:
    # What an engine holds is not even asked for its records that lack something.
    if isinstance(work.table.records, MemoryTable):
        kept = work.table.coarse_records
        if isinstance(kept, MemoryTable):
            return kept
    raise TableError(
        f"The table stays in its engine, and {what} needs its records here; download a "
        "few of them as a table of their own, or take one that comes with kanon."
    )


def exercise_table(work: Work, size: int) -> SmallTable:
    """The first records of the session's table, without identifiers and insensitive columns."""
    wanted = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    roles = {name: role for name, role in work.table.roles.items() if role in wanted}
    first = own_records(work, "an exercise").frame.head(size)
    frame = pd.DataFrame({name: texts_of(first[name]) for name in roles}, dtype="str")
    schema, trees = Schema(roles), work.table.trees
    used = {name: trees[name] for name in schema.quasi_identifiers if name in trees}
    return SmallTable(frame, schema, MemorySource(frame, schema, used))


def _own_table(work: Work, view: StepsView) -> SmallTable:
    kept = own_records(work, "a lesson")
    if kept.n_records < FEWEST:
        records = records_said(kept.n_records)
        if kept.n_records < work.table.records.n_records:
            records = f"{records} with all quasi-identifiers"
        raise TableError(
            f"A lesson takes {FEWEST} to {MOST} records, and the table has {records}; take "
            "one that comes with kanon."
        )
    size = min(max(view.records, FEWEST), MOST, kept.n_records)
    frame = kept.frame.head(size)
    if view.seed is not None:
        frame = kept.frame.sample(size, random_state=view.seed).sort_index()
    frame, schema = frame.reset_index(drop=True), Schema(dict(work.table.roles))
    return SmallTable(frame, schema, MemorySource(frame, schema, work.table.trees))


def settings_of_lesson(work: Work, found: TableLesson) -> PictureSettings:
    lesson, task, classes = found.lesson, found.lesson.task, found.table.classes
    name = table_of(work.view(LessonsView).steps)
    led = Configuration(
        lesson.metric.name, task.strategy, scope=task.scope, algorithm=lesson.algorithm
    )
    return PictureSettings.of(
        f"Some of {work.table.title}" if name == OWN else PRESETS[name].title,
        counted(classes.n_records, "record"),
        classes.attributes,
        configurations_said([(led, lesson.metric)]),
        k=task.k,
        counting=classes.of,
    )
