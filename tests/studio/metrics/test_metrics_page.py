"""The page Metrics, driven by AppTest: cost matrices, metrics of one's own, columns that count."""

import json

import numpy as np
import pytest

from kanon.hierarchy import Hierarchy
from kanon.schema import Role
from kanon.studio.metrics import page as metrics_page
from kanon.studio.metrics.page import MatrixView
from kanon.studio.session.hierarchy_choices import set_role
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_uploaded_table
from kanon.studio.widgets.tree_edits import set_tree
from support import dashboard as ui


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn: the trees with their lit path, and the matrices, newest last."""
    asked = {"trees": [], "matrices": []}
    monkeypatch.setattr(
        metrics_page, "draw_tree_editor", lambda data, **_: asked["trees"].append(data)
    )
    monkeypatch.setattr(
        metrics_page, "draw_cost_matrix", lambda figure, *_: asked["matrices"].append(figure)
    )
    return asked


@pytest.fixture
def page(start, drawn):
    return start(ui.METRICS_PAGE, sample="animals-m23")


def cells(drawn):
    """The numbers of the heat maps on the page."""
    return [np.array(trace.z, dtype=float) for trace in drawn["matrices"][-1].data]


def mode(at, name):
    return ui.enter(at, at.button_group(key="costs-mode"), name)


def look_at(at, column):
    return ui.choose(at, f"costs-column-{ui.work(at).version}", column)


def pick(at, end, node):
    """Choose one end of a cell in its list, by the number of its row."""
    return ui.choose(at, f"costs-cell-{end}-{ui.work(at).version}", node)


MAMMAL_NODES = [("Mammal", None, None), ("Felid", "Mammal", 3), ("Dog", "Mammal", 4),
                ("Cat", "Felid", 1), ("Lion", "Felid", 1)]  # fmt: skip
MAMMALS = [[0, 1, 4, 1, 4], [1, 0, 4, 1, 4], [4, 4, 0, 4, 4], [0, 0, 3, 0, 3], [0, 0, 0, 0, 0]]


def upload_tree(at, column, values, entries):
    """Work on a table of one column with the hierarchy of these nodes, parents and weights."""
    table = open_uploaded_table("\n".join([column, *values]).encode(), "values.csv", 2)
    work = set_role(table, column, Role.QUASI_IDENTIFIER)
    at.session_state[ui.WORK] = set_tree(work, column, Hierarchy.from_entries(entries))
    ui.go(at, ui.METRICS_PAGE)
    return ui.choose(at, "costs-first", "custom")


def shown_in_order(at, drawn, column, labels):
    place = ui.work(at).table.trees[column].node_of
    order = [place[label] for label in labels]
    return cells(drawn)[0][np.ix_(order, order)].tolist()


def test_entropy_counts_the_records_of_the_table(start, drawn):
    """Four cats, two lions, two dogs: a cat among felids loses log2(6 / 4) bits."""
    at = upload_tree(start(), "race", ["Cat"] * 4 + ["Lion"] * 2 + ["Dog"] * 2, MAMMAL_NODES)
    ui.choose(at, "costs-first", "entropy")
    found = shown_in_order(at, drawn, "race", ["Cat", "Lion", "Dog", "Felid", "Mammal"])
    cat, lion, felid = np.log2(6 / 4), np.log2(6 / 2), np.log2(8 / 6)
    assert np.allclose(
        found,
        [
            [0, cat, 1, cat, 1],
            [lion, 0, 2, lion, 2],
            [2, 2, 0, 2, 2],
            [0, 0, felid, 0, felid],
            [0, 0, 0, 0, 0],
        ],
    )
    assert "log2(count(x′) / count(x))" in ui.page_text(at)
    assert "the records at a node" in ui.page_text(at)
    assert drawn["trees"][-1]["weights"][:3] == ["0.585", "1.585", "2.000"]


def test_the_example_of_the_paper_is_shown_exactly_and_a_cell_lights_up_its_path(start, drawn):
    """Mauger et al. 2023, Example 1."""
    at = upload_tree(start(), "race", ["Cat", "Lion", "Dog"], MAMMAL_NODES)
    order = ["Cat", "Lion", "Dog", "Felid", "Mammal"]
    assert shown_in_order(at, drawn, "race", order) == MAMMALS
    assert len(cells(drawn)[0]) == 5
    labels = ui.work(at).table.trees["race"].labels
    pick(at, 0, labels.index("Cat"))
    pick(at, 1, labels.index("Dog"))
    assert "Custom: Cat → Felid → Mammal: 1 + 3 = 4" in ui.page_text(at)
    lit = [drawn["trees"][-1]["labels"][node] for node in drawn["trees"][-1]["lit"]]
    assert lit == ["Cat", "Felid", "Mammal"]
    pick(at, 0, labels.index("Mammal"))
    assert "Custom: Mammal: 0" in ui.page_text(at)


def test_the_unbalanced_tree_of_the_first_paper_is_shown_exactly(start, drawn):
    nodes = [("*", None, None), ("A", "*", 10), ("B", "*", 20), ("f", "*", 7), ("a", "A", 1),
             ("b", "A", 2), ("c", "A", 3), ("d", "B", 4), ("e", "B", 5)]  # fmt: skip
    at = upload_tree(start(), "letter", list("abcdef"), nodes)
    order = [*"abcdef", "A", "B", "*"]
    assert shown_in_order(at, drawn, "letter", order) == [
        [0, 1, 1, 11, 11, 11, 1, 11, 11],
        [2, 0, 2, 12, 12, 12, 2, 12, 12],
        [3, 3, 0, 13, 13, 13, 3, 13, 13],
        [24, 24, 24, 0, 4, 24, 24, 4, 24],
        [25, 25, 25, 5, 0, 25, 25, 5, 25],
        [7, 7, 7, 7, 7, 0, 7, 7, 7],
        [0, 0, 0, 10, 10, 10, 0, 10, 10],
        [20, 20, 20, 0, 0, 20, 20, 0, 20],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    data = drawn["trees"][-1]
    parent = {label: data["parents"][node] for node, label in enumerate(data["labels"])}
    assert data["labels"][parent["f"]] == "*" and data["weights"][data["labels"].index("f")] == "7"


@pytest.mark.nightly
def test_one_two_and_the_difference(page, drawn):
    assert ui.title(page) == "What does blurring cost?"
    look_at(page, "race")
    ui.choose(page, "costs-first", "wllm")
    held = ui.work(page).table.trees["race"]
    assert f"nl(root) = {held.n_leaves} values, h = {held.height}" in ui.page_text(page)
    assert "w1 = " in ui.page_text(page)
    assert "a leaf has none, nl = 0" in ui.page_text(page)
    ui.choose(page, "costs-first", "general-loss")
    assert "with nl(leaf) = 1" in ui.page_text(page)
    assert "nl counts the values that a node stands for" in ui.page_text(page)

    ui.choose(page, "costs-first", "ncp")
    assert len(cells(drawn)) == 1
    one = cells(drawn)[0]
    mode(page, "two")
    ui.choose(page, "costs-second", "total")
    first, second = cells(drawn)
    assert first.tolist() == one.tolist() and first.tolist() != second.tolist()
    scales = [(trace.zmin, trace.zmax, trace.coloraxis) for trace in drawn["matrices"][-1].data]
    assert scales[0] == scales[1]
    mode(page, "difference")
    (apart,) = cells(drawn)
    assert apart == pytest.approx(first - second)
    ui.enter(page, page.toggle(key="costs-share"), True)
    assert ui.work(page).view(MatrixView).share and not page.exception

    column = ui.work(page).table.quasi_identifiers[0]
    for weight, other, counted in ((1, "4", {column: 4.0}), (4, "1", {})):
        key = f"attribute-weight-{ui.work(page).version}-0-{weight}"
        ui.enter(page, page.text_input(key=key), other)
        assert build_plan(ui.work(page)).algorithm.attribute_weights == counted
        assert (f"counts: {column} × 4" in ui.line(page)) == bool(counted)


def compose(at, name, intermediate="levels", multiplier="w2"):
    ui.choose(at, "compose-intermediate", intermediate)
    ui.choose(at, "compose-multiplier", multiplier)
    at.text_input(key=f"compose-name-{len(ui.work(at).settings.composed)}").set_value(name)
    return ui.press(at, "Save metric")


@pytest.mark.nightly
def test_a_composed_metric_is_chosen_like_any_other(page, drawn):
    ui.choose(page, "compose-intermediate", "leaves-normalised")
    ui.choose(page, "compose-multiplier", "w2")
    assert "which is NLLM." in ui.page_text(page)
    compose(page, "mine")
    assert ui.problems(page) == []
    assert "ω(x, x′) = ((level(x′) − level(x)) / (h − 1)) · w2" in ui.page_text(page)
    ui.choose(page, "costs-first", "mine")
    ui.go(page, ui.ANONYMISE)
    ui.choose(page, "run-metric", "mine")
    at = ui.anonymised(page)
    assert ui.work(at).findings.result.prepared.plan.metric.name == "mine"
    content = json.loads(build_plan(ui.work(at)).to_json())
    assert content["metrics"] == {"mine": {"intermediate": "levels", "multiplier": "w2"}}
    ui.go(at, ui.COMPARE)
    assert "mine" in at.button_group(key="compare-metrics").options
    at.button_group(key="compare-metrics").set_value(["ncp", "mine"])
    ui.settled(ui.press(ui.go(at), "Compare"))
    assert len(ui.work(at).findings.comparison.comparison.lines) == 2
    ui.go(at, ui.HIERARCHIES)
    assert "Weights: mine" in at.selectbox(key=f"tree-shown-{ui.work(at).version}").options
    ui.go(at, ui.METRICS_PAGE)
    ui.press(at, "Remove")
    assert ui.work(at).settings.metric == "nllm" and ui.work(at).findings.comparison is None
    compose(at, "**![x](http://a.b)**")
    assert ui.problems(at) == []
    assert "http://" not in " ".join(one.value for one in at.markdown), "a name is text"
    ui.go(at, ui.ANONYMISE)
