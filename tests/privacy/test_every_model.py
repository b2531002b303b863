"""Every algorithm with every privacy model: a release that pandas alone finds right, or a refusal.

What a model asks for is written here once more, on the released table as a user gets it, with
nothing of kanon: groups of equal quasi-identifiers, shares, comparisons.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kanon.algorithms.catalogue import algorithms, needs_hierarchies
from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.privacy import t_closeness
from kanon.privacy.plans import MODEL_PLANS, OF_RELEASE
from kanon.run import run
from support.plans import plan_content

BUILDERS: Mapping[str, Any] = {
    "age": {"build": "intervals", "widths": [10, 30]},
    "postcode": {"build": "mask", "keep": [2, 1]},
    "children": {"build": "suppression"},
}
QUASI = list(BUILDERS)
TWO = ["disease", "income"]
K = 3
DISEASES = {"*": None, "infection": "*", "flu": "infection", "cold": "infection", "angina": "*"}
"""The parents in the hierarchy of diseases; a missing one lies below the root."""
SEEDS = (3, 20)
"""Tables on which no algorithm meets any of the models by chance."""


def people(seed: int) -> pd.DataFrame:
    """Forty records: three columns of numbers, and two that nobody may learn."""
    draw = random.Random(seed)
    return pd.DataFrame(
        {
            "age": [draw.randint(20, 79) for _ in range(40)],
            "postcode": [draw.choice([101, 102, 111, 112, 113, 201, 202]) for _ in range(40)],
            "children": [draw.choice([0, 0, 0, 1, 1, 2]) for _ in range(40)],
            "disease": draw.sample(["flu", "flu", "cold", "angina", None] * 8, 40),
            "income": [draw.choice([10, 20, 30, 40, 50]) for _ in range(40)],
        }
    )


# --- The models, by pandas ----------------------------------------------------------------------
Histograms = pd.DataFrame
"""A row per class, a column per sensitive value, how many records have it."""


def histograms(released: pd.DataFrame, column: str, known: Sequence[str] = ()) -> Histograms:
    """The sensitive values of each class; a missing cell is a value like any other."""
    values = released[column]
    if not pd.api.types.is_numeric_dtype(values):
        values = values.fillna("(missing)")
    group = released.groupby([*QUASI, *known], dropna=False).ngroup()
    return values.groupby([group, values]).size().unstack(fill_value=0)


def in_classes(found: Histograms) -> pd.DataFrame:
    return found.div(found.sum(axis=1), axis=0)


def in_table(found: Histograms) -> pd.Series:
    return found.sum() / found.sum().sum()


def distinct(found: Histograms, l: int) -> bool:  # noqa: E741
    return bool(((found > 0).sum(axis=1) >= l).all())


def entropy(found: Histograms, l: float) -> bool:  # noqa: E741
    p = in_classes(found)
    return bool((np.exp(-(p * np.log(p.where(p > 0, 1))).sum(axis=1)) >= l - 1e-9).all())


def recursive(found: Histograms, c: float, l: int) -> bool:  # noqa: E741
    falling = [sorted(row, reverse=True) for row in found.to_numpy().tolist()]
    return all(row[0] < c * sum(row[l - 1 :]) for row in falling)


def apart(found: Histograms) -> pd.DataFrame:
    return in_classes(found).sub(in_table(found))


def norm_1(found: Histograms, t: float) -> bool:
    return bool((apart(found).abs().sum(axis=1) <= t + 1e-12).all())


def variation(found: Histograms, t: float) -> bool:
    return norm_1(found, 2 * t)


def in_a_row(found: Histograms, t: float) -> bool:
    steps = apart(found).sort_index(axis=1).cumsum(axis=1).abs().iloc[:, :-1]
    return bool((steps.sum(axis=1) / steps.shape[1] <= t + 1e-12).all())


def by_hierarchy(found: Histograms, t: float) -> bool:
    """Half of what crosses the edges of the tree, each as long as the levels that it rises."""
    rest = apart(found)
    infection = rest["flu"] + rest["cold"]
    edges = rest["flu"].abs() + rest["cold"].abs() + infection.abs()
    edges += 2 * (rest["angina"].abs() + rest["(missing)"].abs())
    return bool((edges / 4 <= t + 1e-12).all())


def alpha_k(found: Histograms, alpha: float, k: int) -> bool:
    largest = in_classes(found).max(axis=1)
    return bool((largest <= alpha).all() and (found.sum(axis=1) >= k).all())


def delta_disclosure(found: Histograms, delta: float) -> bool:
    p = in_classes(found)
    logarithms = np.log(p.where(p > 0)).sub(np.log(in_table(found))).abs()
    return bool((p > 0).all(axis=None) and (logarithms < delta).all(axis=None))


def gains(found: Histograms) -> pd.DataFrame:
    return apart(found).div(in_table(found))


def basic_beta(found: Histograms, beta: float) -> bool:
    return bool((gains(found) <= beta + 1e-12).all(axis=None))


def enhanced_beta(found: Histograms, beta: float) -> bool:
    allowed = (-np.log(in_table(found))).clip(upper=beta) + 1e-12
    return bool(gains(found).le(allowed).all(axis=None))


Check = Callable[..., bool]

MODELS: Mapping[str, tuple[dict[str, Any], Check]] = {
    "distinct": ({"model": "distinct-l-diversity", "l": 3}, distinct),
    "entropy": ({"model": "entropy-l-diversity", "l": 2.5}, entropy),
    "recursive": ({"model": "recursive-cl-diversity", "c": 1.3, "l": 2}, recursive),
    "alpha-k": ({"model": "alpha-k-anonymity", "alpha": 0.55, "k": 4}, alpha_k),
    "norm1": ({"model": "t-closeness", "t": 0.55}, norm_1),
    "variation": ({"model": "t-closeness", "t": 0.25, "distance": "variational"}, variation),
    "emd-equal": ({"model": "t-closeness", "t": 0.3, "distance": "emd-equal"}, variation),
    "emd-ordered": ({"model": "t-closeness", "t": 0.12, "distance": "emd-ordered"}, in_a_row),
    "hierarchical": ({"model": "t-closeness", "t": 0.2, "distance": "hierarchical"}, by_hierarchy),
    "delta": ({"model": "delta-disclosure", "delta": 1.1}, delta_disclosure),
    "basic": ({"model": "basic-beta-likeness", "beta": 0.8}, basic_beta),
    "enhanced": ({"model": "enhanced-beta-likeness", "beta": 0.9}, enhanced_beta),
    "others known": ({"model": "distinct-l-diversity", "l": 2, "others": "known"}, distinct),
    "together": ({"model": "entropy-l-diversity", "l": 4.5, "columns": [*TWO]}, entropy),
}
"""Per model its part of a plan, and the check. What is asked for is more than k = 3 gives."""

OF_A_CLASS = (
    "distinct",
    "entropy",
    "recursive",
    "alpha-k",
    "others known",
    "together",
)
"""The models that look at a class alone."""


def column_of(model: str) -> str:
    return "income" if model == "emd-ordered" else "disease"


def meets(released: pd.DataFrame, model: str) -> bool:
    part, check = MODELS[model]
    about = ("model", "distance", "others", "columns")
    asked = {key: value for key, value in part.items() if key not in about}
    if "columns" in part:
        pair = released[TWO].astype(object).fillna("").astype(str).agg("|".join, axis=1)
        return check(histograms(released.assign(pair=pair), "pair"), **asked)
    known = ["income"] if "others" in part else []
    return check(histograms(released, column_of(model), known), **asked)


def smallest(released: pd.DataFrame) -> int:
    return int(released.groupby(QUASI).size().min())


# --- What goes together -------------------------------------------------------------------------
PAIRS = """
    gaa              ..  ..  ..
    gaa-small        ..  ..  ..
    datafly          .W  ..  .W
    flash            ..  ..  TT
    improved-greedy  ..  ..  .W
    incognito        ..  ..  TT
    levels           ..  ..  .W
    mingen           ..  ..  SS
    ola              ..  ..  TT
    optimal          ..  ..  TT
    samarati         ..  ..  TT
    lattice-sweep    ..  ..  ..
    mondrian         ..  ..  ..
    optimal-local    NN  NN  NN
    local-suppression ..  ..  ..
    k-member         ..  ..  ..
    kaca             ..  ..  ..
    mdav             NN  NN  NN
    oka              ..  ..  ..
"""
"""Per algorithm and limit: released (.), or why it is refused, by a letter of ``WHY``.

The limits stand in the order of ``LIMITS``, each with a letter for the models that look at a class
alone and one for those that compare it with the whole table. ``nothing said``: no limit in the
plan, which means k records for Datafly and none for all others. Algorithms that suppress nothing
take no notice of a limit, but for MinGen, which refuses one.
"""

LIMITS: Mapping[str, dict[str, Any]] = {
    "nothing said": {},
    "none": {"suppression_limit": 0},
    "some": {"suppression_limit": {"records": 6}},
}

WHY = {
    "N": "only counts records",
    "S": "suppresses nothing",
    "T": "raising values further can break what held before",
    "W": "what the classes are compared with changes",
}
"""What the sentence of a refusal says."""

CALLED = {
    "datafly": "Datafly",
    "flash": "Flash",
    "improved-greedy": "Improved greedy",
    "incognito": "Incognito",
    "levels": "Levels of your choice",
    "mdav": "MDAV",
    "mingen": "MinGen",
    "ola": "OLA",
    "optimal": "Bounded search",
    "optimal-local": "Optimal local recoding",
    "samarati": "Samarati",
}
"""How the sentence begins."""

SOME_LEVELS = {"levels": {"node": {"age": 2, "postcode": 3, "children": 1}}}
"""Without levels the algorithm that takes them by hand would be refused for lack of them."""

SUPPRESS = {"datafly", "flash", "improved-greedy", "incognito", "levels", "ola", "optimal"}
SUPPRESS |= {"samarati"}
"""The algorithms that may suppress records; no other does."""


def pairs(limit: str) -> dict[tuple[str, str], str]:
    """Per algorithm and model what the table says."""
    found = {}
    for row in PAIRS.strip().splitlines():
        algorithm, *marks = row.split()
        alone, compared = marks[list(LIMITS).index(limit)]
        for model in MODELS:
            found[algorithm, model] = alone if model in OF_A_CLASS else compared
    return found


def cases() -> Iterator[Any]:
    """In the gate each pair with one limit, so that each kind of model meets them all with it.

    Nightly the others too, where the algorithm may suppress or refuses to; elsewhere a limit
    changes nothing.
    """
    for (i, algorithm), (j, model) in product(enumerate(algorithms()), enumerate(MODELS)):
        for place, limit in enumerate(LIMITS):
            in_gate = (i + j) % len(LIMITS) == place
            if in_gate or algorithm in SUPPRESS | {"mingen"}:
                marks = [] if in_gate else [pytest.mark.nightly]
                yield pytest.param(algorithm, model, limit, SEEDS[(i + j) % 2], marks=marks)


def plan(algorithm: str, model: str | None, limit: str, bare: bool = False, **own: Any) -> Plan:
    """A plan for the forty people: k, and a model beside it; without hierarchies if ``bare``."""
    columns: dict[str, Any] = {name: {"role": "quasi-identifier"} for name in QUASI}
    if not bare:
        for name, chosen in BUILDERS.items():
            columns[name]["hierarchy"] = chosen
    columns |= {name: {"role": "sensitive"} for name in TWO}
    nodes = [{"name": name, "parent": above} for name, above in DISEASES.items()]
    columns["disease"]["hierarchy"] = {"nodes": nodes}  # for distances alone, as it has no level
    about = {} if model == "together" else {"column": column_of(model or "")}
    asked = [{**MODELS[model][0], **about}] if model else []
    content = plan_content(columns, K, {"name": algorithm, **own}, models=asked) | LIMITS[limit]
    return Plan.from_content(content)


def at_good_levels(model: str | None, table: pd.DataFrame) -> dict[str, Any]:
    """Levels at which a model holds, for the algorithm that takes them by hand."""
    return {"node": run(plan("optimal", model, "none"), table).measures["node"]}


def check_release(released: pd.DataFrame, table: pd.DataFrame, may_lose: int) -> None:
    """k holds; nothing else happened to the table but that a few records left it."""
    assert smallest(released) >= K
    assert len(table) - may_lose <= len(released) <= len(table)
    assert list(released.columns) == list(table.columns)
    for column in ("disease", "income"):
        kept = table.loc[released.index, column] if may_lose == 0 else released[column]
        assert kept.fillna("-").tolist() == released[column].fillna("-").tolist()


def may_lose(algorithm: str, limit: str) -> int:
    if algorithm not in SUPPRESS:
        return 0
    return {"nothing said": K if algorithm == "datafly" else 0, "none": 0, "some": 6}[limit]


def test_the_table_has_every_pair():
    models = {part["model"] for part, _ in MODELS.values()}
    assert models == set(MODEL_PLANS) - {"k-anonymity"} - OF_RELEASE, (
        "those of a release are elsewhere"
    )
    distances = {part.get("distance", "norm1") for part, _ in MODELS.values() if "t" in part}
    assert distances == set(t_closeness.HIGHEST)
    for limit in LIMITS:
        assert set(pairs(limit)) == set(product(algorithms(), MODELS)), limit


@pytest.mark.nightly  # what the tests below ask for is chosen once
def test_k_alone_is_met_and_the_models_ask_for_more():
    """Else the tests below would hold whatever an algorithm did with the model."""
    for name, seed in product(algorithms(), SEEDS):
        table = people(seed)
        more = at_good_levels(None, table) if name == "levels" else {}
        released = run(plan(name, None, "none", **more), table).released(order="table")
        check_release(released, table, 0)
        assert not any(meets(released, model) for model in MODELS), (name, seed)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("algorithm", "model", "limit", "seed"), [*cases()])
def test_a_release_meets_the_model_or_the_pair_is_refused(algorithm, model, limit, seed):
    mark, table = pairs(limit)[algorithm, model], people(seed)
    if mark == ".":
        more = at_good_levels(model, table) if algorithm == "levels" else {}
        released = run(plan(algorithm, model, limit, **more), table).released(order="table")
        check_release(released, table, may_lose(algorithm, limit))
        assert meets(released, model)
        return
    told: list[str] = []
    asked = plan(algorithm, model, limit, **SOME_LEVELS.get(algorithm, {}))
    with pytest.raises(PlanError) as caught:
        run(asked, table, progress=lambda part, text: told.append(text))
    sentence = caught.value.sentence
    assert sentence.startswith(CALLED[algorithm]) and WHY[mark] in sentence
    assert sentence.endswith(".") and "\n" not in sentence
    assert told == [], "refused before the run"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", ["some", pytest.param("nothing said", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("algorithm", algorithms())
def test_k_alone_is_refused_by_mingen_with_suppression_and_by_nobody_else(algorithm, limit):
    for seed in SEEDS:
        table = people(seed)
        if (algorithm, limit) == ("mingen", "some"):
            with pytest.raises(PlanError, match="MinGen suppresses nothing"):
                run(plan(algorithm, None, limit), table)
            continue
        more = at_good_levels(None, table) if algorithm == "levels" else {}
        released = run(plan(algorithm, None, limit, **more), table).released(order="table")
        check_release(released, table, may_lose(algorithm, limit))


ONLY_K = {("lattice-sweep", "effort", "thorough"), ("lattice-sweep", "effort", "closest")}
"""Choices that know no model beside k."""

CHOICES = [
    (name, parameter.name, choice)
    for name, module in algorithms().items()
    for parameter in module.CARD.parameters
    for choice in parameter.choices
    if choice != parameter.default
]
"""Every choice of every parameter that one algorithm alone has, but for what is chosen anyway."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("limit", "share"),
    [
        ("none", 3),
        pytest.param("none", 1, marks=pytest.mark.nightly),
        pytest.param("some", 1, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("case", CHOICES, ids="-".join)
def test_every_choice_of_an_algorithm_meets_every_model_that_it_takes(case, limit, share):
    """In the gate each with k alone and a third of the models."""
    algorithm, parameter, choice = case
    said = pairs(limit)
    table = people(SEEDS[0])
    for model in (None, *[*MODELS][CHOICES.index(case) % share :: share]):
        if model is not None and said[algorithm, model] != ".":
            continue
        asked = plan(algorithm, model, limit, **{parameter: choice})
        if model and (algorithm, parameter, choice) in ONLY_K:
            with pytest.raises(PlanError, match=rf"^With effort '{choice}', .* cannot meet"):
                run(asked, table)
            continue
        released = run(asked, table).released(order="table")
        check_release(released, table, may_lose(algorithm, limit))
        assert model is None or meets(released, model), model


@pytest.mark.sampled(3)
@pytest.mark.parametrize("algorithm", algorithms())
def test_without_hierarchies(algorithm):
    """Mondrian and MDAV need none; who does says for which column."""
    table = people(SEEDS[0])
    if needs_hierarchies(algorithm):
        with pytest.raises(PlanError, match="'age' has no hierarchy"):
            run(plan(algorithm, None, "none", bare=True), table)
        return
    for place, model in enumerate((None, *MODELS)):
        if model is not None and pairs("none")[algorithm, model] != ".":
            continue
        table = people(SEEDS[place % 2])
        released = run(plan(algorithm, model, "none", bare=True), table).released(order="table")
        check_release(released, table, 0)
        assert model is None or meets(released, model), model


def test_those_without_hierarchies_are_two():
    assert [name for name in algorithms() if not needs_hierarchies(name)] == ["mondrian", "mdav"]


def test_records_that_are_kept_though_suppressed_are_in_no_class():
    """Their rows stay: of those that are left k holds, and they tell nothing else."""
    content = plan("datafly", "distinct", "some").model_copy(update={"suppressed": "keep"})
    lost = 0
    for seed in range(6):
        table = people(seed)
        released = run(content, table).released(order="table")
        gone = released[released["suppressed"] == 1]
        stayed = released[released["suppressed"] == 0]
        assert len(released) == len(table)
        assert (gone[QUASI] == "*").all(axis=None)
        assert gone[["disease", "income"]].isna().all(axis=None)
        assert smallest(stayed) >= K and meets(stayed, "distinct")
        lost += len(gone)
    assert lost > 0, "this plan suppresses"
