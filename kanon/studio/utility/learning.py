"""The experiments on learning of a session: their settings, what is known, what they say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import short_title
from kanon.base.fingerprint import fingerprint_of
from kanon.base.formatting import counted, one_or_many, percent, thin
from kanon.base.how_texts import Sections
from kanon.base.rounding import round_apart, write_decimals
from kanon.charts.learning import NOTHING, best_at
from kanon.errors import PlanError, quoted
from kanon.experiments.studies import Experiment, experiment_of, labels_of, trained_k
from kanon.experiments.sweep import check_k
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.experiments import Band, Fit, Outcome, bands, fits_of
from kanon.learning.labels import LabelledRecords
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES, default_score
from kanon.plan import Plan
from kanon.run import PreparedRun, prepare
from kanon.schema import Role
from kanon.studio.jobs.partial_results import learn_fits, study_request
from kanon.studio.session.run_plan import plan_of, settings_of, without_lost
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work, metric_called
from kanon.studio.utility.state import LearningView, UtilityView

_how = Sections(__file__)

_MOST_LESSONS = 40  # so many experiments are remembered; the oldest give way


@dataclass(frozen=True, eq=False)
class LearningInputs:
    prepared: PreparedRun
    labels: LabelledRecords  # what is to be learnt
    settings: str  # a fingerprint of the plan, the table and the labels


class LearningTask(NamedTuple):
    experiment: Experiment
    fits: tuple[Fit, ...]
    known: tuple[Outcome, ...]  # the outcomes so far
    key: str  # a fingerprint of all that they depend on

    @property
    def lacking(self) -> list[Fit]:
        there = {one.fit for one in self.known}
        return [one for one in self.fits if one not in there]


def targets_offered(work: Work) -> list[str]:
    """The columns that leave as they are: the sensitive ones first, then the others."""
    others = [name for name, role in work.table.roles.items() if role is Role.INSENSITIVE]
    return [*work.table.sensitive_columns, *others]


def target_used(work: Work) -> str | None:
    """The chosen target, the sample's, or the first that is offered; None if there is none."""
    offered = targets_offered(work)
    sample = SAMPLES.get(work.table.origin)
    wanted = (work.view(UtilityView).learning.target, sample.target if sample is not None else "")
    return next((name for name in (*wanted, *offered) if name in offered), None)


def plan_of_studies(work: Work) -> Plan:
    """The plan of what is chosen on Anonymise, without what no run meets."""
    return plan_of(without_lost(work))


def ground_key(work: Work) -> str:
    view = work.view(UtilityView).learning
    return fingerprint_of(settings_of(work, plan_of_studies(work)), target_used(work), view.share)


def ground_of(work: Work) -> LearningInputs:
    """The table, the plan and the labels; KanonError if no column can be the target."""
    target = target_used(work)
    if target is None:
        raise PlanError(
            "Every column is a quasi-identifier or an identifier, so none is left to be "
            "predicted; make one sensitive or insensitive on the page Data."
        )
    prepared = prepare(plan_of_studies(work), work.table.records)
    labels = labels_of(prepared, target, work.view(UtilityView).learning.share)
    return LearningInputs(prepared, labels, ground_key(work))


def ks_typed(text: str, most: int) -> tuple[int, ...]:
    """The k that were typed, rising, without those above ``most``; PlanError for anything else.

    >>> ks_typed("10, 3 100000", 50)
    (3, 10)
    """
    parts = [part for part in re.split(r"[\s,;]+", text) if part]
    wrong = [part for part in parts if not part.isascii() or not part.isdigit()]
    if wrong:
        raise PlanError(
            f"{quoted(wrong[0])} is no k; give whole numbers of at least 2, separated by commas."
        )
    ks = [int(part[:12]) for part in parts]
    check_k(ks)
    some = tuple(sorted(k for k in ks if k <= most))
    if not some:
        raise PlanError(
            f"No k is left: all that were given are above {thin(most)}, the largest that this "
            f"table allows; choose at least one from 2 to {thin(most)}."
        )
    return some


def lesson_of(work: Work, ground: LearningInputs) -> LearningTask:
    """The chosen experiment and its known outcomes; KanonError says why it cannot be run."""
    view = work.view(UtilityView).learning
    ks = ks_typed(view.ks, ground.prepared.classes.highest_k)
    experiment = experiment_of(ground.prepared, ks, ground.labels, view.classifier, view.trained)
    key = fingerprint_of(ground.settings, ks, view.classifier, view.trained)
    fits = tuple(fits_of(view.trained, view.classifier, view.seeds))
    known = tuple(one for one in work.findings.learnt.get(key, ()) if one.fit in fits)
    return LearningTask(experiment, fits, known, key)


def learning_request(work: Work) -> Request:
    lesson = lesson_of(work, ground_of(work))
    given = (lesson.experiment, lesson.lacking)
    return study_request("learning", learn_fits, given, with_outcomes, lesson.key)


def with_outcomes(work: Work, key: str, parts: Sequence[object]) -> Work:
    found = {one.fit: one for one in work.findings.learnt.get(key, ())}
    found |= {one.fit: one for one in parts if isinstance(one, Outcome)}
    others = {name: each for name, each in work.findings.learnt.items() if name != key}
    kept = dict([*others.items()][-(_MOST_LESSONS - 1) :])
    return work.with_parts(replace(work.findings, learnt={**kept, key: tuple(found.values())}))


def remaining(lesson: LearningTask) -> str:
    lacking = len(lesson.lacking)
    if lesson.known:
        return f"Go on: {thin(lacking)} of {thin(len(lesson.fits))} to train"
    what = "network" if lesson.experiment.classifier == "mlp" else "classifier"
    return f"Train {counted(lacking, what)}"


def score_used(view: LearningView, labels: LabelledRecords) -> str:
    """The chosen score, or the one that fits the number of labels."""
    return view.score or default_score(len(labels.labels))


def bands_of(lesson: LearningTask, score: str, live: bool) -> dict[str, dict[str, Band]]:
    names = dict.fromkeys(one.representation for one in lesson.fits)
    found = {name: bands(lesson.known, score, name, live) for name in names}
    return {name: each for name, each in found.items() if each}


def band_table(lesson: LearningTask, score: str) -> pd.DataFrame:
    """Mean and deviation per k, of all networks and of the live ones: for reading."""
    several = lesson.experiment.trained == "release"
    table: dict[str, list[str]] = {"k": [thin(k) for k in lesson.experiment.ks]}
    dead = any(one.dead for one in lesson.known)
    for live in (False, True) if dead else (False,):
        for trained, found in bands_of(lesson, score, live).items():
            for name, band in found.items():
                title = f"{trained} → {name}" if several else name
                ends = f", {band.fits} live" if live else (", all" if dead else "")
                table[f"{title}{ends}"] = [
                    _shown(mean, deviation)
                    for mean, deviation in zip(band.mean, band.deviation, strict=True)
                ]
    return pd.DataFrame(table).set_index("k")


def _shown(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "–"
    said = write_decimals(mean, 3)
    return said if np.isnan(deviation) else f"{said} ± {deviation:.3f}"


# --- sentences ------------------------------------------------------------------------------
def ks_said(ks: Sequence[int]) -> str:
    """Which k are chosen.

    >>> ks_said([3, 5, 10])
    '3 k from 3 to 10.'
    """
    if len(ks) == 1:
        return f"k = {thin(ks[0])}."
    return f"{len(ks)} k from {thin(ks[0])} to {thin(ks[-1])}."


def split_said(labels: LabelledRecords) -> str:
    training, validation = (
        int(part.records.sum()) for part in (labels.training, labels.validation)
    )
    said = f"{thin(training)} records train, the other {thin(validation)} validate."
    if labels.unlabelled:
        apart = one_or_many(
            labels.unlabelled,
            "{count} record without a value of the target is in neither part.",
            "{count} records without a value of the target are in neither part.",
        )
        said = f"{said} {apart}"
    return said


def dead_said(known: Sequence[Outcome]) -> str:
    dead = sum(one.dead for one in known)
    if not dead:
        return ""
    return (
        f"{thin(dead)} of {thin(len(known))} came out dead: they give every record the same "
        "answer already on the table that they were trained on."
    )


def chance_said(
    before: Mapping[str, float], chance: float, score: str, labels: LabelledRecords
) -> str:
    """Whether there is anything to be learnt at all; nothing to say if there is."""
    best = max(before.values(), default=float("nan"))
    if np.isnan(chance) or np.isnan(best) or best > chance + NOTHING:
        return ""
    return (
        f"{SCORES[score].title} is {write_decimals(best, 3)} already on the table that was "
        f"trained on, and who knows nothing reaches {write_decimals(chance, 3)}: "
        f"{quoted(labels.target)} can hardly be predicted from these columns, or not by this "
        "score. Choose another target or score."
    )


def best_said(panels: Mapping[str, Mapping[str, Band]], ks: Sequence[int], score: str) -> str:
    cells = {
        (one, name): _mean(band.mean)
        for one, found in panels.items()
        for name, band in found.items()
    }
    if all(np.isnan(value) for value in cells.values()):
        return "No score could be taken."
    sides = [
        {name: _mean([value for key, value in cells.items() if key[at] == name]) for name in names}
        for at, names in ((0, panels), (1, REPRESENTATIONS))
    ]
    trained, validated = map(_best_of, sides)
    pairs = {f"trained in {one} and validated in {name}": x for (one, name), x in cells.items()}
    return (
        f"By the mean {SCORES[score].title} over {thin(len(ks))} k: best to train on is "
        f"{trained}; best to validate on is {validated}; the best pair is {_best_of(pairs)}."
    )


def _mean(values: Sequence[float] | np.ndarray) -> float:
    there = [value for value in values if not np.isnan(value)]
    return sum(there) / len(there) if there else float("nan")


def _best_of(values: Mapping[str, float]) -> str:
    """What has the highest number to three digits, all of them if several have, and the number.

    >>> _best_of({"a": 0.5, "b": 0.5001, "c": 0.4})
    'a and b alike (0.500)'
    """
    rounded = {
        name: float(round_apart(value, 3)) for name, value in values.items() if not np.isnan(value)
    }
    most = max(rounded.values())
    names = [name for name, value in rounded.items() if value == most]
    listed = " and ".join(names)
    if len(names) > 1:
        listed = f"{listed} alike"
    return f"{listed} ({write_decimals(most, 3)})"


PUBLISHED_1 = (
    "Published (Viton et al. 2021): proportional is best to validate on at every k; beyond k = "
    "5000 none keeps any utility on Adult."
)
PUBLISHED_2 = (
    "Published (Viton et al. 2021): the highest values are trained in fillParent or "
    "proportional, and validated in proportional."
)


def highest_said(found: Mapping[str, Band], ks: Sequence[int], chance: float) -> str:
    learnt = [(k, at) for k, at in zip(ks, best_at(found, chance), strict=True) if at]
    if not learnt:
        return "At no k anything is learnt."
    nothing = ", ".join(thin(k) for k in ks if k not in {k for k, _ in learnt})
    behind = ", ".join(thin(k) for k, at in learnt if "proportional" not in at)
    if behind:
        said = f"At k = {behind} another one has a higher mean than proportional."
    elif nothing:
        said = "No representation has a higher mean than proportional wherever anything is learnt."
    else:
        said = "No representation has a higher mean than proportional at every k."
    return f"{said} At k = {nothing} nothing is learnt." if nothing else said


def how_learnt(work: Work, ground: LearningInputs) -> str:
    view, plan = work.view(UtilityView).learning, ground.prepared.plan
    card, score = CLASSIFIERS[view.classifier].card, SCORES[score_used(view, ground.labels)]
    binary = (
        f"With two labels, “{plain(ground.labels.labels[ground.labels.positive])}” is looked for, "
        "the rarer one."
    )
    return _how(
        "learnt",
        share=percent(100 * view.share),
        algorithm=plain(short_title(plan.algorithm.name)),
        metric=plain(metric_called(work, plan.algorithm.metric).card.title),
        k=thin(trained_k(ground.prepared.classes.highest_k)),
        representations="\n".join(
            f"- *{one.title}.* {plain(one.summary)}" for one in REPRESENTATIONS.values()
        ),
        classifier=plain(card.title),
        about_classifier=plain(card.summary),
        score=score.title,
        about_score=score.summary + (f" {binary}" if ground.labels.binary else ""),
    )
