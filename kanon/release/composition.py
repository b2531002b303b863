"""What somebody learns who holds several releases of one table.

Each release may meet its plan, and all of them together not. Two attackers are looked at.

**One with all rows lined up** sees the releases side by side, as one wide table. Two records look
alike to him if every release shows them alike: with the same labels, or not at all, and with the
same value of a column that is a quasi-identifier elsewhere and passes through here. What the plans
ask for is looked at again in these smaller groups. If all releases keep the table's order, anyone
can do this; else it is the most that anyone can learn, and rows are matched by cells that two
releases show: surely where no other row of either has the same ones.

**One without the order** finds a person's class in each release, by what he knows of that person.
The sensitive value is in all of these classes (the composition attack). The person's rows show the
same cells in any two releases, so at most as many records can be the person as two classes can have
in common however rows are matched: summed over these cells, the fewest rows with them in either
class (as the F-anonymity of the correspondence attack counts).

Where single classes were raised, labels overlap and the risk is overstated: two records may look
different and yet mean the same.

Sources: Ganta, Kasiviswanathan, Smith 2008 (composition); Fung, Wang, Fu, Pei 2008
(correspondence); Wang, Fung 2006 (releases of one table side by side).

Four people. One release keeps the age, the other one the sex; both are 2-anonymous::

    person          release 1   release 2
    1  F  flu       1  *        *  F
    1  M  cold      1  *        *  M
    2  F  gout      2  *        *  F
    2  M  flu       2  *        *  M

Side by side everybody is unique. Without the order, cold and gout match their rows, and a woman of
age 1 has the flu: she is found among {flu, cold} and among {flu, gout}.

>>> import pandas as pd
>>> from kanon.plan import Plan
>>> from kanon.run import run
>>> table = pd.DataFrame({"age": list("1122"), "sex": list("FMFM"),
...     "ill": ["flu", "cold", "gout", "flu"]})
>>> def keeping(**node):
...     tree = {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}
...     return Release.of(run(Plan.from_content({"version": 2,
...         "columns": {"age": tree, "sex": tree, "ill": {"role": "sensitive"}},
...         "algorithm": {"name": "levels", "node": node},
...         "privacy": [{"model": "k-anonymity", "k": 2}]}), table))
>>> both = combine([keeping(age=0, sex=1), keeping(age=1, sex=0)], table)
>>> both.alone, both.together.min_k, both.holds
((2, 2), 1, False)
>>> both.lined_up, both.matched, both.candidates
(False, 2, 1)
>>> (ill,) = both.learnt
>>> ill.values_alone, ill.values, ill.records, ill.certain
(2, 1, 1, 2)
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, joined, thin, write_number
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, listing, quoted
from kanon.privacy.model import Model
from kanon.release.common_classes import (
    CellsOfPairs,
    Release,
    ReleaseView,
    check_coarsened,
    check_sizes,
    find_matched,
    ground_of,
    grouped_by_sight,
    list_comparable,
    list_known,
    number_cells,
    placed,
    side_by_side,
)
from kanon.sensitive import Sensitive
from kanon.sources.tables import Table

_ABSENT = np.iinfo(np.int64).max  # in place of a number of values, of records that a release lacks

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
    """What becomes known of a sensitive column to anyone who holds all releases.

    Attributes
    ----------
    column
        The column.
    lined_up
        The records whose value is certain with all rows lined up, although no single release
        tells it: all of their group have one value. From 0, the better end, to n.
    certain
        The same without the order of the rows, by a person's class in each release.
    values_alone, values
        The fewest values that somebody can have, by any single release, and by all of them
        without the order. From 1, certain, to the number of values.
    records
        The fewest rows of a class that can be somebody's, without the order. An upper bound:
        anyone who reckons with more than these classes may exclude more.
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
            f"{counted(self.lined_up, 'record')} with all rows lined up, of "
            f"{counted(self.certain, 'record')} without the order of the rows, by a person's class "
            f"in each release (↓ better). Without the order, in the worst case "
            f"{counted(self.values, 'value')} and at most {counted(self.records, 'row')} are left; "
            f"by the worst single release {counted(self.values_alone, 'value')} (↑ better)"
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
    matched
        The records whose rows can be matched between two releases: by the order that both keep, or
        by the cells that both show. None if there were too many to be counted.
    lined_up
        Whether anyone can line up all rows; if not, the groups are the most that anyone can learn.
    candidates
        The fewest records that somebody can be without the order of the rows; None without classes.
        Never fewer than the smallest group.
    """

    alone: tuple[int | None, ...]
    together: EquivalenceClasses
    asked: tuple[CombinedModel, ...]
    learnt: tuple[LearntValues, ...]
    undone: tuple[str, ...]
    matched: int | None
    lined_up: bool
    candidates: int | None

    @property
    def about_order(self) -> str:
        """Whether anyone can line up the rows, in a sentence."""
        if self.lined_up:
            return "Anyone can line up the rows of all releases"
        rows = "an unknown number" if self.matched is None else f"at least {thin(self.matched)}"
        return (
            f"Anyone can match the rows of {rows} of {counted(self.together.n_records, 'record')} "
            "(↓ better); groups are counted as if all rows were matched, the most that anyone can "
            "learn; without that, a person is one of at most "
            f"{counted(self.candidates or 0, 'record')} in the worst case (↑ better)"
        )

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
            f"{counted(whole.n_records, 'record')} look like no other one (↓ better)",
            self.about_order,
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
            "rows_lined_up": self.lined_up,
            "rows_matched": self.matched,
            "candidates": self.candidates,
            "asked": [one.numbers for one in self.asked],
            "learnt": {one.column: one.numbers for one in self.learnt},
            "holds": self.holds,
        }


def _finite(level: float | None) -> float | None:
    return None if level is None or math.isinf(level) else level


def _level(level: float | None) -> str:
    return "no class" if level is None else write_number(level, 6)


def combine(releases: Sequence[Release], table: Table | pd.DataFrame) -> CombinedReleases:
    """What somebody learns who holds several releases of one table.

    Parameters
    ----------
    releases
        The releases; one alone says what it says. Their order does not matter.
    table
        Their table, which is counted once more: by the columns that rows are compared by.

    Raises
    ------
    PlanError
        No release is given; they are not of one table; or a plan counts k in persons.
    TableError
        The table cannot be counted by all of their columns.
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
    known = list_known(releases)
    views = [ReleaseView(each, ground, placed(each, ground), known) for each in releases]
    together, _ = side_by_side(views, ground, None)
    cells: CellsOfPairs = {pair: number_cells(pair) for pair in combinations(views, 2)}
    matched, lined_up = find_matched(views, cells)
    whole = ground.attributes == list_comparable(releases)
    starts, counts = np.arange(ground.n_classes + 1), ground.counts
    everybody = Sensitive("", ("",), False, starts, 0 * counts, counts, counts[:1])
    return CombinedReleases(
        tuple(each.recoding.min_k for each in releases),
        together,
        tuple(_asked(views, ground, together)),
        tuple(_learnt(views, cells, each) for each in ground.sensitive),
        tuple(sorted(_undone(releases))),
        int(ground.counts[matched].sum()) if whole else None,
        lined_up,
        _find_fewest(_compose(views, cells, everybody, None)[1]),
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
    views: Sequence[ReleaseView], cells: CellsOfPairs, sensitive: Sensitive
) -> LearntValues:
    column, ground, sensitive = sensitive.name, views[0].ground, sensitive.folded
    showing = [each for each in views if each.release.shows(column)]
    few = np.full(ground.n_classes, _ABSENT)  # values, by a single release
    for view in showing:
        single = sensitive.grouped(view.at, view.release.recoding.n_classes)
        few = np.minimum(few, np.append(np.diff(single.start), _ABSENT)[view.at])
    told = few == 1

    def newly(certain: np.ndarray) -> int:
        return int(ground.counts[certain & ~told].sum())

    lined, group = side_by_side(views, ground, column)
    alike = np.diff(lined.sensitive[0].folded.start) == 1
    some = group >= 0
    values, records = _compose(showing, cells, sensitive, column)
    return LearntValues(
        column,
        newly(some & np.append(alike, False)[group]),
        newly(values == 1),
        _find_fewest(few),
        _find_fewest(values),
        _find_fewest(records),
    )


def _find_fewest(numbers: np.ndarray) -> int | None:
    least = int(numbers.min(initial=_ABSENT))
    return None if least == _ABSENT else least


def _compose(
    showing: Sequence[ReleaseView], cells: CellsOfPairs, sensitive: Sensitive, column: str | None
) -> np.ndarray:
    n_classes = sensitive.n_classes
    left = np.full((2, n_classes), _ABSENT)
    for some in {tuple(showing), *combinations(showing, 2)}:
        beside = cells.get(some, np.zeros(n_classes, int))
        width = int(beside.max()) + 1
        keys = sensitive.value * width + beside[sensitive.of_entry]
        distinct, code = np.unique(keys, return_inverse=True)
        shown = Sensitive.from_counts(
            "", [""] * len(distinct), False,
            sensitive.of_entry, code, sensitive.count, n_classes,
        )  # fmt: skip
        value_of = np.unique(distinct // width, return_inverse=True)[1]
        left = np.minimum(left, _intersect(some, shown, column, value_of))
    return left


def _intersect(
    showing: Sequence[ReleaseView], sensitive: Sensitive, column: str | None, value_of: np.ndarray
) -> np.ndarray:
    classes, histograms, ground = [], [], showing[0].ground
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
    left = np.full((2, len(total) + 1), _ABSENT)
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
            common = np.unique(of[everywhere] * width + value_of[value[everywhere]])
            left[0, part] = np.bincount(common // width, minlength=len(part))
            left[1, part] = np.bincount(of, least * everywhere, minlength=len(part))
    return left[:, combination]


def _parts(chosen: np.ndarray, lengths: np.ndarray) -> Iterator[np.ndarray]:
    if len(chosen):
        part = np.cumsum(lengths) // _AT_ONCE
        yield from np.split(chosen, np.flatnonzero(np.diff(part)) + 1)
