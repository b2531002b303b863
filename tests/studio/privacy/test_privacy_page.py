"""The page Privacy, driven by AppTest."""

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import kanon.measures.linkage
from kanon.privacy.reidentification import THRESHOLD
from kanon.studio.privacy import attack_panel
from kanon.studio.privacy.attacker import PrivacyView
from support import dashboard as ui
from support.works import with_fields

PRIVACY = "pages/privacy.py"
NOTHING_YET = "There is no result for this table yet"
NOT_SENSITIVE = "No column is sensitive yet"


def said(at, beginning):
    (found,) = [text for text in ui.texts(at) if text.startswith(beginning)]
    return found


def to_k(at, k):
    return ui.enter(at, at.select_slider(key="privacy-k"), k)


def fact(at, place):
    """The key of the control for what is known of the quasi-identifier at that place."""
    return f"privacy-fact-{ui.work(at).version}-{place}"


def know(at, *columns):
    return ui.enter(at, at.multiselect(key=f"privacy-known-{ui.work(at).version}"), [*columns])


def classes_shown(at):
    return next(one for one in at.dataframe if (one.key or "").startswith("worst-"))


def upload_people(at, table, name="people.csv"):
    key = f"privacy-population-{ui.work(at).version}-{ui.work(at).view(PrivacyView).uploads}"
    content = table if isinstance(table, bytes) else ui.as_bytes(table, "csv")
    return ui.enter(at, at.file_uploader(key=key), (name, content, "text/csv"))


@pytest.mark.nightly
def test_what_the_worked_table_says_of_classes_and_of_an_attacker(start):
    """At k = 4 there are [F, Mammal] and [M, Felid], four records each."""
    at = ui.go(ui.anonymised(start(sample="animals-m23")), PRIVACY)
    assert ui.title(at) == "What can still be found out about someone?"
    assert not ui.problems(at) and not ui.warnings(at) and len(at.get("plotly_chart")) == 4
    found = ui.numbers(at)
    # Of four records two have the same disease: l = exp(1.5 ln 2) = 2.83 of at most 5.04.
    assert found["Worst l, disease"].startswith("2.82 of ")
    assert found["Best guess"] == "50.0 %"
    assert found["Different values"] == "3 of 5"
    assert found["Highest risk"] == found["Mean risk"] == "25.0 %"
    assert found["Risk above 1/5"] == "100.0 %" and found["Unique records"] == "0, before 0"
    assert "2 of 4 records have the same disease" in " ".join(ui.texts(at))
    listed = classes_shown(at)
    assert listed.value["records"].tolist() == [4, 4]
    assert sorted(listed.value["race"]) == ["Felid", "Mammal"]
    how = " ".join(ui.texts(at))
    assert "exp(−Σ p ln p)" in how and "Linkage attack" in how and "1/4 = 0.2500" in how
    assert not [text for text in ui.texts(at) if "anonymous" in text or " safe" in text]

    for row, label in enumerate(listed.value["race"].tolist()):
        at.session_state[listed.key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
        ui.go(at)
        (heading,) = [text for text in ui.texts(at) if " — " in text]
        assert label in heading
        _, after, before = (one.value for one in at.dataframe)
        assert set(after["race"]) == {label} and len(after) == len(before) == 4
        assert "name" not in after and "name" not in before, "identifiers are not shown"

    assert ui.work(at).view(PrivacyView).threshold == THRESHOLD
    ui.enter(at, at.select_slider(key="privacy-threshold"), 1 / 4)
    assert ui.numbers(at)["Risk above 1/4"] == "0.0 %"

    assert ui.work(at).view(PrivacyView).known is None
    ui.choose(at, fact(at, 0), "F")
    ui.choose(at, fact(at, 1), "Lion")
    assert said(at, "**Before:**") == (
        "**Before:** 2 records match, and all have the same value: the attacker is certain of "
        "“Cold”."
    )
    assert said(at, "**After:**") == (
        "**After:** 4 records match; the best guess is “Cold”, 50.0 % likely to be right."
    )
    whole = said(at, "**Everyone in turn")
    assert "2.0 records match before and 4.0 after" in whole
    assert "right for 75.0 % of 8 records before and 50.0 % after" in whole
    know(at, "race")
    assert "4 records match" in said(at, "**Before:**")
    assert "8 records match" in said(at, "**After:**")
    know(at)
    assert "8 records match" in said(at, "**Before:**") and "nothing" in said(
        at, "**Everyone in turn"
    )
    know(at, "gender", "race")
    assert at.selectbox(key=fact(at, 1)).value == "Lion", "it is the same person still"
    ui.choose(at, fact(at, 1), "Cat")
    assert "no record matches" in said(at, "**Before:**")
    assert "4 records match" in said(at, "**After:**"), "a release can suggest who is not there"


def test_a_table_without_a_sensitive_column(start):
    at = ui.go(ui.anonymised(start(sample="animals-v21")), PRIVACY)
    assert [one.value for one in at.info if NOT_SENSITIVE in one.value]
    assert "Highest risk" in ui.numbers(at) and "Best guess" not in ui.numbers(at)
    assert not at.get("plotly_chart") and not at.dataframe
    assert "match" in said(at, "**Before:**")
    assert "best guess" not in said(at, "**Everyone in turn")


@pytest.mark.nightly
def test_moving_k_computes_nothing_anew_of_the_original_table(start, monkeypatch):
    """Nor is anything of it in Streamlit's caches, which are shared by all sessions."""

    def refuse(*_, **__):
        raise AssertionError("cached for everybody")

    at = ui.anonymised(start())
    monkeypatch.setattr(st, "cache_data", refuse)
    ui.go(at, PRIVACY)
    asked = []
    real = kanon.measures.linkage.measure_linkage

    def counted_linkage(persons, published, *others):
        asked.append(published is persons)
        return real(persons, published, *others)

    monkeypatch.setattr(attack_panel, "measure_linkage", counted_linkage)
    to_k(at, 3)
    before = said(at, "**Before:**")
    assert asked == [False], "the attack on the release alone"
    to_k(at, 3)
    assert asked == [False]
    know(at, "sex")
    assert asked == [False, True, False] and said(at, "**Before:**") != before, "nothing is stale"
    ui.press(at, "Take a random record")
    upload_people(at, ui.PEOPLE.head(0))
    assert ui.problems(at)


@pytest.mark.nightly
def test_a_release_is_made_looked_at_and_outdated(start):
    at = ui.go(start(), PRIVACY)
    assert any(NOTHING_YET in one.value for one in at.info) and not at.get("plotly_chart")
    ui.settled(ui.press(at, "Anonymise"))
    assert not at.info and at.get("plotly_chart")
    assert ui.work(at).findings.result is not None

    at.multiselect(key="privacy-extra").set_value(
        ["delta", "basic_beta", "recursive_c", "distinct_l"]
    )
    table = classes_shown(ui.go(at)).value
    assert {"δ ↓", "basic β ↓", "recursive c for l = 2 ↓", "values ↑"} <= set(table.columns)
    ui.choose(at, "privacy-by", "t_variational")
    t = classes_shown(at).value["t ↓"].to_numpy()
    assert (np.diff(t) <= 0).all()
    by = at.selectbox(key="privacy-by").options
    assert not [one for one in by if "ordered" in one], "diseases have no order"
    assert ui.work(at).view(PrivacyView).extra, "what was chosen stays"

    before = ui.numbers(at)
    to_k(at, 10)
    assert ui.work(at).settings.k == 10 and "run" not in ui.work(at).running
    found = ui.numbers(at)
    assert found["Highest risk"] == "10.0 %" != before["Highest risk"]
    most = found["Worst l, disease"].split(" of ")
    assert most[0] == most[1], "one class is the whole table"
    assert found["Worst t, disease"] == "0 of 1"
    assert ui.go(ui.go(at, ui.ANONYMISE), PRIVACY).select_slider(key="privacy-k").value == 10

    ui.choose(at, ui.frame_metric(at), "llm")
    assert any(ui.OUTDATED in text for text in ui.warnings(at))
    assert ui.numbers(at), "it stays readable"
    ui.settled(ui.press(at, "Anonymise"))
    assert not ui.warnings(at)
    ui.give_role(ui.go(at, ui.DATA), "disease", "insensitive")
    ui.go(at, PRIVACY)
    assert any(ui.OUTDATED in text for text in ui.warnings(at)), "it has to be run anew"
    assert "Best guess" not in ui.numbers(at)
    ui.settled(ui.press(at, "Anonymise"))
    assert not ui.warnings(at) and [one for one in at.info if NOT_SENSITIVE in one.value]


@pytest.mark.nightly
def test_a_population_stands_behind_its_table_and_no_other(start):
    at = ui.go(ui.anonymised(start(sample="animals-m23")), PRIVACY)
    table = pd.DataFrame(
        {"race": ["Lion", "Dog", "Cat", "Cow"] * 8, "gender": ["F", "F", "M", "F"] * 8}
    )
    upload_people(at, table)
    # [F, Mammal]: lions, dogs and cows, 24. [M, Felid]: 8 cats.
    assert ui.numbers(at)["Journalist, highest"] == "12.5 %"
    assert ui.numbers(at)["Marketer"] == "8.3 %", "(4/24 + 4/8) / 8"
    assert any(
        "8 of them have a missing value or one that is in no hierarchy" in text
        for text in ui.captions(at)
    )
    at = ui.settled(ui.press(at, "Measure"))
    sure = "at most 50.0 % sure that a person is in the table, and 33.3 % on average"
    assert sure in ui.page_text(at), "(4/24 + 4/8) / 2"
    upload_people(at, table.drop(table.index[7::4]))
    assert any("25 people. 1 of them has a missing value" in text for text in ui.captions(at))
    ui.press(at, "Delete")
    assert "Marketer" not in ui.numbers(at) and ui.work(at).purpose.population is None

    ui.press(at, "Take a random record")
    upload_people(at, pd.DataFrame({"gender": ["F"], "race": ["Lion"]}))
    assert ui.work(at).purpose.population is not None
    ui.with_people(ui.go(at, ui.DATA))
    assert not ui.work(at).view(PrivacyView).person and ui.work(at).purpose.population is None
    ui.go(at, PRIVACY)
    assert any(NOTHING_YET in one.value for one in at.info) or ui.work(at).findings.result is None
    assert ui.button(at, "Anonymise")


@pytest.mark.nightly
def test_names_and_values_from_a_table_are_no_markdown(start):
    picture = "![x](http://a.b)"
    table = ui.PEOPLE.rename(
        columns={"disease": picture, "sex": "*sex*", "zip": "[zip](http://a.b)"}
    )
    table[picture] = [f"{picture}{i % 3}" for i in range(12)]
    at = ui.with_people(start(page=ui.DATA), table)
    ui.give_role(at, picture, "sensitive")
    ui.give_role(at, "*sex*", "sensitive")
    ui.go(ui.anonymised(at), PRIVACY)
    for focus in (picture, "*sex*"):
        ui.choose(at, "privacy-sensitive", focus)
        assert ui.work(at).focus == focus
        shown = [one.value for one in (*at.markdown, *at.caption, *at.info)]
        shown += [one.label for one in (*at.selectbox, *at.metric)]
        shown += [one.proto.help for one in at.metric]
        assert any("http" in text for text in shown), "they are shown"
        assert not [text for text in shown if "](http" in text or " *sex*" in text]


@pytest.mark.nightly
@pytest.mark.parametrize(("algorithm", "k"), [("datafly", 2), ("optimal", 3)])
def test_at_a_k_where_nothing_is_released_there_is_no_class(start, algorithm, k):
    """Where all records are suppressed, no class has an l."""
    at = start(sample="hospital", curve_seconds=3600)
    ui.choose(at, "run-algorithm", algorithm)
    session = at.session_state[ui.WORK]
    at.session_state[ui.WORK] = with_fields(session, k=k, suppression=1.0)
    ui.settle_all(ui.anonymised(ui.go(at)))
    assert np.isnan(ui.work(at).findings.result.solution.curves.numbers["min_k"]).any()
    ui.go(at, PRIVACY)
    for other in ui.work(at).findings.result.solution.curves.numbers["k"].tolist():
        to_k(at, other)
        assert not at.exception
