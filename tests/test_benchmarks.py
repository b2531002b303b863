"""The benchmarks: their tables, their arithmetic and their list. Nothing is timed here."""

from __future__ import annotations

import doctest

import numpy as np
import pandas as pd
import pytest

from benchmarks import markdown, timing
from benchmarks.__main__ import main
from benchmarks.case import Case, all_cases
from benchmarks.fresh import in_fresh_process
from benchmarks.tables import COLUMNS, census_like
from kanon.sources.exposure import exposure
from kanon.sources.memory import classes_of_columns, coverage


def test_a_seed_gives_one_table():
    pd.testing.assert_frame_equal(census_like(500, seed=3), census_like(500, seed=3))
    assert not census_like(500, seed=3).equals(census_like(500, seed=4))


def test_classes_grow_with_the_records_but_less():
    found = [
        exposure(classes_of_columns(census_like(n), list(COLUMNS))) for n in (2_000, 8_000, 32_000)
    ]
    classes = [each.n_classes for each in found]
    assert classes == sorted(set(classes))
    shares = [each.n_classes / each.n_records for each in found]
    assert shares == sorted(set(shares), reverse=True)
    assert found[-1].unique_records > 10_000
    assert found[-1].sizes[0] > 100


def test_less_pull_gives_more_classes():
    columns = list(COLUMNS)
    usual, spread = (
        classes_of_columns(census_like(8_000, pull=pull), columns) for pull in (1.0, 0.6)
    )
    assert spread.n_classes > 1.1 * usual.n_classes


def test_hierarchies_cover_the_tables():
    table = census_like(5_000)
    assert list(table.columns) == list(COLUMNS)
    assert len(COLUMNS) == 9
    for name, column in COLUMNS.items():
        assert coverage(table[name], column.tree) == {}
        assert pd.api.types.is_integer_dtype(table[name]) == column.whole
    assert COLUMNS["postcode"].tree.n_leaves == 1_000


def test_columns_depend_on_each_other():
    """Pairs of values occur that independence would make ten times rarer."""
    table = census_like(20_000)
    together = pd.crosstab(table["occupation"], table["education"], normalize=True).to_numpy()
    alone = together.sum(axis=1, keepdims=True) * together.sum(axis=0, keepdims=True)
    assert (together[together > 0.001] / alone[together > 0.001]).max() > 10


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_the_exponent_of_a_power_is_the_power(power):
    sizes = np.array([10.0, 30.0, 100.0, 1000.0])
    assert timing.exponent(sizes, 0.25 * sizes**power) == pytest.approx(power)


def test_the_exponent_is_the_line_of_least_squares():
    # Logarithms to base 10: sizes 0, 1, 2 and seconds 0, 3, 3; the slope is 3 / 2.
    assert timing.exponent([1, 10, 100], [1, 1000, 1000]) == pytest.approx(1.5)


def test_what_is_timed_runs_in_turn_and_once_more_before():
    calls: list[str] = []
    timed, results = timing.alternately(
        lambda: calls.append("a") or "A", lambda: calls.append("b") or "B", repetitions=2
    )
    assert calls == ["a", "b"] * 3
    assert results == ("A", "B")
    assert [len(each.seconds) for each in timed] == [2, 2]


@pytest.mark.parametrize("module", [markdown, timing], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_a_fresh_process_answers_and_does_not_inherit_the_peak():
    ballast = np.ones(60_000_000)  # 480 MB
    found, peak = in_fresh_process("benchmarks.markdown", "thousands", 1234)
    assert found == "1,234"
    assert 5 < peak < ballast.nbytes / 1e6


def test_the_list_names_every_case(capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"adult-gaa", "adult-gaa-small", "adult-sweep", "census-gaa", "growth"} <= {
        line.split()[0] for line in lines
    }
    assert len(lines) == len(all_cases())
    assert all(isinstance(case, Case) and case.about for case in all_cases().values())


def test_an_unknown_case_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["no-such-case"])
    assert "no-such-case" in capsys.readouterr().err


def test_without_adult_a_case_says_what_it_lacks(monkeypatch, capsys):
    monkeypatch.delenv("KANON_ADULT", raising=False)
    assert main(["adult-gaa"]) == 2
    assert "KANON_ADULT" in capsys.readouterr().err
