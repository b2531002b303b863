"""*Use this* on a line of *Compare*: its configuration becomes the settings of *Anonymise*."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kanon.base.formatting import write_percent
from kanon.errors import PlanError
from kanon.experiments.sweep import Configuration
from kanon.metrics import metric_named
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.run import run
from kanon.studio.compare import use_line as page
from kanon.studio.compare.use_line import use_line
from kanon.studio.jobs.anonymisation import UsedSettings, can_undo_use, undo_use
from kanon.studio.session.changed_settings import record_start_state
from kanon.studio.session.named_configurations import delete_configuration, save_configuration
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support import dashboard as ui
from support.works import with_fields


def line_of(config, kept="", name=""):
    return SimpleNamespace(
        configuration=config, guide=metric_named(config.metric), kept=bool(kept), name=kept or name
    )


@pytest.mark.nightly
def test_a_line_with_its_k_is_used_and_its_run_begins_on_arrival(start):
    at = ui.anonymised(start())
    before = ui.work(at).settings
    ui.go(at, ui.COMPARE)
    at.button_group(key="compare-metrics").set_value(["nllm", "ncp"])
    ui.settled(ui.press(ui.go(at), "Compare"))
    k = 4
    ui.change(at, k=k)
    comparison = ui.work(at).findings.comparison.comparison
    at.button_group(key="compare-use").set_value("ncp")
    ui.go(at)
    settings = ui.work(at).settings
    assert (settings.metric, settings.k, settings.algorithm) == ("ncp", k, before.algorithm)
    assert "Now on Anonymise: NCP · S1, k = 4." in ui.infos(at)
    ui.settled(ui.go(at, ui.ANONYMISE))
    loss = comparison.line("ncp").at("alteration_ncp", [k], comparison.sensitive)[0, 0]
    assert ui.numbers(at)["Alteration"] == write_percent(float(loss)) and not ui.warnings(at)
    alone = run(build_plan(ui.work(at)), ui.work(at).table.records)
    assert write_percent(alone.alteration) == ui.numbers(at)["Alteration"]
    ui.press(at, "Undo")
    now = ui.work(at)
    assert (now.settings.metric, now.settings.k) == (before.metric, k)
    assert "run" not in now.running and not ui.warnings(at), "its result was kept"


def test_an_outdated_line_brings_the_details_of_then(monkeypatch):
    monkeypatch.setattr(page, "describe_comparison", lambda work: SimpleNamespace(comparison=None))
    then = with_fields(open_sample("hospital"), options={"mondrian": {"release": "ranges"}}, seed=3)
    now = with_fields(then, options={"mondrian": {}, "gaa": {"parts": "1"}}, seed=9, k=3)
    work = record_start_state(now, "comparison", then)
    config = Configuration("ncp", "s1", 7, "table", "mondrian")
    used = use_line(work, line_of(config), 5)
    settings = used.settings
    assert (settings.algorithm, settings.metric, settings.tie_seed) == ("mondrian", "ncp", 7)
    assert (settings.k, settings.seed) == (5, 3)
    assert settings.options == {"mondrian": {"release": "ranges"}, "gaa": {"parts": "1"}}
    assert used.message.notice == "Now on Anonymise: Mondrian, k = 5."
    assert used.view(UsedSettings).runs_on_arrival and can_undo_use(used)
    back = undo_use(used)
    assert back.settings.options == now.settings.options and back.settings.seed == 9
    moved = used.replace_sections(replace(used.settings, k=6))
    assert not can_undo_use(moved) and undo_use(moved) is moved


def test_a_saved_line_is_loaded_and_what_was_deleted_is_said():
    work = open_sample("hospital")
    plan = build_plan(with_fields(work, metric="total", k=3))
    work = save_configuration(work, plan, work.table.trees, "mine")
    for name in ("kept: mine", "kept: mine′"):
        used = use_line(work, line_of(Configuration("total"), kept=name), 7)
        assert (used.settings.metric, used.settings.k) == ("total", 7)
        assert used.view(UsedSettings).runs_on_arrival
    with pytest.raises(PlanError, match="saved configuration of this line was deleted"):
        use_line(
            delete_configuration(work, "mine"), line_of(Configuration("total"), "kept: mine"), 7
        )
    with pytest.raises(PlanError, match="metric 'custom' of this line is no longer there"):
        use_line(work, line_of(Configuration("custom")), 7)


def test_a_line_that_met_other_models_says_so():
    model = DistinctLDiversity(2, "disease")
    work = with_fields(open_sample("hospital"), models=(model,), k_only=True)
    used = use_line(work, line_of(Configuration("ncp"), name="ncp"), 3)
    assert used.settings.models == (model,)
    assert used.message.notice == (
        "Now on Anonymise: NCP · S1, k = 3. This line met k only; Anonymise requires distinct "
        "l-diversity with l = 2 for 'disease', so its loss differs."
    )
    saved = save_configuration(
        work, build_plan(with_fields(work, models=())), work.table.trees, "x"
    )
    used = use_line(saved, line_of(Configuration("ncp"), kept="kept: x"), 3)
    assert used.settings.models == (model,), "the line met what all lines met"
    fair = with_fields(work, k_only=False)
    assert "met k only" not in use_line(fair, line_of(Configuration("ncp")), 3).message.notice


def test_a_line_is_run_on_arrival_where_there_is_no_result_yet(start):
    at = start()
    work = use_line(open_sample("hospital", version=1), line_of(Configuration("ncp")), 3)
    at.session_state[ui.WORK] = work
    ui.settled(ui.go(at, ui.ANONYMISE))
    result = ui.work(at).findings.result
    assert result is not None and result.prepared.plan.metric.name == "ncp"
