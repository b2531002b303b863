"""The command that says which metric and strategy suit a table."""

import json

import pandas as pd
import pytest

from kanon.cli.main import main
from support.plans import plan_content, qi

TABLE = "age;sex;ill\n1;F;flu\n1;F;cold\n2;F;gout\n2;M;flu\n1;M;cold\n2;M;gout\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Six people, and a plan for them."""
    monkeypatch.chdir(tmp_path)
    plan = plan_content({"age": qi(), "sex": qi(), "ill": {"role": "sensitive"}})
    (tmp_path / "people.csv").write_text(TABLE, "utf-8")
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    return tmp_path


def advise(*more):
    return main(["advise", "plan.json", "--table", "people.csv", *more])


def test_it_is_said_in_sentences_and_nothing_is_written(folder, capsys):
    assert advise("--weights", "utility=1") == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert said.err == "" and lines[0].startswith("1. ")
    assert (
        "No configuration loses less: " in lines[0] and "It is best, alone or tied, at " in lines[0]
    )
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "plan.json"]


@pytest.mark.nightly
def test_the_numbers_as_json_and_all_ways_in_a_file(folder, capsys):
    assert advise("--k", "2-3", "--limits", "l=2", "--json", "--out", "ways.csv") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["k"], found["tried_k"], found["ways"]) == ([2, 3], [2, 3, 4, 5], 95)
    assert found["weights"] == {"utility": 2, "l": 1, "t": 1} and found["limits"] == {"l": 2}
    first = found["proposals"][0]
    assert first["for"] == "all" and set(first) >= {"metric", "strategy", "scope", "score", "l"}
    table = pd.read_csv("ways.csv")
    assert len(table) == 95
    assert table["strategy"][0] == first["strategy"]
    assert table["score"][0] == pytest.approx(first["score"])
    assert found["meeting_limits"] == table["meets_limits"].sum()


def test_a_plan_that_asks_for_no_k_needs_one(folder, capsys):
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    plan["privacy"] = [{"model": "distinct-l-diversity", "l": 2}]
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    assert advise() == 2
    assert "The plan sets no k: give the k you want advice on" in capsys.readouterr().err
