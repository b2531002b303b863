"""What is it for? The part of the page Decide about purpose, thresholds, and the verdict."""

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import counted, thin
from kanon.base.how_texts import Sections
from kanon.base.sentences import number_said, records_said
from kanon.charts.decision import decision_chart
from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError, PlanError
from kanon.privacy.persons import IN_PERSONS
from kanon.release.context import (
    ATTACKERS,
    LONGEST,
    RELEASES,
    ChosenThreshold,
    Context,
    Threshold,
    check_wanted,
    least_k,
    models_wanted,
    thresholds,
    with_own,
)
from kanon.release.decision import (
    OF_COLUMNS,
    Decision,
    ReachedNumbers,
    decide,
    decision_table,
    levels_reached,
)
from kanon.run import Run
from kanon.studio.decide.settings_undo import with_taken
from kanon.studio.decide.state import DecideView
from kanon.studio.decide.undo_button import back_button
from kanon.studio.jobs.anonymisation import outdated
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import classes_elsewhere
from kanon.studio.widgets.controls import segments, upload_field
from kanon.studio.widgets.files import file_button
from kanon.studio.widgets.model_editor import whole
from kanon.studio.widgets.picture import PictureSettings, picture
from kanon.studio.widgets.requirements import best, refusal
from kanon.studio.widgets.result import choose_k, release_shown, renew_row

IN_ENGINE = (
    "A verdict counts the released rows once more, for which the table has to be in memory, and "
    "this one stays where it is: load it as a file on the page Data, or run python -m kanon "
    "decide with --engine memory."
)
"""Why there is no verdict about a table that stays in an engine."""

_how = Sections(__file__)


def show(work: Work) -> None:
    _purpose(work)
    decision = _verdict(work)
    _thresholds(work, decision)
    _files(work)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(_how_thresholds(work))


# --- what it is for ---------------------------------------------------------------------------
def _purpose(work: Work) -> None:
    context = work.purpose.context
    left, middle, right = st.columns([9, 7, 5])
    with left:
        label = "Who gets the release?"
        segments(label, RELEASES, "decide-release", context.release, "release", _take)
    with middle:
        label = "Somebody who looks for a person knows"
        segments(label, ATTACKERS, "decide-attacker", context.attacker, "attacker", _take)
    m = max(1, len(work.table.quasi_identifiers))
    known = m if context.known is None else min(context.known, m)
    right.selectbox(
        "and of their quasi-identifiers",
        range(m, 0, -1),
        **bound(
            f"decide-known-{work.version}-{m}-{known}",
            known,
            lambda value: _take(known=None if value == m else value),
        ),
        format_func=lambda number: f"all {number}" if number == m else f"any {number}",
        help="How many they know at most. Which ones nobody can say, so of all choices the one "
        "counts that tells most.",
    )


def _take(**fields: object) -> None:
    context = state.work().purpose.context
    _put(Context.from_content({**context.content, **fields}))


def _put(context: Context) -> None:
    state.change(replace(state.work().purpose, context=context))


# --- the verdict ------------------------------------------------------------------------------
def _verdict(work: Work) -> Decision | None:
    """The release on screen, beside what is asked of it; None without one."""
    if classes_elsewhere(work):
        return None
    stale = outdated(work)
    renew_row(work, stale, "decide-run")
    result = work.findings.result
    if result is None:
        return None
    with st.container(key="result"):
        if work.table.records.in_engine:
            st.info(IN_ENGINE)
            return None
        k, done = release_shown(work, result)
        choose_k(work, result, k, "decide-k")
        try:
            reached = _reached(work, done, (result.settings, k))
        except KanonError as error:
            st.error(plain(error.sentence), icon=":material/error:")
            return None
        decision = decide(work.purpose.context, reached)
        left, right = st.columns([4, 5], gap="medium")
        with left:
            _said(decision)
        if decision.parts:
            with right:
                about = f"{result.settings}|{k}|{decision.context.to_json()}"
                met = sum(part.met for part in decision.parts)
                said = f"k = {thin(k)}: {met} of {len(decision.parts)} thresholds met"
                picture(
                    decision_chart(decision, said),
                    lambda: decision_table(decision), "decide-thresholds", about,
                    PictureSettings.of_run(work, done.prepared, k),
                )  # fmt: skip
    return decision


def _reached(work: Work, done: Run, about: tuple[str, int]) -> ReachedNumbers:
    """What the release reached; measured again only where something it depends on changed."""
    known, people = work.purpose.context.known, work.purpose.people_counted

    def measured() -> ReachedNumbers:
        with st.spinner("Counting the released rows"):
            return levels_reached(done, known, people)

    # The name of a population says nothing of its rows.
    of_people = None if people is None else work.purpose.population_origin
    return state.remembered("reached", (*about, known, of_people), measured)


def _said(decision: Decision) -> None:
    """The verdict, a line per threshold; what is not met stands out by its sign, not by colour."""
    first, *last = decision.apart
    st.markdown(f"**{plain(first)}**")
    parts = sorted(decision.parts, key=lambda part: part.met)
    st.markdown("\n".join(f"- {'✓' if part.met else '✗'} {plain(part.sentence)}" for part in parts))
    for sentence in last:
        st.caption(plain(sentence))


# --- what is asked ----------------------------------------------------------------------------
def _thresholds(work: Work, decision: Decision | None) -> None:
    refused = out_of_reach(work, whole(work))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.subheader("What is asked for", width="stretch")
        back_button(work, "purpose")
        st.button(
            "Use as models",
            icon=":material/tune:",
            key="decide-use",
            disabled=refused is not None,
            help="Require k, l and t of the next release, as on the page Anonymise. The mean risk "
            "is no model: it is measured afterwards.",
            on_click=lambda: state.put(with_wishes(state.work())),
        )
    if refused is not None:
        st.caption(plain(refused), text_alignment="right")
    context = work.purpose.context
    for name, asked in thresholds(context).items():
        with st.container(border=True):
            _threshold(work, name, asked, decision)


def _threshold(work: Work, name: str, asked: Threshold, decision: Decision | None) -> None:
    what, number, reached, source = st.columns([5, 2, 3, 6], vertical_alignment="center")
    what.markdown(f"**{plain(asked.card.title)}**", help=plain(asked.card.summary))
    key = f"decide-wanted-{work.version}-{name}-{asked.wanted}"
    shown = _refused(work).get((name, asked.wanted), asked.wanted)
    unit = IN_PERSONS.unit if name == "k" and work.table.person_counted else asked.card.unit
    with number:
        st.number_input(
            plain(f"{unit} {asked.card.arrow}"),
            value=None,  # else an empty field would be the least number
            step=0.05 if name == "t" else 1.0,
            format="%g",
            placeholder="not asked",
            **bound(key, None if shown is None else float(shown), _want, name),
        )
    with reached:
        for line in _reached_lines(work, name, asked, decision):
            st.markdown(line)
    with source:
        _source(work, name, asked)
    if shown != asked.wanted:
        st.error(plain(_not_used(asked, name, shown)), icon=":material/error:")


def _reached_lines(work: Work, name: str, asked: Threshold, decision: Decision | None) -> list[str]:
    lines = []
    for part in [] if decision is None else decision.parts:
        if part.threshold.card.name == name:
            about = plain(part.column) if part.column else "reached"
            lines.append(f"{'✓' if part.met else '✗'} {about}: {part.shown[0]}")
    of_table = name == "k" or work.purpose.context.attacker == "prosecutor"
    of_table = of_table and name not in OF_COLUMNS
    if of_table and asked.wanted is not None and asked.wanted > (most := work.table.highest_k):
        lines.append(
            f"No release reaches that: the table has {records_said(most)}."
            if work.table.person_counted is None
            else f"No release reaches that: the table is about {number_said(most, 'persons')}."
        )
    if name in OF_COLUMNS and asked.wanted is not None:
        lines += _out_of_reach(work, asked)
        if not work.table.sensitive_columns:
            lines.append("No column is sensitive.")
    return lines


def _out_of_reach(work: Work, asked: Threshold) -> list[str]:
    """Columns of which no release can have what is asked: not even all records in one class."""
    found = whole(work)
    if found is None:
        return []
    models = [
        model
        for column in work.table.sensitive_columns
        for model in models_wanted(work.purpose.context, column)
        if model.symbol == asked.card.name and not model.holds(found)
    ]
    return [
        f"No release reaches that of {plain(model.column)}: {plain(best(model, found))}."
        for model in models
    ]


def _refused(work: Work) -> dict[tuple[str, float | None], float]:
    """What was typed and is not allowed, by the threshold and the number that holds instead."""
    return state.remembered("refused thresholds", work.version, dict)


def _not_used(asked: Threshold, name: str, typed: float | None) -> str:
    called = f"What is asked for in '{asked.card.title}'"
    try:
        if typed is not None:
            check_wanted(name, typed, called)
    except KanonError as error:
        if asked.wanted is None:
            return f"{error.sentence} Still nothing is asked for."
        return f"{error.sentence} Still asked for: {asked.wanted:.12g}."
    return ""


def _want(name: str, value: Any) -> None:
    """Another number; what is not allowed is kept for its field, said, and changes nothing."""
    work, wanted = state.work(), value
    context = work.purpose.context
    asked, before = thresholds(context)[name], getattr(context.thresholds, name)
    refused = _refused(work)
    refused.pop((name, asked.wanted), None)
    if _not_used(asked, name, wanted):
        refused[name, asked.wanted] = wanted
        return
    source = "" if before is None else before.source
    _put(with_own(context, name, ChosenThreshold(wanted=wanted, source=source)))


def _as_proposed(name: str) -> None:
    """Ask for the proposed number again, and discard what was typed."""
    for place in [place for place in _refused(state.work()) if place[0] == name]:
        del _refused(state.work())[place]
    _put(with_own(state.work().purpose.context, name, None))


def _source(work: Work, name: str, asked: Threshold) -> None:
    if not asked.own:
        st.caption(plain(asked.source))
        return
    own = getattr(work.purpose.context.thresholds, name)
    field, back = st.columns([4, 2], vertical_alignment="bottom")
    with field:
        st.text_input(
            "Source of your threshold",
            **bound(f"decide-source-{work.version}-{name}", own.source, _name_source, name),
            max_chars=LONGEST,
            placeholder="A document, a decision, a date",
        )
    back.button(
        "As proposed",
        icon=":material/undo:",
        type="tertiary",
        key=f"decide-back-{name}",
        on_click=_as_proposed,
        args=(name,),
    )


def _name_source(name: str, value: Any) -> None:
    context = state.work().purpose.context
    own = getattr(context.thresholds, name)
    if own is not None:
        _put(with_own(context, name, ChosenThreshold(wanted=own.wanted, source=value or "")))


# --- the file ---------------------------------------------------------------------------------
def _files(work: Work) -> None:
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    text = work.purpose.context.to_json()
    with left:
        file_button(
            "Context as a file", text, "context", "json", text, "decide-context",
            help="CONTEXT.json for python -m kanon decide and for a report. It names no column "
            "and holds no value of the table.",
        )  # fmt: skip
    key = f"decide-upload-{work.version}-{work.view(DecideView).uploads}"
    with right:
        upload_field(
            "Load a context file", "plan_megabytes", type=["json"], key=key,
            on_change=_load, args=(key,),
        )  # fmt: skip


def _load(key: str) -> None:
    """Load a context; a bad one is said, and nothing is lost."""
    given = state.typed(key)
    if given is not None:
        state.attempt(lambda: opened_context(state.work(), given.getvalue()))


def _how_thresholds(work: Work) -> str:
    context, person = work.purpose.context, work.table.person_counted
    said = [_how("thresholds")]
    said.append(_how("risks") if person is None else _how("risks_of_persons", person=plain(person)))
    if context.known is not None:
        said.append(_how("known", number=context.known))
    if context.attacker == "journalist":
        said.append(_how("journalist"))
    return "\n\n".join(said)


# --- what it does to the session --------------------------------------------------------------
def with_context(work: Work, context: Context) -> Work:
    """The work with another purpose; whatever was said before is no longer shown."""
    return work.with_parts(replace(work.purpose, context=context), Message())


def opened_context(work: Work, content: bytes) -> Work:
    """The work with the purpose of a context file; PlanError if the file is none."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("The context file is not text in UTF-8.") from None
    found = with_context(work, Context.from_json(text))
    deciding = replace(found.view(DecideView), uploads=work.view(DecideView).uploads + 1)
    return found.with_parts(deciding, replace(found.message, notice="The context was loaded."))


def with_wishes(work: Work) -> Work:
    """The work that requires what the context asks for, as if it had been chosen by hand."""
    context = work.purpose.context
    wanted = [
        one for column in work.table.sensitive_columns for one in models_wanted(context, column)
    ]
    taken = {(one.card.name, one.column) for one in wanted}
    others = [one for one in work.settings.models if (one.card.name, one.column) not in taken]
    k = least_k(context)
    needed = f"is k = {k}"
    if wanted:
        needed = f"are k = {k} and {counted(len(wanted), 'more model')}"
    said = f"Required now {needed}; press Anonymise on the page Anonymise."
    return with_taken(work, "purpose", said, replace(work.settings, k=k, models=(*others, *wanted)))


def out_of_reach(work: Work, table: EquivalenceClasses | None) -> str | None:
    """Why no release can meet what is asked for, in a sentence; None if one can."""
    context, most = work.purpose.context, work.table.highest_k
    k = least_k(context)
    if k > most:
        about = f"is about {counted(most, 'person')}"
        if work.table.person_counted is None:
            about = f"has {counted(most, 'record')}"
        return f"No release reaches k = {k}: the table {about}."
    models = [
        one for column in work.table.sensitive_columns for one in models_wanted(context, column)
    ]
    return None if table is None else refusal(models, table)
