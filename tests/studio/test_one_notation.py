"""One name, one scale and one figure for the same thing, wherever it is read; by pandas alone."""

import datetime

import numpy as np
import pandas as pd
import pytest

from kanon.algorithms import gaa
from kanon.base.values import MISSING_LABEL
from kanon.charts.curves import build_curves_table
from kanon.measures.along import measure_curves
from kanon.measures.worst_classes import LEVELS
from kanon.plan import Plan
from kanon.report.contents import Report, collect_report
from kanon.report.explanations import describe_plainly
from kanon.report.rendering import render_report
from kanon.run import Run, run
from kanon.sources.memory import MemoryTable
from kanon.studio.widgets.numbers import list_worst_numbers
from kanon.studio.widgets.tables import build_before_and_after, highlight_roles
from support.plans import make_plan, qi
from support.random_tables import seeds

pytestmark = pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")

SEEDS = seeds(4, in_gate=1)


def people(seed: int, n: int = 120) -> pd.DataFrame:
    """People with missing cells in every column, ties, and a column that is written in blanks."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.choice([*map(str, range(20, 40)), None], n),
            "city": draw.choice(["Bonn", " Bonn", "Ulm ", "Ulm", None], n),
            "pay": draw.choice([1.5, 2.0, np.nan], n),
            "ill": draw.choice(["cold", "flu", "gout", None], n, p=[0.5, 0.3, 0.1, 0.1]),
        }
    ).astype({"age": "str", "city": "str", "ill": "str"})


def plan(**more) -> Plan:
    columns = {"age": qi(), "city": qi(), "ill": {"role": "sensitive"}}
    return make_plan(columns, 4, read={"missing": "as-value"}, **more)


def report_of(done: Run, table: pd.DataFrame) -> Report:
    return collect_report(done.prepared.plan, table, date=datetime.date(2026, 11, 25))


def by_pandas(done: Run) -> pd.DataFrame:
    """The shares of every disease in each class of the released rows, and in the whole table."""
    released = done.released()[["age", "city", "ill"]].fillna("none")
    return pd.crosstab([released["age"], released["city"]], released["ill"], normalize="index")


@pytest.mark.parametrize("seed", SEEDS)
def test_t_and_a_share_are_one_number_on_pages_in_the_report_and_in_files(seed):
    table = people(seed)
    done = run(plan(), table)
    shares = by_pandas(done)
    whole = done.released()["ill"].fillna("none").value_counts(normalize=True)
    t = float((shares - whole[shares.columns]).abs().sum(axis=1).max()) / 2
    shown = list_worst_numbers(done, "ill")[1]
    assert shown.label.startswith("Worst t") and shown.value.endswith(" of 1")
    assert float(shown.value.split()[0]) == pytest.approx(t, abs=0.01)
    ill = done.recoding.released.sensitive_named("ill")
    assert LEVELS["t_variational"].each(ill).max() == pytest.approx(t)
    path = gaa.merge_path(done.prepared.task())
    curve = build_curves_table(measure_curves(path, [done.prepared.plan.metric]))
    assert "t_norm1" not in curve
    row = curve[curve["k_up_to"] >= 4].iloc[0]
    assert row["t_variational"] == pytest.approx(t)
    report = report_of(done, table)
    (change,) = (one for one in report.risks if one.level.title.startswith("t-closeness, total"))
    assert change.after == pytest.approx(t) and change.level.unit == "0 to 1"

    surest = f"{100 * shares.to_numpy().max():.1f}"
    (change,) = (one for one in report.risks if one.level.title == "Largest share of one value")
    page = render_report(report).decode()
    assert f"{surest} %" in next(text for text in describe_plainly(done) if "'ill'" in text)
    row = page[page.index("Largest share of one value") :].partition("</tr>")[0]
    assert f'<td class="n">{surest}</td><td>% ↓</td>' in row and change.after <= 1
    assert {one.card.unit for one in report.lost}.isdisjoint({"share"})


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("suppressed", ["leave-out", "keep"])
def test_a_missing_cell_has_one_name_before_and_after(seed, suppressed):
    table = people(seed)
    done = run(
        plan(algorithm="datafly", suppressed=suppressed, suppression_limit={"records": 20}), table
    )
    before, after = (getattr(each, "data", each) for each in build_before_and_after(done))
    assert not before.isna().any(axis=None) and not after.isna().any(axis=None)
    rows = (
        table if suppressed == "keep" else table.loc[done.released(index=True, order="table").index]
    )
    gone = after["suppressed"].eq(1) if suppressed == "keep" else pd.Series(False, after.index)
    for column in ("age", "city", "ill", "pay"):
        missing = rows[column].head(len(before)).isna().to_numpy()
        assert (before[column].eq(MISSING_LABEL) == missing).all()
        kept = after[column][~gone]
        assert (kept.eq(MISSING_LABEL) <= missing[~gone]).all()
        if column in ("ill", "pay"):
            assert (kept.eq(MISSING_LABEL) == missing[~gone]).all()
            assert after[column][gone].eq("").all(), "what was taken out was not missing"
    roles = done.prepared.plan.roles.roles | {"pay": done.prepared.plan.roles.roles["ill"]}
    assert not highlight_roles(MemoryTable(table), roles).data.isna().any(axis=None)
    example = report_of(done, table).example
    for cells in (example.before, example.after):
        assert {"", "None", "nan"}.isdisjoint({cell for row in cells for cell in row}) or gone.any()
