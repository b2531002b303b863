"""What changed between a table and its release: found, and said in sentences and a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from kanon.base.formatting import (
    counted,
    one_or_many,
    percent,
    round_apart,
    thin,
    write_decimals,
    write_number,
)
from kanon.base.sentences import wrong_by
from kanon.measures import association_change, distribution_change, query_error
from kanon.measures.association_change import Associations, strongest
from kanon.measures.distribution_change import Distribution
from kanon.measures.overview import MeasureValue
from kanon.measures.query_error import QueryStudy, study
from kanon.run import Run
from kanon.studio.session.text import plain
from kanon.studio.widgets.numbers import Number


@dataclass(frozen=True, eq=False)
class Changes:
    distributions: tuple[Distribution, ...]  # of each quasi-identifier's values; most changed first
    before: Associations  # how closely columns go together in the table
    after: Associations  # and in the release
    queries: QueryStudy  # counts, and how the release answers them


def changed_by(done: Run) -> Changes:
    recoding = done.recoding
    found = distribution_change.distributions(recoding)
    return Changes(
        tuple(sorted(found, key=lambda one: -one.total_variation)),
        association_change.before(recoding.classes),
        association_change.after(recoding),
        study(recoding),
    )


# --- sentences ------------------------------------------------------------------------------
def distribution_sentence(changed: Changes) -> str:
    most, least = changed.distributions[0], changed.distributions[-1]
    if most.total_variation == 0:
        return (
            "**No column changed**: every value is as frequent as it was, if each released value "
            "counts as each of the values that it may mean, equally likely."
        )
    if len(changed.distributions) > 1 and _alike(most, least):
        return (
            "**All columns changed alike**: to be shared out as in the original table, "
            f"{_records(most)} would need another value in each, if each released value counts as "
            "each of the values that it may mean, equally likely."
        )
    said = [
        (
            f"**{plain(most.name)} changed most**: to be shared out as in the original table, "
            f"{_records(most)} would need another {plain(most.name)}, if each released value "
            "counts as each of the values that it may mean, equally likely."
        )
    ]
    if len(changed.distributions) > 1:
        amount = percent(100 * least.total_variation) if least.total_variation else "not at all"
        said.append(f"{plain(least.name)} changed least ({amount}).")
    if most.suppressed:
        said.append(
            one_or_many(
                most.suppressed,
                "The {count} suppressed record has no value at all and counts in every column.",
                "The {count} suppressed records have no value at all and count in every column.",
            )
        )
    return " ".join(said)


def _records(one: Distribution) -> str:
    number = one.total_variation * one.n_records
    return (
        f"{percent(100 * one.total_variation)} of the records "
        f"({'fewer than one' if number < 1 else thin(round(number))})"
    )


def _alike(one: Distribution, other: Distribution) -> bool:
    return percent(100 * one.total_variation) == percent(100 * other.total_variation)


def changed_most(changed: Changes) -> str:
    most, least = changed.distributions[0], changed.distributions[-1]
    if not most.total_variation:
        return "no column changed"
    share = percent(100 * most.total_variation)
    if len(changed.distributions) > 1 and _alike(most, least):
        return f"all columns changed alike, by {share} under equal spread"
    return f"{most.name} changed most, by {share} under equal spread"


def association_sentence(changed: Changes) -> str:
    found = strongest(changed.before, changed.after)
    if found is None:
        return "All columns go together as they did"
    digits = ".2f" if abs(found.after - found.before) >= 0.01 else ".4f"
    before, after = f"{found.before:{digits}}", f"{found.after:{digits}}"
    if before == after:
        return "All columns go together as they did, to four digits"
    verb = "less" if found.after < found.before else "more"
    told = f"Cramér's V {before} before, {after} after"
    return f"{found.one} and {found.other} tell {verb} of each other: {told}"


def association_notes(changed: Changes) -> str:
    found, said = changed.before, []
    if found.near_unique:
        said.append(
            f"Left out, for having fewer than {association_change.RECORDS_PER_VALUE} records "
            "for each value in the mean: "
            f"{_some([plain(name) for name in found.near_unique])}. What is nearly unique "
            "seems to go together with everything."
        )
    if found.left_out:
        pairs = [f"{plain(one)} × {plain(other)}" for one, other in found.left_out]
        most = thin(association_change.MOST_PAIRS)
        said.append(f"Left out, for having more than {most} pairs of values: {_some(pairs)}.")
    if found.binned:
        said.append(
            f"Numbers are counted in {association_change.BINS} bins of equally many records "
            f"of the original table: {_some([plain(name) for name in found.binned])}."
        )
    if not found.pairs:
        said.append("There are no two columns left that could go together.")
    return " ".join(said)


def _some(names: list[str]) -> str:
    """Up to four, and how many more there are."""
    listed = ", ".join(names[:4])
    return f"{listed} and {counted(len(names) - 4, 'other')}" if len(names) > 4 else listed


def query_sentence(changed: Changes) -> str:
    found = changed.queries
    return (
        f"Half of {thin(len(found.errors))} counts are off by at most "
        f"{percent(found.quantile(0.5))}, nine of ten by at most {percent(found.quantile(0.9))}"
    )


def of_change(done: Run, changed: Changes) -> list[Number]:
    association = done.measures[association_change.CARD.name]
    median, last = changed.queries.quantile(0.5), changed.queries.quantile(0.9)
    half = wrong_by(median, "Half")
    return [
        Number(
            f"Distribution change {distribution_change.CARD.arrow}",
            percent(100 * done.measures[distribution_change.CARD.name]),
            distribution_change.CARD.summary,
        ),
        Number(
            f"Association change {association_change.CARD.arrow}",
            f"{write_decimals(association, 3)} of 1" if association is not None else "–",
            association_change.CARD.summary,
        ),
        Number(
            f"Query error, median {query_error.CARD.arrow}",
            percent(median),
            f"{half} {query_error.CARD.summary}",
        ),
        Number(
            f"Query error, 9 of 10 {query_error.CARD.arrow}",
            percent(last),
            wrong_by(last, "Nine of ten") + " " + "One of ten is off by more.",
        ),
    ]


# --- the table of all measures ----------------------------------------------------------------
WAY = "Of the way to all at root"  # the column that measures of different units can be sorted by


def overview_table(found: Sequence[MeasureValue], columns: Sequence[str]) -> pd.DataFrame:
    """The measures as a table; what went furthest comes first."""
    rows = [
        {
            "Measure": one.card.title + (f": {one.column}" if len(columns) > 1 else "")
            if one.column
            else one.card.title,
            "Before": one.before,
            "After": one.after,
            "All at root": one.at_root,
            WAY: one.way,
            "Unit": one.card.unit,
            "Better": one.card.arrow.split(" ")[0],
            "Lowest": one.card.lowest,
            "Highest": one.card.highest,
            "What it says": one.card.summary,
            "Source": one.card.source,
        }
        for one in found
    ]
    numbers = dict.fromkeys(("Before", "After", "All at root", WAY), float)
    table = pd.DataFrame(rows).astype(numbers)
    table = table.sort_values(WAY, ascending=False, kind="stable", ignore_index=True)
    texts = {name: [*map(write_number, table[name])] for name in numbers if name != WAY}
    return table.assign(**texts, **{WAY: round_apart(table[WAY], 1)}).astype(numbers)
