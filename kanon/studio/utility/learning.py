"""The session's learning experiments: settings, outcomes and sentences."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import short_title
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.base.rounding import round_apart, write_decimals
from kanon.charts.learning import NOTHING, find_best_per_k
from kanon.errors import PlanError, quote
from kanon.experiments.studies import (
    Experiment,
    choose_training_k,
    create_experiment,
    get_target_labels,
)
from kanon.experiments.sweep import check_k
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.experiments import Band, Fit, Outcome, bands, fits_of
from kanon.learning.labels import LabelledRecords
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES, default_score
from kanon.plan import Plan
from kanon.run import PreparedRun, prepare
from kanon.schema import Role
from kanon.studio.jobs.durations import Effort, measure_job
from kanon.studio.jobs.partial_results import request_study, run_fits
from kanon.studio.session.run_plan import build_plan, drop_unmeetable_models, hash_run_inputs
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState, get_metric
from kanon.studio.utility.state import LearningView

_how = Sections(__file__)

_MOST_LESSONS = 40  # so many experiments are remembered; the oldest are dropped


@dataclass(frozen=True, eq=False)
class LearningInputs:
    prepared: PreparedRun
    labels: LabelledRecords  # of the target
    settings: str  # a fingerprint of the plan, the table and the labels


class LearningTask(NamedTuple):
    experiment: Experiment
    fits: tuple[Fit, ...]
    known: tuple[Outcome, ...]  # the outcomes so far
    key: str  # a fingerprint of everything that they depend on

    @property
    def lacking(self) -> list[Fit]:
        trained = {fit.fit for fit in self.known}
        return [fit for fit in self.fits if fit not in trained]


def list_targets(work: SessionState) -> list[str]:
    insensitive = [name for name, role in work.table.roles.items() if role is Role.INSENSITIVE]
    return [*work.table.sensitive_columns, *insensitive]


def get_target(work: SessionState) -> str | None:
    """The chosen target, the sample's, or the first one; None if there is none."""
    targets = list_targets(work)
    sample = SAMPLES.get(work.table.origin)
    preferred = (
        work.view(LearningView).target,
        sample.target if sample is not None else "",
    )
    return next((name for name in (*preferred, *targets) if name in targets), None)


def plan_studies(work: SessionState) -> Plan:
    """The plan of the settings on Anonymise, without requirements whose column is lost."""
    return build_plan(drop_unmeetable_models(work))


def get_learning_key(work: SessionState) -> str:
    view = work.view(LearningView)
    return compute_fingerprint(
        hash_run_inputs(work, plan_studies(work)), get_target(work), view.share
    )


def build_learning_inputs(work: SessionState) -> LearningInputs:
    """The table, the plan and the labels; KanonError if no column can be the target."""
    target = get_target(work)
    if target is None:
        raise PlanError(
            "Every column is a quasi-identifier or an identifier, so there is no column to "
            "predict; make one sensitive or insensitive on the Data page."
        )
    prepared = prepare(plan_studies(work), work.table.records)
    labels = get_target_labels(prepared, target, work.view(LearningView).share)
    return LearningInputs(prepared, labels, get_learning_key(work))


def parse_typed_ks(text: str, most: int) -> tuple[int, ...]:
    """The typed k, rising, without those above ``most``; PlanError for anything else.

    >>> parse_typed_ks("10, 3 100000", 50)
    (3, 10)
    """
    parts = [part for part in re.split(r"[\s,;]+", text) if part]
    wrong = [part for part in parts if not part.isascii() or not part.isdigit()]
    if wrong:
        raise PlanError(
            f"{quote(wrong[0])} cannot be k; enter whole numbers of at least 2, separated by "
            "commas."
        )
    ks = [int(part[:12]) for part in parts]
    check_k(ks)
    ks_allowed = tuple(sorted(k for k in ks if k <= most))
    if not ks_allowed:
        raise PlanError(
            f"All these values of k are above {write_count(most)}, the largest k of "
            f"this table; enter at least one from 2 to {write_count(most)}."
        )
    return ks_allowed


def build_learning_task(work: SessionState, ground: LearningInputs) -> LearningTask:
    """The chosen experiment and its outcomes so far; KanonError says why it cannot run."""
    view = work.view(LearningView)
    ks = parse_typed_ks(view.ks, ground.prepared.classes.highest_k)
    experiment = create_experiment(
        ground.prepared, ks, ground.labels, view.classifier, view.trained
    )
    key = compute_fingerprint(ground.settings, ks, view.classifier, view.trained)
    fits = tuple(fits_of(view.trained, view.classifier, view.seeds))
    outcomes = tuple(
        outcome for outcome in work.findings.learnt.get(key, ()) if outcome.fit in fits
    )
    return LearningTask(experiment, fits, outcomes, key)


def build_learning_request(work: SessionState) -> JobRequest:
    lesson = build_learning_task(work, build_learning_inputs(work))
    arguments = (lesson.experiment, lesson.lacking)
    return request_study("learning", run_fits, arguments, store_outcomes, lesson.key)


def measure_learning(work: SessionState, lesson: LearningTask) -> Effort:
    fits = len(lesson.lacking) * len(lesson.experiment.ks)
    return measure_job(work, f"learning by {lesson.experiment.classifier}", fits)


def store_outcomes(work: SessionState, key: str, parts: Sequence[object]) -> SessionState:
    outcomes = {outcome.fit: outcome for outcome in work.findings.learnt.get(key, ())}
    outcomes |= {outcome.fit: outcome for outcome in parts if isinstance(outcome, Outcome)}
    others = {name: earlier for name, earlier in work.findings.learnt.items() if name != key}
    recent = dict([*others.items()][-(_MOST_LESSONS - 1) :])
    return work.replace_sections(
        replace(work.findings, learnt={**recent, key: tuple(outcomes.values())})
    )


def get_train_label(lesson: LearningTask) -> str:
    lacking = len(lesson.lacking)
    if lesson.known:
        return f"Continue: {write_count(lacking)} of {write_count(len(lesson.fits))} to train"
    kind = "network" if lesson.experiment.classifier == "mlp" else "classifier"
    return f"Train {count_noun(lacking, kind)}"


def get_score(view: LearningView, labels: LabelledRecords) -> str:
    return view.score or default_score(len(labels.labels))


def compute_bands(lesson: LearningTask, score: str, live: bool) -> dict[str, dict[str, Band]]:
    names = dict.fromkeys(fit.representation for fit in lesson.fits)
    all_bands = {name: bands(lesson.known, score, name, live) for name in names}
    return {name: curves for name, curves in all_bands.items() if curves}


def build_band_table(
    lesson: LearningTask, panels: Mapping[str, Mapping[str, Band]]
) -> pd.DataFrame:
    columns = {
        (f"{trained} → {name}" if len(panels) > 1 else name): [
            _write_mean_and_deviation(mean, deviation)
            for mean, deviation in zip(band.mean, band.deviation, strict=True)
        ]
        for trained, curves in panels.items()
        for name, band in curves.items()
    }
    return pd.DataFrame(columns, index=pd.Index(map(write_count, lesson.experiment.ks), name="k"))


def _write_mean_and_deviation(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "–"
    text = write_decimals(mean, 3)
    return text if np.isnan(deviation) else f"{text} ± {deviation:.3f}"


# --- sentences ------------------------------------------------------------------------------
def describe_ks(ks: Sequence[int]) -> str:
    """The chosen k in words.

    >>> describe_ks([3, 5, 10])
    '3 values of k, from 3 to 10.'
    """
    if len(ks) == 1:
        return f"k = {write_count(ks[0])}."
    return f"{len(ks)} values of k, from {write_count(ks[0])} to {write_count(ks[-1])}."


def describe_split(labels: LabelledRecords) -> str:
    training, validation = (
        int(part.records.sum()) for part in (labels.training, labels.validation)
    )
    sentence = (
        f"{write_count(training)} records for training, "
        f"the other {write_count(validation)} for validation."
    )
    if labels.unlabelled:
        apart = count_noun(
            labels.unlabelled,
            "record without a value of the target is",
            "records without a value of the target are",
        )
        sentence = f"{sentence} {apart} in neither part."
    return sentence


def describe_dead(outcomes: Sequence[Outcome]) -> str:
    dead = sum(outcome.dead for outcome in outcomes)
    if not dead:
        return ""
    return (
        f"{write_count(dead)} of {write_count(len(outcomes))} are dead: they give "
        "every record the same answer, even on the table that they were trained on."
    )


def warn_of_chance(
    before: Mapping[str, float], chance: float, score: str, labels: LabelledRecords
) -> str:
    """A warning if nothing can be learnt from these columns; else empty."""
    best = max(before.values(), default=float("nan"))
    if np.isnan(chance) or np.isnan(best) or best > chance + NOTHING:
        return ""
    return (
        f"{SCORES[score].title} is only {write_decimals(best, 3)} even on the training table, and "
        f"guessing by chance reaches {write_decimals(chance, 3)}. {quote(labels.target)} is hard "
        "to predict from these columns, at least as measured by this score. Choose another target "
        "or score."
    )


def describe_best_pair(
    panels: Mapping[str, Mapping[str, Band]], ks: Sequence[int], score: str
) -> str:
    means = pd.Series(
        {
            (training, validation): pd.Series(band.mean).mean()
            for training, curves in panels.items()
            for validation, band in curves.items()
        }
    ).dropna()
    if means.empty:
        return "No score could be computed."
    pairs = means.set_axis(
        [f"trained in {training} and validated in {name}" for training, name in means.index]
    )
    return (
        f"By the mean {SCORES[score].title} over {write_count(len(ks))} values of k, the best "
        f"training representation is {_list_best(means.groupby(level=0, sort=False).mean())}, the "
        "best validation representation is "
        f"{_list_best(means.groupby(level=1, sort=False).mean())}, and the best pair is "
        f"{_list_best(pairs)}."
    )


def _list_best(means: pd.Series) -> str:
    """The names with the highest number to three digits, and the number.

    >>> _list_best(pd.Series({"a": 0.5, "b": 0.5001, "c": 0.4}))
    'a and b alike (0.500)'
    """
    rounded = pd.Series(round_apart(means, 3), means.index)
    names = [*means.index[rounded == rounded.max()]]
    alike = " alike" if len(names) > 1 else ""
    return f"{' and '.join(names)}{alike} ({write_decimals(float(rounded.max()), 3)})"


PUBLISHED_1 = (
    "Published (Viton et al. 2021): proportional is the best validation representation at every "
    "k; beyond k = 5000 none keeps any utility on Adult."
)
PUBLISHED_2 = (
    "Published (Viton et al. 2021): the highest scores come from training in fillParent or "
    "proportional and validating in proportional."
)


def describe_highest(bands_by_name: Mapping[str, Band], ks: Sequence[int], chance: float) -> str:
    learnt = [
        (k, at) for k, at in zip(ks, find_best_per_k(bands_by_name, chance), strict=True) if at
    ]
    if not learnt:
        return "Nothing is learnt at any k."
    nothing = ", ".join(write_count(k) for k in ks if k not in {k for k, _ in learnt})
    behind = ", ".join(write_count(k) for k, at in learnt if "proportional" not in at)
    sentence = (
        f"At k = {behind}, another representation has a higher mean than the proportional one."
        if behind
        else "Where anything is learnt, no representation has a higher mean than the proportional "
        "one."
    )
    return f"{sentence} At k = {nothing}, nothing is learnt." if nothing else sentence


def explain_learning(work: SessionState, ground: LearningInputs) -> str:
    view, plan = work.view(LearningView), ground.prepared.plan
    card, score = CLASSIFIERS[view.classifier].card, SCORES[get_score(view, ground.labels)]
    binary = (
        "With two labels, the classifier looks for the rarer one, "
        f"“{escape_markdown(ground.labels.labels[ground.labels.positive])}”."
    )
    return _how(
        "learnt",
        share=write_percent(100 * view.share),
        algorithm=escape_markdown(short_title(plan.algorithm.name)),
        metric=escape_markdown(get_metric(work, plan.algorithm.metric).card.title),
        k=write_count(choose_training_k(ground.prepared.classes.highest_k)),
        representations="\n".join(
            f"- *{card_of.title}.* {escape_markdown(card_of.summary)}"
            for card_of in REPRESENTATIONS.values()
        ),
        classifier=escape_markdown(card.title),
        about_classifier=escape_markdown(card.summary),
        score=score.title,
        about_score=score.summary + (f" {binary}" if ground.labels.binary else ""),
    )
