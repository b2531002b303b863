"""What the sentences of the page say, each as a question to the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.learning.measured import CLASSIFIERS, Findings, Lesson
from benchmarks.learning.tables import in_order, pairs
from kanon.learning.experiments import bands
from kanon.learning.representations import REPRESENTATIONS
from kanon.studio.utility.prediction_panel import compute_agreements, select_measures

__all__ = ["CLAIMS"]

_BOTH = ("proportional", "proportional")
_PARENT = ("fillParent", "proportional")


def _second(found: Findings) -> Lesson:
    return found.lessons["adult", "release"]


def _at(lesson: Lesson, low: int, high: int) -> dict[tuple[str, str], np.ndarray]:
    """The means of the live networks at k from one to another, by pairs as in ``pairs``."""
    results = [place for place, k in enumerate(lesson.ks) if low <= k <= high]
    return {
        (trained, name): band.mean[results]
        for trained in REPRESENTATIONS
        for name, band in bands(lesson.outcomes, lesson.score, trained, live=True).items()
    }


def _highest(found: Findings) -> bool:
    at = _at(_second(found), 4, 5000)
    most = np.max([*at.values()], axis=0)
    return bool((at[_BOTH] >= most - 0.0005).all()) and in_order(_second(found))[0] == _BOTH


def _parent_comes_near(found: Findings) -> bool:
    near, far = (_at(_second(found), *ks) for ks in ((500, 5000), (4, 100)))
    return bool(
        (near[_BOTH] - near[_PARENT] < 0.01).all() and (far[_BOTH] - far[_PARENT]).mean() > 0.02
    )


def _validated_in_proportional(found: Findings) -> bool:
    own = pairs(_second(found), live=True)
    best = {
        representation: max(REPRESENTATIONS, key=lambda name: own[representation, name])
        for representation in REPRESENTATIONS
    }
    means = {
        name: np.mean([own[representation, name] for representation in REPRESENTATIONS])
        for name in REPRESENTATIONS
    }
    order = sorted(means, key=lambda name: -means[name])
    return order[:2] == ["proportional", "fillParent"] and best == dict.fromkeys(
        REPRESENTATIONS, "proportional"
    )


def _none_is_irrelevant(found: Findings) -> bool:
    own = pairs(_second(found), live=True)
    rows = [own[one, name] for one in ("oneClass", "fillChild") for name in REPRESENTATIONS]
    return min(rows) > 0.7 and own["oneClass", "proportional"] > own[_PARENT]


def _fill_child_is_worst(found: Findings) -> bool:
    own = pairs(_second(found), live=True)
    return all(
        min(REPRESENTATIONS, key=lambda name: own[representation, name]) == "fillChild"
        for representation in REPRESENTATIONS
        if representation != "fillChild"
    )


def _nearly_every_measure_agrees(found: Findings) -> bool:
    for points in found.points.values():
        agreed = compute_agreements(points, select_measures(points))
        own = agreed[agreed["score"].isin(CLASSIFIERS)]["agreement"].dropna()
        if (own > 0).mean() < 0.9:
            return False
    return True


CLAIMS: Mapping[str, Callable[[Findings], bool]] = {
    "what is trained and validated in proportional is the highest from k = 4 to 5,000": _highest,
    "trained in fillParent it comes near for k of 500 and more alone": _parent_comes_near,
    "proportional is the best to validate in, whatever is trained in": _validated_in_proportional,
    "oneClass and fillChild are not irrelevant to train in": _none_is_irrelevant,
    "fillChild is the worst to validate in for what is trained in another": _fill_child_is_worst,
    "over all releases nearly every measure agrees": _nearly_every_measure_agrees,
}
"""Per sentence of the page, in short, whether the figures bear it out."""
