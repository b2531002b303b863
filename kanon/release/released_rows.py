"""What the rows of a release reach for each requirement of its plan."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon.base.formatting import write_number
from kanon.classes import EquivalenceClasses
from kanon.errors import ReleaseError, quote
from kanon.plan import Plan
from kanon.privacy.plans import COUNTED_MODELS, MODELS, OF_RELEASE, ModelPlan
from kanon.privacy.row_checks import CheckedClasses, ClassMix, PlainTree, PopulationRows
from kanon.privacy.t_closeness import SPOKEN
from kanon.release.cell_values import fold_reading, normalise_value, order_values
from kanon.schema import Role

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_PSEUDONYM = "(P_[1-9][0-9]*)?"  # stands for an identifier; nothing where that is missing


@dataclass(frozen=True)
class Verdict:
    model: str  # the privacy model, by its name in plans
    column: str  # the column that it looks at
    asked: str  # its parameters
    # what the worst class has: the number that the model is about, such as records or values
    level: float | None
    holds: bool  # whether that is enough
    of_release: bool = False  # whether it is about the release as a whole

    @property
    def sentence(self) -> str:
        """The requirement and the level of the worst class.

        >>> print(Verdict("t-closeness", "ill", "t = 0.3", 0.25, True).sentence)
        t-closeness (t = 0.3) for 'ill': 0.25 in the worst class
        """
        column = f" for {quote(self.column)}" if self.column else ""
        if self.model == "columns":
            return "its columns are not the ones in the plan"
        what_is_wrong = {
            "pseudonyms": "has values that are not pseudonyms",
            "coarsened": f"shows values finer than {self.asked} of its hierarchy",
            "level bounds": f"shows values outside {self.asked} of its hierarchy",
            "repaired": "shows values that the repairs of the plan remove",
            "suppressed": "shows values in rows that are marked as suppressed",
        }
        if self.model in what_is_wrong:
            return f"{quote(self.column)} {what_is_wrong[self.model]}"
        level = "no class is left"
        if self.level is not None:
            where = "" if self.of_release else " in the worst class"
            level = f"{write_number(self.level, 6)}{where}"
        return f"{self.model} ({self.asked}){column}: {level}"


@dataclass(frozen=True)
class ReleasedRows:
    """The table ``release``, whose columns c0, c1, ... are called ``names``."""

    connection: DuckDBPyConnection
    names: Sequence[str]
    plan: Plan
    roots: Mapping[str, str] | None
    coarse: Mapping[str, Collection[str]] | None
    people: Mapping[str, PopulationRows] | None = None  # by the path of their population
    trees: Mapping[str, PlainTree] | None = None

    def verdicts(self) -> tuple[Verdict, ...]:
        checks = (
            self.check_released_columns, self.check_pseudonyms, self.check_suppressed_rows,
            self.check_coarsened_columns, self.check_level_bounds, self.check_repaired_columns,
        )  # fmt: skip
        for check in checks:
            if wrong := check():
                return (wrong,)
        models = [self.check_model(model) for model in self.plan.privacy]
        return (*models, *self.check_k_in_persons())

    @cached_property
    def kinds(self) -> dict[str, str]:
        described = self.connection.sql("DESCRIBE release").fetchall()
        return {name: kind for name, kind, *_ in described}

    def cell(self, column: str) -> str:
        """A cell of a column as text; none where it is missing."""
        place = f"c{self.names.index(column)}"
        text = f"CAST({place} AS VARCHAR)"
        return f"nullif({text}, 'nan')" if self.kinds[place] in ("FLOAT", "DOUBLE") else text

    def text(self, column: str) -> str:
        """A cell of a column as text; blank where it is missing."""
        return f"coalesce({self.cell(column)}, '')"

    def list_values(self, column: str) -> set[str]:
        """The different values that a column shows in the rows that are not blanked."""
        cells = self.connection.sql(f"SELECT DISTINCT {self.text(column)} {self.kept}")
        return {normalise_value(cell) for (cell,) in cells.fetchall()}

    def classes(self) -> str:
        return ", ".join(map(self.text, self.plan.roles.quasi_identifiers))

    @property
    def pseudonyms(self) -> list[str]:
        columns = self.plan.columns
        return [name for name in self.names if name in columns and columns[name].pseudonym]

    @property
    def has_blanked_rows(self) -> bool:
        return self.plan.suppressed == "keep" and "suppressed" in self.names

    @property
    def kept(self) -> str:
        condition = f" WHERE {self.text('suppressed')} <> '1'" if self.has_blanked_rows else ""
        return f"FROM release{condition}"

    def check_released_columns(self) -> Verdict | None:
        roles = self.plan.roles
        hidden = {*roles.columns(Role.IDENTIFIER)}.difference(self.pseudonyms)
        needed = {*roles.quasi_identifiers, *roles.columns(Role.SENSITIVE)}
        if not hidden & {*self.names} and needed <= {*self.names}:
            return None
        return Verdict("columns", "", "no identifier, every other column", None, False)

    def check_pseudonyms(self) -> Verdict | None:
        for column in self.pseudonyms:
            fits = f"regexp_full_match({self.text(column)}, '{_PSEUDONYM}')"
            if self.connection.sql(f"SELECT 1 FROM release WHERE NOT {fits} LIMIT 1").fetchall():
                return Verdict("pseudonyms", column, "P_1, P_2, …", None, False)
        return None

    def check_suppressed_rows(self) -> Verdict | None:
        if not self.has_blanked_rows:
            return None
        marked = f"FROM release WHERE {self.text('suppressed')} = '1'"
        for column in self.names:
            if column == "suppressed" or column in self.pseudonyms:
                continue
            query = f"SELECT DISTINCT {self.text(column)} {marked} LIMIT 2"
            values = self.connection.sql(query).fetchall()
            allowed = [("",)]
            if column in self.plan.roles.quasi_identifiers:
                allowed = [(self.roots[column],)] if self.roots else values[:1]
            if not {*values} <= {*allowed}:
                return Verdict("suppressed", column, "blank, or the root", None, False)
        return None

    def check_coarsened_columns(self) -> Verdict | None:
        for column, labels in (self.coarse or {}).items():
            if column in self.plan.level_bounds:
                continue
            # A mark may stand before what a spreadsheet would take for a formula.
            allowed = {"", *map(normalise_value, labels), *(f"'{label}" for label in labels)}
            if not self.list_values(column) <= allowed:
                level = f"level {self.plan.columns[column].level}"
                return Verdict("coarsened", column, level, None, False)
        return None

    def check_level_bounds(self) -> Verdict | None:
        for column, bounds in self.plan.level_bounds.items():
            if self.list_values(column).intersection((self.coarse or {}).get(column, ())):
                asked = f"level {bounds.least} to {bounds.highest}"
                return Verdict("level bounds", column, asked, None, False)
        return None

    def check_repaired_columns(self) -> Verdict | None:
        """Check that no unchanged column shows a value that the repairs name to remove it.

        Bounds and ``none_of`` are not checked: a cell may be written in another way here.
        """
        removed: dict[str, set[str]] = {}
        for step in self.plan.repairs or ():
            gone, pairs = removed.setdefault(step.column, set()), step.replace or {}
            gone.update(filter(None, map(normalise_value, step.named_values)))
            if step.drop is not None and step.drop.missing:
                gone.add("")
            gone.difference_update(normalise_value(new or "") for new in pairs.values())
        recoded = {*self.plan.roles.quasi_identifiers, *self.pseudonyms, *(self.coarse or {})}
        for column in removed.keys() & {*self.names} - recoded:
            if removed[column] & self.list_values(column):
                return Verdict("repaired", column, "no value that was replaced", None, False)
        return None

    def check_model(self, part: ModelPlan) -> Verdict:
        parameters = part.model_dump(
            exclude={"model", "column", "columns", "others", "population"}, exclude_none=True
        )
        if part.counted_as in OF_RELEASE:
            return self.check_release_model(part, parameters)
        limits = [SPOKEN.get(value, f"{name} = {value}") for name, value in parameters.items()]
        column = ""
        if "column" in type(part).model_fields:
            sensitive = self.plan.roles.columns(Role.SENSITIVE)
            about = part.model_dump(include={"column", "columns", "others"})
            columns = about["columns"] or [about["column"] or sensitive[0]]
            known = [name for name in sensitive if about["others"] and name not in columns]
            limits += [f"others = {about['others']}"] if known else []
            column = " × ".join(columns)
            groups, texts = self.count_values(columns, known, MODELS[part.model].folds)
            if parameters.get("distance") == "hierarchical":
                if self.trees is None or column not in self.trees:
                    raise ReleaseError(
                        "The release does not show the hierarchy of "
                        f"{quote(column)}, by which its distance is counted; pass its tree too."
                    )
                parameters |= {"texts": texts, "tree": self.trees[column]}
        else:
            groups = self.connection.sql(
                f"SELECT row_number() OVER () AS class, 0 AS number, n FROM "
                f"(SELECT count(*) AS n {self.kept} GROUP BY {self.classes()})"
            ).fetchnumpy()
        level, holds = None, True
        if len(groups["n"]):
            _, classes = np.unique(groups["class"], return_inverse=True)
            mix = ClassMix.count_groups(
                classes, np.asarray(groups["number"]), np.asarray(groups["n"])
            )
            level, holds = COUNTED_MODELS[part.model].check_rows(mix, **parameters)
        return Verdict(part.model, column, ", ".join(limits), level, bool(holds))

    def check_release_model(self, part: ModelPlan, parameters: dict[str, Any]) -> Verdict:
        level, holds = None, True
        classes = self.released_classes
        if len(classes.sizes):
            population = getattr(part, "population", None)
            if population is not None:
                classes = replace(classes, people=self._get_people(population))
            level, holds = COUNTED_MODELS[part.counted_as].check_classes(classes, **parameters)
        return Verdict(part.model, "", _write_limits(parameters), level, bool(holds), True)

    def _get_people(self, population: str) -> PopulationRows:
        if self.people is None or population not in self.people:
            raise ReleaseError(
                "A model of the plan compares the release with a population; pass its people too."
            )
        return self.people[population]

    @cached_property
    def released_classes(self) -> CheckedClasses:
        columns = self.plan.roles.quasi_identifiers
        names = ", ".join(f"{self.text(name)} AS q{j}" for j, name in enumerate(columns))
        hiding = "count(*)"
        if person := self._get_person_cell():
            hiding = f"count(DISTINCT {person})"
        counted = self.connection.sql(
            f"SELECT {names}, count(*) AS n, {hiding} AS hiding {self.kept} GROUP BY "
            f"{self.classes()}"
        ).df()
        coded = [pd.factorize(counted[f"q{j}"]) for j in range(len(columns))]
        return CheckedClasses(
            np.array([codes for codes, _ in coded], dtype=np.int64).reshape(len(coded), -1).T,
            [[str(cell) for cell in cells] for _, cells in coded],
            counted["n"].to_numpy(np.int64),
            counted["hiding"].to_numpy(np.int64),
        )

    def _get_person_cell(self) -> str:
        """Where whom a record is about stands; nothing if k counts records."""
        person = self.plan.person
        if person is None:
            return ""
        if "person" not in self.kinds and person not in self.names:
            raise ReleaseError(
                "The release does not show which records belong to one person, so k cannot be "
                "counted in persons; pass the persons too."
            )
        return "person" if "person" in self.kinds else self.text(person)

    def count_values(
        self, columns: Sequence[str], known: Sequence[str], folds: bool
    ) -> tuple[dict[str, np.ndarray], list[str]]:
        """How many records of each class have each value of columns together, the values numbered.

        Records of a class also agree in the columns that are known. Returns also the values of the
        last column in the order of their numbers.
        """
        sources, numbers, values = f"(SELECT * {self.kept})", [], []
        for place, column in enumerate([*known, *columns]):
            texts = self.connection.sql(
                f"SELECT DISTINCT {self.cell(column)} AS text {self.kept}"
            ).to_arrow_table()
            written = texts["text"].to_pylist()
            if folds and column in columns:
                place_of: dict[Hashable, int] = {}
                read = [fold_reading(normalise_value(text or "")) for text in written]
                codes = np.array([place_of.setdefault(value, len(place_of)) for value in read])
            else:
                kinds = self.plan.read.kinds or {}
                # The groups of a coarsened column are called in a way of their own.
                kind = "" if column in self.plan.coarsened else kinds.get(column, "")
                codes = _number_values(written, kind)
                values = [normalise_value(written[n] or "") for n in np.unique(codes, True)[1]]
            self.connection.register(f"t{place}", texts.append_column("number", pa.array(codes)))
            sources += f" JOIN t{place} ON {self.cell(column)} IS NOT DISTINCT FROM t{place}.text"
            numbers.append(f"t{place}.number")
        own = ", ".join(numbers[len(known) :])
        number = own if len(columns) == 1 else f"hash({own})"
        # A number of 64 bits for a class: two of ten million classes share one in 1e-5 cases.
        groups = self.connection.sql(
            f"SELECT hash({', '.join([self.classes(), *numbers[: len(known)]])}) AS class, "
            f"{number} AS number, count(*) AS n FROM {sources} GROUP BY ALL"
        ).fetchnumpy()
        if len(columns) > 1:
            _, groups["number"] = np.unique(groups["number"], return_inverse=True)
        return groups, values

    def check_k_in_persons(self) -> Iterator[Verdict]:
        person, person_cell = self.plan.person, self._get_person_cell()
        if person is None:
            return
        persons = f"SELECT count(DISTINCT {person_cell}) AS n {self.kept} GROUP BY {self.classes()}"
        (least,) = self.connection.sql(f"SELECT min(n) FROM ({persons})").fetchall()[0]
        enough = least is None or least >= self.plan.k
        yield Verdict("k-in-persons", person, f"k = {self.plan.k}", least, enough)


def _write_limits(parameters: Mapping[str, Any]) -> str:
    return ", ".join(SPOKEN.get(value, f"{name} = {value}") for name, value in parameters.items())


def find_labels_out_of_bounds(plan: Plan, classes: EquivalenceClasses) -> dict[str, frozenset[str]]:
    """Per column with level bounds the labels that it may not show, with levels counted anew."""
    labels = {}
    for column, bounds in plan.level_bounds.items():
        tree = classes.hierarchies[classes.attributes.index(column)]
        levels = [0] * tree.n_nodes
        for node, parent in enumerate(tree.parent[:-1].tolist()):  # a child has the smaller number
            levels[parent] = max(levels[parent], levels[node] + 1)
        allowed = range(bounds.least, 1 + (max(levels) if bounds.most is None else bounds.most))
        pairs = zip(tree.labels, levels, strict=True)
        outside = (normalise_value(label) for label, at in pairs if at not in allowed)
        labels[column] = frozenset(outside)
    return labels


def number_persons(persons: pd.Series) -> np.ndarray:
    """The person of each record as a number; records without a person share -1."""
    codes, known = pd.factorize(convert_cells_to_texts(persons))
    texts = [_format_cell(cell) for cell in known]
    return np.append(_number_values(texts), -1)[codes]


def convert_cells_to_texts(column: pd.Series) -> pd.Series:
    """Make a column texts where Arrow would make one value of several.

    >>> from decimal import Decimal
    >>> cells = [Decimal("1.5"), Decimal("1.50"), None]
    >>> convert_cells_to_texts(pd.Series(cells, dtype=object)).tolist()
    ['1.5', '1.50', None]
    """
    if isinstance(column.dtype, pd.StringDtype) or getattr(column.dtype, "kind", "O") in "iufbM":
        return column
    missing = column.isna()
    texts = [
        None if is_missing else _format_cell(cell)
        for cell, is_missing in zip(column, missing, strict=True)
    ]
    return pd.Series(texts, column.index, dtype=object)


def _format_cell(cell: object) -> str:
    """A cell as text: 39 and 39.0 are one number, a day and its midnight one day."""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.tzinfo is None and cell.time() == time():
        return str(cell.date())
    return str(cell)


def _number_values(texts: Sequence[str | None], kind: str = "") -> np.ndarray:
    """Number the different values from 0, by size if they have one; the missing one last."""
    values = [normalise_value(text or "") for text in texts]
    number = {value: place for place, value in enumerate(order_values(set(values), kind))}
    return np.array([number[value] for value in values], np.int64)
