"""What an algorithm finds: the release at every k, or at those that were computed."""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from kanon.algorithms.catalogue import algorithm_named, serves_every_k
from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress
from kanon.errors import Unsatisfiable
from kanon.measures.along import Curves, Points, measure_curves, measure_points
from kanon.metrics import Metric
from kanon.privacy.conjunction import find_broken
from kanon.recoding import MergePath, Recoding

FINISHED_K = (
    *(2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 250, 350, 500, 750, 1000, 1500, 2000, 3000),
    *(5000, 7500, 10000, 15000, 20000, 30000, 50000, 100000, 200000, 500000, 1000000),
)
"""The k that a run with several models is finished for, beside the one asked for."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What an algorithm found: the release at every k, or the one for the task's k."""

    path: MergePath | None  # the merge path of an algorithm that serves every k, or None
    recoding: Recoding | None  # the recoding of any other algorithm, or None
    curves: Curves | Points | None  # the criteria along the path, or at the known k
    seconds: float  # how long the algorithm took
    # per k its release, where the path had to be merged on for other models than k-anonymity, or
    # where there is no path and several k were computed
    finished: Mapping[int, Recoding] = field(default_factory=dict)

    @property
    def known(self) -> tuple[int, ...] | None:
        return tuple(sorted(self.finished)) if self.finished else None

    def at(self, k: int) -> Recoding:
        """The recoding for k; without a path, the only one there is."""
        if self.finished:
            if k not in self.finished:
                raise ValueError(f"k = {k} was not computed")
            return self.finished[k]
        if self.path is not None:
            return self.path.at(k)
        assert self.recoding is not None
        return self.recoding


def run_algorithm(
    progress: Progress, algorithm: str, task: Task, metrics: Sequence[Metric]
) -> Solution:
    module = algorithm_named(algorithm)
    start = time.perf_counter()
    in_engine = task.classes.in_engine
    if in_engine or not serves_every_k(algorithm, task.outliers):
        recoding = module.anonymise(task, progress)
        seconds = time.perf_counter() - start
        recodings = {task.k: recoding}
        if not (in_engine or module.CARD.one_k):
            recodings |= _solve_near_k(progress, module, task, seconds)
        several = dict(sorted(recodings.items())) if len(recodings) > 1 else {}
        points = measure_points(several, metrics) if several else None
        return Solution(None, recoding, points, seconds, several)
    task.check()
    share = _MERGE_SHARE if task.others else 1.0
    path = module.merge_path(
        replace(task, k=task.classes.n_records), lambda part, text: progress(share * part, text)
    )
    recodings = finish_for_models(path, task, [task.k, *FINISHED_K], progress)
    seconds = time.perf_counter() - start
    curves = measure_points(recodings, metrics) if recodings else measure_curves(path, metrics)
    return Solution(path, None, curves, seconds, recodings)


PATIENCE = 3.0  # seconds that an algorithm with one run per k spends on other k than the plan's


def _solve_near_k(
    progress: Progress, module: ModuleType, task: Task, seconds: float
) -> dict[int, Recoding]:
    """The releases for other k, the nearest by ratio first, as many as time allows."""
    other_k = [k for k in FINISHED_K if k != task.k and k <= task.classes.highest_k]
    other_k.sort(key=lambda k: abs(math.log(k / task.k)))
    recodings: dict[int, Recoding] = {}
    start = time.perf_counter()
    slowest = seconds
    for k in other_k:
        spent = time.perf_counter() - start
        if spent + slowest > PATIENCE:
            break
        progress(min(1.0, spent / PATIENCE), f"running k = {write_count(k)} too")
        try:
            recodings[k] = module.anonymise(task.for_k(k))
        except Unsatisfiable:  # levels chosen for a smaller k
            continue
        slowest = max(slowest, time.perf_counter() - start - spent)
    return recodings


_MERGE_SHARE = 0.5
"""The share of a run's time that passes before releases are finished for other models, about."""


def finish_for_models(
    path: MergePath, task: Task, ks: Iterable[int], progress: Progress
) -> dict[int, Recoding]:
    """The releases that meet all models of a task, per k; none if the path itself serves them."""
    # Merging never breaks a model, and a class that meets it for a large k does for a smaller one.
    wanted_k = sorted({k for k in ks if k <= min(path.k_max, task.classes.highest_k)})
    hardest = task.for_k(max(wanted_k, default=1)).others
    if not find_broken(hardest, path.at(1).released).any():
        return {}
    recodings = {}
    for place, k in enumerate(wanted_k):
        share = _MERGE_SHARE + (1 - _MERGE_SHARE) * place / len(wanted_k)
        progress(share, f"finishing k = {write_count(k)} for the other models")
        recodings[k] = merge_breaking_classes(path.at(k), task.for_k(k))
    return recodings


def run_for_every_k(
    progress: Progress, algorithm: str, task: Task, ks: Sequence[int]
) -> dict[int, Recoding]:
    """The releases for several k: from one run where that serves them all, else a run per k."""
    module = algorithm_named(algorithm)
    if serves_every_k(algorithm, task.outliers):
        path = module.merge_path(task.for_k(max(ks)), progress)
        return finish_for_models(path, task, ks, progress) or {k: path.at(k) for k in ks}

    def solve_alone(place: int, k: int) -> Recoding:
        return module.anonymise(
            task.for_k(k), lambda part, text: progress((place + part) / len(ks), text)
        )

    return {k: solve_alone(place, k) for place, k in enumerate(ks)}
