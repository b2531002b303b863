"""The report of a release: its figures, its two forms, its page, and the command."""

import base64
import csv
import datetime
import functools
import hashlib
import html
import io
import itertools
import json
import re
import warnings
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithm_named, algorithms, short_title
from kanon.algorithms.search import FULL_DOMAIN, own_way
from kanon.base.sentences import lost
from kanon.charts.trees import ROWS, tree_drawing
from kanon.cli.main import main
from kanon.errors import PlanError, PrivacyWarning, TableError, Unsatisfiable
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import suppression
from kanon.measures.overview import utility_cards
from kanon.plan import Plan
from kanon.report import alternatives as considered
from kanon.report import explanations
from kanon.report.changes import parse_record
from kanon.report.contents import gather, record_of
from kanon.report.explanations import LEVELS as LEVEL_NAMES
from kanon.report.optimality_gap import may_show_ranges
from kanon.report.origin import canonical_plan
from kanon.report.other_k import near
from kanon.report.public import PublicReport
from kanon.report.rendering import numbers, rendered
from kanon.report.words import LONGEST, TERMS, Words, parse_words, read_words, words_given
from kanon.run import prepare, run
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address
from support.people_plans import PEOPLE, plan_with
from support.plans import make_plan, qi, qi_with

DAY = datetime.date(2026, 1, 31)
STUB = "/* the library */"
CSV = "Release: the bytes of its CSV (',', UTF-8)"
MADE = re.compile(r'id="made">Made on (\S+); the algorithm took \d+\.\d\d s\.</p>')


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without the five megabytes of the library, which a test of its own looks at."""
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", STUB)


def content(**changes):
    """A good plan that names every column."""
    plan = plan_with(**changes)
    plan["columns"].setdefault("note", {"role": "insensitive"})
    return plan


@functools.cache
def plain_report():
    return gather(Plan.from_content(content()), PEOPLE, date=DAY)


def report_of(plan=None, table=PEOPLE, **how):
    if plan is None and table is PEOPLE and not how:
        return plain_report()
    return gather(Plan.from_content(plan or content()), table, date=DAY, **how)


def page_of(report):
    return rendered(report).decode("utf-8")


TWO = [{"model": "k-anonymity", "k": 2}]
PLANS = {
    "the plain one": {},
    "another model": {
        "privacy": [*TWO, {"model": "distinct-l-diversity", "l": 2}],
    },
    "no k at all": {"privacy": [{"model": "entropy-l-diversity", "l": 1.5}]},
    "an infinite level": {"privacy": [*TWO, {"model": "delta-disclosure", "delta": 50}]},
    "distance in order": {
        "privacy": [*TWO, {"model": "t-closeness", "t": 1.0, "distance": "emd-ordered",
                           "column": "note"}],
        "columns": content()["columns"] | {"note": {"role": "sensitive"}},
        "read": {"missing": "drop-records"},
    },
    "two sensitive columns": {
        "columns": content()["columns"] | {"name": {"role": "sensitive"}},
    },
    "pseudonyms": {"columns": content()["columns"] | {"name": {"role": "identifier",
                                                               "pseudonym": True}}},
    "no sensitive column": {"columns": content()["columns"] | {"disease": {"role": "insensitive"}}},
    "everybody is suppressed": {
        "algorithm": {"name": "levels", "node": {"age": 0, "sex": 0}},
        "privacy": [{"model": "k-anonymity", "k": 6}],
        "suppression_limit": 1.0,
    },
    "rows that stay": {
        "algorithm": {"name": "datafly"}, "suppression_limit": {"records": 2}, "suppressed": "keep",
    },
    "a metric of one's own": {
        "algorithm": {"name": "gaa", "metric": "mine", "strategy": "s3", "tie_seed": 3,
                      "attribute_weights": {"age": 2.0}},
        "metrics": {"mine": {"intermediate": "levels", "multiplier": "w1"}},
    },
    "no hierarchies": {
        "algorithm": {"name": "mondrian"},
        "columns": content()["columns"] | {"age": {"role": "quasi-identifier"}},
    },
}  # fmt: skip


# --- figures ----------------------------------------------------------------------------------
def check_figures(report, done):
    """A report says what a run measures: all but the seconds."""
    assert report.measures == {
        key: value for key, value in done.measures.items() if key != "seconds"
    }
    assert [one.holds for one in report.guarantees] == [one.holds for one in done.verdicts]
    after = {(one.card.title, one.column): one.after for one in report.lost}
    metric = done.prepared.plan.metric
    assert after[f"Alteration, {metric.card.title}", ""] == done.measures["alteration"][metric.name]
    for name, card in utility_cards().items():
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


QUICK = ("gaa", "datafly", "levels", "mondrian", "k-member")


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.nightly)
        for name in algorithms()
        if name != "mdav"  # which is for numbers alone
    ],
)
def test_a_report_has_the_figures_of_a_run(name):
    own = {"node": {"age": 2, "sex": 1}} if name == "levels" else {}
    plan = content(algorithm={"name": name, **own})
    check_figures(report_of(plan), run(Plan.from_content(plan), PEOPLE))


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
    assert "nothing was required of 'disease'" in report.verdict
    looks, picked, sure, altered, close = report.in_words
    assert "at least 1 other" in looks and "50.0 %: one of 2 in the smallest class" in picked
    assert sure.startswith("'disease'") and "50.0 % sure" in sure
    assert altered == lost(report.measures["alteration"]["nllm"], "NLLM")
    assert close == report.gap.sentence and close in html.unescape(page_of(report))
    assert numbers(report)["lower_bound"] == report.gap.least <= report.gap.lost
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
    assert "The first records of the release that were changed;" in text
    assert text.count(' other"><bdi>') == 10  # the ages, before and after


def test_a_release_of_nobody_is_no_success():
    report = report_of(content(**PLANS["everybody is suppressed"]))
    assert report.verdict == (
        "Nothing is released: every record is suppressed, so there is no class to check."
    )
    assert report.guarantees[0].reached == "no class is left"
    assert report.in_words == ("Nothing is released, so there is no class.",)
    assert (report.risks, report.curves, report.example.before) == ((), (), ())
    assert report.about_k.startswith("Nothing is released for the chosen k")
    assert STUB not in page_of(report)  # nothing is drawn


ALONE = PEOPLE.drop(index=4).reset_index(drop=True)  # Dan is the only one above 50
LEVELS = {"name": "levels", "node": {"age": 1, "sex": 0}}
TOP = {"name": "levels", "node": {"age": 2, "sex": 1}}
NONE = "No record was suppressed."


@pytest.mark.parametrize(
    ("changes", "table", "limit", "suppressed", "leaves"),
    [
        ({}, PEOPLE, "The plan sets no limit.", NONE, ""),
        (
            {"algorithm": TOP, "suppression_limit": 0.5}, PEOPLE,
            "At most 50.0 % of the records may be suppressed.", NONE, "",
        ),
        (
            {"algorithm": LEVELS, "suppression_limit": {"records": 1}}, ALONE,
            "At most 1 record may be suppressed.", "1 record (20.0 %) was suppressed.",
            "Suppressed: 1 record, 20.0 % (not in it).",
        ),
        (
            {"algorithm": LEVELS, "suppression_limit": {"records": 2}, "suppressed": "keep"},
            PEOPLE, "At most 2 records may be suppressed.",
            "2 records (33.3 %) were suppressed; their rows stay, blanked.",
            "Suppressed: 2 records, 33.3 % (their rows are blanked).",
        ),
    ],
)  # fmt: skip
def test_no_one_and_several_suppressed_records_are_said(changes, table, limit, suppressed, leaves):
    done = run(Plan.from_content(content(**changes)), table)
    said = dict(explanations.plan_in_words(done))
    assert said["Suppression"] == f"{limit} {suppressed}"
    assert "Missing values" not in said
    counted = [
        one for one in explanations.in_plain_words(done) if "not satisfy what is required" in one
    ]
    assert bool(counted) == bool(leaves)
    assert re.findall(r"Suppressed: .*?\.(?= |$)", explanations.what_leaves(done)) == [
        leaves
    ] * bool(leaves)


@pytest.mark.parametrize("pseudonym", [False, True])
def test_identifiers_are_left_out_or_replaced(pseudonym):
    columns = plan_with()["columns"]
    columns["name"] = {"role": "identifier", "pseudonym": pseudonym}
    said = explanations.what_leaves(run(Plan.from_content(content(columns=columns)), PEOPLE))
    assert ("Left out: 'name'." in said) != pseudonym
    assert ("Replaced by random labels: 'name'." in said) == pseudonym


@pytest.mark.parametrize(
    ("missing", "lacking", "sentence"),
    [
        ("drop-records", 1, "1 record with a quasi-identifier missing left the table before."),
        ("drop-records", 2, "2 records with a quasi-identifier missing left the table before."),
        ("as-value", 1, "A missing quasi-identifier counts as a value of its own."),
    ],
)
def test_what_happens_to_missing_values_is_said(missing, lacking, sentence):
    table = PEOPLE.assign(sex=[None] * lacking + ["F"] * (6 - lacking))
    done = run(Plan.from_content(content(read={"missing": missing})), table)
    assert dict(explanations.plan_in_words(done))["Missing values"] == sentence


@pytest.mark.parametrize(
    ("own", "others", "named"),
    [
        (20.0, [("Mondrian", 10.0)], "Mondrian loses 10.0 %, this release 20.0 %"),
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
        said = considered.Alternatives((), "", tuple(algorithms_), "NLLM").better
        assert said.startswith(named) and bool(said) == bool(named)
    guided = considered.Alternatives(tuple(rows), "", (chosen,), "NLLM").better
    assert guided == re.sub(r"^(\w+)", r"Guided by \1, the same algorithm", said)


def test_levels_are_shown_with_thin_spaces_from_a_thousand():
    levels = [999.96, 1000, 12345.6]
    assert [explanations.shown(level, LEVEL_NAMES["recursive_c"]) for level in levels] == [
        "999.96", "1\u202f000", "12\u202f346",
    ]  # fmt: skip


def test_only_words_that_were_given_are_kept():
    assert words_given(Words(title="A", remarks="")) == {"title": "A"}
    assert words_given(Words()) == {}


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
    assert may_show_ranges(Plan.from_content(content(algorithm=algorithm))) is may


@pytest.mark.parametrize(
    ("more", "met", "required"),
    [
        (
            [], "(reached: 2); nothing was required of 'disease', so a whole class may share",
            "k-anonymity with k = 2: Every record shares its quasi-identifiers with at least k - 1 "
            "others.",
        ),
        (
            [{"model": "distinct-l-diversity", "l": 2}],
            "(reached: 2); Distinct l-diversity with l = 2 for 'disease' (reached: 2); not consid",
            "k-anonymity with k = 2: Every record shares its quasi-identifiers with at least k - 1 "
            "others. Distinct l-diversity with l = 2 for 'disease': Every class has at least l "
            f"different sensitive values, however rare. {explanations.MEETING['merging']}",
        ),
    ],
)  # fmt: skip
def test_one_and_several_models_are_said(more, met, required):
    plan = Plan.from_content(content(privacy=[*TWO, *more]))
    assert explanations.algorithm_in_words(plan)["Required"] == required
    done = run(plan, PEOPLE)
    verdict = explanations.verdict_sentence(done, explanations.guarantees(done))
    assert verdict.startswith("Counted again from the released rows alone, every class meets ")
    assert met in verdict


@pytest.mark.parametrize(("name", "full_domain"), [("gaa", False), ("datafly", True)])
def test_what_full_domain_means_is_said_of_such_algorithms_alone(name, full_domain):
    said = explanations.algorithm_in_words(Plan.from_content(content(algorithm={"name": name})))[
        "Algorithm"
    ]
    assert said.count(FULL_DOMAIN) == full_domain
    assert said.count(own_way(algorithm_named(name).CARD.how)) == 1


def test_columns_coarsened_before_are_said_for_none_one_and_two():
    columns = [SimpleNamespace(column=name) for name in ("ill", "job")]
    said = [explanations.about_coarsened(SimpleNamespace(coarsened=columns[:n])) for n in range(3)]
    assert said[0] == ""
    assert said[1].startswith("'ill' was coarsened") and "its groups too" in said[1]
    assert said[2].startswith("'ill' and 'job' were coarsened") and "their groups" in said[2]


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
        report = gather(asked(name), table, date=DAY)
        least = min(others.values())
        said = report.alternatives.better
        page = page_of(report)
        assert page.count('<p id="better">') == (least < own)
        if least < own:
            title = short_title(min(others, key=others.get))
            figures = f"loses {least:.1f} %, this release {own:.1f} %, as NCP counts"
            assert said in page and said.startswith(title) and figures in said
            assert said not in page_of(report.public)


def test_a_metric_that_loses_less_is_named_and_what_looks_equal_is_not():
    def one(title, lost, chosen=False):
        return considered.Alternative(title, chosen, lost)

    def better(*metrics):
        algorithms = (one("GAA", 42.0, True), considered.Alternative("OLA", refused="No."))
        return considered.Alternatives(tuple(metrics), "", algorithms, "NLLM").better

    own = one("NLLM", 42.0, True)
    assert better(own, one("NCP", 41.96), one("LLM", 50)) == better() == ""
    said = better(own, one("NCP", 40.0))
    assert said.startswith("Guided by NCP, the same algorithm loses 40.0 %, this release 42.0 %")


def test_an_alternative_that_cannot_be_made_says_why():
    report = report_of(content(**PLANS["no hierarchies"]))
    assert report.alternatives.metrics == ()
    assert (
        report.alternatives.metrics_note == "Mondrian goes by no metric, so none would change it."
    )
    refused = {one.title: one.refused for one in report.alternatives.algorithms if one.refused}
    said = "It needs a hierarchy for every quasi-identifier, and 'age' has none."
    assert refused == dict.fromkeys(["GAA", "Lattice sweep", "OLA"], said)
    assert said.replace("'", "&#39;") in page_of(report)


def test_what_would_take_long_is_not_run_beside_a_report(monkeypatch):
    monkeypatch.setattr(considered, "_MOST_CLASSES", 4)
    report = report_of(content(algorithm={"name": "ola"}))
    said = "the table has 5 classes, and beside a report up to 4 are tried"
    assert report.alternatives.metrics_note == f"Not run: {said}."
    assert {one.refused for one in report.alternatives.algorithms[1:]} == {f"Not run: {said}."}
    assert report.about_k == f"OLA runs once per k; other k were not run: {said}."
    assert report.curves == ()
    monkeypatch.setattr(considered, "_MOST_CLASSES", 5)
    monkeypatch.setattr(considered, "_MOST_NODES", 5)
    said = "the lattice has 8 nodes, and beside a report up to 5 are searched"
    prepared = prepare(Plan.from_content(content(algorithm={"name": "ola"})), PEOPLE)
    assert considered.too_long(prepared) == said


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
    found = near(k, n, most)
    assert k in found and found == sorted(set(found)) and len(found) <= most
    assert all(other <= n for other in found)


# --- fingerprints -----------------------------------------------------------------------------
def test_fingerprints_are_those_of_the_files(folder):
    assert main(["run", "plan.json", "--table", "people.csv", "--out", "released.csv"]) == 0
    found = attached(written(folder))["sha256"]
    assert found["Input: the bytes of the input file"] == sha256("people.csv")
    assert found[CSV] == sha256("released.csv")
    plan = Plan.load(folder / "plan.json")
    assert found["Plan: as kanon writes it"] == hashlib.sha256(plan.to_json().encode()).hexdigest()
    (folder / "plan.json").write_text(json.dumps(content(), indent=7), "utf-8")
    assert canonical_plan(Plan.load(folder / "plan.json")) == canonical_plan(plan)


def test_a_hierarchy_that_an_identifier_once_had_is_not_in_the_report():
    plan = content()
    plan["columns"]["name"]["hierarchy"] = {"nodes": [{"name": "Ana"}]}
    report = report_of(plan)
    assert "Ana" not in page_of(report)
    assert report.hashes == report_of().hashes


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@pytest.mark.parametrize("name", [
    "pseudonyms",
    *(pytest.param(name, marks=pytest.mark.nightly)
      for name in ("the plain one", "another model", "rows that stay")),
])  # fmt: skip
def test_two_reports_differ_in_the_date_and_the_seconds_alone(name):
    plan = Plan.from_content(content(**PLANS[name]))
    first = page_of(gather(plan, PEOPLE, date=DAY))
    other = page_of(gather(plan, PEOPLE, date=datetime.date(2027, 12, 1)))
    assert MADE.search(first)[1] == "2026-01-31" and MADE.search(other)[1] == "2027-12-01"
    assert MADE.sub("", first) == MADE.sub("", other)


def test_a_table_without_a_file_is_known_by_its_cells():
    found = dict(report_of().hashes)
    changed = dict(report_of(table=PEOPLE.assign(note=1.5)).hashes)
    key = "Input: the cells of the table in memory, as CSV"
    assert found[key] != changed[key]
    assert found["Hierarchies: their nodes as JSON"] == changed["Hierarchies: their nodes as JSON"]


# --- the form for publication -----------------------------------------------------------------
RUNE = "\u16a0"
"""A sign that stands in every cell and every label, and in no template."""


def table_of_runes(texts):
    """Ten records whose every cell holds the rune, and trees of such labels."""
    values = [f"{text}{RUNE}{place}" for place, text in enumerate(texts)]
    rows = np.arange(10)
    table = pd.DataFrame({
        "name": [f"{values[0]}{row}" for row in rows],
        "kind": [values[1 + row % 4] for row in rows],
        "place": [values[5 + row % 2] for row in rows],
        "ill": [values[7 + row % 3] for row in rows],
        "note": [values[0] for _ in rows],
    })  # fmt: skip
    low, high, top = f"low {RUNE}", f"high {RUNE}", f"all {RUNE}"
    tree = [{"name": top}, {"name": low, "parent": top}, {"name": high, "parent": top},
            *({"name": leaf, "parent": low} for leaf in values[1:3]),
            *({"name": leaf, "parent": high} for leaf in values[3:5])]  # fmt: skip
    plan = {
        "version": 2,
        "columns": {
            "name": {"role": "identifier"},
            "kind": qi_with({"nodes": tree}),
            "place": qi("groups", levels=[{top: values[5:7]}]),
            "ill": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        "read": {"missing_markers": [f"{RUNE}?"]},
        "algorithm": {"name": "gaa"},
        "privacy": TWO,
    }
    return table, plan


label = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), max_size=8
)


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


# --- the page ---------------------------------------------------------------------------------
class Page(HTMLParser):
    """What a browser makes of a page, as far as tests look at it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.words, self.inside = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "br", "input", "circle", "path"):
            self.inside.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if self.inside and self.inside[-1] == "script":
            self.scripts.append(data)
        elif self.inside and self.inside[-1] != "style":
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def said(self):
        return " ".join(" ".join(self.words).split())


def check_page(text):
    """What holds of every report: it is whole, asks nobody, and can be read aloud."""
    page = Page(text)
    assert page.inside == []
    assert page.all("html") == [{"lang": "en"}] and len(page.all("title")) == 1
    # Two scripts, both named by the policy, what they draw, and nothing that is fetched.
    assert len(page.scripts) == len(page.all("script")) in (0, 3)
    policy = next(one["content"] for one in page.all("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; ")
    for script in page.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not {"img", "link", "iframe", "form", "object", "base"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"], tag
        assert attributes.get("href", "data:").startswith("data:")
    # Headings in order, heads of tables with a scope, names for pictures, ids once.
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(low <= high + 1 for high, low in itertools.pairwise(levels))
    assert all(one.get("scope") in ("col", "row") for one in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    drawings = [one for _, one in page.tags if one.get("role") == "img"]
    assert all(one["aria-label"].strip() for one in drawings)
    ids = [one["id"] for _, one in page.tags if "id" in one]
    assert len(set(ids)) == len(ids)
    asked = [one["place"] for one in json.loads(page.scripts[0])] if page.scripts else []
    assert asked == [one for one in ids if one.startswith("curve-")]
    assert re.search(r"\b(safe|anonymous)\b", page.said, re.IGNORECASE) is None
    return page


def files_in(text):
    """The files that a page carries, by their names."""
    return {
        one["download"]: base64.b64decode(unquote(one["href"].partition(",")[2])).decode()
        for one in Page(text).all("a")
    }


def attached(text):
    return json.loads(files_in(text)["report.json"])


def test_the_library_is_in_the_page_once(monkeypatch):
    monkeypatch.undo()
    page = rendered(report_of()).decode("utf-8")
    assert page.count("plotly.js v") == 1
    check_page(page)
    assert len(page) > 1_000_000


NASTY = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "{{ 7 * 7 }}",
    "{% raw %}", "<b>bold</b>", '"><svg onload=alert(1)>', "javascript:alert(1)", "&lt;i&gt;",
    "</title></style>", "%{y}<br>", "=1+1", "\u202eback", "<!--",
]  # fmt: skip


def test_whatever_is_in_a_table_is_shown_as_text():
    rows = NASTY * 2
    table = pd.DataFrame({"who": range(len(rows)), "kind": rows, "ill": rows})
    table = table.assign(**dict.fromkeys(NASTY, "x"))
    plan = content(
        columns={
            "who": {"role": "identifier"},
            "kind": qi(),
            "ill": {"role": "sensitive"},
            NASTY[0]: {"role": "sensitive"},
        },
        algorithm={"name": "gaa", "metric": "mine <i>"},
        metrics={"mine <i>": {"intermediate": "levels", "multiplier": "w1"}},
    )
    del plan["columns"]["note"]
    words = Words(**dict.fromkeys(["title", *TERMS], " ".join(NASTY)))
    report = gather(Plan.from_content(plan), table, date=DAY, words=words)
    for form in (report, report.public):
        page = check_page(page_of(form))
        for nasty in NASTY:  # as a name, among the words, and in the tree
            seen = nasty.replace("\u202e", "")  # signs that turn what follows are left out
            public = isinstance(form, PublicReport)
            assert page.said.count(seen) >= (1 if public else 2) + len(TERMS), nasty
        assert len(page.all("svg")) == (0 if public else 1)
        assert not page.scripts or "<" not in page.scripts[0]


def test_words_are_shown_as_they_were_typed_and_what_is_lacking_is_said():
    report = report_of(words=Words(title="Patients of 2024", purpose="To teach.\nAnd to test."))
    page = page_of(report)
    assert "<h1><bdi>Patients of 2024</bdi></h1>" in page
    assert "To teach.\nAnd to test." in page
    assert Page(page).said.count("not stated") == len(TERMS) - 1
    assert report_of().title == "Release of a table in memory"
    assert report_of().public.title == "Release of 6 records"


# --- persons ----------------------------------------------------------------------------------
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
    assert "Everybody looks like at least 1 other" in public and "picks the right" not in public
    assert numbers(report)["persons"] == 4
    without = report_of()
    assert (
        without.persons is None and "6 records were anonymised" in check_page(page_of(without)).said
    )


# --- since the last report --------------------------------------------------------------------
def next_after(first, plan=None, table=PEOPLE):
    """The report of another plan, and what it says has changed; by the numbers on file."""
    last = parse_record(json.loads(json.dumps(numbers(first))))
    report = report_of(plan, table, last=last)
    return report, report.changes


def test_the_first_report_says_so_and_the_same_one_that_nothing_changed():
    first = report_of()
    assert "This is the first report" in page_of(first) and first.changes == ()
    again = report_of(last=record_of(first))
    assert again.changes == ()
    assert "Nothing changed since the last report of this project, of 2026-01-31." in page_of(again)


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
    kept = record_of(gather(Plan.from_content(plan), table, date=DAY)).model_dump_json()
    assert RUNE not in kept and "fingerprints" in kept
    assert "record" not in numbers(report_of().public)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ("3", "The last report: "),
        ('{"settings": {}}', "figures"),
        ('{"record": {"settings": {"k": 5}, "figures": {}, "fingerprints": {}}}', "settings.k"),
        ('{"form": "publication"}', "'form' is unknown"),
    ],
)
def test_a_wrong_last_report_is_refused_in_a_sentence(folder, capsys, given, part):
    Path("last.json").write_text(given, "utf-8")
    assert main([*CALL, "--last", "last.json"]) == 2
    said = capsys.readouterr().err
    assert part in said and said.count("\n") == 1 and "Traceback" not in said


def test_the_command_compares_with_the_numbers_of_the_last_report(folder):
    first = written(folder)
    assert "This is the first report" in first
    Path("last.json").write_text(json.dumps(attached(first)), "utf-8")
    Path("plan.json").write_text(
        json.dumps(content(privacy=[{"model": "k-anonymity", "k": 3}])), "utf-8"
    )
    second = written(folder, "--last", "last.json")
    assert "<li>k: 2 records → 3 records</li>" in second


def test_two_people_sign_the_internal_form():
    report = report_of()
    assert page_of(report).count('class="sign"') == 2
    assert page_of(report.public).count('class="sign"') == 0


def test_every_page_in_print_says_what_it_is():
    report = report_of()
    for form, mark in (
        (report, "Internal: this report shows values of the table. Do not pass it on."),
        (report.public, "For publication: of the table no more than the release shows."),
    ):
        page = page_of(form)
        assert f'<div class="mark" role="note"><span>{mark}</span></div>' in page
        assert ".mark { display: table-header-group; break-inside: avoid; }" in page


def test_the_numbers_are_in_the_page_as_files():
    plan = json.loads(json.dumps(content()).replace('"disease"', '"=1+1"'))
    report = report_of(plan, PEOPLE.rename(columns={"disease": "=1+1"}))
    files = files_in(page_of(report))
    assert set(files) == {"report-measures.csv", "report.json"}
    assert json.loads(files["report.json"]) == json.loads(json.dumps(numbers(report)))
    assert attached(page_of(report))["measures"] == json.loads(json.dumps(report.measures))
    rows = list(csv.DictReader(io.StringIO(files["report-measures.csv"])))
    assert [row["measure"] for row in rows] == [one.card.title for one in report.lost]
    for row, one in zip(rows, report.lost, strict=True):
        assert (float(row["before"]) if row["before"] else None) == one.before
        assert (float(row["after"]) if row["after"] else None) == one.after
        assert row["column"] == ("'=1+1" if one.column else "")


def test_a_wide_table_shows_its_first_columns():
    table = PEOPLE.assign(**{f"extra {place}": place for place in range(10)}, long="x" * 500)
    report = report_of(table=table)
    assert report.example.columns[:3] == ("age", "sex", "disease")
    assert (len(report.example.columns), report.example.left_out) == (9, 6)
    assert "nor are 6 further columns" in page_of(report)
    assert "x" * 61 not in page_of(report_of(table=PEOPLE.assign(note="x" * 500)))
    assert "The plan does not name 'extra 0'" in Page(page_of(report)).said


# --- a hierarchy on paper ---------------------------------------------------------------------
@st.composite
def trees(draw):
    """A tree of up to 150 nodes, each under one of those before it."""
    parents = draw(st.lists(st.integers(0, 10**6), max_size=150))
    entries = [("n0", None, None)]
    entries += [(f"n{i}", f"n{p % i}", None) for i, p in enumerate(parents, start=1)]
    return Hierarchy.from_entries(entries)


@given(trees(), st.integers(3, ROWS))
def test_a_drawing_shows_or_counts_every_value(tree, rows):
    drawing = tree_drawing(tree, rows)
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
    drawing = tree_drawing(suppression([f"v{place:03}" for place in range(300)]))
    assert len(drawing.spots) == 1 + ROWS
    assert drawing.spots[-1].text == "… 257 others" and not drawing.complete
    long = tree_drawing(suppression(["x" * 300, "y"]))
    assert len(long.spots[1].text) < 100 and len(long.spots[1].whole) == 300


# --- words ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "part"),
    [
        ([], "has to be an object with texts; known keys are title, purpose"),
        ({"purpos": "x"}, "the key 'purpos' is unknown; known are title, purpose"),
        ({"purpose": 5}, "purpose has to be text of at most 5\u202f000 characters"),
        ({"title": None}, "title has to be text"),
        ({"title": "x" * (LONGEST + 1)}, "title has to be text"),
    ],
)
def test_words_that_cannot_be_used_are_refused_in_a_sentence(given, part):
    with pytest.raises(PlanError) as caught:
        parse_words(given)
    assert part in caught.value.sentence


def test_words_are_read_from_a_file(tmp_path, limits):
    path = tmp_path / "words.json"
    path.write_text('\ufeff{"purpose": "to teach", "title": "x"}', "utf-8")
    assert read_words(path) == Words(title="x", purpose="to teach")
    path.write_bytes(b'{"purpose": "\xff"}')
    with pytest.raises(PlanError, match=r"The file of words 'words\.json' cannot be read\."):
        read_words(path)
    path.write_text('{"purpose": "a", "purpose": "b"}')
    with pytest.raises(PlanError, match="The file of words names 'purpose' twice"):
        read_words(path)
    path.write_text(json.dumps({"purpose": "x" * 1_200_000}))
    limits(plan_megabytes=1)
    with pytest.raises(PlanError, match="The file of words has 1 MB"):
        read_words(path)


# --- the command ------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table and the plan."""
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    Path("plan.json").write_text(json.dumps(content()), "utf-8")
    return tmp_path


CALL = ("report", "plan.json", "--table", "people.csv", "--out", "report.html")


def written(folder, *more):
    assert main([*CALL, *more]) == 0
    return (folder / "report.html").read_text("utf-8")


def test_the_command_writes_the_report_of_its_run(folder, capsys):
    Path("words.json").write_text('{"purpose": "to teach"}')
    Path("report.html").write_text("an old one")
    assert main(["run", *CALL[1:-1], "released.csv", "--measures", "m.json"]) == 0
    capsys.readouterr()
    page = written(folder, "--words", "words.json")
    said = capsys.readouterr()
    assert said.err == "kanon: note: 1 column has missing cells (blank): 'note' 1.\n"
    assert said.out == f"{attached(page)['verdict']}\n"
    measures = json.loads(Path("m.json").read_text())
    del measures["seconds"]
    assert attached(page)["measures"] == measures
    assert "to teach" in check_page(page).said
    assert "Release of people.csv" in page
    assert datetime.datetime.now().strftime("Made on %Y-%m") in page


def test_the_command_writes_what_the_library_gathers(folder):
    page = written(folder)
    table = open_address(Address.parse("people.csv"))
    own = gather(Plan.load(Path("plan.json")), table, date=DAY)
    found = attached(page)
    same = json.loads(json.dumps(numbers(own)))
    for each in (found, same):
        del each["title"], each["sha256"]
    assert found == same


def test_the_command_writes_the_form_for_publication(folder):
    page = written(folder, "--public", "--progress")
    assert "For publication" in page and "flu" not in page and "people.csv" not in page
    assert attached(page)["form"] == "publication" and attached(page)["published"] == {}
    page = written(folder, "--public", "--publish", "suppressed,persons,dropped")
    assert attached(page)["published"] == {
        "Records left out for missing values": "0", "Suppressed records": "0",
        "Persons whom the records are about": "not counted",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "public", "more"), [
    ("released.csv", ("--public",), ("--csv", "excel", "--neutralise-formulas")),
    ("released.tsv", (), ()), ("released.xlsx", (), ()), ("released.parquet", (), ()),
])  # fmt: skip
def test_the_fingerprint_is_that_of_the_file_that_is_named(folder, public, name, more):
    assert main(["run", "plan.json", "--table", "people.csv", "--out", name, *more]) == 0
    page = written(folder, "--release", name, *public)
    found = {what: digest for what, digest in attached(page)["sha256"].items() if "Release" in what}
    assert [*found.values()] == [sha256(name)]
    assert name.rpartition(".")[2].upper() in next(iter(found))


def test_pseudonyms_of_a_file_that_is_named_are_others(folder):
    plan = content(**PLANS["pseudonyms"])
    Path("plan.json").write_text(json.dumps(plan), "utf-8")
    assert main(["run", *CALL[1:-1], "released.csv"]) == 0
    page = written(folder, "--release", "released.csv")
    assert attached(page)["sha256"][CSV] == sha256("released.csv")
    assert [what for what in attached(written(folder))["sha256"] if "drawn anew" in what]


@pytest.mark.parametrize("given", ["age,sex,disease,note\n31,F,flu,1\n", "", "31"])
def test_a_file_of_another_release_is_refused(folder, capsys, given):
    Path("released.csv").write_text(given, "utf-8")
    assert main([*CALL, "--release", "released.csv"]) == 3
    assert "does not hold the release of this plan and table" in capsys.readouterr().err
    assert not Path("report.html").exists()


def test_a_seed_is_that_of_the_plan(folder):
    assert attached(written(folder, "--seed", "7"))["plan"]["algorithm"]["seed"] == 7


@pytest.mark.parametrize(("more", "plan", "status", "sentence"), [
    (["--out", "report.pdf"], {}, 2, "--out: a report is a page; end its name in .html."),
    (["--out", "no/report.html"], {}, 2, "'report.html' cannot be written there: "),
    (["--words", "absent.json"], {}, 2, "The file of words 'absent.json' cannot be read."),
    (["--words", "report.html"], {}, 2, "'report.html' is named for two things; "),
    (["--public", "--bound"], {}, 2, "--bound is for the internal form"),
    (["--publish", "records"], {}, 2, "--publish goes with --public"),
    (["--public", "--publish", "name"], {}, 2, "--publish: 'name' is unknown; known are records"),
    (["--release", "absent.csv"], {}, 2, "'absent.csv'"),
    (["--engine", "duckdb"], {}, 2, "A report checks the released rows again, for which the table "
     "has to be in memory; add --engine memory, or make the report of a smaller table."),
    ([], {"privacy": [{"model": "k-anonymity", "k": 7}]}, 3, "k = 7 cannot be reached: "),
    ([], {"privacy": [*TWO, {"model": "entropy-l-diversity", "l": 2.5}]}, 3, "cannot be reached"),
    ([], {"algorithm": {"name": "mdav"}}, 2, "MDAV takes means, and 'sex' holds texts; "),
])  # fmt: skip
def test_what_goes_wrong_is_one_sentence_and_nothing_is_written(
    folder, capsys, more, plan, status, sentence
):
    Path("plan.json").write_text(json.dumps(content(**plan)), "utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main([*CALL, *more, "--quiet"]) == status
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith("kanon: ") and sentence in said.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_release_that_the_check_refuses_has_no_report(folder, capsys, monkeypatch):
    from kanon.release.released_rows import Verdict

    broken = (Verdict("k-anonymity", "", "k = 2", 1, False),)
    monkeypatch.setattr("kanon.run.execution.check_release", lambda *_: broken)
    assert main(list(CALL)) == 3
    assert "The release does not meet its plan" in capsys.readouterr().err
    assert not (folder / "report.html").exists()


def test_a_table_elsewhere_is_refused_by_the_library(folder):
    stored = open_address(Address.parse("people.csv"), "duckdb")
    with pytest.raises(TableError, match="has to be in memory"):
        gather(Plan.load(Path("plan.json")), stored, date=DAY)
