"""What somebody learns who holds several releases of one table.

Each release may meet its plan, and all of them together not. Two attackers are looked at.

**Who lines up the rows** knows which row of one release is which row of another: kanon leaves rows
in their order, and columns that pass through match them too. To him the releases stand side by
side, as one wide table. Two records look alike to him if every release shows them alike: with the
same labels, or not at all, and with the same value of a column that is a quasi-identifier elsewhere
and passes through here. So what every plan asks for is looked at again in these smaller groups.

**Who does not** finds somebody's class in each release, by what he knows of that person. The
sensitive value is one that occurs in all of these classes (the composition attack). How many rows
can be that person's is at most, summed over the values, the fewest records with that value in any
of the classes (as the F-anonymity of the correspondence attack counts).

For quasi-identifier columns that are raised as a whole the groups are exactly those of what the
releases say together (the values below all labels). Where single classes were raised, two records
may be shown differently and yet mean the same, and classes may overlap, so that nobody can tell
which one is a person's: groups and classes are too small then, and the risk is overstated.

Sources: Ganta, Kasiviswanathan, Smith 2008 (composition); Fung, Wang, Fu, Pei 2008
(correspondence); Wang, Fung 2006 (releases of one table side by side).

Four people. One release keeps the age, the other one the sex; both are 2-anonymous::

    person          release 1   release 2
    1  F  flu       1  *        *  F
    1  M  cold      1  *        *  M
    2  F  gout      2  *        *  F
    2  M  asthma    2  *        *  M

Side by side everybody is unique: 1-anonymous. And whoever knows of a woman of age 1 that she is in
both finds her among {flu, cold} and among {flu, gout}, without lining up a row: it is the flu.

>>> import pandas as pd
>>> from kanon.plan import Plan
>>> from kanon.run import run
>>> table = pd.DataFrame({"age": list("1122"), "sex": list("FMFM"),
...     "ill": ["flu", "cold", "gout", "asthma"]})
>>> def keeping(**node):
...     tree = {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}
...     return Release.of(run(Plan.from_content({"version": 2,
...         "columns": {"age": tree, "sex": tree, "ill": {"role": "sensitive"}},
...         "algorithm": {"name": "levels", "node": node},
...         "privacy": [{"model": "k-anonymity", "k": 2}]}), table))
>>> found = combine([keeping(age=0, sex=1), keeping(age=1, sex=0)])
>>> found.alone, found.together.min_k, found.holds
((2, 2), 1, False)
>>> (ill,) = found.learnt
>>> ill.values_alone, ill.values, ill.records, ill.certain
(2, 1, 1, 4)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, joined, thin
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, listing, quoted
from kanon.privacy.model import Model
from kanon.release.common_classes import (
    Release,
    check_coarsened,
    check_sizes,
    ground_of,
    placed,
)
from kanon.release.views import ReleaseView, grouped_by_sight, side_by_side
from kanon.sensitive import Sensitive
from kanon.sources.tables import Table

_ABSENT = np.iinfo(np.int64).max
"""In place of a number of values, of records that a release lacks."""

_AT_ONCE = 2_000_000
"""So many entries of histograms are intersected at once: they take a few dozen bytes each."""


@dataclass(frozen=True)
class CombinedModel:
    """A privacy model that some of the plans ask for, in all their releases together.

    Attributes
    ----------
    model
        The model.
    releases
        Which releases ask for it, numbered from 1.
    alone
        The level of the worst class in any of these releases; None if they have no class.
    level
        That of the worst group that looks alike in all releases, or of the worst class if that
        is worse: who holds all holds each.
    records
        How many records are in groups that do not meet it.
    holds
        Whether all groups do.
    """

    model: Model
    releases: tuple[int, ...]
    alone: float | None
    level: float | None
    records: int
    holds: bool

    def said(self, names: Sequence[str]) -> str:
        """What was asked for, what a single release has, and what all have together."""
        side = "below" if self.model.card.direction == "higher" else "above"
        failed = f"; {counted(self.records, 'record')} in groups {side} it" if self.records else ""
        asking = joined([names[number - 1] for number in self.releases])
        return (
            f"{self.model.sentence} ({self.model.card.arrow}), asked of {asking}: "
            f"{_level(self.alone)} in the worst class of a single release, {_level(self.level)} in "
            f"the worst group of all together{failed}"
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return {
            "model": self.model.card.name,
            **vars(self.model),
            "asked_of": list(self.releases),
            "alone": _finite(self.alone),
            "together": _finite(self.level),
            "records": self.records,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class LearntValues:
    """What becomes known of a sensitive column to who holds all releases.

    Attributes
    ----------
    column
        The column.
    lined_up
        The records whose value is certain to who lines up the rows, although no single release
        tells it: all of their group have one value. From 0, the better end, to n.
    certain
        The same for who does not line up rows, but finds somebody's class in each release.
    values_alone, values
        The fewest values that somebody can have, by any single release, and by all of them
        without lining up rows. From 1, certain, to the number of values.
    records
        The fewest rows of a class that can be somebody's, without lining up rows. An upper bound:
        who reckons with more than these classes may exclude more.
    """

    column: str
    lined_up: int
    certain: int
    values_alone: int | None
    values: int | None
    records: int | None

    @property
    def sentence(self) -> str:
        """The same in words."""
        if self.values is None or self.values_alone is None or self.records is None:
            return f"{quoted(self.column)}: no release shows it"
        return (
            f"{quoted(self.column)} becomes certain though no single release tells it: of "
            f"{counted(self.lined_up, 'record')} to who lines up the rows, of "
            f"{counted(self.certain, 'record')} to who only finds somebody's class in each release "
            f"(↓ better). In the worst case the latter is left with "
            f"{counted(self.values, 'value')} and at most {counted(self.records, 'row')}; by the "
            f"worst single release with {counted(self.values_alone, 'value')} (↑ better)"
        )

    @property
    def numbers(self) -> dict[str, int | None]:
        """The same as JSON can hold it."""
        found = dict(vars(self))
        del found["column"]
        return found


@dataclass(frozen=True, eq=False)
class CombinedReleases:
    """What several releases of a table say together.

    Attributes
    ----------
    alone
        The smallest class of each release; None where no class is left.
    together
        The groups of records that look alike in all releases.
    asked
        What the plans ask for, in these groups.
    learnt
        What becomes known of each sensitive column.
    undone
        The columns that one release generalises or leaves out and another one shows as they are.
    """

    alone: tuple[int | None, ...]
    together: EquivalenceClasses
    asked: tuple[CombinedModel, ...]
    learnt: tuple[LearntValues, ...]
    undone: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all releases together meet what every plan asks for."""
        return all(one.holds for one in self.asked)

    def said(self, names: Sequence[str]) -> tuple[str, ...]:
        """What was found in sentences, the smallest group first."""
        sizes = joined(["no" if k is None else thin(k) for k in self.alone])
        least = "no" if self.together.min_k is None else thin(self.together.min_k)
        whole = self.together
        found = [
            f"The smallest class has {sizes} records in {joined(names)}, the smallest group that "
            f"looks alike in all of them {least} (↑ better); {thin(whole.unique_records)} of "
            f"{counted(whole.n_records, 'record')} look like no other one (↓ better)"
        ]
        if self.undone:
            found.append(
                f"{listing(self.undone)}: generalised or left out in one release, shown as it is "
                "in another"
            )
        return (
            *found,
            *(one.said(names) for one in self.asked),
            *(one.sentence for one in self.learnt),
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """All that was found, as JSON can hold it: null stands for nothing, or for infinite."""
        return {
            "records": self.together.n_records,
            "min_k_alone": list(self.alone),
            "min_k": self.together.min_k,
            "groups": self.together.n_classes,
            "unique_records": self.together.unique_records,
            "generalised_and_shown": list(self.undone),
            "asked": [one.numbers for one in self.asked],
            "learnt": {one.column: one.numbers for one in self.learnt},
            "holds": self.holds,
        }


def _finite(level: float | None) -> float | None:
    return None if level is None or math.isinf(level) else level


def _level(level: float | None) -> str:
    return "no class" if level is None else f"{level:.6g}"


def combine(
    releases: Sequence[Release], table: Table | pd.DataFrame | None = None
) -> CombinedReleases:
    """What somebody learns who holds several releases of one table.

    Parameters
    ----------
    releases
        The releases; one alone says what it says. Their order does not matter.
    table
        Their table. It is needed where no release was counted by all the columns that matter: see
        :func:`kanon.release.common_classes.needs_table`.

    Raises
    ------
    PlanError
        No release is given; they are not of one table; the table is needed and not given; or a
        plan counts k in persons.
    TableError
        The table cannot be counted by all of their columns.

    Notes
    -----
    Takes a sort of the original classes per release and sensitive column, and looks at no row.
    Sources: see the module.
    """
    check_sizes(releases)
    check_coarsened(releases)
    named = [each.plan.person for each in releases if each.plan.person is not None]
    if named:
        raise PlanError(
            f"A plan counts k in persons ({quoted(named[0])}), and releases together are counted "
            "in records: combine plans without the key person, which says less."
        )
    ground = ground_of(releases, table)
    views = [ReleaseView(each, ground, placed(each, ground)) for each in releases]
    together, _ = side_by_side(views, ground, None)
    return CombinedReleases(
        tuple(each.recoding.min_k for each in releases),
        together,
        tuple(_asked(views, ground, together)),
        tuple(_learnt(views, ground, each) for each in ground.sensitive),
        tuple(sorted(_undone(releases))),
    )


# --- what the plans ask for ---------------------------------------------------------------------
def _asked(
    views: Sequence[ReleaseView], ground: EquivalenceClasses, together: EquivalenceClasses
) -> Iterator[CombinedModel]:
    wanted: dict[Model, list[int]] = {}
    for number, view in enumerate(views, 1):
        for model in view.release.plan.models:
            wanted.setdefault(model, []).append(number)
    groups = {None: together}
    for model, numbers in wanted.items():
        column = getattr(model, "column", None)
        if column not in groups:
            groups[column], _ = side_by_side(views, ground, column)
        whole = groups[column]
        single = [views[number - 1].release.recoding.released for number in dict.fromkeys(numbers)]
        levels = [found for one in single if (found := model.level(one)) is not None]
        worst = min if model.card.direction == "higher" else max
        alone = worst(levels, default=None)
        level = model.level(whole)
        met = model.holds_each(whole)
        yield CombinedModel(
            model,
            tuple(dict.fromkeys(numbers)),
            alone,
            worst((one for one in (alone, level) if one is not None), default=None),
            int(whole.counts[~met].sum()),
            bool(met.all()) and all(model.holds(one) for one in single),
        )


def _undone(releases: Sequence[Release]) -> Iterator[str]:
    """The columns that one release generalises or leaves out and another shows as they are."""
    for column in {name for each in releases for name in each.plan.columns}:
        shown = [each.shows(column) for each in releases]
        if any(shown) and not all(shown):
            yield column


# --- what becomes known of a sensitive column -----------------------------------------------------
def _learnt(
    views: Sequence[ReleaseView], ground: EquivalenceClasses, sensitive: Sensitive
) -> LearntValues:
    column = sensitive.name
    showing = [each for each in views if each.release.shows(column)]
    few = np.full(ground.n_classes, _ABSENT)  # values, by a single release
    for view in showing:
        single = sensitive.grouped(view.at, view.release.recoding.n_classes)
        few = np.minimum(few, np.append(np.diff(single.start), _ABSENT)[view.at])
    told = few == 1

    def newly(certain: np.ndarray) -> int:
        return int(ground.counts[certain & ~told].sum())

    lined, group = side_by_side(views, ground, column)
    alike = np.diff(lined.sensitive[0].start) == 1
    some = group >= 0
    values, records, pair = _composed(showing, ground, sensitive, column)
    return LearntValues(
        column,
        newly(some & np.append(alike, False)[group]),
        newly(some & np.append(values == 1, False)[pair]),
        _fewest(few[some]),
        _fewest(values),
        _fewest(records),
    )


def _fewest(numbers: np.ndarray) -> int | None:
    return int(numbers.min()) if len(numbers) else None


def _composed(
    showing: Sequence[ReleaseView], ground: EquivalenceClasses, sensitive: Sensitive, column: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What remains possible for who finds somebody's class in each release that shows a column.

    Returns
    -------
    values : numpy.ndarray, shape (P,), int64
        Per combination of classes, how many values occur in all of them.
    records : numpy.ndarray, shape (P,), int64
        The sum over these values of the fewest records that have it in any of the classes.
    combination : numpy.ndarray, shape (E,), int64
        Per ground class its combination; -1 if no release shows its value.
    """
    classes, histograms = [], []
    for view in showing:
        _, sizes, group = grouped_by_sight(view.seen(column), ground.counts, view.present)
        classes.append(group)
        histograms.append(sensitive.grouped(group, len(sizes)))
    some = np.logical_or.reduce([view.present for view in showing])
    sides = [(each + 1, one.n_classes + 1) for each, one in zip(classes, histograms, strict=True)]
    tuples, total, combination = grouped_by_sight(sides, ground.counts, some)
    at = tuples.astype(np.int64) - 1  # (P, releases): the class in each, -1 where it is in none
    width = max(len(sensitive.values), 1)
    keys = [one.of_entry * width + one.value for one in histograms]
    # The class with the fewest values is looked through, and each value looked up in the others.
    lengths = np.empty_like(at)
    for i, one in enumerate(histograms):
        lengths[:, i] = np.append(np.diff(one.start), _ABSENT)[at[:, i]]
    values, records = np.zeros(len(total), np.int64), np.zeros(len(total), np.int64)
    first = lengths.argmin(axis=1)
    for i, one in enumerate(histograms):
        mine = np.flatnonzero(first == i)
        for part in _parts(mine, lengths[mine, i]):
            looked = one.only(at[part, i])
            of, value, least = looked.of_entry, looked.value, looked.count
            everywhere = np.ones(len(of), dtype=bool)
            for other, histogram in enumerate(histograms):
                where = at[part, other][of]
                if other == i or not (where >= 0).any():
                    continue
                key = np.where(where >= 0, where, 0) * width + value
                found = np.minimum(np.searchsorted(keys[other], key), len(keys[other]) - 1)
                has = keys[other][found] == key
                everywhere &= has | (where < 0)
                least = np.where(
                    has & (where >= 0), np.minimum(least, histogram.count[found]), least
                )
            values[part] = np.bincount(of, everywhere, minlength=len(part))
            records[part] = np.bincount(of, least * everywhere, minlength=len(part))
    return values, records, combination


def _parts(chosen: np.ndarray, lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Some at a time, so that their lengths sum up to no more than what goes at once."""
    if len(chosen):
        part = np.cumsum(lengths) // _AT_ONCE
        yield from np.split(chosen, np.flatnonzero(np.diff(part)) + 1)
