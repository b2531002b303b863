"""The chosen node of the lattice: levels, numbers, release, and other nodes to choose."""

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


def steppers(work: Work, subject: Subject, lattice: Exploration, node: Node) -> None:
    st.subheader("The chosen node")
    names = lattice.attributes
    for start in range(0, len(names), IN_A_ROW):
        places = st.columns(min(IN_A_ROW, len(names)))
        positions = range(start, min(start + IN_A_ROW, len(names)))
        for place, j in zip(places, positions, strict=False):
            name, top = names[j], lattice.tops[j]
            key = f"lattice-level-{work.version}-{list(work.table.roles).index(name)}-{top}"
            with place:
                st.number_input(
                    f"{plain(shortened(name, 20))}: level … of {top}",
                    min_value=0,
                    max_value=max(top, 1),
                    step=1,
                    disabled=top == 0,
                    **bound(key, node[j], step_to, lattice, name),
                )
                labels = state.remembered(
                    f"lattice-labels-{j}",
                    (subject.settings, j, node[j]),
                    partial(labels_at, subject, j, node[j]),
                )
                st.caption(plain(levels_shown(labels)))


def step_to(lattice: Exploration, name: str, value: Any) -> None:
    state.put(with_level(state.work(), lattice, name, int(value)))


def goes_to(work: Work, lattice: Exploration, node: Node) -> None:
    titles_by_node: dict[Node, list[str]] = {}
    if lattice.least is not None:
        titles_by_node[lattice.least] = ["least loss"]
    for choice in lattice.tied:
        titles_by_node.setdefault(choice, []).append(short_title("mingen"))
    for walk in lattice.walks:
        if walk.steps:
            last = walk.steps[-1]
            title = f"end of {short_title(walk.algorithm)}"
            if last.suppressed > lattice.limit:
                title = f"{title}, which suppresses {thin(last.suppressed)}"
            titles_by_node.setdefault(last.node, []).append(title)
    counts = lattice.assessed
    loss = {choice: float(counts.loss[counts.places[choice]]) for choice in lattice.minimal}
    for choice in sorted(lattice.minimal, key=lambda choice: (loss[choice], choice)):
        titles_by_node.setdefault(choice, []).append("minimal")
    if not titles_by_node:
        return
    described = {choice: "; ".join(titles) for choice, titles in titles_by_node.items()}
    st.selectbox(
        "Or choose a notable node",
        list(described),
        index=None,
        placeholder="Choose a node",
        **bound(
            f"lattice-go-{work.version}",
            node if node in described else None,
            lambda value: state.put(with_node(state.work(), lattice, value)),
        ),
        format_func=lambda choice: (
            f"{described[choice]}: {levels_said(lattice, choice)}"
            + (f" ({percent(loss[choice])})" if choice in loss else "")
        ),
    )


def numbers(lattice: Exploration, counts: Assessment, node: Node) -> None:
    place = counts.places[node]
    suppressed, n = int(counts.suppressed[place]), lattice.n_records
    loss, highest = percent(float(counts.loss[place])), len(lattice.per_height) - 1
    about_loss = (
        f"{loss} of all that could be lost is lost, as the metric counts; suppressed records lose "
        "everything."
    )
    if not counts.satisfying[place]:
        about_loss = (
            "The loss of the table at these levels with nothing suppressed, as the metric counts. "
            "If the records that break the requirements were suppressed, "
            f"{percent(float(counts.loss_suppressed[place]))} would be lost."
        )
    figures = (
        ("k reached ↑ better", thin(int(counts.reached[place])),
         "The size of the smallest class, after suppressing at most the allowed records."),
        ("Classes ↑ better", thin(int(counts.classes[place])),
         "Groups of records that look the same and satisfy the requirements."),
        ("Suppressed ↓ better", f"{thin(suppressed)} ({percent(100 * suppressed / n)})",
         "Records in classes that break the requirements: the release would leave them out."),
        ("Loss ↓ better", loss, about_loss),
        ("Height", f"{sum(node)} of {highest}",
         f"All columns together rise by {sum(node)} of {highest} levels."),
    )  # fmt: skip
    for where, (label, value, help_text) in zip(st.columns(len(figures)), figures, strict=True):
        where.metric(label, value, help=help_text)


def use(work: Work, subject: Subject, lattice: Exploration, counts: Assessment, node: Node) -> None:
    satisfies = bool(counts.satisfying[counts.places[node]])
    whole = len(lattice.attributes) == len(work.table.quasi_identifiers)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Use this one",
            type="primary",
            icon=":material/shield:",
            disabled=not (satisfies and whole) or "run" in work.running,
            on_click=used,
            args=(lattice, node),
            key="lattice-use",
        )
        sentence = verdict(lattice, counts, node)
        if not whole:
            sentence += (
                " Include all quasi-identifiers to use it: a release needs a level for each."
            )
        st.markdown(plain(sentence), width="content")
        levels = dict(zip(lattice.attributes, node, strict=True))
        if work.settings.node == levels and work.settings.algorithm in ("levels", "mingen"):
            st.page_link(
                "pages/anonymise.py", label="See the release", icon=":material/arrow_forward:"
            )


def used(lattice: Exploration, node: Node) -> None:
    state.put(use_node(state.work(), lattice, node))
    runner.run(anonymisation_request)


def closeness(subject: Subject, counts: Assessment, node: Node) -> None:
    if counts.satisfying[counts.places[node]]:
        about = (subject.settings, node)
        run, _ = state.remembered("lattice-preview", about, partial(previewed, subject, node))
        how_close(run, about, "lattice")


def tables(subject: Subject, lattice: Exploration, counts: Assessment, node: Node) -> None:
    run, (before, after) = state.remembered(
        "lattice-preview", (subject.settings, node), partial(previewed, subject, node)
    )
    before_side, after_side = st.columns(2)
    before_side.subheader("Before")
    before_side.dataframe(before, height=preview_height(run), hide_index=True, key="lattice-before")
    after_side.subheader("At these levels")
    after_side.dataframe(after, height=preview_height(run), hide_index=True, key="lattice-after")
    suppressed = int(counts.suppressed[counts.places[node]])
    first, others = records_said(len(after.data)), records_said(suppressed)
    which = (
        f"The first {first} in classes that satisfy the requirements ({others} in others)."
        if suppressed
        else f"The first {first}."
    )
    st.caption(f"{which} Stronger blue: the cell is generalised further, so it says less.")


def previewed(subject: Subject, node: Node) -> tuple[Run, tuple[Styler, Styler]]:
    run = release_at(subject, node)
    return run, before_and_after(run, ROWS)


def minimal(subject: Subject, lattice: Exploration) -> None:
    if not lattice.minimal:
        return
    st.subheader(
        counted(
            len(lattice.minimal),
            "minimal node, least loss first",
            "minimal nodes, least loss first",
        )
    )
    table = state.remembered("lattice-minimal", subject.settings, lambda: minimal_table(lattice))
    st.dataframe(
        table,
        height=min(38 + 35 * len(table), 320),
        hide_index=True,
        key="lattice-minimal",
        column_config={"Loss, % ↓": st.column_config.NumberColumn(format="%.1f")},
    )
    data_button("Minimal nodes", lambda: table, "minimal-nodes", subject.settings, kind="tertiary")
