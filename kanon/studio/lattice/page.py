"""Which columns, how far? The lattice of levels, the walks of searches, and a node to release."""

from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import (
    Node,
    compute_cell_recodings_log10,
    estimate_largest_height,
)
from kanon.algorithms.search import FULL_DOMAIN, get_own_steps
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.base.progress import ignore_progress
from kanon.base.sentences import write_records
from kanon.charts.lattice import (
    COLOURINGS,
    MOST_DRAWN_NODES,
    build_heights_table,
    build_lattice_table,
    draw_heights,
    draw_lattice,
    draw_neighbours,
)
from kanon.charts.walks import WALK_LOOKS
from kanon.errors import KanonError
from kanon.experiments.exploration import (
    WALKING_SEARCHES,
    Exploration,
    VisitedNode,
    Walk,
    measure_lattice,
)
from kanon.studio.jobs import runner
from kanon.studio.lattice.node_panel import (
    choose_notable_node,
    show_node_bound,
    show_node_numbers,
    show_node_tables,
    show_steppers,
    show_use_button,
)
from kanon.studio.lattice.subject import (
    LatticeInputs,
    LatticeView,
    assess_neighbourhood,
    build_lattice_inputs,
    build_lattice_request,
    can_draw_whole,
    get_lattice_columns,
    get_node,
    is_quick,
    is_small,
    list_usable_columns,
    measure_exploration,
    parse_levels,
    set_node,
)
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import draw_page_head, show_classes_in_engine, show_unready
from kanon.studio.widgets.algorithm_options import draw_suppression_field
from kanon.studio.widgets.controls import draw_segments
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.picture import (
    PictureSettings,
    draw_chart,
    draw_data_button,
    draw_picture_links,
)
from kanon.studio.widgets.progress import draw_start_button

_how = Sections(__file__)


def take_view(**fields: Any) -> None:
    work = state.get_session()
    state.update_sections(replace(work.view(LatticeView), **fields))


def show_lattice_choices(work: SessionState) -> None:
    view = work.view(LatticeView)
    st.pills(
        "Columns",
        list_usable_columns(work),
        selection_mode="multi",
        help="The lattice of only these quasi-identifiers, as if the other columns were "
        "insensitive. A node that fails here also fails with more columns; a node that meets "
        "the requirements here may fail with more.",
        **attach_widget(
            f"lattice-columns-{work.version}",
            list(get_lattice_columns(work)),
            lambda value: take_view(columns=tuple(value) or None, step=None),
        ),
        format_func=lambda name: escape_markdown(trim_title(name)),
    )
    beside = st.container(horizontal=True)  # wraps where there is no room
    with beside.container(width=200):
        draw_suppression_field(
            work,
            "lattice-suppression",
            "none",
            "The same setting as on Anonymise. Empty: no records, except k records for Datafly, "
            "as published.",
        )
    with beside:
        label = "Colour by" if can_draw_whole(work) else "Colour around the chosen node by"
        draw_segments(
            label, COLOURINGS, "lattice-colour", view.colouring, "colouring", LatticeView,
            width="content",
            help="Circles are nodes that meet the requirements; crosses are nodes that do not.",
        )  # fmt: skip
    beside.pills(
        "Walks of searches",
        list(WALK_LOOKS),
        selection_mode="multi",
        **attach_widget("lattice-walks", list(view.walks), "walks", into=LatticeView, read=tuple),
        format_func=short_title,
        width="content",
        help="The nodes that a search moved through, numbered in order.",
    )
    if work.settings.level_bounds:
        st.caption("This is the whole lattice, without the level bounds set on Hierarchies.")


def show_left_out_columns(work: SessionState) -> None:
    columns, usable = get_lattice_columns(work), list_usable_columns(work)
    if len(columns) == len(usable):
        return
    sentence = f"{len(columns)} of {len(usable)} quasi-identifiers are in the lattice"
    if not work.view(LatticeView).columns:
        sentence += f", so that at most {write_count(MOST_DRAWN_NODES)} nodes are drawn"
    st.caption(f"{sentence}. A release needs a level for all of them.")


def get_lattice(work: SessionState, subject: LatticeInputs) -> Exploration:
    if is_quick(subject, subject.outline.size):
        return state.get_or_compute(
            "lattice", subject.settings, lambda: measure_lattice(ignore_progress, subject.task)
        )
    result = work.findings.lattice
    if result is not None and result.settings == subject.settings:
        return result.exploration
    if is_small(subject) and state.is_first_time("lattice-begun", subject.settings):
        runner.run_request(build_lattice_request, subject)
        st.rerun()  # so that it appears among the running jobs
    effort = measure_exploration(subject)
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_start_button(
            "lattice",
            "Explore this lattice",
            lambda work: build_lattice_request(work, subject),
            effort=effort,
        )
        size = count_noun(subject.outline.size, "node")
        st.caption(
            f"Counts the classes at all {size}."
            if is_small(subject)
            else (
                f"{size}: too many to count them all. Only the walks of Datafly and Improved "
                "greedy and the nodes around the chosen node are counted."
            ),
            width="content",
        )
    return subject.outline


def is_drawable(lattice: Exploration) -> bool:
    return lattice.complete and lattice.size <= MOST_DRAWN_NODES


def draw_lattice_picture(
    work: SessionState, subject: LatticeInputs, lattice: Exploration, node: Node
) -> None:
    view = work.view(LatticeView)
    walks = tuple(name for name in view.walks if lattice.walk(name).steps)
    drawable = is_drawable(lattice)
    # The key depends on what the figure holds, so a click on an older figure is ignored.
    key = (subject.settings, view, node, lattice.complete, walks)
    if drawable:
        figure = state.get_or_compute(
            "lattice-figure", key,
            lambda: draw_lattice(lattice, view.colouring, walks, view.step, node),
        )  # fmt: skip
        draw_clickable("lattice-picture", figure, lattice)
    else:
        figure = state.get_or_compute(
            "lattice-figure", key, lambda: draw_heights(lattice, walks, view.step, node)
        )
        draw_chart(figure, "lattice-picture")
        if walks:
            st.caption(
                "The lattice is too large to draw whole: only the nodes that the walks pass "
                "through are drawn. A bar shows how many nodes a height has."
            )
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_picture_links("lattice-picture", PictureSettings.from_lattice(work, subject.prepared))
        is_explored = lattice is not subject.outline
        about = f"{subject.settings}|{lattice.complete}|{drawable}|{is_explored}"
        draw_data_button(
            "Data",
            lambda: build_lattice_table(lattice) if drawable else build_heights_table(lattice),
            "lattice",
            about,
            kind="tertiary",
        )


def draw_clickable(key: str, figure: go.Figure, lattice: Exploration) -> None:
    def choose_clicked() -> None:
        points = (state.get_widget_value(key) or {}).get("selection", {}).get("points", [])
        if points:  # none: something was deselected
            state.set_session(
                set_node(state.get_session(), lattice, parse_levels(points[0].get("customdata")))
            )

    draw_chart(figure, key, on_select=choose_clicked, selection_mode="points")


def show_walks(work: SessionState, lattice: Exploration) -> None:
    view = work.view(LatticeView)
    sentences = [
        sentence
        for walk in lattice.walks
        if walk.algorithm in view.walks and (sentence := describe_step(lattice, walk, view.step))
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
            **attach_widget(
                f"lattice-step-{last}",
                last if view.step is None else min(view.step, last),
                lambda value: take_view(step=None if value == last else value),
            ),
        )
    text_side.markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences))


def show_exploration(work: SessionState) -> tuple[LatticeInputs, Exploration] | None:
    try:
        subject = build_lattice_inputs(work, state.get_or_compute)
        show_left_out_columns(work)
        lattice = get_lattice(work, subject)
    except KanonError as error:
        st.warning(escape_markdown(error.sentence), icon=":material/error:")
        if work.settings.suppression and work.settings.models:
            st.button(
                "Suppress nothing",
                on_click=lambda: state.update_sections(
                    replace(state.get_session().settings, suppression=0.0)
                ),
                key="none",
            )
        return None
    return subject, lattice


def page() -> None:
    work = draw_page_head("Which columns, how far?")
    show_unready(work)
    if show_classes_in_engine(work):
        return
    if not list_usable_columns(work):
        st.info("No quasi-identifier has a usable hierarchy yet, so there are no levels to choose.")
        st.page_link("pages/data.py", label="Choose roles on Data", icon=":material/arrow_forward:")
        return
    show_lattice_choices(work)
    pair = show_exploration(work)
    if pair is None:
        return
    subject, lattice = pair
    work = state.get_session()
    node = get_node(work, lattice)
    draw_lattice_picture(work, subject, lattice, node)
    show_walks(work, lattice)
    counts = state.get_or_compute(
        "lattice-around",
        (subject.settings, lattice.complete, node),
        lambda: assess_neighbourhood(subject, lattice, node),
    )
    show_steppers(work, subject, lattice, node)
    choose_notable_node(work, lattice, node)
    show_node_numbers(lattice, counts, node)
    show_use_button(work, subject, lattice, counts, node)
    close = st.container()
    view = work.view(LatticeView)
    if not is_drawable(lattice):
        neighbours = draw_neighbours(lattice, counts, node, view.colouring)
        draw_clickable("lattice-neighbourhood", neighbours, lattice)
    show_node_tables(subject, lattice, counts, node)
    with st.expander("How it is computed"):
        st.markdown(explain_lattice(subject, lattice))
        settings = {
            "COLOUR_BY": view.colouring,
            "WALKS": list(view.walks),
            "NODE": node,
            "DRAWN": is_drawable(lattice),
            "DROPPED_BY": work.table.quasi_identifiers if work.table.dropped else [],
        }
        draw_code_buttons("lattice", lambda: subject.prepared.plan, settings)
    if lattice is not subject.outline:  # else the lattice has to be explored first
        with close:
            show_node_bound(subject, counts, node)


# --- sentences ---------------------------------------------------------------------------------
def describe_step(lattice: Exploration, walk: Walk, step: int | None) -> str:
    title = short_title(walk.algorithm)
    if not walk.steps:
        return f"{title}: {walk.problem}" if walk.problem else ""
    number = walk.last if step is None else min(step, walk.last)
    if number < walk.first:
        return f"{title} has not started yet."
    visit = walk.steps[number - walk.first]
    end = number == walk.last
    if not walk.climbs:
        deed = _describe_jump(visit, walk, end)
    elif visit.raised is None:
        deed = f"starts from the original values; {_count_too_small(lattice, visit)}"
    else:
        deed = _describe_raise(lattice, visit, walk)
    sentence = f"{title}, step {number}: {deed}."
    return f"{sentence} {_describe_stop(lattice, visit, walk)}" if end else sentence


def _describe_stop(lattice: Exploration, visit: VisitedNode, walk: Walk) -> str:
    loss = lattice.assessment.loss_suppressed[lattice.assessment.places[visit.node]]
    suppression = f" and suppresses {write_records(visit.suppressed)}" if visit.suppressed else ""
    if visit.suppressed > lattice.limit:
        suppression += f", as published, although the limit here is {write_count(lattice.limit)}"
    nodes = count_noun(walk.evaluated, "node")
    return f"It stops here{suppression}. Loss: {write_percent(float(loss))}; counted: {nodes}."


def _describe_raise(lattice: Exploration, visit: VisitedNode, walk: Walk) -> str:
    assert visit.raised is not None
    name, level = trim_title(lattice.attributes[visit.raised]), visit.node[visit.raised]
    if walk.algorithm == "datafly":
        return "raises {column} ({values}, the most) to level {level}; {rest}".format(
            column=name,
            values=count_noun(visit.distinct, "distinct value"),
            level=level,
            rest=_count_too_small(lattice, visit),
        )
    return (
        f"raises {name} to level {level}; no other single step reaches a larger k than "
        f"{write_count(visit.reached)}"
    )


def _describe_jump(visit: VisitedNode, walk: Walk, end: bool) -> str:
    height = sum(visit.node)
    if end:
        return f"chooses the node at height {height} that meets the requirements and loses least"
    if visit.suppressed <= walk.limit:
        return f"a node of height {height} meets the requirements, so the search goes no higher"
    return f"no node of height {height} meets the requirements, so the search goes higher"


def _count_too_small(lattice: Exploration, visit: VisitedNode) -> str:
    below = f"classes below k = {write_count(lattice.k)}"
    if lattice.others:
        below = f"{below} or that do not meet a model"
    return f"{count_noun(visit.suppressed, 'record is', 'records are')} in {below}"


def explain_lattice(ready: LatticeInputs, lattice: Exploration) -> str:
    trees = ready.task.classes.hierarchies
    heights = ", ".join(
        f"{escape_markdown(trim_title(name))} {tree.height}"
        for name, tree in zip(lattice.attributes, trees, strict=True)
    )
    size, spread = lattice.size, sum((tree.height**2 - 1) / 12 for tree in trees)
    n_edges = sum(size // tree.height * (tree.height - 1) for tree in trees)
    sources = "; ".join(dict.fromkeys(module.CARD.source for module in WALKING_SEARCHES.values()))
    searches = (
        f"**{escape_markdown(module.CARD.title)}.** "
        f"{escape_markdown(get_own_steps(module.CARD.how))}"
        for module in WALKING_SEARCHES.values()
    )
    return _how(
        "lattice",
        full_domain=FULL_DOMAIN,
        heights=heights,
        nodes=write_count(size),
        edges=write_count(n_edges),
        variance=f"{spread:.2f}",
        expected=write_count(round(estimate_largest_height(trees))),
        widest=write_count(max(lattice.per_height)),
        recodings=_write_power_of_ten(compute_cell_recodings_log10(trees, lattice.n_records)),
        metric=escape_markdown(ready.prepared.plan.metric.card.title),
        searches="\n\n".join(searches),
        source=escape_markdown(sources),
    )


def _write_power_of_ten(log10: float) -> str:
    """A whole number from its logarithm: in full below a million, else as a power of ten.

    >>> [_write_power_of_ten(log10) for log10 in (0.0, 2.40824, 123.4)]
    ['1', '256', 'about 10¹²³']
    """
    if log10 < 6:
        return write_count(round(10**log10))
    exponent = str(round(log10)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"about 10{exponent}"
