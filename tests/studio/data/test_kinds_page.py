"""The kind of a column: recognised, shown, changed; what depends on it follows, and is kept."""

import numpy as np
import pandas as pd
import pytest

from kanon.base.kinds import ColumnKind
from kanon.errors import TableError
from kanon.plan import Plan
from kanon.run import run
from kanon.schema import Role
from kanon.studio.data.columns_panel import list_kinds, set_kind
from kanon.studio.session.choices import build_choice
from kanon.studio.session.hierarchy_choices import set_hierarchy, set_role, undo_hierarchy
from kanon.studio.session.run_plan import apply_plan, build_plan
from kanon.studio.session.table_loading import open_uploaded_table
from kanon.studio.shell.project_file import export_project, open_project
from support.dashboard import DATA, as_bytes, captions, give_role, go, problems, upload, work
from support.dashboard import choose as choose_box

DRAWN = np.random.default_rng(3)
PEOPLE = pd.DataFrame(
    {
        "born": [f"{day}/{day % 12 + 1}/{year}" for day in range(1, 13) for year in (1950, 1981)],
        "paid": [f"{one:,.2f}".translate(str.maketrans(",.", ".,"))
                 for one in DRAWN.integers(90_000, 900_000, 24) / 100],
        "town": DRAWN.choice(["Bonn", "Köln"], 24),
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def people():
    found = open_uploaded_table(as_bytes(PEOPLE, "csv", sep=";"), "people.csv", 0)
    for column in PEOPLE.columns:
        found = set_role(found, column, Role.QUASI_IDENTIFIER)
    return found


def test_a_first_hierarchy_suits_the_kind_that_was_recognised(people):
    built = {column: people.table.choices[column].builder for column in PEOPLE.columns}
    assert built == {"born": "dates", "paid": "intervals", "town": "suppression"}
    assert list(map(str, list_kinds(people, "born")))[:2] == ["date DD/MM/YYYY", "date MM/DD/YYYY"]


def test_another_kind_builds_anew_and_can_be_undone(people):
    month_first = set_kind(people, "born", ColumnKind.parse("date MM/DD/YYYY"))
    tree = month_first.table.choices["born"].tree
    assert tree.labels[tree.parent[tree.node_of["5/6/1981"]]] == "1981-05"
    before = people.table.choices["born"].tree
    assert before.labels[before.parent[before.node_of["5/6/1981"]]] == "1981-06"
    assert undo_hierarchy(month_first, "born").table.choices["born"].builder == "dates"
    as_text = set_kind(people, "paid", ColumnKind("text"))
    assert as_text.table.choices["paid"].builder != "intervals"
    again = set_kind(as_text, "paid", ColumnKind.parse("decimal 1.234,56"))
    assert again.table.kinds == {}  # as it is found
    assert again.table.choices["paid"].builder == "intervals"


def test_a_kind_that_the_values_are_not_of_changes_nothing(people):
    with pytest.raises(TableError, match="'born': 24 distinct values are not decimals written"):
        set_kind(people, "born", ColumnKind.parse("decimal 1.234,56"))


def test_a_chosen_kind_and_ages_travel_in_the_plan_and_in_the_project(people):
    chosen = set_kind(people, "born", ColumnKind.parse("date MM/DD/YYYY"))
    values = chosen.table.complete_records.count_column_values("born")
    typed = {"day": "2026-11-25", "widths": "1, 10, 20", "highest": "90"}
    chosen = set_hierarchy(chosen, "born", build_choice("ages", typed, "born", values))
    plan = build_plan(chosen)
    assert plan.read.kinds == {"born": "date MM/DD/YYYY"}
    assert plan.columns["born"].hierarchy.build == "ages"
    opened = open_project(people, export_project(chosen).encode())
    loaded = apply_plan(people, Plan.from_json(plan.to_json()))
    for other in (opened, loaded):
        assert build_plan(other).read.kinds == plan.read.kinds
        assert other.table.choices["born"].tree == chosen.table.choices["born"].tree
    released = run(plan, PEOPLE).released()
    singles = released["born"][released["born"].isin(PEOPLE["born"])]
    assert (singles == PEOPLE["born"][singles.index]).all()


@pytest.mark.parametrize("day", ["", "25.11.2026", "2026-02-30"])
def test_ages_need_a_day(people, day):
    values = people.table.complete_records.count_column_values("born")
    found = build_choice("ages", {"day": day, "widths": "5"}, "born", values)
    assert found.problem.startswith("Write the day for 'Age on the day' like 2026-11-25")


@pytest.mark.nightly  # in every run: base/test_kinds.py
def test_the_page_says_that_it_guessed_and_takes_another_kind(start):
    at = upload(start(DATA), "people.csv", as_bytes(PEOPLE, "csv", sep=";"))
    give_role(at, "born", "quasi-identifier")
    key = f"kind-{work(at).version}-0"
    assert at.selectbox(key=key).value == "date DD/MM/YYYY"
    assert any("This is a guess; it could also be date MM/DD/YYYY" in one for one in captions(at))
    choose_box(at, key, "date MM/DD/YYYY")
    assert str(work(at).table.kinds["born"]) == "date MM/DD/YYYY"
    assert not any("a guess" in one for one in captions(at))
    assert not problems(go(at))

    table = pd.DataFrame({"born": ["14.03.1981", "2.1.1979", "13.4.1979", "spring"] * 3})
    give_role(upload(at, "p.csv", as_bytes(table, "csv", sep=";")), "born", "quasi-identifier")
    assert any("1 value fits no such pattern: spring (3)" in one for one in captions(at))
    assert "date DD.MM.YYYY" not in at.selectbox(key=f"kind-{work(at).version}-0").options


@pytest.mark.nightly
def test_several_patterns_of_dates_are_explained_and_taken_together(start):
    born = ["14.03.1981", "1981-03-14", "2.1.1979", "1979-11-05"] * 3
    table = pd.DataFrame({"born": born, "town": ["Bonn", "Köln"] * 6})
    at = upload(start(DATA), "people.csv", as_bytes(table, "csv", sep=";"))
    give_role(at, "born", "quasi-identifier")
    both = "date YYYY-MM-DD or DD.MM.YYYY"
    assert any("2 values, 1981-03-14 is 1981-03-14" in one and f"choose {both}" in one
               for one in captions(at))  # fmt: skip
    choose_box(at, f"kind-{work(at).version}-0", both)
    assert str(work(at).table.kinds["born"]) == both
    assert work(at).table.choices["born"].builder == "suppression"  # it has few values
    assert any("14.03.1981 is 1981-03-14" in one for one in captions(at))
    assert build_plan(work(at)).read.kinds == {"born": both}
    assert not problems(go(at))
