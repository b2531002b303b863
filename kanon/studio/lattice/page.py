"""Which columns, how far? The lattice of levels, the walks of searches, and a node to release."""

from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import Node
from kanon.base.formatting import counted, thin
from kanon.charts.lattice import (
    COLOURINGS,
    DRAWN,
    heights_chart,
    heights_table,
    lattice_chart,
    lattice_table,
    neighbourhood_chart,
)
from kanon.charts.walks import WALK_LOOKS
from kanon.errors import KanonError
from kanon.experiments.exploration import Assessment, Exploration
from kanon.studio.jobs import runner
from kanon.studio.lattice.node_panel import (
    closeness,
    goes_to,
    minimal,
    numbers,
    steppers,
    tables,
    use,
)
from kanon.studio.lattice.sentences import how_lattice, size_said, step_said
from kanon.studio.lattice.state import LatticeView
from kanon.studio.lattice.subject import (
    Subject,
    around,
    at_once,
    chosen_node,
    drawn_whole,
    explored_now,
    known_lattice,
    lattice_columns,
    lattice_request,
    levels_in,
    ready,
    small,
    taken_in,
    usable_columns,
    with_node,
)
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import classes_elsewhere, head, unready
from kanon.studio.widgets.algorithm_options import suppression_field
from kanon.studio.widgets.controls import segments
from kanon.studio.widgets.picture import PictureSettings, chart, data_button, picture_links


def take_view(**fields: Any) -> None:
    work = state.work()
    state.change(replace(work.view(LatticeView), **fields))


def choices(work: Work) -> None:
    view = work.view(LatticeView)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Columns",
            width=80,
            help="The lattice of these quasi-identifiers alone, as if the other columns were "
            "insensitive. A node that fails here also fails with more columns; a node that "
            "satisfies here may fail with more.",
        )
        st.pills(
            "Quasi-identifiers in the lattice",
            usable_columns(work),
            selection_mode="multi",
            label_visibility="collapsed",
            **bound(
                f"lattice-columns-{work.version}",
                list(lattice_columns(work)),
                lambda value: take_view(columns=tuple(value) or None, step=None),
            ),
            format_func=lambda name: plain(shortened(name)),
        )
    beside = st.container(horizontal=True)  # wraps where there is no room
    with beside.container(width=200):
        suppression_field(
            work,
            "lattice-suppression",
            "none",
            "The same setting as on Anonymise. Empty: no records, except k records for Datafly, "
            "as published.",
        )
    with beside:
        label = "Colour by" if drawn_whole(work) else "Colour around the chosen node by"
        segments(
            label, COLOURINGS, "lattice-colour", view.colouring, "colouring", LatticeView,
            width="content",
            help="Circles are nodes that satisfy the requirements; crosses do not.",
        )  # fmt: skip
    beside.pills(
        "Walks of searches",
        list(WALK_LOOKS),
        selection_mode="multi",
        **bound("lattice-walks", list(view.walks), "walks", into=LatticeView, read=tuple),
        format_func=short_title,
        width="content",
        help="The nodes that a search moved through, numbered in order.",
    )


def partly(work: Work, lattice: Exploration) -> None:
    columns, usable = lattice_columns(work), usable_columns(work)
    if len(columns) == len(usable):
        return
    sentence = f"{len(columns)} of {len(usable)} quasi-identifiers are in the lattice"
    if not work.view(LatticeView).columns:
        sentence += f", so that at most {thin(DRAWN)} nodes are drawn"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{sentence}. A release needs a level for each.", width="content")
        st.button(
            "Include all",
            type="tertiary",
            icon=":material/select_all:",
            on_click=lambda: state.put(taken_in(state.work(), lattice)),
            key="lattice-all",
        )


def looked_at(work: Work, subject: Subject) -> Exploration:
    if at_once(subject):
        return state.remembered("lattice", subject.settings, lambda: explored_now(subject))
    lattice = known_lattice(work, subject)
    if lattice is not None:
        return lattice
    if small(subject) and state.first_time("lattice-begun", subject.settings):
        runner.run(lattice_request, subject)
        st.rerun()  # so that it appears among the running jobs
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Explore this lattice",
            type="primary",
            icon=":material/play_arrow:",
            disabled="lattice" in work.running,
            on_click=runner.run,
            args=(lattice_request, subject),
            key="lattice-explore",
        )
        size = counted(subject.outline.size, "node")
        st.caption(
            f"Counts the classes at all {size}."
            if small(subject)
            else (
                f"{size}: too many to count them all. Only the walks of Datafly and Improved "
                "greedy and the surroundings of a node are counted."
            ),
            width="content",
        )
    return subject.outline


def picture(work: Work, subject: Subject, lattice: Exploration, node: Node) -> None:
    view = work.view(LatticeView)
    walks = tuple(name for name in view.walks if lattice.walk(name).steps)
    drawable = lattice.complete and lattice.size <= DRAWN
    # The key depends on what the figure holds, so a click on an older figure is ignored.
    key = (subject.settings, view, node, lattice.complete, walks)
    if drawable:
        figure = state.remembered(
            "lattice-figure", key,
            lambda: lattice_chart(lattice, view.colouring, walks, view.step, node),
        )  # fmt: skip
        clickable("lattice-picture", figure, lattice)
    else:
        figure = state.remembered(
            "lattice-figure", key, lambda: heights_chart(lattice, walks, view.step, node)
        )
        chart(figure, "lattice-picture")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(size_said(subject)), width="content")
        picture_links("lattice-picture", PictureSettings.of_lattice(work, subject.prepared))
        is_explored = lattice is not subject.outline
        about = f"{subject.settings}|{lattice.complete}|{drawable}|{is_explored}"
        data_button(
            "Data",
            lambda: lattice_table(lattice) if drawable else heights_table(lattice),
            "lattice",
            about,
            kind="tertiary",
        )
        if not drawable and len(lattice.assessed.nodes):
            data_button(
                "Counted nodes", lambda: lattice_table(lattice), "nodes", about, kind="tertiary"
            )


def clickable(key: str, figure: go.Figure, lattice: Exploration) -> None:
    def choose_clicked() -> None:
        points = (state.typed(key) or {}).get("selection", {}).get("points", [])
        if points:  # none: something was deselected
            state.put(with_node(state.work(), lattice, levels_in(points[0].get("customdata"))))

    chart(figure, key, on_select=choose_clicked, selection_mode="points")


def walks(work: Work, lattice: Exploration) -> None:
    view = work.view(LatticeView)
    sentences = [
        sentence
        for walk in lattice.walks
        if walk.algorithm in view.walks and (sentence := step_said(lattice, walk, view.step))
    ]
    if not sentences:
        return
    slider_side, text_side = st.columns([1, 3])
    last = max((walk.last for walk in lattice.walks if walk.steps), default=0)
    if last > 0:
        slider_side.slider(
            "Walks up to step",
            0,
            last,
            **bound(
                f"lattice-step-{last}",
                last if view.step is None else min(view.step, last),
                lambda value: take_view(step=None if value == last else value),
            ),
        )
    text_side.markdown("\n".join(f"- {plain(sentence)}" for sentence in sentences))


def explored_with_note(work: Work) -> tuple[Subject, Exploration] | None:
    try:
        subject = ready(work, state.remembered)
        above = st.container()
        lattice = looked_at(work, subject)
        with above:
            partly(work, lattice)
    except KanonError as error:
        st.warning(plain(error.sentence), icon=":material/error:")
        if work.settings.suppression and work.settings.models:
            st.button(
                "Suppress nothing",
                on_click=lambda: state.change(replace(state.work().settings, suppression=0.0)),
                key="none",
            )
        return None
    return subject, lattice


def around_node(
    work: Work, subject: Subject, lattice: Exploration, counts: Assessment, node: Node
) -> None:
    clickable(
        "lattice-neighbourhood",
        neighbourhood_chart(lattice, counts, node, work.view(LatticeView).colouring),
        lattice,
    )
    data_button(
        "Data of the neighbourhood",
        lambda: lattice_table(lattice, counts),
        "neighbourhood",
        f"{subject.settings}|{node}",
        kind="tertiary",
    )


def page() -> None:
    work = head("Which columns, how far?")
    unready(work)
    if classes_elsewhere(work):
        return
    if not usable_columns(work):
        st.info("No quasi-identifier has a usable hierarchy yet, so there are no levels to choose.")
        st.page_link("pages/data.py", label="Choose roles on Data", icon=":material/arrow_forward:")
        return
    choices(work)
    pair = explored_with_note(work)
    if pair is None:
        return
    subject, lattice = pair
    work = state.work()
    node = chosen_node(work, lattice)
    picture(work, subject, lattice, node)
    walks(work, lattice)
    counts = state.remembered(
        "lattice-around",
        (subject.settings, lattice.complete, node),
        lambda: around(subject, lattice, node),
    )
    steppers(work, subject, lattice, node)
    goes_to(work, lattice, node)
    numbers(lattice, counts, node)
    use(work, subject, lattice, counts, node)
    close = st.container()
    if not (lattice.complete and lattice.size <= DRAWN):
        around_node(work, subject, lattice, counts, node)
    tables(subject, lattice, counts, node)
    minimal(subject, lattice)
    with st.expander("How it is computed"):
        st.markdown(how_lattice(subject, lattice))
    if lattice is not subject.outline:  # else the lattice has to be explored first
        with close:
            closeness(subject, counts, node)
