"""From a messy extract to a report to sign, in few actions: proposed trees, or drawn by hand."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from support import browser as by
from support.controls import check_header
from support.walk import Walk

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

K, L = 5, 3
MOST_ACTIONS = {"proposed": 25, "by hand": 60}
JOBS = {
    "Health": ("Nurse", "Physician", "Midwife"),
    "Trades": ("Baker", "Joiner", "Plumber"),
    "Office": ("Clerk", "Accountant", "Secretary"),
    "Transport": ("Bus driver", "Pilot", "Courier"),
}
STATUSES = {"Alone": ("single", "widowed", "divorced"), "Together": ("married", "cohabiting")}
QUASI = ["birth date", "sex", "postcode", "occupation", "marital status"]


def make_extract(rows=2_000, persons=1_600):
    """Spellings to merge, stray spaces, missing codes, a person with several records, dates."""
    random = np.random.default_rng(61)
    who = np.concatenate([np.arange(persons), random.integers(0, persons, rows - persons)])
    jobs = [job for group in JOBS.values() for job in group]
    born = pd.Timestamp("1930-01-01") + pd.to_timedelta(random.integers(0, 29_000, persons), "D")
    table = pd.DataFrame({
        "patient no": (700_000 + np.arange(persons)).astype(str)[who],
        "birth date": born.strftime("%d.%m.%Y").to_numpy()[who],
        "sex": random.choice(["f", "m"], persons)[who],
        "postcode": random.choice([f"{n:05d}" for n in range(20_100, 20_160)], persons)[who],
        "occupation": random.choice(jobs, persons)[who],
        "marital status": random.choice(sum(STATUSES.values(), ()), persons)[who],
        "ward": random.choice(["A1", "A2", "B1"], rows),
        "diagnosis": random.choice(["E11.9", "I10.0", "J45.1", "K21.0", "M54.5"], rows),
    })  # fmt: skip
    for spelling in (str.lower, str.upper, lambda job: f" {job} "):
        places = random.choice(rows, rows // 40, replace=False)
        table.loc[places, "occupation"] = table.loc[places, "occupation"].map(spelling)
    for column in ("postcode", "occupation", "marital status"):
        table.loc[random.choice(rows, 12, replace=False), column] = "n/a"
    return table


@pytest.mark.parametrize("trees", MOST_ACTIONS)
def test_a_messy_extract_becomes_a_signed_report_in_few_actions(server, page, trees):
    table, walk = make_extract(), Walk(page)
    by.open_data(page, server)
    load(walk, table)
    if trees == "by hand":
        walk.go("Hierarchies")
        draw_tree(walk, "occupation", JOBS)
        draw_tree(walk, "marital status", STATUSES)
    anonymise(walk)
    check_release(table, walk.download("Released table"), trees)
    report = make_report(walk)
    print(f"{trees}: {len(walk.actions)} actions: {'; '.join(walk.actions)}")
    assert report.count("Name and signature of the") == 2
    assert len(walk.actions) <= MOST_ACTIONS[trees], walk.actions


def load(walk, table):
    """Upload; say what is missing, what a column without a role is, and join the spellings."""
    page = walk.page
    walk.actions.append("upload")
    content = table.to_csv(index=False).encode()
    by.upload(page, by.in_memory("extract.csv", content), "2\u202f000")
    walk.press(by.button(page, "'n/a' is missing"))
    walk.press(by.button(page, "Keep it as it is"))
    walk.press(page.get_by_text("Keep them: count missing as a value of its own"))
    person = page.get_by_role("combobox", name="Which column identifies the person?")
    expect(person).to_have_value("patient no")  # proposed
    walk.press(page.get_by_text("Repair values"))
    walk.choose("Column to repair", "occupation")
    walk.press(by.button(page, "Merge spellings"))
    by.picture(page, "walk-data")


def draw_tree(walk, column, groups):
    """Put the values of every group into it: each is clicked, the group named."""
    page = walk.page
    walk.press(page.get_by_test_id("stButtonGroup").get_by_text(column, exact=True))
    for name, members in groups.items():
        for place, member in enumerate(members):
            node = page.locator(f'.node[data-label="{member}"] .label')
            walk.click(node, member, ["Control"] if place else [])
        walk.click(page.locator('[data-do="group"]'), "Group…")
        tree = page.locator(".tree")
        before = tree.get_attribute("data-answered")
        walk.actions.append(f"type {name}")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(tree).not_to_have_attribute("data-answered", before)
        by.idle(page)
    by.picture(page, f"walk-tree-{column}")


def anonymise(walk):
    """k = 5 in persons, and three diagnoses in every class."""
    page = walk.page
    walk.go("Anonymise")
    walk.click(by.button(page, "Also require: nothing"), "Also require")
    walk.actions.append("choose Add a model: distinct l-diversity")
    page.get_by_role("combobox", name="Add a model").click()
    with by.answered(page):
        page.get_by_role("option", name=re.compile("distinct l-diversity", re.I)).click()
    walk.type("l", str(L), "spinbutton")
    page.keyboard.press("Escape")
    walk.actions.append("press Anonymise")
    by.anonymise(page)
    check_header(page)  # which names persons and the model too
    by.picture(page, "walk-release")


def check_release(table, moved, trees):
    released = pd.read_csv(io.BytesIO(moved.path().read_bytes()), dtype=str, keep_default_na=False)
    assert list(released) == list(table)[1:] and len(released) == len(table)
    classes = released.groupby(QUASI, sort=False)
    assert classes.size().min() >= K and classes["diagnosis"].nunique().min() >= L
    jobs = {job for group in JOBS.values() for job in group}
    beyond = set(released["occupation"]) - {"(missing)", "*", *JOBS} - jobs
    assert not beyond, beyond
    if trees == "by hand":
        assert released["occupation"].isin(JOBS).any()
        assert released["marital status"].isin(STATUSES).any()


def make_report(walk):
    """The report, with the texts that it is signed under; its content."""
    page = walk.page
    walk.go("Report")
    walk.type("Responsible person", "A. Adams")
    walk.type("Recipient", "Research group")
    walk.type("Legal basis", "Consent")
    walk.type("Title", "Stays of 2026 for a study")
    walk.actions.append("press Make the report")
    by.make_report(page)
    return walk.download("Report").path().read_text("utf-8")
