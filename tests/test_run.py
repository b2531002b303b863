"""Plans and runs: what is refused and in which words, and what a release holds."""

from __future__ import annotations

import copy
import datetime
import json
import math
import pickle
import traceback
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_series_equal
from random_tables import examples, plans, problems

from kanon.errors import (
    CoverageError,
    HierarchyError,
    KanonError,
    MetricError,
    PlanError,
    PrivacyWarning,
    TableError,
    Unsatisfiable,
    listing,
    quoted,
)
from kanon.hierarchy.build import suppression
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.run import finished, prepare, run, serves_every_k, solve
from kanon.schema import Role, Schema, suggest_roles
from kanon.sources.memory import MemorySource, coverage, exposure
from kanon.values import canonical_text, canonical_texts, numbers

# Most tables here have a column that the plan does not name; the last test is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")

PEOPLE = pd.DataFrame(
    {
        "name": ["Ana", "Bea", "Cyd", "Dan", "Eve", "Ana"],
        "age": [31, 34, 38, 52, 57, 31],
        "sex": ["F", "F", "F", "M", "F", "F"],
        "disease": ["flu", "flu", "cold", "cold", "flu", "cold"],
        "note": [1.5, None, 3.0, 4.0, 5.25, 6.0],
    }
)


def plan_with(**changes: Any) -> dict[str, Any]:
    """A good plan for PEOPLE with some top-level keys replaced."""
    plan = {
        "version": 1,
        "columns": {
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"build": "intervals", "widths": [10, 20]},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
            "disease": {"role": "sensitive"},
        },
        "algorithm": {"name": "gaa"},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    return copy.deepcopy({**plan, **changes})


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The good plan with one key set, or removed where ``to`` is ``...``."""
    plan = plan_with()
    place: Any = plan
    for key in path[:-1]:
        place = place[key] if isinstance(place, list) else place.setdefault(key, {})
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return plan


def one_column(values: Any, hierarchy: Any, k: int = 2, **read: Any) -> tuple[Plan, pd.DataFrame]:
    """A plan and a table of one quasi-identifier ``q``."""
    plan = plan_with(
        columns={"q": {"role": "quasi-identifier", "hierarchy": hierarchy}},
        privacy=[{"model": "k-anonymity", "k": k}],
        read=read,
    )
    return Plan.from_content(plan), pd.DataFrame({"q": values})


def check_sentence(error: KanonError, said: list[str]) -> None:
    """One line, readable, with all that has to be said."""
    for part in said:
        assert part in error.sentence
    assert "\n" not in error.sentence
    assert error.sentence.endswith(".")
    for internal in ("_kind_of", "Traceback", "pydantic", "constrained-float"):
        assert internal not in error.sentence


# Bad plans


HIERARCHY = ("columns", "sex", "hierarchy")
BAD_PLANS = {
    "unknown key": (changed("colums", to={}), ["'colums' is unknown", "version", "suppression"]),
    "unknown key in read": (changed("read", "sep", to=";"), ["read", "'sep'", "separator"]),
    "unknown key in a column": (
        changed("columns", "sex", "kind", to="x"),
        ["columns.sex", "'kind'", "role, hierarchy, pseudonym"],
    ),
    "unknown key in algorithm": (changed("algorithm", "speed", to=1), ["algorithm", "'speed'"]),
    "unknown key in a builder": (
        changed(*HIERARCHY, to={"build": "mask", "keep": [1], "kep": 1}),
        ["columns.sex.hierarchy", "'kep'", "keep, side"],
    ),
    "unknown key in a model": (
        changed("privacy", 0, "l", to=2),
        ["privacy.0", "'l'", "model, k"],
    ),
    "unknown version": (changed("version", to=2), ["version", "'2'", "should be 1"]),
    "unknown metric": (
        changed("algorithm", "metric", to="nlm"),
        ["algorithm.metric", "'nlm'", "distortion, ncp, total, llm, nllm, wllm, wnllm, entropy"],
    ),
    "unknown algorithm": (
        changed("algorithm", "name", to="gga"),
        ["algorithm.name", "'gga'", "gaa, gaa-small"],
    ),
    "unknown strategy": (
        changed("algorithm", "strategy", to="s9"),
        ["algorithm.strategy", "'s9'", "s1"],
    ),
    "unknown scope": (
        changed("algorithm", "scope", to="all"),
        ["algorithm.scope", "'all'", "'table' or 'class'"],
    ),
    "unknown cost": (
        changed("algorithm", "cost", to="cheap"),
        ["algorithm.cost", "'cheap'", "'weighted' or 'representatives'"],
    ),
    "unknown model": (
        changed("privacy", 0, "model", to="k-anonimity"),
        ["privacy.0", "'k-anonimity'", "'k-anonymity'"],
    ),
    "unknown role": (
        changed("columns", "sex", "role", to="quasi"),
        ["columns.sex.role", "'quasi'", "'identifier', 'quasi-identifier', 'sensitive'"],
    ),
    "unknown builder": (
        changed(*HIERARCHY, to={"build": "magic"}),
        ["columns.sex.hierarchy", "'magic'", "'suppression', 'intervals', 'mask', 'dates'"],
    ),
    "unknown date level": (
        changed(*HIERARCHY, to={"build": "dates", "levels": ["week"]}),
        ["levels", "'week'", "'day', 'month', 'quarter', 'year' or 'decade'"],
    ),
    "unknown side": (
        changed(*HIERARCHY, to={"build": "mask", "keep": [1], "side": "top"}),
        ["side", "'top'", "'left' or 'right'"],
    ),
    "unknown rule for missing": (
        changed("read", "missing", to="drop"),
        ["read.missing", "'drop'", "'drop-records' or 'as-value'"],
    ),
    "k is 1": (changed("privacy", 0, "k", to=1), ["privacy.0.k", "'1'", "2"]),
    "k is negative": (changed("privacy", 0, "k", to=-5), ["privacy.0.k", "'-5'", "2"]),
    "k is a float": (changed("privacy", 0, "k", to=5.0), ["privacy.0.k", "'5.0'", "integer"]),
    "k is yes": (changed("privacy", 0, "k", to=True), ["privacy.0.k", "'True'", "integer"]),
    "k is text": (changed("privacy", 0, "k", to="5"), ["privacy.0.k", "'5'", "integer"]),
    "no k": (changed("privacy", 0, "k", to=...), ["privacy.0.k", "required"]),
    "no model": (changed("privacy", to=[]), ["privacy", "at least 1"]),
    "models are no list": (changed("privacy", to={"k": 2}), ["privacy", "list"]),
    "no version": (changed("version", to=...), ["version", "required"]),
    "no columns": (changed("columns", to=...), ["columns", "required"]),
    "no algorithm": (changed("algorithm", to=...), ["algorithm", "required"]),
    "no algorithm name": (changed("algorithm", "name", to=...), ["algorithm.name", "required"]),
    "no privacy": (changed("privacy", to=...), ["privacy", "required"]),
    "no role": (changed("columns", "sex", "role", to=...), ["columns.sex.role", "required"]),
    "a role instead of a column": (changed("columns", "sex", to="sensitive"), ["columns.sex"]),
    "weight of another column": (
        changed("algorithm", "attribute_weights", to={"disease": 1}),
        ["attribute_weights", "'disease'", "'age', 'sex'"],
    ),
    "negative weight": (
        changed("algorithm", "attribute_weights", to={"sex": -0.5}),
        ["attribute_weights.sex", "-0.5", "at least 0"],
    ),
    "weight NaN": (
        changed("algorithm", "attribute_weights", to={"sex": math.nan}),
        ["attribute_weights.sex", "nan", "at least 0"],
    ),
    "weight infinite": (
        changed("algorithm", "attribute_weights", to={"sex": math.inf}),
        ["attribute_weights.sex", "inf", "at least 0"],
    ),
    "weight as a word": (
        changed("algorithm", "attribute_weights", to={"sex": "much"}),
        ["attribute_weights.sex", "'much'", "number"],
    ),
    "composed metric with a taken name": (
        changed("metrics", to={"nllm": {"intermediate": "leaves", "multiplier": "w1"}}),
        ["'nllm'", "name of its own"],
    ),
    "composed metric called custom": (
        changed("metrics", to={"custom": {"intermediate": "leaves", "multiplier": "w1"}}),
        ["'custom'", "name of its own"],
    ),
    "wrong first phase": (
        changed("metrics", to={"mine": {"intermediate": "leafs", "multiplier": "w1"}}),
        ["metrics.mine.intermediate", "'leafs'", "'harmonic-levels', 'levels', 'leaves'"],
    ),
    "wrong second phase": (
        changed("metrics", to={"mine": {"intermediate": "leaves", "multiplier": "w3"}}),
        ["metrics.mine.multiplier", "'w3'", "'none', 'w1' or 'w2'"],
    ),
    "half a metric": (
        changed("metrics", to={"mine": {"intermediate": "leaves"}}),
        ["metrics.mine.multiplier", "required"],
    ),
    "negative tie seed": (changed("algorithm", "tie_seed", to=-1), ["tie_seed", "'-1'", "0"]),
    "tie seed too large": (changed("algorithm", "tie_seed", to=2**63), ["tie_seed", str(2**63)]),
    "seed as text": (changed("algorithm", "seed", to="7"), ["algorithm.seed", "'7'", "integer"]),
    "an option that is no text": (
        changed("algorithm", to={"name": "mondrian", "variant": ["strict"]}),
        ["algorithm.variant", "strict, relaxed, hierarchy"],
    ),
    "an option of another algorithm": (
        changed("algorithm", to={"name": "gaa", "variant": "strict"}),
        ["'variant'", "unknown"],
    ),
    "pseudonym as text": (
        changed("columns", "name", "pseudonym", to="yes"),
        ["columns.name.pseudonym", "'yes'", "boolean"],
    ),
    "limit above 1": (changed("suppression_limit", to=1.5), ["suppression_limit", "'1.5'", "1"]),
    "limit of negative records": (
        changed("suppression_limit", to={"records": -1}),
        ["suppression_limit", "records"],
    ),
    "markers as text": (changed("read", "missing_markers", to="?"), ["missing_markers", "list"]),
    "a list": ([1], ["whole plan"]),
    "nothing": (None, ["whole plan"]),
}


@pytest.mark.parametrize(("content", "said"), BAD_PLANS.values(), ids=BAD_PLANS)
def test_a_bad_plan_is_refused_in_one_sentence(content, said):
    for read in (
        lambda: Plan.from_content(content),
        lambda: Plan.from_json(json.dumps(content)),
    ):
        with pytest.raises(PlanError) as caught:
            read()
        check_sentence(caught.value, said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"version": 1,', ["not valid JSON"]),
        ("", ["not valid JSON"]),
        ('{"columns": {"a": {}, "a": {}}}', ["'a' twice"]),
        ('{"version": 1, "version": 1}', ["'version' twice"]),
        ("[" * 100_000, ["JSON"]),
    ],
    ids=["cut off", "empty", "column twice", "key twice", "deep"],
)
def test_bad_json_is_refused_in_one_sentence(text, said, tmp_path):
    (tmp_path / "p.json").write_text(text, "utf-8")
    for read in (lambda: Plan.from_json(text), lambda: Plan.load(tmp_path / "p.json")):
        with pytest.raises(PlanError) as caught:
            read()
        check_sentence(caught.value, said)


def test_a_plan_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    for name in ("absent.json", "latin.json", "."):
        with pytest.raises(PlanError, match="cannot be read"):
            Plan.load(tmp_path / name)


# Plans that do not fit their table


UNFIT = {
    "absent column": (
        changed("columns", "height", to={"role": "sensitive"}),
        PlanError,
        ["no column 'height'", "'name', 'age', 'sex', 'disease', 'note'"],
    ),
    "no quasi-identifier": (
        plan_with(columns={"sex": {"role": "sensitive"}}),
        PlanError,
        ["No column is a quasi-identifier"],
    ),
    "no columns": (plan_with(columns={}), PlanError, ["No column is a quasi-identifier"]),
    "no hierarchy": (
        changed("columns", "sex", "hierarchy", to=...),
        PlanError,
        ["quasi-identifier 'sex' has no hierarchy"],
    ),
    "hierarchy file absent": (
        changed(*HIERARCHY, to="absent.csv"),
        HierarchyError,
        ["column 'sex'", "'absent.csv' cannot be opened"],
    ),
    "hierarchy file without a name": (
        changed(*HIERARCHY, to="a\0b.csv"),
        HierarchyError,
        ["column 'sex'", "cannot be opened"],
    ),
    "hierarchy is no tree": (
        changed(*HIERARCHY, to={"nodes": [{"name": "F"}, {"name": "M"}]}),
        HierarchyError,
        ["column 'sex'", "2 roots"],
    ),
    "builder does not fit": (
        changed(*HIERARCHY, to={"build": "intervals", "widths": [5]}),
        HierarchyError,
        ["column 'sex'", "Intervals need numbers", "'F', 'M'"],
    ),
    "value missing in the hierarchy": (
        changed(*HIERARCHY, to={"build": "groups", "levels": [{"*": ["M", "X"]}]}),
        CoverageError,
        ["'sex'", "1 distinct value", "'F'", "5 records"],
    ),
    "custom without weights": (
        changed("algorithm", "metric", to="custom"),
        MetricError,
        ["'custom'", "'age'", "has none"],
    ),
    "k above n": (
        changed("privacy", 0, "k", to=7),
        Unsatisfiable,
        ["k = 7", "6 records"],
    ),
    "largest k above n": (
        plan_with(privacy=[{"model": "k-anonymity", "k": k} for k in (2, 9, 3)]),
        Unsatisfiable,
        ["k = 9", "6 records"],
    ),
}


@pytest.mark.parametrize(("content", "kind", "said"), UNFIT.values(), ids=UNFIT)
def test_a_plan_that_does_not_fit_is_refused_in_one_sentence(content, kind, said, tmp_path):
    with pytest.raises(kind) as caught:
        run(Plan.from_content(content), PEOPLE, tmp_path)
    check_sentence(caught.value, said)


def test_an_empty_table_is_refused():
    with pytest.raises(TableError, match="no records"):
        run(Plan.from_content(plan_with()), PEOPLE.iloc[:0])


def test_a_column_called_suppressed_is_refused():
    with pytest.raises(KanonError, match="'suppressed'"):
        run(Plan.from_content(plan_with()), PEOPLE.assign(suppressed=0))


def test_huge_weights_end_in_a_sentence_or_a_release():
    content = changed("algorithm", "attribute_weights", to={"sex": 1e308, "age": 1e308})
    content["algorithm"]["metric"] = "llm"
    try:
        done = run(Plan.from_content(content), PEOPLE)
    except KanonError as error:
        check_sentence(error, ["weight"])
    else:
        assert done.measures["min_k"] >= 2


def test_a_tree_of_one_node_has_no_edge_that_could_lack_a_weight():
    """Drawn weights are asked for on every edge; such a tree has none."""
    content = changed("algorithm", "metric", to="custom")
    content["columns"] = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"nodes": [{"name": "x"}]}},
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"nodes": [{"name": "*"}, {"name": 1, "parent": "*", "weight": 2}]},
        },
    }
    table = pd.DataFrame({"sex": ["x", "x"], "age": [1, 1]})
    assert run(Plan.from_content(content), table).measures["min_k"] == 2


# No personal data in the text of an exception


SECRET = "Zebedee"


def leaks() -> dict[str, Any]:
    table = PEOPLE.assign(sex=["F", "F", "F", "M", SECRET, "F"])
    nodes = [{"name": "*"}, {"name": SECRET, "parent": "*"}, {"name": SECRET, "parent": "*"}]
    return {
        "value missing in the hierarchy": (
            changed(*HIERARCHY, to={"build": "groups", "levels": [{"*": ["F", "M"]}]}),
            table,
        ),
        "no number": (changed(*HIERARCHY, to={"build": "intervals", "widths": [5]}), table),
        "no date": (changed(*HIERARCHY, to={"build": "dates", "levels": ["year"]}), table),
        "node twice": (changed(*HIERARCHY, to={"nodes": nodes}), table),
        "member twice": (
            changed(*HIERARCHY, to={"build": "groups", "levels": [{"A": [SECRET, SECRET]}]}),
            table,
        ),
        "group like its member": (
            changed(*HIERARCHY, to={"build": "groups", "levels": [{SECRET: [SECRET]}]}),
            table,
        ),
    }


@pytest.mark.parametrize("name", leaks())
def test_cells_are_in_the_sentence_and_never_in_the_text(name):
    content, table = leaks()[name]
    with pytest.raises(KanonError) as caught:
        run(Plan.from_content(content), table)
    error = caught.value
    assert SECRET in error.sentence
    assert SECRET not in str(error)
    assert "(value withheld)" in str(error)
    shown = "".join(traceback.format_exception_only(error))
    assert SECRET not in shown
    assert error.__cause__ is None


def test_a_plan_with_a_value_where_none_belongs_keeps_it_out_of_the_text():
    with pytest.raises(PlanError) as caught:
        Plan.from_content(changed("columns", "sex", "role", to=SECRET))
    assert SECRET in caught.value.sentence
    assert SECRET not in str(caught.value)


def test_errors_survive_the_way_to_another_process():
    error = CoverageError("Column 'a': {cells} is missing.", ["x"]).within("Here")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(again) is CoverageError
    assert (again.sentence, str(again)) == (error.sentence, str(error))
    assert error.sentence == "Here: Column 'a': 'x' is missing."


@given(st.text(max_size=60), st.integers(1, 50))
@examples(50)
def test_quotes_are_short_and_on_one_line(text, longest):
    shown = quoted(text, longest)
    assert len(shown.splitlines()) == 1
    assert len(shown) <= longest + 3


def test_listings_say_how_many_more():
    assert listing("abcdefg") == "'a', 'b', 'c', 'd', 'e' and 2 more"
    assert listing([]) == ""


# Round trip


@examples(80)
@given(problems(max_records=8), st.data())
def test_a_plan_and_its_json_do_the_same(problem, data):
    content = data.draw(plans(problem))
    plan = Plan.from_content(content)
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.to_json() == plan.to_json()
    frame = problem.frame()
    try:
        expected = run(plan, frame)
    except Unsatisfiable:
        assert plan.k > len(frame)
        return
    found = run(again, frame)
    assert_frame_equal(found.released(), expected.released())
    assert {**found.measures, "seconds": 0} == {**expected.measures, "seconds": 0}


def test_a_full_plan_keeps_every_key():
    content = plan_with(
        metrics={"mine": {"intermediate": "leaves-normalised", "multiplier": "w1"}},
        read={
            "separator": ";",
            "encoding": "utf-8",
            "missing_markers": ["?", ""],
            "missing": "drop-records",
        },
        suppression_limit={"records": 5},
    )
    content["algorithm"] = {
        "name": "gaa-small",
        "metric": "mine",
        "strategy": "s1",
        "scope": "class",
        "cost": "representatives",
        "attribute_weights": {"age": 2.0},
        "tie_seed": 4,
        "seed": 2**63 - 1,
    }
    content["columns"]["name"]["pseudonym"] = True
    content["columns"]["age"]["hierarchy"] |= {"origin": 1.0, "lowest": 5.0, "highest": 60.5}
    content["columns"]["zip"] = {
        "role": "quasi-identifier",
        "hierarchy": {"build": "mask", "keep": [3, 2], "side": "right"},
    }
    content["columns"]["born"] = {
        "role": "quasi-identifier",
        "hierarchy": {"build": "dates", "levels": ["month", "year"]},
    }
    content["columns"]["race"] = {
        "role": "quasi-identifier",
        "hierarchy": {"build": "groups", "levels": [{"Felid": ["Cat", "Lion"]}]},
    }
    content["columns"]["file"] = {"role": "quasi-identifier", "hierarchy": "h/file.csv"}
    content["columns"]["tree"] = {
        "role": "quasi-identifier",
        "hierarchy": {"nodes": [{"name": "*"}, {"name": "é", "parent": "*", "weight": 0.25}]},
    }
    written = json.loads(Plan.from_content(content).to_json())
    for column, given_column in content["columns"].items():
        assert {**written["columns"][column], **given_column} == written["columns"][column], column
    for key in ("metrics", "read", "algorithm", "privacy", "suppression_limit", "version"):
        assert written[key] == content[key], key
    assert list(written["columns"]) == list(content["columns"]), "the order is canonical"


# Releases


def test_a_release_by_hand():
    content = plan_with(algorithm={"name": "gaa", "metric": "ncp"})
    done = run(Plan.from_content(content), PEOPLE)
    released = done.released()
    assert released.columns.tolist() == ["age", "sex", "disease", "note"]
    assert released["age"].tolist() == ["31", "30-39", "30-39", "50-59", "50-59", "31"]
    assert released["sex"].tolist() == ["F", "F", "F", "*", "*", "F"]
    assert_frame_equal(released[["disease", "note"]], PEOPLE[["disease", "note"]])
    sizes = released.groupby(["age", "sex"]).size()
    found = done.measures
    assert (found["records"], found["classes"], found["min_k"]) == (6, len(sizes), sizes.min())
    assert (found["suppressed"], found["dropped"]) == (0, 0)
    assert found["seconds"] >= 0
    assert list(found["alteration"]) == [
        *("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
    ]


def test_a_composed_metric_guides_and_is_measured():
    content = plan_with(metrics={"mine": {"intermediate": "levels", "multiplier": "none"}})
    content["algorithm"]["metric"] = "mine"
    mine = run(Plan.from_content(content), PEOPLE)
    content["algorithm"]["metric"] = "total"
    total = run(Plan.from_content(content), PEOPLE)
    assert_frame_equal(mine.released(), total.released())
    assert mine.measures["alteration"]["mine"] == mine.measures["alteration"]["total"]
    assert "mine" not in total.measures["alteration"]


def test_attribute_weights_guide_the_search_alone():
    """Two ways to make a pair: the attribute that weighs nothing is given up."""
    table = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]})
    columns = {
        name: {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}} for name in "ab"
    }
    for kept, weights in (("a", {"a": 1, "b": 0}), ("b", {"a": 0}), ("a", {"a": 3})):
        algorithm = {"name": "gaa", "metric": "ncp", "attribute_weights": weights}
        plan = Plan.from_content(plan_with(columns=columns, algorithm=algorithm))
        done = run(plan, table)
        given_up = "b" if kept == "a" else "a"
        assert done.released()[kept].tolist() == table[kept].tolist()
        assert set(done.released()[given_up]) == {"*"}
        assert done.measures["alteration"]["ncp"] == 50


def test_the_largest_k_of_several_models_counts():
    models = [{"model": "k-anonymity", "k": k} for k in (2, 4, 3)]
    assert run(Plan.from_content(plan_with(privacy=models)), PEOPLE).measures["min_k"] >= 4


def test_rows_keep_their_order_and_index():
    table = PEOPLE.copy()
    table.index = pd.Index([3, 3, None, "x", -1, 3], dtype=object, name="row")
    before = table.copy(deep=True)
    released = run(Plan.from_content(plan_with()), table).released()
    assert released.index.equals(table.index)
    assert released.index.name == "row"
    assert_series_equal(released["disease"], table["disease"])
    assert_series_equal(released["note"], table["note"])
    assert_frame_equal(table, before)
    plain = run(Plan.from_content(plan_with()), PEOPLE).released()
    assert released.to_numpy().tolist()[0] == plain.to_numpy().tolist()[0]


def test_other_columns_pass_through_unchanged():
    extra = {
        "texts": ["007", "1.10", "é", None, "a\nb", "="],
        "times": pd.to_datetime(["2021-03-04 10:11", None, *["2020-01-01 00:00"] * 4]),
        "kinds": pd.Categorical(list("abcabc")),
        "whole": pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
        "things": [1, "1", 1.0, None, True, (1, 2)],
    }
    table = PEOPLE.assign(**extra)
    content = plan_with()
    content["columns"]["kinds"] = {"role": "sensitive"}
    content["columns"]["texts"] = {"role": "insensitive"}
    released = run(Plan.from_content(content), table).released()
    untouched = ["disease", "note", *extra]
    assert_frame_equal(released[untouched], table[untouched])
    assert released.columns.tolist() == [c for c in table.columns if c != "name"]


def test_pseudonyms_keep_a_person_together_and_tell_nothing():
    content = changed("columns", "name", "pseudonym", to=True)
    table = pd.concat([PEOPLE] * 4, ignore_index=True)
    table.loc[5, "name"] = None
    table["name"] = [
        None if pd.isna(name) else f"{name}{i % 12}" for i, name in enumerate(table["name"])
    ]
    seen = set()
    for _ in range(4):
        released = run(Plan.from_content(content), table).released()
        assert released.columns.tolist() == table.columns.tolist()
        pairs = {*zip(table["name"].dropna(), released["name"].dropna(), strict=True)}
        n = table["name"].nunique()
        assert len(pairs) == n
        assert {label for _, label in pairs} == {f"P_{i}" for i in range(1, n + 1)}
        assert pd.isna(released["name"].iloc[5])
        assert released["name"].isna().sum() == 1
        seen.add(tuple(released["name"].fillna("")))
    assert len(seen) > 1, "random, and from no seed"


def test_identifiers_are_dropped():
    released = run(Plan.from_content(plan_with()), PEOPLE).released()
    assert "name" not in released
    assert not set(PEOPLE["name"]) & set(released.astype(str).to_numpy().ravel())


# Values in many writings


@pytest.mark.parametrize(
    "values",
    [
        [39, 39, 40, 40],
        [39.0, 39.0, 40.0, 40.0],
        ["39", " 39", "40", "40.0"],
        [39, "39.0", 40.0, Decimal("40")],
        np.array([39, 39, 40, 40], dtype=np.int8),
        np.array([39, 39, 40, 40], dtype=np.float32),
        pd.Categorical([39, 39, 40, 40], categories=[40, 39, 38]),
        pd.Categorical(["39", "39.0", "40", "40"]),
        pd.array([39, 39, 40, 40], dtype="Int64"),
        pd.array([39, 39, 40, 40], dtype="string"),
        pd.Series([39, 39, 40, 40], dtype="int64[pyarrow]"),
    ],
    ids=[
        *("int", "float", "text", "mixed", "int8", "float32"),
        *("category", "category-of-texts", "Int64", "string", "arrow"),
    ],
)
@pytest.mark.parametrize("build", ["suppression", "intervals", "nodes"])
def test_numbers_and_their_texts_are_one_value(values, build):
    hierarchy: dict[str, Any] = {
        "suppression": {"build": "suppression"},
        "intervals": {"build": "intervals", "widths": [10]},
        "nodes": {"nodes": [{"name": "*"}, *({"name": n, "parent": "*"} for n in (39, "40"))]},
    }[build]
    plan, table = one_column(values, hierarchy)
    released = run(plan, table).released()
    assert released["q"].tolist() == ["39", "39", "40", "40"]
    lost = run(Plan.from_content({**json.loads(plan.to_json()), "privacy": [
        {"model": "k-anonymity", "k": 3}]}), table)  # fmt: skip
    assert lost.released()["q"].tolist() == ["*"] * 4


def test_categories_that_no_record_has_are_no_values():
    """After a filter pandas still lists them; they are neither missing in a tree nor leaves."""
    values = pd.Categorical(["F", "F"], categories=["F", "M"])
    plan, table = one_column(values, {"build": "suppression"})
    assert prepare(plan, table).classes.hierarchies[0].labels == ("F", "*")
    assert coverage(table["q"], suppression(["F"])) == {}


def test_codes_with_zeros_are_not_numbers():
    plan, table = one_column(["007", "007", "7", "7"], {"build": "suppression"})
    assert run(plan, table).released()["q"].tolist() == ["007", "007", "7", "7"]


@pytest.mark.parametrize("moment", [pd.Timestamp, datetime.date.fromisoformat,
                                    datetime.datetime.fromisoformat])  # fmt: skip
@pytest.mark.parametrize("dtype", [object, None])
def test_dates_without_a_time_are_dates(moment, dtype):
    values = pd.Series([moment("2021-03-04")] * 2 + [moment("2021-04-04")] * 2, dtype=dtype)
    plan, table = one_column(values, {"build": "dates", "levels": ["year"]})
    assert run(plan, table).released()["q"].tolist() == ["2021-03-04"] * 2 + ["2021-04-04"] * 2


def test_yes_and_no_are_not_numbers():
    codes, texts = canonical_texts(pd.Series([True, 1, "True", 0, False, "1"], dtype=object))
    assert [texts[code] for code in codes] == ["True", "1", "True", "0", "False", "1"]
    plan, table = one_column([True, True, False, False], {"build": "suppression"})
    assert run(plan, table).released()["q"].tolist() == ["True", "True", "False", "False"]


@examples(100)
@given(
    st.lists(
        st.none()
        | st.integers(-5, 5)
        | st.floats(-3, 3).map(lambda x: round(x, 1))
        | st.sampled_from(["1", "1.0", " 2", "02", "x", "-0", "é"]),
        min_size=1,
    )
)
def test_texts_of_a_column_are_the_texts_of_its_cells(values):
    column = pd.Series(values, dtype=object)
    codes, texts = canonical_texts(column)
    assert len(set(texts)) == len(texts)
    found = [None if code < 0 else texts[code] for code in codes]
    assert found == [None if value is None else canonical_text(value) for value in values]


def test_numbers_are_finite_and_no_codes():
    assert numbers(["1", "-2.5", "1e3"]).tolist() == [1, -2.5, 1000]
    for texts in (["x"], ["1", "nan"], ["inf"], ["01"], ["-01"], []):
        assert numbers(texts) is None


def test_column_names_that_are_no_texts_end_in_a_sentence_or_a_release():
    """A table of pandas numbers its columns if nobody names them."""
    table = pd.DataFrame([["F"], ["F"], ["M"], ["M"]])
    plan = Plan.from_content(plan_with(columns={
        "0": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}}))  # fmt: skip
    try:
        released = run(plan, table).released()
    except KanonError as error:
        check_sentence(error, ["column"])
    else:
        assert released.to_numpy().tolist() == table.to_numpy().tolist()


def test_a_column_name_that_stands_twice_ends_in_a_sentence():
    table = pd.DataFrame([["F", "M"], ["F", "M"]], columns=["sex", "sex"])
    plan = Plan.from_content(plan_with(columns={
        "sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}}))  # fmt: skip
    with pytest.raises(KanonError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["'sex'"])


# Missing values


MISSING = [
    pd.Series(["F", "F", None, "M", "M", None]),
    pd.Series(["F", "F", np.nan, "M", "M", None], dtype=object),
    pd.Series(["F", "F", pd.NA, "M", "M", pd.NA], dtype="string"),
    pd.Series(pd.Categorical(["F", "F", None, "M", "M", None])),
]


@pytest.mark.parametrize("values", MISSING, ids=["str", "object", "string", "category"])
def test_missing_values_need_a_rule(values):
    plan, table = one_column(values, {"build": "suppression"})
    with pytest.raises(PlanError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["2 records", "read.missing", "'drop-records' or 'as-value'"])


@pytest.mark.parametrize("values", MISSING, ids=["str", "object", "string", "category"])
def test_records_with_missing_values_are_dropped_and_counted(values):
    plan, table = one_column(values, {"build": "suppression"}, missing="drop-records")
    table["note"] = range(6)
    done = run(plan, table)
    released = done.released()
    assert released.index.tolist() == [0, 1, 3, 4]
    assert released["q"].tolist() == ["F", "F", "M", "M"]
    assert released["note"].tolist() == [0, 1, 3, 4]
    assert (done.measures["records"], done.measures["dropped"]) == (4, 2)


@pytest.mark.parametrize("values", MISSING, ids=["str", "object", "string", "category"])
def test_missing_as_a_value_is_a_leaf_of_its_own(values):
    plan, table = one_column(values, {"build": "suppression"}, missing="as-value")
    done = run(plan, table)
    assert done.released()["q"].tolist() == ["F", "F", "(missing)", "M", "M", "(missing)"]
    assert done.measures["dropped"] == 0
    assert done.prepared.classes.hierarchies[0].labels == ("F", "M", "(missing)", "*")


def test_one_missing_quasi_identifier_is_enough_to_drop_a_record():
    table = pd.DataFrame({"a": ["x", None, "x", "x"], "b": ["y", "y", None, "y"], "c": [None] * 4})
    columns = {
        name: {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}} for name in "ab"
    }
    with pytest.raises(PlanError, match="2 records with"):
        run(Plan.from_content(plan_with(columns=columns)), table)
    plan = Plan.from_content(plan_with(columns=columns, read={"missing": "drop-records"}))
    done = run(plan, table)
    assert done.released().index.tolist() == [0, 3]
    assert done.measures["dropped"] == 2


def test_missing_counts_in_k_when_it_is_a_value():
    """A record that alone lacks a value is unique: k is not reported too high."""
    plan, table = one_column(["F", "F", None], {"build": "suppression"}, missing="as-value")
    assert prepare(plan, table).classes.min_k == 1
    assert run(plan, table).released()["q"].tolist() == ["*", "*", "*"]
    assert exposure(table, ["q"]).min_k == 1


def test_a_missing_leaf_is_only_where_it_is_needed():
    plan, table = one_column(["F", "F"], {"build": "suppression"}, missing="as-value")
    assert prepare(plan, table).classes.hierarchies[0].labels == ("F", "*")


def test_missing_cells_of_other_columns_stay():
    done = run(Plan.from_content(plan_with()), PEOPLE)
    assert pd.isna(done.released()["note"].iloc[1])
    assert done.measures["dropped"] == 0


def test_nothing_is_left_when_every_record_lacks_a_value():
    plan, table = one_column([None, None], {"build": "suppression"}, missing="drop-records")
    with pytest.raises(TableError, match="leaves none"):
        run(plan, table)


def test_dropping_can_make_k_impossible():
    plan, table = one_column(["a", "a", None], {"build": "suppression"}, 3, missing="drop-records")
    with pytest.raises(Unsatisfiable, match="2 records"):
        run(plan, table)


def test_missing_cells_stand_at_the_leaf_that_a_tree_has_for_them():
    nodes = [{"name": "*"}, {"name": "G", "parent": "*"}, {"name": "(missing)", "parent": "G"},
             {"name": "F", "parent": "G"}, {"name": "M", "parent": "*"}]  # fmt: skip
    plan, table = one_column(["F", None, "M", "M"], {"nodes": nodes}, 2, missing="as-value")
    assert run(plan, table).released()["q"].tolist() == ["G", "G", "M", "M"]


@pytest.mark.parametrize(
    ("values", "nodes"),
    [
        (["F", "(missing)", None], [{"name": "*"}, {"name": "(missing)", "parent": "*"},
                                    {"name": "F", "parent": "*"}]),
        (["F", "F", None], [{"name": "*"}, {"name": "(missing)", "parent": "*"},
                            {"name": "F", "parent": "(missing)"}]),
    ],
    ids=["a cell says so", "a group is called so"],
)  # fmt: skip
def test_missing_cells_are_not_mixed_with_what_is_called_missing(values, nodes):
    plan, table = one_column(values, {"nodes": nodes}, missing="as-value")
    with pytest.raises(TableError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["'q'", "'(missing)'", "rename"])


def test_a_tree_of_one_node_has_no_place_for_missing_cells():
    plan, table = one_column(["x", None], {"nodes": [{"name": "x"}]}, missing="as-value")
    with pytest.raises(KanonError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["'q'"])
    assert "single node" in caught.value.sentence


# Solutions, sources, suggestions


def test_one_run_serves_every_k_or_says_so():
    assert serves_every_k("gaa")
    assert not serves_every_k("gaa-small")
    prepared = prepare(Plan.from_content(plan_with()), PEOPLE)
    told: list[float] = []
    for name in ("gaa", "gaa-small"):
        found = solve(
            lambda part, text: told.append(part), name, prepared.task(), [metric_named("ncp")]
        )
        assert (found.path is None) == (name == "gaa-small")
        assert found.curves is not None
        assert found.known == (None if name == "gaa" else (2, 3, 4, 5))
        assert found.at(2).min_k >= 2
        assert finished(prepared, found.at(2), 0.0).released().shape == (6, 4)
    assert told


def test_a_setting_that_an_algorithm_does_not_take_changes_nothing():
    taken = {"tie_seed": 5, "cost": "representatives", "attribute_weights": {"age": 3.0}}
    plain = prepare(Plan.from_content(plan_with(algorithm={"name": "oka"})), PEOPLE).task()
    told = prepare(Plan.from_content(plan_with(algorithm={"name": "oka", **taken})), PEOPLE).task()
    assert plain.tie_seed is told.tie_seed is None, "it takes a seed instead"
    assert not told.weighted, "but this it takes"
    bare = prepare(Plan.from_content(plan_with(algorithm={"name": "datafly", **taken})), PEOPLE)
    assert bare.task().weighted
    for one, other in zip(bare.task().potentials, plain.potentials, strict=True):
        assert np.array_equal(one, other), "Datafly knows no weights"


def test_a_lower_bound_is_in_percent_of_the_same_whole_as_the_alteration():
    prepared = prepare(Plan.from_content(plan_with()), PEOPLE)
    metric = metric_named(prepared.plan.algorithm.metric)
    found = solve(lambda part, text: None, "lattice-sweep", prepared.task(), [metric])
    assert found.bound is not None
    assert 0 < found.bound <= alteration.value(found.at(2), metric) <= 100
    assert solve(lambda part, text: None, "kaca", prepared.task(), [metric]).bound is None


def test_a_release_that_breaks_the_plan_is_never_handed_out():
    prepared = prepare(Plan.from_content(plan_with()), PEOPLE)
    broken = solve(lambda part, text: None, "gaa", prepared.task(), []).at(1)
    with pytest.raises(AssertionError, match="breaks"):
        finished(prepared, broken, 0.0)


def test_a_source_needs_a_hierarchy_per_quasi_identifier():
    schema = Schema({"sex": Role.QUASI_IDENTIFIER})
    with pytest.raises(PlanError, match="'sex' has no hierarchy"):
        MemorySource(PEOPLE, schema, {})


@examples(60)
@given(problems(max_records=14))
def test_a_source_counts_the_classes(problem):
    schema = Schema(dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER))
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    found = MemorySource(problem.frame(), schema, trees).classes
    expected = problem.classes()
    assert found.nodes.tolist() == expected.nodes.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.n_records == len(problem.rows)
    assert found.min_k == min(problem.sizes.values())
    assert found.unique_records == sum(size == 1 for size in problem.sizes.values())
    shown = exposure(problem.frame(), problem.columns)
    assert shown.sizes.tolist() == sorted(problem.sizes.values(), reverse=True)
    assert (shown.n_records, shown.n_classes) == (len(problem.rows), len(problem.sizes))


def test_the_order_of_attributes_is_the_plans():
    content = plan_with()
    content["columns"] = dict(reversed(content["columns"].items()))
    assert prepare(Plan.from_content(content), PEOPLE).classes.attributes == ("sex", "age")


def test_coverage_names_the_most_frequent_first():
    column = pd.Series(["x", "y", "y", "F", None, "z", "z", "z"])
    assert coverage(column, suppression(["F"])) == {"z": 3, "y": 2, "x": 1}
    assert list(coverage(column, suppression(["F"]))) == ["z", "y", "x"]


@examples(40)
@given(problems(max_records=10), st.data())
def test_a_preview_shows_rows_of_the_release_and_how_far_they_rose(problem, data):
    content = problem.plan(k=min(2, len(problem.rows)) or 2)
    if len(problem.rows) < 2:
        content = problem.plan(k=2)
        with pytest.raises(Unsatisfiable):
            run(Plan.from_content(content), problem.frame())
        return
    done = run(Plan.from_content(content), problem.frame())
    rows = data.draw(st.lists(st.integers(0, len(problem.rows) - 1), max_size=5))
    source = done.prepared.source
    shown = source.release_rows(done.recoding, np.array(rows, dtype=int))
    released = done.released()
    assert shown.to_numpy().tolist() == released.iloc[rows].to_numpy().tolist()
    rise = source.rise_of_rows(done.recoding, np.array(rows, dtype=int))
    for row, risen in zip(rows, rise.tolist(), strict=True):
        for j, tree in enumerate(problem.trees):
            levels = tree.level[released.iloc[row, j]] - tree.level[problem.rows[row][j]]
            assert risen[j] == (levels / (tree.height - 1) if tree.height > 1 else 0)


def test_roles_are_suggested_with_a_reason():
    table = pd.DataFrame(
        {
            "Patient": ["a"],
            "postalCode": ["1"],
            "yearOfBirth": [1],
            "income band": ["x"],
            "colour": ["x"],
        }
    )
    found = suggest_roles(table)
    assert [found[column].role for column in table] == [
        Role.IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.SENSITIVE,
        Role.INSENSITIVE,
    ]
    assert all(suggestion.reason.endswith(".") for suggestion in found.values())
    many = pd.DataFrame({"a": range(30), "b": [i // 1.5 for i in range(30)], "c": [1] * 30})
    assert [s.role for s in suggest_roles(many).values()] == [
        Role.IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.INSENSITIVE,
    ]


def test_hierarchy_paths_start_at_the_plan(tmp_path: Path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("F;person;*\nM;person;*\n", "utf-8")
    content = changed(*HIERARCHY, to="trees/sex.csv")
    done = run(Plan.from_content(content), PEOPLE, tmp_path)
    assert done.prepared.classes.hierarchies[1].labels == ("F", "M", "person", "*")


def test_a_column_that_the_plan_does_not_name_is_warned_about():
    """It passes through, as it might in next month's table, where it holds something else."""
    with pytest.warns(PrivacyWarning, match="does not name 'note'"):
        run(Plan.from_content(plan_with()), PEOPLE)


def test_weights_that_are_all_0_count_nothing():
    content = plan_with()
    content["columns"]["sex"]["hierarchy"] = {
        "nodes": [{"name": "*"}, *({"name": n, "parent": "*", "weight": 0} for n in ("F", "M"))]
    }
    content["columns"] = {"sex": content["columns"]["sex"]}
    content["algorithm"]["metric"] = "custom"
    with pytest.raises(MetricError, match="counts nothing"):
        run(Plan.from_content(content), PEOPLE)


def test_a_builder_does_not_follow_the_order_of_the_rows():
    """Ties are broken by the order of leaves, so that order must come from the values alone."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["M", "F"], 60),
            "job": rng.choice(["c", "a", "b"], 60),
            "age": rng.integers(20, 60, 60),
        }
    )
    columns = {
        "sex": {"build": "suppression"},
        "job": {"build": "suppression"},
        "age": {"build": "intervals", "widths": [10]},
    }
    plan = Plan.from_content(
        {
            "version": 1,
            "columns": {
                name: {"role": "quasi-identifier", "hierarchy": tree}
                for name, tree in columns.items()
            },
            "algorithm": {"name": "gaa", "metric": "total"},
            "privacy": [{"model": "k-anonymity", "k": 4}],
        }
    )
    expected = run(plan, table).released()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(60)
        found = run(plan, table.iloc[order]).released()
        assert found.sort_index().equals(expected)
