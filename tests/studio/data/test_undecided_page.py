"""Columns that nobody classified, and the person who is proposed: on the pages, until a release."""

import numpy as np
import pandas as pd
import pytest

from kanon.errors import PlanError
from kanon.schema import Role
from kanon.studio.session.hierarchy_choices import set_role
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_uploaded_table
from kanon.studio.session.work import list_undecided_columns
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui

WIDGETS = ui.PEOPLE.assign(widget=["a", "b"] * 6, gadget=["c", "d", "e"] * 4)


def test_nothing_is_released_that_nobody_classified(start):
    at = ui.with_people(start(ui.DATA), WIDGETS)
    assert list_undecided_columns(ui.work(at)) == ["widget", "gadget"]
    role = at.selectbox(key=ui.key_of(at, "widget", "role"))
    assert role.value == "" and role.options[0] == "not decided"
    ui.press(ui.go(at, ui.ANONYMISE), "Anonymise")
    assert all(name in ui.problems(at)[0] for name in ("'widget'", "'gadget'"))
    assert not ui.numbers(at)
    ui.give_role(ui.go(at, ui.DATA), "widget", "sensitive")
    assert len(at.selectbox(key=ui.key_of(at, "widget", "role")).options) == 4
    assert list_undecided_columns(ui.work(at)) == ["gadget"]
    ui.press(ui.go(at, ui.ANONYMISE), "Keep it as it is")
    assert not ui.warnings(at) and ui.work(at).table.roles["gadget"] == "insensitive"
    ui.anonymised(at)
    assert {"widget", "gadget"} < set(ui.after(at).columns)


@pytest.mark.nightly
def test_an_undecided_column_is_not_said_to_be_insensitive_or_to_pass(start):
    at = ui.with_people(start(ui.DATA), WIDGETS.assign(widget=[f"w{n}" for n in range(12)]))
    assert "widget" in list_undecided_columns(ui.work(at))
    said = " ".join([*ui.captions(at), *ui.warnings(at), *(one.value for one in at.markdown)])
    assert "'widget' passes into the release" not in said and "grey insensitive or not" in said
    ui.press(at, "Find them")
    said = " ".join(ui.warnings(ui.settled(at)))
    assert "Insensitive, but in one" not in said and "No role yet, but in one of these sets" in said
    ui.give_role(at, "widget", "insensitive")
    assert "Insensitive, but in one" in " ".join(ui.warnings(at))


@pytest.mark.nightly
def test_all_of_them_are_left_out_by_one_press(start):
    rows = pd.concat([WIDGETS.assign(gadget="c")] * 5)
    at = ui.with_people(start(ui.DATA), rows.assign(name=range(60)))
    ui.press(at, "Leave them out")
    ui.anonymised(at)
    assert not {"widget", "gadget"} & set(ui.after(at).columns)
    assert not [one for one in ui.warnings(ui.go(at, ui.DATA)) if "k counts records" in one], (
        "what is only left out tells no persons apart"
    )


def test_a_plan_and_a_project_say_nothing_of_what_is_not_decided():
    content = WIDGETS.to_csv(index=False).encode()
    before = set_role(open_uploaded_table(content, "p.csv", 1), "gadget", Role.SENSITIVE)
    with pytest.raises(PlanError, match="'widget' has no role yet"):
        build_plan(before)
    project = export_project(before)
    opened = open_project(open_uploaded_table(content, "p.csv", 1), project.encode())
    assert list_undecided_columns(opened) == ["widget"]
    assert opened.table.roles["gadget"] is Role.SENSITIVE
    earlier = project.replace('"gadget": {', '"widget": {"role": "insensitive"}, "gadget": {', 1)
    whole = open_project(open_uploaded_table(content, "p.csv", 1), earlier.encode())
    assert list_undecided_columns(whole) == [], "files that were saved before name every column"


@pytest.mark.nightly
def test_the_person_is_proposed_and_counted(start):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "patient_nr": rng.integers(1000, 1060, 90), "age": rng.integers(20, 23, 90),
        "sex": rng.choice(["F", "M"], 90),
    })  # fmt: skip
    at = ui.upload(start(ui.DATA), "visits.csv", ui.as_bytes(table, "csv"))
    assert ui.work(at).table.person == "patient_nr" and "k counts persons" in ui.line(at)
    persons = table["patient_nr"].nunique()
    assert f"k counts people: {persons} persons have 90 records." in ui.captions(at)
    ui.anonymised(at)
    alike = pd.read_csv(pd.io.common.BytesIO(ui.work(at).findings.result.release(5).content("csv")))
    who = ui.work(at).findings.result.release(5).persons_released().reset_index(drop=True)
    assert who.groupby([alike["age"], alike["sex"]]).nunique().min() >= 5
    (box,) = [
        one
        for one in ui.go(at, ui.DATA).selectbox
        if one.label.startswith("Which column identifies")
    ]
    ui.choose(at, box.key, "")
    assert "k counts persons" not in ui.line(at)
    ui.settled(ui.press(ui.go(at, ui.ANONYMISE), "Anonymise"))
    assert not ui.problems(at)
