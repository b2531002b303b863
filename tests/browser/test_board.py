"""The board of Compare in a real browser: set with one press, arranged, moved, read."""

import io
import re
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from kanon import __version__
from kanon.charts.layout import COSTS, Layout, create_curves_layout
from kanon.experiments.criteria import CRITERIA
from kanon.studio.compare.choices_panel import PRESETS
from support import browser as by

pytestmark = pytest.mark.browser

MEASURED: dict[str, object] = {}
TIMINGS = "timings-board.json"
SVG = "{http://www.w3.org/2000/svg}"

# Moves the slider; tells where every dot stood before and after, and that nobody was asked between.
MOVE = """async (slider, step) => {
    const root = slider.getRootNode().querySelector('.cursor');
    const places = () => [...root.querySelectorAll('.overlay .dot')].map(dot => {
        const box = dot.getBoundingClientRect();
        return [box.x, box.y].map(Math.round).join();
    });
    const before = places(), runs = window.runs, began = performance.now();
    slider.value = Number(slider.value) + step;
    slider.dispatchEvent(new Event('input'));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    return {before, after: places(), runs: window.runs - runs, took: performance.now() - began};
}"""


# The texts of the board with their boxes, lines of a text apart: those that lie on another one, or
# beyond the chart, by more than the two pixels that boxes are higher than letters.
COVERED = """() => {
    const chart = document.querySelector('.st-key-board .js-plotly-plot');
    const root = [...document.querySelectorAll('*')].map(one => one.shadowRoot)
        .find(one => one && one.querySelector('.cursor')) || document;
    const boxes = [];
    const add = (element, name, range) => {
        const { left, right, top, bottom } = (range || element).getBoundingClientRect();
        if (name.trim() && right > left) boxes.push({ name, left, right, top, bottom });
    };
    for (const text of chart.querySelectorAll('text')) {
        const lines = text.querySelectorAll('tspan.line');
        for (const one of lines.length ? lines : [text]) {
            const range = document.createRange();
            range.selectNodeContents(one);
            add(one, one.textContent, range);
        }
    }
    for (const one of root.querySelectorAll('.overlay text')) add(one, one.textContent);
    for (const one of root.querySelectorAll('.buttons button')) add(one, one.title);
    const frame = chart.getBoundingClientRect(), found = [];
    boxes.forEach((one, place) => {
        if (one.left < frame.left - 1 || one.right > frame.right + 1
            || one.top < frame.top - 1 || one.bottom > frame.bottom + 1) found.push(one.name);
        for (const other of boxes.slice(place + 1)) {
            if (one.left + 2 < other.right && other.left + 2 < one.right
                && one.top + 2 < other.bottom && other.top + 2 < one.bottom) {
                found.push(`${one.name} | ${other.name}`);
            }
        }
    });
    return { number: boxes.length, beside: root.querySelectorAll('.overlay text').length, found };
}"""

# What each panel has: whether something is drawn, and how many labels its axes have.
PANELS = """() => {
    const board = document.querySelector('.st-key-board');
    return [...board.querySelectorAll('.cartesianlayer .subplot')].map(one => [
        !!one.querySelector('.js-line, image'),
        ...one.classList[1].match(/[xy]\\d*/g).map(
            axis => board.querySelectorAll(`.${axis}tick text`).length),
    ]);
}"""

SIZES = ({"width": 1024, "height": 768}, {"width": 1280, "height": 720})


def is_read_well(page, number):
    """Every panel is drawn, its axes have labels, and no text covers another or is cut."""
    page.mouse.move(0, 0)
    for size in SIZES:
        page.set_viewport_size(size)
        page.wait_for_function(  # drawn anew for this window
            """() => { const chart = document.querySelector('.st-key-board .js-plotly-plot');
            return Math.abs(chart.clientWidth - chart.querySelector('svg').clientWidth) < 2; }"""
        )
        page.wait_for_function(f"number => ({PANELS})().length === number", arg=number)
        found = page.evaluate(PANELS)
        assert all(drawn and x > 1 and y > 1 for drawn, x, y in found), found
        texts = page.evaluate(COVERED)
        assert texts["number"] > 9 * number and texts["found"] == [], (size, texts)
        assert texts["beside"] or number == 1, "lines are named where the cursor stands"
    page.set_viewport_size(by.VIEWPORT)


@pytest.fixture(scope="module")
def comparison(server, chrome, windows):
    """A window with a comparison of two metrics, for all tests of this module."""
    visitor = by.taken(windows, chrome)
    page = visitor.page
    by.open_start(page, server)
    by.go(page, "Compare")
    by.press_lines(page, "Distortion", "Total", "LLM", "WLLM", "WNLLM")
    by.compare(page)
    yield page
    by.leave(visitor)
    by.check(visitor)
    windows.append(visitor)


@pytest.fixture
def compared(comparison, request):
    """The page with the comparison, and the board at the costs."""
    page = comparison
    if not by.button(page, "Save the layout").is_visible():
        page.get_by_text("Arrange the board").click()
    put(page, COSTS)
    yield page
    by.picture(page, request.node.name)


def put(page, layout):
    field = page.locator('[class*="st-key-board-file-"] input[type="file"]')
    with by.answered(page):
        field.set_input_files(by.in_memory("layout.json", layout.to_json().encode()))


def panel(page, place):
    return page.get_by_test_id("stMain").get_by_role("combobox", name=f"Panel {place}", exact=True)


def heads(page):
    """The titles of the panels, as the chart shows them: a while after the page was run."""
    return expect(page.locator(".st-key-board .annotation-text tspan.line:first-child"))


def numbered(titles):
    return [f"{numeral} {title}" for numeral, title in zip("①②③④⑤⑥⑦⑧⑨", titles, strict=False)]


@pytest.mark.nightly  # in every run: test_compare_page.py, test_presets_page.py
def test_one_press_draws_a_board_that_can_be_read(compared):
    page = compared
    preset = PRESETS["everything"]
    by.button(page, preset.title).click()
    heads(page).to_have_count(len(preset.panels), timeout=60_000)
    by.idle(page)
    expect(page.locator(".cursor .legend li")).to_have_count(7)
    is_read_well(page, 9)
    for place in (1, 9):  # a matrix, and points
        with by.answered(page):
            page.get_by_role("button", name=f"Show panel {place} full screen").click()
        heads(page).to_have_count(1)
        back = page.get_by_role("button", name="Back to the board")
        expect(back).to_be_visible()
        box = page.locator(".st-key-board-filling").bounding_box()
        assert box == {"x": 0, "y": 0, **by.VIEWPORT}
        is_read_well(page, 1)
        assert page.locator(".st-key-board .gtitle, .st-key-board .annotation-text").first.evaluate(
            "one => parseFloat(getComputedStyle(one).fontSize)") >= 24  # fmt: skip
        with by.answered(page):
            page.keyboard.press("Escape") if place == 1 else back.click()
        heads(page).to_have_count(9)
    chips = '[class*="st-key-compare-"] [data-testid="stButtonGroup"] > div'
    page.set_viewport_size(SIZES[0])
    page.get_by_role("button", name="Lines").click()
    page.locator(chips).first.wait_for()
    assert page.locator(chips).evaluate_all(
        "all => all.every(one => one.scrollWidth <= one.clientWidth)"
    )
    page.keyboard.press("Escape")
    with by.answered(page):
        by.button(page, "Undo the preset").click()
    heads(page).to_have_text(numbered([card.title for card in CRITERIA.values()]))
    expect(page.locator(".cursor .legend li")).to_have_count(2)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [2, 4, 6])
def test_a_smaller_board_can_be_read_too(compared, number):
    put(compared, Layout(PRESETS["everything"].panels[-number:]))
    heads(compared).to_have_count(number)
    is_read_well(compared, number)


@pytest.mark.nightly
def test_the_cursor_moves_every_panel_without_asking(compared):
    page = compared
    by.choose(page, panel(page, 5), "Minimum k against alteration")
    slider = page.get_by_role("slider", name="Move k")
    found = slider.evaluate(MOVE, 20)
    assert len(found["before"]) == len(found["after"]) == 5 * 2
    moved = [one != other for one, other in zip(found["before"], found["after"], strict=True)]
    assert all(moved), "the scatter's dots move as those of the curves do"
    assert found["runs"] == 0
    MEASURED["board of five, moved, ms"] = round(found["took"], 1)
    by.idle(page)
    finding = page.locator(".cursor .finding")
    expect(finding).to_contain_text("beats")
    # A click in a panel without an axis for k leaves the cursor where it is.
    here = page.locator(".cursor").get_attribute("data-k")
    chart = page.locator(".st-key-board .js-plotly-plot")
    box = chart.bounding_box()
    chart.click(position={"x": 0.55 * box["width"], "y": 0.7 * box["height"]})
    assert page.locator(".cursor").get_attribute("data-k") == here
    chart.click(position={"x": 0.2 * box["width"], "y": 0.3 * box["height"]})
    assert page.locator(".cursor").get_attribute("data-k") != here
    by.idle(page)


@pytest.mark.nightly
def test_the_numbers_scroll_within_themselves_and_are_reached_by_keyboard(compared):
    page = compared
    put(page, create_curves_layout("mean_alteration", "l_percent", "t_percent", "min_k"))
    place = page.locator(".cursor .place")
    inside = place.evaluate(
        "one => [one.getBoundingClientRect().right <= innerWidth, one.clientHeight > 60]"
    )
    assert inside == [True, True]
    slider = page.get_by_role("slider", name="Move k")
    slider.focus()
    page.keyboard.press("Tab")
    assert place.evaluate("one => one === one.getRootNode().activeElement")
    swatches = page.locator(".cursor .legend li svg")
    expect(swatches).to_have_count(2)
    expect(page.locator(".cursor .legend li").first).to_have_text("NCP")


@pytest.mark.nightly
def test_a_line_is_used_by_the_arrow_beside_it(compared):
    page = compared
    for number, where in enumerate((".legend li", ".numbers tbody tr")):
        line = page.locator(f".cursor {where}").nth(number)
        line.hover()
        line.locator(".use").click()
        name = line.locator("th").inner_text() if number else line.inner_text()
        expect(page.get_by_role("link", name=f"Now on Anonymise: {name}")).to_be_visible()
    dot = page.locator(".cursor .points .use").last  # the point of a line at the cursor
    title = dot.get_attribute("title")
    dot.click()
    expect(page.get_by_role("link", name=title.replace("Use this", "Now"))).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("link", name="Now on Anonymise: ")).to_have_count(0)
    by.idle(page)


def taken(page, key, form):
    found = by.taken_away(page, key, form)
    return Path(found.path()).read_bytes(), found.suggested_filename


def texts_of(svg):
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def seen_in(page, where):
    found = page.locator(f"{where} text").evaluate_all("all => all.map(one => one.textContent)")
    return [text for text in found if text.strip()]


def drawn_in(png, svg):
    """The pixels of a picture, and that it is as large as the SVG, three times as sharp."""
    image, size = Image.open(io.BytesIO(png)), ElementTree.fromstring(svg).attrib
    assert image.format == "PNG"
    assert image.size == (3 * int(size["width"]), 3 * int(size["height"]))
    return np.asarray(image.convert("RGB"))


def colours(pixels):
    """How many colours are in every fourth row and column: a blank picture has one."""
    return len(np.unique(pixels[::4, ::4].reshape(-1, 3) @ np.array([65536, 256, 1])))


@pytest.mark.nightly
def test_the_board_and_a_chart_leave_as_pictures(compared):
    page = compared
    put(page, Layout(PRESETS["everything"].panels))
    heads(page).to_have_count(9)
    # What is scrolled out of sight is in the picture too.
    page.locator(".cursor .place").evaluate(
        "one => { one.style.maxHeight = '50px'; one.scrollTop = 20 }"
    )
    k = re.match(r"k = ([\d\u202f]+)", page.locator(".cursor .headline").inner_text())[1]
    svg, name = taken(page, "board", "SVG")
    texts = texts_of(svg)
    assert name == f"kanon-board-k{k}.svg"
    assert set(seen_in(page, ".st-key-board") + seen_in(page, ".cursor .overlay")) <= set(texts)
    headline, *legend = page.locator(".cursor .headline, .cursor .legend li").all_inner_texts()
    cells = page.locator(".cursor .numbers td, .cursor .numbers tbody th").all_inner_texts()
    assert headline in " ".join(texts) and len(legend) == 2 and len(cells) > 10
    assert {*legend, *cells} <= set(texts)
    said = " ".join(texts[-3:])
    assert said.endswith(f"k = {k}, counting records · kanon {__version__}, {date.today()}")
    assert "algorithm: GAA; metrics: NCP, NLLM; strategy: S1" in said
    assert b"127.0.0.1" not in svg and b"http://" not in re.sub(rb'xmlns[^=]*="[^"]*"', b"", svg)
    png, name = taken(page, "board", "PNG")
    assert name == f"kanon-board-k{k}.png"
    pixels = drawn_in(png, svg)
    assert (pixels[0, 0] == 255).all(), "on the paper of the page"
    below, panels = pixels[-90:], pixels[300:-300]
    assert (below < 128).any(axis=2).sum() > 500, "the settings are drawn"
    assert all(colours(third) > 50 for third in np.array_split(panels, 3, axis=1))
    by.go(page, "Anonymise")
    page.locator(".st-key-alteration-curve .main-svg").first.wait_for()
    svg, name = taken(page, "alteration-curve", "SVG")
    shown = seen_in(page, ".st-key-alteration-curve")
    assert len(shown) > 10 and re.fullmatch(r"kanon-alteration-curve-k\d+\.svg", name)
    assert texts_of(svg)[: len(shown)] == shown
    png, _ = taken(page, "alteration-curve", "PNG")
    assert colours(drawn_in(png, svg)) > 50
    by.go(page, "Compare")
    page.locator(".cursor .numbers td").first.wait_for()
