"""The search in the prefix tree takes the same merges as the plain scan, whatever its order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import merging
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.metrics import exact_potentials, metric_named
from oracles.plain_scan import scan
from support.random_tables import SEVEN, examples, trees
from support.recodings import same_path


@st.composite
def tasks(draw) -> Task:
    """Some hundred records over trees of any shape: many ties, third classes, inner nodes."""
    m = draw(st.integers(1, 6))
    hierarchies = tuple(draw(trees(max_nodes=14, prefix="abcdef"[j])).build() for j in range(m))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 400))
    skew = draw(st.sampled_from([1.0, 4.0]))  # some values far more frequent than others
    rows = np.column_stack(
        [(tree.n_nodes * generator.random(n) ** skew).astype(np.int32) for tree in hierarchies]
    )
    nodes, counts, _ = group_tuples(rows, np.ones(n, int), [tree.n_nodes for tree in hierarchies])
    names = tuple(f"q{j}" for j in range(m))
    depths = exact_potentials(metric_named(draw(st.sampled_from(SEVEN))), hierarchies)
    return Task(
        EquivalenceClasses(names, hierarchies, nodes, counts),
        scale_potentials(depths, n),
        k=draw(st.integers(1, n) | st.just(n)),
        weighted=draw(st.booleans()),
        tie_seed=draw(st.none() | st.integers(0, 2**63 - 1)),
    )


@pytest.mark.nightly
@pytest.mark.parametrize("first_below_k", [False, True])
@examples(200)
@given(task=tasks())
def test_the_same_merges_as_the_plain_scan(first_below_k, task):
    assert same_path(merging.merge_greedily(task, first_below_k), scan(task, first_below_k))


@examples(100)
@given(task=tasks(), data=st.data())
def test_the_order_of_the_search_changes_nothing(task, data):
    expected = merging.merge_greedily(task)
    m = len(task.classes.attributes)
    order = np.array(data.draw(st.permutations(range(m))), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(merging, "choose_search_order", lambda classes, depths: order)
        assert same_path(merging.merge_greedily(task), expected)
