"""The page Decide, driven by AppTest: what a release is for, thresholds, the verdict."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from datetime import date

import pandas as pd
import pytest

from kanon.base.progress import no_progress
from kanon.cli.main import main
from kanon.errors import PlanError
from kanon.release.context import ChosenThreshold, Context, with_own
from kanon.studio.decide.decision import with_context
from kanon.studio.decide.state import DecideView
from kanon.studio.jobs.reporting import make_report
from kanon.studio.jobs.upload import people_request
from kanon.studio.privacy.attacker import without_population
from kanon.studio.report.report_request import (
    context_of_report,
    outdated_report,
    people_of_report,
    plan_of_report,
)
from kanon.studio.report.state import ReportView
from kanon.studio.session.table_loading import sample_work
from kanon.studio.shell.project_file import opened_project, saved_project
from support.dashboard import (
    OUTDATED,
    WORK,
    anonymised,
    choose,
    go,
    press,
    problems,
    settled,
    warnings,
    work,
)
from support.works import with_fields

DECIDE = "pages/decide.py"
MADE = re.compile(rb'<p class="small" id="made">[^<]*</p>')


@pytest.fixture
def hospital(start):
    """Ten records and their release, on the page."""
    return go(anonymised(start()), DECIDE)


def with_people(work, content):
    """The work with the population of a file."""
    request = people_request(work, content, "people.csv")
    return request.then(work, request.function(no_progress, *request.arguments))


def texts(at):
    return "\n".join(one.value.replace("\\", "") for one in [*at.markdown, *at.caption])


def context(at):
    return work(at).purpose.context


def field_of(at, name):
    """The field of a threshold."""
    start = f"decide-wanted-{work(at).version}-{name}-"
    (field,) = [one for one in at.number_input if one.key.startswith(start)]
    return field


def want(at, name, number):
    """Type another number for a threshold."""
    field_of(at, name).set_value(number)
    return go(at)


def test_the_purpose_changes_what_is_asked_and_the_verdict(hospital):
    assert "0 of 5 thresholds are met" in texts(hospital)
    assert "no count of 1 to 10 is shown" in texts(hospital)
    hospital.button_group(key="decide-release").set_value("internal")
    go(hospital)
    assert context(hospital).release == "internal"
    assert "of 3 thresholds" in texts(hospital) and "some custodians use 3" in texts(hospital)
    hospital.button_group(key="decide-attacker").set_value("journalist")
    go(hospital)
    assert "but not whether they are in the table" in texts(hospital)
    assert "nor was a population" in texts(hospital)
    key = f"decide-known-{work(hospital).version}-3-3"
    choose(hospital, key, 1)
    assert context(hospital).known == 1
    assert "any 1 of their 3 quasi-identifiers" in texts(hospital)
    choose(hospital, key[:-1] + "1", 3)
    assert context(hospital).known is None


def test_a_population_counts_for_who_does_not_know_who_is_in_the_table(hospital):
    rows = work(hospital).table.records.frame[work(hospital).table.quasi_identifiers]
    people = pd.concat([rows] * 5).to_csv(index=False).encode()
    asked = Context(release="research", attacker="journalist")
    seen = with_people(with_fields(work(hospital), context=asked), people)
    hospital.session_state[WORK] = seen
    go(hospital)
    assert "✓ the person who is easiest to find is found once in 10 tries" in texts(hospital)
    assert "nor was a population" not in texts(hospital)


def test_a_threshold_of_ones_own_has_a_source_and_a_way_back(hospital):
    want(hospital, "k", 2)
    assert "✓ at least 2 records look alike (asked for: 2)" in texts(hospital)
    key = f"decide-source-{work(hospital).version}-k"
    hospital.text_input(key=key).set_value("Ethics board")
    go(hospital)
    assert context(hospital).thresholds.k.source == "Ethics board"
    want(hospital, "k", 3)
    assert context(hospital).thresholds.k.source == "Ethics board", "it is not lost"
    press(hospital, "As proposed")
    assert context(hospital) == Context(release="public")


def test_a_number_that_is_not_allowed_changes_nothing(hospital):
    said = (
        "What is asked for in 'Records that look alike (k-anonymity)' has to be a whole number of "
        "at least 2 and at most 100 000 000, not 1. Still asked for: 11."
    )
    want(hospital, "k", 1.0)
    assert problems(hospital) == [said] and context(hospital) == Context(release="public")
    want(hospital, "t", 0.5)
    assert problems(hospital) == [said] and field_of(hospital, "k").value == 1, (
        "what was typed stays"
    )
    want(hospital, "k", 7.0)
    assert not problems(hospital) and context(hospital).thresholds.k.wanted == 7
    want(hospital, "k", 1e308)
    hospital.button(key="decide-back-k").click()
    go(hospital)
    assert not problems(hospital) and field_of(hospital, "k").value == 11


def test_an_empty_field_asks_for_nothing(hospital):
    want(hospital, "mean_risk", None)
    assert "of 4 thresholds" in texts(hospital)


def test_what_no_release_reaches_is_said_beside_the_field(hospital):
    want(hospital, "l", 50.0)
    assert "No release reaches that of disease: at most" in texts(hospital)
    said = "No release reaches that: the table has 10 records."
    assert texts(hospital).count(said) == 3, "k = 11, 1 in 11, 1 in 20"
    want(hospital, "k", 10.0)
    assert texts(hospital).count(said) == 2
    hospital.button_group(key="decide-attacker").set_value("journalist")
    assert said not in texts(go(hospital)), "of a population it may be reached"


def test_what_is_asked_becomes_models_as_if_chosen_by_hand(hospital):
    hospital.button_group(key="decide-release").set_value("research")
    go(hospital)
    press(hospital, "Use as models")
    now = work(hospital)
    assert now.settings.k == 5
    assert [model.sentence for model in now.settings.models] == [
        "Entropy l-diversity with l = 2 for 'disease'",
        "t-closeness with t = 0.4 (total variation) for 'disease'",
    ]
    assert any(one.startswith(OUTDATED) for one in warnings(hospital))
    want(hospital, "l", 1.5)
    press(hospital, "Use as models")
    assert [model.symbol for model in work(hospital).settings.models] == ["l", "t"], (
        "in place of the old"
    )
    settled(press(hospital, "Anonymise"))
    assert "✓ at least" in texts(hospital) and not problems(hospital)


def test_a_context_is_saved_and_loaded(hospital, downloads):
    want(hospital, "k", 7)
    name, make = downloads["decide-context"]
    text = make()
    assert name.startswith("context-") and json.loads(text)["thresholds"] == {
        "k": {"wanted": 7.0, "source": ""}
    }
    press(hospital, "As proposed")
    load(hospital, text.encode())
    assert Context.from_json(text) == context(hospital)
    assert hospital.info[0].value == "The context was loaded\\."


def load(at, content):
    key = f"decide-upload-{work(at).version}-{work(at).view(DecideView).uploads}"
    at.file_uploader(key=key).set_value(("context.json", content, "application/json"))
    return go(at)


def test_the_purpose_is_not_carried_to_another_table(hospital):
    want(hospital, "k", 7)
    choose(hospital, "frame-sample", "voters")
    assert context(hospital) == Context(release="public")


# --- the report and the project -----------------------------------------------------------------
def test_a_report_is_outdated_under_another_population_but_not_under_the_same_file(start):
    at = start()
    begun = work(at)
    rows = begun.table.records.frame[begun.table.quasi_identifiers]
    files = [pd.concat([rows] * times).to_csv(index=False).encode() for times in (5, 6)]

    def beside(content, work):
        return with_people(work, content)

    asked = with_context(begun, Context(release="research", attacker="journalist"))
    asked = beside(
        files[0], with_fields(asked, view=replace(asked.view(ReportView), in_context=True))
    )
    purpose, people = context_of_report(asked)
    plan = plan_of_report(asked).model_dump(mode="json")
    given = (plan, asked.table.records, "hospital.csv", None, date(2026, 1, 31))
    report = make_report(no_progress, *given, purpose.content, people)
    made = with_fields(asked, reported=report, reported_people=people_of_report(asked))
    assert report.decision.reached.population and not outdated_report(made)
    assert not outdated_report(beside(files[0], made)), "loaded once more"
    assert outdated_report(beside(files[1], made))
    gone = without_population(made)
    assert outdated_report(gone)
    at.session_state[WORK] = gone
    go(at, "pages/report.py")
    assert not at.exception and "--population people.csv" in at.code[0].value
    known = with_context(made, Context(release="research"))
    assert outdated_report(known) and people_of_report(known) is None


@pytest.mark.nightly
def test_a_report_says_what_was_asked_and_the_command_makes_the_same(
    start, downloads, tmp_path, monkeypatch
):
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", "/* the library */")
    at = want(go(anonymised(start()), DECIDE), "k", 2)
    go(at, "pages/report.py")
    at.checkbox(key="report-in-context").set_value(True)
    at = settled(press(go(at), "Make the report"))
    decided = work(at).findings.reported.decision
    assert decided.context == context(at) and decided.sentence in texts(at)
    (name, make), (page, made) = downloads["report-context"], downloads["report-html"]
    assert make() == context(at).to_json()
    for file, content in (
        (name, make()),
        (downloads["report-plan"][0], work(at).findings.reported.plan),
    ):
        (tmp_path / file).write_text(content, "utf-8")
    (tmp_path / "hospital.csv").write_bytes(work(at).table.content)
    monkeypatch.chdir(tmp_path)
    given = shlex.split(at.code[0].value)[3:]
    assert main(given) == 0
    written = (tmp_path / "report.html").read_bytes()
    assert MADE.sub(b"", written) == MADE.sub(b"", made()) and page.startswith("report-")
    assert b"What is asked of a release for this purpose" in written
    go(at, DECIDE)
    at.button_group(key="decide-release").set_value("internal")
    go(at)
    go(at, "pages/report.py")
    assert any("press Make the report to renew it" in one for one in warnings(at))


def test_a_project_brings_the_purpose_back():
    asked = with_own(
        Context(release="research", known=2), "t", ChosenThreshold(wanted=None, source="Board")
    )
    before = with_context(sample_work("hospital"), asked)
    saved = saved_project(before)
    after = opened_project(sample_work("hospital"), saved.encode())
    assert after.purpose.context == asked
    older = json.loads(saved)
    del older["context"]
    assert opened_project(before, json.dumps(older).encode()).purpose.context == asked
    wrong = json.dumps(json.loads(saved) | {"context": {"context": 1}}).encode()
    with pytest.raises(PlanError, match=r"^The project file: The context lacks the key release\.$"):
        opened_project(before, wrong)
