"""Random tables, hierarchies and plans released by every algorithm; and that a fault is noticed."""

from random import Random
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reliability import releases
from benchmarks.reliability.random_plans import Drawn
from benchmarks.reliability.reckoning import MODELS, missed_by
from benchmarks.reliability.releases import Broken, Counts, release_many, release_one_table
from kanon.algorithms.catalogue import algorithms
from kanon.metrics import METRICS
from kanon.privacy.plans import MODEL_PLANS
from kanon.run import Run
from kanon.strategies import STRATEGIES
from support.random_tables import examples


def check_covered(counts: Counts, most: int) -> None:
    assert counts.released.total() >= most
    assert set(counts.released) == set(algorithms()) and set(counts.models) == set(MODELS)
    assert counts.suppressed > 0 and counts.checked > 0


@pytest.mark.parametrize("most", [100, pytest.param(500, marks=pytest.mark.nightly)])
def test_many_releases_are_what_was_asked_for(most):
    check_covered(release_many(most, seed=1), most)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 6))
def test_ten_thousand_releases_are_what_was_asked_for(seed):
    """A tenth of what ``make reliability`` makes."""
    counts = release_many(2_500, seed=seed)
    check_covered(counts, 2_500)
    assert set(counts.metrics) == set(METRICS) and set(counts.strategies) == set(STRATEGIES)


@pytest.mark.nightly
@given(st.randoms(note_method_calls=False, use_true_random=False))
@examples(10)
def test_releases_that_shrink(draw):
    """The same, drawn by hypothesis, so that what fails becomes as small as it can."""
    release_one_table(draw, Counts())


# --- the reckoning, by hand -------------------------------------------------------------------
# Four colds and two flus: in X three colds and a flu, in Y a cold and a flu.
TUPLES = [("X",)] * 4 + [("Y",)] * 2
ILL = ["cold", "cold", "cold", "flu", "cold", "flu"]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"model": "k-anonymity", "k": 3}, 1),
        ({"model": "distinct-l-diversity", "l": 2}, 0),
        ({"model": "entropy-l-diversity", "l": 2}, 2 - 4 / 27**0.25),
        ({"model": "recursive-cl-diversity", "c": 2, "l": 2}, 1),
        ({"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2}, 0.25),
        ({"model": "t-closeness", "t": 0.25}, 1 / 12),
        ({"model": "t-closeness", "t": 0.25, "distance": "variational"}, 1 / 6 - 0.25),
        ({"model": "t-closeness", "t": 0.25, "distance": "emd-ordered"}, 1 / 6 - 0.25),
        ({"model": "delta-disclosure", "delta": 0.25}, 0.4054651081081644 - 0.25),
        ({"model": "basic-beta-likeness", "beta": 0.25}, 0.25),
        ({"model": "enhanced-beta-likeness", "beta": 0.25}, 0.25),
    ],
)
def test_models_by_hand(part, expected):
    assert missed_by({**part, "column": "ill"}, TUPLES, {"ill": ILL}) == pytest.approx(expected)


def test_every_model_has_a_reckoning():
    assert set(MODELS) == set(MODEL_PLANS) - {"k-map", "delta-presence"}, "they need a population"


# --- what must be noticed ---------------------------------------------------------------------
def check_noticed(said, **how):
    """That one of forty tables is found to be broken."""
    with pytest.raises(Broken, match=said):
        for number in range(40):
            release_one_table(Random(f"spoiled/{number}"), Counts(), **how)


def spoiling(monkeypatch, spoil, but=()):
    """Have every release spoiled before it is looked at, but for those of some orders."""
    true = Run.released

    def spoiled(self, index=False, order=None):
        released = true(self, index, order)
        return released if order in but else spoil(released)

    monkeypatch.setattr(Run, "released", spoiled)


def swapped(released):
    return released.iloc[[*range(1, len(released)), 0]]


def written_over(column, value):
    return lambda released: released.assign(**{column: value}) if column in released else released


def without_a_row(released):
    return released.iloc[1:]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (swapped, "another index|not as they were"),
        (without_a_row, "were suppressed|row is lacking"),
        (written_over("q0", "elsewhere"), "became 'elsewhere'|is not the root"),
        (written_over("row", 7), "stands twice|not as they were|not blank"),
        (written_over("ill", "flu"), "cells of ill are not as they were|ill is not blank"),
        (written_over("name", "Ana"), "other columns|a name stands|one person's"),
        (lambda released: released.rename(columns={"q0": "q"}), "other columns"),
        (lambda released: released.reset_index(drop=True), "another index"),
    ],
)
def test_a_spoiled_release_is_noticed(monkeypatch, spoil, said):
    spoiling(monkeypatch, spoil)
    check_noticed(said)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(swapped, "in the order of their cells"), (without_a_row, "other rows leave")],
)
def test_rows_that_leave_otherwise_are_noticed(monkeypatch, spoil, said):
    spoiling(monkeypatch, spoil, but=["table"])
    check_noticed(said)


def test_a_release_that_breaks_a_model_is_noticed(monkeypatch):
    """The original values stand at or above themselves, and nothing but Φ forbids them."""
    drawn: list[Drawn] = []
    true = releases.draw_table

    def remembered(draw):
        drawn.append(true(draw))
        return drawn[-1]

    def original(released):
        texts = drawn[-1].texts
        if "suppressed" in released or any(None in column for column in texts.values()):
            return released
        rows = released["row"].tolist()
        return released.assign(
            **{column: [cells[row] for row in rows] for column, cells in texts.items()}
        )

    monkeypatch.setattr(releases, "draw_table", remembered)
    spoiling(monkeypatch, original)
    check_noticed("is missed by")


@pytest.mark.parametrize("what", ["table", "hierarchies", "plan"])
def test_an_algorithm_that_changes_what_it_is_given_is_noticed(monkeypatch, what):
    drawn: list[Drawn] = []
    true_table, true_finished = releases.draw_table, releases.finished

    def remembered(draw):
        drawn.append(true_table(draw))
        return drawn[-1]

    def careless(prepared, recoding, seconds):
        done = true_finished(prepared, recoding, seconds)
        if what == "table":
            drawn[-1].table.index = drawn[-1].table.index + 1
        elif what == "plan":
            prepared.plan.privacy.pop()
        else:
            level = prepared.classes.hierarchies[0].level
            level.setflags(write=True)
            level[-1] += 1
        return done

    monkeypatch.setattr(releases, "draw_table", remembered)
    monkeypatch.setattr(releases, "finished", careless)
    with pytest.raises(Broken, match=r"changed|another index"):
        release_one_table(Random("careless"), Counts())


def test_a_check_that_disagrees_is_noticed(monkeypatch):
    met = SimpleNamespace(holds=True)
    monkeypatch.setattr(releases, "check_release", lambda table, plan: [met] * len(plan.privacy))
    check_noticed("the check says True", every=1)


def test_a_number_repeats_a_table():
    one, same = (releases.draw_table(Random("1/7")).table for _ in range(2))
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(releases.draw_table(Random("1/8")).table)
