"""What an attacker gains, the motivated intruder test and the annex, in reports and their files."""

import html
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kanon.cli.main import main
from kanon.errors import PlanError
from kanon.evidence.attack import attack
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.report.annex import NOT_ASSESSED, QUESTIONS, build_annex, collect_answers
from kanon.report.intruder_test import IntruderTest, read_intruder_test
from kanon.report.rendering import collect_report_numbers, render_report
from kanon.run import run
from support.people_plans import PEOPLE
from support.reports import DAY, Page, attached, check_page, content, page_of, report_of

HOSTILE = 'Ann "the <script>alert(1)</script> & <b>Ben</b>'
CALL = ["report", "plan.json", "--table", "people.csv", "--out", "report.html"]


def attempt(**changes):
    typed = {"people": HOSTILE, "date": "2026-01-31", "knows": ["age"], "sources": "<i>x</i>",
             "hours": 2, "claims": 3, "right": 1}  # fmt: skip
    return typed | changes


@pytest.fixture(scope="module")
def whole_report():
    """A report that has all that an annex can name."""

    report = report_of(context=Context(release="research"))
    evidence = attack(run(Plan.from_content(content()), PEOPLE))
    own = attempt(release=report.release_fingerprint)
    test = IntruderTest(attempts=(attempt(people="Cyd", claims=9, right=0), own, own))
    day = DAY.isoformat()
    return replace(report, intruder_test=test, evidence=evidence, attacked_on=day)


def test_every_row_of_the_annex_is_a_figure_that_exists_or_not_assessed(whole_report):
    answers = collect_answers(whole_report)
    keys = {key for _, _, key in QUESTIONS} - {""}
    assert keys <= {*answers}, "each key names a figure that a report can have"
    sections = html.unescape(page_of(whole_report)).split("<section>")
    for row, (_, _, key) in zip(build_annex(whole_report), QUESTIONS, strict=True):
        assert (row["Figure"], row["Answer"]) == answers.get(key, ("", NOT_ASSESSED))
        title, _, section = row["Figure"].partition(" (section ")
        assert not title or title in sections[int(section[0])], "it stands where the row says"
    inference = whole_report.evidence.inference["disease"].value
    found = {row["Question"]: row["Answer"] for row in build_annex(whole_report)}
    guess = found["Is the best guess of a sensitive value right?"]
    assert guess == f"Inference of 'disease' {100 * inference:.1f} %"
    assert found["Was the release attacked on trial?"] == "2 attempts, 6 claims, 2 right"
    assert found["How high is the risk of the person at most risk?"] == "50.0 %"


def test_a_plain_report_says_what_was_not_assessed():
    found = {row["Question"]: row for row in build_annex(report_of())}
    assert found["Does any record look like no other?"]["Answer"] == "0 records"
    for question in ("Is the best guess of a sensitive value right?",
                     "Was the release attacked on trial?",
                     "Is the risk within the stated thresholds?"):  # fmt: skip
        assert found[question]["Answer"] == NOT_ASSESSED and not found[question]["Figure"]
    said = check_page(page_of(report_of())).said
    assert "What an attacker gains" not in said and "Motivated intruder test" not in said


def test_sentences_figures_and_names_are_text_of_the_internal_report(whole_report):
    text = page_of(whole_report)
    page = check_page(text)
    for sentence in whole_report.evidence.sentences:
        assert sentence in page.said
    assert HOSTILE in page.said and "<i>x</i>" in page.said
    assert "<script>alert" not in text and "<i>x" not in text
    assert "another one" in page.said and "9 claims, 0 right" in page.said
    numbers = collect_report_numbers(whole_report)
    assert numbers["evidence"] == whole_report.evidence.numbers
    assert [row["Who tried"] for row in numbers["intruder_test"]] == [
        "kanon", "Cyd", HOSTILE, HOSTILE,
    ]  # fmt: skip
    assert numbers["intruder_test"][0]["Date"] == DAY.isoformat()


def test_the_form_for_publication_has_nothing_of_it(whole_report):
    plain = report_of(context=Context(release="research"))
    assert render_report(whole_report.public) == render_report(plain.public)
    said = Page(page_of(whole_report.public)).said
    for text in ("attacker gains", "intruder", "Singling out", "Annex", "Linkability"):
        assert text not in said


def test_the_command_measures_and_files_an_intruder_test(folder, capsys):
    Path("test.json").write_text(json.dumps({"attempts": [attempt()]}), "utf-8")
    more = ["--attack", "--known", "1", "--no-control", "--intruder", "test.json"]
    assert main([*CALL, *more]) == 0
    page = (folder / "report.html").read_text("utf-8")
    found = attached(page)
    assert found["evidence"]["known"] == 1
    assert "control" not in found["evidence"]["inference"]["disease"]
    assert found["intruder_test"][1]["Outcome"] == "3 claims, 1 right"
    assert html.escape(HOSTILE, quote=False) in page.replace("&#34;", '"')
    for option in (["--attack"], ["--intruder", "test.json"]):
        assert main([*CALL, "--public", *option]) == 2
        assert f"{option[0]} is for the internal report" in capsys.readouterr().err


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"right": 4}, "of 3 claims at most all can be right, not 4."),
    ({"date": "tomorrow"}, "the date 'tomorrow' is not allowed; write it like 2026-01-31."),
    ({"claims": -1}, "attempts.0.claims: '-1' is not allowed; it has to be at least 0."),
    ({"people": ""}, "it has to be text of at least 1 character."),
    ({"who": "x"}, "the key 'who' is unknown; choose from people, date, knows,"),
])  # fmt: skip
def test_a_wrong_attempt_is_refused_in_a_sentence(tmp_path, changes, sentence):
    path = tmp_path / "test.json"
    path.write_text(json.dumps({"attempts": [attempt(**changes)]}), "utf-8")
    with pytest.raises(PlanError) as caught:
        read_intruder_test(path)
    assert sentence in caught.value.sentence
