"""Models of several sensitive columns, and of one with a hierarchy, on the dashboard."""

from dataclasses import replace

import pandas as pd
import pytest

from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.t_closeness import TCloseness
from kanon.schema import Role
from kanon.studio.jobs.configurations import list_planned_lines
from kanon.studio.session.hierarchy_choices import (
    set_coarsening,
    set_coarsening_level,
    set_missing_rule,
    set_role,
)
from kanon.studio.session.run_plan import apply_plan, build_plan
from kanon.studio.session.table_loading import open_uploaded_table
from kanon.studio.shell.project_file import export_project, open_project
from kanon.studio.widgets.model_editor import get_model_key
from kanon.studio.widgets.requirements import build_table_class, explain_refusal
from support import dashboard as ui

TABLE = pd.DataFrame({
    "age": ["1", "1", "2", "2"] * 3, "pay": ["10", "20", "30", "40"] * 3,
    "ill": ["flu", "flu", "gout", "cold"] * 3,
})  # fmt: skip
ROLES = {"age": Role.QUASI_IDENTIFIER, "pay": Role.SENSITIVE, "ill": Role.SENSITIVE}
BY_TREE = TCloseness(0.9, "pay", "hierarchical")
KNOWN = DistinctLDiversity(2, "ill", others="known")
TOGETHER = DistinctLDiversity(2, "pay × ill", columns=("pay", "ill"))


def open_table():
    work = open_uploaded_table(ui.as_bytes(TABLE, "csv"), "ill.csv", 1)
    for column, role in ROLES.items():
        work = set_role(work, column, role)
    return set_missing_rule(work, "as-value")


def require(work, *models):
    return work.replace_sections(replace(work.settings, models=models))


def with_tree(work, level=0):
    work = set_coarsening(work, "pay", "intervals", {"widths": "20"})
    return set_coarsening_level(work, "pay", level)


def test_a_hierarchy_without_coarsening_serves_the_distance():
    work = require(with_tree(open_table()), BY_TREE)
    plan = build_plan(work)
    assert plan.columns["pay"].hierarchy is not None and plan.columns["pay"].level is None
    whole = build_table_class(work)
    assert explain_refusal([BY_TREE], whole) is None and BY_TREE.level(whole) == 0
    coarse = require(with_tree(open_table(), 1), BY_TREE)
    assert build_plan(coarse).columns["pay"].level == 1
    assert BY_TREE.level(build_table_class(coarse)) == 0


def test_without_a_hierarchy_the_distance_is_refused():
    whole = build_table_class(open_table())
    assert "hierarchical distance of 'pay'" in explain_refusal([BY_TREE], whole)


def test_plans_and_projects_bring_the_models_back():
    work = require(with_tree(open_table()), BY_TREE, KNOWN, TOGETHER)
    plan, fresh = build_plan(work), open_table()
    for after in (apply_plan(fresh, plan), open_project(fresh, export_project(work).encode())):
        assert after.settings.models == (BY_TREE, KNOWN, TOGETHER)
        assert build_plan(after).to_json() == plan.to_json()


def test_what_no_release_reaches_is_said_for_several_columns():
    work = require(open_table(), KNOWN, TOGETHER)
    whole = build_table_class(work)
    assert explain_refusal([TOGETHER], whole) is None and TOGETHER.level(whole) == 4
    assert "known cannot be reached" in explain_refusal([KNOWN], whole), "pay tells the illness"
    lost = set_role(work, "pay", Role.INSENSITIVE)
    assert lost.unmeetable_models == [TOGETHER]


@pytest.mark.parametrize("tree", [False, True])
def test_the_page_offers_what_fits_and_takes_it(start, tree):
    at = start(ui.ANONYMISE)
    work = require(open_table(), replace(BY_TREE, distance="variational"))
    at.session_state[ui.WORK] = with_tree(work) if tree else work
    ui.go(at, ui.ANONYMISE)
    (model,) = ui.work(at).settings.models
    box = at.selectbox(key=get_model_key(ui.work(at), model, "distance"))
    assert any("by the hierarchy" in option for option in box.options) is tree
    ui.enter(at, at.checkbox(key=get_model_key(ui.work(at), model, "others")), True)
    (model,) = ui.work(at).settings.models
    assert model.others == "known"
    ui.enter(at, at.checkbox(key=get_model_key(ui.work(at), model, "others")), False)
    assert ui.work(at).settings.models[0].others is None and not ui.problems(at)


def test_another_hierarchy_of_the_distance_makes_other_lines():
    work = require(with_tree(open_table()), BY_TREE)
    other = set_coarsening(work, "pay", "intervals", {"widths": "30"})
    first, second = (list_planned_lines(state)[0].ground for state in (work, other))
    assert first.digest != second.digest
