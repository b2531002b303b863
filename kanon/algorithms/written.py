"""What a release shows for the numbers of a class: a range, mean, median or mode."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from kanon.algorithms.lines import Span, ValueOrder, add_ranges_beside
from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.recoding import Recoding

FORMS: Mapping[str, str] = {
    "range": "lowest and highest value",
    "mean": "mean",
    "median": "median, somebody's value",
    "mode": "most frequent value, somebody's",
}
"""What can be written for a class, by its name in plans."""


def check_class_form(classes: EquivalenceClasses, written: Mapping[str, str]) -> None:
    """Refuse columns of dates or texts, and classes that stay in an engine."""
    for column, form in written.items():
        from kanon.algorithms.mdav import describe_content  # with Numba, which takes long

        place, j = f"Plan key columns.{column}.written", classes.attributes.index(column)
        if content := describe_content(classes.hierarchies[j], plain=form == "mean"):
            raise PlanError(
                f"{place}: {quote(column)} holds {content}; {quote(form)} needs "
                f"{'plain numbers, such as 1234.5' if form == 'mean' else 'numbers'}."
            )
        if classes.in_engine:
            raise PlanError(
                f"{place}: the classes are so many that they stay in the engine that holds the "
                "rows, which writes only groups of hierarchies; leave 'written' out."
            )


def write_values(recoding: Recoding, written: Mapping[str, str]) -> Recoding:
    """A release that shows for each class what its numbers in some columns are like.

    ``written`` has for these columns one of :data:`FORMS`:

    - ``range``: ``[a, b]``, the lowest and the highest value of the class; the root if these are
      the ends of the column.
    - ``mean``: rounded to the most decimals of the column's values, half to even.
    - ``median``: the lowest value that half of the records do not exceed.
    - ``mode``: the most frequent value, the lowest of several.

    A value that all records of a class have stays as it is. Missing cells add ``or (missing)`` to
    what the others give. A value that is a group counts as the middle of its ends. Classes that
    show the same are one class. What is written stands for the range of the values in its class,
    which losses count.

    >>> from kanon.hierarchy.build import suppression
    >>> nodes, counts = np.arange(5, dtype=np.int32)[:, None], np.array([1, 2, 1, 1, 4])
    >>> ages = suppression(["3", "4", "8", "9", "50"])
    >>> classes = EquivalenceClasses(("age",), (ages,), nodes, counts)
    >>> groups = Recoding.from_targets(classes, np.array([[5], [5], [5], [5], [4]]))
    >>> for form in FORMS:
    ...     release = write_values(groups, {"age": form})
    ...     print([release.hierarchies[0].labels[node] for node in release.nodes[:, 0]])
    ['50', '[3, 9]']
    ['50', '6']
    ['50', '4']
    ['50', '4']
    """
    if not written:  # nor is anything asked of classes that stay in an engine
        return recoding
    classes = recoding.classes
    order = np.argsort(recoding.assigned, kind="stable")
    order = order[recoding.assigned[order] >= 0]  # suppressed records show no value
    if not len(order):
        return recoding
    group = recoding.assigned[order]
    trees, keys = list(recoding.hierarchies), recoding.nodes.astype(np.int64)
    texts: dict[int, np.ndarray] = {}
    form_of = dict(zip(range(len(trees)), map(written.get, classes.attributes), strict=True))
    for j, tree in enumerate(trees):
        if form_of[j] is None and len(tree.node_of) < tree.n_nodes:
            form_of[j] = "mean"  # as MDAV wrote it: readers cannot tell equal means apart
        if form := form_of[j]:
            texts[j] = _describe_groups(classes, j, order, group, form)
            keys[:, j] = np.unique(texts[j], return_inverse=True)[1]
    merged = group_tuples(keys, recoding.counts, (keys.max(axis=0) + 1).tolist())[2]
    by_merged = np.argsort(merged[group], kind="stable")
    order, group = order[by_merged], group[by_merged]
    targets = np.zeros((classes.n_classes, len(trees)), dtype=np.int64)
    targets[order] = keys[group]
    for j, labels in texts.items():
        starts, alone = _find_starts(merged[group]), form_of[j] != "range"
        trees[j], nodes = _name_groups(classes, j, order, starts, labels[group[starts]], alone)
        targets[order, j] = nodes[merged[group]]
    trace = replace(recoding.trace, gap=None)  # nothing is proved of what is shown now
    return Recoding.from_targets(classes, targets, recoding.assigned < 0, tuple(trees), trace)


def _find_starts(group: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.diff(group, prepend=-1))


def _describe_groups(
    classes: EquivalenceClasses, j: int, order: np.ndarray, group: np.ndarray, form: str
) -> np.ndarray:
    """What is written for each group. Shape (groups,), texts."""
    line, starts = ValueOrder.from_hierarchy(classes.hierarchies[j]), _find_starts(group)
    labels, nodes = np.array(line.tree.labels, dtype=object), classes.nodes[order, j]
    if form == "range":
        single, spans = _find_spans(line, nodes, starts)
        texts = np.array([*map(line.label, spans)], dtype=object)
        texts[[span == Span(0, int(line.rank.max())) for span in spans]] = labels[line.tree.root]
        return np.where(single < 0, texts, labels[single])
    missing = line.lowest[nodes] > line.last_value
    counts = np.where(missing, 0, classes.counts[order])
    if form == "mean":
        from kanon.algorithms.mdav import build_column

        column = build_column(classes, j)
        column = replace(column, values=column.values[order])
        texts = np.array(column.means(counts, group, column.digits), dtype=object)
    else:
        members = pd.DataFrame({"group": group, "at": line.at[nodes], "node": nodes, "n": counts})
        values = members.groupby(["group", "at", "node"], as_index=False).sum()
        records = values.groupby("group")["n"]
        if form == "median":
            fits = records.cumsum() >= records.transform("sum") / 2
        else:
            fits = values["n"] == records.transform("max")
        texts = labels[values[fits].groupby("group")["node"].first()]
    texts[np.logical_or.reduceat(missing, starts)] += f" or {MISSING_LABEL}"
    texts[np.logical_and.reduceat(missing, starts)] = MISSING_LABEL
    return texts


def _name_groups(
    classes: EquivalenceClasses,
    j: int,
    order: np.ndarray,
    starts: np.ndarray,
    texts: np.ndarray,
    alone: bool,
) -> tuple[Hierarchy, np.ndarray]:
    """The hierarchy with what is written as ranges beside it, and the node of each group."""
    line = ValueOrder.from_hierarchy(classes.hierarchies[j])
    labels, root = np.array(line.tree.labels, dtype=object), line.tree.root
    nodes, spans = _find_spans(line, classes.nodes[order, j], starts)
    nodes = np.where(~np.bool_(alone) & (nodes < 0) & (texts == labels[root]), root, nodes)
    unnamed = np.flatnonzero((nodes < 0) | (labels[nodes] != texts)).tolist()
    if alone:
        spans = [
            span._replace(mean=text, mean_alone=True)
            for span, text in zip(spans, texts, strict=True)
        ]
    tree, nodes[unnamed] = add_ranges_beside(line, [spans[place] for place in unnamed])
    return tree, nodes


def _find_spans(
    line: ValueOrder, nodes: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, list[Span]]:
    """The node of the only value of each group, or -1, and from where to where its values lie."""
    single, low, high = line.spans(nodes, starts)
    known = np.where(line.lowest[nodes] <= line.last_value, line.highest[nodes], -1)
    last = np.maximum.reduceat(np.minimum(known, line.last_value), starts)
    spans = [*map(Span, low.tolist(), high.tolist())]
    for place in np.flatnonzero((last >= 0) & (last < line.last_value) & (last < high)):
        leaves = (*line.leaves(int(low[place]), int(last[place])).tolist(), int(line.by_rank[-1]))
        spans[place] = spans[place]._replace(leaves=leaves)  # missing cells come after all numbers
    return single.astype(np.int64), spans
