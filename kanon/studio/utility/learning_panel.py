"""The part *Learning*: classifiers over k and representations."""

from math import isnan

import pandas as pd
import streamlit as st

from kanon.base.formatting import count_noun, write_count
from kanon.base.rounding import write_decimals
from kanon.charts.learning import describe_scores, draw_scores
from kanon.errors import KanonError
from kanon.experiments.studies import choose_training_k
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.experiments import outcomes_table
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES, by_chance
from kanon.studio.session import state
from kanon.studio.session.parts import StateSection
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.utility.learning import (
    PUBLISHED_1,
    PUBLISHED_2,
    LearningInputs,
    LearningTask,
    build_band_table,
    build_learning_inputs,
    build_learning_request,
    build_learning_task,
    compute_bands,
    describe_best_pair,
    describe_dead,
    describe_highest,
    describe_ks,
    describe_split,
    explain_learning,
    get_learning_key,
    get_score,
    get_target,
    get_train_label,
    list_targets,
    measure_learning,
    warn_of_chance,
)
from kanon.studio.utility.state import LearningView
from kanon.studio.widgets.controls import draw_segments
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.progress import draw_start_button, show_earlier_study

_SHARES = {0.5: "1/2", 2 / 3: "2/3", 0.75: "3/4", 0.8: "4/5", 0.9: "9/10"}


def show_learning(work: SessionState) -> None:
    ground, problem = get_inputs_or_problem(work)
    _show_choices(work, ground)
    if ground is None:
        show_no_inputs(work, problem)
        return
    lesson, problem = None, ""
    try:
        lesson = build_learning_task(work, ground)
    except KanonError as error:
        problem = error.sentence
    _show_start(work, ground, lesson, problem)
    if lesson is None:
        st.error(escape_markdown(problem), icon=":material/error:")
        return
    if lesson.known:
        _show_results(work, ground, lesson)
    elif "learning" not in work.running:
        st.info(
            "Nothing has been trained with these settings yet. Results are kept for this session, "
            "and a cancelled experiment continues where it stopped."
        )
    with st.expander("How it is computed"):
        st.markdown(explain_learning(work, ground))


def get_inputs_or_problem(work: SessionState) -> tuple[LearningInputs | None, str]:
    """The table and its labels, or None and the reason why nothing can be learnt."""
    try:
        key = get_learning_key(work)
        return state.get_or_compute("learning ground", key, lambda: build_learning_inputs(work)), ""
    except KanonError as error:
        return None, error.sentence


def show_no_inputs(work: SessionState, problem: str) -> None:
    st.error(escape_markdown(problem), icon=":material/error:")
    if not list_targets(work):
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")


def choose_target(work: SessionState, key: str) -> None:
    targets = list_targets(work)
    st.selectbox(
        "Target",
        targets,
        index=None if not targets else 0,
        **attach_widget(
            f"{key}-{work.version}", get_target(work), "target", into=LearningView, keep=True
        ),
        help="The column to predict from the quasi-identifiers: any column that is released "
        "unchanged, sensitive or insensitive.",
        placeholder="No column",
    )


def choose_score(work: SessionState, ground: LearningInputs | None, key: str) -> None:
    score = get_score(work.view(LearningView), ground.labels) if ground is not None else "auc"
    st.selectbox(
        "Score",
        list(SCORES),
        **attach_widget(key, score, "score", into=LearningView, keep=True),
        format_func=lambda name: SCORES[name].title,
        help=SCORES[score].summary,
    )


def show_ks_field(text: str, key: str, view: type[StateSection]) -> None:
    st.text_input(
        "k, separated by commas",
        **attach_widget(key, text, "ks", into=view, keep=True),
        help="Starts with the fourteen values of k from the papers. Values above the number of "
        "records (persons, where k counts persons) are left out.",
    )


def _show_choices(work: SessionState, ground: LearningInputs | None) -> None:
    view = work.view(LearningView)
    release_k = write_count(choose_training_k(work.table.highest_k))
    titles = {
        "original": "1: trained on the original table",
        "release": f"2: trained on the release for k = {release_k}",
    }
    draw_segments("Experiment", titles, "learning-trained", view.trained, "trained", LearningView)
    columns = st.columns([2, 2, 1.4, 1.4], vertical_alignment="bottom")
    with columns[0]:
        choose_target(work, "learning-target")
    columns[1].selectbox(
        "Classifier",
        list(CLASSIFIERS),
        **attach_widget(
            "learning-classifier", view.classifier, "classifier", into=LearningView, keep=True
        ),
        format_func=lambda name: CLASSIFIERS[name].card.title,
        help=escape_markdown(CLASSIFIERS[view.classifier].card.summary),
    )
    with columns[2]:
        choose_score(work, ground, "learning-score")
    columns[3].number_input(
        "Seeds",
        min_value=1,
        max_value=50,
        **attach_widget("learning-seeds", view.seeds, "seeds", into=LearningView, keep=True),
        disabled=not CLASSIFIERS[view.classifier].seeded,
        help="The number of classifiers trained, each from a different start. Charts show their "
        "mean and standard deviation.",
    )


def _show_further_settings(work: SessionState, problem: str) -> None:
    view = work.view(LearningView)
    with st.popover("k and share for training", icon=":material/tune:"):
        # A closed popover's fields miss new values, so their keys hold them.
        show_ks_field(view.ks, f"learning-ks-{view.ks}", LearningView)
        if problem:
            st.error(escape_markdown(problem), icon=":material/error:")
        st.selectbox(
            "Share for training",
            sorted({*_SHARES, view.share}),
            **attach_widget(
                f"learning-share-{view.share}", view.share, "share", into=LearningView, keep=True
            ),
            format_func=lambda share: _SHARES.get(share, f"{share:.2f}"),
        )


def _show_start(
    work: SessionState, ground: LearningInputs, lesson: LearningTask | None, problem: str
) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        _show_further_settings(work, problem)  # always first, so that an open one stays open
        label = get_train_label(lesson) if lesson is not None and lesson.lacking else ""
        effort = None if lesson is None else measure_learning(work, lesson)
        draw_start_button("learning", label, build_learning_request, effort=effort)
        sentence = describe_split(ground.labels)
        if lesson is not None:
            sentence = f"{describe_ks(lesson.experiment.ks)} {sentence}"
        st.caption(sentence, width="stretch")
    if lesson is not None:
        show_earlier_study(work, "learning", lesson.key)


def _show_results(work: SessionState, ground: LearningInputs, lesson: LearningTask) -> None:
    view, ks = work.view(LearningView), lesson.experiment.ks
    score = get_score(view, ground.labels)
    dead = describe_dead(lesson.known)
    live = view.live and bool(dead)
    panels = compute_bands(lesson, score, live)
    if not panels:
        st.warning(f"{dead} No live network is left, so all are shown.", icon=":material/error:")
        live, panels = False, compute_bands(lesson, score, False)
    single = view.trained == "original"
    first = next(iter(panels.values()))
    counting = [result for result in lesson.known if not (live and result.dead)]
    before = pd.DataFrame(
        [(result.fit.representation, *result.before) for result in counting],
        columns=["representation", *SCORES],
    )
    as_trained = before.groupby("representation")[score].mean().reindex([*panels]).to_dict()
    titles = {
        name: f"trained in {REPRESENTATIONS[name].title}"
        + ("" if isnan(as_trained[name]) else f": {write_decimals(as_trained[name], 3)} there")
        for name in panels
    }
    chance = by_chance(score, ground.labels.validation)
    title = (
        describe_scores(first, ks, SCORES[score], chance)
        if single
        else f"{SCORES[score].title} on releases, trained on k = "
        f"{write_count(choose_training_k(work.table.highest_k))}"
    )
    if live:
        title += f", {count_noun(len(counting), 'live network')}"
    figure = draw_scores(
        {titles[name]: band for name, band in panels.items()},
        ks, SCORES[score], title, {titles[name]: value for name, value in as_trained.items()},
        chance, ground.prepared.classes.of,
    )  # fmt: skip
    about = f"{lesson.key}|{len(lesson.known)}|{score}|{live}"
    show_picture(
        figure, lambda: outcomes_table(ks, lesson.known), "utility-learning", about,
        PictureSettings.from_run(work, ground.prepared),
    )  # fmt: skip
    if lesson.lacking:
        st.caption(
            f"So far {len(lesson.known)} of {len(lesson.fits)} are trained; the means are over "
            "these."
        )
    nothing = warn_of_chance(as_trained, chance, score, ground.labels)
    if nothing:
        st.warning(escape_markdown(nothing), icon=":material/info:")
    if dead:
        st.toggle(
            "Leave out dead networks",
            **attach_widget("learning-live", view.live, "live", into=LearningView, keep=True),
        )
        st.markdown(dead)
    if single:
        st.markdown(f"**{describe_highest(first, ks, chance)}** {PUBLISHED_1}")
    elif len(panels) == len(REPRESENTATIONS):
        st.markdown(f"**{describe_best_pair(panels, ks, score)}** {PUBLISHED_2}")
    with st.expander("Mean ± standard deviation at every k", expanded=single):
        st.dataframe(build_band_table(lesson, panels), key="learning-table")
