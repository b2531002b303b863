"""The chosen node of the lattice: levels, numbers, release, and other nodes to choose."""

from functools import partial

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import Node
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.sentences import write_records
from kanon.experiments.exploration import Assessment, Exploration
from kanon.run import Run
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import request_anonymisation
from kanon.studio.lattice.subject import (
    ROWS,
    LatticeInputs,
    build_node_release,
    list_labels_at,
    set_node,
    set_node_level,
    take_node,
)
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.numbers import show_gap
from kanon.studio.widgets.tables import build_before_and_after, get_preview_height

IN_A_ROW = 6  # so many steppers


def show_steppers(
    work: SessionState, subject: LatticeInputs, lattice: Exploration, node: Node
) -> None:
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
                    f"{escape_markdown(trim_title(name, 20))}: level … of {top}",
                    min_value=0,
                    max_value=max(top, 1),
                    step=1,
                    disabled=top == 0,
                    **attach_widget(
                        key,
                        node[j],
                        lambda level, name=name: state.set_session(
                            set_node_level(state.get_session(), lattice, name, int(level))
                        ),
                    ),
                )
                labels = state.get_or_compute(
                    f"lattice-labels-{j}",
                    (subject.settings, j, node[j]),
                    partial(list_labels_at, subject, j, node[j]),
                )
                st.caption(escape_markdown(list_labels(labels)))


def choose_notable_node(work: SessionState, lattice: Exploration, node: Node) -> None:
    titles_by_node: dict[Node, list[str]] = {}
    if lattice.least is not None:
        titles_by_node[lattice.least] = ["least loss"]
    for choice in lattice.mingen_nodes:
        titles_by_node.setdefault(choice, []).append(short_title("mingen"))
    for walk in lattice.walks:
        if walk.steps:
            last = walk.steps[-1]
            title = f"end of {short_title(walk.algorithm)}"
            if last.suppressed > lattice.limit:
                title = f"{title}, which suppresses {write_count(last.suppressed)}"
            titles_by_node.setdefault(last.node, []).append(title)
    counts = lattice.assessment
    loss = {choice: float(counts.loss[counts.places[choice]]) for choice in lattice.minimal}
    for choice in sorted(lattice.minimal, key=lambda choice: (loss[choice], choice)):
        titles_by_node.setdefault(choice, []).append("minimal")
    if not titles_by_node:
        return
    described = {choice: "; ".join(titles) for choice, titles in titles_by_node.items()}

    def format_node(choice: Node) -> str:
        pairs = zip(lattice.attributes, choice, strict=True)
        levels = ", ".join(f"{trim_title(name, 24)} {level}" for name, level in pairs)
        lost = f" ({write_percent(loss[choice])})" if choice in loss else ""
        return f"{described[choice]}: {levels}{lost}"

    st.selectbox(
        "Or choose a notable node",
        list(described),
        index=None,
        placeholder="Choose a node",
        **attach_widget(
            f"lattice-go-{work.version}",
            node if node in described else None,
            lambda value: state.set_session(set_node(state.get_session(), lattice, value)),
        ),
        format_func=format_node,
    )


def show_node_numbers(lattice: Exploration, counts: Assessment, node: Node) -> None:
    place = counts.places[node]
    suppressed, n = int(counts.suppressed[place]), lattice.n_records
    loss, highest = write_percent(float(counts.loss[place])), len(lattice.per_height) - 1
    about_loss = (
        f"The release loses {loss} of all that it could lose, as the metric counts it; suppressed "
        "records count as a total loss."
    )
    if not counts.satisfying[place]:
        about_loss = (
            "The loss of the table at these levels with nothing suppressed, as the metric counts "
            "it. If the records in classes that do not meet the requirements were suppressed, "
            f"{write_percent(float(counts.loss_suppressed[place]))} would be lost."
        )
    figures = (
        ("k reached ↑ better", write_count(int(counts.reached[place])),
         "The size of the smallest class when up to the allowed number of records are suppressed."),
        ("Classes ↑ better", write_count(int(counts.classes[place])),
         "Groups of records that look the same and meet the requirements."),
        ("Suppressed ↓ better",
         f"{write_count(suppressed)} ({write_percent(100 * suppressed / n)})",
         "Records in classes that do not meet the requirements: the release would leave them out."),
        ("Loss ↓ better", loss, about_loss),
        ("Height", f"{sum(node)} of {highest}",
         f"All columns together rise by {sum(node)} of {highest} levels."),
    )  # fmt: skip
    for where, (label, value, help_text) in zip(st.columns(len(figures)), figures, strict=True):
        where.metric(label, value, help=help_text)


def show_use_button(
    work: SessionState, subject: LatticeInputs, lattice: Exploration, counts: Assessment, node: Node
) -> None:
    satisfies = bool(counts.satisfying[counts.places[node]])
    whole = len(lattice.attributes) == len(work.table.quasi_identifiers)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Use this one",
            type="primary",
            icon=":material/shield:",
            disabled=not (satisfies and whole) or "run" in work.running,
            on_click=run_node,
            args=(lattice, node),
            key="lattice-use",
        )
        sentence = describe_node(lattice, counts, node)
        if not whole:
            sentence += (
                " Include all quasi-identifiers to use this node: a release needs a level for each."
            )
        st.markdown(escape_markdown(sentence), width="content")
        levels = dict(zip(lattice.attributes, node, strict=True))
        if work.settings.node == levels and work.settings.algorithm in ("levels", "mingen"):
            st.page_link(
                "pages/anonymise.py", label="See the release", icon=":material/arrow_forward:"
            )


def run_node(lattice: Exploration, node: Node) -> None:
    state.set_session(take_node(state.get_session(), lattice, node))
    runner.run_request(request_anonymisation)


def show_node_bound(subject: LatticeInputs, counts: Assessment, node: Node) -> None:
    if counts.satisfying[counts.places[node]]:
        about = (subject.settings, node)
        run, _ = state.get_or_compute(
            "lattice-preview", about, partial(build_node_preview, subject, node)
        )
        show_gap(run, about, "lattice")


def show_node_tables(
    subject: LatticeInputs, lattice: Exploration, counts: Assessment, node: Node
) -> None:
    run, (before, after) = state.get_or_compute(
        "lattice-preview", (subject.settings, node), partial(build_node_preview, subject, node)
    )
    before_side, after_side = st.columns(2)
    before_side.subheader("Before")
    before_side.dataframe(
        before, height=get_preview_height(run), hide_index=True, key="lattice-before"
    )
    after_side.subheader("At these levels")
    after_side.dataframe(
        after, height=get_preview_height(run), hide_index=True, key="lattice-after"
    )
    suppressed = int(counts.suppressed[counts.places[node]])
    first, others = write_records(len(after.data)), write_records(suppressed)
    which = (
        f"The first {first} in classes that meet the requirements ({others} in others)."
        if suppressed
        else f"The first {first}."
    )
    st.caption(f"{which} Stronger blue: the cell is generalised further, so it says less.")


def build_node_preview(
    subject: LatticeInputs, node: Node
) -> tuple[Run, tuple[Styler | pd.DataFrame, Styler]]:
    run = build_node_release(subject, node)
    return run, build_before_and_after(run, ROWS)


# --- sentences ---------------------------------------------------------------------------------
def list_labels(labels: list[str], most: int = 3) -> str:
    """The first labels of a column at a level, and how many there are.

    >>> list_labels(["a", "b", "c", "d"])
    'a, b, c … (4)'
    """
    first_labels = ", ".join(trim_title(label, 16) for label in labels[:most])
    return first_labels if len(labels) <= most else f"{first_labels} … ({write_count(len(labels))})"


def describe_node(lattice: Exploration, counts: Assessment, node: Node) -> str:
    place = counts.places[node]
    suppressed, limit = int(counts.suppressed[place]), counts.limit
    if suppressed > limit:
        least = "at least " if lattice.others else ""
        return (
            f"Does not meet the requirements: {least}{write_records(suppressed)} would have to "
            f"be suppressed, but {write_count(limit) if limit else 'none'} may be."
        )
    parts = ["Meets the requirements"]
    if node == lattice.least:
        parts.append("no node loses less")
    if node in lattice.minimal:
        parts.append("minimal: it fails if any column is lowered by one level")
    if node in lattice.mingen_nodes:
        ties = count_noun(len(lattice.mingen_nodes), "node")
        parts.append(
            "MinGen takes it"
            if len(lattice.mingen_nodes) == 1
            else f"one of {ties} among which MinGen lets you choose"
        )
    return "; ".join(parts) + "."
