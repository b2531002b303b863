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
    anonymise_task,
    needs_hierarchies,
    serves_every_k,
    short_title,
    uses,
)
from kanon.algorithms.lattice_size import count_lattice_nodes
from kanon.algorithms.solution import FINISHED_K, finish_for_models
from kanon.base.formatting import CountedUnit, count_noun, write_count, write_percent
from kanon.base.parallel import run_side_by_side
from kanon.base.progress import Progress
from kanon.charts.curves import draw_alteration_curve
from kanon.charts.privacy import draw_level
from kanon.errors import KanonError, Unsatisfiable, list_names
from kanon.measures import alteration
from kanon.measures.along import (
    Curves,
    Points,
    get_worst_levels,
    measure_curves,
    measure_points,
    name_privacy_column,
)
from kanon.metrics import PUBLISHED, Metric, metric_named
from kanon.plan_parts import AlgorithmPlan
from kanon.privacy import entropy_l_diversity
from kanon.privacy.model import rounded
from kanon.recoding import Recoding
from kanon.run import PreparedRun, Run, measured_metrics
from kanon.sensitive import Sensitive

ALGORITHMS = ("gaa", "lattice-sweep", "mondrian", "ola")
"""The algorithms that a report considers besides the plan's: a quick one of each family."""

_MOST_CLASSES, _MOST_CLUSTERED, _MOST_NODES = 50_000, 2_000, 100_000
"""The most classes (for clustering) and nodes of the lattice for which other releases are made."""


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
    metric_title: str

    @property
    def better_sentence(self) -> str:
        """The one that loses least, if it loses less than the release in the digits shown."""
        named = [(f"The same algorithm guided by {row.title}", row) for row in self.metrics]
        named += [(row.title, row) for row in self.algorithms]
        losses = [(row.alteration, title) for title, row in named if row.alteration is not None]
        own = next(row.alteration for row in self.algorithms if row.chosen)
        least, title = min(losses, key=lambda pair: pair[0])
        if own is None or least >= own or write_percent(least) == write_percent(own):
            return ""
        return (
            f"{title} loses {write_percent(least)} and this release {write_percent(own)} "
            f"({self.metric_title}); both meet the models of the plan."
        )


def collect_alternatives(run: Run, progress: Progress) -> Alternatives:
    """Make other releases of the same table for the same models, and measure them alike.

    What would take long, by the table's size and not a clock, is left out: two reports of a release
    consider the same.
    """
    plan = run.prepared.plan
    chosen = plan.algorithm
    metrics_note = ""
    metrics = list(dict.fromkeys([*PUBLISHED, chosen.metric]))
    if not uses(chosen.name, "metric"):
        metrics_note = (
            f"{short_title(chosen.name)} uses no metric, so another one would change nothing."
        )
    elif reason := explain_too_long(run.prepared):
        metrics_note = f"Not run: {reason}."
    if metrics_note:
        metrics = []
    titles = [metric_named(name, plan.composed_metrics).card.title for name in metrics]
    tasks: list[Callable[[Progress], Alternative]] = [
        _measure_own_release(run, title)
        if name == chosen.metric
        else partial(_try_alternative, run, title, run.prepared.guided_by(metric=name))
        for name, title in zip(metrics, titles, strict=True)
    ]
    others = [name for name in ALGORITHMS if name != chosen.name]
    tasks.append(_measure_own_release(run, short_title(chosen.name)))
    tasks += [partial(_try_algorithm, run, name) for name in others]
    results = run_side_by_side(tasks, progress, "alternative")
    return Alternatives(
        tuple(results[: len(metrics)]), metrics_note, tuple(results[len(metrics) :]),
        plan.metric.card.title,
    )  # fmt: skip


def explain_too_long(prepared: PreparedRun) -> str:
    """Why running a plan's algorithm once more would take long; nothing if it would not."""
    module = algorithm_named(prepared.plan.algorithm.name)
    classes, nodes = prepared.classes.n_classes, count_lattice_nodes(prepared.classes.hierarchies)
    most = _MOST_CLUSTERED if module.CARD.family == "clusters" else _MOST_CLASSES
    if classes > most:
        return (
            f"the table has {count_noun(classes, 'class', 'classes')}; a report makes other "
            f"releases for at most {write_count(most)}"
        )
    if module.CARD.family == "levels" and nodes > _MOST_NODES:
        return (
            f"the lattice has {count_noun(nodes, 'node')}; a report makes other releases for at "
            f"most {write_count(_MOST_NODES)}"
        )
    return ""


def _measure_own_release(run: Run, title: str) -> Callable[[Progress], Alternative]:
    return lambda progress: replace(_measure_alternative(run, title, run.recoding), chosen=True)


def _try_algorithm(run: Run, name: str, progress: Progress) -> Alternative:
    plan = run.prepared.plan
    columns = plan.roles.quasi_identifiers
    lacking = [column for column in columns if plan.columns[column].hierarchy is None]
    if lacking and needs_hierarchies(name):
        reason = (
            "It needs a hierarchy for every quasi-identifier, and there is none for "
            f"{list_names(lacking)}."
        )
        return Alternative(short_title(name), refused=reason)
    shared = plan.algorithm.model_dump(include={"metric", "attribute_weights", "seed"})
    other = AlgorithmPlan(name=name, **shared)
    prepared = replace(run.prepared, plan=plan.model_copy(update={"algorithm": other}))
    return _try_alternative(run, short_title(name), prepared, progress)


def _try_alternative(
    run: Run, title: str, prepared: PreparedRun, progress: Progress
) -> Alternative:
    if reason := explain_too_long(prepared):
        return Alternative(title, refused=f"Not run: {reason}.")
    try:
        task = prepared.check()
        recoding = anonymise_task(prepared.plan.algorithm.name, task, progress)
    except KanonError as error:
        return Alternative(title, refused=error.sentence)
    return _measure_alternative(run, title, recoding)


def _measure_alternative(run: Run, title: str, recoding: Recoding) -> Alternative:
    """A release, measured as the plan's metric counts, whatever guided it."""
    plan = run.prepared.plan
    metrics = measured_metrics(plan, [plan.metric.name])
    altered = {metric.name: alteration.value(recoding, metric) for metric in metrics}
    return Alternative(
        title,
        alteration=altered[plan.metric.name],
        mean_alteration=alteration.compute_mean_alteration(altered),
        classes=recoding.n_classes,
        min_k=recoding.min_k,
        suppressed=recoding.suppressed_records,
    )


_FEW_K, _SEVERAL_K = 3, 9
"""The number of k computed where each takes its own run, and where one run serves all."""

WIDTH = 680  # the width of a picture: that of a printed page, in pixels


@dataclass(frozen=True, eq=False)
class PlanResult:
    recoding: Recoding  # the release for the plan's k
    seconds: float  # how long the algorithm took for it
    curves: Curves | Points | None  # the criteria at every k, or at some
    about_k: str  # which k are known and why, in a sentence


@dataclass(frozen=True, eq=False)
class CurveSection:
    """One or two pictures over k, with their numbers beside them."""

    title: str  # what they show
    figures: tuple[go.Figure, ...]  # the pictures
    # their numbers near the chosen k, formatted
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    chosen: int  # which of the rows is that of the chosen k


def select_near_k(k: int, highest: int, most: int) -> list[int]:
    """The chosen k and others near it by ratio, rising.

    >>> select_near_k(5, 1000, 3), select_near_k(5, 6, 9)
    ([4, 5, 7], [2, 3, 4, 5])
    """
    others = [other for other in FINISHED_K if other <= highest and other != k]
    others.sort(key=lambda other: (abs(math.log(other / k)), other))
    return sorted([k, *others[: most - 1]])


def run_plan(prepared: PreparedRun, progress: Progress) -> PlanResult:
    """Run a plan's algorithm, and measure its releases for other k as far as that is quick."""
    plan, highest = prepared.plan, prepared.classes.highest_k
    task = prepared.check()
    name, module = plan.algorithm.name, algorithm_named(plan.algorithm.name)
    metrics = measured_metrics(plan, [plan.metric.name])
    started = time.perf_counter()
    if serves_every_k(name, task.outliers or task.level_bounds):
        path = module.merge_path(replace(task, k=prepared.classes.n_records), progress)
        ks = select_near_k(task.k, highest, _SEVERAL_K)
        recodings = finish_for_models(path, task, ks, progress)
        seconds = time.perf_counter() - started
        if not recodings:
            about = "One run of the algorithm gives the release for every k."
            return PlanResult(path.at(task.k), seconds, measure_curves(path, metrics), about)
        why = "With numbers written for classes" if task.written else "With models besides k"
        about = (
            f"{why}, the release for each k is completed separately; only these k were computed."
        )
        return PlanResult(recodings[task.k], seconds, measure_points(recodings, metrics), about)
    recoding = anonymise_task(name, task, progress)
    seconds = time.perf_counter() - started
    how_often = f"{short_title(name)} has to run separately for each k"
    if reason := explain_too_long(prepared):
        return PlanResult(recoding, seconds, None, f"{how_often}; other k were not run: {reason}.")
    recodings = {}
    for k in select_near_k(task.k, highest, _FEW_K):
        try:
            other = task.for_k(k)
            recodings[k] = recoding if k == task.k else anonymise_task(name, other, progress)
        except Unsatisfiable:  # such as levels that were chosen for a smaller k
            continue
    about = f"{how_often}; only these k were computed."
    return PlanResult(recoding, seconds, measure_points(recodings, metrics), about)


def draw_curve_sections(prepared: PreparedRun, result: PlanResult) -> tuple[CurveSection, ...]:
    """The pictures over k: alteration, and for each sensitive column l and t of the worst class."""
    curves, plan, k = result.curves, prepared.plan, prepared.plan.k
    if curves is None or not result.recoding.n_classes:
        return ()
    if isinstance(curves, Curves):
        numbers = curves.at(select_near_k(k, prepared.classes.highest_k, _SEVERAL_K))
    else:
        numbers = dict(curves.numbers)
    of, columns = prepared.classes.of, [column.name for column in prepared.classes.sensitive]
    sections = [
        _draw_column_levels(curves, numbers, column, columns, k, of)
        for column in result.recoding.released.sensitive
    ]
    return (_draw_alteration(curves, numbers, plan.metric, k, of), *sections)


def _draw_alteration(
    curves: Curves | Points,
    numbers: Mapping[str, np.ndarray],
    metric: Metric,
    k: int,
    of: CountedUnit,
) -> CurveSection:
    columns = {
        "Alteration, %\xa0↓": map(write_percent, numbers[f"alteration_{metric.name}"].tolist()),
        "Mean of seven metrics, %\xa0↓": map(write_percent, numbers["mean_alteration"].tolist()),
        "Classes\xa0↑": map(write_count, numbers["classes"].tolist()),
    }
    title = f"Alteration measured by {metric.card.title}"
    return _build_section(
        title, [draw_alteration_curve(curves, metric, k, of=of)], numbers, columns, k
    )


def _draw_column_levels(
    curves: Curves | Points,
    numbers: Mapping[str, np.ndarray],
    sensitive: Sensitive,
    columns: Sequence[str],
    k: int,
    of: CountedUnit,
) -> CurveSection:
    whole = entropy_l_diversity.of_whole(sensitive)
    diverse, distance = get_worst_levels(curves, sensitive.name, columns)
    place = numbers["k"].tolist().index(k)
    l_near = numbers[name_privacy_column("entropy_l", sensitive.name, columns)].tolist()
    t_near = (numbers[name_privacy_column("t_norm1", sensitive.name, columns)] / 2).tolist()
    label = f"k = {write_count(k)}: the worst class has"
    figures = [
        draw_level(
            curves, diverse, k, l_near[place],
            f"{label} l = {rounded(l_near[place], up=False)} of {rounded(whole, up=False)}",
            "l, values (↑ better)", whole, whole, of,
        ),
        draw_level(
            curves, distance, k, t_near[place],
            f"{label} t = {rounded(t_near[place], up=True)} of 1",
            "t, 0 to 1 (↓ better)", 1.0, of=of,
        ),
    ]  # fmt: skip
    cells = {
        "Entropy l, values\xa0↑": (_format_level(level, up=False) for level in l_near),
        "t, total variation, 0 to 1\xa0↓": (_format_level(level, up=True) for level in t_near),
    }
    title = f"{sensitive.name}: l and t of the worst class"
    return _build_section(title, figures, numbers, cells, k)


def _format_level(level: float, up: bool) -> str:
    return "no class" if math.isnan(level) else rounded(float(level), up)


def _build_section(
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
    rows = zip(map(write_count, ks), *columns.values(), strict=True)
    return CurveSection(title, tuple(figures), ("k", *columns), tuple(rows), ks.index(k))
