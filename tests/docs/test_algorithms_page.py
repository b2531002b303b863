"""docs/figures/algorithms.md: its arithmetic, whether it is about what is here and true.

And docs/reference/plan.md: whether it says what each algorithm takes.
"""

import doctest
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.algorithms import claims, measured, tables
from benchmarks.algorithms.measured import (
    GUIDE,
    KS,
    LEAST_LOSS,
    LIMITS,
    MEASURED,
    SEARCH_LIMITS,
    SEARCHED,
    Findings,
    Result,
    Side,
    Way,
    measure,
    side_by_side,
    ways,
)
from benchmarks.algorithms.page import PAGE, page
from benchmarks.algorithms.shapes import HEIGHTS, shaped
from benchmarks.case import CaseError
from benchmarks.claims import check_claims
from benchmarks.fidelity.page import checksum
from benchmarks.fresh import ROOT
from benchmarks.plans import adult_content
from kanon.algorithms.catalogue import algorithms, needs_hierarchies, uses
from kanon.experiments.searches import Searches
from kanon.hierarchy.files import read_hierarchy
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.plan_parts import get_own_parameters
from kanon.run import prepare
from kanon.sources.reading import read_table

AGAIN = "run python -m benchmarks.algorithms again"


def result(loss: float, min_k: int = 2, node: tuple[int, ...] | None = None) -> Result:
    return Result(dict.fromkeys(MEASURED, loss), loss, 3, min_k, 0, 0.5, 0, node)


def side(losses: Mapping[Way, Sequence[float]], ks: Sequence[int] = (2, 5)) -> Side:
    found = {
        (way, k): result(loss, k)
        for way, several in losses.items()
        for k, loss in zip(ks, several, strict=True)
    }
    return Side(found, {}, 9, 4, 6)


def searches(lost: Mapping[str, Sequence[float]], levels: Mapping[str, Sequence[int]]) -> Searches:
    """As if the three had lost so much and risen so far at k = 3, 4, …; in 1, 3 and 2 seconds."""
    seconds = {"datafly": 1.0, "samarati": 3.0, "improved-greedy": 2.0}
    rows = [
        {
            "k": k, "algorithm": name, "iloss": loss, "iloss_mean": loss, "seconds": seconds[name],
            "level_of_generalisation": level,
        }
        for name in seconds
        for k, (loss, level) in enumerate(zip(lost[name], levels[name], strict=True), start=3)
    ]  # fmt: skip
    columns = [
        {"columns": number, "algorithm": name, "nodes_evaluated": nodes**number}
        for name, nodes in (("datafly", 1), ("samarati", 3), ("improved-greedy", 2))
        for number in (3, 4)
    ]
    return Searches(
        pd.DataFrame(rows), pd.DataFrame(columns), ("q",), metric_named("ncp"), 0, 9, (1,), ""
    )


def borne_out() -> dict[tuple[str, float], Searches]:
    """Runs that bear out every sentence."""
    found = {}
    for name in SEARCHED:
        for limit in SEARCH_LIMITS:
            shape = name == claims.PUBLISHED_HEIGHTS
            datafly = [3.0, 3.0] if limit or shape else [5.0, 3.0]
            lost = {"datafly": datafly, "samarati": [1.0, 1.0], "improved-greedy": [4.0, 3.5]}
            level = [7, 6] if shape and not limit else [7, 7]
            risen = {"datafly": level, "samarati": [6, 6], "improved-greedy": [7, 6]}
            found[name, limit] = searches(lost, risen)
    return found


GAA, SWEEP, OLA = Way("gaa"), Way("lattice-sweep"), Way("ola", 0.05)


@pytest.mark.nightly
def test_a_sentence_on_the_searches_that_does_not_hold_stops_the_page():
    none = side({})
    runs = borne_out()
    check_claims(claims.CLAIMS, Findings(none, none, runs, 1.0, ""))
    numbers = claims.figures(Findings(none, none, runs, 1.0, ""))
    assert numbers["runs"] == 12 and numbers["points"] == 24 and numbers["higher"] == 0
    assert numbers["as_samarati"] == 12 and numbers["apart"] == 1 and numbers["upto"] == 4
    assert numbers["gap_least"] == numbers["gap_most"] == 0.5
    assert numbers["lost_least"] == numbers["lost_most"] == 275
    assert (numbers["slower_most"], numbers["slowest_most"]) == (2, 1.5)
    assert (numbers["times_least"], numbers["adds"]) == (3, 8)
    flat = {name: [1, 1] for name in ("datafly", "samarati", "improved-greedy")}
    for place in runs:
        wrong = Findings(none, none, runs | {place: searches(flat, flat)}, 1.0, "")
        with pytest.raises(CaseError, match=r"The page would say that .* do not bear out"):
            check_claims(claims.CLAIMS, wrong)


def test_the_hierarchies_have_the_published_heights_and_all_values():
    trees = shaped()
    assert {name: tree.level[tree.root] for name, tree in trees.items()} == HEIGHTS
    folder = ROOT / "hierarchies" / "adult"
    for name, tree in trees.items():
        ours = read_hierarchy(folder / f"{name}.csv").hierarchy
        assert sorted(tree.labels[: tree.n_leaves]) == sorted(ours.labels[: ours.n_leaves])


def test_searches_for_the_least_loss_have_to_agree():
    nodes = {Way(name, limit): (1, 2) for name in LEAST_LOSS for limit in LIMITS}
    found = {(way, 2): result(1.0, 2, node) for way, node in nodes.items()}
    measured._check(Side(found, {}, 9, 4, 6))
    wrong = found | {(OLA, 2): result(1.0, 2, (2, 1))}
    with pytest.raises(CaseError, match=r"disagree at k = 2, 5 %"):
        measured._check(Side(wrong, {}, 9, 4, 6))
    with pytest.raises(CaseError, match=r"GAA released a class below k = 2"):
        measured._check(Side({(GAA, 2): result(1.0, 1)}, {}, 9, 4, 6))
    assert doctest.testmod(tables).failed == 0


def test_every_algorithm_is_run_but_for_levels_chosen_by_hand_and_that_of_small_tables():
    run = {way.algorithm for way in ways()}
    assert run == set(algorithms()) - {"levels", "optimal-local"}
    for name in run:
        limits = {way.limit for way in ways() if way.algorithm == name and not way.parameter}
        may = uses(name, "suppression")
        assert limits == ({*LIMITS, None} if name == "datafly" else {*LIMITS} if may else {None})


# --- What the page says -------------------------------------------------------------------------
def rows_below(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table after a heading, without its head."""
    lines = text[text.index(f"{heading}\n") :].splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("|"))
    body = lines[first + 2 :]
    last = next((i for i, line in enumerate(body) if not line.startswith("|")), len(body))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body[:last]]


def test_the_page_is_about_what_is_here():
    text = PAGE.read_text("utf-8")
    assert checksum("adult") in text and checksum("census") in text, AGAIN
    told = [[way.title, way.allowed] for way in ways()]
    with_mdav = [row for row in told if row[0] != "MDAV"]
    for k in KS:
        title = f"{k:,}"
        assert [row[:2] for row in rows_below(text, f"## Adult, k = {title}")] == with_mdav, AGAIN
        assert [row[:2] for row in rows_below(text, f"\nk = {title}:")] == told, AGAIN


@pytest.mark.nightly
@pytest.mark.adult
def test_the_figures_of_the_page_are_ours(adult_path: Path, monkeypatch):
    """Those of the quick ones at k = 10; all of them nightly."""
    quick = ["gaa", "datafly", "improved-greedy", "optimal", "mondrian"]
    some = [way for way in ways() if way.algorithm in quick]
    monkeypatch.setattr(measured, "ways", lambda: some)
    monkeypatch.setattr(measured, "LEAST_LOSS", ("optimal",))
    table = read_table(adult_path).table
    found = side_by_side(prepare(Plan.from_content(adult_content(GUIDE, 2)), table), "", (10,))
    said = {tuple(row[:2]): row for row in rows_below(PAGE.read_text("utf-8"), "## Adult, k = 10")}
    ours = rows_below("\n" + "x\n" + tables.losses(found, 10), "x")
    for row in ours:
        assert said[row[0], row[1]][:-1] == row[:-1], AGAIN  # but for the seconds


@pytest.mark.adult
@pytest.mark.nightly
def test_the_whole_page_is_ours(adult_path: Path):
    """Every figure but for seconds; five minutes."""
    text, again = PAGE.read_text("utf-8"), page(measure(read_table(adult_path).table))
    for k in KS:
        for heading in (f"## Adult, k = {k:,}", f"\nk = {k:,}:"):
            said, ours = (rows_below(each, heading) for each in (text, again))
            assert [row[:-1] for row in said] == [row[:-1] for row in ours]
    for first, last in (("What loses", "Only numbers"), ("Improved greedy", "Time of")):
        said, ours = (
            each[each.index(f"## {first}") : each.index(f"## {last}")] for each in (text, again)
        )
        assert said == ours


# --- What plans say -----------------------------------------------------------------------------
def test_the_page_on_plans_says_what_each_algorithm_takes():
    text = (ROOT / "docs" / "reference" / "plan.md").read_text("utf-8")
    rows = {row[0].strip("`"): row[1:] for row in rows_below(text, "## What each algorithm takes")}
    assert list(rows) == list(algorithms())
    for name, (shared, own, limit) in rows.items():
        takes = algorithms()[name].CARD.uses
        assert re.findall("`(.+?)`", shared) == [key for key in takes if key != "suppression"]
        described = [
            f"`{one.name}`: {', '.join(f'`{choice}`' for choice in one.choices)}"
            for one in get_own_parameters(name)
        ]
        assert own == "; ".join(described)
        assert all(one.default == next(iter(one.choices)) for one in get_own_parameters(name))
        assert limit == ("yes" if "suppression" in takes else "has to be 0" * (name == "mingen"))
        assert needs_hierarchies(name) == (name not in ("mondrian", "mdav"))
