"""Solutions written out and hints: every sum is right, and no hint is the answer."""

import re
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import KanonError
from kanon.measures import alteration
from kanon.metrics import metric_named, potentials
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.small_tables import format_tuple
from kanon.teaching.worked import explain_solution, get_hint
from support.exercise_sets import GIVEN, exercises_of
from support.random_tables import examples

TREES = {
    "gender": [{"name": "*"}, {"name": "F", "parent": "*"}, {"name": "M", "parent": "*"}],
    "race": [
        {"name": "Mammal"},
        {"name": "Felid", "parent": "Mammal"},
        {"name": "Dog", "parent": "Mammal"},
        {"name": "Cat", "parent": "Felid"},
        {"name": "Lion", "parent": "Felid"},
    ],
}
NUMBERS = ("k", "classes", "unique", "alteration", "entropy-l", "distinct-l", "t")
METRICS = st.sampled_from(["nllm", "total", "ncp", "llm", "distortion", "entropy", "wnllm"])
RECORDS = st.lists(
    st.tuples(
        st.sampled_from("FM"), st.sampled_from(["Cat", "Lion", "Dog"]), st.sampled_from("abc")
    ).map(list),
    min_size=3,
    max_size=9,
)


def made(records, *questions):
    columns = {name: {"role": "quasi-identifier", "nodes": nodes} for name, nodes in TREES.items()}
    table = {"columns": columns | {"ill": {"role": "sensitive"}}, "records": records}
    asked = [{"id": str(place), "table": "t"} | one for place, one in enumerate(questions)]
    return exercises_of(GIVEN | {"tables": {"t": table}, "questions": asked})


def number(text):
    """A cost as it is written."""
    return Fraction(text.replace("\u202f", ""))


def evaluated(arithmetic):
    """Sums of products, on both sides of the sign of equality."""
    terms, equal = arithmetic.rsplit(" = ", 1)
    found = sum(number(one) * number(two) for one, two in re.findall(r"(\S+) × (\S+)", terms))
    return found, number(equal)


@examples(60)
@given(RECORDS, METRICS, st.integers(2, 3), st.sampled_from(["recode", "levels"]))
def test_the_least_alteration_is_added_up(records, name, k, kind):
    exercises = made(records, {"kind": kind, "k": k, "metric": name})
    (question,), table, metric = exercises.questions, exercises.made["t"], metric_named(name)
    found, best = explain_solution(question, table), question.best(exercises.made["t"])
    classes = table.classes
    records = classes.records_below if metric.counts_records else None
    depths = potentials(metric, classes.hierarchies, records)
    total = 0
    for row, own, to, count in zip(
        found.arithmetic.to_numpy().tolist(),
        classes.nodes, best.recoding.targets, classes.counts, strict=True,
    ):  # fmt: skip
        one = sum(depth[a] - depth[b] for depth, a, b in zip(depths, own, to, strict=True))
        left, right = evaluated(row[3])
        assert left == right
        assert float(right) == pytest.approx(count * one, rel=6e-3)
        terms, equal = row[2].split(" = ")
        assert sum(map(number, terms.split(" + "))) == number(equal)
        total += count * one
    decimal = r"(?: \([=≈] \S+\))?"
    said = rf": (\S+){decimal} of (\S+){decimal} [=≈] (.*) %\.$"
    lost, possible, share = re.search(said, found.sentences[-1]).groups()
    assert float(number(lost)) == pytest.approx(total, rel=6e-3)
    assert float(number(lost) / number(possible)) == pytest.approx(best.alteration / 100, rel=1e-2)
    assert share == f"{alteration.value(best.recoding, metric):.1f}"


@examples(60)
@given(RECORDS, METRICS, st.integers(0, 3))
def test_all_candidates_are_listed_with_what_they_cost(records, name, merges):
    asked = {"kind": "choice", "metric": name, "merges": merges}
    try:
        exercises = made(records, *(asked | {"choose": one} for one in ("partner", "smallest")))
    except KanonError as error:
        assert "nothing is left to merge" in error.sentence or "one class" in error.sentence
        return
    (partner, smallest), table = exercises.questions, exercises.made["t"]
    found = explain_solution(partner, table)
    assert Counter(found.arithmetic["class"]) == Counter(map(format_tuple, partner.options(table)))
    costs = {}
    for said, _, arithmetic in found.arithmetic.to_numpy().tolist():
        left, right = evaluated(arithmetic)
        assert left == right
        costs[said] = right
    assert list(costs.values()) == sorted(costs.values())
    taken = format_tuple(tuple(partner.solution(table)))
    assert costs[taken] == min(costs.values())
    assert taken in found.sentences[-1] and len(found.sentences) == merges + 1
    found = explain_solution(smallest, table)
    sizes = found.arithmetic.set_index("class")["records"].astype(int)
    assert sizes[format_tuple(tuple(smallest.solution(table)))] == sizes.min()
    assert sizes.sum() == len(records)
    tied = (sizes == sizes.min()).sum() > 1
    assert ("first in tree order" in found.sentences[-1]) == tied


@examples(60)
@given(RECORDS, st.sampled_from(NUMBERS), st.integers(0, 1), st.integers(0, 2))
def test_a_number_is_what_its_classes_say(records, which, gender, race):
    asked = {"kind": "number", "number": which, "levels": {"gender": gender, "race": race}}
    exercises = made(records, asked)
    (question,), table = exercises.questions, exercises.made["t"]
    found, right = explain_solution(question, table), question.solution(table)
    said = found.sentences[-1]
    if which == "alteration":
        assert said.endswith(f"= {right:.1f} %.")
        return
    if which in ("k", "classes", "unique"):
        sizes = found.arithmetic["records"].astype(int)
        assert right == {
            "k": sizes.min(), "classes": len(sizes), "unique": (sizes == 1).sum(),
        }[which]  # fmt: skip
        assert str(right) in said
        return
    levels = [float(row.rsplit(" = ", 1)[-1]) for row in found.arithmetic["arithmetic"]]
    assert (max if which == "t" else min)(levels) == pytest.approx(right, abs=6e-4)
    assert f"{right:.3f}".rstrip("0").rstrip(".") in said


def test_the_arithmetic_by_hand():
    """Dogs have a cold, cats and the lion two colds and a flu; in the table 4 of 5 are colds."""
    asked = [{"id": one, "table": "t", "kind": "number", "number": one, "levels": {"race": 1}}
             for one in ("entropy-l", "t", "distinct-l")]  # fmt: skip
    exercises = exercises_of(GIVEN | {"questions": asked})
    entropy, t, distinct = (
        explain_solution(each, exercises.made["t"]).arithmetic["arithmetic"].tolist()
        for each in exercises.questions
    )
    assert entropy[1] == "exp(−(2/3 · ln 2/3 + 1/3 · ln 1/3)) = 1.89"
    assert t == [
        "½ · (|2/2 − 4/5| + |0/2 − 1/5|) = 0.2", "½ · (|2/3 − 4/5| + |1/3 − 1/5|) = 0.133",
    ]  # fmt: skip
    assert distinct == ["1", "2"]


@examples(60)
@given(RECORDS, st.integers(2, 3), st.data())
def test_a_hint_says_how_many_classes_are_too_small(records, k, data):
    exercises = made(records, {"kind": "levels", "k": k}, {"kind": "recode", "k": k})
    (levels, recode), table = exercises.questions, exercises.made["t"]
    answer = {"gender": data.draw(st.integers(0, 1)), "race": data.draw(st.integers(0, 2))}
    said = get_hint(levels, table, answer)
    release = levels.read(table, answer)
    small = (release.counts < k).sum()
    assert said.startswith(f"Not {k}-anonymous: the class (" if small else "Every class has ")
    assert (f"{small - 1} other class" in said) == (small > 1)
    if small:
        assert f") has {release.counts.min()} record" in said
    if not small:
        assert f"{alteration.value(release, metric_named('nllm')):.1f} %" in said
    best = recode.describe_solution(table).split(":")[0]
    assert best not in get_hint(recode, table, None)


def test_every_question_has_a_hint_that_is_not_its_solution():
    exercises = read_exercises(BUILT_IN)
    for question in exercises.questions:
        table = exercises.get_table(question)
        said = get_hint(question, table, None)
        assert said.endswith(".")
        if question.id != "partner":  # all partners are named there, and where they meet
            solution = re.escape(question.describe_solution(table).rstrip("."))
            named = re.search(rf"(?<![\d.]){solution}(?![\d.])", said)
            # A whole number may be said of something else, such as 2 of 6 records.
            assert not named or re.match(rf"{solution} of \d", said[named.start() :]), question.id


def test_a_hint_says_where_values_meet():
    exercises = exercises_of(GIVEN)
    recode, _, k, smallest, partner = exercises.questions
    table = exercises.made["t"]
    assert get_hint(recode, table, "no answer") == (
        "Not 2-anonymous: the class (Lion) has 1 record. "
        "For (Lion): in race, Lion first meets Cat, at Felid."
    )
    assert "(Lion) meets (Cat) at (Felid), (Dog) at (Mammal)." in get_hint(partner, table, None)
    assert "records 1 and 2" in get_hint(k, table, None)
    assert "fewest records" in get_hint(smallest, table, None) and "Lion" not in get_hint(
        smallest, table, None
    )
