"""What the advisor guesses before anything is run, and what it says of its guesses."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.case import CaseError
from benchmarks.claims import check_claims
from benchmarks.guess.__main__ import PAGE
from benchmarks.guess.claims import CLAIMS
from benchmarks.guess.measured import Answered, Finding, findings, known_content
from kanon.errors import PlanError
from kanon.experiments.advisor.guessing import (
    KNOWN,
    QUESTIONS,
    SHAPE,
    asked_like,
    guess,
    most_alike,
    question_of,
    shape_of,
    weights_asked,
)
from kanon.experiments.advisor.ways import ways
from kanon.experiments.advisor.weighing import CONCERNS
from kanon.experiments.titles import name_of
from kanon.run import prepare
from kanon.studio.session.table_loading import sample_work
from kanon.studio.session.work import plan_of
from support.random_tables import examples


@pytest.fixture(scope="module")
def hospital():
    work = sample_work("hospital")
    return prepare(plan_of(work), work.table).classes


def test_the_known_tables_answer_with_ways_that_there_are():
    known = json.loads(KNOWN.read_text("utf-8"))
    names = {name_of(one) for one in ways(True)}
    for table in known["tables"]:
        assert len(table["shape"]) == len(SHAPE) and np.isfinite(table["shape"]).all()
        for question, (metric, strategy, scope) in table["best"].items():
            found = next(
                one
                for one in ways(True)
                if (one.metric, one.strategy, one.scope) == (metric, strategy, scope)
            )
            assert name_of(found) in names
            assert "alone" not in question or strategy == "s1"
    for question, (right, tried) in known["right"].items():
        assert 0 <= right <= tried
        assert tried == sum(question in table["best"] for table in known["tables"])
    assert len(known["right"]) == 2 * len(QUESTIONS)


def test_the_shape_of_the_hospital_by_hand(hospital):
    """Ten records in nine classes, eight unique; six diseases, 4, 2, 1, 1, 1, 1 times: l = 5."""
    found = dict(zip(SHAPE, shape_of(hospital, "disease"), strict=True))
    assert found["ln records"] == pytest.approx(np.log(10))
    assert found["classes / records"] == 0.9 and found["unique / records"] == 0.8
    assert found["quasi-identifiers"] == 3
    assert found["mean height"] == np.mean([tree.height for tree in hospital.hierarchies])
    assert found["ln sensitive values"] == pytest.approx(np.log(6))
    assert found["evenness"] == pytest.approx(np.log(5) / np.log(6))
    assert shape_of(hospital, None)[-2:] == [0, 0]


def test_a_known_table_is_guessed_from_itself_and_says_how_often_others_were_right(hospital):
    known = json.loads(KNOWN.read_text("utf-8"))
    (own,) = [table for table in known["tables"] if table["name"] == "hospital, disease"]
    found = guess(hospital, "disease", 5, {"utility": 1, "t": 1})
    assert found.alike == own["name"] and found.question == "k=5 utility+t"
    assert list(found.numbers.values())[:3] == own["best"]["k=5 utility+t"]
    right, tried = known["right"]["k=5 utility+t"]
    assert f"on {right} of {tried} known tables" in found.sentence
    assert ("do not rely on it" in found.sentence) == (2 * right <= tried)
    assert guess(hospital, None, 5).configuration.strategy == "s1"


def test_weights_that_are_none_are_refused(hospital):
    with pytest.raises(PlanError, match="All weights are 0"):
        guess(hospital, "disease", 5, {"utility": 0})


shapes = st.lists(
    st.lists(st.integers(-5, 5).map(float), min_size=3, max_size=3), min_size=1, max_size=8
)


@examples(100)
@given(shapes, st.lists(st.sampled_from([0.5, 2.0, 4.0]), min_size=3, max_size=3), st.data())
def test_the_nearest_does_not_depend_on_units_and_is_the_table_itself(others, units, data):
    place = data.draw(st.integers(0, len(others) - 1))
    assert others[most_alike(others[place], others)] == others[place]
    shape = data.draw(st.lists(st.integers(-5, 5).map(float), min_size=3, max_size=3))
    scaled = [[x * unit for x, unit in zip(row, units, strict=True)] for row in [shape, *others]]
    assert most_alike(scaled[0], scaled[1:]) == most_alike(shape, others)


@pytest.mark.parametrize("concerns", QUESTIONS[1:])
def test_a_question_is_asked_with_weights_that_mean_it(concerns):
    assert asked_like(weights_asked(concerns), True) == concerns
    assert set(weights_asked(concerns)) <= set(CONCERNS)


@pytest.mark.parametrize(("k", "near"), [(2, 5), (15, 5), (16, 50), (5000, 50)])
def test_the_nearer_k_is_asked(k, near):
    assert question_of(k, "l") == f"k={near} l"


def test_findings_by_hand_leave_out_tables_of_the_same_origin():
    """The table of origin y is most like b, and so guesses way 1; its own best is way 0."""
    questions = [question_of(k, concerns) for k in (5, 50) for concerns in QUESTIONS]

    def table(name, origin, shape, behind):
        behind = np.array(behind, dtype=float)
        return Answered(
            name, origin, shape, dict.fromkeys(questions, int(behind.argmin())),
            dict.fromkeys(questions, behind),
        )  # fmt: skip

    tables = [
        table("a", "x", [0.0], [0, 9]),
        table("b", "x", [8.0], [4, 0]),
        table("c", "y", [9.0], [0, 3]),
    ]
    for each in findings(tables).values():
        own, usual = each["guess"], each["constant"]
        # a and b can only be guessed from c: 0 and 4 points behind. c from b: 3 behind.
        assert (own.right, own.tried) == (1, 3) and own.behind == pytest.approx(7 / 3)
        # Way 0 is best in the mean for all three.
        assert (usual.right, usual.tried) == (2, 3) and usual.behind == pytest.approx(4 / 3)
    content = json.loads(known_content(tables, findings(tables)))
    assert content["right"]["k=5 l"] == [1, 3]
    assert [one["name"] for one in content["tables"]] == ["a", "b", "c"]


def test_what_the_page_says_is_borne_out_by_its_table():
    rows = re.findall(
        r"^\| (k=.*?) \| (\d+) of (\d+) \| (.*?) \| (\d+) of \d+ \| (.*?) \|$",
        PAGE.read_text("utf-8"),
        re.MULTILINE,
    )
    found = {
        question: {
            "guess": Finding(int(right), int(tried), float(behind)),
            "constant": Finding(int(usual), int(tried), float(its)),
        }
        for question, right, tried, behind, usual, its in rows
    }
    assert len(found) == 2 * len(QUESTIONS)
    check_claims(CLAIMS, found)
    turned = {
        question: {"guess": each["constant"], "constant": each["guess"]}
        for question, each in found.items()
    }
    with pytest.raises(CaseError, match="less often than always the same way"):
        check_claims(CLAIMS, turned)
