"""Which release of a way counts for a k: the one that loses least, of those for k or a larger one.

Where l or t is asked for, or a way merges on for other models, that need not be the one for k.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.measures.along import Curves
from kanon.measures.alteration import MEAN_CARD

DIGITS = 9  # losses are told apart to so many decimals, so that a rounding error beats nobody

_MET = 1e-6  # a limit that is missed by no more points is met


def losses(comparison: Comparison, ks: Sequence[int]) -> np.ndarray:
    """What every way loses in every concern by its releases for some k, in percent."""
    parts = [comparison.at(MEAN_CARD.name, ks)]
    if comparison.sensitive:
        parts += [100.0 - comparison.at(L_CARD.name, ks), 100.0 * comparison.at(T_CARD.name, ks)]
    return np.stack(parts, axis=-1).round(DIGITS)


def missed(lost: np.ndarray, limits: Mapping[str, float], best_l: float) -> np.ndarray:
    """By how many points releases miss the limits of l and t; 0 where they meet them."""
    found = np.zeros(lost.shape[:-1])
    if lost.shape[-1] > 1 and "l" in limits:
        found = np.maximum(found, lost[..., 1] - (100.0 - 100.0 * limits["l"] / best_l))
    if lost.shape[-1] > 1 and "t" in limits:
        found = np.maximum(found, lost[..., 2] - 100.0 * limits["t"])
    return np.where(found > _MET, found, 0.0)


def least_losses(
    comparison: Comparison, ks: Sequence[int], limits: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Per way and k the release that loses least, of those for that k or a larger one."""
    found = [_least_of(replace(comparison, lines=(line,)), ks, limits) for line in comparison.lines]
    at_k, lost = zip(*found, strict=True)
    return np.array(at_k), np.array(lost)


def _least_of(
    alone: Comparison, ks: Sequence[int], limits: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    (line,) = alone.lines
    known = np.union1d(ks, known_from(line, min(ks))).astype(np.int64)
    lost = losses(alone, known.tolist())[0, 0]
    meets = known >= limits.get("k", 0)
    meets &= missed(lost, limits, line.best_l.get(alone.sensitive, 1.0)) == 0
    places = []
    for k in ks:
        enough = known >= k
        among = np.flatnonzero(enough & meets if (enough & meets).any() else enough)
        places.append(among[lost[among, 0].argmin()])
    return known[places], lost[places]


def known_from(line: Line, k: int) -> np.ndarray:
    (run,) = line.runs.values()
    if isinstance(run, Curves):
        return np.append(k, run.min_k[run.min_k > k])
    known = run.numbers["k"]
    return np.asarray(known[known >= k])
