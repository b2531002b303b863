"""Which measure of a release predicts how well classifiers learn from it? Rank correlations."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kanon.cards import Card

CONFIDENCE = 0.95  # about how often such an interval contains the true value

LEAST_K = 8  # with fewer k an interval would be far too narrow

_DRAWS = 2000


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation; NaN of two, pure chance, and where either has one value."""
    if len(x) < 3:
        return float("nan")
    once = np.ones((1, len(x)))
    first, second = (_centre_ranks(_rank_by_weight(values, once), once) for values in (x, y))
    return float(_correlate(first, second, once)[0])


_COLUMNS = [
    *("measure", "score", "agreement", "low", "high"),
    *("at_equal_k", "low_at_equal_k", "high_at_equal_k", "releases"),
]


def measure_agreements(
    points: pd.DataFrame, measures: Mapping[str, Card], learned: Sequence[str], seed: int = 0
) -> pd.DataFrame:
    scored = points.dropna(subset=list(learned))
    if scored.empty:
        return pd.DataFrame(columns=_COLUMNS)
    ks, of_point = np.unique(scored["k"].to_numpy(), return_inverse=True)
    random = np.random.default_rng(seed)
    draws = random.multinomial(len(ks), np.full(len(ks), 1 / len(ks)), size=_DRAWS)
    draws = np.vstack([np.ones((1, len(ks)), dtype=np.int64), draws])  # first all k as they are
    weight = draws[:, of_point].astype(float)
    values = {
        **{name: scored[name].to_numpy(float) for name in learned},
        **{
            name: scored[name].to_numpy(float) * (-1 if card.direction == "lower" else 1)
            for name, card in measures.items()
        },
    }
    ranks = {name: _centre_ranks(_rank_by_weight(x, weight), weight) for name, x in values.items()}
    within = {
        (measure, score): np.array(
            [spearman(values[measure][of_point == at], values[score][of_point == at])
             for at in range(len(ks))]
        )
        for measure in measures
        for score in learned
    }  # fmt: skip
    rows = []
    for measure in measures:
        for score in learned:
            over = _correlate(ranks[measure], ranks[score], weight)
            alone = _compute_mean(within[measure, score], draws)
            rows.append(
                {
                    "measure": measure,
                    "score": score,
                    "agreement": over[0],
                    **_find_interval("", over[1:], len(ks)),
                    "at_equal_k": alone[0],
                    **_find_interval(
                        "_at_equal_k", alone[1:], int((~np.isnan(within[measure, score])).sum())
                    ),
                    "releases": len(scored),
                }
            )
    return pd.DataFrame(rows)


def _rank_by_weight(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Rank numbers that each count as often as their weight; equal ones share the mean.

    >>> weight = np.array([[1.0, 1.0, 1.0], [2.0, 0.0, 1.0]])
    >>> _rank_by_weight(np.array([5.0, 7.0, 7.0]), weight).tolist()
    [[1.0, 2.5, 2.5], [1.5, 3.0, 3.0]]
    """
    levels, place = np.unique(values, return_inverse=True)
    per_level = np.zeros((len(weight), len(levels)))
    np.add.at(per_level.T, place, weight.T)
    middle: np.ndarray = np.cumsum(per_level, axis=1) - (per_level - 1) / 2
    return middle[:, place]


def _centre_ranks(ranks: np.ndarray, weight: np.ndarray) -> np.ndarray:
    mean = (weight * ranks).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
    differences: np.ndarray = ranks - mean[:, None]
    return differences


def _correlate(first: np.ndarray, second: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Correlate centred ranks per row of weights; NaN without a spread."""
    spread = np.sqrt((weight * first**2).sum(axis=1) * (weight * second**2).sum(axis=1))
    shared = (weight * first * second).sum(axis=1)
    quotients = np.divide(shared, spread, out=np.full(len(shared), np.nan), where=spread > 1e-9)
    correlations: np.ndarray = np.clip(quotients, -1.0, 1.0)
    return correlations


def _compute_mean(per_k: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Average over the k that have a number, per row of how often each k is drawn."""
    has_number = ~np.isnan(per_k)
    total = draws[:, has_number].sum(axis=1)
    sums = draws[:, has_number] @ per_k[has_number]
    return np.divide(sums, total, out=np.full(len(draws), np.nan), where=total > 0)


def _find_interval(suffix: str, numbers: np.ndarray, ks: int) -> dict[str, float]:
    present = numbers[~np.isnan(numbers)]
    if not len(present) or ks < LEAST_K:
        return {f"low{suffix}": float("nan"), f"high{suffix}": float("nan")}
    low, high = np.quantile(present, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return {f"low{suffix}": float(low), f"high{suffix}": float(high)}
