"""A linkage attack on one person: what an attacker knows, and what it reveals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from kanon.charts.privacy import (
    AFTER_COLOUR,
    BEFORE_COLOUR,
    Series,
    build_distribution_table,
    draw_distribution_bars,
)
from kanon.charts.style import INK
from kanon.classes import EquivalenceClasses
from kanon.measures.linkage import Match, find_matches, measure_linkage
from kanon.run import Run
from kanon.studio.privacy.attacker import (
    PrivacyView,
    choose_person_by,
    count_matches,
    describe_all_attacks,
    describe_attack,
    get_baseline,
    get_known_columns,
    get_person,
    list_occurring,
    select_facts,
)
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.picture import PictureSettings, show_picture


def show_attack(
    work: SessionState, result: AnonymisationResult, run: Run, column: str | None, k: int
) -> tuple[list[str], dict[str, str]]:
    classes, released = run.prepared.classes, run.recoding.released
    columns = get_known_columns(work.view(PrivacyView), classes)
    view = work.view(PrivacyView)
    person = state.get_or_compute(
        "person", (result.settings, tuple(columns), tuple(view.person.items())),
        lambda: get_person(view, classes, columns),
    )  # fmt: skip
    st.subheader("Try to find a person")
    st.caption(
        "Choose what an attacker knows about one person. The attacker may be a neighbour, a "
        "colleague, or anyone with a list of names."
    )
    values_by_column = state.get_or_compute(
        "occurring", (result.settings, tuple(columns)),
        lambda: {name: list_occurring(classes, name) for name in columns},
    )  # fmt: skip
    show_fact_fields(work, classes, values_by_column, person)
    known_facts = select_facts(person, columns)
    before, after = (
        find_matches(classes, known_facts, column),
        find_matches(released, known_facts, column),
    )
    baseline = None
    if column is not None:
        baseline = get_baseline(classes.sensitive_named(column))
    about = result.settings, column, tuple(columns)
    linked_before = state.get_or_compute(
        "linkage", about, lambda: measure_linkage(classes, classes, columns, column)
    )
    linked_after = state.get_or_compute(
        "linked", (*about, k), lambda: measure_linkage(classes, released, columns, column)
    )
    text_side, chart_side = st.columns([2, 3], gap="medium")
    with text_side:
        for sentence in describe_attack(before, after, baseline, run.recoding.suppressed_records):
            st.markdown(sentence)
        if linked_before is not None and linked_after is not None:
            st.markdown(
                describe_all_attacks(classes, columns, linked_before, linked_after, baseline)
            )
    if column is not None and baseline is not None:
        with chart_side:
            draw_attack(result, k, column, known_facts, classes, before, after, baseline)
    return columns, person


def show_fact_fields(
    work: SessionState,
    classes: EquivalenceClasses,
    values_by_column: Mapping[str, Sequence[str]],
    person: Mapping[str, str],
) -> None:
    columns = list(values_by_column)
    st.multiselect(
        "Known",
        list(classes.attributes),
        **attach_widget(
            f"privacy-known-{work.version}",
            columns,
            lambda value: set_privacy_view(known=tuple(value), person=person),
        ),
        placeholder="Nothing is known",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, values in values_by_column.items():
            field = f"privacy-fact-{work.version}-{classes.attributes.index(name)}"
            st.selectbox(
                escape_markdown(name),
                values if person[name] in values else [person[name], *values],
                **attach_widget(
                    field,
                    person[name],
                    lambda value, name=name: set_privacy_view(person={**person, name: value}),
                ),
                width=190,
            )
        st.button(
            "Take a random record",
            icon=":material/casino:",
            help="A record that the known facts single out, if there is one.",
            on_click=take_random,
            args=(classes, columns),
            key="privacy-random",
        )


def set_privacy_view(**fields: Any) -> None:
    state.update_fields(PrivacyView, **fields)


def take_random(classes: EquivalenceClasses, columns: Sequence[str]) -> None:
    set_privacy_view(person=choose_person_by(classes, columns, np.random.default_rng()))


def draw_attack(
    result: AnonymisationResult,
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
    table = build_distribution_table(sensitive.values, sensitive.numeric, series, most=12)
    bars = [
        Series("before", BEFORE_COLOUR, f"before: {count_matches(before)}"),
        Series("after", AFTER_COLOUR, f"after: {count_matches(after)}"),
    ]
    about = "|".join([result.settings, str(k), column, *map(repr, known_facts.items())])
    show_picture(
        draw_distribution_bars(
            table, Series("table", INK, "whole table"), bars,
            "How sure is an attacker, before and after?", "Share of the matching records",
        ),
        lambda: table, "privacy-attack", about,
        PictureSettings.from_run(state.get_session(), result.prepared, k), original=True,
    )  # fmt: skip
