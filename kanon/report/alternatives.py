"""What else could have been released for the same table: in other ways, and at other k."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import plotly.graph_objects as go

from kanon.algorithms.catalogue import (
    algorithm_named,
    needs_hierarchies,
    serves_every_k,
    short_title,
    uses,
)
from kanon.algorithms.lattice_size import n_nodes
from kanon.algorithms.solution import FINISHED_K, finished_at
from kanon.base.formatting import Counted, counted, percent, thin
from kanon.base.parallel import side_by_side
from kanon.base.progress import Progress
from kanon.charts.curves import alteration_curve
from kanon.charts.privacy import level_chart
from kanon.errors import KanonError, Unsatisfiable, listing
from kanon.measures import alteration
from kanon.measures.along import (
    Curves,
    Points,
    curves_along,
    levels_along,
    points_of,
    privacy_column,
)
from kanon.metrics import PUBLISHED, Metric, metric_named
from kanon.plan import AlgorithmPlan
from kanon.privacy import entropy_l_diversity
from kanon.privacy.model import rounded
from kanon.recoding import Recoding
from kanon.run import PreparedRun, Run, measured_metrics
from kanon.sensitive import Sensitive

ALGORITHMS = ("gaa", "lattice-sweep", "mondrian", "ola")
"""The algorithms that a report considers beside the plan's: of each family one that is quick."""

_MOST_CLASSES, _MOST_CLUSTERED, _MOST_NODES = 50_000, 2_000, 100_000
"""Up to so many classes of the table (for clustering), and nodes of the lattice, others are run."""


@dataclass(frozen=True)
class Alternative:
    """A release that could have been made, or why not."""

    title: str  # what was done otherwise
    chosen: bool = False  # whether it is the release of the report itself
    # in percent: as the plan's metric counts, and the mean of the seven published ones
    alteration: float | None = None
    mean_alteration: float | None = None
    # classes, records of the smallest one, and suppressed records
    classes: int | None = None
    min_k: int | None = None
    suppressed: int | None = None
    refused: str = ""  # why there are no figures


@dataclass(frozen=True)
class Alternatives:
    metrics: tuple[Alternative, ...]  # the same plan, guided by each of the seven published metrics
    metrics_note: str  # why there are none of these
    # other algorithms for the same models, guided by the plan's metric if they take one
    algorithms: tuple[Alternative, ...]
    # the title of the metric of the plan, which counts the alteration of all of them
    counted_by: str

    @property
    def better(self) -> str:
        """Which of them loses least, if any loses less than the release, as far as is shown."""
        named = [(f"Guided by {one.title}, the same algorithm", one) for one in self.metrics]
        named += [(one.title, one) for one in self.algorithms]
        lost = [(one.alteration, title) for title, one in named if one.alteration is not None]
        own = next(one.alteration for one in self.algorithms if one.chosen)
        least, title = min(lost, key=lambda each: each[0])
        if own is None or least >= own or percent(least) == percent(own):
            return ""
        return (
            f"{title} loses {percent(least)}, this release {percent(own)}, as "
            f"{self.counted_by} counts; both meet the models of the plan."
        )


def alternatives(done: Run, progress: Progress) -> Alternatives:
    """Make other releases of the same table for the same models, and measure them alike.

    Everything follows from the plan and the table. What would take long is not run, which goes by
    the size of the table and not by a clock: two reports of one release consider the same.
    """
    plan = done.prepared.plan
    chosen = plan.algorithm
    metrics_note = ""
    metrics = list(dict.fromkeys([*PUBLISHED, chosen.metric]))
    if not uses(chosen.name, "metric"):
        metrics_note = f"{short_title(chosen.name)} goes by no metric, so none would change it."
    elif said := too_long(done.prepared):
        metrics_note = f"Not run: {said}."
    if metrics_note:
        metrics = []
    titles = [metric_named(name, plan.composed_metrics).card.title for name in metrics]
    works: list[Callable[[Progress], Alternative]] = [
        _own(done, title)
        if name == chosen.metric
        else partial(_tried, done, title, done.prepared.guided_by(metric=name))
        for name, title in zip(metrics, titles, strict=True)
    ]
    others = [name for name in ALGORITHMS if name != chosen.name]
    works.append(_own(done, short_title(chosen.name)))
    works += [partial(_by_algorithm, done, name) for name in others]
    found = side_by_side(works, progress, "alternative")
    return Alternatives(
        tuple(found[: len(metrics)]), metrics_note, tuple(found[len(metrics) :]),
        plan.metric.card.title,
    )  # fmt: skip


def too_long(prepared: PreparedRun) -> str:
    """Why running a plan's algorithm once more would take long; nothing if it would not."""
    module = algorithm_named(prepared.plan.algorithm.name)
    classes, nodes = prepared.classes.n_classes, n_nodes(prepared.classes.hierarchies)
    most = _MOST_CLUSTERED if module.CARD.family == "clusters" else _MOST_CLASSES
    if classes > most:
        return (
            f"the table has {counted(classes, 'class', 'classes')}, and beside a report up to "
            f"{thin(most)} are tried"
        )
    if module.CARD.family == "levels" and nodes > _MOST_NODES:
        return (
            f"the lattice has {counted(nodes, 'node')}, and beside a report up to "
            f"{thin(_MOST_NODES)} are searched"
        )
    return ""


def _own(done: Run, title: str) -> Callable[[Progress], Alternative]:
    return lambda progress: replace(_figures(done, title, done.recoding), chosen=True)


def _by_algorithm(done: Run, name: str, progress: Progress) -> Alternative:
    plan = done.prepared.plan
    bare = [
        column for column in plan.roles.quasi_identifiers if plan.columns[column].hierarchy is None
    ]
    if bare and needs_hierarchies(name):
        said = f"It needs a hierarchy for every quasi-identifier, and {listing(bare)} has none."
        return Alternative(short_title(name), refused=said)
    same = plan.algorithm.model_dump(include={"metric", "attribute_weights", "seed"})
    other = AlgorithmPlan(name=name, **same)
    prepared = replace(done.prepared, plan=plan.model_copy(update={"algorithm": other}))
    return _tried(done, short_title(name), prepared, progress)


def _tried(done: Run, title: str, prepared: PreparedRun, progress: Progress) -> Alternative:
    if said := too_long(prepared):
        return Alternative(title, refused=f"Not run: {said}.")
    try:
        task = prepared.check()
        recoding = algorithm_named(prepared.plan.algorithm.name).anonymise(task, progress)
    except KanonError as error:
        return Alternative(title, refused=error.sentence)
    return _figures(done, title, recoding)


def _figures(done: Run, title: str, recoding: Recoding) -> Alternative:
    """A release, measured as the plan's metric counts, whatever guided it."""
    plan = done.prepared.plan
    metrics = measured_metrics(plan, [plan.metric.name])
    altered = {metric.name: alteration.value(recoding, metric) for metric in metrics}
    return Alternative(
        title,
        alteration=altered[plan.metric.name],
        mean_alteration=alteration.mean_of(altered),
        classes=recoding.n_classes,
        min_k=recoding.min_k,
        suppressed=recoding.suppressed_records,
    )


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
