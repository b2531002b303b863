"""The privacy models once more, in plain Python on released rows: nothing of kanon's.

Each function takes the classes, a :class:`~collections.Counter` of sensitive values per class, and
the parameters, and returns by how much the model is missed: above 0 it is broken, up to 0 it holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from math import exp, inf, log
from typing import Any

__all__ = ["MISSING", "MODELS", "NARROW", "missed_by"]

Classes = Sequence[Counter]

MISSING = None
"""How a missing sensitive cell is written; it is a value like any other, and comes last."""

NARROW = 1e-9
"""What rounding may decide: a miss this small, on either side, is no evidence."""


def missed_by(
    part: Mapping[str, Any], tuples: Iterable[tuple], cells: Mapping[str, Sequence]
) -> float:
    """By how much a part of a plan is missed.

    Parameters
    ----------
    part
        The part: the model's name, its parameters, the sensitive column.
    tuples
        The released quasi-identifiers, row by row.
    cells
        The cells of each sensitive column, row by row.
    """
    asked = {name: value for name, value in part.items() if name not in ("model", "column")}
    rows = list(tuples)
    results: dict[tuple, Counter] = {}
    for row, value in zip(rows, cells.get(part.get("column"), [0] * len(rows)), strict=True):
        results.setdefault(row, Counter())[value] += 1
    return float(MODELS[part["model"]](list(results.values()), **asked)) if results else -inf


def _table(classes: Classes) -> dict[object, float]:
    """The share of each value in all records, the values in their order."""
    whole = sum(classes, Counter())
    order = sorted(
        whole, key=lambda value: (value is MISSING, value if value is not MISSING else 0)
    )
    return {value: whole[value] / whole.total() for value in order}


def _shares(of: Counter, values: Iterable[object]) -> list[float]:
    return [of[value] / of.total() for value in values]


def _k_anonymity(classes: Classes, k: int) -> float:
    return max(k - of.total() for of in classes)


def _distinct(classes: Classes, l: int) -> float:  # noqa: E741
    return max(l - len(of) for of in classes)


def _entropy(classes: Classes, l: float) -> float:  # noqa: E741
    return max(l - exp(-sum(p * log(p) for p in _shares(of, of))) for of in classes)


def _recursive(classes: Classes, c: float, l: int) -> float:  # noqa: E741
    falling = [sorted(of.values(), reverse=True) for of in classes]
    # Equal is broken already.
    return max(counts[0] - c * sum(counts[l - 1 :]) or NARROW for counts in falling)


def _alpha_k(classes: Classes, alpha: float, k: int) -> float:
    return max(_k_anonymity(classes, k), *(max(_shares(of, of)) - alpha for of in classes))


def _t_closeness(classes: Classes, t: float, distance: str = "norm1") -> float:
    table = _table(classes)
    return max(_distance(_shares(of, table), list(table.values()), distance) for of in classes) - t


def _distance(p: Sequence[float], q: Sequence[float], kind: str) -> float:
    apart = [one - other for one, other in zip(p, q, strict=True)]
    if kind == "emd-ordered":
        return sum(map(abs, accumulate(apart[:-1]))) / max(len(q) - 1, 1)
    return sum(map(abs, apart)) / (1 if kind == "norm1" else 2)


def _delta(classes: Classes, delta: float) -> float:
    table = _table(classes)
    if any(len(of) < len(table) for of in classes):
        return inf
    return max(abs(log(p / table[v])) for of in classes for v, p in _each(of)) - delta


def _each(of: Counter) -> Iterable[tuple[object, float]]:
    return zip(of, _shares(of, of), strict=True)


def _basic_beta(classes: Classes, beta: float) -> float:
    table = _table(classes)
    return max(p / table[v] - 1 for of in classes for v, p in _each(of)) - beta


def _enhanced_beta(classes: Classes, beta: float) -> float:
    table = _table(classes)
    return max(p / table[v] - 1 - min(beta, -log(table[v])) for of in classes for v, p in _each(of))


def _average_risk(classes: Classes, most: float) -> float:
    return len(classes) / sum(of.total() for of in classes) - most


def _records_at_risk(classes: Classes, above: float, most: float) -> float:
    sizes = [of.total() for of in classes]
    return sum(size for size in sizes if 1 / size > above) / sum(sizes) - most


MODELS: Mapping[str, Callable[..., float]] = {
    "average-risk": _average_risk,
    "records-at-risk": _records_at_risk,
    "k-anonymity": _k_anonymity,
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-cl-diversity": _recursive,
    "alpha-k-anonymity": _alpha_k,
    "t-closeness": _t_closeness,
    "delta-disclosure": _delta,
    "basic-beta-likeness": _basic_beta,
    "enhanced-beta-likeness": _enhanced_beta,
}
