"""Simulated sensitive columns: how they are drawn, what comes of a study, who is ahead."""

import json
import re
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon.experiments.simulated.study
from kanon.algorithms import gaa
from kanon.base.progress import ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, StudyError, Unsatisfiable
from kanon.experiments.comparison import K_PRESETS, Comparison, build_lines
from kanon.experiments.simulated.columns import (
    COLUMNS,
    SIZES,
    Column,
    compute_chances,
    draw_sensitive_column,
    draw_values,
    list_value_names,
)
from kanon.experiments.simulated.files import create_study_inputs
from kanon.experiments.simulated.files import read_study as read_for
from kanon.experiments.simulated.files import write_study as written_for
from kanon.experiments.simulated.ranks import (
    OVERALL,
    build_results_table,
    compute_mean_ranks,
    list_complete_columns,
    rank_strategies,
)
from kanon.experiments.simulated.study import (
    CRITERIA,
    RUNS,
    STRATEGIES,
    RunResult,
    StudyRun,
    create_study,
    list_missing_runs,
    run_study,
)
from kanon.experiments.sweep import Configuration, PlannedRun, create_tasks, run_sweep
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.privacy import entropy_l_diversity
from kanon.run import prepare, run
from support.plans import plan_content, qi, qi_with
from support.random_tables import examples, problems

N = 30
SOME = [run for run in RUNS if run.column in COLUMNS[::4]]
columns = st.sampled_from(COLUMNS)


def content(sensitive: str = "", **algorithm) -> dict:
    """A plan for the table below."""
    roles = {"age": qi("intervals", widths=[5, 10, 20]), "sex": qi()}
    if sensitive:
        roles[sensitive] = {"role": "sensitive"}
    return plan_content(roles, 2, {"name": "gaa", **algorithm})


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    generator = np.random.default_rng(5)
    ages, sexes = generator.integers(20, 60, N), generator.choice(["F", "M"], N)
    return pd.DataFrame({"age": ages, "sex": sexes})


def study_for(table, **algorithm):
    return create_study(prepare(Plan.from_content(content(**algorithm)), table))


def found_by(study, runs=RUNS, **how) -> list[RunResult]:
    """What came of runs, in the order of the study."""
    found: list[RunResult] = []
    run_study(ignore_progress, study, runs, found.append, **how)
    return sorted(found, key=lambda one: RUNS.index(one.run))


def written_study(study, found) -> bytes:
    """The file of a study of a table."""
    return written_for(create_study_inputs(study), found)


def read_study(content: bytes, study) -> list[RunResult]:
    return read_for(content, create_study_inputs(study))


@pytest.fixture(scope="module")
def study(table):
    return study_for(table)


@pytest.fixture(scope="module")
def whole(study) -> list[RunResult]:
    """All that is made of six of the columns."""
    return found_by(study, SOME)


# --- columns --------------------------------------------------------------------------------
def test_there_are_21_columns_and_147_runs():
    assert len(COLUMNS) == len(set(COLUMNS)) == 21 and len(RUNS) == len(set(RUNS)) == 147
    assert {column.values for column in COLUMNS} == set(SIZES)
    assert len({column.name for column in COLUMNS}) == 21


def test_chances_by_hand():
    assert compute_chances(Column("equivalent", 5)).tolist() == [0.2] * 5
    # (1 - p)^2 = 0.01, so 1 - p = 0.1: ten times rarer.
    assert compute_chances(Column("geometric", 2)) == pytest.approx([10 / 11, 1 / 11])
    # Bins of the width 2: beyond -1 lie 15.87 %, between -1 and 1 lie 68.27 %.
    assert compute_chances(Column("normal", 3)) == pytest.approx(
        [0.158655, 0.682689, 0.158655], abs=1e-6
    )
    # Bins of the width 1.5: beyond -1.5 lie 6.68 %.
    assert compute_chances(Column("normal", 4))[0] == pytest.approx(0.066807, abs=1e-6)


@pytest.mark.parametrize("column", COLUMNS)
def test_every_value_has_its_chance(column):
    found = compute_chances(column)
    assert found.shape == (column.values,) and (found > 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("v", SIZES)
def test_the_last_geometric_value_is_a_hundred_times_rarer(v):
    found = compute_chances(Column("geometric", v))
    assert found[1:] / found[:-1] == pytest.approx(0.01 ** (1 / v))
    assert found[0] / found[-1] == pytest.approx(100 ** ((v - 1) / v))


@pytest.mark.parametrize("v", SIZES)
def test_the_normal_values_are_symmetric_and_rarer_towards_the_ends(v):
    found = compute_chances(Column("normal", v))
    assert found.tolist() == found[::-1].tolist()
    half = found[1 : (v + 1) // 2]  # the first bin holds a tail too
    assert (np.diff(half) > 0).all()


@pytest.mark.parametrize("distribution", ["equivalent", "geometric", "normal"])
def test_values_are_drawn_as_often_as_said(distribution):
    column = Column(distribution, 10)
    shares = np.bincount(draw_values(50_000, column, seed=1), minlength=10) / 50_000
    assert shares == pytest.approx(compute_chances(column), abs=0.008)


@examples(50)
@given(st.integers(0, 300), columns, st.integers(0, 2**63 - 1))
def test_a_seed_gives_one_column_within_its_support(records, column, seed):
    found = draw_values(records, column, seed)
    assert found.shape == (records,) and np.isin(found, np.arange(column.values)).all()
    assert found.tolist() == draw_values(records, column, seed).tolist()


def test_no_two_columns_or_seeds_are_drawn_alike():
    every = [
        draw_values(100, column, seed) / column.values for column in COLUMNS for seed in (0, 1)
    ]
    assert len({tuple(each.tolist()) for each in every}) == 2 * len(COLUMNS)


def test_names_of_values_are_in_order():
    names = list_value_names(Column("normal", 500))
    assert names == sorted(names) and len(set(names)) == 500


@examples(50)
@given(problems(), columns, st.integers(0, 9))
def test_every_record_has_a_value(problem, column, seed):
    classes = problem.classes()
    found = draw_sensitive_column(classes, column, seed)
    assert found.sizes.tolist() == classes.counts.tolist()
    assert (found.total > 0).all() and set(found.values) <= set(list_value_names(column))
    codes = draw_values(classes.n_records, column, seed)
    assert found.total.tolist() == [count for count in np.bincount(codes) if count]
    # Record by record, the classes one after the other.
    ends = np.cumsum(classes.counts)
    for row, end, count in zip(found.dense(), ends, classes.counts, strict=True):
        names = sorted(list_value_names(column)[code] for code in codes[end - count : end])
        assert names == sorted(
            chain.from_iterable([name] * n for name, n in zip(found.values, row, strict=True))
        )


# --- studies --------------------------------------------------------------------------------
ODD = [StudyRun(COLUMNS[3 * place], name) for place, name in enumerate(STRATEGIES)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "algorithm",
    [
        {"metric": "nllm"},
        {"metric": "total", "scope": "class", "seed": 3},
        {"metric": "ncp", "tie_seed": 5, "attribute_weights": {"age": 2.0}},
        {"metric": "llm", "cost": "representatives", "scope": "class", "parts": "2"},
    ],
)
def test_a_run_is_the_ordinary_comparison_with_that_column_added(table, algorithm):
    """The column stands in the table, record by record as the classes stand."""
    study = study_for(table, **algorithm)
    classes = prepare(Plan.from_content(content(**algorithm)), table).classes
    labels = [
        [tree.labels[node] for node in nodes]
        for tree, nodes in zip(classes.hierarchies, classes.nodes.T, strict=True)
    ]
    rows = np.repeat(np.arange(classes.n_classes), classes.counts)
    for one in found_by(study, ODD):
        column, strategy = one.run
        names = np.array(list_value_names(column))
        wide = pd.DataFrame({
            "age": np.array(labels[0])[rows].astype(int), "sex": np.array(labels[1])[rows],
            column.name: names[draw_values(N, column, algorithm.get("seed", 0))],
        })  # fmt: skip
        prepared = prepare(Plan.from_content(content(column.name, **algorithm)), wide)
        wanted = [
            Configuration(algorithm["metric"], strategy, algorithm.get("tie_seed"),
                          algorithm.get("scope", "table"))
        ]  # fmt: skip
        tasks = [replace(task, sensitive=column.name) for task in create_tasks(prepared, wanted)]
        measured = [metric_named(name) for name in PUBLISHED]
        curves = run_sweep(ignore_progress, [PlannedRun("gaa", tasks[0])], [N], measured)
        ill = prepared.classes.sensitive_named(column.name)
        best = {column.name: float(entropy_l_diversity.each(ill.whole())[0])}
        lines = build_lines(wanted, curves, measured, best)
        compared = Comparison(lines, tuple(measured), N, (3, N), column.name)
        areas = compared.areas(3, N, K_PRESETS["eleven"]).values
        _, *privacy = CRITERIA
        criteria = [f"alteration_{algorithm['metric']}", *privacy]
        expected = [areas.loc[name].item() for name in criteria]
        assert one.areas == pytest.approx(expected, abs=1e-8), one.run


def test_s1_runs_once_for_all_columns(study, whole, monkeypatch):
    real, asked = gaa.merge_path, []

    def told(task, progress):
        asked.append(task.strategy)
        return real(task, progress)

    monkeypatch.setattr(kanon.experiments.simulated.study.gaa, "merge_path", told)
    assert found_by(study, SOME[:21]) == whole[:21]
    assert len(asked) == 1 + 6 * 3 and asked.count("s1") == 1
    (alone,) = found_by(study, [StudyRun(COLUMNS[16], "s1")])
    assert alone in whole


def test_the_number_of_threads_changes_nothing(study, whole):
    for workers in (1, 3):
        assert found_by(study, SOME[:14], workers=workers) == whole[:14]


def test_areas_are_percentages_and_the_alteration_of_s1_is_that_of_the_table(whole):
    areas = np.array([one.areas for one in whole])
    assert (areas >= 0).all() and (areas <= 100).all()
    assert len({one.areas[0] for one in whole if one.run.strategy == "s1"}) == 1


@pytest.mark.parametrize(
    ("records", "interval", "ks"),
    [
        (4, (3, 4), (3, 4)),
        (60, (3, 60), (3, 4, 5, 10, 20, 60)),
        (4999, (3, 4999), (*K_PRESETS["eleven"][:-1], 4999)),
        (5000, (3, 5000), K_PRESETS["eleven"]),
        (30_162, (3, 5000), K_PRESETS["eleven"]),
    ],
)
def test_the_interval_adapts_to_small_tables(table, records, interval, ks):
    many = table.iloc[np.arange(records) % N]
    study = study_for(many)
    assert study.interval == interval and study.ks == ks
    assert found_by(study, RUNS[:1])[0].run == RUNS[0]


def test_three_records_have_no_interval(table):
    with pytest.raises(Unsatisfiable, match="at least 4 records, but the table has 3 records"):
        study_for(table.head(3))


def test_algorithms_without_strategies_are_refused(table):
    with pytest.raises(PlanError, match="'datafly' has none; choose 'gaa'"):
        study_for(table, name="datafly")
    with pytest.raises(PlanError, match="'s2' at the scope 'table'"):
        study_for(table, parts="2")


def test_sensitive_columns_and_models_of_the_table_play_no_part(table, study):
    ill = table.assign(ill=["flu", "cold"] * (N // 2))
    plan = content("ill", strategy="s3")
    plan["privacy"].append({"model": "entropy-l-diversity", "l": 2.0})
    plan["privacy"][0]["k"] = 9
    other = create_study(prepare(Plan.from_content(plan), ill))
    assert create_study_inputs(other) == create_study_inputs(study)
    assert found_by(other, RUNS[:7]) == found_by(study, RUNS[:7])


# --- ranks ----------------------------------------------------------------------------------
def one_column(column: Column, areas: dict[str, tuple[float, ...]]) -> list[RunResult]:
    by_criterion = zip(*areas.values(), strict=True)
    return [
        RunResult(StudyRun(column, name), each)
        for name, each in zip(STRATEGIES, by_criterion, strict=True)
    ]


FIRST = one_column(COLUMNS[0], {
    "alteration": (70.0, 70.004, 90.0, 65.0, 80.0, 85.0, 70.006),
    "l": (90.0, 91.0, 99.0, 95.0, 92.0, 98.0, 93.0),
    "t": (9.0, 8.0, 1.0, 5.0, 7.0, 2.0, 6.0),
})  # fmt: skip
SECOND = one_column(COLUMNS[9], {
    "alteration": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0),
    "l": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0),
    "t": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
})  # fmt: skip


def test_ranks_by_hand():
    """Lower alteration and t are better, higher l; equal to two digits is equal."""
    ranked = {
        name: rank_strategies(FIRST + SECOND, name).ranks.values.tolist() for name in CRITERIA
    }
    assert ranked == {
        "alteration": [[2, 2, 7, 1, 5, 6, 4], [1, 2, 3, 4, 5, 6, 7]],
        "l_percent": [[7, 6, 1, 3, 5, 2, 4], [7, 6, 5, 4, 3, 2, 1]],
        "t_percent": [[7, 6, 1, 3, 5, 2, 4], [1, 1, 1, 1, 1, 1, 1]],
    }


def test_mean_ranks_by_hand():
    means = compute_mean_ranks(FIRST + SECOND)
    assert means["alteration"].tolist() == [1.5, 2.0, 5.0, 2.5, 5.0, 6.0, 5.5]
    assert means["l_percent"].tolist() == [7.0, 6.0, 3.0, 3.5, 4.0, 2.0, 2.5]
    assert means["t_percent"].tolist() == [4.0, 3.5, 1.0, 2.0, 3.0, 1.5, 2.5]
    assert means[OVERALL].tolist() == pytest.approx([12.5 / 3, 11.5 / 3, 3, 8 / 3, 4, 9.5 / 3, 3.5])


def test_a_column_that_lacks_a_strategy_is_not_ranked():
    partial = FIRST + SECOND[:-1]
    assert list_complete_columns(partial) == [COLUMNS[0]] and list_complete_columns([]) == []
    pd.testing.assert_frame_equal(compute_mean_ranks(partial), compute_mean_ranks(FIRST))
    assert compute_mean_ranks([]).isna().all(axis=None) and list(compute_mean_ranks([]).index) == [
        *STRATEGIES
    ]


def test_every_number_is_in_the_table_of_results(study):
    found = build_results_table(study, SECOND[:-1] + FIRST)
    assert found.columns.tolist() == [
        *("distribution", "values", "strategy", "criterion", "k_from", "k_to"),
        *("nauc_percent", "rank"),
    ]
    assert len(found) == 3 * 13
    first = found.iloc[0].tolist()
    assert first == ["equivalent", 5, "s1", "alteration", 3, N, 70.0, 2]
    assert found["rank"].isna().tolist() == [False] * 21 + [True] * 18
    assert build_results_table(study, []).empty


@examples(30)
@given(st.lists(st.integers(0, 400), min_size=21, max_size=21))
def test_ranks_are_those_of_a_plain_count(numbers):
    areas = [tuple(x / 4 for x in numbers[3 * place : 3 * place + 3]) for place in range(7)]
    one = [
        RunResult(StudyRun(COLUMNS[3], name), each)
        for name, each in zip(STRATEGIES, areas, strict=True)
    ]
    for at, (name, card) in enumerate(CRITERIA.items()):
        mine = [each[at] for each in areas]
        better = (lambda x, y: x > y) if card.direction == "higher" else (lambda x, y: x < y)
        plain = [1 + sum(better(other, own) for other in mine) for own in mine]
        assert rank_strategies(one, name).ranks.iloc[0].tolist() == plain


# --- files ----------------------------------------------------------------------------------
def test_a_study_that_goes_on_comes_out_the_same(study, whole):
    """Whatever was kept when it stopped, in whatever order: here all but every third result."""
    before = [one for place, one in enumerate(whole) if place % 3]
    kept = read_study(written_study(study, before[::-1]), study)
    assert sorted(kept) == sorted(before)
    rest = found_by(study, [run for run in list_missing_runs(kept) if run in SOME])
    assert len(kept) + len(rest) == len(whole) == 42
    assert written_study(study, rest + kept) == written_study(study, whole)
    pd.testing.assert_frame_equal(
        build_results_table(study, rest + kept), build_results_table(study, whole)
    )


def test_a_study_that_is_stopped_has_kept_what_was_finished(study, whole):
    kept: list[RunResult] = []

    class Stop(Exception):
        pass

    def keep(one: RunResult) -> None:
        if len(kept) == 30:
            raise Stop
        kept.append(one)

    with pytest.raises(Stop):
        run_study(ignore_progress, study, SOME, keep)
    assert len(kept) == 30 and set(kept) <= set(whole)


def test_the_order_of_rows_and_their_index_play_no_part(table, study, whole):
    shuffled = table.sample(frac=1, random_state=3)
    other = study_for(shuffled)
    some = SOME[::9]
    assert written_study(other, found_by(other, some)) == written_study(study, whole[::9])


def test_the_file_holds_no_value_of_the_table():
    people = pd.DataFrame({"age": [8101, 8101, 8102, 8103], "sex": ["Qx", "Qx", "Zx", "Zx"]})
    text = written_study(study_for(people), FIRST).decode()
    assert not [
        value for value in ("810", "Qx", "Zx", "sex") if value in re.sub("[0-9a-f]{64}", "", text)
    ]
    assert set(json.loads(text)) == {"format", "version", "made_with", "found"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metric": "ncp"}, "another metric"),
        ({"scope": "class"}, "another scope"),
        ({"cost": "representatives"}, "another cost"),
        ({"tie_seed": 0}, "another tie seed"),
        ({"seed": 1}, "another seed"),
        ({"attribute_weights": {"sex": 2.0}}, "other attribute weights"),
        ({"scope": "class", "parts": "2"}, "another scope and another number of parts"),
        ({"metric": "ncp", "scope": "class", "seed": 1},
         "another metric, another scope and another seed"),
    ],
)  # fmt: skip
def test_a_study_of_another_plan_is_refused(table, study, changes, said):
    with pytest.raises(StudyError) as caught:
        read_study(written_study(study, FIRST), study_for(table, **changes))
    assert f"was made with {said};" in caught.value.sentence


def test_a_study_of_another_table_hierarchy_or_version_is_refused(table, study, monkeypatch):
    file = written_study(study, FIRST)
    other = table.assign(age=[*table["age"][:-1], table["age"].iloc[-1] + 1])
    for changed in (other, table.head(N - 1), pd.concat([table, table])):
        with pytest.raises(StudyError, match="with another table"):
            read_study(file, study_for(changed))
    plan = content()
    plan["columns"]["age"]["hierarchy"]["widths"] = [5, 20]
    with pytest.raises(StudyError, match="was made with other hierarchies; choose"):
        read_study(file, create_study(prepare(Plan.from_content(plan), table)))
    plan = content()
    plan["columns"] = dict(reversed(plan["columns"].items()))
    with pytest.raises(StudyError, match="with another table and other hierarchies"):
        read_study(file, create_study(prepare(Plan.from_content(plan), table)))
    monkeypatch.setattr("kanon.__version__", "9")
    with pytest.raises(StudyError, match="with another version of kanon"):
        read_study(file, study)


def test_a_name_of_a_composed_metric_decides_nothing(table):
    plans = [content(metric=name) for name in ("mine", "yours", "ncp")]
    for plan in plans[:2]:
        name = plan["algorithm"]["metric"]
        plan["metrics"] = {name: {"intermediate": "leaves-normalised", "multiplier": "none"}}
    every = [
        create_study_inputs(create_study(prepare(Plan.from_content(plan), table))) for plan in plans
    ]
    assert every[0] == every[1] == every[2], "they are all the normalised certainty penalty"


def test_every_cut_of_a_file_is_refused(study):
    """No traceback, and no study that looks whole."""
    file = written_study(study, FIRST)
    assert sorted(read_study(file, study)) == sorted(FIRST)
    for end in range(0, len(file) - 2, 61):
        with pytest.raises(StudyError):
            read_study(file[:end], study)
    with pytest.raises(StudyError, match="The study file is not UTF-8 text"):
        read_study(b"\xff\xfe\x00", study)
    with pytest.raises(StudyError, match="the limit is 1\u202f048\u202f576"):
        read_study(file + b" " * 2**20, study)


def test_classes_with_the_same_labels_are_the_same_table(study):
    """However the nodes of their trees are numbered."""
    classes = study.task.classes
    backwards = classes.only(np.arange(classes.n_classes)[::-1].copy())
    assert isinstance(backwards, EquivalenceClasses)
    turned = replace(study, task=replace(study.task, classes=backwards))
    assert create_study_inputs(turned) == create_study_inputs(study)


# --- Persons ------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")
def test_k_counts_persons_where_the_plan_tells_them_apart_by_pandas():
    """With trees of one level over as many values each, what is lost is the share of stars."""
    draw = np.random.default_rng(1)
    who = np.repeat(np.arange(14), np.minimum(draw.zipf(1.6, 14), 5))
    table = pd.DataFrame({c: draw.choice([*"abc"], len(who), p=[0.6, 0.2, 0.2]) for c in "xyz"})
    table["who"] = [f"p{one}" for one in who]
    nodes = [{"name": "*", "parent": None}, *({"name": c, "parent": "*"} for c in "abc")]
    quasi = qi_with({"nodes": nodes})
    columns = {**dict.fromkeys("xyz", quasi), "who": {"role": "identifier"}}
    plan = {"version": 2, "columns": columns, "person": "who", "algorithm": {"name": "gaa"}}

    def asking(k):
        asked = {"privacy": [{"model": "k-anonymity", "k": k}]}
        return Plan.from_content(plan | asked)

    study = create_study(prepare(asking(2), table))
    everybody = table["who"].nunique()
    assert study.interval == (3, everybody)
    lost = []
    for k in study.ks:
        rows = run(asking(k), table).released(order="table")
        assert table["who"].groupby([rows[c] for c in "xyz"]).nunique().min() >= k
        lost.append(100 * (rows[[*"xyz"]] == "*").mean().mean())
    (one,) = found_by(study, [StudyRun(COLUMNS[0], "s1")])
    area = np.trapezoid(lost, study.ks) / (everybody - 3)
    assert one.areas[0] == pytest.approx(area)
    made = create_study_inputs(study)
    assert (
        create_study_inputs(create_study(prepare(asking(2), table.sample(frac=1, random_state=1))))
        == made
    )
    others = table.assign(who=table["who"].replace("p0", "p1"))
    blind = Plan.from_content({key: each for key, each in plan.items() if key != "person"} | {
        "privacy": [{"model": "k-anonymity", "k": 2}]})  # fmt: skip
    for other in (prepare(asking(2), others), prepare(blind, table)):
        assert create_study_inputs(create_study(other)).table != made.table
