"""Random tables with sensitive columns, models about them, and a plain check of each."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd
from hypothesis import assume
from hypothesis import strategies as st

from kanon.algorithms.task import Task
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.metrics import exact_potentials, metric_named
from kanon.privacy.alpha_k_anonymity import AlphaKAnonymity
from kanon.privacy.basic_beta_likeness import BasicBetaLikeness
from kanon.privacy.delta_disclosure import DeltaDisclosure
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.enhanced_beta_likeness import EnhancedBetaLikeness
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.model import Model
from kanon.privacy.recursive_cl_diversity import RecursiveCLDiversity
from kanon.privacy.t_closeness import TCloseness
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from kanon.strategies import STRATEGIES
from support.random_tables import Problem, algorithms, problems
from support.reference_tables import Greedy, Labels

COLUMNS = ("ill", "pay")

BY_COST = {
    "metric": "custom", "cost": "weighted", "tie_seed": None, "strategy": "s1", "scope": "table",
    "sensitive": "ill",
}  # fmt: skip
"""What guides a merging by cost alone."""

Columns = Mapping[str, Sequence[Any]]


def meets(model: Model, classes: Mapping[str, Counter], whole: Mapping[str, Counter]) -> bool:
    """Whether a class meets a model, by the number of its records that have each value."""
    if isinstance(model, KAnonymity):
        return next(iter(classes.values())).total() >= model.k
    mine, total = classes[model.column], whole[model.column]  # type: ignore[attr-defined]
    size, n = mine.total(), total.total()
    shares = {value: (Fraction(mine[value], size), Fraction(total[value], n)) for value in total}
    if isinstance(model, EntropyLDiversity):
        entropy = -sum(float(p) * math.log(p) for p, _ in shares.values() if p)
        return math.exp(entropy) >= model.l * (1 - 1e-9)
    if isinstance(model, DistinctLDiversity):
        return len(+mine) >= model.l
    if isinstance(model, RecursiveCLDiversity):
        falling = sorted(mine.values(), reverse=True)
        return falling[0] < Fraction(model.c) * sum(falling[model.l - 1 :])
    if isinstance(model, TCloseness):
        return float(distance(model.distance, shares)) <= model.t
    if isinstance(model, AlphaKAnonymity):
        return size >= model.k and float(max(p for p, _ in shares.values())) <= model.alpha
    if isinstance(model, DeltaDisclosure):
        return all(p and abs(math.log(p / q)) < model.delta for p, q in shares.values())
    assert isinstance(model, BasicBetaLikeness | EnhancedBetaLikeness)
    for p, q in shares.values():
        gain = float((p - q) / q)
        if gain > model.beta:
            return False
        if isinstance(model, EnhancedBetaLikeness) and gain > max(-math.log(q), 0):
            return False
    return True


def distance(name: str, shares: Mapping[Any, tuple[Fraction, Fraction]]) -> Fraction:
    """How far a class is from the table."""
    if name != "emd-ordered":
        apart = sum((abs(p - q) for p, q in shares.values()), Fraction(0))
        return apart if name == "norm1" else apart / 2
    row = sorted(shares, key=lambda value: (value is None, value or 0))
    carried = [
        abs(sum((shares[v][0] - shares[v][1] for v in row[: end + 1]), Fraction(0)))
        for end in range(len(row))
    ]
    return sum(carried, Fraction(0)) / (len(row) - 1) if len(row) > 1 else Fraction(0)


def counted(values: Sequence[Any], rows: Sequence[int]) -> Counter:
    return Counter(values[row] for row in rows)


def breaks(columns: Columns, models: Sequence[Model], rows: Sequence[int]) -> bool:
    """Whether a class of those rows breaks one of the models."""
    n = len(next(iter(columns.values())))
    mine = {name: counted(values, rows) for name, values in columns.items()}
    whole = {name: counted(values, range(n)) for name, values in columns.items()}
    return not all(meets(model, mine, whole) for model in models)


def released_breaks(released: pd.DataFrame, quasi: list[str], models: Sequence[Model]) -> list:
    """The models that some class of a released table breaks, by pandas alone."""

    def histograms(part: pd.DataFrame) -> dict[str, Counter]:
        found = {}
        for name in COLUMNS:
            counts = part[name].value_counts(dropna=False)
            found[name] = Counter(
                {None if pd.isna(value) else value: int(n) for value, n in counts.items()}
            )
        return found

    whole = histograms(released)
    parts = [histograms(part) for _, part in released.groupby(quasi)]
    return [model for model in models if not all(meets(model, part, whole) for part in parts)]


@st.composite
def models(draw, most_k: int = 5) -> list[Model]:
    """A conjunction; it may ask for too much."""
    column = st.sampled_from(COLUMNS)
    share = st.integers(1, 19).map(lambda part: part / 20)
    l_ = st.integers(2, 3)
    one = st.one_of(
        st.builds(EntropyLDiversity, st.sampled_from([1.0, 1.5, 1.9, 2.0, 2.5, 3.0]), column),
        st.builds(DistinctLDiversity, l_, column),
        st.builds(RecursiveCLDiversity, st.sampled_from([0.7, 1.0, 1.5, 2.0, 4.0]), l_, column),
        st.builds(TCloseness, share.map(lambda t: 2 * t), column, st.just("norm1")),
        st.builds(TCloseness, share, column, st.sampled_from(["variational", "emd-equal"])),
        st.builds(TCloseness, share, st.just("pay"), st.just("emd-ordered")),
        st.builds(AlphaKAnonymity, share, st.integers(2, most_k), column),
        st.builds(DeltaDisclosure, st.sampled_from([0.3, 0.9, 1.7]), column),
        st.builds(BasicBetaLikeness, st.sampled_from([0.25, 0.5, 1.0, 2.0]), column),
        st.builds(EnhancedBetaLikeness, st.sampled_from([0.25, 0.5, 1.0, 2.0]), column),
    )
    k = draw(st.integers(1, most_k))
    others = draw(st.lists(one, min_size=1, max_size=3))
    return [KAnonymity(k), *others] if k > 1 else others


@st.composite
def tables(draw, max_records: int = 14, **kwargs):
    """A table over random trees with two sensitive columns, one of numbers; cells missing."""
    problem = draw(problems(weighted=True, max_records=max_records, **kwargs))
    assume(all(tree.weights for tree in problem.trees))
    n = len(problem.rows)
    ill = st.sampled_from("ABCD"[: draw(st.integers(2, 4))])
    pay = st.sampled_from([10.0, 9.0, 2.5, None])
    columns = {
        "ill": draw(st.lists(ill, min_size=n, max_size=n)),
        "pay": draw(st.lists(pay, min_size=n, max_size=n)),
    }
    assume(any(value is not None for value in columns["pay"]))
    return problem, columns


@st.composite
def guides(draw, problem: Problem) -> dict[str, Any]:
    """What guides the merging, with the weights drawn on the trees as costs."""
    return {
        **draw(algorithms(problem, ["custom"])),
        "strategy": draw(st.sampled_from(list(STRATEGIES))),
        "scope": draw(st.sampled_from(["table", "class"])),
        "sensitive": draw(st.sampled_from(COLUMNS)),
    }


def source_of(problem: Problem, columns: Columns) -> MemorySource:
    frame = problem.frame().assign(
        ill=pd.Series(list(columns["ill"]), dtype=object),
        pay=pd.Series(list(columns["pay"]), dtype=float),
    )
    roles = {
        **dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER),
        **dict.fromkeys(COLUMNS, Role.SENSITIVE),
    }
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    return MemorySource(frame, Schema(roles), trees)


def task_of(source: MemorySource, guide: Mapping[str, Any], wanted: Sequence[Model]) -> Task:
    weights = guide.get("attribute_weights", {})
    classes = source.classes
    depths = scale_potentials(
        exact_potentials(metric_named(guide["metric"]), classes.hierarchies),
        classes.n_records,
        [weights.get(column, 1.0) for column in classes.attributes],
    )
    return Task(
        classes,
        depths,
        max(getattr(model, "k", 1) for model in wanted),
        guide["cost"] == "weighted",
        guide["tie_seed"],
        guide["strategy"],
        guide["scope"],
        guide["sensitive"],
        tuple(wanted),
    )


def greedy_of(problem: Problem, columns: Columns, guide: Mapping[str, Any]) -> Greedy:
    """The same for the pure version."""
    weights = guide.get("attribute_weights", {})
    return Greedy(
        problem,
        columns[guide["sensitive"]],
        guide["strategy"],
        guide["scope"],
        guide["cost"] == "weighted",
        guide["tie_seed"],
        [weights.get(column, 1.0) for column in problem.columns],
    )


def rows_of(problem: Problem, released: pd.DataFrame) -> dict[int, Labels]:
    """Per record its released tuple."""
    rows = released[problem.columns].itertuples(index=False, name=None)
    return dict(enumerate(map(tuple, rows)))
