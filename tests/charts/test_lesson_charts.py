"""The pictures of a lesson say what its steps say, and can be read from the last row."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon.algorithms import datafly, flash, gaa, mondrian, samarati
from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.task import Task
from kanon.charts.dark import convert_colour_to_dark
from kanon.charts.labels import Anchor, Box, Label, compute_text_box, list_shortened, place_labels
from kanon.charts.lesson import build_picture_table, draw_regions, draw_running_numbers, draw_step
from kanon.charts.lesson_lattice import draw_lattice_so_far
from kanon.charts.lesson_look import Room, get_class_colour
from kanon.charts.lesson_trees import count_records_per_node, draw_merge, draw_table_values
from kanon.charts.style import INK
from kanon.classes import EquivalenceClasses
from kanon.hierarchy.ranges import build_flat_hierarchy
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.studio.learn.step_sheet import format_choice, format_records
from kanon.teaching.lesson import Candidate, CostTerm
from kanon.teaching.lesson_builder import build_lesson
from kanon.teaching.presets import PRESETS, choose_preset, load_preset_table
from kanon.teaching.regions import ClusterView
from kanon.teaching.tables import get_class_numbers, write_arithmetic
from support.lesson_tables import animals, eight_points, hospital


def named(figure: Any, name: str) -> list[Any]:
    """The traces of that name."""
    return [trace for trace in figure.data if trace.name == name]


def sizes(part: Any, inside: bool = False) -> list[float]:
    """Every size of a letter in a figure."""
    if isinstance(part, dict):
        own = [part["size"]] if inside and "size" in part else []
        return own + [
            size
            for key, each in part.items()
            for size in sizes(each, key in ("font", "tickfont", "textfont"))
        ]
    if isinstance(part, list | tuple):
        return [size for each in part for size in sizes(each)]
    return []


def test_mondrian_s_regions_are_nested_rectangles_with_records_as_dots():
    """The cut of ages 20-26 on ward: its rim, two parts in it, the other half beside."""
    lesson = build_lesson(mondrian, eight_points(), metric_named("ncp"))
    figure = draw_regions(lesson.steps[3], axes=(0, 1))
    beside, rim, one, other = figure.layout.shapes
    for box, (low, high) in [
        (beside, ((28, 1), (40, 5))),
        (rim, ((20, 1), (26, 5))),
        (one, ((20, 1), (24, 2))),
        (other, ((22, 4), (26, 5))),
    ]:
        # Every rectangle holds its values, and is less than half a gap wider.
        assert low[0] - 1 < box.x0 < low[0] and high[0] < box.x1 < high[0] + 1
        assert low[1] - 1 < box.y0 < low[1] and high[1] < box.y1 < high[1] + 1
    assert rim.x0 < one.x0 and rim.y0 < one.y0 and other.x1 < rim.x1 and other.y1 < rim.y1
    assert one.line.color != other.line.color and one.line.dash != other.line.dash
    (dots,) = named(figure, "records")
    assert list(zip(dots.x, dots.y, strict=True)) == [
        (20, 1), (22, 5), (24, 2), (26, 4), (28, 1), (30, 1), (34, 1), (40, 5)
    ]  # fmt: skip
    dark = [colour == dots.marker.color[0] for colour in dots.marker.color]
    assert dark == [True] * 4 + [False] * 4
    assert figure.layout.title.text == "Cut 4 records on ward"
    # By default the axis of the cut goes across.
    turned = draw_regions(lesson.steps[3])
    assert turned.layout.xaxis.title.text == "ward" and turned.layout.yaxis.title.text == "age"
    # A region that stays has its rim alone.
    assert len(draw_regions(lesson.steps[4]).layout.shapes) == 4
    with pytest.raises(ValueError, match="two different axes"):
        draw_regions(lesson.steps[3], axes=(1, 1))
    with pytest.raises(ValueError, match="no regions"):
        draw_regions(lesson.steps[0])


def test_one_attribute_is_a_strip_and_a_dot_says_how_many_records_it_is():
    tree = build_flat_hierarchy(["1", "2", "<b>9</b>"])
    classes = EquivalenceClasses(
        ("<i>age</i>",), (tree,), np.arange(3, dtype=np.int32)[:, None], np.array([2, 1, 2])
    )
    task = Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 2)
    lesson = build_lesson(mondrian, task, metric_named("ncp"))
    figure = draw_regions(lesson.steps[2])
    (dots,) = named(figure, "records")
    assert list(dots.y) == [0, 0, 0] and list(dots.text) == ["2", "", "2"]
    assert figure.layout.yaxis.visible is False
    assert figure.layout.xaxis.title.text == "&lt;i&gt;age&lt;/i&gt;"
    assert "<b>9" not in figure.to_json() and "<i>age" not in figure.to_json()


def test_a_merge_stands_in_the_trees_with_what_its_edges_cost():
    """[F, Lion] and [F, Dog] meet at F, where nothing is climbed, and at Mammal."""
    lesson = build_lesson(gaa, animals(), metric_named("custom"))
    figure = draw_merge(lesson, lesson.steps[1])
    assert [each.text for each in figure.layout.annotations] == ["q0", "q1"]
    gender, race = named(figure, "cost of an edge")
    assert list(gender.text) == []
    # Lion climbs 1 to Felid and 3 to Mammal, Dog 4.
    assert sorted(text.strip() for text in race.text) == ["1", "3", "4"]
    _, values = named(figure, "values")
    symbol = dict(zip(values.text, values.marker.symbol, strict=True))
    assert symbol["Lion"] == "circle" and symbol["Dog"] == "square"
    assert symbol["Mammal"] == "diamond" and symbol["Cat"] == symbol["Felid"] == "circle-open"
    assert figure.layout.title.text == "Where do “F, Lion” and “F, Dog” meet?"
    with pytest.raises(ValueError, match="merges nothing"):
        draw_merge(lesson, lesson.steps[0])


def test_the_lattice_shows_what_is_known_so_far():
    """Flash looks at (0, 1), which fails, so (0, 0) does: one counted, two known, of six."""
    lesson = build_lesson(flash, replace(animals(), k=4), metric_named("custom"))
    figure = draw_lattice_so_far(lesson, 1)
    assert figure.layout.title.text == "1 of 6 nodes counted, 2 known"
    assert [list(trace.text) for trace in named(figure, "fails")] == [["0,1"]]
    assert [list(trace.text) for trace in named(figure, "fails, not counted")] == [["0,0"]]
    (unknown,) = named(figure, "not known yet")
    assert sorted(unknown.text) == ["0,2", "1,0", "1,1", "1,2"]
    end = draw_lattice_so_far(lesson, len(lesson.steps) - 1)
    (star,) = named(end, "released")
    (good,) = named(end, "meets requirements")
    assert (star.x, star.y) == (good.x, good.y) and list(good.text) == ["0,2"]
    # Which column each number is of stands in the picture.
    assert figure.layout.annotations[-1].text == "Numbers at a node: the levels of q0, q1"
    with pytest.raises(ValueError, match="no node has been counted"):
        draw_lattice_so_far(lesson, 0)


def test_the_heights_that_are_left_are_drawn_beside_the_lattice():
    """Samarati on ten patients: heights 0 to 7, then 4 to 7, 4 to 5, 4."""
    lesson = build_lesson(samarati, hospital(), metric_named("total"))
    drawn, said = [], []
    for place in range(1, len(lesson.steps) - 2):
        layout = draw_lattice_so_far(lesson, place).layout
        (band,) = layout.shapes
        drawn.append((band.y0 + 0.4, band.y1 - 0.4))
        said.append(tuple(each.text for each in layout.annotations[:-1]))
    assert list(dict.fromkeys(drawn)) == [(0, 7), (4, 7), (4, 5), (4, 4)]
    assert list(dict.fromkeys(said)) == [
        ("high 7", "middle 3", "low 0"), ("high 7", "middle 5", "low 4"),
        ("high 5", "low, middle 4"), ("low = high 4",),
    ]  # fmt: skip
    assert not draw_lattice_so_far(lesson, len(lesson.steps) - 2).layout.shapes


def test_the_running_numbers_are_those_of_the_steps():
    lesson = build_lesson(gaa, animals(), metric_named("custom"))
    figure = draw_running_numbers(lesson, 2)
    assert [trace.line.shape for trace in figure.data] == ["hv"] * 4
    found = {trace.name: list(trace.y) for trace in figure.data}
    numbers = [step.numbers for step in lesson.steps[:3]]
    assert found == {
        "minimum k ↑": [each.min_k for each in numbers],
        "alteration, % ↓": [each.alteration for each in numbers],
        "entropy l ↑": [each.l for each in numbers],
        "t, 0 to 1 ↓": [each.t for each in numbers],
    }
    assert figure.layout.title.text == "After step 2: minimum k 4, alteration 27.8 %"
    bare = build_lesson(datafly, hospital(), metric_named("total"))
    assert len(draw_running_numbers(bare).data) == 2  # k and alteration


def test_before_anybody_meets_the_trees_show_where_the_values_stand():
    """Four of each sex; two dogs, two cats and four lions, and then the dogs and two lions met."""
    lesson = build_lesson(gaa, animals(), metric_named("custom"))
    gender, race = count_records_per_node(lesson.steps[0])
    labels = lesson.task.classes.hierarchies[1].labels
    assert sorted(gender.values()) == [4, 4]
    assert {labels[node]: n for node, n in race.items()} == {"Cat": 2, "Lion": 4, "Dog": 2}
    later = count_records_per_node(lesson.steps[1])[1]
    assert {labels[node]: n for node, n in later.items()} == {"Mammal": 4, "Cat": 2, "Lion": 2}
    figure = draw_table_values(lesson, lesson.steps[0])
    _, values = named(figure, "values")
    size = dict(zip(values.text, values.marker.size, strict=True))
    assert size["Lion"] > size["Dog"] == size["Cat"] > size["Felid"]
    _, costs = named(figure, "cost of an edge")
    assert sorted(costs.text) == ["1", "1", "3", "4"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", algorithms())
def test_every_step_has_a_picture_and_the_numbers_behind_it(name):
    """The numbers are those of the step: costs add up, records are all there, nodes are counted."""
    module = algorithms()[name]
    table = load_preset_table(choose_preset(module))
    preset = PRESETS[choose_preset(module)]
    trees = table.classes.hierarchies
    metric = metric_named(preset.metric)
    node = tuple(preset.levels[column] for column in table.classes.attributes)
    task = Task(table.classes, scale_metric_potentials(table.classes, metric), preset.k, node=node)
    lesson = build_lesson(module, task, metric)
    kinds = Counter()
    for place, step in enumerate(lesson.steps):
        title = draw_step(lesson, place).layout.title.text
        found = build_picture_table(lesson, place)
        if "nodes counted" in title:
            kinds["lattice"] += 1
            assert title.startswith(f"{found['counted'].sum()} of ")
            assert title.endswith(f"{len(found)} known")
        elif "meet?" in title:
            kinds["merge"] += 1
            size = {held.label: held.records for held in step.detail.met}
            if module.CARD.family == "merging":
                paid = [row["cost per record"] * size[row["class"]] for _, row in found.iterrows()]
                assert step.choices[-1].chosen.cost == pytest.approx(sum(paid))
        elif "values" in title and "table" in title:
            kinds["trees"] += 1
            kept = table.classes.n_records - step.numbers.suppressed
            assert found.groupby("column")["records"].sum().tolist() == [kept] * len(trees)
        else:
            kinds["regions"] += 1
            grouped = table.classes.n_records
            if isinstance(step.detail, ClusterView):
                regions = step.detail.regions.regions
                grouped = sum(table.classes.counts[list(each.classes)].sum() for each in regions)
            assert found["records"].sum() == grouped
    shown = {"levels": "lattice", "merging": "merge", "clusters": "merge", "regions": "regions"}
    expected = {"mdav": "regions", "lattice-sweep": "trees"}.get(name, shown[module.CARD.family])
    without = 3 if name == "oka" else 2  # the table, the release; how clusters begin
    assert kinds[expected] >= len(lesson.steps) - without


def test_a_sum_of_many_products_is_written_with_equal_ones_together():
    """Ten patients at (2, 2, 0), each 2/3 in age and in zip: two lines for twenty products."""
    terms = tuple(
        CostTerm(f"{place}", column, "a", "b", 2 / 3, 1, 1)
        for place in range(10)
        for column in ("age", "zip")
    )
    assert write_arithmetic(Candidate("all", (20,), True, 40 / 3, terms)) == (
        "age: 0.6667 × 10 = 6.667",
        "zip: 0.6667 × 10 = 6.667",
        "sum ≈ 13.33",
    )
    assert write_arithmetic(Candidate("age", (1,), True)) == ()
    terms = CostTerm("x", "age", "1", "4", 9.0, 1, 0), CostTerm("x", "zip", "1", "5", 16.0, 1, 0)
    far = Candidate("5", (25,), True, 5.0, terms)
    assert write_arithmetic(far)[-1] == "√25 = 5"


def test_projected_no_letter_is_smaller_than_sixteen_pixels():
    room = Room(560, 320, 16)
    merging = build_lesson(gaa, animals(), metric_named("custom"))
    cutting = build_lesson(mondrian, eight_points(), metric_named("ncp"))
    searching = build_lesson(flash, animals(), metric_named("custom"))
    for figure in (
        draw_merge(merging, merging.steps[1], room),
        draw_table_values(merging, merging.steps[0], room),
        draw_regions(cutting.steps[3], room=room),
        draw_lattice_so_far(searching, 2, room),
    ):
        found = sizes(figure.to_plotly_json())
        assert found and min(found) >= 16
        assert (figure.layout.width, figure.layout.height) == (room.width, room.height)


def test_a_class_has_one_colour_in_table_candidates_and_pictures():
    """Of two that meet, and of regions: that of the number by which the table knows it."""
    table, metric = load_preset_table("animals-m23"), metric_named("custom")
    task = Task(table.classes, scale_metric_potentials(table.classes, metric), 4)
    lesson = build_lesson(gaa, task, metric)
    step, before = lesson.steps[1], lesson.steps[0].recoding
    one, other = step.detail.met
    numbers = get_class_numbers(table, before).tolist()
    figure = draw_step(lesson, 1, before=numbers)
    *_, values = named(figure, "values")
    colours = dict(zip(values.text, values.marker.color, strict=True))
    rows = format_choice(table, before, step.choices[-1], "").split("<tr ")
    for held, value in ((one, "Dog"), (other, "Lion")):
        number = numbers[held.classes[0]]
        assert colours[value] == get_class_colour(number)
        rim = (
            f"border-color: light-dark({colours[value]}, {convert_colour_to_dark(colours[value])})"
        )
        assert rim in format_records(table, before, before)
    (chosen,) = [row for row in rows if "class=chosen" in row]
    assert colours["Lion"] in chosen and colours["Dog"] not in chosen
    points = load_preset_table("points")
    task = Task(points.classes, scale_metric_potentials(points.classes, metric_named("ncp")), 2)
    cutting = build_lesson(mondrian, task, metric_named("ncp"))
    after = get_class_numbers(points, cutting.steps[3].recoding).tolist()
    shapes = draw_step(cutting, 3, after=after).layout.shapes
    rims = {shape.line.color for shape in shapes} - {INK}
    assert rims == {get_class_colour(number) for number in after} and len(rims) == 3


def test_projected_values_without_room_are_counted():
    """Thirty ages in one line each have no room; those of most records stay, the name says so."""
    values = [f"age {number}" for number in range(30)]
    trees = (build_flat_hierarchy(values), build_flat_hierarchy(["yes", "no"]))
    nodes = np.array([[place, place % 2] for place in range(30)], dtype=np.int32)
    counts = np.ones(30, dtype=np.int64)
    nodes, counts = nodes[1:], counts[1:]
    counts[16] = 2  # of the value 17
    classes = EquivalenceClasses(("age", "member"), trees, nodes, counts)
    metric = metric_named("ncp")
    lesson = build_lesson(gaa, Task(classes, scale_metric_potentials(classes, metric), 2), metric)
    room = Room(560, 320, 16)
    figure = draw_table_values(lesson, lesson.steps[0], room)
    ages, members = figure.layout.annotations
    shown = [text for text in named(figure, "values")[0].text if text.startswith("age")]
    assert ages.text == f"age, {29 - len(shown)} more values" and members.text == "member"
    assert len(shown) >= 8 and "age 17" in shown
    whole = draw_table_values(lesson, lesson.steps[0])
    assert len([text for text in named(whole, "values")[0].text if text]) >= 29


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_placed_apart_and_inside(seed):
    rng = np.random.default_rng(seed)
    inside, dots = Box(0, 0, 300, 200), [Box(100, 50, 110, 60)]
    labels = [
        Label(
            list_shortened("Vertebrates of the sea"[: rng.integers(2, 22)], 8, 4),
            [Anchor(*rng.uniform(0, 300, 2), side, 8) for side in ("top center", "middle right")],
        )
        for _ in range(40)
    ]
    found = place_labels(labels, 16, inside, dots)
    boxes = [compute_text_box(each.text, each.anchor, 16) for each in found if each.text]
    assert 3 <= len(boxes) < len(labels) and found[0].anchor in labels[0].anchors
    for place, box in enumerate(boxes):
        assert box.is_inside(inside)
        assert not any(box.has_overlap(other) for other in [*boxes[:place], *dots])
