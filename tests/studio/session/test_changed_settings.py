"""Which settings are said to have changed since something was made: those that matter to it."""

import pytest

from kanon.studio.session.hierarchy_choices import with_coarsening
from support.dashboard import (
    ANONYMISE,
    COMPARE,
    DATA,
    WORK,
    anonymised,
    choose,
    frame_k,
    frame_metric,
    give_role,
    go,
    press,
    settled,
    warnings,
    work,
)

REPORT = "pages/report.py"


def changed(at):
    """The settings that the warning names; None without a warning."""
    said = [one for one in warnings(at) if one.startswith("Settings have changed since this")]
    if not said:
        return None
    one = said[0].replace("\\", "")
    return one.partition("Changed: ")[2].split(".")[0].split(" · ") if "Changed:" in one else []


@pytest.fixture
def made(start):
    return anonymised(start(sample="hospital"))


def test_what_matters_to_the_result_is_named_and_nothing_else(made):
    at = made
    assert changed(at) is None
    at.number_input(key=frame_k(at)).set_value(2)
    assert changed(go(at)) is None, "every k is known"
    choose(at, frame_metric(at), "ncp")
    assert changed(at) == ["Metric"], "k has changed too, which changes nothing of the result"
    choose(at, "run-strategy", "s3")
    assert changed(at) == ["Metric", "Strategy"]
    choose(at, "run-scope", "class")
    assert changed(at) == ["Metric", "Strategy", "Whose l, t or k strategies look at"]
    choose(at, "run-strategy", "s1")
    assert changed(at) == ["Metric"], "S1 looks at no l"
    choose(at, frame_metric(at), "nllm")
    assert changed(at) is None
    choose(at, frame_metric(at), "llm")
    anonymised(at)
    assert changed(at) is None
    choose(at, frame_metric(at), "ncp")
    assert changed(at) == ["Metric"]


def test_roles_and_hierarchies_are_named_with_their_columns(made):
    at = give_role(go(made, DATA), "sex", "insensitive")
    assert changed(go(at, ANONYMISE)) == ["Role of sex"]
    give_role(go(at, DATA), "sex", "quasi-identifier")
    assert changed(go(at, ANONYMISE)) is None
    position = list(work(at).table.roles).index("age")
    choose(go(at, DATA), f"hierarchy-{work(at).version}-{position}-builder", "suppression")
    assert changed(go(at, ANONYMISE)) == ["Hierarchy of age"]
    at.session_state[WORK] = with_coarsening(work(at), "disease", "suppression", {})
    assert changed(go(at)) == ["Hierarchy of age", "Levels of coarsened columns"]


def test_what_is_chosen_while_a_run_is_under_way_has_changed_since_it_began(made):
    at = press(choose(made, frame_metric(made), "ncp"), "Anonymise")
    choose(at, "run-strategy", "s3")
    assert changed(settled(at)) == ["Strategy"]


def test_a_comparison_that_earlier_runs_made_knows_its_own_settings(start):
    at = go(start(sample="hospital"), COMPARE)
    for metrics in (["ncp", "llm"], ["ncp"], ["ncp", "llm"]):
        at.button_group(key="compare-metrics").set_value(metrics)
        settled(press(go(at), "Compare"))
        assert changed(at) is None
    at.button_group(key="compare-metrics").set_value(["total"])
    assert changed(go(at)) == ["Metrics"]


def test_the_report_names_k_and_that_it_says_what_the_release_is_for(start):
    at = settled(press(go(start(sample="hospital"), REPORT), "Make the report"))
    assert changed(at) is None
    at.number_input(key="report-k").set_value(3)
    assert changed(go(at)) == ["k"]
    at.checkbox(key="report-in-context").set_value(True)
    assert changed(go(at)) == ["k", "Say whether the release has what its purpose asks for"]


def test_what_singles_out_together_names_its_own_choices(start):
    at = settled(press(go(start(sample="hospital"), DATA), "Look for them"))
    choose(at, f"singling-share-{work(at).version}", 0.2)
    assert changed(at) == ["Share singled out, at least"]


def test_an_archive_is_no_report_of_the_settings_of_now(made, downloads):
    at = settled(press(go(made, REPORT), "Make the report"))
    first = work(at).findings.reported
    choose(go(at, ANONYMISE), frame_metric(at), "ncp")
    anonymised(at)
    assert downloads["download-archive"][1]()
    go(at, REPORT)
    assert changed(at) == ["Metric"] and work(at).findings.reported is first
