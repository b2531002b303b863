"""Charts on dark paper: what is drawn is seen, and says the same as on white."""

import colorsys
import itertools
import json
import tomllib

import numpy as np
import plotly.colors
import plotly.graph_objects as go
import pytest

from kanon.base.progress import ignore_progress
from kanon.charts import style
from kanon.charts.dark import (
    INK,
    MARK,
    PAPER,
    TEXT,
    compute_contrast,
    convert_colour_to_dark,
    convert_to_dark,
)
from kanon.charts.lattice import draw_lattice
from kanon.charts.style import INK as DARK_INK
from kanon.charts.walks import WALK_LOOKS
from kanon.experiments.exploration import measure_lattice
from kanon.run import prepare
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support.dashboard import DATA
from support.dashboard import go as go_to
from support.eyes import EYES, oklab
from support.paths import ROOT

COLOURS = {
    *style.METRIC_COLOURS.values(),
    *style.STRATEGY_COLOURS.values(),
    *style.ALGORITHM_COLOURS.values(),
    *style.ROLE_COLOURS.values(),
    *style.SAVED_COLOURS,
    *(style.get_metric_colour(f"one of {number}") for number in range(40)),
    *("#2166AC", "#B35806", "#1B7F79", "#4B0082", DARK_INK),
}


def stops(scale):
    figure = convert_to_dark(go.Figure(go.Heatmap(z=[[0, 1]], colorscale=scale)))
    return [colour for _, colour in figure.data[0].colorscale]


def test_paper_and_ink_are_those_of_the_theme():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]["dark"]
    assert (theme["backgroundColor"], theme["textColor"]) == (PAPER, INK)


def test_what_is_drawn_is_seen_and_what_is_written_can_be_read():
    for colour in COLOURS:
        assert compute_contrast(convert_colour_to_dark(colour)) >= MARK, colour
        assert compute_contrast(convert_colour_to_dark(colour, TEXT)) >= TEXT, colour
        name = style.get_text_colour(colour)  # in the colour of its line
        assert compute_contrast(convert_colour_to_dark(name, TEXT)) >= TEXT, colour


def test_what_can_be_seen_already_stays_what_it_is():
    kept = [one for one in style.METRIC_COLOURS.values() if convert_colour_to_dark(one) == one]
    assert len(kept) >= 7 and all(compute_contrast(one) >= MARK for one in kept)


@pytest.mark.parametrize("eye", EYES)
def test_colours_of_strategies_stay_apart_for_every_eye(eye):
    seen = oklab(
        [convert_colour_to_dark(one) for one in style.STRATEGY_COLOURS.values()], EYES[eye]
    )
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 0.07


def test_colours_of_metrics_stay_apart():
    seen = oklab(
        [convert_colour_to_dark(one) for one in style.METRIC_COLOURS.values()], EYES["normal"]
    )
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 0.08


def hue(colour):
    return colorsys.rgb_to_hls(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))[0]


def test_a_colour_of_a_scale_says_the_same_number_as_on_white():
    white = [colour for _, colour in plotly.colors.get_colorscale("Viridis_r")]
    for before, after in zip(white, stops("Viridis_r"), strict=True):
        assert hue(before.upper()) == pytest.approx(hue(after), abs=0.02)
        assert compute_contrast(after) >= 1.5
    lights = [compute_contrast(one, "#000000") for one in stops("Viridis_r")]
    assert lights == sorted(lights, reverse=True) and len(set(lights)) == len(lights)
    with_nothing = [
        [0, "#EEF1F4"],
        *([max(1e-6, at), one] for at, one in zip(np.linspace(0, 1, 10), white, strict=True)),
    ]
    nothing, *rest = stops(with_nothing)
    assert compute_contrast(nothing) < 1.5 and rest == stops("Viridis_r")


@pytest.mark.parametrize("scale", ["PuOr", "RdBu"])
def test_of_a_scale_with_two_ends_the_middle_is_the_paper(scale):
    seen = stops(scale)
    assert compute_contrast(seen[5]) < 1.2
    for side in (seen[5::-1], seen[5:]):
        away = [compute_contrast(one) for one in side]
        assert away == sorted(away) and away[-1] >= MARK


def test_texts_and_the_given_figure_stay_as_they_are():
    figure = style.set_common_look(
        go.Figure(go.Scatter(x=["#1B1F24", "white"], y=[1, 2], text="color: #1B1F24")), "white"
    )
    figure.update_layout(title="<span style='color:#5B6570'>about</span> #5B6570")
    before = figure.to_json()
    turned = convert_to_dark(figure)
    assert figure.to_json() == before
    assert turned.data[0].x == ("#1B1F24", "white") and turned.data[0].text == "color: #1B1F24"
    assert turned.layout.paper_bgcolor == turned.layout.plot_bgcolor == PAPER
    assert turned.layout.font.color == INK
    title = turned.layout.title.text
    assert title.endswith("</span> #5B6570") and "style='color:#5B6570" not in title


def test_what_a_chart_of_many_parts_says_is_the_same():
    session = open_sample("hospital")
    explored = measure_lattice(
        ignore_progress, prepare(build_plan(session), session.table.records).task()
    )
    figure = draw_lattice(explored, "loss", tuple(WALK_LOOKS), None, explored.least)
    turned = convert_to_dark(figure)
    shown = [json.loads(one.to_json())["data"] for one in (figure, turned)]
    for before, after in zip(*shown, strict=True):
        for name in ("x", "y", "customdata", "text", "name"):
            assert before.get(name) == after.get(name)
    assert figure.layout.coloraxis.colorscale[0][1] == "#fde725"
    assert turned.layout.coloraxis.colorscale[0][1] == "#FDE725"


# --- on a page ------------------------------------------------------------------------------
def papers(at):
    return {json.loads(one.proto.spec)["layout"]["paper_bgcolor"] for one in at.get("plotly_chart")}


@pytest.mark.nightly
def test_pages_draw_on_the_paper_of_their_theme(start, monkeypatch):
    at = start(DATA)
    assert papers(at) == {"white"}
    monkeypatch.setattr("kanon.studio.widgets.picture.is_dark_theme", lambda: True)
    assert papers(go_to(at)) == {PAPER}
