"""Which choice is better here? Metrics and strategies side by side, over every k."""

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from kanon.base.formatting import write_count
from kanon.errors import PlanError
from kanon.experiments.comparison import Comparison
from kanon.studio.compare.board import show_board
from kanon.studio.compare.choices_panel import show_hints, show_line_choices
from kanon.studio.compare.code import draw_comparison_code
from kanon.studio.compare.kept_panel import build_kept_board, show_board_titles, show_way_back
from kanon.studio.compare.searches_panel import show_searches
from kanon.studio.compare.tables_panel import OF_CURRENT_LINES, choose_table, show_chosen_table
from kanon.studio.compare.use_line import show_line_use, take_line
from kanon.studio.jobs.comparison import ComparisonOutlook, describe_comparison
from kanon.studio.session import state
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import draw_page_head, show_classes_in_engine, show_unready
from kanon.studio.widgets.how import explain_comparison
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, get_start_state


def get_last_comparison(work: SessionState) -> tuple[Comparison | None, str, str]:
    if work.findings.comparison is None:
        return None, "", ""
    last = work.findings.comparison.comparison
    visible = last.only([line.name for line in last.lines], work.compare.bands and last.has_bands)
    key = f"{work.findings.comparison.key}|{visible.has_bands}"
    return visible, key, key


def draw_curves(
    work: SessionState,
    comparison: Comparison,
    k: int,
    key: Hashable,
    about: str,
    settings: PictureSettings,
) -> None:
    show_board(
        comparison,
        k,
        take_k,
        key,
        about,
        settings,
        lambda place, k: take_line(comparison.lines[place], k),
    )
    if k != work.settings.k:
        st.caption(
            f"k = {write_count(work.settings.k)} was not "
            f"computed; the numbers are for k = {write_count(k)}, "
            f"the nearest. Press Compare to compute k = {write_count(work.settings.k)}."
        )
    elif lacks := comparison.describe_lacks([k]):
        untried = any(
            not line.knows([k])[0] and not line.explain_lack(k) for line in comparison.lines
        )
        hint = f" Press Compare to compute k = {write_count(k)}." if untried else ""
        st.caption(escape_markdown(f"{lacks}{hint}"))
    draw_data_button("Data of the curves", comparison.table, "curves", about, kind="tertiary")


def show_kept_board(work: SessionState, status: ComparisonOutlook) -> bool:
    """Show the kept comparisons that were chosen; whether there are any."""
    try:
        board = build_kept_board(work, status)
    except PlanError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        show_way_back()
        return True
    if board is None:
        return False
    show_board_titles(board)
    comparison = board.comparison.add_k(work.settings.k)
    k = comparison.nearest(work.settings.k)
    key = (board.key, comparison.ks)
    settings = PictureSettings.from_texts(
        "Kept", board.titles[0], [], *board.titles[1:], k=k, counting=comparison.of
    )
    show_board(comparison, k, take_k, key, board.key, settings, has_costs=False)
    draw_data_button("Data of the curves", comparison.table, "curves", board.key, kind="tertiary")
    if work.compare.visible_table in OF_CURRENT_LINES:
        work = work.replace_sections(replace(work.compare, visible_table="areas"))
    choose_table(work, True, kept=True)
    show_chosen_table(work, status, comparison, k, key, board.key, settings)
    return True


def take_k(k: int) -> None:
    state.update_sections(replace(state.get_session().settings, k=k))


def page() -> None:
    work = draw_page_head("Which choice is better here?", as_toast=True)
    show_unready(work)
    if show_classes_in_engine(work):
        return
    status = describe_comparison(work)
    show_line_choices(work, status)
    with st.container():  # always there, so that what follows stays where it is
        show_hints(work, status)
    comparison, fingerprint, about = (status.comparison, status.key, status.key)
    if comparison is None:
        comparison, fingerprint, about = get_last_comparison(work)
    if show_kept_board(work, status):
        return
    is_old = (status.comparison is None and not status.unfinished) or "comparison" in work.running
    faint = f"{{ opacity: {0.45 if is_old else 1}; }}"
    st.html(f"<style>.st-key-compared {faint} .st-key-compared-numbers {faint}</style>")
    if comparison is None or not (status.lines or status.problem):
        choose_table(work, False)
        if work.compare.visible_table == "searches":
            show_searches(work)
        return
    comparison = comparison.add_k(work.settings.k)
    key, about = (fingerprint, comparison.ks), f"{about}|{comparison.ks}"
    k = comparison.nearest(work.settings.k)
    work_then = get_start_state(work, "comparison") if status.comparison is None else work
    settings = PictureSettings.from_comparison(work_then, comparison, k)
    with st.container(key="compared"):
        draw_curves(work, comparison, k, key, about, settings)
    show_line_use(work, comparison, k)
    choose_table(work, True)
    if work.compare.visible_table == "searches":
        show_searches(work)
        return
    with st.container(key="compared-numbers"):
        show_chosen_table(work, status, comparison, k, key, about, settings)
        with st.expander("How it is computed"):
            st.markdown(explain_comparison(comparison))
            if status.comparison is not None:
                draw_comparison_code(work, status.lines, comparison, key)
