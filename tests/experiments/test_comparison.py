"""Comparisons: ranks, areas and bands by hand, and the board that shows them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.charts.board import draw_board
from kanon.charts.comparison_measures import build_measure_table
from kanon.charts.difference import (
    build_difference_table,
    describe_differences,
    describe_what_if,
    draw_difference,
    draw_what_if,
)
from kanon.charts.scatter import build_scatter_table
from kanon.errors import PlanError
from kanon.experiments.comparison import (
    INTERVALS,
    K_PRESETS,
    PAPER_K,
    Comparison,
    Line,
    build_lines,
    compare_before_and_after,
    compute_means_by_characteristic,
)
from kanon.experiments.criteria import CRITERIA, SUPPRESSED_CARD
from kanon.experiments.sweep import (
    Configuration,
    PlannedRun,
    combine_configurations,
    create_tasks,
    run_sweep,
    sweep,
)
from kanon.experiments.titles import combine_settings, create_titles, name_configuration
from kanon.measures.along import Curves, Points
from kanon.measures.comparing import Difference, rank_configurations
from kanon.metrics import METRICS
from kanon.plan import Plan
from kanon.run import measured_metrics, prepare
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from support.random_tables import SEVEN, examples, problems


def line(metric: str, values: list[float], *ties: list[float], ks=(2, 4, 6)) -> Line:
    """A line whose percentages are all the given ones, under tie seeds None, 7, 8, …"""

    def points(numbers):
        percent = np.array(numbers, dtype=float)
        names = [f"alteration_{name}" for name in SEVEN]
        names += [name for name in CRITERIA if name != "min_k"]
        numbers = dict.fromkeys(names, percent)
        return Points({"k": np.array(ks), "min_k": np.array(ks), "classes": percent, **numbers})

    seeds = [None, *range(7, 7 + len(ties))]
    runs = {seed: points(one) for seed, one in zip(seeds, (values, *ties), strict=True)}
    return Line(Configuration(metric), METRICS[metric], runs)


def compared(*lines: Line, ks=(2, 4, 6), n_records: int = 6) -> Comparison:
    return Comparison(lines, tuple(METRICS[name] for name in SEVEN), n_records, tuple(ks))


def test_ranks_and_their_ties_by_hand():
    found = compared(line("ncp", [1.2, 5, 9]), line("llm", [0.8, 5, 9]), line("total", [3, 4, 9]))
    exact = found.compare_alterations(2)
    assert exact.values.index.tolist() == list(SEVEN)
    assert exact.values.columns.tolist() == ["ncp", "llm", "total"]
    assert exact.ranks.iloc[0].tolist() == [2, 1, 3]
    assert found.compare_alterations(2, digits=0).ranks.iloc[0].tolist() == [1, 1, 3]
    assert found.compare_alterations(6).ranks.iloc[0].tolist() == [1, 1, 1]
    assert exact.undecided is None


def test_areas_by_hand():
    """Trapezoids: 15 + 15 + 5 + 3 over an interval of length 4."""
    ks = (2, 3, 4, 5, 6)
    found = compared(
        line("ncp", [0, 5, 10, 15, 20], ks=ks), line("llm", [10, 20, 10, 0, 6], ks=ks), ks=ks
    ).areas(2, 6)
    assert found.values.index.tolist() == [name for name in CRITERIA if name != "min_k"]
    assert found.values.iloc[0].tolist() == [10, 9.5]


def test_bands_and_what_is_undecided_by_hand():
    found = compared(
        line("ncp", [5, 1, 1], [4, 1, 1], [6, 1, 1]),
        line("llm", [6.5, 2, 2], [5.9, 2, 2], [7, 2, 2]),
        line("total", [9, 3, 3], [8, 3, 3], [9, 3, 3]),
    )
    at_two = found.compare_alterations(2)
    assert at_two.low.iloc[0].tolist() == [4, 5.9, 8]
    assert at_two.high.iloc[0].tolist() == [6, 7, 9]
    assert at_two.undecided.iloc[0].tolist() == [True, True, False]
    assert at_two.ranks.iloc[0].tolist() == [1, 2, 3]
    assert not found.compare_alterations(4).undecided.any(axis=None)
    assert found.at("mean_alteration", [2, 4])[0].tolist() == [[5, 1], [4, 1], [6, 1]]
    assert at_two.table().query("measured == 'ncp'")["undecided"].tolist() == [True, True, False]
    assert at_two.mean_ranks.tolist() == [1, 2, 3]


def test_what_is_hidden_is_left_out():
    found = compared(line("ncp", [1, 1, 1], [1, 1, 1]), line("llm", [2, 2, 2], [2, 2, 2]))
    assert found.has_bands
    less = found.only(["llm"], bands=False)
    assert [one.configuration.metric for one in less.lines] == ["llm"]
    assert not less.has_bands
    assert found.has_bands, "the comparison itself stays as it was"


NUMBERS = st.integers(0, 40).map(lambda part: part / 4)


@st.composite
def banded(draw):
    """A table of values, each with a band around it."""
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    values, below, above = (
        pd.DataFrame([[draw(NUMBERS) for _ in range(shape[1])] for _ in range(shape[0])])
        for _ in range(3)
    )
    return values, values - below, values + above


@examples(150, in_gate=8)
@given(banded(), st.data())
def test_laws_of_standings(table, data):
    values, low, high = table
    found = rank_configurations(values, low, high)
    for row in values.index:
        one = values.loc[row]
        best = one.min()
        for name in values.columns:
            assert found.ranks.at[row, name] == 1 + sum(other < one[name] for other in one)

        # By the definition, pair by pair: bands that overlap, unless both are points.
        def overlap(name, other, row=row):
            (a, b), (c, d) = ((low.at[row, x], high.at[row, x]) for x in (name, other))
            return (a < b or c < d) and a <= d and c <= b

        firsts = [name for name in values.columns if one[name] == best]
        for name in values.columns:
            rivals = firsts if name not in firsts else values.columns
            widest = any(overlap(name, other) for other in rivals if other != name)
            assert not found.undecided.at[row, name] or widest or len(firsts) > 1
            if widest:
                assert found.undecided.at[row, name]
    order = data.draw(st.permutations(list(values.columns)))
    again = rank_configurations(values[order], low[order], high[order])
    assert again.undecided[values.columns].equals(found.undecided), "the order of columns decides"
    assert again.ranks[values.columns].equals(found.ranks)


def test_the_proposed_interval_fits_what_is_known():
    ks = (2, 3, 4, 100, 2000, 2500)
    many = compared(line("ncp", [1] * 6, ks=ks), ks=ks, n_records=3000)
    assert many.interval == INTERVALS[0]
    assert compared(line("ncp", [1, 1, 1])).interval == (4, 6)
    assert compared(line("ncp", [1], ks=(2,)), ks=(2,), n_records=2).interval is None
    low, high = compared(line("ncp", [1, 1], ks=(2, 3)), ks=(2, 3), n_records=9).interval
    assert (low, high) == (2, 3)


@examples(20)
@given(problems(), st.sampled_from(["gaa", "gaa-small"]))
def test_the_proposed_interval_can_be_measured(problem, name):
    assume(len(problem.rows) >= 3)
    comparison = real(problem, name)
    assert comparison.interval is not None
    assert (comparison.areas(*comparison.interval).values >= 0).all(axis=None)


@examples(20)
@given(problems(), st.data())
def test_including_a_k_adds_it(problem, data):
    assume(len(problem.rows) >= 3)
    comparison = real(problem)
    fewer = replace(comparison, ks=comparison.ks[::2])
    k = data.draw(st.integers(2, len(problem.rows)))
    more = fewer.add_k(k)
    assert set(more.ks) == {*fewer.ks, k} and list(more.ks) == sorted(more.ks)
    assert more.add_k(k).ks == more.ks
    assert fewer.add_k(len(problem.rows) + 1) is fewer
    assert more.compare_alterations(k).values.equals(comparison.compare_alterations(k).values)


def test_lines_with_k_of_their_own_by_hand():
    """One line knows k = 2, 4 and 6, the other 2 and 6: 4 is shown, and compared by none."""
    found = compared(line("ncp", [1, 5, 9]), line("llm", [3, 6], ks=(2, 6)))
    values = found.at("mean_alteration", [2, 4, 6])[:, 0]
    assert values[0].tolist() == [1, 5, 9] and values[1][[0, 2]].tolist() == [3, 6]
    assert np.isnan(values[1][1])
    assert found.shared_ks == (2, 6) and found.interval == (2, 6)
    assert found.compare_alterations(4).ranks.columns.tolist() == ["ncp"]
    assert found.places(2).values.columns.tolist() == ["ncp", "llm"]
    assert found.describe_lacks([2, 6]) == ""
    assert found.describe_lacks([2, 4]) == "LLM has no value at k = 4."
    # Trapezoids: (1 + 5) + (5 + 9) over 4, and the ends alone where 4 is not among the points.
    assert found.areas(2, 6, points=(4,)).values.iloc[0].to_dict() == {"ncp": 5.0}
    assert found.areas(2, 6, points=()).values.iloc[0].to_dict() == {"ncp": 5.0, "llm": 4.5}
    with pytest.raises(PlanError, match=r"No line has a value .* such as 2 to 6"):
        found.areas(3, 5)
    gap = found.difference("mean_alteration", "ncp", "llm")
    assert (gap.ks, gap.values.tolist()) == ((2, 6), [-2.0, 3.0])
    assert describe_differences(found, "ncp", "llm", 4) == ["LLM has no value at k = 4."]
    assert draw_difference(found, "ncp", "llm", 4).layout.title.text.endswith("no value at k = 4.")
    table = found.table().groupby("configuration")["k"].agg(list)
    assert table.to_dict() == {"ncp": [2, 4, 6], "llm": [2, 6]}
    board = draw_board(found)
    assert board.cursor["headlines"][1] == (
        "k = 4: guided by NCP, 5.0 % is lost on average over the seven metrics. "
        "LLM has no value at k = 4."
    )
    (mean, *_) = board.cursor["columns"]
    assert mean["shown"] == [["1.0", "5.0", "9.0"], ["3.0", "–", "6.0"]]
    assert mean["marks"] == [[1, 0, 0], [0, 0, 1]], "alone, a line is not the best"
    drawn = [list(trace.x) for trace in board.figure.data if trace.meta == "line"][:2]
    assert drawn == [[2, 4, 6], [2, 6]]
    only = compare_before_and_after(found, found, 4)
    assert only["k_before"].to_dict() == {"ncp": 4, "llm": 6}


def test_what_lines_meet_stands_in_every_file():
    found = replace(both(), requirement="Every line meets it.")
    first, second = (one.name for one in found.lines)
    for table in (
        found.table(),
        build_measure_table(found, "l_percent"),
        build_scatter_table(found, "l_percent"),
        build_difference_table(found, first, second),
    ):
        assert set(table["requirement"]) == {"Every line meets it."}
    assert "requirement" not in both().table().columns


@examples(20)
@given(problems(), st.data())
def test_a_line_is_the_same_beside_another_with_fewer_k(problem, data):
    assume(len(problem.rows) >= 3)
    full = real(problem)
    ks = data.draw(st.sets(st.sampled_from(full.ks), min_size=1).map(sorted))
    whole, part = full.lines
    fewer = replace(part, runs={None: Points(part.runs[None].at(ks))})
    mixed = replace(full, lines=(whole, fewer))
    assert mixed.shared_ks == tuple(ks) and mixed.list_ks(whole) == list(full.ks)
    known = np.isin(full.ks, ks)
    for name in CRITERIA:
        alone, beside = full.at(name, full.ks), mixed.at(name, full.ks)
        assert np.array_equal(alone[0], beside[0])
        assert np.array_equal(alone[1][:, known], beside[1][:, known])
        assert np.isnan(beside[1][:, ~known]).all()
    k = data.draw(st.sampled_from(full.ks))
    places = mixed.places(k)
    assert len(places.values.columns) == (2 if k in ks else 1)
    assert np.isfinite(places.values).all(axis=None)


def test_characteristics_are_means_over_the_metrics_that_share_them():
    ks = (2, 6)
    found = compared(
        line("total", [10, 10], ks=ks), line("ncp", [20, 20], ks=ks), line("wllm", [60, 60], ks=ks),
        ks=ks,
    )  # fmt: skip
    areas = rank_configurations(found.compare_alterations(2).values.iloc[:1])
    groups = compute_means_by_characteristic(areas, [one.guide for one in found.lines])
    assert groups.iloc[:, 1].to_dict() == {
        ("counts", "levels"): 10,
        ("counts", "leaves"): 40,
        ("multiplier", "none"): 15,
        ("multiplier", "w1"): 60,
        ("normalised", "yes"): 15,
        ("normalised", "no"): 60,
    }
    assert groups["metrics"].sum() == 3 * 3
    assert compute_means_by_characteristic(areas, [METRICS["custom"]] * 3).empty


# --- Strategies and a sensitive column ----------------------------------------------------------
def sensitive_line(metric, strategy, losses, ls, ts, best=4.0, ks=(2, 4, 6), column="ill"):
    """A line with losses in percent, and with entropy l and norm-1 t; a list per tie seed."""
    seeds = [None, *range(7, 6 + len(losses))]
    runs = {}
    for seed, loss, l_values, t_values in zip(seeds, losses, ls, ts, strict=True):
        (plain,) = line(metric, loss, ks=ks).runs.values()
        more = {"entropy_l": np.array(l_values, float), "t_norm1": np.array(t_values, float)}
        runs[seed] = Points({**plain.numbers, **more})
    one = Configuration(metric, strategy)
    return Line(one, METRICS[metric], runs, title=strategy.upper(), best_l={column: best})


def both(bands=False) -> Comparison:
    """S1 loses less, S3 protects better; at k = 6 both are one class."""
    low = sensitive_line(
        "ncp", "s1", [[10, 20, 100], [12, 22, 100]], [[1, 2, 4], [1, 3, 4]],
        [[2, 1, 0], [2, 0.8, 0]],
    )  # fmt: skip
    high = sensitive_line(
        "ncp", "s3", [[30, 21, 100], [35, 19, 100]], [[2, 3, 4], [2, 3.5, 4]],
        [[1, 0.9, 0], [1, 0.5, 0]],
    )  # fmt: skip
    found = replace(compared(low, high), sensitive="ill")
    return found if bands else found.only([one.name for one in found.lines], bands=False)


def test_l_and_t_are_percentages_with_directions_of_their_own():
    found = both()
    assert list(found.criteria) == [*CRITERIA, "l_percent", "t_percent"]
    assert found.at("l_percent", [2, 4, 6])[:, 0].tolist() == [[25, 50, 100], [50, 75, 100]]
    assert found.at("t_percent", [2, 4, 6])[:, 0].tolist() == [[1, 0.5, 0], [0.5, 0.45, 0]]
    places = found.places(2)
    assert places.ranks.loc["mean_alteration"].tolist() == [1, 2]
    assert places.ranks.loc["l_percent"].tolist() == [2, 1], "a higher l is better"
    assert places.ranks.loc["t_percent"].tolist() == [2, 1]
    assert places.behind.loc["l_percent"].tolist() == [1, 0]
    assert places.behind.loc["l_percent"].tolist() != places.behind.loc["mean_alteration"].tolist()
    areas = found.areas(2, 6, [4])
    assert areas.values.loc["l_percent"].tolist() == [56.25, 75]
    assert areas.ranks.loc["l_percent"].tolist() == [2, 1]
    assert "min_k" not in areas.values.index, "records are no percentage"
    assert areas.values.index[0] == "alteration_ncp", "as the metric counts that guides both"
    mixed = replace(found, lines=(found.lines[0], line("llm", [1, 2, 3])))
    assert found.guide is METRICS["ncp"] and mixed.guide is None
    assert mixed.areas(2, 6, [4]).values.index[0] == "mean_alteration"
    assert found.card("l_percent").direction == "higher"
    assert found.card("alteration_ncp").title == "Alteration measured by NCP"


def test_without_the_column_everywhere_l_and_t_are_not_shown():
    found = both()
    assert list(replace(found, sensitive="").criteria) == list(CRITERIA)
    assert list(replace(found, sensitive="other").criteria) == list(CRITERIA)
    more = replace(found, lines=(*found.lines, line("llm", [1, 2, 3])))
    assert list(more.criteria) == list(CRITERIA) and more.sensitive_columns == ()


def test_of_several_columns_each_is_looked_up_by_its_name():
    found = both()
    lines = []
    for one in found.lines:
        runs = {
            seed: Points({
                **{name: x for name, x in run.numbers.items() if "entropy" not in name},
                "entropy_l_ill": run.numbers["entropy_l"], "entropy_l_pay": np.full(3, 2.0),
            })
            for seed, run in one.runs.items()
        }  # fmt: skip
        lines.append(replace(one, runs=runs, best_l={"ill": 4.0, "pay": 8.0}))
    several = replace(found, lines=tuple(lines))
    assert several.at("l_percent", [2])[:, 0, 0].tolist() == [25, 50]
    assert replace(several, sensitive="pay").at("l_percent", [2])[:, 0, 0].tolist() == [25, 25]


@pytest.mark.parametrize("digits", [None, 0])
@examples(60)
@given(table=banded())
def test_higher_is_better_mirrors_lower_is_better(table, digits):
    values, low, high = table
    there = rank_configurations(values, low, high, digits)
    back = rank_configurations(-values, -high, -low, digits, higher=[True] * len(values))
    assert back.ranks.equals(there.ranks) and back.undecided.equals(there.undecided)
    assert back.behind.equals(there.behind)
    assert ((there.behind >= 0) & (there.behind <= 1)).all(axis=None)


def test_every_combination_stands_once():
    found = combine_settings(["ncp", "llm"], list(STRATEGIES), list(SCOPES))
    names = [name_configuration(one) for one in found]
    assert len(names) == len(set(names)) == 2 * (1 + 7 * 2) + 2 * 2
    assert {one.scope for one in found if not LOOKS_AT[one.strategy]} == {"table"}
    assert [name_configuration(one) for one in combine_settings([], ["s1", "t"])] == ["t"], (
        "T needs no metric"
    )
    assert combine_settings([], ["s1"]) == ()
    titles = create_titles(found, {"ncp": "NCP", "llm": "LLM"})
    assert len(set(titles)) == len(titles)
    alone = combine_settings(["ncp"], ["s1"])
    mixed = [*alone, replace(alone[0], algorithm="gaa-small")]
    assert create_titles(mixed, {"ncp": "NCP"}) == ["GAA", "GAA among small classes"]


def test_the_k_of_the_papers_as_presets():
    assert [len(ks) for ks in K_PRESETS.values()] == [14, 13, 11]
    assert set(PAPER_K) - set(K_PRESETS["thirteen"]) == {50}
    assert K_PRESETS["eleven"][-1] == 5000 and 50 not in K_PRESETS["eleven"]
    ks = (2, 4, 5, 10, 20, 50, 60)
    found = compared(line("ncp", [0, 0, 0, 0, 0, 56, 0], ks=ks), ks=ks, n_records=60)
    by_default = found.areas(4, 60).values.iloc[0, 0]
    assert by_default == pytest.approx(56 * 40 / 2 / 56), "a triangle from 20 over 50 to 60"
    assert found.areas(4, 60, K_PRESETS["fourteen"]).values.iloc[0, 0] == by_default
    assert found.areas(4, 60, K_PRESETS["thirteen"]).values.iloc[0, 0] == 0, "50 does not count"


# --- One minus the other ------------------------------------------------------------------------
def test_a_difference_by_hand():
    found = both(bands=True)
    first, second = (one.name for one in found.lines)
    loss = found.difference("mean_alteration", first, second)
    assert loss.values.tolist() == [-20, -1, 0]
    assert loss.low.tolist() == [-25, -1, 0] and loss.high.tolist() == [-18, 3, 0]
    assert [loss.find_leader(k) for k in (2, 4, 6)] == ["first", "undecided", "equal"]
    diversity = found.difference("l_percent", first, second)
    assert diversity.values.tolist() == [-25, -25, 0]
    assert [diversity.find_leader(k) for k in (2, 4, 6)] == ["second", "undecided", "equal"]
    turned = found.difference("l_percent", second, first)
    assert [turned.find_leader(k) for k in (2, 4, 6)] == ["first", "undecided", "equal"]


@examples(100)
@given(banded())
def test_a_difference_is_undecided_where_the_standing_is(table):
    """Two lines, one criterion: both say the same, whichever is first."""
    for place in table[0].index:
        value, low, high = (each.loc[place].to_numpy()[:2] for each in table)
        if len(value) < 2:
            return
        for higher in (False, True):
            found = Difference(
                (2,), value[:1] - value[1:], low[:1] - high[1:], high[:1] - low[1:], higher
            )
            frames = [pd.DataFrame([each]) for each in (value, low, high)]
            expected = rank_configurations(*frames, higher=[higher])
            is_open = bool(expected.undecided.iloc[0].any())
            if is_open:
                assert found.find_leader(2) == "undecided"
            elif value[0] == value[1]:
                assert found.find_leader(2) == "equal"
            else:
                first = expected.ranks.iloc[0].tolist() == [1, 2]
                assert found.find_leader(2) == ("first" if first else "second")


def test_the_difference_is_said_in_sentences():
    found = both(bands=True)
    first, second = (one.name for one in found.lines)
    said = describe_differences(found, first, second, 2)
    assert (
        "S1 is better than S3 by 20.0 percentage points, or by 18.0 to 25.0 "
        "depending on the tie seed" in said[0]
    )
    assert "S3 is better than S1 by 25.0 percentage points" in said[-2]
    assert "S3 is better than S1 by 50.0 hundredths" in said[-1], "t, of 1"
    assert "undecided" in describe_differences(found, first, second, 4)[0]
    assert "no difference" in describe_differences(found, first, second, 6)[0]
    assert (
        "S1 is better than S3 by 20.0 percentage points."
        in describe_differences(both(), second, first, 2)[0]
    )


def test_the_picture_of_a_difference_shows_its_table():
    found = both(bands=True)
    first, second = (one.name for one in found.lines)
    table = build_difference_table(found, first, second)
    assert set(table["criterion"]) == set(found.criteria) - {"min_k"}
    assert table.query("criterion == 'mean_alteration'")["ahead"].tolist() == [
        "first", "undecided", "equal",
    ]  # fmt: skip
    figure = draw_difference(found, first, second, 4)
    drawn = [list(trace.y) for trace in figure.data if trace.hovertemplate]
    assert drawn == [
        table[table["criterion"] == name]["difference"].tolist()
        for name in table["criterion"].unique()
    ]
    scales = {tuple(axis.range) for axis in figure.select_yaxes()}
    assert len(scales) == 1 and sum(next(iter(scales))) == 0, "one scale, with 0 in the middle"
    assert "low" not in build_difference_table(both(), first, second)


def test_who_has_nothing_to_measure_is_last():
    table = pd.DataFrame({"a": [np.nan], "b": [2.0], "c": [1.0]})
    assert rank_configurations(table).ranks.iloc[0].tolist() == [3, 2, 1]
    assert rank_configurations(table, higher=[True]).ranks.iloc[0].tolist() == [3, 1, 2]


def test_what_is_suppressed_is_a_criterion_where_something_is():
    kept = line("ncp", [1.0, 2.0, 3.0])
    runs = {None: replace(kept.runs[None], suppressed=np.array([0.0, 2.5, 5.0]))}
    gone = replace(kept, configuration=Configuration("ncp", algorithm="datafly"), runs=runs)
    gone = replace(gone, name="datafly")
    name = SUPPRESSED_CARD.name
    none = Comparison((kept,), (METRICS["ncp"],), 6, (2, 4, 6))
    some = Comparison((kept, gone), (METRICS["ncp"],), 6, (2, 4, 6))
    assert name not in none.criteria and name in some.criteria
    assert some.at(name, [6, 4])[:, 0].tolist() == [[0.0, 0.0], [5.0, 2.5]]
    assert some.places(4).values.loc[name].tolist() == [0.0, 2.5]
    assert some.table()[name].tolist() == [0.0, 0.0, 0.0, 0.0, 2.5, 5.0]


# --- Real runs ----------------------------------------------------------------------------------
def real(problem, name="gaa", metrics=("ncp", "llm"), seeds=(None,)) -> Comparison:
    plan = Plan.from_content(problem.plan(name=name))
    wanted = combine_configurations(plan, metrics, ["s1"], seeds)
    prepared = prepare(plan, problem.frame())
    n = prepared.classes.n_records
    ks = list(range(2, n + 1))
    measured = measured_metrics(plan, metrics)
    tasks = create_tasks(prepared, wanted)
    runs = [PlannedRun(name, task) for task in tasks]
    found = run_sweep(lambda part, text: None, runs, ks, measured)
    return Comparison(build_lines(wanted, found, measured), tuple(measured), n, tuple(ks))


@pytest.mark.nightly
@examples(20)
@given(problems())
def test_the_table_behind_the_curves_holds_every_seed(problem):
    assume(len(problem.rows) >= 3)
    comparison = real(problem, seeds=(3, 9, 5))
    table = comparison.table()
    assert table["tie_seed"].unique().tolist() == [3, 9, 5]
    assert len(table) == 2 * 3 * len(comparison.ks)
    for metric, rows in table.groupby("metric"):
        for seed, own in rows.groupby("tie_seed"):
            content = problem.plan(metric=metric, tie_seed=int(seed))
            alone = sweep(Plan.from_content(content), problem.frame(), comparison.ks, [metric])
            assert own["mean_alteration"].tolist() == alone["mean_alteration"].tolist()
    k = comparison.ks[0]
    here = table[table["k"] == k].groupby("metric")["alteration_ncp"]
    found = comparison.compare_alterations(k)
    assert found.low.loc["ncp"].to_dict() == here.min().to_dict()
    assert found.high.loc["ncp"].to_dict() == here.max().to_dict()
    assert "tie_seed" not in comparison.only(["ncp"], bands=False).table()


def test_the_nearest_k_that_can_be_shown():
    comparison = compared(line("ncp", [1, 1, 1]))
    assert [comparison.nearest(k) for k in (2, 3, 4, 5, 100)] == [2, 4, 4, 6, 6]
    assert comparison.add_k(5) is comparison, "points are known where they were run"


def test_the_fourteen_k_of_the_papers():
    written = "3, 4, 5, 10, 20, 50, 100, 250, 500, 1000, 2000, 5000, 10000, 15000"
    assert list(PAPER_K) == [int(part) for part in written.split(",")]


def test_curves_and_points_answer_alike():
    """The same names in the same order, so that nothing need know which of them it holds."""
    curves = Curves(
        np.array([2, 6]), np.array([3, 1]), {"ncp": np.array([1.0, 9.0])},
        np.array([1.0, 9.0]), np.array([1.0, 9.0]), np.array([1.0, 9.0]),
    )  # fmt: skip
    at = curves.at([2, 3, 6])
    points = Points(at)
    assert list(points.at([2, 6])) == list(at)
    for one, parts in ((curves, ["k = 7", "6"]), (points, ["k = 7", "2, 3, 6"])):
        with pytest.raises(PlanError) as raised:
            one.at([2, 7])
        for part in parts:
            assert part in raised.value.sentence
    assert points.at([6, 3])["min_k"].tolist() == [6, 6]


# --- before and after an edit -----------------------------------------------------------------
def test_before_and_after_by_hand():
    before = compared(line("ncp", [1, 2, 3]), line("llm", [4, 5, 6]), line("total", [7, 8, 9]))
    after = compared(line("llm", [5, 4, 6]), line("ncp", [1, 1, 1]), line("wllm", [2, 2, 2]))
    found = compare_before_and_after(before, after, 4)
    assert found.index.tolist() == ["llm", "ncp"], "what both have, in the order of the new one"
    assert found[["own_before", "own_after"]].values.tolist() == [[5, 4], [2, 1]]
    assert found[["k_before", "k_after"]].values.tolist() == [[4, 4], [4, 4]]
    near = compare_before_and_after(before, compared(line("ncp", [9, 9], ks=(2, 6)), ks=(2, 6)), 4)
    assert near.values.tolist() == [[2, 9, 2, 9, 4, 6]], "each takes the nearest k that it knows"
    assert compare_before_and_after(before, compared(line("wllm", [2, 2, 2])), 4).empty
    kept = compared(replace(line("llm", [5, 4, 6]), kept=True))
    assert compare_before_and_after(before, kept, 4).empty, "it was not made by what was edited"
    led = both()
    assert compare_before_and_after(led, led, 2)["own_after"].to_dict() == {"ncp": 10}, (
        "S1, the first"
    )


def test_the_finding_says_which_way_it_went():
    titles = {name: metric.card.title for name, metric in METRICS.items()}
    before = compared(line("ncp", [1, 2, 3]), line("llm", [4, 5, 6]))
    after = compared(line("ncp", [1, 2.5, 3]), line("llm", [4, 3, 6]))
    found = compare_before_and_after(before, after, 4)
    assert describe_what_if(found, titles) == "At k = 4 releases now lose less: LLM 5.0 % → 3.0 %"
    same = compare_before_and_after(before, before, 4)
    assert describe_what_if(same, titles) == "At k = 4 releases lose as much as before: NCP 2.0 %"
    assert len(draw_what_if(found, titles).data) == 4


def test_a_metric_may_be_called_like_a_strategy():
    """No two configurations share a name, or one of them would be lost."""
    assert len(combine_settings(["l", "nllm"], ["s1", "l"])) == 3
    assert len(combine_settings(["ncp", "ncp · s2"], ["s1", "s2"])) == 4
