"""The release at other k than the one that was chosen: what a curve around it is drawn from."""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from kanon.algorithms.catalogue import algorithm_named, serves_every_k, short_title
from kanon.algorithms.solution import FINISHED_K, finished_at
from kanon.base.formatting import Counted, percent, thin
from kanon.base.progress import Progress
from kanon.charts.curves import alteration_curve
from kanon.charts.privacy import level_chart
from kanon.errors import Unsatisfiable
from kanon.measures.along import (
    Curves,
    Points,
    curves_along,
    levels_along,
    points_of,
    privacy_column,
)
from kanon.metrics import Metric
from kanon.privacy import entropy_l_diversity
from kanon.privacy.model import rounded
from kanon.recoding import Recoding
from kanon.report.alternatives import too_long
from kanon.run import PreparedRun, measured_metrics
from kanon.sensitive import Sensitive

_FEW, _SEVERAL = 3, 9
"""How many k are computed where each is a run of its own, and where one run begins them all."""

WIDTH = 680  # the width of a picture: that of a printed page, in pixels


@dataclass(frozen=True, eq=False)
class PlanResult:
    recoding: Recoding  # the release for the plan's k
    seconds: float  # how long the algorithm took for it
    curves: Curves | Points | None  # the criteria at every k, or at some
    about: str  # which k are known and why, in a sentence


@dataclass(frozen=True, eq=False)
class CurveSection:
    """One or two pictures over k, with their numbers beside them."""

    title: str  # what they show
    figures: tuple[go.Figure, ...]  # the pictures
    # their numbers near the chosen k, as they are shown
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    chosen: int  # which of the rows is that of the chosen k


def near(k: int, highest: int, most: int) -> list[int]:
    """The chosen k and others near it by ratio, rising.

    >>> near(5, 1000, 3), near(5, 6, 9)
    ([4, 5, 7], [2, 3, 4, 5])
    """
    others = [other for other in FINISHED_K if other <= highest and other != k]
    others.sort(key=lambda other: (abs(math.log(other / k)), other))
    return sorted([k, *others[: most - 1]])


def found_by(prepared: PreparedRun, progress: Progress) -> PlanResult:
    """Run a plan's algorithm, and measure its releases for other k as far as that is quick."""
    plan, highest = prepared.plan, prepared.classes.highest_k
    task = prepared.check()
    name, module = plan.algorithm.name, algorithm_named(plan.algorithm.name)
    metrics = measured_metrics(plan, [plan.metric.name])
    started = time.perf_counter()
    if serves_every_k(name):
        path = module.merge_path(replace(task, k=prepared.classes.n_records), progress)
        ks = near(task.k, highest, _SEVERAL)
        done = finished_at(path, task, ks, progress)
        seconds = time.perf_counter() - started
        if not done:
            about = "One run of the algorithm holds the release for every k."
            return PlanResult(path.at(task.k), seconds, curves_along(path, metrics), about)
        about = (
            "With other models beside k the release for each k is finished by itself; these k were "
            "computed, and nothing in between."
        )
        return PlanResult(done[task.k], seconds, points_of(done, metrics), about)
    recoding = module.anonymise(task, progress)
    seconds = time.perf_counter() - started
    once = f"{short_title(name)} runs once per k"
    if said := too_long(prepared):
        return PlanResult(recoding, seconds, None, f"{once}; other k were not run: {said}.")
    done = {}
    for k in near(task.k, highest, _FEW):
        try:
            done[k] = recoding if k == task.k else module.anonymise(task.for_k(k), progress)
        except Unsatisfiable:  # such as levels that were chosen for a smaller k
            continue
    about = f"{once}; these k were computed, and nothing in between."
    return PlanResult(recoding, seconds, points_of(done, metrics), about)


def curves_of(prepared: PreparedRun, found: PlanResult) -> tuple[CurveSection, ...]:
    """The pictures over k: alteration, and for each sensitive column l and t of the worst class."""
    curves, plan, k = found.curves, prepared.plan, prepared.plan.k
    if curves is None or not found.recoding.n_classes:
        return ()
    if isinstance(curves, Curves):
        numbers = curves.at(near(k, prepared.classes.highest_k, _SEVERAL))
    else:
        numbers = dict(curves.numbers)
    of, columns = prepared.classes.of, [each.name for each in prepared.classes.sensitive]
    released = found.recoding.released
    sensitive = [_of_column(curves, numbers, each, columns, k, of) for each in released.sensitive]
    return (_of_alteration(curves, numbers, plan.metric, k, of), *sensitive)


def _of_alteration(
    curves: Curves | Points,
    numbers: Mapping[str, np.ndarray],
    metric: Metric,
    k: int,
    of: Counted,
) -> CurveSection:
    columns = {
        "Alteration, %\xa0↓": map(percent, numbers[f"alteration_{metric.name}"].tolist()),
        "Mean of the seven, %\xa0↓": map(percent, numbers["mean_alteration"].tolist()),
        "Classes\xa0↑": map(thin, numbers["classes"].tolist()),
    }
    title = f"Alteration measured by {metric.card.title}"
    return _curve(title, [alteration_curve(curves, metric, k, of=of)], numbers, columns, k)


def _of_column(
    curves: Curves | Points,
    numbers: Mapping[str, np.ndarray],
    each: Sensitive,
    columns: Sequence[str],
    k: int,
    of: Counted,
) -> CurveSection:
    whole = entropy_l_diversity.of_whole(each)
    diverse, distance = levels_along(curves, each.name, columns)
    at = numbers["k"].tolist().index(k)
    l_near = numbers[privacy_column("entropy_l", each.name, columns)].tolist()
    t_near = (numbers[privacy_column("t_norm1", each.name, columns)] / 2).tolist()
    said = f"k = {thin(k)}: the worst class has"
    figures = [
        level_chart(
            curves, diverse, k, l_near[at],
            f"{said} l = {rounded(l_near[at], up=False)} of {rounded(whole, up=False)}",
            "l, values (↑ better)", whole, whole, of,
        ),
        level_chart(
            curves, distance, k, t_near[at], f"{said} t = {rounded(t_near[at], up=True)} of 1",
            "t, 0 to 1 (↓ better)", 1.0, of=of,
        ),
    ]  # fmt: skip
    shown = {
        "Entropy l, values\xa0↑": (_level(level, up=False) for level in l_near),
        "t, total variation, 0 to 1\xa0↓": (_level(level, up=True) for level in t_near),
    }
    title = f"{each.name}: l and t of the worst class"
    return _curve(title, figures, numbers, shown, k)


def _level(level: float, up: bool) -> str:
    return "no class" if math.isnan(level) else rounded(float(level), up)


def _curve(
    title: str,
    figures: Sequence[go.Figure],
    numbers: Mapping[str, np.ndarray],
    columns: Mapping[str, Iterable[str]],
    k: int,
) -> CurveSection:
    for figure in figures:
        figure.layout.template = "plotly"
        figure.update_layout(width=WIDTH, paper_bgcolor="white")
    ks = numbers["k"].tolist()
    rows = zip(map(thin, ks), *columns.values(), strict=True)
    return CurveSection(title, tuple(figures), ("k", *columns), tuple(rows), ks.index(k))
