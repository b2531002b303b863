"""Which measure predicts: the part of the Utility page about measures against scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import NamedTuple

import pandas as pd
import streamlit as st

from kanon.algorithms.catalogue import short_title
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import count_noun, write_count
from kanon.base.how_texts import Sections
from kanon.cards import Card
from kanon.charts.learning import draw_agreement, draw_predictions
from kanon.errors import KanonError, PlanError
from kanon.experiments.studies import (
    LearntScores,
    Prediction,
    ReleaseMeasures,
    StudiedAlgorithm,
    Training,
    build_points_table,
    check_candidate,
    list_point_measures,
)
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.predicting import LEAST_K, measure_agreements
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES
from kanon.metrics import PUBLISHED, metric_named
from kanon.studio.jobs.configurations import list_offered_algorithms
from kanon.studio.jobs.durations import measure_job
from kanon.studio.jobs.partial_results import request_study, run_predictions
from kanon.studio.session import state
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.utility.learning import (
    LearningInputs,
    build_learning_inputs,
    describe_ks,
    describe_split,
    get_score,
    parse_typed_ks,
)
from kanon.studio.utility.learning_panel import (
    choose_score,
    choose_target,
    get_inputs_or_problem,
    show_ks_field,
    show_no_inputs,
)
from kanon.studio.utility.state import LearningView, PredictingView
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.progress import draw_start_button, show_earlier_study

_how = Sections(__file__)

_MOST_STUDIES = 100  # the results of so many algorithms are remembered; the oldest are dropped

_ENDS = {"agreement": ("low", "high"), "at_equal_k": ("low_at_equal_k", "high_at_equal_k")}
"""By agreement, the columns with the ends of its interval."""


class Trials(NamedTuple):
    prediction: Prediction  # the worker's input, with ``wanted``
    wanted: tuple[Training, ...]
    ks: tuple[int, ...]  # rising
    found: tuple[ReleaseMeasures | LearntScores, ...]  # the results so far
    # per algorithm a fingerprint of all that its results depend on, except k and classifiers
    keys: Mapping[str, str]

    @property
    def lacking(self) -> list[Training]:
        trained = {training.wanted for training in self.found if isinstance(training, LearntScores)}
        return [training for training in self.wanted if training not in trained]

    @property
    def chosen(self) -> list[ReleaseMeasures | LearntScores]:
        fits = set(self.wanted)
        releases = {(item.algorithm, item.k) for item in fits}
        return [
            item
            for item in self.found
            if (item.wanted in fits if isinstance(item, LearntScores) else item[:2] in releases)
        ]

    @property
    def known(self) -> str:
        """A fingerprint of the chosen fits that have results."""
        texts = sorted(str(item.wanted) for item in self.chosen if isinstance(item, LearntScores))
        return compute_fingerprint(*texts)


def build_trials(work: SessionState, ground: LearningInputs) -> Trials:
    """The chosen trials and their results so far; KanonError says why they cannot run."""
    view = work.view(PredictingView)
    names = [name for name in list_offered_algorithms() if name in view.algorithms]
    classifiers = [name for name in CLASSIFIERS if name in view.classifiers]
    if not names or not classifiers:
        raise PlanError("Choose at least one algorithm and one classifier.")
    ks = parse_typed_ks(view.ks, ground.prepared.classes.highest_k)
    free = replace(work.settings, models=())
    plans = [build_plan(work.replace_sections(replace(free, algorithm=name))) for name in names]
    prediction = Prediction(
        tuple(
            StudiedAlgorithm(plan.algorithm.name, replace(ground.prepared, plan=plan).task())
            for plan in plans
        ),
        ground.labels,
        ground.prepared.source.build_column_histogram(ground.labels.target),
        tuple(metric_named(name) for name in PUBLISHED),
        view.representation,
    )
    about = (ground.labels.target, work.view(LearningView).share, view.representation)
    keys = {
        plan.algorithm.name: compute_fingerprint(hash_run_inputs(work, plan), *about)
        for plan in plans
    }
    trainings = tuple(
        Training(name, k, classifier, 0) for name in names for k in ks for classifier in classifiers
    )
    results = tuple(
        item for key in keys.values() for item in work.findings.predictions.get(key, ())
    )
    return Trials(prediction, trainings, ks, results, keys)


def build_prediction_request(work: SessionState) -> JobRequest:
    trials = build_trials(work, build_learning_inputs(work))
    for candidate in trials.prediction.candidates:
        try:
            check_candidate(candidate, trials.ks)
        except KanonError as error:
            raise error.add_place(short_title(candidate.algorithm)) from None
    arguments = (trials.prediction, trials.lacking)
    return request_study("predicting", run_predictions, arguments, store_predictions, trials.keys)


def store_predictions(
    work: SessionState, keys: Mapping[str, str], parts: Sequence[object]
) -> SessionState:
    by_key: dict[str, dict[object, ReleaseMeasures | LearntScores]] = {
        key: {_get_identity(result): result for result in work.findings.predictions.get(key, ())}
        for key in keys.values()
    }
    for result in parts:
        if isinstance(result, LearntScores | ReleaseMeasures):
            by_key[keys[_get_identity(result)[0]]][_get_identity(result)] = result
    others = {key: items for key, items in work.findings.predictions.items() if key not in by_key}
    recent = dict([*others.items()][-_MOST_STUDIES:])
    new = {key: tuple(items.values()) for key, items in by_key.items()}
    return work.replace_sections(replace(work.findings, predictions={**recent, **new}))


def _get_identity(result: ReleaseMeasures | LearntScores) -> tuple[str, ...]:
    """The identity of a result, its algorithm first."""
    own = result.wanted if isinstance(result, LearntScores) else result[:2]
    return tuple(map(str, own))


def get_trials_label(trials: Trials) -> str:
    lacking, every = len(trials.lacking), len(trials.wanted)
    if lacking == every:
        return f"Train {count_noun(every, 'classifier')}"
    return f"Continue: {write_count(lacking)} of {write_count(every)} to train"


def select_measures(points: pd.DataFrame) -> dict[str, Card]:
    """The cards of the measures that every release has, by column."""
    cards = list_point_measures([metric_named(name) for name in PUBLISHED])
    return {name: card for name, card in cards.items() if name in points.columns}


def build_scored_points(trials: Trials, score: str) -> pd.DataFrame:
    points = build_points_table(trials.chosen, score)
    classifiers = [name for name in CLASSIFIERS if name in points.columns]
    return points.dropna(subset=classifiers).reset_index(drop=True)


def compute_agreements(points: pd.DataFrame, measures: Mapping[str, Card]) -> pd.DataFrame:
    """The agreement of each measure with each classifier, the best measure first."""
    classifiers = [name for name in CLASSIFIERS if name in points.columns]
    table = measure_agreements(points, measures, classifiers)
    order = table.groupby("measure")["agreement"].mean().sort_values(ascending=False)
    place = {name: at for at, name in enumerate(order.index)}
    return table.sort_values("measure", key=lambda names: names.map(place), kind="stable")


def find_best_measures(table: pd.DataFrame, column: str) -> list[str]:
    mean = table.groupby("measure", sort=False)[column].mean().dropna().round(2)
    return [str(name) for name in mean.index[mean == mean.max()]]


def describe_best_measure(table: pd.DataFrame, measures: Mapping[str, Card], score: str) -> str:
    best = find_best_measures(table, "agreement")
    own = table[table["measure"].isin(best[:1])]
    if not best or not (own["agreement"] > 0).all():
        return f"No measure agrees with {SCORES[score].title} for every classifier"
    name = measures[best[0]].title if len(best) == 1 else f"{len(best)} measures alike"
    agrees = "agrees" if len(best) == 1 else "agree"
    return f"{name} {agrees} most with {SCORES[score].title}"


def describe_agreements(table: pd.DataFrame, measures: Mapping[str, Card]) -> list[str]:
    sentences = [
        _describe_best(table, measures, "Over all releases", "agreement"),
        "For releases with the same k there is no result: that needs at least three algorithms."
        if table["at_equal_k"].isna().all()
        else _describe_best(
            table,
            measures,
            "Among releases with the same k, where only the algorithm differs",
            "at_equal_k",
        ),
    ]
    for name in ("non_uniform_entropy_bits", "conditional_entropy_bits"):
        own = table[table["measure"] == name]
        if len(own):
            sentences.append(_describe_entropy(table, measures[name], own))
    measured = table["measure"].nunique()
    sentences.append(
        f"The best of {measured} measures looks better than it is: among so many, some agree by "
        "luck."
    )
    return sentences


def _describe_best(
    table: pd.DataFrame, measures: Mapping[str, Card], where: str, column: str
) -> str:
    best = find_best_measures(table, column)
    if not best:
        return f"{where}, no agreement could be computed."
    own = table[table["measure"] == best[0]]
    if not (own[column] > 0).all():
        return f"{where}, no measure agrees with every classifier on which release is better."
    numbers, title = _write_interval(own, column), measures[best[0]].title
    if len(best) == 1:
        return f"{where}, {title} comes closest to the classifiers' rankings: {numbers}."
    others = count_noun(len(best) - 1, "other")
    return f"{where}, {title} and {others} come closest to the classifiers' rankings: {numbers}."


def _describe_rank(table: pd.DataFrame, column: str, name: str) -> str:
    """The rank of a measure by its mean agreement to two digits; empty without numbers."""
    mean = table.groupby("measure")[column].mean().dropna().round(2)
    if name not in mean.index:
        return ""
    better, alike = int((mean > mean[name]).sum()), int((mean == mean[name]).sum())
    place = f"{better + 1} of {len(mean)}"
    return f"{place}, shared by {alike}" if alike > 1 else place


def _describe_entropy(table: pd.DataFrame, card: Card, own: pd.DataFrame) -> str:
    parts = []
    for where, column in (("over all releases", "agreement"), ("at equal k", "at_equal_k")):
        place = _describe_rank(table, column, card.name)
        if place:
            parts.append(f"{where} {_write_interval(own, column)}, place {place}")
    if not parts:
        return f"{card.title}: no agreement could be computed."
    return f"{card.title} (lower should mean better scores): {'; '.join(parts)}."


def _write_interval(own: pd.DataFrame, column: str) -> str:
    low, high = _ENDS[column]
    least, most = (f"{end:.2f}".replace("-", "−") for end in (own[column].min(), own[column].max()))
    numbers = f"agreement {least}" if least == most else f"agreement {least} to {most}"
    if own[low].isna().all():
        return f"{numbers} (no interval: it needs at least {LEAST_K} k)"
    ends = [f"{end:.2f}".replace("-", "−") for end in (own[low].min(), own[high].max())]
    above = f"{write_count(int((own[low] > 0).sum()))} of {count_noun(len(own), 'classifier')}"
    return f"{numbers} (95 % intervals within {ends[0]} to {ends[1]}, above 0 for {above})"


def explain_prediction(work: SessionState, ground: LearningInputs, trials: Trials) -> str:
    score = SCORES[get_score(work.view(LearningView), ground.labels)]
    names = [short_title(candidate.algorithm) for candidate in trials.prediction.candidates]
    return _how(
        "predicted",
        algorithms=", ".join(map(escape_markdown, names)),
        ks=", ".join(write_count(k) for k in trials.ks),
        form=trials.prediction.representation,
        score=score.title,
        about_score=score.summary,
        least_k=LEAST_K,
    )


# --- on the page ------------------------------------------------------------------------------
def show_predicting(work: SessionState) -> None:
    ground, problem = get_inputs_or_problem(work)
    _show_choices(work, ground)
    if ground is None:
        show_no_inputs(work, problem)
        return
    try:
        trials = build_trials(work, ground)
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    _show_start(work, ground, trials)
    score = get_score(work.view(LearningView), ground.labels)
    points = build_scored_points(trials, score)
    if len(points) > 2:
        _show_results(work, trials, points, score)
    elif trials.chosen and "predicting" not in work.running:
        st.info(
            "Fewer than three releases have a score so far, so there is nothing to compare. "
            "Continue, or choose more values of k or more algorithms. If many records are "
            "suppressed, there may be none left to learn from."
        )
    elif "predicting" not in work.running:
        st.info(
            "Nothing has been trained with these settings yet. Each release gets all measures, and "
            "each classifier learns from it. The result shows which measure predicts how well a "
            "classifier learns from a release."
        )
    with st.expander("How it is computed"):
        st.markdown(explain_prediction(work, ground, trials))


def _show_choices(work: SessionState, ground: LearningInputs | None) -> None:
    view = work.view(PredictingView)
    algorithms, learners = list(view.algorithms), list(view.classifiers)
    st.multiselect(
        "Algorithms",
        list_offered_algorithms(),
        **attach_widget(
            "predicting-algorithms",
            algorithms,
            "algorithms",
            into=PredictingView,
            read=tuple,
            keep=True,
        ),
        format_func=short_title,
        placeholder="Choose some",
    )
    key = "predicting-classifiers"
    st.multiselect(
        "Classifiers",
        list(CLASSIFIERS),
        **attach_widget(key, learners, "classifiers", into=PredictingView, read=tuple, keep=True),
        format_func=lambda name: CLASSIFIERS[name].card.title,
        placeholder="Choose some",
    )
    columns = st.columns([2, 1.4, 1.6, 3], vertical_alignment="bottom")
    with columns[0]:
        choose_target(work, "predicting-target")
    with columns[1]:
        choose_score(work, ground, "predicting-score")
    form = view.representation
    columns[2].selectbox(
        "Represented as",
        list(REPRESENTATIONS),
        **attach_widget(
            "predicting-representation", form, "representation", into=PredictingView, keep=True
        ),
        format_func=lambda name: REPRESENTATIONS[name].title,
        help=REPRESENTATIONS[form].summary,
    )
    with columns[3]:
        show_ks_field(view.ks, "predicting-ks", PredictingView)


def _show_start(work: SessionState, ground: LearningInputs, trials: Trials) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        label = get_trials_label(trials) if trials.lacking else ""
        effort = measure_job(work, "predicting", len(trials.lacking))
        draw_start_button("predicting", label, build_prediction_request, effort=effort)
        sentence = f"{describe_ks(trials.ks)} {describe_split(ground.labels)}"
        st.caption(sentence, width="stretch")
    show_earlier_study(work, "predicting", str(trials.keys))


def _show_results(work: SessionState, trials: Trials, points: pd.DataFrame, score: str) -> None:
    view = work.view(PredictingView)
    measures = select_measures(points)
    about = f"{[*trials.keys.values()]}|{score}|{trials.known}"
    table = state.get_or_compute("agreements", about, lambda: compute_agreements(points, measures))
    classifiers = {
        name: CLASSIFIERS[name].card.title for name in CLASSIFIERS if name in points.columns
    }
    cards = {name: measures[name] for name in dict.fromkeys(table["measure"])}
    sentences = describe_agreements(table, measures)
    title = describe_best_measure(table, measures, score)
    if trials.lacking:
        title += f", so far ({count_noun(len(points), 'release')})"
    figure = draw_agreement(table, cards, classifiers, title)
    show_picture(
        figure, lambda: table, "utility-agreements", about, PictureSettings.from_table(work)
    )
    for sentence in sentences:
        st.markdown(escape_markdown(sentence))
    measure = view.measure if view.measure in cards else next(iter(cards))
    column = view.classifier if view.classifier in classifiers else next(iter(classifiers))
    measure_side, classifier_side = st.columns(2)
    measure_side.selectbox(
        "Measure",
        list(cards),
        **attach_widget("predicting-measure", measure, "measure", into=PredictingView, keep=True),
        format_func=lambda name: cards[name].title,
        help=escape_markdown(cards[measure].summary),
    )
    classifier_side.selectbox(
        "Classifier",
        list(classifiers),
        **attach_widget(
            "predicting-classifier", column, "classifier", into=PredictingView, keep=True
        ),
        format_func=lambda name: classifiers[name],
    )
    card = replace(cards[measure], name=measure)
    row = table[(table["measure"] == measure) & (table["score"] == column)].iloc[0]
    title = f"Agreement {_write_correlation(row['agreement'])} over all releases"
    if not isnan(row["at_equal_k"]):
        title += f", {_write_correlation(row['at_equal_k'])} at equal k"
    scatter = draw_predictions(points, card, column, SCORES[score], title)
    show_picture(
        scatter,
        lambda: points,
        "utility-scatter",
        f"{about}|{measure}|{column}",
        PictureSettings.from_table(work),
    )


def _write_correlation(number: float) -> str:
    return "–" if isnan(number) else f"{number:.2f}".replace("-", "−")
