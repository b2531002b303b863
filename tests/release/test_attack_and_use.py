"""P(attack), what attackers gain and how useful a release is, against a context's thresholds."""

import hashlib
import json
import math
import warnings
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon.charts.decision import compute_times_reached, draw_decision
from kanon.errors import PlanError
from kanon.evidence.attack import Evidence, attack
from kanon.evidence.figures import Figure
from kanon.measures import association_change
from kanon.plan import Plan
from kanon.release.attack_and_use import (
    AttackAndUse,
    list_measured_thresholds,
    measure_attack_and_use,
    measure_usefulness,
)
from kanon.release.attack_probability import INVASIONS, Controls, compute_attack_probability
from kanon.release.context import (
    ATTACKERS,
    AUDIENCES,
    ChosenThreshold,
    Context,
    compute_least_k,
    list_thresholds,
    replace_threshold,
)
from kanon.release.decision import (
    ReachedNumbers,
    build_decision_table,
    compare_with_thresholds,
    measure_reached_levels,
)
from kanon.release.recipients import (
    build_recipients_table,
    decide_for_recipients,
    describe_recipients_verdict,
)
from kanon.run import run
from support.plans import plan_content, qi

PEOPLE = pd.DataFrame({"sex": list("FFFMMMM"), "ill": [*"ccf", *"ffgc"]})
ALIKE = pd.DataFrame({"sex": list("FFFMMM"), "ill": ["flu"] * 3 + ["cold"] * 3})
ROOT = {"name": "levels", "node": {"sex": 1}}


def anonymise(table, algorithm="gaa", **more):
    columns = {name: {"role": "sensitive"} if name == "ill" else qi() for name in table}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(Plan.from_content(plan_content(columns, 2, algorithm) | more), table)


def ask(context, **wanted):
    for name, number in wanted.items():
        context = replace_threshold(context, name, ChosenThreshold(wanted=number))
    return context


def assess(release, invasion, **controls):
    content = {"context": 1, "release": release, "invasion": invasion}
    return Context.from_content(content | ({"controls": controls} if controls else {}))


# --- P(attack) × P(success) -------------------------------------------------------------------
@pytest.mark.parametrize(
    ("answers", "probability"),
    # De-identification Guidelines for Structured Data (Ontario, June 2016), table of step 5.
    [("", 0.6), ("t", 0.4), ("c", 0.4), ("a", 0.4), ("ct", 0.2), ("at", 0.2), ("ca", 0.2),
     ("cat", 0.05)],
)  # fmt: skip
def test_controls_lower_the_probability_of_an_attack(answers, probability):
    contract, access, training = (letter in answers for letter in "cat")
    controls = Controls(contract=contract, access=access, training=training)
    assert compute_attack_probability(controls) == probability


def test_each_proposal_by_hand():
    asked = list_thresholds(assess("public", "medium"))
    assert [asked[name].wanted for name in ("highest_risk", "mean_risk", "linkability")] == [
        13.34, None, 7.5,
    ]  # fmt: skip
    assert "1 × 13.34 = 13.34 tries" in asked["highest_risk"].source
    asked = list_thresholds(assess("research", "high", contract=True))
    assert [asked[name].wanted for name in ("highest_risk", "mean_risk", "linkability")] == [
        3, 8, 12.5,
    ]  # fmt: skip
    assert "0.4 × 20 = 8 tries" in asked["mean_risk"].source
    assert "controls medium, motives and capacity high" in asked["mean_risk"].source
    every = {"contract": True, "access": True, "training": True}
    asked = list_thresholds(assess("internal", "low", **every))
    assert (asked["mean_risk"].wanted, asked["linkability"].wanted) == (None, None)
    assert asked["mean_risk"].source.startswith("Nothing is required: ")
    assert compute_least_k(assess("public", "high")) == 20
    unanswered = list_thresholds(assess("research", "high"))
    assert unanswered["mean_risk"].wanted == 12, "no answer counts as no"


def test_the_required_risk_is_the_largest_that_keeps_the_product():
    for invasion, answers in product(INVASIONS, product((False, True), repeat=3)):
        controls = dict(zip(("contract", "access", "training"), answers, strict=True))
        chance = compute_attack_probability(Controls(**controls))
        limit = {"low": 1 / 11, "medium": 0.075, "high": 0.05}[invasion]
        asked = list_thresholds(assess("research", invasion, **controls))
        tries = asked["mean_risk"].wanted or 1
        assert chance / tries <= limit + 1e-12
        assert tries == 1 or chance / (tries - 0.01) > limit
        share = asked["linkability"].wanted
        assert share is None or chance * share / 100 <= {"low": 0.09}.get(invasion, limit) + 1e-12


def test_controls_alone_are_refused():
    with pytest.raises(PlanError, match="controls, which counts only with the key invasion"):
        Context.from_content({"context": 1, "release": "research", "controls": {}})
    with pytest.raises(PlanError, match="key invasion:"):
        assess("public", "extreme")
    with pytest.raises(PlanError, match=r"controls\.contract"):
        assess("research", "low", contract="yes")
    saved = assess("research", "low", training=True)
    assert Context.from_json(saved.to_json()) == saved


def test_older_contexts_decide_byte_for_byte_as_before():
    reached = measure_reached_levels(anonymise(PEOPLE))
    digest = hashlib.sha256()
    for release, attacker in product(AUDIENCES, ATTACKERS):
        context = Context(release=release, attacker=attacker)
        board = ChosenThreshold(wanted=7, source="Board")
        for own in (context, replace_threshold(context, "k", board)):
            decision = compare_with_thresholds(own, reached)
            parts = (own.to_json(), json.dumps(decision.numbers), decision.sentence)
            table = build_decision_table(decision).to_csv()
            digest.update("".join([*parts, table]).encode())
    # Of the version before the keys invasion and controls.
    assert digest.hexdigest() == (
        "9a26c7b99b38db9bcc159c72e8a077f74fadf0a11c93145cdd4cd3bd99bf4d8c"
    )


# --- usefulness -------------------------------------------------------------------------------
def test_all_is_lost_at_the_root_and_nothing_in_the_table():
    assert measure_usefulness(anonymise(ALIKE)) == {
        "alteration": 0, "correlation": 100, "query_error": 0, "classifier": 0,
    }  # fmt: skip
    # Both records that were not learnt from were predicted right, now one.
    lost = measure_usefulness(anonymise(ALIKE, ROOT), ["alteration", "correlation", "classifier"])
    assert lost == {"alteration": 100, "correlation": 0, "classifier": 50}
    lonely = anonymise(pd.DataFrame({"sex": list("FFMM")}))
    assert measure_usefulness(lonely, ["correlation", "classifier"]) == {
        "correlation": None, "classifier": None,
    }  # fmt: skip


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.sampled_from("ab")] * 2, st.sampled_from("xy")), min_size=4, max_size=20
    )
)
def test_the_share_of_associations_that_is_kept(rows):
    done = anonymise(pd.DataFrame(rows, columns=["one", "two", "ill"]))
    before = association_change.before(done.recoding.classes).cramers_v
    after = association_change.after(done.recoding).cramers_v
    total = change = 0.0
    for i, j in combinations(range(len(before)), 2):
        if not math.isnan(before[i, j]):
            total += before[i, j]
            change += abs(before[i, j] - after[i, j])
    kept = measure_usefulness(done, ["correlation"])["correlation"]
    if total:
        assert kept == pytest.approx(max(0, 100 * (1 - change / total)))
    else:
        assert kept is None


# --- the verdict ------------------------------------------------------------------------------
REACHED = ReachedNumbers(
    100, 2, 2, False, ("ill", "pay"), {("k", ""): 5, ("highest_risk", ""): 5, ("mean_risk", ""): 9}
)
EVIDENCE = Evidence(
    100, "records", 3, ("sex",), Figure(0.02, 0.5), Figure(0.1, 0.01),
    {"ill": Figure(0.5, 0.3, control=0.48), "pay": Figure(0.5, 0.44)}, None, None,
)  # fmt: skip
INSIDE = ask(Context(release="internal"), mean_risk=None)


def judge(context, **measured):
    decision = compare_with_thresholds(context, REACHED, **measured)
    return {
        (part.threshold.card.name, part.column): (part.shown[0], part.verdict)
        for part in decision.parts
    }


def test_what_an_attacker_gains_is_judged():
    context = ask(INSIDE, singling_out=2, linkability=9, inference=5)
    found = judge(context, evidence=EVIDENCE)
    assert found["singling_out", ""] == ("2", "met")
    assert found["linkability", ""] == ("10", "not met")
    assert found["inference", "ill"] == ("2", "met"), "two points more than of people outside"
    assert found["inference", "pay"] == ("6", "not met"), "without a control, the baseline counts"
    said = compare_with_thresholds(context, REACHED, EVIDENCE).sentence
    assert "No threshold protects" not in said and "adds 6 points to how often 'pay'" in said


def test_what_is_not_measured_is_not_met():
    context = ask(INSIDE, inference=5, correlation=80)
    decision = compare_with_thresholds(context, REACHED)
    assert not decision.holds
    assert judge(context)["inference", "pay"] == ("not measured", "not measured")
    said = decision.sentence
    assert "2 of 5 thresholds are met" in said
    assert "Not measured: Sensitive values guessed because of the release, 'ill': not mea" in said
    assert "Associations kept: not measured yet (required: 80)." in said
    numbers = json.loads(json.dumps(decision.numbers))["thresholds"][-1]
    assert (numbers["reached"], numbers["met"]) == (None, False)
    assert build_decision_table(decision)["Verdict"].tolist()[-1] == "not measured"
    unable = compare_with_thresholds(context, REACHED, EVIDENCE, {"correlation": None})
    assert unable.parts[-1].reason == "this table has nothing to measure it on"
    assert compare_with_thresholds(INSIDE, REACHED).holds, "where nothing else is required"


def test_floors_of_usefulness_are_in_the_same_verdict():
    context = ask(INSIDE, alteration=20, correlation=80, query_error=10, classifier=3)
    values = {"alteration": 20.0, "correlation": 79.99, "query_error": 10.01, "classifier": -1.0}
    found = judge(context, usefulness=values)
    verdicts = {name: verdict for (name, _), (_, verdict) in found.items()}
    assert verdicts == {
        "k": "met", "highest_risk": "met", "alteration": "met", "correlation": "not met",
        "query_error": "not met", "classifier": "met",
    }  # fmt: skip


def test_where_nothing_is_released_only_usefulness_is_judged():
    done = anonymise(pd.DataFrame({"sex": list("FM")}), "datafly", suppression_limit=1.0)
    context = ask(Context(release="public"), alteration=50, singling_out=1)
    measured = measure_attack_and_use(done, list_measured_thresholds([context]))
    decision = compare_with_thresholds(context, measure_reached_levels(done), *measured)
    assert [part.threshold.card.name for part in decision.parts] == ["alteration"]
    assert not decision.holds and decision.parts[0].reached == 100
    assert decision.sentence.startswith("Nothing is released: every record is suppressed. Not met:")


def test_only_what_is_required_is_measured():
    done = anonymise(PEOPLE)
    assert measure_attack_and_use(done, []) == AttackAndUse(None, None)
    measured = measure_attack_and_use(done, ["linkability", "alteration"])
    assert measured.evidence.inference["ill"].control is None, "made for inference alone"
    assert [*measured.usefulness] == ["alteration"]
    # Of each class the most frequent value is right for 2 of 3 and 2 of 4; of all 3 of 7 have it.
    gain = 100 * (4 / 7 - 3 / 7)
    context = ask(Context(release="internal"), inference=5)
    reached = measure_reached_levels(done)
    parts = compare_with_thresholds(context, reached, measured.evidence).parts
    assert parts[-1].reached == pytest.approx(gain)
    assert list_measured_thresholds([Context(release="public")]) == []
    assert list_measured_thresholds([assess("public", "low"), context]) == [
        "linkability", "inference",
    ]  # fmt: skip


def test_evidence_serves_where_it_was_measured_as_the_thresholds_need_it():
    done = anonymise(PEOPLE)

    def measure(evidence, *names):
        return measure_attack_and_use(done, names, evidence=evidence).evidence

    without_control = attack(done, with_control=False)
    assert measure(without_control, "linkability", "singling_out") is without_control
    compared = measure(without_control, "inference")
    assert compared.inference["ill"].control is not None, "inference needs a control"
    assert measure(compared, "inference", "linkability") is compared
    fewer = attack(done, known=1)
    assert measure(fewer, "linkability").known == compared.known > fewer.known == 1
    why = replace(without_control, reason="A fifth of the people cannot be left out.")
    assert measure(why, "inference") is why, "there is none to be made"


# --- side by side -----------------------------------------------------------------------------
def test_each_recipient_has_a_verdict_and_ones_own_numbers_stay():
    context = ask(Context(release="research"), k=4, alteration=10, l=None, t=None)
    measured = AttackAndUse(None, {"alteration": 12.0})
    decisions = decide_for_recipients(context, REACHED, measured)
    assert describe_recipients_verdict(decisions["research"]) == (
        "Researchers: 2 of 4 thresholds met: Mean risk of being found (not met); Information lost "
        "(alteration) (not met)."
    )
    assert [decision.holds for decision in decisions.values()] == [False, False, True]
    table = build_recipients_table(decisions).set_index("Threshold")
    assert table.columns.tolist() == ["Unit", "Reached", *AUDIENCES.values()]
    k = table.loc["Records that look alike (k-anonymity)"]
    assert k.tolist() == ["records ↑ better", "5", "✗ 11", "✓ 4", "✓ 3"]
    lost = table.loc["Information lost (alteration)"]
    assert lost.tolist()[2:] == ["–", "✗ 10", "–"]
    assert table.loc["Thresholds that are met"].tolist()[2:] == [
        "✗ 0 of 3", "✗ 2 of 4", "✓ 3 of 3",
    ]  # fmt: skip
    assert decisions["research"].context == context


# --- the picture ------------------------------------------------------------------------------
def test_protection_is_drawn_above_usefulness():
    context = ask(INSIDE, inference=5, correlation=80, classifier=3)
    decision = compare_with_thresholds(
        context, REACHED, EVIDENCE, {"correlation": 90.0, "classifier": None}
    )
    chart = draw_decision(decision, "title")
    order = [*chart.layout.yaxis.categoryarray][::-1]
    assert order == [
        "<b>Protected</b>", "records alike", "highest risk: 1 in", "ill: guessed, points",
        "pay: guessed, points", "<b>Useful</b>", "associations kept, %", "predictions lost, points",
    ]  # fmt: skip
    drawn = [name for trace in chart.data for name in trace.y]
    assert "predictions lost, points" not in drawn, "nothing was measured"
    notes = {note.y: note.text for note in chart.layout.annotations}
    assert notes["predictions lost, points"] == " ? not measured, required 3"
    assert compute_times_reached(decision.parts[2]) == pytest.approx(2.5)
    protected = draw_decision(compare_with_thresholds(INSIDE, REACHED), "title")
    assert len(protected.layout.yaxis.categoryarray) == 2, "one group needs no heading"


def test_a_gain_below_nothing_is_beyond_the_end_of_the_axis():
    figures = {"ill": Figure(0.3, 0.4), "pay": Figure(0.4, 0.4)}
    evidence = Evidence(9, "records", 1, (), Figure(0, 0), Figure(0, 0), figures, None, None)
    decision = compare_with_thresholds(ask(INSIDE, inference=5), REACHED, evidence)
    assert [compute_times_reached(part) for part in decision.parts[2:]] == [np.inf, np.inf]
