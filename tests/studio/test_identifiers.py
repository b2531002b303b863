"""What is said to be an identifier never leaves: no release, log, chart, file name or URL has it.

Every identifier of the table is a word that occurs nowhere else, so that it can be looked for.
"""

import io
import json
import logging
import zipfile

import pandas as pd
import pytest
import streamlit.logger

from kanon.cli.main import main
from kanon.schema import Role
from kanon.sources.formats import FORMATS
from kanon.sources.reading import read_table
from kanon.sources.writing import table_bytes
from kanon.studio.shell.project_file import export_project
from support import dashboard as ui
from support.paths import ROOT
from support.plans import plan_content, qi

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("*.py"))
CANARIES = ui.PEOPLE.assign(
    name=[f"Quillfeather {place}" for place in range(12)],
    insurance=[f"70718263{place:03}" for place in range(12)],
)
PARTS = ("changed", "matrix", "learning", "predicting")
"""The parts of the page Utility."""

MARKS = ("Quillfeather", "70718263")  # so long that no fingerprint holds it by chance
FILE = "Brackenbury.csv"
"""The name of the file may be a person's as well."""

PLAN = plan_content(
    {
        "name": {"role": "identifier", "pseudonym": True},
        "insurance": {"role": "identifier"},
        "age": qi(),
        "sex": qi(),
        "disease": {"role": "sensitive"},
    }
)


def found_in(content: object, marks: tuple[str, ...] = MARKS) -> list[str]:
    """Which of the marks occur in a content, be it bytes, text or a message."""
    if hasattr(content, "SerializeToString"):
        content = content.SerializeToString()
    data = content if isinstance(content, bytes) else str(content).encode()
    if data.startswith(b"PK"):
        archive = zipfile.ZipFile(io.BytesIO(data))
        data = b"".join(archive.read(member) for member in archive.namelist())
    if data.startswith((b"PAR1", b"ARROW1")):
        kind = "parquet" if data.startswith(b"PAR1") else "feather"
        data = read_table(data, f"t.{kind}").table.to_csv().encode()
    return [mark for mark in marks if mark.encode() in data]


def elements(block):
    """Every element of a page, those of the side and of pop-ups too."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from elements(child)


def leaks(at) -> list[str]:
    """The elements of a page that show an identifier, but for the table that was uploaded."""
    shown = [element for element in elements(at._tree) if found_in(getattr(element, "proto", ""))]
    return [one.type for one in shown if one.type != "dataframe" or at.title[0].value != TABLE]


TABLE = "What is in this table, and how exposed is it?"


@pytest.fixture
def opened(start, caplog):
    """The table in the dashboard, its identifiers known as such, and a log that tells all."""
    streamlit.logger.set_log_level("DEBUG")
    caplog.set_level(logging.DEBUG)
    at = start(ui.DATA)
    ui.upload(at, FILE, ui.as_bytes(CANARIES, "csv"))
    assert ui.work(at).table.roles["name"] is Role.IDENTIFIER, "as it is suggested"
    ui.give_role(at, "insurance", "quasi-identifier")  # by mistake: its values get a tree
    lines = "".join(f"{value};*\n" for value in CANARIES["insurance"])
    ui.upload_tree(at, "insurance", "insurance.csv", lines.encode())
    assert ui.work(at).table.choices["insurance"].tree is not None
    ui.give_role(at, "insurance", "identifier")
    assert ui.work(at).table.roles["insurance"] is Role.IDENTIFIER
    yield at
    streamlit.logger.set_log_level("WARNING")


def test_no_page_download_log_or_address_has_an_identifier(opened, downloads, caplog, capfd):
    at = opened
    shown = [
        element.type for element in elements(at._tree) if found_in(getattr(element, "proto", ""))
    ]
    assert "dataframe" in shown, "the page Data shows who loaded the table what is in it"
    for kind in FORMATS:
        assert found_in(table_bytes(CANARIES, kind)) == [*MARKS], kind
    assert not found_in(b"Quill"), "the search finds what is there"
    ui.anonymised(at)
    for page in PAGES:
        ui.go(at, page)
        if page == "pages/compare.py":
            ui.settled(ui.press(at, "Compare"))
        if page == "pages/privacy.py":
            ui.press(at, "Take a random record")
        for part in PARTS if page == "pages/utility.py" else [None]:
            if part is not None:
                ui.enter(at, at.button_group(key="utility-part"), part)
            ui.ask_for_original_values(at)
            assert leaks(at) == [], page
            assert dict(at.query_params) == {}
    made = {"download-release", "curve-data", "utility-matrix-csv", "utility-matrix-parquet"}
    assert made <= set(downloads) and len(downloads) > 12
    for kind in every_format(at):
        name, make = downloads.pop("download-release")
        downloads[f"release as {kind}"] = name, make
    assert {f"release as {kind}" for kind in ("CSV", "XLSX", "PARQUET")} <= set(downloads)
    downloads["project"] = "", lambda: export_project(ui.work(at))
    for name, make in downloads.values():
        assert not found_in(name, (*MARKS, "Brackenbury", "brackenbury"))
        assert not found_in(make()), name
    # Not even an error that nobody foresaw, whose text may hold cells, brings one into the log.
    broken = CANARIES.assign(age=["x", *CANARIES["age"][1:]]).to_csv(index=False)
    ui.go(at, ui.DATA)
    ui.upload(at, FILE, broken.encode() + b'"Quillfeather, 70718263\n')
    ui.upload(at, "Brackenbury.xlsx", broken.encode())
    ui.upload(at, FILE, broken.encode())
    written = "".join(capfd.readouterr()) + caplog.text
    assert not found_in(written, (*MARKS, "Brackenbury"))


def every_format(at):
    """Choose every format of the release, one after the other."""
    ui.go(at, "pages/anonymise.py")
    for kind in at.selectbox(key="download-format").options:
        at.selectbox(key="download-format").select(kind.lower())
        ui.go(at)
        yield kind


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "xlsx", "engine"])
def test_no_file_of_the_command_line_has_an_identifier(tmp_path, capfd, caplog, kind):
    caplog.set_level(logging.DEBUG)
    CANARIES.drop(columns="zip").to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    ending, engine = ("csv", ["--engine", "duckdb"]) if kind == "engine" else (kind, [])
    out, measures = tmp_path / f"out.{ending}", tmp_path / "m.json"
    arguments = ["--table", str(tmp_path / "people.csv"), "--out", str(out), "--progress", *engine]
    status = main(["run", str(tmp_path / "plan.json"), *arguments, "--measures", str(measures)])
    assert status == 0
    released = {"csv": pd.read_csv, "parquet": pd.read_parquet}.get(kind)
    if released is not None:
        assert set(released(out)["name"]) == {f"P_{number}" for number in range(1, 13)}
        assert "insurance" not in released(out)
    assert not found_in(out.read_bytes()) and not found_in(measures.read_bytes())
    assert not found_in("".join(capfd.readouterr()) + caplog.text)
