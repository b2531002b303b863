"""Level bounds: the lowest and the highest level that released values of a column may have."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TypeVar, cast

import numpy as np

from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import PlanError, Unsatisfiable, quote
from kanon.hierarchy import Hierarchy
from kanon.privacy.model import SensitiveModel
from kanon.recoding import Recoding, Trace

Anonymise = TypeVar("Anonymise", bound=Callable[..., Recoding])


def find_lowest_nodes(tree: Hierarchy, least: int) -> np.ndarray:
    """Per node the lowest one, itself or above it, with at least a level; else the root.

    >>> tree = Hierarchy.from_entries(
    ...     [("*", None, None), ("A", "*", None), ("a", "A", None), ("f", "*", None)])
    >>> [tree.labels[node] for node in find_lowest_nodes(tree, 1)]
    ['A', '*', 'A', '*']
    """
    nodes = np.arange(tree.n_nodes, dtype=np.int32)
    for _ in range(least):  # each step up raises the level by at least one
        climbs = (tree.level[nodes] < least) & (nodes != tree.root)
        nodes = np.where(climbs, tree.parent[nodes], nodes)
    return nodes


def find_highest_nodes(tree: Hierarchy, most: int) -> np.ndarray:
    """Per node the highest one above it with at most a level; itself if there is none."""
    nodes = np.arange(tree.n_nodes, dtype=np.int32)
    while True:
        above = np.where(nodes == tree.root, nodes, tree.parent[nodes])
        climbs = (above != nodes) & (tree.level[above] <= most)
        if not climbs.any():
            return nodes
        nodes = np.where(climbs, above, nodes)


def check_level_bounds(classes: EquivalenceClasses, bounds: Sequence[tuple[int, int]]) -> None:
    """Check that every value has a group between the bounds of its column.

    Raises
    ------
    PlanError
        A branch of the hierarchy jumps from below the lowest level to above the highest one.
    """
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
        check_level_bounds(classes, task.level_bounds)
        pairs = [*zip(trees, task.level_bounds, strict=True)]
        lowest = np.column_stack(
            [find_lowest_nodes(tree, least)[classes.nodes[:, j]]
             for j, (tree, (least, _)) in enumerate(pairs)]
        )  # fmt: skip
        sizes = [tree.n_nodes for tree in trees]
        nodes, counts, start = group_tuples(lowest, classes.counts, sizes)
        histograms = (part.grouped(start, len(counts)) for part in classes.histograms)
        raised = classes.regrouped(nodes, counts, histograms)
        highest = np.column_stack(
            [find_highest_nodes(tree, most)[nodes[:, j]] for j, (tree, (_, most)) in
             enumerate(pairs)]
        )  # fmt: skip
        tops, _, part_of = group_tuples(highest, counts, sizes)
        _check_parts(task, len(tops))
        targets, releases, done = np.empty_like(highest), [], 0.0
        for part in range(len(tops)):
            members = np.flatnonzero(part_of == part)
            share = int(counts[members].sum()) / classes.n_records
            own = replace(task, classes=raised.only(members), level_bounds=())
            _check_part(own, [t.labels[v] for t, v in zip(trees, tops[part], strict=True)])
            release = anonymise(own, scale_progress(progress, done, done + share))
            _check_ranges(task, release, len(tops))
            releases.append(release)
            targets[members] = release.targets
            done += share
        # Where an algorithm went above what a part has in common, this is enough.
        within = [tree.level for tree in releases[0].hierarchies]
        for j, (_, most) in enumerate(task.level_bounds):
            targets[:, j] = np.where(within[j][targets[:, j]] > most, highest[:, j], targets[:, j])
        trace = _join_traces([release.trace for release in releases])
        return Recoding.from_targets(
            classes, targets[start], hierarchies=releases[0].ranged or None, trace=trace
        )

    return cast(Anonymise, anonymise_between)


def _check_parts(task: Task, n_parts: int) -> None:
    compared = [
        model for model in task.others if isinstance(model, SensitiveModel) and model.of_table
    ]
    if n_parts > 1 and compared:
        raise PlanError(
            f"The highest levels of the plan divide the table into {n_parts} parts that are "
            f"anonymised one by one, but {quote(compared[0].title)} compares classes with the "
            "whole table. Use a full-domain algorithm, or leave out levels.most."
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


def _check_ranges(task: Task, release: Recoding, n_parts: int) -> None:
    trees = zip(release.hierarchies, task.classes.hierarchies, task.level_bounds, strict=True)
    for column, (tree, own, (least, most)) in zip(task.classes.attributes, trees, strict=True):
        bounded = n_parts > 1 or least > 0 or most < own.height - 1
        if tree is not own and bounded:
            raise PlanError(
                f"Levels are those of a hierarchy, but this algorithm releases {quote(column)} as "
                "ranges. Choose groups of the hierarchy, another algorithm, or no level bounds."
            )


def _join_traces(traces: Sequence[Trace]) -> Trace:
    """The work of all parts; what is proved holds for the part where it is least."""
    if len(traces) == 1:
        return traces[0]
    gaps = [trace.gap for trace in traces]
    return Trace(
        evaluated=sum(trace.evaluated for trace in traces),
        steps=sum(trace.steps for trace in traces),
        gap=None if None in gaps else max(gap or 0.0 for gap in gaps),
        share_left=min(trace.share_left for trace in traces),
    )
