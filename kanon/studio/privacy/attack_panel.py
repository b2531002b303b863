"""A linkage attack on one person: what an attacker knows, and what it reveals."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from kanon.charts.privacy import (
    AFTER_COLOUR,
    BEFORE_COLOUR,
    Series,
    distribution_chart,
    distribution_table,
)
from kanon.charts.style import INK
from kanon.classes import EquivalenceClasses
from kanon.measures.linkage import Match, linkage, matching
from kanon.run import Run
from kanon.studio.privacy.attacker import (
    PrivacyView,
    about_everybody,
    about_person,
    baseline_of,
    facts,
    known_used,
    matching_said,
    occurring,
    person_used,
    somebody,
)
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.picture import PictureSettings, picture


def attack(
    work: Work, result: Result, run: Run, column: str | None, k: int
) -> tuple[list[str], dict[str, str]]:
    classes, released = run.prepared.classes, run.recoding.released
    columns = known_used(work.view(PrivacyView), classes)
    view = work.view(PrivacyView)
    person = state.remembered(
        "person", (result.settings, tuple(columns), tuple(view.person.items())),
        lambda: person_used(view, classes, columns),
    )  # fmt: skip
    st.subheader("Try to find a person")
    st.caption(
        "Choose what an attacker knows about one person. The attacker may be a neighbour, a "
        "colleague, or anyone with a list of names."
    )
    values_by_column = state.remembered(
        "occurring", (result.settings, tuple(columns)),
        lambda: {name: occurring(classes, name) for name in columns},
    )  # fmt: skip
    facts_known(work, classes, values_by_column, person)
    known_facts = facts(person, columns)
    before, after = matching(classes, known_facts, column), matching(released, known_facts, column)
    baseline = None
    if column is not None:
        baseline = baseline_of(classes.sensitive_named(column))
    about = result.settings, column, tuple(columns)
    linked_before = state.remembered(
        "linkage", about, lambda: linkage(classes, classes, columns, column)
    )
    linked_after = state.remembered(
        "linked", (*about, k), lambda: linkage(classes, released, columns, column)
    )
    text_side, chart_side = st.columns([2, 3], gap="medium")
    with text_side:
        for sentence in about_person(before, after, baseline, run.recoding.suppressed_records):
            st.markdown(sentence)
        if linked_before is not None and linked_after is not None:
            st.markdown(about_everybody(classes, columns, linked_before, linked_after, baseline))
    if column is not None and baseline is not None:
        with chart_side:
            attacked(result, k, column, known_facts, classes, before, after, baseline)
    return columns, person


def facts_known(
    work: Work,
    classes: EquivalenceClasses,
    values_by_column: Mapping[str, Sequence[str]],
    person: Mapping[str, str],
) -> None:
    columns = list(values_by_column)
    st.multiselect(
        "Known",
        list(classes.attributes),
        **bound(f"privacy-known-{work.version}", columns, know_of, person),
        placeholder="Nothing is known",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, values in values_by_column.items():
            field = f"privacy-fact-{work.version}-{classes.attributes.index(name)}"
            st.selectbox(
                plain(name),
                values if person[name] in values else [person[name], *values],
                **bound(field, person[name], know, person, name),
                width=190,
            )
        st.button(
            "Take a random record",
            icon=":material/casino:",
            help="A record that is unique by the known facts, if there is one.",
            on_click=take_random,
            args=(classes, columns),
            key="privacy-random",
        )


def look(**fields: Any) -> None:
    state.change(replace(state.work().view(PrivacyView), **fields))


def know_of(person: Mapping[str, str], value: Any) -> None:
    look(known=tuple(value), person=person)


def know(person: Mapping[str, str], name: str, value: Any) -> None:
    look(person={**person, name: value})


def take_random(classes: EquivalenceClasses, columns: Sequence[str]) -> None:
    look(person=somebody(classes, columns, np.random.default_rng()))


def attacked(
    result: Result,
    k: int,
    column: str,
    known_facts: Mapping[str, str],
    classes: EquivalenceClasses,
    before: Match,
    after: Match,
    baseline: Match,
) -> None:
    sensitive = classes.sensitive_named(column)
    series = {"table": baseline.counts, "before": before.counts, "after": after.counts}
    table = distribution_table(sensitive.values, sensitive.numeric, series, most=12)
    bars = [
        Series("before", BEFORE_COLOUR, f"before: {matching_said(before)}"),
        Series("after", AFTER_COLOUR, f"after: {matching_said(after)}"),
    ]
    about = "|".join([result.settings, str(k), column, *map(repr, known_facts.items())])
    picture(
        distribution_chart(
            table, Series("table", INK, "whole table"), bars,
            "How sure is an attacker, before and after?", "Share of the matching records",
        ),
        lambda: table, "privacy-attack", about,
        PictureSettings.of_run(state.work(), result.prepared, k), original=True,
    )  # fmt: skip
