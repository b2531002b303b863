"""Exercises: the optimum against brute force, every kind by hand, files that are wrong."""

import importlib.util
import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.classes import EquivalenceClasses, group_tuples
from kanon.cli.main import main
from kanon.errors import ExerciseError, Unsatisfiable
from kanon.hierarchy.build import groups, suppression
from kanon.measures import alteration
from kanon.metrics import metric_named, potentials
from kanon.teaching import optimum
from kanon.teaching.exercises import BUILT_IN, Answers, read_answers, read_exercises
from kanon.teaching.marks import mark_answers, mark_class
from kanon.teaching.optimum import find_best_levels, find_best_recoding
from kanon.teaching.small_tables import raise_to_levels
from oracles.plain_clustering import partitions
from support.exercise_sets import GIVEN, QUESTIONS, TABLE, exercises_of
from support.paths import ROOT
from support.random_tables import examples

RACE = groups([{"Felid": ["Cat", "Lion"], "Canine": ["Dog", "Wolf"]}, {"*": ["Felid", "Canine"]}])
GENDER = suppression(["F", "M"])


# --- The optimum --------------------------------------------------------------------------------
def loss(classes, targets, metric):
    """What the records lose, in floats, cell by cell."""
    depths = potentials(metric, classes.hierarchies)
    return sum(
        int(count) * (depth[low] - depth[high])
        for row, to, count in zip(classes.nodes, targets, classes.counts, strict=True)
        for depth, low, high in zip(depths, row, to, strict=True)
    )


def slow_least(classes, metric, k):
    """The least loss over all set partitions into blocks of at least k records."""
    found = []
    for blocks in partitions(list(range(classes.n_classes))):
        if min(int(classes.counts[block].sum()) for block in blocks) < k:
            continue
        targets = classes.nodes.copy()
        for block in blocks:
            for j, tree in enumerate(classes.hierarchies):
                above = int(classes.nodes[block[0], j])
                for place in block:
                    above = tree.lca(above, int(classes.nodes[place, j]))
                targets[block, j] = above
        found.append(loss(classes, targets, metric))
    return min(found)


@st.composite
def tables(draw, most=6):
    """Classes of two columns; some values are groups already."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=2, max_size=most, unique=True
        )
    )
    counts = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    nodes, counts, _ = group_tuples(np.array(rows), np.array(counts), [3, 7])
    return EquivalenceClasses(("gender", "race"), (GENDER, RACE), nodes, counts)


METRIC_NAMES = st.sampled_from(["nllm", "total", "distortion", "llm"])


@examples(100)
@given(tables(), METRIC_NAMES, st.integers(2, 4))
def test_the_optimum_is_that_of_brute_force(classes, name, k):
    metric = metric_named(name)
    if classes.n_records < k:
        with pytest.raises(Unsatisfiable):
            find_best_recoding(classes, metric, k)
        return
    best = find_best_recoding(classes, metric, k)
    assert best.proven and best.recoding.min_k >= k
    assert best.recoding.suppressed_records == 0
    found = loss(classes, best.recoding.targets, metric)
    assert found == pytest.approx(slow_least(classes, metric, k), abs=1e-9)
    assert best.alteration == alteration.value(best.recoding, metric)
    levels = find_best_levels(classes, metric, k)
    assert levels.alteration >= best.alteration


@examples(50)
@given(tables(), METRIC_NAMES, st.integers(2, 4))
def test_the_best_levels_are_those_of_brute_force(classes, name, k):
    metric = metric_named(name)
    if classes.n_records < k:
        return
    releases = [
        raise_to_levels(classes, {"gender": gender, "race": race})
        for gender, race in itertools.product(range(2), range(3))
    ]
    least = min(alteration.value(one, metric) for one in releases if one.min_k >= k)
    best = find_best_levels(classes, metric, k)
    assert best.alteration == least and best.recoding.min_k >= k


@examples(30)
@given(tables(), st.integers(2, 3))
def test_with_too_many_classes_the_best_known_is_given_and_said_to_be_no_more(classes, k):
    if classes.n_records < k:
        return
    metric = metric_named("total")
    exact = find_best_recoding(classes, metric, k)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(optimum, "MOST_CLASSES", 1)
        known = find_best_recoding(classes, metric, k)
    assert not known.proven and known.recoding.min_k >= k
    assert known.alteration >= exact.alteration


# --- A set of every kind, by hand ---------------------------------------------------------------
@pytest.fixture(scope="module")
def by_hand():
    return exercises_of(GIVEN)


def mark(exercises, name, answer):
    (question,) = [each for each in exercises.questions if each.id == name]
    return question.mark(exercises.get_table(question), answer)


def recoded(*races):
    return [{"race": race} for race in races]


def test_recoding_by_hand(by_hand):
    """Of 5 records all at the root cost 3 · 4 + 2 · 4 = 20; three raised to Felid cost 3: 15 %."""
    best = mark(by_hand, "recode", recoded("Felid", "Felid", "Felid", "Dog", "Dog"))
    assert best.share == 1
    assert best.sentence == (
        "The table is 2-anonymous with an alteration of 15.0 %, the least possible."
    )
    root = mark(by_hand, "recode", recoded(*["Mammal"] * 5))
    assert root.share == 0
    assert root.sentence == (
        "The table is 5-anonymous with an alteration of 100.0 %, where 15.0 % is the least "
        "possible."
    )
    further = mark(by_hand, "recode", recoded("Felid", "Felid", "Felid", "Mammal", "Mammal"))
    assert further.share == pytest.approx((100 - 55) / 85), "3 + 8 of 20 are lost"


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (recoded("Cat", "Cat", "Lion", "Dog", "Dog"), "the class (Lion) has 1 record"),
        (recoded("Cat", "Felid", "Felid", "Dog", "Dog"), "Records 1 and 2 look the same"),
        (recoded("Cat", "Cat", "Cat", "Dog", "Dog"), "Record 3: in the tree of 'race', 'Cat' is"),
        (recoded("Bird", "Cat", "Cat", "Dog", "Dog"), "Record 1: 'Bird' is not in the tree"),
        (recoded("Cat"), "a list of 5 records"),
        ([{"race": "Cat", "name": "*"}] * 5, "Record 1 must have a value for each of 'race'"),
        ([None] * 5, "Record 1 must have a value for each of 'race'"),
        ("Felid", "a list of 5 records"),
        (recoded(1, 1, 1, 1, 1), "Record 1: '1' is not in the tree"),
        (recoded(["Cat"], 1, 1, 1, 1), "Record 1: '['Cat']' is not in the tree"),
    ],
)
def test_a_recoding_that_is_not_allowed_gets_no_points_and_a_reason(by_hand, answer, part):
    found = mark(by_hand, "recode", answer)
    assert found.share == 0 and part in found.sentence


def test_a_rounding_makes_no_answer_worse_than_the_optimum():
    exercises = exercises_of(GIVEN)
    made, question = exercises.made["t"], exercises.questions[0]
    best = question.best(made)
    rounded = replace(best, alteration=best.alteration * (1 - 1e-14))
    made._results[("recoding", "custom", 2)] = rounded
    found = mark(exercises, "recode", recoded("Felid", "Felid", "Felid", "Dog", "Dog"))
    assert found.share == 1 and found.sentence.endswith("15.0 %, the least possible.")


def test_levels_by_hand(by_hand):
    """Level 1 leaves dogs as they are: the levels are as good as any recoding here."""
    assert mark(by_hand, "levels", {"race": 1}).share == 1
    assert mark(by_hand, "levels", {"race": 0}).sentence == (
        "Not 2-anonymous: the class (Lion) has 1 record."
    )
    assert mark(by_hand, "levels", {"race": 2}).share == 0
    assert mark(by_hand, "levels", {"race": 3}).sentence == (
        "The column 'race' has no level 3; its levels are 0 to 2."
    )
    for wrong in ({"race": "1"}, {"race": True}, {}, {"race": 1, "name": 1}, [1], 1):
        assert "one level (a whole number) for each of 'race'" in (
            mark(by_hand, "levels", wrong).sentence
        )


@pytest.mark.parametrize(
    ("more", "right", "near", "off"),
    [
        ({"number": "k"}, 1, 1, 2),
        ({"number": "classes"}, 3, 3, 2),
        ({"number": "unique"}, 1, 1.0, 0),
        ({"number": "alteration", "metric": "custom", "levels": {"race": 1}}, 15, 15.05, 15.1),
        ({"number": "alteration"}, 0, 0.05, 0.1),
        ({"number": "entropy-l", "levels": {"race": 2}}, 1.649385, 1.65, 1.7),
        ({"number": "distinct-l", "levels": {"race": 2}}, 2, 2, 3),
        ({"number": "t", "levels": {"race": 1}}, 0.2, 0.24, 0.26),
        ({"number": "classes", "tolerance": 1}, 3, 4, 5),
    ],
)
def test_numbers_by_hand(more, right, near, off):
    """Of 4 colds and a flu: entropy l = exp(0.5004); dogs have only colds: t = 1/5."""
    question = {"id": "n", "table": "t", "kind": "number", **more}
    exercises = exercises_of(GIVEN | {"questions": [question]})
    (question,) = exercises.questions
    assert question.solution(exercises.made["t"]) == pytest.approx(right, abs=1e-6)
    assert mark(exercises, "n", near).share == 1
    assert mark(exercises, "n", off).share == 0
    for beyond in (float("nan"), float("inf"), 10**400):
        assert mark(exercises, "n", beyond).sentence == "The answer must be a finite number."
    assert mark(exercises, "n", "1").sentence == "The answer must be a number."
    assert mark(exercises, "n", True).share == 0


def test_choices_by_hand(by_hand):
    """The lion is alone. To the cats it costs 1 + 2 · 1 = 3, to the dogs 4 + 2 · 4 = 12."""
    assert mark(by_hand, "smallest", ["Lion"]).sentence == "Right: (Lion) is the smallest."
    assert mark(by_hand, "smallest", ["Cat"]).sentence == "It is (Lion), the smallest, not (Cat)."
    assert mark(by_hand, "partner", ["Cat"]).sentence == "Right: (Cat) is the cheapest."
    assert mark(by_hand, "partner", ["Dog"]).share == 0
    for wrong in (["Lion"], "Cat", ["Bird"], [["Cat"]], 3, {"Cat": 1}):
        found = mark(by_hand, "partner", wrong)
        assert found.share == 0 and "one of the classes" in found.sentence


def test_ties_are_as_good():
    records = [[name, race, "cold"] for name, race in (("A", "Dog"), ("B", "Cat"), ("C", "Lion"))]
    table = TABLE | {"records": records}
    exercises = exercises_of(GIVEN | {"tables": {"t": table}, "questions": QUESTIONS[3:]})
    assert mark(exercises, "smallest", ["Cat"]).sentence == "Right: (Cat) is one of the smallest."
    assert "(Dog) is as good as (Cat)" in mark(exercises, "smallest", ["Dog"]).sentence


# --- Laws ---------------------------------------------------------------------------------------
@examples(60)
@given(
    st.lists(st.sampled_from(["Cat", "Lion", "Dog"]), min_size=2, max_size=9),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
)
def test_no_allowed_answer_is_better_than_the_optimum_which_has_all_points(races, up):
    table = TABLE | {"records": [["A", race, "cold"] for race in races]}
    exercises = exercises_of(GIVEN | {"tables": {"t": table}, "questions": QUESTIONS[:2]})
    made = exercises.made["t"]
    for question in exercises.questions:
        assert question.mark(made, question.solution(made)).share == 1
    tree = made.classes.hierarchies[0]
    paths = {race: tree.path(tree.node_of[race]) for race in ("Cat", "Lion", "Dog")}
    raising = dict(zip(paths, up, strict=True))
    answer = [
        {"race": tree.labels[paths[race][min(raising[race], len(paths[race]) - 1)]]}
        for race in races
    ]
    found = mark(exercises, "recode", answer)
    sizes = Counter(each["race"] for each in answer)
    is_root = sizes.keys() == {"Mammal"}
    assert found.share == 0 or min(sizes.values()) >= 2
    assert 0 <= found.share <= 1 and (found.share > 0 or is_root or min(sizes.values()) < 2)
    if found.share:
        question = exercises.questions[0]
        release = question.read(made, answer)
        altered = alteration.value(release, metric_named("custom"))
        assert altered >= question.best(made).alteration
        assert (found.share == 1) == (altered == question.best(made).alteration)


@examples(30)
@given(tables(), st.integers(0, 3))
def test_what_gaa_does_is_among_the_right_choices(classes, merges):
    rows = [
        [GENDER.labels[gender], RACE.labels[race]]
        for (gender, race), count in zip(classes.nodes, classes.counts, strict=True)
        for _ in range(count)
    ]
    columns = {
        name: {"role": "quasi-identifier", "nodes": nodes}
        for name, nodes in (("gender", _nodes(GENDER)), ("race", _nodes(RACE)))
    }
    content = GIVEN | {
        "tables": {"t": {"columns": columns, "records": rows}},
        "questions": [
            {"id": choose, "table": "t", "kind": "choice", "choose": choose, "merges": merges}
            for choose in ("smallest", "partner")
        ],
    }
    try:
        exercises = exercises_of(content)
    except ExerciseError as error:
        assert "nothing is left to merge" in error.sentence
        return
    made = exercises.made["t"]
    for question in exercises.questions:
        taken = question.solution(made)
        found = question.mark(made, taken)
        assert found.share == 1 and found.sentence.startswith("Right: ")
        assert tuple(taken) in question.options(made) and tuple(
            taken
        ) in question._list_right_choices(made)


def _nodes(tree):
    return [{"name": label, "parent": parent} for label, parent, _ in tree.entries()]


# --- The built-in set ---------------------------------------------------------------------------
def test_the_built_in_set_is_what_its_generator_writes(tmp_path, capsys):
    generate = generator()
    assert generate.main(["--check"]) == 0, capsys.readouterr().out
    assert generate.main(["--check"], folder=tmp_path) == 1
    assert generate.main([], folder=tmp_path) == 0
    assert (tmp_path / generate.NAME).read_bytes() == BUILT_IN.read_bytes()


def generator() -> ModuleType:
    path = ROOT / "sample_data" / "exercises" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate_exercises", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_built_in_question_has_an_answer_that_gets_all_points():
    exercises = read_exercises(BUILT_IN)
    kinds = {question.kind for question in exercises.questions}
    assert kinds == {"recode", "levels", "number", "choice"}
    answers = {}
    for question in exercises.questions:
        table = exercises.get_table(question)
        answers[question.id] = question.solution(table)
        assert question.describe_task(table).strip()[-1] in ".?" and question.describe_solution(
            table
        ).endswith(".")
        assert question.kind != "recode" or question.best(table).proven
    scored = mark_answers(exercises, sent(exercises, answers))
    assert [mark.share for mark in scored] == [1] * len(exercises.questions)


# --- Files --------------------------------------------------------------------------------------
def sent(exercises, answers, student="Chi"):
    """Answers as they come back from a file."""
    given = Answers(set=exercises.fingerprint, student=student, answers=answers)
    return read_answers(given.to_json().encode())


def test_a_set_and_answers_come_back_from_their_files_as_they_were(by_hand):
    again = read_exercises(by_hand.to_json().encode())
    assert again == by_hand and again.fingerprint == by_hand.fingerprint
    assert re.fullmatch("[0-9a-f]{16}", again.fingerprint)
    other = exercises_of(GIVEN | {"title": "Another"})
    assert other.fingerprint != by_hand.fingerprint
    answers = {"recode": recoded("Felid", "Felid", "Felid", "Dog", "Dog"), "k": 1.0}
    assert sent(by_hand, answers).answers == answers


def test_a_set_holds_no_answers(by_hand):
    assert "Felid" in by_hand.to_json()
    assert not {"answer", "answers", "solution"} & {
        key for question in by_hand.model_dump()["questions"] for key in question
    }


def test_scores_by_hand(by_hand):
    answers = {"recode": recoded(*["Mammal"] * 5), "k": 1, "partner": ["Dog"], "levels": None}
    scored = mark_answers(by_hand, sent(by_hand, answers))
    points = [one.points * mark.share for one, mark in zip(by_hand.questions, scored, strict=True)]
    assert points == [0, 0, 1, 0, 0] and by_hand.points == 11
    assert [mark.sentence == "Not answered." for mark in scored].count(True) == 2
    two = (sent(by_hand, answers), sent(by_hand, {"k": 1}, "Dee"))
    table = mark_class(by_hand, [(one.student, one.to_json().encode()) for one in two]).files
    assert table["student"].tolist() == ["Chi", "Dee"]
    assert table["question recode"].tolist() == [0, 0]
    assert table["points"].tolist() == [1, 1]
    assert table["percent"].tolist() == [9.1, 9.1]


def test_answers_to_another_set_are_told_and_stop_nobody_else(by_hand):
    good = sent(by_hand, {"k": 1})
    other = exercises_of(GIVEN | {"title": "Another"})
    with pytest.raises(ExerciseError, match="to another exercise set"):
        mark_answers(other, good)
    with pytest.raises(ExerciseError, match="a question 'z' that the set does not have"):
        mark_answers(by_hand, sent(by_hand, {"z": 1}))
    files = [
        ("good.json", good.to_json().encode()),
        ("other.json", sent(other, {}).to_json().encode()),
        ("set.json", by_hand.to_json().encode()),
    ]
    table = mark_class(by_hand, files).files
    assert table["file"].tolist() == ["good.json", "other.json", "set.json"]
    assert table["student"].tolist() == ["Chi", "Chi", ""]
    assert table["problem"].tolist()[0] == ""
    assert "another exercise set" in table["problem"][1]
    assert "not an answer file" in table["problem"][2]
    assert table["points"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "The answer file is not UTF-8 text."),
        (b" " * (2**20 + 1), "The answer file is 1\u202f048\u202f577 bytes; the limit is"),
        (Path("nowhere.json"), "The answer file cannot be read"),
        (b'{"format": "kanon-answers"}', "The answer file lacks the key set."),
        (
            b'{"format": "kanon-answers", "set": "a", "student": "A", "answers": 3}',
            "Answer file key answers: '3' is not allowed; it has to be an object.",
        ),
    ],
)
def test_a_wrong_file_of_answers_is_refused_in_one_sentence(content, sentence):
    with pytest.raises(ExerciseError) as told:
        read_answers(content)
    assert told.value.sentence.startswith(sentence), told.value.sentence


# --- The command line ---------------------------------------------------------------------------
@pytest.fixture
def files(tmp_path, by_hand):
    (tmp_path / "set.json").write_text(by_hand.to_json(), "utf-8")
    chi = Answers(set=by_hand.fingerprint, student="=HYPERLINK(1)", answers={"k": 1})
    (tmp_path / "chi.json").write_text(chi.to_json(), "utf-8")
    (tmp_path / "bad.json").write_text("{}", "utf-8")
    return tmp_path


def run(folder, *names, out="scores.csv"):
    paths = [str(folder / name) for name in names]
    return main(["exercises", "score", *paths, "--out", str(folder / out)])


def test_the_command_line_marks_a_class(files, capsys):
    assert run(files, "set.json", "chi.json", "bad.json") == 0
    said = capsys.readouterr()
    first, *lines = said.out.splitlines()
    assert first == "1 file marked, on average 9.1 % of 11 points"
    assert [line[0] for line in lines] == list("12345")
    assert lines[2] == (
        "3 The k of the table: 1 of 1 on average, 1 answered, 1 right; most often 1 (1 of 1)"
    )
    assert "bad.json' was not marked: This is not an answer file" in said.err
    table = pd.read_csv(files / "scores.csv")
    assert table["student"].tolist()[0] == "'=HYPERLINK(1)", "no formula for a spreadsheet"
    assert table["points"].tolist()[0] == 1 and table["problem"].isna().tolist() == [True, False]


def test_the_command_line_refuses_what_it_cannot_mark_and_writes_nothing(files, capsys):
    assert run(files, "chi.json", "chi.json") == 2
    assert "named for two purposes" in capsys.readouterr().err
    assert run(files, "bad.json", "chi.json") == 2
    assert "not an exercise file" in capsys.readouterr().err
    assert run(files, "set.json", "chi.json", out="chi.json") == 2
    assert run(files, "set.json", "chi.json", out="no/such.csv") == 2
    assert not (files / "scores.csv").exists()
    assert "=HYPERLINK" in (files / "chi.json").read_text("utf-8")


def test_the_files_that_the_documentation_shows_can_be_marked():
    text = (ROOT / "docs" / "how-to" / "exercises.md").read_text("utf-8")
    exercises, answers, more = (part.split("```")[0] for part in text.split("```json")[1:])
    scored = mark_answers(read_exercises(exercises.encode()), read_answers(answers.encode()))
    assert [mark.share for mark in scored] == [1]
    exam = json.loads(answers) | {"version": 2} | json.loads(f"{{{more}}}")
    assert read_answers(json.dumps(exam).encode()).is_as_handed_in
