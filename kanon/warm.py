"""Compile and load the kernels: ``python -m kanon.warm``, once at set-up.

Numba keeps what it compiled beside the source, so that a newcomer's first run is not the slow one.
"""

from __future__ import annotations

import pandas as pd

from kanon.algorithms.gaa import merge_path
from kanon.measures.along import curves_along
from kanon.measures.linkage import linkage, people_below
from kanon.plan import Plan
from kanon.run import prepare, solve

__all__ = ["warm"]


def warm() -> None:
    """Run every compiled kernel once, on four records."""
    table = pd.DataFrame({"sex": ["F", "F", "M", "M"], "ill": ["a", "b", "a", "a"]})
    for algorithm in (
        {"name": "gaa", "tie_seed": 1},
        {"name": "gaa", "strategy": "s3"},
        {"name": "gaa-small"},
        {"name": "k-member"},
        {"name": "oka"},
    ):
        plan = Plan.from_content(
            {
                "version": 1,
                "columns": {
                    "sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
                    "ill": {"role": "sensitive"},
                },
                "algorithm": algorithm,
                "privacy": [
                    {"model": "k-anonymity", "k": 2},
                    {"model": "distinct-l-diversity", "l": 2},
                ],
            }
        )
        ready = prepare(plan, table)
        solve(lambda fraction, text: None, plan.algorithm.name, ready.task(), [plan.metric])
        path = merge_path(ready.task())
        curves_along(path, [plan.metric])
    linkage(ready.classes, ready.classes, ready.classes.attributes)
    people_below(ready.classes, ready.classes)


if __name__ == "__main__":
    warm()
