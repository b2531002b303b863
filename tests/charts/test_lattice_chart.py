"""The picture of a lattice: what is drawn is what was counted."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kanon.algorithms.task import Task
from kanon.base.formatting import write_percent
from kanon.base.progress import ignore_progress
from kanon.charts import lattice
from kanon.charts.walks import WALK_LOOKS
from kanon.experiments.exploration import (
    create_outline,
    list_neighbours,
    measure_lattice,
    measure_nodes,
)
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.run import prepare
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support.random_tables import PlainTree, Problem, examples


def task_named(sample: str) -> Task:
    work = open_sample(sample)
    return prepare(build_plan(work), work.table.records).task()


@pytest.fixture(scope="module")
def hospital():
    return measure_lattice(ignore_progress, task_named("hospital"))


@pytest.fixture(scope="module")
def census():
    return measure_lattice(ignore_progress, task_named("census"))


def traces(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def trace(figure, name):
    (found,) = traces(figure, name)
    return found


def keys(one):
    return [tuple(map(int, key.split())) for key in one.customdata]


# --- nodes and edges --------------------------------------------------------------------------
@given(tops=some.lists(some.integers(0, 3), min_size=1, max_size=4))
@examples(60)
def test_a_lattice_has_as_many_edges_as_the_formula_says(tops):
    nodes = list(itertools.product(*(range(top + 1) for top in tops)))
    heights = [top + 1 for top in tops]
    expected = sum(
        (h - 1) * math.prod(heights[:j] + heights[j + 1 :]) for j, h in enumerate(heights)
    )
    pairs = lattice.find_edges(nodes)
    assert len(pairs) == len(set(pairs)) == expected
    assert all(sum(high) - sum(low) == 1 for low, high in pairs)


@pytest.mark.parametrize("colouring", lattice.COLOURINGS)
def test_every_node_is_drawn_at_its_height_by_whether_it_satisfies(census, colouring):
    figure = lattice.draw_lattice(census, colouring)
    found = census.assessment
    drawn = {}
    for name, wanted, symbol in (("satisfies", True, "circle"), ("does not satisfy", False, "x")):
        one = trace(figure, name)
        assert one.marker.symbol == symbol
        assert [found.satisfying[found.places[node]] for node in keys(one)] == [wanted] * len(one.x)
        drawn |= dict(zip(keys(one), zip(one.x, one.y, strict=True), strict=True))
    assert len(drawn) == 1080
    assert all(y == sum(node) for node, (_, y) in drawn.items())
    for height, count in enumerate(census.per_height):  # side by side in canonical order
        row = [drawn[node][0] for node in sorted(drawn) if sum(node) == height]
        assert row == [place - (count - 1) / 2 for place in range(count)]


def test_colours_are_the_numbers(hospital):
    found = hospital.assessment
    for colouring, values in (("loss", found.loss), ("reached", np.log10(found.reached))):
        figure = lattice.draw_lattice(hospital, colouring)
        for name in ("satisfies", "does not satisfy"):
            one = trace(figure, name)
            expected = [values[found.places[node]] for node in keys(one)]
            assert np.allclose(one.marker.color, expected)
    assert figure.layout.coloraxis.cmax == 1.0  # ten records: k up to 10
    plain = lattice.draw_lattice(hospital, "satisfying")
    assert trace(plain, "satisfies").marker.color != trace(plain, "does not satisfy").marker.color


def test_the_untouched_table_has_lost_nothing(hospital):
    figure = lattice.draw_lattice(hospital)
    one = trace(figure, "does not satisfy")
    (bottom,) = [place for place, node in enumerate(keys(one)) if not any(node)]
    assert one.marker.color[bottom] == 0
    assert "<b>k 1, loss 0.0 %</b>" in one.text[bottom]
    gone = hospital.assessment.suppressed[0]
    assert gone and f"{gone} records in classes that do not meet" in one.text[bottom]
    lost = lattice.build_lattice_table(hospital).loc[0, "loss_suppressed_percent"]
    assert f"if these are suppressed, loss {write_percent(lost)}" in one.text[bottom]
    assert not any("suppressed" in text for text in trace(figure, "satisfies").text)


def test_edges_join_the_places_of_their_nodes(hospital):
    figure = lattice.draw_lattice(hospital)
    (path,) = [shape.path for shape in figure.layout.shapes]
    ends = np.array(re.findall(r"M(.+?),(.+?)L(.+?),(.+?)(?=M|$)", path), float).reshape(-1, 2, 2)
    assert len(ends) == path.count("M") == 4 * 4 * 1 + 2 * (3 * 4 * 2)  # sex; age and zip
    assert (ends[:, 1, 1] - ends[:, 0, 1] == 1).all()
    places = {
        (x, y)
        for name in ("satisfies", "does not satisfy")
        for x, y in zip(trace(figure, name).x, trace(figure, name).y, strict=True)
    }
    assert {tuple(end) for end in ends.reshape(-1, 2).tolist()} == places


def test_minimal_least_and_chosen_nodes_are_marked(hospital):
    figure = lattice.draw_lattice(hospital, chosen=(1, 0, 1))
    places = {}
    for name in ("satisfies", "does not satisfy"):
        one = trace(figure, name)
        places |= dict(zip(keys(one), zip(one.x, one.y, strict=True), strict=True))
    ring = trace(figure, "minimal")
    assert list(zip(ring.x, ring.y, strict=True)) == [places[node] for node in hospital.minimal]
    star, square = trace(figure, "least loss"), trace(figure, "chosen")
    assert (star.x[0], star.y[0]) == places[hospital.least]
    assert (square.x[0], square.y[0]) == places[1, 0, 1]
    edges = trace(figure, "edges of the chosen")
    beside = {end for end in zip(edges.x, edges.y, strict=True) if None not in end}
    beside -= {places[1, 0, 1]}
    near = [(0, 0, 1), (2, 0, 1), (1, 1, 1), (1, 0, 0)]
    assert beside == {places[node] for node in near}
    assert not traces(lattice.draw_lattice(hospital), "chosen")


# --- walks ------------------------------------------------------------------------------------
def test_walks_are_drawn_up_to_a_step(census):
    whole = lattice.draw_lattice(census)
    for name in WALK_LOOKS:
        title = {"datafly": "Datafly", "samarati": "Samarati"}.get(name, "Improved greedy")
        walk = census.walk(name)
        line, numbers = trace(whole, title), trace(whole, f"steps of {title}")
        assert list(line.y) == [sum(step.node) for step in walk.steps]
        assert line.line.color == WALK_LOOKS[name].colour
        said = [part for text in numbers.text for part in text.split(", ") if part]
        assert said == [str(step) for step in range(walk.first, walk.last + 1)]
        part = lattice.draw_lattice(census, step=3)
        assert list(trace(part, title).y) == list(line.y)[: 4 - walk.first]
    assert not traces(lattice.draw_lattice(census, step=0), "Samarati"), "it has not begun"
    only = lattice.draw_lattice(census, walks=["samarati"])
    assert traces(only, "Samarati") and not traces(only, "Datafly")


# --- large lattices ---------------------------------------------------------------------------
def test_bars_are_as_wide_as_heights_have_nodes(census):
    figure = lattice.draw_heights(census, chosen=census.least)
    bars = figure.data[0]
    assert tuple(bars.x) == census.per_height
    assert [2 * base for base in bars.base] == [-count for count in census.per_height]
    shares = [
        100 * a / b for a, b in zip(census.satisfying_per_height, census.per_height, strict=True)
    ]
    assert np.allclose(bars.marker.color, shares)
    drawn = trace(lattice.draw_lattice(census), "Datafly")
    assert list(trace(figure, "Datafly").x) == list(drawn.x), "walks stand where nodes would"
    table = lattice.build_heights_table(census)
    assert table["nodes"].sum() == 1080
    assert table["satisfying"].sum() == census.assessment.satisfying.sum()


def test_an_outline_is_drawn_without_numbers_that_nobody_counted():
    shape = create_outline(task_named("census"))
    figure = lattice.draw_heights(shape, chosen=(0,) * 6)
    assert figure.layout.title.text.endswith("none of them counted yet")
    assert isinstance(figure.data[0].marker.color, str)
    assert not traces(figure, "Datafly") and traces(figure, "chosen")
    assert list(lattice.build_heights_table(shape)) == ["height", "nodes"]


def test_a_neighbourhood_names_what_moves(census):
    task = task_named("census")
    near = list_neighbours(census.tops, census.least)
    figure = lattice.draw_neighbours(census, measure_nodes(task, near), census.least)
    nodes = keys(trace(figure, "satisfies")) + keys(trace(figure, "does not satisfy"))
    assert sorted(nodes) == near
    labels = [note.text for note in figure.layout.annotations]
    beside = [node for node in near if abs(sum(node) - sum(census.least)) == 1]
    assert sorted(labels) == sorted(
        f"{name} {level}"
        for node in beside
        for name, level, chosen in zip(census.attributes, node, census.least, strict=True)
        if level != chosen
    )


def test_many_columns_keep_their_labels_apart():
    """Fourteen around a node would overlap, so they stand aslant; of heights, every other."""
    tree = PlainTree({"*": None, "u": "*", "a": "u", "b": "u", "t": "u", "c": "t"})
    problem = Problem((tree,) * 14, (("a",) * 14, ("b",) * 14, ("c",) * 14))
    classes = problem.classes()
    task = Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 2)
    shape, node = create_outline(task), (0,) * 14
    near = measure_nodes(task, list_neighbours(shape.tops, node, 1))
    labels = lattice.draw_neighbours(shape, near, node).layout.annotations
    assert {label.textangle for label in labels} == {-40}
    assert sorted(label.text for label in labels) == sorted(f"{q} 1" for q in classes.attributes)
    counts = trace(lattice.draw_heights(shape), "counts").text
    assert len(counts) == 3 * 14 + 1 and [bool(text) for text in counts[:4]] == [1, 0, 1, 0]


# --- data -------------------------------------------------------------------------------------
def test_the_data_are_the_numbers_of_the_picture(census):
    table, found = lattice.build_lattice_table(census), census.assessment
    assert len(table) == 1080
    levels = table[[f"level_{name}" for name in census.attributes]].to_numpy()
    assert np.array_equal(levels, found.nodes)
    assert (table["height"] == levels.sum(axis=1)).all()
    assert (table["loss_percent"] == found.loss).all()
    assert (table["k_reached"] == found.reached).all()
    assert table["minimal"].sum() == len(census.minimal)
    assert table["least_loss"].sum() == 1
    for walk in census.walks:
        column = table[f"step_{walk.algorithm}"]
        assert column.notna().sum() == len({step.node for step in walk.steps})
        assert column.max() == walk.last
    part = lattice.build_lattice_table(census, found.only([census.least]))
    assert part["least_loss"].tolist() == [True]


def test_names_of_columns_are_no_markup():
    tree = PlainTree({"*": None, "<b>": "*", "x": "*"})
    problem = Problem((tree, tree), (("x", "<b>"), ("x", "x"), ("<b>", "x")))
    classes = problem.classes()
    classes = type(classes)(("<b>q</b>", "q1"), classes.hierarchies, classes.nodes, classes.counts)
    task = Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 2)
    explored = measure_lattice(ignore_progress, task)
    for figure in (
        lattice.draw_lattice(explored, chosen=(0, 0)),
        lattice.draw_heights(explored),
        lattice.draw_neighbours(explored, explored.assessment, (0, 0)),
    ):
        assert "<b>q" not in figure.to_json()
        assert "\\u003cb\\u003eq" not in figure.to_json()
    assert "&lt;b&gt;q" in lattice.draw_lattice(explored).to_json()


# --- the numbers of the steps -----------------------------------------------------------------
ALONG = {"left": -1, "bottom": -1, "center": -0.5, "middle": -0.5, "right": 0, "top": 0}


def number_boxes(figure, wide):
    """The boxes of the numbers of all walks in a drawing so many pixels wide: 8 by 16 a digit."""
    layout = figure.layout
    high = layout.height - layout.margin.t - layout.margin.b
    scale = [
        size / (axis.range[1] - axis.range[0])
        for size, axis in ((wide, layout.xaxis), (high, layout.yaxis))
    ]
    for one in figure.data:
        if not (one.name or "").startswith("steps of"):
            continue
        for *place, text, size, side in zip(
            one.x, one.y, one.text, one.marker.size, one.textposition, strict=True
        ):
            box = []
            for value, by, word, length in zip(
                place, scale, reversed(side.split()), (8 * len(text), 16), strict=True
            ):
                beside = {-1: -size / 2, -0.5: 0, 0: size / 2}[ALONG[word]]
                low = value * by + beside + ALONG[word] * length
                box.append((low, low + length))
            if text:
                yield text, box


@pytest.mark.parametrize("draw", [lattice.draw_lattice, lattice.draw_heights])
def test_no_number_of_a_step_covers_another(census, draw):
    """Three walks meet at many nodes; the numbers of two stood on each other."""
    for chosen in (census.least, (1,) * len(census.tops), (0,) * len(census.tops)):
        boxes = list(number_boxes(draw(census, chosen=chosen), 520))
        steps = sum(len({step.node for step in walk.steps}) for walk in census.walks)
        assert 0.8 * steps < len(boxes) <= steps, "few are left out"
        for (one, first), (other, second) in itertools.combinations(boxes, 2):
            apart = any(
                a[1] <= b[0] + 1 or b[1] <= a[0] + 1 for a, b in zip(first, second, strict=True)
            )
            assert apart, (one, other)
