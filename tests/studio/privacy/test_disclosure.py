"""What the page Privacy says about classes: their order, distributions and sentences."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.charts.curves import draw_alteration_curve
from kanon.charts.figure import find_drawn_k
from kanon.charts.privacy import (
    AFTER_COLOUR,
    Series,
    build_distribution_table,
    draw_distribution_bars,
)
from kanon.classes import EquivalenceClasses
from kanon.hierarchy.build import suppression
from kanon.hierarchy.ranges import LeafRange, add_ranges, build_flat_hierarchy
from kanon.measures.along import Curves
from kanon.measures.worst_classes import (
    LEVELS,
    find_worst_classes,
    list_class_measures,
    round_levels,
)
from kanon.metrics import metric_named
from kanon.sensitive import Sensitive
from kanon.studio.privacy.attacker import choose_person_by
from kanon.studio.privacy.disclosure import (
    find_class_position,
)
from kanon.studio.session.text import get_released_tuple
from support.random_tables import examples


def release(*classes: str, column: str = "ill", attribute: str = "zip") -> EquivalenceClasses:
    """A release with a class per word, and in it a record per letter, its sensitive value."""
    values = sorted(set("".join(classes)))
    group = [place for place, word in enumerate(classes) for _ in word]
    codes = [values.index(letter) for word in classes for letter in word]
    numeric = all(value.isdigit() for value in values)
    tree = suppression([f"z{place}" for place in range(len(classes))])
    sensitive = Sensitive.from_records(column, values, numeric, group, codes, len(classes))
    nodes = np.arange(len(classes), dtype=np.int32)[:, None]
    return EquivalenceClasses(
        (attribute,), (tree,), nodes, np.array([len(word) for word in classes]), (sensitive,)
    )


FOUR = release("aaab", "cc", "aaaa", "abcd")


def test_worst_classes_come_first():
    """l = 1 twice; of these the rarer value surprises more. Then aaab, then abcd."""
    order, table = find_worst_classes(FOUR, "ill", "entropy_l", ())
    assert order.tolist() == [1, 2, 0, 3]
    assert table["records"].tolist() == [2, 4, 4, 4]
    assert table["most frequent"].tolist() == ["c", "a", "a", "a"]
    assert table["best guess, % ↓"].tolist() == [100, 100, 75, 25]
    assert table["zip"].tolist() == ["z1", "z2", "z0", "z3"]
    assert table["l ↑"].tolist() == [1, 1, 1.75, 4], "1.754765, rounded down"


@pytest.mark.parametrize("by", [name for name in LEVELS if LEVELS[name].fits(FOUR.sensitive[0])])
def test_every_level_puts_its_worst_first(by):
    order, table = find_worst_classes(FOUR, "ill", by, ("distinct_l",))
    found = LEVELS[by].each(FOUR.sensitive[0])[order]
    lower = LEVELS[by].card.direction == "lower"
    assert (found == np.sort(found)[:: -1 if lower else 1]).all()
    assert sorted(order.tolist()) == [0, 1, 2, 3] and LEVELS[by].heading in table
    assert ("↓" in LEVELS[by].heading) == lower


def test_the_ordered_distance_is_for_numbers():
    assert "t_emd_ordered" not in list_class_measures(FOUR.sensitive[0])
    assert "t_hierarchical" not in list_class_measures(FOUR.sensitive[0])
    numbers = release("112", "3333")
    assert "t_emd_ordered" in list_class_measures(numbers.sensitive[0])
    assert find_worst_classes(numbers, "ill", "t_emd_ordered", ())[0].tolist() == [0, 1]


def test_a_column_called_like_a_number_of_the_page_is_shown_too():
    _, table = find_worst_classes(release("ab", "cc", attribute="records"), "ill", "entropy_l", ())
    assert len(table.columns) == 6 and table.columns.is_unique


def test_a_class_is_found_again_by_what_it_looks_like():
    listed = np.array([1, 2])
    assert get_released_tuple(FOUR, 3) == ("z3",)
    assert find_class_position(FOUR, ("z3",), listed) == 3
    assert (
        find_class_position(FOUR, ("z9",), listed) == find_class_position(FOUR, None, listed) == 1
    )
    assert find_class_position(FOUR, ("z3", "z3"), listed) == 1, "another table had more columns"


def test_a_class_of_ranges_is_found_again_though_its_ranges_have_other_numbers():
    low, high = LeafRange(0, 2, "[0, 1]"), LeafRange(2, 4, "[2, 3]")

    def two(*ranges: LeafRange) -> EquivalenceClasses:
        tree = add_ranges(build_flat_hierarchy(["0", "1", "2", "3"]), ranges)
        nodes = np.array([[tree.node_of[each.label]] for each in ranges], dtype=np.int32)
        return EquivalenceClasses(("age",), (tree,), nodes, np.full(len(ranges), 2))

    one, other = two(low, high), two(high, low)
    chosen = get_released_tuple(one, 0)
    assert chosen == ("[0, 1]",)
    assert one.nodes[0] != other.nodes[1]
    assert find_class_position(other, chosen, np.array([0, 1])) == 1


@pytest.mark.parametrize("by", [name for name in LEVELS if LEVELS[name].fits(FOUR.sensitive[0])])
def test_no_level_is_rounded_to_the_better_side(by):
    level, sensitive = LEVELS[by], release("aaab", "aab", "abcd", "abbbbbb").sensitive[0]
    exact, shown = level.each(sensitive), round_levels(level, sensitive)
    if level.unit != "%":
        lower = level.card.direction == "lower"
        assert (shown >= exact - 1e-9 if lower else shown <= exact + 1e-9).all()
        there = np.isfinite(exact)
        assert (np.abs(shown[there] - exact[there]) < 0.01).all()
        assert (shown[~there] == exact[~there]).all()
    else:  # shares: to one decimal, but for what is nearly certain
        assert (np.abs(shown - 100 * exact) <= 0.05 + 1e-9).all()
        assert (np.isin(shown, (0, 100)) == np.isin(exact, (0, 1))).all()


def test_nearly_certain_does_not_look_certain():
    sensitive = release("a" * 4999 + "b", "cc").sensitive[0]
    assert round_levels(LEVELS["alpha"], sensitive).tolist() == [99.9, 100]


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    st.integers(1, 8),
    st.booleans(),
)
def test_a_distribution_loses_no_record(counts, most, numeric):
    table, inside = (np.array(column) for column in zip(*counts, strict=True))
    values = [str(place) for place in range(len(counts))]
    found = build_distribution_table(values, numeric, {"table": table, "class": inside}, most)
    assert found["table"].sum() == table.sum() and found["class"].sum() == inside.sum()
    for name, whole in (("table", table), ("class", inside)):
        assert found[f"{name}, %"].sum() == pytest.approx(100 if whole.sum() else 0)
    assert len(found) <= most + 1
    kept = [value for value in found["value"] if "other" not in value]
    if numeric:
        assert kept == sorted(kept, key=int)
    figure = draw_distribution_bars(
        found, Series("table", "#000000"), [Series("class", AFTER_COLOUR)], "t", "share"
    )
    assert list(figure.data[0].x) == found["class, %"].tolist()


def curves_of(*min_k):
    """Curves over these k, at an alteration of 1, 2, 3, … percent."""
    k = np.array(min_k)
    number = np.arange(1.0, len(k) + 1)
    return Curves(k, number, {"nllm": number}, number, number, number)


@examples(60)
@given(st.sets(st.integers(1, 400), min_size=1, max_size=20))
def test_a_curve_is_drawn_through_the_ends_of_its_steps(min_k):
    """Every k that is drawn has the number of its own release, and no jump lies on a k."""
    curves = curves_of(*sorted(min_k))
    ks, rows = find_drawn_k(curves)
    assert (np.diff(ks) > 0).all() and ks[-1] == max(min_k)
    assert rows.tolist() == [curves.row(int(k)) for k in ks]
    jumps = np.flatnonzero(np.diff(rows))
    assert (ks[jumps + 1] - ks[jumps] == 1).all()
    assert {k for k in range(2, 51) if k <= max(min_k)} <= set(ks.tolist())


def test_the_alteration_of_a_small_table_has_dots_and_that_of_a_large_one_none():
    metric = metric_named("nllm")
    small = draw_alteration_curve(curves_of(1, 2, 4, 10), metric, 2)
    assert small.data[0].mode == "lines+markers" and list(small.data[0].x) == [*range(2, 11)]
    assert list(small.data[0].y) == [2, 3, 3, *[4] * 6]
    large = draw_alteration_curve(curves_of(1, 2, 400), metric, 2)
    assert large.data[0].mode == "lines" and large.data[0].line.shape == "hvh"


def test_a_cost_that_is_not_quite_nothing_does_not_look_like_it():
    tiny = replace(curves_of(1, 9), alteration={"nllm": np.array([0.0, 0.01])})
    figure = draw_alteration_curve(tiny, metric_named("nllm"), 5)
    assert "costs < 0.1 %" in figure.layout.title.text
    assert "< 0.1 %" in figure.data[1].text[0] and figure.data[0].customdata[-1] == "< 0.1 %"
    table = build_distribution_table(
        ["a", "b"], False, {"table": np.array([9999, 1]), "class": np.array([9999, 1])}
    )
    bars = draw_distribution_bars(
        table, Series("table", "#000000"), [Series("class", AFTER_COLOUR)], "t", "share"
    )
    assert [text.strip() for text in bars.data[1].text] == ["> 99.9 %", "< 0.1 %"]


def test_who_stands_out_is_unique_by_what_is_known_if_anybody_is():
    table = replace(FOUR, counts=np.array([3, 1, 2, 1]))
    assert choose_person_by(table, ["zip"]) in ({"zip": "z1"}, {"zip": "z3"})
    drawn = {choose_person_by(table, ["zip"], np.random.default_rng(s))["zip"] for s in range(20)}
    assert drawn == {"z1", "z3"}
    nobody_unique = replace(FOUR, counts=np.array([3, 2, 2, 4]))
    drawn = {
        choose_person_by(nobody_unique, ["zip"], np.random.default_rng(s))["zip"] for s in range(40)
    }
    assert drawn == {"z0", "z1", "z2", "z3"}
    assert choose_person_by(table, []) and set(choose_person_by(table, [])) == {"zip"}
