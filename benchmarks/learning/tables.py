"""The tables of docs/figures/utility.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from benchmarks.learning.measured import Lesson
from benchmarks.markdown import table, thousands
from kanon.cards import Card
from kanon.charts.learning import find_best_per_k
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.experiments import Band, bands
from kanon.learning.representations import REPRESENTATIONS

__all__ = [
    "agreement",
    "dead",
    "experiment_one",
    "experiment_two",
    "in_order",
    "largest_k",
    "not_best",
    "pairs",
    "panel",
]


def _cell(band: Band, place: int) -> str:
    return f"{band.mean[place]:.3f} ± {band.deviation[place]:.3f}"


def dead(lesson: Lesson) -> int:
    """How many networks came out dead."""
    return sum(outcome.dead for outcome in lesson.outcomes)


def experiment_one(lesson: Lesson, live: bool) -> str:
    """Mean and deviation per k and representation; the best of each k in bold."""
    found = bands(lesson.outcomes, lesson.score, "proportional", live)
    best = find_best_per_k(found)
    rows = [
        [
            thousands(k),
            *(
                f"**{_cell(band, place)}**" if name in best[place] else _cell(band, place)
                for name, band in found.items()
            ),
        ]
        for place, k in enumerate(lesson.ks)
    ]
    return table(["k", *found], rows)


def not_best(lesson: Lesson, live: bool = False) -> list[int]:
    """The k at which another representation is better than the proportional one."""
    best = find_best_per_k(bands(lesson.outcomes, lesson.score, "proportional", live))
    return [k for k, names in zip(lesson.ks, best, strict=True) if "proportional" not in names]


def highest(lesson: Lesson, live: bool) -> float:
    """The highest mean score of any release and representation."""
    found = bands(lesson.outcomes, lesson.score, "proportional", live)
    return float(np.nanmax([band.mean for band in found.values()]))


def largest_k(lesson: Lesson, above: float) -> int:
    """The largest k at which some representation is above a score; 0 if none is."""
    found = bands(lesson.outcomes, lesson.score, "proportional", live=True)
    high = np.max([band.mean for band in found.values()], axis=0)
    return max((k for k, value in zip(lesson.ks, high, strict=True) if value > above), default=0)


def pairs(lesson: Lesson, live: bool, most_k: int = 5000) -> dict[tuple[str, str], float]:
    """The mean score over k up to one, per representation trained in and validated in."""
    results = [place for place, k in enumerate(lesson.ks) if k <= most_k]
    found = {}
    for trained in REPRESENTATIONS:
        for name, band in bands(lesson.outcomes, lesson.score, trained, live).items():
            found[trained, name] = float(band.mean[results].mean())
    return found


def in_order(lesson: Lesson) -> list[tuple[str, str]]:
    """What was trained in and validated in, the highest mean of the live networks first."""
    found = pairs(lesson, live=True)
    return sorted(found, key=lambda key: -found[key])


def experiment_two(lesson: Lesson, live: bool) -> str:
    """The means of :func:`pairs`, and of each column."""
    found = pairs(lesson, live)
    names = list(REPRESENTATIONS)
    rows = []
    for trained in names:
        own = [found.get((trained, name), np.nan) for name in names]
        rows.append([trained, *(f"{value:.3f}" for value in own)])
    means = [np.nanmean([found.get((one, name), np.nan) for one in names]) for name in names]
    rows.append(["mean", *(f"{value:.3f}" for value in means)])
    return table(["trained in \\ validated in", *names], rows)


def panel(lesson: Lesson, trained: str, live: bool = True) -> str:
    """One panel of experiment 2: mean and deviation per k and representation validated in."""
    found = bands(lesson.outcomes, lesson.score, trained, live)
    rows = [
        [thousands(k), *(_cell(band, place) for band in found.values())]
        for place, k in enumerate(lesson.ks)
    ]
    return table(["k", *found], rows)


def agreement(found: pd.DataFrame, measures: Mapping[str, Card], what: str = "") -> str:
    """The agreement of every measure with every classifier, with its interval.

    Parameters
    ----------
    found
        See :func:`kanon.learning.predicting.measure_agreements`.
    measures
        The cards.
    what
        Empty for that over all releases, ``_at_equal_k`` for the other one.
    """
    value = "at_equal_k" if what else "agreement"
    names: Sequence[str] = list(dict.fromkeys(found["score"]))
    rows = []
    for measure in dict.fromkeys(found["measure"]):
        own = found[found["measure"] == measure].set_index("score")
        cells = [
            f"{own.loc[name, value]:.2f} [{own.loc[name, f'low{what}']:.2f}, "
            f"{own.loc[name, f'high{what}']:.2f}]".replace("-", "−")
            if not np.isnan(own.loc[name, value])
            else "–"
            for name in names
        ]
        rows.append([measures[measure].title, *cells])
    return table(["measure", *(CLASSIFIERS[name].card.title for name in names)], rows)
