"""A release as a matrix: the published one, by hand; laws; and the definition, record by record."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from benchmarks.cases.representations_million import MOST_MEGABYTES
from benchmarks.fresh import in_fresh_process
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import suppression
from kanon.hierarchy.ranges import LeafRange, add_ranges, build_flat_hierarchy
from kanon.learning.representations import (
    REPRESENTATIONS,
    Matrix,
    columns_of,
    represent,
    represent_original,
)
from kanon.recoding import Recoding
from kanon.run import prepare
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support.random_tables import PlainTree, Problem, examples, problems
from support.recodings import recodings

NAMES = ["oneClass", "fillParent", "fillChild", "proportional"]


# The worked table of Viton et al. 2021
@pytest.fixture(scope="module")
def animals():
    """Records 1 to 3 are released as [*, mammals], records 4 to 6 as [*, cetaceans]."""
    work = open_sample("animals-v21")
    source = prepare(build_plan(work), work.table.records).source
    gender, race = source.classes.hierarchies
    tuples = [(gender.node_of["*"], race.node_of[x]) for x in ("mammals", "cetaceans")]
    of_class = {
        int(row): tuples[record >= 3] for record, row in enumerate(source.row_class.tolist())
    }
    targets = np.array([of_class[c] for c in range(source.classes.n_classes)])
    return source, Recoding.from_targets(source.classes, targets)


T = Fraction(1, 3)
COLUMNS = [
    *("gender_F", "gender_M", "gender_*"),
    *("race_cat", "race_lion", "race_tiger", "race_dog", "race_wolf", "race_dolphin", "race_whale"),
    *("race_felidae", "race_canine", "race_cetaceans", "race_mammals"),
]
# gender F M *; cat lion tiger, dog wolf, dolphin whale; felidae canine cetaceans mammals
PUBLISHED = {
    "oneClass": (
        [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0],
    ),
    "fillParent": (
        [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
    ),
    "fillChild": (
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0],
    ),
    "proportional": (
        [2 * T, T, 1, T, T, 0, T, 0, 0, 0, 2 * T, T, 0, 1],
        [T, 2 * T, 1, 0, 0, 0, 0, 0, T, 2 * T, 0, 0, 1, 1],
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_published_matrix(animals, name):
    source, recoding = animals
    matrix = represent(name, recoding)
    assert list(matrix.columns) == COLUMNS
    of_record = source.get_released_positions(recoding)
    (whole,) = matrix.batches(of_record)
    first, second = PUBLISHED[name]
    expected = np.array([first] * 3 + [second] * 3, dtype=float)
    assert whole.dtype == np.float32
    assert np.array_equal(whole, expected.astype(np.float32))


# The definition, record by record
def plain_entry(name: str, tree: PlainTree, released: str, originals: list[str], val: str) -> float:
    """What stands at ``val`` for a record of a class; ``originals`` are its records' values."""
    if name == "oneClass":
        return float(val == released)
    if name == "fillParent":
        return float(val in tree.paths[released])
    if name == "fillChild":
        return float(released in tree.paths[val])
    return float(Fraction(sum(val in tree.paths[x] for x in originals), len(originals)))


def plain_rows(name: str, problem: Problem, recoding: Recoding) -> list[list[float]]:
    """Per released class its row, by the definition."""
    of_row = [list(problem.sizes).index(row) for row in problem.rows]
    found = []
    for position, nodes in enumerate(recoding.nodes):
        members = [
            row for row, c in zip(problem.rows, of_row, strict=True)
            if recoding.assigned[c] == position
        ]  # fmt: skip
        found.append(
            [
                plain_entry(name, tree, tree.order[nodes[j]], [row[j] for row in members], val)
                for j, tree in enumerate(problem.trees)
                for val in tree.order
            ]
        )
    return found


@pytest.mark.parametrize("name", NAMES)
@examples(80)
@given(recodings())
def test_every_entry_is_what_the_definition_says(name, case):
    problem, recoding = case
    before = recoding.nodes.copy(), recoding.classes.nodes.copy(), recoding.assigned.copy()
    matrix = represent(name, recoding)
    expected = np.array(plain_rows(name, problem, recoding), dtype=np.float32)
    assert np.array_equal(matrix.dense(), expected.reshape(matrix.rows.shape))
    assert matrix.rows.dtype == np.float32 and matrix.rows.has_sorted_indices
    assert (matrix.rows.data != 0).all(), "a zero is not stored"
    assert matrix.columns == tuple(
        f"q{j}_{val}" for j, tree in enumerate(problem.trees) for val in tree.order
    )
    for was, now in zip(before, (recoding.nodes, recoding.classes.nodes, recoding.assigned)):  # noqa: B905
        assert np.array_equal(was, now)


@examples(60)
@given(problems())
def test_proportional_is_fill_parent_on_the_table_itself(problem):
    classes = problem.classes()
    shares = represent_original(classes, "proportional")
    assert np.array_equal(shares.dense(), represent_original(classes, "fillParent").dense())
    assert shares.rows.shape == (classes.n_classes, sum(t.n_nodes for t in problem.hierarchies))


# Batches
def test_batches_are_the_rows_of_the_records(animals):
    _, recoding = animals
    matrix = represent("proportional", recoding)
    of_record = np.array([1, 0, 0, 1, 1, 0, 1])
    parts = list(matrix.batches(of_record, size=3))
    assert [len(part) for part in parts] == [3, 3, 1]
    assert all(part.dtype == np.float32 for part in parts)
    assert np.array_equal(np.vstack(parts), matrix.dense()[of_record])
    assert list(matrix.batches(of_record[:0])) == []


@pytest.mark.parametrize("wrong", [-1, 2])
def test_a_record_without_a_row_is_refused(animals, wrong):
    matrix = represent("oneClass", animals[1])
    with pytest.raises(ValueError, match="0 to 1"):
        next(matrix.batches(np.array([0, wrong])))


# Ranges
def ranged(tree: Hierarchy, records: list[str], spans: list[tuple[int, int]]) -> Recoding:
    """Records of one attribute, each released as the range of leaves at its place."""
    plain = PlainTree({name: above for name, above, _ in tree.entries()})
    classes = Problem((plain,), tuple((x,) for x in records)).classes()
    classes = replace(classes, hierarchies=(tree,))
    distinct = sorted(set(spans))
    named = [LeafRange(first, last, f"[{first}, {last}]") for first, last in distinct]
    wider = add_ranges(tree, named)
    of_leaf = {records[i]: tree.n_nodes + distinct.index(span) for i, span in enumerate(spans)}
    targets = [[of_leaf[tree.labels[node]]] for node in classes.nodes[:, 0]]
    return Recoding.from_targets(classes, np.array(targets), hierarchies=(wider,))


def test_a_range_counts_as_what_covers_it_and_holds_what_lies_within():
    tree = Hierarchy.from_entries(
        [("*", None, None), ("A", "*", None), ("1", "A", None), ("2", "A", None),
         ("B", "*", None), ("3", "B", None), ("4", "B", None), ("5", "B", None)]
    )  # fmt: skip
    assert tree.labels == ("1", "2", "3", "4", "5", "A", "B", "*")
    # Records 1, 2, 3 as the range of leaves 1 to 3; 4 and 5 as that of 4 and 5, below B.
    recoding = ranged(tree, list("12345"), [(0, 3)] * 3 + [(3, 5)] * 2)
    rows = {name: represent(name, recoding).dense().tolist() for name in NAMES}
    assert len(represent("oneClass", recoding).columns) == 8, "ranges are no columns"
    assert rows["oneClass"] == [[0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1, 0]]
    assert rows["fillParent"] == [[0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1, 1]]
    assert rows["fillChild"] == [[1, 1, 1, 0, 0, 1, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0]]
    third, half = float(np.float32(1 / 3)), 0.5
    assert rows["proportional"] == [
        [third, third, third, 0, 0, float(np.float32(2 / 3)), third, 1],
        [0, 0, 0, half, half, 0, 1, 1],
    ]


def test_a_range_that_is_a_whole_group_counts_as_the_group():
    chain = Hierarchy.from_entries(
        [("*", None, None), ("Z", "*", None), ("A", "Z", None), ("1", "A", None),
         ("2", "A", None), ("3", "*", None)]
    )  # fmt: skip
    assert chain.labels == ("1", "2", "3", "A", "Z", "*")
    recoding = ranged(chain, list("12"), [(0, 2)] * 2)
    assert represent("oneClass", recoding).dense().tolist() == [[0, 0, 0, 1, 0, 0]]
    assert represent("fillChild", recoding).dense().tolist() == [[1, 1, 0, 1, 0, 0]]
    assert represent("fillParent", recoding).dense().tolist() == [[0, 0, 0, 1, 1, 1]]


def test_a_column_without_a_hierarchy_has_its_values_and_the_root():
    recoding = ranged(build_flat_hierarchy(["1", "2", "3"]), list("123"), [(0, 2), (0, 2), (2, 3)])
    assert represent("oneClass", recoding).columns == ("q0_1", "q0_2", "q0_3", "q0_*")
    assert represent("fillChild", recoding).dense().tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    # Of the range [3, 3] the value 3 is the smallest node that covers it.
    assert represent("oneClass", recoding).dense().tolist() == [[0, 0, 0, 1], [0, 0, 1, 0]]


def test_many_ranges_are_taken_a_few_at_a_time(monkeypatch):
    tree = build_flat_hierarchy([str(x) for x in range(40)])
    spans = [(x - x % 4, x - x % 4 + 4) for x in range(40)]
    recoding = ranged(tree, [str(x) for x in range(40)], spans)
    whole = represent("fillChild", recoding).dense()
    monkeypatch.setattr("kanon.learning.representations._CELLS", 90)
    monkeypatch.setattr("kanon.learning.representations._BATCH", 3)
    assert np.array_equal(represent("fillChild", recoding).dense(), whole)
    assert whole.sum(axis=1).tolist() == [4] * 10


# Names
def test_names_of_columns_are_unique():
    trees = [suppression(["b_c", "c"]), suppression(["c"]), suppression(["c"])]
    assert columns_of(["a", "a_b", "a_b_c"], trees) == [
        *("a_b_c", "a_c", "a_*", "a_b_c (2)", "a_b_*", "a_b_c_c", "a_b_c_*")
    ]
    # Where the second name of one is what another is called.
    assert columns_of(["a", "a_b"], [suppression(["b_c", "b_c (2)"]), suppression(["c"])]) == [
        *("a_b_c", "a_b_c (2)", "a_*", "a_b_c (3)", "a_b_*")
    ]


def test_the_cards():
    assert list(REPRESENTATIONS) == NAMES
    for name, card in REPRESENTATIONS.items():
        assert card.name == name and card.title and card.summary.endswith(".")
        assert "2021" in card.source


def test_an_unknown_representation_is_refused(animals):
    with pytest.raises(PlanError, match="'oneHot' is unknown; choose from 'oneClass', 'fillP"):
        represent("oneHot", animals[1])


# The rows of a release
def test_the_class_of_each_row(animals):
    source, recoding = animals
    assert recoding.nodes[source.get_released_positions(recoding)].tolist() == (
        recoding.targets[source.row_class].tolist()
    )
    with pytest.raises(ValueError, match="read-only"):
        source.row_class[0] = 1
    gone = Recoding.from_targets(
        source.classes, recoding.targets, np.arange(source.classes.n_classes) == source.row_class[2]
    )
    found = source.get_released_positions(gone)
    assert len(found) == len(source.release(gone)) == 5 and (found >= 0).all()


def test_nothing_left_is_a_matrix_without_rows(animals):
    source, recoding = animals
    none = Recoding.from_targets(
        source.classes, recoding.targets, np.ones(source.classes.n_classes, dtype=bool)
    )
    for name in NAMES:
        matrix = represent(name, none)
        assert isinstance(matrix, Matrix) and matrix.dense().shape == (0, 14)


@pytest.mark.nightly
def test_a_million_records_stay_below_two_gigabytes(tmp_path):
    """296 columns; each representation in a process of its own, all records written out."""
    case = "benchmarks.cases.representations_million"
    in_fresh_process(case, "release_to", str(tmp_path), 1_000_000)
    for name in NAMES:
        found, peak = in_fresh_process(case, "measured", str(tmp_path), name)
        assert found["columns"] >= 250 and found["total"] > 1_000_000
        assert peak < MOST_MEGABYTES
