"""A linkage attack on a person of the table: what is known, and what it tells."""

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
    work: Work, result: Result, done: Run, column: str | None, k: int
) -> tuple[list[str], dict[str, str]]:
    classes, released = done.prepared.classes, done.recoding.released
    known = known_used(work.view(PrivacyView), classes)
    person = state.remembered(
        "person", (result.settings, tuple(known), tuple(work.view(PrivacyView).person.items())),
        lambda: person_used(work.view(PrivacyView), classes, known),
    )  # fmt: skip
    st.subheader("Try to find somebody")
    st.caption(
        "Choose what an attacker knows about one person: a neighbour, a colleague, a list "
        "with names."
    )
    offered = state.remembered(
        "occurring", (result.settings, tuple(known)),
        lambda: {name: occurring(classes, name) for name in known},
    )  # fmt: skip
    facts_known(work, classes, offered, person)
    given = facts(person, known)
    before, after = matching(classes, given, column), matching(released, given, column)
    baseline = None
    if column is not None:
        baseline = baseline_of(classes.sensitive_named(column))
    about = result.settings, column, tuple(known)
    linked_before = state.remembered(
        "linkage", about, lambda: linkage(classes, classes, known, column)
    )
    linked_after = state.remembered(
        "linked", (*about, k), lambda: linkage(classes, released, known, column)
    )
    left, right = st.columns([2, 3], gap="medium")
    with left:
        for sentence in about_person(before, after, baseline, done.recoding.suppressed_records):
            st.markdown(sentence)
        if linked_before is not None and linked_after is not None:
            st.markdown(about_everybody(classes, known, linked_before, linked_after, baseline))
    if column is not None and baseline is not None:
        with right:
            attacked(result, k, column, given, classes, before, after, baseline)
    return known, person


def facts_known(
    work: Work,
    classes: EquivalenceClasses,
    offered: Mapping[str, Sequence[str]],
    person: Mapping[str, str],
) -> None:
    known = list(offered)
    st.multiselect(
        "Known",
        list(classes.attributes),
        **bound(f"privacy-known-{work.version}", known, know_of, person),
        placeholder="Nothing is known",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, values in offered.items():
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
            help="One that is unique by what is known, if there is one.",
            on_click=take_random,
            args=(classes, known),
            key="privacy-random",
        )


def look(**fields: Any) -> None:
    state.change(replace(state.work().view(PrivacyView), **fields))


def know_of(person: Mapping[str, str], value: Any) -> None:
    look(known=tuple(value), person=person)


def know(person: Mapping[str, str], name: str, value: Any) -> None:
    look(person={**person, name: value})


def take_random(classes: EquivalenceClasses, known: Sequence[str]) -> None:
    look(person=somebody(classes, known, np.random.default_rng()))


def attacked(
    result: Result,
    k: int,
    column: str,
    given: Mapping[str, str],
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
    about = "|".join([result.settings, str(k), column, *map(repr, given.items())])
    picture(
        distribution_chart(
            table, Series("table", INK, "whole table"), bars,
            "How sure is an attacker, before and after?", "Share of the matching records",
        ),
        lambda: table, "privacy-attack", about,
        PictureSettings.of_run(state.work(), result.prepared, k), original=True,
    )  # fmt: skip
