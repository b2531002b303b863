"""The controls for saved configurations."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.experiments.titles import get_full_title
from kanon.studio.jobs.configurations import (
    PlannedLine,
    describe_own_requirement,
    explain_incomparable,
    list_measuring_hierarchies,
)
from kanon.studio.session import state
from kanon.studio.session.named_configurations import (
    apply_configuration,
    delete_configuration,
    import_configuration,
    rename_configuration,
    restore_configuration,
    save_configuration,
)
from kanon.studio.session.parts import SavedConfiguration
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.controls import draw_upload_field
from kanon.studio.widgets.files import draw_plan_button
from kanon.studio.widgets.result import format_plan_for_file

_AT_ONCE = 8  # so many differences of a table are listed, those that stop a plan first


def show_saved_chips(work: SessionState) -> None:
    titles = [configuration.title for configuration in work.kept.configurations]
    # The key holds the names: a name that moves to another configuration is another choice.
    st.pills(
        "Saved configurations",
        titles,
        selection_mode="multi",
        label_visibility="collapsed",
        **attach_widget(
            f"compare-kept-{_get_short_hash(repr(titles))}",
            [
                configuration.title
                for configuration in work.kept.configurations
                if configuration.shown
            ],
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
                on_click=_try_change,
                args=(restore_configuration,),
            )
        _show_import(work)


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
            on_click=_try_change,
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
            on_change=_try_change,
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
            on_click=_try_change,
            args=(lambda work: apply_configuration(work, configuration.title),),
            help="Sets roles, hierarchies and settings as in this plan. If values from this table "
            "are missing from a hierarchy, the Hierarchies page shows them, and you can add them "
            "there.",
        )
        st.button(
            "Remove",
            icon=":material/close:",
            key=f"kept-remove-{_get_short_hash(configuration.title)}",
            on_click=_try_change,
            args=(lambda work: delete_configuration(work, configuration.title),),
        )
    if configuration.findings:
        st.caption("New in this table:")
        weighty = sorted(configuration.findings, key=lambda finding: not finding.stops)
        lines = [f"- {escape_markdown(finding.sentence)}" for finding in weighty[:_AT_ONCE]]
        if len(configuration.findings) > _AT_ONCE:
            lines.append("- " + f"and {len(configuration.findings) - _AT_ONCE} more")
        st.markdown("\n".join(lines))


def _show_import(work: SessionState) -> None:
    key = f"kept-import-{work.version}"
    draw_upload_field(
        "Import a plan", "plan_megabytes", type="json", key=key, on_change=_import_file, args=(key,)
    )


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
    _try_change(lambda work: import_configuration(work, file.getvalue(), free))


def _try_change(change: Callable[[SessionState], SessionState]) -> None:
    state.try_update(lambda: change(state.get_session()), problem_at="keeping")


def _get_short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
