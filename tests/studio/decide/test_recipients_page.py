"""The page Decide: the questions about recipients, their verdicts, attack and usefulness."""

from dataclasses import replace

import pytest

from kanon.release.context import Context
from kanon.studio.decide.recipients_panel import build_attack_request
from kanon.studio.jobs.reporting import request_report
from kanon.studio.session.run_plan import build_plan
from support import dashboard as ui

DECIDE = "pages/decide.py"
MEASURE = "Measure attack and usefulness"


@pytest.fixture
def hospital(start):
    return ui.go(ui.anonymised(start()), DECIDE)


def context(at):
    return ui.work(at).purpose.context


def want(at, name, number):
    start = f"decide-wanted-{ui.work(at).version}-{name}-"
    (field,) = [field for field in at.number_input if field.key.startswith(start)]
    return ui.enter(at, field, number)


def verdicts(at):
    (table,) = [each.value for each in at.table if "Colleagues only" in each.value]
    return table.map(lambda cell: cell.replace("\\", "")).set_index("Threshold")


@pytest.mark.nightly
def test_answers_set_the_thresholds_and_the_multiplication_is_shown(hospital):
    at = ui.enter(hospital, hospital.button_group(key="decide-invasion"), "high")
    assert context(at) == Context(release="public", invasion="high")
    assert "1 × 20 = 20 tries" in ui.page_text(at)
    assert not [box for box in at.checkbox if "control" in box.key], "of others alone"
    ui.enter(at, at.button_group(key="decide-release"), "research")
    assert "0.6 × 20 = 12 tries" in ui.page_text(at), "nothing is answered yet"
    ui.enter(at, at.checkbox(key="decide-control-contract"), True)
    ui.enter(at, at.checkbox(key="decide-control-training"), True)
    assert context(at).controls.contract and context(at).controls.training
    assert "0.2 × 20 = 4 tries" in ui.page_text(at)
    assert "? 5" in verdicts(at).loc["Records that two sources link"]["Anybody"]
    ui.enter(at, at.button_group(key="decide-invasion"), "none")
    assert context(at) == Context(release="research"), "controls go with it"


def test_three_verdicts_are_side_by_side(hospital):
    at = want(hospital, "mean_risk", None)
    table = verdicts(at)
    # The smallest class has 2 records.
    k = table.loc["Records that look alike (k-anonymity)"]
    assert k.tolist()[1:] == ["2", "✗ 11", "✗ 5", "✗ 3"]
    mean = table.loc["Mean risk of being found"]
    assert mean["Anybody"] == "–" and mean["Researchers"] == "✗ 11"
    assert "Thresholds that you set count only for: Anybody." in ui.page_text(at)


@pytest.mark.nightly
def test_a_floor_is_measured_and_missed_and_a_wrong_number_changes_nothing(hospital):
    at = want(hospital, "alteration", 120.0)
    (said,) = ui.problems(at)
    assert "at least 0 and at most 100, not 120. There is still no threshold." in said
    assert MEASURE not in ui.button_labels(at)
    want(at, "alteration", 1.0)
    want(at, "singling_out", 100.0)
    assert not ui.problems(at)
    assert "? Information lost (alteration): not measured yet" in ui.page_text(at)
    at = ui.settled(ui.press(at, MEASURE))
    assert "% of all that could be lost is lost (required: at most 1 %)" in ui.page_text(at)
    assert "✓ reached" in ui.page_text(at) and MEASURE not in ui.button_labels(at)
    assert verdicts(at).loc["Information lost (alteration)"]["Anybody"] == "✗ 1"
    want(at, "classifier", 100.0)
    assert MEASURE in ui.button_labels(at), "more is required than was measured"
    assert not ui.problems(at)


@pytest.mark.nightly
def test_what_one_page_measured_the_others_do_not_measure_again(hospital):
    at = want(hospital, "linkability", 100.0)
    at = ui.settled(ui.press(at, MEASURE))
    findings = ui.work(at).findings
    release = findings.attack_and_use.release
    measured = findings.get_evidence(release)
    assert measured.evidence == findings.attack_and_use.measured.evidence
    assert measured.evidence.sentences[1] in ui.page_text(ui.go(at, "pages/privacy.py"))

    work = ui.work(ui.go(at, DECIDE))
    run = findings.result.release(findings.result.k_for(work.settings.k))
    want(at, "singling_out", 100.0)
    *_, names, evidence = build_attack_request(run, release, ui.work(at)).arguments
    assert names == ["linkability", "singling_out"] and evidence is measured.evidence


def test_a_report_takes_what_was_measured_for_the_decision(hospital):
    at = want(hospital, "alteration", 100.0)
    at = ui.settled(ui.press(at, MEASURE))
    work = ui.work(at)
    request = request_report(work, build_plan(work), work.purpose.context, None, None)
    assert request.arguments[-1] == work.findings.attack_and_use.measured
    changed = work.replace_sections(replace(work.settings, k=work.settings.k + 1))
    request = request_report(changed, build_plan(changed), changed.purpose.context, None, None)
    assert request.arguments[-1] is None
