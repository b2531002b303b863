"""What a release reaches of what is asked of it, and the verdict."""

import itertools
import json
import math
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon.charts.decision import compute_times_reached, draw_decision
from kanon.errors import PlanError, TableError
from kanon.plan import Plan
from kanon.release import decision as decisions
from kanon.release.context import (
    ATTACKERS,
    AUDIENCES,
    ChosenThreshold,
    Context,
    list_thresholds,
    replace_threshold,
)
from kanon.release.decision import (
    Decision,
    ThresholdResult,
    compare_with_thresholds,
    measure_reached_levels,
)
from kanon.run import run
from support.plans import plan_content, qi

PEOPLE = pd.DataFrame({"sex": list("FFFMMMM"), "ill": [*"ccf", *"ffgc"]})
"""c, f and g occur three times, three times and once."""


def released(table, k=2, sensitive=("ill",), algorithm="gaa", node=None, **more):
    """A release of a table whose quasi-identifiers are kept or lost."""
    columns = {name: {"role": "sensitive"} if name in sensitive else qi() for name in table}
    content = plan_content(columns, k, {"name": algorithm, "node": node}) | more
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(Plan.from_content(content), table)


# --- worked by hand ---------------------------------------------------------------------------
def test_what_three_women_and_four_men_reach():
    levels = measure_reached_levels(released(PEOPLE)).levels
    assert levels["k", ""] == 3
    assert levels["highest_risk", ""] == pytest.approx(3)
    assert levels["mean_risk", ""] == pytest.approx(7 / 2), "one right guess in each class"
    # Of the women two have c and one f; the table would have had (3, 3, 1) / 7.
    assert levels["l", "ill"] == pytest.approx(3 / 2 ** (2 / 3))
    assert levels["t", "ill"] == pytest.approx(5 / 21)


def test_what_is_known_is_chosen_against_the_release():
    table = pd.DataFrame({"age": [1, 1, 2, 2], "sex": list("FMFM")})
    done = released(table, sensitive=(), algorithm="levels", node={"age": 0, "sex": 1})
    assert measure_reached_levels(done).levels["k", ""] == 2
    assert measure_reached_levels(done, known=1).levels["k", ""] == 2, (
        "who knows the age knows enough"
    )
    whole = released(table, k=4, sensitive=())
    assert measure_reached_levels(whole, known=1).levels["k", ""] == 4
    assert measure_reached_levels(done, known=9).known == 2, "all there are"


def test_who_does_not_know_who_is_in_the_table_reckons_with_everybody():
    everybody = pd.DataFrame({"sex": ["F"] * 6 + ["M"] * 12})
    found = measure_reached_levels(released(PEOPLE), people=everybody)
    assert found.population
    assert found.levels["highest_risk", ""] == pytest.approx(6)
    # The larger of 2 classes / 18 people, and (3 / 6 + 4 / 12) / 7 records.
    assert found.levels["mean_risk", ""] == pytest.approx(7 / (3 / 6 + 4 / 12))
    assert found.levels["k", ""] == 3, "k is of the table"
    with pytest.raises(TableError, match="fewer people in the population"):
        measure_reached_levels(released(PEOPLE), people=everybody.iloc[:2])


def test_blanked_rows_are_no_records():
    table = pd.DataFrame({"sex": list("FFFM")})
    done = released(table, sensitive=(), algorithm="datafly", suppressed="keep",
                    suppression_limit={"records": 1})  # fmt: skip
    assert done.recoding.suppressed_records == 1 and len(done.released()) == 4
    found = measure_reached_levels(done)
    assert (found.records, found.levels["k", ""]) == (3, 3)


def test_a_release_of_nothing_is_not_judged():
    table = pd.DataFrame({"sex": list("FM")})
    done = released(table, sensitive=(), algorithm="datafly", suppression_limit=1.0)
    found = measure_reached_levels(done)
    assert not done.recoding.n_classes
    decision = compare_with_thresholds(Context(release="public"), found)
    assert decision.parts == () and decision.sentence.startswith("Nothing is released")


@pytest.mark.parametrize(
    ("reached", "met"),
    [
        ((5, 5), "0 of 2 thresholds are met"),
        ((5, 11), "1 of 2 thresholds is met"),
        ((11, 12), "2 of 2 thresholds are met"),
        ((12,), "1 of 1 threshold is met"),
    ],
)
@pytest.mark.parametrize("known", [1, 2])
def test_a_verdict_counts_what_is_met_and_what_is_known(reached, met, known):
    context = Context(release="public")
    parts = tuple(ThresholdResult(list_thresholds(context)["k"], "", level) for level in reached)
    numbers = SimpleNamespace(
        levels={("k", ""): 1}, records=7, known=known, n_quasi_identifiers=2, sensitive=(),
        population=False, order="released",
    )  # fmt: skip
    said = Decision(context, numbers, parts).sentence
    assert f": {met}." in said
    assert ("any 1 of their 2 quasi-identifiers" in said) is (known == 1)
    assert ("knows all their quasi-identifiers" in said) is (known == 2)
    more = ["1 quasi-identifier"] * (known == 1)
    assert re.findall("that someone knows more than ([^,]*)", said) == more


@pytest.mark.parametrize(
    ("level", "said"),
    [
        (1, "in at least one class everyone has the same 'ill'"),
        (1.004, "as hard to guess as if it had 1.004 equally"),
        (2, "as hard to guess as if it had 2 equally f"),
    ],
)
def test_one_value_and_several_are_as_hard_to_guess(level, said):
    own = replace_threshold(Context(release="public"), "l", ChosenThreshold(wanted=2))
    assert said in ThresholdResult(list_thresholds(own)["l"], "ill", level).sentence


# --- an oracle --------------------------------------------------------------------------------
def plainly(frame, known, columns, sensitive):
    """The same from pandas alone: group by every choice of columns, take the worst."""
    worst = {"k": math.inf, "mean_risk": math.inf, "l": math.inf, "t": -math.inf}
    shares = frame[sensitive].value_counts(normalize=True)
    for chosen in itertools.combinations(columns, known):
        groups = [rows[sensitive] for _, rows in frame.groupby(list(chosen))]
        worst["k"] = min(worst["k"], *map(len, groups))
        worst["mean_risk"] = min(worst["mean_risk"], len(frame) / len(groups))
        for values in groups:
            p = values.value_counts(normalize=True)
            worst["l"] = min(worst["l"], math.exp(-sum(p * np.log(p))))
            away = p.reindex(shares.index, fill_value=0) - shares
            worst["t"] = max(worst["t"], away.abs().sum() / 2)
    return worst


tables = st.lists(
    st.tuples(*[st.sampled_from("ab")] * 3, st.sampled_from("xyz")), min_size=3, max_size=14
).map(lambda rows: pd.DataFrame(rows, columns=["one", "two", "three", "ill"]))


@settings(max_examples=3, deadline=None)
@given(tables)
def test_levels_are_what_pandas_counts_and_knowing_more_never_helps_the_release(table):
    done = released(table)
    rows, before = done.released(), None
    for known in (1, 2, 3):
        levels = measure_reached_levels(done, known).levels
        expected = plainly(rows, known, ["one", "two", "three"], "ill")
        found = {name: levels[name, "ill" if name in "lt" else ""] for name in expected}
        assert found == pytest.approx(expected, abs=1e-9)
        assert levels["highest_risk", ""] == pytest.approx(levels["k", ""])
        if before is not None:
            for (name, column), level in levels.items():
                sign = -1 if name == "t" else 1
                assert sign * level <= sign * before[name, column] + 1e-9
        before = levels


# --- the verdict ------------------------------------------------------------------------------
def test_a_verdict_names_all_that_is_not_met_and_never_says_more():
    reached = measure_reached_levels(released(PEOPLE), known=1)
    for release, attacker in itertools.product(AUDIENCES, ATTACKERS):
        context = Context(release=release, attacker=attacker)
        decision = compare_with_thresholds(context, reached)
        said = decision.sentence
        assert not re.search(r"\b(safe|anonym\w*|secure|ok)\b", said, re.IGNORECASE)
        for part in decision.parts:
            where = said.index(part.sentence)
            met = "Met: " in said and where > said.index(". Met: ")
            assert met is part.met
        asked = [name for name, one in list_thresholds(context).items() if one.wanted is not None]
        assert [part.threshold.card.name for part in decision.parts] == asked
        assert f"{sum(part.met for part in decision.parts)} of {len(asked)} thresholds" in said
        assert said.endswith("no more than needed.") or "No population was given" in said
        assert decision.holds is all(part.met for part in decision.parts)


def test_the_context_changes_the_verdict():
    reached = measure_reached_levels(released(PEOPLE))
    met = {}
    for release in AUDIENCES:
        parts = compare_with_thresholds(Context(release=release), reached).parts
        met[release] = [part.threshold.card.name for part in parts if part.met]
    assert met == {"public": ["t"], "research": ["t"], "internal": ["k", "highest_risk"]}
    three = replace_threshold(Context(release="internal"), "mean_risk", ChosenThreshold(wanted=3))
    assert compare_with_thresholds(three, reached).holds
    assert "No threshold protects 'ill', so" in compare_with_thresholds(three, reached).sentence


@pytest.mark.parametrize(
    "model",
    [
        {"model": "entropy-l-diversity", "l": 1.5},
        {"model": "distinct-l-diversity", "l": 2},
        {"model": "t-closeness", "t": 0.9},
        {"model": "alpha-k-anonymity", "alpha": 0.9, "k": 2},
    ],
)
def test_a_column_that_a_model_of_the_plan_is_about_was_asked(model):
    table = PEOPLE.assign(job=["a", "b"] * 3 + ["a"])
    both = [{"model": "k-anonymity", "k": 2}, {**model, "column": "ill"}]
    reached = measure_reached_levels(released(table, sensitive=("ill", "job"), privacy=both))
    said = compare_with_thresholds(Context(release="internal"), reached).sentence
    assert (
        "No threshold protects 'job', so everyone in a class might share one value there." in said
    )
    one = measure_reached_levels(released(PEOPLE, privacy=both))
    assert (
        "No threshold protects"
        not in compare_with_thresholds(Context(release="internal"), one).sentence
    )


def test_what_was_left_out_is_said():
    reached = measure_reached_levels(released(PEOPLE.assign(age=1)), known=1)
    said = compare_with_thresholds(
        Context(release="public", attacker="journalist", known=1), reached
    ).sentence
    assert "any 1 of their 2 quasi-identifiers, but not whether the person is in the table" in said
    assert "Not considered: that someone knows more than 1 quasi-identifier" in said
    assert "No population was given" in said
    alone = measure_reached_levels(released(PEOPLE[["sex"]], sensitive=()))
    assert (
        "no column has the role sensitive"
        in compare_with_thresholds(Context(release="public"), alone).sentence
    )


def test_too_many_choices_are_refused():
    wide = pd.DataFrame({f"c{i}": ["a", "a"] for i in range(14)})
    done = released(wide, sensitive=())
    with pytest.raises(PlanError) as caught:
        measure_reached_levels(done, known=7)
    assert math.comb(14, 7) > decisions.MOST_CHOICES
    assert caught.value.sentence.startswith(
        "There are 3\u202f432 ways to choose 7 of 14 quasi-ident"
    )


def test_the_numbers_and_the_table_say_the_same():
    decision = compare_with_thresholds(
        Context(release="public"), measure_reached_levels(released(PEOPLE))
    )
    numbers = json.loads(json.dumps(decision.numbers))
    table = decisions.build_decision_table(decision)
    assert [each["met"] for each in numbers["thresholds"]] == [*(table["Verdict"] == "met")]
    assert numbers["verdict"] == decision.sentence and not numbers["holds"]
    assert table.loc[0, ["Wanted", "Reached", "Unit"]].tolist() == ["11", "3", "records"]
    assert table["Source"].str.len().min() > 20


def test_a_bar_ends_where_the_threshold_is_reached():
    decision = compare_with_thresholds(
        Context(release="public"), measure_reached_levels(released(PEOPLE))
    )
    chart = draw_decision(decision, "found")
    ends = {}
    for trace in chart.data:
        for name, base, length in zip(trace.y, trace.base, trace.x, strict=True):
            ends[name] = (base, base + length, trace.name)
    assert ends["records alike"] == (pytest.approx(3 / 11), pytest.approx(1), "✗ not met")
    assert ends["ill: unlike the table"][1:] == (pytest.approx(0.3 * 21 / 5), "✓ met")
    assert [compute_times_reached(part) >= 1 - 1e-9 for part in decision.parts] == [
        part.met for part in decision.parts
    ]
