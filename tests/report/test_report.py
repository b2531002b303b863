"""The figures of a report, and what changed since the last one."""

import datetime
import html
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithms, short_title
from kanon.base.sentences import describe_alteration
from kanon.charts.trees import ROWS, place_tree
from kanon.errors import PrivacyWarning
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import suppression
from kanon.measures.overview import get_utility_cards
from kanon.plan import Plan
from kanon.report import alternatives as considered
from kanon.report.alternatives import select_near_k
from kanon.report.changes import parse_record
from kanon.report.contents import build_report_record, collect_report
from kanon.report.optimality_gap import can_show_ranges
from kanon.report.rendering import collect_report_numbers
from kanon.run import prepare, run
from support.people_plans import PEOPLE, plan_with
from support.plans import make_plan, qi_with
from support.reports import (
    DAY,
    PLANS,
    RUNE,
    STUB,
    TWO,
    check_page,
    content,
    page_of,
    report_of,
    table_of_runes,
)

MADE = re.compile(r'id="made">Made on (\S+); the algorithm took \d+\.\d\d s\.</p>')


def check_figures(report, done):
    """A report says what a run measures: all but the seconds."""
    assert report.measures == {
        key: value for key, value in done.measures.items() if key != "seconds"
    }
    assert [one.holds for one in report.guarantees] == [one.holds for one in done.verdicts]
    after = {(one.card.title, one.column): one.after for one in report.lost}
    metric = done.prepared.plan.metric
    assert after[f"Alteration, {metric.card.title}", ""] == done.measures["alteration"][metric.name]
    for name, card in get_utility_cards().items():
        number = done.measures[name]
        share = card.unit == "share" and number is not None  # said in percent, as everywhere
        assert after[card.title, ""] == (100 * number if share else number)
    for one in (*report.alternatives.metrics, *report.alternatives.algorithms):
        if one.chosen:
            assert one.alteration == done.measures["alteration"][metric.name]
            assert one.mean_alteration == done.measures["mean_alteration"]
            assert (one.classes, one.min_k, one.suppressed) == tuple(
                done.measures[key] for key in ("classes", "min_k", "suppressed")
            )


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("levels", "k-member") else pytest.param(name, marks=pytest.mark.nightly)
        for name in algorithms()
        if name not in ("mdav", "gaa", "datafly", "mondrian")  # for numbers alone; in PLANS
    ],
)
def test_a_report_has_the_figures_of_a_run(name):
    own = {"node": {"age": 2, "sex": 1}} if name == "levels" else {}
    plan = content(algorithm={"name": name, **own})
    check_figures(report_of(plan), run(Plan.from_content(plan), PEOPLE))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("changes", PLANS.values(), ids=PLANS)
def test_any_plan_has_a_report_with_the_figures_of_its_run(changes):
    plan = content(**changes)
    report = report_of(plan)
    check_figures(report, run(Plan.from_content(plan), PEOPLE))
    for form in (report, report.public):
        check_page(page_of(form))


def test_a_report_worked_by_hand():
    """Six people: all of Ana's and Bea's thirties, Cyd's, and the two of fifty and more."""
    report = report_of()
    assert report.records == 6 and report.dropped == 0
    assert [
        (one.name, one.role, one.fate, one.distinct, one.missing) for one in report.profile
    ] == [
        ("name", "identifier", "left out", 5, 0),
        ("age", "quasi-identifier", "generalised", 5, 0),
        ("sex", "quasi-identifier", "generalised", 2, 0),
        ("disease", "sensitive", "left as it is", 2, 0),
        ("note", "insensitive", "left as it is", 5, 1),
    ]
    sex = report.hierarchies[1]
    assert (sex.column, sex.n_nodes, sex.height, sex.levels) == ("sex", 3, 2, (2, 1))
    (k,) = report.guarantees
    assert (k.required, k.reached, k.holds) == ("k-anonymity with k = 2", "2", True)
    found = {(one.level.title, one.column): (one.before, one.after) for one in report.risks}
    assert found["Unique records", ""] == (4, 0)  # the two of 31 are alike
    assert found["Highest risk of being found", ""] == (1.0, 0.5)
    assert found["Mean risk of being found", ""] == (5 / 6, 3 / 6)
    assert found["Distinct l-diversity", "disease"] == (1, 2)
    assert "every class meets k-anonymity with k = 2 (reached: 2)" in report.verdict
    assert "no model protects 'disease'" in report.verdict
    looks, picked, sure, altered, close = report.plain_sentences
    assert "at least 1 other" in looks and picked
    assert sure.startswith("'disease'") and "50.0 % sure" in sure
    assert altered == describe_alteration(report.measures["alteration"]["nllm"], "NLLM")
    assert close == report.gap.sentence and close in html.unescape(page_of(report))
    assert collect_report_numbers(report)["lower_bound"] == report.gap.least <= report.gap.lost
    assert len(report.example.before) == 5 and not report.example.changed  # four were
    assert report.example.columns == ("age", "sex", "disease", "note")
    assert report.example.before[1] == ("34", "F", "flu", "(missing)")


def test_examples_are_records_that_were_changed():
    table = pd.DataFrame({"age": [31] * 4 + [52, 53, 54, 55, 56, 57], "sex": ["F"] * 10})
    report = report_of(plan_with(columns={
        "age": content()["columns"]["age"], "sex": content()["columns"]["sex"],
    }), table)  # fmt: skip
    assert [age for age, _ in report.example.before] == ["52", "53", "54", "55", "56"]
    assert report.example.changed and "31" not in str(report.example.after)
    text = page_of(report)
    assert "The first records of the release that were changed." in text
    assert text.count(' other"><bdi>') == 10  # the ages, before and after


def test_a_release_of_nobody_is_no_success():
    report = report_of(content(**PLANS["everybody is suppressed"]))
    assert report.verdict == (
        "Nothing is released: every record is suppressed, so there is no class to check."
    )
    assert report.guarantees[0].reached == "no class is left"
    assert report.plain_sentences == ("Nothing is released, so there is no class.",)
    assert (report.risks, report.curves, report.example.before) == ((), (), ())
    assert report.about_k.startswith("Nothing is released at the chosen k")
    assert STUB not in page_of(report)  # nothing is drawn


@pytest.mark.parametrize(
    ("own", "others", "named"),
    [
        (20.0, [("Mondrian", 10.0)], "Mondrian loses 10.0 % and this release 20.0 %"),
        (20.0, [("OLA", 15.0), ("Mondrian", 10.0)], "Mondrian loses 10.0 %"),
        (20.0, [("Mondrian", None), ("OLA", 15.0)], "OLA loses 15.0 %"),
        (20.0, [("Mondrian", 20.0)], ""),
        (20.0, [("Mondrian", 30.0)], ""),
        (20.04, [("Mondrian", 19.96)], ""),  # both are shown as 20.0 %
        (None, [("Mondrian", 10.0)], ""),
    ],
)
def test_the_alternative_that_loses_least_is_named_if_it_loses_less(own, others, named):
    rows = [considered.Alternative(title, alteration=lost) for title, lost in others]
    chosen = considered.Alternative("GAA", chosen=True, alteration=own)
    for algorithms_ in ([chosen, *rows], [*rows, chosen]):
        said = considered.Alternatives((), "", tuple(algorithms_), "NLLM").better_sentence
        assert said.startswith(named) and bool(said) == bool(named)
    guided = considered.Alternatives(tuple(rows), "", (chosen,), "NLLM").better_sentence
    assert guided == (said and f"The same algorithm guided by {said}")


@pytest.mark.parametrize(
    ("algorithm", "may"),
    [
        ({"name": "gaa"}, False),
        ({"name": "mdav"}, True),
        ({"name": "mondrian"}, False),
        ({"name": "mondrian", "release": "hierarchy"}, False),
        ({"name": "mondrian", "release": "ranges"}, True),
    ],
)
def test_which_plans_may_release_ranges(algorithm, may):
    assert can_show_ranges(Plan.from_content(content(algorithm=algorithm))) is may


@pytest.mark.nightly
def test_alternatives_are_runs_of_their_own():
    plan = content()
    found = report_of(plan).alternatives
    assert [one.title for one in found.metrics if one.chosen] == ["NLLM"]
    for one in found.metrics:
        guided = content(algorithm={"name": "gaa", "metric": one.title.lower()})
        own = run(Plan.from_content(guided), PEOPLE).measures
        assert (one.alteration, one.classes) == (own["alteration"]["nllm"], own["classes"])
    assert [one.title for one in found.algorithms] == ["GAA", "Lattice sweep", "Mondrian", "OLA"]
    for one, name in zip(found.algorithms, considered.ALGORITHMS, strict=True):
        own = run(Plan.from_content(content(algorithm={"name": name})), PEOPLE).measures
        assert (one.alteration, one.min_k) == (own["alteration"]["nllm"], own["min_k"])


@pytest.mark.nightly
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3, 4))]
)
def test_the_head_names_the_alternative_that_loses_least_by_pandas(seed):
    """With trees of one level over as many values each, what is lost is the share of stars."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(14), np.minimum(draw.zipf(1.8, 14), 4))
    table = pd.DataFrame({c: draw.choice([*"abc"], len(who), p=[0.6, 0.2, 0.2]) for c in "xyz"})
    table["who"] = [f"p{one}" for one in who]
    nodes = [{"name": "*", "parent": None}, *({"name": c, "parent": "*"} for c in "abc")]
    quasi = qi_with({"nodes": nodes})

    def asked(name):
        return make_plan(
            {**dict.fromkeys("xyz", quasi), "who": {"role": "identifier"}},
            3,
            {"name": name, "metric": "ncp"},
            person="who",
        )

    def stars(plan):
        with warnings.catch_warnings(action="ignore", category=PrivacyWarning):
            rows = run(plan, table).released()
        return 100 * (rows[[*"xyz"]].isin(["*"]).to_numpy().sum() / (3 * len(table)))

    others = {name: stars(asked(name)) for name in considered.ALGORITHMS}
    for name, own in others.items():
        report = collect_report(asked(name), table, date=DAY)
        least = min(others.values())
        said = report.alternatives.better_sentence
        page = page_of(report)
        assert page.count('<p id="better">') == (least < own)
        if least < own:
            title = short_title(min(others, key=others.get))
            figures = f"loses {least:.1f} % and this release {own:.1f} % (NCP)"
            assert said in page and said.startswith(title) and figures in said
            assert said not in page_of(report.public)


def test_an_alternative_that_cannot_be_made_says_why():
    report = report_of(content(**PLANS["no hierarchies"]))
    assert report.alternatives.metrics == ()
    assert (
        report.alternatives.metrics_note
        == "Mondrian uses no metric, so another one would change nothing."
    )
    refused = {one.title: one.refused for one in report.alternatives.algorithms if one.refused}
    said = "It needs a hierarchy for every quasi-identifier, and there is none for 'age'."
    assert refused == dict.fromkeys(["GAA", "Lattice sweep", "OLA"], said)
    assert said.replace("'", "&#39;") in page_of(report)


def test_what_would_take_long_is_not_run_beside_a_report(monkeypatch):
    monkeypatch.setattr(considered, "_MOST_CLASSES", 4)
    report = report_of(content(algorithm={"name": "ola"}))
    said = "the table has 5 classes; a report makes other releases for at most 4"
    assert report.alternatives.metrics_note == f"Not run: {said}."
    assert {one.refused for one in report.alternatives.algorithms[1:]} == {f"Not run: {said}."}
    assert report.about_k == f"OLA has to run separately for each k; other k were not run: {said}."
    assert report.curves == ()
    monkeypatch.setattr(considered, "_MOST_CLASSES", 5)
    monkeypatch.setattr(considered, "_MOST_NODES", 5)
    said = "the lattice has 8 nodes; a report makes other releases for at most 5"
    prepared = prepare(Plan.from_content(content(algorithm={"name": "ola"})), PEOPLE)
    assert considered.explain_too_long(prepared) == said


def test_curves_show_the_chosen_k_among_its_neighbours():
    report = report_of()
    alteration, disease = report.curves
    assert [row[0] for row in alteration.rows] == ["2", "3", "4", "5"]
    assert alteration.rows[alteration.chosen][0] == "2"
    assert alteration.rows[0][1] == f"{report.measures['alteration']['nllm']:.1f} %"
    assert disease.title == "disease: l and t of the worst class"
    assert (
        float(disease.rows[0][1]) <= report.measures["entropy_l"] < float(disease.rows[0][1]) + 0.01
    )
    assert [len(one.figures) for one in report.curves] == [1, 2]


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 12))
def test_near_k_are_the_nearest_by_ratio(k, n, most):
    k = min(k, n)
    found = select_near_k(k, n, most)
    assert k in found and found == sorted(set(found)) and len(found) <= most
    assert all(other <= n for other in found)


def test_a_hierarchy_that_an_identifier_once_had_is_not_in_the_report():
    plan = content()
    plan["columns"]["name"]["hierarchy"] = {"nodes": [{"name": "Ana"}]}
    report = report_of(plan)
    assert "Ana" not in page_of(report)
    assert report.hashes == report_of().hashes


@pytest.mark.parametrize("name", [
    "pseudonyms",
    *(pytest.param(name, marks=pytest.mark.nightly)
      for name in ("the plain one", "another model", "rows that stay")),
])  # fmt: skip
def test_two_reports_differ_in_the_date_and_the_seconds_alone(name):
    plan = Plan.from_content(content(**PLANS[name]))
    first = page_of(collect_report(plan, PEOPLE, date=DAY))
    other = page_of(collect_report(plan, PEOPLE, date=datetime.date(2027, 12, 1)))
    assert MADE.search(first)[1] == "2026-01-31" and MADE.search(other)[1] == "2027-12-01"
    assert MADE.sub("", first) == MADE.sub("", other)


def test_a_table_without_a_file_is_known_by_its_cells():
    found = dict(report_of().hashes)
    changed = dict(report_of(table=PEOPLE.assign(note=1.5)).hashes)
    key = "Input: the cells of the table in memory, as CSV"
    assert found[key] != changed[key]
    assert found["Hierarchies: their nodes as JSON"] == changed["Hierarchies: their nodes as JSON"]


def test_a_report_says_how_many_persons():
    table = PEOPLE.assign(age=[31, None, 38, 52, 57, 31])
    plan = content(person="name", read={"missing": "drop-records"})
    report = report_of(plan, table)
    kept = table.dropna(subset=["age", "sex"])
    assert (report.records, report.persons) == (len(kept), kept["name"].nunique()) == (5, 4)
    said = "5 records of 4 persons were anonymised; 1 record with"
    assert said in check_page(page_of(report)).said
    public = check_page(page_of(report.public)).said
    assert "5 records in" in public and "4 persons" not in public and "not in the file" in public
    assert "sees at least 1 other that" in public and "picks the right" not in public
    assert collect_report_numbers(report)["persons"] == 4
    without = report_of()
    assert (
        without.persons is None and "6 records were anonymised" in check_page(page_of(without)).said
    )


def next_after(first, plan=None, table=PEOPLE):
    """The report of another plan, and what it says has changed; by the numbers on file."""
    last = parse_record(json.loads(json.dumps(collect_report_numbers(first))))
    report = report_of(plan, table, last=last)
    return report, report.changes


def test_the_first_report_says_so_and_the_same_one_that_nothing_changed():
    first = report_of()
    assert "This is the first report" in page_of(first) and first.changes == ()
    again = report_of(last=build_report_record(first))
    assert again.changes == ()
    assert "Nothing changed since the last report of this project, of 2026-01-31." in page_of(again)


@pytest.mark.nightly
def test_settings_roles_hierarchies_and_numbers_that_changed_are_listed():
    old = content(columns={**content()["columns"], "note": {"role": "sensitive"}})
    new = content(privacy=[{"model": "k-anonymity", "k": 3}, PLANS["another model"]["privacy"][1]])
    new["columns"]["age"]["hierarchy"]["widths"] = [10, 30]
    new["algorithm"] = {"name": "gaa", "metric": "ncp", "attribute_weights": {"age": 2}}
    first = report_of(old)
    report, changes = next_after(first, new)
    before, after = (run(Plan.from_content(one), PEOPLE).measures for one in (old, new))
    assert set(changes) >= {
        "k: 2 records → 3 records",
        "Distinct l-diversity: none → l = 2",
        "Metric: NLLM → NCP",
        "Weights of columns: all alike → age: 2",
        "Role of 'note': sensitive, left as it is → insensitive, left as it is",
        "The hierarchy of 'age' changed",
        f"Loss: {before['alteration']['nllm']:.1f} % (NLLM) → "
        f"{after['alteration']['ncp']:.1f} % (NCP)",
        f"Classes: {before['classes']} → {after['classes']}",
        f"Records of the smallest class: {before['min_k']} → {after['min_k']}",
    }
    assert not [one for one in changes if "sex" in one or "table" in one or "Records:" in one]
    page = page_of(report)
    listed = page[page.index("Changed since the last report of this project:") :]
    assert [html.unescape(one) for one in re.findall("<li>(.*?)</li>", listed)][: len(changes)] == [
        *changes
    ]
    assert page_of(report.public).count("last report") == 0


@pytest.mark.nightly
def test_two_models_of_one_name_and_a_metric_of_ones_own_are_told_apart():
    model = {"model": "t-closeness", "t": 0.9, "distance": "variational"}
    mine = {"intermediate": "levels", "multiplier": "none"}
    asked = [*TWO, model, {**model, "distance": "emd-equal"}]
    old = content(privacy=asked, metrics={"mine": mine})
    new = content(privacy=[*TWO, {**model, "t": 0.8}, asked[2]],
                  metrics={"mine": {**mine, "multiplier": "w1"}})  # fmt: skip
    _, changes = next_after(report_of(old), new)
    assert set(changes) == {
        "t-closeness: t = 0.9, distance = variational; t = 0.9, distance = emd-equal → "
        "t = 0.8, distance = variational; t = 0.9, distance = emd-equal",
        "Metric 'mine': levels, none → levels, w1",
    }


def test_another_table_is_told_by_its_numbers_and_its_fingerprint():
    first = report_of()
    _, changes = next_after(first, table=pd.concat([PEOPLE, PEOPLE.head(2)]))
    assert set(changes) >= {"The table changed", "Records: 6 → 8"}


def test_what_is_kept_for_the_next_report_holds_no_value():
    table, plan = table_of_runes(["x"] * 12)
    kept = build_report_record(
        collect_report(Plan.from_content(plan), table, date=DAY)
    ).model_dump_json()
    assert RUNE not in kept and "fingerprints" in kept
    assert "record" not in collect_report_numbers(report_of().public)


@st.composite
def trees(draw):
    """A tree of up to 150 nodes, each under one of those before it."""
    parents = draw(st.lists(st.integers(0, 10**6), max_size=150))
    entries = [("n0", None, None)]
    entries += [(f"n{i}", f"n{p % i}", None) for i, p in enumerate(parents, start=1)]
    return Hierarchy.from_entries(entries)


@given(trees(), st.integers(3, ROWS))
def test_a_drawing_shows_or_counts_every_value(tree, rows):
    drawing = place_tree(tree, rows)
    assert len({(spot.x, spot.y) for spot in drawing.spots}) == len(drawing.spots)
    assert drawing.spots[0].above is None
    places = {(spot.x, spot.y) for spot in drawing.spots}
    values = 0
    for spot in drawing.spots:
        assert 0 <= spot.x < drawing.width and 0 < spot.y < drawing.height
        assert spot.above is None or (spot.above in places and spot.above[0] < spot.x)
        counted = re.search(r"\((\d+) values?\)$", spot.whole)
        named = tree.node_of.get(spot.whole)
        if counted:
            values += int(counted[1])
        elif named is not None and not tree.children[named]:
            values += 1
    others = [spot for spot in drawing.spots if spot.whole.startswith("… ")]
    assert len(others) <= 1
    assert values == tree.n_leaves if not others else values < tree.n_leaves
    names = {spot.whole for spot in drawing.spots}
    assert drawing.complete == (names == set(tree.labels))


def test_a_long_flat_list_is_drawn_as_far_as_there_is_room():
    drawing = place_tree(suppression([f"v{place:03}" for place in range(300)]))
    assert len(drawing.spots) == 1 + ROWS
    assert drawing.spots[-1].text == "… 257 others" and not drawing.complete
    long = place_tree(suppression(["x" * 300, "y"]))
    assert len(long.spots[1].text) < 100 and len(long.spots[1].whole) == 300
