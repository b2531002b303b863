"""A kept comparison: the same numbers after a file, and two of them on one board."""

import copy
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kanon.base.progress import ignore_progress
from kanon.charts.board import draw_board
from kanon.charts.line_style import choose_looks
from kanon.errors import PlanError
from kanon.experiments import kept_comparisons
from kanon.experiments.comparison import Comparison, build_lines
from kanon.experiments.kept_comparisons import (
    KeptComparison,
    export_comparison,
    parse_comparison,
    put_beside,
)
from kanon.experiments.sweep import Configuration, PlannedRun, create_tasks, run_sweep
from kanon.metrics import METRICS
from kanon.plan import Plan
from kanon.run import prepare

WHERE = "kept comparison"
COLUMN = {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}
CONTENT = {
    "version": 2,
    "columns": {"sex": COLUMN, "age": COLUMN, "ill": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


def compare(rows, names=("ncp", "llm"), strategies=("s1",), algorithm="gaa", seeds=(None,)):
    plan = Plan.from_content({**CONTENT, "algorithm": {"name": algorithm}})
    table = pd.DataFrame(rows, columns=["sex", "age", "ill"])
    prepared = prepare(plan, table)
    configs = [
        Configuration(name, strategy, seed, "table", algorithm)
        for name in names
        for strategy in strategies
        for seed in seeds
    ]
    metrics = [METRICS[name] for name in dict.fromkeys([*names, "nllm"])]
    tasks = create_tasks(prepared, configs)
    ks = list(range(2, len(table) + 1))
    runs = [PlannedRun(algorithm, task) for task in tasks]
    numbers = run_sweep(ignore_progress, runs, ks, metrics, 1, ks[:2])
    (ill,) = prepared.classes.sensitive
    lines = build_lines(configs, numbers, metrics, {ill.name: 2.0})
    return Comparison(lines, tuple(metrics), len(table), tuple(ks), "ill")


ROWS = [(sex, age, ill) for sex in "FM" for age in "123" for ill in ("flu", "cold")]


def reopened(comparison):
    kept = KeptComparison("today", "Six people", comparison)
    text = json.dumps(export_comparison(kept), allow_nan=False)
    return parse_comparison(json.loads(text), WHERE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "how",
    [{}, {"algorithm": "datafly"}, {"seeds": (None, 1, 2)}, {"strategies": ("s1", "s2")}],
    ids=["curves", "points", "bands", "strategies"],
)
def test_a_file_gives_back_every_number(how):
    before = compare(ROWS, **how)
    kept = reopened(before)
    after = kept.comparison
    assert (kept.title, kept.about) == ("today", "Six people")
    pd.testing.assert_frame_equal(after.table(), before.table())
    assert after.every_k == before.every_k and after.has_bands == before.has_bands
    for criterion in (*before.criteria, *before.further):
        np.testing.assert_array_equal(
            after.at(criterion, before.ks), before.at(criterion, before.ks)
        )
    assert choose_looks(after) == choose_looks(before)
    first, second = (draw_board(one) for one in (before, after))
    assert first.cursor == second.cursor


def test_a_file_says_what_was_required_and_what_has_no_release():
    before = compare(ROWS, algorithm="datafly")
    line, *_ = before.lines
    run = replace(line.runs[None], refused={99: "There is none."})
    why = {"Mondrian": "It cannot."}
    before = replace(before, lines=(replace(line, runs={None: run}),), left_out=why)
    strict = replace(before, requirement="Every line meets l.")
    after = reopened(strict).comparison
    assert (after.requirement, after.left_out) == (strict.requirement, why)
    assert after.lines[0].explain_lack(99) == "There is none."
    assert after.table()["requirement"].eq(strict.requirement).all()
    both = put_beside(after, before)
    assert both.requirement == "(1) Every line meets l. (2) Lines meet k only."
    assert both.left_out == {"Mondrian (1)": "It cannot.", "Mondrian (2)": "It cannot."}
    assert put_beside(after, after).requirement == strict.requirement


def test_the_file_has_no_value_of_the_table():
    text = json.dumps(export_comparison(KeptComparison("today", "", compare(ROWS))))
    assert not any(f'"{value}"' in text for row in ROWS for value in row)


def test_two_comparisons_share_k_metrics_and_colours():
    small, large = compare(ROWS, ("ncp", "llm")), compare(ROWS * 2, ("ncp", "wllm"))
    both = put_beside(small, large)
    assert [line.title for line in both.lines] == ["NCP (1)", "LLM (1)", "NCP (2)", "WLLM (2)"]
    assert [metric.name for metric in both.metrics] == ["ncp", "nllm"]
    assert both.ks == small.ks and both.n_records == 12
    for mark, alone in ((1, small), (2, large)):
        for line in alone.lines:
            beside = both.line(f"{line.name} ({mark})")
            expected = line.at("mean_alteration", both.ks, "ill")
            np.testing.assert_array_equal(beside.at("mean_alteration", both.ks, "ill"), expected)
    looks = choose_looks(both)
    one, two = looks["ncp (1)"], looks["ncp (2)"]
    assert one == choose_looks(small)["ncp"], "the first looks as it does alone"
    assert one.colour == two.colour and one.dash != two.dash and one.symbol != two.symbol
    assert len({(look.colour, look.dash, look.symbol) for look in looks.values()}) == 4
    assert draw_board(both).cursor["lines"][2]["name"] == "NCP (2)"


def test_algorithms_and_strategies_keep_their_colours_too():
    for how in ({"strategies": ("s1", "s2", "s3"), "names": ("ncp",)}, {"names": ("ncp",)}):
        both = put_beside(compare(ROWS, **how), compare(ROWS, **how))
        looks = choose_looks(both)
        for line in both.lines[: len(both.lines) // 2]:
            other = looks[line.name.replace("(1)", "(2)")]
            assert looks[line.name].colour == other.colour and looks[line.name] != other


def test_what_cannot_stand_beside_each_other_is_said():
    one = compare(ROWS)
    with pytest.raises(PlanError, match="k counts records in the first and persons"):
        put_beside(one, Comparison(one.lines, one.metrics, 12, one.ks, "ill", "persons"))
    with pytest.raises(PlanError, match="no k in common"):
        put_beside(one, Comparison(one.lines, one.metrics, 12, (1,), "ill"))
    many = Comparison(one.lines * 20, one.metrics, 12, one.ks, "ill")
    with pytest.raises(PlanError, match="80 lines; a board can have at most 48"):
        put_beside(many, many)
    banded = compare(ROWS, seeds=(None, 1))
    assert not put_beside(one, banded).has_bands and put_beside(banded, banded).has_bands


def _break(content, path, value):
    content = copy.deepcopy(content)
    *before, last = path
    part = content
    for step in before:
        part = part[step]
    part[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["version"], 2, "the key 'version' is unknown"),
        (["ks"], "2", "has to be a list"),
        (["metrics", "own"], None, "not defined: 'own'"),
        (["lines", 0, "configuration", "strategy"], "s99", "lacks numbers"),
        (["lines", 0, "runs"], [], "lacks numbers"),
        (["lines", 0, "runs", 0, "parts", "generalised"], [1.0], "lacks numbers"),
        (["lines", 0, "runs", 0, "parts", "generalised"], ["flu"], "lacks numbers"),
        (["lines", 0, "surprise"], 1, "unknown"),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence(path, value, sentence):
    content = export_comparison(KeptComparison("today", "", compare(ROWS)))
    with pytest.raises(PlanError, match=sentence):
        parse_comparison(_break(content, path, value), WHERE)
    with pytest.raises(PlanError):
        parse_comparison([], WHERE)


@pytest.fixture(scope="module")
def contents():
    return {
        algorithm: export_comparison(KeptComparison("today", "", compare(ROWS, ("ncp",), **how)))
        for algorithm, how in (("gaa", {}), ("datafly", {"algorithm": "datafly"}))
    }


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("alteration", ["x", 5, None, [], {}, {"ncp": [10**400, None]}, {"ncp": [1, 2, 3]}]),
        ("class_sizes", ["x", 5, {}, [1], [[1]], [[1]] * 3, [[1] * 4] * 2]),
        ("further", [5, None, [], {"c_avg": [1]}, {"c_avg": 5}]),
        ("entropy_l", [{}, {"ill": [1]}, {"other": [1, 1, 1]}]),
        ("min_k", [[2, 6, 10**19], [2, 6, float("inf")], [[2, 6, 12]]]),
        ("measured_at", [["x"], [[2]], 5, None]),
    ],
)
def test_a_damaged_curve_is_refused(contents, path, values):
    for value in values:
        broken = _break(contents["gaa"], ["lines", 0, "runs", 0, "parts", path], value)
        with pytest.raises(PlanError, match="lacks numbers"):
            parse_comparison(broken, WHERE)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (["runs", 0, "parts", "numbers"], [[], {}, {"k": [2]}, {"k": 5}]),
        (["runs", 0, "parts", "numbers", "generalised_percent"], [[1], {}, "x"]),
        (["runs", 0, "parts", "suppressed"], [{}, "x", [1]]),
        (["runs", 0, "parts", "refused"], [{"99": 5}, {"x": ""}, [], None]),
        (["runs", 0, "tie_seed"], [7, 10**19]),
        (["configuration", "tie_seed"], [7]),
    ],
)
def test_a_damaged_point_is_refused(contents, path, values):
    for value in values:
        with pytest.raises(PlanError, match="lacks numbers"):
            parse_comparison(_break(contents["datafly"], ["lines", 0, *path], value), WHERE)


def test_a_point_without_a_criterion_is_refused(contents):
    broken = copy.deepcopy(contents["datafly"])
    del broken["lines"][0]["runs"][0]["parts"]["numbers"]["generalised_percent"]
    with pytest.raises(PlanError, match="lacks numbers"):
        parse_comparison(broken, WHERE)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("ks", [2] * 501, "at most 500 entries"),
        ("ks", [0, 2], "'ks' has to rise"),
        ("ks", [3, 3], "'ks' has to rise"),
        ("ks", [2, 13], "'ks' has to rise"),
        ("records", 10**19, "at most 1000000000000"),
        ("measured", ["ncp"] * 97, "at most 96 entries"),
    ],
)
def test_a_file_cannot_ask_for_endless_numbers(key, value, sentence):
    content = export_comparison(KeptComparison("today", "", compare(ROWS)))
    with pytest.raises(PlanError, match=sentence):
        parse_comparison({**content, key: value}, WHERE)


def test_lines_and_numbers_of_a_file_are_limited(monkeypatch):
    content = export_comparison(KeptComparison("today", "", compare(ROWS)))
    with pytest.raises(PlanError, match=r"has 50 entries; .* at most 48 entries"):
        parse_comparison({**content, "lines": content["lines"] * 25}, WHERE)
    monkeypatch.setattr(kept_comparisons, "_MOST_NUMBERS", 200)
    with pytest.raises(PlanError, match="exceeds the limit of 200 numbers"):
        parse_comparison(content, WHERE)
