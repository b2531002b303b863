"""What the order of the rows gives away: by hand, by laws, by brute force, and by pandas alone."""

import itertools
import json
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.classes import EquivalenceClasses
from kanon.errors import PrivacyWarning
from kanon.hierarchy import Hierarchy
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.release import inferences
from kanon.release.inferences import find_longest_run, find_row_order, measure_order_leak
from kanon.report import recipients_check
from kanon.report.explanations import describe_check_verdict, list_guarantees
from kanon.run import Run, prepare, run, run_prepared
from kanon.schema import Role
from kanon.sources.stored import StoredTable
from support.engine_tables import put_in_engine
from support.plans import make_plan, qi_with
from support.random_tables import examples

ADULT_TREES = Path(__file__).parents[2] / "hierarchies" / "adult"


def plan_of(order: str, k: int = 2, **columns: object) -> Plan:
    """A plan by role, or by hierarchy of a quasi-identifier, per column."""
    content = {name: {"role": of} if of in [*Role] else qi_with(of) for name, of in columns.items()}
    return make_plan(content, k, order=order, read={"missing": "as-value"})


def order_remarks_of(done: Run) -> dict[str, str]:
    """The remarks on the order of the rows: their sentences by kind."""
    kinds = ("table-order", "restores-order")
    return {remark.kind: remark.found for remark in done.remarks if remark.kind in kinds}


def released(plan: Plan, table: pd.DataFrame | StoredTable) -> Run:
    """The release of a table, which warns of what it gives away."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return run(plan, table)


def recoding_of(tree: Hierarchy, rows: list[tuple[str, str, str]]) -> tuple[Recoding, np.ndarray]:
    """Rows of a value, its released node and another value, each a class of its own."""
    groups = sorted({other for *_, other in rows})
    others = Hierarchy.from_entries([("*", None, None), *((other, "*", None) for other in groups)])
    numbers = [(f"row {n}", "*", None) for n in range(len(rows))]
    ids = Hierarchy.from_entries(
        [("*", None, None), *numbers, *((row[4:], row, None) for row, *_ in numbers)]
    )  # the rows are no leaves, so that nobody knows their order
    nodes = np.array(
        [
            [tree.node_of[value], others.node_of[other], ids.node_of[f"row {n}"]]
            for n, (value, _, other) in enumerate(rows)
        ]
    )
    place = np.lexsort(nodes.T[::-1])
    once = np.ones(len(rows), dtype=np.int64)
    classes = EquivalenceClasses(("age", "sex", "row"), (tree, others, ids), nodes[place], once)
    targets = np.column_stack([[tree.node_of[node] for _, node, _ in rows], nodes[:, 1:]])
    targets[:, 2] = ids.root
    return Recoding.from_targets(classes, targets[place]), np.argsort(place)


TENS = Hierarchy.from_entries(
    [
        ("*", None, None), ("20s", "*", None), ("30s", "*", None),
        *((age, f"{age[0]}0s", None) for age in ("21", "22", "25", "31", "34", "38")),
    ]
)  # fmt: skip


# --- the attack -----------------------------------------------------------------------------
def test_six_sorted_ages_are_read_off_by_hand():
    """Of 21, 22, 20s, 22, 30s, *: the third stands between two of 22; the last two stay open."""
    rows = [
        ("21", "21", "F"), ("22", "22", "F"), ("22", "20s", "M"), ("22", "22", "F"),
        ("31", "30s", "M"), ("38", "*", "M"),
    ]  # fmt: skip
    recoding, row_class = recoding_of(TENS, rows)
    leak = measure_order_leak(recoding, row_class, {})
    assert leak.columns[0] == ("age", "rises", 3, 1)
    back, mirrored = recoding_of(TENS, rows[::-1])
    assert measure_order_leak(back, mirrored, {}).columns[0] == ("age", "falls", 3, 1)


def test_ages_between_equal_ages_fall_out_of_their_class():
    """Four of *, k = 4; between 21 and 21 two are 21, then two between 21 and 38 stay together."""
    ages = [("21", "21"), ("21", "*"), ("21", "*"), ("21", "21"), ("31", "*"), ("34", "*")]
    recoding, row_class = recoding_of(TENS, [(*age, "F") for age in [*ages, ("38", "38")]])
    leak = measure_order_leak(recoding, row_class, {})
    assert leak == ((("age", "rises", 4, 2),), 1, 1)
    assert recoding.min_k == 1, "38 was alone before"


@given(st.data())
@examples(200)
def test_read_off_is_what_all_assignments_share(data):
    """All never-falling assignments, written out; the leaves' order is not that of the tree."""
    leaves = data.draw(st.permutations([f"{n}" for n in range(5)]))
    cut = data.draw(st.integers(1, 4))
    parents = {leaf: "a" if n < cut else "b" for n, leaf in enumerate(leaves)}
    tree = Hierarchy.from_entries(
        [("*", None, None), ("a", "*", None), ("b", "*", None),
         *((leaf, parent, None) for leaf, parent in parents.items())]
    )  # fmt: skip
    values = sorted(data.draw(st.lists(st.sampled_from(leaves), min_size=2, max_size=6)))
    nodes = [data.draw(st.sampled_from([value, parents[value], "*"])) for value in values]
    sexes = [data.draw(st.sampled_from("FM")) for _ in values]
    recoding, row_class = recoding_of(tree, list(zip(values, nodes, sexes, strict=True)))
    below = {"*": sorted(leaves), **{leaf: [leaf] for leaf in leaves}}
    below |= {n: sorted(leaf for leaf in leaves if parents[leaf] == n) for n in "ab"}
    possible = [
        chosen
        for chosen in itertools.product(*(below[node] for node in nodes))
        if list(chosen) == sorted(chosen)
    ]
    left = [{chosen[row] for chosen in possible} for row in range(len(values))]
    leak = measure_order_leak(recoding, row_class, {})
    ages = [column for column in leak.columns if column[0] == "age"]
    if len({*values}) == 1:
        assert ages == []
        return
    raised = [node != value for node, value in zip(nodes, values, strict=True)]
    read_off = sum(up and len(some) == 1 for up, some in zip(raised, left, strict=True))
    assert ages == [("age", "rises", sum(raised), read_off)]
    if len(leak.columns) == 1:  # the other column is not sorted
        shown = zip(nodes, sexes, left, strict=True)
        sizes = Counter((node, sex, min(some), max(some)) for node, sex, some in shown).values()
        assert (leak.smallest, leak.n_unique) == (min(sizes), [*sizes].count(1))


@given(st.integers(0, 10**6))
@examples(60)
def test_a_shuffled_table_gives_nothing_back(seed):
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"age": draw.integers(20, 60, 80), "sex": draw.choice(["F", "M"], 80)})
    widths = {"build": "intervals", "widths": [5, 10]}
    plan = plan_of("table", 5, age=widths, sex={"build": "suppression"})
    for rows in (table, table.sort_values("age")):
        source = prepare(plan, rows.sample(frac=1, random_state=seed)).source
        done = run_prepared(prepare(plan, rows.sample(frac=1, random_state=seed)))
        leak = measure_order_leak(done.recoding, source.row_class, {})
        assert (leak.columns, leak.smallest) == ((), done.recoding.min_k)


# --- what counts as sorted ------------------------------------------------------------------
@given(st.lists(st.integers(0, 6), max_size=9))
@examples(100)
def test_the_longest_run_is_as_long_as_any(numbers):
    run = find_longest_run(np.array(numbers, dtype=np.int64))
    kept = list(itertools.compress(numbers, run))
    assert kept == sorted(kept)
    lengths = [
        sum(chosen)
        for chosen in itertools.product((0, 1), repeat=len(numbers))
        if (some := list(itertools.compress(numbers, chosen))) == sorted(some)
    ]
    assert len(kept) == max(lengths)


@pytest.mark.parametrize(("out_of_line", "sorted_still"), [(5, True), (6, False)])
def test_a_twentieth_may_stand_out_of_line(out_of_line, sorted_still):
    codes = np.arange(102)
    codes[2 : 2 + out_of_line] = 101 - np.arange(out_of_line)  # so these occur twice
    found = find_row_order(codes, [np.arange(102)])
    assert (found is not None) is sorted_still
    assert found is None or (~found.run).sum() == out_of_line


def test_a_column_of_nearly_one_value_is_not_sorted_by_that():
    codes = np.zeros(1000, dtype=np.int64)
    codes[[100, 400, 800]] = 1, 2, 1
    assert find_row_order(codes, [np.arange(3)]) is None
    assert find_row_order(np.sort(codes), [np.arange(3)]).verb == "rises"


def test_rows_out_of_line_are_not_read_off():
    """Of 41 ages an 80 stands first: the others are narrowed as if it were not there."""
    ages = [str(20 + n // 2) for n in range(40)]
    tree = Hierarchy.from_entries(
        [("*", None, None), *((age, "*", None) for age in [*dict.fromkeys(ages), "80"])]
    )
    rows = [(age, age if n % 4 < 3 else "*", "F") for n, age in enumerate(ages)]
    recoding, row_class = recoding_of(tree, [("80", "*", "F"), *rows])
    (column,) = measure_order_leak(recoding, row_class, {}).columns
    assert column[:3] == ("age", "rises", 11)
    assert column[3] < 10 and column[3] == read_off_by_hand(rows)


def read_off_by_hand(rows: list[tuple[str, str, str]]) -> int:
    """The stars between two equal ages."""
    count = 0
    for n, (_, shown, _) in enumerate(rows):
        before = max((s for _, s, _ in rows[:n] if s != "*"), default="20")
        after = min((s for _, s, _ in rows[n:] if s != "*"), default="80")
        count += shown == "*" and before == after
    return count


SCHOOLS = ["Primary", "Middle", "High", "Bachelor", "Master", "Doctorate"]


@pytest.mark.parametrize(
    "values",
    [
        ["9", "10", "100"],
        ["1.000,50", "1.200,00", "10.000,00"],
        ["13.01.1980", "02.02.1980", "01.03.1980"],
        ["anna", "Berta", "carl"],
        ["n9", "n10", "n100"],
        SCHOOLS,
    ],
    ids=["size", "decimal commas", "days", "alphabet", "numbered", "as in the hierarchy"],
)
def test_values_rise_as_people_would_sort_them(values):
    """In each order a value between two equal ones is read off."""
    tree = Hierarchy.from_entries([("*", None, None), *((value, "*", None) for value in values)])
    rows = [(value, shown, "FM"[shown == "*"]) for value in values for shown in (value, "*", value)]
    recoding, row_class = recoding_of(tree, rows)
    leak = measure_order_leak(recoding, row_class, {})
    assert leak.columns[0] == ("age", "rises", len(values), len(values))
    assert leak.smallest == 1 and leak.n_unique == len(values)
    shuffled = np.random.default_rng(1).permutation(len(rows))
    assert measure_order_leak(recoding, row_class[shuffled], {}).columns == ()


# --- remarks --------------------------------------------------------------------------------
HIDDEN = {"build": "suppression"}


def sorted_people(n: int = 40) -> pd.DataFrame:
    draw = np.random.default_rng(2)
    names = [f"name {chr(97 + place // 20)}{chr(97 + place % 20)}" for place in range(n)]
    ages = [20 + place // 4 for place in range(n)]
    sex, ill = draw.choice(["F", "M"], n), draw.choice(["flu", "gout"], n)
    return pd.DataFrame({"surname": names, "age": ages, "sex": sex, "ill": ill})


PEOPLE = {"surname": "identifier", "age": HIDDEN, "sex": HIDDEN, "ill": "sensitive"}


def test_the_tables_order_is_warned_of_with_its_figures():
    table = sorted_people()
    with pytest.warns(PrivacyWarning) as caught:
        done = run(plan_of("table", **PEOPLE), table)
    (found,) = order_remarks_of(done).values()
    leak = measure_order_leak(done.recoding, done.prepared.source.row_class, {})
    ((_, _, raised, back),) = leak.columns
    assert found == (
        f"The rows keep the table's order. In the order of the rows, 'age' rises: this "
        f"reveals the original value behind {back} of {raised} generalised values. The smallest "
        f"class shrinks to 1 record, and {leak.n_unique} records are unique. In the order of the "
        "table, 'surname' rises: anyone who has its values in order knows whose row each is."
    )
    assert any(str(one.message).startswith(found) for one in caught)


def test_an_order_of_no_column_is_warned_of_too():
    table = sorted_people().sample(frac=1, random_state=3)
    assert order_remarks_of(released(plan_of("table", **PEOPLE), table)) == {
        "table-order": "The rows keep the table's order. No quasi-identifier or identifier rises "
        "or falls in the order of the table, but anyone who knows that order, such as an "
        "employee, can tell whose row each is."
    }


def test_sorted_rows_and_a_shuffled_column_are_not_remarked_on():
    assert order_remarks_of(released(plan_of("released", **PEOPLE), sorted_people())) == {}
    table = sorted_people().assign(entry=np.random.default_rng(4).permutation(40))
    plan = plan_of("released", **PEOPLE, entry="insensitive")
    assert order_remarks_of(released(plan, table)) == {}


def test_a_sorted_column_without_generalised_values_gives_nothing_back():
    table = pd.DataFrame({"age": [20] * 20 + [30] * 20, "ill": ["flu", "gout"] * 20})
    done = released(plan_of("table", age=HIDDEN, ill="sensitive"), table)
    sentence = "In the order of the rows, 'age' rises: it is released as it was."
    assert order_remarks_of(done) == {"table-order": f"The rows keep the table's order. {sentence}"}


def test_a_list_sorted_by_surname_tells_whose_row_each_is():
    """Everything is *, so that k = n; the order tells all the same."""
    table = sorted_people()[["surname", "sex", "ill"]]
    table["surname"] = table["surname"].str.title().where(table.index % 2 == 0, table["surname"])
    plan = plan_of("table", len(table), surname="identifier", sex=HIDDEN, ill="sensitive")
    found = order_remarks_of(released(plan, table))["table-order"]
    assert (
        "In the order of the table, 'surname' rises: anyone who has its values in order knows"
        in found
    )


@pytest.mark.parametrize(
    "entries",
    [
        range(40),
        [f"n{n}" for n in range(40)],
        [*range(40, 1, -1), None],
        pd.date_range("2024-01-31", periods=40, freq="D"),
        pd.date_range("2024-01-31", periods=40, freq="D").strftime("%d.%m.%Y"),
    ],
    ids=["numbers", "numbered", "falling", "dates", "written dates"],
)
@pytest.mark.parametrize("order", ["released", "table"])
def test_a_column_that_restores_the_order_is_remarked_on(entries, order):
    table = sorted_people().assign(entry=entries)
    found = order_remarks_of(released(plan_of(order, **PEOPLE, entry="insensitive"), table))
    assert ("table-order" in found) is (order == "table")
    verb = "falls" if pd.isna(table["entry"].iloc[-1]) else "rises"
    assert found["restores-order"].startswith(
        f"'entry' passes into the release unchanged and {verb} in the order of the table: "
    )
    assert "In the order of the rows, 'age' rises: this reveals" in found["restores-order"]
    assert "In the order of the table, 'surname' rises" in found["restores-order"]


def test_blocks_of_few_values_restore_no_order():
    table = sorted_people(160)
    for values, restores in ((7, False), (8, True)):
        table["ward"] = [f"w{n * values // 160}" for n in range(160)]
        done = released(plan_of("released", **PEOPLE, ward="insensitive"), table)
        assert ("restores-order" in order_remarks_of(done)) is restores


def test_rows_that_are_blanked_count_for_cells_but_for_no_class():
    """Rows that stay, blanked, show nothing of the column that restores; their place does."""
    table = sorted_people().assign(entry=range(40))
    content = plan_of("table", 3, **PEOPLE, entry="insensitive").model_dump(exclude_none=True)
    content |= {"suppressed": "keep", "suppression_limit": {"records": 8}}
    table.loc[[3, 20], "sex"] = "X"
    plan = Plan.from_content(content | {"algorithm": {"name": "datafly"}})
    done = released(plan, table)
    assert done.recoding.suppressed_records
    leak = measure_order_leak(done.recoding, done.prepared.source.row_class, {})
    assert set(order_remarks_of(done)) == {"table-order", "restores-order"}
    assert f"{leak.columns[0][3]} of {leak.columns[0][2]}" in order_remarks_of(done)["table-order"]
    assert leak.columns[0][2] >= done.recoding.suppressed_records == 2
    assert leak.n_unique <= done.recoding.counts.sum() == 38


def test_missing_cells_are_left_out():
    table = sorted_people().assign(entry=range(40))
    table.loc[[3, 17, 30], ["age", "entry"]] = None
    done = released(plan_of("table", **PEOPLE, entry="insensitive"), table)
    assert "In the order of the rows, 'age' rises" in order_remarks_of(done)["table-order"]
    assert "'entry' passes" in order_remarks_of(done)["restores-order"]


# --- what else says it ----------------------------------------------------------------------
@pytest.mark.parametrize("order", ["released", "table"])
def test_the_verdict_and_the_recipients_check_say_that_the_order_was_kept(tmp_path, capsys, order):
    done = released(plan_of(order, **PEOPLE), sorted_people())
    said = describe_check_verdict(done, list_guarantees(done))
    assert ("that the rows keep the table's order" in said) is (order == "table")
    (tmp_path / "plan.json").write_text(json.dumps(json.loads(done.prepared.plan.to_json())))
    (tmp_path / "released.csv").write_bytes(done.content("csv"))
    (tmp_path / "SHA256SUMS").write_text("")
    assert recipients_check.main(tmp_path) == 0
    assert ("The rows keep the table's order" in capsys.readouterr().out) is (order == "table")


# --- tables in an engine --------------------------------------------------------------------
@pytest.fixture(params=["duckdb", "sqlite"])
def in_engine(request, tmp_path):
    """Put a table where an engine reads it."""

    return partial(put_in_engine, engine=request.param, folder=tmp_path)


@pytest.mark.sampled(2)
def test_an_engine_tells_what_memory_tells(in_engine):
    table = sorted_people().assign(entry=range(40))
    table.loc[5, "age"] = None
    plan = plan_of("table", **PEOPLE, entry="insensitive")
    theirs, ours = (order_remarks_of(released(plan, rows)) for rows in (in_engine(table), table))
    assert theirs == ours and {*theirs} == {"table-order", "restores-order"}


UNCOUNTED = "how much this reveals was not counted in the engine."


@pytest.mark.sampled(2)
def test_an_engine_does_not_count_what_a_column_restores(in_engine):
    table = in_engine(sorted_people().assign(entry=range(40)))
    plan = plan_of("released", **PEOPLE, entry="insensitive")
    (found,) = order_remarks_of(released(plan, table)).values()
    assert f"In the order of the table, 'age' rises: {UNCOUNTED}" in found


@pytest.mark.sampled(2)
def test_of_an_engine_the_first_rows_are_looked_at(in_engine, monkeypatch):
    monkeypatch.setattr(inferences, "_MOST_ENGINE_ROWS", 20)
    table = sorted_people().assign(entry=[*range(20), *range(20)])
    plan = plan_of("released", **PEOPLE, entry="insensitive")
    (found,) = order_remarks_of(released(plan, in_engine(table))).values()
    assert (
        "'entry' passes into the release unchanged and rises in the order of the first 20 rows"
        in found
    )
    assert f"In the order of the first 20 rows of the table, 'age' rises: {UNCOUNTED}" in found
    assert "In the order of the first 20 rows of the table, 'surname' rises: anyone" in found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stays", ["classes", "rows"])
def test_what_is_too_much_to_come_here_is_not_counted(in_engine, limits, monkeypatch, stays):
    table = in_engine(sorted_people(400))
    if stays == "classes":
        limits(classes=150)
    else:
        monkeypatch.setattr(inferences, "_MOST_CLASS_ROWS", 399)
    (found,) = order_remarks_of(released(plan_of("table", **PEOPLE), table)).values()
    assert f"In the order of the table, 'age' rises: {UNCOUNTED}" in found


# --- Adult ----------------------------------------------------------------------------------
@pytest.mark.adult
def test_the_order_of_adult_gives_nine_in_ten_ages_back(adult_path):
    """The attack once more, by pandas alone, on the released rows as they would be handed out."""
    adult = pd.read_csv(adult_path, sep=";", dtype=str)
    adult = adult.sort_values("age", key=lambda cells: cells.astype(int), kind="stable")
    adult = adult.reset_index(drop=True)
    trees = {name: f"{name}.csv" for name in adult.columns}
    done = run_prepared(prepare(plan_of("table", 5, **trees), adult, ADULT_TREES))
    shown = done.prepared.source.release(done.recoding)
    lines = (ADULT_TREES / "age.csv").read_text("utf-8").splitlines()
    paths = [line.split(";") for line in lines]
    ends = pd.DataFrame([(node, int(path[0])) for path in paths for node in {*path}])
    ends = ends.groupby(0)[1].agg(["min", "max"])
    least = shown["age"].map(ends["min"]).cummax()
    most = shown["age"].map(ends["max"])[::-1].cummin()[::-1]
    raised, known = shown["age"] != adult["age"], least == most
    assert (least[known] == adult["age"][known].astype(int)).all()
    sizes = shown.assign(least=least, most=most).groupby([*shown.columns, "least", "most"]).size()
    figures = int(raised.sum()), int((raised & known).sum()), int((sizes == 1).sum())
    leak = measure_order_leak(done.recoding, done.prepared.source.row_class, {})
    assert leak == ((("age", "rises", *figures[:2]),), sizes.min(), figures[2])
    assert figures == (24_085, 22_259, 12_078) and sizes.min() == 1
    (found,) = order_remarks_of(done).values()
    assert (
        "value behind 22\u202f259 of 24\u202f085 generalised values. The smallest class " in found
    )
    assert "shrinks to 1 record, and 12\u202f078 records are unique." in found
