"""The pictures of a comparison: looks, the board and its layout, the front, small multiples."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithm_named
from kanon.charts.board import build_panel_table, draw_board
from kanon.charts.comparison_measures import build_measure_table, list_curve_cards
from kanon.charts.layout import (
    COSTS,
    SIZES,
    Layout,
    Panel,
    choose_starting_layout,
    create_curves_layout,
    read_layout,
)
from kanon.charts.line_style import choose_looks
from kanon.charts.panels import KINDS
from kanon.charts.scatter import build_scatter_table
from kanon.charts.style import SAVED_COLOURS, STRATEGY_COLOURS, STRATEGY_DASHES, STRATEGY_MARKERS
from kanon.errors import PlanError
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.criteria import CRITERIA
from kanon.experiments.sweep import Configuration
from kanon.experiments.titles import combine_settings, create_titles
from kanon.hierarchy.build import suppression
from kanon.hierarchy.cost_matrices import cut, matrix_of
from kanon.measures import class_sizes
from kanon.measures.along import Points
from kanon.measures.pareto import find_pareto_front
from kanon.metrics import METRICS, metric_named, potentials
from kanon.plan import Plan
from kanon.run import prepare
from kanon.strategies import STRATEGIES
from kanon.studio.widgets.standings import build_standing_table
from support.eyes import EYES, oklab
from support.random_tables import SEVEN, examples, problems

KS = (2, 4, 6)
BEST_L = {"disease": 2.0}


def points(percent, diversity, distance, ks=KS):
    """Criteria that all have the same percentages, and l and t of one sensitive column."""
    percent = np.array(percent, dtype=float)
    names = [f"alteration_{name}" for name in SEVEN]
    names += [name for name in CRITERIA if name != "min_k"]
    numbers = {**dict.fromkeys(names, percent), "classes": np.array([3, 2, 1])[: len(ks)]}
    private = {
        "entropy_l": np.array(diversity, dtype=float) / 50,  # of 2.0: in percent what is given
        "t_norm1": np.array(distance, dtype=float) / 50,
    }
    return Points({"k": np.array(ks), "min_k": np.array(ks), **numbers, **private})


def line(configuration, percent=(1, 5, 9), *ties, diversity=(20, 40, 60), distance=(50, 30, 10),
         kept=False):  # fmt: skip
    """A line with given percentages under tie seeds None, 7, 8, …"""
    if isinstance(configuration, str):
        configuration = Configuration(configuration)
    seeds = [None, *range(7, 7 + len(ties))]
    runs = {
        seed: points(one, diversity, distance)
        for seed, one in zip(seeds, (percent, *ties), strict=True)
    }
    guide = METRICS[configuration.metric]
    return Line(configuration, guide, runs, kept=kept, best_l=BEST_L)


def compared(*lines, sensitive="disease"):
    titles = create_titles(
        [one.configuration for one in lines], {m: METRICS[m].card.title for m in METRICS}
    )
    named = tuple(replace(one, title=title) for one, title in zip(lines, titles, strict=True))
    return Comparison(named, tuple(METRICS[name] for name in SEVEN), 6, KS, sensitive)


def lines_drawn(figure):
    return [trace for trace in figure.data if trace.meta == "line"]


# --- looks --------------------------------------------------------------------------------------
@pytest.mark.parametrize("eye", EYES)
def test_colours_of_strategies_stay_apart_for_every_eye(eye):
    seen = oklab(list(STRATEGY_COLOURS.values()), EYES[eye])
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))
    assert nearest > 0.08, "about four times what can just be told apart"


def test_colour_says_the_metric_and_dash_and_marker_the_strategy():
    both = compared(*map(line, combine_settings(["ncp", "llm"], ["s1", "s3"], ["table", "class"])))
    looks = choose_looks(both)
    assert looks["ncp"].colour == looks["ncp · s3"].colour == looks["ncp · s3 · class"].colour
    assert looks["ncp"].colour != looks["llm"].colour
    for one in both.lines:
        strategy = one.configuration.strategy
        assert looks[one.name].dash == STRATEGY_DASHES[strategy]
        assert looks[one.name].marker == STRATEGY_MARKERS[strategy]
        assert looks[one.name].filled is (one.configuration.scope == "table")
    assert looks["llm · s3 · class"].symbol == "triangle-up-open"


@pytest.mark.parametrize("algorithm", ["mondrian", "mdav", "oka"])
@pytest.mark.parametrize("metric", [name for name in SEVEN if name != "nllm"])
def test_lines_of_one_dash_and_marker_have_colours_far_apart(metric, algorithm):
    configurations = combine_settings(["nllm", metric], ["s1", "l"])
    configurations = (*configurations, Configuration("nllm", "s1", algorithm=algorithm))
    looks = list(choose_looks(compared(*map(line, configurations))).values())
    for one, other in itertools.combinations(looks, 2):
        if (one.dash, one.symbol) == (other.dash, other.symbol):
            seen = oklab([one.colour, other.colour], EYES["normal"])
            assert np.linalg.norm(seen[0] - seen[1]) > 0.05


def test_where_strategies_alone_vary_colour_says_the_strategy():
    some = compared(*map(line, combine_settings(["nllm"], ["s1", "s3", "l"])))
    assert [look.colour for look in choose_looks(some).values()] == [
        STRATEGY_COLOURS[name] for name in ("s1", "s3", "l")
    ]
    alone = compared(line(Configuration("nllm", "s3")))
    assert (
        choose_looks(alone)[alone.lines[0].name].colour
        == choose_looks(compared(line("nllm")))["nllm"].colour
    )


@pytest.mark.nightly
@given(st.data())
def test_no_two_lines_look_alike(data):
    several = st.lists(
        st.builds(
            Configuration,
            st.sampled_from(SEVEN),
            st.sampled_from(sorted(STRATEGIES)),
            st.none(),
            st.sampled_from(["table", "class"]),
            st.sampled_from(["gaa", "gaa-small", "datafly"]),
        ),
        min_size=1, max_size=20, unique=True,
    )  # fmt: skip
    chosen = [line(one) for one in data.draw(several)]
    names = [one.name for one in chosen]
    chosen = [one for place, one in enumerate(chosen) if one.name not in names[:place]]
    kept = [replace(one, name=f"kept {place}", kept=True) for place, one in enumerate(chosen[:3])]
    looks = choose_looks(compared(*chosen, *kept))
    assert list(looks) == [one.name for one in (*chosen, *kept)]
    assert len(set(looks.values())) == len(looks)
    assert [looks[one.name].colour for one in kept] == list(SAVED_COLOURS[: len(kept)])


# --- layouts ------------------------------------------------------------------------------------
PANELS = st.builds(
    Panel,
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(["", "min_k", "l_percent"]),
    st.text(max_size=5),
    st.sampled_from(["", "ncp"]),
    st.lists(st.text(max_size=5), max_size=3).map(tuple),
)


@given(st.lists(PANELS, min_size=2, max_size=9))
def test_a_saved_layout_is_the_same_when_it_is_loaded(panels):
    layout = Layout(tuple(panels))
    assert read_layout(layout.to_json(), KINDS) == layout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "not valid JSON"),
        ("[]", "it has to be an object"),
        ('{"panels": []}', "lacks the key version"),
        ('{"version": 2, "panels": []}', "key version: '2' is not allowed"),
        ('{"version": 1, "panels": []}', "2 to 9 panels; this layout has 0"),
        ('{"version": 1, "panels": [{"kind": "curve"}]}', "this layout has 1"),
        (
            '{"version": 1, "panels": [{"kind": "curve"}, {"kind": "pie"}]}',
            "Panel 2 has the unknown kind",
        ),
        (
            '{"version": 1, "panels": [{"kind": "curve", "colour": "red"}]}',
            "panels.0: the key 'colour'",
        ),
        ('{"version": 1, "panels": [{"measure": "min_k"}]}', "lacks the key panels.0.kind"),
        ('{"version": 1, "panels": [{"kind": 3}]}', "key panels.0.kind"),
        ('{"version": 1, "panels": [{"kind": "curve", "lines": "ncp"}]}', "panels.0.lines"),
        ('{"version": 1, "panels": null}', "key panels"),
    ],
)
def test_what_is_no_layout_is_said_in_a_sentence(text, sentence):
    with pytest.raises(PlanError) as caught:
        read_layout(text, KINDS)
    assert sentence in caught.value.sentence and "\n" not in caught.value.sentence


@examples(100)
@given(st.text(max_size=40) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
    json.dumps))  # fmt: skip
def test_no_text_breaks_the_reading_of_a_layout(text):
    with pytest.raises(PlanError):
        read_layout(text, KINDS)


@given(st.lists(PANELS, min_size=2, max_size=9), st.integers(2, 9))
def test_a_board_of_another_size_keeps_what_stood_first(panels, number):
    layout = Layout(tuple(panels)).select_panels(number)
    assert len(layout.panels) == number
    assert layout.panels[: len(panels)] == tuple(panels)[:number]


def test_without_a_choice_the_board_shows_l_and_t_where_there_are_any():
    with_l = compared(line("ncp"))
    assert [panel.measure for panel in choose_starting_layout(with_l.criteria).panels] == [
        "mean_alteration", "l_percent", "t_percent", "generalised_percent", "root_percent", "min_k"
    ]  # fmt: skip
    without = compared(line("ncp"), sensitive="")
    assert choose_starting_layout(without.criteria) == COSTS
    assert [panel.measure for panel in COSTS.panels] == list(CRITERIA)


# --- the board ----------------------------------------------------------------------------------
def test_the_board_and_its_cursor_speak_of_the_same_numbers():
    comparison = compared(line("ncp", [1, 5, 9], [2, 6, 9]), line("llm", [3, 8, 9], [1.5, 9, 9]))
    board = draw_board(comparison)
    cursor = board.cursor
    assert cursor["ks"] == [2, 4, 6]
    assert [panel["title"] for panel in cursor["panels"]] == [
        list_curve_cards(comparison)[panel.measure].title
        for panel in choose_starting_layout(comparison.criteria).panels
    ]
    assert [list(trace.y) for trace in lines_drawn(board.figure)] == [
        values for panel in cursor["panels"] for values in panel["values"]
    ]
    for place, panel in enumerate(cursor["panels"], 1):
        axis = board.figure.layout["xaxis" if place == 1 else f"xaxis{place}"]
        assert list(axis.domain) == panel["x"]
        assert list(axis.range) == cursor["range"]
        assert axis.fixedrange, "a zoomed axis would leave the cursor behind"
        assert axis.automargin is False
        height = board.figure.layout["yaxis" if place == 1 else f"yaxis{place}"]
        assert list(height.range) == panel["range"] and height.fixedrange
        assert (height.type == "log") is panel["log"]
    percent = [panel["range"] for panel in cursor["panels"] if not panel["log"]]
    assert len(percent) == 5
    t = [panel["title"].startswith("Distance") for panel in cursor["panels"] if not panel["log"]]
    assert all(
        [end * (100 if is_t else 1) for end in one] == pytest.approx(percent[0])
        for one, is_t in zip(percent, t, strict=True)
    ), "compared panels share one scale, t from 0 to 1 beside percentages"
    assert [trace.line.color for trace in lines_drawn(board.figure)[:2]] == [
        told["colour"] for told in cursor["lines"]
    ]


def test_curves_are_stairs_only_where_every_k_is_known():
    figure = draw_board(compared(line("ncp", [1, 5, 9]))).figure
    assert {trace.line.shape for trace in lines_drawn(figure)} == {"linear"}
    assert {trace.mode for trace in lines_drawn(figure)} == {"lines+markers"}


def test_the_numbers_at_the_cursor_are_rounded_once_and_the_best_is_marked():
    found = compared(
        line("ncp", [1.24, 5, 9], diversity=(20, 40, 60)),
        line("llm", [1.16, 5.04, 9], diversity=(30, 40, 60)),
        line("total", [3, 4, 9], diversity=(10, 50, 60)),
    )
    columns = {one["title"]: one for one in draw_board(found).cursor["columns"]}
    mean, diversity = columns["Mean alteration"], columns["Diversity (entropy l)"]
    assert [row[0] for row in mean["shown"]] == ["1.2", "1.2", "3.0"]
    assert mean["marks"] == [[1, 0, 0], [1, 0, 0], [0, 1, 0]], "equal is what looks equal"
    assert (mean["arrow"], diversity["arrow"]) == ("↓", "↑")
    assert diversity["marks"] == [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "of diversity, more is better"


def test_where_ties_decide_the_numbers_say_so():
    found = compared(
        line("ncp", [1, 5, 9], [2, 5, 9]), line("llm", [3, 8, 9], [1.5, 8, 9]),
        line("total", [7, 8, 9], [7, 8, 9]),
    )  # fmt: skip
    marks = draw_board(found).cursor["columns"][0]["marks"]
    assert marks == [[3, 1, 0], [2, 0, 0], [0, 0, 0]]


def mixed_board(comparison, *panels):
    tree = suppression(["a", "<b>", "c"])
    depth = potentials(metric_named("ncp"), [tree])[0]

    def costs(column, metric):
        return matrix_of(tree, depth, cut(tree, tree.root)) if column == "sex" else None

    layout = Layout(panels)
    return draw_board(comparison, layout, costs), layout, costs


def test_a_matrix_and_a_scatter_stand_beside_a_curve():
    comparison = compared(
        line("ncp", [1, 5, 9], diversity=(20, 40, 60)),
        line("llm", [2, 4, 8], diversity=(30, 40, 50)),
        line("total", [3, 6, 9], diversity=(25, 41, 60)),
    )
    board, layout, costs = mixed_board(
        comparison, Panel("curve", "min_k", lines=("ncp", "gone")),
        Panel("matrix", column="sex", metric="ncp"), Panel("scatter", "l_percent"),
    )  # fmt: skip
    curve, matrix, scatter = board.cursor["panels"]
    assert curve["lines"] == [0] and len(curve["values"]) == 1
    assert matrix["kind"] == "still"
    (heat,) = [trace for trace in board.figure.data if trace.type == "heatmap"]
    assert heat.z.max() == 100 and heat.z.min() == 0, "shares of losing a value"
    assert "<b>" not in str(heat.customdata) and heat.customdata[0][1] == ["a", "&lt;b&gt;"]
    assert scatter["xs"][1] == [2, 4, 8] and scatter["values"][1] == [30, 40, 50]
    assert scatter["front"] == [[0, 1], [1, 2], [0, 1, 2]], "by hand; equal ones stay"
    assert scatter["said"][0] == "Nothing beats NCP and LLM in both diversity and mean alteration."
    assert [column["title"] for column in board.cursor["columns"]] == [
        "Minimum k", "Mean alteration", "Diversity (entropy l)"
    ]  # fmt: skip
    tables = [build_panel_table(comparison, layout, place, costs) for place in range(3)]
    assert set(tables[0]["configuration"]) == {"ncp"} and tables[0]["min_k"].tolist() == [2, 4, 6]
    assert tables[1].shape[0] == len(heat.z)
    at_two = tables[2][tables[2]["k"] == 2]
    assert at_two["on_front"].tolist() == [True, True, False]


@pytest.mark.parametrize("filling", [(), (1,)])
def test_a_matrix_names_its_rows_and_columns(filling):
    comparison = compared(line("ncp"), line("llm"))
    tree = suppression([f"a long value {i}" for i in range(9)])
    depth = potentials(metric_named("ncp"), [tree])[0]
    layout = Layout((Panel("curve", "min_k"), Panel("matrix", column="sex", metric="ncp")))
    board = draw_board(
        comparison, layout, lambda *_: matrix_of(tree, depth, cut(tree, tree.root)), filling
    )
    number = "2" if not filling else ""
    for kind in "xy":
        axis = board.figure.layout[f"{kind}axis{number}"]
        assert axis.tickfont.size >= 10 and len(axis.labelalias) == 10
        drawn, panel = list(axis.domain), board.cursor["panels"][-1][kind]
        assert drawn[0] > panel[0] and drawn[1] == panel[1], "labels stand within the panel"
    assert (board.cursor["numbers"] is None) is bool(filling)
    small, large = (SIZES[columns].choose_label_size(list("abcdefghij"))[0] for columns in (3, 1))
    assert 10 <= small < large


def test_what_a_comparison_lacks_is_said_in_its_place():
    comparison = compared(line("ncp"), sensitive="")
    board, layout, costs = mixed_board(
        comparison, Panel("curve", "l_percent"), Panel("scatter", "t_percent"),
        Panel("matrix", column="gone"), Panel("curve", "min_k", lines=("gone",)),
        Panel("curve", "no such"), Panel("matrix"),
    )  # fmt: skip
    texts = [one.text.replace("<br>", " ") for one in board.figure.layout.annotations]
    assert sum("without a sensitive column" in text for text in texts) == 2
    assert "This table has no cost matrix of gone." in texts
    assert "This comparison has none of the configurations chosen for this panel." in texts
    assert "This comparison has no measure no such." in texts
    assert "Choose a column and a metric for this cost matrix." in texts
    assert not lines_drawn(board.figure) and board.cursor["columns"] == []
    assert all(build_panel_table(comparison, layout, place, costs).empty for place in range(6))


def test_bands_stand_behind_the_lines_of_the_board():
    bands = compared(line("ncp", [1, 5, 9], [2, 4, 9]), line("llm", [3, 8, 9], [3, 8, 9]))
    figure = draw_board(
        bands, create_curves_layout("l_percent", "t_percent").select_panels(3)
    ).figure
    filled = [trace for trace in figure.data if trace.fill == "tonexty"]
    assert len(filled) == 2 * 3
    third = [trace for trace in filled if trace.xaxis == "x3"]
    assert [list(trace.y) for trace in third] == [[2, 5, 9], [3, 8, 9]]
    scatter = draw_board(bands, Layout((Panel("scatter", "l_percent"), Panel("scatter", "min_k"))))
    assert scatter.cursor["panels"][0]["wide"] == [[[1, 4, 9], [3, 8, 9]], [[2, 5, 9], [3, 8, 9]]]


def test_what_a_cursor_is_told_can_be_sent():
    every = compared(
        *map(line, combine_settings(["ncp", "llm"], sorted(STRATEGIES), ["table", "class"]))
    )
    layout = Layout(tuple(Panel(kind, "l_percent", "sex", "ncp") for kind in KINDS))
    json.dumps(draw_board(every, layout).cursor, allow_nan=False)


# --- the front ----------------------------------------------------------------------------------
COORDINATES = st.integers(-3, 3).map(float) | st.just(float("nan"))


@examples(200)
@given(
    st.integers(1, 3).flatmap(
        lambda width: st.tuples(
            st.lists(st.tuples(*[COORDINATES] * width), min_size=1, max_size=9),
            st.tuples(*[st.sampled_from(["lower", "higher"])] * width),
        )
    )
)
def test_the_front_is_what_its_definition_says(case):
    points, directions = case
    found = find_pareto_front(np.array(points), directions)

    def beats(one, other):
        pairs = list(zip(one, other, directions, strict=True))
        as_good = all(a <= b if way == "lower" else a >= b for a, b, way in pairs)
        return as_good and any(a < b if way == "lower" else a > b for a, b, way in pairs)

    for place, point in enumerate(points):
        known = not any(np.isnan(point))
        expected = known and not any(beats(other, point) for other in points)
        assert found[place] == expected
    if any(not any(np.isnan(point)) for point in points):
        assert found.any(), "somebody is always ahead"


@pytest.mark.parametrize("directions", [["lower"], ["lower", "best"]])
def test_a_front_needs_a_direction_per_coordinate(directions):
    with pytest.raises(ValueError, match="direction"):
        find_pareto_front(np.zeros((3, 2)), directions)


def test_equal_ones_are_both_on_the_front_with_their_bands():
    found = compared(line("ncp", [2, 5, 9], [1, 6, 9]), line("llm", [2, 5, 9], [2, 5, 10]))
    table = build_scatter_table(found, "min_k")
    assert table["on_front"].all() and len(table) == 6
    assert table["mean_alteration_high"].tolist()[:3] == [2, 6, 9]


# --- class sizes --------------------------------------------------------------------------------
@examples(40)
@given(problems())
def test_class_sizes_along_a_path_are_those_of_each_release(problem):
    assume(len(problem.rows) > 1)  # one record alone is never hidden
    plan = Plan.from_content(problem.plan())
    task = prepare(plan, problem.frame()).task()
    n = task.classes.n_records
    path = algorithm_named("gaa").merge_path(replace(task, k=n), lambda part, text: None)
    found = class_sizes.measure_class_sizes_along(path)
    assert found.shape == (len(path.distinct_k), class_sizes.count_size_bins(n))
    for k, row in zip(path.distinct_k, found, strict=True):
        release = path.at(int(k))
        assert row.tolist() == class_sizes.measure_class_sizes(release).tolist()
        for place, records in enumerate(row):
            sizes = [size for size in release.counts if 2**place <= size < 2 ** (place + 1)]
            assert records == sum(sizes)
        assert row.sum() == n


def test_the_panel_of_class_sizes_follows_the_cursor():
    def sized(one, *rows):
        (points_,) = one.runs.values()
        return replace(one, runs={None: replace(points_, class_sizes=np.array(rows))})

    found = compared(
        sized(line("ncp"), [0, 4, 2], [0, 0, 6], [0, 0, 6]),
        sized(line("llm"), [0, 6, 0], [0, 2, 4], [0, 0, 6]),
    )
    layout = Layout((Panel("classes"), Panel("curve", "classes")))
    board = draw_board(found, layout)
    told, count = board.cursor["panels"]
    assert told["kind"] == "profile" and count["kind"] == "curves"
    assert told["grid"] == pytest.approx(np.log10([1, 3, 6]))
    assert told["profiles"][0] == [[0, 66.67, 100], [0, 0, 100], [0, 0, 100]]
    assert [column["title"] for column in board.cursor["columns"]] == ["Number of classes"]
    table = build_panel_table(found, layout, 0)
    at_two = table[(table["k"] == 2) & (table["configuration"] == "llm")]
    assert at_two["records_percent"].tolist() == [0, 100, 100]
    # Where nobody counted them, their number is shown.
    told = draw_board(compared(line("ncp")), layout).cursor["panels"][0]
    assert told["kind"] == "curves" and told["title"] == "Number of classes"


def test_t_is_from_0_to_1_on_the_board_in_its_files_and_in_tables_of_who_is_ahead():
    """The most unusual class of a line is 90.4 % away: t = 0.904, by norm 1 1.808."""
    found = compared(
        line("ncp", [1, 5, 9], distance=(90.4, 45, 0)), line("llm", [3, 8, 9], distance=(50, 40, 0))
    )
    columns = {one["title"]: one for one in draw_board(found).cursor["columns"]}
    t = columns["Distance (t, total variation)"]
    assert t["unit"] == "0 to 1" and [row[0] for row in t["shown"]] == ["0.904", "0.500"]
    for table in (
        build_measure_table(found, "t_percent"),
        build_scatter_table(found, "t_percent"),
        found.table(),
    ):
        assert table["t_variational"].max() == pytest.approx(0.904)
        assert not {"t_percent", "t_norm1"} & set(table.columns)
    shown = build_standing_table(found.places(2), {}, {}).data
    (row,) = (name for name in shown.index if name.startswith("t_percent"))
    assert shown.loc[row].tolist() == ["0.904\u00a0(2)", "0.500\u00a0(1)"]


@pytest.mark.parametrize("number", [2, 3])
def test_panels_on_a_projector_have_one_cursor_and_no_small_letters(number):
    comparison = compared(line("ncp"), line("llm"))
    whole = draw_board(comparison, COSTS)
    board = draw_board(comparison, COSTS, filling=tuple(range(number)))
    assert board.cursor["numbers"] is None and board.cursor["ks"] == whole.cursor["ks"]
    titles = [panel["title"] for panel in whole.cursor["panels"]]
    assert [panel["title"] for panel in board.cursor["panels"]] == titles[:number]
    layout = board.figure.layout
    sizes = [note.font.size for note in layout.annotations]
    for place in ("", *range(2, number + 1)):
        for kind in "xy":
            axis = layout[f"{kind}axis{place}"]
            sizes += [axis.tickfont.size, axis.title.font.size or 16]
    assert min(sizes) >= 16
    small = [note.text for note in layout.annotations if "font-size:16px" not in note.text]
    assert small == []
