"""Level bounds: the lowest and the highest level that released values of a column may have."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TypeVar, cast

import numpy as np

from kanon.algorithms.lattice_size import compute_nodes_by_level
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import PlanError, Unsatisfiable, quote
from kanon.hierarchy import Hierarchy
from kanon.privacy.model import SensitiveModel
from kanon.privacy.release_model import PopulationModel
from kanon.recoding import Recoding, Trace

Anonymise = TypeVar("Anonymise", bound=Callable[..., Recoding])


def find_lowest_nodes(tree: Hierarchy, least: int) -> np.ndarray:
    """Per node the lowest one, itself or above it, with at least a level of the tree.

    >>> tree = Hierarchy.from_entries(
    ...     [("*", None, None), ("A", "*", None), ("a", "A", None), ("f", "*", None)])
    >>> [tree.labels[node] for node in find_lowest_nodes(tree, 1)]
    ['A', '*', 'A', '*']
    """
    nodes = np.arange(tree.n_nodes, dtype=np.int32)
    for _ in range(least):  # each step up raises the level by at least one
        nodes = np.where(tree.level[nodes] < least, tree.parent[nodes], nodes)
    return nodes


def check_level_bounds(classes: EquivalenceClasses, bounds: Sequence[tuple[int, int]]) -> None:
    """Check that no branch jumps from below the lowest level to above the highest one."""
    trees = zip(classes.attributes, classes.hierarchies, bounds, strict=True)
    for j, (column, tree, (least, most)) in enumerate(trees):
        nodes = np.unique(classes.nodes[:, j])
        stuck = nodes[tree.level[find_lowest_nodes(tree, least)[nodes]] > most]
        if len(stuck):
            raise PlanError(
                f"Column {quote(column)}: {{cells}} has no group from level {least} to level "
                f"{most}, the bounds in columns.{column}.levels. Allow a higher level, or give it "
                "such a group.",
                [tree.labels[stuck[0]]],
            )


def keep_level_bounds(anonymise: Anonymise) -> Anonymise:
    """Make an algorithm keep the level bounds of its task; the decorated one sees none.

    It gets the classes raised to the lowest allowed levels. Records without a common group at or
    below the highest level of a column can share no class, so it runs for each such part alone.
    """

    @wraps(anonymise)
    def anonymise_between(task: Task, progress: Progress = ignore_progress) -> Recoding:
        if not task.level_bounds:
            return anonymise(task, progress)
        classes, trees = task.classes, task.classes.hierarchies
        lowest, highest = np.empty_like(classes.nodes), np.empty_like(classes.nodes)
        for j, (tree, (least, most)) in enumerate(zip(trees, task.level_bounds, strict=True)):
            lowest[:, j] = find_lowest_nodes(tree, least)[classes.nodes[:, j]]
            highest[:, j] = compute_nodes_by_level(tree)[most][lowest[:, j]]
        sizes = [tree.n_nodes for tree in trees]
        tops, records, part_of = group_tuples(highest, classes.counts, sizes)
        ends = np.concatenate([[0], np.cumsum(records)]) / classes.n_records
        _check_parts(task, len(tops))
        targets, traces = np.empty_like(highest), []
        for part, top in enumerate(tops):
            members = np.flatnonzero(part_of == part)
            nodes, counts, start = group_tuples(lowest[members], classes.counts[members], sizes)
            histograms = classes.only(members).histograms
            grouped = (histogram.grouped(start, len(counts)) for histogram in histograms)
            own = replace(task, classes=classes.regrouped(nodes, counts, grouped), level_bounds=())
            _check_part(own, [tree.labels[node] for tree, node in zip(trees, top, strict=True)])
            release = anonymise(own, scale_progress(progress, *ends[part : part + 2].tolist()))
            if release.ranged:
                raise PlanError(
                    "Level bounds are levels of a hierarchy, but this algorithm releases ranges. "
                    "Let it release groups of the hierarchy, choose another one, or leave out the "
                    "bounds."
                )
            targets[members] = release.targets[start]
            traces.append(release.trace)
        # Where an algorithm went above what a part has in common, this is enough.
        for j, (tree, (_, most)) in enumerate(zip(trees, task.level_bounds, strict=True)):
            is_above = tree.level[targets[:, j]] > most
            targets[:, j] = np.where(is_above, highest[:, j], targets[:, j])
        return Recoding.from_targets(classes, targets, trace=_join_traces(traces))

    return cast(Anonymise, anonymise_between)


def _check_parts(task: Task, n_parts: int) -> None:
    for model in task.of_release:
        if isinstance(model, PopulationModel):
            raise PlanError(
                f"{model.title} compares the whole release with a population, but level bounds "
                "divide it into parts. Use a full-domain algorithm, or leave out the bounds."
            )
    others = (model for model in task.others if isinstance(model, SensitiveModel))
    titles = [model.title for model in others if model.of_table]
    if n_parts > 1 and titles:
        raise PlanError(
            f"The highest levels of the plan divide the table into {n_parts} parts that are "
            f"anonymised one by one, but {quote(titles[0])} compares classes with the whole table. "
            "Use a full-domain algorithm, or leave out levels.most."
        )


def _check_part(task: Task, labels: list[str]) -> None:
    try:
        task.check()
    except Unsatisfiable:
        raise Unsatisfiable(
            f"{count_noun(task.classes.n_records, 'record')} may only be generalised up to "
            "{cells}, the highest allowed levels, and as one class they do not meet the "
            "requirements. Allow a higher level, or use a full-domain algorithm that may suppress "
            "records.",
            labels,
        ) from None


def _join_traces(traces: Sequence[Trace]) -> Trace:
    """The work of all parts, and the least that is proved of one."""
    gaps = [trace.gap for trace in traces]
    return replace(
        traces[0],
        evaluated=sum(trace.evaluated for trace in traces),
        steps=sum(trace.steps for trace in traces),
        gap=None if None in gaps else max(gap or 0.0 for gap in gaps),
        share_left=min(trace.share_left for trace in traces),
    )
