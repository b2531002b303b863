"""What the sentences of the page say, each as a question to the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from benchmarks.simulated.measured import AS_IT_FITS, GUIDES, Findings, areas
from benchmarks.simulated.published import MEANS
from benchmarks.simulated.tables import agreement, alike, apart, off
from kanon.experiments.simulated.study import CRITERIA, STRATEGIES
from kanon.strategies import SCOPES

__all__ = ["CLAIMS"]

ALTERATION, L, T = range(3)
PRIVATE = [STRATEGIES.index(name) for name in ("s3", "s6")]


def _apart_from_others(means: np.ndarray, others: list[str]) -> bool:
    """Whether S3 and S6 alter more than some others, and have the higher l and the lower t."""
    rest = means[[STRATEGIES.index(name) for name in others]]
    own = means[PRIVATE]
    more = [(ALTERATION, 1), (L, 1), (T, -1)]
    return all((sign * own[:, f]).min() > (sign * rest[:, f]).max() for f, sign in more)


def _published_apart(_: Findings) -> bool:
    others = [STRATEGIES.index(name) for name in ("s1", "s2", "s4", "s7")]
    return all(
        MEANS[guide][PRIVATE, ALTERATION].min() > MEANS[guide][others, ALTERATION].max()
        for guide in GUIDES
    )


def _private_apart(found: Findings) -> bool:
    ours = [areas(found.of(guide, scope)) for guide, scope in product(GUIDES, SCOPES)]
    return all(_apart_from_others(our, ["s1", "s2", "s4", "s5", "s7"]) for our in ours)


def _s5_is_s6(found: Findings) -> bool:
    results = [np.nanmax(np.abs(apart(found, guide, "s5", "s6", "class"))) for guide in GUIDES]
    return bool(max(results) < 0.5)


def _altered_more(found: Findings) -> bool:
    return all(
        apart(found, guide, name, name, scope)[ALTERATION] > 7
        for guide, name, scope in product(GUIDES, ("s3", "s6"), SCOPES)
    )


def _nearest_as_it_fits(found: Findings) -> bool:
    return all(
        agreement(found, guide, name, AS_IT_FITS)[:2] > agreement(found, guide, name, scope)[:2]
        and agreement(found, guide, name, AS_IT_FITS)[1] > agreement(found, guide, name, scope)[1]
        for guide, name, scope in product(GUIDES, CRITERIA, SCOPES)
    )


def _s5_does_much(found: Findings) -> bool:
    for guide, name in product(GUIDES, CRITERIA):
        fitting, of_class = (
            agreement(found, guide, name, scope, all_of_them=False)[0]
            for scope in (AS_IT_FITS, "class")
        )
        if abs(fitting - of_class) >= 0.1:
            return False
    return True


def _others_level(found: Findings) -> bool:
    """Another draw turns at table scope who of S1, S2, S4 and S5 alters least."""
    level = [STRATEGIES.index(name) for name in ("s1", "s2", "s4", "s5")]
    first, second = (areas(found.of("nllm", "table", seed))[:, ALTERATION] for seed in (0, 1))
    turned = any(
        (first[a] - first[b]) * (second[a] - second[b]) < 0 for a, b in product(level, level)
    )
    private = [means[PRIVATE].min() > means[level].max() for means in (first, second)]
    return bool(turned and all(private))


CLAIMS: Mapping[str, Callable[[Findings], bool]] = {
    "S3 and S6 alter most and keep l and t best": _private_apart,
    "published, they alter most too, S5 apart": _published_apart,
    "S2 has nearly always the areas of S1 at table scope": lambda found: (
        min(alike(found, guide, "s1", "s2") for guide in GUIDES) >= 15
    ),
    "who of S1, S2, S4 and S5 is ahead means nothing, that S3 and S6 are apart does": _others_level,
    "what was published as S5 is S6 at class scope": _s5_is_s6,
    "our S5 alters far less": lambda found: (
        max(
            apart(found, guide, "s5", "s5", scope)[ALTERATION]
            for guide, scope in product(GUIDES, SCOPES)
        )
        < -20
    ),
    "S3 and S6 fit table scope in l and t": lambda found: (
        5 * off(found, ("s3", "s6"), "table", (L, T)) < off(found, ("s3", "s6"), "class", (L, T))
    ),
    "S3 and S6 alter more than is published, at either scope": _altered_more,
    "S7 fits class scope": lambda found: (
        off(found, ("s7",), "class") < off(found, ("s7",), "table")
    ),
    "taken as it fits, the ranks agree better than at either scope": _nearest_as_it_fits,
    "without S5 they agree about as well at class scope": _s5_does_much,
}
"""Per sentence of the page, in short, whether the figures bear it out."""
