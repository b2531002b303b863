"""Who is ahead on each simulated column, and on average."""

from collections.abc import Iterable

import pandas as pd

from kanon.experiments.simulated.columns import COLUMNS, Column
from kanon.experiments.simulated.study import CRITERIA, STRATEGIES, RunResult, Study, StudyRun
from kanon.measures.comparing import Standing, rank_configurations

DIGITS = 2
"""Areas are compared rounded to so many digits, as [M23] publishes them: what looks equal is."""

OVERALL = "overall"  # the column of the mean rank over all criteria


def list_complete_columns(run_results: Iterable[RunResult]) -> list[Column]:
    runs = {result.run for result in run_results}
    return [
        column for column in COLUMNS if all((column, strategy) in runs for strategy in STRATEGIES)
    ]


def rank_strategies(run_results: Iterable[RunResult], criterion: str) -> Standing:
    run_results = list(run_results)
    at = list(CRITERIA).index(criterion)
    area = {result.run: result.areas[at] for result in run_results}
    columns = list_complete_columns(run_results)
    values = pd.DataFrame(
        [[area[StudyRun(column, strategy)] for strategy in STRATEGIES] for column in columns],
        index=pd.MultiIndex.from_tuples(columns, names=Column._fields),
        columns=list(STRATEGIES),
        dtype=float,
    )
    higher = CRITERIA[criterion].direction == "higher"
    return rank_configurations(values, digits=DIGITS, higher=[higher] * len(values))


def compute_mean_ranks(run_results: Iterable[RunResult]) -> pd.DataFrame:
    run_results = list(run_results)
    means = pd.DataFrame({name: rank_strategies(run_results, name).mean_ranks for name in CRITERIA})
    return means.assign(**{OVERALL: means.mean(axis=1)})


def build_results_table(study: Study, run_results: Iterable[RunResult]) -> pd.DataFrame:
    run_results = list(run_results)
    ranks = {name: rank_strategies(run_results, name).ranks for name in CRITERIA}
    low, high = study.interval
    area = {result.run: result.areas for result in run_results}
    rows = [
        (*column, strategy, name, low, high, area[StudyRun(column, strategy)][place],
         ranks[name][strategy].get(column))
        for column in COLUMNS
        for strategy in STRATEGIES
        if (column, strategy) in area
        for place, name in enumerate(CRITERIA)
    ]  # fmt: skip
    columns = [*Column._fields, "strategy", "criterion", "k_from", "k_to", "nauc_percent", "rank"]
    return pd.DataFrame(rows, columns=columns).astype({"rank": "Int64"})
