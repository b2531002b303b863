"""The smallest sets of columns that single records out on Adult, against counting every set."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from benchmarks.case import Case, CaseError
from benchmarks.markdown import spread, table
from benchmarks.plans import adult_path
from benchmarks.timing import alternately
from kanon.sources.reading import read_table
from kanon.sources.singling_out import singling_out

__all__ = ["CASE"]

REPETITIONS = 5
SHARE, SIZE = 0.05, 4


def every_set(frame: pd.DataFrame) -> dict[tuple[str, ...], int]:
    """The smallest sets by counting all sets of at most so many columns with pandas.

    >>> every_set(pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 1]}))
    {('a', 'b'): 4}
    """
    reached: dict[tuple[str, ...], int] = {}
    for size in range(1, SIZE + 1):
        for columns in combinations(frame.columns, size):
            sizes = frame.groupby([*columns], observed=True, sort=False).size()
            alone = int((sizes == 1).sum())
            if alone / len(frame) >= SHARE:
                reached[columns] = alone
    return {
        one: alone
        for one, alone in reached.items()
        if not any({*other} < {*one} for other in reached)
    }


def _run() -> str:
    records = read_table(adult_path(), adult_path().name).records
    codes = records.frame.apply(lambda column: pd.factorize(column)[0])
    (ours, theirs), (found, expected) = alternately(
        lambda: singling_out(records, share=SHARE, size=SIZE),
        lambda: every_set(codes),
        repetitions=REPETITIONS,
    )
    if {one.columns: one.records for one in found.sets} != expected:
        raise CaseError("The smallest sets are not those of all sets.")
    return "\n\n".join(
        [
            f"All sets of up to {SIZE} of the {len(found.columns)} columns that single out "
            f"{100 * SHARE:g} % of {found.n_records:,} records, {len(found.sets)} smallest ones, "
            "from a table that is read: against `groupby` of pandas for every set, on columns that "
            "are numbered beforehand. Both find the same.",
            table(
                ["what", "seconds"],
                [
                    ["`singling_out`", spread(ours)],
                    ["every set by pandas", spread(theirs)],
                    ["ratio, best against best", f"{theirs.best / ours.best:.1f}"],
                    ["ratio of medians", f"{theirs.median / ours.median:.1f}"],
                ],
            ),
        ]
    )


CASE = Case(
    name="adult-singling-out",
    about="the smallest sets of columns that single records out, against counting every set",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
