"""Values that look like spellings of one, on the pages Data and Hierarchies."""

import pandas as pd
import pytest

from kanon.studio.hierarchies import page as hierarchies_page
from kanon.studio.session.hierarchy_choices import redo_hierarchy, undo_hierarchy
from support import dashboard as ui
from support.job_titles import job_titles

FEW = {"Nurse": 12, "Nurce": 1, "nurse": 2, "Painter": 9, "Printer": 8, "Cook": 5, "Carpenter": 8,
       "Carpentr": 2, "Nurse assistant": 1}  # fmt: skip


@pytest.fixture
def page(start, monkeypatch):
    monkeypatch.setattr(hierarchies_page, "draw_tree_editor", lambda data, key, edited: None)
    return start("pages/data.py")


def with_jobs(at, counts):
    """A table with these job titles, looked at on Hierarchies; what Data said of them."""
    jobs = [job for job, records in counts.items() for _ in range(records)]
    table = pd.DataFrame(
        {"job": jobs, "sex": ["F", "M"] * (len(jobs) // 2) + ["F"] * (len(jobs) % 2)}
    )
    ui.give_role(ui.upload(at, "jobs.csv", ui.as_bytes(table, "csv")), "job", "quasi-identifier")
    said = " ".join(ui.captions(at))
    ui.go(at, ui.HIERARCHIES)
    ui.enter(at, at.button_group(key=f"tree-column-{ui.work(at).version}"), "job")
    return said


def tree(at):
    return ui.work(at).table.choices["job"].tree


def below(at, label):
    made = tree(at)
    node = made.node_of[label]
    return sorted(made.labels[made.first[node] : made.last[node]])


@pytest.mark.nightly
def test_spellings_that_differ_in_blanks_alone_do_not_look_the_same(page):
    said = with_jobs(page, {"Painter": 9, "Printer": 8, "Cook": 5})
    assert "spelling" not in said, "none is a typo"
    assert not any((one.key or "").startswith("spellings-") for one in page.button)
    ui.go(page, "pages/data.py")
    with_jobs(page, {"Head nurse": 9, "Head  nurse": 3, "Head\u00a0nurse": 2, "Cook": 4})
    assert "Head nurse (9), Head␣␣nurse (3), Head␣nurse (2)" in ui.texts(page)
    assert any("␣ is a blank" in said for said in ui.captions(page))


@pytest.mark.nightly
def test_a_group_is_joined_by_its_button_and_one_undo_takes_it_back(page):
    assert "2 groups of values look like spellings of the same thing" in with_jobs(page, FEW)
    before, cells = tree(page), ui.work(page).table.records.count_column_values("job").counts
    assert {"Nurse (12), nurse (2), Nurce (1)", "Carpenter (8), Carpentr (2)"} <= {*ui.texts(page)}
    ui.click(page, page.button(key="spellings-0"))
    assert below(page, "NURSE") == ["Nurce", "Nurse", "nurse"]
    assert "Nurse (12), nurse (2), Nurce (1)" not in ui.texts(page), "it is joined"
    assert "CARPENTER" not in tree(page).labels
    assert ui.work(page).table.records.count_column_values("job").counts == cells, (
        "the table is as it was"
    )
    assert undo_hierarchy(ui.work(page), "job").table.choices["job"].tree == before
    assert redo_hierarchy(undo_hierarchy(ui.work(page), "job"), "job").table.choices[
        "job"
    ].tree == tree(page)


@pytest.mark.nightly
def test_all_are_joined_by_one_press_and_taken_back_by_one_undo(page):
    counts, _ = job_titles()
    with_jobs(page, counts)
    before = tree(page)
    (label,) = [one.label for one in page.button if one.key == "spellings-all"]
    shown = [one for one in page.button if (one.key or "").startswith("spellings-")]
    assert len(shown) == 1 + 20, "of many groups a part has buttons"
    ui.press(page, label)
    made = [label for label in tree(page).labels if label not in before.labels]
    assert label == f"Join all {len(made)} groups"
    series = pd.Series(counts)
    for group in made:
        assert series[below(page, group)].idxmax().casefold() == plain_name(group)
    assert not any((one.key or "").startswith("spellings-") for one in page.button)
    assert undo_hierarchy(ui.work(page), "job").table.choices["job"].tree == before


def plain_name(group):
    return group.removesuffix(", any spelling").casefold()


@pytest.mark.nightly  # in every run: privacy/test_spellings.py
def test_spellings_of_a_sensitive_column_are_joined_and_released_as_one(page):
    """A hierarchy is chosen on Data, its spellings are joined, and level 1 is released."""
    ill = ["I21.0"] * 5 + ["I210"] * 2 + ["Asthma"] * 3 + ["ASTHMA"] * 2
    table = pd.DataFrame({"ill": ill, "sex": ["F", "M"] * 6})
    ui.give_role(ui.upload(page, "ill.csv", ui.as_bytes(table, "csv")), "ill", "sensitive")
    assert "spellings" not in " ".join(ui.captions(page))
    ui.choose(page, f"coarse-{ui.work(page).version}-0-builder", "suppression")
    assert "2 groups of values look like spellings of the same thing" in " ".join(ui.captions(page))
    ui.go(page, ui.HIERARCHIES)
    ui.enter(page, page.button_group(key=f"tree-column-{ui.work(page).version}"), "ill")
    ui.press(page, "Join all 2 groups")
    released = ui.work(page).table.released_level_records.count_column_values("ill").counts
    assert released == {"i21.0": 7, "asthma": 5}
