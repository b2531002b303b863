"""Random recodings and paths, and classes written by hand."""

import numpy as np
from hypothesis import strategies as st

from kanon.algorithms import gaa
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.metrics import exact_potentials, metric_named
from kanon.recoding import MergePath, Recoding
from kanon.sensitive import Sensitive
from support.random_tables import Problem, problems


@st.composite
def recodings(draw, identity: bool = False):
    """A table and any recoding of it that moves up, with suppressed classes."""
    problem = draw(problems(max_records=14))
    targets = []
    for labels in problem.sizes:
        above = [
            x if identity else draw(st.sampled_from(tree.paths[x]))
            for tree, x in zip(problem.trees, labels, strict=True)
        ]
        targets.append(problem.numbers(above))
    left_out = [not identity and draw(st.integers(0, 4)) == 0 for _ in targets]
    return problem, Recoding.from_targets(
        problem.classes(), np.array(targets), np.array(left_out, dtype=bool)
    )


def path_of(problem: Problem, chosen: dict, k_max: int):
    depths = exact_potentials(metric_named(chosen["metric"]), problem.hierarchies)
    scaled = scale_potentials(depths, len(problem.rows))
    return gaa.merge_path(
        Task(problem.classes(), scaled, k_max, chosen["cost"] == "weighted", chosen["tie_seed"])
    )


def same_path(one: MergePath, other: MergePath) -> bool:
    """Whether the same classes were merged, in the same order."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("parts", "smallest", "nodes", "counts")
    )


def released(recoding: Recoding) -> list[tuple[str, ...]]:
    """The released tuples by label, in canonical order."""
    return [
        tuple(tree.labels[v] for tree, v in zip(recoding.hierarchies, row, strict=True))
        for row in recoding.nodes
    ]


def classes_of(
    names: str, columns: list[Hierarchy], rows: list[str], ill: list[str] | None = None
) -> EquivalenceClasses:
    """Classes of rows whose cells stand between blanks; perhaps a sensitive value per row."""
    nodes = np.array(
        [[tree.node_of[x] for tree, x in zip(columns, row.split(), strict=True)] for row in rows]
    )
    found, counts, group = group_tuples(
        nodes, np.ones(len(rows), dtype=np.int64), [tree.n_nodes for tree in columns]
    )
    sensitive = ()
    if ill is not None:
        values = sorted(set(ill))
        codes = [values.index(value) for value in ill]
        sensitive = (Sensitive.from_records("ill", values, False, group, codes, len(counts)),)
    return EquivalenceClasses(tuple(names.split()), tuple(columns), found, counts, sensitive)
