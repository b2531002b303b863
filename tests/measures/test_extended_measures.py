"""Every measure of the folder over k: running sums along a path, dots, what can be picked."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon import measures
from kanon.cards import parts_of
from kanon.charts.board import build_panel_table, draw_board
from kanon.charts.comparison_measures import format_measure, get_axis_scale, list_curve_cards
from kanon.charts.layout import Layout, Panel
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.sweep import Configuration
from kanon.hierarchy.build import suppression
from kanon.measures.along import measure_curves, measure_points
from kanon.measures.extended_measures import (
    extract_further,
    find_measures_at_some_k,
    get_further_cards,
)
from kanon.measures.running import sum_cells_along, sum_nodes_along
from kanon.measures.summary import measure_release
from kanon.measures.yardstick import convert_path, convert_recoding
from kanon.metrics import METRICS
from kanon.sensitive import Sensitive
from support.measured_tables import AGES, SEX
from support.random_tables import SEVEN, Problem, algorithms, examples
from support.random_tables import problems as tables
from support.recodings import path_of

METRIC = [METRICS["ncp"]]
NAMES = {*parts_of(measures)} - {
    *("alteration", "min_k"),  # one per metric; of privacy
    *("generalised_percent", "root_percent", "deleted_among_modified_percent"),  # in CURVES.csv
}


@st.composite
def paths(draw):
    """A merge path to the end, of a table with one or two sensitive columns."""
    problem = draw(tables(max_records=14))
    classes, n = problem.classes(), len(problem.rows)
    group = np.repeat(np.arange(classes.n_classes), classes.counts)
    columns = []
    for name in ["ill", "paid"][: draw(st.integers(1, 2))]:
        codes = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        columns.append(Sensitive.from_records(name, "uvw", False, group, codes, classes.n_classes))
    path = path_of(problem, draw(algorithms(problem)), n)
    return replace(path, classes=replace(classes, sensitive=tuple(columns)))


# --- the same numbers -----------------------------------------------------------------------------
@examples(40)
@given(paths(), st.data())
def test_along_a_path_are_the_numbers_of_its_releases(path, data):
    n = path.classes.n_records
    some = data.draw(st.lists(st.integers(1, n), max_size=3, unique=True))
    curves = measure_curves(path, METRIC, some)
    assert curves.measured_at == tuple(some)
    columns = [each.name for each in path.classes.sensitive]
    known = {curves.row(k) for k in some}
    for k in range(1, n + 1):
        expected = extract_further(measure_release(path.at(k), METRIC, k), columns)
        for name, number in expected.items():
            (found,) = curves.get_further(name, [k])
            of_path = name not in find_measures_at_some_k() and not name.startswith(
                "classification_metric"
            )
            if of_path or curves.row(k) in known:
                assert found == pytest.approx(number, rel=1e-9, abs=1e-9, nan_ok=True), name
            else:
                assert np.isnan(found), "nothing in between is pretended"


@examples(25)
@given(paths())
def test_points_have_all_of_them_at_their_k(path):
    ks = sorted({1, path.classes.n_records})
    points = measure_points({k: path.at(k) for k in ks}, METRIC)
    curves = measure_curves(path, METRIC, ks)
    assert {name.removesuffix("_ill").removesuffix("_paid") for name in points.further} == NAMES
    for name in points.further:
        assert points.get_further(name, ks[::-1]) == pytest.approx(
            curves.get_further(name, ks[::-1]), rel=1e-9, abs=1e-9, nan_ok=True
        )
    assert np.isnan(points.get_further("no such measure", ks)).all()


@examples(25)
@given(paths())
def test_a_path_by_another_yardstick_is_measured_as_its_releases_are(path):
    trees = path.classes.hierarchies
    flat = [suppression([*tree.labels[: tree.n_leaves], "another"]) for tree in trees]
    n = path.classes.n_records
    curves = measure_curves(
        convert_path(path, flat), METRIC, [n], lambda k: convert_recoding(path.at(k), flat)
    )
    for k in (1, n):
        expected = measure_release(convert_recoding(path.at(k), flat), METRIC, k)
        for name in ("iloss", "general_loss", "non_uniform_entropy_bits", "discernibility"):
            assert curves.get_further(name, [k])[0] == pytest.approx(expected[name], abs=1e-9)
    for name in ("distribution_change", "association_change", "query_error_percent"):
        number = np.nan if expected[name] is None else expected[name]
        found = curves.get_further(name, [n])[0]
        assert found == pytest.approx(number, abs=1e-9, nan_ok=True), name


@examples(30)
@given(paths(), st.data())
def test_equal_sums_are_equal_numbers(path, data):
    """In whole numbers: raising everything to the root loses as much whatever the order was."""
    trees = path.classes.hierarchies
    values = [
        np.array(data.draw(st.lists(st.floats(0, 5), min_size=t.n_nodes, max_size=t.n_nodes)))
        for t in trees
    ]
    sums = sum_cells_along(path, values)
    for merges in (0, len(path.parts)):
        cells = zip(path.after(merges).nodes.T, values, strict=True)
        counts = path.after(merges).counts
        exact = sum(float(value[nodes] @ counts) for nodes, value in cells)
        assert sums[merges] == pytest.approx(exact, rel=1e-12, abs=1e-12)
    whole = [np.arange(tree.n_nodes) for tree in trees]
    assert np.array_equal(
        sum_nodes_along(path, whole), sum_cells_along(path, [x * 1.0 for x in whole])
    )


def test_nobody_asked_and_nothing_is_measured():
    path = example_path()
    curves = measure_curves(path, METRIC)
    assert curves.further == {} and curves.measured_at == ()
    assert np.isnan(curves.get_further("precision", [1, 2])).all()
    sums = measure_curves(path, METRIC, ())
    assert not np.isnan(sums.get_further("precision", [1, 2])).any()
    assert sums.get_further("c_avg", [1, 2]).tolist() == [
        sums.further["average_class_size"][sums.row(k)] / k for k in (1, 2)
    ]
    assert np.isnan(sums.get_further("query_error_percent", [1, 2])).all()


def test_every_file_of_the_folder_can_be_picked():
    assert set(get_further_cards()) == NAMES
    assert find_measures_at_some_k() >= {
        *("distribution_change", "association_change", "query_error_percent"),
        *("classification_metric", "level_of_generalisation", "relative_distance"),
    }
    assert find_measures_at_some_k().isdisjoint({
        *("precision", "iloss", "iloss_mean", "general_loss", "discernibility", "c_avg"),
        *("conditional_entropy_bits", "conditional_entropy_percent", "non_uniform_entropy_bits"),
        "average_class_size",
    })  # fmt: skip


# --- the board ------------------------------------------------------------------------------------
def example_path():
    rows = [(a, s) for a in "abcd" for s in "FM" for _ in range(2)] + [("a", "F")]
    problem = Problem((AGES, SEX), tuple(rows))
    chosen = {"metric": "ncp", "cost": "weighted", "tie_seed": None}
    return path_of(problem, chosen, len(rows))


def compared(*runs, ks=(2, 3, 5, 9, 17)) -> Comparison:
    configuration = Configuration("ncp")
    seeds = [None, *range(1, len(runs))]
    line = Line(configuration, METRICS["ncp"], dict(zip(seeds, runs, strict=True)))
    return Comparison((line,), tuple(METRICS[name] for name in SEVEN), 17, ks)


def board_of(comparison, *names):
    layout = Layout(tuple(Panel("curve", name) for name in names))
    return draw_board(comparison, layout), layout


def test_running_sums_are_lines_and_the_others_dots():
    curves = measure_curves(example_path(), [METRICS[name] for name in SEVEN], [2, 17])
    comparison = compared(curves)
    board, layout = board_of(comparison, "precision", "query_error_percent", "discernibility")
    lines = [trace for trace in board.figure.data if trace.meta == "line"]
    assert [trace.mode for trace in lines] == ["lines", "markers", "lines"]
    row = [curves.row(k) for k in comparison.ks]
    there = [k for k, at in zip(comparison.ks, row, strict=True)
             if at in {curves.row(2), curves.row(17)}]  # fmt: skip
    assert list(lines[1].x) == there and 17 in there
    first, second, third = board.cursor["panels"]
    assert (first["log"], second["log"], third["log"]) == (False, False, True)
    assert [value is None for value in second["values"][0]] == [
        k not in there for k in comparison.ks
    ]
    shown = board.cursor["columns"][1]["shown"][0]
    assert [text == "–" for text in shown] == [k not in there for k in comparison.ks]
    assert third["values"][0][-1] == 17**2
    assert 100 in board.figure.layout.yaxis3.tickvals, "a count beyond n has ticks too"
    table = build_panel_table(comparison, layout, 0)
    assert table["precision"].tolist() == curves.get_further("precision", comparison.ks).tolist()


def test_bands_of_dots_are_bars():
    path = example_path()
    metrics = [METRICS[name] for name in SEVEN]
    runs = [measure_curves(path, metrics, [2, 17]) for _ in range(2)]
    higher = {name: values + 1 for name, values in runs[1].further.items()}
    board, _ = board_of(compared(runs[0], replace(runs[1], further=higher)),
                        "query_error_percent", "iloss")  # fmt: skip
    dots = next(trace for trace in board.figure.data if trace.mode == "markers")
    assert list(dots.error_y.array) == [1] * len(dots.x)
    assert list(dots.error_y.arrayminus) == [0] * len(dots.x)


def test_nobody_is_best_where_another_is_not_known():
    metrics = [METRICS[name] for name in SEVEN]
    wide, narrow = (measure_curves(example_path(), metrics, ks) for ks in ([2, 17], [17]))
    worse = {**narrow.further, "query_error_percent": narrow.further["query_error_percent"] + 1}
    lines = (
        Line(Configuration("ncp"), METRICS["ncp"], {None: wide}),
        Line(Configuration("llm"), METRICS["llm"], {None: replace(narrow, further=worse)}),
    )
    board, _ = board_of(replace(compared(wide), lines=lines), "query_error_percent", "precision")
    shown, marks = (board.cursor["columns"][0][what] for what in ("shown", "marks"))
    assert (shown[0][0], shown[1][0]) != ("–", "–") and shown[1][0] == "–"
    assert [one[0] for one in marks] == [0, 0] and [one[-1] for one in marks] == [1, 0]


def test_what_was_not_measured_says_so_and_what_is_not_defined():
    metrics = [METRICS[name] for name in SEVEN]
    without = compared(measure_curves(example_path(), metrics, ()))
    assert without.needs_measuring("query_error_percent") and not without.needs_measuring(
        "precision"
    )
    board, _ = board_of(without, "query_error_percent", "precision")
    said = " ".join(one.text.replace("<br>", " ") for one in board.figure.layout.annotations)
    assert "Query error: press Compare to measure it." in said
    measured = compared(measure_curves(example_path(), metrics, [2]))
    assert not measured.needs_measuring("query_error_percent")
    board, _ = board_of(measured, "level_of_generalisation", "precision")
    said = " ".join(one.text.replace("<br>", " ") for one in board.figure.layout.annotations)
    assert "Level of generalisation is not defined for these releases." in said
    assert "classification_metric" not in list_curve_cards(measured), "no column is sensitive"


def test_a_measure_above_100_percent_has_room():
    path = example_path()
    curves = measure_curves(path, [METRICS[name] for name in SEVEN], [2, 17])
    above = {**curves.further, "query_error_percent": np.full(len(curves.min_k), 250.0)}
    board, _ = board_of(compared(replace(curves, further=above)), "query_error_percent", "iloss")
    assert board.cursor["panels"][0]["range"] == [0, 262.5]


def test_numbers_are_said_as_their_unit_wants():
    cards = get_further_cards()
    assert format_measure(0.0412, cards["distribution_change"]) == "0.041"
    assert format_measure(8.81, cards["query_error_percent"]) == "8.8"
    assert get_axis_scale(cards["discernibility"]) == "log"
    assert get_axis_scale(cards["conditional_entropy_bits"]) == "linear"
