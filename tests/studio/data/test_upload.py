"""An upload is parsed in a worker, under a limit of memory, and there alone."""

import io
import re
import sys

import pandas as pd
import pyreadstat
import pytest

from kanon.base.progress import ignore_progress
from kanon.errors import PlanError, TableError
from kanon.run import run
from kanon.schema import Role
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.writing import table_bytes
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import limit_memory, open_upload, request_upload
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample, open_uploaded_table, reread_table
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui
from support import job_functions
from support.arx import TABLE, make_deid

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="no other system limits memory")


@pytest.fixture
def nothing_is_parsed_here(monkeypatch):
    """The server has no reader of tables that are uploaded."""
    monkeypatch.setattr("kanon.sources.opening.read_table", lambda *_: 1 / 0)


@pytest.mark.nightly
def test_the_server_parses_no_upload_and_no_file_once_more(start, nothing_is_parsed_here):
    at = start(ui.DATA)
    for kind in ("csv", "tsv", "xlsx", "parquet", "sav", "dta", "feather"):
        ui.upload(at, f"people.{kind}", table_bytes(ui.PEOPLE, kind))
        table = ui.work(at).table
        assert table.title == f"people.{kind}" and table.records.n_records == len(ui.PEOPLE)
        assert table.content == table_bytes(ui.PEOPLE, kind) and not ui.problems(at)
    ui.upload(at, "people.csv", b"a,b\n1,2\n3\n")
    assert ui.problems(at) == ["Line 3 of 'people.csv' has 1 cell where the header has 2."]
    assert ui.work(at).table.title == "people.feather", "what was there stays"

    ui.upload(at, "people.csv", b"a;b\n1;x\n2;y\n")
    before = ui.work(at)
    at.multiselect(key=f"markers-{before.version}").set_value(["x"])
    ui.settled(ui.go(at))
    assert ui.work(at).table.file.missing == {"b": 1} and ui.work(at).version == before.version + 1
    at.selectbox(key=f"separator-{ui.work(at).version}").set_value(",")
    ui.settled(ui.go(at))
    assert "';'" in ui.problems(at)[0] and ui.work(at).table.file.missing == {"b": 1}


@pytest.mark.nightly
def test_what_is_decided_once_folds_to_a_line(start):
    at = start(sample=None)
    assert "Sample table: load your own" in links(at)
    ui.go(at, ui.DATA)
    assert "Load another table" not in [one.label for one in at.expander]
    assert ui.popovers(at).count("Details") == len(ui.work(at).table.quasi_identifiers) == 6
    ui.upload(at, "people.csv", b"age,zip\n21,47601\n22,47602\n23,47603\n")
    assert "Load another table" in [one.label for one in at.expander]
    ui.give_role(at, "age", "quasi-identifier")
    key = ui.key_of(at, "age", "widths")
    ui.build(at, "age", "intervals", widths="10, 15")  # no tree: the field is in the line
    (problem,) = ui.problems(at)
    assert "15" in problem and key not in fields(at.get("popover"))
    ui.build(at, "age", "intervals", widths="10, 20")
    assert not ui.problems(at) and key in fields(at.get("popover"))
    assert "Sample table: load your own" not in links(ui.go(at, ui.ANONYMISE))


def links(at):
    return [one.proto.label for one in at.get("page_link")]


def fields(blocks):
    return [field.key for block in blocks for field in block.text_input]


def test_the_server_parses_nothing_for_a_project(start, monkeypatch):
    before = open_uploaded_table(b"a;b\n1;x\n2;y\n", "people.csv", 1)
    project = export_project(before).replace('"missing_markers": []', '"missing_markers": ["x"]')
    assert '"x"' in project
    monkeypatch.setattr("kanon.sources.opening.read_table", lambda *_: 1 / 0)
    at = start(sample=None, typed={ui.WORK: before})
    field = at.file_uploader(key="project-file-1-0")
    field.set_value(("project.json", project.encode(), "application/json"))
    ui.settled(ui.go(at))
    assert ui.work(at).table.file.missing == {"b": 1} and not ui.problems(at)
    assert any("The project was opened on this table" in one for one in ui.infos(at))


@pytest.mark.nightly
def test_an_upload_waits_its_turn_and_can_be_cancelled(start):
    at = start(ui.DATA)
    before = ui.work(at)
    with ui.held_worker():
        ui.enter(
            at,
            at.file_uploader(key=f"upload-{before.version}"),
            ("people.csv", ui.as_bytes(ui.PEOPLE, "csv"), "text/plain"),
        )
        ui.enter(at, at.text_input(key=f"place-{before.version}"), "typed meanwhile")
        assert [*ui.work(at).running] == ["uploading"]
        assert ui.work(at).table.records is before.table.records
        ui.click(at, at.button(key="cancel-uploading"))
    assert ui.infos(at) == ["Cancelled; nothing was changed."]
    assert ui.work(at).table.records is before.table.records
    assert at.text_input(key=f"place-{before.version}").value == "typed meanwhile"
    ui.upload(at, "people.csv", ui.as_bytes(ui.PEOPLE, "csv"))
    assert ui.work(at).table.records.n_records == len(ui.PEOPLE)


def test_the_label_of_a_variable_is_the_help_of_its_column(start, tmp_path):
    path = tmp_path / "people.sav"
    codes = pd.DataFrame({"sex": [1.0, 2.0, 1.0], "age": [30.0, 31.0, 32.0]})
    labels = {"sex": {1: "male", 2: "female"}}
    pyreadstat.write_sav(
        codes, path, column_labels={"sex": "Sex *of* the person"}, variable_value_labels=labels
    )
    at = start(ui.DATA)
    ui.upload(at, path.name, path.read_bytes())
    assert not ui.problems(at)
    assert ui.work(at).table.records.frequencies("sex").sizes.tolist() == [1, 2]
    helps = {one.proto.help for one in at.markdown if " sex]" in one.value}
    assert helps == {escape_markdown("Sex *of* the person")}


@LINUX
def test_a_file_that_takes_too_much_memory_is_refused_in_a_sentence(limits):
    limits(opening_megabytes=50)
    content = memoryview(b"a,b\n" + b"1,2\n" * 20_000_000)
    with pytest.raises(TableError) as refused:
        open_upload(ignore_progress, content, "people.csv", ReadSettings())
    assert refused.value.sentence == (
        "'people.csv' needs more memory to be opened than is allowed; the limit is 50 MB "
        "(opening_megabytes, see docs/operate/limits.md)."
    )
    small = open_upload(ignore_progress, memoryview(b"a,b\n1,2\n"), "people.csv", ReadSettings())
    assert small.table.records.n_records == 1 and small.table.content is None


@LINUX
def test_memory_is_limited_for_a_while(limits):
    much = 500 << 20  # threads that end meanwhile give some memory back
    with limit_memory(50), pytest.raises(MemoryError):
        bytearray(much)
    assert len(bytearray(much)) == much


def test_a_worker_that_dies_of_a_file_ends_in_the_same_sentence(workers, start):
    at = start(ui.DATA)
    request = request_upload(ui.work(at), b"a,b\n1,2\n", "people.csv")
    assert isinstance(request, JobRequest)
    job = runner.get_jobs().submit(job_functions.die, died=request.death_message)
    assert job.wait(60)
    assert job.error is not None and "needs more memory to be opened than is allowed" in job.error


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_line_without_an_end_is_refused_before_it_is_looked_at(limits, end, monkeypatch):
    """A file of 150 MB without a line break took 1.2 GB."""
    limits(record_megabytes=1)
    read = read_table(b"a,b" + end + (b"1,2" + end) * 600_000, "people.csv")
    assert len(read.table) == 600_000
    monkeypatch.setattr("kanon.sources.text_files.decode", lambda *_: 1 / 0)
    for content in (b"x" * (2 << 20), b"a,b" + end + b"1," + b"x" * (2 << 20)):
        with pytest.raises(TableError) as refused:
            read_table(content, "people.csv")
        assert refused.value.sentence == (
            "'people.csv' has a record (a line) that is too long; the limit is 1 MB "
            "(record_megabytes, see docs/operate/limits.md)."
        )


@pytest.mark.parametrize(
    "kind",
    ["parquet", *(pytest.param(kind, marks=pytest.mark.nightly) for kind in ("xlsx", "feather"))],
)
def test_a_cell_longer_than_a_record_may_be_is_refused(limits, kind):
    limits(record_megabytes=1)
    rows = ui.PEOPLE.assign(note="x" * 30_000)
    content = table_bytes(rows, kind)
    assert read_table(content, f"people.{kind}").table["note"].str.len().max() == 30_000
    if kind != "xlsx":
        long = table_bytes(ui.PEOPLE.assign(note="x" * (1 << 20 | 1)), kind)
        with pytest.raises(TableError, match=r"Column 'note' of 'people.* a cell that is too long"):
            read_table(long, f"people.{kind}")


@pytest.mark.nightly
def test_a_sheet_is_chosen_where_the_file_was_read_and_roles_stay(start):
    book = io.BytesIO()
    with pd.ExcelWriter(book, engine="xlsxwriter") as sheets:
        pd.DataFrame({"Register": ["2024"]}).to_excel(sheets, sheet_name="Cover", index=False)
        ui.PEOPLE.to_excel(sheets, sheet_name="All", index=False, startrow=2)
        ui.PEOPLE.head(5).to_excel(sheets, sheet_name="Some", index=False)
    at = ui.upload(start(ui.DATA), "people.xlsx", book.getvalue())
    chooser = at.selectbox(key=f"sheet-{ui.work(at).version}")
    assert (
        chooser.value == "All" and ui.work(at).table.records.n_records == 12 and not ui.problems(at)
    )
    assert [re.sub(r"\D+", " ", one).split() for one in chooser.options] == [
        ["2", "1"], ["13", "5"], ["6", "5"],
    ]  # fmt: skip
    ui.give_role(at, "zip", "sensitive")
    ui.settled(ui.choose(at, f"sheet-{ui.work(at).version}", "Some"))
    assert ui.work(at).table.records.n_records == 5
    assert ui.work(at).table.roles["zip"] == "sensitive"
    assert build_plan(ui.work(at)).read.sheet == "Some"
    ui.settled(ui.choose(at, f"sheet-{ui.work(at).version}", "Cover"))
    assert list(ui.work(at).table.roles) == ["Register"]


@pytest.mark.nightly
def test_a_first_line_that_may_be_a_record_is_asked_about(start):
    content = b"28,M,flu\n51,F,none\n28,M,cold\n51,F,flu\n"
    at = ui.upload(start(ui.DATA), "people.csv", content)
    assert "may be a record: it has a number above numbers in column 1" in " ".join(ui.warnings(at))
    assert ui.work(at).table.records.n_records == 4 and not ui.problems(at)
    for column, role in (("column 1", "quasi-identifier"), ("column 2", "quasi-identifier")):
        ui.give_role(at, column, role)
    ui.give_role(at, "column 3", "sensitive")
    with pytest.raises(PlanError, match="whether the first line of the table holds"):
        build_plan(ui.work(at))
    ui.settled(ui.press(at, "The first line is a record"))
    assert not any("may be a record" in one for one in ui.warnings(at))
    plan = build_plan(ui.work(at))
    assert plan.read.header is False and plan.roles.roles["column 3"] == "sensitive"
    again = open_uploaded_table(content, "people.csv", 0)
    assert again.table.file.unclear
    restored = open_project(again, export_project(ui.work(at)).encode())
    assert restored.table.file.settings.header is False and not restored.table.file.unclear
    ui.settled(ui.choose(at, f"header-{ui.work(at).version}", True))
    assert list(ui.work(at).table.roles) == ["28", "M", "flu"]
    assert ui.work(at).table.records.n_records == 3


def test_an_uploaded_project_opens_with_all_its_settings():
    deid = make_deid(criteria=["2-anonymity", "(5)-map"], limit=0.25)
    new = open_upload(ignore_progress, memoryview(deid), "Small.DEID", ReadSettings())
    request = request_upload(open_sample("animals-m23"), deid, "Small.DEID")
    assert isinstance(request, JobRequest)
    work = request.store_result(open_sample("animals-m23"), new)
    assert work.table.content == TABLE.encode() and work.table.title == "Small.DEID"
    assert work.table.roles["name"] is Role.IDENTIFIER and not work.table.undecided
    assert work.table.trees["age"].labels[4:] == ("30-39", "50-59", "*")
    assert (work.settings.algorithm, work.settings.k) == ("optimal", 2)
    assert (work.settings.suppression, work.settings.keep_suppressed) == (0.25, True)
    assert "The criterion '(5)-map' is left out" in (work.message.notice or "")
    assert any("(5)-map" in sentence for sentence in work.table.file.found)
    assert run(build_plan(work), work.table.records).recoding.trace.node == (1, 0)
    again = reread_table(work)
    assert again.message.problem is None and again.table.roles == work.table.roles
