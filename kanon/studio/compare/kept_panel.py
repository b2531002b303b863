"""What is kept while settings change: saved configurations, and whole comparisons."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import count_noun, write_count
from kanon.errors import PlanError
from kanon.experiments.comparison import Comparison
from kanon.experiments.kept_comparisons import MOST_KEPT, KeptComparison, put_beside
from kanon.experiments.titles import get_full_title
from kanon.studio.compare.state import CompareView
from kanon.studio.jobs.comparison import ComparisonOutlook, describe_comparison
from kanon.studio.jobs.configurations import (
    PlannedLine,
    describe_own_requirement,
    explain_incomparable,
    list_measuring_hierarchies,
)
from kanon.studio.session import state
from kanon.studio.session.named_configurations import (
    apply_configuration,
    check_configuration_title,
    delete_configuration,
    import_configuration,
    rename_configuration,
    restore_configuration,
    save_configuration,
)
from kanon.studio.session.parts import Message, SavedConfiguration
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.controls import draw_upload_field
from kanon.studio.widgets.files import draw_plan_button
from kanon.studio.widgets.result import format_plan_for_file

_AT = "kept-comparisons"  # beside which control messages are shown

_MOST_FINDINGS = 8  # so many differences of a table are listed, those that stop a plan first


def show_saved_chips(work: SessionState) -> None:
    entries = work.kept.configurations
    titles = [entry.title for entry in entries]
    # The key holds the names: a name that moves to another configuration is another choice.
    st.pills(
        "Saved configurations",
        titles,
        selection_mode="multi",
        label_visibility="collapsed",
        **attach_widget(
            f"compare-kept-{_get_short_hash(repr(titles))}",
            [entry.title for entry in entries if entry.shown],
            _set_visible,
        ),
        format_func=lambda title: escape_markdown(f"★ {title}"),
    )


def show_left_out(work: SessionState) -> None:
    """Say which saved configurations are left out, and which meet other models here."""
    for configuration in work.kept.configurations:
        if not configuration.shown:
            continue
        if why := explain_incomparable(work, configuration):
            sentence = f"★ {configuration.title} is left out: {why}. It stays saved."
            st.caption(escape_markdown(sentence))
        elif own := describe_own_requirement(work, configuration):
            st.caption(escape_markdown(f"★ {configuration.title}: {own}."))


def _set_visible(titles: Any) -> None:
    kept = state.get_session().kept
    pinned = tuple(
        replace(entry, shown=entry.title in (titles or ())) for entry in kept.configurations
    )
    state.update_sections(replace(kept, configurations=pinned))


def choose_yardstick(work: SessionState) -> None:
    offered = list_measuring_hierarchies(work)
    if not offered:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Measure all lines by the hierarchies",
            range(len(offered)),
            **attach_widget(
                f"compare-yardstick-{_get_short_hash(repr(offered))}",
                offered.index(work.kept.measuring_hierarchies)
                if work.kept.measuring_hierarchies in offered
                else 0,
                lambda value: state.update_sections(
                    replace(state.get_session().kept, measuring_hierarchies=offered[value])
                ),
            ),
            format_func=lambda place: _name_yardstick(offered[place]),
            width=300,
        )
        st.caption(
            (
                "Each line's percentages are shares of the most that could be lost with its own "
                "hierarchies. Lines with different hierarchies cannot be compared."
            )
            if work.kept.measuring_hierarchies is None
            else (
                "The lines have different hierarchies. One set of hierarchies measures all "
                "lines: a released cell counts as the lowest group in this set that covers every "
                "value that it can stand for."
            ),
            width=570,
        )


def _name_yardstick(yardstick: str | None) -> str:
    if yardstick is None:
        return "each its own"
    return escape_markdown(f"of ★ {yardstick}") if yardstick else "in use now"


def show_saved_panel(work: SessionState, lines: Sequence[PlannedLine]) -> None:
    count = f" ({len(work.kept.configurations)})" if work.kept.configurations else ""
    label = f"Saved configurations{count}"
    with st.popover(label, icon=":material/keep:"):
        state.show_message_at("keeping")
        _show_save_fields([line for line in lines if not line.kept])
        for place, configuration in enumerate(work.kept.configurations):
            _show_entry(place, configuration)
        if work.kept.deleted_configuration is not None:
            st.button(
                f"Restore {escape_markdown(work.kept.deleted_configuration.title)}",
                icon=":material/undo:",
                key="kept-restore",
                on_click=_change_saved,
                args=(restore_configuration,),
            )
        key = f"kept-import-{work.version}"
        draw_upload_field(
            "Import a plan", "plan_megabytes", type="json", key=key, on_change=_import_file,
            args=(key,),
        )  # fmt: skip


def _show_save_fields(lines: Sequence[PlannedLine]) -> None:
    st.markdown("**Save a line as it is now**, with its hierarchies, to compare with later ones.")
    if not lines:
        st.caption("Choose a metric and a strategy first.")
        return
    names = [line.name for line in lines]
    position = st.selectbox(
        "Line",
        range(len(lines)),
        format_func=lambda place: escape_markdown(lines[place].title),
        key=f"keep-line-{_get_short_hash(repr(names))}",
    )
    line = lines[position or 0]
    alone = get_full_title(line.configuration, line.guide.card.title)
    field = f"keep-name-{_get_short_hash(line.name)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Name", key=field, placeholder=alone)
        st.button(
            "Save configuration",
            key="keep",
            on_click=_change_saved,
            args=(
                lambda work: save_configuration(
                    work, line.plan, line.ground.trees, state.get_widget_value(field) or alone
                ),
            ),
        )


def _show_entry(place: int, configuration: SavedConfiguration) -> None:
    field = f"kept-name-{place}-{_get_short_hash(configuration.title)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # Not seeded: a name that cannot be used stays as typed, to be corrected.
        st.text_input(
            f"★ {place + 1}: name",
            value=configuration.title,
            key=field,
            on_change=_change_saved,
            args=(
                lambda work: rename_configuration(
                    work, configuration.title, state.get_widget_value(field) or ""
                ),
            ),
        )
        draw_plan_button(
            configuration.plan.to_json(),
            f"plan-{format_plan_for_file(configuration.plan)}",
            f"kept-plan-{_get_short_hash(configuration.title)}",
            help="Every setting of this configuration; python -m kanon run repeats the run.",
        )
        st.button(
            "Use",
            icon=":material/input:",
            key=f"kept-use-{_get_short_hash(configuration.title)}",
            on_click=_change_saved,
            args=(lambda work: apply_configuration(work, configuration.title),),
            help="Sets roles, hierarchies and settings as in this plan. If values from this table "
            "are missing from a hierarchy, the Hierarchies page shows them, and you can add them "
            "there.",
        )
        st.button(
            "Remove",
            icon=":material/close:",
            key=f"kept-remove-{_get_short_hash(configuration.title)}",
            on_click=_change_saved,
            args=(lambda work: delete_configuration(work, configuration.title),),
        )
    if configuration.findings:
        st.caption("New in this table:")
        weighty = sorted(configuration.findings, key=lambda finding: not finding.stops)
        lines = [f"- {escape_markdown(finding.sentence)}" for finding in weighty[:_MOST_FINDINGS]]
        if len(configuration.findings) > _MOST_FINDINGS:
            lines.append("- " + f"and {len(configuration.findings) - _MOST_FINDINGS} more")
        st.markdown("\n".join(lines))


def _import_file(key: str) -> None:
    file = state.get_widget_value(key)
    if file is None:
        return
    title = file.name.rsplit(".", 1)[0]
    used_titles = {
        configuration.title.casefold() for configuration in state.get_session().kept.configurations
    }
    number, free = 2, title[:30] or "plan"
    while free.casefold() in used_titles:
        free, number = f"{title[:30]} {number}", number + 1
    _change_saved(lambda work: import_configuration(work, file.getvalue(), free))


def _change_saved(change: Callable[[SessionState], SessionState]) -> None:
    state.try_update(lambda: change(state.get_session()), problem_at="keeping")


def _get_short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


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
                        ("Delete", "close", partial(_change_kept, delete_comparison, title)),
                    ):
                        key = f"kept-comparison-{place}-{icon}"
                        st.button(label, icon=f":material/{icon}:", key=key, on_click=act)
        if deleted is not None:
            st.button(
                f"Restore {escape_markdown(deleted.title)}",
                icon=":material/undo:",
                key="kept-comparison-restore",
                on_click=_change_kept,
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
            on_click=lambda: _change_kept(
                keep_comparison, state.get_widget_value(field) or suggested
            ),
        )
    if status.comparison is None:
        st.caption("Press Compare first: only a finished comparison can be kept.")


def _show_entries(opened: str, beside: str) -> None:
    view = state.get_session().view(CompareView)
    state.update_sections(replace(view, opened=opened, beside=beside, filling=None))


def _change_kept(change: Callable[..., SessionState], *title: str) -> None:
    state.try_update(
        lambda: change(state.get_session().replace_sections(Message(problem_at=_AT)), *title),
        problem_at=_AT,
    )
