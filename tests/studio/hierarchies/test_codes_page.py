"""The builder of codes on the page Hierarchies, from the proposal to the plan and back."""

import pandas as pd
import pytest

from kanon.studio.hierarchies import page as hierarchies_page
from support import dashboard as ui

ICD = ["E11.9", "E11.72", "J45.0", "J45.1", "I10", "I21.0", "K35", "K80.2", "M54.5", "F32.1",
       "U07.1", "E10.9", "J44.1", "Z00"]  # fmt: skip
DIAGNOSED = pd.concat([ui.PEOPLE, ui.PEOPLE.head(2)]).assign(icd=ICD)
BLOCKS = "E10;E14;E10–E14 Diabetes"


@pytest.fixture
def page(start, monkeypatch):
    monkeypatch.setattr(hierarchies_page, "draw_tree_editor", lambda data, key, edited: None)
    at = ui.with_people(start("pages/data.py"), DIAGNOSED)
    ui.give_role(at, "icd", "quasi-identifier")
    ui.go(at, ui.HIERARCHIES)
    return ui.enter(at, at.button_group(key=f"tree-column-{ui.work(at).version}"), "icd")


def parents(at, value):
    tree = ui.work(at).table.choices["icd"].tree
    return [tree.labels[node] for node in tree.path(tree.node_of[value])][1:]


@pytest.mark.nightly
def test_codes_start_in_the_chapters_and_typed_ranges_take_their_place(page):
    chosen = ui.work(page).table.choices["icd"]
    assert chosen.builder == "codes"
    assert parents(page, "J45.0")[1] == "J00–J99 Diseases of the respiratory system"
    prefix = f"build-{ui.work(page).version}-{ui.work(page).table.quasi_identifiers.index('icd')}"
    ui.choose(page, f"{prefix}-builder-None", "codes")
    field = f"{prefix}-ranges"
    ui.enter(page, page.text_area(key=field), "E10;E14;x;y")
    assert "Line 1 of the ranges" in ui.problems(page)[0]
    ui.enter(page, page.text_area(key=field), BLOCKS)
    assert any(
        "are outside all ranges and directly under the root" in one for one in ui.captions(page)
    )
    ui.press(page, "Use it")
    assert parents(page, "E11.72") == ["E11", "E10–E14 Diabetes", "*"]
    assert parents(page, "J45.0") == ["J45", "*"]
