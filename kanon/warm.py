"""Compile and load the kernels: ``python -m kanon.warm``, once at set-up or behind a first visit.

Numba keeps what it compiled, so that a newcomer's run is not the slow one. What is not there when a
run needs it is compiled then.
"""

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType
from typing import Any

import pandas as pd

from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.gaa import merge_path
from kanon.algorithms.lower_bound import lower_bound
from kanon.algorithms.solution import solve
from kanon.algorithms.task import Task
from kanon.base.progress import no_progress
from kanon.errors import PlanError
from kanon.kernels.dispatchers import all_is_compiled, note_that_all_is_compiled
from kanon.measures.along import curves_along
from kanon.measures.linkage import linkage, people_below
from kanon.measures.summary import summary
from kanon.plan import VERSION, Plan, parameters_of
from kanon.run import prepare

_TABLE = pd.DataFrame({"age": [20, 20, 30, 30, 40, 40, 50, 50], "ill": list("abaaabab")})


def warm_first() -> None:
    """Run what a new user's first result needs, on eight records: merging by cost alone."""
    plan, task = _prepare_small_run({"name": "gaa"})
    solve(no_progress, "gaa", task, [plan.metric])


def warm(names: Collection[str] = ()) -> None:
    """Run compiled kernels once, on eight records."""
    settings = [setting for setting in _list_settings() if not names or setting["name"] in names]
    for algorithm in settings:
        for models in ([], [{"model": "distinct-l-diversity", "l": 2}]):
            try:
                plan, task = _prepare_small_run(algorithm, models)
            except PlanError:  # not every algorithm meets every model
                continue
            solve(no_progress, plan.algorithm.name, task, [plan.metric])
    if names and "gaa" not in names:
        return
    plan, task = _prepare_small_run({"name": "gaa"})
    classes, path = task.classes, merge_path(task)
    curves_along(path, [plan.metric])
    lower_bound(task, closely=False)
    lower_bound(task)
    summary(path.at(2), [plan.metric])
    linkage(classes, classes, classes.attributes)  # one compilation: with rows beside it or not
    people_below(classes, classes)


def _prepare_small_run(
    algorithm: dict[str, Any], models: Sequence[dict[str, Any]] = ()
) -> tuple[Plan, Task]:
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
            "privacy": [{"model": "k-anonymity", "k": 2}, *models],
        }
    )
    return plan, prepare(plan, _TABLE).check()


def _list_settings() -> Iterator[dict[str, Any]]:
    for name in algorithms():
        setting: dict[str, Any] = {"name": name}
        if name == "levels":
            setting["node"] = {"age": 1}
        yield setting
        for parameter in parameters_of(name):
            for choice in parameter.choices:
                yield {**setting, parameter.name: choice}
    yield {"name": "gaa", "tie_seed": 1}
    yield {"name": "gaa", "strategy": "s3"}


def _is_merging(module: ModuleType) -> bool:
    return module.CARD.family == "merging" or hasattr(module, "merge_chosen")


def warm_rest() -> None:
    if not all_is_compiled():
        # The first result has what it needs of merging; the rest of it takes longest.
        for names in reversed(_split_algorithms()):
            warm(names)
        note_that_all_is_compiled()


def _split_algorithms() -> tuple[list[str], list[str]]:
    """The algorithms that merge, which take half of the time to compile, and the others."""
    merging = [name for name, module in algorithms().items() if _is_merging(module)]
    return merging, [name for name in algorithms() if name not in merging]


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as processes:
        list(processes.map(warm, _split_algorithms()))
    note_that_all_is_compiled()
