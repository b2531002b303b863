"""A small table with its release and a public register: what an attack works on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from kanon.algorithms import gaa
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.base.values import MISSING_LABEL, encode_texts
from kanon.errors import PlanError, TableError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.measures.cells import scale_metric_potentials
from kanon.measures.linkage import find_matches
from kanon.metrics import metric_named
from kanon.privacy.model import Model
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sources.coverage import check_coverage, count_values
from kanon.sources.memory import MemorySource
from kanon.teaching.optimum import find_best_recoding
from kanon.teaching.small_tables import MOST_RECORDS

METRIC = metric_named("nllm")  # measures the releases that lessons make

Shares = tuple[tuple[str, float], ...]
"""Sensitive values, and how often each occurs, as shares of 1."""

_PERSON = "(person)"  # names people where a table has no identifier


@dataclass(frozen=True, eq=False)
class Case:
    table: pd.DataFrame  # the records
    schema: Schema  # the role of each column
    source: MemorySource  # the table, counted
    recoding: Recoding  # its release
    sensitive: str  # the sensitive column
    # the people who could be in the table: identifiers and public columns
    register: pd.DataFrame

    @property
    def k(self) -> int:
        return self.recoding.min_k or 0

    @cached_property
    def released(self) -> pd.DataFrame:
        """The release, as its reader has it; positions in it are from 0."""
        return self.source.release(self.recoding).reset_index(drop=True)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.register.columns if name not in self.released.columns)

    @property
    def linkable_columns(self) -> tuple[str, ...]:
        return tuple(
            name
            for name in self.released.columns
            if name in self.register.columns and name != self.sensitive
        )

    @cached_property
    def knowable_values(self) -> Mapping[str, tuple[str, ...]]:
        values = {}
        for name in self.released.columns:
            if name != self.sensitive:
                columns = [frame[name] for frame in (self.table, self.register) if name in frame]
                texts = dict.fromkeys(text for column in columns for text in list_texts(column))
                values[str(name)] = tuple(sorted(texts))
        return values

    @property
    def values(self) -> tuple[str, ...]:
        return self.recoding.classes.sensitive_named(self.sensitive).values

    def fits(self, known: Mapping[str, str]) -> tuple[int, ...]:
        unknown_columns = [name for name in known if name not in self.knowable_values]
        if unknown_columns:
            raise PlanError(
                f"An attacker cannot know {quote(unknown_columns[0])}, only "
                f"{list_names(self.knowable_values, most=12)}."
            )
        attributes = self.recoding.classes.attributes
        by_tree = {name: value for name, value in known.items() if name in attributes}
        match = find_matches(self.recoding.released, by_tree)
        fitting = np.isin(self.source.get_released_positions(self.recoding), match.classes)
        for name, value in known.items():
            if name not in attributes:
                fitting &= np.array(list_texts(self.released[name])) == value
        return tuple(np.flatnonzero(fitting).tolist())

    def shares(self, positions: Sequence[int] | None = None) -> Shares:
        """The share of each sensitive value among these records of the release, or all."""
        column = list_texts(self.released[self.sensitive])
        counts = Counter(column if positions is None else [column[place] for place in positions])
        return tuple(
            (value, counts[value] / counts.total()) for value in self.values if counts[value]
        )


def build_case(
    table: pd.DataFrame,
    schema: Schema,
    hierarchies: Mapping[str, Hierarchy],
    recoding: Recoding | None = None,
    *,
    k: int = 3,
    sensitive: str | None = None,
    register: pd.DataFrame | None = None,
) -> Case:
    if len(table) > MOST_RECORDS:
        raise TableError(
            f"The table has {count_noun(len(table), 'record')}; an attack is played out on at most "
            f"{MOST_RECORDS}."
        )
    sensitive_columns = schema.columns(Role.SENSITIVE)
    column = sensitive or (sensitive_columns[0] if sensitive_columns else None)
    if column is None or column not in sensitive_columns:
        raise PlanError(
            "An attack needs a sensitive column; "
            + (
                f"the table has {list_names(sensitive_columns)}."
                if sensitive_columns
                else "the table has none."
            )
        )
    source = MemorySource(table, schema, hierarchies)
    if register is not None:
        _check_register(register, table, schema, hierarchies)
    else:
        register = table.drop(columns=list(sensitive_columns))
        if not schema.columns(Role.IDENTIFIER):
            numbers = [f"person {number}" for number in range(1, len(table) + 1)]
            register = register.assign(**{_PERSON: numbers})
    if recoding is not None and not recoding.n_classes:
        raise TableError("No record was released, so there is nothing to attack.")
    unchanged = Recoding.from_targets(source.classes, source.classes.nodes)
    case = Case(
        table, schema, source, recoding or unchanged, column, register.reset_index(drop=True)
    )
    return replace_release(case, k) if recoding is None else case


def _check_register(
    register: pd.DataFrame,
    table: pd.DataFrame,
    schema: Schema,
    hierarchies: Mapping[str, Hierarchy],
) -> None:
    public_columns = {*table.columns} - {
        *schema.columns(Role.IDENTIFIER),
        *schema.columns(Role.SENSITIVE),
    }
    if not public_columns & {*register.columns} or {*register.columns} <= public_columns:
        raise TableError(
            "A register needs a column from the table that is neither an identifier nor sensitive, "
            "and another one that the release lacks, such as a name."
        )
    for name in schema.quasi_identifiers:
        if name in register:
            check_coverage(name, count_values(register[name]), hierarchies[name])


def replace_release(case: Case, k: int, *models: Model) -> Case:
    """The same table with the best known release for k, or with one by GAA for other models too."""
    classes, metric = case.source.classes, METRIC
    if not models:
        return replace(case, recoding=find_best_recoding(classes, metric, k).recoding)
    task = Task(classes, scale_metric_potentials(classes, metric), k, models=models)
    return replace(case, recoding=gaa.anonymise(task))


def list_texts(column: pd.Series) -> list[str]:
    codes, texts = encode_texts(column)
    labels = [*texts, MISSING_LABEL]  # the code of a missing cell is -1
    return [labels[code] for code in codes]
