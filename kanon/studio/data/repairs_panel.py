"""Repair values in place: merge spellings, replace values, drop records; undo each step."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from kanon.base.formatting import count_noun, write_count
from kanon.base.values import ValueCounts
from kanon.errors import TableError
from kanon.hierarchy.spellings import find_spellings
from kanon.sources.repairs import Repair
from kanon.studio.data.reading_panel import is_replaced
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import request_repairs
from kanon.studio.jobs.upload import AT_ONCE
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.table_loading import set_repairs
from kanon.studio.session.text import escape_markdown, mark_odd_blanks, trim_title
from kanon.studio.session.work import SessionState

_MOST_LISTED = 500  # the most frequent values that can be picked
_WITH_VALUES = ("replace", "blank", "one_of", "none_of")
_ACTIONS = {
    "replace": "Replace the picked values by",
    "blank": "Make the picked values missing",
    "one_of": "Drop records with the picked values",
    "none_of": "Drop records with any other value",
    "missing": "Drop records without a value",
    "below": "Drop records with a number below",
    "above": "Drop records with a number above",
}


def show_repairs(work: SessionState) -> None:
    """Draw the section, folded until somebody opens it."""
    steps = work.table.repairs
    if steps:
        amounts = ", ".join(result.amount for result in work.table.records.repairs)
        st.caption(f"Repaired in {count_noun(len(steps), 'step')}: {amounts}.")
    section = st.expander(
        "Repair values", icon=":material/build:", key="repairs", on_change="rerun"
    )
    if not section.open:
        return
    with section:
        st.caption(
            "Steps change the table here before anything is counted. The file stays as it is. "
            "They are saved in the plan, with the values that they name, and listed in the report."
        )
        for place, result in enumerate(work.table.records.repairs):
            text, button = st.columns([8, 1], vertical_alignment="center")
            sentence = f"{place + 1}. {result.step.description}: {result.amount}."
            text.markdown(escape_markdown(" ".join([sentence, *result.notes])))
            button.button(
                "Undo",
                key=f"repairs-undo-{work.version}-{place}",
                icon=":material/undo:",
                on_click=_take_steps,
                args=(work.version, (*steps[:place], *steps[place + 1 :])),
            )
        column = st.selectbox(
            "Column to repair", list(work.table.roles), key="repairs-column", width=340
        )
        try:
            values = state.get_or_compute(
                "repair-values",
                (work.table.digest, work.version, column),
                lambda: work.table.records.count_column_values(column),
            )
        except TableError as error:
            st.error(escape_markdown(error.sentence), icon=":material/error:")
            return
        _propose_spellings(work, column, values)
        _choose_step(work, column, values)
        state.show_message_at("repairs")


def _propose_spellings(work: SessionState, column: str, values: ValueCounts) -> None:
    groups = find_spellings(values.counts)
    if not groups:
        return

    def list_spellings(place: int) -> str:
        return ", ".join(_write_value(value, values) for value in groups[place].records)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"repairs-spellings-{work.version}-{column}"
        picked = st.multiselect(
            "Perhaps spellings of one value, the most frequent first",
            range(len(groups)),
            default=range(len(groups)),
            format_func=list_spellings,
            key=key,
            placeholder="Pick what is one value",
        )
        pairs = {
            value: groups[place].name for place in picked for value in [*groups[place].records][1:]
        }
        st.button(
            "Merge spellings",
            key=f"{key}-merge",
            disabled=not pairs,
            help="Replace each by the most frequent spelling. Remove what is not one value first.",
            on_click=_add_step,
            args=(work.version, column),
            kwargs={"replace": pairs},
        )


def _choose_step(work: SessionState, column: str, values: ValueCounts) -> None:
    key = f"repairs-{work.version}-{column}"
    picked = st.multiselect(
        f"Values, the most frequent first (at most {_MOST_LISTED})",
        values.texts[:_MOST_LISTED],
        key=f"{key}-values",
        format_func=lambda value: _write_value(value, values),
        placeholder="Pick one or several values",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        action = st.selectbox(
            "Step",
            list(_ACTIONS),
            key=f"{key}-action",
            format_func=_ACTIONS.__getitem__,
            width=340,
        )
        entry = f"{key}-{action}"
        if action == "replace":
            st.text_input("New value", key=entry, width=260)
        elif action in ("below", "above"):
            st.number_input("Number", value=None, key=entry, width=260)
        st.button(
            "Repair",
            key=f"{key}-do",
            on_click=_build_step,
            args=(work.version, column, action, picked, entry),
        )


def _write_value(value: str, values: ValueCounts) -> str:
    return f"{trim_title(mark_odd_blanks(value))} ({write_count(values.counts[value])})"


def _build_step(version: int, column: str, action: str, picked: Sequence[str], entry: str) -> None:
    typed = state.get_widget_value(entry)
    if action == "replace":
        typed = str(typed or "").strip() or None
    if action in _WITH_VALUES and not picked:
        problem = "Pick one or several values first."
    elif action in ("replace", "below", "above") and typed is None:
        problem = f"{_ACTIONS[action]} what? Type it first."
    elif picked == [typed]:
        problem = "Type a new value that is not the picked one."
    elif action in ("replace", "blank"):
        _add_step(version, column, replace={old: typed for old in picked if old != typed})
        return
    else:
        what = {"missing": True, "below": typed, "above": typed}.get(action, picked)
        _add_step(version, column, drop={action: what})
        return
    state.update_sections(Message(problem=problem, problem_at="repairs"))


def _add_step(version: int, column: str, **action: dict[str, Any]) -> None:
    step = Repair.model_validate({"column": column, **action})
    _take_steps(version, (*state.get_session().table.repairs, step))


def _take_steps(version: int, steps: Sequence[Repair]) -> None:
    if is_replaced(version):
        return
    if state.get_session().table.records.in_engine:
        runner.run_request(request_repairs, steps, wait=AT_ONCE)
    else:
        state.try_update(lambda: set_repairs(state.get_session(), steps), "repairs", False)
