"""Hierarchies as tables: a row per leaf, a row per edge, and pasted text."""

import csv

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy.build import groups, suppression
from kanon.hierarchy.edit import with_weights
from kanon.hierarchy.files import parse_csv, to_csv
from kanon.hierarchy.lines import write_tree_lines
from kanon.hierarchy.tables import (
    build_edge_table,
    build_level_table,
    read_edge_table,
    read_level_table,
    read_pasted_tree,
)
from support.labelled_trees import labelled_trees
from support.paths import ROOT
from support.random_tables import examples, trees

AGE = ROOT / "hierarchies" / "adult" / "age.csv"
ZOO = groups([{"Felid": ["Cat", "Lion"]}, {"*": ["Felid", "Dog"]}])
EITHER = labelled_trees(max_nodes=10) | labelled_trees(max_nodes=10, weighted=True)


def refused(read, *arguments) -> str:
    with pytest.raises(HierarchyError) as caught:
        read(*arguments)
    error = caught.value
    assert error.sentence.endswith(".") and "\n" not in error.sentence
    if error.cells:
        assert "(value withheld)" in str(error)
        assert not any(str(cell) in str(error) for cell in error.cells if len(str(cell)) > 2)
    return error.sentence


# --- A row per leaf -----------------------------------------------------------------------------
@examples(200)
@given(EITHER)
def test_a_tree_survives_its_levels(plain):
    tree = plain.build()
    table = build_level_table(tree)
    assert table.to_numpy().tolist() == write_tree_lines(tree)
    assert list(table.columns) == ["leaf", *(f"level {c}" for c in range(1, tree.height))]
    assert read_level_table(table, tree) == tree
    assert read_level_table(table) == with_weights(tree, None)


@examples(200)
@given(labelled_trees(max_nodes=10), st.data())
def test_blank_cells_repeat_and_blank_rows_and_columns_count_for_nothing(plain, data):
    tree = plain.build()
    assume(tree.height > 1)
    table = build_level_table(tree)
    blank = st.sampled_from([None, "", "  ", np.nan, pd.NA])
    cells = table.to_numpy().tolist()
    for row in cells:
        kept = row.copy()
        for column in range(1, len(row) - 1):
            if kept[column] == kept[column - 1] and data.draw(st.booleans()):
                row[column] = data.draw(blank)
    named = data.draw(st.integers(0, len(cells) - 1))
    for row in cells[:named] + cells[named + 1 :]:
        row[-1] = data.draw(blank)
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(cells)))
        cells.insert(place, [data.draw(blank) for _ in range(tree.height)])
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, tree.height))
        for row in cells:
            row.insert(place, data.draw(blank))
    assert read_level_table(pd.DataFrame(cells, dtype=object)) == tree


def test_levels_by_hand():
    assert build_level_table(ZOO).to_csv(index=False).splitlines() == [
        "leaf,level 1,level 2", "Cat,Felid,*", "Lion,Felid,*", "Dog,Dog,*",
    ]  # fmt: skip
    ages = pd.DataFrame({"leaf": [17.0, 18.0], "level 1": ["teen", None], "level 2": ["*", None]})
    assert read_level_table(ages).labels == ("17", "18", "teen", "*")
    one = pd.DataFrame({"leaf": ["a"]})
    assert read_level_table(one).labels == ("a",)
    assert build_level_table(read_level_table(one)).equals(one.astype(object))


def test_what_was_drawn_stays_where_the_edge_stays():
    tree = with_weights(ZOO, np.array([1, 2, 5, 4, 0]))  # Cat, Lion, Dog, Felid, *
    table = build_level_table(tree)
    table.loc[len(table)] = ["Tiger", "Felid", "*"]  # the heaviest edge below Felid weighs 2
    table.loc[len(table)] = ["Wolf", "Canid", "*"]  # none below Canid is known; below *, 5
    table.loc[2, "level 1"] = "Canid"  # Dog hangs elsewhere now
    edited = read_level_table(table, tree)
    weight = dict(zip(edited.labels, edited.weight.tolist(), strict=True))
    assert weight == {"Cat": 1, "Lion": 2, "Tiger": 2, "Felid": 4, "Dog": 1, "Wolf": 1,
                      "Canid": 4, "*": 0}  # fmt: skip
    assert read_level_table(table, ZOO).weight is None


BAD_LEVELS = {
    "nothing": ([], "no rows"),
    "blanks": ([["", None], [" ", np.nan]], "no rows"),
    "no leaf": ([["a", "A", "*"], ["", "A", "*"]], "Row 2: a cell is empty"),
    "twice": ([["a", "*"], ["", ""], ["a", "*"]], "Row 3: the value 'a' is listed a second time"),
    "two roots": ([["a", "*"], ["b", "all"]], "Row 2: the hierarchy has two roots ('*', 'all')"),
    "two parents": ([["a", "A", "B", "*"], ["b", "A", "C", "*"]], "Row 2: a node has two parents"),
    "above itself": ([["a", "A", "a", "*"]], "Row 1: 'a' is above itself"),
    "a value and a group": ([["a", "b", "*"], ["b", "", "*"]], "Row 2: 'b' is the name of a value"),
}


@pytest.mark.parametrize(("rows", "said"), BAD_LEVELS.values(), ids=BAD_LEVELS)
def test_bad_rows_are_named(rows, said):
    assert said in refused(read_level_table, pd.DataFrame(rows, dtype=object))


# --- A row per edge -----------------------------------------------------------------------------
@examples(200)
@given(EITHER)
def test_a_tree_survives_its_edges(plain):
    tree = plain.build()
    table = build_edge_table(tree)
    assert list(table.columns) == ["parent", "child", "weight"]
    assert read_edge_table(table) == tree
    seen = {plain.root}
    for row in table.itertuples():
        assert row.parent in seen or tree.n_nodes == 1
        seen.add(row.child)


@examples(200)
@given(labelled_trees(max_nodes=10, weighted=True), st.data())
def test_the_order_of_the_rows_matters_among_siblings_alone(plain, data):
    tree = plain.build()
    rows = build_edge_table(tree).sample(frac=1, random_state=data.draw(st.integers(0, 99)))
    again = read_edge_table(rows)
    assert {*again.entries()} == {*tree.entries()}
    for label, children in ((x, again.children[again.node_of[x]]) for x in again.labels):
        listed = [row.child for row in rows.itertuples() if row.parent == label]
        assert [again.labels[v] for v in children] == listed


@examples(100)
@given(trees(max_nodes=8, weighted=True))
def test_weights_may_be_text_and_columns_in_any_order(plain):
    tree = plain.build()
    table = build_edge_table(tree)
    table["Weight "] = ["" if np.isnan(x) else f" {x} " for x in table.pop("weight")]
    assert read_edge_table(table[["Weight ", "child", "parent"]]) == tree
    assert read_edge_table(table[["child", "parent"]]) == with_weights(tree, None)


def test_edges_by_hand():
    table = build_edge_table(ZOO, np.array([1, 2, 5, 4, 0]))
    assert table.to_csv(index=False).splitlines() == [
        "parent,child,weight", "*,Felid,4.0", "Felid,Cat,1.0", "Felid,Lion,2.0", "*,Dog,5.0",
    ]  # fmt: skip
    assert read_edge_table(table) == with_weights(ZOO, np.array([1, 2, 5, 4, 0]))
    assert build_edge_table(ZOO)["weight"].isna().all()
    blank = pd.concat([table.iloc[:2], pd.DataFrame([[None, " ", np.nan]], columns=table.columns),
                       table.iloc[2:]])  # fmt: skip
    assert read_edge_table(blank) == read_edge_table(table)
    rooted = pd.DataFrame([["", "*"], ["*", "a"]], columns=["Parent", "CHILD"])
    assert read_edge_table(rooted) == suppression(["a"])


BAD_EDGES = {
    "nothing": ([], "no rows"),
    "no child": ([["*", "a", ""], ["*", "", ""]], "Row 2: the child is blank"),
    "a weight alone": ([["*", "a", 1], ["", "", 2]], "Row 2: the child is blank"),
    "two parents": (
        [["*", "a", ""], ["*", "b", ""], ["b", "a", ""]],
        "Row 3: 'a' is listed as a child a second time (first: Row 1)",
    ),
    "its own parent": ([["*", "a", ""], ["b", "b", ""]], "Row 2: 'b' is its own parent"),
    "two roots": ([["*", "a", ""], ["all", "b", ""]], "Row 2: the tree would have two roots"),
    "two named roots": ([["", "*", ""], ["", "all", ""]], "Row 2: the tree would have two roots"),
    "a cycle": ([["b", "a", ""], ["a", "b", ""]], "Row 1: The parents of 'a', 'b' form a cycle"),
    "a cycle beside": ([["*", "c", ""], ["b", "a", ""], ["a", "b", ""]], "Row 2: The parents of"),
    "a weight missing": ([["*", "a", 1], ["*", "b", ""]], "Row 2: The edge above 'b' has no wei"),
    **{
        f"weight {weight!r}": ([["*", "a", weight]], "Row 1: The weight")
        for weight in ("1,5", -1, "nan", "inf", np.inf, 2e15, "1_0", "0x1", True, "1e999")
    },
}


@pytest.mark.parametrize(("rows", "said"), BAD_EDGES.values(), ids=BAD_EDGES)
def test_bad_edges_are_named(rows, said):
    table = pd.DataFrame(rows, columns=["parent", "child", "weight"], dtype=object)
    assert said in refused(read_edge_table, table)


def test_a_table_without_the_columns_is_refused():
    assert 'no column "child"' in refused(read_edge_table, pd.DataFrame({"parent": ["*"]}))
    assert 'no column "parent"' in refused(read_edge_table, pd.DataFrame([["*", "a"]]))


# --- Pasted text --------------------------------------------------------------------------------
@examples(200)
@given(EITHER, st.sampled_from(";,\t|"))
def test_a_pasted_table_of_edges_is_read(plain, separator):
    tree = plain.build()
    text = build_edge_table(tree).to_csv(index=False, sep=separator)
    assert read_pasted_tree(text).hierarchy == tree


@examples(200)
@given(labelled_trees(max_nodes=10), st.sampled_from(";,\t|"))
@example(groups([{"leaf": ["value"]}]), ";")
@example(suppression(["leaf", "a"]), ",")
@example(suppression(["\ufeffa", "b"]), ";")
@example(suppression(["a;b", "c;d"]), ",")
def test_a_pasted_table_of_levels_is_read(plain, separator):
    tree = plain if not hasattr(plain, "build") else plain.build()
    assume(not {"parent", "child"} <= {x.casefold() for x in tree.labels})
    assert read_pasted_tree(to_csv(tree, separator)).hierarchy == tree


def test_pasted_text_by_hand():
    assert (
        read_pasted_tree("Child\tParent\r\nCat\t*\r\n\r\nDog\t*\r\n").hierarchy.labels[0] == "Cat"
    )
    weighted = read_pasted_tree("\ufeffparent;child;weight\n*;a;1.5\n*;b;2").hierarchy
    assert weighted.weight.tolist() == [1.5, 2, 0]
    assert read_pasted_tree("parent,child,weight\n*,a\n*,b").hierarchy == suppression(["a", "b"])
    text = AGE.read_text("utf-8")
    assert read_pasted_tree(text) == parse_csv(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("parent;child\n*;a\n*;a\n", "Line 3: 'a' is listed as a child a second time (first: Line"),
        ("parent,child,weight\n*,a,1,5\n", "Line 2 has 4 cells and the header has 3"),
        ("parent;child\n", "no rows"),
        ("", "empty"),
        ("parent;child;colour\na;A;*\n", "two roots"),
    ],
)  # fmt: skip
def test_bad_pasted_text_is_refused(text, said):
    assert said in refused(read_pasted_tree, text)


def test_a_cell_that_is_longer_than_allowed_is_refused():
    limit = csv.field_size_limit(1_000)
    try:
        assert "too long" in refused(read_pasted_tree, f"parent,child\n*,{'x' * 1_001}\n")
    finally:
        csv.field_size_limit(limit)


@pytest.mark.nightly
def test_too_many_edges_are_refused():
    text = "parent;child\n" + "".join(f"*;{i}\n" for i in range(200_000))
    assert "the limit is 200\u202f000 (hierarchy_nodes" in refused(read_pasted_tree, text)
