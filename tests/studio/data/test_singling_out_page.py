"""Which columns single people out together, on the page Data: looked for, acted on, undone."""

import io
from dataclasses import replace

import pandas as pd
import pytest

from kanon.schema import Role
from kanon.studio.data.singling_out_panel import SinglingView
from kanon.studio.session.table_loading import reread_table
from support import dashboard as ui
from support.works import with_fields

# Nobody is alone in a sector or a cohort; in both, everybody but the first two is.
SECTORS = pd.DataFrame(
    {
        "number": [f"n{n}" for n in range(26)],
        "sector": [1, 1, *(n // 4 for n in range(24))],
        "cohort": [9, 9, *(n % 4 for n in range(24))],
        "ward": ["a"] * 26,
        "illness": ["flu"] * 26,
    }
)


def opened(start):
    at = ui.upload(start(ui.DATA), "sectors.csv", ui.as_bytes(SECTORS, "csv"))
    for column in ("sector", "cohort", "ward"):
        ui.give_role(at, column, "insensitive")
    return ui.give_role(at, "number", "insensitive")


def looked(at):
    return ui.settled(ui.press(at, "Find them"))


def said(at):
    return [one.replace("\u202f", " ") for one in ui.texts(at)]


def make(at, place):
    return ui.click(at, at.button(key=f"singling-make-{ui.work(at).version}-{place}"))


@pytest.mark.nightly  # in every run: test_singling_out.py
def test_what_is_found_becomes_a_role_and_can_be_undone(start, downloads):
    at = looked(opened(start))
    assert "**number**" in said(at) and "26 records, 100.0 %" in said(at)
    (warning,) = ui.warnings(at)
    assert "in one of these sets: number, sector, cohort." in warning.replace("\\", "")
    make(at, 0)
    assert ui.work(at).table.roles["number"] is Role.IDENTIFIER
    assert any(
        "Settings have changed since this was made; press Find them" in one
        for one in ui.warnings(at)
    )
    looked(at)
    assert "**sector + cohort**" in said(at) and "24 records, 92.3 %" in said(at)
    name, file = downloads["singling-out-sets-data"]
    assert name.startswith("singling-out-sets")
    (row,) = pd.read_csv(io.BytesIO(file())).to_dict("records")
    assert (row["columns"], row["number of columns"], row["records"]) == ("sector + cohort", 2, 24)
    before = ui.work(at)
    make(at, 0)
    assert ui.work(at).table.quasi_identifiers == ["sector", "cohort"]
    assert ui.work(at).table.reasons["sector"].startswith("Set by you.")
    assert ui.work(at).table.choices["sector"].plan is not None, "with a first hierarchy"
    assert "All are quasi-identifiers." in ui.captions(at) and not ui.warnings(at)
    ui.press(at, "Undo this change of roles")
    assert (ui.work(at).table.roles, ui.work(at).table.reasons) == (
        before.table.roles,
        before.table.reasons,
    )
    make(at, 0)
    ui.give_role(at, "sector", "insensitive")
    assert not [one for one in at.button if one.label.startswith("Undo this change")], "by hand"


@pytest.mark.nightly
def test_a_finding_goes_when_the_file_is_read_in_another_way(start):
    rows = "".join(f"{n},{n % 3};{n % 4}\n" for n in range(12))
    at = looked(ui.upload(start(ui.DATA), "two.csv", f"a,b;c\n{rows}".encode()))
    now = ui.work(at)
    found = now.view(SinglingView).found
    other = {",": ";", ";": ","}[now.table.file.settings.separator]
    again = reread_table(with_fields(now, asked=replace(now.table.asked, separator=other)))
    assert not set(found.columns) & set(again.table.roles), "no column is left"
    at.session_state[ui.WORK] = again
    ui.go(at, ui.DATA)
    assert ui.work(at).view(SinglingView).found is None
    assert looked(at)
    assert set(ui.work(at).view(SinglingView).found.columns) <= set(again.table.roles)
