"""Tables of who is ahead: the number, its place, and whether ties decide."""

from __future__ import annotations

import pandas as pd
from pandas.io.formats.style import Styler

from kanon.measures.comparing import Standing
from kanon.studio.text import plain

__all__ = ["bands_table", "grouped_table", "standing_table"]


def standing_table(found: Standing) -> Styler:
    """Each number with its rank in brackets; the best in a row bold, ``≈`` where ties decide.

    The last row is the mean rank.
    """
    cells = found.values.map("{:.1f}".format) + found.ranks.map(" ({})".format)
    if found.undecided is not None:
        cells += found.undecided.map(lambda open_: " ≈" if open_ else "")
    bold = (found.ranks == 1).map(lambda best: "font-weight: 700" if best else "")
    means = found.ranks.mean().map("{:.1f}".format)
    cells.loc["Mean rank"], bold.loc["Mean rank"] = means, ""
    shown = _named(cells)
    bold = bold.set_axis(shown.columns, axis=1).set_axis(shown.index)
    return shown.style.apply(lambda _: bold, axis=None)


def bands_table(found: Standing) -> pd.DataFrame:
    """The least and largest value over the tie seeds."""
    assert found.low is not None and found.high is not None
    cells = found.low.map("{:.1f}".format) + "–" + found.high.map("{:.1f}".format)
    return _named(cells)


def grouped_table(groups: pd.DataFrame) -> pd.DataFrame:
    """The mean areas by characteristic, as text."""
    names = groups.columns[3:]
    cells = groups[names].map("{:.1f}".format)
    cells.insert(0, "Metrics", groups["metrics"].astype(str))
    cells.index = pd.Index(
        [f"{what}: {value}" for what, value in zip(groups["characteristic"], groups["value"],
                                                   strict=True)]
    )  # fmt: skip
    return cells


def _named(cells: pd.DataFrame) -> pd.DataFrame:
    """With names that Markdown reads as they are: a composed metric is called as one likes."""
    return cells.set_axis(map(plain, cells.columns), axis=1).set_axis(map(plain, cells.index))
