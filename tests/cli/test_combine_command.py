"""The command that combines the releases of several plans."""

import json

import pytest

from kanon.cli.main import main
from support.plans import plan_content, qi

TABLE = "age;sex;ill\n1;F;flu\n1;M;cold\n2;F;gout\n2;M;asthma\n"
NAMES = ("age.json", "sex.json")


def plan(k=2, **node):
    columns = {"age": qi(), "sex": qi(), "ill": {"role": "sensitive"}}
    return plan_content(columns, k, {"name": "levels", "node": node})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table, and two plans: one keeps the age, the other one the sex."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE, "utf-8")
    (tmp_path / "age.json").write_text(json.dumps(plan(age=0, sex=1)), "utf-8")
    (tmp_path / "sex.json").write_text(json.dumps(plan(age=1, sex=0)), "utf-8")
    return tmp_path


def combine(*plans, table="people.csv", more=()):
    return main(["combine", *plans, "--table", table, *more])


def test_what_was_found_is_said_and_the_status_is_3_where_a_plan_is_not_met(folder, capsys):
    assert combine(*NAMES) == 3
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0].startswith("The smallest class has 2 and 2 records in age.json and sex.json; ")
    assert "the smallest group that looks alike in all of them has 1 (↑ better)" in lines[0]
    assert lines[1] == "Anyone can line up the rows of all releases"
    assert (
        "required by age.json and sex.json: 2 in the worst class of any single release, 1"
        in lines[2]
    )
    assert lines[3].startswith(
        "'ill': values that no single release reveals, but all releases together do: "
        "those of 4 records if all rows can be lined up, "
    )
    assert len(lines) == 4
    assert said.err == "kanon: Together, the releases do not meet what their plans require.\n"
    assert sorted(path.name for path in folder.iterdir()) == ["age.json", "people.csv", "sex.json"]


def test_the_numbers_as_json(folder, capsys):
    assert combine("age.json", "age.json", more=["--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    found = json.loads(said.out)
    learnt, (asked,) = found.pop("learnt"), found.pop("asked")
    assert found == {
        "records": 4, "min_k_alone": [2, 2], "min_k": 2, "groups": 2, "unique_records": 0,
        "generalised_and_shown": [], "holds": True,
        "rows_lined_up": True, "rows_matched": 4, "candidates": 2,
    }  # fmt: skip
    assert asked == {
        "model": "k-anonymity", "k": 2, "asked_of": [1, 2], "alone": 2, "together": 2,
        "records": 0, "holds": True,
    }  # fmt: skip
    numbers = {"lined_up": 0, "certain": 0, "values_alone": 2, "values": 2, "records": 2}
    assert learnt == {"ill": numbers}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("more", [[], ["--engine", "duckdb"]])
def test_two_plans_of_version_1_are_told_of_in_one_line(folder, capsys, more):
    for name in NAMES:
        old = json.loads((folder / name).read_text("utf-8"))
        (folder / name).write_text(json.dumps({**old, "version": 1}), "utf-8")
    assert combine(*NAMES, more=more) == 3
    change, refused = capsys.readouterr().err.splitlines()
    assert change.startswith("kanon: warning: The plan was made by an earlier version (1), ")
    assert refused == "kanon: Together, the releases do not meet what their plans require."


def test_the_status_is_3_but_a_bound_where_rows_cannot_be_lined_up(folder, capsys):
    """The illnesses are two each, so that no row is known by its own."""
    (folder / "people.csv").write_text("age;sex;ill\n1;F;flu\n1;M;cold\n2;F;cold\n2;M;flu\n")
    assert combine(*NAMES) == 3
    said = capsys.readouterr()
    assert "Anyone can match the rows of at least 0 of 4 records (↓ better)" in said.out
    assert said.err == (
        "kanon: Together, the releases would not meet what their plans require with all rows "
        "lined up.\n"
    )
    for name in NAMES:
        content = json.loads((folder / name).read_text("utf-8"))
        (folder / name).write_text(json.dumps({**content, "order": "table"}), "utf-8")
    assert combine(*NAMES) == 3
    said = capsys.readouterr()
    assert "Anyone can line up the rows of all releases" in said.out
    *warned, last = said.err.splitlines()
    assert last == "kanon: Together, the releases do not meet what their plans require."
    assert len(warned) == 2 and all("The rows keep the table's order." in one for one in warned)


def test_a_table_that_stays_where_it_is(folder, capsys):
    assert combine(*NAMES, more=["--json"]) == 3
    here = json.loads(capsys.readouterr().out)
    assert combine(*NAMES, more=["--json", "--engine", "duckdb"]) == 3
    assert json.loads(capsys.readouterr().out) == here


@pytest.mark.parametrize(
    ("plans", "status", "said"),
    [
        (["age.json"], 2, "name at least two plans"),
        (["age.json", "none.json"], 2, "The plan 'none.json' cannot be read."),
        (["age.json", "high.json"], 3, "'high.json': k = 9 cannot be reached"),
        (["age.json", "other.json"], 2, "'other.json': The table has no column 'zip'"),
    ],
)
def test_what_cannot_be_combined_is_said_in_one_line(folder, capsys, plans, status, said):
    (folder / "high.json").write_text(json.dumps(plan(k=9, age=1, sex=1)), "utf-8")
    other = plan(age=1, sex=1)
    other["columns"]["zip"] = {"role": "insensitive"}
    (folder / "other.json").write_text(json.dumps(other), "utf-8")
    assert combine(*plans) == status
    found = capsys.readouterr()
    assert found.out == "" and found.err.startswith("kanon: ") and found.err.count("\n") == 1
    assert said in found.err
