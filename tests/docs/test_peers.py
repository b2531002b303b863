"""kanon beside frozen answers of other tools, and the page of python -m benchmarks.peers."""

import json
import math
import re

import pytest

from benchmarks.case import CaseError
from benchmarks.peers.agreements import FROZEN, Comparison, measure_small
from benchmarks.peers.algorithms import Grouping
from benchmarks.peers.environments import PEERS
from benchmarks.peers.page import PAGE, REASONS, page
from kanon.evidence.figures import compute_wilson_interval
from oracles.peer_tables import TABLES
from support.paths import ROOT


@pytest.fixture(scope="module")
def frozen():
    return json.loads(FROZEN.read_text("utf-8"))


def test_the_answers_are_those_of_these_versions_and_tables(frozen):
    assert frozen["packages"] == PEERS
    assert list(frozen["tables"]) == list(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_other_tools_measure_the_same(name, frozen):
    ours = measure_small(TABLES[name])
    answers = frozen["tables"][name]
    assert {peer: len(levels) for peer, levels in answers.items()} == {
        "pycanon": 15, "lighthouse": 3, "anonypyx": 1,
    }  # fmt: skip
    for peer, levels in answers.items():
        for measure, theirs in levels.items():
            compared = Comparison(peer, measure, name, theirs, ours[measure])
            assert compared.is_equal or (peer, measure) in REASONS, compared


def test_intervals_of_rates_are_those_of_anonymeter(frozen):
    assert len(frozen["pairs"]) == len(frozen["rates"]) == 20
    for (total, successes), ends in zip(frozen["pairs"], frozen["rates"], strict=True):
        low, high = compute_wilson_interval(successes / total, total)
        assert (low, high) == pytest.approx((max(ends[0], 0), min(ends[1], 1)), abs=1e-12)


def test_four_equally_frequent_values_count_as_four(frozen):
    """e to the power of ln 4 is just below 4: pyCANON cuts it to 3."""
    name = "four equally frequent values"
    assert measure_small(TABLES[name])["entropy_l"] == pytest.approx(4)
    assert frozen["tables"][name]["pycanon"]["entropy_l"] == 3


def test_one_of_two_most_frequent_values_is_wrong(frozen):
    """Of u, u, v, v, w three are not the majority's, of u, u, v one: 4 of 8; pyCANON counts 2."""
    name = "two most frequent values"
    assert measure_small(TABLES[name])["classification_metric"] == 4 / 8
    assert frozen["tables"][name]["pycanon"]["classification_metric"] == 2 / 8


def test_a_gain_above_its_limit_meets_no_beta(frozen):
    """u has 5 of 6 records and all of a class: a gain of 1/5, above ln 6/5 = 0.18."""
    name = "a frequent value grows"
    ours, theirs = measure_small(TABLES[name]), frozen["tables"][name]["pycanon"]
    assert math.log(6 / 5) < 1 / 5 and ours["enhanced_beta"] is None
    assert math.isfinite(theirs["enhanced_beta"]) and theirs["basic_beta"] == pytest.approx(1)


GROUPS = {5: [Grouping("kanon, Mondrian", [5, 7], 0.25, 0.125, 0.5)]}
DATAFLY = {"same": True, "classes": 377, "suppressed": 1119, "theirs": 6.0, "ours": 0.06}
EQUAL = [Comparison("lighthouse", "min_k", "blanks", 2.0, 2)]


def test_a_page_of_small_figures():
    text = page(EQUAL, GROUPS | {100: [Grouping("sweep", [100], 0.5, 0.5, 1.0)]}, [], DATAFLY)
    assert "**1 of 1 numbers are equal**" in text
    assert "| kanon, Mondrian | 2 | 5 | 7 | 25.00 | 12.50 | 0.50 |" in text
    assert "6.0 s of the processor, kanon\n0.060 s: 100 times as fast" in text


@pytest.mark.parametrize(
    ("comparisons", "groups", "datafly", "message"),
    [
        ([EQUAL[0]._replace(ours=3)], GROUPS, DATAFLY, "lighthouse's min_k"),
        ([EQUAL[0]._replace(peer="pycanon", measure="mean_risk")], GROUPS, DATAFLY, "mean_risk"),
        (EQUAL, {6: GROUPS[5]}, DATAFLY, "misses k"),
        (EQUAL, {5: [*GROUPS[5], Grouping("sweep", [5], 0.3, 0.1, 1.0)]}, DATAFLY, "lose least"),
        (EQUAL, GROUPS, DATAFLY | {"same": False}, "Datafly"),
    ],
)
def test_a_page_whose_sentences_are_false_is_not_written(comparisons, groups, datafly, message):
    with pytest.raises(CaseError, match=message):
        page(comparisons, groups, [], datafly)


def test_the_comparison_quotes_the_figures_of_the_page():
    """What docs/compared.md says in short stands in docs/figures/peers.md."""
    figures = " ".join(PAGE.read_text("utf-8").split())
    said = " ".join((ROOT / "docs" / "compared.md").read_text("utf-8").split())
    (equal,) = re.findall(r"\*\*([\d,]+ of [\d,]+ numbers are equal)\*\*", figures)
    assert equal in said
