"""The presets of the page Compare: lines and panels with one press, and the way back."""

from types import SimpleNamespace

import pytest

from kanon.charts.layout import NODES, Layout
from kanon.metrics import METRICS, PUBLISHED
from kanon.studio.compare.choices_panel import PRESETS, choose_matrix_column, set_preset
from kanon.studio.session import server, state
from kanon.studio.session.table_loading import open_sample
from support import dashboard as ui
from support.works import with_fields

SENSITIVE = {"l_percent", "t_percent"}


def kinds(layout):
    return [(panel.kind, panel.measure) for panel in layout.panels]


def drawn(at):
    """Every panel shows something: one that cannot be drawn has no title."""
    return all(panel["title"] for panel in ui.told_to_cursor(at)["panels"])


@pytest.mark.nightly
def test_one_press_sets_lines_and_panels_and_one_takes_them_back(start):
    at = ui.go(start(), ui.COMPARE)
    before = ui.work(at).compare
    ui.settled(ui.press(at, "Everything side by side"))
    assert ui.board_lines(at) == [METRICS[name].card.title for name in PUBLISHED]
    assert not ui.problems(at)
    assert len(ui.told_to_cursor(at)["panels"]) == 9 and drawn(at)
    assert kinds(ui.work(at).compare.layout) == kinds(Layout(PRESETS["everything"].panels))
    matrices = [panel for panel in ui.work(at).compare.layout.panels if panel.kind == "matrix"]
    assert len({panel.metric for panel in matrices}) == len(matrices) == 2
    ui.settled(ui.press(at, "Strategies"))
    assert ui.board_lines(at) == [f"S{number}" for number in range(1, 8)] and drawn(at)
    assert ui.work(at).compare.k_preset == "thirteen"
    assert len(ui.work(at).findings.runs) == 13, "S1 with NLLM was there"
    ui.press(at, "Undo the preset")
    assert vars(ui.work(at).compare) == vars(before), "both presses are one step"
    assert not any(one.label == "Undo the preset" for one in at.button)
    ui.press(at, "Strategies")
    assert ui.board_lines(at)[1] == "S2" and not ui.work(at).running, "all of them were made before"
    ui.enter(at, at.button_group(key="compare-strategies"), ["s1", "s2"])
    assert not any(one.label == "Undo the preset" for one in at.button), "chosen by hand since"


@pytest.mark.parametrize(
    "name",
    [
        "strategies",
        *(
            pytest.param(name, marks=pytest.mark.nightly)
            for name in PRESETS
            if name != "strategies"
        ),
    ],
)
def test_without_a_sensitive_column_what_needs_one_is_left_out_and_said(start, name):
    at = ui.go(start(sample="animals-v21"), ui.COMPARE)
    assert any("presets leave out l, t" in one for one in ui.captions(at))
    assert at.button_group(key="compare-strategies").options == ["S1", "K"]
    ui.settled(ui.press(at, PRESETS[name].title))
    assert not ui.problems(at) and drawn(at)
    wanted = [(kind, measure) for kind, measure in kinds(Layout(PRESETS[name].panels))
              if measure not in SENSITIVE]  # fmt: skip
    assert kinds(ui.work(at).compare.layout) == wanted and len(wanted) >= 2
    if name == "strategies":
        assert ui.board_lines(at) == ["S1", "K"], "the strategies that look at no sensitive column"
    else:
        assert len(ui.board_lines(at)) == 7


def test_a_preset_fits_the_table_and_the_column_that_is_looked_at():
    census = open_sample("census")
    assert set_preset(census, "strategies").compare.interval == (3, 15_000)
    sizes = {name: tree.n_nodes for name, tree in census.table.trees.items()}
    whole = [size for size in sizes.values() if size <= NODES]
    assert sizes[choose_matrix_column(census)] == max(whole)
    other = min(sizes, key=sizes.__getitem__)
    assert choose_matrix_column(with_fields(census, column=other)) == other
    assert choose_matrix_column(with_fields(census, column="gone")) == choose_matrix_column(census)


@pytest.mark.nightly
def test_a_part_that_draws_itself_again_brings_nobody_s_choice(start, monkeypatch):
    """The line of what is under way asks a browser that may still hold what was chosen before."""
    at = ui.go(start(), ui.COMPARE)
    ui.settled(ui.press(at, "Metrics"))
    with monkeypatch.context() as ticks:
        parts = SimpleNamespace(fragment_ids_this_run=["progress"])
        ticks.setattr(server, "get_script_run_ctx", lambda: parts)
        assert server.is_fragment_run()
    with monkeypatch.context() as ticks:
        ticks.setattr(state, "is_fragment_run", lambda: True)
        ui.enter(at, at.button_group(key="compare-metrics"), ["ncp"])
    assert ui.work(at).compare.compared == PUBLISHED and not server.is_fragment_run()
    at.button_group(key="compare-metrics").set_value(["ncp"])
    assert ui.board_lines(ui.go(at)) == ["NCP"], "a choice is one"
