"""docs/figures/population-uniqueness.md: its arithmetic, and whether it is what is measured."""

import doctest
import re

import pytest

from benchmarks.case import CaseError
from benchmarks.population import measured
from benchmarks.population.page import PAGE, page
from support.paths import ROOT

AGAIN = "run python -m benchmarks.population again"
MADE = "## How this was made"


@pytest.fixture(scope="module")
def outcomes():
    return measured.measure(["5 columns, skew 0", "3 columns, skew 0"], seeds=(1,), people=100_000)


def test_a_page_of_small_populations(outcomes):
    """Nearly everybody is unique by five uniform columns, and hardly anybody by three."""
    text = page(outcomes)
    assert "**0 of them are called\nreliable.** The truth is in the range in 8 of 8" in text
    everybody, hardly = outcomes[0], outcomes[-1]
    assert everybody.truth > 98_000 and not everybody.is_off("zayatz")
    assert hardly.is_off("rule") and not hardly.is_called_reliable("rule")
    assert hardly.estimate("rule") == hardly.found.estimates[hardly.found.chosen].uniques


def test_a_page_whose_sentences_are_false_is_not_written(outcomes, monkeypatch):
    monkeypatch.setattr(measured.Outcome, "is_called_reliable", lambda self, method: True)
    with pytest.raises(CaseError, match="off by more than half"):
        page(outcomes)


def test_the_explanation_has_the_figures_of_the_page():
    """How many estimates are off, how many of them were called reliable, and what that costs."""
    text = " ".join(PAGE.read_text("utf-8").split())
    off, misleading = re.search(r"(\d+) are off. \*\*(\d+) of them", text).groups()
    confirmed = re.search(r"are not off, (\d+) % are called reliable", text)[1]
    explanation = ROOT / "docs" / "explanation" / "population-risk.md"
    said = " ".join(explanation.read_text("utf-8").split())
    found = re.search(r"20 %, (\w+) of (\d+) estimates .* only (\d+) % of the good ones", said)
    assert found.groups() == ("none" if misleading == "0" else misleading, off, confirmed), AGAIN


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(measured).failed == 0


@pytest.mark.nightly
def test_the_whole_page_is_ours():
    """Every figure and every sentence; five minutes on two cores."""
    assert page(measured.measure()).split(MADE)[0] == PAGE.read_text("utf-8").split(MADE)[0], AGAIN
