"""The criteria at every k of a merge path at once, for curves and sliders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kanon.errors import PlanError
from kanon.kernels.along import count_unchanged_cells, measure_along
from kanon.measures.alteration import compute_mean_alteration
from kanon.measures.cells import compute_percent, scale_metric_potentials
from kanon.measures.class_sizes import measure_class_sizes, measure_class_sizes_along
from kanon.measures.extended_measures import extract_further, get_known_at, measure_further_along
from kanon.measures.histograms import build_histograms
from kanon.measures.running import sum_nodes_along
from kanon.measures.summary import measure_release
from kanon.metrics import Metric
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.recoding import MergePath, Recoding


@dataclass(frozen=True, eq=False)
class Curves:
    """Criteria of the release, one row per release on a merge path."""

    min_k: np.ndarray  # the size of the smallest class, rising
    n_classes: np.ndarray  # the number of classes, falling
    alteration: Mapping[str, np.ndarray]  # per metric name the alteration in percent
    # in percent
    generalised: np.ndarray
    at_root: np.ndarray
    deleted_among_modified: np.ndarray
    # per sensitive column the entropy l-diversity and the t-closeness (norm 1, in [0, 2]) of the
    # worst released class
    entropy_l: Mapping[str, np.ndarray] = field(default_factory=dict)
    t_norm1: Mapping[str, np.ndarray] = field(default_factory=dict)
    # the records by size of their class, shape (S, B): see :mod:`kanon.measures.class_sizes`
    class_sizes: np.ndarray | None = None
    # per further measure its known numbers: see :mod:`kanon.measures.extended_measures`
    further: Mapping[str, np.ndarray] = field(default_factory=dict)
    # the k at which the measures are known that are not running sums
    measured_at: tuple[int, ...] = ()

    def knows(self, ks: Sequence[int]) -> np.ndarray:
        """Which of several k have a release: all up to the last ``min_k``. Shape (len(ks),)."""
        return np.asarray(ks) <= self.min_k[-1]

    def get_further(self, name: str, ks: Sequence[int]) -> np.ndarray:
        """A further measure for several k; NaN where it is unknown."""
        return get_known_at(self.further, name, self._find_rows(ks), ks)

    def get_class_sizes(self, ks: Sequence[int]) -> np.ndarray | None:
        return None if self.class_sizes is None else self.class_sizes[self._find_rows(ks)]

    def get_suppressed(self, ks: Sequence[int]) -> np.ndarray:
        """The suppressed records for several k, in percent: 0, as merging suppresses none."""
        return np.zeros(len(ks))

    def row(self, k: int) -> int:
        """The row of the release for k, which must be at most the last ``min_k``."""
        return int(self._find_rows([k])[0])

    def at(self, ks: Sequence[int]) -> dict[str, np.ndarray]:
        return {"k": np.asarray(ks), **self.columns(self._find_rows(ks))}

    def columns(self, rows: np.ndarray | slice = slice(None)) -> dict[str, np.ndarray]:
        """Some rows, or all, under their names in ``CURVES.csv``."""
        alterations = {name: values[rows] for name, values in self.alteration.items()}
        return _order_columns(
            {
                "min_k": self.min_k[rows],
                "classes": self.n_classes[rows],
                "mean_alteration": compute_mean_alteration(alterations),
                "generalised_percent": self.generalised[rows],
                "root_percent": self.at_root[rows],
                "deleted_among_modified_percent": self.deleted_among_modified[rows],
            },
            alterations,
            {name: values[rows] for name, values in self.entropy_l.items()},
            {name: values[rows] for name, values in self.t_norm1.items()},
        )

    def _find_rows(self, ks: Sequence[int]) -> np.ndarray:
        if max(ks) > self.min_k[-1]:
            last = int(self.min_k[-1])
            raise PlanError(f"k = {max(ks)} was not computed; the largest k is {last}.")
        return np.searchsorted(self.min_k, ks, side="left")


@dataclass(frozen=True, eq=False)
class Points:
    """Criteria at some k only, of an algorithm that runs once per k."""

    # the criteria under their names in ``CURVES.csv``, ``k`` first, each of shape (len(k),)
    numbers: Mapping[str, np.ndarray]
    class_sizes: np.ndarray | None = None  # as in :class:`Curves`, a row per k
    suppressed: np.ndarray | None = None  # per k the suppressed records, in percent
    # per further measure a number per k: see :mod:`kanon.measures.extended_measures`
    further: Mapping[str, np.ndarray] = field(default_factory=dict)
    # per k that was tried without a release, why, in a sentence
    refused: Mapping[int, str] = field(default_factory=dict)

    def knows(self, ks: Sequence[int]) -> np.ndarray:
        """Which of several k have a release. Shape (len(ks),)."""
        return np.isin(ks, self.numbers["k"])

    def get_further(self, name: str, ks: Sequence[int]) -> np.ndarray:
        rows = self._find_rows(ks)
        return self.further[name][rows] if name in self.further else np.full(len(rows), np.nan)

    def get_suppressed(self, ks: Sequence[int]) -> np.ndarray:
        """The suppressed records for several k, in percent. Shape (len(ks),)."""
        return (
            np.zeros(len(ks)) if self.suppressed is None else self.suppressed[self._find_rows(ks)]
        )

    def get_class_sizes(self, ks: Sequence[int]) -> np.ndarray | None:
        return None if self.class_sizes is None else self.class_sizes[self._find_rows(ks)]

    def at(self, ks: Sequence[int]) -> dict[str, np.ndarray]:
        rows = self._find_rows(ks)
        return {name: values[rows] for name, values in self.numbers.items()}

    def _find_rows(self, ks: Sequence[int]) -> list[int]:
        places = {int(k): place for place, k in enumerate(self.numbers["k"])}
        lacking = [k for k in ks if k not in places]
        if lacking:
            computed = ", ".join(map(str, places))
            raise PlanError(f"k = {lacking[0]} was not computed; choose from {computed}.")
        return [places[k] for k in ks]


def join_points(first: Points, second: Points) -> Points:
    """The criteria at the k of both, rising; of a k that both have, those of the second."""
    ks = np.append(first.numbers["k"], second.numbers["k"])
    rows = [np.flatnonzero(ks == k)[-1] for k in np.unique(ks)]

    def join_rows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.concatenate([one, other])[rows]

    sizes, suppressed = None, None
    if first.class_sizes is not None and second.class_sizes is not None:
        sizes = join_rows(first.class_sizes, second.class_sizes)
    if first.suppressed is not None or second.suppressed is not None:
        suppressed = join_rows(
            *(part.get_suppressed([*part.numbers["k"]]) for part in (first, second))
        )
    return Points(
        {name: join_rows(values, second.numbers[name]) for name, values in first.numbers.items()},
        sizes,
        suppressed,
        {name: join_rows(values, second.further[name]) for name, values in first.further.items()},
    )


_BEFORE = ("min_k", "classes")
_AFTER = (
    "mean_alteration",
    "generalised_percent",
    "root_percent",
    "deleted_among_modified_percent",
)


def name_privacy_column(measure: str, column: str, columns: Sequence[str]) -> str:
    """The name of a measure of a sensitive column in ``CURVES.csv``."""
    return measure if len(columns) == 1 else f"{measure}_{column}"


def get_worst_levels(
    curves: Curves | Points, column: str, columns: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """l and t of the worst class in each row of curves; t as total variation distance."""
    numbers = curves.columns() if isinstance(curves, Curves) else curves.numbers
    diverse, distance = (
        numbers[name_privacy_column(measure, column, columns)]
        for measure in ("entropy_l", "t_norm1")
    )
    return diverse, distance / 2


def _order_columns(
    numbers: Mapping[str, Any],
    alterations: Mapping[str, Any],
    entropy_l: Mapping[str, Any],
    t_norm1: Mapping[str, Any],
) -> dict[str, Any]:
    columns = list(entropy_l)
    sensitive = {
        name_privacy_column(measure, column, columns): values[column]
        for column in columns
        for measure, values in (("entropy_l", entropy_l), ("t_norm1", t_norm1))
    }
    return {
        **{name: numbers[name] for name in _BEFORE},
        **{f"alteration_{name}": value for name, value in alterations.items()},
        **{name: numbers[name] for name in _AFTER},
        **sensitive,
    }


def build_numbers_table(numbers: Mapping[str, Any]) -> pd.DataFrame:
    """Criteria as a table; the smallest class is whole, or blank where no class is left.

    >>> build_numbers_table({"k": [2, 9], "min_k": [3.0, np.nan]})["min_k"].tolist()
    [3, <NA>]
    """
    return pd.DataFrame(numbers).astype({"min_k": "Int64"})


def convert_to_total_variation(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Criteria with t as on the pages: total variation, 0 to 1, instead of norm 1, twice that.

    >>> convert_to_total_variation({"k": 2, "t_norm1": 1.5, "t_norm1_ill": 0.5})
    {'k': 2, 't_variational': 0.75, 't_variational_ill': 0.25}
    """
    converted = {}
    for name, values in numbers.items():
        norm_1 = name == "t_norm1" or name.startswith("t_norm1_")
        converted[name.replace("t_norm1", "t_variational", norm_1)] = (
            values / 2 if norm_1 else values
        )
    return converted


def measure_points(
    recodings: Mapping[int, Recoding],
    metrics: Sequence[Metric],
    refused: Mapping[int, str] | None = None,
) -> Points:
    if not recodings:
        return Points({"k": np.zeros(0, dtype=int)}, refused=refused or {})
    rows, further = [], []
    for k, recoding in recodings.items():
        numbers = measure_release(recoding, metrics, k)
        if not recoding.n_classes:
            numbers["min_k"] = np.nan
        elif (persons := recoding.released.min_persons) is not None:
            numbers["min_k"] = persons
        sensitive = recoding.released.sensitive
        further.append(extract_further(numbers, [column.name for column in sensitive]))
        least = {
            column.name: _compute_worst(np.min, entropy_l_diversity.each(column))
            for column in sensitive
        }
        most = {
            column.name: _compute_worst(np.max, t_closeness.each(column)) for column in sensitive
        }
        rows.append({"k": k, **_order_columns(numbers, numbers["alteration"], least, most)})
    sizes = np.array([measure_class_sizes(recoding) for recoding in recodings.values()])
    suppressed = [
        compute_percent(recoding.suppressed_records, recoding.classes.n_records)
        for recoding in recodings.values()
    ]
    return Points(
        {name: np.array([row[name] for row in rows]) for name in rows[0]},
        sizes,
        np.array(suppressed) if any(suppressed) else None,
        {name: np.array([row[name] for row in further]) for name in further[0]},
        refused or {},
    )


def _compute_worst(extreme: Callable[[np.ndarray], Any], levels: np.ndarray) -> float:
    return float(extreme(levels)) if len(levels) else np.nan


def measure_curves(
    path: MergePath,
    metrics: Sequence[Metric],
    at_some: Sequence[int] | None = None,
    release: Callable[[int], Recoding] | None = None,
    least: np.ndarray | None = None,
) -> Curves:
    classes = path.classes
    size = classes.n_classes
    min_k = path.distinct_k if least is None else np.unique(least)
    at = np.searchsorted(path.smallest if least is None else least, min_k, side="left")

    roots = np.array([tree.root for tree in classes.hierarchies])
    at_root = sum_nodes_along(
        path, [(np.arange(tree.n_nodes) == tree.root) for tree in classes.hierarchies]
    )
    started_at_root = int((classes.nodes == roots).sum(axis=1) @ classes.counts)
    unchanged = count_unchanged_cells(path.nodes, path.counts, path.parts, size)
    raised = classes.n_cells - unchanged
    fewer = np.cumsum((path.parts >= 0).sum(axis=1) - 1)

    alteration = {}
    for metric in metrics:
        remaining = sum_nodes_along(path, scale_metric_potentials(classes, metric))
        alteration[metric.name] = _compute_percent(remaining[0] - remaining[at], remaining[0])
    further: Mapping[str, np.ndarray] = {}
    if at_some is not None:  # one at a time, as a release is as large as the table's classes
        make_release = release or path.at
        further = measure_further_along(path, ((k, make_release(k)) for k in at_some))
    return Curves(
        min_k=min_k,
        n_classes=size - np.append(0, fewer)[at],
        alteration=alteration,
        generalised=_compute_percent(raised[at], classes.n_cells),
        at_root=_compute_percent(at_root[at], classes.n_cells),
        deleted_among_modified=_compute_percent(at_root[at] - started_at_root, raised[at]),
        class_sizes=measure_class_sizes_along(path) if least is None else None,
        further=further,
        measured_at=tuple(at_some or ()),
        **_find_worst_levels(path, at),
    )


def _find_worst_levels(path: MergePath, at: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """Find l and t of the worst class of every release, per sensitive column."""
    entropy_l, t_norm1 = {}, {}
    for sensitive in path.classes.sensitive:
        worst = {}
        # l by folded spellings, t as written
        for variant in dict.fromkeys((sensitive.folded, sensitive)):
            state = np.array([len(variant.value)], dtype=np.int64)
            histograms = build_histograms(variant, len(path.counts))
            worst[variant] = measure_along(histograms, path.parts, state)
        entropy_l[sensitive.name] = np.exp(-worst[sensitive.folded][0][at])
        t_norm1[sensitive.name] = worst[sensitive][1][at]
    return {"entropy_l": entropy_l, "t_norm1": t_norm1}


def _compute_percent(part: np.ndarray, whole: np.ndarray | float) -> np.ndarray:
    whole = np.broadcast_to(np.asarray(whole, dtype=float), part.shape)
    shares = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
    return 100.0 * shares
