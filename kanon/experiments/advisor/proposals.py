"""Up to three proposals: the best way by the weights, and what else one might rather want."""

from dataclasses import dataclass

import numpy as np

from kanon.base.formatting import joined, percent, thin
from kanon.base.rounding import write_decimals
from kanon.experiments.advisor.weights import WeighedWays, least_losses, scores, shares_of
from kanon.measures.comparing import as_shown

MOST = 3  # so many proposals at most

DIFFERENT = 1.0  # an alternative is better by at least so many points in what it is proposed for

_EVERYTHING = 99.95  # from here on it is shown as 100 %: every quasi-identifier is at its root

NEARLY_EVERYTHING = 90.0
"""Who loses so much of all that could be lost, in percent, loses nearly everything."""


@dataclass(frozen=True)
class Proposal:
    place: int  # its place among the ways
    # what it is proposed for: ``all`` as the best by the weights, or the concern in which it is
    # better than that one
    sake: str
    reason: str  # why, in a sentence with figures


def propose(weighed: WeighedWays) -> tuple[Proposal, ...]:
    """The best way by the weights, and at most two alternatives."""
    first = int(weighed.order[0])
    gains = []
    for column, concern in enumerate(weighed.concerns):
        for place in _best_for(weighed, concern):
            gain = float(weighed.losses[first, column] - weighed.losses[place, column])
            if gain >= DIFFERENT:
                gains.append((-gain, column, place))
                break
    found = {first: "all"}
    for _, column, place in sorted(gains):
        found.setdefault(place, weighed.concerns[column])
    return tuple(
        Proposal(place, sake, _because(weighed, place, first))
        for place, sake in list(found.items())[:MOST]
    )


def _best_for(weighed: WeighedWays, concern: str) -> list[int]:
    """The best if a concern mattered as much as all others together, and if it mattered alone."""
    shares = shares_of(weighed.weights, weighed.concerns).tolist()
    own = dict(zip(weighed.concerns, shares, strict=True))
    others = sum(shares) - own[concern]
    tried = [own | {concern: others}] if others > own[concern] else []
    found = []
    for weights in (*tried, {concern: 1.0}):
        order = weighed.weighed_by(weights).order
        found += order[weighed.losses[order, 0] < _EVERYTHING][:1].tolist()
    return found


def _because(weighed: WeighedWays, place: int, first: int) -> str:
    cheapest = int(np.lexsort((weighed.scores, weighed.losses[:, 0]))[0])
    other = cheapest if place == first else first
    own, its = weighed.figures(place), weighed.figures(other)
    average = ", on average over k" if len(weighed.ks) > 1 else ""
    if place == other:
        lost = percent(own["mean_alteration"])
        said = [f"nothing loses less than its {lost} of all that could be lost{average}"]
    else:
        than = "the cheapest way" if place == first else "the first proposal"
        said = [f"{_points(own['mean_alteration'] - its['mean_alteration'])} {than}{average}"]
    if weighed.comparison.sensitive:
        said += [
            f"the {which} class has {name} = {_beside(own[name], its[name])}"
            for which, name in (("least mixed", "l"), ("most unusual", "t"))
        ]
    whole = "; ".join(said)
    more = _at_larger_k(weighed, place)
    if own["mean_alteration"] >= _EVERYTHING:
        more += " Every quasi-identifier is at its root: such a release shows nothing of them."
    elif own["mean_alteration"] >= NEARLY_EVERYTHING:
        more += " It loses nearly everything."
    if weighed.limits and weighed.meets.any() and not weighed.meets[place]:
        more += f" It does not have what is asked of {joined(sorted(weighed.limits))}."
    return f"{whole[0].upper()}{whole[1:]}.{more}"


def _at_larger_k(weighed: WeighedWays, place: int) -> str:
    larger = int((weighed.at_k[place] > weighed.ks).sum())
    if not larger:
        return ""
    least = "loses least of those" + (" that have what is asked" if weighed.limits else "")
    if len(weighed.ks) == 1:
        k, asked = (thin(each) for each in (weighed.at_k[place, 0], weighed.ks[0]))
        return f" This is its release for k = {k}: it {least} for k = {asked} and more."
    return (
        f" For {thin(larger)} of {thin(len(weighed.ks))} k its release for a larger one counts, as "
        f"that {least}."
    )


def about_first(weighed: WeighedWays) -> str:
    first = int(weighed.order[0])
    lost = weighed.losses[:, 0]
    if lost[first] < NEARLY_EVERYTHING:
        return ""
    among = np.flatnonzero(weighed.meets == weighed.meets[first])
    least = int(among[lost[among].argmin()])
    said = (
        f"The first proposal loses nearly everything: {percent(float(lost[first]))} of all that "
        "could be lost."
    )
    if lost[first] - lost[least] < DIFFERENT:
        asked = " that has what is asked" if weighed.limits and weighed.meets[first] else ""
        return f"{said} No way{asked} loses less by a point."
    return (
        f"{said} {weighed.title(least)} loses least, {percent(float(lost[least]))}; more weight on "
        "the utility prefers it."
    )


def _points(more: float) -> str:
    if not (shown := round(abs(more), 1)):
        return "it loses as much as"
    unit = "point" if shown == 1 else "points"
    return f"it loses {shown:.1f} {unit} {'more' if more > 0 else 'less'} than"


def _beside(own: float, its: float) -> str:
    said, other = write_decimals(own, 2), write_decimals(its, 2)
    return said if said == other else f"{said} instead of {other}"


def about_limits(weighed: WeighedWays) -> str:
    """How many ways meet the limits; if none does, which one is the nearest. Nothing without."""
    if not weighed.limits:
        return ""
    alone = not weighed.comparison.sensitive
    names = [name for name in weighed.limits if name == "k" or not alone]
    asked = joined(
        f"{name} of at {'most' if name == 't' else 'least'} {weighed.limits[name]:g}"
        for name in sorted(names)
    )
    if not names:
        return "Without a sensitive column there is no class to have an l or a t."
    each = " at every one of the k" if len(weighed.ks) > 1 else ""
    met, near = int(weighed.meets.sum()), weighed.nearest
    if met:
        larger = int((weighed.meets & (weighed.at_k > weighed.ks).any(axis=1)).sum())
        more = f", {thin(larger)} of them by a release for a larger k" if larger else ""
        return (
            f"{thin(met)} of {thin(len(weighed.ways))} ways {'has' if met == 1 else 'have'} "
            f"{asked}{each}{more}; they come first."
        )
    worst = weighed.worst(near)
    reached = joined(f"{name} = {worst[name]:.{2 * (name != 'k')}f}" for name in sorted(names))
    return f"No way has {asked}{each}. The nearest is {weighed.ways[near].title} with {reached}."


def best_over_k(weighed: WeighedWays) -> np.ndarray:
    """At how many k each way is the best, alone or with others, by scores as they are shown."""
    _, lost = least_losses(weighed.comparison, weighed.comparison.ks, weighed.limits)
    found = as_shown(scores(lost, shares_of(weighed.weights, weighed.concerns)), 1)
    return np.asarray((found == found.min(axis=0)).sum(axis=1))
