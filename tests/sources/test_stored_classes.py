"""More classes than come here: the engine counts, merges and releases as is done in memory."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from kanon.algorithms.catalogue import algorithms, runs_stored
from kanon.algorithms.partitioned_merging import choose_cuts, split_classes
from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.run import prepare, run
from kanon.sources.addresses import Address
from kanon.sources.stored import StoredTable
from kanon.sources.stored_values import TableConnection
from kanon.stored_classes import StoredClasses
from support.engine_tables import put_in_engine
from support.plans import make_plan, plan_content, qi
from support.stored_people import MOST, NOT_COUNTED, PEOPLE, check_same, plan_of, rows_of


@pytest.fixture
def stored(tmp_path, limits, monkeypatch) -> Callable[..., StoredTable]:
    """A table where an engine reads it; no question may bring more than the limit here."""
    asked = TableConnection.fetch

    def fetch(self: TableConnection, wanted: object) -> pa.Table:
        found = asked(self, wanted)
        assert found.num_rows <= 4 * MOST, "what comes here does not grow with the classes"
        return found

    def put(engine: str, frame: pd.DataFrame = PEOPLE, most: int = MOST) -> StoredTable:
        limits(classes=most)
        monkeypatch.setattr(TableConnection, "fetch", fetch)
        return put_in_engine(frame, engine, tmp_path)

    return put


FULL_DOMAIN = sorted(name for name, its in algorithms().items() if its.CARD.family == "levels")
NODE = {"age": 2, "town": 3, "sex": 1}
NIGHTLY = [pytest.mark.nightly]
ENGINES = ["duckdb", pytest.param("other", marks=NIGHTLY)]  # SQLite is slow at joins
IN_GATE = {("levels", "duckdb"), ("ola", "duckdb")}


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "engine"), [
    pytest.param(name, engine, marks=[] if (name, engine) in IN_GATE else NIGHTLY)
    for name in FULL_DOMAIN for engine in ("duckdb", "other")
])  # fmt: skip
def test_a_full_domain_search_finds_the_same_node(stored, tmp_path, name, engine):
    algorithm = {"name": name, **({"node": NODE} if name == "levels" else {})}
    plan = plan_of(algorithm)
    ours = run(plan, PEOPLE)
    check_same(run(plan, stored(engine)), ours, tmp_path / "out")


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "suppressed"), [
    pytest.param(name, how, marks=[] if (name, how) == ("datafly", "keep") else NIGHTLY)
    for name in FULL_DOMAIN if name not in ("levels", "mingen")
    for how in ("leave-out", "keep")
])  # fmt: skip
def test_records_are_suppressed_as_in_memory(stored, tmp_path, name, suppressed):
    plan = plan_of({"name": name}, suppression_limit={"records": 100}, suppressed=suppressed)
    ours = run(plan, PEOPLE)
    assert ours.recoding.suppressed_records > 0
    check_same(run(plan, stored("duckdb")), ours, tmp_path / "out")


DIVERSE = ({"model": "distinct-l-diversity", "l": 3, "column": "ill"},)


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", [
    {"name": "flash"}, {"name": "datafly"}, {"name": "gaa", "parts": "4"},
], ids=lambda one: one["name"])  # fmt: skip
def test_other_models_hold_as_well(stored, tmp_path, algorithm):
    plan = plan_of(algorithm, models=DIVERSE)
    ours = run(plan, PEOPLE)
    check_same(run(plan, stored("duckdb")), ours, tmp_path / "out")


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("k", [pytest.param(3, marks=NIGHTLY, id="in the parts alone"),
                               pytest.param(60, id="and then together")])  # fmt: skip
def test_parts_are_merged_to_the_same_classes(stored, tmp_path, engine, k):
    plan = plan_of({"name": "gaa", "parts": "4"}, k)
    ours = run(plan, PEOPLE)
    assert ours.recoding.trace.parts == 4
    check_same(run(plan, stored(engine)), ours, tmp_path / "out")


@pytest.mark.nightly  # in every run: test_records_are_suppressed_as_in_memory
def test_records_without_a_value_are_dropped_as_in_memory(stored, tmp_path):
    plan = plan_of({"name": "datafly"}, read={"missing": "drop-records"})
    ours = run(plan, PEOPLE)
    check_same(run(plan, stored("duckdb")), ours, tmp_path / "out")


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", [{"name": "datafly"}, {"name": "gaa", "parts": "4"}])
def test_tuples_of_several_numbers(stored, tmp_path, algorithm):
    """Twenty columns of thirteen nodes: a tuple does not fit into one whole number."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({f"q{j}": draw.integers(0, 10, 1200).astype(str) for j in range(20)})
    plan = make_plan({name: qi("intervals", widths=[5]) for name in frame}, 2, algorithm)
    ours = run(plan, frame)
    check_same(run(plan, stored("duckdb", frame)), ours, tmp_path / "out")


def test_a_part_is_cut_where_it_is_cut_in_memory(stored):
    """Towns in an order of their own, in groups of unlike sizes."""
    draw = np.random.default_rng(3)
    texts = [f"{v:04d}" for v in draw.permutation(400)]
    groups = {f"g{i}": texts[i::8] for i in range(8)}
    frame = pd.DataFrame({"town": draw.choice(texts, 2000), "sex": draw.choice(["F", "M"], 2000)})
    levels = [groups, {"a": ["g0", "g1", "g2"], "b": [f"g{i}" for i in range(3, 8)]}]
    content = plan_content(
        {"town": qi("groups", levels=levels), "sex": qi()}, 2, {"name": "gaa", "parts": "8"}
    )
    plan = Plan.from_content(content)
    ours = prepare(plan, frame)
    part_of = split_classes(ours.classes, ours.task().potentials, 8, 10)
    theirs = prepare(plan, stored("duckdb", frame)).classes
    assert isinstance(theirs, StoredClasses)
    potentials = ours.task().potentials
    cuts, sizes = choose_cuts(theirs.hierarchies, potentials, 8, 10, theirs.count_part_cells)
    assert len(cuts) > 3 and sizes == np.bincount(part_of).tolist()


def test_what_needs_every_class_is_refused_in_a_sentence(stored):
    table = stored("duckdb")
    for name in algorithms():
        if runs_stored(name):
            continue
        with pytest.raises(
            PlanError, match=r"needs all classes in memory, but 1.137 are more than"
        ):
            run(plan_of({"name": name}), table)
    with pytest.raises(PlanError, match="looks at more than the cost of a merge"):
        run(plan_of({"name": "gaa", "strategy": "s2", "sensitive": "ill"}), table)
    with pytest.raises(PlanError, match=r"the limit is 600 \(classes"):
        run(plan_of({"name": "gaa", "parts": "1"}), table)
    classes = prepare(plan_of({"name": "optimal"}), table).classes
    for name in ("nodes", "counts", "sensitive", "histograms"):
        with pytest.raises(PlanError, match="different combinations of values"):
            getattr(classes, name)


@pytest.mark.nightly
def test_a_release_of_more_classes_than_come_here(stored, tmp_path):
    """It is made and measured, but for what looks at each of its classes."""
    node = {"age": 0, "town": 0, "sex": 0}
    plan = plan_of({"name": "levels", "node": node}, 2, suppression_limit={"records": 2400})
    ours = run(plan, PEOPLE)
    limit = ours.recoding.n_classes - 1
    theirs = run(plan, stored("duckdb", most=limit))
    assert ours.recoding.suppressed_records and theirs.recoding.n_classes > limit
    found = theirs.measures
    looked_at = {"prosecutor", "alpha", "entropy_l", "t_norm1", "classification_metric"}
    assert looked_at <= {*ours.measures} and not looked_at & {*found}
    same = {*found} - {"not_counted", "seconds", *NOT_COUNTED}
    assert {name: found[name] for name in same} == {name: ours.measures[name] for name in same}
    theirs.write(Address(str(tmp_path / "out")))
    released = pyarrow.parquet.read_table(tmp_path / "out").to_pandas()
    assert sorted(rows_of(released)) == sorted(rows_of(ours.released()[list(released.columns)]))


@pytest.mark.nightly
def test_nothing_is_kept_of_what_a_search_gave_up(stored):
    table = stored("duckdb")
    for _ in range(3):
        run(plan_of({"name": "incognito"}), table)
    listed = table.opened.rows.workspace._connection.raw_sql(  # type: ignore[union-attr]
        "SELECT count(*) FROM duckdb_tables() WHERE temporary"
    )
    assert listed.fetchone()[0] < 60
