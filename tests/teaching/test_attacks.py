"""Attacks played out: worked by hand on the tables that come with kanon, and laws on any table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.formatting import write_percent
from kanon.errors import CoverageError, PlanError, TableError
from kanon.hierarchy import build
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.recoding import Recoding, Trace
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from kanon.teaching.attack_tables import build_attack_case
from kanon.teaching.attacks import ATTACKS, run_attack
from kanon.teaching.case import build_case
from kanon.teaching.prevention import DEDUCTIONS
from kanon.teaching.small_tables import raise_to_levels
from support.random_tables import examples

QUASI, SENSITIVE, INSENSITIVE = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE


@pytest.mark.parametrize("kind", ATTACKS)
def test_a_release_that_is_anonymous_still_tells_and_the_model_keeps_it_from_telling(kind):
    scene = run_attack(kind, build_attack_case(kind))
    assert scene.case.k >= (2 if kind == "minimality" else 3) and scene.told
    assert scene.finding.startswith(
        f"The release is {scene.case.k}-anonymous, yet the attack succeeds: "
    )
    assert not scene.prevention.holds
    again = run_attack(kind, scene.prevention.case, scene.known, scene.ruled_out or None)
    assert not again.told and again.prevention.holds


# --- By hand ------------------------------------------------------------------------------------
def test_linkage_by_hand():
    """Otto, 34, 47103, teacher: one teacher in his thirties in 471**, in table and register."""
    scene = run_attack("linkage", build_attack_case("linkage"))
    assert scene.known == {"age": "34", "zip": "47103", "trade": "teacher"}
    assert (scene.people, scene.fits, scene.left) == ((1,), (1,), (1,))
    assert scene.before == (
        ("asthma", 2 / 9), ("diabetes", 2 / 9), ("hypertension", 2 / 9), ("influenza", 3 / 9)
    )  # fmt: skip
    assert scene.after == (("influenza", 1.0),)
    assert (
        "1 record matches, and only Otto in the register fits it: the value is “influenza”, "
        in (scene.finding)
    )
    assert "33.3 % of all records" in scene.finding
    assert scene.prevention.sentence.startswith(
        "k-anonymity with k = 3 for 'age', 'zip', 'trade' would not have allowed this release, "
        "where k is 1."
    )


def test_a_name_is_told_only_if_nobody_else_can_be_meant():
    """Nora, 31, and Walt, 36, are both bakers in 471**; only Nora is in the table."""
    nora = {"age": "31", "zip": "47101", "trade": "baker"}
    scene = run_attack("linkage", build_attack_case("linkage"), nora)
    assert (scene.people, scene.fits, scene.told) == ((0,), (0,), False)
    assert scene.finding == (
        "The release is 3-anonymous: 1 record matches, and 2 people in the register could be "
        "behind it."
    )


def test_who_knows_less_finds_more_records():
    case = build_attack_case("linkage")
    assert run_attack("linkage", case, {"age": "34"}).fits == (0, 1, 2)
    assert run_attack("linkage", case, {}).fits == tuple(range(9))
    assert "12 people in the register match" in run_attack("linkage", case, {}).finding
    nobody = run_attack("linkage", case, {"age": "34", "trade": "carpenter"})
    assert (nobody.fits, nobody.after, nobody.told) == ((), (), False)
    assert "no record matches" in nobody.finding


def test_homogeneity_by_hand():
    """Three in their twenties in 476**, all with heart disease, which 4 of 9 have."""
    scene = run_attack("homogeneity", build_attack_case("homogeneity"))
    assert scene.fits == (0, 1, 2)
    assert scene.after == (("heart disease", 1.0),)
    assert dict(scene.before)["heart disease"] == 4 / 9
    assert "3 records match, and all have “heart disease”, which 44.4 % of all" in scene.finding
    assert scene.prevention.sentence.startswith(
        "Distinct l-diversity with l = 2 for 'disease' would not have allowed this release, where "
        "l is 1."
    )


def test_skewness_by_hand():
    """In the twenties 3 of 4 tests are positive, in the table 5 of 12: t = 3/4 - 5/12 = 1/3."""
    scene = run_attack("skewness", build_attack_case("skewness"))
    assert scene.fits == (0, 1, 2, 3)
    assert scene.before == (("negative", 7 / 12), ("positive", 5 / 12))
    assert scene.after == (("negative", 1 / 4), ("positive", 3 / 4))
    assert (
        "“positive” rises from 41.7 % of all records to 75.0 % of the matching ones: "
        "their mix of values differs from the table's by t = 0.3333" in (scene.finding)
    )
    assert "this release, where t is 0.3333" in scene.prevention.sentence


def test_of_two_equally_likely_values_the_one_that_rose_is_named():
    """Of those in their twenties one in two has asthma, as one in two has gout; of all six, 2 to 4.

    Asthma rises from 1/3 to 1/2, gout falls from 2/3.
    """
    frame, schema = small(
        [["21", "asthma"], ["22", "gout"], ["31", "asthma"], ["32", "gout"], ["33", "gout"],
         ["34", "gout"]]
    )  # fmt: skip
    classes = MemorySource(frame, schema, {"age": AGE}).classes
    case = build_case(frame, schema, {"age": AGE}, raise_to_levels(classes, {"age": 1}))
    finding = run_attack("skewness", case, {"age": "21"}).finding
    assert (
        "“asthma” rises from 33.3 % of all records to 50.0 % of the matching ones: their mix"
        in finding
    )
    assert "gout" not in finding
    # Where the attacker is after a value, both are named.
    finding = run_attack("homogeneity", case, {"age": "21"}).finding
    assert "50.0 % sure of each of “asthma” and “gout”, which 33.3 % and 66.7 % of all" in finding
    alike = build_case(frame, schema, {"age": AGE}, raise_to_levels(classes, {"age": 2}))
    assert (
        "no value is more frequent among them: their mix of values differs from the table's "
        "by t = 0." in (run_attack("skewness", alike, {"age": "21"}).finding)
    )


def test_background_knowledge_by_hand():
    """Twice influenza and once tuberculosis: who cannot have influenza has tuberculosis."""
    scene = run_attack("background", build_attack_case("background"))
    assert (scene.fits, scene.ruled_out, scene.left) == ((0, 1, 2), ("influenza",), (2,))
    assert scene.after == (("tuberculosis", 1.0),)
    assert "1 remains without “influenza”: the attacker was at most 66.7 % sure" in scene.finding
    assert "and is now certain of “tuberculosis”" in scene.finding
    assert scene.prevention.sentence.startswith("Distinct l-diversity with l = 3 for 'disease'")
    assert "where l is 2." in scene.prevention.sentence


def test_minimality_by_hand():
    """Two in Ahlen, three in Beckum: k = 2 needs no class of five, so the two have one disease."""
    scene = run_attack("minimality", build_attack_case("minimality"))
    assert (scene.known, scene.fits) == ({"town": "Ahlen"}, (0, 1, 2, 3, 4))
    assert scene.before == (
        ("asthma", 0.2), ("gout", 0.2), ("hepatitis", 0.4), ("influenza", 0.2)
    )  # fmt: skip
    assert scene.after == (("hepatitis", 1.0),)
    assert scene.finding.endswith(
        "the attacker was at most 40.0 % sure of any value before, and is now 100.0 % sure of "
        "“hepatitis”."
    )
    third = pytest.approx(1 / 3)
    beckum = run_attack("minimality", build_attack_case("minimality"), {"town": "Beckum"})
    assert dict(beckum.after) == {"asthma": third, "gout": third, "influenza": third}
    assert not beckum.told and "reveals nothing more" in beckum.finding
    celle = run_attack("minimality", build_attack_case("minimality"), {"town": "Celle"})
    assert celle.before == celle.after == (("asthma", 0.5), ("influenza", 0.5))
    assert scene.prevention.sentence.startswith("k-anonymity with k = 3 would")
    assert scene.prevention.case.recoding.n_classes == 1, "the two of Celle join them"


def test_minimality_concludes_nothing_where_the_model_was_not_met():
    """A class of one disease: two were not required, so nothing was raised for them."""
    frame, schema = small([["21", "flu"], ["21", "flu"], ["22", "flu"], ["22", "flu"]])
    classes = MemorySource(frame, schema, {"age": AGE}).classes
    case = build_case(frame, schema, {"age": AGE}, raise_to_levels(classes, {"age": 1}))
    scene = run_attack("minimality", case)
    assert not scene.told and scene.before == scene.after and scene.prevention.holds


def test_downcoding_by_hand():
    """Three of 31, 38, 38, 38 are 30-39; three of 38 would be 38: so the one of 31 is there."""
    scene = run_attack("downcoding", build_attack_case("downcoding"))
    assert (scene.known, scene.fits) == ({"age": "31"}, (0, 1, 2))
    assert scene.before == tuple((name, 0.75) for name in ("Maren", "Nils", "Okka", "Steen"))
    assert dict(scene.after) == {
        "Maren": 1.0, "Nils": 2 / 3, "Okka": 2 / 3, "Steen": 2 / 3
    }  # fmt: skip
    assert "without Maren the records would have been released with finer values" in scene.finding
    ruth = run_attack("downcoding", build_attack_case("downcoding"), {"age": "45"})
    assert not ruth.told and {share for _, share in ruth.after} == {1.0}
    assert scene.prevention.case.released["age"].tolist() == ["30-39"] * 3 + ["40-49"] * 3


def test_downcoding_concludes_nothing_from_levels_that_all_share():
    case = build_attack_case("linkage")
    same = replace(case, recoding=case.recoding.with_trace(Trace(node=(1, 2))))
    scene = run_attack("downcoding", same)
    assert not scene.told and scene.after == () and scene.prevention.holds


def test_a_value_that_is_ruled_out_may_tell_nothing_or_be_wrong():
    case = build_attack_case("background")
    alma = {"age": "36", "zip": "61013"}
    scene = run_attack("background", case, alma, ["influenza"])
    assert scene.after == (("asthma", 0.5), ("diabetes", 0.5)) and not scene.told
    wrong = run_attack("background", case, alma, ["influenza", "asthma", "diabetes"])
    assert wrong.left == () and "the attacker is wrong about something" in wrong.finding


def test_what_can_be_known_is_what_occurs():
    case = build_attack_case("linkage")
    assert set(case.knowable_values) == {"age", "zip", "trade"}
    assert case.knowable_values["trade"] == ("baker", "carpenter", "nurse", "teacher")
    assert "36" in case.knowable_values["age"], "the register counts too"


# --- Bad input ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("known", "ruled_out", "error", "sentence"),
    [
        ({"name": "Anton"}, None, PlanError, "cannot know 'name'"),
        ({"disease": "asthma"}, None, PlanError, "cannot know 'disease'"),
        ({"age": "99"}, None, CoverageError, "'99'"),
        (None, ["gout"], PlanError, "occur in the column 'disease'"),
    ],
)
def test_facts_that_cannot_be_are_refused(known, ruled_out, error, sentence):
    with pytest.raises(error) as told:
        run_attack("homogeneity", build_attack_case("homogeneity"), known, ruled_out)
    assert sentence in told.value.sentence


def small(rows, columns=("age", "ill"), roles=(QUASI, SENSITIVE)):
    frame = pd.DataFrame(rows, columns=list(columns))
    return frame, Schema(dict(zip(columns, roles, strict=True)))


AGE = build.intervals([str(age) for age in range(20, 40)], [10])


def test_tables_that_cannot_be_attacked_are_refused():
    frame, schema = small([["21", "flu"]] * 31)
    with pytest.raises(TableError, match=r"31 records; .* at most 30"):
        build_case(frame, schema, {"age": AGE})
    frame, schema = small([["21", "flu"]] * 3, roles=(QUASI, INSENSITIVE))
    with pytest.raises(PlanError, match="the table has none"):
        build_case(frame, schema, {"age": AGE})
    frame, schema = small([["21", "flu"], ["22", "flu"]])
    classes = MemorySource(frame, schema, {"age": AGE}).classes
    nobody = Recoding.from_targets(classes, classes.nodes, suppressed=np.ones(2, bool))
    with pytest.raises(TableError, match="nothing to attack"):
        build_case(frame, schema, {"age": AGE}, nobody)
    with pytest.raises(PlanError, match="The attack 'guess' is unknown"):
        run_attack("guess", build_case(frame, schema, {"age": AGE}, k=2))


@pytest.mark.parametrize("columns", [["name", "ill"], ["age"]])
def test_a_register_needs_a_name_and_something_to_link_by(columns):
    frame, schema = small([["21", "flu"], ["22", "flu"]])
    register = pd.DataFrame([["21"] * len(columns)], columns=columns)
    with pytest.raises(TableError, match="A register needs"):
        build_case(frame, schema, {"age": AGE}, k=2, register=register)


def test_a_register_has_to_fit_the_trees():
    frame, schema = small([["21", "flu"], ["22", "flu"]])
    register = pd.DataFrame({"name": ["A"], "age": ["77"]})
    with pytest.raises(CoverageError):
        build_case(frame, schema, {"age": AGE}, k=2, register=register)


# --- Laws ---------------------------------------------------------------------------------------
RECORDS = st.lists(
    st.tuples(
        st.sampled_from([str(age) for age in range(20, 40)]),
        st.sampled_from(["F", "M"]),
        st.sampled_from(["baker", "nurse"]),
        st.sampled_from(["flu", "cold", "gout"]),
    ),
    min_size=3,
    max_size=8,
)


COLUMNS = ("age", "sex", "trade", "ill")
TREES = {"age": AGE, "sex": build.suppression(["F", "M"])}


@examples(60)
@given(RECORDS, st.sampled_from(list(ATTACKS)))
def test_any_table_can_be_attacked_and_what_prevents_it_does(records, kind):
    frame, schema = small(records, COLUMNS, (QUASI, QUASI, INSENSITIVE, SENSITIVE))
    case = build_case(frame, schema, TREES, k=2)
    assert case.k >= 2
    scene = run_attack(kind, case)
    column = case.released["ill"].tolist()
    assert scene.fits and set(scene.left) <= set(scene.fits)
    if kind in DEDUCTIONS:  # what follows beside the records that fit
        assert (scene.before, scene.after) == DEDUCTIONS[kind](case, scene.known)
        both = ()
    else:
        both = ((scene.before, range(len(column))), (scene.after, scene.left))
    for shares, places in both:
        slow = [column[place] for place in places]
        assert dict(shares) == {value: slow.count(value) / len(slow) for value in sorted({*slow})}
    safer = scene.prevention.case
    if safer is None:
        assert "no release of this table can meet it" in scene.prevention.sentence
        return
    altered = write_percent(alteration.value(safer.recoding, metric_named("nllm")))
    assert scene.prevention.holds or f"alters {altered} of all" in scene.prevention.sentence
    assert not run_attack(kind, safer, scene.known, scene.ruled_out or None).told


@examples(60)
@given(RECORDS, st.integers(0, 7))
def test_the_record_of_a_person_fits_what_is_known(records, place):
    """The oracle: read the released labels, record by record."""
    frame, schema = small(records, COLUMNS, (QUASI, QUASI, INSENSITIVE, SENSITIVE))
    source = MemorySource(frame, schema, TREES)
    case = build_case(frame, schema, TREES, raise_to_levels(source.classes, {"age": 1}))
    place %= len(records)
    known = dict(zip(COLUMNS[:3], records[place][:3], strict=True))
    decade = f"{known['age'][0]}0-{known['age'][0]}9"
    slow = [
        row
        for row, (age, sex, trade) in enumerate(case.released[list(COLUMNS[:3])].to_numpy())
        if (age, sex, trade) == (decade, known["sex"], known["trade"])
    ]
    assert list(case.fits(known)) == slow and place in slow
