"""How may each value be blurred? Draw a hierarchy, edit it as a table, build it, load it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import counted, one_or_many, thin
from kanon.base.sentences import records_said
from kanon.charts.difference import what_if_chart
from kanon.errors import listing
from kanon.experiments.comparison import before_and_after
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.tables import level_table
from kanon.studio.hierarchies.builder_preview import build_panel, preview_head
from kanon.studio.hierarchies.files import files_panel, review, said_unused, said_values
from kanon.studio.hierarchies.spellings_panel import spellings_panel
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import comparison_outdated, comparison_request
from kanon.studio.session import state
from kanon.studio.session.choices import HierarchyChoice
from kanon.studio.session.hierarchy_choices import redone, undone
from kanon.studio.session.parts import Message, SharedView
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work, usable_metrics
from kanon.studio.shell.frame import head, metric_titles
from kanon.studio.widgets import tree_edits
from kanon.studio.widgets.controls import closing_popover, segments
from kanon.studio.widgets.how import how_hierarchies
from kanon.studio.widgets.picture import PictureSettings, begun_with, picture
from kanon.studio.widgets.standings import titles_of
from kanon.studio.widgets.tables import table_editor
from kanon.studio.widgets.tree import tree_editor

VIEWS = {
    "tree": ":material/account_tree: Tree",
    "levels": ":material/view_column: Levels",
    "edges": ":material/table_rows: Edges",
}


# --- which column -----------------------------------------------------------------------------
def columns_row(work: Work, column: str) -> None:
    st.pills(
        "Column",
        work.table.hierarchy_columns,
        **bound(f"tree-column-{work.version}", column, take_column),
        format_func=lambda name: (
            ("" if work.table.choices[name].plan else ":material/error: ") + plain(shortened(name))
        ),
        label_visibility="collapsed",
    )


def take_column(column: Any) -> None:
    if column is not None:
        state.change(replace(state.work().shared, column=column))


# --- coverage ---------------------------------------------------------------------------------
def coverage_strip(work: Work, column: str, choice: HierarchyChoice) -> None:
    tree = choice.tree
    if tree is None:
        problem = choice.problem or choice.hint or "It has no hierarchy yet."
        st.error(plain(problem), icon=":material/error:")
        return
    counts = choice.lacking or choice.counts
    values = counted(len(counts), "value")
    records = records_said(sum(counts.values()))
    if choice.lacking:
        groups = tree.labels[tree.n_leaves :][::-1]  # the root first
        with st.container(border=True):
            st.markdown(
                f":red[:material/error: **{values} of {records} without a place:** "
                f"{plain(said_values(choice.lacking))}.] This hierarchy can be used once they "
                "have one."
            )
            if alike := tree_edits.find_look_alikes_of(choice):
                st.button(
                    one_or_many(
                        len(alike),
                        "Treat {count} value as its lookalike",
                        "Treat {count} values as their lookalikes",
                    ),
                    key="tree-alike",
                    on_click=take_step,
                    args=(tree_edits.with_alike_as_one, column),
                    help="They differ only in their Unicode form, blanks or invisible characters.",
                )
            if not groups:
                st.caption("It has no group to add them to: build or load another hierarchy.")
                return
            with st.container(horizontal=True, vertical_alignment="bottom"):
                key = f"tree-under-{work.version}-{work.table.hierarchy_columns.index(column)}"
                st.selectbox(
                    "Add under",
                    groups,
                    format_func=lambda name: shortened(name, 60),
                    key=key,
                    width=320,
                )
                st.button(
                    one_or_many(len(choice.lacking), "Add {count} value", "Add {count} values"),
                    type="primary",
                    icon=":material/add:",
                    key="tree-add",
                    on_click=add_values,
                    args=(column, key),
                )
    else:
        st.markdown(
            f":material/check_circle: Every value has a place: {values} of {records}. "
            f"{plain(tree_edits.summary(choice))}."
        )
    for note in choice.remarks:
        st.caption(plain(note))
    if choice.unused:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(plain(said_unused(choice.unused)), width="content")
            if not tree_edits.removable(choice):
                return
            st.button(
                "Remove them",
                type="tertiary",
                key="tree-remove",
                on_click=take_step,
                args=(tree_edits.without_unused, column),
            )


def add_values(column: str, key: str) -> None:
    state.attempt(lambda: tree_edits.with_added(state.work(), column, state.typed(key)))


def take_step(step: Callable[[Work, str], Work], column: str) -> None:
    state.attempt(lambda: step(state.work(), column))


# --- the drawing and its tables ---------------------------------------------------------------
def view_row(
    work: Work, column: str, choice: HierarchyChoice, preview: HierarchyChoice | None
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        # First, so that an open one stays where it is when the others go.
        key = f"{work.version}-{work.table.hierarchy_columns.index(column)}"
        builder = "" if preview is None else preview.builder
        with closing_popover(
            "Build", f"tree-build-{key}-{builder}", icon=":material/construction:"
        ):
            build_panel(work, column)
        with closing_popover(
            "Files", f"tree-files-{key}-{len(work.table.imports)}", icon=":material/folder_open:"
        ):
            files_panel(work, column, choice)
        if preview is None:
            view, how = work.shared.tree_view, {"label_visibility": "collapsed", "width": "content"}
            segments("Shown as", VIEWS, "tree-view", view, "tree_view", SharedView, **how)
            weights_choice(work, column, choice)
            is_drawn = choice.tree is not None and tree_edits.drawable(choice.tree)
            if view != "tree" or not is_drawn:
                step_buttons(work, column)  # the drawing has its own


def step_buttons(work: Work, column: str) -> None:
    history = work.table.history(column)
    for label, icon, step, steps in (
        ("Undo", ":material/undo:", undone, history.past),
        ("Redo", ":material/redo:", redone, history.future),
    ):
        st.button(
            label,
            type="tertiary",
            icon=icon,
            disabled=not steps,
            key=f"tree-{step.__name__}",
            on_click=take_step,
            args=(step, column),
        )


def weights_choice(work: Work, column: str, choice: HierarchyChoice) -> None:
    has_weights = choice.tree is not None and choice.tree.weight is not None
    metrics = [name for name in usable_metrics(work) if name != "custom"]
    options = ["", *([tree_edits.DRAWN] if has_weights else []), *metrics]
    titles = {name: f"Weights: {title}" for name, title in metric_titles(work).items()}
    titles |= {"": "No weights", tree_edits.DRAWN: "My weights"}
    key = f"tree-shown-{work.version}"
    st.selectbox(
        "Weights on the edges",
        options,
        **bound(key, tree_edits.shown_now(work, choice), "shown", into=SharedView),
        format_func=lambda name: titles[name],
        label_visibility="collapsed",
        width=190,
    )
    if work.shared.shown and work.shared.shown != tree_edits.DRAWN:
        columns = list(dict.fromkeys([column, *tree_edits.unweighed(work)]))
        st.button(
            "Replace my weights" if has_weights else "Copy as my weights",
            key="tree-take",
            on_click=take_weights,
            args=(work.shared.shown, columns),
            help="Copies these weights to the edges of this hierarchy, where you can change them, "
            "and to hierarchies without weights of yours. Then the metric Custom uses them. A "
            "click on one weight does the same for this hierarchy alone.",
        )
    elif work.shared.shown == tree_edits.DRAWN and has_weights:
        st.button(
            "Delete my weights",
            key="tree-drop",
            type="tertiary",
            on_click=take_weights,
            args=("", [column]),
            help="Removes your weights from the edges of this hierarchy.",
        )


def weights_note(work: Work, choice: HierarchyChoice) -> None:
    others = tree_edits.unweighed(work)
    if choice.tree is None or choice.tree.weight is None or not others:
        return
    start = work.settings.metric if work.settings.metric in usable_metrics(work) else "nllm"
    have = "has" if len(others) == 1 else "have"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "The metric Custom uses your weights once every hierarchy has some; "
            f"{plain(listing(others))} {have} none yet.",
            width="content",
        )
        st.button(
            f"Copy the weights of {plain(metric_titles(work)[start])}",
            key="tree-give",
            type="tertiary",
            on_click=take_weights,
            args=(start, others),
        )


def take_weights(metric: str, columns: Sequence[str]) -> None:
    if state.attempt(lambda: tree_edits.with_drawn_weights(state.work(), metric, columns)):
        state.change(replace(state.work().shared, shown=tree_edits.DRAWN if metric else ""))


def tree_view(work: Work, column: str, tree: Hierarchy, choice: HierarchyChoice) -> None:
    if not tree_edits.drawable(tree):
        st.info(
            f"This tree is too large to draw: {plain(tree_edits.summary(choice))}. The limit is "
            f"{thin(tree_edits.LARGEST_DRAWING)} values. Builders and files still work."
        )
        return
    tree_editor(
        tree_edits.picture(work, column, choice),
        key="tree-editor",
        edited=lambda operation: state.put(tree_edits.edited(state.work(), operation)),
    )


def levels_view(work: Work, column: str, tree: Hierarchy) -> None:
    st.caption(
        "One line per value: its groups from fine to coarse. A cell that repeats its left "
        "neighbour skips that level. You can paste cells from a spreadsheet. Changes count once "
        "you press Apply the table."
    )
    table_editor(
        f"levels-{column}",
        (work.version, column, work.table.history(column).version),
        lambda: level_table(tree),
        lambda edited: take_table(lambda: tree_edits.with_levels(state.work(), column, edited)),
    )


def edges_view(work: Work, column: str, tree: Hierarchy) -> None:
    st.caption(
        "One line per edge, with your weights: give every edge a weight, or none. To make a "
        "group, name it as a parent. Changes count once you press Apply the table."
    )
    table_editor(
        f"edges-{column}",
        (work.version, column, work.table.history(column).version),
        lambda: tree_edits.edge_texts(tree),
        lambda edited: take_table(lambda: tree_edits.with_edges(state.work(), column, edited)),
    )


def take_table(make: Callable[[], Work]) -> None:
    if state.attempt(make):
        notice = "The table is now the hierarchy. Undo brings back the earlier one."
        state.change(Message(notice=notice))


def preview_view(work: Work, column: str, preview: HierarchyChoice) -> None:
    preview_head(work, column, preview)
    if preview.tree is not None and tree_edits.drawable(preview.tree):
        data = {**tree_edits.picture(work, column, preview, editable=False), "bare": True}
        tree_editor(data, key="tree-preview", edited=lambda operation: None)


# --- what if ----------------------------------------------------------------------------------
def what_if(work: Work) -> None:
    st.subheader("What if you anonymised with these hierarchies?")
    with st.container(horizontal=True, vertical_alignment="center"):
        first = work.findings.comparison is None
        st.button(
            "Compare with these hierarchies" if first else "Compare again: before and after",
            icon=":material/play_arrow:",
            key="what-if",
            disabled="comparison" in work.running,
            on_click=runner.run,
            args=(comparison_request, True),
        )
    if work.findings.what_if is None:
        st.caption(
            "Runs the metrics chosen on Compare with the current hierarchies. "
            + (
                "Then change something and compare again to see before and after."
                if first
                else "Change something above, then compare again."
            )
        )
        return
    before, after = (findings.comparison for findings in work.findings.what_if)
    changes = before_and_after(before, after, work.settings.k)
    if not len(changes):
        st.info("The two comparisons have no metric in common; compare again.")
        return
    if comparison_outdated(work):
        st.caption("Settings have changed since; compare again to see the effect.")
    about = (
        f"{work.findings.what_if[0].settings}|{work.findings.what_if[1].settings}|{work.settings.k}"
    )
    picture(
        what_if_chart(changes, titles_of(after), work.settings.metric),
        lambda: changes.reset_index(),
        "before-and-after",
        about,
        PictureSettings.of_comparison(begun_with(work, "comparison"), after, work.settings.k),
    )
    st.caption(
        "Each percentage is a share of the most that its own hierarchies could lose, so the two "
        "scales differ where a tree has changed. Other changes in between, such as roles or the "
        "algorithm, count too."
    )


# --- the page ---------------------------------------------------------------------------------
def page() -> None:
    work = head("How may each value be blurred?", aloud=True)
    column = work.drawn_column
    if column is None:
        st.info("No column is a quasi-identifier yet, and only quasi-identifiers have hierarchies.")
        st.page_link("pages/data.py", label="Choose roles on Data", icon=":material/arrow_forward:")
        return
    columns_row(work, column)
    if work.table.imports:
        review(work)
    editor(work, column, work.table.choices[column])
    what_if(work)
    with st.expander("How it is computed"):
        st.markdown(how_hierarchies())
    with st.container(horizontal=True):
        st.page_link("pages/metrics.py", label="See what it costs", icon=":material/grid_on:")
        st.page_link("pages/anonymise.py", label="Anonymise", icon=":material/arrow_forward:")


def editor(work: Work, column: str, choice: HierarchyChoice) -> None:
    coverage_strip(work, column, choice)
    preview = work.table.previews.get(column)
    view_row(work, column, choice, preview)
    if preview is not None:
        preview_view(work, column, preview)
        return
    weights_note(work, choice)
    spellings_panel(work, column)
    if choice.tree is None:
        return
    if work.shared.tree_view == "tree":
        tree_view(work, column, choice.tree, choice)
    elif work.shared.tree_view == "levels":
        levels_view(work, column, choice.tree)
    else:
        edges_view(work, column, choice.tree)
