"""Which column identifies the person: on the pages, from the warning to the release."""

import json

import pytest

from kanon.cli.main import main
from kanon.schema import Role
from kanon.studio.jobs.configurations import explain_incomparable
from kanon.studio.session.named_configurations import import_configuration
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_uploaded_table
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui
from support.visits import VISITS, known
from support.works import with_fields

PRIVACY = "pages/privacy.py"


@pytest.fixture
def visits(start):
    return ui.upload(start(ui.DATA), "visits.csv", ui.as_bytes(VISITS, "csv"))


def asked(at):
    """The box that asks for the column; None if it is not there."""
    return next(
        (box for box in at.selectbox if box.label.startswith("Which column identifies")), None
    )


def axes_of_k(at):
    drawn = [json.loads(chart.proto.spec)["layout"] for chart in at.get("plotly_chart")]
    titles = [one["xaxis"]["title"]["text"] for one in drawn if "text" in one["xaxis"]["title"]]
    return [title for title in titles if title.startswith("k")]


@pytest.mark.nightly
def test_a_repeating_identifier_is_warned_of_and_naming_it_counts_persons(visits):
    at = visits
    (said,) = [one for one in ui.warnings(at) if "k counts each row as a different person" in one]
    assert said.startswith("6 values of patient cover 10 rows. k counts each row")
    assert ui.numbers(at)["k"] == "5" and "k in persons" not in ui.numbers(at)
    assert asked(at).options == ["none: k counts records", "patient"]
    ui.choose(at, asked(at).key, "patient")
    assert not [one for one in ui.warnings(at) if "k counts each row" in one]
    assert ui.numbers(at)["k in persons"] == "1" and "k" not in ui.numbers(at)
    assert "k counts people: 6 persons have 10 records." in ui.captions(at)
    assert "k counts persons" in ui.line(at)

    ui.anonymised(at)
    assert ui.numbers(at)["Minimum k"] == "6 persons" and not at.error and not at.warning
    said = " ".join(one.value for one in at.markdown)
    assert "with k = 5 for 'patient' (reached: 6)" in said.replace("\\", "")
    assert any("After, at least 6 people alike" in one.value for one in at.subheader)
    assert build_plan(ui.work(at)).person == "patient"

    assert axes_of_k(at) == ["k, minimum persons per class (log scale)"]

    ui.go(ui.give_role(ui.go(at, ui.DATA), "disease", "sensitive"), PRIVACY)
    ui.go(ui.anonymised(ui.go(at, "pages/anonymise.py")), PRIVACY)
    assert ui.numbers(at)["Highest risk"] == "16.7 %"
    assert axes_of_k(at) == ["k, minimum persons per class (log scale)"] * 2
    assert any("is the number of its persons" in one.value for one in at.markdown)


@pytest.mark.nightly
def test_a_column_that_cannot_count_persons_is_never_dropped_in_silence(start):
    lacking = VISITS.assign(patient=[None, *VISITS["patient"][1:]])
    at = ui.upload(start(ui.DATA), "visits.csv", ui.as_bytes(lacking, "csv"))
    ui.choose(at, asked(at).key, "patient")
    assert "1 record has no value in patient" in ui.problems(at)[0]
    assert "k in persons" not in ui.numbers(at)
    ui.upload(at, "visits.csv", ui.as_bytes(VISITS.drop(columns="patient"), "csv"))
    assert asked(at) is None, "no column is an identifier"

    ui.upload(at, "visits.csv", ui.as_bytes(VISITS, "csv"))
    ui.choose(at, asked(at).key, "patient")
    ui.give_role(at, "patient", "insensitive")
    assert "patient is no longer an identifier" in ui.problems(at)[0]
    ui.press(ui.go(at, "pages/anonymise.py"), "Anonymise")
    assert any("it is no longer an identifier" in one for one in ui.problems(at))
    ui.go(at, ui.DATA)
    ui.choose(at, asked(at).key, "")
    assert ui.problems(at) == [] and asked(at) is None


@pytest.mark.nightly
@pytest.mark.parametrize(("person", "said"), [("patient", "to 6, in persons\n"), (None, "to 10\n")])
def test_the_study_on_the_command_line_says_what_k_counts(tmp_path, capsys, person, said):
    table, plan = tmp_path / "visits.csv", tmp_path / "plan.json"
    table.write_bytes(ui.as_bytes(VISITS, "csv"))
    plan.write_text(build_plan(with_fields(known(), person=person)).to_json(), "utf-8")
    given = (str(plan), "--table", str(table), "--out", str(tmp_path / "found.csv"))
    assert main(["simulate", *given]) == 0
    assert said in capsys.readouterr().out


def test_plans_and_projects_hold_the_person():
    assert json.loads(build_plan(known()).to_json())["person"] == "patient"
    opened = open_project(with_fields(known(), person=None), export_project(known()).encode())
    assert opened.table.person == "patient" and build_plan(opened) == build_plan(known())
    without = open_uploaded_table(
        ui.as_bytes(VISITS.drop(columns="patient"), "csv"), "visits.csv", 1
    )
    gone = open_project(without, export_project(known()).encode())
    assert (gone.table.person, gone.table.usable_person) == ("patient", None)


def test_a_line_in_persons_is_not_compared_with_one_in_records():
    work = known()
    kept = import_configuration(
        with_fields(work, person=None), build_plan(work).to_json().encode(), "mine"
    )
    (pinned,) = kept.kept.configurations
    assert explain_incomparable(kept, pinned) == "its k counts persons, identified by 'patient'"
    assert explain_incomparable(with_fields(kept, person="patient"), pinned) == ""
    assert work.table.roles["patient"] is Role.IDENTIFIER
