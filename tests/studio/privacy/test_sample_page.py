"""The table as a sample of a population, on Privacy."""

import pytest

from kanon.evidence.sample_risk import measure_sample_risk
from kanon.run import prepare, run_prepared
from kanon.studio.session.run_plan import build_plan
from support import dashboard as ui


@pytest.fixture
def privacy(start):
    at = ui.go(ui.anonymised(start(sample="animals-m23")), "pages/privacy.py")
    assert ui.work(at).findings.sample_risk is None
    return at


def measure(at, **asked):
    at = ui.settled(ui.press(at, "Estimate"))
    work = ui.work(at)
    release = run_prepared(prepare(build_plan(work), work.table.records))
    risk = measure_sample_risk(release, **asked)
    assert all(sentence in ui.page_text(at).replace("\\", "") for sentence in risk.sentences)
    return at, risk


@pytest.mark.nightly
def test_a_share_gives_the_estimates_of_the_library(privacy):
    at = ui.enter(privacy, privacy.number_input(key="sample-percent"), 50.0)
    at, risk = measure(at, fraction=0.5)
    assert ui.work(at).findings.sample_risk.risk.numbers == risk.numbers
    (table,) = [each.value for each in at.table if "Estimator" in each.value]
    assert len(table) == 3 and sum("(chosen)" in name for name in table["Estimator"]) == 1
    old = "press Estimate to renew it"
    assert not [text for text in ui.warnings(at) if old in text]
    ui.enter(at, at.selectbox(key="sample-households"), "race")
    (text,) = [text for text in ui.warnings(at) if old in text]
    assert "Column of households" in text
    at, risk = measure(at, fraction=0.5, households="race")
    assert risk.households is not None


@pytest.mark.nightly
def test_what_cannot_be_is_said_in_a_sentence(privacy):
    at = ui.enter(privacy, privacy.selectbox(key="sample-weights"), "disease")
    at = ui.settled(ui.press(at, "Estimate"))
    assert "The column 'disease' cannot be the weights" in ui.problems(at)[0]
    ui.enter(at, at.selectbox(key="sample-weights"), None)
    at = ui.enter(at, at.number_input(key="sample-percent"), 0.0)
    at = ui.settled(ui.press(at, "Estimate"))
    assert "0" in ui.problems(at)[0] and ui.work(at).findings.sample_risk is None
