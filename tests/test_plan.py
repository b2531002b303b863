"""Plans: which are refused and in which words, and what stands in their file."""

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

from kanon import errors
from kanon.plan import Plan
from kanon.run import run
from kanon.studio.session.text import escape_markdown
from support.people_plans import HIERARCHY, PEOPLE, changed, check_sentence, plan_with
from support.plans import qi, qi_with
from support.random_tables import examples, plans, problems


# --- Bad plans, beside those of support/bad_inputs.py -------------------------------------------
def test_numbers_that_are_none_and_names_that_are_taken_are_refused():
    composed = {"intermediate": "leaves", "multiplier": "w1"}
    for content, key in (
        (changed("privacy", 0, "k", to=5.0), "privacy.0.k"),
        (changed("privacy", to={"k": 2}), "privacy"),
        (changed("algorithm", "attribute_weights", to={"sex": math.nan}), "attribute_weights.sex"),
        (changed("algorithm", "attribute_weights", to={"sex": math.inf}), "attribute_weights.sex"),
        (changed("algorithm", "attribute_weights", to={"sex": "much"}), "attribute_weights.sex"),
        (changed("algorithm", "tie_seed", to=2**63), "algorithm.tie_seed"),
        (changed(*HIERARCHY, to={"nodes": [{"name": math.nan}]}), "the name of node 1 is nan"),
        (changed(*HIERARCHY, to={"nodes": [{"name": "*", "weight": math.inf}]}), "node 1 is inf"),
        (changed("algorithm", to={"name": "mondrian", "variant": ["strict"]}), "variant"),
        (changed("metrics", to={"nllm": composed}), "'nllm'"),
        (changed("metrics", to={"custom": composed}), "'custom'"),
    ):
        for read, text in ((Plan.from_content, content), (Plan.from_json, json.dumps(content))):
            with pytest.raises(errors.PlanError) as caught:
                read(text)
            check_sentence(caught.value, [key])


@pytest.mark.parametrize(
    ("algorithm", "given"),
    [("optimal-local", {"seconds": 60}), ("gaa", {"parts": 2}), ("gaa", {"parts": 2.0})],
)
def test_a_choice_that_is_a_number_may_be_written_as_one(algorithm, given):
    plan = Plan.from_content(changed("algorithm", to={"name": algorithm, **given}))
    assert plan.algorithm.options == {key: f"{number:g}" for key, number in given.items()}
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        (["version"], "2", "version: '2' is text; it has to be 1 or 2, without quotes."),
        (["version"], "two", "version: 'two' is not allowed; it has to be 1 or 2."),
        (["privacy", 0, "k"], "5", "'5' is text; it has to be a whole number, without quotes."),
        (["privacy", 0, "k"], "five", "'five' is text; it has to be a whole number."),
        (["suppression_limit"], "0.1", "'0.1' is text; it has to be a number, without quotes."),
        (["read"], {"missing_markers": [99]}, "'99' is not allowed; it has to be text, in quotes."),
        (["read"], {"sheet": 2}, "read.sheet: '2' is not allowed; it has to be text, in quotes."),
        (["algorithm"], {"name": "gaa", "parts": 3}, "choose from auto, 1, 2, 4, 8, 16."),
        (["algorithm"], {"name": "gaa", "parts": True}, "choose from auto, 1, 2, 4, 8, 16."),
        (["algorithm"], {"name": "gaa", "parts": 10**400}, "choose from auto, 1, 2, 4, 8, 16."),
        (["algorithm"], {"name": "gaa", "parts": 1e400}, "choose from auto, 1, 2, 4, 8, 16."),
    ],
)
def test_quotes_too_many_or_missing_are_said(change, to, sentence):
    with pytest.raises(errors.PlanError) as caught:
        Plan.from_content(changed(*change, to=to))
    assert caught.value.sentence.endswith(sentence)


def test_ranges_may_stand_beside_the_algorithm():
    content = {**changed("algorithm", to={"name": "mondrian"}), "ranges": "outward"}
    read = Plan.from_content(content)
    assert read.algorithm.options == {"ranges": "outward"}
    assert json.loads(read.to_json())["algorithm"]["ranges"] == "outward"
    for algorithm, key in (
        ({"name": "mondrian", "ranges": "tight"}, "'ranges' occurs twice"),
        ({"name": "gaa"}, "the key 'ranges' is unknown"),
        ({"name": "mdav"}, "choose from centroid, beside"),
        ("mondrian", "algorithm"),
    ):
        wrong = "tight" if algorithm == {"name": "mdav"} else "outward"
        with pytest.raises(errors.PlanError, match=key):
            Plan.from_content({**content, "algorithm": algorithm, "ranges": wrong})


def test_a_plan_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    for name in ("absent.json", "latin.json", "."):
        with pytest.raises(errors.PlanError, match="cannot be read"):
            Plan.load(tmp_path / name)


# --- Plans that do not fit their table ----------------------------------------------------------
def test_an_empty_table_is_refused():
    with pytest.raises(errors.TableError, match="no records"):
        run(Plan.from_content(plan_with()), PEOPLE.iloc[:0])


def test_huge_weights_end_in_a_sentence_or_a_release():
    content = changed("algorithm", "attribute_weights", to={"sex": 1e308, "age": 1e308})
    content["algorithm"]["metric"] = "llm"
    try:
        done = run(Plan.from_content(content), PEOPLE)
    except errors.KanonError as error:
        check_sentence(error, ["weight"])
    else:
        assert done.measures["min_k"] >= 2


def test_a_tree_of_one_node_has_no_edge_that_could_lack_a_weight():
    """Drawn weights are asked for on every edge; such a tree has none."""
    content = changed("algorithm", "metric", to="custom")
    content["columns"] = {
        "sex": qi_with({"nodes": [{"name": "x"}]}),
        "age": qi_with({"nodes": [{"name": "*"}, {"name": 1, "parent": "*", "weight": 2}]}),
    }
    table = pd.DataFrame({"sex": ["x", "x"], "age": [1, 1]})
    assert run(Plan.from_content(content), table).measures["min_k"] == 2


# --- No personal data in the text of an exception -----------------------------------------------
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
    with pytest.raises(errors.KanonError) as caught:
        run(Plan.from_content(content), table)
    error = caught.value
    assert SECRET in error.sentence
    assert SECRET not in str(error)
    assert "(value withheld)" in str(error)
    shown = "".join(traceback.format_exception_only(error))
    assert SECRET not in shown
    assert error.__cause__ is None


def test_a_plan_with_a_value_where_none_belongs_keeps_it_out_of_the_text():
    with pytest.raises(errors.PlanError) as caught:
        Plan.from_content(changed("columns", "sex", "role", to=SECRET))
    assert SECRET in caught.value.sentence
    assert SECRET not in str(caught.value)


def test_errors_survive_the_way_to_another_process():
    error = errors.CoverageError("Column 'a': {cells} is missing.", ["x"]).add_place("Here")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(again) is errors.CoverageError
    assert (again.sentence, str(again)) == (error.sentence, str(error))
    assert error.sentence == "Here: Column 'a': 'x' is missing."


@given(st.text(max_size=60), st.integers(1, 50))
@examples(50)
def test_quotes_are_short_and_on_one_line(text, longest):
    shown = errors.quote(text, longest)
    assert len(shown.splitlines()) == 1
    assert len(shown) <= longest + 3


def test_a_name_turns_no_sentence_around():
    """A right-to-left override in a column's name would reverse what is said of it."""
    name = "age\u202e\u2066x"
    assert errors.quote(name) == "'agex'" and escape_markdown(name) == "agex"
    assert errors.quote("שם") == "'שם'", "letters that run the other way are letters"


def test_listings_say_how_many_more():
    assert errors.list_names("abcdefg") == "'a', 'b', 'c', 'd', 'e' and 2 more"
    assert errors.list_names([]) == ""


# --- Round trip ---------------------------------------------------------------------------------
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
    except errors.Unsatisfiable:
        assert plan.k > len(frame)
        return
    found = run(again, frame)
    assert_frame_equal(found.released(), expected.released())
    assert {**found.measures, "seconds": 0} == {**expected.measures, "seconds": 0}


def test_a_plan_of_version_1_is_warned_of_once_and_written_as_version_2():
    with pytest.warns(errors.PlanWarning, match=r"version \(1\), .* nl\(leaf\) = 0") as told:
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
    content["columns"]["zip"] = qi("mask", keep=[3, 2], side="right")
    content["columns"]["born"] = qi("dates", levels=["month", "year"])
    content["columns"]["icd"] = qi(
        "codes",
        separators=".",
        prefixes=[3],
        ranges=[{"first": "J40", "last": "J47", "name": "Chronic lower respiratory"}],
        ranges_file="h/chapters.csv",
    )
    content["columns"]["race"] = qi("groups", levels=[{"Felid": ["Cat", "Lion"]}])
    content["columns"]["file"] = qi_with("h/file.csv")
    content["columns"]["tree"] = qi_with(
        {"nodes": [{"name": "*"}, {"name": "é", "parent": "*", "weight": 0.25}]}
    )
    written = json.loads(Plan.from_content(content).to_json())
    for column, given_column in content["columns"].items():
        assert {**written["columns"][column], **given_column} == written["columns"][column], column
    for key in ("metrics", "read", "algorithm", "privacy", "suppression_limit", "version"):
        assert written[key] == content[key], key
    assert list(written["columns"]) == list(content["columns"]), "the order is canonical"
