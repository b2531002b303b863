"""Repairing values on the Data page: merge, replace, drop, undo; plan, project and release."""

import pickle
from dataclasses import replace

import pandas as pd
import pytest

from kanon.base.kinds import ColumnKind
from kanon.base.progress import ignore_progress
from kanon.run import run
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.opening import open_stored_file
from kanon.sources.read_settings import ReadSettings
from kanon.sources.repairs import Repair
from kanon.studio.data.columns_panel import set_kind
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


def field(boxes, part):
    return next(box for box in boxes if part in box.key)


def undo(at):
    """Undo the first step that is listed."""
    ui.click(at, next(button for button in at.button if button.label == "Undo"))


def pick(at, column, *values):
    ui.choose(at, "repairs-column", column)
    return ui.enter(at, field(at.multiselect, "-values"), list(values))


def act(at, action):
    return ui.enter(at, field(at.selectbox, "-action"), action)


@pytest.mark.nightly  # in every run: test_repairs.py
def test_spellings_are_merged_values_replaced_records_dropped_and_undone(messy):
    at = messy
    ui.choose(at, "repairs-column", "sex")
    spellings = field(at.multiselect, "-spellings")
    assert spellings.options[0] == "Female (3), FEMALE (1), female (1)"
    ui.press(ui.enter(at, spellings, [0]), "Merge spellings")
    assert counts_of(at, "sex") == {"Female": 5, "male": 3, "m": 2}
    assert ui.work(at).message.notice == "Repaired: 2 cells replaced."

    pick(at, "sex", "m")
    ui.press(ui.enter(at, field(at.text_input, "-replace"), "male"), "Repair")
    assert counts_of(at, "sex") == {"Female": 5, "male": 5}

    ui.choose(at, "repairs-column", "age")
    act(at, "above")
    ui.press(ui.enter(at, field(at.number_input, "-above"), 120.0), "Repair")
    assert ui.work(at).table.records.n_records == 9
    steps = [text for text in ui.texts(at) if text[:2] in ("1.", "2.", "3.")]
    assert steps == [
        "1. 'sex': replace 'FEMALE', 'female' by 'Female': 2 cells replaced.",
        "2. 'sex': replace 'm' by 'male': 2 cells replaced.",
        "3. 'age': drop the records above 120: 1 record dropped.",
    ]
    undo(at)
    assert counts_of(at, "sex")["female"] == 1 and counts_of(at, "sex")["male"] == 4
    assert [step.column for step in ui.work(at).table.repairs] == ["sex", "age"]
    undo(at)
    undo(at)
    assert ui.work(at).table.repairs == () and counts_of(at, "sex")["m"] == 2
    pd.testing.assert_frame_equal(ui.work(at).table.records.frame, MESSY, check_dtype=False)


@pytest.mark.nightly  # in every run: sources/test_repairs.py
def test_what_cannot_be_done_is_said_on_the_page(messy):
    at = messy
    for action, said in (
        ("one_of", "Pick one or several values first."),
        ("below", "Drop records with a number below what? Type it first."),
    ):
        ui.press(act(at, action), "Repair")
        assert said in ui.problems(at)
    at = act(pick(at, "ill", "flu", "cold"), "one_of")
    ui.press(at, "Repair")
    assert any("it drops every record, so none is left" in text for text in ui.problems(at))
    at = act(pick(at, "ill", "flu"), "replace")
    ui.press(ui.enter(at, field(at.text_input, "-replace"), "NA"), "Repair")
    assert any("counts as a missing cell" in text for text in ui.problems(at))
    assert ui.work(at).table.repairs == ()


def set_roles(work):
    work = give_roles(work, ["sex", "age"], Role.QUASI_IDENTIFIER)
    return give_roles(work, ["ill"], Role.SENSITIVE)


def opened():
    return set_roles(open_uploaded_table(CONTENT, "messy.csv", 1))


def test_hierarchies_made_by_hand_stay_and_proposed_ones_follow():
    work = opened()
    steps = build_plan(work).repairs
    assert steps is None
    merged = set_repairs(work, steps_of({"column": "sex", "replace": {"m": "male"}}))
    assert merged.version == work.version + 1 and merged.findings.result is None
    assert set(merged.table.choices["sex"].tree.labels) == {"*", "female", "Female", "FEMALE",
                                                           "male"}  # fmt: skip
    assert merged.table.choices["age"].tree == work.table.choices["age"].tree
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


def test_a_table_read_again_keeps_the_repairs_that_it_allows():
    steps = steps_of({"column": "sex", "replace": {"m": "male"}},
                     {"column": "age", "drop": {"above": 120}})  # fmt: skip
    work = set_repairs(opened(), steps)
    again = open_uploaded_table(MESSY.rename(columns={"sex": "gender"}).to_csv(index=False)
                                .encode(), "messy.csv", 0)  # fmt: skip
    new = take_over_reread(work, again)
    assert [step.column for step in new.table.repairs] == ["age"]
    assert "Repairs that the table does not allow" in new.message.problem


def test_a_step_that_writes_a_new_marker_is_left_out():
    steps = steps_of({"column": "sex", "replace": {"m": "male"}},
                     {"column": "age", "drop": {"above": 120}})  # fmt: skip
    work = set_repairs(opened(), steps)
    marked = ReadSettings(missing_markers=("male",))
    new = take_over_reread(work, open_uploaded_table(CONTENT, "messy.csv", 0, marked))
    assert new.table.repairs == (steps[1],)
    assert "Repairs that the table does not allow" in new.message.problem


def test_another_kind_starts_again_where_a_step_compares_numbers():
    content = b"price,sex\n1.234,m\n2.345,f\n3.456,m\n"
    work = open_uploaded_table(content, "prices.csv", 1)
    kind = ColumnKind.parse("whole number 1.234")
    other = set_kind(work, "price", kind)
    assert other.version == work.version, "no step compares numbers"
    work = set_repairs(work, steps_of({"column": "price", "drop": {"below": 2}}))
    assert work.table.records.n_records == 2
    new = set_kind(work, "price", kind)
    assert new.table.records.n_records == 3 and new.version == work.version + 1


def test_a_release_is_made_from_the_repaired_table():
    work = set_repairs(opened(), steps_of({"column": "age", "drop": {"one_of": ["999"]}}))
    plan = build_plan(work.replace_sections(replace(work.settings, k=2)))
    made, by_hand = run(plan, work.table.records), MESSY[MESSY["age"] != "999"]
    plain = run(plan.model_copy(update={"repairs": None}), by_hand)
    pd.testing.assert_frame_equal(made.released(), plain.released())
    assert made.prepared.repairs[0].changed == 1 and made.prepared.classes.n_records == 9
