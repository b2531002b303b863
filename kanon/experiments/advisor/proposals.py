"""Up to three proposals: the best by the weights, and alternatives that one might prefer."""

from dataclasses import dataclass

import numpy as np

from kanon.base.formatting import join_words, write_count, write_percent
from kanon.base.rounding import write_decimals
from kanon.experiments.advisor.weights import (
    Ranking,
    compute_scores,
    compute_weight_shares,
    find_least_losses,
)
from kanon.measures.comparing import round_to_digits

MOST = 3  # so many proposals at most

DIFFERENT = 1.0  # an alternative is better by at least so many points in what it is proposed for

_EVERYTHING = 99.95  # from here on it is shown as 100 %: every quasi-identifier is at its root

NEARLY_EVERYTHING = 90.0
"""From this alteration on, in percent, a release loses nearly everything."""


@dataclass(frozen=True)
class Proposal:
    place: int  # its place among the configurations
    # what it is proposed for: ``all`` as the best by the weights, or the concern in which it is
    # better than that one
    sake: str
    reason: str  # why, in a sentence with figures


def propose(ranking: Ranking) -> tuple[Proposal, ...]:
    first = int(ranking.order[0])
    gains = []
    for column, concern in enumerate(ranking.concerns):
        for place in _find_best_for(ranking, concern):
            gain = float(ranking.losses[first, column] - ranking.losses[place, column])
            if gain >= DIFFERENT:
                gains.append((-gain, column, place))
                break
    sake_by_place = {first: "all"}
    for _, column, place in sorted(gains):
        sake_by_place.setdefault(place, ranking.concerns[column])
    return tuple(
        Proposal(place, sake, _explain_proposal(ranking, place, first))
        for place, sake in list(sake_by_place.items())[:MOST]
    )


def _find_best_for(ranking: Ranking, concern: str) -> list[int]:
    """The best if a concern weighed as much as all others together, and if it alone counted."""
    shares = compute_weight_shares(ranking.weights, ranking.concerns).tolist()
    share_by_concern = dict(zip(ranking.concerns, shares, strict=True))
    others = sum(shares) - share_by_concern[concern]
    weightings = (
        [share_by_concern | {concern: others}] if others > share_by_concern[concern] else []
    )
    places = []
    for weights in (*weightings, {concern: 1.0}):
        order = ranking.apply_weights(weights).order
        places += order[ranking.losses[order, 0] < _EVERYTHING][:1].tolist()
    return places


def _explain_proposal(ranking: Ranking, place: int, first: int) -> str:
    cheapest = int(np.lexsort((ranking.scores, ranking.losses[:, 0]))[0])
    other = cheapest if place == first else first
    values, other_values = ranking.figures(place), ranking.figures(other)
    average = ", on average over k" if len(ranking.ks) > 1 else ""
    if place == other:
        alteration = write_percent(values["mean_alteration"])
        clauses = [f"no configuration loses less: {alteration} of all that could be lost{average}"]
    else:
        than = "the cheapest configuration" if place == first else "the first proposal"
        difference = values["mean_alteration"] - other_values["mean_alteration"]
        clauses = [f"{_compare_alteration(difference)} {than}{average}"]
    if ranking.comparison.sensitive:
        clauses += [
            f"the {which} class has {name} = {_compare_value(values[name], other_values[name])}"
            for which, name in (("least mixed", "l"), ("most unusual", "t"))
        ]
    sentence = "; ".join(clauses)
    additions = _describe_larger_k(ranking, place)
    if values["mean_alteration"] >= _EVERYTHING:
        additions += " Every quasi-identifier is at its root: the release says nothing about them."
    elif values["mean_alteration"] >= NEARLY_EVERYTHING:
        additions += " It loses nearly everything."
    if ranking.limits and ranking.meets.any() and not ranking.meets[place]:
        additions += f" It does not meet the limits on {join_words(sorted(ranking.limits))}."
    return f"{sentence[0].upper()}{sentence[1:]}.{additions}"


def _describe_larger_k(ranking: Ranking, place: int) -> str:
    larger, n_ks = int((ranking.at_k[place] > ranking.ks).sum()), len(ranking.ks)
    if not larger:
        return ""
    extent = f"k = {write_count(ranking.ks[0])}"
    if n_ks > 1:
        extent = f"{write_count(larger)} of {write_count(n_ks)} values of k"
    loss = "least of those that meet the limits" if ranking.limits else "less"
    return f" For {extent} its release for a larger k counts, because it loses {loss}."


def describe_first_warning(ranking: Ranking) -> str:
    first = int(ranking.order[0])
    alterations = ranking.losses[:, 0]
    if alterations[first] < NEARLY_EVERYTHING:
        return ""
    among = np.flatnonzero(ranking.meets == ranking.meets[first])
    least = int(among[alterations[among].argmin()])
    sentence = (
        "The first proposal loses nearly everything: "
        f"{write_percent(float(alterations[first]))} of all that could be lost."
    )
    if alterations[first] - alterations[least] < DIFFERENT:
        condition = " that meets the limits" if ranking.limits and ranking.meets[first] else ""
        return f"{sentence} No configuration{condition} loses at least a point less."
    return (
        f"{sentence} {ranking.title(least)} loses least, "
        f"{write_percent(float(alterations[least]))}; giving utility more weight favours it."
    )


def _compare_alteration(difference: float) -> str:
    if not (points := round(abs(difference), 1)):
        return "it loses as much as"
    unit = "point" if points == 1 else "points"
    return f"it loses {points:.1f} {unit} {'more' if difference > 0 else 'less'} than"


def _compare_value(value: float, other_value: float) -> str:
    text, other_text = write_decimals(value, 2), write_decimals(other_value, 2)
    return text if text == other_text else f"{text} instead of {other_text}"


def describe_limits(ranking: Ranking) -> str:
    """How many configurations meet the limits; if none, the nearest. Empty without limits."""
    if not ranking.limits:
        return ""
    no_sensitive = not ranking.comparison.sensitive
    names = [name for name in ranking.limits if name == "k" or not no_sensitive]
    limit_texts = join_words(
        f"{name} of at {'most' if name == 't' else 'least'} {ranking.limits[name]:g}"
        for name in sorted(names)
    )
    if not names:
        return "Without a sensitive column there is no l or t to limit."
    span = " at every k" if len(ranking.ks) > 1 else ""
    n_meeting, nearest = int(ranking.meets.sum()), ranking.nearest
    if n_meeting:
        larger = int((ranking.meets & (ranking.at_k > ranking.ks).any(axis=1)).sum())
        more = f", {write_count(larger)} of them with a release for a larger k" if larger else ""
        return (
            f"{write_count(n_meeting)} of {write_count(len(ranking.ways))} configurations "
            f"{'reaches' if n_meeting == 1 else 'reach'} {limit_texts}{span}{more}; "
            f"{'it is' if n_meeting == 1 else 'these are'} listed first."
        )
    worst = ranking.worst(nearest)
    reached = join_words(f"{name} = {worst[name]:.{2 * (name != 'k')}f}" for name in sorted(names))
    title = ranking.ways[nearest].title
    return f"No configuration reaches {limit_texts}{span}. The nearest is {title}, with {reached}."


def count_best_k(ranking: Ranking) -> np.ndarray:
    """At how many k each configuration is the best, alone or tied, by scores as displayed."""
    _, losses = find_least_losses(ranking.comparison, ranking.comparison.ks, ranking.limits)
    all_scores = round_to_digits(
        compute_scores(losses, compute_weight_shares(ranking.weights, ranking.concerns)), 1
    )
    return np.asarray((all_scores == all_scores.min(axis=0)).sum(axis=1))
