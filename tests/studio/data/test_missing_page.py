"""Missing cells on the page Data: what looks like one is offered, nothing is dropped unasked."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kanon.sources.memory import MemoryTable
from kanon.studio.jobs.stored_table import exposed
from support.dashboard import (
    ANONYMISE,
    DATA,
    OUTDATED,
    PEOPLE,
    after,
    anonymised,
    as_bytes,
    button_labels,
    captions,
    give_role,
    go,
    line,
    numbers,
    press,
    problems,
    settled,
    shown,
    texts,
    upload,
    warnings,
    with_people,
    work,
)


def offers(at):
    return [text for text in texts(at) if text.startswith(":material/help:")]


def test_nothing_is_dropped_before_it_is_chosen(start):
    at = with_people(start(DATA), PEOPLE.assign(sex=["F", "?", "F"] * 4))
    (radio,) = at.radio
    assert "4 records with a quasi-identifier missing" in radio.label and radio.value is None
    for other in ("age", "zip"):
        give_role(at, other, "insensitive")
    assert numbers(at)["Classes"] == "2", "all records are counted meanwhile"
    press(go(at, ANONYMISE), "Anonymise")
    assert "4 records lack a quasi-identifier" in problems(at)[0] and not numbers(at)
    press(at, "Drop 4 records")
    assert not problems(at) and not warnings(at)
    anonymised(at)
    assert any(re.search("4 records.* dropped", one) for one in captions(at))
    assert len(after(at)) == 8
    assert "8 of 12 records" in line(at), "those that are left are said"
    assert go(at, DATA).radio[0].value == "drop-records" and numbers(at)["Classes"] == "1"
    at.radio[0].set_value("as-value")
    go(at)
    assert numbers(at)["Classes"] == "2"
    assert OUTDATED in warnings(go(at, ANONYMISE))[0]
    settled(press(at, "Anonymise"))
    assert len(after(at)) == 12
    assert go(at, DATA).radio[0].value == "as-value"


@pytest.mark.parametrize(("answer", "records"), [("Leave them out", 12), ("They are records", 14)])
def test_a_total_and_a_note_at_the_end_are_asked_about(start, answer, records):
    below = pd.DataFrame([["Total", *[None] * 9], ["Source: ward 3", *[None] * 9]])
    below = below.iloc[:, : PEOPLE.shape[1]].set_axis(PEOPLE.columns, axis=1)
    below.iloc[0, 1] = 500
    at = with_people(start(DATA), pd.concat([PEOPLE.head(12).astype(object), below]))
    (offer,) = offers(at)
    assert "The last 2 rows look like totals or notes" in offer and len(shown(at)) == 14
    press(at, answer)
    assert not offers(at) and work(at).table.records.n_records == records
    assert work(at).table.file.settings.footer == 14 - records


def test_what_counts_as_missing_can_be_chosen(start):
    at = start(DATA)
    assert not offers(at), "a sample is not asked about"
    with_people(at, PEOPLE.assign(sex=["F", "*", "M"] * 4))
    (offer,) = offers(at)
    assert "look like missing cells" in offer and "(4)" in offer, "suppressed before"
    press(at, next(label for label in button_labels(at) if "is missing" in label))
    settled(at)
    assert not offers(at) and work(at).table.file.missing == {"sex": 4}

    with_people(at, PEOPLE.assign(sex=["F", "?", "unclear"] * 4))
    markers = f"markers-{work(at).version}"
    assert at.multiselect(key=markers).value == ["?"] and not offers(at)
    at.multiselect(key=markers).set_value(["unclear"])
    settled(go(at))
    assert "4 records" in at.radio[0].label and "?" in set(shown(at)["sex"])
    (offer,) = offers(at)
    assert "'?' (4)" in offer, "what the user took back is offered again"
    assert not problems(at)


def test_markers_of_a_table_are_counted_and_taken_by_a_press(start):
    rng = np.random.default_rng(1)
    cells = pd.DataFrame({
        "town": rng.choice(["Bern", "n/a", "unbekannt", "-", "Olten"], 200),
        "job": rng.choice(["smith", "cook", "k.A.", "-"], 200),
        "year": rng.choice([1950, 1961, 1972, 2001, 9999], 200),
    })  # fmt: skip
    at = upload(start(DATA), "people.csv", as_bytes(cells, "csv"))
    counted = {one: int((cells == one).sum().sum()) for one in ("n/a", "unbekannt", "-", "k.A.")}
    words, number = offers(at)
    assert all(f"'{marker}' ({count})" in words for marker, count in counted.items())
    assert f"'year' ({(cells['year'] == 9999).sum()})" in number
    give_role(at, "town", "quasi-identifier")
    give_role(at, "job", "sensitive")
    at.button(key=f"take_markers-{work(at).version}-k.A.").click()
    settled(go(at))
    assert len(offers(at)) == 2 and "k.A." not in offers(at)[0]
    press(at, "All are missing")
    settled(at)
    press(at, "It is a value")
    assert not offers(at) and work(at).table.roles["job"] == "sensitive"
    gone = cells.replace([*counted], np.nan)
    pd.testing.assert_frame_equal(
        work(at).table.file.table.astype(object), gone.astype(str).where(gone.notna()),
        check_dtype=False,
    )  # fmt: skip
    assert str(gone[work(at).table.quasi_identifiers].isna().any(axis=1).sum()) in at.radio[0].label


def test_a_hierarchy_that_nobody_changed_is_proposed_anew_once_markers_are_missing(start):
    """A column of dates with "k.A." among them began with all or nothing, and stayed so."""
    days = [f"{1 + n % 28:02d}.0{1 + n % 9}.{1930 + n}" for n in range(60)]
    table = pd.DataFrame({"born": ["k.A.", *days], "town": ["-", *"ABC" * 20]})
    at = upload(start(DATA), "people.csv", as_bytes(table, "csv"))
    for column in table:
        give_role(at, column, "quasi-identifier")
    assert work(at).table.choices["born"].builder == "suppression"
    press(at, "All are missing")
    settled(at)
    born, town = (work(at).table.choices[column] for column in table)
    assert born.builder == "dates"
    assert town.builder == "suppression" and "-" not in town.counts


def test_rows_that_were_suppressed_before_are_in_no_class(monkeypatch):
    table = pd.DataFrame({"zip": [*"1122"] * 3 + ["*"], "sex": [*"FFMM"] * 3 + ["*"]})
    known = SimpleNamespace(
        complete_records=MemoryTable(table), quasi_identifiers=["zip", "sex"], person_counted=None
    )
    monkeypatch.setattr("kanon.studio.jobs.stored_table.classes_kept", lambda work: None)
    found = exposed(SimpleNamespace(table=known))
    assert (found.exposure.min_k, found.exposure.n_classes, found.suppressed) == (6, 2, 1)
