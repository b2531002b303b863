"""GAA in parts: by hand, against a slow version of itself, the laws, and what it costs."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fresh import ROOT
from benchmarks.plans import adult_task, full_task
from kanon.algorithms import gaa, partitioned_merging
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.partitioned_merging import (
    cut_table,
    measure_part_loss,
    merge_apart,
    merge_in_parts,
    split_classes,
)
from kanon.algorithms.task import Task
from kanon.cli.main import main
from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.reference.merging import merge, pick_smallest
from kanon.reference.table import Group
from kanon.run import prepare, run
from kanon.sources.opening import open_table
from kanon.studio.widgets.how import format_parts
from oracles.plain_clustering import loss_by_task
from support import reference_tables
from support.plans import make_plan, qi
from support.random_tables import SEVEN, PlainTree, Problem, examples
from support.recodings import same_path


# --- By hand ------------------------------------------------------------------------------------
def test_the_worked_table_in_two_parts():
    """Gender costs 5, so women and men are the parts: the same release as of the whole."""
    problem = reference_tables.worked()
    chosen = {"metric": "custom", "cost": "weighted", "tie_seed": None}
    whole = reference_tables.task(problem, chosen, 8)
    part_of = split_classes(whole.classes, whole.potentials, 2)
    assert list(problem.sizes) == [("F", "Lion"), ("F", "Dog"), ("M", "Cat"), ("M", "Lion")]
    assert part_of.tolist() == [1, 1, 0, 0], "what is below the node of the cut is the new part"
    path = merge_in_parts(whole, part_of, 4)
    # The men are part 0, so theirs is the first of two merges of classes of two; then all.
    assert path.parts.tolist() == [[2, 3, -1], [0, 1, -1], [5, 4, -1]]
    assert path.smallest.tolist() == [2, 2, 4]
    assert [path.at(k).counts.tolist() for k in (2, 3, 5)] == [[2, 2, 2, 2], [4, 4], [8]]
    assert set(reference_tables.result(problem, path.at(4)).values()) == {
        ("F", "Mammal"),
        ("M", "Felid"),
    }


def test_a_cut_keeps_a_class_from_a_cheaper_partner():
    """Town a is cut off from b and c, where b would have met a: the loss that a cut can cost."""
    tree = PlainTree({"*": None, "ab": "*", "c": "*", "a": "ab", "b": "ab"})
    problem = Problem((tree,), tuple((x,) for x in "aaabcccc"))
    assert tree.order == ["a", "b", "c", "ab", "*"]
    depth = np.array([3, 3, 2, 2, 0], dtype=np.int64)  # a, b to ab: 1; ab, c to *: 2
    whole = Task(problem.classes(), (depth,), 3)
    apart_from_a = np.array([1, 0, 0])
    assert reference_tables.result(problem, merge_greedily(whole).at(3)) == {
        ("a",): ("ab",), ("b",): ("ab",), ("c",): ("c",)
    }  # fmt: skip
    assert reference_tables.result(problem, merge_in_parts(whole, apart_from_a, 3).at(3)) == {
        ("a",): ("a",), ("b",): ("*",), ("c",): ("*",)
    }  # fmt: skip
    parted = measure_part_loss(whole, apart_from_a, 3)
    # b alone breaks k = 2 already. Whole: 4 records rise by 1. Parts: b by 3, four c by 2.
    assert parted.ratio_at(2) == parted.ratio_at(3) == 11 / 4
    assert parted.ratio_at(1) == 1.0, "nobody has lost anything"
    assert parted.ratio_at(4) is None, "beyond the task's k"


def test_parts_never_meet_above_a_cut():
    """Three values under one root, one cut off: what the others become is not what it becomes."""
    tree = PlainTree({"*": None, "a": "*", "b": "*", "c": "*"})
    problem = Problem((tree, tree), tuple((x, y) for x in "abc" for y in "abc"))
    chosen = {"metric": "ncp", "cost": "weighted", "tie_seed": None}
    whole = reference_tables.task(problem, chosen, 9)
    part_of = split_classes(whole.classes, whole.potentials, 2)
    assert part_of.tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    release = merge_in_parts(whole, part_of, 3).at(3)
    assert [[tree.order[v] for v in row] for row in release.nodes] == [
        ["a", "*"], ["b", "*"], ["c", "*"]
    ]  # fmt: skip


# --- The partition against a slow version of itself ---------------------------------------------
def plain_partition(problem: Problem, depths, number: int, least: int) -> list[int]:
    """The rule in words: the largest part is cut at the edge of most expected cost."""
    tuples = list(problem.sizes)
    parts, whole = [tuples], []
    while len(parts) < number:
        open_parts = [part for part in parts if part not in whole]
        if not open_parts:
            break
        part = max(open_parts, key=len)
        best, cut = 0.0, None
        for j, tree in enumerate(problem.trees):
            for number_of, node in enumerate(tree.order[:-1]):
                below = [x for x in part if node in tree.paths[x[j]]]
                others = [x for x in part if x not in below]
                fewest = min(len(below), len(others))
                held = min(sum(problem.sizes[x] for x in side) for side in (below, others))
                above = tree.number[tree.parents[node]]
                weight = int(depths[j][number_of]) - int(depths[j][above])
                promise = weight * float(len(below) * len(others))
                if fewest * 4 >= len(part) and held >= least and promise > best:
                    best, cut = promise, below
        if cut is None:
            whole.append(part)
            continue
        parts[parts.index(part)] = [x for x in part if x not in cut]
        parts.append(cut)
    return [next(i for i, part in enumerate(parts) if x in part) for x in tuples]


@examples(600)
@given(reference_tables.cases(), st.integers(1, 6), st.integers(1, 4))
def test_a_partition_equals_the_slow_version(case, number, least):
    problem, chosen = case
    classes, depths = problem.classes(), reference_tables.scaled(problem, chosen)
    found = split_classes(classes, depths, number, least)
    assert found.tolist() == plain_partition(problem, depths, number, least)
    assert set(found.tolist()) == set(range(int(found.max()) + 1))
    assert found.max() < number
    if found.any():
        assert np.bincount(found, classes.counts).min() >= least


@examples(200)
@given(reference_tables.cases(), st.integers(2, 6), st.data())
def test_whatever_is_merged_within_a_part_stays_off_the_others(case, number, data):
    """The lowest common ancestors of any classes of one part are those of no other part's."""
    problem, chosen = case
    found = split_classes(problem.classes(), reference_tables.scaled(problem, chosen), number)
    tuples = list(problem.sizes)
    made = []
    for part in range(int(found.max()) + 1):
        members = [x for x, own in zip(tuples, found.tolist(), strict=True) if own == part]
        some = data.draw(st.lists(st.sampled_from(members), min_size=1, max_size=4))
        target = some[0]
        for each in some[1:]:
            target = reference_tables.joined(problem, target, each)
        made.append(target)
    assert len(set(made)) == len(made)


# --- The merging against a slow version of itself -----------------------------------------------
@st.composite
def cut_cases(draw, **kwargs):
    """A table, what guides, a partition and up to which k the parts are merged apart."""
    problem, chosen = draw(reference_tables.cases(**kwargs))
    whole = reference_tables.task(problem, chosen, len(problem.rows))
    part_of = split_classes(whole.classes, whole.potentials, draw(st.integers(2, 5)))
    least = int(np.bincount(part_of, whole.classes.counts).min())
    return problem, chosen, whole, part_of, draw(st.integers(1, least))


def slowly_in_parts(problem: Problem, depths, k: int, part_of, up_to: int, chosen: dict):
    """The parts one after the other, and then the whole table that they have become."""
    how = chosen["cost"] == "weighted", chosen["tie_seed"]
    table = reference_tables.reference_table(problem, depths, k, *how)
    pick = pick_smallest(table)
    groups: list[Group] = []
    for part in range(int(part_of.max()) + 1):
        own = [table.originals[each] for each in np.flatnonzero(part_of == part)]
        steps = list(merge(table, own, lambda group: group.records < min(k, up_to), pick))
        groups += steps[-1].after if steps else own
    steps = list(merge(table, groups, lambda group: group.records < k, pick)) if k > up_to else []
    return reference_tables.Merged(problem, groups, steps).at


@examples(200)
@given(cut_cases())
def test_parts_equal_the_slow_version_at_every_k(case):
    problem, chosen, whole, part_of, up_to = case
    path = merge_in_parts(whole, part_of, up_to)
    for k in range(1, len(problem.rows) + 1):
        expected = slowly_in_parts(problem, whole.potentials, k, part_of, up_to, chosen)
        assert reference_tables.result(problem, path.at(k)) == expected


# --- Laws ---------------------------------------------------------------------------------------
@examples(150)
@given(cut_cases())
def test_every_k_of_the_path_is_a_release_and_they_only_move_up(case):
    problem, _, whole, part_of, up_to = case
    n = len(problem.rows)
    path = merge_in_parts(whole, part_of, up_to)
    assert (np.diff(path.smallest) >= 0).all()
    before = {labels: labels for labels in problem.sizes}
    reached = set()
    for k in range(1, n + 1):
        recoding = path.at(k)
        now = reference_tables.result(problem, recoding)
        sizes = Counter()
        for labels, target in now.items():
            sizes[target] += problem.sizes[labels]
            assert reference_tables.moves_up(problem, before[labels], target), (
                "from every k to the next"
            )
        assert min(sizes.values()) == recoding.min_k >= k
        assert sorted(sizes.values()) == sorted(recoding.counts.tolist())
        made = len(problem.sizes) + path.merges_for(k)
        live = (path.into[:made] < 0) | (path.into[:made] >= made)
        assert live.sum() == recoding.n_classes, "no two classes of the path look the same"
        reached.add(recoding.min_k)
        before = now
    assert path.distinct_k.tolist() == sorted(reached)


@examples(60)
@given(cut_cases(), st.data())
def test_a_run_for_a_smaller_k_is_the_beginning_of_one_for_a_larger(case, data):
    problem, _, whole, part_of, up_to = case
    path = merge_in_parts(whole, part_of, up_to)
    k = data.draw(st.integers(1, len(problem.rows)))
    alone = merge_in_parts(replace(whole, k=k), part_of, up_to)
    assert np.array_equal(alone.at(k).targets, path.at(k).targets)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Three thousand records of three columns and a sensitive one."""
    draw = np.random.default_rng(5)
    ages = draw.integers(20, 60, 3000)
    return pd.DataFrame(
        {
            "age": ages,
            "sex": draw.choice(["F", "M"], 3000),
            "town": [f"{a % 3}{b}" for a, b in zip(ages, draw.integers(0, 4, 3000), strict=True)],
            "ill": draw.choice(list("abcd"), 3000, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def plan(k: int = 5, **algorithm) -> Plan:
    return make_plan(
        {
            "age": qi("intervals", widths=[5, 20]),
            "sex": qi(),
            "town": qi("mask", keep=[1]),
            "ill": {"role": "sensitive"},
        },
        k,
        {"name": "gaa", **algorithm},
    )


@examples(60)
@given(reference_tables.cases(), st.sampled_from(["auto", "1"]))
def test_one_part_and_auto_on_small_tables_are_the_run_on_the_whole(case, parts):
    problem, chosen = case
    whole = reference_tables.task(problem, chosen, len(problem.rows))
    path = gaa.merge_path(replace(whole, options={"parts": parts}))
    assert same_path(path, merge_greedily(whole))
    assert path.parted is None and path.at(1).trace.parts == 1


@pytest.mark.parametrize("parts", [2, 4, 8, 16])
def test_every_part_holds_the_records_that_it_is_merged_to(people, parts):
    given_task = prepare(plan(), people).task()
    part_of, up_to = cut_table(given_task, parts)
    assert up_to == 3000 // (64 * parts)
    assert np.bincount(part_of, given_task.classes.counts).min() >= up_to
    assert part_of.max() + 1 >= parts // 2, "there is room for cuts"
    same, as_far = cut_table(replace(given_task, k=3000), parts)
    assert np.array_equal(same, part_of) and as_far == up_to, "whatever k is asked for"


# --- Strategies ---------------------------------------------------------------------------------
@pytest.mark.sampled(3)
@pytest.mark.parametrize("strategy", ["s2", "s3", "s4", "s5", "s6", "s7", "l", "t"])
def test_a_strategy_of_the_merged_class_alone_is_followed_in_parts(people, strategy):
    """Up to the k of the parts each is the run on its classes; the rest is one on what is left."""
    prepared = prepare(plan(strategy=strategy, scope="class", parts="4"), people)
    whole = replace(prepared.check(), k=3000)
    part_of, up_to = cut_table(whole, 4)
    path = gaa.merge_path(whole)
    assert path.parted is not None and path.parted.up_to == up_to
    for k in (2, 7, up_to):
        targets = path.at(k).targets
        for part in range(int(part_of.max()) + 1):
            own = np.flatnonzero(part_of == part)
            alone = merge_greedily(replace(whole, classes=whole.classes.only(own), k=k))
            assert np.array_equal(alone.at(k).targets, targets[own])
    left = path.at(up_to)
    further = merge_greedily(replace(whole, classes=left.released))
    for k in (up_to + 1, 60, 3000):
        assert np.array_equal(further.at(k).targets[left.assigned], path.at(k).targets)


@pytest.mark.parametrize("strategy", ["s2", "s7", "t"])
def test_a_strategy_of_the_whole_table_is_not_followed_in_parts(people, strategy):
    prepared = prepare(plan(strategy=strategy, parts="2"), people)
    with pytest.raises(PlanError, match=rf"^GAA in 2 parts .*'{strategy}'.*scope 'class'") as told:
        prepared.check()
    with pytest.raises(PlanError, match="parts '1'"):
        gaa.anonymise(prepared.task())
    assert told.value.sentence.endswith(".")
    for parts in ("auto", "1"):
        prepare(plan(strategy=strategy, parts=parts), people).check()


def test_auto_is_in_parts_above_its_limit_where_the_strategy_allows(people, monkeypatch):
    given_task = prepare(plan(), people).task()
    size = given_task.classes.n_classes
    assert gaa.MOST_WHOLE == 2_000_000
    monkeypatch.setattr(gaa, "_MOST_IN_PART", size // 4)
    for limit, expected in ((size, 1), (size - 1, 8 if size % 4 else 4)):
        monkeypatch.setattr(gaa, "MOST_WHOLE", limit)
        assert gaa.number_of_parts(given_task) == expected
    seeing = prepare(plan(strategy="s3"), people).task()
    assert gaa.number_of_parts(seeing) == 1, "it looks at the whole table"
    assert gaa.number_of_parts(replace(seeing, scope="class")) == expected
    assert gaa.merge_path(given_task).parted is not None


# --- Models, what cannot be done, progress, what is told ----------------------------------------
@pytest.mark.nightly
def test_models_beyond_k_hold_and_are_asked_of_the_whole_table(people):
    """The rare illness makes l = 3.2 impossible in some part, and possible in the table."""
    content = json.loads(plan(parts="8").to_json())
    content["privacy"].append({"model": "entropy-l-diversity", "l": 3.3})
    done = run(Plan.from_content(content), people)
    assert done.measures["entropy_l"] >= 3.3
    assert done.measures["parts"] > 1


@pytest.mark.parametrize("k", [2, 3000])
def test_progress_rises_to_the_end(people, k):
    told = []
    gaa.merge_path(
        replace(prepare(plan(parts="4"), people).task(), k=k), lambda part, _: told.append(part)
    )
    assert told == sorted(told)
    assert told[0] >= 0 and told[-1] == pytest.approx(1)


def test_whoever_is_told_can_end_it(people):
    class Cancelled(Exception):
        pass

    def cancel(part, text):
        if part > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        gaa.merge_path(replace(prepare(plan(parts="4"), people).task(), k=3000), cancel)


def test_the_number_of_threads_changes_nothing(people, monkeypatch):
    given_task = replace(prepare(plan(), people).task(), k=3000)
    paths = []
    for count in (1, 2, 5):
        monkeypatch.setattr("kanon.base.parallel.count_cores", lambda count=count: count)
        paths.append(merge_apart(given_task, 8))
    assert same_path(paths[0], paths[1]) and same_path(paths[0], paths[2])


def test_the_loss_on_a_sample_that_is_the_whole_table_is_the_loss(people):
    given_task = prepare(plan(), people).task()
    path = merge_apart(replace(given_task, k=3000), 4)
    whole = merge_greedily(replace(given_task, k=3000))
    for k in (2, 5, 18, 100, 3000):
        ratio = loss_by_task(given_task, path.at(k)) / loss_by_task(given_task, whole.at(k))
        assert path.at(k).trace.loss_ratio == pytest.approx(ratio)
        assert path.at(k).trace.sampled == given_task.classes.n_classes


def test_the_sample_is_drawn_by_tuples_and_cut_as_the_table_is(people, monkeypatch):
    monkeypatch.setattr(partitioned_merging, "SAMPLE", 60)
    order = np.random.default_rng(2).permutation(len(people))
    found = [
        merge_apart(replace(prepare(plan(), table).task(), k=100), 4).parted
        for table in (people, people.iloc[order])
    ]
    assert found[0].sampled == 60 and found[0].parts > 1
    assert np.array_equal(found[0].ratios, found[1].ratios)
    assert np.array_equal(found[0].ks, found[1].ks)
    assert found[0].ratio_at(100_000) is None


def test_what_it_did_is_told(people, tmp_path, capsys):
    table, measures = tmp_path / "people.csv", tmp_path / "m.json"
    people.to_csv(table, index=False)
    (tmp_path / "plan.json").write_text(plan(parts="4").to_json(), "utf-8")
    arguments = ["run", str(tmp_path / "plan.json"), "--table", str(table)]
    assert main([*arguments, "--out", str(tmp_path / "o.csv"), "--measures", str(measures)]) == 0
    found = json.loads(measures.read_text("utf-8"))
    assert found["parts"] == 4
    ratio = found["parts_sample"]["loss_ratio"]
    classes = prepare(plan(), people).classes.n_classes
    assert found["parts_sample"] == {"classes": classes, "loss_ratio": ratio}
    said = capsys.readouterr().out
    assert said.endswith(
        f"; the classes were merged in 4 parts, which lost {ratio:.3f} times as much as one part "
        f"on a sample of {classes} classes\n"
    )
    assert "parts" not in run(plan(), people).measures
    assert format_parts(run(plan(), people).about_parts) == ""
    assert (
        format_parts(run(plan(parts="4"), people).about_parts)
        == f"**Parts:** {said.split('; ')[-1][:-1]}."
    )


# --- What it costs ------------------------------------------------------------------------------
def check_loss(given_task: Task, parts: int) -> None:
    """Within 3 % of the whole run's loss at k = 10 and 100, parts merged by themselves."""
    given_task = replace(given_task, k=100)
    path, whole = merge_apart(given_task, parts), merge_greedily(given_task)
    assert path.parted is not None and path.parted.parts == parts and path.parted.up_to >= 10
    for k in (10, 100):
        lost, least = (loss_by_task(given_task, each.at(k)) for each in (path, whole))
        assert lost <= 1.03 * least


def census_task(metric: str) -> Task:
    names = "age sex region education marital-status occupation household-size"
    folder = ROOT / "hierarchies" / "census"
    trees = {column: str(folder / f"{column}.csv") for column in names.split()}
    return full_task(open_table(ROOT / "sample_data" / "census.csv").table, trees, metric)


def with_parts(shift: int) -> list:
    """Every metric, each with the next number of parts: the more there are, the more is lost."""
    return [
        pytest.param(metric, 2 << (place + shift) % 4, marks=pytest.mark.nightly)
        for place, metric in enumerate(SEVEN)
    ]


@pytest.mark.parametrize(("metric", "parts"), [("total", 16), *with_parts(0)])
def test_parts_lose_little_on_the_census(metric, parts):
    check_loss(census_task(metric), parts)


@pytest.mark.nightly
@pytest.mark.adult
@pytest.mark.parametrize(("metric", "parts"), [("ncp", 16), *with_parts(2)])
def test_parts_lose_little_on_adult(adult_path, metric, parts):
    check_loss(adult_task(metric), parts)
