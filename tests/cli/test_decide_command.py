"""The command that says whether a release has what its purpose asks for, and the report of it."""

import json
from pathlib import Path

import pandas as pd
import pytest

from kanon.cli.main import main
from kanon.release.context import ChosenThreshold, Context, replace_threshold
from support.plans import plan_content, qi

TABLE = "sex;ill\n" + "F;cold\n" * 3 + "F;flu\n" * 3 + "M;cold\n" * 4 + "M;flu\n" * 2
CALL = ["decide", "plan.json", "--table", "people.csv", "--context", "context.json"]
ASKED = Context(release="internal")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table of six women and six men, a plan for it, and what its release is for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", "/* the library */")
    (tmp_path / "people.csv").write_text(TABLE, "utf-8")
    plan = plan_content({"sex": qi(), "ill": {"role": "sensitive"}})
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    ask(tmp_path, ASKED)
    return tmp_path


def ask(folder, context):
    (folder / "context.json").write_text(context.to_json(), "utf-8")


def test_what_is_met_ends_with_0(folder, capsys):
    assert main(CALL) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "3 of 3 thresholds are met. Met: at least 6 records look alike" in said.out
    assert {path.name for path in folder.iterdir()} == {"context.json", "people.csv", "plan.json"}


def test_who_asks_for_nothing_is_told_nothing_was_checked(folder, capsys):
    context = ASKED
    for name in ("k", "highest_risk", "mean_risk"):
        context = replace_threshold(context, name, ChosenThreshold(wanted=None))
    ask(folder, context)
    assert main(CALL) == 2
    said = capsys.readouterr()
    assert said.out == "No threshold is set that can be counted here, so nothing was checked.\n"
    assert "nothing was checked; set one for k or a risk" in said.err


def test_what_is_not_met_is_said_and_ends_with_3(folder, capsys):
    ask(folder, Context(release="public"))
    assert main([*CALL, "--json"]) == 3
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert said.err.startswith("kanon: ") and said.err.count("\n") == 1
    assert not found["holds"] and found["records"] == 12
    by_name = {one["threshold"]: one for one in found["thresholds"]}
    assert [*by_name] == ["k", "highest_risk", "mean_risk", "l", "t"]
    assert [name for name, one in by_name.items() if one["met"]] == ["t"]
    assert by_name["t"]["reached"] == pytest.approx(1 / 12) and by_name["t"]["column"] == "ill"
    assert "EMA/90915/2016" in by_name["highest_risk"]["source"]
    assert (by_name["k"]["unit"], by_name["t"]["direction"]) == ("records", "lower")


def test_a_population_counts_for_who_does_not_know_who_is_in_the_table(folder, capsys):
    pd.DataFrame({"sex": ["F"] * 40 + ["M"] * 50}).to_csv("everybody.csv", index=False)
    content = Context(release="public", attacker="journalist")
    for name in ("l", "t"):
        content = replace_threshold(content, name, ChosenThreshold(wanted=None))
    ask(folder, content)
    assert main(CALL) == 3
    assert "No population was given" in capsys.readouterr().out
    assert main([*CALL, "--population", "everybody.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["reached"] for one in found["thresholds"]] == pytest.approx([40, 12 / 0.27])


def report(*more):
    assert main(["report", *CALL[1:4], "--out", "report.html", *more]) == 0
    return " ".join(Path("report.html").read_text("utf-8").split())


def test_a_report_says_it_where_somebody_asked(folder):
    heading = "What this purpose requires of a release"
    asked = replace_threshold(ASKED, "k", ChosenThreshold(wanted=7, source="<b>Board</b>, May"))
    ask(folder, asked)
    page = report("--context", "context.json", "--public")
    assert heading in page and "2 of 3 thresholds are met" in page
    assert "Set by hand: &lt;b&gt;Board&lt;/b&gt;, May" in page, "as it was typed"
    assert page.count("<td>not met</td>") == 1
    assert heading not in report()


def test_what_is_required_of_attack_and_use_is_measured(folder, capsys):
    asked = replace_threshold(ASKED, "inference", ChosenThreshold(wanted=50))
    ask(folder, replace_threshold(asked, "classifier", ChosenThreshold(wanted=0)))
    assert main([*CALL, "--json"]) == 0
    *_, guessed, lost = json.loads(capsys.readouterr().out)["thresholds"]
    assert (guessed["threshold"], guessed["column"]) == ("inference", "ill")
    assert guessed["reached"] == pytest.approx(25), "7 of 12 are guessed, of people outside 4"
    assert (lost["threshold"], lost["reached"]) == ("classifier", 0), "nothing was changed"
    ask(folder, replace_threshold(ASKED, "correlation", ChosenThreshold(wanted=80)))
    assert main(CALL) == 3
    said = capsys.readouterr().out
    assert "Associations kept: this table has nothing to measure it on (required: 80)." in said


def test_all_recipients_have_a_line_and_ones_own_decide_the_status(folder, capsys):
    call = [*CALL, "--recipients", "all"]
    assert main(call) == 0
    anybody, researchers, colleagues = capsys.readouterr().out.splitlines()
    assert anybody.startswith("Anybody: 1 of 5 thresholds met: Records that look alike")
    assert researchers.startswith("Researchers: 3 of 5 thresholds met: ")
    assert colleagues == "Colleagues only: 3 of 3 thresholds met."
    ask(folder, Context(release="public"))
    assert main([*call, "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    holds = {name: verdict["holds"] for name, verdict in found["recipients"].items()}
    assert holds == {"public": False, "research": False, "internal": True}
    assert found["recipients"]["public"]["thresholds"] == found["thresholds"]


def test_a_report_for_publication_leaves_out_what_needs_the_table(folder):
    heading = "What this purpose requires of a release"
    ask(folder, replace_threshold(ASKED, "alteration", ChosenThreshold(wanted=5)))
    inside = report("--context", "context.json")
    assert heading in inside and "Information lost (alteration)" in inside
    assert heading not in report("--context", "context.json", "--public")
