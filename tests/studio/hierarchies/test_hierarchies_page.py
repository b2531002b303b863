"""The page Hierarchies, driven by AppTest; what the browser draws is handed over by hand."""

import io
import zipfile

import pandas as pd
import pytest

from kanon.hierarchy.bundle import write_bundle
from kanon.hierarchy.edit import remove_leaves
from kanon.hierarchy.graphs import write_graphml, write_node_link
from kanon.studio.hierarchies import page as hierarchies_page
from kanon.studio.session.hierarchy_choices import set_builder
from kanon.studio.session.run_plan import apply_plan, build_plan
from kanon.studio.session.table_loading import open_sample
from kanon.studio.widgets import tree_edits
from support import dashboard as ui


@pytest.fixture
def drawn(monkeypatch):
    """What the component is asked to draw, newest last, and where its operations go."""
    asked = []
    monkeypatch.setattr(
        hierarchies_page,
        "draw_tree_editor",
        lambda data, key, edited: asked.append((data, key, edited)),
    )
    return asked


@pytest.fixture
def page(start, drawn):
    return start(ui.HIERARCHIES)


def operate(at, drawn, kind, **what):
    """Send an operation, as the browser does; nodes are named by their labels."""
    data, key, _ = drawn[-1]
    assert key == "tree-editor" and data["editable"]
    place = {label: node for node, label in enumerate(data["labels"])}
    for name in ("nodes", "node", "to"):
        if name in what:
            given = what[name]
            what[name] = [place[one] for one in given] if isinstance(given, list) else place[given]
    named = {"id": f"{kind}{data['version']}", "about": data["about"], "base": data["version"]}
    operation = {**named, "kind": kind, **what}
    at.session_state[ui.WORK] = tree_edits.apply_operation(ui.work(at), operation)
    return ui.go(at)


def look_at(at, column):
    return ui.enter(at, at.button_group(key=f"tree-column-{ui.work(at).version}"), column)


def typed(at, field, text):
    return ui.enter(at, at.text_input(key=f"build-{ui.work(at).version}-{place(at)}-{field}"), text)


def place(at):
    return ui.work(at).table.quasi_identifiers.index(ui.work(at).looked_at)


def builder(at, name):
    preview = ui.work(at).table.previews.get(ui.work(at).looked_at)
    chosen = None if preview is None else preview.builder
    return ui.choose(at, f"build-{ui.work(at).version}-{place(at)}-builder-{chosen}", name)


# --- the drawing ------------------------------------------------------------------------------
@pytest.mark.nightly
def test_what_is_drawn_survives_a_page_change_is_undone_and_released(page, drawn):
    assert ui.title(page) == "How may each value be blurred?"
    data, _, _ = drawn[-1]
    assert data["labels"][-1] == "*" and data["records"][-1] == "10"
    assert "Every value has a place" in ui.page_text(page)
    look_at(page, "sex")
    assert ui.work(page).looked_at == "sex" and drawn[-1][0]["about"] != data["about"]
    before = ui.work(page).table.choices["sex"].tree
    operate(page, drawn, "rename", node="*", name=" ")
    assert drawn[-1][0]["bad"] and "name" in drawn[-1][0]["said"], "a refusal stands there"
    assert ui.work(page).table.choices["sex"].tree is before and ui.problems(page) == []

    first, second, *_ = before.labels
    operate(page, drawn, "group", nodes=[first, second], name="Either")
    assert "Either" in drawn[-1][0]["labels"] and drawn[-1][0]["undo"] == 1
    ui.go(page, ui.ANONYMISE)
    ui.go(page, ui.HIERARCHIES)
    assert drawn[-1][0]["undo"] == 1 and ui.work(page).looked_at == "sex"
    operate(page, drawn, "undo")
    assert ui.work(page).table.choices["sex"].tree == before and drawn[-1][0]["redo"] == 1

    operate(page, drawn, "rename", node="*", name="Anybody")
    assert not any(one.label == "Undo" for one in page.button), "the drawing has its own"
    ui.enter(page, page.button_group(key="tree-view"), "levels")
    ui.press(page, "Undo")
    assert ui.work(page).table.choices["sex"].tree == before
    assert ui.button(page, "Undo").disabled
    ui.press(page, "Redo")
    assert open_sample("hospital").table.choices["sex"].tree.labels[-1] == "*", "the sample stays"
    at = ui.anonymised(ui.go(page, ui.ANONYMISE))
    assert set(ui.work(at).findings.result.release(10).released()["sex"]) == {"Anybody"}


@pytest.mark.nightly
def test_a_line_of_the_page_data_leads_to_its_drawing(start, drawn):
    at = start(ui.DATA)
    ui.click(at, at.button(key=ui.key_of(at, "zip", "draw")))
    assert ui.work(at).looked_at == "zip"
    ui.go(at, ui.HIERARCHIES)
    assert "zip" in drawn[-1][0]["about"]
    drawn.clear()
    ui.upload(
        ui.go(at, ui.DATA), "notes.csv", ui.as_bytes(pd.DataFrame({"note": ["x", "y", "x"]}), "csv")
    )
    ui.go(at, ui.HIERARCHIES)
    assert any("No column is a quasi-identifier yet" in one.value for one in at.info)
    assert ui.work(at).table.quasi_identifiers == [] and drawn == []


# --- coverage ---------------------------------------------------------------------------------
def test_a_value_without_a_place_is_named_and_added_in_a_click(page, drawn):
    look_at(page, "sex")
    full = ui.work(page).table.choices["sex"].tree
    gone = full.labels[0]
    page.session_state[ui.WORK] = tree_edits.set_tree(
        ui.work(page), "sex", remove_leaves(full, [gone])
    )
    ui.go(page)
    assert "1 value of" in ui.page_text(page) and gone in ui.page_text(page)
    assert "can be used once they have one" in ui.page_text(page)
    ui.press(ui.go(page, ui.ANONYMISE), "Anonymise")
    assert ui.problems(page) == ["'sex' has no usable hierarchy yet; see the Hierarchies page."]
    ui.go(page, ui.HIERARCHIES)
    ui.press(page, "Add 1 value")
    assert "Every value has a place" in ui.page_text(page)
    assert ui.work(page).table.choices["sex"].plan is not None


# --- builders ---------------------------------------------------------------------------------
def test_a_builder_is_a_preview_until_it_is_used(page, drawn):
    look_at(page, "age")
    before = ui.work(page).table.choices["age"].tree
    builder(page, "intervals")
    data, key, _ = drawn[-1]
    assert key == "tree-preview" and not data["editable"]
    assert "Preview, not in use yet" in ui.page_text(page)
    typed(page, "widths", "five")
    assert "not 'five'" in ui.problems(page)[0] and ui.button(page, "Use it").disabled
    ui.go(page, ui.ANONYMISE)
    ui.go(page, ui.HIERARCHIES)
    key = f"build-{ui.work(page).version}-{place(page)}-widths"
    assert page.text_input(key=key).value == "five", "it survives an error and another page"
    ui.press(page, "Discard")
    assert ui.problems(page) == [] and drawn[-1][1] == "tree-editor"

    ui.press(page, "Suggest one from the data")
    assert ui.work(page).table.choices["age"].tree is before
    assert "age" in ui.work(page).table.previews
    assert any(ui.work(page).table.previews["age"].notes[0] in one for one in ui.captions(page))
    ui.press(page, "Use it")
    suggested = ui.work(page).table.choices["age"].tree
    assert suggested is not before

    builder(page, "intervals")
    typed(page, "widths", "7, 14")
    assert ui.work(page).table.choices["age"].tree is suggested
    ui.press(page, "Use it")
    assert ui.work(page).table.choices["age"].builder == "intervals"
    assert ui.work(page).table.choices["age"].typed["widths"] == "7, 14"
    assert drawn[-1][1] == "tree-editor"
    operate(page, drawn, "undo")
    assert ui.work(page).table.choices["age"].tree == suggested


# --- tables -----------------------------------------------------------------------------------
def test_the_tables_show_the_same_tree_and_pasted_lines_become_one(page, drawn):
    tree = ui.work(page).table.choices["age"].tree
    for view, rows in (("levels", tree.n_leaves), ("edges", tree.n_nodes - 1)):
        ui.enter(page, page.button_group(key="tree-view"), view)
        assert ui.work(page).shared.tree_view == view
        assert ui.button(page, "Apply the table").disabled
        (table,) = page.get("arrow_data_frame") or page.dataframe
        assert len(table.value) == rows

    look_at(page, "sex")
    key = f"tree-pasted-{ui.work(page).version}-sex"
    page.text_area(key=key).set_value("F\tAny\t*\nM\tAny")
    ui.press(page, "Add these lines")
    assert len(ui.problems(page)) == 1 and page.text_area(key=key).value == "F\tAny\t*\nM\tAny"
    tree = ui.work(page).table.choices["sex"].tree
    leaves = tree.labels[: tree.n_leaves]
    page.text_area(key=key).set_value("\n".join(f"{leaf}\tAny\t*" for leaf in leaves))
    ui.press(page, "Add these lines")
    assert ui.problems(page) == [] and "Any" in ui.work(page).table.choices["sex"].tree.labels


# --- files ------------------------------------------------------------------------------------
def drop(at, *files):
    return ui.enter(
        at,
        at.file_uploader(key=f"tree-files-{ui.work(at).version}-{ui.work(at).shared.uploads}"),
        [(name, content, "text/plain") for name, content in files],
    )


@pytest.mark.nightly
def test_a_value_that_looks_like_a_leaf_takes_its_place_by_a_press(start, drawn):
    at = start(ui.DATA)
    apart = "Jose\u0301"
    people = pd.DataFrame({"name": [apart, "Ana"] * 6, "sex": ["F", "M"] * 6})
    ui.upload(at, "people.csv", ui.as_bytes(people, "csv"))
    ui.give_role(at, "name", "quasi-identifier")
    ui.go(at, ui.HIERARCHIES)
    drop(at, ("name.csv", "Jos\u00e9;men;*\nAna;women;*\n".encode("cp1252")))
    ui.press(at, "Use 1 hierarchy")
    look_at(at, "name")
    assert ui.work(at).table.choices["name"].lacking == {apart: 6}
    ui.press(at, "Treat 1 value as its lookalike")
    choice = ui.work(at).table.choices["name"]
    assert choice.plan is not None and not choice.unused_values
    assert choice.tree.labels == (apart, "Ana", "men", "women", "*")


@pytest.mark.nightly
def test_files_of_hierarchies_come_back_as_they_were(page, drawn):
    """A ZIP of all, and both kinds of graphs, which are offered; they hold the tree's weights."""
    trees = ui.work(page).table.trees
    content = write_bundle(trees)
    assert len(zipfile.ZipFile(io.BytesIO(content)).namelist()) == 2 * len(trees)
    operate(page, drawn, "rename", node="*", name="Changed")
    drop(page, ("hierarchies.zip", content))
    ui.press(page, f"Use {len(trees)} hierarchies")
    assert ui.work(page).table.trees == trees

    ui.choose(page, f"tree-shown-{ui.work(page).version}", "nllm")
    ui.press(page, "Copy as my weights")
    column, tree = ui.work(page).looked_at, ui.work(page).table.trees[ui.work(page).looked_at]
    offered = {one.proto.id.rpartition("-")[2] for one in page.get("download_button")}
    assert {"graph", "graphml"} <= offered
    for name, text in (
        (f"graph_hierarchy_{column}-0123456789ab.json", write_node_link(tree)),
        (f"hierarchy_{column}.graphml", write_graphml(tree)),
    ):
        operate(page, drawn, "rename", node="*", name=f"Before {name[:5]}")
        drop(page, (name, text.encode()))
        ui.press(page, "Use 1 hierarchy")
        assert ui.work(page).table.trees[column] == tree and tree.weight is not None

    csv = b"F;*\nM;*\n"
    drop(page, ("one.csv", csv), ("two.csv", csv))
    assert [waiting.column for waiting in ui.work(page).table.imports] == [None, None]
    assert ui.button(page, "Use 0 hierarchies").disabled
    ui.choose(page, f"import-{ui.work(page).version}-{ui.work(page).shared.uploads}-1", "sex")
    ui.press(page, "Use 1 hierarchy")
    assert ui.work(page).table.choices["sex"].typed["name"] == "two.csv"


# --- weights ----------------------------------------------------------------------------------
def test_the_weights_of_a_metric_become_the_users_own(page, drawn):
    assert drawn[-1][0]["weights"] is None
    ui.choose(page, f"tree-shown-{ui.work(page).version}", "llm")
    assert drawn[-1][0]["weights"] is not None and drawn[-1][0]["weighable"]
    ui.press(page, "Copy as my weights")
    assert all(one.weight is not None for one in ui.work(page).table.trees.values())
    assert ui.work(page).shared.shown == tree_edits.DRAWN
    ui.go(page, ui.COMPARE)
    assert "Custom" in page.button_group(key="compare-metrics").options
    ui.go(page, ui.HIERARCHIES)
    ui.press(page, "Delete my weights")
    assert ui.work(page).table.trees[ui.work(page).looked_at].weight is None


@pytest.mark.nightly
def test_a_single_weight_leads_to_the_metric_custom(page, drawn):
    ui.choose(page, f"tree-shown-{ui.work(page).version}", "ncp")
    operate(page, drawn, "weigh", node=drawn[-1][0]["labels"][0], weight="9")
    others = [name for name in ui.work(page).table.trees if name != ui.work(page).looked_at]
    assert any(others[0] in one and "none yet" in one for one in ui.captions(page))
    first, columns = ui.work(page).looked_at, f"tree-column-{ui.work(page).version}"
    ui.enter(page, page.button_group(key=columns), others[0])
    ui.choose(page, f"tree-shown-{ui.work(page).version}", "nllm")
    ui.press(page, "Copy as my weights")
    assert ui.work(page).table.trees[first].weight[0] == 9, "what was drawn stays"
    ui.choose(ui.go(page, ui.ANONYMISE), "run-metric", "custom")
    ui.anonymised(page)
    assert ui.work(page).findings.result.prepared.plan.metric.name == "custom"


def test_level_bounds_are_set_beside_the_levels_and_reach_the_plan(page):
    column = ui.work(page).looked_at
    assert not page.slider
    ui.enter(page, page.button_group(key="tree-view"), "levels")
    (slider,) = page.slider
    top = ui.work(page).table.trees[column].height - 1
    assert slider.value == (0, top) and build_plan(ui.work(page)).level_bounds == {}
    ui.enter(page, slider, (1, top))
    bounds = build_plan(ui.work(page)).level_bounds[column]
    assert (bounds.least, bounds.most) == (1, None)
    ui.enter(page, page.slider[0], (1, top - 1))
    bounds = build_plan(ui.work(page)).level_bounds[column]
    assert (bounds.least, bounds.most) == (1, top - 1)
    opened = apply_plan(open_sample("hospital"), build_plan(ui.work(page)))
    assert opened.settings.level_bounds == {column: (1, top - 1)}
    # A tree of fewer levels takes the bounds that fit.
    lower = set_builder(ui.work(page), column, "suppression", {})
    assert build_plan(lower).level_bounds[column].model_dump() == {"least": 1, "most": None}
