"""Equal costs are equal: the merges of exact fractions, where they fit 64 bits and where not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon import scaled_potentials
from kanon.algorithms import gaa
from kanon.strategies import SCOPES, STRATEGIES
from oracles.plain_greedy import Greedy
from support.random_tables import SEVEN, PlainTree, Problem, examples
from support.strategy_tables import merges_of, task_of

# Thirds and halves, and heights that are equal: so ties are frequent, and roundings differ.
THREE = PlainTree({"*": None, "a": "*", "b": "*", "c": "*"})
TWO = PlainTree({"*": None, "x": "*", "y": "*"})
HIGH = PlainTree({"*": None, "A": "*", "B": "*", "a": "A", "b": "A", "c": "A", "d": "B", "e": "B"})
DEEP = PlainTree({"*": None, "P": "*", "Q": "P", "r": "*", "p": "Q", "q": "Q", "s": "P"})
FORESTS = [(THREE, TWO), (HIGH, THREE, TWO), (DEEP, HIGH), (HIGH, HIGH, THREE), (DEEP, THREE, TWO)]
BOTH = [(strategy, scope) for strategy in STRATEGIES for scope in SCOPES]


@st.composite
def problems(draw) -> Problem:
    trees = draw(st.sampled_from(FORESTS))
    cells = [st.sampled_from([*tree.leaves, *tree.leaves, *tree.parents]) for tree in trees]
    rows = draw(st.lists(st.tuples(*cells), min_size=3, max_size=10))
    return Problem(tuple(tree for tree in trees), tuple(rows))


CHOICES = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(SEVEN),
        "cost": st.sampled_from(["weighted", "representatives"]),
        "tie_seed": st.none() | st.integers(0, 9),
    }
)


def check(problem: Problem, values: list[str], strategy: str, scope: str, chosen: dict) -> None:
    greedy = Greedy(
        problem, values, strategy, scope, chosen["cost"] == "weighted", chosen["tie_seed"],
        metric=chosen["metric"],
    )  # fmt: skip
    plain = greedy.merge(lambda rows: len(rows) < len(problem.rows))
    task = task_of(problem, values, strategy, scope, **chosen)
    assert merges_of(problem, gaa.merge_path(task)) == plain.merges, (strategy, scope)


@pytest.mark.parametrize("fits", [2**62, 2**25, 2**12], ids=["exact", "rounded", "coarse"])
@examples(120)
@given(problems(), CHOICES, st.sampled_from(BOTH), st.data())
def test_merges_are_those_of_exact_fractions(fits, problem, chosen, one, data):
    values = [data.draw(st.sampled_from("uvw")) for _ in problem.rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaled_potentials, "_FITS", fits)
        patch.setattr(scaled_potentials, "_BITS_OF_DIGITS", 20)
        check(problem, values, *one, chosen)
