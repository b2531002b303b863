"""Labels of charts and trees in the windows of a lecture hall: none covers another, none is cut."""

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from kanon.hierarchy.files import read_hierarchy
from support import browser as by
from support.boxes import covered, cut, text_boxes

pytestmark = pytest.mark.browser

WINDOWS = ((1024, 768), (1280, 720))
NODES = ".node .label, .node .records, .node .weight"


def adults():
    """Records with Adult's values, all 16 of education, in columns that have the papers' trees."""
    draw, table = np.random.default_rng(1), {}
    for name in ("education", "marital-status", "sex", "race"):
        tree = read_hierarchy(by.ROOT / "hierarchies" / "adult" / f"{name}.csv").hierarchy
        values = list(tree.labels[: tree.n_leaves])
        table[name] = [*values, *draw.choice(values, 200 - len(values))]
    return pd.DataFrame(table)


def readable(page, drawing, texts="svg text"):
    """In both windows no text of a drawing covers another or is cut."""
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(400)  # a chart follows its window after a while
        boxes = text_boxes(page.locator(drawing), texts)
        assert len(boxes) > 10, (drawing, width)
        assert (covered(boxes), cut(boxes)) == ([], []), (drawing, width)
        by.no_wider_than_the_window(page)


def hovered(page, row, column):
    cell = page.locator(".st-key-costs .js-plotly-plot").evaluate(
        """(chart, [row, column]) => {
          const { x, y } = chart.getBoundingClientRect(), { xaxis, yaxis } = chart._fullLayout;
          return [x + xaxis._offset + xaxis.l2p(column), y + yaxis._offset + yaxis.l2p(row)];
        }""",
        [row, column],
    )
    page.mouse.move(cell[0] - 3, cell[1] - 3)
    page.mouse.move(*cell)
    said = page.locator(".st-key-costs .hoverlayer")
    expect(said).to_contain_text("from")
    assert cut(text_boxes(said, "text")) == []
    page.mouse.move(0, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_labels_are_whole_and_apart(server, page, theme):
    page.emulate_media(color_scheme=theme)
    by.open_data(page, server)
    table = adults()
    by.upload(page, by.in_memory("adults.csv", table.to_csv(index=False).encode()), "200")
    for column in table:
        by.give_role(page, column, "quasi-identifier")

    by.go(page, "Metrics")
    for mode in ("One metric", "Two", "Difference"):
        if mode != "One metric":
            with by.answered(page):
                page.get_by_role("radio", name=mode, exact=True).click()
        readable(page, ".st-key-costs")
        readable(page, ".canvas", NODES)
    page.locator(".st-key-costs").scroll_into_view_if_needed()
    for cell in ((0, 1), (9, 10), (8, 21)):
        hovered(page, *cell)
    marked = page.locator(".node.climbed")
    assert marked.count() == page.locator(".node.lit").count() - 1 > 0
    by.picture(page, f"labels-metrics-{theme}")

    by.go(page, "Hierarchies")
    readable(page, ".canvas", NODES)
    by.picture(page, f"labels-hierarchies-{theme}")

    by.go(page, "Lattice")
    page.locator(".st-key-lattice-picture .js-plotly-plot").wait_for()
    readable(page, ".st-key-lattice-picture")
    by.picture(page, f"labels-lattice-{theme}")
    page.emulate_media(color_scheme="light")
