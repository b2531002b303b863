"""Models that look at several sensitive columns, against plain Python by their definitions."""

import json
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.cli.main import main
from kanon.errors import PlanError, Unsatisfiable
from kanon.measures.privacy import privacy_summary
from kanon.privacy.conjunction import check_reachable, find_broken
from kanon.privacy.plans import MODELS
from kanon.release.check import check_release
from kanon.run import prepare, run
from kanon.sources.addresses import Address
from kanon.sources.memory import build_column_classes
from kanon.sources.stored import open_stored
from support.model_tables import meets
from support.paths import ROOT
from support.plans import make_plan, qi
from support.random_tables import examples
from support.recipients import SCRIPT

COLUMNS = {"age": qi("suppression")} | {
    name: {"role": "sensitive"} for name in ("ill", "pay", "ward")
}
PARTS = [
    {"model": "distinct-l-diversity", "l": 2},
    {"model": "entropy-l-diversity", "l": 1.9},
    {"model": "recursive-cl-diversity", "c": 2, "l": 2},
    {"model": "alpha-k-anonymity", "alpha": 0.6, "k": 2},
    {"model": "t-closeness", "t": 0.5, "distance": "variational"},
    {"model": "delta-disclosure", "delta": 1.1},
    {"model": "basic-beta-likeness", "beta": 1},
    {"model": "enhanced-beta-likeness", "beta": 1},
]
ABOUT = [
    {"column": "ill", "others": "known"},
    {"columns": ["ill", "pay"]},
    {"columns": ["ward", "ill"], "others": "known"},
    {"columns": ["ill", "pay", "ward"]},
]
ALL = [part | about for part in PARTS for about in ABOUT]


def plan_of(*models, node=0, **more):
    algorithm = {"name": "levels", "node": {"age": node}}
    return make_plan(COLUMNS, 2, algorithm, models=models, **more)


@st.composite
def tables(draw):
    """A few records; spellings of one illness are one value for diversity, and two otherwise."""
    record = st.tuples(
        st.integers(1, 3), st.sampled_from(["flu", "Flu", "gout", None]), st.sampled_from([10, 20]),
        st.sampled_from(["a", "b"]),
    )  # fmt: skip
    rows = draw(st.lists(record, min_size=2, max_size=16))
    return pd.DataFrame(rows, columns=["age", "ill", "pay", "ward"]).astype({"ill": "str"})


def plain_holds(model, table):
    """By definition: rows that agree in age, and in what is known, have to meet the model."""
    columns = list(model.columns or [model.column])
    known = [name for name in ("ill", "pay", "ward") if model.others and name not in columns]

    def write(value, folds):
        text = "" if pd.isna(value) else str(value)
        return text.casefold() if folds else text

    groups, whole = defaultdict(Counter), Counter()
    for row in table.to_dict("records"):
        value = tuple(write(row[name], model.folds) for name in columns)
        groups[row["age"], *(write(row[name], False) for name in known)][value] += 1
        whole[value] += 1
    return all(meets(model, {model.column: mix}, {model.column: whole}) for mix in groups.values())


@pytest.mark.nightly  # in every run: by hand, and as pycanon measures
@examples(10)
@given(tables())
def test_every_model_is_what_its_definition_says_and_the_checks_agree(table):
    plan = plan_of(*ALL)
    classes = prepare(plan, table).source.classes
    released = table.assign(age=table["age"].astype(str))
    verdicts = check_release(released, plan)[1:]
    rows = released.astype(object).where(released.notna(), "").astype(str).to_dict("records")
    findings = SCRIPT.check_table(json.loads(plan.to_json()), [*table], rows)[-len(ALL) :]
    for model, verdict, finding in zip(plan.models[1:], verdicts, findings, strict=True):
        assert model.holds(classes) == plain_holds(model, table) == verdict.holds, model
        assert verdict.level == pytest.approx(model.level(classes), rel=1e-9, abs=1e-12), model
        assert finding[2] == pytest.approx(verdict.level) and finding[3] is bool(verdict.holds)


@examples(25)
@given(tables(), st.randoms())
def test_merging_classes_never_makes_the_worst_one_worse(table, random):
    """A part of a merged class is a part of one of both, or one of each merged."""
    plan = plan_of(*ALL)
    classes = prepare(plan, table).source.classes
    group = np.array([random.randrange(2) for _ in range(classes.n_classes)])
    _, group = np.unique(group, return_inverse=True)
    merged = classes.pooled(np.arange(classes.n_classes), group, group.max() + 1)
    for model in plan.models[1:]:
        better = 1 if model.card.direction == "higher" else -1
        before, after = better * model.levels(classes), better * model.levels(merged)
        worst = [before[group == number].min() for number in range(len(after))]
        assert all(after >= np.array(worst) - 1e-9), model
        held = np.array([model.holds_each(classes)[group == n].all() for n in range(len(after))])
        assert (model.holds_each(merged) | ~held).all(), model
    try:
        check_reachable(plan.models[1:], classes)
    except Unsatisfiable:
        assert find_broken(plan.models[1:], classes).any()
    else:
        assert not find_broken(plan.models[1:], classes.as_one_class).any()


def test_merging_with_a_class_that_shares_no_known_value_improves_nothing():
    """Why more of a class may have to be merged: its parts stay what they were."""
    table = pd.DataFrame(
        {"age": [1, 1, 2, 2], "ill": ["flu", "flu", "gout", "gout"], "pay": [10, 10, 20, 20]}
    )
    columns = {name: COLUMNS[name] for name in table}
    known = {"model": "distinct-l-diversity", "l": 2, "column": "ill", "others": "known"}
    plan = make_plan(columns, 2, "gaa", models=[known])
    with pytest.raises(Unsatisfiable, match=r"'ill' where all other .* known cannot .* at most 1"):
        run(plan, table)
    run(make_plan(columns, 2, "gaa", models=[{**known, "others": None}]), table)


def test_by_hand():
    table = pd.DataFrame({
        "age": [1] * 4, "ill": ["flu", "gout", "flu", "gout"], "pay": [10, 20, 10, 20],
    })  # fmt: skip
    columns = {name: COLUMNS[name] for name in table}
    plan = make_plan(
        columns, 2, {"name": "levels", "node": {"age": 0}},
        models=[
            {"model": "distinct-l-diversity", "l": 2, "column": "ill"},
            {"model": "entropy-l-diversity", "l": 1, "column": "ill", "others": "known"},
            {"model": "distinct-l-diversity", "l": 2, "columns": ["ill", "pay"]},
        ],
    )  # fmt: skip
    done = run(plan, table)
    assert [verdict.level for verdict in done.verdicts] == [4, 2, 1, 2], "pay tells the illness"
    assert done.measures["others_known"]["ill"]["distinct_l"] == 1
    assert done.measures["combined"]["entropy_l"] == pytest.approx(2)
    assert [model.sentence for model in plan.models[2:]] == [
        "Entropy l-diversity with l = 1 for 'ill' where all other sensitive columns are known",
        "Distinct l-diversity with l = 2 for 'ill' and 'pay' together",
    ]
    assert "others_known" not in run(make_plan(columns, 2), table).measures


def oracles():
    return json.loads((ROOT / "tests/oracles/pycanon.json").read_text("utf-8"))["several"]


@pytest.mark.parametrize("case", oracles(), ids=lambda case: "-".join(case["sensitive"]))
def test_others_known_is_what_pycanon_measures(case):
    table = pd.read_csv(ROOT / case["table"], sep=";", dtype=str, keep_default_na=False)
    classes = build_column_classes(
        table, case["quasi_identifiers"], case["sensitive"], combines=True
    )
    found = privacy_summary(classes)["others_known"].values()
    for name, level in case["levels"].items():
        worst = min if name == "distinct_l" else max
        assert worst(one[name] for one in found) == pytest.approx(level, abs=1e-9), name


@pytest.mark.parametrize("name", [part["model"] for part in PARTS])
def test_a_model_that_accepts_too_much_is_found_out(name, monkeypatch):
    part = next(part for part in PARTS if part["model"] == name)
    table = pd.DataFrame(
        {"age": [1] * 4 + [2] * 4, "ill": list("aabbbbcc"), "pay": [1, 1, 2, 2] * 2, "ward": "w"}
    )
    plan = plan_of({**part, "column": "ill", "others": "known"})
    wrong = lambda self, classes: np.ones(classes.n_classes, dtype=bool)  # noqa: E731
    monkeypatch.setattr(MODELS[name], "holds_each", wrong)
    assert [verdict.holds for verdict in run(plan, table).verdicts] == [True, False]
    rows = table.astype(str).to_dict("records")
    assert SCRIPT.check_table(json.loads(plan.to_json()), [*table], rows)[-1][-1] is False


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ({"columns": ["ill"]}, "privacy.1: 'columns' has to name at least two columns"),
        ({"columns": ["ill", "ill"]}, "at least two columns, each of them once"),
        ({"columns": ["ill", "age"]}, "privacy.1.columns: 'age' is not sensitive; choose from"),
        ({"column": "ill", "columns": ["ill", "pay"]}, "'column' and 'columns' exclude each"),
        ({"columns": ["ill", "pay", "ward"], "others": "known"}, "no other sensitive column"),
        ({"columns": ["ill", "pay"], "distance": "emd-ordered"}, "is for one column, not for a"),
        ({"columns": ["ill", "pay"], "distance": "hierarchical"}, "is for one column, not for a"),
        ({"column": "ill", "others": "unknown"}, "privacy.1.others: 'unknown' is not allowed"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(about, sentence):
    with pytest.raises(PlanError) as caught:
        plan_of({"model": "t-closeness", "t": 0.5, **about})
    assert sentence in caught.value.sentence and "\n" not in caught.value.sentence


def test_the_size_of_parts_refuses_alpha_k_with_that_reason():
    table = pd.DataFrame({"age": [1, 1, 2, 2], "ill": list("abab"), "pay": [1, 2, 3, 3]})
    columns = {name: COLUMNS[name] for name in table}
    part = {"model": "alpha-k-anonymity", "alpha": 1, "k": 2, "column": "ill", "others": "known"}
    with pytest.raises(Unsatisfiable, match="only 1 record agrees in all other sensitive columns"):
        run(make_plan(columns, 2, "gaa", models=[part]), table)


def test_an_engine_counts_one_column_alone(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"age": [1, 1], "ill": ["a", "b"], "pay": [1, 2], "ward": "w"}).to_parquet(path)
    stored = open_stored(Address.parse(str(path)), "duckdb")
    with pytest.raises(PlanError, match="only for a table in memory; add --engine memory"):
        prepare(
            plan_of({"model": "entropy-l-diversity", "l": 1, "columns": ["ill", "pay"]}), stored
        )


@examples(8)
@given(tables())
def test_suppression_leaves_parts_that_hold(table):
    plan = make_plan(
        COLUMNS, 2, {"name": "datafly"}, suppression_limit=1.0,
        models=[{"model": "distinct-l-diversity", "l": 2, "column": "ill", "others": "known"}],
    )  # fmt: skip
    before = table.copy()
    try:
        done = run(plan, table)
    except Unsatisfiable:
        return
    assert all(verdict.holds for verdict in done.verdicts)
    pd.testing.assert_frame_equal(table, before)


def test_the_command_measures_columns_together(tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text("age,ill,pay\n1,flu,10\n1,gout,20\n1,flu,10\n1,gout,20\n", "utf-8")
    command = ["measure", "--table", str(path), "--qi", "age", "--sensitive", "ill,pay"]
    assert main([*command, "--combine", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["others_known"]["ill"]["distinct_l"] == 1 and found["combined"]["alpha"] == 0.5
    assert main([*command, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone == {key: found[key] for key in found if key not in ("others_known", "combined")}
    assert main([*command[:-1], "ill", "--combine"]) == 2
    assert "--combine needs several sensitive columns" in capsys.readouterr().err
