"""The archive of the release on screen, and the operator's record of what is downloaded."""

import hashlib
import io
import json
import zipfile

import pytest
import streamlit as st

from kanon.base.progress import ignore_progress
from kanon.plan import Plan
from kanon.release.record import FILE, VARIABLE, read_recorded_releases
from kanon.report.recipients_check import main
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address
from kanon.studio.jobs.stored_table import write_release
from support.dashboard import choose, frame_k, go, press, settled, work
from support.people_plans import PEOPLE, plan_with

REPORT = "pages/report.py"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without the five megabytes of the library in every page."""
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", "/* the library */")


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def anonymised(start, downloads):
    return settled(press(start(), "Anonymise"))


def digest_of(at):
    return hashlib.sha256(work(at).table.content).hexdigest()


@pytest.mark.nightly
def test_the_archive_holds_the_release_in_the_chosen_form(anonymised, downloads, tmp_path):
    at = anonymised
    for form in ("plain", "excel"):
        choose(at, "download-form", form)
        name, make = downloads["download-archive"]
        assert name.startswith("release-") and name.endswith(".zip")
        with zipfile.ZipFile(io.BytesIO(make())) as packed:
            packed.extractall(tmp_path / form)
        _, released = downloads["download-release"]
        assert (tmp_path / form / "released.csv").read_bytes() == released()
        assert main(tmp_path / form) == 0
        assert len(work(at).kept.made) == 2
    at.multiselect(key="archive-publish").set_value(["suppressed", "algorithm"])
    go(at)
    with zipfile.ZipFile(io.BytesIO(downloads["download-archive"][1]())) as packed:
        assert b"Suppressed records" in packed.read("report.html")
        assert json.loads(packed.read("plan.json"))["algorithm"]["name"] == "gaa"
        assert b"chosen for publication: suppressed, algorithm" in packed.read("README.txt")
    at.number_input(key=frame_k(at)).set_value(5)
    go(at)
    assert downloads["download-archive"][0] != name, "another k has one of its own"


def test_a_download_is_recorded_when_it_is_made_and_shown_on_the_report_of_its_table(
    kept, anonymised, downloads, start, monkeypatch
):
    _, make = downloads["download-release"]
    assert read_recorded_releases(digest_of(anonymised)) == (), "drawing the button is no release"
    content = make()
    (line,) = read_recorded_releases(digest_of(anonymised))
    assert line["release"] == hashlib.sha256(content).hexdigest()
    assert (line["who"], line["by"]) == ("local", "dashboard")
    at = go(anonymised, REPORT)
    assert "Releases of this table" in [one.value for one in at.subheader]
    (shown,) = [one.value for one in at.table if "Who" in one.value.columns]
    assert shown["Release (SHA-256)"].tolist() == [line["release"][:12]]
    assert "No release of this table is recorded yet." in [
        one.value for one in start(REPORT, "voters").info
    ]

    monkeypatch.delenv(VARIABLE)
    assert make(), "without a record nothing is said or written"
    assert "Releases of this table" not in [one.value for one in go(at).subheader]
    monkeypatch.setenv(VARIABLE, str(kept))
    assert read_recorded_releases(digest_of(anonymised)) == (line,)


def test_what_cannot_be_recorded_cannot_be_had(kept, anonymised, downloads, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(kept / "nowhere"))
    with pytest.raises(RuntimeError, match="a download failed"):
        downloads["download-release"][1]()
    at = go(anonymised)
    assert any("nothing is released" in one.value for one in at.error)
    held = [one for one in at.get("download_button") if one.proto.id.endswith("download-release")]
    assert [one.proto.disabled for one in held] == [True]


def test_who_is_logged_in_is_named(kept, start, downloads, monkeypatch):
    monkeypatch.setattr(st, "user", {"is_logged_in": True, "email": "ana@example.org", "sub": "7"})
    settled(press(start(), "Anonymise"))
    downloads["download-release"][1]()
    assert json.loads((kept / FILE).read_text("utf-8"))["who"] == "ana@example.org"


def test_what_an_engine_writes_is_recorded_by_its_worker(kept, tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    done = run(Plan.from_content(plan_with()), open_address(Address.parse(str(path)), "duckdb"))
    target = Address(str(tmp_path / "out.parquet"))
    write_release(
        ignore_progress, done.prepared.source, done.recoding, plan_with(), target,
        tmp_path / ".x.part", "ana",
    )  # fmt: skip
    (line,) = read_recorded_releases(hashlib.sha256(path.read_bytes()).hexdigest())
    assert line["who"] == "ana"
    assert line["release"] == hashlib.sha256(target.path.read_bytes()).hexdigest()
