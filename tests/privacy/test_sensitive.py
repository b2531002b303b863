"""The histograms of sensitive attributes, against pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import gaa
from kanon.algorithms.task import Task
from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError
from kanon.hierarchy.build import suppression
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.metrics import exact_potentials, metric_named
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sensitive import Sensitive, order_of_values
from kanon.sources.histograms import build_histogram
from kanon.sources.memory import MemorySource, build_column_classes
from support.random_tables import PlainTree, Problem, examples

VALUES = ("A", "B", "C", "D", "E")


@st.composite
def records(draw) -> tuple[list[int], list[int], int]:
    """Per record a class and a value; some classes and values may have no record."""
    n_classes = draw(st.integers(1, 7))
    n = draw(st.integers(0, 30))
    group = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    codes = draw(st.lists(st.integers(0, len(VALUES) - 1), min_size=n, max_size=n))
    return group, codes, n_classes


def made(group: list[int], codes: list[int], n_classes: int) -> Sensitive:
    return Sensitive.from_records("ill", VALUES, False, group, codes, n_classes)


def crosstab(group, codes, n_classes: int) -> np.ndarray:
    """The counts by pandas."""
    counted = pd.crosstab(pd.Series(group, dtype=int), pd.Series(codes, dtype=int))
    return counted.reindex(
        index=range(n_classes), columns=range(len(VALUES)), fill_value=0
    ).to_numpy(dtype=np.int64)


def check(found: Sensitive, dense: np.ndarray, total: np.ndarray) -> None:
    """It holds those counts, as it says it does."""
    assert found.dense().tolist() == dense.tolist()
    assert found.total.tolist() == total.tolist()
    assert found.sizes.tolist() == dense.sum(axis=1).tolist()
    assert found.n_classes == len(dense)
    assert found.count.tolist() == dense[dense > 0].tolist(), "only values that occur"
    assert found.value.tolist() == np.nonzero(dense)[1].tolist(), "rising within a class"
    assert found.of_entry.tolist() == np.nonzero(dense)[0].tolist()
    assert np.diff(found.start).tolist() == (dense > 0).sum(axis=1).tolist()
    assert (found.name, found.values, found.numeric) == ("ill", VALUES, False)
    kinds = (found.start.dtype, found.value.dtype, found.count.dtype, found.total.dtype)
    assert kinds == (np.int64, np.int32, np.int64, np.int64)


@examples(80)
@given(records())
def test_counting_is_that_of_pandas(drawn):
    found, dense = made(*drawn), crosstab(*drawn)
    check(found, dense, dense.sum(axis=0))
    squares = np.array([(row**2).sum() for row in dense])
    assert found.summed(found.count**2).tolist() == squares.tolist()


@examples(80)
@given(records(), st.data())
def test_grouping_is_counting_again(drawn, data):
    """A class that leaves takes its records from the total."""
    group, codes, n_classes = drawn
    n_groups = data.draw(st.integers(1, 4))
    to = data.draw(st.lists(st.integers(-1, n_groups - 1), min_size=n_classes, max_size=n_classes))
    moved = [(to[one], code) for one, code in zip(group, codes, strict=True) if to[one] >= 0]
    dense = crosstab([one for one, _ in moved], [code for _, code in moved], n_groups)
    check(made(*drawn).grouped(np.array(to), n_groups), dense, dense.sum(axis=0))


@examples(80)
@given(records(), st.data())
def test_some_classes_alone_keep_the_total_of_the_table(drawn, data):
    chosen = data.draw(st.lists(st.integers(0, drawn[2] - 1), max_size=8))
    dense = crosstab(*drawn)
    wanted = np.array(chosen, dtype=np.int64)
    found = made(*drawn).only(wanted)
    check(found, dense[wanted].reshape(len(chosen), len(VALUES)), dense.sum(axis=0))


@examples(60)
@given(records())
def test_the_whole_is_one_class(drawn):
    dense = crosstab(*drawn)
    check(made(*drawn).whole(), dense.sum(axis=0, keepdims=True), dense.sum(axis=0))


def test_nothing_that_is_grouped_is_changed():
    found = made([0, 0, 1, 2], [1, 1, 0, 4], 3)
    before = [array.copy() for array in (found.start, found.value, found.count, found.total)]
    found.grouped(np.array([1, 0, 1]), 2)
    found.only(np.array([2, 0]))
    found.whole().count[:] = 0
    after = (found.start, found.value, found.count, found.total)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


# --- The order of values ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("texts", "expected", "numeric"),
    [
        (["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"], True),
        (["10", "9", "x"], ["10", "9", "x"], False),
        ([MISSING_LABEL, "10", "9"], ["9", "10", MISSING_LABEL], True),
        ([MISSING_LABEL, "zebra", "ant"], ["ant", "zebra", MISSING_LABEL], False),
        (["1e2", "20"], ["20", "1e2"], True),
    ],
)
def test_numbers_by_size_texts_by_the_alphabet_missing_last(texts, expected, numeric):
    assert order_of_values(texts) == (expected, numeric)


# --- From a table -------------------------------------------------------------------------------
def source_of(columns: dict[str, list], quasi: list[str]) -> MemorySource:
    frame = pd.DataFrame({"q": quasi, **columns})
    roles = {"q": Role.QUASI_IDENTIFIER, **dict.fromkeys(columns, Role.SENSITIVE)}
    return MemorySource(frame, Schema(roles), {"q": suppression(["a", "b", "c"])})


CELLS = st.sampled_from(["flu", "cold", "angina", None])


@examples(100)
@given(st.lists(st.tuples(st.sampled_from("abc"), CELLS), min_size=1, max_size=25))
def test_a_column_with_missing_cells_is_counted_as_pandas_counts_it(rows):
    quasi, ill = [q for q, _ in rows], [value for _, value in rows]
    found = source_of({"ill": ill}, quasi).classes.sensitive_named("ill")
    texts = pd.Series(ill, dtype=object).fillna(MISSING_LABEL)
    expected = pd.crosstab(pd.Series(quasi), texts)
    present = sorted(set(ill) - {None}) + [MISSING_LABEL] * (None in ill)
    assert list(found.values) == present
    assert found.dense().tolist() == expected[present].to_numpy().tolist()
    assert found.total.tolist() == expected[present].sum().tolist()
    if set(ill) != {None}:
        assert not found.numeric


@examples(60)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([10, 9, 2.5, -1, None])),
        min_size=1,
        max_size=25,
    ).filter(lambda rows: any(p is not None for _, p in rows))
)
def test_numbers_stand_by_size(rows):
    quasi, pay = [q for q, _ in rows], [value for _, value in rows]
    found = source_of({"pay": pay}, quasi).classes.sensitive_named("pay")
    present = sorted({value for value in pay if value is not None})
    assert found.numeric
    assert found.values[-1] == MISSING_LABEL or None not in pay
    assert [float(value) for value in found.values if value != MISSING_LABEL] == present
    known = sorted(set(quasi))
    for place, value in enumerate([*present, *[None] * (None in pay)]):
        counts = [sum(1 for row in rows if row == (one, value)) for one in known]
        assert found.dense()[:, place].tolist() == counts


def test_missing_cells_beside_cells_that_say_so_are_an_error():
    columns = {"ill": ["flu", None, MISSING_LABEL]}
    with pytest.raises(TableError) as caught:
        source_of(columns, list("abc"))
    assert caught.value.sentence == (
        "Column 'ill' has missing cells, and cells that hold '(missing)'. Rename the latter."
    )
    # Cells that say so are no trouble where none is missing.
    found = source_of({"ill": ["flu", "flu", MISSING_LABEL]}, list("abc")).classes.sensitive[0]
    assert found.values == ("flu", MISSING_LABEL)


def test_several_columns_stand_in_their_order():
    columns = {"pay": [2, 10, 2], "ill": ["flu", "cold", "flu"]}
    classes = source_of(columns, list("aab")).classes
    assert [each.name for each in classes.sensitive] == ["pay", "ill"]
    assert [each.numeric for each in classes.sensitive] == [True, False]
    assert classes.sensitive_named("pay").values == ("2", "10")
    assert classes.sensitive_named("pay").dense().tolist() == [[1, 1], [1, 0]]
    with pytest.raises(PlanError, match="choose from 'pay'"):
        classes.sensitive_named("q")


def test_histograms_of_a_column_without_a_table():
    values = pd.Series(["b", "a", None, "b"], index=[3, 3, 1, 0])
    found = build_histogram("ill", values, np.array([1, 0, 1, 1]), 3)
    assert found.values == ("a", "b", MISSING_LABEL)
    assert found.dense().tolist() == [[1, 0, 0], [0, 2, 1], [0, 0, 0]]


def test_classes_of_columns_have_the_same_histograms():
    frame = pd.DataFrame({"q": list("abcab"), "ill": ["x", "y", None, "x", "z"]})
    direct = build_column_classes(frame, ["q"], ["ill"]).sensitive[0]
    source = source_of({"ill": frame["ill"].tolist()}, frame["q"].tolist())
    assert direct.dense().tolist() == source.classes.sensitive[0].dense().tolist()


# --- A release ----------------------------------------------------------------------------------
@examples(60)
@given(st.lists(st.tuples(st.sampled_from("abcde"), CELLS), min_size=1, max_size=25), st.data())
def test_a_release_counts_the_records_of_its_classes(rows, data):
    tree = PlainTree({"*": None, "g": "*", "h": "*", **dict.fromkeys("abc", "g"),
                      **dict.fromkeys("de", "h")})  # fmt: skip
    problem = Problem((tree,), tuple((q,) for q, _ in rows))
    frame = problem.frame().assign(ill=pd.Series([value for _, value in rows], dtype=object))
    source = MemorySource(
        frame,
        Schema({"q0": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE}),
        {"q0": problem.hierarchies[0]},
    )
    classes = source.classes
    k = data.draw(st.integers(1, len(rows)))
    depths = exact_potentials(metric_named("nllm"), classes.hierarchies)
    recoding = gaa.anonymise(Task(classes, scale_potentials(depths, len(rows)), k))
    if data.draw(st.booleans()) and classes.n_classes > 1:
        out = np.arange(classes.n_classes) == data.draw(st.integers(0, classes.n_classes - 1))
        recoding = Recoding.from_targets(classes, recoding.targets, out)
    sensitive = recoding.released.sensitive[0]
    released = source.release(recoding)
    labels = [tree.order[node] for node in recoding.nodes[:, 0]]
    texts = released["ill"].astype(object).where(released["ill"].notna(), MISSING_LABEL)
    for place, label in enumerate(labels):
        mine = texts[released["q0"] == label].value_counts()
        expected = [int(mine.get(value, 0)) for value in sensitive.values]
        assert sensitive.dense()[place].tolist() == expected
    assert sensitive.total.tolist() == [int((texts == value).sum()) for value in sensitive.values]
    assert sensitive.sizes.tolist() == recoding.counts.tolist()


def test_a_table_without_sensitive_columns_has_none():
    tree = suppression(["a"])
    classes = EquivalenceClasses(("q",), (tree,), np.zeros((1, 1), dtype=np.int32), np.array([2]))
    assert classes.sensitive == ()
    with pytest.raises(PlanError, match="no column is"):
        classes.sensitive_named("ill")
