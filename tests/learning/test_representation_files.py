"""A release with its representation as a file: what is read back is what was released."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import PlanError, TableError
from kanon.hierarchy.build import suppression
from kanon.learning import export
from kanon.learning.export import FILE_KINDS, find_new_column_names, write_representation_file
from kanon.learning.representations import REPRESENTATIONS, represent
from kanon.recoding import Recoding
from kanon.run import run
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from kanon.sources.row_order import sort_rows
from kanon.sources.writing import table_bytes
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support.random_tables import examples, problems
from support.works import with_fields


def read(content: bytes, kind: str) -> pd.DataFrame:
    buffer = io.BytesIO(content)
    return pd.read_parquet(buffer) if kind == "parquet" else pd.read_csv(buffer, dtype=str)


def as_numbers(table: pd.DataFrame) -> np.ndarray:
    return table.to_numpy(dtype=np.float32)


@pytest.mark.parametrize("kind", FILE_KINDS)
@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_a_file_is_the_release_and_the_matrix(name, kind, monkeypatch):
    monkeypatch.setattr(export, "_BATCH", 7)
    work = open_sample("hospital")
    done = run(build_plan(with_fields(work, k=3)), work.table.records)
    source, recoding = done.prepared.source, done.recoding
    found = read(write_representation_file(source, recoding, name, kind), kind)
    released = done.released()
    of_row = source.get_released_positions(recoding)[done.row_order]
    own = len(released.columns)
    left = read(table_bytes(released, kind), kind)
    pd.testing.assert_frame_equal(found.iloc[:, :own], left)
    matrix = represent(name, recoding)
    assert list(found.columns[own:]) == list(matrix.columns)
    expected = matrix.dense()[of_row]
    assert np.array_equal(as_numbers(found.iloc[:, own:]), expected)
    if kind == "parquet":
        kinds = set(found.dtypes.iloc[own:])
        assert kinds == {np.dtype("float32" if name == "proportional" else "uint8")}
    elif name != "proportional":
        assert set(found.iloc[:, own:].to_numpy().ravel()) == {"0", "1"}, "whole numbers"


AWKWARD = [
    *('a "b"', "a,b", "two\nlines", " padded ", "\r", "\x1e\n", "\x1e\x1e\n", "", "=1+1", "ü"),
    "\ufeff",
]


@examples(50)
@given(problems(max_attributes=2, max_records=9), st.data())
def test_any_release_is_read_back(problem, data):
    texts = data.draw(
        st.lists(st.sampled_from(AWKWARD), min_size=len(problem.rows), max_size=len(problem.rows))
    )
    table = problem.frame().assign(note=texts, size=np.arange(len(texts)) / 3)
    roles = dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER)
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    keep = data.draw(st.booleans())
    source = MemorySource(table, Schema(roles), trees, keep_suppressed=keep)
    gone = [data.draw(st.integers(0, 3)) == 0 for _ in range(source.classes.n_classes)]
    recoding = Recoding.from_targets(source.classes, source.classes.nodes, np.array(gone))
    released = source.release(recoding)
    rows = sort_rows(released)
    released, of_row = released.iloc[rows], source.get_released_positions(recoding)[rows]
    assert keep or (of_row >= 0).all()
    for kind in FILE_KINDS:
        found = read(write_representation_file(source, recoding, "proportional", kind), kind)
        own = released.shape[1]
        alone = read(table_bytes(released, kind), kind)
        assert found.iloc[:, :own].astype(object).equals(alone.astype(object))
        numbers = found.iloc[:, own:]
        assert numbers[of_row < 0].isna().to_numpy().all(), "no class, no row"
        shares = represent("proportional", recoding).dense()
        assert np.array_equal(as_numbers(numbers[of_row >= 0]), shares[of_row[of_row >= 0]])


@pytest.fixture
def clashing():
    """The release has a column of the name that the matrix would use, and of its next one."""
    table = pd.DataFrame({"q": ["a", "b"], "q_a": [1, 2], "q_* (2)": [3, 4], "q_*": [5, 6]})
    source = MemorySource(
        table, Schema({"q": Role.QUASI_IDENTIFIER}), {"q": suppression(["a", "b"])}
    )
    return source, Recoding.from_targets(source.classes, np.array([[2], [2]]))


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_a_taken_name_gets_a_number(clashing, kind):
    source, recoding = clashing
    assert find_new_column_names(source, recoding) == {"q_a": "q_a (2)", "q_*": "q_* (3)"}
    found = read(write_representation_file(source, recoding, "oneClass", kind), kind)
    assert list(found.columns) == ["q", "q_a", "q_* (2)", "q_*", "q_a (2)", "q_b", "q_* (3)"]
    assert as_numbers(found.iloc[:, 1:]).tolist() == [[1, 3, 5, 0, 0, 1], [2, 4, 6, 0, 0, 1]]


def test_names_that_are_free_stay():
    work = open_sample("hospital")
    done = run(build_plan(work), work.table.records)
    assert find_new_column_names(done.prepared.source, done.recoding) == {}


def test_what_is_not_known_is_refused(clashing):
    with pytest.raises(TableError, match="'xlsx' is unknown; choose from parquet, csv"):
        write_representation_file(*clashing, "oneClass", "xlsx")
    with pytest.raises(PlanError, match="'best' is unknown"):
        write_representation_file(*clashing, "best", "csv")


@pytest.mark.parametrize("kind", FILE_KINDS)
@pytest.mark.parametrize("keep", [False, True])
def test_an_empty_release_is_a_header_or_blanks(kind, keep):
    source = MemorySource(
        pd.DataFrame({"q": ["a", "b"]}), Schema({"q": Role.QUASI_IDENTIFIER}),
        {"q": suppression(["a", "b"])}, keep_suppressed=keep,
    )  # fmt: skip
    none = Recoding.from_targets(source.classes, source.classes.nodes, np.ones(2, dtype=bool))
    found = read(write_representation_file(source, none, "fillChild", kind), kind)
    assert list(found.columns) == ["q", *(["suppressed"] if keep else []), "q_a", "q_b", "q_*"]
    assert len(found) == (2 if keep else 0)
    assert found[["q_a", "q_b", "q_*"]].isna().to_numpy().all()
