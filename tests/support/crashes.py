"""A table like one of traffic deaths: the ranking of algorithms turns round with l-diversity."""

import numpy as np
import pandas as pd

from kanon.plan import Plan

K = 5


def make_crashes(n_records=600, seed=1):
    """Few frequent tuples, and a sensitive value that 3 in 100 records have.

    Without l, the lattice sweep keeps the frequent tuples as they are and loses less than GAA.
    With l >= 2 it has to raise whole groups for the rare value, and GAA, which merges class by
    class, loses less.
    """
    random = np.random.default_rng(seed)

    def draw(number):
        weights = 1 / np.arange(1, number + 1)
        return random.choice(number, n_records, p=weights / weights.sum())

    age, place = 18 + draw(60), [f"{100 + 7 * value}" for value in draw(40)]
    return pd.DataFrame(
        {
            "age": age,
            "place": place,
            "sex": random.choice(["F", "M"], n_records),
            "vehicle": [f"v{value:02d}" for value in draw(12)],
            "injury": np.where(random.random(n_records) < 0.03, "fatal", "slight"),
        }
    )


def plan_crashes(algorithm="gaa", *models, k=K):
    def blur(**hierarchy):
        return {"role": "quasi-identifier", "hierarchy": hierarchy}

    return Plan.from_content(
        {
            "version": 2,
            "algorithm": {"name": algorithm, "metric": "nllm"},
            "columns": {
                "age": blur(build="intervals", widths=[5, 10, 20]),
                "place": blur(build="mask", keep=[2, 1]),
                "sex": blur(build="suppression"),
                "vehicle": blur(build="mask", keep=[2]),
                "injury": {"role": "sensitive"},
            },
            "privacy": [{"model": "k-anonymity", "k": k}, *models],
        }
    )


def measure_alteration(released, hierarchies):
    """The alteration by NLLM in percent, from released labels alone."""
    highest, lost, most = max(tree.height for tree in hierarchies.values()), 0.0, 0.0
    for column, tree in hierarchies.items():
        below = dict.fromkeys(range(tree.n_nodes), 0)
        for leaf in set(range(tree.n_nodes)) - set(tree.parent.tolist()):
            node = leaf
            while (node := int(tree.parent[node])) >= 0:
                below[node] += 1
        share = {tree.labels[node]: leaves / below[tree.root] for node, leaves in below.items()}
        factor = highest / tree.height
        lost += factor * released[column].astype(str).map(share).sum()
        most += factor * len(released)
    return 100 * lost / most
