"""Count what anyone who holds several releases of the same table learns.

Each release can meet its plan although all of them together do not. There are two attackers.

**One with all rows lined up** sees the releases side by side, as one wide table. Two records look
alike if every release shows them alike: with the same labels, or not at all, and with the same
value of a column that passes through here and is a quasi-identifier elsewhere. The plans are
checked again in these smaller groups. If all releases keep the table's order, anyone can do this;
if not, it is the most that anyone can learn. Rows are matched by the cells that two releases show,
for certain where no other row of either has the same cells.

**One without the order** finds a person's class in each release by what is known of that person.
The sensitive value is in all of these classes (the composition attack). The person's rows show the
same cells in any two releases. So the records that can be the person are at most those that two
classes can share however rows are matched: the sum, over these cells, of the fewest rows with them
in either class (as the F-anonymity of the correspondence attack counts).

Where single classes were raised, labels overlap and the risk is overstated: two records may look
different although they mean the same.

Sources: Ganta, Kasiviswanathan, Smith 2008 (composition); Fung, Wang, Fu, Pei 2008
(correspondence); Wang, Fung 2006 (releases of one table side by side).

Four people. One release keeps the age, the other one the sex; both are 2-anonymous::

    person          release 1   release 2
    1  F  flu       1  *        *  F
    1  M  cold      1  *        *  M
    2  F  gout      2  *        *  F
    2  M  flu       2  *        *  M

Side by side everyone is unique. Without the order, cold and gout match their rows, and a woman of
age 1 has the flu: she is found among {flu, cold} and among {flu, gout}.

>>> import pandas as pd
>>> from kanon.plan import Plan
>>> from kanon.run import run
>>> table = pd.DataFrame({"age": list("1122"), "sex": list("FMFM"),
...     "ill": ["flu", "cold", "gout", "flu"]})
>>> def keeping(**node):
...     tree = {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}
...     return Release.from_run(run(Plan.from_content({"version": 2,
...         "columns": {"age": tree, "sex": tree, "ill": {"role": "sensitive"}},
...         "algorithm": {"name": "levels", "node": node},
...         "privacy": [{"model": "k-anonymity", "k": 2}]}), table))
>>> both = combine_releases([keeping(age=0, sex=1), keeping(age=1, sex=0)], table)
>>> both.smallest_classes, both.together.min_k, both.holds
((2, 2), 1, False)
>>> both.lined_up, both.matched_records, both.candidates
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

from kanon.base.formatting import count_noun, join_words, write_count, write_number
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, list_names, quote
from kanon.privacy.model import Model
from kanon.release.common_classes import (
    CellsOfPairs,
    Release,
    ReleaseView,
    check_record_numbers,
    check_same_coarsening,
    count_ground_classes,
    find_groups_by_sight,
    find_matched_rows,
    join_releases,
    list_comparable_columns,
    list_known_columns,
    match_ground_classes,
    number_shown_cells,
)
from kanon.sensitive import Sensitive
from kanon.sources.tables import Table

_ABSENT = np.iinfo(np.int64).max  # in place of a number of values, of records that a release lacks

_CHUNK_ENTRIES = 2_000_000  # entries of histograms intersected at once, at some dozen bytes each


@dataclass(frozen=True)
class CombinedModel:
    """A privacy model that some of the plans require, in all their releases together."""

    model: Model
    releases: tuple[int, ...]  # those that require it, numbered from 1
    level_alone: float | None  # the level of the worst class in any of these; None without a class
    # that of the worst group that looks alike in all releases, or of the worst class if it is worse
    level: float | None
    records: int  # the records in groups that do not meet it
    holds: bool  # whether all groups meet it

    def describe_model(self, names: Sequence[str]) -> str:
        """The requirement, what single releases reach, and what all reach together."""
        in_groups = f"{count_noun(self.records, 'record')} in groups that do not meet it"
        failed = f"; {in_groups}" if self.records else ""
        askers = join_words([names[number - 1] for number in self.releases])
        return (
            f"{self.model.sentence} ({self.model.card.arrow}), required by {askers}: "
            f"{_format_level(self.level_alone)} in the worst class of any single release, "
            f"{_format_level(self.level)} in the worst group of all together{failed}"
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """The model's name, parameters, levels and failing records, as JSON can store them."""
        return {
            "model": self.model.card.name,
            **vars(self.model),
            "asked_of": list(self.releases),
            "alone": _drop_infinite(self.level_alone),
            "together": _drop_infinite(self.level),
            "records": self.records,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class LearntValues:
    """What anyone who holds all releases learns about a sensitive column."""

    column: str
    # the records whose value is certain although no single release reveals it: with all rows lined
    # up (all of their group have one value), and without the order, by a person's classes
    lined_up: int
    certain: int
    # the fewest values that someone can have, by any single release, and by all without the order
    values_alone: int | None
    values: int | None
    # the fewest rows that can be someone's without the order: an upper bound, as other knowledge
    # than these classes may exclude more
    records: int | None

    @property
    def sentence(self) -> str:
        """In words: how many records become certain, with and without the order of the rows."""
        if self.values is None or self.values_alone is None or self.records is None:
            return f"{quote(self.column)}: no release shows it"
        return (
            f"{quote(self.column)}: values that no single release reveals, but all releases "
            f"together do: those of {count_noun(self.lined_up, 'record')} if all rows can be lined "
            f"up, and of {write_count(self.certain)} without the row order, using only each "
            "person's class in every release (↓ better). Without the order, the worst case leaves "
            f"{count_noun(self.values, 'value')} and at most {count_noun(self.records, 'row')}; "
            f"the worst single release leaves {count_noun(self.values_alone, 'value')} (↑ better)"
        )

    @property
    def numbers(self) -> dict[str, int | None]:
        """The counts without the column's name, as JSON can store them; None where unknown."""
        numbers_by_name = dict(vars(self))
        del numbers_by_name["column"]
        return numbers_by_name


@dataclass(frozen=True, eq=False)
class CombinedReleases:
    """What several releases of a table reveal together."""

    smallest_classes: tuple[
        int | None, ...
    ]  # the smallest class of each release; None without a class
    together: EquivalenceClasses  # the groups of records that look alike in all releases
    asked: tuple[CombinedModel, ...]  # the requirements of the plans, in these groups
    learnt: tuple[LearntValues, ...]  # what becomes known of each sensitive column
    undone: tuple[str, ...]  # columns generalised or left out in one release, unchanged in another
    # the records whose rows can be matched between two releases: by the order that both keep, or by
    # the cells that both show; None if there were too many to count
    matched_records: int | None
    lined_up: bool  # whether anyone can line up all rows; if not, the groups are a worst case
    # the fewest records that someone can be without the row order; never below the smallest group
    candidates: int | None

    @property
    def order_sentence(self) -> str:
        """A sentence that says whether anyone can line up the rows."""
        if self.lined_up:
            return "Anyone can line up the rows of all releases"
        rows = (
            "an unknown number"
            if self.matched_records is None
            else f"at least {write_count(self.matched_records)}"
        )
        return (
            f"Anyone can match the rows of {rows} of "
            f"{count_noun(self.together.n_records, 'record')} (↓ better). Groups are counted as if "
            "all rows were matched, which is the most that anyone can learn. Without matched rows, "
            f"a person is one of at most {count_noun(self.candidates or 0, 'record')} in the worst "
            "case (↑ better)"
        )

    @property
    def holds(self) -> bool:
        """Whether all releases together meet what every plan asks for."""
        return all(model.holds for model in self.asked)

    def describe_releases(self, names: Sequence[str]) -> tuple[str, ...]:
        """The results in sentences, the smallest group first."""
        sizes = join_words(["no" if k is None else write_count(k) for k in self.smallest_classes])
        least = "no" if self.together.min_k is None else write_count(self.together.min_k)
        whole = self.together
        sentences = [
            f"The smallest class has {sizes} records in {join_words(names)}; the smallest group "
            f"that looks alike in all of them has {least} (↑ better); "
            f"{write_count(whole.unique_records)} of {count_noun(whole.n_records, 'record')} are "
            "unique (↓ better)",
            self.order_sentence,
        ]
        if self.undone:
            sentences.append(
                f"{list_names(self.undone)}: generalised or left out in one release, shown "
                "unchanged in another"
            )
        return (
            *sentences,
            *(part.describe_model(names) for part in self.asked),
            *(part.sentence for part in self.learnt),
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """All results for JSON: null means nothing, or infinite."""
        return {
            "records": self.together.n_records,
            "min_k_alone": list(self.smallest_classes),
            "min_k": self.together.min_k,
            "groups": self.together.n_classes,
            "unique_records": self.together.unique_records,
            "generalised_and_shown": list(self.undone),
            "rows_lined_up": self.lined_up,
            "rows_matched": self.matched_records,
            "candidates": self.candidates,
            "asked": [part.numbers for part in self.asked],
            "learnt": {part.column: part.numbers for part in self.learnt},
            "holds": self.holds,
        }


def _drop_infinite(level: float | None) -> float | None:
    return None if level is None or math.isinf(level) else level


def _format_level(level: float | None) -> str:
    return "no class" if level is None else write_number(level, 6)


def combine_releases(releases: Sequence[Release], table: Table | pd.DataFrame) -> CombinedReleases:
    """Count what anyone who holds several releases of the same table learns.

    Parameters
    ----------
    releases
        The releases, in any order.
    table
        Their table, which is counted once more by the columns that rows are compared by.

    Raises
    ------
    PlanError
        There is no release; they are not of the same table; or a plan counts k in persons.
    TableError
        The table cannot be counted by all of their columns.
    """
    check_record_numbers(releases)
    check_same_coarsening(releases)
    person_columns = [
        release.plan.person for release in releases if release.plan.person is not None
    ]
    if person_columns:
        raise PlanError(
            f"A plan counts k in persons ({quote(person_columns[0])}), but combined releases are "
            "counted in records: remove the key 'person' from the plans; the result then says less."
        )
    ground = count_ground_classes(releases, table)
    known = list_known_columns(releases)
    views = [
        ReleaseView(release, ground, match_ground_classes(release, ground), known)
        for release in releases
    ]
    together, _ = join_releases(views, ground, None)
    cells: CellsOfPairs = {pair: number_shown_cells(pair) for pair in combinations(views, 2)}
    matched, lined_up = find_matched_rows(views, cells)
    whole = ground.attributes == list_comparable_columns(releases)
    starts, counts = np.arange(ground.n_classes + 1), ground.counts
    everybody = Sensitive("", ("",), False, starts, 0 * counts, counts, counts[:1])
    return CombinedReleases(
        tuple(release.recoding.min_k for release in releases),
        together,
        tuple(_combine_models(views, ground, together)),
        tuple(_find_learnt_values(views, cells, sensitive) for sensitive in ground.sensitive),
        tuple(sorted(_find_undone_columns(releases))),
        int(ground.counts[matched].sum()) if whole else None,
        lined_up,
        _find_fewest(_count_candidates(views, cells, everybody, None)[1]),
    )


# --- what the plans ask for ---------------------------------------------------------------------
def _combine_models(
    views: Sequence[ReleaseView], ground: EquivalenceClasses, together: EquivalenceClasses
) -> Iterator[CombinedModel]:
    wanted: dict[Model, list[int]] = {}
    for number, view in enumerate(views, 1):
        for model in view.release.plan.models:
            wanted.setdefault(model, []).append(number)
    groups = {None: together}
    for model, numbers in wanted.items():
        column = getattr(model, "column", None)
        several = getattr(model, "others", None) or getattr(model, "columns", None)
        if several or getattr(model, "distance", "") == "hierarchical":
            raise PlanError(
                f"{model.sentence} is not counted for combined releases; remove this model from "
                "the plans to combine."
            )
        if column not in groups:
            groups[column], _ = join_releases(views, ground, column)
        whole = groups[column]
        single = [views[number - 1].release.recoding.released for number in dict.fromkeys(numbers)]
        levels = [
            level_reached
            for recoding in single
            if (level_reached := model.level(recoding)) is not None
        ]
        worst = min if model.card.direction == "higher" else max
        alone = worst(levels, default=None)
        level = model.level(whole)
        met = model.holds_each(whole)
        yield CombinedModel(
            model,
            tuple(dict.fromkeys(numbers)),
            alone,
            worst((recoding for recoding in (alone, level) if recoding is not None), default=None),
            int(whole.counts[~met].sum()),
            bool(met.all()) and all(model.holds(recoding) for recoding in single),
        )


def _find_undone_columns(releases: Sequence[Release]) -> Iterator[str]:
    for column in {name for release in releases for name in release.plan.columns}:
        shows = [release.is_passing(column) for release in releases]
        if any(shows) and not all(shows):
            yield column


# --- what becomes known of a sensitive column -----------------------------------------------------
def _find_learnt_values(
    views: Sequence[ReleaseView], cells: CellsOfPairs, sensitive: Sensitive
) -> LearntValues:
    column, ground, sensitive = sensitive.name, views[0].ground, sensitive.folded
    showing = [candidate for candidate in views if candidate.release.is_passing(column)]
    fewest_alone = np.full(ground.n_classes, _ABSENT)  # values, by a single release
    for view in showing:
        single = sensitive.grouped(view.at, view.release.recoding.n_classes)
        fewest_alone = np.minimum(fewest_alone, np.append(np.diff(single.start), _ABSENT)[view.at])
    certain_alone = fewest_alone == 1

    def count_new(certain: np.ndarray) -> int:
        return int(ground.counts[certain & ~certain_alone].sum())

    lined, group = join_releases(views, ground, column)
    alike = np.diff(lined.sensitive[0].folded.start) == 1
    grouped = group >= 0
    values, records = _count_candidates(showing, cells, sensitive, column)
    return LearntValues(
        column,
        count_new(grouped & np.append(alike, False)[group]),
        count_new(values == 1),
        _find_fewest(fewest_alone),
        _find_fewest(values),
        _find_fewest(records),
    )


def _find_fewest(numbers: np.ndarray) -> int | None:
    least = int(numbers.min(initial=_ABSENT))
    return None if least == _ABSENT else least


def _count_candidates(
    showing: Sequence[ReleaseView], cells: CellsOfPairs, sensitive: Sensitive, column: str | None
) -> np.ndarray:
    n_classes = sensitive.n_classes
    fewest = np.full((2, n_classes), _ABSENT)
    for views in {tuple(showing), *combinations(showing, 2)}:
        cell_of_class = cells.get(views, np.zeros(n_classes, int))
        width = int(cell_of_class.max()) + 1
        keys = sensitive.value * width + cell_of_class[sensitive.of_entry]
        distinct, code = np.unique(keys, return_inverse=True)
        cells_and_values = Sensitive.from_counts(
            "", [""] * len(distinct), False,
            sensitive.of_entry, code, sensitive.count, n_classes,
        )  # fmt: skip
        value_of = np.unique(distinct // width, return_inverse=True)[1]
        fewest = np.minimum(fewest, _count_common_values(views, cells_and_values, column, value_of))
    return fewest


def _count_common_values(
    showing: Sequence[ReleaseView], sensitive: Sensitive, column: str | None, value_of: np.ndarray
) -> np.ndarray:
    classes, histograms, ground = [], [], showing[0].ground
    for view in showing:
        _, sizes, group = find_groups_by_sight(
            view.list_seen_codes(column), ground.counts, view.present
        )
        classes.append(group)
        histograms.append(sensitive.grouped(group, len(sizes)))
    present = np.logical_or.reduce([view.present for view in showing])
    sides = [
        (group_of_class + 1, histogram.n_classes + 1)
        for group_of_class, histogram in zip(classes, histograms, strict=True)
    ]
    tuples, total, combination = find_groups_by_sight(sides, ground.counts, present)
    at = tuples.astype(np.int64) - 1  # (P, releases): the class in each, -1 where it is in none
    width = max(len(sensitive.values), 1)
    keys = [histogram.of_entry * width + histogram.value for histogram in histograms]
    # The class with the fewest values is looked through, and each value looked up in the others.
    lengths = np.empty_like(at)
    for i, histogram in enumerate(histograms):
        lengths[:, i] = np.append(np.diff(histogram.start), _ABSENT)[at[:, i]]
    fewest = np.full((2, len(total) + 1), _ABSENT)
    first = lengths.argmin(axis=1)
    for i, histogram in enumerate(histograms):
        rows = np.flatnonzero(first == i)
        for part in _split_by_length(rows, lengths[rows, i]):
            histogram_part = histogram.only(at[part, i])
            of, value, least = histogram_part.of_entry, histogram_part.value, histogram_part.count
            everywhere = np.ones(len(of), dtype=bool)
            for other, other_histogram in enumerate(histograms):
                where = at[part, other][of]
                if other == i or not (where >= 0).any():
                    continue
                key = np.where(where >= 0, where, 0) * width + value
                entry = np.minimum(np.searchsorted(keys[other], key), len(keys[other]) - 1)
                matches = keys[other][entry] == key
                everywhere &= matches | (where < 0)
                least = np.where(
                    matches & (where >= 0), np.minimum(least, other_histogram.count[entry]), least
                )
            common = np.unique(of[everywhere] * width + value_of[value[everywhere]])
            fewest[0, part] = np.bincount(common // width, minlength=len(part))
            fewest[1, part] = np.bincount(of, least * everywhere, minlength=len(part))
    return fewest[:, combination]


def _split_by_length(rows: np.ndarray, lengths: np.ndarray) -> Iterator[np.ndarray]:
    if len(rows):
        part = np.cumsum(lengths) // _CHUNK_ENTRIES
        yield from np.split(rows, np.flatnonzero(np.diff(part)) + 1)
