"""The page Decide, driven by AppTest: what a release is for, thresholds, the verdict."""

import json
import re
import shlex

import pandas as pd
import pytest

from kanon.base.progress import ignore_progress
from kanon.cli.main import main
from kanon.errors import PlanError
from kanon.release.context import ChosenThreshold, Context, replace_threshold
from kanon.studio.decide.purpose_panel import set_context
from kanon.studio.decide.state import DecideView
from kanon.studio.jobs.upload import request_population
from kanon.studio.session.table_loading import open_sample
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui
from support.works import with_fields

DECIDE = "pages/decide.py"
MADE = re.compile(rb'<p class="small" id="made">[^<]*</p>')


@pytest.fixture
def hospital(start):
    return ui.go(ui.anonymised(start()), DECIDE)


def with_people(work, content):
    request = request_population(work, content, "people.csv")
    return request.store_result(work, request.function(ignore_progress, *request.arguments))


def context(at):
    return ui.work(at).purpose.context


def field_of(at, name):
    start = f"decide-wanted-{ui.work(at).version}-{name}-"
    (field,) = [one for one in at.number_input if one.key.startswith(start)]
    return field


def want(at, name, number):
    return ui.enter(at, field_of(at, name), number)


@pytest.mark.nightly
def test_the_purpose_changes_what_is_asked_the_verdict_and_the_models(hospital, downloads):
    at = hospital
    assert "0 of 5 thresholds are met" in ui.page_text(at)
    assert "no count of 1 to 10 is shown" in ui.page_text(at)
    ui.enter(at, at.button_group(key="decide-release"), "internal")
    assert context(at).release == "internal"
    assert "of 3 thresholds" in ui.page_text(at) and "some custodians use 3" in ui.page_text(at)
    ui.enter(at, at.button_group(key="decide-attacker"), "journalist")
    assert "but not whether the person is in the table" in ui.page_text(at)
    assert "No population was given" in ui.page_text(at)
    key = f"decide-known-{ui.work(at).version}-3-3"
    ui.choose(at, key, 1)
    assert context(at).known == 1
    assert "any 1 of their 3 quasi-identifiers" in ui.page_text(at)
    ui.choose(at, key[:-1] + "1", 3)
    assert context(at).known is None

    at.button_group(key="decide-attacker").set_value("prosecutor")
    ui.enter(at, at.button_group(key="decide-release"), "research")
    ui.press(at, "Add as requirements")
    now = ui.work(at)
    assert now.settings.k == 5
    assert [model.sentence for model in now.settings.models] == [
        "Entropy l-diversity with l = 2 for 'disease'",
        "t-closeness with t = 0.4 (total variation) for 'disease'",
    ]
    assert any(one.startswith(ui.OUTDATED) for one in ui.warnings(at))
    want(at, "l", 1.5)
    ui.press(at, "Add as requirements")
    assert [model.symbol for model in ui.work(at).settings.models] == ["l", "t"], "not the old too"
    ui.settled(ui.press(at, "Anonymise"))
    assert "✓ at least" in ui.page_text(at) and not ui.problems(at)

    kept = context(at)
    name, make = downloads["decide-context"]
    text = make()
    assert name.startswith("context-")
    assert json.loads(text)["thresholds"] == {"l": {"wanted": 1.5, "source": ""}}
    ui.press(at, "Use the proposed value")
    load(at, text.encode())
    assert Context.from_json(text) == context(at) == kept
    assert ui.infos(at)[0] == "The purpose was loaded."
    ui.choose(at, "frame-sample", "voters")
    assert context(at) == Context(release="public"), "it is not carried to another table"


@pytest.mark.nightly
def test_a_population_counts_for_who_does_not_know_who_is_in_the_table(hospital):
    rows = ui.work(hospital).table.records.frame[ui.work(hospital).table.quasi_identifiers]
    people = pd.concat([rows] * 5).to_csv(index=False).encode()
    asked = Context(release="research", attacker="journalist")
    seen = with_people(with_fields(ui.work(hospital), context=asked), people)
    hospital.session_state[ui.WORK] = seen
    ui.go(hospital)
    assert "✓ the person who is easiest to find is found once in 10 tries" in ui.page_text(hospital)
    assert "No population was given" not in ui.page_text(hospital)


@pytest.mark.nightly
def test_a_threshold_of_ones_own_is_checked_and_has_a_source_and_a_way_back(hospital):
    at = hospital
    want(at, "k", 2)
    assert "✓ at least 2 records look alike (required: 2)" in ui.page_text(at)
    ui.enter(at, at.text_input(key=f"decide-source-{ui.work(at).version}-k"), "Ethics board")
    assert context(at).thresholds.k.source == "Ethics board"
    want(at, "k", 3)
    assert context(at).thresholds.k.source == "Ethics board", "it is not lost"
    ui.press(at, "Use the proposed value")
    assert context(at) == Context(release="public")

    want(at, "k", 1.0)
    (said,) = ui.problems(at)
    assert "at least 2 and at most 100 000 000, not 1. The threshold is still 11." in said
    assert context(at) == Context(release="public")
    want(at, "t", 0.5)
    assert ui.problems(at) == [said] and field_of(at, "k").value == 1, "what was typed stays"
    want(at, "k", 7.0)
    assert not ui.problems(at) and context(at).thresholds.k.wanted == 7
    want(at, "k", 1e308)
    ui.click(at, at.button(key="decide-back-k"))
    assert not ui.problems(at) and field_of(at, "k").value == 11

    said = "No release can reach this: the table has 10 records."
    assert ui.page_text(at).count(said) == 3, "k = 11, 1 in 11, 1 in 20"
    want(at, "l", 50.0)
    assert "No release can reach this for disease: at most" in ui.page_text(at)
    want(at, "k", 10.0)
    assert ui.page_text(at).count(said) == 2
    at.button_group(key="decide-attacker").set_value("journalist")
    assert said not in ui.page_text(ui.go(at)), "of a population it may be reached"
    at.button_group(key="decide-attacker").set_value("prosecutor")
    want(at, "mean_risk", None)
    assert "of 4 thresholds" in ui.page_text(at), "an empty field asks for nothing"


def load(at, content):
    key = f"decide-upload-{ui.work(at).version}-{ui.work(at).view(DecideView).uploads}"
    return ui.enter(at, at.file_uploader(key=key), ("context.json", content, "application/json"))


@pytest.mark.nightly
def test_a_report_says_what_was_asked_and_the_command_makes_the_same(
    start, downloads, tmp_path, monkeypatch
):
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", "/* the library */")
    at = want(ui.go(ui.anonymised(start()), DECIDE), "k", 2)
    ui.go(at, "pages/report.py")
    at.checkbox(key="report-in-context").set_value(True)
    at = ui.settled(ui.press(ui.go(at), "Make the report"))
    decided = ui.work(at).findings.report.decision
    assert decided.context == context(at) and decided.sentence in ui.page_text(at)
    (name, make), (page, made) = downloads["report-context"], downloads["report-html"]
    assert make() == context(at).to_json()
    for file, content in (
        (name, make()),
        (downloads["report-plan"][0], ui.work(at).findings.report.plan),
    ):
        (tmp_path / file).write_text(content, "utf-8")
    (tmp_path / "hospital.csv").write_bytes(ui.work(at).table.content)
    monkeypatch.chdir(tmp_path)
    given = shlex.split(at.code[0].value)[3:]
    assert main(given) == 0
    written = (tmp_path / "report.html").read_bytes()
    assert MADE.sub(b"", written) == MADE.sub(b"", made()) and page.startswith("report-")
    assert b"What this purpose requires of a release" in written
    ui.go(at, DECIDE)
    ui.enter(at, at.button_group(key="decide-release"), "internal")
    ui.go(at, "pages/report.py")
    assert any("press Make the report to renew it" in one for one in ui.warnings(at))


def test_a_project_brings_the_purpose_back():
    asked = replace_threshold(
        Context(release="research", known=2), "t", ChosenThreshold(wanted=None, source="Board")
    )
    before = set_context(open_sample("hospital"), asked)
    saved = export_project(before)
    after = open_project(open_sample("hospital"), saved.encode())
    assert after.purpose.context == asked
    older = json.loads(saved)
    del older["context"]
    assert open_project(before, json.dumps(older).encode()).purpose.context == asked
    wrong = json.dumps(json.loads(saved) | {"context": {"context": 1}}).encode()
    with pytest.raises(PlanError, match=r"^The project file: The context lacks the key release\.$"):
        open_project(before, wrong)
