"""Kept comparisons on the page Compare and in a project file."""

import json
import re

import pytest

from kanon.errors import PlanError
from kanon.experiments.kept_comparisons import MOST_KEPT
from kanon.studio.compare.kept_panel import (
    delete_comparison,
    keep_comparison,
    restore_comparison,
)
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.work import keep_user_sections
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui
from support.ended_jobs import end_early
from support.works import with_fields


def compared(sample="hospital", **fields):
    work = with_fields(open_sample(sample, version=1), compared=("ncp", "llm"), **fields)
    return end_early(work, {0, 1}, state="done")


@pytest.fixture(scope="module")
def work():
    return compared()


def titles(work):
    return [kept.title for kept in work.kept.comparisons]


def test_what_it_is_of_is_said_without_a_value(work):
    (kept,) = keep_comparison(work, "today").kept.comparisons
    table = work.table
    assert kept.about.startswith("Hospital, ten records, 10 records; hierarchies: ")
    assert kept.about.endswith(f"; k = {work.settings.k}. Lines meet k only.")
    for column, tree in table.trees.items():
        assert f"{column} ({tree.height} levels, {tree.n_nodes} groups)" in kept.about
        leaves = tree.labels[: tree.n_leaves]
        values = {label for label in leaves if not label.isdigit() or len(label) > 2}
        assert not values & {*re.split(r"[\s,;:()]+", kept.about)}


def test_names_are_unique_and_deletion_can_be_undone(work):
    kept = keep_comparison(keep_comparison(work, "today"), "later")
    with pytest.raises(PlanError, match="is taken"):
        keep_comparison(kept, "TODAY")
    with pytest.raises(PlanError, match="A kept comparison needs a name"):
        keep_comparison(kept, " ")
    with pytest.raises(PlanError, match="Press Compare first"):
        keep_comparison(with_fields(kept, compared=("wllm",)), "more")
    without = delete_comparison(kept, "today")
    assert titles(without) == ["later"] and titles(restore_comparison(without)) == [
        "later",
        "today",
    ]
    for number in range(MOST_KEPT - 2):
        kept = keep_comparison(kept, f"more {number}")
    with pytest.raises(PlanError, match="At most 20"):
        keep_comparison(kept, "one too many")


def test_a_project_brings_them_back_and_loses_none_of_today(work):
    yesterday = keep_comparison(work, "mine")
    content = export_project(yesterday).encode()
    opened = open_project(open_sample("hospital", version=1), content)
    assert titles(opened) == ["mine"]
    found, before = (one.kept.comparisons[0].comparison for one in (opened, yesterday))
    assert found.table().equals(before.table())
    assert titles(open_project(opened, content)) == ["mine"], "the same one is not there twice"
    today = keep_comparison(compared(missing="as-value", cost="representatives"), "mine")
    assert titles(open_project(today, content)) == ["mine", "mine 2"]
    of_today = json.loads(content)
    del of_today["comparisons"]
    without = open_project(open_sample("hospital", version=1), json.dumps(of_today).encode())
    assert titles(without) == [], "a project file from before opens as it did"
    of_today["comparisons"] = [{"version": 9}]
    with pytest.raises(PlanError, match="entry 1 of comparisons: the key 'version' is unknown"):
        open_project(work, json.dumps(of_today).encode())


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([""], "A kept comparison needs a name"),
        (["x" * 41], "A kept comparison needs a name"),
        (["mine", "MINE"], "entry 2 of comparisons: The name 'MINE' is taken"),
        ([f"{number}" for number in range(21)], "At most 20 comparisons"),
    ],
)
def test_a_project_cannot_bring_unusable_names_or_too_many(work, names, sentence):
    project = json.loads(export_project(keep_comparison(work, "mine")))
    (entry,) = project["comparisons"]
    project["comparisons"] = [{**entry, "title": name} for name in names]
    with pytest.raises(PlanError, match=sentence):
        open_project(work, json.dumps(project).encode())


def test_a_project_that_was_opened_over_others_can_be_opened_again(work):
    longest = "x" * 40
    content = export_project(keep_comparison(work, longest)).encode()
    today = keep_comparison(compared(missing="as-value"), longest.upper())
    both = open_project(today, content)
    assert titles(both) == [longest, "X" * 37 + "… 2"]
    assert titles(open_project(work, export_project(both).encode())) == titles(both)
    for number in range(MOST_KEPT - 1):
        today = keep_comparison(today, f"more {number}")
    with pytest.raises(PlanError, match="At most 20 comparisons can be kept, with those of"):
        open_project(today, content)


def test_they_stay_when_another_table_is_opened(work):
    kept = keep_comparison(work, "today")
    assert titles(keep_user_sections(kept, open_sample("animals-m23", version=2))) == ["today"]


@pytest.mark.nightly  # in every run: experiments/test_kept_comparisons.py
def test_the_page_keeps_opens_and_puts_beside(start, work):
    at = start()
    at.session_state[ui.WORK] = work
    ui.go(at, ui.COMPARE)
    ui.enter(at, at.text_input(key="keep-comparison-name-0"), "before")
    ui.press(at, "Keep this comparison")
    assert titles(ui.work(at)) == ["before"] and not ui.problems(at)
    other = compared("animals-m23")
    at.session_state[ui.WORK] = keep_user_sections(ui.work(at), other)
    ui.go(at)
    assert ui.board_lines(at) == ["NCP", "LLM"]
    ui.press(at, "Put beside")
    assert ui.board_lines(at) == ["NCP (1)", "LLM (1)", "NCP (2)", "LLM (2)"]
    lines = ui.told_to_cursor(at)["lines"]
    assert [lines[place]["colour"] for place in (0, 1)] == [
        lines[place]["colour"] for place in (2, 3)
    ]
    first, second = (text for text in ui.texts(at) if text[:2] in ("(1", "(2"))
    assert first.startswith("(1) Now: ") and second.startswith("(2) before: Hospital, ten records")
    assert len(at.table) >= 1 and not ui.problems(at)
    ui.press(at, "Open")
    ui.press(at, "Back to the current comparison")
    assert ui.board_lines(at) == ["NCP", "LLM"] and not ui.problems(at)
    ui.press(at, "Open")
    assert ui.told_to_cursor(at)["ks"] == [*range(2, 11)]
    ui.press(at, "Delete")
    assert ui.board_lines(at) == ["NCP", "LLM"], "without it, the current one is shown"
    ui.press(at, "Restore before")
    assert titles(ui.work(at)) == ["before"]
