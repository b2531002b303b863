"""Repair values in place: merge spellings, replace values, drop records; undo each step."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from kanon.base.formatting import choose_plural, count_noun, write_count
from kanon.base.values import ValueCounts
from kanon.errors import TableError
from kanon.hierarchy.spellings import MOST_VALUES, Spellings, find_same_spellings
from kanon.sources.repairs import DropCondition, Repair, RepairResult
from kanon.studio.data.reading_panel import is_replaced
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import request_repairs
from kanon.studio.jobs.upload import AT_ONCE
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.table_loading import set_repairs
from kanon.studio.session.text import escape_markdown, mark_odd_blanks, trim_title
from kanon.studio.session.work import SessionState

_KEY = "repairs"  # whether the section is unfolded; it stays so from step to step
_MOST_LISTED = 500  # the most frequent values that can be picked
_MOST_PROPOSED = 10  # each proposal has a button
_CONDITIONS = ("missing", "below", "above", "none_of")
_LABELS = {
    "missing": "without a value",
    "below": "with a number below",
    "above": "with a number above",
    "none_of": "with a value other than those picked above",
}


def show_repairs(work: SessionState) -> None:
    """Draw the section, folded until somebody opens it."""
    results = work.table.records.repairs
    if results:
        amounts = ", ".join(result.amount for result in results)
        st.caption(f"Repaired in {count_noun(len(results), 'step')}: {amounts}.")
    section = st.expander("Repair values", icon=":material/build:", key=_KEY, on_change="rerun")
    if not section.open:
        return
    with section:
        st.caption(
            "Steps change the table here before anything is counted. The file stays as it is. "
            "They are saved in the plan, with the values that they name, and listed in the report."
        )
        _show_steps(work, results)
        column = st.selectbox(
            "Column to repair", list(work.table.roles), key=f"{_KEY}-column", width=340
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
        picked = _pick_values(work, column, values)
        _choose_condition(work, column, picked)


def _show_steps(work: SessionState, results: Sequence[RepairResult]) -> None:
    for place, result in enumerate(results):
        text, button = st.columns([8, 1], vertical_alignment="center")
        sentence = f"{place + 1}. {result.step.description}: {result.amount}."
        text.markdown(escape_markdown(" ".join([sentence, *result.notes])))
        button.button(
            "Remove",
            key=f"{_KEY}-remove-{work.version}-{place}",
            help=f"Undo step {place + 1} alone.",
            on_click=_remove_step,
            args=(work.version, place),
        )
    if results:
        st.button(
            "Undo the last step",
            key=f"{_KEY}-undo-{work.version}",
            icon=":material/undo:",
            on_click=_remove_step,
            args=(work.version, len(results) - 1),
        )


def _propose_spellings(work: SessionState, column: str, values: ValueCounts) -> None:
    groups = find_same_spellings(values.counts) if len(values.counts) <= MOST_VALUES else []
    for place, group in enumerate(groups[:_MOST_PROPOSED]):
        text, button = st.columns([8, 1], vertical_alignment="center")
        members = [
            f"{_write_value(value)} ({write_count(n)})" for value, n in group.records.items()
        ]
        spellings = count_noun(len(members), "spelling")
        text.markdown(escape_markdown(f"{spellings} of '{group.name}': {', '.join(members)}"))
        button.button(
            "Merge",
            key=f"{_KEY}-merge-{work.version}-{column}-{place}",
            help="Replace the others by the most frequent spelling.",
            on_click=_add_step,
            args=(work.version, _merge_spellings(column, [group])),
        )
    if len(groups) > 1:
        st.button(
            f"Merge all {count_noun(len(groups), 'group')}",
            key=f"{_KEY}-merge-all-{work.version}-{column}",
            icon=":material/join:",
            on_click=_add_step,
            args=(work.version, _merge_spellings(column, groups)),
        )


def _merge_spellings(column: str, groups: Sequence[Spellings]) -> Repair:
    pairs: dict[str, str | None] = {
        value: group.name for group in groups for value in [*group.records][1:]
    }
    return Repair(column=column, replace=pairs)


def _pick_values(work: SessionState, column: str, values: ValueCounts) -> list[str]:
    listed = values.texts[:_MOST_LISTED]
    key = f"{work.version}-{column}"
    picked = st.multiselect(
        "Values, the most frequent first",
        listed,
        key=f"{_KEY}-values-{key}",
        format_func=lambda value: f"{_write_value(value)} ({write_count(values.counts[value])})",
        placeholder="Pick one or several values",
        help=None
        if len(listed) == len(values.counts)
        else f"The {write_count(len(listed))} most frequent of {write_count(len(values.counts))}.",
    )
    if not picked:
        return []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = f"{_KEY}-target-{key}-{len(picked)}-{picked[0]}"
        st.text_input(
            choose_plural(len(picked), "Replace it by", "Merge all {count} into"),
            value=picked[0] if len(picked) > 1 else "",
            key=target,
            width=260,
        )
        for label, entry in (
            (choose_plural(len(picked), "Replace", "Merge"), target),
            ("Make missing", None),
        ):
            st.button(
                label,
                key=f"{_KEY}-{label}-{key}",
                on_click=_replace_values,
                args=(work.version, column, picked, entry),
            )
        st.button(
            "Drop these records",
            key=f"{_KEY}-drop-{key}",
            icon=":material/delete:",
            on_click=_add_step,
            args=(work.version, Repair(column=column, drop=DropCondition(one_of=picked))),
        )
    return picked


def _choose_condition(work: SessionState, column: str, picked: Sequence[str]) -> None:
    key = f"{work.version}-{column}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.selectbox(
            "Drop records",
            [name for name in _CONDITIONS if picked or name != "none_of"],
            key=f"{_KEY}-condition-{key}",
            format_func=_LABELS.__getitem__,
            width=340,
        )
        entry = f"{_KEY}-{kind}-{key}"
        if kind in ("below", "above"):
            st.number_input(kind.capitalize(), value=None, key=entry, width=160)
        st.button(
            "Drop",
            key=f"{_KEY}-drop-condition-{key}",
            on_click=_drop_records,
            args=(work.version, column, kind, list(picked), entry),
        )


def _write_value(value: str) -> str:
    return trim_title(mark_odd_blanks(value))


def _replace_values(version: int, column: str, picked: Sequence[str], entry: str | None) -> None:
    """Replace values by what is typed now in the field ``entry``, or by missing cells."""
    new = None if entry is None else str(state.get_widget_value(entry) or "").strip()
    pairs = {old: new for old in picked if old != new}
    if new == "":
        state.update_sections(Message(problem="Type the value that replaces the others first."))
    elif pairs:
        _add_step(version, Repair(column=column, replace=pairs))


def _drop_records(version: int, column: str, kind: str, picked: Sequence[str], entry: str) -> None:
    what: Any = {"missing": True, "none_of": picked}.get(kind, state.get_widget_value(entry))
    if what is None:
        state.update_sections(Message(problem="Type the number to compare with first."))
    else:
        _add_step(version, Repair(column=column, drop=DropCondition(**{kind: what})))


def _add_step(version: int, step: Repair) -> None:
    _take_steps(version, [*state.get_session().table.repairs, step])


def _remove_step(version: int, place: int) -> None:
    steps = [*state.get_session().table.repairs]
    _take_steps(version, steps[:place] + steps[place + 1 :])


def _take_steps(version: int, steps: Sequence[Repair]) -> None:
    if is_replaced(version):
        return
    if state.get_session().table.records.in_engine:
        runner.run_request(request_repairs, steps, wait=AT_ONCE)
    else:
        state.try_update(lambda: set_repairs(state.get_session(), steps), carry=False)
