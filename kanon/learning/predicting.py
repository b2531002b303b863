"""Which measure of a release tells how well it can be learnt from? Rank correlations."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kanon.cards import Card

CONFIDENCE = 0.95  # how often an interval made this way holds the true value, about

LEAST_K = 8  # with fewer k an interval over draws of them would be far too narrow

_DRAWS = 2000


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's rank correlation; not a number where either has one value alone."""
    once = np.ones((1, len(one)))
    first, second = (_centred(_ranks(values, once), once) for values in (one, other))
    return float(_correlated(first, second, once)[0])


_COLUMNS = [
    *("measure", "score", "agreement", "low", "high"),
    *("at_equal_k", "low_at_equal_k", "high_at_equal_k", "releases"),
]


def agreements(
    points: pd.DataFrame, measures: Mapping[str, Card], learned: Sequence[str], seed: int = 0
) -> pd.DataFrame:
    some = points.dropna(subset=list(learned))
    if some.empty:
        return pd.DataFrame(columns=_COLUMNS)
    ks, of_point = np.unique(some["k"].to_numpy(), return_inverse=True)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(len(ks), np.full(len(ks), 1 / len(ks)), size=_DRAWS)
    drawn = np.vstack([np.ones((1, len(ks)), dtype=np.int64), drawn])  # first those there are
    weight = drawn[:, of_point].astype(float)
    values = {
        **{name: some[name].to_numpy(float) for name in learned},
        **{
            name: some[name].to_numpy(float) * (-1 if card.direction == "lower" else 1)
            for name, card in measures.items()
        },
    }
    ranks = {name: _centred(_ranks(one, weight), weight) for name, one in values.items()}
    within = {
        (measure, score): np.array(
            [_within(values[measure][of_point == at], values[score][of_point == at])
             for at in range(len(ks))]
        )
        for measure in measures
        for score in learned
    }  # fmt: skip
    rows = []
    for measure in measures:
        for score in learned:
            over = _correlated(ranks[measure], ranks[score], weight)
            alone = _averaged(within[measure, score], drawn)
            rows.append(
                {
                    "measure": measure,
                    "score": score,
                    "agreement": over[0],
                    **_ends("", over[1:], len(ks)),
                    "at_equal_k": alone[0],
                    **_ends(
                        "_at_equal_k", alone[1:], int((~np.isnan(within[measure, score])).sum())
                    ),
                    "releases": len(some),
                }
            )
    return pd.DataFrame(rows)


def _ranks(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Ranks of numbers that each stand for as many as their weight; equal ones share the mean.

    >>> _ranks(np.array([5.0, 7.0, 7.0]), np.array([[1.0, 1.0, 1.0], [2.0, 0.0, 1.0]])).tolist()
    [[1.0, 2.5, 2.5], [1.5, 3.0, 3.0]]
    """
    levels, place = np.unique(values, return_inverse=True)
    per_level = np.zeros((len(weight), len(levels)))
    np.add.at(per_level.T, place, weight.T)
    middle: np.ndarray = np.cumsum(per_level, axis=1) - (per_level - 1) / 2
    return middle[:, place]


def _centred(ranks: np.ndarray, weight: np.ndarray) -> np.ndarray:
    mean = (weight * ranks).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
    centred: np.ndarray = ranks - mean[:, None]
    return centred


def _correlated(one: np.ndarray, other: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The correlation of centred ranks per row of weights; not a number without a spread."""
    spread = np.sqrt((weight * one**2).sum(axis=1) * (weight * other**2).sum(axis=1))
    shared = (weight * one * other).sum(axis=1)
    found = np.divide(shared, spread, out=np.full(len(shared), np.nan), where=spread > 1e-9)
    clipped: np.ndarray = np.clip(found, -1.0, 1.0)
    return clipped


def _within(one: np.ndarray, other: np.ndarray) -> float:
    """The rank correlation among the releases for one k; of two it would be a coin's toss."""
    return spearman(one, other) if len(one) > 2 else float("nan")


def _averaged(per_k: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """The mean over the k that have a number, per row of how often each k is drawn."""
    there = ~np.isnan(per_k)
    total = drawn[:, there].sum(axis=1)
    added = drawn[:, there] @ per_k[there]
    return np.divide(added, total, out=np.full(len(drawn), np.nan), where=total > 0)


def _ends(what: str, drawn: np.ndarray, ks: int) -> dict[str, float]:
    there = drawn[~np.isnan(drawn)]
    if not len(there) or ks < LEAST_K:
        return {f"low{what}": float("nan"), f"high{what}": float("nan")}
    low, high = np.quantile(there, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return {f"low{what}": float(low), f"high{what}": float(high)}
