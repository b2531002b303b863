"""How may each value be blurred? Draw a hierarchy, edit it as a table, build it, load it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kanon.algorithms.mdav import describe_content
from kanon.algorithms.written import FORMS
from kanon.base.formatting import choose_plural, count_noun, write_count
from kanon.base.sentences import write_records
from kanon.charts.difference import draw_what_if
from kanon.errors import list_names
from kanon.experiments.comparison import compare_before_and_after
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.tables import build_level_table
from kanon.studio.hierarchies.builder_preview import show_build_panel, show_preview_head
from kanon.studio.hierarchies.files import (
    describe_unused,
    list_values,
    show_files_panel,
    show_review,
)
from kanon.studio.hierarchies.spellings_panel import show_spellings
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import is_what_if_outdated, request_comparison
from kanon.studio.session import state
from kanon.studio.session.choices import HierarchyChoice
from kanon.studio.session.hierarchy_choices import redo_hierarchy, undo_hierarchy
from kanon.studio.session.parts import Message, RunSettings, SharedView
from kanon.studio.session.run_plan import build_plan, get_level_bounds
from kanon.studio.session.state import attach_widget
from kanon.studio.session.table_state import TableState
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState, list_usable_metrics
from kanon.studio.shell.frame import draw_page_head, get_metric_titles
from kanon.studio.widgets import tree_edits
from kanon.studio.widgets.controls import draw_segments, open_closing_popover
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.how import explain_hierarchies
from kanon.studio.widgets.picture import PictureSettings, get_start_state, show_picture
from kanon.studio.widgets.standings import get_criterion_titles
from kanon.studio.widgets.tables import draw_table_editor
from kanon.studio.widgets.tree import draw_tree_editor

VIEWS = {
    "tree": ":material/account_tree: Tree",
    "levels": ":material/view_column: Levels",
    "edges": ":material/table_rows: Edges",
}


# --- which column -----------------------------------------------------------------------------
def show_columns_row(work: SessionState, column: str) -> None:
    st.pills(
        "Column",
        work.table.hierarchy_columns,
        **attach_widget(
            f"tree-column-{work.version}", column, "column", into=SharedView, keep=True
        ),
        format_func=lambda name: (
            ("" if work.table.choices[name].plan else ":material/error: ")
            + escape_markdown(trim_title(name))
        ),
        label_visibility="collapsed",
    )


# --- coverage ---------------------------------------------------------------------------------
def show_coverage(work: SessionState, column: str, choice: HierarchyChoice) -> None:
    tree = choice.tree
    if tree is None:
        problem = choice.problem or choice.hint or "It has no hierarchy yet."
        st.error(escape_markdown(problem), icon=":material/error:")
        return
    counts = choice.lacking or choice.counts
    values = count_noun(len(counts), "value")
    records = write_records(sum(counts.values()))
    if choice.lacking:
        groups = tree.labels[tree.n_leaves :][::-1]  # the root first
        with st.container(border=True):
            st.markdown(
                f":red[:material/error: **{values} of {records} without a place:** "
                f"{escape_markdown(list_values(choice.lacking))}.] "
                "This hierarchy can be used once they have one."
            )
            if alike := tree_edits.find_look_alikes_of(choice):
                st.button(
                    choose_plural(
                        len(alike),
                        "Treat {count} value as its lookalike",
                        "Treat {count} values as their lookalikes",
                    ),
                    key="tree-alike",
                    on_click=state.try_step,
                    args=(tree_edits.join_look_alikes, column),
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
                    format_func=lambda name: trim_title(name, 60),
                    key=key,
                    width=320,
                )
                st.button(
                    choose_plural(len(choice.lacking), "Add {count} value", "Add {count} values"),
                    type="primary",
                    icon=":material/add:",
                    key="tree-add",
                    on_click=add_values,
                    args=(column, key),
                )
    else:
        st.markdown(
            f":material/check_circle: Every value has a place: {values} of {records}. "
            f"{escape_markdown(tree_edits.describe_tree(choice))}."
        )
    for note in choice.remarks:
        st.caption(escape_markdown(note))
    if choice.unused_values:
        st.caption(escape_markdown(describe_unused(choice.unused_values)))


def add_values(column: str, key: str) -> None:
    state.try_step(tree_edits.add_missing_values, column, state.get_widget_value(key))


# --- the drawing and its tables ---------------------------------------------------------------
def show_view_row(
    work: SessionState, column: str, choice: HierarchyChoice, preview: HierarchyChoice | None
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        # First, so that an open one stays where it is when the others go.
        key = f"{work.version}-{work.table.hierarchy_columns.index(column)}"
        builder = "" if preview is None else preview.builder
        with open_closing_popover(
            "Build", f"tree-build-{key}-{builder}", icon=":material/construction:"
        ):
            show_build_panel(work, column)
        with open_closing_popover(
            "Files", f"tree-files-{key}-{len(work.table.imports)}", icon=":material/folder_open:"
        ):
            show_files_panel(work, column, choice)
        if preview is None:
            view, how = work.shared.tree_view, {"label_visibility": "collapsed", "width": "content"}
            draw_segments("Shown as", VIEWS, "tree-view", view, "tree_view", SharedView, **how)
            choose_weights(work, column, choice)
            is_drawn = choice.tree is not None and tree_edits.can_draw(choice.tree)
            if view != "tree" or not is_drawn:
                show_step_buttons(work, column)  # the drawing has its own


def show_step_buttons(work: SessionState, column: str) -> None:
    history = work.table.get_history(column)
    for label, icon, step, steps in (
        ("Undo", ":material/undo:", undo_hierarchy, history.past),
        ("Redo", ":material/redo:", redo_hierarchy, history.future),
    ):
        st.button(
            label,
            type="tertiary",
            icon=icon,
            disabled=not steps,
            key=f"tree-{step.__name__}",
            on_click=state.try_step,
            args=(step, column),
        )


def choose_weights(work: SessionState, column: str, choice: HierarchyChoice) -> None:
    has_weights = choice.tree is not None and choice.tree.weight is not None
    metrics = [name for name in list_usable_metrics(work) if name != "custom"]
    options = ["", *([tree_edits.DRAWN] if has_weights else []), *metrics]
    titles = {name: f"Weights: {title}" for name, title in get_metric_titles(work).items()}
    titles |= {"": "No weights", tree_edits.DRAWN: "My weights"}
    key = f"tree-shown-{work.version}"
    st.selectbox(
        "Weights on the edges",
        options,
        **attach_widget(
            key, tree_edits.get_shown_weights_name(work, choice), "shown", into=SharedView
        ),
        format_func=lambda name: titles[name],
        label_visibility="collapsed",
        width=190,
    )
    if work.shared.shown and work.shared.shown != tree_edits.DRAWN:
        columns = list(dict.fromkeys([column, *tree_edits.list_unweighed_columns(work)]))
        st.button(
            "Replace my weights" if has_weights else "Copy as my weights",
            key="tree-take",
            on_click=take_weights,
            args=(work.shared.shown, columns),
            help="Copies these weights to the edges of this hierarchy, where you can change them, "
            "and to hierarchies that do not have your own weights yet. The metric Custom then "
            "uses them. Clicking one weight does the same, but only for this hierarchy.",
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


def choose_class_form(work: SessionState, column: str, tree: Hierarchy) -> None:
    """Offer what is released for the numbers of a class; nothing for other columns."""
    if column not in work.table.quasi_identifiers or describe_content(tree, plain=False):
        return
    st.selectbox(
        "Released as",
        ["", *FORMS],
        **attach_widget(
            f"written-{work.version}-{work.table.hierarchy_columns.index(column)}",
            work.table.written.get(column, ""),
            apply_class_form,
            column,
        ),
        format_func=lambda form: f"Of each class: {FORMS[form]}" if form else "Group of the tree",
        help="What the release shows for the numbers of a class. The lowest and the highest value, "
        "a median and the most frequent value are values of people in the class; a mean is not, "
        "unless all values of the class are equal.",
        width=360,
    )


def apply_class_form(column: str, form: Any) -> None:
    written = {**state.get_session().table.written, column: form}
    state.update_fields(TableState, written={name: form for name, form in written.items() if form})


def show_weights_note(work: SessionState, choice: HierarchyChoice) -> None:
    others = tree_edits.list_unweighed_columns(work)
    if choice.tree is None or choice.tree.weight is None or not others:
        return
    have = "has" if len(others) == 1 else "have"
    st.caption(
        "The metric Custom uses your weights once every hierarchy has some; "
        f"{escape_markdown(list_names(others))} {have} none yet: "
        "choose weights there, and copy them as yours."
    )


def take_weights(metric: str, columns: Sequence[str]) -> None:
    if state.try_update(lambda: tree_edits.set_drawn_weights(state.get_session(), metric, columns)):
        state.update_fields(SharedView, shown=tree_edits.DRAWN if metric else "")


def show_tree(work: SessionState, column: str, tree: Hierarchy, choice: HierarchyChoice) -> None:
    if not tree_edits.can_draw(tree):
        st.info(
            "This tree is too large to draw: "
            f"{escape_markdown(tree_edits.describe_tree(choice))}. The limit is "
            f"{write_count(tree_edits.LARGEST_DRAWING)} values. Builders and files still work."
        )
        return
    draw_tree_editor(
        tree_edits.build_drawing(work, column, choice),
        key="tree-editor",
        edited=partial(state.try_step, tree_edits.apply_operation),
    )


def choose_level_bounds(work: SessionState, column: str, top: int) -> None:
    least, most = get_level_bounds(work, column)
    shown = least, top if most is None else most
    st.slider(
        "Levels that a release may show",
        0,
        top,
        **attach_widget(f"levels-{column}-{top}-bounds", shown, take_level_bounds, column, top),
        help="Level 0 is the exact value. If the requirements cannot be met between the two "
        "levels, the run is refused, or records are suppressed if you allow that.",
        width=320,
    )


def take_level_bounds(column: str, top: int, chosen: tuple[int, int]) -> None:
    bounds = dict(state.get_session().settings.level_bounds)
    bounds.pop(column, None)
    if chosen != (0, top):
        bounds[column] = chosen[0], None if chosen[1] == top else chosen[1]
    state.update_fields(RunSettings, level_bounds=bounds)


def show_levels(work: SessionState, column: str, tree: Hierarchy) -> None:
    if column in work.table.quasi_identifiers and tree.height > 1:
        choose_level_bounds(work, column, tree.height - 1)
    st.caption(
        "One line per value: its groups from fine to coarse. A cell that repeats its left "
        "neighbour skips that level. You can paste cells from a spreadsheet. Changes take effect "
        "when you press Apply the table."
    )
    draw_table_editor(
        f"levels-{column}",
        (work.version, column, work.table.get_history(column).version),
        lambda: build_level_table(tree),
        lambda edited: take_table(tree_edits.set_levels_table, column, edited),
    )


def show_edges(work: SessionState, column: str, tree: Hierarchy) -> None:
    st.caption(
        "One line per edge, with your weights: give every edge a weight, or none. To make a "
        "group, name it as a parent. Changes take effect when you press Apply the table."
    )
    draw_table_editor(
        f"edges-{column}",
        (work.version, column, work.table.get_history(column).version),
        lambda: tree_edits.build_edge_texts(tree),
        lambda edited: take_table(tree_edits.set_edge_table, column, edited),
    )


def take_table(step: Callable[..., SessionState], column: str, edited: pd.DataFrame) -> None:
    if state.try_update(lambda: step(state.get_session(), column, edited)):
        notice = "The edited table is now the hierarchy. Undo brings back the earlier one."
        state.update_sections(Message(notice=notice))


def show_preview(work: SessionState, column: str, preview: HierarchyChoice) -> None:
    show_preview_head(work, column, preview)
    if preview.tree is not None and tree_edits.can_draw(preview.tree):
        data = {**tree_edits.build_drawing(work, column, preview, editable=False), "bare": True}
        draw_tree_editor(data, key="tree-preview", edited=lambda operation: None)


# --- what if ----------------------------------------------------------------------------------
def show_what_if(work: SessionState) -> None:
    st.subheader("What if you anonymised with these hierarchies?")
    with st.container(horizontal=True, vertical_alignment="center"):
        first = work.findings.comparison is None
        st.button(
            "Compare with these hierarchies" if first else "Compare again: before and after",
            icon=":material/play_arrow:",
            key="what-if",
            disabled="comparison" in work.running,
            on_click=runner.run_request,
            args=(request_comparison, True),
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
    changes = compare_before_and_after(before, after, work.settings.k)
    if not len(changes):
        st.info("The two comparisons have no metric in common; compare again.")
        return
    if is_what_if_outdated(work):
        st.caption("Settings have changed since; compare again to see the effect.")
    about = "|".join([*(part.key for part in work.findings.what_if), str(work.settings.k)])
    show_picture(
        draw_what_if(changes, get_criterion_titles(after), work.settings.metric),
        lambda: changes.reset_index(),
        "before-and-after",
        about,
        PictureSettings.from_comparison(
            get_start_state(work, "comparison"), after, work.settings.k
        ),
    )
    if before.requirement != after.requirement:
        then, now = (part.requirement or "Lines meet k only." for part in (before, after))
        st.caption(escape_markdown(f"Before: {then} After: {now}"))
    elif after.requirement:
        st.caption(escape_markdown(after.requirement))
    st.caption(
        "Each percentage is a share of the most that could be lost with its own hierarchies, so "
        "the two scales differ where a tree has changed. Other changes in between, such as to "
        "roles or the algorithm, also have an effect."
    )


# --- the page ---------------------------------------------------------------------------------
def page() -> None:
    work = draw_page_head("How may each value be blurred?", as_toast=True)
    column = work.drawn_column
    if column is None:
        st.info("No column is a quasi-identifier yet, and only quasi-identifiers have hierarchies.")
        st.page_link("pages/data.py", label="Choose roles on Data", icon=":material/arrow_forward:")
        return
    show_columns_row(work, column)
    if work.table.imports:
        show_review(work)
    show_editor(work, column, work.table.choices[column])
    show_what_if(work)
    with st.expander("How it is computed"):
        st.markdown(explain_hierarchies())
        draw_code_buttons("hierarchies", lambda: build_plan(work), {"COLUMN": column})
    with st.container(horizontal=True):
        st.page_link("pages/metrics.py", label="See what it costs", icon=":material/grid_on:")
        st.page_link("pages/anonymise.py", label="Anonymise", icon=":material/arrow_forward:")


def show_editor(work: SessionState, column: str, choice: HierarchyChoice) -> None:
    show_coverage(work, column, choice)
    preview = work.table.previews.get(column)
    show_view_row(work, column, choice, preview)
    if preview is not None:
        show_preview(work, column, preview)
        return
    show_weights_note(work, choice)
    show_spellings(work, column)
    if choice.tree is None:
        return
    choose_class_form(work, column, choice.tree)
    if work.shared.tree_view == "tree":
        show_tree(work, column, choice.tree, choice)
    elif work.shared.tree_view == "levels":
        show_levels(work, column, choice.tree)
    else:
        show_edges(work, column, choice.tree)
