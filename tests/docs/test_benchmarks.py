"""The benchmarks: their tables, their arithmetic and their list. Nothing is timed here."""

import doctest

import pandas as pd
import pytest

from benchmarks import markdown, timing
from benchmarks.cases import engines, tools
from benchmarks.tables import COLUMNS, census_like
from kanon.run import prepare, run
from kanon.sources.coverage import count_values, find_uncovered_values
from support.plans import make_plan, qi, qi_with


def test_hierarchies_cover_the_tables():
    table = census_like(5_000)
    assert list(table.columns) == list(COLUMNS)
    assert len(COLUMNS) == 9
    for name, column in COLUMNS.items():
        assert find_uncovered_values(count_values(table[name]), column.tree) == {}
        assert pd.api.types.is_integer_dtype(table[name]) == column.whole
    assert COLUMNS["postcode"].tree.n_leaves == 1_000


@pytest.mark.parametrize("module", [engines, markdown, timing], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings(module):
    assert doctest.testmod(module).failed == 0


# --- engines --------------------------------------------------------------------------------
@pytest.mark.nightly  # in every run: test_engines.py
def test_engines_agree_on_a_small_table(tmp_path):
    census, found = tmp_path / "census", {}
    census.mkdir()
    engines.write_census(str(census), 400)
    for name in ("in memory", "DuckDB", "SQLite"):
        out = str(tmp_path / f"{name}.parquet")
        its = engines.released(name, str(census), out, k=5)
        assert {*engines.STEPS} <= {*its} and its["records"] == 400
        found[name] = its | {"rows": engines.class_sizes(out)["rows"]}
        assert engines.class_sizes(out)["min_k"] == its["min_k"] >= 5
    assert engines.disagreement(found) == ""


def test_a_release_of_other_rows_is_noticed(tmp_path):
    rows = pd.DataFrame({"a": ["x", "x", "y", None], "b": ["*"] * 4})
    other = rows.assign(a=["x", "y", "y", None])
    found = {}
    for name, frame in (("one", rows), ("two", other), ("shuffled", rows[::-1])):
        frame.to_parquet(tmp_path / name)
        found[name] = engines.class_sizes(str(tmp_path / name), ["a", "b"])
    assert found["one"] == found["shuffled"]
    assert (found["one"]["classes"], found["one"]["min_k"], found["one"]["records"]) == (3, 1, 4)
    assert engines.disagreement(found) == "one and two differ in rows."


# --- other tools ----------------------------------------------------------------------------
PEOPLE = pd.DataFrame(
    {"age": ["31", "32", "45", "47", "58"], "sex": ["F", "F", "M", "M", "F"], "ill": list("abcab")}
)
DECADES = {"build": "intervals", "widths": [10]}


def people_plan(k=2):
    return make_plan(
        {"age": qi_with(DECADES), "sex": qi(), "ill": {"role": "insensitive"}},
        k,
        "datafly",
        suppression_limit={"records": 1},
    )


def test_a_release_read_again_is_the_recoding_that_made_it():
    done = run(people_plan(), PEOPLE)
    released = done.released(order="table")
    assert len(released) == 4  # one record is suppressed
    read = tools.recoding_of(
        prepare(people_plan(), PEOPLE).source, released.reset_index(drop=True), [*released.index]
    )
    assert read.assigned.tolist() == done.recoding.assigned.tolist()
    assert read.nodes.tolist() == done.recoding.nodes.tolist()
    found, expected = (tools.losses(each, 2) for each in (read, done.recoding))
    for what in ("alteration", "classes", "generalised_percent", "general_loss"):
        assert found[what] == expected[what]
    assert (found["suppressed"], found["min_k"]) == (1, 2)


@pytest.mark.parametrize(
    ("column", "cells", "said"),
    [
        ("age", ["thirties", "thirties", "*", "*"], "no label"),
        ("sex", ["M", "M", "M", "M"], "not below"),
    ],
)
def test_a_release_that_is_none_of_the_table_is_refused(column, cells, said):
    source = prepare(people_plan(), PEOPLE).source
    released = PEOPLE.head(4).assign(**{column: cells})
    with pytest.raises(ValueError, match=said):
        tools.recoding_of(source, released, range(4))


def test_a_class_released_in_two_ways_or_in_part_is_refused():
    twins = pd.DataFrame({"age": ["31", "31"], "sex": ["F", "F"], "ill": ["a", "b"]})
    source = prepare(people_plan(), twins).source
    with pytest.raises(ValueError, match="two ways"):
        tools.recoding_of(source, twins.assign(sex=["F", "*"]), [0, 1])
    with pytest.raises(ValueError, match="in part"):
        tools.recoding_of(source, twins.head(1), [0])
    with pytest.raises(ValueError, match="twice"):
        tools.recoding_of(source, twins, [0, 0])


def test_kanon_is_measured_as_its_command_line_says(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    found = tools.measured(str(path), ["sex"], "ill", 2)
    assert (found["k"], found["l"], len(found["seconds"])) == (2, 2, 2)
    printed = tools.commanded(
        "measure", "--table", str(path), "--qi", "sex", "--sensitive", "ill", "--json"
    )
    assert '"min_k": 2' in printed["printed"]
    with pytest.raises(RuntimeError, match="ended with 2"):
        tools.commanded("measure", "--table", str(path), "--qi", "height")
