"""Tables of who is ahead: the number, its place, and whether ties decide."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from pandas.io.formats.style import Styler

from kanon.comparison import CRITERIA, Comparison
from kanon.measures.comparing import Standing
from kanon.studio.text import plain

__all__ = ["MEAN_RANK", "bands_table", "grouped_table", "standing_table", "titles_of"]

MEAN_RANK = "Mean rank ↓ better"


def titles_of(comparison: Comparison) -> dict[str, str]:
    """What metrics and criteria are called on a page, by name."""
    return {
        **{name: card.title for name, card in CRITERIA.items()},
        **{metric.name: metric.card.title for metric in comparison.measured},
    }


def standing_table(found: Standing, titles: Mapping[str, str], digits: int = 1) -> Styler:
    """Each number with its rank in brackets; the best in a row bold, ``≈`` where ties decide.

    The last row is the mean rank.
    """
    cells = found.values.map(f"{{:.{digits}f}}".format) + found.ranks.map(" ({})".format)
    if found.undecided is not None:
        cells += found.undecided.map(lambda is_open: " ≈" if is_open else "")
    bold = (found.ranks == 1).map(lambda best: "font-weight: 700" if best else "")
    cells.loc[MEAN_RANK], bold.loc[MEAN_RANK] = found.mean_ranks.map("{:.1f}".format), ""
    shown = _named(cells, titles)
    bold = bold.set_axis(shown.columns, axis=1).set_axis(shown.index)
    return shown.style.apply(lambda _: bold, axis=None)


def bands_table(found: Standing, titles: Mapping[str, str]) -> pd.DataFrame:
    """The least and largest value over the tie seeds."""
    assert found.low is not None and found.high is not None
    cells = found.low.map("{:.1f}".format) + "–" + found.high.map("{:.1f}".format)
    return _named(cells, titles)


def grouped_table(groups: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The mean areas by characteristic, as text."""
    cells = groups.drop(columns="metrics").map("{:.1f}".format)
    cells.insert(0, "metrics", groups["metrics"].astype(str))
    cells.index = pd.Index([f"{what}: {value}" for what, value in groups.index])
    return _named(cells, {**titles, "metrics": "Metrics"})


def _named(cells: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """With titles that Markdown reads as they are: a composed metric is called as one likes."""
    columns = [plain(titles.get(name, name)) for name in cells.columns]
    return cells.set_axis(columns, axis=1).set_axis(
        [plain(titles.get(name, name)) for name in cells.index]
    )
