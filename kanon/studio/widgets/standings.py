"""Ranked tables: each number with its rank and colour, and whether ties decide."""

from collections.abc import Mapping

import pandas as pd
from pandas.io.formats.style import Styler

from kanon.cards import Card
from kanon.experiments.comparison import Comparison
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.measures.comparing import Standing
from kanon.studio.session.text import escape_markdown

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


def get_criterion_titles(comparison: Comparison) -> dict[str, str]:
    return {
        **{name: card.title for name, card in comparison.criteria.items()},
        **{metric.name: metric.card.title for metric in comparison.metrics},
        **{
            f"alteration_{metric.name}": f"Alteration measured by {metric.card.title}"
            for metric in comparison.metrics
        },
    }


def get_measure_titles(comparison: Comparison, cards: Mapping[str, Card]) -> dict[str, str]:
    own = get_criterion_titles(comparison)
    return {name: own.get(name, card.title) for name, card in cards.items()}


def get_line_titles(comparison: Comparison) -> dict[str, str]:
    return {line.name: line.title for line in comparison.lines}


def needs_line_rows(comparison: Comparison) -> bool:
    """Whether lines have to be rows, as they are too many or too long-named for columns."""
    titles = [line.title for line in comparison.lines]
    return len(titles) > _MOST_COLUMNS or sum(map(len, titles)) > _MOST_LETTERS


def build_standing_table(
    standing: Standing,
    rows: Mapping[str, str],
    columns: Mapping[str, str],
    digits: int = 1,
    turned: bool = False,
) -> Styler:
    """Each number with its rank in brackets, shaded by rank; the best bold."""

    def format_row(row: pd.Series) -> pd.Series:
        if row.name == T_CARD.name:  # ranked in hundredths, said from 0 to 1 as everywhere
            return (row / 100).map(f"{{:.{digits + 2}f}}".format)
        return row.map(f"{{:.{digits}f}}".format)

    cells = standing.values.apply(format_row, axis=1) + standing.ranks.map("\u00a0({})".format)
    if standing.undecided is not None:
        cells += standing.undecided.map(lambda is_open: "\u00a0≈" if is_open else "")
    styles = standing.behind.map(_get_colour) + (standing.ranks == 1).map(
        lambda best: "; font-weight: 700" if best else ""
    )
    if standing.undecided is not None:  # a colour would say more than is known
        styles = styles.where(~standing.undecided.to_numpy(dtype=bool), _OPEN)
    if len(standing.values.columns) < 2:  # nobody to be ahead of
        styles = styles.map(lambda _: "")
    kinds = get_mean_ranks(standing)
    for label, means in kinds.items():
        span = means.max() - means.min()
        cells.loc[label] = means.map("{:.1f}".format)
        styles.loc[label] = ((means - means.min()) / span).map(_get_colour) if span > 0 else ""
    arrows = [*("↑" if up else "↓" for up in standing.higher), *("" for _ in kinds)]
    row_titles = [
        escape_markdown(f"{rows.get(name, name)} {arrow}".strip())
        for name, arrow in zip(cells.index, arrows, strict=True)
    ]
    table = _keep_words_together(_set_titles(cells, columns, row_titles))
    styles = styles.set_axis(table.columns, axis=1).set_axis(table.index)
    if turned:
        table, styles = table.T, styles.T
    return table.style.apply(lambda _: styles, axis=None)


def get_mean_ranks(standing: Standing) -> dict[str, pd.Series]:
    privacy = standing.ranks.index.isin(PRIVACY)
    if not privacy.any() or privacy.all():
        return {MEAN_RANK: standing.mean_ranks}
    return {
        MEAN_RANK_OF_LOSS: standing.ranks[~privacy].mean(),
        MEAN_RANK_OF_PRIVACY: standing.ranks[privacy].mean(),
    }


def build_bands_table(
    standing: Standing, rows: Mapping[str, str], columns: Mapping[str, str], turned: bool = False
) -> pd.DataFrame:
    assert standing.low is not None and standing.high is not None
    cells = standing.low.map("{:.1f}".format) + "–" + standing.high.map("{:.1f}".format)
    row_titles = [escape_markdown(rows.get(name, name)) for name in cells.index]
    table = _keep_words_together(_set_titles(cells, columns, row_titles))
    return table.T if turned else table


def build_grouped_table(groups: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    cells = groups.drop(columns="metrics").map("{:.1f}".format)
    cells.insert(0, "metrics", groups["metrics"].astype(str))
    row_titles = [escape_markdown(f"{preset}: {value}") for preset, value in groups.index]
    return _set_titles(cells, {**titles, "metrics": "Metrics"}, row_titles)


def _get_colour(behind: float) -> str:
    """The colour of a rank: 0 the best, 1 the last.

    >>> _get_colour(0.5), _get_colour(1)
    ('background-color: rgba(0, 158, 115, 0)', 'background-color: rgba(213, 94, 0, 0.45)')
    """
    colour, share = (BEST, 1 - 2 * behind) if behind <= 0.5 else (WORST, 2 * behind - 1)
    return f"background-color: rgba({colour}, {_STRONGEST * share:.3g})"


def _keep_words_together(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_axis([name.replace(" ", "\u00a0") for name in table.columns], axis=1)


def _set_titles(cells: pd.DataFrame, columns: Mapping[str, str], rows: list[str]) -> pd.DataFrame:
    """Set escaped titles: a composed metric can have any name."""
    titles = [escape_markdown(columns.get(name, name)) for name in cells.columns]
    return cells.set_axis(titles, axis=1).set_axis(rows)
