"""The pages Hierarchies and Metrics in a real browser: drawn, edited and read with real input."""

import contextlib
import csv
import io
import re
import time
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import expect

from kanon.hierarchy.files import read_hierarchy
from support import browser as by

pytestmark = pytest.mark.browser
PAPERS = by.ROOT / "hierarchies" / "adult" / "education.csv"


# --- tables ---------------------------------------------------------------------------------
def lines_of(path):
    return list(csv.reader(io.StringIO(path.read_text("utf-8")), delimiter=";"))


def educated(column="education"):
    """A table with Adult's values of education, each in some records.

    In a column called like the file that comes with kanon they have the papers' tree.
    """
    return pd.DataFrame({column: [line[0] for line in lines_of(PAPERS)] * 4})


def open_data(page, server, table, records=None):
    """Open the dashboard on the page Data and upload a table, or a file with so many records."""
    page.goto(f"{server.url}/data")
    file = table
    if records is None:
        file = by.in_memory("table.csv", table.to_csv(index=False).encode())
        records = f"{len(table):,}".replace(",", "\u202f")
    page.locator('[class*="st-key-upload-"] input[type="file"]').set_input_files(file)
    page.get_by_role("heading", name=f"{records} records,").wait_for()
    by.idle(page)


def look_at_hierarchies(page):
    by.go(page, "Hierarchies")
    page.locator(".node").first.wait_for()


def open_flat_education(page, server):
    """An uploaded table whose education is a flat list, its tree on the screen."""
    open_data(page, server, educated("Education"))
    look_at_hierarchies(page)
    expect(page.locator(".sum")).to_have_text("16 values, no groups")


# --- what a user does with the tree ---------------------------------------------------------
def node(page, label):
    text = label.replace("\\", "\\\\").replace('"', '\\"')
    return page.locator(f'.node[data-label="{text}"]')


def press(page, name):
    if not (button := page.locator(f'[data-do="{name}"]')).is_visible():
        page.locator('[data-do="more"]').click()
    button.click()


@contextlib.contextmanager
def edited(page):
    """Do something to the tree, and wait until the server has dealt with it."""
    by.idle(page)
    tree = page.locator(".tree")
    before = tree.get_attribute("data-answered")
    yield
    expect(tree).not_to_have_attribute("data-answered", before)
    by.idle(page)


def whole(page):
    """Roll the page until the whole drawing is on the screen."""
    page.locator(".frame").evaluate("frame => frame.scrollIntoView({block: 'end'})")


def click(page, label, *modifiers):
    node(page, label).locator(".label").click(modifiers=modifiers)


def select(page, *labels):
    """Click on the first node, and with Ctrl on the others."""
    click(page, labels[0])
    for label in labels[1:]:
        click(page, label, "Control")
    expect(page.locator(".node.selected")).to_have_count(len(labels))


def name_group(page, name):
    """Put what is selected into a new group, with the pointer but for its name."""
    press(page, "group")
    expect(page.locator("#asked")).to_be_focused()
    page.keyboard.type(name)
    with edited(page):
        page.locator(".panel").get_by_role("button", name="OK", exact=True).click()


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, label, group):
    page.mouse.move(*middle(node(page, label).locator(".label")))
    page.mouse.down()
    page.mouse.move(*middle(node(page, group).locator(".label")), steps=6)
    expect(node(page, group)).to_have_class(re.compile(r"\btarget\b"))
    expect(page.locator(".ghost")).to_contain_text(f"→ {group}")
    with edited(page):
        page.mouse.up()


def rename(page, label, name):
    node(page, label).locator(".label").dblclick()
    expect(page.locator(".inline")).to_be_focused()
    page.keyboard.type(name)
    with edited(page):
        page.keyboard.press("Enter")


def weigh(page, label, weight):
    node(page, label).locator(".weight").click()
    expect(page.locator(".inline")).to_be_focused()
    page.keyboard.type(weight)
    with edited(page):
        page.keyboard.press("Enter")


def show_weights(page, of):
    by.choose(page, page.get_by_role("combobox", name="Weights on the edges"), of)


def step(page, *names):
    for name in names:
        with edited(page):
            press(page, name)


PARENTS = """root => {
    const found = {}, above = [];
    for (const node of root.querySelectorAll('.node')) {
        const level = Number(node.getAttribute('aria-level'));
        above[level] = node.dataset.label;
        found[node.dataset.label] = level > 1 ? above[level - 1] : null;
    }
    return found;
}"""


def drawn(page):
    """The parent of each node on the screen; of a small tree these are all."""
    return page.locator(".tree").evaluate(PARENTS)


def parents(tree):
    return {
        label: None if parent < 0 else tree.labels[parent]
        for label, parent in zip(tree.labels, tree.parent.tolist(), strict=True)
    }


def weights(tree):
    return None if tree.weight is None else dict(zip(tree.labels, tree.weight, strict=True))


# --- files ----------------------------------------------------------------------------------
@contextlib.contextmanager
def popover(page, name):
    with by.answered(page):
        by.button(page, name).click()
    body = page.get_by_test_id("stPopoverBody").first
    body.wait_for()
    yield body
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def exported(page):
    """The hierarchy as its CSV and its JSON file have it; and the JSON file itself."""
    found = []
    with popover(page, "Files") as body:
        for label in ("CSV", "JSON with weights"):
            with page.expect_download() as coming:
                body.get_by_role("button", name=label, exact=True).click()
            found.append(Path(coming.value.path()).read_bytes())
    trees = [read_hierarchy(found[0], "a.csv"), read_hierarchy(found[1], "a.json")]
    return trees[0].hierarchy, trees[1].hierarchy, found[1]


def drop_files(page, *files):
    with popover(page, "Files") as body, by.answered(page):
        body.locator('input[type="file"]').set_input_files(list(files))
    expect(page.get_by_role("heading", name="Review")).to_be_visible()


def use(page, label):
    with by.answered(page):
        by.button(page, label).click()


# --- from a flat list to the papers' tree ---------------------------------------------------
@pytest.mark.nightly  # in every run, without a browser: test_hierarchies_page.py
def test_education_drawn_with_the_pointer(server, page):
    open_flat_education(page, server)
    whole(page)
    page.locator(".search").click()
    page.keyboard.type("th")
    expect(page.locator(".count")).to_have_text("1 of 7")
    press(page, "matches")
    expect(page.locator(".node.selected")).to_have_count(7)
    name_group(page, "Secondary school")
    page.locator(".search").fill("")
    select(page, "1st-4th", "5th-6th", "Preschool")
    name_group(page, "Primary school")
    select(page, "Masters", "Doctorate")
    name_group(page, "Graduates")
    select(page, "Some-college", "Assoc-voc")
    name_group(page, "College")
    whole(page)
    drag(page, "HS-grad", "Secondary school")
    drag(page, "Prof-school", "Graduates")
    whole(page)
    select(page, "Assoc-acdm", "Bachelors")
    drag(page, "Bachelors", "College")
    rename(page, "Graduates", "Graduate school")
    select(page, "Primary school", "Secondary school")
    name_group(page, "School")

    papers = parents(read_hierarchy(PAPERS).hierarchy)
    assert len(papers) == 22 and drawn(page) == papers
    expect(page.locator(".sum")).to_have_text("16 values in 5 groups, 1 selected")

    show_weights(page, "Weights: NLLM")
    weigh(page, "School", "3.5")
    expect(node(page, "School").locator(".weight")).to_have_text("3.5")
    expect(page.get_by_role("combobox", name="Weights on the edges")).to_have_value("My weights")
    weigh(page, "Masters", "0.25")
    step(page, "undo", "undo")
    assert page.locator(".weight", has_text="3.5").count() == 0 and drawn(page) == papers
    step(page, "redo", "redo")
    expect(node(page, "School").locator(".weight")).to_have_text("3.5")
    expect(node(page, "Masters").locator(".weight")).to_have_text("0.25")
    by.picture(page, "education-weighted")

    lines, nodes, content = exported(page)
    assert parents(lines) == parents(nodes) == papers
    assert weights(nodes)["School"] == 3.5 and weights(nodes)["Masters"] == 0.25
    click(page, "School")
    step(page, "ungroup")
    weigh(page, "College", "9")
    assert "School" not in drawn(page)
    drop_files(page, {"name": "education.json", "mimeType": "application/json", "buffer": content})
    expect(page.get_by_text("Every value has a place").first).to_be_visible()
    by.picture(page, "review-of-one")
    use(page, "Use 1 hierarchy")
    expect(node(page, "School")).to_be_visible()
    again = exported(page)
    assert (again[0], again[1]) == (lines, nodes)
    assert weights(again[1]) == weights(nodes)


# --- the same without a mouse ---------------------------------------------------------------
def keyed_to(page, label):
    page.keyboard.press("Home")
    for _ in range(list(drawn(page)).index(label)):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".node.cursor")).to_have_attribute("data-label", label)


def keyed_group(page, labels, name):
    for label in labels:
        keyed_to(page, label)
        page.keyboard.press("Space")
    expect(page.locator(".node.selected")).to_have_count(len(labels))
    page.keyboard.press("g")
    page.keyboard.type(name)
    with edited(page):
        page.keyboard.press("Enter")


def keyed_move(page, label, group):
    keyed_to(page, label)
    page.keyboard.press("m")
    page.keyboard.type(group)
    with edited(page):
        page.keyboard.press("Enter")


def keyed_choice(page, combobox, text):
    """Type into a select box that has the focus, and take the only option that is left."""
    by.tab_to(page, combobox)
    page.keyboard.type(text)
    expect(page.get_by_role("option")).to_have_count(1)
    expect(page.get_by_role("option")).to_contain_text(text)  # "No results" is one as well
    page.keyboard.press("ArrowDown")
    with by.answered(page):
        page.keyboard.press("Enter")


@pytest.mark.nightly
def test_education_drawn_with_the_keyboard_only(server, page):
    keys = page.keyboard
    open_data(page, server, educated())
    by.tab_to(page, page.get_by_test_id("stSidebarNav").get_by_role("link", name="Hierarchies"))
    keys.press("Enter")
    by.tab_to(page, by.button(page, "Build"))
    keys.press("Enter")
    keyed_choice(page, page.get_by_role("combobox", name="Build from the values"), "All or nothing")
    expect(page.get_by_text("Preview, not in use yet")).to_be_visible()
    keys.press("Escape")
    by.tab_to(page, by.button(page, "Use it"))
    with by.answered(page):
        keys.press("Enter")
    expect(page.locator(".sum")).to_have_text("16 values, no groups")

    frame = page.locator(".frame")
    by.tab_to(page, frame)
    keyed_group(page, ["Preschool", "1st-4th", "5th-6th"], "Primary school")
    expect(frame).to_be_focused()
    # A range with Shift, and the way in by the search.
    keyed_to(page, "10th")
    keys.press("Shift+ArrowDown")
    keys.press("Shift+ArrowDown")
    expect(page.locator(".node.selected")).to_have_count(3)
    keys.press("g")
    keys.type("Secondary")
    with edited(page):
        keys.press("Enter")
    for label in ("7th-8th", "9th", "HS-grad"):
        keyed_move(page, label, "Secondary")
    keyed_to(page, "Secondary")
    keys.press("F2")
    keys.press("End")
    keys.type(" school")
    with edited(page):
        keys.press("Enter")
    expect(frame).to_be_focused()
    keyed_group(page, ["Some-college", "Assoc-acdm", "Assoc-voc"], "College")
    keys.press("/")
    keys.type("bach")
    expect(page.locator(".node.found")).to_have_attribute("data-label", "Bachelors")
    keys.press("Escape")
    expect(frame).to_be_focused()
    keys.press("Escape")  # the group that was just made is selected no more
    keys.press("m")
    keys.type("coll")
    with edited(page):
        keys.press("Enter")
    keyed_to(page, "Masters")
    with edited(page):
        keys.press("i")  # a group of its own, selected
    expect(page.locator(".node.group.selected")).to_have_count(1)
    keys.press("F2")
    keys.type("Graduate school")
    with edited(page):
        keys.press("Enter")
    keys.press("Escape")
    for label in ("Prof-school", "Doctorate"):
        keyed_move(page, label, "Graduate")
    keyed_group(page, ["Primary school", "Secondary school"], "School")
    papers = parents(read_hierarchy(PAPERS).hierarchy)
    assert drawn(page) == papers

    keyed_choice(page, page.get_by_role("combobox", name="Weights on the edges"), "Weights: NCP")
    by.tab_to(page, frame)
    keyed_to(page, "School")
    keys.press("w")
    keys.type("3.5")
    with edited(page):
        keys.press("Enter")
    keyed_to(page, "College")
    with edited(page):
        keys.press("Delete")
    expect(node(page, "College")).to_have_count(0)
    for press_key in ("Control+z", "Control+z", "Control+y"):
        with edited(page):
            keys.press(press_key)
    assert drawn(page) == papers
    expect(node(page, "School").locator(".weight")).to_have_text("3.5")

    by.tab_to(page, by.button(page, "Files"))
    keys.press("Enter")
    by.tab_to(page, page.get_by_role("button", name="JSON with weights", exact=True))
    with page.expect_download() as coming:
        keys.press("Enter")
    found = read_hierarchy(Path(coming.value.path()).read_bytes(), "a.json").hierarchy
    assert parents(found) == papers and weights(found)["School"] == 3.5

    # One node that is selected gives way to what is found, as it does to the arrow keys.
    keys.press("Escape")
    by.tab_to(page, frame)
    keyed_to(page, "College")
    with edited(page):
        keys.press("i")
    expect(page.locator(".node.group.selected")).to_have_count(1)
    keys.press("/")
    keys.type("bach")
    keys.press("Escape")
    keys.press("m")
    expect(page.locator(".panel label")).to_have_text("Move “Bachelors” to")
    keys.press("Escape")

    # An answer that comes late leaves one where one has gone meanwhile.
    keyed_to(page, "College")
    with edited(page):
        keys.press("i")
        keys.press("Home")
    expect(page.locator(".node.cursor")).to_have_attribute("data-label", "*")


# --- what was done and said stays -----------------------------------------------------------
@pytest.mark.nightly
def test_undo_survives_a_page_change_and_quick_fingers(server, page):
    open_flat_education(page, server)
    flat = drawn(page)
    whole(page)
    select(page, "Masters", "Doctorate")
    name_group(page, "High")
    select(page, "9th", "10th")
    name_group(page, "Low")
    drag(page, "11th", "Low")
    rename(page, "Low", "Lower")
    with edited(page):
        page.keyboard.press("i")
    five = drawn(page)
    assert len(five) == len(flat) + 3
    by.go(page, "Compare")
    look_at_hierarchies(page)
    assert drawn(page) == five
    page.locator(".frame").focus()
    for key, after in (("z", flat), ("y", five), ("z", flat)):
        for _ in range(5):  # none of them waits for the one before
            page.keyboard.press(f"Control+{key}")
        expect(page.locator(".node")).to_have_count(len(after))
        by.idle(page)
        assert drawn(page) == after
    expect(page.locator('[data-do="undo"]')).to_be_disabled()


def refused(page, sentence):
    expect(page.locator(".said.bad")).to_contain_text(sentence)
    by.idle(page)


@pytest.mark.nightly
def test_what_is_refused_says_why_and_keeps_what_was_typed(server, page):
    open_flat_education(page, server)
    whole(page)
    select(page, "Masters", "Doctorate")
    name_group(page, "High")
    before = drawn(page)
    rename(page, "High", "9th")
    refused(page, "9th")
    expect(page.locator(".inline")).to_have_value("9th")
    by.picture(page, "refused-rename")
    assert drawn(page) == before
    page.locator(".inline").fill("")
    with edited(page):
        page.keyboard.press("Enter")
    refused(page, "name")
    expect(page.locator(".inline")).to_have_value("")
    page.keyboard.press("Escape")
    assert drawn(page) == before

    select(page, "9th", "10th")
    name_group(page, "High")
    refused(page, "High")
    expect(page.locator("#asked")).to_have_value("High")
    expect(page.locator("#asked")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type("er")
    with edited(page):
        page.keyboard.press("Enter")
    expect(page.locator(".said.bad")).to_have_count(0)
    assert drawn(page) == {**before, "Higher": "*", "9th": "Higher", "10th": "Higher"}

    show_weights(page, "Weights: LLM")
    before = [text.inner_text() for text in page.locator(".weight").all()]
    for typed, sentence in (("-1", "from 0 to 1e+15"), ("1,5", "number")):
        weigh(page, "High", typed)
        refused(page, sentence)
        expect(page.locator(".inline")).to_have_value(typed)
        assert [text.inner_text() for text in page.locator(".weight").all()] == before
        page.keyboard.press("Escape")
    weigh(page, "High", "-1")
    page.locator(".inline").fill("2")
    with edited(page):
        page.keyboard.press("Enter")
    expect(node(page, "High").locator(".weight")).to_have_text("2")


# --- text that would like to be more --------------------------------------------------------
HARMFUL = [
    '<img src="/x" onerror="window.harmed=1">',
    "<img src=x onerror=window.harmed=2>",
    "<b>bold</b>",
    "<script>window.harmed=3</script>",
    "![x](http://example.invalid/a.png)",
    "\"double\" 'single' `back`",
    "a;b,c|d",
    "👩‍👩‍👧 family",
    "שלום עולם",
    "مرحبا ‮ x",
    ":material/home: $x^2$ **y**",
    "long " + "x" * 9_995,
]


@pytest.mark.nightly
def test_nothing_from_a_label_is_executed_or_fetched(server, page):
    open_data(page, server, pd.DataFrame({HARMFUL[0]: HARMFUL * 2}))
    by.give_role(page, HARMFUL[0], "quasi-identifier")
    look_at_hierarchies(page)
    expect(page.locator(".node")).to_have_count(len(HARMFUL) + 1)
    shown = [label.inner_text() for label in page.locator(".node .label").all()]
    short = [text if len(text) <= 200 else f"{text[:200]}…" for text in HARMFUL]
    assert sorted(shown) == sorted([*short, "*"])
    whole(page)
    select(page, *HARMFUL[:3])
    name_group(page, HARMFUL[3] + ";")
    select(page, HARMFUL[6], HARMFUL[8])
    name_group(page, "![y](http://example.invalid/b.png)\"';")
    rename(page, HARMFUL[3] + ";", "<b>;\"'ب</b>")
    drag(page, HARMFUL[4], "<b>;\"'ب</b>")
    by.picture(page, "harmful-tree")
    rename(page, "*", "<i>*</i>")
    expected = drawn(page)
    lines, nodes, _ = exported(page)
    assert parents(lines) == parents(nodes) == expected
    assert set(lines.labels[: lines.n_leaves]) == set(HARMFUL)

    click(page, HARMFUL[5])
    press(page, "move")
    expect(page.locator(".options li")).to_have_count(2)
    page.locator(".options li", has_text="![y]").click()
    expect(page.locator(".panel")).to_be_hidden()
    by.go(page, "Metrics")
    page.locator(".st-key-costs .js-plotly-plot .heatmaplayer image").first.wait_for()
    by.picture(page, "harmful-matrix")
    assert page.evaluate("window.harmed") is None
    assert page.locator('img[src*="x" i][onerror], img[src*="example"], main b').count() == 0


# --- a narrow window ------------------------------------------------------------------------
@pytest.mark.nightly
def test_in_a_narrow_window_a_node_can_be_moved(server, page):
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{server.url}/hierarchies")
    page.locator(".node").first.wait_for()
    by.idle(page)
    with by.answered(page):
        page.get_by_role("radio", name="education").click()
    expect(node(page, "Master")).to_be_attached()
    for part in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{part}.scrollWidth <= {part}.clientWidth"), part
    page.locator('[data-do="more"]').click()
    bar = page.locator(".bar").first.bounding_box()
    assert bar["x"] >= 0 and bar["x"] + bar["width"] <= 400 and bar["height"] > 60
    for button in page.locator(".tree button:visible:not(.fold, .weight)").all():
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 400, button.inner_text()
    click(page, "Master")
    press(page, "move")
    page.keyboard.type("upper")
    expect(page.locator(".options li")).to_have_count(1)
    page.screenshot(path=by.OUTPUT / "narrow.png")
    with edited(page):
        page.locator(".options li").click()
    assert drawn(page)["Master"] == "Upper secondary"
    page.screenshot(path=by.OUTPUT / "narrow-moved.png")


# --- cost matrices --------------------------------------------------------------------------
CELL = """([row, column, picture]) => {
    const chart = document.querySelector('.st-key-costs .js-plotly-plot');
    const { x, y } = chart.getBoundingClientRect(), { yaxis } = chart._fullLayout;
    const xaxis = chart._fullLayout[picture ? 'xaxis2' : 'xaxis'];
    return [x + xaxis._offset + xaxis.l2p(column), y + yaxis._offset + yaxis.l2p(row)];
}"""


def click_cell(page, labels, row, column, picture=0):
    """A click on a cell of the matrix, where the chart has it by its own scales."""
    chart = page.locator(".st-key-costs .js-plotly-plot")
    chart.locator(".heatmaplayer image").first.wait_for()
    chart.scroll_into_view_if_needed()
    places = [labels.index(row), labels.index(column), picture]
    with by.answered(page):
        page.mouse.click(*page.evaluate(CELL, places))
    expect(page.get_by_role("combobox", name="From")).to_have_value(row)
    expect(page.get_by_role("combobox", name="to", exact=True)).to_have_value(column)


def lit(page):
    expect(page.locator(".node.lit").first).to_be_visible()
    return {one.get_attribute("data-label") for one in page.locator(".node.lit").all()}


def sums(page, metric):
    """The weights that a sentence adds up, and what it says they come to."""
    text = page.get_by_text(re.compile(f"^{metric}: .+ → .+ = ")).inner_text()
    steps, total = text.rsplit(": ", 1)[1].split(" = ")
    return [float(number) for number in steps.split(" + ")], float(total)


@pytest.mark.nightly
def test_a_cell_of_the_matrix_lights_up_its_path(server, page):
    open_data(page, server, educated())
    by.go(page, "Metrics")
    labels = read_hierarchy(PAPERS).hierarchy.labels
    click_cell(page, labels, "9th", "Masters")
    assert lit(page) == {"9th", "Secondary school", "School", "*"}
    steps, total = sums(page, "NLLM")
    assert len(steps) == 3 and sum(steps) == pytest.approx(total, abs=0.002)
    click_cell(page, labels, "9th", "Preschool")
    assert lit(page) == {"9th", "Secondary school", "School"}
    by.picture(page, "matrix-one")

    with by.answered(page):
        page.get_by_role("radio", name="Two", exact=True).click()
    by.choose(page, page.get_by_role("combobox", name="Second metric"), "Total")
    expect(page.locator(".st-key-costs .heatmaplayer image")).to_have_count(2)
    click_cell(page, labels, "Bachelors", "9th", picture=1)
    assert lit(page) == {"Bachelors", "College", "*"}
    for metric in ("NLLM", "Total"):
        steps, total = sums(page, metric)
        assert len(steps) == 2 and sum(steps) == pytest.approx(total, abs=0.002)
    by.picture(page, "matrix-two")
    with by.answered(page):
        page.get_by_role("radio", name="Difference", exact=True).click()
    expect(page.locator(".st-key-costs .heatmaplayer image")).to_have_count(1)
    expect(page.locator(".st-key-costs")).to_contain_text("NLLM minus Total")


# --- the tree as a table --------------------------------------------------------------------
def cell(page, row, column):
    """What the grid tells a screen reader of one of its cells; the first column has number 0."""
    return page.get_by_test_id(f"glide-cell-{column + 1}-{row}")


def point_at(page, row):
    grid, chosen = page.get_by_test_id("stDataFrame"), cell(page, row, 0)
    end = time.monotonic() + 10
    while chosen.get_attribute("aria-selected") != "true":
        assert time.monotonic() < end, "the cell cannot be chosen"
        grid.evaluate("grid => grid.scrollIntoView({block: 'center'})")
        # What is said above may come or go meanwhile, and move the grid.
        box = grid.bounding_box()
        page.mouse.click(box["x"] + 90, box["y"] + 35 * (row + 1) + 17)
        with contextlib.suppress(AssertionError):
            expect(chosen).to_have_attribute("aria-selected", "true", timeout=500)


def retype(page, row, column, text):
    point_at(page, row)
    for _ in range(column):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator(".gdg-input").fill(text)
    with by.answered(page):
        page.keyboard.press("Enter")
    expect(cell(page, row, column)).to_have_text(text)


def view(page, name):
    with by.answered(page):
        page.get_by_role("radio", name=name, exact=True).click()


@pytest.mark.nightly
def test_the_tree_as_a_table(server, page):
    open_data(page, server, educated())
    look_at_hierarchies(page)
    papers = drawn(page)
    view(page, "Levels")
    row = next(row for row in range(16) if cell(page, row, 0).inner_text() == "9th")
    assert cell(page, row, 1).inner_text() == "Secondary school"
    retype(page, row, 1, "Middle school")
    by.picture(page, "levels")
    use(page, "Apply the table")
    view(page, "Tree")
    expect(node(page, "Middle school")).to_be_visible()
    assert drawn(page) == {**papers, "9th": "Middle school", "Middle school": "School"}
    step(page, "undo")
    assert drawn(page) == papers

    view(page, "Levels")
    retype(page, row, 1, "Lower school")
    by.go(page, "Compare")
    by.go(page, "Hierarchies")
    expect(cell(page, row, 1)).to_have_text("Lower school")
    expect(by.button(page, "Apply the table")).to_be_enabled()
    retype(page, row, 1, "College")  # which would stand under two groups
    use(page, "Apply the table")
    expect(page.get_by_test_id("stMain").get_by_role("alert")).to_contain_text("College")
    expect(cell(page, row, 1)).to_have_text("College")

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", "Lower school\tSchool")
    point_at(page, row)
    page.keyboard.press("ArrowRight")
    with by.answered(page):
        page.keyboard.press("Control+v")
    expect(cell(page, row, 1)).to_have_text("Lower school")
    use(page, "Apply the table")
    view(page, "Tree")
    expect(node(page, "Lower school")).to_be_visible()

    with popover(page, "Files") as body:
        body.get_by_text("Paste lines").click()
        area = page.get_by_label("Lines leaf;level 1")
        ragged = "9th\tSchool\t*\n10th\t*\n"
        area.fill(ragged)
        with by.answered(page):
            area.press("Control+Enter")  # meanwhile what holds the field has unfolded
        take = page.get_by_role("button", name="Add these lines")
        with by.answered(page):
            take.click()
        expect(page.get_by_test_id("stMain").get_by_role("alert")).to_contain_text("Line 2 has 2")
        expect(area).to_have_value(ragged)
        lines = [line[0] for line in lines_of(PAPERS)]
        area.fill("".join(f"{value}\tAll schools\t*\n" for value in lines))
        with by.answered(page):
            take.click()
    expect(node(page, "All schools")).to_be_visible()
    assert drawn(page) == {**dict.fromkeys(lines, "All schools"), "All schools": "*", "*": None}


# --- large trees ----------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_tree_of_thousands_of_values_is_drawn_folded_and_a_find_scrolls_to_its_hit(server, page):
    """Its hit lay in the drawing, but below the window."""
    codes = pd.DataFrame({"postcode": [f"{code:05d}" for code in range(10_000, 16_000)] * 2})
    open_data(page, server, codes)
    look_at_hierarchies(page)
    expect(node(page, "15***")).to_be_visible()
    assert node(page, "15432").count() == 0
    page.locator(".search").fill("15432")
    expect(page.locator(".count")).to_have_text("1 of 1")
    expect(node(page, "15432")).to_be_in_viewport()
    by.picture(page, "tree-of-thousands")
    page.locator(".search").fill("")
    rename(page, "154**", "Here")
    step(page, "undo")
    assert node(page, "154**").count() == 1 and node(page, "Here").count() == 0
