"""A handout to print: tables, trees and questions in one HTML file without scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kanon.hierarchy import Hierarchy
from kanon.metrics import Metric, metric_named, potentials
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.question import format_question_heading
from kanon.teaching.questions import AnyQuestion, NumberQuestion
from kanon.teaching.small_tables import SmallTable
from kanon.teaching.worked import round_costs

MOST_IN_MATRIX = 9
"""The most rows of a printed cost matrix; larger trees show only the costs of their steps."""

MOST_LEAVES = 20  # of a tree with more leaves only those that occur are drawn


_MILLIMETRES = 25.4 / 96  # a pixel on paper

_ROW, _GAP = 24, 26  # pixels from leaf to leaf, and between the columns of a tree


@dataclass(frozen=True)
class TreePicture:
    """The tree of a column in pixels: the root on the left, a line per leaf."""

    name: str  # its column
    width: int
    height: int
    # per edge both ends: x and y of the upper node, x and y of the lower one
    edges: tuple[tuple[int, float, int, float], ...]
    labels: tuple[tuple[int, float, str], ...]  # per node where its label begins, and the label
    costs: tuple[tuple[int, float, str], ...]
    left_out: int  # how many leaves are not drawn
    matrix: Mapping[str, Sequence[str]]  # per label the costs of meeting each, where it is small

    @cached_property
    def svg(self) -> str:
        """The picture, black on white, to stand by itself."""
        opening = '<svg xmlns="http://www.w3.org/2000/svg" '  # which HTML does without
        picture = _load_templates().get_template("tree.html").render(tree=self)
        return picture.replace("<svg ", opening, 1)


def write_handout(
    exercises: ExerciseSet, metric: str | None = None, *, solutions: bool = False
) -> str:
    """The handout as HTML; an exam has to be unlocked for its solutions."""
    if solutions:
        exercises.check_unlocked()
    tables, has_matrix = [], False
    for name in dict.fromkeys(question.table for question in exercises.questions):
        table = exercises.made[name]
        questions = [question for question in exercises.questions if question.table == name]
        needed = dict.fromkeys(question.needed_metric for question in questions)
        metrics = [metric] if metric else list(filter(None, needed)) or ["nllm"]
        costs: list[dict[str, Any]] = [
            {"metric": cost_metric.card.title, "trees": draw_trees(table, cost_metric)}
            for cost_metric in map(metric_named, metrics)
        ]
        trees = [tree for cost in costs for tree in cost["trees"]]
        widest = max(tree.width for tree in trees)
        has_matrix |= any(tree.matrix for tree in trees)
        tables.append(
            {
                "name": name,
                "columns": list(table.frame.columns),
                "roles": _group_columns_by_role(table),
                "records": table.frame.to_numpy().tolist(),
                "costs": costs,
                "widest": round(widest * _MILLIMETRES, 1),
            }
        )
    page = _load_templates().get_template("handout.html")
    return page.render(
        title=exercises.title,
        tables=tables,
        matrices=has_matrix,
        questions=[
            _describe_question(number, question, exercises.get_table(question), solutions)
            for number, question in enumerate(exercises.questions, start=1)
        ],
        solutions=solutions,
    )


def lay_out_tree(
    tree: Hierarchy,
    nodes: Sequence[int],
    costs: Sequence[str],
    name: str,
    matrix: Mapping[str, Sequence[str]],
) -> TreePicture:
    order = [node for node in range(tree.n_nodes) if node in {*nodes}]
    top = int(tree.level[tree.root])
    widths = [0] * (top + 1)
    for node in order:
        level = int(tree.level[node])
        widths[level] = max(widths[level], _estimate_text_width(tree.labels[node]))
    cost_texts = {node: costs[node] for node in order if node != tree.root}
    room = _GAP + max(map(_estimate_text_width, cost_texts.values()), default=0)
    left = [2] * (top + 1)
    for level in range(top - 1, -1, -1):
        left[level] = left[level + 1] + widths[level + 1] + room
    below: dict[int, list[int]] = {node: [] for node in order}
    for node in order[:-1]:
        below[int(tree.parent[node])].append(node)
    middle: dict[int, float] = {}
    ends = [node for node in order if not below[node]]  # drawn like leaves
    for place, node in enumerate(sorted(ends, key=lambda node: tree.first[node])):
        middle[node] = _ROW * place + _ROW / 2
    for node in order:
        if below[node]:
            ys = [middle[child] for child in below[node]]
            middle[node] = (min(ys) + max(ys)) / 2
    x_of = {node: left[int(tree.level[node])] for node in order}
    pairs = [(node, child) for node in order for child in below[node]]
    begin = {node: x_of[node] + _estimate_text_width(tree.labels[node]) for node in order}
    end = {child: x_of[child] - _estimate_text_width(cost_texts[child]) - 10 for _, child in pairs}
    leaves = sum(node < tree.n_leaves for node in order)
    return TreePicture(
        name=name,
        width=left[0] + widths[0] + 2,
        height=_ROW * len(ends),
        edges=tuple((begin[a], middle[a], end[b], middle[b]) for a, b in pairs),
        labels=tuple((x_of[node], middle[node], tree.labels[node]) for node in order),
        costs=tuple((x_of[child] - 8, middle[child], cost_texts[child]) for _, child in pairs),
        left_out=tree.n_leaves - leaves,
        matrix=matrix,
    )


def _group_columns_by_role(table: SmallTable) -> dict[str, list[str]]:
    columns_by_role: dict[str, list[str]] = {}
    for name, role in table.schema.roles.items():
        columns_by_role.setdefault(role.value, []).append(name)
    return columns_by_role


def draw_trees(table: SmallTable, metric: Metric) -> list[TreePicture]:
    classes = table.classes
    records = classes.records_below if metric.counts_records else None
    exact_costs, write = round_costs(potentials(metric, classes.hierarchies, records))
    drawings = []
    for j, (name, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        nodes = range(tree.n_nodes)
        costs = exact_costs[j]
        up = [write(costs[node] - costs[int(tree.parent[node])]) for node in nodes[:-1]]
        # Where all values meet only at the root, the tree shows the same.
        small = tree.height > 2 and len(nodes) <= MOST_IN_MATRIX
        matrix = {
            tree.labels[row]: [write(costs[row] - costs[int(tree.lca(row, at))]) for at in nodes]
            for row in (nodes if small else ())
        }
        occurring = {above for node in classes.nodes[:, j] for above in tree.path(int(node))}
        drawn = nodes if tree.n_leaves <= MOST_LEAVES else sorted(occurring)
        drawings.append(lay_out_tree(tree, drawn, [*up, ""], name, matrix))
    return drawings


def _estimate_text_width(text: str) -> int:
    """The width of a text of 12 points, in pixels, estimated rather high."""
    return sum(
        17 if letter in "mwMW@%" or east_asian_width(letter) in "WF" else 11 for letter in text
    )


def _describe_question(
    number: int, question: AnyQuestion, table: SmallTable, solutions: bool
) -> dict[str, object]:
    return {
        "heading": format_question_heading(number, question),
        "table": question.table,
        "text": question.text,
        "asked": question.describe_task(table),
        "points": f"{question.points:g} {'point' if question.points == 1 else 'points'}",
        "space": question.get_answer_space(table),
        "worked": not (
            isinstance(question, NumberQuestion) and question.whole
        ),  # room for arithmetic
        "solved": question.describe_solution(table) if solutions else "",
    }


@cache
def _load_templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
