"""The page Report: texts, the form, the report from a worker, the same as the command line's."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import pytest

from kanon.base.progress import ignore_progress
from kanon.cli.main import main
from kanon.errors import PlanError, TableError
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.report.words import FIELD_HELP, LONGEST
from kanon.sources.addresses import Address
from kanon.studio.jobs.stored_table import open_stored_work
from kanon.studio.report.page import ReportView, plan_report
from kanon.studio.session.parts import TEXT_TITLES
from kanon.studio.session.table_loading import open_sample
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui
from support.works import with_fields

REPORT = "pages/report.py"
MADE = re.compile(rb'<p class="small" id="made">[^<]*</p>')
HOSTILE = "<script>window.harmed=1</script> **b** $x$ ![x](http://a.invalid/b.png) {{ 7*7 }}"
OLD = "Settings have changed since this was made; press Make the report to renew it."


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without the five megabytes of the library in every page."""
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", "/* the library */")


def field_of(at, name):
    (found,) = [one for one in (*at.text_input, *at.text_area) if one.key == f"report-{name}"]
    return found


def type_text(at, name, text):
    return ui.enter(at, field_of(at, name), text)


def choose_form(at, public):
    return ui.enter(at, at.segmented_control(key="report-public"), public)


def made(at):
    return ui.settled(ui.press(at, "Make the report"))


def verdicts(at):
    found = [re.sub(r"\\|\*\*", "", one.value) for one in at.markdown]
    return [one for one in found if "A recount" in one or "Nothing is released" in one]


def with_preview(at):
    return ui.enter(at, at.toggle(key="report-preview"), True)


def previews(at):
    """The report as it is shown."""
    return [one.proto.srcdoc for one in at.get("iframe")]


# --- the same as the command line's -----------------------------------------------------------
def same_but_for_the_day(one, other):
    assert len(MADE.findall(one)) == len(MADE.findall(other)) == 1
    return MADE.sub(b"", one) == MADE.sub(b"", other)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "public",
    [
        pytest.param(False, id="internal", marks=pytest.mark.nightly),
        pytest.param(True, id="public"),
    ],
)
def test_the_command_that_is_shown_makes_the_same_report(
    start, downloads, tmp_path, monkeypatch, public
):
    at = type_text(start(REPORT), "purpose", HOSTILE)
    with_preview(made(choose_form(at, public)))
    files = {}
    for key, (name, make) in downloads.items():
        if key.startswith("report-"):
            content = make()
            files[key] = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).write_bytes(files[key])
    expected = ("html", "json", "plan", "words") if public else (
        "csv", "html", "json", "plan", "words"
    )  # fmt: skip
    assert sorted(files) == [f"report-{each}" for each in expected]
    (tmp_path / "hospital.csv").write_bytes(ui.work(at).table.content)
    monkeypatch.chdir(tmp_path)
    (shown,) = at.code
    python, _, module, *given = shlex.split(shown.value)
    assert (python, module) == ("python", "kanon") and main(given) == 0
    assert same_but_for_the_day(files["report-html"], Path("report.html").read_bytes())
    assert previews(at) == [files["report-html"].decode()]
    assert (b"For publication: apart from column names" in files["report-html"]) == public
    assert json.loads(files["report-json"])["form"] == ("publication" if public else "internal")
    assert json.loads(files["report-words"]) == {"purpose": HOSTILE}
    if not public:
        assert files["report-csv"].startswith(b'"measure","column","before","after"')


@pytest.mark.nightly
def test_the_next_report_says_what_changed_and_the_project_brings_that_back(
    start, downloads, tmp_path, monkeypatch
):
    at = made(start(REPORT))
    made(at)
    assert ui.work(at).findings.report.last is None, "none was downloaded"
    first = downloads["report-html"][1]()
    assert b"This is the first report" in first == downloads["report-html"][1]()
    assert len(ui.work(at).kept.reports) == 1, "the same one once"

    before = ui.work(at)
    fresh = open_project(open_sample("hospital"), export_project(before).encode())
    assert fresh.kept.reports == before.kept.reports
    older = json.loads(export_project(before))
    del older["reports"]
    assert open_project(before, json.dumps(older).encode()).kept.reports == []

    k = ui.work(at).settings.k
    at.number_input(key=ui.frame_k(at)).set_value(k + 1)
    made(ui.go(at))
    said = f"k: {k} records → {k + 1} records"
    assert said in ui.work(at).findings.report.changes
    assert said in " ".join(one.value for one in at.markdown).replace("\\", "")

    for key in ("html", "plan", "last"):
        name, make = downloads[f"report-{key}"]
        content = make()
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        if key == "html":
            second = content
    assert len(ui.work(at).kept.reports) == 2
    (tmp_path / "hospital.csv").write_bytes(ui.work(at).table.content)
    monkeypatch.chdir(tmp_path)
    (shown,) = at.code
    assert main(shlex.split(shown.value)[3:]) == 0
    assert same_but_for_the_day(second, Path("report.html").read_bytes())


@pytest.mark.parametrize(("key", "given", "sentence"), [
    ("reports", "x", "the key 'reports' has to be a list"),
    ("reports", [3], "the key 'reports': "),
    ("reports", [{"settings": {}, "figures": {}}], "the key 'reports': "),
    ("words", {"purpos": "x"}, "the key words: the key 'purpos' is unknown; choose from"),
    ("words", {"purpose": 3}, "the key words: purpose has to be text of at most"),
    ("words", ["x"], "the key words has to be an object that holds texts;"),
])  # fmt: skip
def test_a_project_with_wrong_reports_or_texts_is_refused_in_a_sentence(key, given, sentence):
    project = json.loads(export_project(open_sample("hospital"))) | {key: given}
    with pytest.raises(PlanError) as caught:
        open_project(open_sample("hospital"), json.dumps(project).encode())
    assert caught.value.sentence.startswith(f"The project file: {sentence}")


@pytest.mark.nightly
def test_the_fingerprint_is_that_of_the_downloaded_file(start, downloads, tmp_path, monkeypatch):
    at = ui.anonymised(start())
    plans = {name for name, _ in downloads.values() if name.startswith("plan-k")}
    ui.choose(at, "download-form", "excel")
    name, make = downloads["download-release"]
    (tmp_path / name).write_bytes(make())
    made(choose_form(ui.go(at, REPORT), public=True))
    report, plan = downloads["report-html"], downloads["report-plan"]
    assert {plan[0]} == plans, "the same plan has the same name on every page"
    content = report[1]()
    assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest().encode() in content
    assert b"Release: the bytes of its CSV (&#39;;&#39;, UTF-8-SIG)" in content
    (tmp_path / plan[0]).write_text(plan[1](), "utf-8")
    (tmp_path / "hospital.csv").write_bytes(ui.work(at).table.content)
    monkeypatch.chdir(tmp_path)
    (shown,) = at.code
    assert f"--release {name}" in shown.value and main(shlex.split(shown.value)[3:]) == 0
    assert same_but_for_the_day(content, Path("report.html").read_bytes())

    ui.enter(at, at.multiselect(key="report-publish"), ["alteration"])
    done = ui.work(at).findings.report
    assert json.loads(downloads["report-json"][1]())["published"] == {
        "Alteration": f"{done.measures['alteration']['nllm']:.1f} %, NLLM"
    }
    (shown,) = at.code
    assert shown.value.endswith("--publish alteration")


# --- making it --------------------------------------------------------------------------------
@pytest.mark.nightly
def test_a_report_is_made_read_and_outdated(start):
    at = start(REPORT)
    assert [one.value for one in at.info] == [
        "There is no report of this table yet; press Make the report."
    ]
    assert not [one for one in at.get("download_button") if one.label.startswith("Report")]
    assert {one.label for one in (*at.text_input, *at.text_area)} == set(TEXT_TITLES.values())
    assert all(field_of(at, name).help == said for name, said in FIELD_HELP.items())

    made(at)
    (said,) = verdicts(at)
    assert said.startswith("Release of hospital.csv. A recount from the released rows alone")
    assert "k-anonymity with k = 2 (reached: 2)" in said and at.info == []
    assert any("sees at least 1 other that" in one.value for one in at.markdown)
    (table,) = at.table
    assert table.value["Verdict"].tolist() == ["met"]
    assert previews(at) == [] and len(previews(with_preview(at))) == 1

    first = ui.work(at).findings.report
    choose_form(type_text(at, "title", "Ten patients"), public=True)
    assert ui.warnings(at) == []
    assert ui.work(at).findings.report is first, "they need no new report"
    assert verdicts(at)[0].startswith("Ten patients.")
    assert "<h1><bdi>Ten patients</bdi></h1>" in previews(at)[0]
    assert ui.work(choose_form(at, None)).view(ReportView).public, "clicked once more, it stays"
    verdict = verdicts(type_text(at, "title", ""))[0]
    assert verdict.startswith("Release of 10 records."), "the name of the file is not published"
    at.toggle(key="report-preview").set_value(False)
    assert previews(ui.go(at)) == []

    fields = ("selectbox", ui.frame_metric(at), "ncp"), ("number_input", ui.frame_k(at), 3)
    for kind, key, value in fields:
        getattr(at, kind)(key=key).set_value(value)
        ui.go(at)
        assert ui.warnings(at)[0].startswith(OLD) and ui.work(at).findings.report is first
        labels = [one.label for one in at.get("download_button")]
        assert "Report (old settings)" in labels and "Report" not in labels
    made(at)
    assert ui.warnings(at) == [] and ui.work(at).findings.report is not first


# --- what stands in the way -------------------------------------------------------------------
def test_a_plan_that_no_release_can_meet_is_said_and_texts_stay(start):
    at = type_text(start(REPORT), "purpose", "Teaching")
    model = DistinctLDiversity(column="disease", l=9)
    at.session_state[ui.WORK] = with_fields(ui.work(at), models=(model,))
    made(ui.go(at))
    (said,) = ui.problems(at)
    assert "l = 9" in said and verdicts(at) == []
    assert field_of(at, "purpose").value == "Teaching"


def test_a_table_in_an_engine_is_told_before_texts_are_typed(start, tmp_path):
    path = tmp_path / "people.parquet"
    ui.PEOPLE.to_parquet(path)
    at = start(REPORT)
    stored = open_stored_work(
        ignore_progress, Address.parse(str(path)), None, ui.work(at).table.asked
    )
    at.session_state[ui.WORK] = with_fields(stored, version=2)
    ui.go(at)
    assert ui.button(at, "Make the report").disabled
    (said,) = at.info
    assert "needs the table in memory, but this table stays in its engine" in said.value
    with pytest.raises(TableError, match="needs the table in memory"):
        plan_report(stored)


# --- texts ------------------------------------------------------------------------------------
@pytest.mark.nightly
def test_whatever_is_typed_is_text_of_a_bounded_length(start):
    at = with_preview(made(start(REPORT)))
    for text in (HOSTILE, "x" * LONGEST, "one\n\ntwo \u202eturned"):
        type_text(type_text(at, "title", text), "remarks", text)
        assert ui.problems(at) == [] and field_of(at, "remarks").value == text
        (page,) = previews(at)
        assert "<script>window" not in page and "{{" not in page.replace("{{ 7*7 }}", "")
        (said,) = [one.value for one in at.markdown if "A recount" in one.value]
        assert "$x$" not in said and "<script>" not in said and "![" not in said
    text = "x" * (LONGEST + 1)
    type_text(at, "purpose", text)
    assert ui.problems(at)[0].startswith("Purpose has 5 001 characters; a report takes up to")
    assert field_of(at, "purpose").value == text
    assert verdicts(at) == [] and previews(at) == []
    with pytest.raises(PlanError, match="Purpose has"):
        export_project(ui.work(at))
    type_text(at, "purpose", text[:-1])
    assert ui.problems(at) == [] and len(verdicts(at)) == 1


@pytest.mark.nightly
def test_texts_belong_to_their_table_and_a_report_to_how_it_was_read(start):
    at = type_text(start(REPORT), "legal_basis", "Article 6")
    made(choose_form(at, public=True))
    ui.go(at, ui.DATA)
    ui.go(at, REPORT)
    assert field_of(at, "legal_basis").value == "Article 6"
    assert ui.work(at).view(ReportView).public and len(verdicts(at)) == 1
    ui.enter(at, ui.go(at, ui.DATA).multiselect(key="markers-1"), ["?"])
    assert ui.work(at).version == 2, "the same table was read again"
    ui.go(at, REPORT)
    assert field_of(at, "legal_basis").value == "Article 6"
    assert ui.work(at).findings.report is None
    made(at)
    ui.choose(at, "frame-sample", "animals-v21")
    assert all(field_of(at, name).value == "" for name in FIELD_HELP)
    assert ui.work(at).findings.report is None and not ui.work(at).purpose.texts
