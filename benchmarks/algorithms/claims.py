"""What docs/figures/algorithms.md says of the three searches, tested on what was measured.

The text is written by people and the figures by the command: a sentence that the figures no longer
bear out stops it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.algorithms.measured import SEARCHED, Findings
from benchmarks.algorithms.tables import LEVELS, LOST, NEWER, OLDER, mean
from kanon.experiments.searches import Searches, compute_time_ratio, count_comparisons

__all__ = ["CLAIMS", "figures"]

DATAFLY, SAMARATI = OLDER
PUBLISHED_HEIGHTS = SEARCHED[1]


def _runs(found: Findings, suppressed: bool | None = None, table: str = "") -> Iterator[Searches]:
    """The runs on one table or all, in which records may be suppressed, or may not, or both."""
    for (name, limit), its in found.searches.items():
        if table in ("", name) and suppressed in (None, limit > 0):
            yield its


def _less(its: Searches, measure: str, one: str, other: str) -> bool:
    """Whether one search has less of a measure on average than another."""
    return mean(its, measure, one) < mean(its, measure, other) * (1 - 1e-9)


def _gap(its: Searches, measure: str, other: str) -> float:
    """How much more Improved greedy has on average."""
    return mean(its, measure, NEWER) - mean(its, measure, other)


def _nodes(its: Searches, name: str) -> np.ndarray:
    own = its.over_columns[its.over_columns["algorithm"] == name].sort_values("columns")
    return own["nodes_evaluated"].to_numpy()


def figures(found: Findings) -> dict[str, float]:
    """The numbers in the sentences."""
    runs = list(_runs(found))
    rises = [
        (its.get_values(LEVELS, NEWER), its.get_values(LEVELS, DATAFLY), its.ks) for its in runs
    ]
    higher = [k for ours, theirs, ks in rises for k in np.array(ks)[ours > theirs].tolist()]
    shaped = list(_runs(found, True, PUBLISHED_HEIGHTS))
    gaps = [-_gap(its, LEVELS, DATAFLY) for its in shaped]
    lost = [_gap(its, LOST, SAMARATI) for its in runs]
    slower = [compute_time_ratio(its, NEWER, DATAFLY) for its in runs]
    slowest = [compute_time_ratio(its, SAMARATI, NEWER) for its in runs]
    (shape,) = _runs(found, False, PUBLISHED_HEIGHTS)
    nodes = _nodes(shape, SAMARATI)
    return {
        "runs": len(runs),
        "points": sum(len(its.ks) for its in runs),
        "as_samarati": sum(count_comparisons(its, LEVELS, NEWER, SAMARATI).equal for its in runs),
        "apart": max(int((its.get_values(LEVELS, NEWER) - its.get_values(LEVELS, SAMARATI)).max())
                     for its in runs),
        "upto": max(k for k in runs[0].ks if k < min(higher, default=np.inf)),
        "higher": len(higher),
        "gap_least": min(gaps),
        "gap_most": max(gaps),
        "top": sum(shape.tops),
        "worse_elsewhere": sum(_less(its, LEVELS, DATAFLY, NEWER) for its in runs),
        "samarati_least": sum(
            not any(_less(its, LOST, name, SAMARATI) for name in (NEWER, DATAFLY)) for its in runs
        ),
        "lost_least": min(lost),
        "lost_most": max(lost),
        "slower_least": min(slower),
        "slower_most": max(slower),
        "slowest_least": min(slowest),
        "slowest_most": max(slowest),
        "times_least": float((nodes[1:] / nodes[:-1]).min()),
        "times_most": float((nodes[1:] / nodes[:-1]).max()),
        "adds": int(np.diff(_nodes(shape, NEWER)).max()),
    }  # fmt: skip


def _more_at_the_same_level(found: Findings) -> bool:
    """Of the points at which both rise as many levels, whether there are more of greater loss."""
    less = more = 0
    for its in _runs(found):
        ours, theirs = its.get_values(LOST, NEWER), its.get_values(LOST, DATAFLY)
        same = (its.get_values(LEVELS, NEWER) == its.get_values(LEVELS, DATAFLY)) & ~np.isclose(
            ours, theirs
        )
        less, more = less + (same & (ours < theirs)).sum(), more + (same & (ours > theirs)).sum()
    return bool(more > less)


CLAIMS: Mapping[str, Callable[[Findings], bool]] = {
    "Samarati never rises more levels than the others": lambda found: (
        not any(
            count_comparisons(its, LEVELS, SAMARATI, [NEWER, DATAFLY]).more for its in _runs(found)
        )
    ),
    "where nothing is suppressed Improved greedy never rises more levels than Datafly": (
        lambda found: (
            not any(
                count_comparisons(its, LEVELS, NEWER, DATAFLY).more for its in _runs(found, False)
            )
        )
    ),
    "in the published heights Improved greedy rises fewer levels where records are suppressed": (
        lambda found: all(
            _less(its, LEVELS, NEWER, DATAFLY) for its in _runs(found, True, PUBLISHED_HEIGHTS)
        )
    ),
    "in the published heights both rise as many levels where nothing is suppressed": (
        lambda found: all(
            count_comparisons(its, LEVELS, NEWER, DATAFLY).equal == len(its.ks)
            for its in _runs(found, False, PUBLISHED_HEIGHTS)
        )
    ),
    "Improved greedy loses more than Samarati on average in every run": lambda found: all(
        _less(its, LOST, SAMARATI, NEWER) for its in _runs(found)
    ),
    "where records are suppressed Datafly loses less than Improved greedy on average": (
        lambda found: all(_less(its, LOST, DATAFLY, NEWER) for its in _runs(found, True))
    ),
    "with our hierarchies, nothing suppressed, Improved greedy loses less than Datafly": (
        lambda found: all(
            _less(its, LOST, NEWER, DATAFLY)
            for name in SEARCHED
            if name != PUBLISHED_HEIGHTS
            for its in _runs(found, False, name)
        )
    ),
    "in the published heights, nothing suppressed, Improved greedy loses more than Datafly": (
        lambda found: all(
            _less(its, LOST, DATAFLY, NEWER) for its in _runs(found, False, PUBLISHED_HEIGHTS)
        )
    ),
    "at the same level Improved greedy loses more than Datafly at more points than less": (
        _more_at_the_same_level
    ),
    "Datafly takes least time": lambda found: all(
        compute_time_ratio(its, other, DATAFLY) > 1
        for its in _runs(found)
        for other in (NEWER, SAMARATI)
    ),
    "Samarati takes most on Adult": lambda found: all(
        compute_time_ratio(its, SAMARATI, NEWER) > 1
        for name in SEARCHED[:2]
        for its in _runs(found, table=name)
    ),
}
"""Per sentence of the page, in short, whether the figures bear it out."""
