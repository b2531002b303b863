"""What an attacker gains, against the definitions written out record by record."""

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.errors import Unsatisfiable
from kanon.evidence.attack import attack
from kanon.evidence.figures import Figure, compute_wilson_interval
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import run
from kanon.sources.population import count_population
from support.random_tables import examples

GROUP = {"u": "first", "v": "first", "w": "second", "x": "second"}
PARENTS = {"*": None, "first": "*", "second": "*", **GROUP}


def plan_for(algorithm="gaa", k=2, person=False, **further):
    nodes = [{"name": name, "parent": above} for name, above in PARENTS.items()]
    return Plan.from_content(
        {
            "version": 2,
            "columns": {
                "place": {"role": "quasi-identifier", "hierarchy": {"nodes": nodes}},
                "sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
                "ill": {"role": "sensitive"},
                **({"who": {"role": "identifier"}} if person else {}),
            },
            **({"person": "who"} if person else {}),
            "read": {"missing": "as-value"},
            "algorithm": {"name": algorithm} if isinstance(algorithm, str) else algorithm,
            "privacy": [{"model": "k-anonymity", "k": k}],
            **further,
        }
    )


def contains(cell, value, column):
    """Whether a released cell could be that of a known value."""
    cell, value = ("(missing)" if pd.isna(part) else part for part in (cell, value))
    if column not in ("place", "sex"):
        return cell == value
    return cell in ("*", value) or GROUP.get(value) == cell


def people_of(table):
    return table["who"] if "who" in table else pd.Series(table.index, index=table.index)


def matching(released, row, columns):
    return [
        place for place, cells in released.iterrows()
        if all(contains(cells[column], row[column], column) for column in columns)
    ]  # fmt: skip


def singled_out(table, released, known):
    columns = [column for column in table.columns if column != "who"]
    sets = list(combinations(columns, min(known, len(columns))))
    return {
        people_of(table)[place] for place in released.index for columns in sets
        if matching(released, table.loc[place], columns) == [place]
    }  # fmt: skip


def linked(table, released):
    columns = [column for column in table.columns if column != "who"]
    halves = columns[:2], columns[2:]
    best = Counter()
    for place in released.index:
        both = [set(matching(released, table.loc[place], half)) for half in halves]
        people = people_of(table)[sorted(both[0] & both[1])].nunique()
        person = people_of(table)[place]
        best[person] = max(best[person], Fraction(1, people))
    return sum(best.values()) / people_of(table).nunique()


def guessed(table, released, known=None):
    known = table if known is None else known
    ills = released["ill"].fillna("(missing)")
    total, people = Fraction(0), people_of(known)
    for place, row in known.iterrows():
        hits = Counter(ills[matching(released, row, ["place", "sex"])]) or Counter(ills)
        best = [value for value, count in hits.items() if count == max(hits.values())]
        right = (row["ill"] if pd.notna(row["ill"]) else "(missing)") in best
        records = (people == people[place]).sum()
        total += Fraction(int(right), len(best) * int(records))
    return total / people.nunique()


@st.composite
def tables(draw):
    n = draw(st.integers(4, 9))
    column = lambda values: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
    table = pd.DataFrame(
        {
            "place": column(["u", "v", "w", "x", None]),
            "sex": column(["F", "M"]),
            "ill": column(["flu", "cold", "gout", None]),
            "note": column(["yes", "no", None]),
        }
    ).astype("str")
    if draw(st.booleans()):
        table["who"] = column(["Ann", "Ben", "Eve", "Joe"])
    return table


@given(tables(), st.sampled_from(["gaa", "mondrian", "datafly", "lattice-sweep"]), st.data())
@examples(200, in_gate=15)
def test_figures_are_those_of_an_attacker_with_pencil_and_paper(table, algorithm, data):
    known = data.draw(st.integers(1, 4))
    plan = plan_for(algorithm, person="who" in table, suppression_limit={"records": 2})
    try:
        release = run(plan, table)
    except Unsatisfiable:
        assume(False)
    rows = release.released(index=True, order="table")
    assume(len(rows))
    evidence = attack(release, known, with_control=False)
    n = people_of(table).nunique()
    assert evidence.persons == n
    assert evidence.singling_out.value == len(singled_out(table, rows, known)) / n
    assert evidence.singling_out.baseline == len(singled_out(table, table, known)) / n
    assert evidence.linkability.value == pytest.approx(float(linked(table, rows)))
    assert evidence.inference["ill"].value == pytest.approx(float(guessed(table, rows)))
    share = table["ill"].fillna("(missing)").groupby(people_of(table)).value_counts(normalize=True)
    expected = share.groupby(level=1).sum().max() / n
    assert evidence.inference["ill"].baseline == pytest.approx(expected)


@given(tables(), st.data())
@examples(100, in_gate=8)
def test_membership_is_the_probability_of_delta_presence(table, data):
    table = table.drop(columns=["who"], errors="ignore")
    others = data.draw(tables())[table.columns]
    population = pd.concat([table, others], ignore_index=True)
    release = run(plan_for(), table)
    rows = release.released(index=True, order="table")
    classes = count_population(release.prepared.classes, population).classes
    evidence = attack(release, people=classes, with_control=False)
    groups = [group for _, group in rows.groupby(["place", "sex"], dropna=False)]
    presence = []
    for _, person in population.iterrows():
        fits = [g for g in groups if matching(g.head(1), person, ["place", "sex"])]
        could = [
            sum(
                bool(matching(g.head(1), other, ["place", "sex"]))
                for _, other in population.iterrows()
            )
            for g in fits
        ]
        presence.append(min(1.0, sum(len(g) / c for g, c in zip(fits, could, strict=True))))
    assert evidence.membership.value == pytest.approx(max(presence))
    assert evidence.membership.mean == pytest.approx(np.mean(presence[: len(table)]))


def make_table(n, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "place": random.choice([*GROUP], n),
            "sex": random.choice(["F", "M"], n),
            "ill": random.choice(["flu", "cold", "gout"], n, p=[0.5, 0.3, 0.2]),
        }
    )


def test_a_release_that_holds_nothing_gives_nothing_away():
    table = make_table(10_000)
    for release in (run(plan_for(k=7_000), table), run(plan_for("samarati", k=7_000), table)):
        assert release.recoding.n_classes == 1
        assert abs(attack(release).inference["ill"].gain) < 0.01


def test_the_table_itself_gives_everybody_away():
    n = 400
    table = pd.DataFrame({"sex": [str(n) for n in range(n)], "ill": [f"ill {n}" for n in range(n)]})
    table["place"] = "u"
    release = run(plan_for(k=2), table)
    classes = release.prepared.classes
    itself = Recoding.from_targets(classes, classes.nodes)
    evidence = attack(replace(release, recoding=itself))
    assert evidence.singling_out.value == evidence.linkability.value == 1
    assert evidence.inference["ill"].gain == 1


def test_the_control_is_made_without_the_people_it_attacks():
    table = make_table(600)
    table["who"] = np.repeat(np.arange(300), 2).astype(str)
    figure = attack(run(plan_for(k=5, person=True), table), seed=3).inference["ill"]
    assert figure.low < figure.control < figure.high
    assert attack(run(plan_for(k=5, person=True), table), seed=3).inference["ill"] == figure
    assert attack(run(plan_for(k=5, person=True), table), seed=4).inference["ill"] != figure


def plan_of_levels(place, k):
    levels = {"name": "levels", "node": {"place": place, "sex": 0}}
    return plan_for(k=k, algorithm=levels, suppression_limit=1.0)


def test_no_control_where_the_rest_cannot_be_released():
    table = make_table(10).assign(sex=["F", "M"] * 5)
    # Fewer than k people, and classes of fewer.
    for plan in (plan_for(k=10), plan_of_levels(2, 5)):
        evidence = attack(run(plan, table))
        assert evidence.inference["ill"].control is None
        assert (
            "without a fifth of the people, no record would be released" in evidence.sentences[-1]
        )


def test_a_release_of_nobody_is_refused(kanon, folder):
    pd.DataFrame({"place": [*"uvwx"], "sex": "F", "ill": "flu"}).to_csv(
        folder / "t.csv", index=False
    )
    (folder / "plan.json").write_text(plan_of_levels(0, 3).to_json())
    said = kanon("attack", "plan.json", "--table", "t.csv")
    assert (said.status, said.out) == (2, "")
    assert "Every record is suppressed, so there is nothing to attack." in said.err


def plan_of_numbers(k, **further):
    age = {"build": "intervals", "widths": [5, 10, 20]}
    content = {
        "version": 2,
        "columns": {
            name: {"role": "quasi-identifier", "hierarchy": age} for name in ("age", "pay")
        },
        "algorithm": {"name": "mdav"},
        "privacy": [{"model": "k-anonymity", "k": k}],
    }
    return Plan.from_content(content | further)


@pytest.mark.nightly
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), min_size=4, max_size=6))
@examples(60, in_gate=6)
def test_the_best_assignment_is_that_of_all_orders(pairs):
    table = pd.DataFrame(pairs, columns=["age", "pay"])
    release = run(plan_of_numbers(2), table)
    after = release.released(index=True, order="table").map(read_shown_number)
    spread = table.std(ddof=0).replace(0, 1)
    own, given_out = table / spread, after / spread
    costs = {
        order: sum(((own.iloc[i] - given_out.iloc[j]) ** 2).sum() for i, j in enumerate(order))
        for order in permutations(range(len(table)))
    }
    shares = {
        round(np.mean([
            (after.iloc[i] == after.iloc[j]).all() / (after == after.iloc[i]).all(axis=1).sum()
            for i, j in enumerate(order)
        ]), 9)
        for order, cost in costs.items() if cost <= min(costs.values()) + 1e-9
    }  # fmt: skip
    assert round(attack(release).assignment.value, 9) in shares


def read_shown_number(cell):
    """The middle of what a released cell shows."""
    ends = [float(part) for part in re.findall(r"\d+(?:\.\d+)?", str(cell))]
    return (min(ends) + max(ends)) / 2


def test_many_records_are_linked_by_a_sample():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": random.integers(0, 90, 3000), "pay": random.integers(0, 900, 3000)}
    )
    figure = attack(run(plan_of_numbers(3), table)).assignment
    assert figure.baseline == pytest.approx(1 / 2000, rel=0.01)
    assert 0.25 < figure.low < figure.value < figure.high < 0.4
    assert figure.value <= 1 / 3
    assert attack(run(plan_for(k=5), make_table(20))).assignment is None


def test_wilson_intervals_cover():
    random = np.random.default_rng(0)
    for n in (200, 1000):
        for share in (0.02, 0.3, 0.5, 0.93):
            found = random.binomial(n, share, 10_000) / n
            ends = np.array([compute_wilson_interval(value, n) for value in found])
            covered = ((ends[:, 0] <= share) & (share <= ends[:, 1])).mean()
            assert 0.93 <= covered <= 0.98


def test_a_gain_is_the_part_that_the_control_leaves():
    assert Figure(0.6, control=0.5).gain == pytest.approx(0.2)
    assert Figure(0.6).gain is None


def test_the_command_prints_sentences_and_numbers(kanon, folder):
    table = make_table(60)
    table.to_csv(folder / "table.csv", index=False)
    (folder / "plan.json").write_text(plan_for(k=5).to_json())
    said = kanon("attack", "plan.json", "--table", "table.csv")
    assert "finds exactly one released record" in said.out
    numbers = json.loads(kanon("attack", "plan.json", "--table", "table.csv", "--json").out)
    assert {*numbers} == {"records", "known", "singling_out", "linkability", "inference"}
    assert {*numbers["inference"]["ill"]} == {
        "value",
        "baseline",
        "control",
        "low",
        "high",
    }
    assert "at least 1" in kanon("attack", "plan.json", "--table", "table.csv", "--known", "0").err
