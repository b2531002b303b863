"""Which settings are said to have changed since something was made: those that matter to it."""

import pytest

from kanon.studio.session.hierarchy_choices import set_coarsening
from support import dashboard as ui

REPORT = "pages/report.py"


def changed(at):
    """The settings that the warning names; None without a warning."""
    said = [
        warning
        for warning in ui.warnings(at)
        if warning.startswith("Settings have changed since this")
    ]
    if not said:
        return None
    one = said[0].replace("\\", "")
    return one.partition("Changed: ")[2].split(".")[0].split(" · ") if "Changed:" in one else []


@pytest.fixture
def made(start):
    return ui.anonymised(start(sample="hospital"))


@pytest.mark.nightly
def test_what_matters_to_the_result_is_named_and_nothing_else(made):
    at = made
    assert changed(at) is None
    at.number_input(key=ui.frame_k(at)).set_value(2)
    assert changed(ui.go(at)) is None, "every k is known"
    ui.choose(at, ui.frame_metric(at), "ncp")
    assert changed(at) == ["Metric"], "k has changed too, which changes nothing of the result"
    ui.choose(at, "run-strategy", "s3")
    assert changed(at) == ["Metric", "Strategy"]
    ui.choose(at, "run-scope", "class")
    assert changed(at) == ["Metric", "Strategy", "Where strategies measure l, t and k"]
    ui.choose(at, "run-strategy", "s1")
    assert changed(at) == ["Metric"], "S1 looks at no l"
    ui.choose(at, ui.frame_metric(at), "nllm")
    assert changed(at) is None
    ui.choose(at, ui.frame_metric(at), "llm")
    ui.anonymised(at)
    assert changed(at) is None
    ui.choose(at, ui.frame_metric(at), "ncp")
    assert changed(at) == ["Metric"]


@pytest.mark.nightly
def test_roles_and_hierarchies_are_named_with_their_columns(made):
    at = ui.give_role(ui.go(made, ui.DATA), "sex", "insensitive")
    assert changed(ui.go(at, ui.ANONYMISE)) == ["Role of sex"]
    ui.give_role(ui.go(at, ui.DATA), "sex", "quasi-identifier")
    assert changed(ui.go(at, ui.ANONYMISE)) is None
    position = list(ui.work(at).table.roles).index("age")
    ui.choose(
        ui.go(at, ui.DATA), f"hierarchy-{ui.work(at).version}-{position}-builder", "suppression"
    )
    assert changed(ui.go(at, ui.ANONYMISE)) == ["Hierarchy of age"]
    at.session_state[ui.WORK] = set_coarsening(ui.work(at), "disease", "suppression", {})
    assert changed(ui.go(at)) == ["Hierarchy of age", "Levels of coarsened columns"]


@pytest.mark.nightly
def test_what_is_chosen_while_a_run_is_under_way_has_changed_since_it_began(made):
    at = ui.press(ui.choose(made, ui.frame_metric(made), "ncp"), "Anonymise")
    ui.choose(at, "run-strategy", "s3")
    assert changed(ui.settled(at)) == ["Strategy"]


@pytest.mark.nightly
def test_a_comparison_that_earlier_runs_made_knows_its_own_settings(start):
    at = ui.go(start(sample="hospital"), ui.COMPARE)
    for metrics in (["ncp", "llm"], ["ncp"], ["ncp", "llm"]):
        at.button_group(key="compare-metrics").set_value(metrics)
        ui.settled(ui.press(ui.go(at), "Compare"))
        assert changed(at) is None
    at.button_group(key="compare-metrics").set_value(["total"])
    assert changed(ui.go(at)) == ["Metrics"]


@pytest.mark.nightly
def test_an_archive_is_no_report_of_the_settings_of_now(made, downloads):
    at = ui.settled(ui.press(ui.go(made, REPORT), "Make the report"))
    first = ui.work(at).findings.report
    ui.choose(ui.go(at, ui.ANONYMISE), ui.frame_metric(at), "ncp")
    ui.anonymised(at)
    assert downloads["download-archive"][1]()
    ui.go(at, REPORT)
    assert changed(at) == ["Metric"] and ui.work(at).findings.report is first
