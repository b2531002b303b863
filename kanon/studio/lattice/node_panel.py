"""The chosen node of the lattice: its levels, its numbers, its release, and others to choose."""

from functools import partial
from typing import Any

import streamlit as st
from pandas.io.formats.style import Styler

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import Node
from kanon.base.formatting import counted, percent, thin
from kanon.base.sentences import records_said
from kanon.experiments.exploration import Assessment, Exploration
from kanon.run import Run
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import anonymisation_request
from kanon.studio.lattice.sentences import levels_said, levels_shown, verdict
from kanon.studio.lattice.subject import (
    ROWS,
    Subject,
    labels_at,
    minimal_table,
    release_at,
    use_node,
    with_level,
    with_node,
)
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work
from kanon.studio.widgets.numbers import how_close
from kanon.studio.widgets.picture import data_button
from kanon.studio.widgets.tables import before_and_after, preview_height

IN_A_ROW = 6  # so many steppers


def steppers(work: Work, one: Subject, explored: Exploration, node: Node) -> None:
    st.subheader("The chosen node")
    names = explored.attributes
    for start in range(0, len(names), IN_A_ROW):
        places = st.columns(min(IN_A_ROW, len(names)))
        listed = range(start, min(start + IN_A_ROW, len(names)))
        for place, j in zip(places, listed, strict=False):
            name, top = names[j], explored.tops[j]
            key = f"lattice-level-{work.version}-{list(work.table.roles).index(name)}-{top}"
            with place:
                st.number_input(
                    f"{plain(shortened(name, 20))}: level … of {top}",
                    min_value=0,
                    max_value=max(top, 1),
                    step=1,
                    disabled=top == 0,
                    **bound(key, node[j], step_to, explored, name),
                )
                labels = state.remembered(
                    f"lattice-labels-{j}",
                    (one.settings, j, node[j]),
                    partial(labels_at, one, j, node[j]),
                )
                st.caption(plain(levels_shown(labels)))


def step_to(explored: Exploration, name: str, value: Any) -> None:
    state.put(with_level(state.work(), explored, name, int(value)))


def goes_to(work: Work, explored: Exploration, node: Node) -> None:
    told: dict[Node, list[str]] = {}
    if explored.least is not None:
        told[explored.least] = ["least loss"]
    for one in explored.tied:
        told.setdefault(one, []).append(short_title("mingen"))
    for walk in explored.walks:
        if walk.steps:
            last = walk.steps[-1]
            title = f"end of {short_title(walk.algorithm)}"
            if last.suppressed > explored.limit:
                title = f"{title}, which suppresses {thin(last.suppressed)}"
            told.setdefault(last.node, []).append(title)
    found = explored.assessed
    loss = {one: float(found.loss[found.places[one]]) for one in explored.minimal}
    for one in sorted(explored.minimal, key=lambda one: (loss[one], one)):
        told.setdefault(one, []).append("minimal")
    if not told:
        return
    known = {one: "; ".join(titles) for one, titles in told.items()}
    st.selectbox(
        "Or take one that stands out",
        list(known),
        index=None,
        placeholder="Choose a node",
        **bound(
            f"lattice-go-{work.version}",
            node if node in known else None,
            lambda value: state.put(with_node(state.work(), explored, value)),
        ),
        format_func=lambda one: (
            f"{known[one]}: {levels_said(explored, one)}"
            + (f" ({percent(loss[one])})" if one in loss else "")
        ),
    )


def numbers(explored: Exploration, found: Assessment, node: Node) -> None:
    place = found.places[node]
    gone, n = int(found.suppressed[place]), explored.n_records
    loss, highest = percent(float(found.loss[place])), len(explored.per_height) - 1
    lost = (
        f"{loss} of all that could be lost is lost, as the metric counts; suppressed records lose "
        "everything."
    )
    if not found.satisfying[place]:
        lost = (
            "Of the table at these levels with nothing suppressed, as the metric counts. With "
            "the records suppressed that do not satisfy, "
            f"{percent(float(found.loss_suppressed[place]))} is lost."
        )
    told = (
        ("k reached ↑ better", thin(int(found.reached[place])),
         "The size of the smallest class, once at most the allowed records are suppressed."),
        ("Classes ↑ better", thin(int(found.classes[place])),
         "Groups of records that look the same and satisfy what is required."),
        ("Suppressed ↓ better", f"{thin(gone)} ({percent(100 * gone / n)})",
         "Records in classes that do not satisfy: they would leave the release."),
        ("Loss ↓ better", loss, lost),
        ("Height", f"{sum(node)} of {highest}",
         f"All columns together rise by {sum(node)} of {highest} levels."),
    )  # fmt: skip
    for where, (label, value, said) in zip(st.columns(len(told)), told, strict=True):
        where.metric(label, value, help=said)


def use(work: Work, one: Subject, explored: Exploration, found: Assessment, node: Node) -> None:
    satisfies = bool(found.satisfying[found.places[node]])
    whole = len(explored.attributes) == len(work.table.quasi_identifiers)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Use this one",
            type="primary",
            icon=":material/shield:",
            disabled=not (satisfies and whole) or "run" in work.running,
            on_click=used,
            args=(explored, node),
            key="lattice-use",
        )
        said = verdict(explored, found, node)
        if not whole:
            said += " " + "Take in all quasi-identifiers to use it: a release needs levels for all."
        st.markdown(plain(said), width="content")
        levels = dict(zip(explored.attributes, node, strict=True))
        if work.settings.node == levels and work.settings.algorithm in ("levels", "mingen"):
            st.page_link(
                "pages/anonymise.py", label="See the release", icon=":material/arrow_forward:"
            )


def used(explored: Exploration, node: Node) -> None:
    """Choose the levels for the run, and start it."""
    state.put(use_node(state.work(), explored, node))
    runner.run(anonymisation_request)


def closeness(one: Subject, found: Assessment, node: Node) -> None:
    if found.satisfying[found.places[node]]:
        about = (one.settings, node)
        done, _ = state.remembered("lattice-preview", about, partial(previewed, one, node))
        how_close(done, about, "lattice")


def tables(one: Subject, explored: Exploration, found: Assessment, node: Node) -> None:
    done, (before, after) = state.remembered(
        "lattice-preview", (one.settings, node), partial(previewed, one, node)
    )
    left, right = st.columns(2)
    left.subheader("Before")
    left.dataframe(before, height=preview_height(done), hide_index=True, key="lattice-before")
    right.subheader("At these levels")
    right.dataframe(after, height=preview_height(done), hide_index=True, key="lattice-after")
    gone = int(found.suppressed[found.places[node]])
    first, others = records_said(len(after.data)), records_said(gone)
    which = (
        f"The first {first} of classes that satisfy ({others} in others)."
        if gone
        else f"The first {first}."
    )
    st.caption(which + " " + "Stronger blue: the cell rose further, so it says less.")


def previewed(one: Subject, node: Node) -> tuple[Run, tuple[Styler, Styler]]:
    done = release_at(one, node)
    return done, before_and_after(done, ROWS)


def minimal(one: Subject, explored: Exploration) -> None:
    if not explored.minimal:
        return
    st.subheader(
        counted(
            len(explored.minimal),
            "minimal node, least loss first",
            "minimal nodes, least loss first",
        )
    )
    table = state.remembered("lattice-minimal", one.settings, lambda: minimal_table(explored))
    st.dataframe(
        table,
        height=min(38 + 35 * len(table), 320),
        hide_index=True,
        key="lattice-minimal",
        column_config={"Loss, % ↓": st.column_config.NumberColumn(format="%.1f")},
    )
    data_button("Minimal nodes", lambda: table, "minimal-nodes", one.settings, kind="tertiary")
