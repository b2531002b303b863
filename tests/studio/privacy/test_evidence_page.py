"""What an attacker gains and the motivated intruder test, on Privacy, Report and in projects."""

import json

import pytest

from kanon.errors import PlanError
from kanon.evidence.attack import attack
from kanon.run import prepare, run_prepared
from kanon.studio.privacy.intruder_panel import add_attempt, replace_attempts
from kanon.studio.session.run_plan import build_plan, hash_release_inputs
from kanon.studio.session.table_loading import open_sample
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui

PRIVACY, REPORT = "pages/privacy.py", "pages/report.py"
NAMES = 'Ann "![x](http://a.invalid/b.png)" <b>Ben</b>'


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without the five megabytes of the library in every page."""
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", "/* the library */")


def on_privacy(start):
    return ui.go(ui.anonymised(start(sample="animals-m23")), PRIVACY)


def type_attempt(at, right=1):
    version = ui.work(at).version
    at.text_input(key=f"intruder-people-{version}").set_value(NAMES)
    at.number_input(key=f"intruder-claims-{version}").set_value(3)
    at.number_input(key=f"intruder-right-{version}").set_value(right)
    return ui.press(at, "Add the attempt")


def test_evidence_is_measured_and_outdated_by_another_k(start, downloads):
    at = on_privacy(start)
    assert ui.work(at).findings.evidence is None
    ui.enter(at, at.selectbox(key="evidence-known"), 1)
    ui.settled(ui.press(at, "Measure"))
    work = ui.work(at)
    measured, plan = work.findings.evidence, build_plan(work)
    key = hash_release_inputs(work, plan)
    assert work.findings.get_evidence(key) is measured and measured.release == key
    run = run_prepared(prepare(plan, work.table.records))
    assert measured.evidence.numbers == attack(run, known=1).numbers
    assert all(sentence in ui.page_text(at) for sentence in measured.evidence.sentences)
    assert "How often is an attacker right?" in ui.chart_titles(at)
    assert "Linkability" in downloads["privacy-evidence-data"][1]().decode()
    old = "press Measure to renew it"
    assert not [text for text in ui.warnings(at) if old in text]

    ui.enter(at, at.selectbox(key="evidence-known"), 2)
    (text,) = [text for text in ui.warnings(at) if old in text]
    assert "Known columns" in text
    at.selectbox(key="evidence-known").set_value(1)
    ui.enter(at, at.select_slider(key="privacy-k"), 8)
    assert [text for text in ui.warnings(at) if old in text], "it is of another release"
    findings = ui.work(at).findings
    assert findings.get_evidence(findings.result.compute_release_key(8)) is None


@pytest.mark.nightly
def test_the_internal_report_files_what_was_measured_and_tried(start, downloads):
    at = on_privacy(start)
    at.checkbox(key="evidence-control").set_value(False)
    ui.settled(ui.press(at, "Measure"))
    measured = ui.work(at).findings.evidence
    type_attempt(at)
    ui.settled(ui.press(ui.go(at, REPORT), "Make the report"))
    page = downloads["report-html"][1]().decode()
    assert measured.evidence.sentences[1] in page
    assert "3 claims, 1 right" in page and "<b>Ben" not in page and "&lt;b&gt;Ben" in page
    numbers = json.loads(downloads["report-json"][1]())
    assert numbers["evidence"] == measured.evidence.numbers
    assert [row["Release"] for row in numbers["intruder_test"]] == ["this one", "this one"]
    (shown,) = at.code
    assert "--attack --known 3 --no-control" in shown.value
    assert "--intruder intruder-test" in shown.value
    ui.enter(at, at.segmented_control(key="report-public"), True)
    public = downloads["report-html"][1]().decode()
    assert "Ann" not in public and "Linkability" not in public and "intruder" not in public
    (shown,) = at.code
    assert "--attack" not in shown.value and "--intruder" not in shown.value


def test_a_cancelled_attack_changes_nothing(start):
    at = on_privacy(start)
    with ui.held_worker():
        ui.press(at, "Measure")
        assert ui.button(at, "Measure").disabled
        ui.press(at, "Cancel")
    assert ui.settled(at) and ui.work(at).findings.evidence is None
    assert ui.work(at).message.notice == ui.CANCELLED


@pytest.mark.nightly
def test_a_protocol_is_text_and_belongs_to_its_session_alone(start):
    at, other = on_privacy(start), on_privacy(start)
    type_attempt(at, right=4)
    assert "of 3 claims at most all can be right, not 4" in ui.problems(at)[0]
    assert not ui.work(at).purpose.intruder_test.attempts
    type_attempt(at)
    (attempt,) = ui.work(at).purpose.intruder_test.attempts
    assert (attempt.people, attempt.claims, attempt.right) == (NAMES, 3, 1)
    (table,) = [table.value for table in at.table if "Who tried" in table.value]
    assert "![x](" not in str(table.iloc[0, 1]) and "\\!\\[x\\]" in table.iloc[0, 1]
    ui.go(other)
    assert not ui.work(other).purpose.intruder_test.attempts
    assert not [table for table in other.table if "Who tried" in table.value]
    assert "Ann" not in ui.page_text(other)
    at.button(key="intruder-delete-0").click()
    assert not ui.work(ui.go(at)).purpose.intruder_test.attempts


def test_the_project_brings_the_protocol_back():
    work = open_sample("animals-m23")
    with pytest.raises(PlanError, match="at least 1 character"):
        add_attempt(work, "")
    project = json.loads(export_project(work))
    typed = {"people": NAMES, "date": "2026-01-31", "claims": 2, "right": 1}
    opened = open_project(
        work, json.dumps(project | {"intruder_test": {"attempts": [typed]}}).encode()
    )
    (attempt,) = opened.purpose.intruder_test.attempts
    assert attempt.people == NAMES and attempt.claims == 2
    again = open_project(work, export_project(opened).encode())
    assert again.purpose.intruder_test == opened.purpose.intruder_test
    assert not replace_attempts(again, []).purpose.intruder_test.attempts
    wrong = project | {"intruder_test": {"attempts": [typed | {"right": 3}]}}
    with pytest.raises(PlanError) as caught:
        open_project(work, json.dumps(wrong).encode())
    assert caught.value.sentence.startswith("The project file: ")
    del project["intruder_test"]  # of an earlier version
    assert not open_project(opened, json.dumps(project).encode()).purpose.intruder_test.attempts
