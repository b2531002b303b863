"""The handout: everything on it, nothing that is fetched or run, all text escaped."""

import re
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import MetricError
from kanon.hierarchy.build import groups
from kanon.metrics import metric_named, potentials
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.handout import lay_out_tree, write_handout
from kanon.teaching.question import format_question_heading
from kanon.teaching.worked import round_costs
from support.exercise_sets import GIVEN, exercises_of
from support.random_tables import examples

VOID = {"meta", "line", "br"}


class Page(HTMLParser):
    """The tags of a page, that each is closed, and the text of each."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and data.strip():
            self.texts.append((self.open[-1], " ".join(data.split())))

    def of(self, tag: str) -> list[str]:
        return [text for where, text in self.texts if where == tag]


@pytest.fixture(scope="module")
def exercises():
    return read_exercises(BUILT_IN)


@pytest.fixture(scope="module")
def page(exercises):
    return Page(write_handout(exercises))


def test_nothing_is_fetched_and_nothing_is_run(exercises):
    html = write_handout(exercises, solutions=True)
    page = Page(html)
    assert not page.open, "every tag is closed"
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "a", "base"}
    names = {name for _, attributes in page.tags for name in attributes}
    assert not names & {"src", "href", "srcset", "action", "data"}
    assert not [name for name in names if name.startswith("on")]
    assert not re.search(r"url\(|@import|http(?!-equiv)", html)
    policy = next(each["content"] for _, each in page.tags if each.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_every_table_stands_once_in_the_order_in_which_it_is_asked_about(exercises, page):
    assert [text for text in page.of("h2") if text.startswith("Table ")] == [
        "Table animals-m23", "Table hospital", "Table animals-v21",
    ]  # fmt: skip
    cells = page.of("td")
    for table in exercises.made.values():
        for text in table.frame.to_numpy().ravel():
            assert text in cells
    drawn_labels = page.of("text")
    for table in exercises.made.values():
        classes = table.classes
        for j, tree in enumerate(classes.hierarchies):
            there = {above for node in classes.nodes[:, j] for above in tree.path(int(node))}
            assert {tree.labels[node] for node in there} <= set(drawn_labels)
    assert "Not drawn: 31 values that no record has." in page.of("p")


def test_the_costs_are_those_by_which_the_questions_go(page):
    heads = re.findall(r"(\w+) \((\w+)\)", " ".join(page.of("h3")))
    first, second = (
        [(column, metric) for column in ("gender", "race")] for metric in ("Custom", "Total")
    )
    assert heads == [*first, *((column, "NLLM") for column in ("age", "zip", "sex")), *second]


def test_a_cost_matrix_by_hand(exercises):
    """The matrix of the paper: cat and lion meet in felids for 1, dogs rise to mammals for 4."""
    html = write_handout(exercises)
    assert html.count('<table class="matrix">') == 1, "of trees without groups, or large: none"
    matrix = html.split('<table class="matrix">')[1]
    rows = re.findall(r'<tr><th scope="row">(\w+)</th>((?:<td>[^<]*</td>)+)</tr>', matrix)
    heads = re.findall(r'<th scope="col"><span>(\w+)</span>', matrix)
    assert heads == [name for name, _ in rows[: len(heads)]]
    assert {name: re.findall("<td>([^<]*)", cells) for name, cells in rows[: len(heads)]} == {
        "Dog": ["0", "4", "4", "4", "4"],
        "Cat": ["4", "0", "1", "1", "4"],
        "Lion": ["4", "1", "0", "1", "4"],
        "Felid": ["3", "0", "0", "0", "3"],
        "Mammal": ["0", "0", "0", "0", "0"],
    }


@pytest.mark.parametrize("metric", ["total", "nllm", "wnllm", "entropy"])
def test_what_a_picture_shows_adds_up(exercises, metric):
    """The steps of a path have the sum that its matrix shows, and are the metric's costs."""
    chosen = metric_named(metric)
    for table in exercises.made.values():
        trees = table.classes.hierarchies
        real = potentials(chosen, trees, table.classes.records_below)
        every, said = round_costs(real)
        for tree, depths, shown in zip(trees, real, every, strict=True):
            read = [Fraction(said(cost)) for cost in shown]
            for node in range(tree.n_leaves):
                path = tree.path(node)
                steps = [Fraction(said(shown[one] - shown[other])) for one, other in pairwise(path)]
                assert sum(steps) == read[node] and steps
            exact = metric in ("total", "nllm")
            assert np.allclose([float(each) for each in read], depths, atol=0 if exact else 6e-4)


@examples(200)
@given(st.lists(st.floats(1e-11, 1e6), min_size=1, max_size=6))
def test_costs_of_any_size_add_up(steps):
    depths = np.array([*np.cumsum(steps)[::-1], 0.0])
    (shown,), said = round_costs([depths])
    texts = [said(one - other) for one, other in pairwise(shown)]
    read = [Fraction(text.replace("\u202f", "")) for text in [*texts, said(shown[0])]]
    assert sum(read[:-1]) == read[-1]
    assert abs(float(read[-1]) - depths[0]) <= max(depths[0] / 100, 6e-5)


def test_questions_have_the_order_and_the_headings_of_the_screen(exercises, page):
    wanted = [
        format_question_heading(number, one)
        for number, one in enumerate(exercises.questions, start=1)
    ]
    assert [text for text in page.of("h3") if text[0].isdigit()] == wanted
    asked = [one.describe_task(exercises.get_table(one)) for one in exercises.questions]
    assert [text for text in page.of("p") if text in asked] == asked
    points = [text for text in page.of("span") if text.startswith("table ")]
    assert points == [
        f"table {one.table} · {one.points:g} point{'' if one.points == 1 else 's'}"
        for one in exercises.questions
    ]
    assert page.of("td").count("") == 0 and "becomes" in page.of("th")
    assert "Solutions" not in page.of("h2")
    solved = Page(write_handout(exercises, solutions=True))
    assert solved.of("h2")[-1] == "Solutions"
    assert solved.of("b") == [f"{each}." for each in wanted]
    assert solved.of("li")[-len(wanted) :] == [
        one.describe_solution(exercises.get_table(one)) for one in exercises.questions
    ]


def test_text_is_escaped_and_large_enough():
    evil = '<script>alert("1")</script>'
    nodes = [{"name": "*"}, {"name": evil, "parent": "*"}]
    columns = {f"{evil}q": {"role": "quasi-identifier", "nodes": nodes}}
    questions = [
        {"id": evil[:40], "table": evil, "kind": "recode", "k": 2, "text": evil},
        {"id": "2", "table": evil, "kind": "levels", "k": 2},
    ]
    tables = {evil: {"columns": columns, "records": [[evil], [evil]]}}
    exercises = exercises_of(GIVEN | {"title": evil, "tables": tables, "questions": questions})
    html = write_handout(exercises, solutions=True)
    assert "<script" not in html
    page = Page(html)
    assert evil in page.of("td") and page.of("title") == [evil]
    sizes = [float(size) for size in re.findall(r"([0-9.]+)pt\b", html)]
    assert sizes and min(sizes) >= 12 and "px" not in re.sub("1px|2px", "", html)


@pytest.mark.parametrize("metric", [None, "entropy"])
def test_a_matrix_and_a_tree_stay_within_the_page(exercises, metric):
    html = write_handout(exercises, metric)
    heads = re.findall(r'<table class="matrix">\s*<thead>(.*?)</thead>', html, re.DOTALL)
    assert heads and max(head.count("<span>") for head in heads) <= 9
    page = Page(html)
    widths = [int(each["width"]) for tag, each in page.tags if tag == "svg"]
    assert widths and max(widths) <= 680, "180 mm are 680 pixels"


def test_a_metric_that_a_tree_lacks_the_weights_of_is_refused(exercises):
    with pytest.raises(MetricError, match="needs a weight on every edge"):
        write_handout(exercises, "custom")
    with pytest.raises(MetricError, match="unknown"):
        write_handout(exercises, "mine")


def test_a_tree_is_laid_out_by_hand():
    """Unbalanced: c hangs under the root, and stands in the column of the leaves."""
    tree = groups([{"A": ["a", "b"]}, {"*": ["A", "c"]}])
    found = lay_out_tree(tree, range(tree.n_nodes), ["1", "1", "2", "1", ""], "t", {})
    places = {label: (x, y) for x, y, label in found.labels}
    assert [places[label][1] for label in "abcA*"] == [12, 36, 60, 24, 42]
    assert places["a"][0] == places["b"][0] == places["c"][0] > places["A"][0] > places["*"][0]
    assert len(found.edges) == 4 and found.left_out == 0
    part = lay_out_tree(tree, [0, 3, 4], ["1", "1", "2", "1", ""], "t", {})
    assert [label for _, _, label in part.labels] == ["a", "A", "*"]
    assert part.left_out == 2 and part.height == 24
