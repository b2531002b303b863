"""The greatest k for a given model on the page Decide, driven by AppTest."""

import pytest

from kanon.charts.decision import describe_greatest_k, draw_greatest_k
from kanon.experiments.greatest_k import GREATEST_K_SEARCHES, find_greatest_k
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.t_closeness import TCloseness
from kanon.studio.decide.greatest_k_panel import (
    get_required_model,
    get_reverse_settings,
    plan_reverse,
)
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from kanon.studio.widgets.requirements import build_table_class
from support import dashboard as ui
from support.works import with_fields

DECIDE, FIND = "pages/decide.py", "Find the greatest k"
OUTDATED = f"press {FIND} to renew"


@pytest.fixture
def turned(start):
    at = start(page=DECIDE)
    return ui.enter(at, at.button_group(key="decide-part"), "reverse")


def model(at):
    return get_required_model(ui.work(at), build_table_class(ui.work(at)))


@pytest.mark.nightly  # in every run: experiments/test_greatest_k.py
def test_the_greatest_k_is_found_looked_up_renewed_and_used(turned):
    at = turned
    part = at.button_group(key="decide-part")
    assert part.options[2] == "3 Greatest k for a given l or t"
    assert any("Press Find the greatest k" in one for one in ui.infos(at))
    ui.settled(ui.press(at, FIND))
    assert not ui.problems(at) and not ui.warnings(at)
    greatest = ui.work(at).findings.greatest_k
    assert greatest.model == model(at) and greatest.model.l == 2
    assert set(greatest.found.ways["way"]) == set(GREATEST_K_SEARCHES)
    (metric,) = at.metric
    k = greatest.found.find_k(20)
    assert metric.value == ("none" if k is None else str(k))
    assert ui.chart_titles(at) == [describe_greatest_k(greatest.found, "entropy l ≥ 2", 20)]
    assert "The lowest alteration that meets" in ui.page_text(at)

    ui.enter(at, at.slider(key=f"reverse-most-{ui.work(at).version}"), 100)
    assert ui.work(at).findings.greatest_k is greatest and at.metric[0].value == "10", "looked up"
    assert "loses 100.0 % and has 1 class" in ui.page_text(at)
    ui.press(at, "Use this k and model")
    now = ui.work(at)
    assert now.settings.k == 10 and now.settings.models == (greatest.model,)
    assert (now.settings.algorithm, now.settings.strategy) == ("gaa", "s1")
    assert "The alteration may differ" in now.message.notice
    ui.press(at, "Back to the previous settings")
    assert not ui.work(at).settings.models and ui.work(at).findings.greatest_k is greatest

    ui.choose(at, f"reverse-model-{ui.work(at).version}-entropy-l-diversity", "t-closeness")
    assert isinstance(model(at), TCloseness)
    assert OUTDATED in ui.warnings(at)[0] and ui.chart_titles(at), "the old picture stays"
    ui.settled(ui.press(at, FIND))
    assert not ui.warnings(at) and isinstance(ui.work(at).findings.greatest_k.model, TCloseness)


def test_what_cannot_be_reached_or_mixed_is_said_before_it_is_looked_for(turned):
    at = turned
    key = f"reverse-number-{ui.work(at).version}-entropy-l-diversity-disease-2.0"
    ui.enter(at, at.number_input(key=key), 50.0)
    assert "cannot be reached" in ui.problems(at)[0] and ui.button(at, FIND).disabled
    ui.give_role(ui.go(at, ui.DATA), "disease", "insensitive")
    ui.go(at, DECIDE)
    assert any("No column is sensitive" in one for one in ui.infos(at))
    assert FIND not in ui.button_labels(at)


def test_the_fingerprint_knows_what_matters():
    now = open_sample("hospital")
    given = DistinctLDiversity(2, "disease")
    same = get_reverse_settings(now, given)
    for change in ({"k": 7}, {"algorithm": "datafly"}, {"strategy": "l"}, {"models": (given,)}):
        assert get_reverse_settings(with_fields(now, **change), given) == same, change
    for change in ({"metric": "total"}, {"tie_seed": 3}, {"cost": "representatives"}):
        assert get_reverse_settings(with_fields(now, **change), given) != same, change
    assert get_reverse_settings(now, DistinctLDiversity(3, "disease")) != same


def test_the_picture_says_what_was_found():
    now = open_sample("hospital")
    given = DistinctLDiversity(2, "disease")
    greatest = find_greatest_k(plan_reverse(now, given), now.table.records)
    first = greatest.curve.iloc[0]
    below = first["alteration"] - 0.1
    assert "needs an alteration of at least" in describe_greatest_k(
        greatest, "distinct l ≥ 2", below
    )
    assert f"the greatest k is {first['k']}" in describe_greatest_k(
        greatest, "distinct l ≥ 2", first["alteration"]
    )
    figure = draw_greatest_k(greatest, "<b>", build_plan(now).metric, 100)
    names = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert names == ["Greatest k", *(card.title for card in GREATEST_K_SEARCHES.values())]
    assert "<b>" not in figure.layout.title.text
    band = figure.data[0]
    assert list(band.y) == [*greatest.curve["k"], greatest.curve["k"].iloc[-1]]
    assert figure.layout.yaxis.type == "log" and figure.layout.yaxis.title.text.startswith("k: ")
