"""The board on the page Compare: arranged, saved and loaded, driven by AppTest."""

from dataclasses import replace

import pytest

from kanon.charts.layout import COSTS, Layout, Panel
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.criteria import CRITERIA
from kanon.studio.compare.state import CompareView
from kanon.studio.session import state
from support.dashboard import COMPARE, go, press, problems, settled, told_to_cursor, work
from support.works import with_fields


@pytest.fixture
def board(start):
    """The page with a comparison of three metrics, the board at its default for them."""
    at = go(start(), COMPARE)
    at.button_group(key="compare-metrics").set_value(["ncp", "llm", "total"])
    at = settled(press(go(at), "Compare"))
    return shown(at, COSTS)


def shown(at, layout):
    at.session_state["kanon-work"] = with_fields(work(at), layout=layout)
    return go(at)


titles_of_costs = [card.title for card in CRITERIA.values()]


def titles(at):
    return [panel["title"] for panel in told_to_cursor(at)["panels"]]


def kind_of(at, place):
    return at.selectbox(key=f"board-{work(at).version}-{place}-kind")


def upload(at, content):
    at.file_uploader(key=f"board-file-{work(at).version}").set_value(
        ("layout.json", content, "application/json")
    )
    return go(at)


@pytest.mark.nightly
def test_a_panel_shows_what_is_chosen_for_it_alone(board, monkeypatch):
    costs = [card.title for card in CRITERIA.values()]
    assert titles(board) == costs
    kind_of(board, 1).set_value("Alteration measured by LLM")
    assert titles(go(board)) == [costs[0], "Alteration measured by LLM", *costs[2:]]
    columns = [one["title"] for one in told_to_cursor(board)["columns"]]
    assert columns == titles(board), "the numbers at the cursor follow"
    kind_of(board, 4).set_value("Minimum k against alteration")
    assert titles(go(board))[4] == "Minimum k against alteration"
    assert told_to_cursor(board)["panels"][4]["kind"] == "points"
    with monkeypatch.context() as patch:
        patch.setattr(state, "get_widget_value", lambda key: "Distance (not here)")
        before = work(board).compare.layout
        kind_of(board, 1).set_value("Number of classes")
        go(board)
    assert work(board).compare.layout == before and not problems(board), "it is not offered"
    for number in (2, 6, 4, 9, 7):
        board.button_group(key=f"board-number-{work(board).version}").set_value(number)
        assert len(told_to_cursor(go(board))["panels"]) == number
    labels = [one.label for one in board.get("download_button") if one.label[:2].endswith(":")]
    assert [label[0] for label in labels] == [*"1234567"], "every panel has its data"


@pytest.mark.nightly
def test_a_panel_fills_the_screen_and_comes_back(board):
    at = shown(board, Layout((*COSTS.panels, Panel("matrix", column="age", metric="ncp"))))
    whole = told_to_cursor(at)
    assert len(whole["fill"]) == len(whole["panels"]) == 6 and whole["numbers"]["height"] > 0

    def fill(place):
        at.session_state["kanon-work"] = with_fields(work(at), view=CompareView(filling=place))
        return told_to_cursor(go(at))

    told = fill(1)
    assert [panel["title"] for panel in told["panels"]] == [titles_of_costs[1]]
    assert told["numbers"] is None, "the panel has the whole screen"
    assert fill(None) == whole
    shared = work(at).shared
    at.session_state["kanon-work"] = with_fields(
        work(at), shared=replace(shared, on_projector=True)
    )
    assert [panel["title"] for panel in told_to_cursor(go(at))["panels"]] == titles_of_costs[:3]
    at.session_state["kanon-work"] = with_fields(work(at), shared=shared)
    fill(5)
    at.button_group(key=f"board-number-{work(at).version}").set_value(2)
    assert len(told_to_cursor(go(at))["panels"]) == 2, "one that is gone fills nothing"


@pytest.mark.nightly  # in every run, the bad file: test_bad_inputs.py
def test_a_layout_is_loaded_and_a_bad_file_changes_nothing(board):
    layout = Layout((Panel("curve", "min_k", lines=("ncp",)), Panel("classes")))
    upload(board, layout.to_json().encode())
    assert work(board).compare.layout == layout and len(told_to_cursor(board)["panels"]) == 2
    assert not problems(board)
    for content, said in (
        (b'{"version": 1, "panels": [], "k": 3}', "The layout: the key 'k' is unknown"),
        (b"\xff\xfe", "not UTF-8"),
        (b" " * 200_001, "larger than 200 kB"),
    ):
        upload(board, content)
        assert [said in one for one in problems(board)] == [True, True], "above and beside the file"
        assert work(board).compare.layout == layout and len(told_to_cursor(board)["panels"]) == 2
    other = Layout((Panel("curve", "l_percent"), Panel("matrix", column="gone", metric="x")))
    upload(board, other.to_json().encode())
    assert kind_of(board, 1).value == ("matrix", ""), "what another table lacks"
    assert [panel["kind"] for panel in told_to_cursor(board)["panels"]][1] == "still"
    assert not problems(board)


@pytest.mark.nightly
def test_what_takes_longer_is_measured_when_it_is_picked(board):
    at = board

    def measured_at():
        lines = work(at).findings.comparison.comparison.lines
        return [run.measured_at for line in lines for run in line.runs.values()]

    assert measured_at() == [()] * 3, "nobody asked"
    kind_of(at, 0).set_value("Precision (Prec)")
    assert measured_at() == [()] * 3 and not work(go(at)).running, "that is known already"
    kind_of(at, 1).set_value("Query error")
    at = settled(go(at))
    n = work(at).findings.comparison.comparison.n_records
    expected = sorted({*(k for k in PAPER_K if k < n), work(at).settings.k, n})
    assert not problems(at) and measured_at() == [tuple(expected)] * 3
    assert titles(at)[1] == "Query error", "the board was drawn anew"
    assert told_to_cursor(at)["columns"][1]["shown"][0][-1] != "–"
    found = work(at).findings.comparison.comparison.at("query_error_percent", [n])[:, 0, 0]
    assert len({*found}) == 1 and found[0] > 0, "one class, whatever guided"
    kind_of(at, 2).set_value("Classification metric (CM)")
    assert not work(go(at)).running, "all of them were measured together"
