"""Broken files, plans and edits: an answer or one sentence, never anything else."""

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from benchmarks.reliability import fuzz, targets
from benchmarks.reliability.fuzz import feed, feed_all, one
from benchmarks.reliability.targets import SECRET, TARGETS, Target, check_sentence
from kanon.errors import HierarchyError, KanonError, TableError
from kanon.hierarchy import edit
from kanon.hierarchy.build import groups
from support import job_functions
from support.random_tables import examples


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", TARGETS)
def test_broken_input_is_answered_or_refused_in_a_sentence(name):
    found = feed(name, range(2 * TARGETS[name].share), seed=1)
    assert found.findings == [] and found.inputs > 0


@pytest.mark.nightly
def test_ten_thousand_broken_inputs():
    """A hundredth of what ``make reliability`` feeds, with another seed."""
    found = feed_all(10_000, seed=2)
    assert [finding for fed in found.values() for finding in fed.findings] == []
    assert sum(fed.inputs for fed in found.values()) == 10_000


# --- the editor, step by step -----------------------------------------------------------------
LEAVES = tuple("abcdefgh")


class Editing(RuleBasedStateMachine):
    """Operations on one tree, whatever they are given: each works, or refuses and changes nothing.

    The leaves stay, and where weights were drawn, so does the tree's being one with weights.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tree = groups([{"A": ["a", "b", "c"], "B": ["d", "e"]}, {"C": ["B", "f", "g"]},
                            {"*": ["A", "C", "h"]}])  # fmt: skip
        self.made = 0

    def attempt(self, operation, *given) -> None:
        before = [*self.tree.entries()]
        try:
            after = operation(self.tree, *given)
        except KanonError as error:
            check_sentence(error)
            after = self.tree
        assert [*self.tree.entries()] == before, "the argument was changed"
        self.tree = after

    labels = st.lists(st.integers(0, 30), max_size=4)

    def named(self, places):
        return [self.tree.labels[place % self.tree.n_nodes] for place in places]

    @rule(places=labels, to=st.integers(0, 30))
    def move(self, places, to):
        self.attempt(edit.move, self.named(places), *self.named([to]))

    @rule(places=labels, name=st.text(max_size=3) | st.sampled_from(["A", "*", "a", " B "]))
    def group(self, places, name):
        self.attempt(edit.group, self.named(places), name)

    @rule(places=labels)
    def group_anew(self, places):
        self.made += 1
        self.attempt(edit.group, self.named(places), f"group {self.made}")

    @rule(places=labels)
    def ungroup(self, places):
        self.attempt(edit.ungroup, self.named(places))

    @rule(places=labels)
    def give_a_level(self, places):
        if self.tree.n_nodes < 40:
            self.attempt(edit.insert_group_above, self.named(places))

    @rule(place=st.integers(0, 30), name=st.text(max_size=3))
    def rename(self, place, name):
        self.attempt(edit.rename, *self.named([place]), name)

    @rule(place=st.integers(0, 30))
    def sort(self, place):
        self.attempt(edit.sort, *self.named([place]))

    @rule(weight=st.floats(0, 9) | st.none())
    def draw_all(self, weight):
        given = None if weight is None else [weight] * self.tree.n_nodes
        self.attempt(edit.with_weights, given)

    @rule(place=st.integers(0, 30), weight=st.floats() | st.text(max_size=2) | st.none())
    def weigh(self, place, weight):
        self.attempt(edit.set_weight, *self.named([place]), weight)

    @invariant()
    def is_a_tree_over_the_same_leaves(self):
        assert sorted(self.tree.labels[: self.tree.n_leaves]) == sorted(LEAVES)
        targets._is_tree(self.tree)


Editing.TestCase.settings = settings(examples(60), stateful_step_count=20)
TestEditing = Editing.TestCase


# --- the fuzzer itself ------------------------------------------------------------------------
def target(feed_it, make=lambda draw: draw.random()):
    return Target("a test", 0, make, feed_it)


def refuses(sentence):
    def feed_it(given):
        raise HierarchyError(sentence)

    return target(feed_it)


def test_what_is_a_finding():
    assert one(target(lambda given: None), Random(1))[0] is False
    assert one(refuses("The tree has no root; give it one."), Random(1))[0] is True
    with pytest.raises(ZeroDivisionError):
        one(target(lambda given: 1 / 0), Random(1))
    for sentence in (
        "two\nlines",
        "Traceback (most recent call last)",
        "",
        "x" * 5000,
        "half \ud800",
    ):
        with pytest.raises((AssertionError, UnicodeEncodeError)):
            one(refuses(sentence), Random(1))


def test_cells_in_the_text_of_an_exception_are_a_finding(monkeypatch):
    def leaks(*_):
        raise TableError(f"The cell {SECRET} is wrong.")

    monkeypatch.setattr(targets, "read_table", leaks)
    said = " ".join(feed("csv", range(100), seed=1).findings)
    assert "a cell in TableError" in said


@pytest.mark.nightly
def test_a_process_that_dies_is_a_finding_and_the_next_goes_on(monkeypatch):
    monkeypatch.setattr(fuzz, "_child", job_functions.dies_at_every_fourth_input)
    done, rest = fuzz._in_a_process("csv", range(10, 20), 1)
    assert (done.inputs, rest) == (4, range(14, 20))
    assert done.findings == ["1/csv/13: the process died, or hung and was killed"]
