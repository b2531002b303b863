"""Runs of plans whose warnings are not what a test is about."""

import warnings

import pandas as pd

from kanon.plan import Plan
from kanon.run import Run, run


def run_quietly(plan: Plan, table: pd.DataFrame) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(plan, table)
