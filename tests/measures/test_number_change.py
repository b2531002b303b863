"""Means, variances and correlations before and after, against pandas."""

import math

import numpy as np
import pandas as pd
import pytest

from kanon.measures import number_change
from kanon.measures.number_change import compare_moments
from kanon.measures.overview import build_identity
from kanon.run import prepare
from support.plans import make_plan, qi
from support.written import run_quietly

NEAR = {"rel": 1e-9, "abs": 1e-9}


def moments_of(frame: pd.DataFrame, columns: list[str], others: list[str]) -> dict:
    """By pandas, from columns of numbers; what is not defined is left out."""
    found = {}
    for name in columns:
        found[name, "mean", ""] = frame[name].mean()
        found[name, "variance", ""] = frame[name].var(ddof=0)
        for other in [*columns[columns.index(name) + 1 :], *others]:
            found[name, "correlation", other] = frame[name].corr(frame[other])
    return {key: number for key, number in found.items() if not math.isnan(number)}


def change_by_hand(before: dict, after: dict) -> float:
    """The mean over means, variances and correlations of their mean changes."""
    parts: dict[str, list] = {}
    for (column, number, other), old in before.items():
        variance = before[column, "variance", ""]
        if variance > 0:
            new = after.get((column, number, other), 0.0)
            unit = {"mean": math.sqrt(variance), "variance": variance, "correlation": 1}[number]
            parts.setdefault(number, []).append(abs(new - old) / unit)
    return np.mean([np.mean(each) for each in parts.values()])


def middle(cell: str) -> float:
    """What a released cell of the tables below counts as, read from its text."""
    if cell == "(missing)":
        return math.nan
    ends = cell.removesuffix(" or (missing)").strip("[]").replace(" to <", "-").replace(", ", "-")
    return sum(map(float, ends.split("-"))) / len(ends.split("-"))


@pytest.mark.parametrize("written", [None, "range", "mean"])
def test_pandas_computes_the_same_with_missing_values_ties_and_skew(written):
    """Ages have few values and some are missing; incomes are skewed; what was paid is sensitive."""
    draw = np.random.default_rng(7)
    incomes = np.exp(draw.normal(3, 1.2, 200)).round(1)
    table = pd.DataFrame(
        {
            "age": pd.array(draw.choice([20, 30, 30, 41, 59], 200), "Int64"),
            "income": incomes,
            "paid": (incomes * draw.uniform(0.1, 0.4, 200)).round(2),
        }
    )
    table.loc[::9, "age"] = pd.NA
    more = {"written": written} if written else {}
    plan = make_plan(
        {
            "age": {**qi("intervals", widths=[20]), **more},
            "income": {**qi("intervals", widths=[50]), "written": written or "range"},
            "paid": {"role": "sensitive"},
        },
        5, {"name": "k-member"}, read={"missing": "as-value"},
    )  # fmt: skip
    done = run_quietly(plan, table)
    shown = done.released(index=True)
    labels = {"20-39": "[20, 30]", "40-59": "[41, 59]", "*": "[20, 59]"}
    ends = f"[{incomes.min():g}, {incomes.max():g}]"
    released = pd.DataFrame(
        {
            "age": shown["age"].replace(labels).map(middle),
            "income": shown["income"].replace({"*": ends}).map(middle),
            "paid": table["paid"].loc[shown.index],
        }
    )
    before = moments_of(table.astype("Float64").astype(float), ["age", "income"], ["paid"])
    after = moments_of(released, ["age", "income"], ["paid"])
    found = compare_moments(done.recoding)
    assert {part[:3]: part.before for part in found} == pytest.approx(before, **NEAR)
    assert {part[:3]: part.after for part in found} == pytest.approx(after, **NEAR)
    change = number_change.value(done.recoding)
    assert change == pytest.approx(change_by_hand(before, after), **NEAR)
    assert done.measures["number_change"] == change
    assert done.measures["numbers"] == [part._asdict() for part in found]


def test_a_small_release_by_hand():
    """Ages 1, 2, 3, 9 as 1-2 and 3-9: means 3.75 and 3.75; variances 9.6875 and 5.0625."""
    levels = {"name": "levels", "node": {"age": 1}}
    plan = make_plan({"age": qi("groups", levels=[{"A": ["1", "2"], "B": ["3", "9"]}])}, 2, levels)
    done = run_quietly(plan, pd.DataFrame({"age": [1, 2, 3, 9]}))
    mean, variance = compare_moments(done.recoding)
    assert mean == ("age", "mean", "", 3.75, 3.75)
    assert variance == ("age", "variance", "", 9.6875, 5.0625)
    assert number_change.value(done.recoding) == pytest.approx((0 + 1 - 5.0625 / 9.6875) / 2)


def test_a_column_with_one_value_left_has_no_correlation():
    table = pd.DataFrame({"age": [1, 2, 3], "pay": [2, 4, 6]})
    levels = {"name": "levels", "node": {"age": 1, "pay": 0}}
    plan = make_plan({"age": qi(), "pay": qi()}, 2, levels, suppression_limit=1)
    prepared = prepare(plan, table)
    recoding = build_identity(prepared.classes)
    assert compare_moments(recoding)[2][3:] == pytest.approx((1, 1), **NEAR)
    at_root = type(recoding).from_targets(
        prepared.classes, prepared.classes.nodes * [0, 1] + [3, 0]
    )
    assert compare_moments(at_root)[2].after == 0
    nothing = type(recoding).from_targets(
        prepared.classes, prepared.classes.nodes, np.ones(3, dtype=bool)
    )
    assert {part.after for part in compare_moments(nothing)} == {None}
    assert number_change.value(nothing) is None
