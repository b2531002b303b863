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
            help="The lattice of these quasi-identifiers alone, as if the others were none. What "
            "fails here fails with more columns too; what satisfies here may fail with more.",
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
    beside = st.container(horizontal=True)  # what has no room goes below, and is not cut
    with beside.container(width=200):
        suppression_field(
            work,
            "lattice-suppression",
            "none",
            "It is the same setting as on Anonymise. Empty: none, but k records for Datafly, "
            "as published.",
        )
    with beside:
        label = "Colour says" if drawn_whole(work) else "Colour beside the chosen node says"
        segments(
            label, COLOURINGS, "lattice-colour", view.colouring, "colouring", LatticeView,
            width="content",
            help="The marker always says whether a node satisfies: circles do, crosses do not.",
        )  # fmt: skip
    beside.pills(
        "Walks of searches",
        list(WALK_LOOKS),
        selection_mode="multi",
        **bound("lattice-walks", list(view.walks), "walks", into=LatticeView, read=tuple),
        format_func=short_title,
        width="content",
        help="Which nodes a search moved through, in its order; a number at each step.",
    )


def partly(work: Work, explored: Exploration) -> None:
    """Say that some quasi-identifiers are left out, with one click to include them."""
    columns, usable = lattice_columns(work), usable_columns(work)
    if len(columns) == len(usable):
        return
    said = f"Shown are {len(columns)} of {len(usable)} quasi-identifiers"
    if not work.view(LatticeView).columns:
        said += f", so that at most {thin(DRAWN)} nodes are drawn"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{said}. A release needs levels for all.", width="content")
        st.button(
            "Take in all",
            type="tertiary",
            icon=":material/select_all:",
            on_click=lambda: state.put(taken_in(state.work(), explored)),
            key="lattice-all",
        )


def looked_at(work: Work, one: Subject) -> Exploration:
    if at_once(one):
        return state.remembered("lattice", one.settings, lambda: explored_now(one))
    explored = known_lattice(work, one)
    if explored is not None:
        return explored
    if small(one) and state.first_time("lattice-begun", one.settings):
        runner.run(lattice_request, one)
        st.rerun()  # so that it stands among what is under way
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Explore this lattice",
            type="primary",
            icon=":material/play_arrow:",
            disabled="lattice" in work.running,
            on_click=runner.run,
            args=(lattice_request, one),
            key="lattice-explore",
        )
        size = counted(one.outline.size, "node")
        st.caption(
            f"Counts the classes at all {size}."
            if small(one)
            else (
                f"{size}: too many to count them all. The walks of Datafly and Improved greedy are "
                "found, and what lies around a node."
            ),
            width="content",
        )
    return one.outline


def picture(work: Work, one: Subject, explored: Exploration, node: Node) -> None:
    view = work.view(LatticeView)
    walks = tuple(name for name in view.walks if explored.walk(name).steps)
    drawable = explored.complete and explored.size <= DRAWN
    # What a figure holds decides what it is called in the browser: a click on an older one is gone.
    key = (one.settings, view, node, explored.complete, walks)
    if drawable:
        figure = state.remembered(
            "lattice-figure", key,
            lambda: lattice_chart(explored, view.colouring, walks, view.step, node),
        )  # fmt: skip
        clickable("lattice-picture", figure, explored)
    else:
        figure = state.remembered(
            "lattice-figure", key, lambda: heights_chart(explored, walks, view.step, node)
        )
        chart(figure, "lattice-picture")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(size_said(one)), width="content")
        picture_links("lattice-picture", PictureSettings.of_lattice(work, one.prepared))
        looked = explored is not one.outline
        about = f"{one.settings}|{explored.complete}|{drawable}|{looked}"
        data_button(
            "Data",
            lambda: lattice_table(explored) if drawable else heights_table(explored),
            "lattice",
            about,
            kind="tertiary",
        )
        if not drawable and len(explored.assessed.nodes):
            data_button(
                "Counted nodes", lambda: lattice_table(explored), "nodes", about, kind="tertiary"
            )


def clickable(key: str, figure: go.Figure, explored: Exploration) -> None:
    def clicked() -> None:
        points = (state.typed(key) or {}).get("selection", {}).get("points", [])
        if points:  # none: something was deselected
            state.put(with_node(state.work(), explored, levels_in(points[0].get("customdata"))))

    chart(figure, key, on_select=clicked, selection_mode="points")


def walks(work: Work, explored: Exploration) -> None:
    view = work.view(LatticeView)
    told = [
        said
        for walk in explored.walks
        if walk.algorithm in view.walks and (said := step_said(explored, walk, view.step))
    ]
    if not told:
        return
    left, right = st.columns([1, 3])
    last = max((walk.last for walk in explored.walks if walk.steps), default=0)
    if last > 0:
        left.slider(
            "Walks up to step",
            0,
            last,
            **bound(
                f"lattice-step-{last}",
                last if view.step is None else min(view.step, last),
                lambda value: take_view(step=None if value == last else value),
            ),
        )
    right.markdown("\n".join(f"- {plain(said)}" for said in told))


def explored_with_note(work: Work) -> tuple[Subject, Exploration] | None:
    try:
        one = ready(work, state.remembered)
        above = st.container()
        explored = looked_at(work, one)
        with above:
            partly(work, explored)
    except KanonError as error:
        st.warning(plain(error.sentence), icon=":material/error:")
        if work.settings.suppression and work.settings.models:
            st.button(
                "Suppress nothing",
                on_click=lambda: state.change(replace(state.work().settings, suppression=0.0)),
                key="none",
            )
        return None
    return one, explored


def around_node(
    work: Work, one: Subject, explored: Exploration, found: Assessment, node: Node
) -> None:
    """What lies around the chosen node, where the whole lattice is not drawn."""
    clickable(
        "lattice-neighbourhood",
        neighbourhood_chart(explored, found, node, work.view(LatticeView).colouring),
        explored,
    )
    data_button(
        "Data of the neighbourhood",
        lambda: lattice_table(explored, found),
        "neighbourhood",
        f"{one.settings}|{node}",
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
    seen = explored_with_note(work)
    if seen is None:
        return
    one, explored = seen
    work = state.work()
    node = chosen_node(work, explored)
    picture(work, one, explored, node)
    walks(work, explored)
    found = state.remembered(
        "lattice-around",
        (one.settings, explored.complete, node),
        lambda: around(one, explored, node),
    )
    steppers(work, one, explored, node)
    goes_to(work, explored, node)
    numbers(explored, found, node)
    use(work, one, explored, found, node)
    close = st.container()
    if not (explored.complete and explored.size <= DRAWN):
        around_node(work, one, explored, found, node)
    tables(one, explored, found, node)
    minimal(one, explored)
    with st.expander("How it is computed"):
        st.markdown(how_lattice(one, explored))
    if explored is not one.outline:  # else that is looked at first
        with close:
            closeness(one, found, node)
