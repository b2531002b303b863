"""The configurations of a sweep in order: the area under each curve, each k alone, and ranks."""

from dataclasses import replace

import pandas as pd

from kanon.algorithms.catalogue import uses
from kanon.experiments.advisor.ways import compute_best_l
from kanon.experiments.comparison import Comparison, build_lines
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.experiments.sweep import Configuration, SweepResult
from kanon.experiments.titles import is_guided, name_configuration
from kanon.measures.along import Curves, Points
from kanon.strategies import LOOKS_AT


def compare_sweep(result: SweepResult, sensitive: str) -> Comparison:
    """A sweep as a comparison, in which configurations that differ in nothing are one line."""
    numbers_by_name: dict[str, tuple[Configuration, Curves | Points]] = {}
    for config, numbers in result.numbers.items():
        strategy = config.strategy if uses(config.algorithm, "strategy") else "s1"
        scope = config.scope if LOOKS_AT[strategy] else "table"
        config = replace(config, strategy=strategy, scope=scope)
        numbers_by_name.setdefault(name_configuration(config), (config, numbers))
    configs, curves = zip(*numbers_by_name.values(), strict=True)
    classes = result.prepared.classes
    lines = build_lines(configs, curves, result.metrics, compute_best_l(classes))
    ks = tuple(sorted(result.ks))
    return Comparison(lines, result.metrics, classes.highest_k, ks, sensitive, classes.of)


def build_areas_table(result: SweepResult) -> pd.DataFrame:
    """The area under each curve over all k of a sweep (NAUC), the value at each k, and ranks.

    Returns
    -------
    pandas.DataFrame
        One row per criterion, interval and configuration, with the columns of ``AREAS.csv``:
        ``algorithm, metric, strategy, criterion, column, from_k, to_k, value, rank``. At one k both
        ends are that k. l and t have a row per sensitive column, which the others leave blank.

    Raises
    ------
    PlanError
        The sweep has only one k.
    """
    low, high = min(result.ks), max(result.ks)
    parts = []
    for column in [column.name for column in result.prepared.classes.sensitive] or [""]:
        comparison = compare_sweep(result, column)
        standings = {(low, high): comparison.areas(low, high, result.ks)}
        standings |= {(k, k): comparison.places(k) for k in result.ks}
        for (first, last), standing in standings.items():
            table = standing.table(from_k=first, to_k=last)
            table = table.rename(columns={"measured": "criterion"})
            configs = [comparison.line(name).configuration for name in table["configuration"]]
            table["algorithm"] = [config.algorithm for config in configs]
            table["metric"] = [config.metric if is_guided(config) else "" for config in configs]
            table["strategy"] = [config.strategy for config in configs]
            of_column = table["criterion"].isin([L_CARD.name, T_CARD.name])
            table["column"] = of_column.map({True: column, False: ""})
            parts.append(table)
    about = ["algorithm", "metric", "strategy", "criterion", "column"]
    names = [*about, "from_k", "to_k", "value", "rank"]
    return pd.concat(parts)[names].drop_duplicates(ignore_index=True)
