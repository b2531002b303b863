"""How closely columns go together, against records in fractions and against pandas and scipy."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from kanon.measures import association_change
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import prepare, run
from kanon.sensitive import Sensitive
from support.measured_tables import AGES, SEX, recoded, releases
from support.plans import make_plan, qi
from support.random_tables import PlainTree, Problem, examples

NUMBERS = PlainTree(
    {"*": None, "few": "*", "many": "*", **{str(n): "few" if n < 7 else "many" for n in range(12)}}
)
FLAT = PlainTree({"*": None, "x": "*", "y": "*", "z": "*"})


# --- the plainest possible answers ------------------------------------------------------------
def spread(tree: PlainTree | None, value: str) -> dict[str, Fraction]:
    """A cell as parts of a record at leaves; the values of a sensitive column are leaves."""
    if tree is None:
        return {value: Fraction(1)}
    below = [leaf for leaf in tree.leaves if value in tree.paths[leaf]]
    return {leaf: Fraction(1, len(below)) for leaf in below}


class PlainColumn:
    """A column of the original table: what stands for each leaf, and what its φ² is at most."""

    def __init__(self, tree: PlainTree | None, cells: list[str]):
        self.tree = tree
        records = Counter(dict.fromkeys(tree.leaves if tree else cells, Fraction(0)))
        for cell in cells:
            for leaf, part in spread(tree, cell).items():
                records[leaf] += part
        self.bins = plain_bins(records)
        occur = {self.bins[leaf] for leaf, size in records.items() if size}
        self.binned = any(leaf != found for leaf, found in self.bins.items())
        self.near_unique = len(cells) < 2 * len(occur if self.binned else set(cells))
        n = len(cells)
        r = sum(self.told_apart(cells)) / n if n else 0
        self.most = r - 1 - (r - 1) ** 2 / (n - 1) if n > 1 else 0

    def parts(self, cell: str) -> dict[object, Fraction]:
        found: Counter = Counter()
        for leaf, part in spread(self.tree, cell).items():
            found[self.bins[leaf]] += part
        return found

    def told_apart(self, cells: list[str]) -> list[Fraction]:
        """Per record how many values the cells at its level tell apart, in the mean."""
        total: Counter = Counter()
        for cell in cells:
            for value, part in self.parts(cell).items():
                total[value] += part / len(cells)
        each = [sum(part**2 / total[a] for a, part in self.parts(x).items()) for x in cells]
        levels = [self.tree.level[cell] if self.tree else 0 for cell in cells]
        return [
            sum(e for e, level in zip(each, levels, strict=True) if level == own)
            / Fraction(levels.count(own))
            for own in levels
        ]


def plain_bins(records: Counter) -> dict[str, object]:
    """The middle of a number's records says in which tenth of all it is, if there are above 10."""
    try:
        numbers = {value: float(value) for value in records if value != "(missing)"}
    except ValueError:
        return {value: value for value in records}
    if sum(records[value] > 0 for value in numbers) <= 10:
        return {value: value for value in records}
    everything = sum(records[value] for value in numbers)
    found: dict[str, object] = {"(missing)": "(missing)"}
    for value, number in numbers.items():
        below = sum(records[other] for other in numbers if numbers[other] < number)
        found[value] = min(9, math.floor(10 * (below + records[value] / 2) / everything))
    return found


def plain_v(one: PlainColumn, other: PlainColumn, rows: list[tuple[str, str]]) -> float:
    """Cramér's V as Bergsma corrects it, of rows that are original or released."""
    n, most = len(rows), min(one.most, other.most)
    if n < 2 or most <= 0:
        return 0.0
    joint, left, right = Counter(), Counter(), Counter()
    for first, second in rows:
        for (a, p), (b, q) in product(one.parts(first).items(), other.parts(second).items()):
            joint[a, b] += p * q
            left[a] += p * q
            right[b] += p * q
    expected = {(a, b): left[a] * right[b] / n for a in left for b in right}
    square = sum((joint[pair] - e) ** 2 / e for pair, e in expected.items()) / n
    r = one.told_apart([first for first, _ in rows])
    c = other.told_apart([second for _, second in rows])
    both = sum(x * y for x, y in zip(r, c, strict=True)) / n
    chance = (both - sum(r) / n - sum(c) / n + 1) / (n - 1)
    return math.sqrt(min(1, max(0, square - chance) / most))


def compared(recoding: Recoding, trees, names, before, after) -> None:
    """Every pair of a table and its release; the sensitive columns have no tree."""
    columns = [PlainColumn(tree, [row[j] for row in before]) for j, tree in enumerate(trees)]
    counted = [j for j, column in enumerate(columns) if not column.near_unique]
    then, now = association_change.before(recoding.classes), association_change.after(recoding)
    assert then.columns == now.columns == tuple(names[j] for j in counted)
    assert then.near_unique == tuple(name for name in names if name not in then.columns)
    assert then.binned == tuple(names[j] for j in counted if columns[j].binned)
    apart = []
    for (x, i), (y, j) in combinations(enumerate(counted), 2):
        if trees[i] is None:
            assert np.isnan(now.cramers_v[x, y]), "two sensitive columns"
            continue
        told = [
            plain_v(columns[i], columns[j], [(row[i], row[j]) for row in rows])
            for rows in (before, after)
        ]
        found = [one.cramers_v[x, y] for one in (then, now)]
        # A root makes 1e-4 of the last digit of its square.
        assert [each**2 for each in found] == pytest.approx([v**2 for v in told], abs=1e-9)
        apart.append(abs(told[0] - told[1]))
    value = association_change.value(recoding)
    if apart:
        assert value == pytest.approx(sum(apart) / len(apart), abs=1e-4)
    else:
        assert value == (None if len(names) > 1 else 0), "one column, or nothing is known"


@examples(60)
@given(releases())
def test_small_tables_are_counted_as_fractions_of_records_say(case):
    problem, to, recoding = case
    after = [to[row] for row in problem.rows if to[row] is not None]
    compared(recoding, problem.trees, problem.columns, list(problem.rows), after)


@examples(40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([str(n) for n in range(12)]),
            st.sampled_from(["a", "b", "c", "A"]),
            st.sampled_from("xyz"),
            st.sampled_from(["1", "2.5", "(missing)", "30"]),
        ),
        min_size=24,
        max_size=40,
    ),
    st.data(),
)
def test_numbers_groups_and_a_sensitive_column_too(rows, data):
    trees = (NUMBERS, AGES, FLAT)
    problem = Problem(trees, tuple(row[:3] for row in rows))
    to = {
        row: None if data.draw(st.integers(0, 9)) == 0 else tuple(
            data.draw(st.sampled_from(tree.paths[cell]))
            for tree, cell in zip(trees, row, strict=True)
        )
        for row in problem.sizes
    }  # fmt: skip
    recoding = recoded(problem, to)
    values = ["1", "2.5", "30", "(missing)"]
    of_row = [list(problem.sizes).index(row[:3]) for row in rows]
    codes = [values.index(row[3]) for row in rows]
    paid = Sensitive.from_records("paid", values, True, of_row, codes, len(problem.sizes))
    recoding = replace(recoding, classes=replace(recoding.classes, sensitive=(paid,)))
    after = [(*to[row[:3]], row[3]) for row in rows if to[row[:3]] is not None]
    compared(recoding, (*trees, None), (*problem.columns, "paid"), rows, after)


# --- pandas and scipy ---------------------------------------------------------------------------
def textbook_v(one: pd.Series, other: pd.Series) -> float:
    """Bergsma 2013, equations 5 and 6, by a table of counts."""
    table = pd.crosstab(one, other)
    n, (r, c) = len(one), table.shape
    square = chi2_contingency(table, correction=False).statistic / n
    square = max(0, square - (r - 1) * (c - 1) / (n - 1))
    return math.sqrt(square / min(r - 1 - (r - 1) ** 2 / (n - 1), c - 1 - (c - 1) ** 2 / (n - 1)))


def extract(seed: int, n: int = 3000) -> pd.DataFrame:
    """Columns that have nothing to do with each other, but for ``ward`` and ``unit``."""
    draw = np.random.default_rng(seed)
    unit = draw.integers(0, 60, n)
    return pd.DataFrame(
        {
            "income": [f"{x:.2f}" for x in draw.lognormal(8, 0.5, n)],
            "job": [f"job {x}" for x in draw.zipf(1.4, n) % 500],
            "ticket": [f"T{x}" for x in draw.integers(0, 10**7, n)],
            "unit": [f"U{x}" for x in unit],
            "sex": draw.choice(["F", "M"], n),
            "ward": [f"W{x // 6}" for x in unit],
            "cost": draw.permutation([f"{x}" for x in range(1, n)] + [None]),
        }
    )


def plan_of(k: int, *sensitive: str) -> Plan:
    every = ("income", "job", "ticket", "unit", "sex")
    hidden = qi()
    columns = dict.fromkeys(every, hidden) | {name: {"role": "sensitive"} for name in sensitive}
    raised = dict.fromkeys(every, 1) | {"sex": 0}
    algorithm = {"name": "levels", "node": raised}
    return make_plan(columns, k, algorithm, suppression_limit=1.0)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")
def test_what_was_drawn_independently_does_not_go_together():
    table = extract(1)
    done = run(plan_of(2, "ward", "cost"), table)
    then = association_change.before(done.recoding.classes)
    now = association_change.after(done.recoding)
    assert then.columns == ("income", "job", "unit", "sex", "ward", "cost")
    assert then.near_unique == ("ticket",) and then.binned == ("income", "cost")
    tenths = table.assign(
        income=pd.qcut(table["income"].astype(float), 10),
        cost=pd.qcut(table["cost"].astype(float), 10).astype(str).fillna("none"),
    )
    for x, one in enumerate(then.columns):
        for y, other in enumerate(then.columns[:4]):
            if x <= y:
                continue
            v, after = then.cramers_v[x, y], now.cramers_v[x, y]
            if {one, other} == {"ward", "unit"}:
                assert v > 0.98, "a unit determines its ward"
            else:
                assert v < 0.1 and after < 0.1, (one, other)
            if not {one, other} & {"income", "cost"}:
                assert v == pytest.approx(textbook_v(table[one], table[other]), abs=1e-7)
            elif "cost" not in {one, other}:  # its missing cell is a value of its own
                assert v == pytest.approx(textbook_v(tenths[one], tenths[other]), abs=0.01)
    found = association_change.strongest(then, now)
    assert (found.one, found.other) == ("unit", "ward") and found.after < 0.01
    assert done.measures["association_change"] == association_change.value(done.recoding)


def test_columns_that_are_raised_together_stay_strangers():
    """Half of the records at the root in both: what is left has chance of its own."""
    draw = np.random.default_rng(0)
    table = extract(0)[["job", "unit", "sex", "income", "ticket"]]
    classes = prepare(plan_of(2), table).classes
    raised = draw.random(classes.n_classes) < 0.5
    roots = np.array([tree.root for tree in classes.hierarchies], dtype=np.int32)
    recoding = Recoding.from_targets(classes, np.where(raised[:, None], roots, classes.nodes))
    assert np.nanmax(association_change.after(recoding).cramers_v) < 0.1


# --- by hand --------------------------------------------------------------------------------------
def test_associations_by_hand():
    """Two columns that are one before, and independent where one of them is at the root."""
    problem = Problem((SEX, SEX), (("F", "F"), ("F", "F"), ("M", "M"), ("M", "M")))
    same = recoded(problem, {row: row for row in problem.sizes})
    lost = recoded(problem, {row: (row[0], "*") for row in problem.sizes})
    assert association_change.before(same.classes).cramers_v[0, 1] == pytest.approx(1)
    assert association_change.value(same) == 0
    assert association_change.after(lost).cramers_v[0, 1] == 0
    assert association_change.value(lost) == pytest.approx(1), "the upper end"
    # F with F, and the M half F, half M: counts 2 0 / 1 1, margins 2 2 and 3 1, so φ² = 1/3. The
    # cells of the second tell apart, in both levels, 2/3 + 1/6 + 1/2 = 4/3 values, those of the
    # first 2, so chance is 1/9. Most is 2 - 1 - 1/3.
    half = recoded(problem, {("F", "F"): ("F", "F"), ("M", "M"): ("M", "*")})
    expected = math.sqrt((1 / 3 - 1 / 9) / (2 / 3))
    assert association_change.after(half).cramers_v[0, 1] == pytest.approx(expected)
    assert association_change.value(half) == pytest.approx(1 - expected)


def test_a_near_unique_column_alone_leaves_nothing_to_say():
    problem = Problem((AGES, SEX), (("a", "F"), ("b", "M"), ("c", "F")))
    recoding = recoded(problem, {row: row for row in problem.sizes})
    found = association_change.before(recoding.classes)
    assert found.columns == () and found.near_unique == ("q0", "q1") and found.pairs == 0
    assert association_change.value(recoding) is None, "nothing is known, which is not 0"
