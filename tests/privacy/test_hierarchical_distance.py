"""t-closeness by the hierarchy of the sensitive column, against the least work by definition."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from kanon.base.values import MISSING_LABEL
from kanon.errors import CoverageError, PlanError, ReleaseError
from kanon.hierarchy import Hierarchy
from kanon.privacy import t_closeness
from kanon.privacy.row_checks import ClassMix
from kanon.release.check import check_release
from kanon.release.drift import check_next_table
from kanon.run import prepare, run
from kanon.sensitive import Sensitive
from kanon.sources.histograms import build_value_tree
from support.plans import make_plan, qi
from support.random_tables import examples
from support.recipients import SCRIPT

# asthma and flu below lung (level 1), gout alone; lung and gout below illness (level 2): levels
# are longest paths, so gout is as far from asthma as a broken leg, which lies below the root.
ILLS = {
    "*": None, "illness": "*", "lung": "illness", "asthma": "lung", "flu": "lung",
    "gout": "illness", "leg": "*",
}  # fmt: skip


def tree_of(parents):
    return Hierarchy.from_entries((name, above, None) for name, above in parents.items())


def nodes_of(parents):
    return {"nodes": [{"name": name, "parent": above} for name, above in parents.items()]}


def sensitive_of(tree, rows):
    values = sorted({value for _, value in rows})
    classes = sorted({number for number, _ in rows})
    ill = Sensitive.from_records(
        "ill", values, False, [classes.index(number) for number, _ in rows],
        [values.index(value) for _, value in rows], len(classes),
    )  # fmt: skip
    return Sensitive(**{**vars(ill), "tree": build_value_tree(ill.values, tree)})


def least_work(tree, p, q, values):
    """The transport problem itself, every pair of values as far apart as the definition says."""

    def node(value):
        return tree.root if value == MISSING_LABEL else tree.node_of[value]

    top = max(int(tree.level[tree.root]), 1)
    cost = np.array([
        [0 if u == v else max(int(tree.level[tree.lca(node(u), node(v))]), 1) / top for v in values]
        for u in values
    ])  # fmt: skip
    for place, value in enumerate(values):  # a missing cell lies below the root alone
        if value == MISSING_LABEL:
            cost[place] = cost[:, place] = 1
            cost[place, place] = 0
    n = len(values)
    leaves = np.kron(np.eye(n), np.ones(n))
    arrives = np.kron(np.ones(n), np.eye(n))
    return linprog(cost.ravel(), A_eq=np.vstack([leaves, arrives]), b_eq=np.concatenate([p, q])).fun


@st.composite
def cases(draw):
    """A tree of any shape with some of its nodes as values, and records of some classes."""
    size = draw(st.integers(1, 9))
    above = [None, *(draw(st.integers(0, place - 1)) for place in range(1, size))]
    names = [f"n{place}" for place in range(size)]
    tree = tree_of(
        {name: None if at is None else names[at] for name, at in zip(names, above, strict=True)}
    )
    value = st.sampled_from([*names, MISSING_LABEL])
    rows = draw(st.lists(st.tuples(st.integers(0, 3), value), min_size=1, max_size=15))
    return tree, rows


def plain_tree(tree):
    levels = [*tree.level[:-1].tolist(), max(int(tree.level[-1]), 1)]
    above = ["" if place < 0 else tree.labels[place] for place in tree.parent]
    return dict(zip(tree.labels, zip(above, levels, strict=True), strict=True))


@examples(40)
@given(cases())
def test_the_distance_is_the_least_work_and_the_checks_agree(case):
    tree, rows = case
    ill = sensitive_of(tree, rows)
    found = t_closeness.each(ill, "hierarchical")
    dense = ill.dense()
    q = ill.total / ill.total.sum()
    expected = [least_work(tree, row / row.sum(), q, ill.values) for row in dense]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)
    texts = ["" if value == MISSING_LABEL else value for value in ill.values]
    mix = ClassMix.count_groups(ill.of_entry, ill.value.astype(np.int64), ill.count)
    level, holds = t_closeness.check_rows(mix, 0.5, "hierarchical", texts, plain_tree(tree))
    assert level == pytest.approx(found.max(), abs=1e-12)
    assert holds == (found.max() <= 0.5 + 1e-12)


@examples(40)
@given(cases(), st.randoms())
def test_merging_classes_never_makes_the_worst_one_worse(case, random):
    ill = sensitive_of(*case)
    group = np.array([random.randrange(2) for _ in range(ill.n_classes)])
    _, group = np.unique(group, return_inverse=True)
    merged = t_closeness.each(ill.grouped(group, group.max() + 1), "hierarchical")
    before = t_closeness.each(ill, "hierarchical")
    assert all(merged[g] <= before[group == g].max() + 1e-9 for g in range(len(merged)))
    assert t_closeness.each(ill.whole(), "hierarchical").tolist() == [0]


def test_branches_of_different_lengths_by_hand():
    rows = [(0, "asthma"), (0, "asthma"), (1, "flu"), (1, "leg")]
    ill = sensitive_of(tree_of(ILLS), rows)
    # q = (1/2, 1/4, 1/4): of the first class 1/4 moves to flu (level 1 of 3), 1/4 to leg (3 of 3).
    # Of the second 1/2 - 1/4 of flu moves to asthma (1/3), and 1/4 of leg does (1).
    assert t_closeness.each(ill, "hierarchical").tolist() == pytest.approx([1 / 3, 1 / 3])
    alone = sensitive_of(tree_of(ILLS), [(0, "asthma"), (1, "gout")])  # 1/2 by 2 of 3 levels
    assert t_closeness.each(alone, "hierarchical").tolist() == pytest.approx([1 / 3, 1 / 3])


TABLE = pd.DataFrame(
    {"age": [1, 1, 2, 2, 3, 3], "ill": ["asthma", "flu", "gout", None, "leg", "asthma"]}
)
T = {"model": "t-closeness", "t": 1, "distance": "hierarchical"}


def plan_with(t=1, hierarchy=ILLS, **column):
    ill = {"role": "sensitive", **({"hierarchy": nodes_of(hierarchy)} if hierarchy else {})}
    return make_plan(
        {"age": qi(), "ill": {**ill, **column}}, 2, {"name": "levels", "node": {"age": 0}},
        models=[{**T, "t": t}],
    )  # fmt: skip


def test_a_hierarchy_without_a_level_coarsens_nothing():
    done = run(plan_with(), TABLE)
    assert set(done.released()["ill"].dropna()) == {"asthma", "flu", "gout", "leg"}
    assert done.verdicts[1].level == pytest.approx(done.measures["t_hierarchical"])
    assert "t_hierarchical" not in run(make_plan(dict(plan_with().columns), 2), TABLE).measures


def test_of_a_coarsened_column_the_groups_are_the_leaves():
    done = run(plan_with(level=1), TABLE)
    assert set(done.released()["ill"].dropna()) == {"lung", "gout", "leg"}
    # lung and gout now meet at level 1 of 2. The first class is all lung: of the table's others
    # gout (1/6) is half as far as leg and the missing one (1/6 each).
    level = t_closeness.each(done.recoding.released.sensitive[0], "hierarchical")[0]
    assert level == pytest.approx(1 / 6 / 2 + 2 / 6)
    assert done.verdicts[1].level == pytest.approx(done.measures["t_hierarchical"])


def test_the_recipients_check_recounts_it_from_what_the_release_shows(tmp_path):
    from support.recipients import unpack_archive

    for column in ({}, {"level": 1}):
        done = run(plan_with(**column), TABLE)
        folder = unpack_archive(done, tmp_path / str(column.get("level")))
        content = json.loads((folder / "plan.json").read_text("utf-8"))
        nodes = content["columns"]["ill"]["hierarchy"]["nodes"]
        assert {node["name"] for node in nodes} >= {"*", "illness", "lung"}
        names, rows = SCRIPT.read_table(folder / "released.csv", content["columns"])
        *_, (what, asked, level, holds) = SCRIPT.check_table(content, names, rows)
        assert what == "t-closeness of ill" and "hierarchical" in asked and holds
        assert level == pytest.approx(done.verdicts[1].level)
        content["privacy"][1]["t"] = level / 2
        assert SCRIPT.check_table(content, names, rows)[-1][-1] is False


def test_a_model_that_accepts_too_much_is_found_out(monkeypatch):
    wrong = lambda self, classes: np.ones(classes.n_classes, dtype=bool)  # noqa: E731
    monkeypatch.setattr(t_closeness.TCloseness, "holds_each", wrong)
    assert [verdict.holds for verdict in run(plan_with(0.1), TABLE).verdicts] == [True, False]


def test_what_the_distance_needs_is_said_in_one_sentence():
    with pytest.raises(PlanError, match=r"columns\.ill\.hierarchy: the hierarchical distance of"):
        prepare(plan_with(hierarchy=None), TABLE)
    with pytest.raises(CoverageError, match=r"'ill': its hierarchy lacks 1 distinct value"):
        prepare(plan_with(), TABLE.replace("gout", "lupus"))
    bare = Sensitive.from_records("ill", ["flu"], False, [0], [0], 1)
    with pytest.raises(PlanError, match="only where a plan is run that has a hierarchy"):
        t_closeness.each(bare, "hierarchical")
    with pytest.raises(ReleaseError, match="pass its tree too"):
        check_release(run(plan_with(), TABLE).released(), plan_with())


def test_rows_in_another_order_have_the_same_release():
    first, second = run(plan_with(), TABLE), run(plan_with(), TABLE[::-1])
    assert first.verdicts == second.verdicts


def test_the_check_of_a_later_table_names_values_that_the_hierarchy_lacks():
    findings = check_next_table(plan_with(), TABLE.replace("gout", "lupus"))
    assert [finding.column for finding in findings if finding.stops] == ["ill"]
    assert not [finding for finding in check_next_table(plan_with(), TABLE) if finding.stops]
    first, *_ = check_next_table(plan_with(hierarchy=None), TABLE)
    assert "the hierarchical distance of 'ill' needs a hierarchy" in first.sentence
