"""The part *Learning*: classifiers over k and representations."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan
from typing import Any

import streamlit as st

from kanon.base.formatting import counted, thin
from kanon.base.rounding import write_decimals
from kanon.charts.learning import scores_chart, scores_finding
from kanon.errors import KanonError
from kanon.experiments.studies import trained_k
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.experiments import outcomes_table
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES, by_chance
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.utility.learning import (
    PUBLISHED_1,
    PUBLISHED_2,
    LearningInputs,
    LearningTask,
    band_table,
    bands_of,
    best_said,
    chance_said,
    dead_said,
    ground_key,
    ground_of,
    highest_said,
    how_learnt,
    ks_said,
    learning_request,
    lesson_of,
    remaining,
    score_used,
    split_said,
    target_used,
    targets_offered,
)
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.controls import segments
from kanon.studio.widgets.picture import PictureSettings, picture
from kanon.studio.widgets.progress import begin_button, earlier_study

_SHARES = {0.5: "1/2", 2 / 3: "2/3", 0.75: "3/4", 0.8: "4/5", 0.9: "9/10"}


def _set(**fields: Any) -> None:
    view = state.work().view(UtilityView)
    state.change(replace(view, learning=replace(view.learning, **fields)))


def show_learning(work: Work) -> None:
    ground, problem = ground_here(work)
    _show_choices(work, ground)
    if ground is None:
        no_ground(work, problem)
        return
    lesson, problem = None, ""
    try:
        lesson = lesson_of(work, ground)
    except KanonError as error:
        problem = error.sentence
    _show_start(work, ground, lesson, problem)
    if lesson is None:
        st.error(plain(problem), icon=":material/error:")
        return
    if lesson.known:
        _show_results(work, ground, lesson)
    elif "learning" not in work.running:
        st.info(
            "Nothing was trained with these settings yet. Results stay for this session, and a "
            "cancelled experiment continues where it stopped."
        )
    with st.expander("How it is computed"):
        st.markdown(how_learnt(work, ground))


def ground_here(work: Work) -> tuple[LearningInputs | None, str]:
    """The table and its labels, or None and the reason why nothing can be learnt."""
    try:
        key = ground_key(work)
        return state.remembered("learning ground", key, lambda: ground_of(work)), ""
    except KanonError as error:
        return None, error.sentence


def no_ground(work: Work, problem: str) -> None:
    st.error(plain(problem), icon=":material/error:")
    if not targets_offered(work):
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")


def target_choice(work: Work, key: str) -> None:
    targets = targets_offered(work)
    st.selectbox(
        "Target",
        targets,
        index=None if not targets else 0,
        **bound(f"{key}-{work.version}", target_used(work), "target", into=_set, keep=True),
        help="The column to predict from the quasi-identifiers: any column that is released "
        "unchanged, sensitive or insensitive.",
        placeholder="No column",
    )


def score_choice(work: Work, ground: LearningInputs | None, key: str) -> None:
    score = (
        score_used(work.view(UtilityView).learning, ground.labels) if ground is not None else "auc"
    )
    st.selectbox(
        "Score",
        list(SCORES),
        **bound(key, score, "score", into=_set, keep=True),
        format_func=lambda name: SCORES[name].title,
        help=SCORES[score].summary,
    )


def ks_field(text: str, key: str, change_view: Callable[..., None]) -> None:
    st.text_input(
        "k, separated by commas",
        **bound(key, text, "ks", into=change_view, keep=True),
        help="At first the fourteen k of the papers. Values above the number of records (persons, "
        "where k counts them) are left out.",
    )


def _show_choices(work: Work, ground: LearningInputs | None) -> None:
    view = work.view(UtilityView).learning
    titles = {
        "original": "1: trained on the original table",
        "release": f"2: trained on the release for k = {thin(trained_k(work.table.highest_k))}",
    }
    segments("Experiment", titles, "learning-trained", view.trained, "trained", _set)
    columns = st.columns([2, 2, 1.4, 1.4], vertical_alignment="bottom")
    with columns[0]:
        target_choice(work, "learning-target")
    columns[1].selectbox(
        "Classifier",
        list(CLASSIFIERS),
        **bound("learning-classifier", view.classifier, "classifier", into=_set, keep=True),
        format_func=lambda name: CLASSIFIERS[name].card.title,
        help=plain(CLASSIFIERS[view.classifier].card.summary),
    )
    with columns[2]:
        score_choice(work, ground, "learning-score")
    columns[3].number_input(
        "Seeds",
        min_value=1,
        max_value=50,
        **bound("learning-seeds", view.seeds, "seeds", into=_set, keep=True),
        disabled=not CLASSIFIERS[view.classifier].seeded,
        help="The number of classifiers trained, each from a different start. Charts show their "
        "mean and standard deviation.",
    )


def _show_further_settings(work: Work, problem: str) -> None:
    view = work.view(UtilityView).learning
    with st.popover("k and share for training", icon=":material/tune:"):
        # A closed popover's fields miss new values, so their keys hold them.
        ks_field(view.ks, f"learning-ks-{view.ks}", _set)
        if problem:
            st.error(plain(problem), icon=":material/error:")
        st.selectbox(
            "Share for training",
            sorted({*_SHARES, view.share}),
            **bound(f"learning-share-{view.share}", view.share, "share", into=_set, keep=True),
            format_func=lambda share: _SHARES.get(share, f"{share:.2f}"),
        )


def _show_start(
    work: Work, ground: LearningInputs, lesson: LearningTask | None, problem: str
) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        _show_further_settings(work, problem)  # always first, so that an open one stays open
        label = remaining(lesson) if lesson is not None and lesson.lacking else ""
        begin_button("learning", label, learning_request)
        sentence = split_said(ground.labels)
        if lesson is not None:
            sentence = f"{ks_said(lesson.experiment.ks)} {sentence}"
        st.caption(sentence, width="stretch")
    if lesson is not None:
        earlier_study(work, "learning", lesson.key)


def _show_results(work: Work, ground: LearningInputs, lesson: LearningTask) -> None:
    view, ks = work.view(UtilityView).learning, lesson.experiment.ks
    score = score_used(view, ground.labels)
    dead = dead_said(lesson.known)
    live = view.live and bool(dead)
    panels = bands_of(lesson, score, live)
    if not panels:
        st.warning(f"{dead} No other is left, so all are shown.", icon=":material/error:")
        live, panels = False, bands_of(lesson, score, False)
    single = view.trained == "original"
    first = next(iter(panels.values()))
    counting = [result for result in lesson.known if not (live and result.dead)]
    place = list(SCORES).index(score)
    as_trained = {
        name: float(
            sum(own) / len(own)
            if (
                own := [
                    result.before[place] for result in counting if result.fit.representation == name
                ]
            )
            else float("nan")
        )
        for name in panels
    }
    titles = {
        name: f"trained in {REPRESENTATIONS[name].title}"
        + ("" if isnan(as_trained[name]) else f": {write_decimals(as_trained[name], 3)} there")
        for name in panels
    }
    chance = by_chance(score, ground.labels.validation)
    title = (
        scores_finding(first, ks, SCORES[score], chance)
        if single
        else f"{SCORES[score].title} on releases, trained on k = "
        f"{thin(trained_k(work.table.highest_k))}"
    )
    if live:
        title += f", {counted(len(counting), 'live network')}"
    figure = scores_chart(
        {titles[name]: band for name, band in panels.items()},
        ks, SCORES[score], title, {titles[name]: value for name, value in as_trained.items()},
        chance, ground.prepared.classes.of,
    )  # fmt: skip
    about = f"{lesson.key}|{len(lesson.known)}|{score}|{live}"
    picture(
        figure, lambda: outcomes_table(ks, lesson.known), "utility-learning", about,
        PictureSettings.of_run(work, ground.prepared),
    )  # fmt: skip
    if lesson.lacking:
        st.caption(
            f"So far {len(lesson.known)} of {len(lesson.fits)} are trained; the means are over "
            "these."
        )
    nothing = chance_said(as_trained, chance, score, ground.labels)
    if nothing:
        st.warning(plain(nothing), icon=":material/info:")
    if dead:
        st.toggle(
            "Leave out dead networks",
            **bound("learning-live", view.live, "live", into=_set, keep=True),
        )
        st.markdown(dead)
    if single:
        st.markdown(f"**{highest_said(first, ks, chance)}** {PUBLISHED_1}")
    elif len(panels) == len(REPRESENTATIONS):
        st.markdown(f"**{best_said(panels, ks, score)}** {PUBLISHED_2}")
    with st.expander("Mean ± standard deviation at every k", expanded=single):
        st.dataframe(band_table(lesson, score), key="learning-table")
