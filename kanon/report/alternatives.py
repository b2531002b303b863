"""What else could have been released for the same table and the same models, in figures."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from kanon.algorithms.catalogue import algorithm_named, needs_hierarchies, short_title, uses
from kanon.algorithms.lattice_size import n_nodes
from kanon.base.formatting import counted, percent, thin
from kanon.base.parallel import side_by_side
from kanon.base.progress import Progress
from kanon.errors import KanonError, listing
from kanon.measures import alteration
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import AlgorithmPlan
from kanon.recoding import Recoding
from kanon.run import PreparedRun, Run, measured_metrics

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
