"""What an algorithm finds: the release at every k, or at those that were computed."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kanon.algorithms.catalogue import algorithm_named, anonymise_task, serves_every_k
from kanon.algorithms.repair_models import repair_for_models
from kanon.algorithms.task import Task
from kanon.algorithms.written import write_values
from kanon.base.formatting import write_count
from kanon.base.progress import KeepingProgress, Progress, scale_progress
from kanon.errors import KanonError
from kanon.measures.along import Curves, Points, join_points, measure_curves, measure_points
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
    if task.classes.in_engine or not serves_every_k(algorithm, task.outliers or task.level_bounds):
        return solve_one_k(progress, algorithm, task, task.k, metrics)
    module, start = algorithm_named(algorithm), time.perf_counter()
    task.check()
    share = _MERGE_SHARE if task.others or task.of_release else 1.0
    path = module.merge_path(
        replace(task, k=task.classes.n_records), lambda part, text: progress(share * part, text)
    )
    recodings = finish_for_models(path, task, [task.k, *FINISHED_K], progress)
    seconds = time.perf_counter() - start
    curves = measure_points(recodings, metrics) if recodings else measure_curves(path, metrics)
    return Solution(path, None, curves, seconds, recodings)


def solve_one_k(
    progress: Progress,
    algorithm: str,
    task: Task,
    k: int,
    metrics: Sequence[Metric],
    path: MergePath | None = None,
) -> Solution:
    """The release for one k: finished from a merge path that there is, else by a run."""
    task, start = task if k == task.k else task.for_k(k), time.perf_counter()
    if path is None:
        recoding = anonymise_task(algorithm, task, progress)
    else:
        recoding = write_values(repair_for_models(path.at(task.k), task, progress), task.written)
    seconds = time.perf_counter() - start
    if task.classes.in_engine:
        return Solution(None, recoding, None, seconds)
    recodings = {k: recoding}
    return Solution(None, recoding, measure_points(recodings, metrics), seconds, recodings)


def solve_more_k(
    progress: KeepingProgress,
    algorithm: str,
    task: Task,
    ks: Sequence[int],
    metrics: Sequence[Metric],
    path: MergePath | None,
    seconds: float,
) -> None:
    """Run for one k after the other, as many as fit in the seconds, but one at least.

    Each solution is handed over at once, with the seconds it took. Levels chosen for a smaller k
    end it with Unsatisfiable.
    """
    begin = before = time.perf_counter()
    for place, k in enumerate(ks):
        own = scale_progress(progress, place / len(ks), (place + 1) / len(ks))
        solution = solve_one_k(own, algorithm, task, k, metrics, path)
        took, before = time.perf_counter() - before, time.perf_counter()
        progress.keep((solution, took))
        if before - begin + took > seconds:
            return


def join_solutions(solution: Solution, other: Solution) -> Solution:
    """The first solution, which also knows the releases of the other one."""
    curves = solution.curves
    if not (isinstance(curves, Points) and isinstance(other.curves, Points)):
        return solution
    finished = {**other.finished, **solution.finished}
    return replace(solution, finished=finished, curves=join_points(other.curves, curves))


_MERGE_SHARE = 0.5
"""The share of a run's time that passes before releases are finished for other models, about."""


def finish_for_models(
    path: MergePath, task: Task, ks: Iterable[int], progress: Progress
) -> dict[int, Recoding]:
    """The releases that meet all models of a task, per k; none if the path itself serves them.

    They show the numbers of classes as the task says.
    """
    # Merging never breaks a model, and a class that meets it for a large k does for a smaller one.
    wanted_k = sorted({k for k in ks if k <= min(path.k_max, task.classes.highest_k)})
    hardest = task.for_k(max(wanted_k, default=1)).others
    if not (task.of_release or task.written or find_broken(hardest, path.at(1).released).any()):
        return {}

    def finish(place: int, k: int) -> Recoding:
        ends = (_MERGE_SHARE + (1 - _MERGE_SHARE) * (place + end) / len(wanted_k) for end in (0, 1))
        part = scale_progress(progress, *ends)
        part(0.0, f"finishing k = {write_count(k)} for the other models")
        wanted = task.for_k(k)  # a model may ask for larger classes than k does
        return write_values(repair_for_models(path.at(wanted.k), wanted, part), task.written)

    return {k: finish(place, k) for place, k in enumerate(wanted_k)}


def run_for_every_k(
    progress: Progress,
    algorithm: str,
    task: Task,
    ks: Sequence[int],
    refused: dict[int, str] | None = None,
) -> dict[int, Recoding]:
    """The releases for several k: from one run where that serves them all, else a run per k.

    ``refused`` takes every k that has no release, and why; without it, that is an error.
    """
    module = algorithm_named(algorithm)
    if serves_every_k(algorithm, task.outliers or task.level_bounds):
        path = module.merge_path(task.for_k(max(ks)), progress)
        return finish_for_models(path, task, ks, progress) or {k: path.at(k) for k in ks}

    def solve_alone(place: int, k: int) -> Recoding:
        return anonymise_task(
            algorithm, task.for_k(k), lambda part, text: progress((place + part) / len(ks), text)
        )

    recodings = {}
    for place, k in enumerate(ks):
        try:
            recodings[k] = solve_alone(place, k)
        except KanonError as error:
            if refused is None:
                raise
            refused[k] = error.sentence
    return recodings
