"""Which measure predicts: the part of the page Utility about measures against scores."""

from dataclasses import replace
from math import isnan
from typing import Any

import pandas as pd
import streamlit as st

from kanon.algorithms.catalogue import short_title
from kanon.base.formatting import counted
from kanon.charts.learning import agreement_chart, prediction_scatter
from kanon.errors import KanonError
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES
from kanon.studio.jobs.configurations import algorithms_offered
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.utility.learning import LearningInputs, ks_said, score_used, split_said
from kanon.studio.utility.learning_panel import (
    ground_here,
    ks_field,
    no_ground,
    score_choice,
    target_choice,
)
from kanon.studio.utility.prediction import (
    Trials,
    agreement_said,
    agreement_title,
    agreements_of,
    how_predicted,
    measures_used,
    prediction_request,
    scored_points,
    to_run,
    trials_of,
)
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.picture import PictureSettings, picture
from kanon.studio.widgets.progress import begin_button, earlier_study


def _set(**fields: Any) -> None:
    view = state.work().view(UtilityView)
    state.change(replace(view, predicting=replace(view.predicting, **fields)))


def show_predicting(work: Work) -> None:
    ground, problem = ground_here(work)
    _show_choices(work, ground)
    if ground is None:
        no_ground(work, problem)
        return
    try:
        trials = trials_of(work, ground)
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    _show_start(work, ground, trials)
    score = score_used(work.view(UtilityView).learning, ground.labels)
    points = scored_points(trials, score)
    if len(points) > 2:
        _show_results(work, trials, points, score)
    elif trials.chosen and "predicting" not in work.running:
        st.info(
            "Fewer than three releases have a score so far, so there is nothing to compare. "
            "Continue, or choose more k or algorithms. If records are suppressed, none may be "
            "left to learn from."
        )
    elif "predicting" not in work.running:
        st.info(
            "Nothing was trained with these settings yet. Each release gets all measures, and "
            "each classifier learns from it. The result shows which measure predicts how well a "
            "classifier learns from a release."
        )
    with st.expander("How it is computed"):
        st.markdown(how_predicted(work, ground, trials))


def _show_choices(work: Work, ground: LearningInputs | None) -> None:
    view = work.view(UtilityView).predicting
    algorithms, learners = list(view.algorithms), list(view.classifiers)
    st.multiselect(
        "Algorithms",
        algorithms_offered(),
        **bound(
            "predicting-algorithms", algorithms, "algorithms", into=_set, read=tuple, keep=True
        ),
        format_func=short_title,
        placeholder="Choose some",
    )
    key = "predicting-classifiers"
    st.multiselect(
        "Classifiers",
        list(CLASSIFIERS),
        **bound(key, learners, "classifiers", into=_set, read=tuple, keep=True),
        format_func=lambda name: CLASSIFIERS[name].card.title,
        placeholder="Choose some",
    )
    columns = st.columns([2, 1.4, 1.6, 3], vertical_alignment="bottom")
    with columns[0]:
        target_choice(work, "predicting-target")
    with columns[1]:
        score_choice(work, ground, "predicting-score")
    form = view.representation
    columns[2].selectbox(
        "Represented as",
        list(REPRESENTATIONS),
        **bound("predicting-representation", form, "representation", into=_set, keep=True),
        format_func=lambda name: REPRESENTATIONS[name].title,
        help=REPRESENTATIONS[form].summary,
    )
    with columns[3]:
        ks_field(view.ks, "predicting-ks", _set)


def _show_start(work: Work, ground: LearningInputs, trials: Trials) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        label = to_run(trials) if trials.lacking else ""
        begin_button("predicting", label, prediction_request)
        sentence = f"{ks_said(trials.ks)} {split_said(ground.labels)}"
        st.caption(sentence, width="stretch")
    earlier_study(work, "predicting", str(trials.keys))


def _show_results(work: Work, trials: Trials, points: pd.DataFrame, score: str) -> None:
    view = work.view(UtilityView).predicting
    measures = measures_used(points)
    about = f"{[*trials.keys.values()]}|{score}|{trials.known}"
    table = state.remembered("agreements", about, lambda: agreements_of(points, measures))
    classifiers = {
        name: CLASSIFIERS[name].card.title for name in CLASSIFIERS if name in points.columns
    }
    cards = {name: measures[name] for name in dict.fromkeys(table["measure"])}
    sentences = agreement_said(table, measures)
    title = agreement_title(table, measures, score)
    if trials.lacking:
        title += f", so far ({counted(len(points), 'release')})"
    figure = agreement_chart(table, cards, classifiers, title)
    picture(figure, lambda: table, "utility-agreements", about, PictureSettings.of_table(work))
    for sentence in sentences:
        st.markdown(plain(sentence))
    measure = view.measure if view.measure in cards else next(iter(cards))
    column = view.classifier if view.classifier in classifiers else next(iter(classifiers))
    measure_side, classifier_side = st.columns(2)
    measure_side.selectbox(
        "Measure",
        list(cards),
        **bound("predicting-measure", measure, "measure", into=_set, keep=True),
        format_func=lambda name: cards[name].title,
        help=plain(cards[measure].summary),
    )
    classifier_side.selectbox(
        "Classifier",
        list(classifiers),
        **bound("predicting-classifier", column, "classifier", into=_set, keep=True),
        format_func=lambda name: classifiers[name],
    )
    card = replace(cards[measure], name=measure)
    row = table[(table["measure"] == measure) & (table["score"] == column)].iloc[0]
    title = f"Agreement {_write_correlation(row['agreement'])} over all releases"
    if not isnan(row["at_equal_k"]):
        title += f", {_write_correlation(row['at_equal_k'])} at equal k"
    scatter = prediction_scatter(points, card, column, SCORES[score], title)
    picture(
        scatter,
        lambda: points,
        "utility-scatter",
        f"{about}|{measure}|{column}",
        PictureSettings.of_table(work),
    )


def _write_correlation(number: float) -> str:
    return "–" if isnan(number) else f"{number:.2f}".replace("-", "−")
