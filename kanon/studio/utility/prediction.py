"""Which measure predicts utility: the trials of a session, what is known of them, what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from kanon.algorithms.catalogue import short_title
from kanon.base.fingerprint import fingerprint_of
from kanon.base.formatting import counted, thin
from kanon.base.how_texts import Sections
from kanon.cards import Card
from kanon.errors import KanonError, PlanError
from kanon.experiments.studies import (
    LearntScores,
    Prediction,
    ReleaseMeasures,
    StudiedAlgorithm,
    Training,
    check_candidate,
    measures_of_points,
    points_table,
)
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.predicting import LEAST_K, agreements
from kanon.learning.scores import SCORES
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.run import PreparedRun
from kanon.studio.jobs.configurations import algorithms_offered
from kanon.studio.jobs.partial_results import learn_releases, study_request
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work
from kanon.studio.utility.learning import LearningInputs, ground_of, ks_typed, score_used
from kanon.studio.utility.state import UtilityView

_how = Sections(__file__)

_MOST_STUDIES = 100  # the findings on so many algorithms are remembered; the oldest give way

_ENDS = {"agreement": ("low", "high"), "at_equal_k": ("low_at_equal_k", "high_at_equal_k")}
"""The columns with the ends of the interval of each agreement."""


class Trials(NamedTuple):
    prediction: Prediction  # what a worker is given, with ``wanted``
    wanted: tuple[Training, ...]
    ks: tuple[int, ...]  # rising
    found: tuple[ReleaseMeasures | LearntScores, ...]  # what is known
    # per algorithm a fingerprint of all that its findings depend on but for k and classifiers
    keys: Mapping[str, str]

    @property
    def lacking(self) -> list[Training]:
        there = {one.wanted for one in self.found if isinstance(one, LearntScores)}
        return [one for one in self.wanted if one not in there]

    @property
    def chosen(self) -> list[ReleaseMeasures | LearntScores]:
        fits = set(self.wanted)
        releases = {(one.algorithm, one.k) for one in fits}
        return [
            one
            for one in self.found
            if (one.wanted in fits if isinstance(one, LearntScores) else one[:2] in releases)
        ]

    @property
    def known(self) -> str:
        """A fingerprint of which of the chosen fits are known."""
        there = sorted(str(one.wanted) for one in self.chosen if isinstance(one, LearntScores))
        return fingerprint_of(*there)

    def check(self) -> None:
        """Check that every algorithm can be run; PlanError names one that cannot, and why."""
        for candidate in self.prediction.candidates:
            try:
                check_candidate(candidate, self.ks)
            except KanonError as error:
                raise error.within(short_title(candidate.algorithm)) from None


def trials_of(work: Work, ground: LearningInputs) -> Trials:
    """The chosen trials and what is known of them; KanonError says why they cannot be run."""
    view = work.view(UtilityView).predicting
    names = [name for name in algorithms_offered() if name in view.algorithms]
    classifiers = [name for name in CLASSIFIERS if name in view.classifiers]
    if not names or not classifiers:
        raise PlanError("Choose at least one algorithm and one classifier.")
    ks = ks_typed(view.ks, ground.prepared.classes.highest_k)
    plans = [_plan_for(work, name) for name in names]
    prediction = Prediction(
        tuple(_candidate(ground.prepared, plan) for plan in plans),
        ground.labels,
        ground.prepared.source.histogram_of(ground.labels.target),
        tuple(metric_named(name) for name in PUBLISHED),
        view.representation,
    )
    about = (ground.labels.target, work.view(UtilityView).learning.share, view.representation)
    keys = {plan.algorithm.name: fingerprint_of(settings_of(work, plan), *about) for plan in plans}
    wanted = tuple(
        Training(name, k, classifier, 0) for name in names for k in ks for classifier in classifiers
    )
    found = tuple(one for key in keys.values() for one in work.findings.predicted.get(key, ()))
    return Trials(prediction, wanted, ks, found, keys)


def _plan_for(work: Work, algorithm: str) -> Plan:
    """The plan with another algorithm, for k-anonymity alone."""
    return plan_of(work.with_parts(replace(work.settings, algorithm=algorithm, models=())))


def _candidate(prepared: PreparedRun, plan: Plan) -> StudiedAlgorithm:
    return StudiedAlgorithm(plan.algorithm.name, replace(prepared, plan=plan).task())


def prediction_request(work: Work) -> Request:
    trials = trials_of(work, ground_of(work))
    trials.check()
    given = (trials.prediction, trials.lacking)
    return study_request("predicting", learn_releases, given, with_found, trials.keys)


def with_found(work: Work, keys: Mapping[str, str], parts: Sequence[object]) -> Work:
    found: dict[str, dict[object, ReleaseMeasures | LearntScores]] = {
        key: {_what(one): one for one in work.findings.predicted.get(key, ())}
        for key in keys.values()
    }
    for one in parts:
        if isinstance(one, LearntScores | ReleaseMeasures):
            found[keys[_what(one)[0]]][_what(one)] = one
    others = {key: each for key, each in work.findings.predicted.items() if key not in found}
    kept = dict([*others.items()][-_MOST_STUDIES:])
    new = {key: tuple(each.values()) for key, each in found.items()}
    return work.with_parts(replace(work.findings, predicted={**kept, **new}))


def _what(one: ReleaseMeasures | LearntScores) -> tuple[str, ...]:
    """What tells a finding from the others; its algorithm first."""
    own = one.wanted if isinstance(one, LearntScores) else one[:2]
    return tuple(map(str, own))


def to_run(trials: Trials) -> str:
    lacking, every = len(trials.lacking), len(trials.wanted)
    if lacking == every:
        return f"Train {counted(every, 'classifier')}"
    return f"Go on: {thin(lacking)} of {thin(every)} to train"


def measures_used(points: pd.DataFrame) -> dict[str, Card]:
    """The cards of the measures that every release has, by column."""
    cards = measures_of_points([metric_named(name) for name in PUBLISHED])
    return {name: card for name, card in cards.items() if name in points.columns}


def scored_points(trials: Trials, score: str) -> pd.DataFrame:
    points = points_table(trials.chosen, score)
    learned = [name for name in CLASSIFIERS if name in points.columns]
    return points.dropna(subset=learned).reset_index(drop=True)


def agreements_of(points: pd.DataFrame, measures: Mapping[str, Card]) -> pd.DataFrame:
    """How well each measure agrees with each classifier, the best measure overall first."""
    learned = [name for name in CLASSIFIERS if name in points.columns]
    found = agreements(points, measures, learned)
    order = found.groupby("measure")["agreement"].mean().sort_values(ascending=False)
    place = {name: at for at, name in enumerate(order.index)}
    return found.sort_values("measure", key=lambda names: names.map(place), kind="stable")


def best_measures(found: pd.DataFrame, what: str) -> list[str]:
    """The measures of the highest mean agreement over classifiers; equal to two digits is equal."""
    mean = found.groupby("measure", sort=False)[what].mean().dropna().round(2)
    return [str(name) for name in mean.index[mean == mean.max()]]


def agreement_title(found: pd.DataFrame, measures: Mapping[str, Card], score: str) -> str:
    best = best_measures(found, "agreement")
    own = found[found["measure"].isin(best[:1])]
    if not best or not (own["agreement"] > 0).all():
        return f"No measure agrees with {SCORES[score].title} for every classifier"
    named = measures[best[0]].title if len(best) == 1 else f"{len(best)} measures alike"
    agrees = "agrees" if len(best) == 1 else "agree"
    return f"{named} {agrees} most with {SCORES[score].title}"


def agreement_said(found: pd.DataFrame, measures: Mapping[str, Card]) -> list[str]:
    said = [
        _best_said(found, measures, "Over all releases", "agreement"),
        "Among releases for the same k nothing can be said: that needs three algorithms."
        if found["at_equal_k"].isna().all()
        else _best_said(
            found,
            measures,
            "Among releases for the same k, where only the algorithm differs",
            "at_equal_k",
        ),
    ]
    for name in ("non_uniform_entropy_bits", "conditional_entropy_bits"):
        own = found[found["measure"] == name]
        if len(own):
            said.append(_entropy_said(found, measures[name], own))
    measured = found["measure"].nunique()
    said.append(
        f"The best of {measured} measures looks better than it is: among so many, some agree "
        "by luck."
    )
    return said


def _best_said(found: pd.DataFrame, measures: Mapping[str, Card], where: str, what: str) -> str:
    best = best_measures(found, what)
    if not best:
        return f"{where}, no agreement could be taken."
    own = found[found["measure"] == best[0]]
    if not (own[what] > 0).all():
        return f"{where}, no measure orders them as every classifier does."
    numbers, named = _interval(own, what), measures[best[0]].title
    if len(best) == 1:
        return f"{where}, {named} orders them most as the classifiers do: {numbers}."
    others = counted(len(best) - 1, "other")
    return (
        f"{where}, {named}, and {others} as well, order them most as the classifiers do: {numbers}."
    )


def _place(found: pd.DataFrame, what: str, name: str) -> str:
    """Where a measure stands by its mean agreement to two digits; nothing without numbers."""
    mean = found.groupby("measure")[what].mean().dropna().round(2)
    if name not in mean.index:
        return ""
    better, alike = int((mean > mean[name]).sum()), int((mean == mean[name]).sum())
    place = f"{better + 1} of {len(mean)}"
    return f"{place}, shared by {alike}" if alike > 1 else place


def _entropy_said(found: pd.DataFrame, card: Card, own: pd.DataFrame) -> str:
    parts = []
    for where, what in (("over all releases", "agreement"), ("at equal k", "at_equal_k")):
        place = _place(found, what, card.name)
        if place:
            parts.append(f"{where} {_interval(own, what)}, place {place}")
    if not parts:
        return f"{card.title}: no agreement could be taken."
    return f"{card.title}, less of which should go with better scores: {'; '.join(parts)}."


def _interval(own: pd.DataFrame, what: str) -> str:
    low, high = _ENDS[what]
    least, most = (f"{end:.2f}".replace("-", "−") for end in (own[what].min(), own[what].max()))
    numbers = f"agreement {least}" if least == most else f"agreement {least} to {most}"
    if own[low].isna().all():
        return f"{numbers} (no interval: that needs at least {LEAST_K} k)"
    ends = [f"{end:.2f}".replace("-", "−") for end in (own[low].min(), own[high].max())]
    above = f"{thin(int((own[low] > 0).sum()))} of {counted(len(own), 'classifier')}"
    return f"{numbers} (95 % intervals within {ends[0]} to {ends[1]}, above 0 for {above})"


def how_predicted(work: Work, ground: LearningInputs, trials: Trials) -> str:
    score = SCORES[score_used(work.view(UtilityView).learning, ground.labels)]
    names = [short_title(one.algorithm) for one in trials.prediction.candidates]
    return _how(
        "predicted",
        algorithms=", ".join(map(plain, names)),
        ks=", ".join(thin(k) for k in trials.ks),
        form=trials.prediction.representation,
        score=score.title,
        about_score=score.summary,
        least_k=LEAST_K,
    )
