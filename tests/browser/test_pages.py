"""The dashboard in a real browser, against the real server."""

import csv
import filecmp
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from playwright.sync_api import expect

from support import browser as by
from support.controls import MOST_CONTROLS, check_header, look_first

pytestmark = pytest.mark.browser

MEASURED: dict[str, object] = {}
TIMINGS = "timings.json"


# --- a server and browser windows -----------------------------------------------------------
def measure(name, began):
    MEASURED[name] = round(time.monotonic() - began, 3)


def read(path):
    """A CSV as text, cell by cell, with the separator of the table that it is of."""
    with path.open(encoding="utf-8") as file:
        separator = max(",;\t", key=file.readline().count)
    return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)


def ancestors(lines):
    """What each value may be released as, by the lines of its hierarchy."""
    return {line[0]: set(line) for line in lines}


# --- the main path --------------------------------------------------------------------------


@pytest.mark.nightly  # in every run: test_adult.py, test_upload.py, test_anonymise_page.py
@pytest.mark.adult
def test_adult_from_upload_to_release(server, page, adult_path, tmp_path):
    began = time.monotonic()
    page.goto(server.url)
    page.get_by_role("heading", name="What does k = 5 cost?").wait_for()
    measure("first page, s", began)
    by.wait_for_result(page)
    measure("first result, s", began)
    by.no_wider_than_the_window(page)
    by.picture(page, "census")

    by.go(page, "Data")
    by.no_wider_than_the_window(page)
    began = time.monotonic()
    by.upload(page, adult_path, "30\u202f162")
    measure("Adult upload, s", began)
    columns = list(read_semicolons(adult_path))
    for column in columns:
        by.give_role(page, column, "quasi-identifier")
    expect(page.get_by_text("9 quasi-identifiers")).to_be_visible()
    by.picture(page, "adult-data")
    by.go(page, "Anonymise")
    expect(page.get_by_text("There is no result for this table yet")).to_be_visible()
    began = time.monotonic()
    by.anonymise(page)
    measure("Adult run, s", began)
    by.no_wider_than_the_window(page)

    slider = page.get_by_role("slider")
    slider.focus()
    redraws = []
    for k in range(6, 13):
        began = time.monotonic()
        slider.press("ArrowRight")
        page.get_by_role("heading", name=f"What does k = {k} cost?").wait_for()
        heading = time.monotonic() - began
        page.get_by_text(f"k = {k} costs").first.wait_for()
        redraws.append({"k": k, "title": round(heading, 3)})
        redraws[-1]["chart"] = round(time.monotonic() - began, 3)
        by.idle(page)
    MEASURED["slider, s"] = redraws
    by.picture(page, "adult-result")

    release = by.download(page, "Released table")
    assert re.search(r"\bk12\b.*-[0-9a-f]{12}\.csv$", release.suggested_filename)
    released, original = read(release.path()), read_semicolons(adult_path)
    assert list(released) == columns and len(released) == 30_162
    assert released.groupby(columns).size().min() >= 12
    assert (released != original).any(axis=None)
    with by.answered(page):
        page.get_by_text("Keep the table's order of rows").click()
    release = by.download(page, "Released table", unlike=release)
    moved, released = released, read(release.path())
    counted = (rows.value_counts().sort_index() for rows in (moved, released))
    assert next(counted).equals(next(counted))
    for column in columns:
        lines = (by.ROOT / "hierarchies" / "adult" / f"{column}.csv").read_text("utf-8")
        allowed = ancestors(csv.reader(io.StringIO(lines), delimiter=";"))
        pairs = zip(original[column], released[column], strict=True)
        assert {(old, new) for old, new in set(pairs) if new not in allowed[old]} == set()

    plan = by.download(page, "Plan")
    assert re.search(r"-[0-9a-f]{12}\.json$", plan.suggested_filename)
    plan.save_as(tmp_path / "plan.json")
    written = ["--out", "again.csv", "--csv", "table"]
    command = ["run", "plan.json", "--table", str(adult_path), *written]
    subprocess.run(
        [sys.executable, "-m", "kanon", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(by.ROOT)},
        check=True,
        timeout=120,
    )
    same = filecmp.cmp(tmp_path / "again.csv", release.path(), shallow=False)
    assert same  # pytest would look for minutes at how two such files differ


# What the board shows where its cursor stands: the k, and the numbers of each metric.
ON_BOARD = """root => ({
    k: Number(root.dataset.k),
    lines: root.querySelectorAll('.overlay line').length,
    rows: [...root.querySelectorAll('.numbers tbody tr')].map(row =>
        [...row.cells].map(cell => cell.textContent.replace(/\\u202f/g, ''))),
})"""

# Moves the slider as a user does; returns the milliseconds until the new picture was painted.
MOVE = """async (slider, step) => {
    const root = slider.getRootNode().querySelector('.cursor');
    const before = root.dataset.k, began = performance.now();
    slider.value = Number(slider.value) + step;
    slider.dispatchEvent(new Event('input'));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    if (root.dataset.k === before) throw new Error('the cursor did not move');
    return performance.now() - began;
}"""


@pytest.mark.nightly
def test_what_was_typed_at_the_top_does_not_come_back(server, page):
    """A closed popover's control is told of no new value; it must not answer with its old one."""
    by.open_start(page, server)
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("button", name="k = 5", exact=True).click()
    field = page.get_by_role("spinbutton", name="k, minimum records per class")
    field.fill("10")
    field.press("Enter")
    expect(heading).to_have_text("What does k = 10 cost?")
    page.keyboard.press("Escape")
    by.idle(page)
    slider = page.get_by_role("slider")
    slider.focus()
    for k in (11, 12, 13):
        slider.press("ArrowRight")
        expect(heading).to_have_text(f"What does k = {k} cost?")
        by.idle(page)
    by.choose_behind(page, page.get_by_role("button", name="Metric: NLLM", exact=True), "LLM")
    by.choose(page, page.get_by_test_id("stMain").get_by_role("combobox", name="Metric"), "Total")
    by.renew(page)
    slider.focus()
    slider.press("ArrowRight")
    expect(heading).to_have_text("What does k = 14 cost?")
    by.idle(page)
    expect(page.get_by_role("button", name="Metric: Total", exact=True)).to_be_visible()
    expect(page.get_by_text(by.OUTDATED)).to_have_count(0)


@pytest.mark.nightly
def test_the_cursor_stands_where_the_chart_has_its_k(server, page):
    """Laid over the drawing, the dots lie on the lines: by the chart's own scales."""
    by.open_start(page, server)
    by.go(page, "Compare")
    by.compare(page)
    for width in (1280, 900):
        page.set_viewport_size({"width": width, "height": 720})
        page.get_by_role("slider", name="Move k").evaluate(MOVE, 9)
        by.idle(page)
        apart = page.evaluate(
            """() => {
                const chart = document.querySelector('.st-key-board .js-plotly-plot');
                const root = [...document.querySelectorAll('*')].find(
                    one => one.shadowRoot?.querySelector('.cursor')).shadowRoot;
                const k = Number(root.querySelector('.cursor').dataset.k);
                const its = chart.getBoundingClientRect();
                const dots = [...root.querySelectorAll('.dot')].map(one => {
                    const box = one.getBoundingClientRect();
                    return [box.x + box.width / 2 - its.x, box.y + box.height / 2 - its.y];
                });
                const traces = chart._fullData.filter(one => one.meta === 'line');
                return traces.map((trace, number) => {
                    const layout = chart._fullLayout;
                    const [x, y] = [trace.xaxis, trace.yaxis].map(
                        name => layout[name[0] + 'axis' + name.slice(1)]);
                    const value = trace.y[[...trace.x].indexOf(k)];
                    return Math.hypot(dots[number][0] - x._offset - x.d2p(k),
                                      dots[number][1] - y._offset - y.d2p(value));
                });
            }"""
        )
        panels = page.locator(".cursor .overlay line").count()
        assert len(apart) == 7 * panels >= 35 and max(apart) < 2, apart
    # What is no longer chosen does not come back when the window changes.
    by.press_lines(page, "Distortion", "Total", "LLM")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.get_by_role("slider", name="Move k").evaluate(MOVE, -3)
    by.idle(page)
    rows = page.locator(".cursor").evaluate(ON_BOARD)["rows"]
    assert [row[0] for row in rows] == ["NCP", "NLLM", "WLLM", "WNLLM"]


def read_semicolons(path):
    return pd.read_csv(path, sep=";", dtype=str, keep_default_na=False)


# --- without a mouse ------------------------------------------------------------------------
@pytest.mark.nightly
def test_by_keyboard_only(server, page):
    by.open_start(page, server)
    keys = page.keyboard
    by.tab_to(page, page.get_by_role("button", name="Table: Synthetic census"))
    keys.press("Enter")
    by.tab_to(page, page.get_by_role("combobox", name="Work on a sample"))
    keys.type("Hospital")
    expect(page.get_by_role("option")).to_have_count(1)
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="What does k = 2 cost?")).to_be_visible()
    by.idle(page)
    keys.press("Escape")
    by.tab_to(page, by.button(page, "Anonymise"))
    keys.press("Enter")
    by.wait_for_result(page)
    by.tab_to(page, page.get_by_role("slider"))
    for k in (3, 4):  # a page drawn again takes away the file that a download button still asks for
        keys.press("ArrowRight")
        expect(page.get_by_role("heading", name=f"What does k = {k} cost?")).to_be_visible()
        by.idle(page)
    by.idle(page)
    by.tab_to(page, by.button(page, "Released table"))
    with page.expect_download() as coming:
        keys.press("Enter")
    released = read(coming.value.path())
    assert released.groupby(["age", "zip", "sex"]).size().min() >= 4
    assert len(released) == 10 and "name" not in released
    by.tab_to(page, page.get_by_test_id("stSidebarNav").get_by_role("link", name="Data"))
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("What is in this table")


@pytest.mark.parametrize(
    "titles",
    [
        ("Data", "Anonymise", "Learn"),
        pytest.param((*by.QUESTIONS,), id="all", marks=pytest.mark.nightly),
    ],
)
def test_every_control_has_a_name_no_barriers_and_reports_open_offline(
    server, page, chrome, tmp_path, titles
):
    by.open_start(page, server)
    nameless, barriers, in_sight, heights = {}, {}, {}, {}
    for title in titles:
        by.go(page, title)
        if title == "Compare":
            by.compare(page)
        if title == "Lattice":
            expect(page.get_by_text("combinations of levels satisfy k = 5")).to_be_visible()
            expect(page.locator(".katex:visible")).to_have_count(0)
        if title == "Report":
            by.make_report(page)
        # What begins by itself behind a result has a line at the foot while it runs.
        expect(page.locator(".st-key-calculations button")).to_have_count(0, timeout=30_000)
        in_sight[title], heights[title] = look_first(page)
        if title != "Learn":  # which has no line at the top
            check_header(page)
        by.picture_for_docs(page, title)
        controls = page.get_by_test_id("stMain").locator(
            "button, input, [role=combobox], [role=slider], [role=tab], a[href]"
        )
        names = controls.evaluate_all(
            "all => all.map(one => (one.getAttribute('aria-label') ?? (one.innerText"
            " || one.textContent) ?? '').trim() || one.labels?.[0]?.innerText || one.title"
            " || one.outerHTML)"
        )
        assert len(names) > 10
        nameless[title] = [name for name in names if name.startswith("<") or "\\" in name]
        barriers[title] = by.barriers(page)
        if title == "Report":
            by.download(page, "Report").save_as(tmp_path / "report.html")
            by.open_offline(chrome, tmp_path / "report.html")
    assert {title: found for title, found in nameless.items() if found} == {}
    assert {title: found for title, found in barriers.items() if found} == {}
    MEASURED["first look"] = {
        title: {"controls": len(seen), "height, px": heights[title]}
        for title, seen in in_sight.items()
    }
    many = {title: seen for title, seen in in_sight.items() if not 3 < len(seen) <= MOST_CONTROLS}
    assert many == {}
    assert heights["Data"] <= 1800


# --- text that would like to be more --------------------------------------------------------
HARMFUL = [
    '<img src="/x" onerror="window.harmed=1">',
    "![x](http://example.invalid/a.png)",
    "<script>window.harmed=1</script>",
]


@pytest.mark.nightly
def test_nothing_from_a_table_is_executed_or_fetched(server, page):
    table = pd.DataFrame(
        {
            name: [f"{HARMFUL[i - 1]}{row % 4}" for row in range(40)]
            for i, name in enumerate(HARMFUL)
        }
    )
    by.open_data(page, server)
    name = "<img src=x onerror=window.harmed=1> ![x](http:example.invalid).csv"
    by.upload(page, by.in_memory(name, table.to_csv(index=False).encode()), "40")
    for column in HARMFUL:
        by.give_role(page, column, "quasi-identifier")
    by.build(page, HARMFUL[0], "Intervals")
    by.type_in(page, by.line_of(page, HARMFUL[0]).get_by_role("textbox", name="Widths"), "5")
    expect(page.get_by_role("alert")).to_contain_text("onerror")
    by.picture(page, "harmful-data")
    by.build(page, HARMFUL[0], "All or nothing")
    by.go(page, "Anonymise")
    by.anonymise(page)
    page.get_by_text("How it is computed").click()
    expect(page.get_by_role("table")).to_be_visible()
    assert page.evaluate("window.harmed") is None
    assert page.locator('img[src*="x" i][onerror], img[src*="example"]').count() == 0
    released = read(by.download(page, "Released table").path())
    assert list(released) == HARMFUL
    svg = ElementTree.parse(by.taken_away(page, "alteration-curve", "SVG").path()).getroot()
    assert {one.tag.rpartition("}")[0] for one in svg.iter()} == {"{http://www.w3.org/2000/svg"}
    assert not any(one.tag.endswith(("script", "image", "foreignObject")) for one in svg.iter())
    assert "<img src=x onerror" in "".join(svg.itertext())


@pytest.mark.nightly
def test_a_column_is_called_what_it_is_called(server, page):
    names = [
        *("a->b", "a--b", ":material/home: x", ":smile: x", "50$ or 60$", "~~x~~ ^y^", "# x"),
        *("www.example.com x", "http://example.com/x", "ana@example.com", "&lt;b&gt; &amp;"),
        "![x](http://example.com/a.png)",
    ]
    by.open_data(page, server)
    content = pd.DataFrame({name: list("abcd") for name in names}).to_csv(index=False).encode()
    by.upload(page, by.in_memory("t.csv", content), "4")
    badges = page.locator(".stMarkdownBadge")
    expect(badges).to_have_count(len(names))
    # The first word is the name of the icon.
    shown = [badge.inner_text().split(maxsplit=1)[1] for badge in badges.all()]
    # An invisible character keeps an address from becoming a link.
    assert [text.replace("\u2060", "") for text in shown] == names
    links = page.get_by_test_id("stMain").locator('a[href*="example"]')
    assert [link.get_attribute("href") for link in links.all()] == []


# --- much of it -----------------------------------------------------------------------------
@pytest.mark.nightly
def test_a_file_above_the_limit_is_refused_and_the_app_goes_on(server, page, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(201 * 2**20)
    by.open_data(page, server)
    page.locator('[class*="st-key-upload-"] input[type="file"]').set_input_files(large)
    # Streamlit refuses it before a byte is sent: a red mark, and why when it is pointed at;
    # our sentence stands beside it.
    chip = page.get_by_test_id("stFileChip")
    expect(chip).to_have_attribute("aria-invalid", "true")
    sentence = chip.evaluate("chip => getComputedStyle(chip, '::after').content")
    assert "larger than allowed" in sentence
    chip.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("File must be 200.0MB or smaller")
    expect(page.get_by_role("heading", name="30\u202f000 records,")).to_be_visible()
    by.picture(page, "too-large")
    by.upload(page, by.in_memory("small.csv", b"age,sex\n1,F\n2,M\n"), "2")
    by.go(page, "Anonymise")
    by.anonymise(page)


@pytest.mark.nightly
def test_cancel_is_quick_and_the_old_result_stays(server, page):
    # All different, and any two as different as any others: no branch can be cut.
    lines = "".join(f"{i},{i},{'FM'[i % 2]}\n" for i in range(20_000))
    by.open_data(page, server)
    by.upload(page, by.in_memory("many.csv", f"age,born,sex\n{lines}".encode()), "20\u202f000")
    by.give_role(page, "age", "insensitive")
    by.give_role(page, "born", "insensitive")
    by.give_role(page, "sex", "quasi-identifier")
    by.go(page, "Anonymise")
    by.anonymise(page)
    alteration = page.get_by_test_id("stMetricValue").first.inner_text()
    by.go(page, "Data")
    for column in ("age", "born"):
        by.give_role(page, column, "quasi-identifier")
    expect(page.get_by_text("20\u202f000", exact=True)).to_be_visible()  # classes
    by.go(page, "Anonymise")
    by.button(page, "Anonymise").click()
    expect(page.get_by_text(re.compile("classes left of 20.000"))).to_be_visible(timeout=60_000)
    workers = server.workers()
    by.picture(page, "busy")
    began = time.monotonic()
    by.button(page, "Cancel").click()
    expect(page.get_by_text("Cancelled; nothing was changed.")).to_be_visible(timeout=2000)
    measure("cancel, s", began)
    server.wait_for_the_end_of_one(workers)
    expect(page.get_by_text(by.OUTDATED)).to_be_visible()
    by.idle(page)
    expect(page.get_by_text(by.RESULT)).to_be_visible()
    assert page.get_by_test_id("stMetricValue").first.inner_text() == alteration
    expect(by.button(page, "Anonymise")).to_be_enabled()


def equal_sized(mark):
    """A table above 1 MiB that differs from others like it only off its head, middle and tail."""
    notes = [f"{mark if 1000 <= i < 1400 else 'same'}-{i:04}-{'x' * 300}" for i in range(4000)]
    return pd.DataFrame({"sex": ["F", "M"] * 2000, "note": notes})


@pytest.mark.nightly  # tests/studio/test_isolation.py keeps sessions apart in every run
def test_two_users_at_once(server, open_window):
    ana, ben = open_window(), open_window()
    tables = {page: equal_sized(mark) for page, mark in ((ana, "anas"), (ben, "bens"))}
    for page, title in ((ana, "anas-file.csv"), (ben, "bens-file.csv")):
        by.open_data(page, server)
        content = tables[page].to_csv(index=False).encode()
        assert len(content) > 2**20
        by.upload(page, by.in_memory(title, content), "4\u202f000")
        by.give_role(page, "sex", "quasi-identifier")
        by.give_role(page, "note", "insensitive")
        by.go(page, "Anonymise")
        by.anonymise(page)
    assert "bens" not in ana.content() and "anas" not in ben.content()
    with ana.expect_download() as anas, ben.expect_download() as bens:
        by.button(ana, "Released table").click(no_wait_after=True)
        by.button(ben, "Released table").click(no_wait_after=True)
    contents = [Path(coming.value.path()).read_bytes() for coming in (anas, bens)]
    names = {coming.value.suggested_filename for coming in (anas, bens)}
    assert len(contents[0]) == len(contents[1]) > 2**20 and len(names) == 2
    for content, table in zip(contents, tables.values(), strict=True):
        expected = table.to_csv(index=False).encode()
        assert sorted(content.splitlines()) == sorted(expected.splitlines())
    by.go(ben, "Data")
    assert "anas" not in ben.content()


# --- other kinds of file --------------------------------------------------------------------
