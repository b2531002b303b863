"""Kept comparisons: keep the current one, open it again, put it beside another, delete it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from kanon import __version__
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import count_noun, write_count
from kanon.errors import PlanError
from kanon.experiments.comparison import Comparison
from kanon.experiments.kept_comparisons import KeptComparison, put_beside
from kanon.studio.compare.state import CompareView
from kanon.studio.jobs.comparison import ComparisonOutlook, describe_comparison
from kanon.studio.jobs.configurations import PlannedLine
from kanon.studio.session import state
from kanon.studio.session.named_configurations import check_configuration_title
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.picture import PictureSettings
from kanon.studio.widgets.requirements import list_sensitive_models

MOST_KEPT = 20
_AT = "kept-comparisons"  # beside which control messages are shown


def describe_inputs(work: SessionState, lines: Sequence[PlannedLine], records: int) -> str:
    """The table, hierarchies, k and models of a comparison, without a value of the table."""
    plan, trees = lines[0].ground.plan, lines[0].ground.trees
    facts = [
        f"{column} ({count_noun(tree.height, 'level')}, {count_noun(tree.n_nodes, 'group')})"
        for column, tree in trees.items()
    ]
    counts = "records" if plan.person is None else "persons"
    models = [model.sentence for model in list_sensitive_models(plan)]
    return (
        f"{work.table.title}, {write_count(records)} {counts}; hierarchies: {', '.join(facts)}; "
        f"k = {write_count(work.settings.k)}; {'; '.join(models) or 'no other model than k'}"
    )


def keep_comparison(work: SessionState, title: str) -> SessionState:
    status = describe_comparison(work)
    if status.comparison is None:
        raise PlanError("Press Compare first: only a finished comparison can be kept.")
    if len(work.kept.comparisons) >= MOST_KEPT:
        raise PlanError(f"At most {MOST_KEPT} comparisons can be kept; delete one first.")
    taken = [kept.title for kept in work.kept.comparisons]
    title = check_configuration_title(title, taken, "kept comparison")
    comparison = status.comparison.add_k(work.settings.k)
    about = describe_inputs(work, status.lines, comparison.n_records)
    kept = KeptComparison(title, about, comparison)
    return _replace_kept(work, (*work.kept.comparisons, kept)).add_notice(
        "The comparison is kept. Save the project to have it another day."
    )


def delete_comparison(work: SessionState, title: str) -> SessionState:
    deleted = next(kept for kept in work.kept.comparisons if kept.title == title)
    left = tuple(kept for kept in work.kept.comparisons if kept is not deleted)
    return _replace_kept(work, left, deleted)


def restore_comparison(work: SessionState) -> SessionState:
    """Bring back the comparison that was deleted last."""
    deleted = work.kept.deleted_comparison
    if deleted is None:
        return work
    check_configuration_title(
        deleted.title, [kept.title for kept in work.kept.comparisons], "kept comparison"
    )
    return _replace_kept(work, (*work.kept.comparisons, deleted))


def _replace_kept(
    work: SessionState,
    comparisons: tuple[KeptComparison, ...],
    deleted: KeptComparison | None = None,
) -> SessionState:
    kept = replace(work.kept, comparisons=comparisons, deleted_comparison=deleted)
    return work.replace_sections(kept, replace(work.message, problem=None, notice=None))


@dataclass(frozen=True, eq=False)
class KeptBoard:
    titles: tuple[str, ...]  # What it shows: one kept comparison, or two
    comparison: Comparison
    key: str

    def create_settings(self, k: int) -> PictureSettings:
        made = f"k = {write_count(k)} · kanon {__version__}, {date.today().isoformat()}"
        return PictureSettings(" · ".join([*self.titles, made]), k)


def build_kept_board(work: SessionState, status: ComparisonOutlook) -> KeptBoard | None:
    """The kept comparisons that are on the board; None while it shows only the current one."""
    view, kept = work.view(CompareView), {entry.title: entry for entry in work.kept.comparisons}
    shown = [kept[title] for title in (view.opened, view.beside) if title in kept]
    if not shown:
        return None
    if len(shown) == 1 and view.beside in kept and status.comparison is not None:
        about = describe_inputs(work, status.lines, status.comparison.n_records)
        shown.insert(0, KeptComparison("Now", about, status.comparison.add_k(work.settings.k)))
    titles = tuple(f"({mark}) {entry.title}: {entry.about}" for mark, entry in enumerate(shown, 1))
    # Another comparison of the same name and inputs is another object.
    ids = [id(entry) for entry in shown if entry.title in kept]
    key = compute_fingerprint(titles, status.key, ids)
    if len(shown) == 1:
        return KeptBoard((titles[0].removeprefix("(1) "),), shown[0].comparison, key)
    return KeptBoard(titles, put_beside(shown[0].comparison, shown[1].comparison), key)


def show_board_titles(board: KeptBoard) -> None:
    for title in board.titles:
        st.markdown(escape_markdown(title))
    if len(board.titles) > 1:
        st.caption(
            "The same colour is the same choice in both: (1) as always, (2) in dots with the other "
            "kind of markers. Only k and metrics that both know are shown."
        )
    show_way_back()


def show_way_back() -> None:
    st.button(
        "Back to the current comparison",
        icon=":material/arrow_back:",
        key="kept-back",
        on_click=_show_kept,
        kwargs={"opened": "", "beside": ""},
    )


def show_kept_comparisons(work: SessionState, status: ComparisonOutlook) -> None:
    kept = work.kept.comparisons
    count = f" ({len(kept)})" if kept else ""
    with st.popover(f"Kept comparisons{count}", icon=":material/inventory_2:"):
        state.show_message_at(_AT)
        _show_keep_fields(work, status)
        for place, entry in enumerate(kept):
            with st.container(border=True, key=f"kept-comparison-{place}"):
                st.markdown(f"**{escape_markdown(entry.title)}**")
                st.caption(escape_markdown(entry.about))
                with st.container(horizontal=True):
                    _draw_entry_button(
                        "Open", place, "open_in_full", _show_kept, opened=entry.title
                    )
                    _draw_entry_button(
                        "Put beside", place, "compare", _show_kept, beside=entry.title
                    )
                    change = partial(delete_comparison, title=entry.title)
                    _draw_entry_button("Delete", place, "close", _try_change, change=change)
        if work.kept.deleted_comparison is not None:
            st.button(
                f"Restore {escape_markdown(work.kept.deleted_comparison.title)}",
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
                lambda work: keep_comparison(work, state.get_widget_value(field) or suggested)
            ),
        )
    if status.comparison is None:
        st.caption("Press Compare first: only a finished comparison can be kept.")


def _draw_entry_button(
    label: str, place: int, icon: str, act: Callable[..., None], **arguments: object
) -> None:
    key = f"kept-comparison-{place}-{icon}"
    st.button(label, icon=f":material/{icon}:", key=key, on_click=act, kwargs=arguments)


def _show_kept(**titles: Any) -> None:
    state.update_sections(replace(state.get_session().view(CompareView), **titles, filling=None))


def _try_change(change: Callable[[SessionState], SessionState]) -> None:
    def make() -> SessionState:
        work = change(state.get_session())
        return work.replace_sections(replace(work.message, problem_at=_AT))

    state.try_update(make, problem_at=_AT)
