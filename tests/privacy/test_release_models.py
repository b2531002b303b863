"""Models of the whole release: every algorithm, by pandas alone; laws; the checks that recount."""

import math
import random
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import gaa, lattice_sweep
from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.solution import run_algorithm
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import KanonError, PlanError, PrivacyWarning, TableError, Unsatisfiable
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.privacy.average_risk import AverageRisk
from kanon.privacy.delta_presence import DeltaPresence
from kanon.privacy.k_map import KMap
from kanon.privacy.known_columns import KAmongKnown
from kanon.privacy.plans import OF_RELEASE
from kanon.privacy.records_at_risk import RecordsAtRisk
from kanon.privacy.release_model import ReleaseModel
from kanon.recoding import Recoding
from kanon.release.check import check_release
from kanon.run import prepare, run
from support.laws import check_moves_up
from support.model_tables import source_of, tables
from support.random_tables import examples

QUASI = ["age", "postcode", "children"]
TREES: Mapping[str, Any] = {
    "age": {"build": "intervals", "widths": [10, 30]},
    "postcode": {"build": "mask", "keep": [2, 1]},
    "children": {"build": "suppression"},
}


def people(seed: int = 3, n: int = 40) -> pd.DataFrame:
    draw = random.Random(seed)
    return pd.DataFrame(
        {
            "age": [min(20 + int(draw.expovariate(0.05)), 79) for _ in range(n)],
            "postcode": [draw.choice([101, 102, 111, 112, 113, 201, 202]) for _ in range(n)],
            "children": [draw.choice([0, 0, 0, 1, 1, 2]) for _ in range(n)],
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twice the people of the table, and thirty more."""
    everyone = pd.concat([people(), people(), people(20, 30)])
    everyone.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def build(algorithm: dict[str, Any], *models: dict[str, Any], **more: Any) -> Plan:
    columns = {name: {"role": "quasi-identifier", "hierarchy": TREES[name]} for name in QUASI}
    content = {"version": 2, "columns": columns, "algorithm": algorithm, "privacy": [*models]}
    return Plan.from_content(content | more)


# --- The models, by pandas ----------------------------------------------------------------------
def count_sizes(released: pd.DataFrame) -> pd.Series:
    return released.groupby(QUASI)[QUASI[0]].transform("size")


def fits(label: Any, value: Any, column: str) -> bool:
    """Whether a label covers a value, read from how it is written."""
    label, text = str(label), str(value)
    if label == "*" or column == "children":
        return label in ("*", text)
    if column == "postcode":
        return len(label) == len(text) and all(
            a in ("*", b) for a, b in zip(label, text, strict=True)
        )
    low, _, high = label.partition("-")
    return int(low) <= int(value) <= int(high or low)


def match(released: pd.DataFrame, everyone: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Per class and person whether the person fits; the sizes of the classes."""
    classes = released.groupby(QUASI).size().reset_index(name="n")
    matches = np.ones((len(classes), len(everyone)), dtype=bool)
    for column in QUASI:
        known = {
            (label, value): fits(label, value, column)
            for label, value in product(classes[column].unique(), everyone[column].unique())
        }
        matches &= np.array(
            [[known[label, v] for v in everyone[column]] for label in classes[column]]
        )
    return matches, classes["n"].to_numpy()


def holds_average(released: pd.DataFrame, most: float) -> bool:
    return bool((1 / count_sizes(released)).mean() <= most + 1e-12)


def holds_share(released: pd.DataFrame, above: float, most: float) -> bool:
    return bool((1 / count_sizes(released) > above).mean() <= most + 1e-12)


def holds_known(released: pd.DataFrame, k: int, known: int) -> bool:
    return all(
        released.groupby(list(columns)).size().min() >= k
        for columns in combinations(QUASI, min(known, len(QUASI)))
    )


def holds_map(released: pd.DataFrame, everyone: pd.DataFrame, k: int) -> bool:
    return bool(match(released, everyone)[0].sum(axis=1).min() >= k)


def holds_presence(
    released: pd.DataFrame, everyone: pd.DataFrame, most: float, least: float
) -> bool:
    matches, sizes = match(released, everyone)
    shares = (sizes / np.maximum(matches.sum(axis=1), 1)) @ matches
    shares = np.minimum(shares, 1)
    return bool(shares.max() <= most + 1e-9 and shares.min() >= least - 1e-9)


K2 = {"model": "k-anonymity", "k": 2}
AVERAGE = {"model": "average-risk", "most": 0.06}
AT_RISK = {"model": "records-at-risk", "above": 0.1, "most": 0.02}
KNOWN = {"model": "k-anonymity", "k": 12, "known": 2}
MAP = {"model": "k-map", "k": 24, "population": "people.csv"}
PRESENCE = {"model": "delta-presence", "least": 0.33, "most": 0.4, "population": "people.csv"}
MODELS: Mapping[str, tuple[dict[str, Any], Callable[..., bool]]] = {
    "average": (AVERAGE, holds_average),
    "at-risk": (AT_RISK, holds_share),
    "known": (KNOWN, holds_known),
    "map": (MAP, holds_map),
    "presence": (PRESENCE, holds_presence),
}
REFUSING = {"mondrian": "one part of the records", "mdav": "only counts", "optimal-local": "only c"}
"""The algorithms that do not look at a release as a whole, and what they say."""


def meets(released: pd.DataFrame, name: str, folder: Path) -> bool:
    part, check = MODELS[name]
    limits = {key: value for key, value in part.items() if key not in ("model", "population")}
    if "population" in part:
        everyone = pd.read_csv(folder / "people.csv")
        return check(released, everyone, **limits)
    return check(released, **limits)


def test_every_model_of_a_release_is_here():
    named = {"k-known" if "known" in part else part["model"] for part, _ in MODELS.values()}
    assert named == OF_RELEASE


@pytest.mark.sampled(4)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", [*algorithms()])
def test_a_release_meets_the_model_or_it_is_refused(algorithm, model, folder):
    part, _ = MODELS[model]
    own: dict[str, Any] = {"name": algorithm}
    if algorithm == "levels":
        own["node"] = {"age": 3, "postcode": 3, "children": 1}
    plan = build(own, *([] if model == "known" else [K2]), part, suppression_limit=0)
    table = people()
    if algorithm in REFUSING:
        with pytest.raises(PlanError, match=REFUSING[algorithm]):
            run(plan, table, folder)
        return
    done = run(plan, table, folder)
    released = done.released(order="table")
    assert len(released) == len(table)
    assert meets(released, model, folder)
    assert [verdict.holds for verdict in done.verdicts] == [True] * len(plan.privacy)
    weak = run(build(own, K2, suppression_limit=0), table, folder).released(order="table")
    assert algorithm in ("levels", "datafly") or not meets(weak, model, folder), (
        "the model asks for more"
    )


@pytest.mark.parametrize("model", MODELS)
def test_searches_refuse_to_suppress(model, folder):
    plan = build({"name": "optimal"}, K2, MODELS[model][0], suppression_limit=0.1)
    with pytest.raises(PlanError, match="only if nothing is suppressed"):
        run(plan, people(), folder)


def test_levels_at_which_a_model_fails_are_refused(folder):
    node = {"age": 0, "postcode": 0, "children": 1}
    with pytest.raises(Unsatisfiable, match="At these levels Average risk does not hold"):
        run(build({"name": "levels", "node": node}, AVERAGE, suppression_limit=0), people(), folder)


# --- Levels by definition, and what merging and raising do ----------------------------------------
def make_classes(nodes: np.ndarray, counts: np.ndarray, like: EquivalenceClasses):
    sizes = [tree.n_nodes for tree in like.hierarchies]
    distinct, grouped, _ = group_tuples(nodes.astype(np.int32), counts, sizes)
    return EquivalenceClasses(like.attributes, like.hierarchies, distinct, grouped)


@st.composite
def releases(draw):
    """A random table, its population, and a recoding of it."""
    problem, columns = draw(tables(max_records=16))
    classes = source_of(problem, columns).classes
    classes = replace(classes, sensitive=())
    population = np.concatenate(
        [np.repeat(classes.nodes, classes.counts, axis=0)]
        + [
            [[draw(st.integers(0, tree.n_nodes - 1)) for tree in classes.hierarchies]]
            for _ in range(draw(st.integers(0, 6)))
        ]
    )
    people = make_classes(population, np.ones(len(population), dtype=np.int64), classes)
    return problem, columns, classes, people


def raise_all(draw, classes: EquivalenceClasses) -> np.ndarray:
    """The nodes after raising all records to a random node of the lattice."""
    lattice = Lattice(task_for(classes), 0, ignore_progress)
    node = tuple(draw(st.integers(0, top)) for top in lattice.tops)
    return lattice.targets(node)


def task_for(classes: EquivalenceClasses, *models: ReleaseModel):
    return Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 1, models=models)


def draw_models(draw, people: EquivalenceClasses) -> list[ReleaseModel]:
    share = st.integers(1, 20).map(lambda part: part / 20)
    k = draw(st.integers(2, 5))
    return [
        AverageRisk(draw(share)),
        RecordsAtRisk(above=draw(share), most=draw(share)),
        KAmongKnown(k, draw(st.integers(1, 3))),
        KMap(population="p", people=people, k=k),
        DeltaPresence(population="p", people=people, most=draw(share), least=0.0),
    ]


def covers(classes: EquivalenceClasses, row: np.ndarray, person: np.ndarray) -> bool:
    return all(
        int(high) == int(low) or tree.is_ancestor(int(high), int(low))
        for tree, high, low in zip(classes.hierarchies, row, person, strict=True)
    )


def plain_level(model: ReleaseModel, release: EquivalenceClasses) -> Fraction:
    """The level by its definition, record by record."""
    rows = [tuple(row) for row in np.repeat(release.nodes, release.counts, axis=0).tolist()]
    alike = {row: rows.count(row) for row in rows}
    if isinstance(model, AverageRisk):
        return sum(Fraction(1, alike[row]) for row in rows) / len(rows)
    if isinstance(model, RecordsAtRisk):
        above = Fraction(repr(model.above))
        return Fraction(sum(Fraction(1, alike[row]) > above for row in rows), len(rows))
    if isinstance(model, KAmongKnown):
        m = min(model.known, len(rows[0]))
        return Fraction(
            min(
                sum(all(other[j] == row[j] for j in columns) for other in rows)
                for columns in combinations(range(len(rows[0])), m)
                for row in rows
            )
        )
    people = np.repeat(model.people.nodes, model.people.counts, axis=0)  # type: ignore[attr-defined]
    fitting = {row: sum(covers(release, row, person) for person in people) for row in alike}
    if isinstance(model, KMap):
        return Fraction(min(fitting.values()))
    return max(
        min(
            Fraction(1),
            sum(
                (Fraction(alike[row], fitting[row]) for row in alike if covers(release, row, one)),
                Fraction(0),
            ),
        )
        for one in people
    )


@examples(60, in_gate=10)
@given(releases(), st.data())
def test_levels_are_those_of_the_definition(release, data):
    *_, classes, people = release
    for model in draw_models(data.draw, people):
        level = plain_level(model, classes)
        assert math.isclose(model.compute_level(classes), float(level), abs_tol=1e-9)
        limit = getattr(model, "most", getattr(model, "k", None))
        lower = model.card.direction == "lower"
        holds = level <= Fraction(repr(limit)) if lower else level >= limit
        if isinstance(model, DeltaPresence) and abs(float(level) - limit) < 1e-6:
            continue
        assert model.holds(classes) == holds


@examples(80, in_gate=12)
@given(releases(), st.data())
def test_raising_all_records_never_breaks_a_model(release, data):
    *_, classes, people = release
    for model in draw_models(data.draw, people):
        low = raise_all(data.draw, classes)
        at_low = Recoding.from_targets(classes, low).released
        high = raise_all(data.draw, at_low)
        at_high = Recoding.from_targets(at_low, high).released
        if model.holds(at_low) and model.is_monotone(at_low):
            assert model.holds(at_high), model
        if isinstance(model, KMap | RecordsAtRisk | AverageRisk):  # merging two does not either
            assert not model.holds(at_low) or model.holds(at_high)


def test_merging_two_classes_can_break_k_for_known_columns():
    """(a, x), (a, y), (b, x), (b, y): merging the first and the third leaves a once."""
    table = pd.DataFrame({"age": ["a", "a", "b", "b"], "postcode": ["x", "y", "x", "y"]})
    columns = {
        name: {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}} for name in table
    }
    content = {"version": 2, "columns": columns, "algorithm": {"name": "gaa"}, "privacy": [K2]}
    classes = prepare(Plan.from_content(content), table).classes
    model = KAmongKnown(2, 1)
    assert model.holds(classes)
    nodes = classes.nodes.copy()
    nodes[[0, 2], 0] = classes.hierarchies[0].root
    merged = Recoding.from_targets(classes, nodes).released
    assert not model.holds(merged)
    assert model.compute_level(merged) == 1


@examples(50, in_gate=8)
@given(releases(), st.data())
def test_merging_on_meets_every_model_of_a_release(release, data):
    problem, columns, _, people = release
    source = source_of(problem, columns)
    chosen = data.draw(st.lists(st.sampled_from(draw_models(data.draw, people)), min_size=1))
    task = task_for(source.classes, *chosen)
    whole = source.classes.as_one_class
    before = source.classes.nodes.copy()
    for module in (gaa, lattice_sweep):
        if not all(model.holds(whole) for model in chosen):
            with pytest.raises(Unsatisfiable):
                module.anonymise(task)
            continue
        recoding = module.anonymise(task)
        assert all(model.holds(recoding.released) for model in chosen)
        check_moves_up(task, recoding)
        again = module.anonymise(task)
        assert np.array_equal(recoding.targets, again.targets)
    assert np.array_equal(source.classes.nodes, before)


# --- Several k, with_k, persons -------------------------------------------------------------------
def test_the_slider_moves_the_k_of_known_columns():
    plan = build({"name": "gaa"}, KNOWN)
    assert (plan.k, plan.class_k) == (12, 1)
    higher = plan.with_k(15)
    assert higher.to_json() == build({"name": "gaa"}, {**KNOWN, "k": 15}).to_json()
    both = build({"name": "gaa"}, K2, KNOWN)
    assert (both.k, both.class_k) == (2, 2)
    assert both.with_k(3).models == [*build({"name": "gaa"}, {**K2, "k": 3}, KNOWN).models]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("models", [[KNOWN], [K2, AVERAGE], [K2, KNOWN]])
def test_one_run_serves_every_k(models):
    plan, table = build({"name": "gaa"}, *models), people()
    solution = run_algorithm(
        ignore_progress, "gaa", prepare(plan, table).task(), [metric_named("nllm")]
    )
    assert solution.known is not None and 10 in solution.known
    for k in (2, 5, 10, 20):
        alone = run(plan.with_k(k), table)
        assert np.array_equal(solution.at(k).targets, alone.recoding.targets), k


def test_persons_count_where_k_counts_them():
    table = people().assign(id=[f"p{place // 4}" for place in range(40)])
    columns = {name: {"role": "quasi-identifier", "hierarchy": TREES[name]} for name in QUASI}
    columns["id"] = {"role": "identifier"}
    content = {
        "version": 2, "columns": columns, "algorithm": {"name": "gaa"}, "person": "id",
        "privacy": [K2, {"model": "average-risk", "most": 0.2}],
    }  # fmt: skip
    done = run(Plan.from_content(content), table)
    released = done.released(order="table").assign(id=table["id"])
    persons = released.groupby(QUASI)["id"].transform("nunique")
    assert (1 / persons).mean() <= 0.2 + 1e-12
    assert done.verdicts[1].level == pytest.approx((1 / persons).mean())
    assert all(verdict.holds for verdict in done.verdicts)


# --- Bad input ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"model": "average-risk", "most": 0}, "most"),
        ({"model": "average-risk"}, "most"),
        ({"model": "records-at-risk", "above": 2, "most": 0.1}, "above"),
        ({"model": "k-anonymity", "k": 5, "known": 0}, "known"),
        ({"model": "k-map", "k": 5}, "population"),
        ({"model": "k-map", "k": 5, "population": "absent.csv"}, "does not exist"),
        ({**PRESENCE, "least": 0.6, "most": 0.5}, "least = 0.6 has to be at most most = 0.5"),
    ],
)
def test_a_wrong_part_of_a_plan_is_named(part, message, folder):
    with pytest.raises(KanonError, match=message):
        run(build({"name": "gaa"}, K2, part), people(), folder)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            {**AVERAGE, "most": 0.01},
            "Average risk with most = 0.01 cannot be reached",
        ),
        ({**KNOWN, "k": 41}, "k = 41 cannot be reached"),
        (
            {**MAP, "k": 111},
            "k-map with population = people.csv and k = 111 cannot be reached: .* 110",
        ),
        ({**PRESENCE, "most": 0.3, "least": 0}, "probability of 0.37"),
    ],
)
def test_what_no_release_can_meet_is_refused(part, message, folder):
    with pytest.raises(Unsatisfiable, match=message):
        run(build({"name": "gaa"}, part), people(), folder)


def test_a_table_that_is_no_part_of_the_population(tmp_path):
    people(20, 60).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(TableError, match="everyone in the table to be one of the population, but"):
        run(build({"name": "gaa"}, K2, PRESENCE), people(), tmp_path)
    with pytest.warns(PrivacyWarning, match="have no match in the population 'people.csv'"):
        run(build({"name": "gaa"}, K2, {**MAP, "k": 3}), people(), tmp_path)


# --- The independent checks -----------------------------------------------------------------------
@pytest.mark.parametrize("model", MODELS)
def test_the_check_finds_a_release_that_is_spoiled(model, folder):
    plan = build({"name": "gaa"}, MODELS[model][0])
    done = run(plan, people(), folder)
    released = done.released()
    (verdict,) = check_release(released, plan, people=done.prepared.population_rows)
    assert verdict.holds and verdict.level == pytest.approx(done.verdicts[0].level)
    spoiled = people().astype(str)
    (verdict,) = check_release(spoiled, plan, people=done.prepared.population_rows)
    assert verdict.holds == meets(spoiled, model, folder)
    assert not verdict.holds


def test_known_columns_count_as_sdcmicro_counts():
    """4,580 records: fk of freqCalc is the records that share the key; kAnon(combs=) asks k of it.

    Without missing values both count alike; with them sdcMicro takes NA for everything.
    """
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 4580),
            "postcode": rng.choice([101, 102, 111, 112, 113, 201, 202], 4580),
            "children": rng.choice([0, 0, 0, 1, 1, 2], 4580),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        released = run(build({"name": "gaa"}, {**KNOWN, "k": 30}), table).released(order="table")
    frequencies = [
        released.groupby(list(columns))[QUASI[0]].transform("size")
        for columns in combinations(QUASI, 2)
    ]
    assert min(int(fk.min()) for fk in frequencies) >= 30
    assert released.groupby(QUASI).size().min() < 30, "all columns together may tell more"
