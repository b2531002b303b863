"""Files of figures that hold original values say so, are asked about once, and can be forbidden."""

import pytest
import streamlit

from kanon import __version__
from kanon.studio.widgets import picture
from support import dashboard as ui
from support.paths import ROOT

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("*.py"))
LEARN, PRIVACY, UTILITY = "pages/learn.py", "pages/privacy.py", "pages/utility.py"
MARK = b"Marksteig"
TABLE = ui.PEOPLE.assign(zip=[f"Marksteig {place}" for place in range(12)])[
    ["zip", "sex", "disease"]
]
OWN = {"cost-matrix", "graph_hierarchy_zip", "hierarchy_zip"}
"""What lists values as the hierarchies do, and is the user's own: docs/operate/personal-data.md."""


@pytest.fixture
def opened(start):
    """A table with a value per person, on whose release none of them is."""
    at = start(ui.DATA)
    ui.upload(at, "t.csv", ui.as_bytes(TABLE, "csv"))
    ui.give_role(at, "zip", "quasi-identifier")
    ui.give_role(at, "disease", "sensitive")
    at.selectbox(key=f"hierarchy-{ui.work(at).version}-0-builder").set_value("suppression")
    return ui.anonymised(ui.go(at))


@pytest.fixture
def pictures(monkeypatch):
    """Per key of a chart what its links are told, once it was drawn with some; else nothing."""
    drawn = {}
    real = streamlit.plotly_chart

    def chart(figure, *, key, **how):
        drawn[key] = {}
        return real(figure, key=key, **how)

    def links(key, data, **how):
        drawn[key.removesuffix("-picture")] = data

    monkeypatch.setattr(streamlit, "plotly_chart", chart)
    monkeypatch.setattr(picture, "_files", links)
    return drawn


def part(at, name):
    return ui.enter(at, at.button_group(key="utility-part"), name)


def asked_for(at):
    return [button for button in at.button if button.key and button.key.endswith("-ask")]


def seen(at, downloads, pages=PAGES):
    """Go wherever files are, with a lesson on this table; returns what they are called and hold."""
    for page in pages:
        ui.go(at, page)
        if page == "pages/compare.py":
            ui.settled(ui.press(at, "Compare"))
        if page == LEARN:
            ui.choose(at, "learn-table", "own")
            ui.press(at, "Next")
        for name in ("changed", "matrix") if page == UTILITY else ():
            part(at, name)
        assert ui.problems(at) == [], page
    return {name: make() for name, make in list(downloads.values())}


@pytest.mark.nightly
def test_no_file_or_picture_holds_original_values_unsaid(opened, downloads, pictures):
    seen(opened, downloads)
    asked = {"privacy-attack", "lesson-picture", "lesson-running"}
    asked |= {
        f"utility-{one}" for one in ("distribution", "distributions", "representation-picture")
    }
    assert {name for name, told in pictures.items() if not told} == asked
    asked_for(opened)[0].click()
    files = seen(ui.go(opened), downloads)
    released = [name for name in files if name.startswith("released-k")]
    assert released and not any(MARK in as_it_is(files[name]) for name in released)
    said = {name for name in files if "original-values" in name}
    assert len(said) == 9, said
    holding = {name for name, content in files.items() if MARK in as_it_is(content)}
    assert {name for name in said if name.startswith(("utility", "released"))} <= holding
    assert {name.rpartition("-")[0] for name in holding - said} == OWN

    assert len(pictures) > 15 and all(pictures.values())
    for name, told in pictures.items():
        assert told["file"].startswith(f"kanon-{name}"), name
        assert ("original-values" in told["file"]) == (name in asked), name
        line = told["settings"]
        assert "quasi-identifiers: 'zip'" in line and f"kanon {__version__}, " in line, line
        assert line.startswith(("t.csv: 12 records", "Some of t.csv: ")), line
        assert not any(cell in line for cell in {MARK.decode(), *ui.PEOPLE["disease"]}), line


def as_it_is(content):
    return content if isinstance(content, bytes) else str(content).encode()


@pytest.mark.nightly
def test_it_is_asked_once_in_a_session(opened, downloads):
    at = part(ui.go(opened, UTILITY), "changed")
    (ask,) = asked_for(at)
    assert ask.label.endswith("original values")
    assert "utility-distributions-data" not in downloads
    ui.click(at, ask)
    assert any("original values of your table" in warning.value for warning in at.warning)
    assert asked_for(at) == []
    name, make = downloads["utility-distributions-data"]
    assert "original-values" in name and MARK in make()
    ui.go(at, PRIVACY)
    assert asked_for(at) == [] and "privacy-attack-data" in downloads
    assert not any("original values of your table" in warning.value for warning in at.warning)
    ui.upload(ui.go(at, ui.DATA), "other.csv", ui.as_bytes(TABLE.assign(sex="F"), "csv"))
    part(ui.go(ui.anonymised(at), UTILITY), "changed")
    assert asked_for(at) == []


@pytest.mark.nightly
def test_an_operator_forbids_them(opened, downloads, pictures, limits):
    limits("original_values_downloads = false\n")
    at, pages = opened, (PRIVACY, UTILITY, LEARN)
    files = seen(at, downloads, (*pages, ui.ANONYMISE))
    assert not any("original-values" in name for name in files)
    assert not any("original-values" in told.get("file", "") for told in pictures.values())
    for page in pages:
        ui.go(at, page)
        found = [button for button in at.button if button.label.endswith("original values")]
        assert found and all(item.disabled for item in found), page


@pytest.mark.nightly
def test_every_plan_that_is_offered_says_that_it_is_not_for_publication(opened, downloads):
    at = ui.go(opened, "pages/report.py")
    at.checkbox(key="report-in-context").set_value(True)
    at = ui.settled(ui.press(ui.go(at), "Make the report"))
    for page in ("pages/anonymise.py", "pages/report.py"):
        downloads.clear()
        told = {one.proto.label: one.proto.help for one in ui.go(at, page).get("download_button")}
        plans = [name for name, _ in downloads.values() if name.startswith(("plan", "levels"))]
        helps = [text for label, text in told.items() if label.startswith("Plan")]
        assert len(helps) == len(plans) > 0
        for text in helps:
            assert "every value of the hierarchies" in text and "not for publication" in text
    assert "Purpose file (JSON)" in told and downloads["report-context"][0].endswith(".json")
