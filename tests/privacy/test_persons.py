"""k in persons: by hand, by laws, by pandas on the rows, and refused where it cannot be counted."""

import json
import random
import warnings
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.solution import run_for_every_k
from kanon.base.progress import ignore_progress
from kanon.charts.decision import draw_decision
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, PrivacyWarning, ReleaseError, Unsatisfiable
from kanon.experiments.advisor.repetition import sample_classes
from kanon.experiments.exploration import measure_lattice
from kanon.experiments.sweep import sweep
from kanon.notebook import every_k
from kanon.plan import Plan
from kanon.privacy.persons import KInPersons
from kanon.privacy.reidentification import marketer, prosecutor
from kanon.release.check import check_release
from kanon.release.common_classes import Release
from kanon.release.composition import combine_releases
from kanon.release.context import Context
from kanon.release.decision import compare_with_thresholds, measure_reached_levels
from kanon.report.explanations import describe_check_verdict, describe_plainly, list_guarantees
from kanon.run import prepare, run
from kanon.sources.addresses import Address
from kanon.sources.histograms import build_person_histogram
from kanon.sources.stored import open_stored
from support.plans import plan_content, qi, qi_with
from support.random_tables import examples

FIVE_OF_ONE = pd.DataFrame(
    {
        "patient": ["Ana"] * 5 + ["Ben", "Cyd", "Dan", "Eve", "Fay"],
        "town": ["Ulm"] * 5 + ["Horb"] * 5,
        "ill": list("fcffc") + list("fcafc"),
    }
)
"""Two classes of five records; all of one are of Ana."""


def plan(k=5, algorithm="gaa", person="patient", **keys):
    """A plan for tables of patients in towns."""
    content = (
        plan_content(
            {"patient": {"role": "identifier"}, "town": qi(), "ill": {"role": "sensitive"}},
            k,
            algorithm,
        )
        | keys
    )
    return Plan.from_content(content | ({"person": person} if person else {}))


def quiet(wanted, table):
    """A run without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return run(wanted, table)


def fewest(table, columns, person="patient"):
    """The fewest persons of a class, counted row by row."""
    found = defaultdict(set)
    for place, who in zip(table[columns].itertuples(index=False), table[person], strict=True):
        found[place].add(who)
    return min(map(len, found.values()), default=None)


# --- by hand --------------------------------------------------------------------------------
def test_five_records_of_one_person_are_k_5_in_records_and_k_1_in_persons():
    with pytest.warns(
        PrivacyWarning, match="has 5 records, but at least one class has records of only 1 person"
    ):
        blind = run(plan(person=None), FIVE_OF_ONE)
    assert blind.measures["min_k"] == 5 and "min_persons" not in blind.measures
    assert [str(one) for one in blind.released()["town"].unique()] == ["Horb", "Ulm"]
    (remark,) = blind.remarks
    assert (remark.kind, remark.column, remark.share) == ("several-records", "patient", 0.5)
    assert "50.0 % of the released records are in classes with fewer than 5 persons" in remark.found


def test_the_check_of_the_rows_finds_the_class_of_one_person():
    rows = FIVE_OF_ONE.drop(columns="patient")
    records, persons = check_release(rows, plan(), None, FIVE_OF_ONE["patient"])
    assert (records.level, records.holds) == (5, True)
    assert (persons.model, persons.column, persons.level, persons.holds) == (
        "k-in-persons", "patient", 1, False,
    )  # fmt: skip
    assert persons.sentence == "k-in-persons (k = 5) for 'patient': 1 in the worst class"


@pytest.mark.parametrize("known", ["AB", "BA"])
def test_records_of_nobody_known_are_of_one_person_more(known):
    rows = pd.DataFrame({"town": list("UUHHHH"), "ill": list("fcfcfc")})
    whose = pd.Series([known[0], None, known[1], None, None, None], dtype=object)
    _, persons = check_release(rows, plan(k=2), None, whose)
    assert (persons.level, persons.holds) == (2, True)


def test_a_run_that_knows_the_persons_merges_the_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = run(plan(), FIVE_OF_ONE)
    assert set(done.released()["town"]) == {"*"} and "patient" not in done.released().columns
    assert (done.measures["min_k"], done.measures["min_persons"]) == (10, 6)
    assert done.measures["prosecutor"]["highest"] == 1 / 6
    assert [verdict.level for verdict in done.verdicts] == [10, 6]
    assert done.remarks == ()


def test_a_class_of_one_record_more_is_not_enough_where_a_person_is_in_both():
    """Ana and Ben are in both towns: together they are two, not four."""
    table = pd.DataFrame({"patient": list("ABAB"), "town": list("UUHH"), "ill": list("fcfc")})
    done = quiet(plan(k=2), table)
    assert sorted(done.released()["town"].unique()) == ["H", "U"]
    with pytest.raises(Unsatisfiable) as refused:
        run(plan(k=3), table)
    assert "in persons" in str(refused.value) and "about 2 persons" in str(refused.value)


def test_the_persons_of_a_class_hide_each_other_and_its_records_do_not():
    """f = 1 and 2 of the 5 and 3 records: 5 · 1 + 3 · 1/2 of 8 are recognised."""
    who = build_person_histogram("who", pd.Series(list("AAAAABCB")), np.array([0] * 5 + [1] * 3), 2)
    nodes = np.zeros((2, 0), dtype=np.int32)
    classes = EquivalenceClasses((), (), nodes, np.array([5, 3]), persons=who)
    assert (classes.min_k, classes.min_persons, classes.hiding.tolist()) == (3, 1, [1, 2])
    risk = prosecutor(classes)
    assert (risk.highest, risk.mean, risk.share_above) == (1.0, 6.5 / 8, 1.0)
    assert marketer(classes, np.array([1, 2])) == 6.5 / 8  # five records, one person of the world


def test_numbers_and_texts_of_one_person_are_one_person():
    table = FIVE_OF_ONE.assign(
        patient=pd.Series([7, 7.0, "7", " 7", "7.0", *"bcdef"], dtype=object)
    )
    assert quiet(plan(k=6), table).measures["min_persons"] == 6
    with pytest.raises(Unsatisfiable, match="are about 6 persons"):
        run(plan(k=7), table)


def test_the_report_says_that_k_is_in_persons():
    done = quiet(plan(), FIVE_OF_ONE)
    records, persons = list_guarantees(done)
    assert (persons.required, persons.reached, persons.unit) == (
        "k-anonymity in persons with k = 5 for 'patient'", "6", "persons",
    )  # fmt: skip
    assert records.reached == "10"
    assert (
        "the released rows, with persons from the table, shows that every class"
        in describe_check_verdict(done, (records, persons))
    )
    assert describe_plainly(done)[0].startswith(
        "For each record, anyone who knows the quasi-identifiers sees at least 5"
    )


# --- laws -----------------------------------------------------------------------------------
PATIENTS = st.lists(
    st.tuples(st.sampled_from("ABCDEF"), st.sampled_from("stuvw"), st.sampled_from("fc")),
    min_size=3,
    max_size=20,
)


def as_table(records):
    return pd.DataFrame(records, columns=["patient", "town", "ill"])


@given(PATIENTS, st.integers(2, 4), st.sampled_from(["gaa", "gaa-small", "k-member", "mondrian"]))
@examples(30)
def test_every_class_holds_k_persons_or_the_table_has_too_few(records, k, algorithm):
    table = as_table(records)
    if table["patient"].nunique() < k:
        with pytest.raises(Unsatisfiable):
            run(plan(k, algorithm), table)
        return
    done = quiet(plan(k, algorithm), table)
    rows = done.released(order="table").assign(patient=table["patient"])
    assert fewest(rows, ["town"]) == done.measures["min_persons"] >= k
    assert all(verdict.holds for verdict in done.verdicts)


@given(
    st.lists(st.tuples(st.sampled_from("stuvw"), st.sampled_from("fc")), min_size=4, max_size=20),
    st.integers(2, 4),
)
@examples(30)
def test_where_each_person_has_one_record_it_is_k_anonymity(records, k):
    table = pd.DataFrame(records, columns=["town", "ill"])
    table["patient"] = [f"P{n}" for n in range(len(table))]
    known, blind = quiet(plan(k), table), quiet(plan(k, person=None), table)
    pd.testing.assert_frame_equal(known.released(), blind.released())
    assert known.measures["min_persons"] == known.measures["min_k"] == blind.measures["min_k"]
    assert known.prepared.task().others == (), "no path is left for what holds anyway"


@given(PATIENTS, st.randoms())
@examples(30)
def test_merging_never_lowers_the_persons_and_order_and_names_say_nothing(records, chance):
    table = as_table(records)
    wanted = plan(2)
    classes = prepare(wanted, table).classes
    group = np.array([chance.randrange(2) for _ in range(classes.n_classes)])
    _, group = np.unique(group, return_inverse=True)
    size = int(group.max()) + 1
    counts = np.bincount(group, classes.counts, size).astype(np.int64)
    nodes = np.zeros((size, 1), dtype=np.int32)
    merged = classes.regrouped(
        nodes, counts, [each.grouped(group, size) for each in classes.histograms]
    )
    model = KInPersons(2, "patient")
    assert model.level(merged) >= model.level(classes) == fewest(table, ["town"])
    order = chance.sample(range(len(table)), len(table))
    named = table.iloc[order].assign(patient=lambda rows: "Dr " + rows["patient"])
    assert prepare(wanted, named).classes.hiding.tolist() == classes.hiding.tolist()


@given(PATIENTS)
@examples(25)
def test_the_check_counts_what_a_walk_over_the_rows_counts(records):
    table = as_table(records)
    rows = table.drop(columns="patient")
    verdict = check_release(rows, plan(2), None, table["patient"])[-1]
    assert verdict.level == fewest(table, ["town"]) and verdict.holds is (verdict.level >= 2)


# --- every algorithm, every k ---------------------------------------------------------------
def visits(seed=3):
    """Sixty records of twenty persons, most of them with several, some at several places."""
    draw = random.Random(seed)
    ages = [draw.randint(20, 79) for _ in range(20)]
    who = [draw.randrange(20) for _ in range(60)]
    return pd.DataFrame(
        {
            "patient": [f"P{n}" for n in who],
            "age": [ages[n] + draw.choice([0, 0, 0, 1]) for n in who],
            "place": [draw.choice([101, 102, 111, 112, 201]) for _ in who],
        }
    )


def visited(algorithm, k=3, **keys):
    """A plan for those."""
    own = {"node": {"age": 2, "place": 2}} if algorithm == "levels" else {}
    trees = {
        "age": {"build": "intervals", "widths": [10, 30]},
        "place": {"build": "mask", "keep": [2, 1]},
    }
    columns = {name: qi_with(tree) for name, tree in trees.items()}
    return Plan.from_content(
        plan_content(
            {**columns, "patient": {"role": "identifier"}},
            k,
            {"name": algorithm, **own},
            person="patient",
        )
        | keys
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("algorithm", sorted({*algorithms()} - {"mdav", "optimal-local"}))
def test_every_algorithm_that_can_count_persons_reaches_k_of_them(algorithm):
    table = visits()
    suppressed = "keep" if algorithm in ("datafly", "ola", "levels") else "leave-out"
    keys = {} if algorithm == "mingen" else {"suppression_limit": 0.1}
    done = quiet(visited(algorithm, suppressed=suppressed, **keys), table)
    rows = done.released(order="table")
    rows = rows.assign(patient=table["patient"].loc[rows.index])
    if suppressed == "keep":
        rows = rows[rows["suppressed"] == 0]
    assert len(table) - len(rows) == done.measures["suppressed"] <= 6
    assert fewest(rows, ["age", "place"]) >= 3
    assert all(verdict.holds for verdict in done.verdicts)


@pytest.mark.parametrize("algorithm", ["samarati", "ola", "flash", "incognito", "optimal"])
def test_a_search_that_suppresses_finds_what_counting_every_node_finds(algorithm):
    """A class of too few persons is made of such classes: so what is tagged holds."""
    table, wanted = visits(), visited(algorithm, suppression_limit=0.15)
    prepared = prepare(wanted, table)
    lattice, meets = Lattice(prepared.task(), 9, ignore_progress), {}
    for node in lattice.nodes():
        tuples = lattice.targets(node)[prepared.source.row_class].tolist()
        seen = table.assign(place=list(map(tuple, tuples))).groupby("place")["patient"]
        meets[node] = int((seen.transform("nunique") < 3).sum()) <= 9
    assert 0 < sum(meets.values()) < len(meets)
    found = quiet(wanted, table)
    node = found.recoding.trace.node
    assert meets[node] and not any(meets[below] for below in lattice.list_nodes_below(node))
    assert found.measures["suppressed"] <= 9


@pytest.mark.parametrize("limit", [0, 9])
def test_what_a_node_of_the_lattice_reaches_and_suppresses_is_in_persons(limit):
    table = visits()
    prepared = prepare(visited("samarati"), table)
    task = replace(prepared.task(), suppression=limit)
    found, lattice = (
        measure_lattice(ignore_progress, task).assessment,
        Lattice(task, limit, ignore_progress),
    )
    in_records = []
    for place, (node, reached) in enumerate(zip(found.nodes.tolist(), found.reached, strict=True)):
        tuples = lattice.targets(tuple(node))[prepared.source.row_class].tolist()
        of_class = table.assign(place=list(map(tuple, tuples))).groupby("place")["patient"]
        persons, records = of_class.transform("nunique"), of_class.transform("size")
        assert found.suppressed[place] == (persons < 3).sum(), "where k in records fails too"
        assert found.classes[place] == (of_class.nunique() >= 3).sum()
        possible = [k for k in range(1, 61) if (persons < k).sum() <= limit]
        assert reached == max(k for k in possible if k <= persons.max())
        in_records.append(max(k for k in range(1, 61) if (records < k).sum() <= limit))
    assert found.reached.tolist() != in_records


def test_one_run_serves_k_in_persons_up_to_the_number_of_persons():
    table = visits()
    prepared = prepare(visited("gaa"), table)
    task = prepared.check()
    assert task.classes.highest_k == table["patient"].nunique()
    for k, recoding in run_for_every_k(lambda *_: None, "gaa", task, [2, 5, 9]).items():
        again = quiet(visited("gaa", k), table)
        assert recoding.nodes.tolist() == again.recoding.nodes.tolist()
        assert recoding.released.min_persons >= k
    curves = sweep(visited("gaa"), table, [3, 7], ["nllm"])
    lost = [quiet(visited("gaa", k), table).measures["alteration"]["nllm"] for k in (3, 7)]
    assert curves["alteration_nllm"].tolist() == pytest.approx(lost)
    with pytest.raises(Unsatisfiable, match="cannot be reached in persons"):
        sweep(visited("gaa"), table, [3, 50], ["nllm"])
    assert max(every_k(visited("gaa"), table).solution.known) <= task.classes.highest_k


def test_the_k_of_every_model_is_in_persons_and_shares_are_of_records():
    """Four records of Ana: α counts them, k does not."""
    asked = [{"model": "alpha-k-anonymity", "alpha": 0.7, "k": 6}]
    wanted = plan(2, privacy=asked)
    assert (wanted.k, wanted.models[-1]) == (6, KInPersons(6, "patient"))
    assert wanted.with_k(3).models[-1].k == 6 and plan(2).with_k(9).models[-1].k == 9
    assert prepare(wanted, FIVE_OF_ONE).task().for_k(2).models[-1].k == 6
    assert quiet(wanted, FIVE_OF_ONE).measures["min_persons"] == 6
    with pytest.raises(Unsatisfiable, match="cannot be reached in persons"):
        run(plan(privacy=[{**asked[0], "k": 7}]), FIVE_OF_ONE)


# --- what is refused ----------------------------------------------------------------------------
def test_a_column_that_the_table_lacks_and_records_of_nobody():
    with pytest.raises(PlanError, match="The table has no column 'patient'"):
        run(plan(), FIVE_OF_ONE.drop(columns="patient"))
    lacking = FIVE_OF_ONE.assign(patient=[None, *FIVE_OF_ONE["patient"][1:]])
    with pytest.raises(PlanError) as refused:
        run(plan(), lacking)
    assert str(refused.value) == (
        "1 record has no value in 'patient', the column that identifies the person: fill "
        "it in, or leave those records out."
    )
    gone = lacking.assign(town=[None, *FIVE_OF_ONE["town"][1:]])
    drops = plan(read={"missing": "drop-records"})
    assert quiet(drops, gone).measures["dropped"] == 1, "nobody asks whom a dropped record is about"


def test_what_cannot_count_persons_says_so(tmp_path):
    table = FIVE_OF_ONE.assign(town=[10] * 5 + [20] * 5)
    bare = plan().model_dump(exclude_none=True)
    bare["columns"]["town"].pop("hierarchy")
    bare["algorithm"] = {"name": "mdav"}
    with pytest.raises(PlanError, match="MDAV only counts records, so it cannot"):
        run(Plan.from_content(bare), table)
    thorough = plan(algorithm="lattice-sweep").model_dump(exclude_none=True)
    thorough["algorithm"] = {"name": "lattice-sweep", "effort": "thorough"}
    for own in (thorough["algorithm"], {"name": "optimal-local"}):
        with pytest.raises(PlanError, match="it cannot meet k-anonymity in persons"):
            run(Plan.from_content({**thorough, "algorithm": own}), FIVE_OF_ONE)
    done = quiet(plan(), FIVE_OF_ONE)
    with pytest.raises(PlanError, match="remove the key 'person' from the plans"):
        combine_releases([Release.from_run(done)], FIVE_OF_ONE)
    FIVE_OF_ONE.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(PlanError, match="only for a table in memory; add --engine memory"):
        run(plan(), open_stored(Address(str(tmp_path / "t.parquet"))))
    with pytest.raises(ReleaseError, match="does not show which records belong to one person"):
        check_release(done.released(), plan())
    with pytest.raises(ReleaseError, match="could not be checked"):
        check_release(done.released(), plan(), None, FIVE_OF_ONE["patient"][1:])
    with pytest.raises(ValueError, match="counted without persons"):
        KInPersons(2, "patient").levels(prepare(plan(person=None), FIVE_OF_ONE).classes)


def test_persons_of_other_classes_are_never_taken_along():
    """Whoever regroups classes and forgets the persons is told, not believed."""
    classes = prepare(plan(), FIVE_OF_ONE).classes
    with pytest.raises(ValueError, match="to other classes"):
        replace(classes, nodes=classes.nodes[:1], counts=classes.counts[:1], sensitive=())
    again = sample_classes(classes, seed=1)
    assert again.persons.n_classes == again.n_classes
    assert again.persons.sizes.tolist() == again.counts.tolist()


def test_pseudonyms_say_themselves_who_is_who():
    labels = plan().model_dump(mode="json", exclude_none=True)
    labels["columns"]["patient"]["pseudonym"] = True
    done = quiet(Plan.from_content(labels), FIVE_OF_ONE)
    assert check_release(done.released(), done.prepared.plan)[-1].level == 6
    one = done.released().assign(patient="P_1")
    assert not check_release(one, done.prepared.plan)[-1].holds


# --- the command line -----------------------------------------------------------------------
def test_measure_counts_persons(kanon, folder):
    FIVE_OF_ONE.to_csv(folder / "visits.csv", index=False)
    asked = ["measure", "--table", "visits.csv", "--qi", "town", "--json"]
    found = json.loads(kanon(*asked, "--person", "patient").out)
    assert (found["min_k"], found["min_persons"]) == (5, 1)
    assert found["unique_persons"] == 1, "all records of a town are of one person"
    assert "min_persons" not in json.loads(kanon(*asked).out)
    engine = kanon(*asked, "--person", "patient", "--engine", "duckdb")
    assert json.loads(engine.out)["min_persons"] == 1
    assert "is also named by --qi or --sensitive" in kanon(*asked, "--person", "town").err
    assert "no column 'nobody'" in kanon(*asked, "--person", "nobody").err


def test_run_says_and_writes_the_fewest_persons(kanon, folder):
    FIVE_OF_ONE.to_csv(folder / "visits.csv", index=False)
    (folder / "persons.json").write_text(plan().to_json(), "utf-8")
    said = kanon(
        "run", "persons.json", "--table", "visits.csv", "--out", "out.csv", "--measures", "M.json"
    )
    assert "the smallest of 10 records, at least 6 persons in each class" in said.out
    assert json.loads((folder / "M.json").read_text("utf-8"))["min_persons"] == 6


# --- the verdict ----------------------------------------------------------------------------
@pytest.mark.parametrize("suppressed", ["leave-out", "keep"])
def test_a_verdict_counts_persons_of_those_who_look_alike(suppressed):
    done = quiet(visited("datafly", suppressed=suppressed, suppression_limit=0.1), visits())
    reached = measure_reached_levels(done)
    rows = visits().assign(at=done.prepared.source.row_class)
    rows["at"] = done.recoding.assigned[rows["at"]]
    persons = rows[rows["at"] >= 0].groupby("at")["patient"].nunique()
    assert reached.levels["k", ""] == persons.min() and reached.of == "persons"
    assert reached.levels["highest_risk", ""] == pytest.approx(persons.min())
    decision = compare_with_thresholds(Context(release="public"), reached)
    (first, *_) = decision.parts
    assert "persons alike" in {y for one in draw_decision(decision, "").data for y in one.y}
    assert first.sentence.startswith(f"at least {persons.min()} persons look alike")
    assert first.unit == "persons"
    blind = quiet(visited("gaa").model_copy(update={"person": None}), visits())
    assert measure_reached_levels(blind).of == "records"
