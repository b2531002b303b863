"""An extract that nobody prepared, through the pages alone: from the upload to a report to sign."""

import io
import re
from collections import Counter

import pandas as pd
import pytest
from playwright.sync_api import expect

from support import browser as by
from support.extracts import IDENTIFIERS, MISSING, extract

pytestmark = pytest.mark.browser

QUASI = ["Geburtsdatum", "Geschlecht", "PLZ", "Beruf", "Einkommen"]
K, L = 5, 3
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.fixture(scope="module")
def given():
    return extract(seed=20_261_125)


@pytest.mark.nightly
def test_an_extract_that_nobody_prepared_becomes_a_release_and_a_report(server, page, given):
    by.open_data(page, server)
    book = {"name": "Auszug.xlsx", "mimeType": XLSX, "buffer": given.xlsx()}
    by.upload(page, book, "8\u202f000")
    load(page)
    choose_hierarchies(page)
    join_typos(page)
    anonymise(page)
    by.choose(page, page.get_by_role("combobox", name="Format"), "CSV")
    moved = by.download(page, "Released table", ".csv")
    with by.answered(page):
        page.get_by_text("Keep the table's order of rows").click()
    content = by.download(page, "Released table", unlike=moved).path().read_bytes()
    lines = moved.path().read_bytes().splitlines()
    assert lines != content.splitlines()
    assert Counter(lines) == Counter(content.splitlines())
    check_release(given, pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False))
    check_report(page)


def load(page):
    """Say what is missing, whom a record is about, and what the columns are."""
    with by.answered(page):
        by.button(page, "All are missing").click()
    expect(page.get_by_text("These look like missing cells")).to_have_count(0, timeout=60_000)
    by.give_role(page, "Einkommen", "quasi-identifier")
    for column in ("Familienstand", "Aufnahme"):
        by.give_role(page, column, "insensitive")
    with by.answered(page):
        by.button(page, "Keep them as they are").click()
    with by.answered(page):
        page.get_by_text("Keep them: count missing as a value of its own").click()
    person = page.get_by_role("combobox", name="Which column identifies the person?")
    expect(person).to_have_value(IDENTIFIERS[0])


def choose_hierarchies(page):
    """Dates by decade, incomes by intervals, diagnoses by what stands before the point."""
    with by.details_of(page, "Geburtsdatum") as details:
        by.type_in(page, details.get_by_role("textbox", name="Periods: some of day"), "decade")
    expect(by.named(page, "combobox", "Hierarchy of %s", "PLZ")).to_have_value("Mask characters")
    by.build(page, "Einkommen", "Intervals")
    with by.details_of(page, "Einkommen") as details:
        by.type_in(page, details.get_by_role("textbox", name="Widths"), "500, 1000, 2000")
    diagnosis = page.get_by_role("combobox", name="How Diagnose is released")
    by.choose(page, diagnosis, "Parts of codes")
    expect(
        page.get_by_role("combobox", name="Level in the release and in every model")
    ).to_have_value(re.compile("^level 1 of"))
    by.picture(page, "extract-data")


def join_typos(page):
    """Put the spellings of every job into a group, in one press."""
    by.go(page, "Hierarchies")
    with by.answered(page):
        page.get_by_test_id("stButtonGroup").get_by_text("Beruf", exact=True).click()
    page.get_by_text("Values that look like spellings of the same thing").click()
    by.picture(page, "extract-typos")
    with by.answered(page):
        page.get_by_role("button", name=re.compile(r"^Join all \d+ groups$")).click()
    expect(page.get_by_text("Values that look like spellings of the same thing")).to_have_count(0)


def anonymise(page):
    """k = 5 in persons, and three diagnoses in every class."""
    by.go(page, "Anonymise")
    by.button(page, "Also require: nothing").click()
    adding = page.get_by_role("combobox", name="Add a model")
    adding.click()
    with by.answered(page):
        page.get_by_role("option", name=re.compile("distinct l-diversity", re.I)).click()
    by.type_in(page, page.get_by_role("spinbutton", name="l", exact=True), str(L))
    page.keyboard.press("Escape")
    by.anonymise(page)
    by.picture(page, "extract-release")


def check_release(given, released):
    """The release by pandas alone, against the extract that it is of."""
    original = given.table
    assert list(released) == [name for name in original if name not in IDENTIFIERS]
    assert len(released) == len(original)
    persons = original["Karten-Nr."]  # whose order the rows keep
    classes = released.groupby(QUASI, sort=False)
    assert persons.groupby(classes.ngroup()).nunique().min() >= K
    assert classes["Diagnose"].nunique().min() >= L
    passed = ["Familienstand", "Größe", "Aufnahme", "Tage", "Station", "Versicherung"]
    for column in passed:
        assert (
            released[column].tolist()
            == original[column].replace(dict.fromkeys(MISSING, "")).tolist()
        )
    names = set(original["Nachname"]) | set(persons)
    assert not names & set(released.stack())
    # A group is not called like the value that is in it.
    assert (
        released["Diagnose"].str.removesuffix(" (group)").tolist()
        == original["Diagnose"].str.split(".").str[0].tolist()
    )
    # A single value leaves as it came; a group says what it holds.
    years = original["Geburtsdatum"].str[-4:]
    decades = released["Geburtsdatum"].str.fullmatch(r"\d{3}0s")
    assert (released["Geburtsdatum"][decades].str[:3] == years[decades].str[:3]).all()
    single = released["Geburtsdatum"].isin(original["Geburtsdatum"])
    assert (released["Geburtsdatum"] == original["Geburtsdatum"])[single].all()
    # A group of spellings is called like the job, with other capitals.
    jobs = original["Beruf"].map(given.job_of)
    joined = ~released["Beruf"].isin({*original["Beruf"], "*"})
    assert joined.any()
    names = released["Beruf"].str.removesuffix(", any spelling")
    same = names.str.casefold() == jobs.str.casefold()
    assert same[joined].mean() > 0.99


def check_report(page):
    by.go(page, "Report")
    by.type_in(page, page.get_by_role("textbox", name="Recipient"), "Research group")
    by.make_report(page)
    page.get_by_text("Preview", exact=True).click()
    shown = page.frame_locator("iframe")
    expect(
        shown.get_by_text("8\u202f000 records of 6\u202f200 persons were anonymised")
    ).to_be_visible()
    expect(shown.get_by_text("Name and signature of the")).to_have_count(2)
    said = by.download(page, "Report").path().read_text("utf-8")
    assert "Research group" in said
    by.picture(page, "extract-report")
