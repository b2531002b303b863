"""Repairing values on the Data page: merge, replace, drop, undo; plan, project and release."""

import pickle
from dataclasses import replace

import pandas as pd
import pytest

from kanon.base.progress import ignore_progress
from kanon.run import run
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.opening import open_stored_file
from kanon.sources.repairs import Repair
from kanon.studio.jobs.configurations import explain_incomparable
from kanon.studio.jobs.stored_table import request_repairs
from kanon.studio.session.hierarchy_choices import set_roles as give_roles
from kanon.studio.session.parts import SavedConfiguration
from kanon.studio.session.run_plan import apply_plan, build_plan
from kanon.studio.session.table_loading import (
    open_uploaded_table,
    set_repairs,
    start_with_table,
    take_over_reread,
)
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui

MESSY = pd.DataFrame(
    {
        "sex": ["female", "Female", "FEMALE", "Female", "male", "m", "male", "m", "Female", "male"],
        "age": ["31", "34", "34", "31", "999", "40", "41", "40", "41", "31"],
        "ill": ["flu", "cold"] * 5,
    }
)
CONTENT = MESSY.to_csv(index=False).encode()


@pytest.fixture
def messy(start):
    at = start(ui.DATA)
    at.session_state[ui.WORK] = open_uploaded_table(CONTENT, "messy.csv", 1)
    at.session_state["repairs"] = True
    return ui.go(at)


def counts_of(at, column):
    return dict(ui.work(at).table.records.count_column_values(column).counts)


def pick(at, column, *values):
    ui.choose(at, "repairs-column", column)
    box = next(box for box in at.multiselect if box.key.startswith("repairs-values"))
    return ui.enter(at, box, list(values))


def test_spellings_are_merged_values_replaced_records_dropped_and_undone(messy):
    at = messy
    ui.choose(at, "repairs-column", "sex")
    assert "3 spellings of 'Female': Female (3), FEMALE (1), female (1)" in ui.texts(at)
    ui.press(at, "Merge")
    assert counts_of(at, "sex") == {"Female": 5, "male": 3, "m": 2}
    assert ui.work(at).message.notice.startswith("Repaired: 2 cells replaced.")
    assert "Repaired in 1 step: 2 cells replaced." in ui.captions(at)

    pick(at, "sex", "m")
    (target,) = [box for box in at.text_input if box.label == "Replace it by"]
    ui.press(ui.enter(at, target, "male"), "Replace")
    assert counts_of(at, "sex") == {"Female": 5, "male": 5}

    ui.choose(at, "repairs-column", "age")
    (kind,) = [box for box in at.selectbox if box.label == "Drop records"]
    ui.enter(at, kind, "above")
    (bound,) = [box for box in at.number_input if box.label == "Above"]
    ui.press(ui.enter(at, bound, 120.0), "Drop")
    assert ui.work(at).table.records.n_records == 9
    steps = [text for text in ui.texts(at) if text[:2] in ("1.", "2.", "3.")]
    assert steps == [
        "1. 'sex': replace 'FEMALE', 'female' by 'Female': 2 cells replaced.",
        "2. 'sex': replace 'm' by 'male': 2 cells replaced.",
        "3. 'age': drop the records above 120: 1 record dropped.",
    ]
    plan = build_plan(set_roles(ui.work(at)))
    assert [step.column for step in plan.repairs] == ["sex", "sex", "age"]

    ui.press(at, "Undo the last step")
    assert ui.work(at).table.records.n_records == 10
    ui.click(at, next(one for one in at.button if one.label == "Remove"))
    assert counts_of(at, "sex")["female"] == 1 and counts_of(at, "sex")["male"] == 5
    ui.press(at, "Undo the last step")
    assert ui.work(at).table.repairs == () and counts_of(at, "sex")["m"] == 2
    pd.testing.assert_frame_equal(ui.work(at).table.file.table, MESSY, check_dtype=False)


def set_roles(work):
    work = give_roles(work, ["sex", "age"], Role.QUASI_IDENTIFIER)
    return give_roles(work, ["ill"], Role.SENSITIVE)


def opened():
    return set_roles(open_uploaded_table(CONTENT, "messy.csv", 1))


def test_what_cannot_be_done_is_said_on_the_page(messy):
    at = pick(messy, "ill", "flu", "cold")
    ui.press(at, "Drop these records")
    assert any("it drops every record, so none is left" in text for text in ui.problems(at))
    assert ui.work(at).table.repairs == ()


def test_hierarchies_made_by_hand_stay_and_proposed_ones_follow():
    work = opened()
    steps = build_plan(work).repairs
    assert steps is None
    merged = set_repairs(work, steps_of({"column": "sex", "replace": {"m": "male"}}))
    assert merged.version == work.version + 1 and merged.findings.result is None
    assert set(merged.table.choices["sex"].tree.labels) == {"*", "female", "Female", "FEMALE",
                                                           "male"}  # fmt: skip
    assert merged.table.choices["age"].tree == work.table.choices["age"].tree
    assert "The hierarchy" not in (merged.message.notice or "") or "sex" in merged.message.notice
    back = set_repairs(merged, [])
    assert back.table.choices["sex"].tree == work.table.choices["sex"].tree
    assert (
        back.table.records is work.table.records and back.message.notice == "The step was undone."
    )


def steps_of(*contents):
    return [Repair.model_validate(content) for content in contents]


def test_plans_and_projects_bring_their_repairs():
    work = set_repairs(opened(), steps_of({"column": "sex", "replace": {"m": "male"}}))
    fresh = opened()
    assert apply_plan(fresh, build_plan(work)).table.repairs == work.table.repairs
    project = open_project(fresh, export_project(work).encode())
    assert project.table.repairs == work.table.repairs
    assert project.table.records.n_records == 10
    without = apply_plan(work, build_plan(fresh))
    assert without.table.repairs == ()


def test_a_saved_configuration_with_other_repairs_is_not_compared():
    work = opened()
    saved = SavedConfiguration("before", build_plan(work), work.table.trees)
    merged = set_repairs(work, steps_of({"column": "sex", "replace": {"m": "male"}}))
    assert explain_incomparable(work, saved) == ""
    assert explain_incomparable(merged, saved) == "it repairs the table differently"


def test_a_worker_repairs_what_an_engine_holds(tmp_path):
    path = tmp_path / "t.parquet"
    MESSY.to_parquet(path, index=False)
    work = set_roles(start_with_table(open_stored_file(Address(str(path))), 1))
    request = request_repairs(work, steps_of({"column": "sex", "replace": {"m": "male"}}))
    answer = request.function(ignore_progress, *request.arguments)
    new = request.store_result(work, pickle.loads(pickle.dumps(answer)))  # noqa: S301
    assert new.version == 2 and new.message.notice.startswith("Repaired: 2 cells replaced.")
    assert dict(new.table.records.count_column_values("sex").counts)["male"] == 5
    plan = build_plan(new.replace_sections(replace(new.settings, k=2)))
    made = run(plan, new.table.records)
    assert made.measures["repairs"] == run(plan, MESSY).measures["repairs"]
    assert request_repairs(opened(), []) is None


def test_a_table_read_again_keeps_the_repairs_that_it_allows():
    steps = steps_of({"column": "sex", "replace": {"m": "male"}},
                     {"column": "age", "drop": {"above": 120}})  # fmt: skip
    work = set_repairs(opened(), steps)
    again = open_uploaded_table(MESSY.rename(columns={"sex": "gender"}).to_csv(index=False)
                                .encode(), "messy.csv", 0)  # fmt: skip
    new = take_over_reread(work, again)
    assert [step.column for step in new.table.repairs] == ["age"]
    assert "1 repair of the table cannot be done" in new.message.problem


def test_a_release_is_made_from_the_repaired_table():
    work = set_repairs(opened(), steps_of({"column": "age", "drop": {"one_of": ["999"]}}))
    plan = build_plan(work.replace_sections(replace(work.settings, k=2)))
    made, by_hand = run(plan, work.table.records), MESSY[MESSY["age"] != "999"]
    plain = run(plan.model_copy(update={"repairs": None}), by_hand)
    pd.testing.assert_frame_equal(made.released(), plain.released())
    assert made.prepared.repairs[0].changed == 1 and made.prepared.classes.n_records == 9
