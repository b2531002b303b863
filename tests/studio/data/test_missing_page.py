"""Missing cells on the page Data: what looks like one is offered, nothing is dropped unasked."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kanon.sources.memory import MemoryTable
from kanon.studio.jobs.stored_table import start_exposure
from support import dashboard as ui


def offers(at):
    return [text for text in ui.texts(at) if text.startswith(":material/help:")]


def test_nothing_is_dropped_before_it_is_chosen(start):
    at = ui.with_people(start(ui.DATA), ui.PEOPLE.assign(sex=["F", "?", "F"] * 4))
    (radio,) = at.radio
    assert "4 records with a quasi-identifier missing" in radio.label and radio.value is None
    for other in ("age", "zip"):
        ui.give_role(at, other, "insensitive")
    assert ui.numbers(at)["Classes"] == "2", "all records are counted meanwhile"
    ui.press(ui.go(at, ui.ANONYMISE), "Anonymise")
    assert "4 records lack a quasi-identifier" in ui.problems(at)[0] and not ui.numbers(at)
    ui.press(at, "Drop 4 records")
    assert not ui.problems(at) and not ui.warnings(at)
    ui.anonymised(at)
    assert any(re.search("4 records.* dropped", one) for one in ui.captions(at))
    assert len(ui.after(at)) == 8
    assert "8 of 12 records" in ui.line(at), "those that are left are said"
    assert ui.go(at, ui.DATA).radio[0].value == "drop-records" and ui.numbers(at)["Classes"] == "1"
    ui.enter(at, at.radio[0], "as-value")
    assert ui.numbers(at)["Classes"] == "2"
    assert ui.OUTDATED in ui.warnings(ui.go(at, ui.ANONYMISE))[0]
    ui.settled(ui.press(at, "Anonymise"))
    assert len(ui.after(at)) == 12
    assert ui.go(at, ui.DATA).radio[0].value == "as-value"


@pytest.mark.nightly
@pytest.mark.parametrize(("answer", "records"), [("Leave them out", 12), ("They are records", 14)])
def test_a_total_and_a_note_at_the_end_are_asked_about(start, answer, records):
    below = pd.DataFrame([["Total", *[None] * 9], ["Source: ward 3", *[None] * 9]])
    below = below.iloc[:, : ui.PEOPLE.shape[1]].set_axis(ui.PEOPLE.columns, axis=1)
    below.iloc[0, 1] = 500
    at = ui.with_people(start(ui.DATA), pd.concat([ui.PEOPLE.head(12).astype(object), below]))
    (offer,) = offers(at)
    assert "The last 2 rows look like totals or notes" in offer and len(ui.shown(at)) == 14
    ui.press(at, answer)
    assert not offers(at) and ui.work(at).table.records.n_records == records
    assert ui.work(at).table.file.settings.footer == 14 - records


@pytest.mark.nightly
def test_what_counts_as_missing_can_be_chosen(start):
    at = start(ui.DATA)
    assert not offers(at), "a sample is not asked about"
    ui.with_people(at, ui.PEOPLE.assign(sex=["F", "*", "M"] * 4))
    (offer,) = offers(at)
    assert "look like missing cells" in offer and "(4)" in offer, "suppressed before"
    ui.press(at, next(label for label in ui.button_labels(at) if "is missing" in label))
    ui.settled(at)
    assert not offers(at) and ui.work(at).table.file.missing == {"sex": 4}

    ui.with_people(at, ui.PEOPLE.assign(sex=["F", "?", "unclear"] * 4))
    markers = f"markers-{ui.work(at).version}"
    assert at.multiselect(key=markers).value == ["?"] and not offers(at)
    at.multiselect(key=markers).set_value(["unclear"])
    ui.settled(ui.go(at))
    assert "4 records" in at.radio[0].label and "?" in set(ui.shown(at)["sex"])
    (offer,) = offers(at)
    assert "'?' (4)" in offer, "what the user took back is offered again"
    assert not ui.problems(at)


@pytest.mark.nightly
def test_markers_of_a_table_are_counted_and_taken_by_a_press(start):
    rng = np.random.default_rng(1)
    cells = pd.DataFrame({
        "town": rng.choice(["Bern", "n/a", "unbekannt", "-", "Olten"], 200),
        "job": rng.choice(["smith", "cook", "k.A.", "-"], 200),
        "year": rng.choice([1950, 1961, 1972, 2001, 9999], 200),
    })  # fmt: skip
    at = ui.upload(start(ui.DATA), "people.csv", ui.as_bytes(cells, "csv"))
    counted = {one: int((cells == one).sum().sum()) for one in ("n/a", "unbekannt", "-", "k.A.")}
    words, number = offers(at)
    assert all(f"'{marker}' ({count})" in words for marker, count in counted.items())
    assert f"'year' ({(cells['year'] == 9999).sum()})" in number
    ui.give_role(at, "town", "quasi-identifier")
    ui.give_role(at, "job", "sensitive")
    at.button(key=f"take_markers-{ui.work(at).version}-k.A.").click()
    ui.settled(ui.go(at))
    assert len(offers(at)) == 2 and "k.A." not in offers(at)[0]
    ui.press(at, "All are missing")
    ui.settled(at)
    ui.press(at, "It is a value")
    assert not offers(at) and ui.work(at).table.roles["job"] == "sensitive"
    gone = cells.replace([*counted], np.nan)
    pd.testing.assert_frame_equal(
        ui.work(at).table.file.table.astype(object), gone.astype(str).where(gone.notna()),
        check_dtype=False,
    )  # fmt: skip
    assert (
        str(gone[ui.work(at).table.quasi_identifiers].isna().any(axis=1).sum()) in at.radio[0].label
    )


def test_rows_that_were_suppressed_before_are_in_no_class(monkeypatch):
    table = pd.DataFrame({"zip": [*"1122"] * 3 + ["*"], "sex": [*"FFMM"] * 3 + ["*"]})
    known = SimpleNamespace(
        complete_records=MemoryTable(table), quasi_identifiers=["zip", "sex"], person_for_k=None
    )
    monkeypatch.setattr("kanon.studio.jobs.stored_table.count_classes_in_engine", lambda work: None)
    found = start_exposure(SimpleNamespace(table=known))
    assert (found.exposure.min_k, found.exposure.n_classes, found.suppressed) == (6, 2, 1)
