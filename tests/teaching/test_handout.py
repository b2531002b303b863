"""The handout: everything on it, nothing that is fetched or run, all text escaped."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from kanon.errors import MetricError
from kanon.hierarchy.build import groups
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.handout import Sheet, drawn, handout, sheets_of

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
    return Page(handout(exercises.title, sheets_of(exercises)))


def test_nothing_is_fetched_and_nothing_is_run(exercises):
    html = handout(exercises.title, sheets_of(exercises), solutions=True)
    page = Page(html)
    assert not page.open, "every tag is closed"
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "a", "base"}
    names = {name for _, attributes in page.tags for name in attributes}
    assert not names & {"src", "href", "srcset", "action", "data"}
    assert not [name for name in names if name.startswith("on")]
    assert (
        "url(" not in html
        and "@import" not in html
        and "http" not in html.replace("http-equiv", "")
    )
    policy = next(each["content"] for _, each in page.tags if each.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_every_table_tree_and_matrix_is_on_it(exercises, page):
    assert [text for text in page.of("h2") if text.startswith("Table: ")] == [
        "Table: animals-v21", "Table: animals-m23", "Table: hospital",
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
    assert "31 values of the tree, which do not occur in the table, are not drawn." in page.of("p")


def test_the_costs_are_those_by_which_the_questions_go(page):
    heads = re.findall(r"What merging (\w+) costs, as (\w+) counts", " ".join(page.of("h3")))
    animals = [(column, metric) for metric in ("Total", "Custom") for column in ("gender", "race")]
    assert heads == [*animals, *((column, "NLLM") for column in ("age", "zip", "sex"))]


def test_a_cost_matrix_by_hand(exercises):
    """The matrix of the paper: cat and lion meet in felids for 1, dogs rise to mammals for 4."""
    sheet = Sheet("animals", exercises.made["animals-m23"])
    html = handout("By hand", [sheet], "custom")
    matrix = html.split("What merging race")[1]
    rows = re.findall(r'<tr><th scope="row">(\w+)</th>((?:<td>[^<]*</td>)+)</tr>', matrix)
    assert re.findall(r'<th scope="col"><span>(\w+)</span>', matrix) == [name for name, _ in rows]
    assert {name: re.findall("<td>([^<]*)", cells) for name, cells in rows} == {
        "Dog": ["0", "4", "4", "4", "4"],
        "Cat": ["4", "0", "1", "1", "4"],
        "Lion": ["4", "1", "0", "1", "4"],
        "Felid": ["3", "0", "0", "0", "3"],
        "Mammal": ["0", "0", "0", "0", "0"],
    }
    assert Page(html).of("h1") == ["By hand"]


def test_every_question_has_space_and_solutions_come_only_if_wanted(exercises, page):
    heads = [text for text in page.of("h3") if text.startswith("Question")]
    assert len(heads) == len(exercises.questions)
    for question in exercises.questions:
        assert any(f"({question.id})" in head for head in heads)
        assert question.asked(exercises.table_of(question)) in page.of("p")
    assert page.of("td").count("") == 0 and "becomes" in page.of("th")
    assert "Solutions" not in page.of("h2")
    solved = Page(handout(exercises.title, sheets_of(exercises), solutions=True))
    assert solved.of("h2")[-1] == "Solutions"
    assert len(solved.of("li")) == len(page.of("li")) + len(exercises.questions)


def test_text_is_escaped_and_large_enough():
    evil = '<script>alert("1")</script>'
    content = {
        "format": "kanon-exercises",
        "version": 1,
        "title": evil,
        "tables": {
            evil: {
                "columns": {
                    evil + "q": {
                        "role": "quasi-identifier",
                        "nodes": [{"name": "*"}, {"name": evil, "parent": "*"}],
                    }
                },
                "records": [[evil], [evil]],
            }
        },
        "questions": [
            {"id": evil[:40], "table": evil, "kind": "recode", "k": 2, "text": evil},
            {"id": "2", "table": evil, "kind": "levels", "k": 2},
        ],
    }
    exercises = read_exercises(json.dumps(content).encode())
    html = handout(exercises.title, sheets_of(exercises), solutions=True)
    assert "<script" not in html
    page = Page(html)
    assert evil in page.of("td") and page.of("title") == [evil]
    sizes = [float(size) for size in re.findall(r"([0-9.]+)pt\b", html)]
    assert sizes and min(sizes) >= 12 and "px" not in re.sub("1px|2px", "", html)


def test_a_matrix_and_a_tree_stay_within_the_page(exercises):
    html = handout("Wide", sheets_of(exercises))
    heads = re.findall(r'<table class="matrix">\s*<thead>(.*?)</thead>', html, re.DOTALL)
    assert len(heads) == 7 and max(head.count("<span>") for head in heads) == 9
    page = Page(html)
    widths = [int(each["width"]) for tag, each in page.tags if tag == "svg"]
    assert widths and max(widths) <= 680, "180 mm are 680 pixels"


def test_a_metric_that_a_tree_lacks_the_weights_of_is_refused(exercises):
    sheet = Sheet("animals", exercises.made["animals-v21"])
    with pytest.raises(MetricError, match="needs a weight on every edge"):
        handout("No weights", [sheet], "custom")
    with pytest.raises(MetricError, match="unknown"):
        handout("No such", [sheet], "mine")


def test_a_tree_is_laid_out_by_hand():
    """Unbalanced: c hangs under the root, and stands in the column of the leaves."""
    tree = groups([{"A": ["a", "b"]}, {"*": ["A", "c"]}])
    found = drawn(tree, range(tree.n_nodes), np.array([1, 1, 2, 1, 0.0]))
    places = {label: (x, y) for x, y, label in found.labels}
    assert [places[label][1] for label in "abcA*"] == [12, 36, 60, 24, 42]
    assert places["a"][0] == places["b"][0] == places["c"][0] > places["A"][0] > places["*"][0]
    assert len(found.edges) == 4 and found.left_out == 0
    part = drawn(tree, [0, 3, 4], np.array([1, 1, 2, 1, 0.0]))
    assert [label for _, _, label in part.labels] == ["a", "A", "*"]
    assert part.left_out == 2 and part.height == 24
