"""The page Lattice: a lattice that is there, a node that is chosen, a release that comes of it."""

import pandas as pd
import pytest

import kanon.experiments.exploration
import kanon.studio.lattice.subject
from kanon.base.formatting import count_noun
from kanon.base.progress import ignore_progress
from kanon.experiments.exploration import measure_lattice
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.run import prepare
from kanon.schema import Role
from kanon.studio.lattice.page import describe_step
from kanon.studio.lattice.subject import (
    LatticeView,
    get_lattice_columns,
    get_node,
    parse_levels,
    set_node,
    take_node,
)
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support import dashboard as ui
from support.works import with_fields

LATTICE = "pages/lattice.py"


def explored_of(session):
    """The lattice of a session, made without the page."""
    inside = with_fields(session, algorithm="optimal")
    return measure_lattice(
        ignore_progress, prepare(build_plan(inside), session.table.records).task()
    )


def level_key(at, column):
    place = list(ui.work(at).table.roles).index(column)
    top = ui.work(at).table.trees[column].height - 1
    return f"lattice-level-{ui.work(at).version}-{place}-{top}"


def levels(at):
    """What the steppers show."""
    return tuple(at.number_input(key=level_key(at, name)).value for name in ui.work(at).table.trees)


def step_to(at, column, level):
    return ui.enter(at, at.number_input(key=level_key(at, column)), level)


def pills(at, key):
    (found,) = [one for one in at.get("button_group") if one.key == key]
    return found


def choose_pills(at, key, values):
    return ui.enter(at, pills(at, key), values)


@pytest.mark.nightly
def test_steppers_and_a_list_choose_a_node(start):
    at = start(LATTICE)
    explored = explored_of(ui.work(at))
    box = at.selectbox(key=f"lattice-go-{ui.work(at).version}")
    assert box.value == explored.least
    assert "least loss" in box.options[0] and "minimal" in box.options[0]
    assert sum("minimal" in option for option in box.options) == len(explored.minimal)
    assert sum("MinGen" in option for option in box.options) == len(explored.mingen_nodes)
    other = next(node for node in explored.minimal if node != explored.least)
    ui.enter(at, box, other)
    assert levels(at) == other
    assert "minimal: it fails if any column is lowered by one level" in ui.page_text(at)

    for node in [(3, 2, 0), (0, 2, 0), (0, 0, 0)]:
        for column, level in zip(explored.attributes, node, strict=True):
            step_to(at, column, level)
        assert levels(at) == node
        place = explored.assessment.places[node]
        gone = explored.assessment.suppressed[place]
        assert ui.number(ui.numbers(at)["Suppressed"].split(" (")[0]) == gone
        assert ui.number(ui.numbers(at)["k reached"]) == explored.assessment.reached[place]
        assert ("Does not meet" in ui.page_text(at)) == (gone > 0)
    gone = explored.assessment.suppressed[explored.assessment.places[0, 0, 0]]
    assert f"{gone} records would have to be suppressed, but none may be" in ui.page_text(at)
    before, after = at.dataframe[0].value, at.dataframe[1].value
    assert len(before) == len(after) == 10 - gone, "those in classes that are too small are gone"
    assert ui.button(at, "Use this one").disabled
    choose_pills(at, "lattice-walks", ["datafly"])
    ui.go(at, ui.DATA)
    ui.go(at, LATTICE)
    assert levels(at) == (0, 0, 0) and pills(at, "lattice-walks").value == ["datafly"]


@pytest.mark.nightly
def test_use_this_one_leads_to_a_release_at_these_levels(start):
    at = start(LATTICE)
    explored = explored_of(ui.work(at))
    tied = explored.mingen_nodes[0]
    at.session_state[ui.WORK] = set_node(ui.work(at), explored, tied)
    ui.go(at)
    ui.settled(ui.press(at, "Use this one"))
    assert ui.work(at).settings.algorithm == "mingen", "of its tied nodes this one is preferred"
    assert ui.work(at).findings.result.release(2).recoding.trace.node == tied
    node = (3, 3, 0)
    assert explored.assessment.satisfying[explored.assessment.places[node]]
    for column, level in zip(explored.attributes, node, strict=True):
        step_to(at, column, level)
    ui.settled(ui.press(at, "Use this one"))
    assert ui.work(at).settings.algorithm == "levels"
    assert ui.work(at).findings.result.release(ui.work(at).settings.k).recoding.trace.node == node
    assert "See the release" in [one.proto.label for one in at.get("page_link")]
    ui.go(at, ui.ANONYMISE)
    loss = explored.assessment.loss[explored.assessment.places[node]]
    assert ui.number(ui.numbers(at)["Alteration"]) == pytest.approx(loss, abs=0.05)


def test_a_part_of_the_columns_has_a_lattice_of_its_own(start):
    at = start(LATTICE)
    key = f"lattice-columns-{ui.work(at).version}"
    choose_pills(at, key, ["age", "sex"])
    assert get_lattice_columns(ui.work(at)) == ("age", "sex")
    assert "Π h_j = 8 nodes" in ui.page_text(at)
    assert ui.button(at, "Use this one").disabled
    assert "Include all quasi-identifiers" in ui.page_text(at)
    choose_pills(at, key, ["age", "sex", "zip"])
    assert get_lattice_columns(ui.work(at)) == ("age", "zip", "sex")
    assert "Π h_j = 32 nodes" in ui.page_text(at)
    choose_pills(at, key, [])
    assert get_lattice_columns(ui.work(at)) == ("age", "zip", "sex"), (
        "an empty choice is the usual one"
    )


def test_a_larger_lattice_is_explored_by_a_worker_and_can_be_cancelled(start, monkeypatch):
    monkeypatch.setattr(kanon.studio.lattice.subject, "_AT_ONCE", 0)
    with ui.held_worker():
        at = start(LATTICE)
        assert [*ui.work(at).running] == ["lattice"]
        assert any("Counts the classes at all 32 nodes" in text for text in ui.captions(at))
        ui.press(at, "Cancel")
        ui.go(at)
    assert not ui.work(at).running and ui.work(at).findings.lattice is None
    ui.settled(ui.press(at, "Explore this lattice"))
    explored = explored_of(ui.work(at))
    assert ui.work(at).findings.lattice.exploration.minimal == explored.minimal
    assert levels(at) == explored.least
    assert "lattice" not in ui.work(at).running
    ui.go(at)
    assert "lattice" not in ui.work(at).running, "it is not explored again"


@pytest.mark.nightly
def test_of_a_very_large_lattice_the_walks_and_the_surroundings_are_shown(start, monkeypatch):
    monkeypatch.setattr(kanon.experiments.exploration, "MOST_COUNTED_NODES", 10)
    at = start(LATTICE)
    assert "Datafly, step 4" in ui.page_text(at)
    assert "Samarati: It would have to count all nodes at a height" in ui.page_text(at)
    assert any("only the nodes that the walks pass through" in text for text in ui.captions(at))
    assert "k reached" in ui.numbers(at), "the chosen node is counted by itself"
    assert len(at.get("plotly_chart")) == 2
    step_to(at, "age", 0)
    assert "Does not meet" in ui.page_text(at)


def test_models_and_suppression_are_said_with_a_way_out(start):
    at = start(LATTICE)
    model = DistinctLDiversity(2, "disease")
    ui.change(at, models=(model,), suppression=0.2)
    assert "suppressed" in ui.warnings(at)[0]
    ui.press(at, "Suppress nothing")
    assert ui.work(at).settings.suppression == 0.0
    assert ui.warnings(at) == [] and "k reached" in ui.numbers(at)


@pytest.mark.nightly
def test_columns_may_be_called_what_they_like(start):
    name = "<b>![x](http://a.b)_ $2^2$"
    table = pd.DataFrame({name: ["x", "y"] * 10, "zip": [*"abcde"] * 4, "ill": ["u"] * 20})
    at = ui.with_people(start(ui.DATA), table)
    for column in (name, "zip"):
        ui.give_role(at, column, "quasi-identifier")
    ui.give_role(at, "ill", "insensitive")
    ui.go(at, LATTICE)
    assert levels(at)
    assert "<b>![x]" not in " ".join(one.value for one in at.markdown)


def test_only_nodes_of_the_lattice_can_be_chosen():
    session = open_sample("hospital")
    explored = explored_of(session)
    chosen = set_node(session, explored, parse_levels("3 2 1"))
    assert get_node(chosen, explored) == (3, 2, 1)
    for given in ("9 9 9", "1 1", "", "a b c", "1 1 -1", None, 3, {"0": 1}, "1" * 5000):
        assert set_node(session, explored, parse_levels(given)) is session
    assert set_node(session, explored, None) is session


def test_a_node_of_other_columns_is_not_taken_for_the_chosen_one():
    """A list of the lattice before told its value while that of all columns was explored."""
    whole = open_sample("hospital")
    few = with_fields(whole, view=LatticeView(columns=("age", "sex")))
    inside = with_fields(few, roles={**few.table.roles, "zip": Role.INSENSITIVE})
    before = explored_of(inside)
    assert before.attributes == ("age", "sex")
    assert set_node(few, before, (2, 1)) is not few
    assert set_node(whole, before, before.least) is whole


def test_a_node_that_is_used_is_named_by_its_columns():
    session = open_sample("hospital")
    explored = explored_of(session)
    used = take_node(session, explored, (3, 3, 1))
    assert used.settings.algorithm == "levels" and used.settings.node == {
        "age": 3,
        "zip": 3,
        "sex": 1,
    }
    assert build_plan(used).algorithm.node == used.settings.node


def test_what_datafly_leaves_out_is_said_where_others_leave_out_nothing():
    explored = explored_of(with_fields(open_sample("hospital"), k=5))
    walk = explored.walk("datafly")
    assert walk.steps[-1].suppressed > explored.limit == 0, "it may leave out k records"
    said = describe_step(explored, walk, None)
    left_out = count_noun(walk.steps[-1].suppressed, "record")
    assert f"It stops here and suppresses {left_out}, as published" in said
    assert "suppresses" not in describe_step(explored, explored.walk("samarati"), None)
