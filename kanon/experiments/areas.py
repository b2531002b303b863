"""The configurations of a sweep in order: the area under each curve, each k alone, and ranks."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from kanon.algorithms.catalogue import uses
from kanon.experiments.advisor.ways import compute_best_l
from kanon.experiments.comparison import INTERVALS, PAPER_K, Comparison, build_lines
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.experiments.sweep import Configuration, SweepResult
from kanon.experiments.titles import is_guided, name_configuration
from kanon.measures.comparing import check_interval
from kanon.strategies import LOOKS_AT


def choose_interval(highest_k: int) -> tuple[int, int]:
    """The first of the proposed intervals, or as much of it as a table allows.

    >>> choose_interval(30162), choose_interval(12)
    ((3, 2000), (3, 12))
    """
    low, high = INTERVALS[0]
    return low, min(high, highest_k)


def list_area_k(low: int, high: int) -> list[int]:
    """The k between which a curve is taken as straight: both ends, and the papers' k inside."""
    return sorted({low, high, *(k for k in PAPER_K if low < k < high)})


def build_sweep_comparison(result: SweepResult, ks: Iterable[int], sensitive: str) -> Comparison:
    """A sweep as a comparison, in which configurations that differ in nothing are one line."""
    lines: dict[str, tuple[Configuration, int]] = {}
    for place, config in enumerate(result.configurations):
        strategy = config.strategy if uses(config.algorithm, "strategy") else "s1"
        scope = config.scope if LOOKS_AT[strategy] else "table"
        config = replace(config, strategy=strategy, scope=scope)
        lines.setdefault(name_configuration(config), (config, place))
    classes = result.prepared.classes
    built_lines = build_lines(
        [config for config, _ in lines.values()],
        [result.results[place] for _, place in lines.values()],
        result.metrics,
        compute_best_l(classes),
    )
    return Comparison(
        built_lines, result.metrics, classes.highest_k, tuple(ks), sensitive, classes.of
    )


def build_areas_table(
    result: SweepResult, ks: Sequence[int], interval: tuple[int, int]
) -> pd.DataFrame:
    """The normalised area under each curve over an interval, the value at each k, and ranks.

    Returns
    -------
    pandas.DataFrame
        One row per criterion, interval and configuration, with the columns of ``AREAS.csv``:
        ``algorithm, metric, strategy, criterion, column, from_k, to_k, value, rank``. At one k both
        ends are that k. l and t have a row per sensitive column, which the others leave blank.

    Raises
    ------
    PlanError
        The interval is empty, begins below 2, or ends above the number of records; or the sweep
        lacks one of its k.
    """
    check_interval(*interval, result.prepared.classes.highest_k)
    columns = [column.name for column in result.prepared.classes.sensitive]
    of_column = {L_CARD.name, T_CARD.name}
    parts = []
    for column in columns or [""]:
        comparison = build_sweep_comparison(result, ks, column)
        standings = {interval: comparison.areas(*interval)}
        standings |= {(k, k): comparison.places(k) for k in ks}
        config_of = {line.name: line.configuration for line in comparison.lines}
        for (low, high), standing in standings.items():
            table = standing.table(from_k=low, to_k=high)
            configs = [config_of[name] for name in table["configuration"]]
            about = pd.DataFrame(
                {
                    "algorithm": [config.algorithm for config in configs],
                    "metric": [config.metric if is_guided(config) else "" for config in configs],
                    "strategy": [config.strategy for config in configs],
                    "criterion": table["measured"],
                    "column": [column if name in of_column else "" for name in table["measured"]],
                }
            )
            parts.append(pd.concat([about, table[["from_k", "to_k", "value", "rank"]]], axis=1))
    return pd.concat(parts, ignore_index=True).drop_duplicates(ignore_index=True)
