"""Tables, recodings and the values of measures worked by hand."""

import numpy as np
from hypothesis import strategies as st

from kanon.recoding import Recoding
from support.random_tables import PlainTree, Problem, problems

Row = tuple[str, ...]


def of_leaves(problem: Problem, draw) -> Problem:
    """The same trees with original values that are leaves."""
    rows = [
        tuple(
            value if value in tree.leaves else draw(st.sampled_from(tree.leaves))
            for tree, value in zip(problem.trees, row, strict=True)
        )
        for row in problem.rows
    ]
    return Problem(problem.trees, tuple(rows))


@st.composite
def releases(draw, leaves: bool = False):
    """A table, per class what it becomes (None: suppressed), and the recoding."""
    problem = draw(problems(max_records=14))
    if leaves:
        problem = of_leaves(problem, draw)
    to: dict[Row, Row | None] = {}
    for labels in problem.sizes:
        above = [draw(st.sampled_from(t.paths[x])) for t, x in zip(problem.trees, labels)]  # noqa: B905
        to[labels] = None if draw(st.integers(0, 5)) == 0 else tuple(above)
    return problem, to, recoded(problem, to)


def recoded(problem: Problem, to: dict[Row, Row | None], **given) -> Recoding:
    roots = tuple(tree.root for tree in problem.trees)
    targets = np.array([problem.numbers(to[labels] or roots) for labels in problem.sizes])
    gone = np.array([to[labels] is None for labels in problem.sizes])
    classes = problem.classes()
    for array in (classes.nodes, classes.counts, targets, gone):
        array.setflags(write=False)  # nobody changes what is passed on
    return Recoding.from_targets(classes, targets, gone, **given)


AGES = PlainTree({"*": None, "A": "*", "a": "A", "b": "A", "c": "*", "d": "*"})


SEX = PlainTree({"*": None, "F": "*", "M": "*"})


def by_hand(**given) -> Recoding:
    """Eight records: a F, a F, b F, b M, c M, c M, d M, d M; ages a and b raised to A, d M gone."""
    rows = [("a", "F")] * 2 + [("b", "F"), ("b", "M")] + [("c", "M")] * 2 + [("d", "M")] * 2
    problem = Problem((AGES, SEX), tuple(rows))
    to = {row: row for row in rows} | {
        ("a", "F"): ("A", "F"),
        ("b", "F"): ("A", "F"),
        ("b", "M"): ("A", "*"),
        ("d", "M"): None,
    }
    return recoded(problem, to, **given)
