"""Plans: which are refused and in which words, and what stands in their file."""

from __future__ import annotations

import json
import math
import pickle
import traceback
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from kanon.errors import (
    CoverageError,
    HierarchyError,
    KanonError,
    MetricError,
    PlanError,
    PlanWarning,
    TableError,
    Unsatisfiable,
    listing,
    quoted,
)
from kanon.plan import Plan
from kanon.run import run
from kanon.studio.session.text import plain
from support.people_plans import HIERARCHY, PEOPLE, changed, check_sentence, plan_with
from support.random_tables import examples, plans, problems

# Bad plans


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
    "unknown version": (changed("version", to=3), ["version", "'3'", "has to be 1 or 2"]),
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
    "k is a float": (
        changed("privacy", 0, "k", to=5.0),
        ["privacy.0.k", "'5.0'", "a whole number"],
    ),
    "k is yes": (changed("privacy", 0, "k", to=True), ["privacy.0.k", "'true'", "a whole number"]),
    "k is text": (changed("privacy", 0, "k", to="5"), ["privacy.0.k", "'5'", "a whole number"]),
    "no k": (changed("privacy", 0, "k", to=...), ["lacks the key privacy.0.k"]),
    "no model": (changed("privacy", to=[]), ["privacy", "at least one"]),
    "models are no list": (changed("privacy", to={"k": 2}), ["privacy", "list"]),
    "no version": (changed("version", to=...), ["lacks the key version"]),
    "no columns": (changed("columns", to=...), ["lacks the key columns"]),
    "no algorithm": (changed("algorithm", to=...), ["lacks the key algorithm"]),
    "no algorithm name": (changed("algorithm", "name", to=...), ["lacks the key algorithm.name"]),
    "no privacy": (changed("privacy", to=...), ["lacks the key privacy"]),
    "no role": (changed("columns", "sex", "role", to=...), ["lacks the key columns.sex.role"]),
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
        ["'nllm'", "one of its own"],
    ),
    "composed metric called custom": (
        changed("metrics", to={"custom": {"intermediate": "leaves", "multiplier": "w1"}}),
        ["'custom'", "one of its own"],
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
        ["lacks the key metrics.mine.multiplier"],
    ),
    "negative tie seed": (changed("algorithm", "tie_seed", to=-1), ["tie_seed", "'-1'", "0"]),
    "tie seed too large": (changed("algorithm", "tie_seed", to=2**63), ["tie_seed", str(2**63)]),
    "seed as text": (
        changed("algorithm", "seed", to="7"),
        ["algorithm.seed", "'7'", "a whole number"],
    ),
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
        ["columns.name.pseudonym", "'yes' is text", "true or false"],
    ),
    "limit above 1": (changed("suppression_limit", to=1.5), ["suppression_limit", "'1.5'", "1"]),
    "limit of negative records": (
        changed("suppression_limit", to={"records": -1}),
        ["suppression_limit", "records"],
    ),
    "markers as text": (changed("read", "missing_markers", to="?"), ["missing_markers", "list"]),
    "a list": ([1], ["The plan is a list", "an object"]),
    "nothing": (None, ["The plan is null", "an object"]),
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
        ('{"version": 2,', ["not valid JSON"]),
        ("", ["not valid JSON"]),
        ('{"columns": {"a": {}, "a": {}}}', ["'a' twice"]),
        ('{"version": 2, "version": 2}', ["'version' twice"]),
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


def test_a_name_turns_no_sentence_around():
    """A right-to-left override in a column's name would reverse what is said of it."""
    name = "age\u202e\u2066x"
    assert quoted(name) == "'agex'" and plain(name) == "agex"
    assert quoted("שם") == "'שם'", "letters that run the other way are letters"


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


def test_a_plan_of_version_1_is_warned_of_once_and_written_as_version_2():
    with pytest.warns(PlanWarning, match=r"version 1, .* nl\(leaf\) = 0") as told:
        plan = Plan.from_content(changed("version", to=1))
    assert len(told) == 1
    assert plan == Plan.from_content(plan_with())
    assert json.loads(plan.to_json())["version"] == 2


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
