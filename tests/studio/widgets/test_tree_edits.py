"""Drawing hierarchies: what the browser asks for, checked, done, undone and done again."""

import string

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy import build
from kanon.hierarchy.edit import remove_leaves
from kanon.metrics import edge_weights, metric_named
from kanon.run import prepare, run
from kanon.schema import Role
from kanon.sources.coverage import count_column
from kanon.studio.hierarchies.files import add_imports, match_imports, take_imports
from kanon.studio.jobs.comparison import list_run_keys
from kanon.studio.metrics.composed_metrics import add_composed, remove_composed
from kanon.studio.session.choices import BUILDERS, build_choice, suggest_choice
from kanon.studio.session.hierarchy_choices import (
    redo_hierarchy,
    set_builder,
    set_missing_rule,
    set_role,
    undo_hierarchy,
)
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from kanon.studio.session.table_state import LEAST
from kanon.studio.session.work import list_usable_metrics
from kanon.studio.widgets import tree_edits
from support.random_tables import examples
from support.works import with_fields

CSV = b"animal,sex\n" + b"".join(
    f"{animal},{sex}\n".encode()
    for animal in ("Cat", "Lion", "Dog", "Wolf", "Owl")
    for sex in "FMFM"
)


@pytest.fixture
def work():
    found = open_uploaded_table(CSV, "animals.csv", 1)
    for column in ("animal", "sex"):
        found = set_role(found, column, Role.QUASI_IDENTIFIER)
    return found


def tree(work, column="animal"):
    return work.table.choices[column].tree


def ask(work, kind, column="animal", shown="", **what):
    """Send an operation, as a browser does that has just drawn the tree."""
    history = work.table.histories.get(column)
    version = 0 if history is None else history.version
    for key in ("nodes", "node", "to"):
        if key in what:
            labels = what[key] if isinstance(what[key], list) else [what[key]]
            nodes = [tree(work, column).node_of[label] for label in labels]
            what[key] = nodes if isinstance(what[key], list) else nodes[0]
    operation = {"id": f"{kind}-{version}-{len(str(what))}", "base": version, "kind": kind, **what}
    if shown:
        work = with_fields(work, shown=shown)
    return tree_edits.apply_operation(work, {**operation, "about": about(work, column)})


def about(work, column="animal"):
    return tree_edits.build_drawing(work, column, work.table.choices[column])["about"]


def said(work, column="animal"):
    history = work.table.histories[column]
    return history.said, history.refused


# --- what the browser may ask for -------------------------------------------------------------
def test_a_tree_is_drawn_from_a_flat_list(work):
    work = ask(work, "group", nodes=["Cat", "Lion"], name="Felid")
    assert work.table.histories["animal"].select == ("Felid",)
    work = ask(work, "group", nodes=["Dog", "Wolf"], name="Canid")
    work = ask(work, "group", nodes=["Felid", "Canid"], name="Mammal")
    work = ask(work, "rename", node="*", name="Animal")
    wanted = build.groups(
        [{"Felid": ["Cat", "Lion"], "Canid": ["Dog", "Wolf"]}, {"Mammal": ["Felid", "Canid"]},
         {"Animal": ["Mammal", "Owl"]}]
    )  # fmt: skip
    assert set(tree(work).labels) == set(wanted.labels) - {"*"}
    parents = {label: parent for label, parent, _ in tree(work).entries()}
    assert parents["Cat"] == "Felid" and parents["Canid"] == "Mammal" and parents["Owl"] == "Animal"
    assert work.table.choices["animal"].builder == "drawn"
    assert work.table.choices["animal"].plan is not None
    table = pd.DataFrame({"animal": ["Cat", "Lion"] * 3, "sex": ["F"] * 6})
    assert set(run(build_plan(work), table).released()["animal"]) <= set(tree(work).labels)


def test_moving_the_last_member_away_says_that_the_group_went(work):
    work = ask(work, "group", nodes=["Cat"], name="Felid")
    work = ask(work, "move", nodes=["Cat"], to="*")
    assert said(work) == (
        "'Felid' had no members left and was removed; Undo brings it back.",
        False,
    )
    assert "Felid" in tree(undo_hierarchy(work, "animal")).labels


def test_an_operation_sent_twice_is_done_once(work):
    work = with_fields(work, histories={})
    nodes = [tree(work).node_of["Cat"], tree(work).node_of["Dog"]]
    operation = {"id": "once", "base": 0, "kind": "group", "nodes": nodes, "name": "Pets"}
    once = tree_edits.apply_operation(work, {**operation, "about": about(work)})
    assert tree_edits.apply_operation(once, {**operation, "about": about(work)}) is once


def test_an_operation_on_an_older_drawing_is_refused(work):
    work = ask(with_fields(work, histories={}), "group", nodes=["Cat"], name="Felid")
    late = {"id": "late", "base": 0, "kind": "ungroup", "nodes": [5]}
    again = tree_edits.apply_operation(work, {**late, "about": about(work)})
    assert "has changed since" in said(again)[0] and tree(again) is tree(work)


# --- undo and redo ----------------------------------------------------------------------------
def test_undo_and_redo_go_through_many_steps(work):
    work, trees = with_fields(work, histories={}), []
    for name in (f"g{step}" for step in range(60)):
        trees.append(tree(work))
        work = ask(work, "group", nodes=["Cat"], name=name)
    last = tree(work)
    for before in reversed(trees):
        work = ask(work, "undo")
        assert tree(work) == before
    for after in [*trees[1:], last]:
        work = ask(work, "redo")
        assert tree(work) == after


def test_a_change_after_an_undo_leaves_nothing_to_redo(work):
    work = ask(with_fields(work, histories={}), "group", nodes=["Cat"], name="one")
    work = ask(ask(work, "undo"), "group", nodes=["Dog"], name="two")
    assert work.table.histories["animal"].future == ()
    assert len(work.table.histories["animal"].past) == 1


def test_of_large_trees_fewer_steps_are_kept(work, monkeypatch):
    monkeypatch.setattr("kanon.studio.session.table_state.NODES", 12 * tree(work).n_nodes)
    for step in range(20):
        work = ask(work, "rename", node=tree(work).labels[-1], name=f"all {step}")
    assert len(work.table.histories["animal"].past) == 12
    monkeypatch.setattr("kanon.studio.session.table_state.NODES", 1)
    work = ask(work, "rename", node="all 19", name="everything")
    assert len(work.table.histories["animal"].past) == LEAST


def test_what_one_press_wrote_into_all_columns_is_undone_and_redone_at_once(work):
    before = {column: tree(work, column) for column in ("animal", "sex")}
    work = tree_edits.set_drawn_weights(work, "llm", ["animal", "sex"])
    made = {column: tree(work, column) for column in before}
    assert all(one.weight is not None for one in made.values())
    back = ask(work, "undo", column="sex")
    assert {column: tree(back, column) for column in before} == before
    assert all(tree(back, column).weight is None for column in before)
    again = ask(back, "redo", column="animal")
    assert {column: tree(again, column) for column in before} == made
    assert ask(again, "undo").table.get_history("sex").past == back.table.get_history("sex").past


def test_a_column_that_was_changed_since_keeps_its_change(work):
    work = tree_edits.set_drawn_weights(work, "llm", ["animal", "sex"])
    work = ask(work, "rename", column="sex", node="*", name="anybody")
    back = ask(work, "undo", column="animal")
    assert tree(back, "animal").weight is None
    assert tree(back, "sex").labels[-1] == "anybody" and tree(back, "sex").weight is not None
    back = ask(ask(back, "undo", column="sex"), "undo", column="sex")
    assert tree(back, "sex").weight is None and tree(back, "animal").weight is None


def test_a_drawing_survives_another_builder(work):
    work = ask(with_fields(work, histories={}), "group", nodes=["Cat", "Lion"], name="Felid")
    kept = tree(work)
    work = set_builder(work, "animal", "ordered", {"sizes": "2"})
    assert tree(work) != kept and work.table.choices["animal"].problem is None
    assert tree(set_builder(work, "animal", "drawn", {})) == kept
    assert tree(undo_hierarchy(work, "animal")) == kept
    assert tree(redo_hierarchy(undo_hierarchy(work, "animal"), "animal")) == tree(work)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["group", "ungroup", "move", "rename", "insert", "sort", "weigh", "undo", "redo", "bad"]
        ),
        st.lists(st.integers(0, 12), min_size=1, max_size=4),
        st.integers(0, 12),
        st.text(string.ascii_letters, max_size=3),
    ),
    max_size=30,
)


@examples(500, in_gate=25)
@given(OPERATIONS)
def test_whatever_is_asked_no_value_is_lost_and_undo_leads_back(operations):
    work = with_fields(open_uploaded_table(CSV, "animals.csv", 1), histories={})
    work = with_fields(set_role(work, "animal", Role.QUASI_IDENTIFIER), shown="total")
    first, values = tree(work), set(tree(work).labels[: tree(work).n_leaves])
    start = len(work.table.histories["animal"].past) if "animal" in work.table.histories else 0
    for number, (kind, nodes, node, name) in enumerate(operations):
        history = work.table.histories.get("animal")
        operation = {
            "id": str(number), "base": 0 if history is None else history.version, "kind": kind,
            "nodes": nodes, "node": node, "to": node, "name": name, "by": "records",
            "weight": str(node),
        }  # fmt: skip
        work = tree_edits.apply_operation(work, {**operation, "about": about(work)})
        assert set(tree(work).labels[: tree(work).n_leaves]) == values
        assert work.table.choices["animal"].plan is not None
    while "animal" in work.table.histories and len(work.table.histories["animal"].past) > start:
        work = undo_hierarchy(work, "animal")
    assert tree(work) == first


# --- weights ----------------------------------------------------------------------------------
def test_a_changed_weight_starts_from_the_metric_that_is_shown(work):
    before = edge_weights(metric_named("llm"), list(work.table.trees.values()))[0]
    assert "custom" not in list_usable_metrics(work)
    work = ask(work, "weigh", shown="llm", node="Cat", weight="7.5")
    expected = before.copy()
    expected[tree(work).node_of["Cat"]] = 7.5
    assert tree(work).weight.tolist() == expected.tolist()
    work = tree_edits.set_drawn_weights(work, "llm", ["sex"])
    assert list_usable_metrics(work)[-1] == "custom"
    work = tree_edits.set_drawn_weights(work, "", ["sex"])
    assert "custom" not in list_usable_metrics(work)


# --- coverage ---------------------------------------------------------------------------------
def test_an_incomplete_tree_is_drawn_but_cannot_be_used(work):
    without = remove_leaves(tree(work), ["Dog", "Owl"])
    work = tree_edits.set_tree(work, "animal", without)
    choice = work.table.choices["animal"]
    assert choice.lacking == {"Dog": 4, "Owl": 4} and choice.plan is None
    assert "lacks 2 distinct values ('Dog', 'Owl') found in 8 records" in choice.problem
    with pytest.raises(Exception, match="'animal' has no usable hierarchy yet"):
        build_plan(work)
    mended = tree_edits.add_missing_values(work, "animal", "*")
    assert mended.table.choices["animal"].lacking == {} and build_plan(mended)
    assert undo_hierarchy(mended, "animal").table.choices["animal"].lacking == choice.lacking


def test_leaves_without_a_record_are_listed(work):
    more = build.suppression(["Cat", "Lion", "Dog", "Wolf", "Owl", "Yak", "Zebu"])
    work = tree_edits.set_tree(work, "animal", more)
    assert work.table.choices["animal"].unused_values == ["Yak", "Zebu"]
    assert work.table.choices["animal"].plan is not None, "which is fine"
    shown = tree_edits.build_drawing(work, "animal", work.table.choices["animal"])
    assert [shown["labels"][node] for node in shown["empty"]] == ["Yak", "Zebu"]


def test_records_count_what_stands_at_and_below_a_node(work):
    work = ask(work, "group", nodes=["Cat", "Lion"], name="Felid")
    shown = tree_edits.build_drawing(work, "animal", work.table.choices["animal"])
    found = dict(zip(shown["labels"], shown["records"], strict=True))
    assert found == {"Cat": "4", "Lion": "4", "Dog": "4", "Wolf": "4", "Owl": "4",
                     "Felid": "8", "*": "20"}  # fmt: skip


# --- builders ---------------------------------------------------------------------------------
NUMBERS = pd.Series([str(n) for n in range(20, 60) for _ in range(1 + n % 3)])
CODES = pd.Series(["47601", "47602", "47711", "48000"])


@pytest.mark.parametrize(
    ("builder", "values", "typed", "sentence"),
    [
        ("quantiles", NUMBERS, {"parts": "8, 4, 2"}, None),
        ("quantiles", NUMBERS, {"parts": "eight"}, "are numbers separated by commas"),
        ("quantiles", CODES.map("x".__add__), {"parts": "4, 2"}, "numbers"),
        ("intervals", NUMBERS, {"widths": "10", "origin": "5"}, None),
        ("intervals", NUMBERS, {"widths": "10", "origin": "five"}, "bounds count from"),
        ("mask", CODES, {"step": "2"}, None),
        ("mask", CODES, {"keep": "", "step": "1.5"}, "whole numbers"),
        ("ordered", CODES, {"sizes": "2, 2"}, None),
        ("ordered", CODES, {"sizes": "1"}, "2"),
        ("ordered", CODES, {"sizes": "2", "order": "47601\n47602"}, "lacks 2 distinct values"),
        ("frequency", NUMBERS, {"least": "2"}, None),
        ("frequency", NUMBERS, {"least": "50"}, "fewer"),
    ],
)
def test_builders_make_a_complete_tree_or_say_why_not(builder, values, typed, sentence):
    choice = build_choice(builder, typed, "column", count_column(values))
    assert choice.typed == typed, "what was typed stays"
    if sentence is None:
        assert choice.problem is None and choice.plan is not None
        leaves = choice.tree.labels[: choice.tree.n_leaves]
        assert sorted(leaves) == sorted(set(values))
    else:
        assert sentence in choice.problem and choice.plan is None


@pytest.mark.parametrize("values", [NUMBERS, CODES, pd.Series(["a", "b"]), pd.Series(["x"] * 5)])
def test_a_suggestion_can_be_used_and_says_why(values):
    choice = suggest_choice("column", count_column(values))
    assert choice.plan is not None and choice.builder in BUILDERS
    assert choice.notes[0].endswith(".")


# --- metrics of one's own ---------------------------------------------------------------------
def test_a_composed_metric_can_be_used_and_removed():
    work = add_composed(open_sample("hospital"), "  my  own ", "levels", "w2")
    assert "my own" in list_usable_metrics(work)
    work = with_fields(work, metric="my own", compared=("ncp", "my own"))
    assert build_plan(work).metric.intermediate == "levels"
    gone = remove_composed(work, "my own")
    assert gone.settings.metric == "nllm" and gone.compare.compared == ("ncp",) and build_plan(gone)


# --- what makes a result outdated -------------------------------------------------------------
def test_only_what_a_result_depends_on_makes_it_outdated(work):
    def settings(now):
        return hash_run_inputs(now, build_plan(now))

    def compared(now):
        return set(list_run_keys(with_fields(now, compared=("ncp", "llm"))))

    weighed = tree_edits.set_drawn_weights(work, "llm", ["animal", "sex"])
    assert settings(weighed) == settings(work)
    custom = with_fields(weighed, metric="custom")
    heavier = ask(custom, "weigh", shown=tree_edits.DRAWN, node="Cat", weight="99")
    assert settings(heavier) != settings(custom) and settings(custom) != settings(work)
    composed = add_composed(work, "mine", "levels", "w1")
    assert settings(composed) == settings(work) and compared(composed) == compared(work)
    hurt = with_fields(work, attribute_weights={"sex": 3.0})
    assert settings(hurt) != settings(work) and compared(hurt) != compared(work)
    grouped = ask(work, "group", nodes=["Cat", "Lion"], name="Felid")
    assert settings(grouped) != settings(work) and compared(grouped) != compared(work)
    assert settings(undo_hierarchy(grouped, "animal")) == settings(work), (
        "undo makes it fresh again"
    )


# --- found by attack --------------------------------------------------------------------------
def test_an_edit_is_done_on_the_column_that_it_was_drawn_on(work):
    work = with_fields(work, histories={}, column="sex")
    operation = {
        "id": "x",
        "about": about(work, "animal"),
        "base": 0,
        "kind": "insert",
        "nodes": [0],
    }
    done = tree_edits.apply_operation(work, operation)
    assert tree(done, "sex") is tree(work, "sex") and tree(done, "animal").height == 3
    other = with_fields(work, version=work.version + 1)
    assert tree_edits.apply_operation(other, operation) is other, "another table is left alone"


def test_missing_cells_that_count_have_a_leaf_with_their_records():
    csv = b"animal,n\nCat,1\nDog,2\n,3\nCat,4\n"
    work = set_role(open_uploaded_table(csv, "a.csv", 1), "animal", Role.QUASI_IDENTIFIER)
    work = set_missing_rule(set_role(work, "n", Role.INSENSITIVE), "drop-records")
    assert "(missing)" not in tree(work).labels
    work = set_missing_rule(work, "as-value")
    shown = tree_edits.build_drawing(work, "animal", work.table.choices["animal"])
    assert dict(zip(shown["labels"], shown["records"], strict=True)) == {
        "Cat": "2", "Dog": "1", "(missing)": "1", "*": "4",
    }  # fmt: skip
    work = ask(work, "group", nodes=["Cat", "(missing)"], name="Cat or nothing")
    prepared = prepare(build_plan(work), work.table.records)
    assert prepared.classes.hierarchies[0] == tree(work), "the run uses the tree that is drawn"


def test_imports_are_matched_with_the_records_as_they_are_when_used():
    csv = b"animal,n\nCat,1\nDog,2\nrare,\n"
    work = open_uploaded_table(csv, "a.csv", 1)
    for column in ("animal", "n"):
        work = set_role(work, column, Role.QUASI_IDENTIFIER)
    work = add_imports(set_missing_rule(work, "drop-records"), [("animal.csv", b"Cat;*\nDog;*\n")])
    assert match_imports(work)[0].plan is not None, "the record with 'rare' is dropped"
    work = take_imports(set_missing_rule(work, "as-value"))
    assert work.table.choices["animal"].lacking == {"rare": 1}
    assert work.table.choices["animal"].plan is None


def test_a_preview_survives_a_change_of_another_column(work):
    preview = build_choice(
        "ordered", {"sizes": "2"}, "animal", work.table.records.count_column_values("animal")
    )
    work = with_fields(work, previews={"animal": preview})
    work = set_role(work, "sex", Role.SENSITIVE)
    assert work.table.previews["animal"].typed == preview.typed
    assert set_role(work, "animal", Role.SENSITIVE).table.previews == {}


def test_no_metric_can_be_called_as_the_drawn_weights_are(work):
    work = add_composed(work, tree_edits.DRAWN, "levels", "none")
    assert tree_edits.DRAWN not in work.settings.composed and "drawn" in work.settings.composed
    shown = tree_edits.build_drawing(work, "animal", work.table.choices["animal"], shown="drawn")
    assert shown["weights"] is not None


def test_a_table_of_edges_shows_its_weights_and_refuses_words(work):
    table = tree_edits.build_edge_texts(tree(work))
    assert table["weight"].tolist() == [""] * 5
    done = tree_edits.set_edge_table(work, "animal", table.assign(weight="2"))
    assert tree(done).weight.tolist() == [2] * 5 + [0] and done.shared.shown == tree_edits.DRAWN
    with pytest.raises(HierarchyError, match="Row 1"):
        tree_edits.set_edge_table(work, "animal", table.assign(weight="abc"))
