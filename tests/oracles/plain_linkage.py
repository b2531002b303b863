"""Attacks by linkage, looked through row by row."""

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from kanon.recoding import Recoding
from kanon.sensitive import Sensitive
from support.random_tables import Problem, problems


@st.composite
def attacks(draw):
    """A table with a sensitive column, a recoding of it with suppressed classes, what is known."""
    problem = draw(problems(max_records=14))
    secrets = draw(
        st.lists(st.sampled_from("uvw"), min_size=len(problem.rows), max_size=len(problem.rows))
    )
    values = sorted(set(secrets))
    of_row = [list(problem.sizes).index(row) for row in problem.rows]
    sensitive = Sensitive.from_records(
        "secret", values, False, of_row, [values.index(x) for x in secrets], len(problem.sizes)
    )
    classes = replace(problem.classes(), sensitive=(sensitive,))
    targets = [
        problem.numbers([draw(st.sampled_from(t.paths[x])) for t, x in zip(problem.trees, row)])  # noqa: B905
        for row in problem.sizes
    ]
    gone = [draw(st.integers(0, 5)) == 0 for _ in targets]
    recoding = Recoding.from_targets(classes, np.array(targets), np.array(gone, dtype=bool))
    known = draw(st.lists(st.sampled_from(problem.columns), unique=True))
    return problem, secrets, of_row, recoding, known


def rows_of(problem: Problem, secrets, of_row, recoding) -> pd.DataFrame:
    """The release as a table of labels; suppressed rows left out."""
    found = []
    for row, secret in zip(of_row, secrets, strict=True):
        if recoding.assigned[row] >= 0:
            labels = [
                tree.labels[node]
                for tree, node in zip(
                    problem.hierarchies, recoding.nodes[recoding.assigned[row]], strict=True
                )
            ]
            found.append((*labels, secret))
    return pd.DataFrame(found, columns=[*problem.columns, "secret"])


def could_be(problem: Problem, table: pd.DataFrame, known) -> pd.DataFrame:
    """The rows of which every known column is the known value or a node above it."""
    fits = pd.Series(True, index=table.index)
    for tree, column in zip(problem.trees, problem.columns, strict=True):
        if column in known:
            fits &= table[column].isin(tree.paths[known[column]])
    return table[fits]
