"""Linkage attacks against what an attacker with pencil and paper finds, row by row."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import CoverageError, PlanError, TableError
from kanon.measures.linkage import find_matches, measure_linkage
from kanon.privacy.population_matches import count_people_below
from kanon.privacy.reidentification import journalist, marketer
from kanon.recoding import Recoding
from kanon.run import run
from kanon.sources.histograms import build_person_histogram
from kanon.sources.population import count_population
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from oracles.plain_linkage import attacks, could_be, rows_of
from support.random_tables import examples


# The worked table of Mauger et al. 2023: at k = 4 GAA releases [F, Mammal] and [M, Felid].
@pytest.fixture(scope="module")
def animals():
    work = open_sample("animals-m23")
    done = run(build_plan(work), work.table.records)
    released = done.recoding.released
    labels = [
        [tree.labels[node] for tree, node in zip(released.hierarchies, row, strict=True)]
        for row in released.nodes
    ]
    assert labels == [["F", "Mammal"], ["M", "Felid"]], "what the rest is worked out on"
    return done.prepared.classes, done.recoding


def counts(match):
    return {value: int(n) for value, n in zip(match.values, match.counts, strict=True) if n}


def test_a_known_person_by_hand(animals):
    table, recoding = animals
    carole = {"gender": "F", "race": "Lion"}
    before = find_matches(table, carole, "disease")
    assert (before.records, before.sureness, before.guesses) == (2, 1.0, ("Cold",))
    after = find_matches(recoding.released, carole, "disease")
    assert counts(after) == {"Cold": 2, "Bronchitis": 1, "Conjunctivitis": 1}
    assert (after.records, after.sureness, after.guesses) == (4, 0.5, ("Cold",))
    assert after.classes.tolist() == [0]


def test_who_knows_less_finds_more_by_hand(animals):
    table, recoding = animals
    assert counts(find_matches(table, {"race": "Lion"}, "disease")) == {
        "Cold": 2, "Angina": 1, "Bronchitis": 1
    }  # fmt: skip
    assert find_matches(recoding.released, {"race": "Lion"}, "disease").classes.tolist() == [0, 1]
    dog = find_matches(recoding.released, {"race": "Dog"}, "disease")
    assert dog.records == 4, "no felid is a dog"
    assert find_matches(table, {}).records == find_matches(recoding.released, {}).records == 8


def test_several_best_guesses_and_none(animals):
    table, _ = animals
    herve = find_matches(table, {"gender": "M", "race": "Lion"}, "disease")
    assert herve.guesses == ("Angina", "Bronchitis") and herve.sureness == 0.5
    nobody = find_matches(table, {"gender": "F", "race": "Cat"}, "disease")
    assert (nobody.records, nobody.sureness, nobody.guesses) == (0, None, ())
    assert find_matches(table, {"race": "Cat"}).sureness is None, "nothing was to be guessed"


def test_everybody_attacked_by_hand(animals):
    """F Lion, F Dog, M Cat, M Lion, two each: 2 + 1 + 2 + 1 right; then 2 and 2."""
    table, recoding = animals
    both = ["gender", "race"]
    before = measure_linkage(table, table, both, "disease")
    assert (before.singled_out, before.matches, before.right) == (0.0, 2.0, 0.75)
    after = measure_linkage(table, recoding.released, both, "disease")
    assert (after.singled_out, after.matches, after.right) == (0.0, 4.0, 0.5)
    # By the gender alone a release that keeps it gives away as much as the table.
    assert measure_linkage(table, table, ["gender"], "disease") == measure_linkage(
        table, recoding.released, ["gender"], "disease"
    )


def test_a_suppressed_person_is_not_found(animals):
    table, _ = animals
    gone = np.array([True] + [False] * (table.n_classes - 1))
    recoding = Recoding.from_targets(table, table.nodes, gone)
    node = table.nodes[0]
    known = {
        name: tree.labels[node[j]]
        for j, (name, tree) in enumerate(zip(table.attributes, table.hierarchies, strict=True))
    }
    assert find_matches(table, known).records == 2
    assert find_matches(recoding.released, known).records == 0
    found = measure_linkage(table, recoding.released, list(known), "disease")
    assert found.matches == 1.5, "six persons find two records each, two find none"


def test_what_cannot_be_known_is_refused(animals):
    table, _ = animals
    with pytest.raises(
        PlanError, match="'age' is not a quasi-identifier; choose from 'gender', 'race'"
    ):
        find_matches(table, {"age": "39"})
    with pytest.raises(PlanError, match="'age' is not a quasi-identifier"):
        measure_linkage(table, table, ["age"])
    with pytest.raises(PlanError, match="not sensitive"):
        measure_linkage(table, table, ["race"], "name")
    with pytest.raises(CoverageError) as caught:
        find_matches(table, {"race": "Unicorn"})
    assert "Unicorn" in caught.value.sentence and "Unicorn" not in str(caught.value)


# --- Any table, row by row ----------------------------------------------------------------------
@examples(150)
@given(attacks())
def test_attacks_equal_looking_through_the_rows(drawn):
    problem, secrets, of_row, recoding, known = drawn
    persons = recoding.classes
    original = problem.frame().assign(secret=secrets)
    for table, classes in (
        (original, persons),
        (rows_of(problem, secrets, of_row, recoding), recoding.released),
    ):
        alone, matches, right = 0, Fraction(0), Fraction(0)
        for person, secret in zip(problem.rows, secrets, strict=True):
            facts = {c: x for c, x in zip(problem.columns, person, strict=True) if c in known}
            rows = could_be(problem, table, facts)
            tally = Counter(rows["secret"])
            found = find_matches(classes, facts, "secret")
            assert found.records == len(rows) and counts(found) == dict(tally)
            best = [value for value, n in tally.items() if n == max(tally.values())]
            assert sorted(found.guesses) == sorted(best)
            alone += len(rows) == 1
            matches += len(rows)
            right += Fraction(secret in best, max(1, len(best)))
        n = len(problem.rows)
        whole = measure_linkage(persons, classes, known, "secret")
        assert whole.singled_out == alone / n
        assert whole.matches == pytest.approx(float(matches / n), rel=1e-12)
        assert whole.right == pytest.approx(float(right / n), rel=1e-12)
        bare = measure_linkage(persons, classes, known)
        assert bare.right is None and bare.singled_out == whole.singled_out


@examples(100)
@given(attacks(), st.data())
def test_attacks_on_persons_equal_looking_through_the_rows(drawn, data):
    """Of each person the record that the fewest persons match, but for those that nobody matches.

    Names are written beside the rows of the table and of the release, and counted there.
    """
    problem, secrets, of_row, recoding, known = drawn
    who = data.draw(st.lists(st.sampled_from("abc"), min_size=len(of_row), max_size=len(of_row)))
    persons = build_person_histogram(
        "who", pd.Series(who), np.array(of_row), recoding.classes.n_classes
    )
    recoding = replace(recoding, classes=replace(recoding.classes, persons=persons))
    names = pd.DataFrame({"who": who})
    left = names[[recoding.assigned[row] >= 0 for row in of_row]].reset_index(drop=True)
    released = rows_of(problem, secrets, of_row, recoding).assign(who=left["who"])
    for table, classes in (
        (problem.frame().assign(who=who), recoding.classes),
        (released, recoding.released),
    ):
        fewest = dict.fromkeys(who, 0)
        for person, row in zip(who, problem.rows, strict=True):
            facts = {c: x for c, x in zip(problem.columns, row, strict=True) if c in known}
            matches = could_be(problem, table, facts)["who"].nunique()
            assert find_matches(classes, facts).persons == matches
            fewest[person] = min(filter(None, (fewest[person], matches)), default=0)
        whole = measure_linkage(recoding.classes, classes, known, "secret")
        assert whole.of == "persons"
        assert whole.singled_out == sum(n == 1 for n in fewest.values()) / len(fewest)
        assert whole.matches == pytest.approx(sum(fewest.values()) / len(fewest), rel=1e-12)
        records = replace(recoding.classes, persons=None)
        assert whole.right == measure_linkage(records, classes, known, "secret").right


@examples(100)
@given(attacks())
def test_laws_of_linkage(drawn):
    problem, _, _, recoding, known = drawn
    persons, released = recoding.classes, recoding.released
    for place, labels in enumerate(problem.sizes):
        facts = {c: x for c, x in zip(problem.columns, labels, strict=True) if c in known}
        before, after = find_matches(persons, facts), find_matches(released, facts)
        assert place in before.classes, "a person always matches"
        if recoding.assigned[place] >= 0:
            assert recoding.assigned[place] in after.classes
        kept = {int(recoding.assigned[c]) for c in before.classes} - {-1}
        assert kept <= set(after.classes.tolist()), "who matched before still matches after"
        fewer = dict(list(facts.items())[1:])
        assert set(before.classes) <= set(find_matches(persons, fewer).classes)
    before = measure_linkage(persons, persons, known, "secret")
    after = measure_linkage(persons, released, known, "secret")
    baseline = persons.sensitive[0].total.max() / persons.n_records
    if all(tree.leaves_covered[x] == 1 for row in problem.rows
           for tree, x in zip(problem.trees, row, strict=True)):  # fmt: skip
        assert after.right <= before.right + 1e-12
        assert before.right >= baseline - 1e-12
    if not recoding.suppressed_records:
        assert after.matches >= before.matches - 1e-9
        assert after.singled_out <= before.singled_out
    nothing = measure_linkage(persons, released, [], "secret")
    assert nothing.matches == pytest.approx(released.n_records)


@examples(60)
@given(attacks())
def test_the_order_in_which_facts_are_named_changes_nothing(drawn):
    *_, recoding, known = drawn
    pair = recoding.classes, recoding.released
    assert measure_linkage(*pair, known, "secret") == measure_linkage(*pair, known[::-1], "secret")


def test_an_empty_table_has_no_linkage(animals):
    table, _ = animals
    nobody = replace(
        table, nodes=table.nodes[:0], counts=table.counts[:0],
        sensitive=tuple(each.only(np.zeros(0, dtype=int)) for each in table.sensitive),
    )  # fmt: skip
    assert measure_linkage(nobody, nobody, ["race"], "disease") is None


# The population
def test_people_of_a_population_by_hand(animals):
    table, recoding = animals
    people = pd.DataFrame(
        {
            "race": ["Lion", "Dog", "Cat", "Lion", "Cow", None],
            "gender": ["F", "F", "M", "M", "F", "M"],
            "name": list("abcdef"),
        }
    )
    found = count_population(table, people)
    assert found.unplaced == 2, "a cow, and one without a race"
    # [F, Mammal]: the lion, the dog, and the cow, as Mammal is the root. [M, Felid]: cat and lion.
    assert count_people_below(recoding.released, found.classes).tolist() == [3, 2]


def test_a_population_that_is_the_table_adds_no_doubt(animals):
    table, recoding = animals
    people = count_population(table, open_sample("animals-m23").table.records.frame).classes
    size = count_people_below(recoding.released, people)
    assert size.tolist() == recoding.released.counts.tolist() == [4, 4]
    assert journalist(recoding.released, size).highest == 0.25
    assert marketer(recoding.released, size) == 0.25


def test_a_population_without_a_column_or_rows_is_refused(animals):
    table, _ = animals
    with pytest.raises(TableError, match="lacks 'race': it needs a column of the same name"):
        count_population(table, pd.DataFrame({"gender": ["F"]}))
    with pytest.raises(TableError, match="no records"):
        count_population(table, pd.DataFrame({"gender": [], "race": []}))


@examples(80)
@given(attacks(), st.data())
def test_people_below_equals_looking_through_the_rows(drawn, data):
    problem, _, _, recoding, _ = drawn
    people = data.draw(st.lists(st.sampled_from(problem.rows), min_size=1, max_size=12))
    frame = pd.DataFrame([*problem.rows, *people], columns=problem.columns)
    found = count_population(recoding.classes, frame)
    assert found.unplaced == 0 and found.classes.n_records == len(frame)
    sizes = count_people_below(recoding.released, found.classes)
    for node, size in zip(recoding.nodes, sizes, strict=True):
        labels = [tree.order[x] for tree, x in zip(problem.trees, node, strict=True)]
        inside = [
            row for row in frame.itertuples(index=False)
            if all(high in tree.paths[x] for tree, x, high
                   in zip(problem.trees, row, labels, strict=True))
        ]  # fmt: skip
        assert size == len(inside)
    assert (sizes >= recoding.counts).all(), "everybody of the table is one of the people"
