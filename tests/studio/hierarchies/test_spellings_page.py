"""Values that look like spellings of one, on the pages Data and Hierarchies."""

from __future__ import annotations

import pandas as pd
import pytest

from kanon.studio.hierarchies import page as hierarchies_page
from kanon.studio.session.hierarchy_choices import redone, undone
from support.dashboard import (
    HIERARCHIES,
    as_bytes,
    captions,
    choose,
    give_role,
    go,
    press,
    texts,
    upload,
    work,
)
from support.job_titles import job_titles

FEW = {"Nurse": 12, "Nurce": 1, "nurse": 2, "Painter": 9, "Printer": 8, "Cook": 5, "Carpenter": 8,
       "Carpentr": 2, "Nurse assistant": 1}  # fmt: skip


@pytest.fixture
def page(start, monkeypatch):
    monkeypatch.setattr(hierarchies_page, "tree_editor", lambda data, key, edited: None)
    return start("pages/data.py")


def with_jobs(at, counts):
    """A table with these job titles, looked at on Hierarchies; what Data said of them."""
    jobs = [job for job, records in counts.items() for _ in range(records)]
    table = pd.DataFrame(
        {"job": jobs, "sex": ["F", "M"] * (len(jobs) // 2) + ["F"] * (len(jobs) % 2)}
    )
    give_role(upload(at, "jobs.csv", as_bytes(table, "csv")), "job", "quasi-identifier")
    said = " ".join(captions(at))
    go(at, HIERARCHIES)
    at.button_group(key=f"tree-column-{work(at).version}").set_value("job")
    go(at)
    return said


def tree(at):
    return work(at).table.choices["job"].tree


def below(at, label):
    made = tree(at)
    node = made.node_of[label]
    return sorted(made.labels[made.first[node] : made.last[node]])


def test_spellings_that_differ_in_blanks_alone_do_not_look_the_same(page):
    said = with_jobs(page, {"Painter": 9, "Printer": 8, "Cook": 5})
    assert "spelling" not in said, "none is a typo"
    assert not any((one.key or "").startswith("spellings-") for one in page.button)
    go(page, "pages/data.py")
    with_jobs(page, {"Head nurse": 9, "Head  nurse": 3, "Head\u00a0nurse": 2, "Cook": 4})
    assert "Head nurse (9), Head␣␣nurse (3), Head␣nurse (2)" in texts(page)
    assert any("␣ is a blank" in said for said in captions(page))


def test_a_group_is_joined_by_its_button_and_one_undo_takes_it_back(page):
    assert "2 groups of values look like spellings of one" in with_jobs(page, FEW)
    before, cells = tree(page), work(page).table.records.counted("job").counts
    assert {"Nurse (12), nurse (2), Nurce (1)", "Carpenter (8), Carpentr (2)"} <= {*texts(page)}
    page.button(key="spellings-0").click()
    go(page)
    assert below(page, "NURSE") == ["Nurce", "Nurse", "nurse"]
    assert "Nurse (12), nurse (2), Nurce (1)" not in texts(page), "it is joined"
    assert "CARPENTER" not in tree(page).labels
    assert work(page).table.records.counted("job").counts == cells, "the table is as it was"
    assert undone(work(page), "job").table.choices["job"].tree == before
    assert redone(undone(work(page), "job"), "job").table.choices["job"].tree == tree(page)


def test_all_are_joined_by_one_press_and_taken_back_by_one_undo(page):
    counts, _ = job_titles()
    with_jobs(page, counts)
    before = tree(page)
    (label,) = [one.label for one in page.button if one.key == "spellings-all"]
    shown = [one for one in page.button if (one.key or "").startswith("spellings-")]
    assert len(shown) == 1 + 20, "of many groups a part has buttons"
    press(page, label)
    made = [label for label in tree(page).labels if label not in before.labels]
    assert label == f"Join all {len(made)} groups"
    series = pd.Series(counts)
    for group in made:
        assert series[below(page, group)].idxmax().casefold() == plain_name(group)
    assert not any((one.key or "").startswith("spellings-") for one in page.button)
    assert undone(work(page), "job").table.choices["job"].tree == before


def plain_name(group):
    return group.removesuffix(", any spelling").casefold()


def test_spellings_of_a_sensitive_column_are_joined_and_released_as_one(page):
    """A hierarchy is chosen on Data, its spellings are joined, and level 1 is released."""
    ill = ["I21.0"] * 5 + ["I210"] * 2 + ["Asthma"] * 3 + ["ASTHMA"] * 2
    table = pd.DataFrame({"ill": ill, "sex": ["F", "M"] * 6})
    give_role(upload(page, "ill.csv", as_bytes(table, "csv")), "ill", "sensitive")
    assert "spellings" not in " ".join(captions(page))
    choose(page, f"coarse-{work(page).version}-0-builder", "suppression")
    assert "2 groups of values look like spellings of one" in " ".join(captions(page))
    go(page, HIERARCHIES)
    page.button_group(key=f"tree-column-{work(page).version}").set_value("ill")
    go(page)
    press(page, "Join all 2 groups")
    released = work(page).table.coarse_records.counted("ill").counts
    assert released == {"i21.0": 7, "asthma": 5}
