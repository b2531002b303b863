"""Which measure predicts: the part of the Utility page about measures against scores."""

from dataclasses import replace
from math import isnan
from typing import Any

import pandas as pd
import streamlit as st

from kanon.algorithms.catalogue import short_title
from kanon.base.formatting import count_noun
from kanon.charts.learning import draw_agreement, draw_predictions
from kanon.errors import KanonError
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES
from kanon.studio.jobs.configurations import list_offered_algorithms
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.utility.learning import LearningInputs, describe_ks, describe_split, get_score
from kanon.studio.utility.learning_panel import (
    choose_score,
    choose_target,
    get_inputs_or_problem,
    show_ks_field,
    show_no_inputs,
)
from kanon.studio.utility.prediction import (
    Trials,
    build_prediction_request,
    build_scored_points,
    build_trials,
    compute_agreements,
    describe_agreements,
    describe_best_measure,
    explain_prediction,
    get_trials_label,
    select_measures,
)
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.progress import draw_start_button, show_earlier_study


def _set(**fields: Any) -> None:
    view = state.get_session().view(UtilityView)
    state.update_sections(replace(view, predicting=replace(view.predicting, **fields)))


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
    score = get_score(work.view(UtilityView).learning, ground.labels)
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
    view = work.view(UtilityView).predicting
    algorithms, learners = list(view.algorithms), list(view.classifiers)
    st.multiselect(
        "Algorithms",
        list_offered_algorithms(),
        **attach_widget(
            "predicting-algorithms", algorithms, "algorithms", into=_set, read=tuple, keep=True
        ),
        format_func=short_title,
        placeholder="Choose some",
    )
    key = "predicting-classifiers"
    st.multiselect(
        "Classifiers",
        list(CLASSIFIERS),
        **attach_widget(key, learners, "classifiers", into=_set, read=tuple, keep=True),
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
        **attach_widget("predicting-representation", form, "representation", into=_set, keep=True),
        format_func=lambda name: REPRESENTATIONS[name].title,
        help=REPRESENTATIONS[form].summary,
    )
    with columns[3]:
        show_ks_field(view.ks, "predicting-ks", _set)


def _show_start(work: SessionState, ground: LearningInputs, trials: Trials) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        label = get_trials_label(trials) if trials.lacking else ""
        draw_start_button("predicting", label, build_prediction_request)
        sentence = f"{describe_ks(trials.ks)} {describe_split(ground.labels)}"
        st.caption(sentence, width="stretch")
    show_earlier_study(work, "predicting", str(trials.keys))


def _show_results(work: SessionState, trials: Trials, points: pd.DataFrame, score: str) -> None:
    view = work.view(UtilityView).predicting
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
        **attach_widget("predicting-measure", measure, "measure", into=_set, keep=True),
        format_func=lambda name: cards[name].title,
        help=escape_markdown(cards[measure].summary),
    )
    classifier_side.selectbox(
        "Classifier",
        list(classifiers),
        **attach_widget("predicting-classifier", column, "classifier", into=_set, keep=True),
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
