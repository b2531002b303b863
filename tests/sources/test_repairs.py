"""Repairs: the same as plain pandas, in every engine, in plans, checks and reports."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.cli.main import main
from kanon.errors import KanonError, PlanError, TableError
from kanon.plan import Plan
from kanon.release.check import check_release
from kanon.release.common_classes import Release
from kanon.release.composition import combine_releases
from kanon.release.decision import measure_reached_levels
from kanon.release.drift import check_next_table
from kanon.report.contents import build_report_record, collect_report
from kanon.report.origin import build_released_file, get_table_origin
from kanon.report.page_code import write_script
from kanon.report.public import build_public_report
from kanon.report.rendering import render_report, write_numbers_json
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable
from kanon.sources.opening import open_address
from kanon.sources.population import count_population
from kanon.sources.repairs import Repair, check_repairs
from support.engine_tables import put_in_engine
from support.plans import make_plan, plan_content, qi
from support.random_tables import examples
from support.reports import DAY
from support.spark import quick_spark

MESSY = pd.DataFrame(
    {
        "sex": ["m", "M", "male", "f", "F", " F", "male", "x"],
        "age": ["31", "34", "999", "-1", "old", "38", None, "40"],
        "ill": ["flu", "cold", "flu", "Flu ", "flu", "cold", "cold", "flu"],
    }
)
STEPS = [
    {"column": "sex", "replace": {"m": "male", "M": "male", "f": "F", "x": None, "w": "F"}},
    {"column": "age", "drop": {"above": 120}},
    {"column": "age", "drop": {"below": 0}},
    {"column": "age", "replace": {"old": None}},
    {"column": "ill", "replace": {"Flu": "flu"}},
]


def steps_of(*contents):
    steps = [Repair.model_validate(content) for content in contents]
    check_repairs(steps, None)
    return steps


def repaired(table, *contents):
    return MemoryTable(table).repair(steps_of(*contents))


def plan_with(steps, **more):
    columns = {"sex": qi(), "age": qi(), "ill": {"role": "sensitive"}}
    return make_plan(columns, 2, repairs=steps, read={"missing": "as-value"}, **more)


def rows_of(frame):
    return Counter(tuple("" if pd.isna(c) else str(c).strip() for c in row) for row in
                   frame.itertuples(index=False))  # fmt: skip


# --- by hand ----------------------------------------------------------------------------------
def test_each_step_counts_what_it_changed():
    table = repaired(MESSY, *STEPS)
    assert rows_of(table.frame) == Counter({
        ("male", "31", "flu"): 1, ("male", "34", "cold"): 1, ("F", "", "flu"): 1,
        ("F", "38", "cold"): 1, ("male", "", "cold"): 1, ("", "40", "flu"): 1,
    })  # fmt: skip
    assert [result.changed for result in table.repairs] == [4, 1, 1, 1, 0]
    assert table.repairs[0].absent == 1 and table.repairs[1].unread == 1
    assert table.repairs[0].notes == ("1 of its 5 values does not occur in this table.",)
    assert table.repairs[4].notes == ("It hits nothing in this table.",), "it went with a record"
    assert table.unrepaired.frame is not table.frame and len(table.unrepaired.frame) == 8


def test_conditions_leave_missing_cells_alone():
    others = repaired(MESSY, {"column": "age", "drop": {"none_of": ["31", "34"]}})
    assert others.frame["age"].isna().sum() == 1 and others.n_records == 3
    filled = repaired(MESSY, {"column": "age", "drop": {"missing": True}})
    assert filled.n_records == 7 and filled.repairs[0].amount == "1 record dropped"


def test_a_column_of_numbers_keeps_its_type_where_it_can():
    typed = pd.DataFrame({"n": [1, 2, 999], "x": [0.5, 1.0, 2.0], "b": [True, False, True]})
    frame = repaired(
        typed,
        {"column": "n", "replace": {"999": "9"}},
        {"column": "x", "replace": {"1": "1.5"}},
        {"column": "b", "replace": {"True": None}},
    ).frame
    assert frame["n"].tolist() == [1, 2, 9] and frame["n"].dtype == np.int64
    assert frame["x"].tolist() == [0.5, 1.5, 2.0]
    assert frame["b"].isna().tolist() == [True, False, True]
    assert typed["n"].tolist() == [1, 2, 999]


# --- laws -------------------------------------------------------------------------------------
CELLS = st.sampled_from(["m", "M", "male", "f", "40", "7", "-3", "999", "old", None])
FRAMES = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12).map(
    lambda rows: pd.DataFrame(rows, columns=["a", "b"]).astype("str")
)
NAMES = st.lists(st.sampled_from(["m", "M", "f", "40", "x"]), min_size=1, max_size=3, unique=True)
ACTIONS = st.one_of(
    NAMES.flatmap(
        lambda names: st.sampled_from(["male", "new", None]).map(
            lambda target: {"replace": dict.fromkeys(names, target)}
        )
    ),
    NAMES.map(lambda names: {"drop": {"one_of": names}}),
    NAMES.map(lambda names: {"drop": {"none_of": names}}),
    st.just({"drop": {"missing": True}}),
    st.sampled_from([-5, 0, 50]).map(lambda bound: {"drop": {"below": bound}}),
    st.sampled_from([0, 50, 5000]).map(lambda bound: {"drop": {"above": bound}}),
)
STEP = st.tuples(st.sampled_from(["a", "b"]), ACTIONS).map(
    lambda pair: {"column": pair[0], **pair[1]}
)


def repair_plainly(frame, step):
    """One step with plain pandas."""
    cells = frame[step["column"]]
    if "replace" in step:
        new = cells.map(lambda c: c if pd.isna(c) else step["replace"].get(c, c)).astype("str")
        return frame.assign(**{step["column"]: new})
    ((kind, what),) = step["drop"].items()
    numbers = pd.to_numeric(cells, errors="coerce")
    gone = {
        "one_of": lambda: cells.isin(what),
        "none_of": lambda: cells.notna() & ~cells.isin(what),
        "missing": cells.isna,
        "below": lambda: numbers < what,
        "above": lambda: numbers > what,
    }[kind]()
    return frame[~gone]


@given(FRAMES, st.lists(STEP, max_size=3), st.randoms(use_true_random=False))
@examples(600)
def test_repairing_is_what_plain_pandas_does(frame, contents, random):
    copy = frame.copy()
    try:
        steps = steps_of(*contents)
        table = MemoryTable(frame).repair(steps)
    except KanonError:  # contradictory, or no record is left
        return
    plain, changed = frame, []
    for content in contents:
        before, plain = plain, repair_plainly(plain, content)
        same = [c if pd.notna(c) else "" for c in plain[content["column"]]]
        was = [c if pd.notna(c) else "" for c in before[content["column"]]]
        fewer = len(before) - len(plain)
        changed.append(fewer if "drop" in content else sum(map(str.__ne__, was, same)))
    pd.testing.assert_frame_equal(table.frame, plain)
    pd.testing.assert_frame_equal(frame, copy)
    assert [result.changed for result in table.repairs] == changed
    assert table.repair(steps) is table and table.repair([]).frame is frame
    if steps:  # undo gives the state before
        earlier = table.repair(steps[:-1])
        again = MemoryTable(frame).repair(steps[:-1])
        pd.testing.assert_frame_equal(earlier.frame, again.frame)
    order = random.sample(range(len(frame)), len(frame))
    shuffled = MemoryTable(frame.iloc[order]).repair(steps)
    assert rows_of(shuffled.frame) == rows_of(table.frame)


@given(FRAMES, st.lists(STEP, min_size=1, max_size=3))
@examples(60, 3)
def test_an_engine_repairs_like_memory(tmp_path_factory, frame, contents):
    frame = frame.assign(b=frame["b"].fillna("z"))  # no row is blank
    try:
        table = MemoryTable(frame).repair(steps_of(*contents))
    except KanonError:
        return
    stored = put_in_engine(frame, "duckdb", tmp_path_factory.mktemp("t")).repair(
        steps_of(*contents)
    )
    assert stored.repairs == table.repairs and stored.n_records == table.n_records
    assert rows_of(stored.head(200)) == rows_of(table.frame)
    for column in "ab":
        ours, theirs = (one.count_column_values(column) for one in (table, stored))
        assert (dict(ours.counts), ours.missing) == (dict(theirs.counts), theirs.missing)


# --- a plan -----------------------------------------------------------------------------------
@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ["duckdb", "other"])
def test_the_release_is_that_of_a_table_repaired_by_hand(engine, tmp_path):
    plan, by_hand = plan_with(STEPS), MESSY
    for step in [*STEPS[:4]]:
        pairs = {"f": "F", " F": "F", **step.get("replace", {})}
        by_hand = repair_plainly(by_hand, {**step, "replace": pairs} if "replace" in step else step)
    done, plain = run(plan, MESSY), run(plan.model_copy(update={"repairs": None}), by_hand)
    assert rows_of(done.released()) == rows_of(plain.released())
    figures = done.measures.pop("repairs")
    assert figures[:2] == [{"column": "sex", "replaced_cells": 4},
                           {"column": "age", "dropped_records": 1}]  # fmt: skip
    assert "repairs" not in plain.measures and done.measures.keys() == plain.measures.keys()

    stored = run(plan, put_in_engine(MESSY, engine, tmp_path))
    assert stored.measures["repairs"] == figures and stored.alteration == done.alteration
    if engine == "duckdb":
        stored.write(Address(str(tmp_path / "out.csv")))
        written = pd.read_csv(tmp_path / "out.csv", dtype="str")
        assert rows_of(written) == rows_of(done.released())


@pytest.mark.nightly
def test_a_repair_in_spark_is_that_in_memory(tmp_path):
    with quick_spark():
        stored = put_in_engine(MESSY, "spark", tmp_path).repair(steps_of(*STEPS))
        table = repaired(MESSY, *STEPS)
        assert stored.repairs == table.repairs and stored.n_records == table.n_records
        assert rows_of(stored.head(200)) == rows_of(table.frame)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_column_of_numbers_takes_numbers_and_says_so(engine, tmp_path):
    frame = pd.DataFrame({"n": [1, 2, 999], "day": pd.to_datetime(["2020-01-01"] * 3)})
    table = MemoryTable(frame) if engine == "memory" else put_in_engine(frame, engine, tmp_path)
    assert table.repair(steps_of({"column": "n", "replace": {"999": None}})).incomplete(["n"]) == 1
    nine = table.repair(steps_of({"column": "n", "replace": {"999": "9"}}))
    assert dict(nine.count_column_values("n").counts) == {"1": 1, "2": 1, "9": 1}
    day = table.repair(steps_of({"column": "day", "replace": {"2020-01-01": "2021-02-03"}}))
    assert dict(day.count_column_values("day").counts) == {"2021-02-03": 3}
    with pytest.raises(TableError, match=r"^Step 1 of the repairs: 'n' holds no texts.*\(null\)"):
        table.repair(steps_of({"column": "n", "replace": {"999": "nine"}})).count_distinct("n")


def test_a_plan_without_repairs_is_written_as_before():
    content = plan_content({"sex": qi()})
    assert "repairs" not in Plan.from_content(content).to_json()
    plan = plan_with(STEPS)
    assert Plan.from_json(plan.to_json()) == plan
    assert json.loads(plan.to_json())["repairs"][0]["replace"]["x"] is None


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"column": "a"}], "Plan key repairs.0: give either 'replace' or 'drop'"),
        ([{"column": "a", "drop": {}}], "Plan key repairs.0.drop: give exactly one of one_of"),
        ([{"column": "a", "drop": {"below": 1, "above": 2}}], "give exactly one of"),
        ([{"column": "a", "drop": {"below": "1"}}], "Plan key repairs.0.drop.below: '1' is text"),
        ([{"column": "a", "replace": {}}], "Plan key repairs.0.replace"),
        ([{"column": "a", "to": "b"}], "the key 'to' is unknown"),
        ([{"column": "a", "replace": {"1": "x", "1.0": "y"}}], "two spellings are the same value"),
        ([{"column": "a", "replace": {" ": "unknown"}}], "0: no step can name blank cells"),
        ([{"column": "a", "replace": {"x": "n/a".upper()}}], "counts as a missing cell"),
    ],
)
def test_bad_steps_are_refused_in_one_sentence(steps, said):
    with pytest.raises(PlanError) as caught:
        plan_with(steps)
    assert said in caught.value.sentence and "\n" not in caught.value.sentence


def test_what_a_table_does_not_allow_names_the_step():
    with pytest.raises(PlanError, match=r"^Step 1 of the repairs: The table has no column 'no'"):
        run(plan_with([{"column": "no", "drop": {"missing": True}}]), MESSY)
    with pytest.raises(TableError, match=r"^Step 1 of the repairs: it drops every record"):
        run(plan_with([{"column": "ill", "drop": {"none_of": ["no"]}}]), MESSY)
    with pytest.raises(PlanError, match="counts as a missing cell"):
        make_plan(
            {"sex": qi()}, read={"missing_markers": ["none"], "missing": "as-value"},
            repairs=[{"column": "sex", "replace": {"m": "none"}}],
        )  # fmt: skip


def test_no_error_for_a_log_names_a_replaced_value():
    with pytest.raises(PlanError, match=r"^Plan key repairs\.0\.replace: ") as caught:
        plan_with([{"column": "sex", "replace": {"Anna Secret": 5}}])
    assert "Anna" not in str(caught.value) and "'5' is not allowed" in caught.value.sentence


# --- checks and reports -----------------------------------------------------------------------
def test_the_independent_check_finds_a_release_that_was_not_repaired():
    plan = plan_with([{"column": "ill", "replace": {"Flu": "flu"}}, *STEPS[:1]])
    done = run(plan, MESSY)
    assert all(verdict.holds for verdict in done.verdicts)
    released = done.released()
    wrong = released.assign(ill=["Flu", *released["ill"][1:]])
    (verdict,) = check_release(wrong, plan)
    assert (verdict.model, verdict.column, verdict.holds) == ("repaired", "ill", False)
    assert "'ill' shows values that the repairs of the plan remove" in verdict.sentence
    assert not all(one.holds for one in check_release(released[:1], plan)), "one record"


def test_the_independent_check_finds_missing_cells_that_were_to_be_dropped():
    steps = [{"column": "ill", "drop": {"missing": True}}]
    table = MESSY.assign(ill=["flu"] * 7 + [None])
    plan, later_null = plan_with(steps), {"column": "ill", "replace": {"flu": None}}
    wrong = run(plan_with(None), table).released()
    (verdict,) = check_release(wrong, plan)
    assert (verdict.model, verdict.column) == ("repaired", "ill")
    for fitting in (plan, plan_with([*steps, later_null])):
        assert all(one.holds for one in run(fitting, table).verdicts)


def test_the_check_of_the_next_table_says_what_hits_nothing():
    later = MESSY.assign(sex="F", ill="flu", age="40")
    found = [one for one in check_next_table(plan_with(STEPS), later) if one.kind == "idle-repair"]
    assert [one.stops for one in found] == [False] * 5
    assert found[0].sentence == ("Step 1 of the repairs, on 'sex': It hits nothing in this table.")
    (stop,) = [one for one in check_next_table(plan_with(STEPS), later.drop(columns="ill"))
               if one.kind == "unfit"]  # fmt: skip
    assert stop.stops and stop.sentence.startswith("Step 5 of the repairs: The table has no column")


def test_reports_list_the_steps_and_the_public_one_shows_no_value():
    plan = plan_with(STEPS)
    report = collect_report(plan, MESSY, date=DAY)
    page = render_report(report).decode()
    assert "1 of its 5 values does not occur" in page and "&#39;old&#39;" in page
    assert report.hashes[0][1] == get_table_origin(MemoryTable(MESSY)).sha256, "of the file"
    assert "Repairs of the table" in build_report_record(report).settings
    done = run(plan, MESSY)
    public = build_public_report(done, build_released_file(done), DAY)
    assert public.repairs == (
        "Before anonymisation, the table was repaired: values replaced in 3 steps, records "
        "dropped in 2 steps."
    )
    shown = render_report(public).decode() + write_numbers_json(public).decode()
    assert public.repairs in shown and "999" not in shown and "replaced_cells" not in shown
    assert not {"repairs", "old"} & {*json.loads(public.plan)}
    plain = run(plan.model_copy(update={"repairs": None}), MESSY)
    assert build_public_report(plain, build_released_file(plain), DAY).repairs == ""


def test_a_script_says_that_it_holds_the_values_of_repairs():
    script = write_script("metrics", plan_with(STEPS), "t.csv", {"COLUMN": "sex"})
    comments = " ".join(line.strip("# ") for line in script.splitlines())
    assert "'old'" in script and "its repairs list the values that they name" in comments


def test_a_population_gets_the_replaced_values():
    table = pd.DataFrame({"sex": ["m", "male", "F", "F"], "age": ["1"] * 4, "ill": ["flu"] * 4})
    steps = [{"column": "sex", "replace": {"m": "male"}}, {"column": "age", "drop": {"below": 0}}]
    done = run(plan_with(steps), table)
    assert measure_reached_levels(done, people=table).population
    classes, repairs = done.prepared.classes, done.prepared.plan.repairs
    people = count_population(classes, table, repairs)
    assert people.unplaced == 0 and sorted(people.classes.counts) == [2, 2]
    assert count_population(classes, table).unplaced == 1, "m is in no hierarchy"


def test_releases_of_differently_repaired_tables_are_not_matched():
    releases = [Release.from_run(run(plan_with(steps), MESSY)) for steps in (STEPS[:1], None)]
    with pytest.raises(PlanError, match="differently repaired"):
        combine_releases(releases, MESSY)
    assert combine_releases(releases[:1] * 2, MESSY).holds is not None


def test_commands_say_what_was_repaired(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    MESSY.to_csv("t.csv", index=False)
    Path("plan.json").write_text(plan_with(STEPS).to_json(), "utf-8")
    given_files = ["plan.json", "--table", "t.csv"]
    assert main(["run", *given_files, "--out", "out.csv", "--measures", "m.json"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Repairs: 4 cells replaced, 1 record dropped, 1 record dropped, 1 cell")
    assert "Step 1 of the repairs, on 'sex': 1 of its 5 values does not occur" in err
    assert json.loads(Path("m.json").read_text())["repairs"][1]["dropped_records"] == 1
    assert main(["check", *given_files]) == 0
    assert "note: Step 1 of the repairs, on 'sex'" in capsys.readouterr().out
    table = open_address(Address("t.csv"))
    assert get_table_origin(table.repair(plan_with(STEPS).repairs)) == get_table_origin(table)


def test_a_step_gives_its_number_in_full():
    step = Repair.model_validate({"column": "income", "drop": {"below": 1234567}})
    assert step.description == "'income': drop the records below 1234567"
