"""docs/figures/simulated.md: what was read from published figures, its arithmetic, its truth."""

import doctest
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fidelity.page import checksum
from benchmarks.plans import adult_content
from benchmarks.simulated import measured, published, tables
from benchmarks.simulated.page import PAGE, page
from kanon.base.progress import ignore_progress
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.study import (
    CRITERIA,
    RUNS,
    STRATEGIES,
    RunResult,
    create_study,
    run_study,
)
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.reading import read_table

AGAIN = "run python -m benchmarks.simulated again"
MADE = "## How these figures were made"


def by_strategy(own: dict[str, tuple[float, ...]]) -> list[RunResult]:
    """A study in which a strategy has the same areas on every column."""
    return [RunResult(run, own[run.strategy]) for run in RUNS]


def rising(step: float = 1.0) -> dict[str, tuple[float, ...]]:
    """S1 alters least and has the lowest l and t, S7 the most."""
    return {name: (step * place,) * 3 for place, name in enumerate(STRATEGIES)}


def every(own: dict[str, tuple[float, ...]]) -> measured.Findings:
    return measured.Findings(dict.fromkeys(measured.READINGS, by_strategy(own)), 1.0)


# --- what was read --------------------------------------------------------------------------
@pytest.mark.parametrize(("guide", "criterion"), [*product(measured.GUIDES, CRITERIA)])
def test_what_was_read_is_seven_places_per_column_and_none_twice(guide, criterion):
    read = published.legible(guide, criterion)
    assert read.shape == (len(STRATEGIES), len(COLUMNS))
    for column in read.T:
        there = column[~np.isnan(column)]
        assert len(set(there)) == len(there) and set(there) <= set(range(1, 8))
    whole = published.ranks(guide, criterion)
    kept = ~np.isnan(read)
    assert (whole[kept] == read[kept]).all()
    assert all(np.isnan(column).sum() != 1 for column in whole.T)
    assert doctest.testmod(published).failed == 0


# --- arithmetic -----------------------------------------------------------------------------
def test_areas_and_ranks_of_hand_numbers():
    found = every(rising())
    assert measured.areas(found.of("nllm", "table")).tolist() == [[place] * 3 for place in range(7)]
    alteration, l_ranks, _ = (
        measured.rank_table(found.of("nllm", "table"), name) for name in CRITERIA
    )
    assert (alteration == np.arange(1, 8)[:, None]).all()
    assert (l_ranks == np.arange(7, 0, -1)[:, None]).all()


def test_as_it_fits_takes_s6_at_class_scope_for_s5_and_no_other():
    studies = {
        one: by_strategy(rising(2.0 if one.scope == "class" else 1.0)) for one in measured.READINGS
    }
    found = measured.areas(measured.Findings(studies, 1.0).of("nllm", measured.AS_IT_FITS))[:, 0]
    assert found.tolist() == [0, 2, 2, 6, 10, 5, 12]


def test_agreement_is_counted_over_what_is_known(monkeypatch):
    own = np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 2.0]] + [[4.0, 4.0]] * 4)
    wide = np.full((7, 21), np.nan)
    wide[:, :2] = own
    monkeypatch.setattr(tables, "ranks", lambda guide, criterion: wide)
    found = every(rising())
    rho, equal, known = tables.agreement(found, "nllm", "alteration", "table")
    assert (equal, known) == (6, 13), "S1, S3 and S4, and S2 once; S3 is second once"
    assert 0 < rho < 1
    rho, equal, known = tables.agreement(found, "nllm", "alteration", "table", all_of_them=False)
    assert (equal, known) == (6, 11), "without S5"


def test_distances_leave_out_what_is_not_legible():
    row = published.MEANS["total"][STRATEGIES.index("s7")]
    assert np.isnan(row[2])
    found = every({name: tuple(np.nan_to_num(row) + 1.0) for name in STRATEGIES})
    assert tables.off(found, ("s7",), "class", guides=["total"]) == pytest.approx(1.0)


# --- the page -----------------------------------------------------------------------------------
def test_the_page_is_about_the_hierarchies_and_figures_that_are_here():
    text = PAGE.read_text("utf-8")
    assert checksum("adult") in text, AGAIN
    for guide, name in product(measured.GUIDES, STRATEGIES):
        cells = published.MEANS[guide][STRATEGIES.index(name)]
        shown = ["not legible" if np.isnan(cell) else f"{cell:.2f}" for cell in cells]
        rows = [line for line in text.splitlines() if line.startswith(f"| {name.upper()} |")]
        found = [[cell.strip() for cell in row.strip("|").split("|")][1::3] for row in rows]
        assert shown in found, AGAIN
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert all(one != other for one, other in pairwise(heads))


@pytest.mark.nightly
@pytest.mark.adult
def test_s1_of_the_page_is_ours(adult_path: Path, monkeypatch):
    """One run, which serves all columns; all of them nightly."""
    monkeypatch.setenv("KANON_ADULT", str(adult_path))
    plan = Plan.from_content(adult_content("nllm", 2))
    study = create_study(prepare(plan, read_table(adult_path).table))
    found: list[RunResult] = []
    run_study(ignore_progress, study, [run for run in RUNS if run.strategy == "s1"], found.append)
    means = np.mean([one.areas for one in found], axis=0)
    row = next(line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| S1 |"))
    said = [cell.strip() for cell in row.strip("|").split("|")][2::3]
    assert said == [f"{each:.2f}" for each in means], AGAIN


@pytest.mark.adult
@pytest.mark.nightly
def test_the_whole_page_is_ours(adult_path: Path, monkeypatch):
    """Every figure and every sentence; seven minutes on two cores."""
    monkeypatch.setenv("KANON_ADULT", str(adult_path))
    table = read_table(adult_path).table
    found = page(measured.measure(table), len(table))
    assert found.split(MADE)[0] == PAGE.read_text("utf-8").split(MADE)[0]
