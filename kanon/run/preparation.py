"""A plan matched with a table: roles, missing values, hierarchies and classes, ready to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import check_task, needs_hierarchies, uses
from kanon.algorithms.level_bounds import check_level_bounds
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.base.values import MISSING_LABEL, ValueCounts
from kanon.classes import EquivalenceClasses
from kanon.errors import MetricError, PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.plans import LevelBounds, build_hierarchy
from kanon.hierarchy.ranges import build_flat_hierarchy
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import PUBLISHED, Metric, metric_named
from kanon.plan import Plan
from kanon.privacy.model import Model, SensitiveModel
from kanon.privacy.persons import KInPersons
from kanon.privacy.release_model import PopulationModel
from kanon.privacy.row_checks import PlainTree, PopulationRows, list_people
from kanon.schema import Role, check_columns
from kanon.sources.addresses import Address
from kanon.sources.coarsening import Coarsening
from kanon.sources.coverage import check_coverage
from kanon.sources.limits import require_records
from kanon.sources.memory import MemorySource, MemoryTable, convert_to_table, count_for_models
from kanon.sources.opening import open_address, open_source
from kanon.sources.population import count_population
from kanon.sources.repairs import RepairResult
from kanon.sources.stored import StoredTable
from kanon.sources.tables import Source, Table


@dataclass(frozen=True, eq=False)
class PreparedRun:
    """A plan that was matched with a table: ready to run."""

    plan: Plan
    source: Source  # the table, its classes and hierarchies
    dropped: int  # the records left out because a quasi-identifier was missing
    coarsened: tuple[Coarsening, ...] = ()  # the coarsened sensitive columns
    # the people of each population that a model names, by its path
    people: Mapping[str, EquivalenceClasses] = field(default_factory=dict)
    # per sensitive column the hierarchy that says how far its values are apart
    distances: Mapping[str, Hierarchy] = field(default_factory=dict)

    @property
    def classes(self) -> EquivalenceClasses:
        """The equivalence classes of the original table."""
        return self.source.classes

    @property
    def repairs(self) -> tuple[RepairResult, ...]:
        """What was done to repair the table, step by step."""
        return self.source.table.repairs

    @property
    def attribute_weights(self) -> tuple[float, ...]:
        """What the costs of each quasi-identifier count; 1 where the algorithm takes no weights."""
        settings = self.plan.algorithm
        takes_weights = uses(settings.name, "attribute_weights")
        weights = settings.attribute_weights if takes_weights else {}
        return tuple(weights.get(column, 1.0) for column in self.classes.attributes)

    def task(self) -> Task:
        """The task for the plan's algorithm.

        Raises
        ------
        MetricError
            The metric needs edge weights that a hierarchy lacks.
        """
        if self.plan.metric.name == "custom":
            names, trees = self.classes.attributes, self.classes.hierarchies
            _check_drawn_weights(dict(zip(names, trees, strict=True)))
        settings = self.plan.algorithm

        def has_setting(setting: str) -> bool:  # what it does not take changes nothing
            return uses(settings.name, setting)

        return Task(
            self.classes,
            scale_metric_potentials(self.classes, self.plan.metric, self.attribute_weights),
            k=self.plan.class_k,
            weighted=settings.cost == "weighted" or not has_setting("cost"),
            tie_seed=settings.tie_seed if has_setting("tie_seed") else None,
            strategy=settings.strategy if has_setting("strategy") else "s1",
            scope=settings.scope,
            sensitive=self.plan.led_by,
            models=self.models,
            suppression=self.plan.suppression(self.classes.n_records),
            outliers=self.plan.suppression(self.classes.n_records, outliers=True)
            if has_setting("outliers")
            else None,
            seed=settings.seed,
            options=settings.options,
            node=self._get_node(),
            written=self.plan.written,
            level_bounds=self.level_bounds,
            attribute_weights=self.attribute_weights,
        )

    def task_of_bound(self) -> Task:
        """The task whose lower bound holds for the alteration of every release for the plan's k.

        Costs are those of :mod:`kanon.measures.alteration`: attribute weights guide an algorithm,
        and do not count in what was lost.

        Raises
        ------
        MetricError
            The metric needs edge weights that a hierarchy lacks.
        """
        return replace(
            self.task(), potentials=scale_metric_potentials(self.classes, self.plan.metric)
        )

    @property
    def models(self) -> tuple[Model, ...]:
        """The models of the plan, with their populations."""
        return tuple(
            model.bind(self.people) if isinstance(model, PopulationModel) else model
            for model in self.plan.models
            if not (isinstance(model, KInPersons) and self.classes.one_record_each)
        )

    @cached_property
    def population_rows(self) -> dict[str, PopulationRows]:
        """The people of each population that a model names, by the labels of the hierarchies."""
        return {path: list_people(people) for path, people in self.people.items()}

    @property
    def plain_trees(self) -> dict[str, PlainTree]:
        """The hierarchies of hierarchical distances by their labels, for checks of the release."""
        plain_trees: dict[str, PlainTree] = {}
        for column, tree in self.distances.items():
            level = dict(zip(tree.labels, tree.level.tolist(), strict=True))
            plain_trees[column] = {
                label: (above or "", level[label] if above else max(level[label], 1))
                for label, above, _ in tree.entries()
            }
        return plain_trees

    @property
    def about_population(self) -> str:
        """How many records fit nobody in a population, in a sentence; nothing if all do."""
        classes = self.classes
        numbers = {
            model.population: model.count_strangers(classes)
            for model in self.models
            if isinstance(model, PopulationModel)
        }
        return " ".join(
            f"{count_noun(number, classes.of.removesuffix('s'))} of the table "
            f"{'has' if number == 1 else 'have'} no match in the population {quote(population)}, "
            "so not everyone in the table belongs to it."
            for population, number in numbers.items()
            if number
        )

    def _get_node(self) -> tuple[int, ...] | None:
        """The node of the lattice that the plan names, in the order of the quasi-identifiers."""
        levels = self.plan.algorithm.node
        if levels is None:
            return None
        names, trees = self.classes.attributes, self.classes.hierarchies
        bounds = self.level_bounds or [(0, tree.height - 1) for tree in trees]
        for column, (least, most) in zip(names, bounds, strict=True):
            if not least <= levels[column] <= most:
                where = "the plan allows" if self.level_bounds else "the hierarchy has"
                raise PlanError(
                    f"Plan key algorithm.node.{column}: level {levels[column]} is not allowed; "
                    f"{where} levels {least} to {most}."
                )
        return tuple(levels[column] for column in names)

    @property
    def level_bounds(self) -> tuple[tuple[int, int], ...]:
        """The lowest and the highest level of each quasi-identifier; empty without bounds.

        PlanError says which bounds a column cannot have.
        """
        chosen = self.plan.level_bounds
        trees = zip(self.classes.attributes, self.classes.hierarchies, strict=True)
        bounds = [chosen.get(column, LevelBounds()).fit(column, tree) for column, tree in trees]
        if chosen and not self.classes.in_engine:  # which keeps no bounds: see check_task
            check_level_bounds(self.classes, bounds)
        return tuple(bounds) if chosen else ()

    def check(self) -> Task:
        """The task for the plan's algorithm, checked before it is run.

        Raises
        ------
        Unsatisfiable
            No release can meet k or a model.
        PlanError
            The algorithm cannot do what the plan asks for; the message says why.
        """
        task = self.task()
        task.check()
        check_task(self.plan.algorithm.name, task)
        return task

    def select_rows(self, rows: np.ndarray) -> PreparedRun:
        """The same plan and hierarchies for some rows of a table in memory.

        Parameters
        ----------
        rows : numpy.ndarray, shape (n,), bool
            The rows that remain.
        """
        source = self.source
        assert isinstance(source, MemorySource)
        trees = dict(zip(self.classes.attributes, self.classes.hierarchies, strict=True))
        table = MemoryTable(source.table.frame[rows], kinds=source.table.kinds)
        keeps = self.plan.suppressed == "keep"
        smaller = MemorySource(table, self.plan.roles, trees, (), keeps, source.person)
        _count_for_models(smaller, self.plan, self.distances)
        return replace(self, source=smaller)

    def guided_by(self, **changes: Any) -> PreparedRun:
        """The same, with other keys of the plan's ``algorithm``, such as ``metric``."""
        settings = self.plan.algorithm.model_copy(update=changes)
        return replace(self, plan=self.plan.model_copy(update={"algorithm": settings}))


def measured_metrics(plan: Plan, guides: Iterable[str]) -> list[Metric]:
    """The metrics that releases are measured by: the seven, and those that guide."""
    names = dict.fromkeys([*PUBLISHED, *guides])
    return [metric_named(name, plan.composed_metrics) for name in names]


def prepare(plan: Plan, table: Table | pd.DataFrame, folder: Path = Path()) -> PreparedRun:
    """Match a plan with a table: roles, missing values, hierarchies, classes.

    Parameters
    ----------
    table
        The table, wherever its rows are; it is not changed.
    folder
        Where the plan's relative paths start.

    Raises
    ------
    PlanError
        The plan names a column that the table lacks, no quasi-identifier, or no rule for the
        missing values that there are; or it counts k in persons, and some records do not say whom
        they are about, or the rows are not in memory.
    HierarchyError
        A hierarchy is no tree, or lacks values of its column.
    """
    schema = plan.roles
    table = convert_to_table(table).repair(plan.repairs, plan.read.column_kinds)
    if plan.order == "table" and isinstance(table, StoredTable) and table.engine == "spark":
        raise PlanError(
            "Plan key order: 'table' is not allowed with Spark, which keeps no order of rows; "
            "leave it out, or add --engine duckdb."
        )
    schema.check(table.columns)
    require_records(table.n_records)
    columns = schema.quasi_identifiers
    table = as_kinds(plan, table)
    incomplete = table.incomplete(columns)
    if incomplete and plan.read.missing is None:
        if incomplete == table.n_records:
            table.complete(columns)  # says what leads out, as dropping them does not
        raise PlanError(
            f"{count_noun(incomplete, 'record')} with a quasi-identifier missing: set read.missing "
            "to 'drop-records' or 'as-value' to say what happens to them."
        )
    drops = plan.read.missing == "drop-records" and incomplete > 0
    complete = table.complete(columns) if drops else table
    coarsened = tuple(
        coarsening_of(plan, column, complete.count_column_values(column), folder)
        for column in plan.coarsened
    )
    distances = {}
    for column in list_distance_columns(plan):
        values = complete.count_column_values(column)
        coarsening = coarsening_of(plan, column, values, folder)
        check_coverage(column, values.counts, coarsening.tree)
        distances[column] = coarsening.group_tree
    complete = complete.replace_by_groups(coarsened)
    trees = {}
    for column in columns:
        hierarchy = plan.columns[column].hierarchy
        values = complete.count_column_values(column)
        if hierarchy is not None:
            trees[column] = build_hierarchy(column, hierarchy, values.texts, folder, values.chosen)
        elif not needs_hierarchies(plan.algorithm.name) and column not in plan.level_bounds:
            trees[column] = build_flat_hierarchy(values.texts or [MISSING_LABEL], values.chosen)
    pseudonyms = [
        name
        for name, column in plan.columns.items()
        if column.role is Role.IDENTIFIER and column.pseudonym
    ]
    keeps = plan.suppressed == "keep"
    if isinstance(complete, StoredTable) and (distances or _combines_columns(plan)):
        raise PlanError(
            "A hierarchical distance, and a model of several sensitive columns, can be counted "
            "only for a table in memory; add --engine memory, or load the table as a file."
        )
    source = open_source(complete, schema, trees, pseudonyms, keeps, plan.person)
    if isinstance(source, MemorySource):
        _count_for_models(source, plan, distances)
    people = {
        model.population: count_population(
            source.classes, open_address(_resolve_place(model.population, folder)), plan.repairs
        ).classes
        for model in plan.models
        if isinstance(model, PopulationModel)
    }
    n_dropped = incomplete if drops else 0
    prepared = PreparedRun(plan, source, n_dropped, coarsened, people, distances)
    for model in prepared.models:
        if isinstance(model, PopulationModel):
            model.check_table(source.classes)
    return prepared


def _combines_columns(plan: Plan) -> bool:
    return any(isinstance(m, SensitiveModel) and m.looks_at_several for m in plan.models)


def _count_for_models(source: MemorySource, plan: Plan, distances: Mapping[str, Hierarchy]) -> None:
    """Count what the models need beside the classes."""
    combines = _combines_columns(plan)
    if distances or combines:
        source.classes = count_for_models(
            source.classes, distances, source.table if combines else None, source.row_class
        )


def list_distance_columns(plan: Plan) -> list[str]:
    """The sensitive columns whose hierarchy says how far their values are apart."""
    models = [model for model in plan.models if getattr(model, "distance", "") == "hierarchical"]
    return [getattr(model, "column", "") for model in models]


def _resolve_place(place: str, folder: Path) -> Address:
    """The address of a population, a relative path from the folder of its plan."""
    address = Address.parse(place)
    if address.is_url:
        return address
    return replace(address, place=str(folder / address.place))


def coarsening_of(plan: Plan, column: str, values: ValueCounts, folder: Path) -> Coarsening:
    """How a plan coarsens a sensitive column, whose values builders take their leaves from.

    A column without a level is as if coarsened to level 0.

    Raises
    ------
    PlanError
        There is no hierarchy, or it has no such level.
    HierarchyError
        It is no tree, or its builder does not fit the values.
    """
    hierarchy, level = plan.columns[column].hierarchy, plan.columns[column].level
    if hierarchy is None:
        raise PlanError(
            f"Plan key columns.{column}.hierarchy: the hierarchical distance of {quote(column)} "
            "needs a hierarchy; add one, or choose another distance."
        )
    tree = build_hierarchy(column, hierarchy, values.texts, folder, values.chosen)
    return Coarsening(column, tree, level or 0)


def as_kinds(plan: Plan, table: Table) -> Table:
    """The table with its columns read as the plan says.

    Raises
    ------
    PlanError
        The plan says it of a column that the table lacks.
    TableError
        Values of a quasi-identifier or a sensitive column are not of the kind that the plan names.
    """
    kinds, roles = plan.read.column_kinds, plan.roles
    check_columns(table.columns, kinds)
    for column in (*roles.quasi_identifiers, *roles.columns(Role.SENSITIVE)):
        if column in kinds:
            kinds[column].check(column, table.count_column_values(column).texts)
    return table.set_kinds(kinds) if kinds else table


def _check_drawn_weights(trees: Mapping[str, Hierarchy]) -> None:
    inner = {column: tree for column, tree in trees.items() if tree.n_nodes > 1}
    for column, tree in inner.items():
        if tree.weight is None:
            raise MetricError(
                "The metric 'custom' counts drawn edge weights, but the hierarchy of "
                f"{quote(column)} has none."
            )
    if inner and not any(tree.weight.any() for tree in inner.values() if tree.weight is not None):
        raise MetricError(
            "All drawn edge weights are 0, so the metric 'custom' counts nothing; give some edge a "
            "weight above 0."
        )
