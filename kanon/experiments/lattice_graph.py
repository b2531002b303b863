"""The lattice of a plan as a graph of networkx, for questions of one's own."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pandas as pd

from kanon.algorithms.lattice_size import n_nodes
from kanon.base.formatting import thin
from kanon.base.progress import no_progress
from kanon.errors import PlanError
from kanon.experiments.exploration import COMPLETE, explore
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.tables import Table


def lattice_graph(plan: Plan, table: Table | pd.DataFrame, folder: Path = Path()) -> nx.DiGraph:
    """The lattice of a plan: what every node loses, and which satisfy.

    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "ola"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> graph = lattice_graph(plan, pd.DataFrame({"sex": ["F", "F", "M"]}))
    >>> graph.nodes[0,]["satisfying"], graph.nodes[1,]["loss"], graph.edges[(0,), (1,)]["raised"]
    (False, 100.0, 'sex')
    """
    task = prepare(plan, table, folder).task()
    size = n_nodes(task.classes.hierarchies)
    if size > COMPLETE:
        raise PlanError(
            f"The lattice has {thin(size)} nodes; up to {thin(COMPLETE)} are counted one by one."
        )
    explored = explore(no_progress, task)
    found = explored.assessed
    columns = {
        "loss": found.loss,
        "satisfying": found.satisfying,
        "suppressed": found.suppressed,
        "classes": found.classes,
        "reached": found.reached,
    }
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    graph = nx.DiGraph(attributes=explored.attributes)
    for node, numbers in zip(found.places, values, strict=True):
        graph.add_node(node, **dict(zip(columns, numbers, strict=True)))
    for node in found.places:
        for place, name in enumerate(explored.attributes):
            above = (*node[:place], node[place] + 1, *node[place + 1 :])
            if above in found.places:
                graph.add_edge(node, above, raised=name)
    return graph
