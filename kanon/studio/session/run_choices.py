"""What a session can choose among: metrics, strategies, k."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kanon.algorithms.catalogue import serves_every_k
from kanon.experiments.comparison import PAPER_K
from kanon.hierarchy import Hierarchy
from kanon.metrics import BESIDE, PUBLISHED, Metric, metric_named
from kanon.plan import composed_metrics
from kanon.studio.session.parts import Message
from kanon.studio.session.work import Work


def metric_called(work: Work, name: str) -> Metric:
    """The metric of a name, composed ones too."""
    return metric_named(name, composed_metrics(work.settings.composed))


def counted_records(
    work: Work, metric: Metric, trees: Mapping[str, Hierarchy]
) -> tuple[np.ndarray, ...] | None:
    """The records at each node or below it, per column, for a metric that counts records."""
    if not metric.counts_records:  # hierarchies can be large
        return None
    counts = ((tree, work.table.choices[column].counts) for column, tree in trees.items())
    return tuple(
        tree.sum_below(np.array([known.get(label, 0) for label in tree.labels]))
        for tree, known in counts
    )


def incomplete_records(work: Work) -> int:
    """The number of records that lack a quasi-identifier."""
    columns = work.table.quasi_identifiers
    return work.table.records.incomplete(columns) if columns else 0


def missing_undecided(work: Work) -> int:
    """The number of those records while nobody has said what happens to them; else 0."""
    return incomplete_records(work) if work.table.missing is None else 0


def undecided_columns(work: Work) -> list[str]:
    """The columns whose role nobody has chosen, in the table's order."""
    return [name for name in work.table.roles if name in work.table.undecided]


def with_option(work: Work, algorithm: str, name: str, value: str) -> Work:
    chosen = {**work.settings.options.get(algorithm, {}), name: value}
    options = {**work.settings.options, algorithm: chosen}
    return work.with_parts(replace(work.settings, options=options), Message())


def usable_metrics(work: Work) -> list[str]:
    """The metrics that can be chosen: drawn weights only where all hierarchies have them."""
    choices = work.table.choices
    trees = [choices[name].tree for name in work.table.quasi_identifiers if name in choices]
    drawn = bool(trees) and all(tree is not None and tree.weight is not None for tree in trees)
    return [*PUBLISHED, *BESIDE, *work.settings.composed, *(["custom"] if drawn else [])]


def compared_metrics(work: Work) -> list[str]:
    return [name for name in usable_metrics(work) if name in work.compare.compared]


def shown_k(algorithm: str, n_records: int, also: int) -> list[int]:
    """The k of a comparison: those of a slider, or the papers' where each k is a run of its own."""
    if serves_every_k(algorithm):
        return k_grid(n_records, also)
    most = max(2, n_records)
    return sorted({*(k for k in PAPER_K if k <= most), min(also, most)})


def k_grid(n_records: int, also: int) -> list[int]:
    """The values of a slider over k: every small one, then evenly spaced on a log scale.

    >>> k_grid(20, also=7)[:4], k_grid(20, also=7)[-1]
    ([2, 3, 4, 5], 20)
    """
    if n_records <= 2:
        return [2]
    spaced = np.geomspace(2, n_records, 160).round().astype(int).tolist()
    return sorted({k for k in [*spaced, *PAPER_K, 1500, 4000, also] if 2 <= k <= n_records})
