"""Remarks and next month's table on the pages: seen, quiet, and gone when they are acted on."""

import numpy as np
import pandas as pd
import pytest

from support import dashboard as ui

HUNDRED = pd.DataFrame(
    {
        "born": (np.datetime64("1950-01-01") + 97 * np.arange(100)).astype(str),
        "sex": ["F", "M"] * 50,
        "illness": ["flu", "flu", "cold", "flu"] * 25,
        "remark": [f"came in on day {n} again" for n in range(100)],
    }
)


def remarks(at):
    found = [expander for expander in at.expander if " remark" in expander.label]
    if not found:
        return "", ""
    (one,) = found
    return one.label, "\n".join(text.value for text in one.markdown).replace("\\", "")


@pytest.mark.nightly
def test_the_roles_are_remarked_on_where_they_are_chosen(start):
    at = ui.upload(start(ui.DATA), "hundred.csv", ui.as_bytes(HUNDRED, "csv"))
    ui.give_role(at, "remark", "insensitive")
    label, said = remarks(at)
    assert label == (
        "2 remarks on these roles: columns that pass through; almost unique quasi-identifiers"
    )
    assert "100 values in 100 records, and on its own it singles out 100.0 %" in said
    assert "looks like free text" in said and "Make such a column an identifier" in said
    assert not at.warning, "no wall of boxes"
    ui.give_role(at, "born", "identifier")
    ui.give_role(at, "remark", "identifier")
    assert remarks(at) == ("", "")
    ui.give_role(at, "sex", "sensitive")
    assert remarks(at)[0].startswith("1 remark on these roles: sensitive columns that others may")

    dosed = HUNDRED.assign(dose=["1.5", "1.50"] * 50)[["illness", "sex", "dose"]]
    ui.give_role(ui.upload(at, "dosed.csv", ui.as_bytes(dosed, "csv")), "dose", "sensitive")
    label, said = remarks(at)
    assert label == "1 remark on these roles: values written in several ways"
    assert "'dose' has 1 value that is written in several ways (equal as numbers" in said
    assert "Clean such a column first" in said and "1.50" not in said


def test_a_release_is_remarked_on_above_its_tables(start):
    """Two of twelve people each are in a class of one disease or not: counted in the table."""
    at = ui.give_role(ui.with_people(start(ui.DATA)), "sex", "insensitive")
    ui.anonymised(at)
    label, said = remarks(at)
    done = ui.work(at).findings.result.release(ui.work(at).settings.k)
    assert label.startswith(f"{len(done.remarks)} remark") and "on this release" in label
    assert "'sex' passes into the release unchanged" in said
    for one in done.remarks:
        assert one.found in said
    assert not [value for value in ui.PEOPLE["disease"].unique() if value in said]
    assert not [one for one in at.get("download_button") if "these levels" in one.proto.label]
    ui.choose(at, "run-algorithm", "optimal")
    ui.anonymised(at)
    assert [one for one in at.get("download_button") if "these levels" in one.proto.label]


@pytest.fixture
def next_month(start):
    """A line was kept, and then next month's table came, with a zip that nobody had."""
    at = ui.go(start(), ui.COMPARE)
    ui.click(at, at.button(key="keep"))
    now = ui.work(at).table.records.frame
    table = now.assign(
        zip=["99999", *now["zip"][1:]], disease=["scurvy", *now["disease"][1:]], note="x"
    )
    ui.go(at, ui.DATA)
    return ui.go(ui.upload(at, "next.csv", ui.as_bytes(table, "csv")), ui.COMPARE)


@pytest.mark.nightly
def test_next_month_a_kept_plan_says_what_is_new_and_is_used(next_month):
    at = next_month
    (kept,) = ui.work(at).kept.configurations
    assert [(one.kind, one.column, one.stops) for one in kept.findings] == [
        ("unnamed-column", "note", False), ("new-values", "zip", True),
        ("new-categories", "disease", False),
    ]  # fmt: skip
    said = [text.value.replace("\\", "") for text in at.markdown]
    (listed,) = [sentence for sentence in said if "hierarchy lacks" in sentence]
    assert listed.startswith("- 'zip' has 1 value"), "what stops the plan comes first"
    assert all(one.sentence in listed for one in kept.findings)
    assert any(
        "is left out: its plan does not fit this table" in caption for caption in ui.captions(at)
    )
    shown = " ".join([*said, *ui.captions(at), *(info.value for info in at.info)])
    assert "99999" not in shown and "scurvy" not in shown
    (use,) = [button for button in at.button if (button.key or "").startswith("kept-use-")]
    ui.click(at, use)
    assert "settings are now those of" in ui.work(at).message.notice and not ui.problems(at)
    assert ui.work(at).table.roles == {**kept.plan.roles.roles, "note": "insensitive"}
    assert list(ui.work(at).table.choices["zip"].lacking) == ["99999"]
    ui.go(at, ui.ANONYMISE)
    assert any(
        "'zip' has no usable hierarchy yet" in warning.replace("\\", "")
        for warning in ui.warnings(at)
    )
