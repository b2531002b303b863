"""Privacy models and the sensitive column in plans."""

import copy
import json
from typing import Any

import pytest

from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.privacy.alpha_k_anonymity import AlphaKAnonymity
from kanon.privacy.basic_beta_likeness import BasicBetaLikeness
from kanon.privacy.delta_disclosure import DeltaDisclosure
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.enhanced_beta_likeness import EnhancedBetaLikeness
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.recursive_cl_diversity import RecursiveCLDiversity
from kanon.privacy.t_closeness import TCloseness
from kanon.strategies import LOOKS_AT, needs_sensitive
from support.plans import qi

K = {"model": "k-anonymity", "k": 5}
L = {"model": "entropy-l-diversity", "l": 2.0}
T = {"model": "t-closeness", "t": 0.4}


def content(*privacy: Any, private: tuple[str, ...] = ("ill",), **algorithm: Any) -> dict:
    columns = {"sex": qi()}
    return copy.deepcopy(
        {
            "version": 2,
            "columns": columns | {name: {"role": "sensitive"} for name in private},
            "algorithm": {"name": "gaa", **algorithm},
            "privacy": list(privacy),
        }
    )


def plan(*privacy: Any, **given: Any) -> Plan:
    return Plan.from_content(content(*privacy, **given))


def refused(*privacy: Any, **given: Any) -> str:
    with pytest.raises(PlanError) as caught:
        plan(*privacy, **given)
    assert "\n" not in caught.value.sentence
    assert caught.value.sentence.endswith(".")
    return caught.value.sentence


EVERY_MODEL = [
    ({"model": "k-anonymity", "k": 5}, KAnonymity(5)),
    ({"model": "distinct-l-diversity", "l": 3}, DistinctLDiversity(3, "ill")),
    ({"model": "entropy-l-diversity", "l": 2}, EntropyLDiversity(2.0, "ill")),
    ({"model": "entropy-l-diversity", "l": 1.5}, EntropyLDiversity(1.5, "ill")),
    ({"model": "recursive-cl-diversity", "c": 2, "l": 3}, RecursiveCLDiversity(2.0, 3, "ill")),
    ({"model": "t-closeness", "t": 1.5}, TCloseness(1.5, "ill", "norm1")),
    (
        {"model": "t-closeness", "t": 0.4, "distance": "emd-ordered"},
        TCloseness(0.4, "ill", "emd-ordered"),
    ),
    ({"model": "alpha-k-anonymity", "alpha": 0.5, "k": 4}, AlphaKAnonymity(0.5, 4, "ill")),
    ({"model": "delta-disclosure", "delta": 0.7}, DeltaDisclosure(0.7, "ill")),
    ({"model": "basic-beta-likeness", "beta": 1}, BasicBetaLikeness(1.0, "ill")),
    ({"model": "enhanced-beta-likeness", "beta": 1}, EnhancedBetaLikeness(1.0, "ill")),
]


@pytest.mark.parametrize(("part", "model"), EVERY_MODEL, ids=lambda x: str(x)[:40])
def test_every_model_of_the_contract_is_made(part, model):
    assert plan(part).models == [model]
    if part["model"] != "k-anonymity":
        assert plan({**part, "column": "ill"}).models == [model]
        two = plan({**part, "column": "debt"}, private=("ill", "debt"))
        assert [each.column for each in two.models] == ["debt"]


@pytest.mark.parametrize(
    ("model", "name", "allowed", "beyond"),
    [
        ("k-anonymity", "k", [2, 10**6], [1, 0, 2.5]),
        ("alpha-k-anonymity", "k", [2, 10**6], [1, 2.5]),
        ("alpha-k-anonymity", "alpha", [1e-9, 1], [0, 1.000001, 2]),
        ("distinct-l-diversity", "l", [2, 10**6], [1, 2.5]),
        ("entropy-l-diversity", "l", [1, 1.5, 10**6], [0.999999, 0]),
        ("recursive-cl-diversity", "c", [1e-9, 10**6], [0, -1]),
        ("recursive-cl-diversity", "l", [2, 10**6], [1, 2.5]),
        ("t-closeness", "t", [0, 2], [-1e-9, 2.000001, 3]),
        ("delta-disclosure", "delta", [1e-9, 10**6], [0, -1]),
        ("basic-beta-likeness", "beta", [1e-9, 10**6], [0, -1]),
        ("enhanced-beta-likeness", "beta", [1e-9, 10**6], [0, -1]),
    ],
)
def test_a_parameter_may_be_what_its_model_allows_up_to_both_ends(model, name, allowed, beyond):
    part = next(part for part, _ in EVERY_MODEL if part["model"] == model)
    for value in allowed:
        (made,) = plan({**part, name: value}).models
        assert getattr(made, name) == value
    for value in beyond:
        assert name in refused({**part, name: value})


def test_json_and_back_is_the_same_plan():
    written = [part for part, _ in EVERY_MODEL]
    written[1] = {**written[1], "column": "ill"}
    found = plan(*written, private=("ill",))
    again = Plan.from_json(found.to_json())
    assert again == found
    assert again.to_json() == found.to_json()
    parts = json.loads(found.to_json())["privacy"]
    assert [{**part, **given} for part, given in zip(parts, written, strict=True)] == parts
    added = [set(part) - set(given) for part, given in zip(parts, written, strict=True)]
    assert [keys for keys in added if keys] == [{"distance"}], "a column that was left out stays so"


@pytest.mark.parametrize(
    ("parts", "k"),
    [
        ([L], 1),
        ([K, L], 5),
        ([K, {**K, "k": 9}, {**K, "k": 3}], 9),
        ([K, {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 7}], 7),
    ],
)
def test_k_is_the_largest_one_asked_for(parts, k):
    assert plan(*parts).k == k


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([K], [KAnonymity(3)]),
        ([K, L], [KAnonymity(3), EntropyLDiversity(2.0, "ill")]),
        ([L, K], [EntropyLDiversity(2.0, "ill"), KAnonymity(3)]),
        ([L], [KAnonymity(3), EntropyLDiversity(2.0, "ill")]),
        (
            [L, K, T, {**K, "k": 9}],
            [EntropyLDiversity(2.0, "ill"), KAnonymity(3), TCloseness(0.4, "ill")],
        ),
    ],
)
def test_with_k_replaces_k_alone(parts, expected):
    before = plan(*parts)
    models = before.models
    assert before.with_k(3).models == expected
    assert before.with_k(3).k == 3
    assert before.models == models, "the plan itself stays"
    assert Plan.from_json(before.with_k(3).to_json()) == before.with_k(3)


LOOKING = [name for name in LOOKS_AT if needs_sensitive(name)]


@pytest.mark.parametrize("strategy", LOOKING)
def test_a_strategy_is_led_by_the_only_column_or_the_named_one(strategy):
    assert plan(K, strategy=strategy).led_by == "ill"
    two = ("ill", "debt")
    named = plan(K, private=two, strategy=strategy, sensitive="debt")
    assert named.led_by == "debt"
    assert Plan.from_json(named.to_json()).led_by == "debt"
    assert "algorithm.sensitive: name one of the sensitive columns, 'ill', 'debt'" in refused(
        K, private=two, strategy=strategy
    )
    assert "algorithm.sensitive: no column has the role sensitive" in refused(
        K, private=(), strategy=strategy
    )


def test_least_cost_needs_no_sensitive_column():
    assert plan(K, private=()).led_by is None
    assert plan(K, private=("ill", "debt")).led_by is None
    assert plan(K).led_by == "ill"
