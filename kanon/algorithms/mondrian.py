"""Mondrian: cut the table in two, each part in two, as long as every part can stay private."""

import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card, read_parameter
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.lines import ValueOrder, add_ranges_beside
from kanon.algorithms.repair_release import refuse_models
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import is_flat
from kanon.kernels.mondrian import (
    ATTRIBUTE,
    BEST_BALANCE,
    CANDIDATE,
    GROUP,
    LEAST_LOSS,
    MOST_DISTINCT,
    OCCURRING,
    PARTS,
    RECORDS,
    SPREAD,
    VALUE,
    WIDEST,
    MondrianInput,
    find_common_ancestors,
    propose,
    split_regions,
)
from kanon.privacy.conjunction import find_broken
from kanon.recoding import Recoding, Trace

VARIANT = read_parameter(__file__, "variant")

DIMENSION = read_parameter(__file__, "dimension")

_DIMENSIONS = {
    "widest": WIDEST,
    "most-distinct": MOST_DISTINCT,
    "best-balance": BEST_BALANCE,
    "least-loss": LEAST_LOSS,
}

RELEASE = read_parameter(__file__, "release")

RANGES = read_parameter(__file__, "ranges")

SETS = read_parameter(__file__, "sets")

CARD = read_algorithm_card(__file__, (VARIANT, DIMENSION, RELEASE, RANGES, SETS))

_CLASSES_PER_REPORT = 16_384  # classes between two progress reports; one region if it has more


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut that was made."""

    attribute: str  # the quasi-identifier
    # the highest value of the first part, or the node by whose children the region was parted
    value: str
    parts: tuple[np.ndarray, ...]  # per part its classes, as positions in those of the task, rising
    sizes: tuple[int, ...]  # the records of each part


class _MadeCuts(NamedTuple):
    starts: np.ndarray  # where the region starts in the order of the classes, shape (C,)
    proposals: np.ndarray  # what the kernel proposed, shape (C, 5)
    ends: np.ndarray  # where each part ends, shape (sum of parts,)


def check(task: Task) -> None:
    """Check that some release can meet k and the models, none of which is of the whole release."""
    refuse_models(task.of_release, "Mondrian", "looks at one part of the records at a time")
    task.check()


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """Cut the table into regions, and release each region as one class.

    A region is cut on the quasi-identifier of the widest normalised range, (hi - lo) / (hi - lo of
    the table), numbers by value, other values by their place in the hierarchy's leaf order; ties go
    to the first in the plan's order. The cut is at the median, the lowest value v that half of the
    records do not exceed: v and what is below it against the rest or, if that is not allowed,
    what is below v against the rest. It is allowed if every part holds k records and meets all
    models; otherwise the next widest quasi-identifier is tried.

    The option ``dimension`` says which quasi-identifier comes first, and nothing else; it holds for
    all variants, and ties go to the first in the plan's order:

    - ``widest``: as above.
    - ``most-distinct``: the one with the most distinct values in the region.
    - ``best-balance``: the one whose cut has the smallest largest part: of two parts, the one
      nearest to halves. Of the cuts on a quasi-identifier the first that k allows counts.
    - ``least-loss``: the one whose cut, the first that k allows, leaves the least loss: the sum
      over the parts of records times the share of the values that each quasi-identifier loses.
      That is (values that it is released as - 1) / (values of its hierarchy - 1), and of ranges and
      of sets that are ``whole`` (hi - lo) / (hi - lo of the table). Differences of less than a
      millionth of a cell are ties.

    Variants:

    - ``strict``: as above. Whatever k allows to be cut is cut: if any cut of a region left k
      records on each side, so does one beside the median.
    - ``relaxed``: classes at the median may go to either side. The first of them, in canonical
      order, join the lower side, as many as make both sides most equal (the longer run if two
      do so equally); only if that is not allowed the cuts of ``strict`` are tried.
    - ``hierarchy``: a region is parted by the children of the lowest common ancestor of its values,
      into as many parts as children occur; allowed if every part meets k and the models. Records
      that have the ancestor itself are a part of their own. A column without a hierarchy is cut at
      the median.

    A value that is no leaf (the table is partly generalised) stands in the middle between its
    lowest and its highest leaf.

    Source: LeFevre, DeWitt, Ramakrishnan 2006 (ICDE), section 4; cuts along a hierarchy: the same
    authors 2008 (TODS 33(3)); that which quasi-identifier comes first is the user's choice: de
    Spoelberch, interim report, Imperial College London, section 2.4.3. Whole classes move, so a
    relaxed cut does not part records with the same values, as it does in the paper.

    Every region raised to the lowest common ancestor in each quasi-identifier, or to a range where
    it has no hierarchy or ``release`` says ``ranges``: ``[a, b]`` of numbers, else the set of all
    values from the first to the last or, if ``sets`` says ``tight``, of those that occur in the
    region; one value stays itself, everything is the root. If ``ranges`` says ``outward``, a range
    of numbers or dates is the lowest node around it below the root if it has a hierarchy; else
    ``b or less`` and ``a or more``, down or up to the end of the column, where fewer than k records
    lie at a bound or beyond it. Regions with the same values are one class. ``trace.steps`` counts
    the cuts.

    The patients of the paper.

    >>> from kanon.classes import group_tuples
    >>> from kanon.hierarchy.ranges import build_flat_hierarchy
    >>> sex, age = build_flat_hierarchy(["F", "M"]), build_flat_hierarchy(["25", "26", "27", "28"])
    >>> rows = np.array([[1, 0], [0, 0], [1, 1], [1, 2], [0, 2], [1, 3]])
    >>> nodes, counts, _ = group_tuples(rows, np.ones(6, dtype=int), [sex.n_nodes, age.n_nodes])
    >>> classes = EquivalenceClasses(("sex", "age"), (sex, age), nodes, counts)
    >>> release = anonymise(Task(classes, (), k=2))
    >>> [[tree.labels[v] for tree, v in zip(release.hierarchies, row)] for row in release.nodes]
    [['F', '[25, 27]'], ['M', '[25, 26]'], ['M', '[27, 28]']]
    """
    lines = _build_lines(task.classes)
    order, starts, made_cuts = _partition(task, lines, progress)
    return released(task, lines, order, starts, Trace(steps=len(made_cuts.proposals)), progress)


def released(
    task: Task,
    lines: list[ValueOrder],
    order: np.ndarray,
    starts: np.ndarray,
    trace: Trace,
    progress: Progress = ignore_progress,
) -> Recoding:
    """The release in which every region, a stretch of the ordered classes, is in one class."""
    targets = np.empty(task.classes.nodes.shape, dtype=np.int64)
    trees: list[Hierarchy] = []
    lengths = np.diff(np.append(starts, len(order)))
    for j, line in enumerate(lines):
        nodes = task.classes.nodes[order, j]
        if gets_groups(task, line.tree):
            tree, nodes_above = line.tree, find_common_ancestors(line.tree.parent, nodes, starts)
        else:
            tree, nodes_above = _build_ranges(task, line, nodes, starts, task.classes.counts[order])
        targets[order, j] = np.repeat(nodes_above, lengths)
        trees.append(tree)
        progress(
            1.0, f"{write_count(len(starts))} regions, values of {j + 1} columns of {len(lines)}"
        )
    has_ranges = any(map(operator.is_not, trees, task.classes.hierarchies))
    hierarchies = tuple(trees) if has_ranges else None
    return Recoding.from_targets(task.classes, targets, hierarchies=hierarchies, trace=trace)


def cuts(task: Task) -> list[Cut]:
    """Every cut that :func:`anonymise` makes: of a region, then of its first part, and so on.

    >>> from kanon.hierarchy.ranges import build_flat_hierarchy
    >>> ages = build_flat_hierarchy(["20", "30", "40", "50"])
    >>> nodes = np.arange(4, dtype=np.int32)[:, None]
    >>> classes = EquivalenceClasses(("age",), (ages,), nodes, np.array([3, 1, 1, 1]))
    >>> [(cut.attribute, cut.value, cut.sizes) for cut in cuts(Task(classes, (), k=2))]
    [('age', '20', (3, 3))]
    """
    classes = task.classes
    order, _, made_cuts = _partition(task, _build_lines(classes), ignore_progress)
    cuts_with_place = []
    last = np.cumsum(made_cuts.proposals[:, PARTS])
    for start, proposal, upto in zip(made_cuts.starts, made_cuts.proposals, last, strict=True):
        ends = made_cuts.ends[upto - proposal[PARTS] : upto]
        parts = tuple(map(np.sort, np.split(order[start : ends[-1]], ends[:-1] - start)))
        sizes = tuple(int(classes.counts[part].sum()) for part in parts)
        value = classes.hierarchies[proposal[ATTRIBUTE]].labels[proposal[VALUE]]
        cut = Cut(classes.attributes[proposal[ATTRIBUTE]], value, parts, sizes)
        cuts_with_place.append((start, -ends[-1], cut))
    # A stretch that was cut holds those that its parts were cut into: by start, then the longest.
    return [cut for *_, cut in sorted(cuts_with_place, key=lambda entry: entry[:2])]


def _build_lines(classes: EquivalenceClasses) -> list[ValueOrder]:
    return [ValueOrder.from_hierarchy(tree) for tree in classes.hierarchies]


def _partition(
    task: Task, lines: list[ValueOrder], progress: Progress
) -> tuple[np.ndarray, np.ndarray, _MadeCuts]:
    """The classes in the order of the regions, where each region starts, and the cuts."""
    task.check()
    classes, variant = task.classes, task.option(VARIANT)
    dimension = _DIMENSIONS[task.option(DIMENSION)]
    losing = [_choose_loss(task, line) for line in lines]
    values = _build_input(classes, lines, variant == "hierarchy", losing)
    size, n = classes.n_classes, classes.n_records
    order, part = np.arange(size), np.zeros(size, dtype=np.int64)
    # Regions that are not done, the next one last: start, stop, candidates not to be proposed.
    waiting = np.array([[0, size, 0]], dtype=np.int64)
    ended: list[np.ndarray] = []
    batches: list[_MadeCuts] = []
    regions = records = 0
    while len(waiting):
        lengths = (waiting[:, 1] - waiting[:, 0])[::-1]
        n_next = max(1, int(np.searchsorted(np.cumsum(lengths), _CLASSES_PER_REPORT, side="right")))
        waiting, batch = waiting[:-n_next], waiting[-n_next:]
        proposals = np.zeros((len(batch), 5), dtype=np.int64)
        propose(values, task.k, variant == "relaxed", dimension, order, batch, part, proposals)
        can_cut = proposals[:, CANDIDATE] >= 0
        is_cut = can_cut.copy()
        is_cut[can_cut] = _check_parts(task, order, part, batch[can_cut], proposals[can_cut, PARTS])
        refused = batch[can_cut & ~is_cut]
        refused[:, 2] = proposals[can_cut & ~is_cut, CANDIDATE] + 1
        ends = np.empty(proposals[is_cut, PARTS].sum(), dtype=np.int64)
        split_regions(order, part, batch[is_cut], proposals[is_cut, PARTS], ends)
        parts = np.zeros((len(ends), 3), dtype=np.int64)
        parts[1:, 0], parts[:, 1] = ends[:-1], ends
        parts[np.cumsum(proposals[is_cut, PARTS]) - proposals[is_cut, PARTS], 0] = batch[is_cut, 0]
        batches.append(_MadeCuts(batch[is_cut, 0], proposals[is_cut], ends))
        ended.append(batch[~can_cut, 0])
        waiting = np.concatenate([waiting, refused, parts])
        regions += len(ended[-1])
        records += int(proposals[~can_cut, RECORDS].sum())
        progress(
            records / n,
            f"{write_count(regions)} regions done, {write_count(len(waiting))} still to cut",
        )
    made_cuts = _MadeCuts(*(np.concatenate(column) for column in zip(*batches, strict=True)))
    return order, np.sort(np.concatenate(ended)), made_cuts


def _build_input(
    classes: EquivalenceClasses, lines: list[ValueOrder], by_children: bool, losing: list[int]
) -> MondrianInput:
    shape = len(lines), max(line.tree.n_nodes for line in lines)
    at, place = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    parents, first, last = (np.full(shape, -1, dtype=np.int64) for _ in range(3))
    spans = np.zeros(len(lines))
    for j, line in enumerate(lines):
        nodes = line.tree.n_nodes
        at[j, :nodes], parents[j, :nodes] = _convert_to_steps(line.at), line.tree.parent
        first[j, :nodes], last[j, :nodes] = line.tree.first, line.tree.last
        place[j, :nodes] = np.unique(line.at, return_inverse=True)[1]
        positions = at[j, classes.nodes[:, j]]
        spans[j] = positions.max() - positions.min()
    by_tree = np.array([by_children and not is_flat(line.tree) for line in lines])
    others = np.array([line.tree.n_leaves - 1 for line in lines], dtype=np.int64)
    return MondrianInput(
        classes.nodes, classes.counts, at, place, spans, parents, first, last, others,
        np.array(losing, dtype=np.int64), by_tree,
    )  # fmt: skip


def _choose_loss(task: Task, line: ValueOrder) -> int:
    if gets_groups(task, line.tree):
        return GROUP
    return OCCURRING if gets_tight_sets(task, line) else SPREAD


def gets_groups(task: Task, tree: Hierarchy) -> bool:
    """Whether a column is released as groups of its hierarchy; else as ranges or sets."""
    return task.option(RELEASE) == "hierarchy" and not is_flat(tree)


def gets_tight_sets(task: Task, line: ValueOrder) -> bool:
    """Whether the sets of a column hold only values that occur; numbers get ranges."""
    is_opened = task.option(RANGES) == "outward" and line.has_extremes
    return task.option(SETS) == "tight" and not (line.numeric or is_opened)


def _convert_to_steps(at: np.ndarray) -> np.ndarray:
    """Decimal numbers as whole ones where they are, so that equal spreads are equal.

    >>> _convert_to_steps(np.array([0.1, 0.2, 0.4])).tolist()
    [1.0, 2.0, 4.0]
    """
    for digits in range(10):  # decimals that are held against each other exactly, at most
        steps = np.rint(at * 10.0**digits)
        if np.abs(steps).max(initial=0.0) < 2.0**53 and np.array_equal(steps / 10.0**digits, at):
            return np.asarray(steps)
    return at


def _check_parts(
    task: Task, order: np.ndarray, part: np.ndarray, regions: np.ndarray, parts: np.ndarray
) -> np.ndarray:
    """Whether every part of some regions meets all models beside k. Shape (regions,), bool."""
    models = task.others
    if not models or not len(regions):
        return np.ones(len(regions), dtype=bool)
    lengths = regions[:, 1] - regions[:, 0]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = np.repeat(regions[:, 0], lengths) + within
    before = np.cumsum(parts) - parts
    group = np.repeat(before, lengths) + part[places]
    pooled = task.classes.pooled(order[places], group, int(parts.sum()))
    return ~np.logical_or.reduceat(find_broken(models, pooled), before)


def _build_ranges(
    task: Task, line: ValueOrder, nodes: np.ndarray, starts: np.ndarray, counts: np.ndarray
) -> tuple[Hierarchy, np.ndarray]:
    raised, low, high = line.spans(nodes, starts)
    outward = task.option(RANGES) == "outward" and line.has_extremes
    if outward and not is_flat(line.tree):
        cover = find_common_ancestors(line.tree.parent, nodes, starts)
        raised = np.where((raised < 0) & (cover != line.tree.root), cover, raised)
    spans = line.open_bounds(low, high, nodes, counts, task.k if outward else 0)
    if gets_tight_sets(task, line):
        spans = line.drop_gaps(spans, nodes, starts)
    top = line.rank.max()
    whole = [(span.low, span.high, *span.leaves) == (0, top) or all(span[2:4]) for span in spans]
    raised[(raised < 0) & whole] = line.tree.root
    unnamed = np.flatnonzero(raised < 0)
    tree, raised[unnamed] = add_ranges_beside(line, [spans[region] for region in unnamed.tolist()])
    return tree, raised
