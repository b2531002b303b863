"""Compile and load the kernels: ``python -m kanon.warm``, once at set-up.

Numba keeps what it compiled beside the source, so that a newcomer's first run is not the slow one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType
from typing import Any

import pandas as pd

from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.gaa import merge_path
from kanon.algorithms.solution import solve
from kanon.base.progress import no_progress
from kanon.errors import PlanError
from kanon.measures.along import curves_along
from kanon.measures.linkage import linkage, people_below
from kanon.measures.summary import summary
from kanon.plan import VERSION, Plan, parameters_of
from kanon.run import prepare


def warm(names: Collection[str] = ()) -> None:
    """Run compiled kernels once, on eight records.

    Parameters
    ----------
    names
        The algorithms whose kernels are wanted; all of them if none is named. Those that measure
        come with GAA.
    """
    table = pd.DataFrame({"age": [20, 20, 30, 30, 40, 40, 50, 50], "ill": list("abaaabab")})
    chosen = [one for one in _settings() if not names or one["name"] in names]
    for algorithm in chosen:
        for model in ([], [{"model": "distinct-l-diversity", "l": 2}]):
            plan = Plan.from_content(
                {
                    "version": VERSION,
                    "columns": {
                        "age": {
                            "role": "quasi-identifier",
                            "hierarchy": {"build": "intervals", "widths": [20]},
                        },
                        "ill": {"role": "sensitive"},
                    },
                    "algorithm": algorithm,
                    "privacy": [{"model": "k-anonymity", "k": 2}, *model],
                }
            )
            try:
                task = prepare(plan, table).check()
            except PlanError:  # not every algorithm meets every model
                continue
            solve(no_progress, plan.algorithm.name, task, [plan.metric])
    if names and "gaa" not in names:
        return
    classes, path = task.classes, merge_path(task)
    curves_along(path, [plan.metric])
    summary(path.at(2), [plan.metric])
    linkage(classes, classes, classes.attributes)  # one compilation: with rows beside it or not
    people_below(classes, classes)


def _settings() -> Iterator[dict[str, Any]]:
    """Every algorithm with every choice of its own."""
    for name in algorithms():
        found: dict[str, Any] = {"name": name}
        if name == "levels":
            found["node"] = {"age": 1}
        yield found
        for parameter in parameters_of(name):
            for choice in parameter.choices:
                yield {**found, parameter.name: choice}
    yield {"name": "gaa", "tie_seed": 1}
    yield {"name": "gaa", "strategy": "s3"}


def _merges(module: ModuleType) -> bool:
    """Whether an algorithm uses the kernels of merging."""
    return module.FAMILY == "merging" or hasattr(module, "merge_chosen")


if __name__ == "__main__":
    # Those that merge take longer to compile than all others together: side by side.
    merging = [name for name, module in algorithms().items() if _merges(module)]
    others = [name for name in algorithms() if name not in merging]
    with ProcessPoolExecutor(2) as processes:
        list(processes.map(warm, (merging, others)))
