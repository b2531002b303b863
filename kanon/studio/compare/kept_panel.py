"""Kept comparisons: keep the current one, open it again, put it beside another, delete it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import count_noun, write_count
from kanon.errors import PlanError
from kanon.experiments.comparison import Comparison
from kanon.experiments.kept_comparisons import MOST_KEPT, KeptComparison, put_beside
from kanon.studio.compare.state import CompareView
from kanon.studio.jobs.comparison import ComparisonOutlook, describe_comparison
from kanon.studio.session import state
from kanon.studio.session.named_configurations import check_configuration_title
from kanon.studio.session.parts import Message
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState

_AT = "kept-comparisons"  # beside which control messages are shown


class KeptBoard(NamedTuple):
    titles: tuple[str, ...]  # What it shows: one kept comparison, or two
    comparison: Comparison
    key: str


def build_entry(work: SessionState, status: ComparisonOutlook, title: str) -> KeptComparison:
    """The current comparison, with its inputs in a sentence that has no value of the table."""
    if status.comparison is None:
        raise PlanError("Press Compare first: only a finished comparison can be kept.")
    comparison, k = status.comparison.add_k(work.settings.k), write_count(work.settings.k)
    facts = [
        f"{column} ({count_noun(tree.height, 'level')}, {count_noun(tree.n_nodes, 'group')})"
        for column, tree in status.lines[0].ground.trees.items()
    ]
    about = (
        f"{work.table.title}, {write_count(comparison.n_records)} {comparison.of}; hierarchies: "
        f"{', '.join(facts)}; k = {k}. {comparison.requirement or 'Lines meet k only.'}"
    )
    return KeptComparison(title, about, comparison)


def keep_comparison(work: SessionState, title: str) -> SessionState:
    entry = build_entry(work, describe_comparison(work), title)
    if len(work.kept.comparisons) >= MOST_KEPT:
        raise PlanError(f"At most {MOST_KEPT} comparisons can be kept; delete one first.")
    notice = "The comparison is kept. Save the project to have it another day."
    return _add_entry(work, entry).add_notice(notice)


def delete_comparison(work: SessionState, title: str) -> SessionState:
    deleted = next(entry for entry in work.kept.comparisons if entry.title == title)
    others = tuple(entry for entry in work.kept.comparisons if entry is not deleted)
    return work.replace_sections(replace(work.kept, comparisons=others, deleted_comparison=deleted))


def restore_comparison(work: SessionState) -> SessionState:
    """Bring back the comparison that was deleted last."""
    deleted = work.kept.deleted_comparison
    return work if deleted is None else _add_entry(work, deleted)


def _add_entry(work: SessionState, entry: KeptComparison) -> SessionState:
    titles = [other.title for other in work.kept.comparisons]
    title = check_configuration_title(entry.title, titles, "kept comparison")
    comparisons = (*work.kept.comparisons, replace(entry, title=title))
    return work.replace_sections(
        replace(work.kept, comparisons=comparisons, deleted_comparison=None)
    )


def build_kept_board(work: SessionState, status: ComparisonOutlook) -> KeptBoard | None:
    """The kept comparisons that are on the board; None while it shows only the current one."""
    view, kept = work.view(CompareView), {entry.title: entry for entry in work.kept.comparisons}
    entries = [kept[title] for title in (view.opened, view.beside) if title in kept]
    if not entries:
        return None
    # Another comparison of the same name and inputs is another object.
    ids = [id(entry) for entry in entries]
    if view.opened not in kept and status.comparison is not None:
        entries.insert(0, build_entry(work, status, "Now"))
    if len(entries) == 1:
        (entry,) = entries
        titles, comparison = [f"{entry.title}: {entry.about}"], entry.comparison
    else:
        titles = [f"({n}) {entry.title}: {entry.about}" for n, entry in enumerate(entries, 1)]
        comparison = put_beside(*(entry.comparison for entry in entries))
    return KeptBoard(tuple(titles), comparison, compute_fingerprint(titles, status.key, ids))


def show_board_titles(board: KeptBoard) -> None:
    for title in board.titles:
        st.markdown(escape_markdown(title))
    if len(board.titles) > 1:
        st.caption(
            "The same colour is the same choice in both: (1) as always, (2) in dots with the other "
            "kind of markers. Only k and metrics that both know are shown. Each is measured by its "
            "own table and hierarchies, so a rank between the two compares more than the choice."
        )
    show_way_back()


def show_way_back() -> None:
    label, icon = "Back to the current comparison", ":material/arrow_back:"
    st.button(label, icon=icon, key="kept-back", on_click=_show_entries, args=("", ""))


def show_kept_comparisons(work: SessionState, status: ComparisonOutlook) -> None:
    kept, deleted = work.kept.comparisons, work.kept.deleted_comparison
    count = f" ({len(kept)})" if kept else ""
    with st.popover(f"Kept comparisons{count}", icon=":material/inventory_2:"):
        state.show_message_at(_AT)
        _show_keep_fields(work, status)
        for place, entry in enumerate(kept):
            opened, title = work.view(CompareView).opened, entry.title
            with st.container(border=True, key=f"kept-comparison-{place}"):
                st.markdown(f"**{escape_markdown(title)}**")
                st.caption(escape_markdown(entry.about))
                with st.container(horizontal=True):
                    for label, icon, act in (
                        ("Open", "open_in_full", partial(_show_entries, title, "")),
                        ("Put beside", "compare", partial(_show_entries, opened, title)),
                        ("Delete", "close", partial(_try_change, delete_comparison, title)),
                    ):
                        key = f"kept-comparison-{place}-{icon}"
                        st.button(label, icon=f":material/{icon}:", key=key, on_click=act)
        if deleted is not None:
            st.button(
                f"Restore {escape_markdown(deleted.title)}",
                icon=":material/undo:",
                key="kept-comparison-restore",
                on_click=_try_change,
                args=(restore_comparison,),
            )


def _show_keep_fields(work: SessionState, status: ComparisonOutlook) -> None:
    st.markdown(
        "**Keep this comparison**, to open it again or put another one beside it. *Project* saves "
        "it: its numbers and settings, and no record of the table."
    )
    suggested = trim_title(work.table.title, 30)
    number = sum(kept.title.startswith(suggested) for kept in work.kept.comparisons)
    suggested = f"{suggested} {number + 1}" if number else suggested
    with st.container(horizontal=True, vertical_alignment="bottom"):
        field = f"keep-comparison-name-{len(work.kept.comparisons)}"
        st.text_input("Name", key=field, placeholder=suggested)
        st.button(
            "Keep this comparison",
            key="keep-comparison",
            disabled=status.comparison is None,
            on_click=lambda: _try_change(
                keep_comparison, state.get_widget_value(field) or suggested
            ),
        )
    if status.comparison is None:
        st.caption("Press Compare first: only a finished comparison can be kept.")


def _show_entries(opened: str, beside: str) -> None:
    view = state.get_session().view(CompareView)
    state.update_sections(replace(view, opened=opened, beside=beside, filling=None))


def _try_change(change: Callable[..., SessionState], *title: str) -> None:
    state.try_update(
        lambda: change(state.get_session().replace_sections(Message(problem_at=_AT)), *title),
        problem_at=_AT,
    )
