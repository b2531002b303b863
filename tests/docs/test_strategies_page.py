"""docs/figures/strategies.md: its arithmetic, whether it is about what is here and true."""

import doctest
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fidelity.page import checksum
from benchmarks.strategies import measured, tables
from benchmarks.strategies.page import PAGE, page
from benchmarks.strategies.published import PUBLISHED_AREAS
from kanon.metrics import METRICS
from kanon.sources.reading import read_table
from kanon.strategies import SCOPES

MADE = "## How this page was made"


def as_published(points: float = 0.0) -> measured.Findings:
    """As if ours were the published figures at class scope, and so many points more at table."""
    areas = {}
    curves = {}
    for column, guide, name, scope in product(
        measured.COLUMNS, measured.GUIDES, measured.NAMES, SCOPES
    ):
        row = PUBLISHED_AREAS[guide][column].get(name, np.array([50.0, 50.0, 50.0]))
        own = np.append(row, row[0] + 0.25) + (points if scope == "table" else 0.0)
        run = measured.Run(column, guide, name, scope)
        areas[run] = measured.Areas(own, own - 1, own + 3)
        curves[run] = np.arange(3 * len(measured.CURVE_KS), dtype=float).reshape(3, -1)
    return measured.Findings(areas, curves, dict.fromkeys(measured.COLUMNS, 3.5), len(areas), 1.0)


def rows_of(text: str, heading: str) -> dict[str, list[str]]:
    """The rows of the first table after a heading, by their first cell."""
    lines = text[text.index(heading) :].splitlines()[2:]
    body = lines[2 : lines.index("", 2)]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in body]
    return {first: others for first, *others in cells}


def test_distances_of_hand_numbers():
    found = as_published(points=2.0)
    assert tables.distance(found, "s2", "s2", "class") == pytest.approx(0.0)
    assert tables.distance(found, "s2", "s2", "table") == pytest.approx(2.0)
    apart = [
        np.abs(PUBLISHED_AREAS[guide]["age"]["s2"] - PUBLISHED_AREAS[guide]["age"]["s3"])
        for guide in measured.GUIDES
    ]
    assert tables.distance(found, "s3", "s2", "class", ["age"]) == pytest.approx(np.mean(apart))
    only_t = tables.distance(found, "s3", "s2", "class", ["age"], [tables.T])
    assert only_t == pytest.approx(np.mean([each[2] for each in apart]))
    assert tables.nearest(found, "s7") == [("s7", "class")]
    assert tables.nearest(as_published(0.5), "s7") == [("s7", "class"), ("s7", "table")]


def test_a_figure_lies_in_the_band_or_not():
    assert tables.inside(as_published(), "s4", "s4", "table") == 12
    assert tables.inside(as_published(1.0), "s4", "s4", "table") == 12, "at its lower end"
    assert tables.inside(as_published(1.1), "s4", "s4", "table") == 0
    assert tables.widths_of(as_published(), "s4", "class") == pytest.approx(np.full((4, 3), 4.0))


def test_the_yardsticks_leave_out_what_is_not_of_s5():
    found = tables.yardsticks(as_published())
    assert (found["guide"], found["mean"], found["half"]) == pytest.approx((0, 0.25, 0))
    rows = [
        row[2]
        for guide, column in product(measured.GUIDES, measured.COLUMNS)
        for name, row in PUBLISHED_AREAS[guide][column].items()
        if name != "s5"
    ]
    assert found["norm"] == pytest.approx(np.mean(rows))


def test_orders_are_counted_in_pairs():
    def value(guide: str, column: str, name: str) -> np.ndarray:
        return np.array([{"s1": 1.0, "s2": 2.0, "s3": 2.0}[name], 0.0, 0.0])

    order = tables.Order(("s1", "s2"), ("s3",), 0, higher=False)
    assert tables.counted(order, value, ["nllm"]) == (2, 4), "an equal one is not lower"
    assert order.text == "S1 and S2: lower alteration than S3"
    assert doctest.testmod(tables).failed == 0


def test_what_the_text_says_of_one_k_is_looked_up():
    place = measured.CURVE_KS.index(50)
    found = tables.at_k(as_published(), "age", "t", "class", tables.L, 50)
    assert found == len(measured.CURVE_KS) + place


def test_the_page_is_about_the_hierarchies_and_figures_that_are_here():
    text = PAGE.read_text("utf-8")
    again = "run python -m benchmarks.strategies again"
    assert checksum("adult") in text, again
    for guide, column in product(measured.GUIDES, measured.COLUMNS):
        for place, title in enumerate(("Alteration", "l (", "t (")):
            rows = rows_of(text, f"{METRICS[guide].card.title}, `{column}`. {title}")
            assert list(rows) == [name.upper() for name in measured.NAMES]
            for name, row in PUBLISHED_AREAS[guide][column].items():
                assert rows[name.upper()][0] == f"{row[place]:.2f}", again


@pytest.mark.nightly
@pytest.mark.adult
def test_the_figures_of_the_page_are_ours(adult_path: Path):
    """Those of age in the canonical order; all of them nightly."""
    found = measured.measure(read_table(adult_path).table, ["age"], ["total"], [])
    text = PAGE.read_text("utf-8")
    assert found.best_l["age"] == pytest.approx(50.03, abs=0.005)
    for place, title in enumerate(("Alteration", "l (", "t (")):
        rows = rows_of(text, f"Total, `age`. {title}")
        for name, scope in product(measured.NAMES, SCOPES):
            if (name, scope) == ("s1", "class"):
                continue
            said = float(rows[name.upper()][1 + list(SCOPES).index(scope)].split(" ")[0])
            own = found.of("age", name, scope, "total").own[place]
            assert said == pytest.approx(own, abs=0.0051), (name, scope, title)


@pytest.mark.adult
@pytest.mark.nightly
def test_the_whole_page_is_ours(adult_path: Path):
    """Every figure and every sentence; five minutes on two cores."""
    table = read_table(adult_path).table
    found = page(measured.measure(table), len(table))
    assert found.split(MADE)[0] == PAGE.read_text("utf-8").split(MADE)[0]
