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
from kanon.algorithms.solution import run_algorithm
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.errors import PlanError
from kanon.kernels.dispatchers import is_everything_cached, mark_everything_cached
from kanon.measures.along import measure_curves
from kanon.measures.linkage import measure_linkage
from kanon.measures.summary import measure_release
from kanon.plan import VERSION, Plan
from kanon.plan_parts import get_own_parameters
from kanon.privacy.population_matches import count_people_below
from kanon.run import prepare

_TABLE = pd.DataFrame({"age": [20, 20, 30, 30, 40, 40, 50, 50], "ill": list("abaaabab")})


def load_first_kernels() -> None:
    """Run what a new user's first result needs, on eight records: merging by cost alone."""
    plan, task = _prepare_small_run({"name": "gaa"})
    run_algorithm(ignore_progress, "gaa", task, [plan.metric])


def load_kernels(names: Collection[str] = ()) -> None:
    """Run compiled kernels once, on eight records."""
    settings = [setting for setting in _list_settings() if not names or setting["name"] in names]
    for algorithm in settings:
        for models in ([], [{"model": "distinct-l-diversity", "l": 2}]):
            try:
                plan, task = _prepare_small_run(algorithm, models)
            except PlanError:  # not every algorithm meets every model
                continue
            run_algorithm(ignore_progress, plan.algorithm.name, task, [plan.metric])
    if names and "gaa" not in names:
        return
    plan, task = _prepare_small_run({"name": "gaa"})
    classes, path = task.classes, merge_path(task)
    measure_curves(path, [plan.metric])
    lower_bound(task, closely=False)
    lower_bound(task)
    measure_release(path.at(2), [plan.metric])
    measure_linkage(
        classes, classes, classes.attributes
    )  # one compilation: with rows beside it or not
    count_people_below(classes, classes)


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
        for parameter in get_own_parameters(name):
            for choice in parameter.choices:
                yield {**setting, parameter.name: choice}
    yield {"name": "gaa", "tie_seed": 1}
    yield {"name": "gaa", "strategy": "s3"}


def _is_merging(module: ModuleType) -> bool:
    return module.CARD.family == "merging" or hasattr(module, "merge_class")


def load_remaining_kernels() -> None:
    if not is_everything_cached():
        # The first result has what it needs of merging; the rest of it takes longest.
        for names in reversed(_split_algorithms()):
            load_kernels(names)
        mark_everything_cached()


def _split_algorithms() -> tuple[list[str], list[str]]:
    """The algorithms that merge, which take half of the time to compile, and the others."""
    merging = [name for name, module in algorithms().items() if _is_merging(module)]
    return merging, [name for name in algorithms() if name not in merging]


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as processes:
        list(processes.map(load_kernels, _split_algorithms()))
    mark_everything_cached()
