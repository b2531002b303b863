"""The words of a report, and its page."""

import csv
import io
import json
import re
from types import SimpleNamespace

import pandas as pd
import pytest

from kanon.algorithms.catalogue import algorithm_named
from kanon.algorithms.search import FULL_DOMAIN, get_own_steps
from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.report import explanations
from kanon.report.contents import collect_report
from kanon.report.explanations import SENSITIVE_MEASURES as LEVEL_NAMES
from kanon.report.public import PublicReport
from kanon.report.rendering import collect_report_numbers, render_report
from kanon.report.words import LONGEST, TERMS, Words, parse_words, read_words, select_filled_words
from kanon.run import run
from support.people_plans import PEOPLE, plan_with
from support.plans import qi
from support.reports import (
    DAY,
    TWO,
    Page,
    attached,
    check_page,
    content,
    files_in,
    page_of,
    report_of,
)

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
            "Suppressed: 1 record, 20.0 % (not in the release).",
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
    said = dict(explanations.describe_plan(done))
    assert said["Suppression"] == f"{limit} {suppressed}"
    assert "Missing values" not in said
    counted = [one for one in explanations.describe_plainly(done) if "meet the requirements" in one]
    assert bool(counted) == bool(leaves)
    assert re.findall(
        r"Suppressed: .*?\.(?= |$)", explanations.describe_released_columns(done)
    ) == [leaves] * bool(leaves)


@pytest.mark.parametrize("pseudonym", [False, True])
def test_identifiers_are_left_out_or_replaced(pseudonym):
    columns = plan_with()["columns"]
    columns["name"] = {"role": "identifier", "pseudonym": pseudonym}
    said = explanations.describe_released_columns(
        run(Plan.from_content(content(columns=columns)), PEOPLE)
    )
    assert ("Left out: 'name'." in said) != pseudonym
    assert ("Replaced by random labels: 'name'." in said) == pseudonym


@pytest.mark.parametrize(
    ("missing", "lacking", "sentence"),
    [
        ("drop-records", 1, "1 record with a missing quasi-identifier was left out beforehand."),
        ("drop-records", 2, "2 records with a missing quasi-identifier were left out beforehand."),
        ("as-value", 1, "A missing quasi-identifier counts as a value of its own."),
    ],
)
def test_what_happens_to_missing_values_is_said(missing, lacking, sentence):
    table = PEOPLE.assign(sex=[None] * lacking + ["F"] * (6 - lacking))
    done = run(Plan.from_content(content(read={"missing": missing})), table)
    assert dict(explanations.describe_plan(done))["Missing values"] == sentence


def test_levels_are_shown_with_thin_spaces_from_a_thousand():
    levels = [999.96, 1000, 12345.6]
    assert [
        explanations.format_sensitive_level(level, LEVEL_NAMES["recursive_c"]) for level in levels
    ] == ["999.96", "1\u202f000", "12\u202f346"]


def test_only_words_that_were_given_are_kept():
    assert select_filled_words(Words(title="A", remarks="")) == {"title": "A"}
    assert select_filled_words(Words()) == {}


@pytest.mark.parametrize(
    ("more", "met", "required"),
    [
        (
            [], "(reached: 2); no model protects 'disease', so everyone in a class might ",
            "k-anonymity with k = 2: Every record shares its quasi-identifiers with at least k - 1 "
            "others.",
        ),
        (
            [{"model": "distinct-l-diversity", "l": 2}],
            "(reached: 2); Distinct l-diversity with l = 2 for 'disease' (reached: 2). Not consid",
            "k-anonymity with k = 2: Every record shares its quasi-identifiers with at least k - 1 "
            "others. Distinct l-diversity with l = 2 for 'disease': Every class has at least l "
            f"different sensitive values, however rare. {explanations.FAMILY_SENTENCES['merging']}",
        ),
    ],
)  # fmt: skip
def test_one_and_several_models_are_said(more, met, required):
    plan = Plan.from_content(content(privacy=[*TWO, *more]))
    assert explanations.describe_plan_algorithm(plan)["Required"] == required
    done = run(plan, PEOPLE)
    verdict = explanations.describe_check_verdict(done, explanations.list_guarantees(done))
    assert verdict.startswith(
        "A recount from the released rows alone shows that every class meets "
    )
    assert met in verdict


@pytest.mark.parametrize(("name", "full_domain"), [("gaa", False), ("datafly", True)])
def test_what_full_domain_means_is_said_of_such_algorithms_alone(name, full_domain):
    said = explanations.describe_plan_algorithm(
        Plan.from_content(content(algorithm={"name": name}))
    )["Algorithm"]
    assert said.count(FULL_DOMAIN) == full_domain
    assert said.count(get_own_steps(algorithm_named(name).CARD.how)) == 1


def test_columns_coarsened_before_are_said_for_none_one_and_two():
    columns = [SimpleNamespace(column=name) for name in ("ill", "job")]
    said = [
        explanations.describe_coarsening_effect(SimpleNamespace(coarsened=columns[:n]))
        for n in range(3)
    ]
    assert said[0] == ""
    assert said[1].startswith("'ill' was coarsened") and "also refer to the groups, and" in said[1]
    assert (
        said[2].startswith("'ill' and 'job' were coarsened")
        and "also refer to the groups, and" in said[2]
    )


def test_the_library_is_in_the_page_once(monkeypatch):
    monkeypatch.undo()
    page = render_report(report_of()).decode("utf-8")
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
    report = collect_report(Plan.from_content(plan), table, date=DAY, words=words)
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


def test_every_page_in_print_says_what_it_is():
    report = report_of()
    for form, mark in (
        (report, "Internal: this report shows values of the original table. Do not pass it on."),
        (
            report.public,
            "For publication: apart from column names, this report shows no more of the original "
            "table than the release does.",
        ),
    ):
        page = page_of(form)
        assert page.count('class="sign"') == (2 if form is report else 0)
        assert f'<div class="mark" role="note"><span>{mark}</span></div>' in page
        assert ".mark { display: table-header-group; break-inside: avoid; }" in page


def test_the_numbers_are_in_the_page_as_files():
    plan = json.loads(json.dumps(content()).replace('"disease"', '"=1+1"'))
    report = report_of(plan, PEOPLE.rename(columns={"disease": "=1+1"}))
    files = files_in(page_of(report))
    assert set(files) == {"report-measures.csv", "report.json"}
    assert json.loads(files["report.json"]) == json.loads(
        json.dumps(collect_report_numbers(report))
    )
    assert attached(page_of(report))["measures"] == json.loads(json.dumps(report.measures))
    rows = list(csv.DictReader(io.StringIO(files["report-measures.csv"])))
    assert [row["measure"] for row in rows] == [one.card.title for one in report.lost]
    for row, one in zip(rows, report.lost, strict=True):
        assert (float(row["before"]) if row["before"] else None) == one.before
        assert (float(row["after"]) if row["after"] else None) == one.after
        assert row["column"] == ("'=1+1" if one.column else "")


@pytest.mark.nightly
def test_a_wide_table_shows_its_first_columns():
    table = PEOPLE.assign(**{f"extra {place}": place for place in range(10)}, long="x" * 500)
    report = report_of(table=table)
    assert report.example.columns[:3] == ("age", "sex", "disease")
    assert (len(report.example.columns), report.example.left_out) == (9, 6)
    assert "or 6 further columns" in page_of(report)
    assert "x" * 61 not in page_of(report_of(table=PEOPLE.assign(note="x" * 500)))
    assert "The plan does not name 'extra 0'" in Page(page_of(report)).said


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ([], "has to be an object that holds texts; its keys can be title, purpose"),
        ({"purpos": "x"}, "the key 'purpos' is unknown; choose from title, purpose"),
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
