"""The command that writes a report."""

import datetime
import hashlib
import json
from pathlib import Path

import pytest

from kanon.cli.main import main
from kanon.plan import Plan
from kanon.report.contents import collect_report
from kanon.report.origin import write_canonical_plan
from kanon.report.rendering import collect_report_numbers
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address
from support.reports import DAY, PLANS, TWO, attached, check_page, content, sha256

CSV = "Release: the bytes of its CSV (',', UTF-8)"


@pytest.mark.nightly
def test_fingerprints_are_those_of_the_files(folder):
    assert main(["run", "plan.json", "--table", "people.csv", "--out", "released.csv"]) == 0
    found = attached(written(folder))["sha256"]
    assert found["Input: the bytes of the input file"] == sha256("people.csv")
    assert found[CSV] == sha256("released.csv")
    plan = Plan.load(folder / "plan.json")
    assert found["Plan: as kanon writes it"] == hashlib.sha256(plan.to_json().encode()).hexdigest()
    (folder / "plan.json").write_text(json.dumps(content(), indent=7), "utf-8")
    assert write_canonical_plan(Plan.load(folder / "plan.json")) == write_canonical_plan(plan)


CALL = ("report", "plan.json", "--table", "people.csv", "--out", "report.html")


def written(folder, *more):
    assert main([*CALL, *more]) == 0
    return (folder / "report.html").read_text("utf-8")


def test_the_command_writes_the_report_of_its_run(folder, capsys):
    Path("words.json").write_text('{"purpose": "to teach"}')
    Path("report.html").write_text("an old one")
    assert main(["run", *CALL[1:-1], "released.csv", "--measures", "m.json"]) == 0
    capsys.readouterr()
    page = written(folder, "--words", "words.json")
    said = capsys.readouterr()
    assert said.err == "kanon: note: 1 column has missing cells (blank): 'note' 1.\n"
    assert said.out == f"{attached(page)['verdict']}\n"
    measures = json.loads(Path("m.json").read_text())
    del measures["seconds"]
    assert attached(page)["measures"] == measures
    assert "to teach" in check_page(page).said
    assert "Release of people.csv" in page
    assert datetime.datetime.now().strftime("Made on %Y-%m") in page
    table = open_address(Address.parse("people.csv"))
    own = collect_report(Plan.load(Path("plan.json")), table, date=DAY)
    found = attached(page)
    same = json.loads(json.dumps(collect_report_numbers(own)))
    for each in (found, same):
        del each["title"], each["sha256"]
    assert found == same


@pytest.mark.nightly  # in every run: test_public.py
def test_the_command_writes_the_form_for_publication(folder):
    page = written(folder, "--public", "--progress")
    assert "For publication" in page and "flu" not in page and "people.csv" not in page
    assert attached(page)["form"] == "publication" and attached(page)["published"] == {}
    page = written(folder, "--public", "--publish", "suppressed,persons,dropped")
    assert attached(page)["published"] == {
        "Records left out for missing values": "0", "Suppressed records": "0",
        "Persons in these records": "not counted",
    }  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "public", "more"), [
    ("released.csv", ("--public",), ("--csv", "excel", "--neutralise-formulas")),
    ("released.tsv", (), ()), ("released.xlsx", (), ()), ("released.parquet", (), ()),
])  # fmt: skip
def test_the_fingerprint_is_that_of_the_file_that_is_named(folder, public, name, more):
    assert main(["run", "plan.json", "--table", "people.csv", "--out", name, *more]) == 0
    page = written(folder, "--release", name, *public)
    found = {what: digest for what, digest in attached(page)["sha256"].items() if "Release" in what}
    assert [*found.values()] == [sha256(name)]
    assert name.rpartition(".")[2].upper() in next(iter(found))


@pytest.mark.nightly
def test_pseudonyms_of_a_file_that_is_named_are_others(folder):
    plan = content(**PLANS["pseudonyms"])
    Path("plan.json").write_text(json.dumps(plan), "utf-8")
    assert main(["run", *CALL[1:-1], "released.csv"]) == 0
    page = written(folder, "--release", "released.csv")
    assert attached(page)["sha256"][CSV] == sha256("released.csv")
    assert [what for what in attached(written(folder))["sha256"] if "drawn anew" in what]


@pytest.mark.parametrize("given", ["age,sex,disease,note\n31,F,flu,1\n", "", "31"])
def test_a_file_of_another_release_is_refused(folder, capsys, given):
    Path("released.csv").write_text(given, "utf-8")
    assert main([*CALL, "--release", "released.csv"]) == 3
    assert "does not hold the release of this plan and table" in capsys.readouterr().err
    assert not Path("report.html").exists()


def test_a_seed_is_that_of_the_plan(folder):
    assert attached(written(folder, "--seed", "7"))["plan"]["algorithm"]["seed"] == 7


@pytest.mark.parametrize(("more", "plan", "status", "sentence"), [
    (["--out", "report.pdf"], {}, 2, "--out: a report is an HTML page; end its name in .html."),
    (["--out", "no/report.html"], {}, 2, "'report.html' cannot be written there: "),
    (["--words", "absent.json"], {}, 2, "The file of words 'absent.json' cannot be read."),
    (["--words", "report.html"], {}, 2, "'report.html' is named for two purposes; "),
    (["--public", "--bound"], {}, 2, "--bound is for the internal report"),
    (["--publish", "records"], {}, 2, "--publish goes with --public"),
    (["--public", "--publish", "name"], {}, 2, "--publish: 'name' is unknown; choose from records"),
    (["--release", "absent.csv"], {}, 2, "'absent.csv'"),
    (["--engine", "duckdb"], {}, 2, "A report rechecks the released rows, which needs the table in "
     "memory; add --engine memory, or use a smaller table."),
    ([], {"privacy": [{"model": "k-anonymity", "k": 7}]}, 3, "k = 7 cannot be reached: "),
    ([], {"privacy": [*TWO, {"model": "entropy-l-diversity", "l": 2.5}]}, 3, "cannot be reached"),
    ([], {"algorithm": {"name": "mdav"}}, 2, "MDAV takes means, but 'sex' holds texts; "),
])  # fmt: skip
def test_what_goes_wrong_is_one_sentence_and_nothing_is_written(
    folder, capsys, more, plan, status, sentence
):
    Path("plan.json").write_text(json.dumps(content(**plan)), "utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main([*CALL, *more, "--quiet"]) == status
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith("kanon: ") and sentence in said.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_release_that_the_check_refuses_has_no_report(folder, capsys, monkeypatch):
    from kanon.release.released_rows import Verdict

    broken = (Verdict("k-anonymity", "", "k = 2", 1, False),)
    monkeypatch.setattr("kanon.run.execution.check_release", lambda *_: broken)
    assert main(list(CALL)) == 3
    assert "The release does not meet its plan" in capsys.readouterr().err
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ("3", "The last report: "),
        ('{"settings": {}}', "figures"),
        ('{"record": {"settings": {"k": 5}, "figures": {}, "fingerprints": {}}}', "settings.k"),
        ('{"form": "publication"}', "'form' is unknown"),
    ],
)
def test_a_wrong_last_report_is_refused_in_a_sentence(folder, capsys, given, part):
    Path("last.json").write_text(given, "utf-8")
    assert main([*CALL, "--last", "last.json"]) == 2
    said = capsys.readouterr().err
    assert part in said and said.count("\n") == 1 and "Traceback" not in said


@pytest.mark.nightly  # in every run: test_report.py
def test_the_command_compares_with_the_numbers_of_the_last_report(folder):
    first = written(folder)
    assert "This is the first report" in first
    Path("last.json").write_text(json.dumps(attached(first)), "utf-8")
    Path("plan.json").write_text(
        json.dumps(content(privacy=[{"model": "k-anonymity", "k": 3}])), "utf-8"
    )
    second = written(folder, "--last", "last.json")
    assert "<li>k: 2 records → 3 records</li>" in second
