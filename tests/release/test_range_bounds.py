"""What the bounds and means of a release tell: by hand, and by linear programming."""

import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from kanon.algorithms import mdav
from kanon.errors import PlanError, PrivacyWarning
from kanon.plan import Plan
from kanon.release.common_classes import Release, ReleaseView
from kanon.run import Run, prepare, run
from support.plans import plan_content
from support.random_tables import examples

PATIENTS = pd.DataFrame(
    {
        "age": [21, 22, 24, 41, 45, 49, 60, 63, 66],
        "salary": [31000, 31500, 39000, 50100, 52000, 61000, 70000, 71000, 90500],
        "ill": ["flu", "cold", "gout", "flu", "hiv", "cold", "flu", "gout", "asthma"],
    }
)


def plan(columns, algorithm, k=3, **more) -> Plan:
    roles = {name: {"role": "quasi-identifier"} for name in columns}
    return Plan.from_content(
        plan_content({**roles, "ill": {"role": "sensitive"}}, k, algorithm) | more
    )


def run_told(asked: Plan, table: pd.DataFrame) -> tuple[Run, str]:
    """A run, and its warnings about its ranges as one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = run(asked, table)
    assert {one.category for one in caught} <= {PrivacyWarning}
    return done, " ".join(str(one.message) for one in caught if "`ranges`" in str(one.message))


# --- means alone --------------------------------------------------------------------------------
def test_mdav_writes_whole_means_of_whole_numbers_without_a_remark():
    done, told = run_told(plan(["age", "salary"], {"name": "mdav"}), PATIENTS)
    rows = done.released()[["age", "salary"]].drop_duplicates().to_numpy().tolist()
    # (21 + 22 + 24) / 3, (31,000 + 31,500 + 39,000) / 3 and so on.
    assert sorted(rows) == [["22", "33833"], ["45", "54367"], ["63", "77167"]]
    assert told == ""


@pytest.mark.parametrize(
    ("values", "means"),
    [
        (["1.5", "2.5", "2.25", "7", "8", "9"], ["2.08", "8"]),
        (["1.50", "2.50", "3.80", "7.00", "8.00", "9.00"], ["2.6", "8.00"]),
        (["-3", "-2", "-2", "10", "10", "11"], ["-2", "10"]),
        (["0", "1", "0", "8", "8", "9"], ["0", "8"]),
    ],
)
def test_a_mean_has_the_decimals_of_its_column(values, means):
    done, _ = run_told(plan(["x"], {"name": "mdav"}), pd.DataFrame({"x": values, "ill": "a"}))
    assert list(dict.fromkeys(done.released()["x"])) == means


def test_one_label_is_one_sight_to_anyone_who_combines_releases():
    """The means of x are both 22, of two ranges; who looks for y sees no difference."""
    table = pd.DataFrame({"x": [21, 22, 24, 21, 22, 23], "y": [1, 1, 1, 9, 9, 9], "ill": "a"})
    asked = plan(["x", "y"], {"name": "mdav"})
    task = prepare(asked, table).task()
    group = np.array([int(row[1]) for row in task.classes.nodes])
    recoding = mdav.released(task, mdav.columns_of(task.classes), group)
    view = ReleaseView(
        Release(asked, recoding, ("ill",)), task.classes, recoding.assigned, ("x", "y")
    )
    assert recoding.n_classes == 2
    (codes, size), _ = view.list_seen_codes("y")
    assert len(set(codes.tolist())) == 1
    assert codes.max() < size


def possible_values(
    label: str, size: int, half: Fraction, public: tuple[int, int]
) -> tuple[float, float]:
    """What one of the records with a mean may have at least and at most, by linear programming."""
    low, high = (float(size * (Fraction(label) + side * half)) for side in (-1, 1))
    ones = np.ones((1, size))
    ends = []
    for sign in (1, -1):
        found = linprog(
            sign * np.eye(size)[0],
            A_ub=np.vstack([ones, -ones]),
            b_ub=[high, -low],
            bounds=[public] * size,
        )
        assert found.status == 0
        ends.append(sign * found.fun)
    return ends[0], ends[1]


@st.composite
def small_tables(draw) -> tuple[pd.DataFrame, int]:
    columns = draw(st.integers(1, 2))
    decimals = draw(st.integers(0, 1))
    size = draw(st.integers(3, 12))
    cells = st.lists(st.integers(0, 30), min_size=size, max_size=size)
    table = {f"x{j}": np.array(draw(cells)) / 10**decimals for j in range(columns)}
    if not decimals:
        table = {name: values.astype(int) for name, values in table.items()}
    return pd.DataFrame({**table, "ill": "a"}), decimals


@examples(60)
@given(small_tables())
def test_no_value_follows_from_means_of_three_records(drawn):
    """Each record of a class may have two values at least, even at a bound that is public."""
    table, decimals = drawn
    names = [name for name in table if name != "ill"]
    done, _ = run_told(plan(names, {"name": "mdav"}), table)
    rows = done.released()[names]
    sizes = Counter(map(tuple, rows.to_numpy().tolist()))
    assert sorted(sizes.values()) == sorted(done.recoding.counts.tolist())
    unit = Fraction(1, 10**decimals)
    for row, size in sizes.items():
        for label in row:
            least, most = possible_values(label, size, unit / 2, (0, 30))
            assert most - least >= unit


def test_least_greatest_and_mean_of_three_records_are_all_values():
    asked = plan(["age"], {"name": "mdav", "ranges": "beside"})
    done, told = run_told(asked, PATIENTS)
    labels = list(dict.fromkeys(done.released(order="table")["age"]))
    assert labels == ["[21, 24], mean 22.33", "[41, 49], mean 45", "[60, 66], mean 63"]
    middle = [round(3 * 22.33 - 21 - 24), 3 * 45 - 41 - 49, 3 * 63 - 60 - 66]
    assert middle == [22, 45, 63]
    assert (
        "In classes of at most 3 records (100.0 % of the release), these numbers give away all or "
        "nearly all original values" in told
    )
    assert "`ranges` to `centroid`" in told


def test_outward_means_stand_beside_open_bounds():
    asked = plan(["age"], {"name": "mdav", "ranges": "outward"})
    done, told = run_told(asked, PATIENTS)
    labels = list(dict.fromkeys(done.released(order="table")["age"]))
    assert labels == ["24 or less, mean 22", "[41, 49], mean 45", "60 or more, mean 63"]
    assert "of the table" not in told
    assert "beside its mean" in told


def test_one_class_of_everything_shows_its_mean_outward():
    asked = plan(["age"], {"name": "mdav", "ranges": "outward"}, k=9)
    assert set(run_told(asked, PATIENTS)[0].released()["age"]) == {"*, mean 43"}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1.234,5", "7", "8"], "texts"),
        (["12 €", "15 €", "19 €"], "texts"),
        (["20240131", "20240229", "20240305"], "dates"),
        (["2024-01-31", "2024-02-29", "2024-03-05"], "dates"),
    ],
)
def test_mdav_refuses_what_has_no_plain_mean(values, kind):
    table = pd.DataFrame({"x": values, "ill": "a"})
    with pytest.raises(PlanError, match=f"MDAV takes means, but 'x' holds {kind}"):
        run(plan(["x"], {"name": "mdav"}), table)


# --- bounds that show extremes ------------------------------------------------------------------
def test_a_remark_names_columns_whose_ranges_show_extremes():
    _, told = run_told(plan(["age", "salary"], {"name": "mondrian"}), PATIENTS)
    assert "The ranges of 'age' show the lowest and the highest value of the table" in told
    assert "'salary'" in told
    assert "which fewer than 3 records have" in told
    assert "`ranges` to `outward`" in told


def test_an_extreme_that_k_records_have_is_no_remark():
    table = pd.DataFrame({"age": [18, 18, 18, 20, 30, 40, 50, 60], "ill": "a"})
    _, told = run_told(plan(["age"], {"name": "mondrian"}), table)
    assert "show the highest value" in told


def test_outward_ranges_of_a_plan_stay_open_at_the_extremes():
    table = pd.DataFrame({"age": [21, 22, 24, 41, 45, 49, 50, 52, 55, 60, 63, 66], "ill": "a"})
    done, told = run_told(plan(["age"], {"name": "mondrian"}, ranges="outward"), table)
    labels = ["24 or less", "[41, 49]", "[50, 55]", "60 or more"]
    assert list(dict.fromkeys(done.released(order="table")["age"])) == labels
    assert told == ""
    # Of 12 leaves 3, 3, 3 and 3 are covered: (3 - 1) / (12 - 1) each.
    assert done.measures["general_loss"] == pytest.approx(2 / 11)


def test_dates_stay_open_outward_and_show_extremes_tight():
    days = [f"2024-0{month}-1{day}" for month in (1, 2, 3, 4) for day in (1, 2, 3)]
    table = pd.DataFrame({"seen": days, "ill": "a"})
    _, told = run_told(plan(["seen"], {"name": "mondrian"}), table)
    assert "'seen' show the lowest and the highest value" in told
    done, told = run_told(plan(["seen"], {"name": "mondrian", "ranges": "outward"}), table)
    assert list(dict.fromkeys(done.released(order="table")["seen"])) == [
        "2024-01-13 or earlier",
        "{2024-02-11, 2024-02-12, 2024-02-13}",
        "{2024-03-11, 2024-03-12, 2024-03-13}",
        "2024-04-11 or later",
    ]
    assert told == ""


def test_sets_of_texts_have_no_extremes():
    table = pd.DataFrame({"town": list("ABCDEF"), "ill": "a"})
    tight, told = run_told(plan(["town"], {"name": "mondrian"}), table)
    outward, _ = run_told(plan(["town"], {"name": "mondrian", "ranges": "outward"}), table)
    assert told == ""
    assert tight.released().equals(outward.released())
