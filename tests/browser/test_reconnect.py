"""A reload loses nothing, nobody else gets it, and forgetting wipes it."""

import re

import pytest
from playwright.sync_api import expect

from support import browser as by

pytestmark = pytest.mark.browser

WORD = "sessionStorage.getItem('kanon-desk')"
TABLE = "age,zip,disease\n" + "".join(
    f"{20 + i % 30},{47600 + i % 7},{('flu', 'cold', 'gout')[i % 3]}\n" for i in range(61)
)


def mine(page, server):
    by.open_data(page, server)
    by.upload(page, by.in_memory("mine.csv", TABLE.encode()), "61")
    return page


def loaded(page):
    """The line above each page that says what one works on."""
    return page.get_by_text(re.compile("^61 records ·"))


@pytest.mark.nightly
def test_a_reload_loses_nothing_and_tells_nobody(open_window, server):
    page = mine(open_window(), server)
    by.give_role(page, "zip", "insensitive")
    word = page.evaluate(WORD)
    page.reload()
    expect(loaded(page)).to_be_visible()
    by.idle(page)
    expect(by.named(page, "combobox", "Role of %s", "zip")).to_have_value("insensitive")
    assert page.evaluate(WORD) == word

    by.go(page, "Anonymise")
    by.anonymise(page)
    for _ in range(2):  # the second one before the first is drawn
        page.reload(wait_until="domcontentloaded")  # "commit" breaks a reload that follows
    by.wait_for_result(page)
    expect(loaded(page)).to_be_visible()

    told = server.log.read_text("utf-8")
    assert word not in told and word not in page.url
    assert word not in page.evaluate("document.cookie + JSON.stringify({...localStorage})")


@pytest.mark.nightly  # in every run: test_session_store.py
def test_nobody_else_gets_it_and_a_duplicated_tab_gets_a_copy(open_window, server):
    page = mine(open_window(), server)
    word = page.evaluate(WORD)

    other = open_window()
    by.open_data(other, server)
    expect(loaded(other)).to_have_count(0)
    other.wait_for_function(f"word => {WORD} && {WORD} !== word", arg=word)
    other.evaluate("sessionStorage.setItem('kanon-desk', 'a guess')")
    other.reload()
    expect(other.get_by_text("This tab's earlier work has been deleted")).to_be_visible()
    expect(loaded(other)).to_have_count(0)

    twin = page.context.new_page()  # a duplicated tab, whose storage the browser copies
    by.open_data(twin, server)
    twin.evaluate(f"sessionStorage.setItem('kanon-desk', '{word}')")
    twin.reload()
    expect(loaded(twin)).to_be_visible()
    by.idle(twin)
    twin.wait_for_function(f"word => {WORD} !== word", arg=word)
    twin.close()
    assert word not in server.log.read_text("utf-8")


@pytest.mark.nightly  # in every run: test_session_store.py, test_project.py
def test_forgetting_wipes_everything_at_once(open_window, server):
    page = mine(open_window(), server)
    word = page.evaluate(WORD)
    page.get_by_role("button", name="Delete all my data").click()
    expect(page.get_by_text("you cannot undo it")).to_be_visible()
    with page.expect_navigation():
        page.get_by_role("button", name="Delete now").click()
    by.idle(page)
    expect(page.get_by_text(re.compile("^30.000 records")).first).to_be_visible()
    page.wait_for_function(f"word => {WORD} && {WORD} !== word", arg=word)
    page.evaluate(f"sessionStorage.setItem('kanon-desk', '{word}')")
    page.reload()
    expect(page.get_by_text("This tab's earlier work has been deleted")).to_be_visible()
    expect(loaded(page)).to_have_count(0)


def with_kept(minutes, tmp_path, monkeypatch):
    settings = tmp_path / "settings.toml"
    settings.write_text(f"keep_minutes = {minutes}", "utf-8")
    monkeypatch.setenv("KANON_SETTINGS", str(settings))
    return by.serving(tmp_path)


@pytest.mark.nightly
def test_what_is_kept_goes_in_time(open_window, tmp_path, monkeypatch):
    with with_kept(0.05, tmp_path, monkeypatch) as server:
        page = mine(open_window(), server)
        page.goto("about:blank")
        page.wait_for_timeout(5000)  # longer than it is kept: that is what is tried
        page.goto(f"{server.url}/data")
        told = page.get_by_text("work is kept for 3 seconds")
        expect(told).to_be_visible(timeout=30_000)
        expect(loaded(page)).to_have_count(0)
        page.goto("about:blank")
        server.check_log()


@pytest.mark.nightly
def test_an_operator_can_switch_it_off(open_window, tmp_path, monkeypatch):
    with with_kept(0, tmp_path, monkeypatch) as server:
        page = mine(open_window(), server)
        assert page.evaluate(WORD) is None
        page.reload()
        expect(page.get_by_text(re.compile("^30.000 records")).first).to_be_visible()
        page.get_by_role("button", name="Delete all my data").click()
        expect(page.get_by_text("They are deleted when you close this page")).to_be_visible()
        with page.expect_navigation():
            page.get_by_role("button", name="Delete now").click()
        by.idle(page)
        expect(page.get_by_text(re.compile("^30.000 records")).first).to_be_visible()
        page.goto("about:blank")
        server.check_log()


@pytest.mark.nightly
@pytest.mark.parametrize("reloads", [True, False])
def test_after_a_restart_the_sample_is_not_taken_for_the_table(
    open_window, visitors, tmp_path, reloads
):
    with by.serving(tmp_path) as server:
        page = mine(open_window(), server)
        by.idle(page)
        icon = page.evaluate("new URL(document.querySelector('link[rel*=icon]').href).pathname")
        port = int(server.url.rpartition(":")[2])
    with by.serving(tmp_path, port=port) as server:
        if reloads:
            page.reload()
        else:  # a page at rest stays as it is until the next click
            page.locator('[data-test-connection-state="CONNECTED"]').wait_for(timeout=60_000)
            page.get_by_role("link", name="Lattice").click()
        gone = page.get_by_text("This tab's earlier work has been deleted")
        expect(gone).to_be_visible(timeout=60_000)
        expect(gone).to_contain_text("project file")
        expect(page.get_by_text(re.compile("^30.000 records"))).to_have_count(0)
        page.get_by_role("button", name="Load the table again").click()
        expect(gone).to_have_count(0)
        expect(page.get_by_text(re.compile("^30.000 records")).first).to_be_visible()
        by.idle(page)
        page.reload()
        expect(page.get_by_text(re.compile("^30.000 records")).first).to_be_visible()
        expect(gone).to_have_count(0)
        page.goto("about:blank")
    for visitor in visitors:  # while there was no server, and of the first one's icon
        visitor.complaints[:] = [
            said for said in visitor.complaints if "REFUSED" not in said and f"({icon})" not in said
        ]
