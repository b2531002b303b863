"""What is published follows from the released file: with the same release it is the same."""

import html
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon.errors import Unsatisfiable
from kanon.hierarchy import Hierarchy
from kanon.plan import Plan
from kanon.report.archive import build_archive_file
from kanon.report.contents import collect_report
from kanon.report.origin import build_released_file
from kanon.report.public import build_public_report, list_nodes_above, list_publishable_figures
from kanon.report.rendering import render_report, write_numbers_json
from kanon.report.words import PUBLISHABLE_FIGURES
from kanon.run import prepare, run, run_prepared
from support.plans import plan_content, qi, qi_with
from support.random_tables import examples
from support.reports import DAY, RUNE, content, files_in, page_of, report_of, table_of_runes


def published(done):
    """The bytes of the report and of the archive."""
    file = build_released_file(done)
    report = build_public_report(done, file, DAY)
    return render_report(report), write_numbers_json(report), build_archive_file(done, file, DAY)


def release_of(plan, table):
    return run_prepared(prepare(Plan.from_content(plan), table))


# --- by hand ----------------------------------------------------------------------------------
def two_tables():
    """Fourteen records each, of which a release for k = 14 shows nothing."""
    one = pd.DataFrame(
        {"job": [f"job {row}" for row in range(14)], "zip": ["10115"] * 12 + ["1"] * 2}
    )
    other = pd.DataFrame({"job": ["nurse"] * 13 + ["judge"], "zip": [*"abcdefg"] * 2})
    return one, other


@pytest.mark.nightly  # in every run: test_two_tables_with_one_release_are_published_alike
def test_tables_of_which_nothing_is_shown_are_published_alike():
    quasi = qi()
    plan = plan_content({"job": quasi, "zip": quasi}, 14)
    done = [release_of(plan, table) for table in two_tables()]
    assert done[0].released().equals(done[1].released())
    assert set(done[0].released().stack()) == {"*"}
    assert published(done[0]) == published(done[1])
    reports = [collect_report(Plan.from_content(plan), table, date=DAY) for table in two_tables()]
    for names in ((), ("records", "suppressed", "algorithm")):
        first, second = (
            render_report(one.public.add_figures(one.figures, names)) for one in reports
        )
        assert first == second
    assert render_report(reports[0]) != render_report(reports[1])


def test_every_figure_has_a_value_of_its_own():
    quasi = qi()
    plan = plan_content(
        {"job": quasi, "who": {"role": "identifier"}},
        2,
        {"name": "levels", "node": {"job": 0}, "seed": 5},
        person="who",
        suppression_limit=1.0,
        read={"missing": "drop-records"},
    )
    table = pd.DataFrame({"job": ["a", "a", "a", "b", None], "who": [1, 2, 2, 3, 4]})
    figures = list_publishable_figures(release_of(plan, table))
    assert set(figures) == set(PUBLISHABLE_FIGURES)
    assert figures.pop("algorithm")["algorithm"]["seed"] == 5
    assert figures == {
        "records": "4", "dropped": "1", "suppressed": "1", "persons": "3",
        "alteration": "25.0 %, NLLM",
    }  # fmt: skip


@pytest.mark.parametrize("released", [["10-19", "5"], ["*"], ["10", "(missing)"], []])
def test_nodes_are_those_at_or_above_released_ones(released):
    paths = {"10": ["10-19", "*"], "11": ["10-19", "*"], "5": ["*"], "(missing)": ["*"]}
    nodes = [("*", None, None), ("10-19", "*", None)]
    nodes += [(leaf, above[0], None) for leaf, above in paths.items()]
    tree = Hierarchy.from_entries(nodes)
    found = list_nodes_above(tree, np.array([tree.node_of[name] for name in released], dtype=int))
    expected = {name for one in released for name in (one, *paths.get(one, ["*"]))} - {"(missing)"}
    values = {"*": 3, "10-19": 2}
    assert {one["name"]: one["values"] for one in found} == {
        name: values.get(name, 1) for name in expected
    }


# --- the form for publication -----------------------------------------------------------------
label = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), max_size=8
)


@pytest.mark.nightly
@settings(max_examples=5, deadline=None)
@given(st.lists(label, min_size=10, max_size=10))
def test_the_form_for_publication_shows_no_label_below_released_ones(texts):
    table, plan = table_of_runes(texts)
    report = report_of(plan, table)
    everything = "\n".join(
        [html.unescape(page_of(report.public)), *files_in(page_of(report.public)).values()]
    )
    used = set(run(Plan.from_content(plan), table).released()[["kind", "place"]].stack())
    hidden = {*table["kind"], *table["place"], *table["name"], *table["ill"], *table["note"]} - used
    assert hidden
    for text in hidden:
        assert text not in everything and json.dumps(text)[1:-1] not in everything
    assert f"{RUNE}?" not in everything
    for column in table.columns:  # names of columns stay
        assert column in everything


def test_no_reason_and_no_alternative_is_published(monkeypatch):
    def refuse(task, progress):
        raise Unsatisfiable("Column 'age': {cells} is in the way.", ["the value 31"])

    monkeypatch.setattr("kanon.algorithms.ola.anonymise", refuse)
    report = report_of(content())
    assert "the value 31" in page_of(report)
    public = page_of(report.public)
    assert "in the way" not in public and "Lattice sweep" not in public


def test_the_form_for_publication_has_no_fingerprint_to_test_guesses_by():
    report = report_of()
    assert report.public.release == report.hashes[-1]
    for what, digest in report.hashes[:-1]:
        assert digest not in page_of(report.public), what


def test_a_plan_is_published_with_what_is_released():
    plan = json.loads(report_of().public.plan)
    assert plan["columns"]["age"]["hierarchy"] == {"build": "intervals", "widths": [10.0, 20.0]}
    assert plan["columns"]["sex"]["hierarchy"] == {"build": "suppression"}
    assert "algorithm" not in plan and "suppression_limit" not in plan
    paths = content(algorithm={"name": "levels", "node": {"age": 3, "sex": 2}})
    paths["columns"]["sex"]["hierarchy"] = {
        "build": "groups", "levels": [{"any": ["F", "M", "X"]}],
    }  # fmt: skip
    plan = json.loads(report_of(paths).public.plan)
    assert plan["columns"]["sex"]["hierarchy"] == {
        "nodes": [{"name": "*", "parent": None, "values": 3}]
    }


# --- whatever the tables ------------------------------------------------------------------------
GROUPS = {"build": "groups", "levels": [{"ab": ["a", "b"], "cd": ["c", "d"], "ef": ["e", "f"]}]}
CANDIDATES = {
    "age": [str(age) for age in range(20, 60)],
    "kind": [*"abcdef"],
    "sex": [*"FMX"],
    "code": ["11", "12", "13", "210"],
}
BUILT = {
    "age": {"build": "intervals", "widths": [10, 20]},
    "kind": GROUPS,
    "sex": {"build": "suppression"},
    "code": {"build": "mask", "keep": [1]},
}


def labels_of(column, value):
    """What a value may be released as."""
    age, code = (int(value), "") if column == "age" else (0, value)
    return {
        "age": [value, *(f"{age // w * w}-{age // w * w + w - 1}" for w in (10, 20))],
        "kind": [value, {"a": "ab", "b": "ab", "c": "cd", "d": "cd"}.get(value, "ef")],
        "sex": [value],
        "code": [value, f"{code[:1]}*"],
    }[column]


@st.composite
def tables_and_plans(draw):
    n = draw(st.integers(3, 8))
    quasi = draw(st.lists(st.sampled_from([*BUILT]), min_size=1, max_size=3, unique=True))
    table = pd.DataFrame(
        {name: draw(st.lists(st.sampled_from(CANDIDATES[name]), min_size=n, max_size=n))
         for name in quasi}
    )  # fmt: skip
    table["ill"] = draw(st.lists(st.sampled_from(["flu", "cold", "gout"]), min_size=n, max_size=n))
    table["who"] = [f"one {row}" for row in range(n)]
    levels = {name: draw(st.integers(0, 1 if name == "sex" else 2)) for name in quasi}
    algorithm = draw(st.sampled_from([
        {"name": "levels", "node": levels}, {"name": "gaa"}, {"name": "datafly"},
        {"name": "mondrian"},
    ]))  # fmt: skip
    plan = plan_content(
        {
            **{name: qi_with(BUILT[name]) for name in quasi},
            "ill": {"role": "sensitive"},
            "who": {"role": "identifier"},
        },
        2,
        algorithm,
        read={"missing": "drop-records"},
        suppressed=draw(st.sampled_from(["leave-out", "keep"])),
    )
    if algorithm["name"] in ("levels", "datafly"):
        plan["suppression_limit"] = {"records": n}
    else:
        plan["privacy"].append({"model": "t-closeness", "t": 1, "distance": "variational"})
    return table, plan


def in_released_order(plan, table):
    """The table with its rows as they stand in its release, and those that left it last."""
    done = release_of(plan, table)
    rows = done.released(index=True)
    order = rows.astype(str).sort_values([*rows.columns]).index
    return table.loc[[*order, *table.index.difference(order)]].reset_index(drop=True)


@pytest.mark.nightly
@examples(60)
@given(tables_and_plans(), st.data())
def test_two_tables_with_one_release_are_published_alike(given_table, data):
    table, plan = given_table
    table = in_released_order(plan, table)
    done = release_of(plan, table)
    rows = done.released(index=True)
    if "suppressed" in rows:
        rows = rows[rows["suppressed"] == 0]
    other = table.assign(who=[f"two {row}" for row in range(len(table))])
    for column in other.columns.intersection([*BUILT]):
        for row in table.index:
            shown = str(rows[column].get(row, "*"))
            fitting = [one for one in CANDIDATES[column] if shown in ("*", *labels_of(column, one))]
            cell = data.draw(st.sampled_from(fitting or [table.at[row, column]]))
            other.at[row, column] = cell
    dropped = data.draw(st.integers(0, 2))
    quasi = [one for one in BUILT if one in table]
    more = pd.DataFrame({quasi[0]: [None] * dropped, "ill": "flu", "who": "x"})
    other = pd.concat([other, more], ignore_index=True)
    again = release_of(plan, in_released_order(plan, other))
    assume(build_released_file(done).content == build_released_file(again).content)
    for one, two in zip(published(done), published(again), strict=True):
        assert one == two
