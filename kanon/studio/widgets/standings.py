"""Tables of who is ahead: the number, its place, its shade, and whether ties decide."""

from collections.abc import Mapping

import pandas as pd
from pandas.io.formats.style import Styler

from kanon.cards import Card
from kanon.experiments.comparison import Comparison
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.measures.comparing import Standing
from kanon.studio.session.text import plain

MEAN_RANK = "Mean rank ↓ better"
MEAN_RANK_OF_LOSS = "Mean rank of losses ↓"
MEAN_RANK_OF_PRIVACY = "Mean rank of l and t ↓"

PRIVACY = (L_CARD.name, T_CARD.name)  # the criteria that say how well people are protected

BEST, WORST = "0, 158, 115", "213, 94, 0"
"""From the best place of a row to the last: bluish green to orange, which no kind of colour
blindness confuses, each over the page's own background. The number stands in every cell."""

_STRONGEST = 0.45  # so that the text of the page is read on it, light or dark

_OPEN = "background-color: rgba(128, 128, 128, 0.15)"

_MOST_COLUMNS, _MOST_LETTERS = 7, 70


def titles_of(comparison: Comparison) -> dict[str, str]:
    return {
        **{name: card.title for name, card in comparison.criteria.items()},
        **{metric.name: metric.card.title for metric in comparison.measured},
        **{
            f"alteration_{metric.name}": f"Alteration measured by {metric.card.title}"
            for metric in comparison.measured
        },
    }


def titles_of_measures(comparison: Comparison, known: Mapping[str, Card]) -> dict[str, str]:
    own = titles_of(comparison)
    return {name: own.get(name, card.title) for name, card in known.items()}


def line_titles(comparison: Comparison) -> dict[str, str]:
    return {line.name: line.title for line in comparison.lines}


def wide(comparison: Comparison) -> bool:
    """Whether lines are too many or too long-named to be columns, so that they are rows."""
    titles = [line.title for line in comparison.lines]
    return len(titles) > _MOST_COLUMNS or sum(map(len, titles)) > _MOST_LETTERS


def standing_table(
    found: Standing,
    rows: Mapping[str, str],
    columns: Mapping[str, str],
    digits: int = 1,
    turned: bool = False,
) -> Styler:
    """Each number with its rank in brackets, shaded by it; the best bold."""

    def written(row: pd.Series) -> pd.Series:
        if row.name == T_CARD.name:  # ranked in hundredths, said from 0 to 1 as everywhere
            return (row / 100).map(f"{{:.{digits + 2}f}}".format)
        return row.map(f"{{:.{digits}f}}".format)

    cells = found.values.apply(written, axis=1) + found.ranks.map("\u00a0({})".format)
    if found.undecided is not None:
        cells += found.undecided.map(lambda is_open: "\u00a0≈" if is_open else "")
    styles = found.behind.map(_shade) + (found.ranks == 1).map(
        lambda best: "; font-weight: 700" if best else ""
    )
    if found.undecided is not None:  # a colour would say more than is known
        styles = styles.where(~found.undecided.to_numpy(dtype=bool), _OPEN)
    if len(found.values.columns) < 2:  # nobody to be ahead of
        styles = styles.map(lambda _: "")
    kinds = mean_ranks(found)
    for label, means in kinds.items():
        span = means.max() - means.min()
        cells.loc[label] = means.map("{:.1f}".format)
        styles.loc[label] = ((means - means.min()) / span).map(_shade) if span > 0 else ""
    arrows = [*("↑" if up else "↓" for up in found.higher), *("" for _ in kinds)]
    named = [
        plain(f"{rows.get(name, name)} {arrow}".strip())
        for name, arrow in zip(cells.index, arrows, strict=True)
    ]
    shown = _unbroken(_named(cells, columns, named))
    styles = styles.set_axis(shown.columns, axis=1).set_axis(shown.index)
    if turned:
        shown, styles = shown.T, styles.T
    return shown.style.apply(lambda _: styles, axis=None)


def mean_ranks(found: Standing) -> dict[str, pd.Series]:
    privacy = found.ranks.index.isin(PRIVACY)
    if not privacy.any() or privacy.all():
        return {MEAN_RANK: found.mean_ranks}
    return {
        MEAN_RANK_OF_LOSS: found.ranks[~privacy].mean(),
        MEAN_RANK_OF_PRIVACY: found.ranks[privacy].mean(),
    }


def bands_table(
    found: Standing, rows: Mapping[str, str], columns: Mapping[str, str], turned: bool = False
) -> pd.DataFrame:
    """The least and largest value over the tie seeds."""
    assert found.low is not None and found.high is not None
    cells = found.low.map("{:.1f}".format) + "–" + found.high.map("{:.1f}".format)
    named = [plain(rows.get(name, name)) for name in cells.index]
    shown = _unbroken(_named(cells, columns, named))
    return shown.T if turned else shown


def grouped_table(groups: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    cells = groups.drop(columns="metrics").map("{:.1f}".format)
    cells.insert(0, "metrics", groups["metrics"].astype(str))
    named = [plain(f"{what}: {value}") for what, value in groups.index]
    return _named(cells, {**titles, "metrics": "Metrics"}, named)


def _shade(behind: float) -> str:
    """The colour of a place: 0 the best, 1 the last.

    >>> _shade(0.5), _shade(1)
    ('background-color: rgba(0, 158, 115, 0)', 'background-color: rgba(213, 94, 0, 0.45)')
    """
    colour, share = (BEST, 1 - 2 * behind) if behind <= 0.5 else (WORST, 2 * behind - 1)
    return f"background-color: rgba({colour}, {_STRONGEST * share:.3g})"


def _unbroken(shown: pd.DataFrame) -> pd.DataFrame:
    return shown.set_axis([name.replace(" ", "\u00a0") for name in shown.columns], axis=1)


def _named(cells: pd.DataFrame, columns: Mapping[str, str], rows: list[str]) -> pd.DataFrame:
    """With titles that Markdown reads as they are: a composed metric is called as one likes."""
    named = [plain(columns.get(name, name)) for name in cells.columns]
    return cells.set_axis(named, axis=1).set_axis(rows)
