"""Whoever has several records is one person: what pages and commands say, counted by pandas."""

import datetime
import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from kanon.cli.main import main
from kanon.report.contents import collect_report
from kanon.studio.session.run_plan import build_plan
from support import dashboard as ui
from support.random_tables import seeds

KNOWN = ["town", "job", "age"]


def visits(seed):
    """Some with very many visits, most with one; a person moves, and some cells are missing."""
    draw = np.random.default_rng(seed)
    often = np.minimum(draw.zipf(1.8, 60), 25)
    who = np.repeat([f"p{n}" for n in range(60)], often)
    table = pd.DataFrame(
        {
            "patient": who,
            "town": draw.choice([*"abcd"], len(who), p=[0.6, 0.2, 0.1, 0.1]),
            "job": draw.choice([*"xyz", None], len(who), p=[0.5, 0.3, 0.1, 0.1]),
            "age": draw.integers(20, 24, len(who)),
            "ill": draw.choice(["flu", "cold", "gout"], len(who)),
        }
    )
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


def persons_alike(table, columns):
    """Per record how many persons have one with the same cells."""
    return table.groupby(columns, dropna=False)["patient"].transform("nunique")


def found(table, columns):
    """How many persons have a record that nobody else's is alike to."""
    return table.loc[persons_alike(table, columns) == 1, "patient"].nunique()


@pytest.fixture(scope="module", params=seeds(3, in_gate=1))
def table(request):
    return visits(request.param + 1)


def opened(start, table):
    at = ui.upload(start(ui.DATA), "visits.csv", ui.as_bytes(table, "csv"))
    for column in KNOWN:
        ui.give_role(at, column, "quasi-identifier")
    ui.give_role(at, "ill", "sensitive")
    return ui.change(at, person="patient", missing="as-value")


def sentence(at, begins):
    (one,) = [text for text in ui.texts(at) if text.startswith(begins)]
    return one.replace("\u202f", " ")


@pytest.mark.nightly
def test_what_data_says(start, table):
    at, everybody = opened(start, table), table["patient"].nunique()
    assert ui.numbers(at)["k in persons"] == str(persons_alike(table, KNOWN).min())
    assert ui.numbers(at)["Unique"] == f"{100 * found(table, KNOWN) / everybody:.1f} %"
    ui.settled(ui.press(at, "Find them"))
    enough = [
        {*columns}
        for size in (1, 2, 3)
        for columns in combinations([*KNOWN, "ill"], size)
        if found(table, [*columns]) / everybody >= 0.05
    ]
    expected = {}
    for columns in enough:
        if not any(less < columns for less in enough):
            names = [name for name in table if name in columns]
            number = found(table, names)
            share = 100 * number / everybody
            expected[" + ".join(names)] = f"{number} persons, {share:.1f} %"
    lines = [text.value.replace("\\", "").replace("\u202f", " ") for text in at.markdown]
    places = [place for place, one in enumerate(lines) if " persons, " in one]
    assert {lines[place - 1].strip("*"): lines[place] for place in places} == expected != {}
    assert any(f"of the {everybody} persons" in line for line in lines)


@pytest.mark.nightly  # in every run: privacy/test_persons.py
def test_what_privacy_says(start, table):
    at = ui.go(ui.anonymised(opened(start, table)), "pages/privacy.py")
    fewest = persons_alike(table, KNOWN).groupby(table["patient"]).min()
    said = sentence(at, "**Everyone in turn")
    share = 100 * (fewest == 1).mean()
    assert f"singles out {share:.1f} % of {len(fewest)} persons before and 0.0 % after" in said
    assert f"on average {fewest.mean():.1f} persons match before" in said
    assert f"of {len(table)} records before" in said, "guessed is a record's value"
    assert ui.numbers(at)["Unique persons"] == f"0, before {found(table, KNOWN)}"
    day = datetime.date(2026, 1, 2)
    report = collect_report(build_plan(ui.work(at)), ui.work(at).table.records, date=day)
    risks = {one.level.title: (one.before, one.after) for one in report.risks}
    axes = {figure.layout.xaxis.title.text for part in report.curves for figure in part.figures}
    assert axes == {"k, minimum persons per class (log scale)"}
    assert risks["Unique persons"] == (found(table, KNOWN), 0), "in the report too"


@pytest.mark.nightly
def test_persons_who_are_not_known_are_not_said_to_be_counted(start, table):
    """Of five records nobody says whose they are; one of them drops out."""
    holes = table.dropna(subset=["job"]).index[:4].append(table.index[table["job"].isna()][:1])
    lacking = table.assign(patient=table["patient"].mask(table.index.isin(holes)))
    at = opened(start, lacking)
    ui.change(at, missing="drop-records")
    assert any("4 records have no value in patient" in problem for problem in ui.problems(at))
    assert any("k cannot count persons yet" in caption for caption in ui.captions(at))
    kept = lacking.dropna(subset=KNOWN)
    sizes = kept.groupby(KNOWN)["ill"].transform("size")
    assert ui.numbers(at)["Unique"] == f"{100 * (sizes == 1).mean():.1f} %", "of records"
    ui.settled(ui.press(at, "Find them"))
    assert not [problem for problem in ui.problems(at) if "without a value" in problem]
    lines = [text.value.replace("\u202f", " ") for text in at.markdown]
    assert any(f"of the {len(kept)} records" in line for line in lines)


def test_what_the_commands_say(tmp_path, capsys, table):
    path = tmp_path / "visits.csv"
    table.to_csv(path, index=False)
    given = ["--table", str(path), "--person", "patient", "--json"]
    assert main(["measure", *given, "--qi", ",".join(KNOWN)]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["min_persons"] == persons_alike(table, KNOWN).min()
    assert measured["unique_persons"] == found(table, KNOWN)
    assert main(["quasi-identifiers", *given, "--share", "10%"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["persons"] == table["patient"].nunique()
    assert numbers["sets"]
    for one in numbers["sets"]:
        assert one["persons"] == found(table, one["columns"]) >= 0.1 * numbers["persons"]
