"""The motivated intruder test: who tried to find people in the release, and what came of it."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from kanon.base.checked_json import validate
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import write_count
from kanon.report.intruder_test import IntruderTest
from kanon.report.origin import compute_plan_fingerprint
from kanon.run import Run
from kanon.studio.jobs.reporting import get_table_fingerprint
from kanon.studio.privacy.evidence_panel import get_attack_inputs
from kanon.studio.session import state
from kanon.studio.session.parts import Message, StateSection
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState


@dataclass(frozen=True, eq=False)
class IntruderView(StateSection):
    # the attempt that is being typed, by the names of IntruderAttempt
    typed: Mapping[str, Any] = field(default_factory=dict)


def show_intruder_test(work: SessionState, run: Run, k: int) -> None:
    st.markdown(
        "Give the release to people who try to recognise someone in it, with what they know, the "
        "internet, and a few hours. They should be able and willing, but no experts. Note each "
        "attempt here: the internal report files it with names as typed; the report for "
        "publication has nothing of it. Saving the project saves it too."
    )
    people_side, date_side, hours_side = st.columns([4, 2, 2])
    people_side.text_input("1. Who tried?", **_attach("people", ""), placeholder="Names or roles")
    today = datetime.date.today().isoformat()
    date_side.text_input("When?", **_attach("date", today), placeholder="2026-01-31")
    hours_side.number_input("For how many hours?", 0.0, None, **_attach("hours", 0.0), step=0.5)
    st.multiselect(
        "2. Of which columns did they know a person's values?", list(work.table.roles),
        **_attach("knows", []), placeholder="None",
    )  # fmt: skip
    st.text_area(
        "3. Which sources did they use?", **_attach("sources", ""), height=80,
        placeholder="Social media, the telephone book, a local newspaper …",
    )  # fmt: skip
    claims_side, right_side, button = st.columns([3, 3, 2], vertical_alignment="bottom")
    claims_side.number_input("4. How many people did they claim to find?", 0, **_attach("claims"))
    right_side.number_input("How many of these claims were right?", 0, **_attach("right"))
    table = state.get_or_compute(
        "table-fingerprint", work.table.digest, lambda: get_table_fingerprint(work)
    )
    release = compute_fingerprint(table, compute_plan_fingerprint(run.prepared.plan))
    button.button(
        "Add the attempt", icon=":material/add:", key="intruder-add",
        help=f"It is filed as an attempt on the release for k = {write_count(k)}.",
        on_click=state.try_step, args=(add_attempt, release),
    )  # fmt: skip
    measured = work.findings.get_evidence(get_attack_inputs(work)[0])
    evidence, day = (None, "") if measured is None else (measured.evidence, measured.date)
    test = work.purpose.intruder_test
    if rows := test.list_rows(release, evidence, day):
        st.table([{name: escape_markdown(cell) for name, cell in row.items()} for row in rows])
    with st.container(horizontal=True):
        for place, attempt in enumerate(test.attempts):
            others = test.attempts[:place] + test.attempts[place + 1 :]
            st.button(
                f"Delete the attempt of {escape_markdown(attempt.date)} ({place + 1})",
                icon=":material/delete:", type="tertiary", key=f"intruder-delete-{place}",
                on_click=state.try_step, args=(replace_attempts, others),
            )  # fmt: skip


def _attach(name: str, first: object = 0) -> dict[str, Any]:
    work = state.get_session()
    value, key = work.view(IntruderView).typed.get(name, first), f"intruder-{name}-{work.version}"
    return attach_widget(key, value, _read_fields, name, keep=True)


def _read_fields(name: str, value: object) -> None:
    typed = state.get_session().view(IntruderView).typed
    state.update_fields(IntruderView, typed={**typed, name: value})


def add_attempt(work: SessionState, release: str) -> SessionState:
    """File what was typed as an attempt on a release; PlanError says what is wrong with it."""
    today = datetime.date.today().isoformat()
    attempt = {"people": "", "date": today, **work.view(IntruderView).typed, "release": release}
    attempts = [*work.purpose.intruder_test.attempts, attempt]
    return replace_attempts(work, attempts).replace_sections(IntruderView())


def replace_attempts(work: SessionState, attempts: Sequence[object]) -> SessionState:
    test = validate(IntruderTest, {"attempts": attempts}, "intruder test")
    return work.replace_sections(replace(work.purpose, intruder_test=test), Message())
