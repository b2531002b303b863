"""The lesson on the page: its table, algorithm and settings, and the lesson built from them."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from kanon.algorithms.catalogue import algorithm_named, uses
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import count_noun
from kanon.base.sentences import write_records
from kanon.errors import TableError
from kanon.experiments.sweep import Configuration
from kanon.hierarchy import Hierarchy
from kanon.metrics import BESIDE, PUBLISHED
from kanon.plan import VERSION, Plan
from kanon.run import PreparedRun
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource, MemoryTable
from kanon.strategies import STRATEGIES, needs_sensitive
from kanon.studio.learn.state import LessonsView, StepsView
from kanon.studio.session.run_plan import build_plan, build_plan_content
from kanon.studio.session.work import SessionState, list_usable_metrics, list_usable_strategies
from kanon.studio.widgets.picture import PictureSettings, describe_configurations
from kanon.teaching.case import list_texts
from kanon.teaching.lesson import Lesson
from kanon.teaching.lesson_builder import MOST, build_lesson
from kanon.teaching.presets import PRESETS, choose_preset, load_preset_table
from kanon.teaching.small_tables import SmallTable
from kanon.teaching.tables import number_classes

FEWEST = 6  # the fewest records of a lesson on the user's table

OWN = "own"  # what stands for the table that the session works on


@dataclass(frozen=True, eq=False)
class TableLesson:
    table: SmallTable
    lesson: Lesson
    key: str  # a fingerprint of all that both depend on


def get_lesson_table_name(view: StepsView) -> str:
    return view.table or choose_preset(algorithm_named(view.algorithm))


def list_lesson_metrics(work: SessionState, view: StepsView) -> tuple[list[str], str]:
    name = get_lesson_table_name(view)
    if name == OWN:
        usable, usual = list_usable_metrics(work), work.settings.metric
    else:
        trees = load_preset_table(name).classes.hierarchies
        has_weights = all(tree.weight is not None for tree in trees)
        usable = [*PUBLISHED, *BESIDE, *(["custom"] if has_weights else [])]
        usual = PRESETS[name].metric
    return usable, next(metric for metric in (view.metric, usual, *usable) if metric in usable)


def list_lesson_strategies(work: SessionState, view: StepsView) -> tuple[list[str], str]:
    name = get_lesson_table_name(view)
    if name == OWN:
        inside = work.replace_sections(replace(work.settings, algorithm=view.algorithm))
        usable = list_usable_strategies(inside)
    else:
        has_sensitive = Role.SENSITIVE in PRESETS[name].roles.values()
        candidates = STRATEGIES if uses(view.algorithm, "strategy") else ["s1"]
        usable = [
            strategy for strategy in candidates if has_sensitive or not needs_sensitive(strategy)
        ]
    return usable, view.strategy if view.strategy in usable else usable[0]


def find_largest_k(work: SessionState, view: StepsView) -> tuple[int, int]:
    name = get_lesson_table_name(view)
    if name == OWN:
        most, usual = min(view.records, work.table.records.n_records), work.settings.k
    else:
        most, usual = len(load_preset_table(name).frame), PRESETS[name].k
    most = max(most, 2)
    return most, min(view.k or usual, most)


def build_table_lesson(
    work: SessionState,
    view: StepsView,
    remember: Callable[[str, Hashable, Callable[[], TableLesson]], TableLesson],
) -> TableLesson:
    name, k = get_lesson_table_name(view), find_largest_k(work, view)[1]
    metric, strategy = list_lesson_metrics(work, view)[1], list_lesson_strategies(work, view)[1]
    guide: dict[str, Any] = {"metric": metric, "strategy": strategy}
    about: tuple[Hashable, ...] = (name,)
    trees: tuple[tuple[str, Hierarchy], ...] = ()
    if name != OWN:
        content = _build_preset_content(view, guide, k)
    else:
        inside = work.replace_sections(
            replace(work.table, person=None),  # each of a handful of records is shown by itself
            replace(work.settings, algorithm=view.algorithm, k=k, **guide),
        )
        content, about = build_plan_content(inside, trees=False), (name, view.records, view.seed)
        trees = tuple(work.table.trees.items())

    def create_lesson() -> TableLesson:
        plan = build_plan(inside) if name == OWN else Plan.from_content(content)
        table = _take_own_table(work, view) if name == OWN else load_preset_table(name)
        prepared_run, module = PreparedRun(plan, table.source, 0), algorithm_named(view.algorithm)
        weights, numbers = prepared_run.attribute_weights, number_classes(table).tolist()
        lesson = build_lesson(module, prepared_run.task(), plan.metric, weights, numbers)
        entries = [(column, tree.entries()) for column, tree in trees]
        return TableLesson(table, lesson, compute_fingerprint(about, content, entries))

    return remember("lesson", (about, repr(content), trees), create_lesson)


def _build_preset_content(view: StepsView, guide: Mapping[str, Any], k: int) -> dict[str, Any]:
    preset = PRESETS[get_lesson_table_name(view)]
    algorithm: dict[str, Any] = {"name": view.algorithm, **guide}
    if uses(view.algorithm, "node"):
        algorithm["node"] = dict(preset.levels)
    return {
        "version": VERSION,
        "columns": {name: {"role": role.value} for name, role in preset.roles.items()},
        "algorithm": algorithm,
        "privacy": [{"model": "k-anonymity", "k": k}],
    }


def get_own_records(work: SessionState, use: str) -> MemoryTable:
    # An engine is not asked for its incomplete records.
    if isinstance(work.table.records, MemoryTable):
        records = work.table.released_level_records
        if isinstance(records, MemoryTable):
            return records
    raise TableError(
        f"The table stays in its engine, but {use} needs its records here. Download a few of "
        "them as a separate table, or choose a table that comes with kanon."
    )


def take_exercise_table(work: SessionState, size: int) -> SmallTable:
    used_roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    roles = {name: role for name, role in work.table.roles.items() if role in used_roles}
    first = get_own_records(work, "an exercise").frame.head(size)
    frame = pd.DataFrame({name: list_texts(first[name]) for name in roles}, dtype="str")
    schema, trees = Schema(roles), work.table.trees
    used_trees = {name: trees[name] for name in schema.quasi_identifiers if name in trees}
    return SmallTable(frame, schema, MemorySource(frame, schema, used_trees))


def _take_own_table(work: SessionState, view: StepsView) -> SmallTable:
    own_table = get_own_records(work, "a lesson")
    if own_table.n_records < FEWEST:
        records_text = write_records(own_table.n_records)
        if own_table.n_records < work.table.records.n_records:
            records_text = f"{records_text} with all quasi-identifiers"
        raise TableError(
            f"A lesson takes {FEWEST} to {MOST} records, but the table has {records_text}; choose "
            "a table that comes with kanon."
        )
    size = min(max(view.records, FEWEST), MOST, own_table.n_records)
    frame = own_table.frame.head(size)
    if view.seed is not None:
        frame = own_table.frame.sample(size, random_state=view.seed).sort_index()
    frame, schema = frame.reset_index(drop=True), Schema(dict(work.table.roles))
    return SmallTable(frame, schema, MemorySource(frame, schema, work.table.trees))


def describe_lesson_settings(work: SessionState, pair: TableLesson) -> PictureSettings:
    lesson, task, classes = (pair.lesson, pair.lesson.task, pair.table.classes)
    name = get_lesson_table_name(work.view(LessonsView).steps)
    configuration = Configuration(
        lesson.metric.name, task.strategy, scope=task.scope, algorithm=lesson.algorithm
    )
    return PictureSettings.from_texts(
        f"Some of {work.table.title}" if name == OWN else PRESETS[name].title,
        count_noun(classes.n_records, "record"),
        classes.attributes,
        describe_configurations([(configuration, lesson.metric)]),
        k=task.k,
        counting=classes.of,
    )
