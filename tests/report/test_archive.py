"""The archive of a release: what is in it and what is not, and the script that a recipient runs."""

import hashlib
import io
import json
import math
import re
import subprocess
import sys
import zipfile
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import ReleaseError
from kanon.plan import Plan
from kanon.privacy.plans import MODEL_PLANS
from kanon.release.cell_values import normalise_value
from kanon.release.check import check_release
from kanon.report.archive import build_archive_file, write_check
from kanon.report.origin import ReleasedFile
from kanon.run import run
from kanon.sources.formats import FORMATS
from kanon.sources.text_form import FOR_EXCEL, PLAIN, TextForm
from kanon.sources.writing import table_bytes
from support.people_plans import PEOPLE, plan_with
from support.plans import make_plan
from support.random_tables import examples
from support.reports import DAY
from support.table_files import write_table

SCRIPT = ModuleType("check")  # what a recipient runs
exec(compile(write_check(), "check.py", "exec"), SCRIPT.__dict__)

MEMBERS = ["released.csv", "plan.json", "report.html", "check.py", "README.txt", "SHA256SUMS"]
SENSITIVE = {"privacy": [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 1.5}]}
GROUPS = {"build": "groups", "levels": [{"women": ["F", "SECRET-1"], "men": ["M"]}]}


def archive_of(done, kind="csv", form=PLAIN, neutral=False):
    rows = done.released()
    return build_archive_file(
        done, ReleasedFile(table_bytes(rows, kind, form, neutral), kind, form, rows), DAY
    )


def packed(kind="csv", form=PLAIN, **changes):
    """The archive of a release of PEOPLE."""
    table = PEOPLE.assign(name=[f"SECRET-{place}" for place in PEOPLE.index])
    return archive_of(run(Plan.from_content(plan_with(**changes)), table), kind, form)


def unpacked(content, folder):
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        found.extractall(folder)
    return folder


def said_in(folder, capsys):
    """The exit status, and per line what was asked, what was found and whether it holds."""
    status = SCRIPT.main(folder)
    lines = capsys.readouterr().out.split("\n\n")[0].splitlines()[1:]
    return status, {what: rest for what, *rest in (re.split(r"  +", line) for line in lines)}


# --- what is in it ----------------------------------------------------------------------------
def test_members_are_plain_dated_alike_and_fit_their_checksums(tmp_path):
    content = packed()
    assert content == packed(), "two archives of one release are the same"
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        assert found.namelist() == MEMBERS
        assert {one.date_time for one in found.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    unpacked(content, tmp_path)
    command = ["sha256sum", "-c", "--strict", "SHA256SUMS"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.count(": OK") == len(MEMBERS) - 1
    assert pd.read_csv(tmp_path / "released.csv").columns.tolist() == [
        *("age", "sex", "disease", "note")
    ]


def test_nothing_of_the_original_table_is_told_but_names(tmp_path):
    """Values that only a hierarchy or a marker names stay in the house."""
    columns = plan_with()["columns"]
    columns["sex"]["hierarchy"] = GROUPS
    read = {"missing_markers": ["SECRET-2"]}
    unpacked(packed(columns=columns, read=read, **SENSITIVE), tmp_path)
    released = (tmp_path / "released.csv").read_text("utf-8")
    for name in MEMBERS:
        text = (tmp_path / name).read_text("utf-8").replace(released, "")
        assert "SECRET" not in text and not re.search(r"\bmen\b", text), name
    plan = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    assert plan["columns"]["sex"]["hierarchy"]["nodes"] == [
        {"name": "F", "parent": "women", "values": 1},
        {"name": "women", "parent": "*", "values": 2},
        {"name": "*", "parent": None, "values": 3},
    ]
    assert set(plan) == {"version", "columns", "privacy", "suppressed", "order", "read"}
    assert "name" in plan["columns"], "said in README.txt, as the report names it too"
    assert "names of\nits columns, including identifiers that were left out." in (
        tmp_path / "README.txt"
    ).read_text("utf-8")


@pytest.mark.parametrize("content", [b"", b"age,sex,disease,note\n31,F,flu,1\n"])
def test_a_file_of_another_release_makes_no_archive(content):
    done = run(Plan.from_content(plan_with()), PEOPLE)
    with pytest.raises(ReleaseError, match="not given out"):
        build_archive_file(done, ReleasedFile(content, "csv", PLAIN, done.released()), DAY)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *product(FORMATS, [PLAIN, FOR_EXCEL]),
        *product(["csv", "tsv"], [TextForm("|", "latin-1"), TextForm(";", "utf-16", "\r\n")]),
    ],
)
def test_the_file_keeps_its_form_and_is_checked_in_it(tmp_path, kind, form):
    unpacked(packed(kind, form, **SENSITIVE), tmp_path)
    assert SCRIPT.main(tmp_path) == 0
    released = (tmp_path / f"released.{kind}").read_bytes()
    assert hashlib.sha256(released).hexdigest() in (tmp_path / "report.html").read_text("utf-8")
    assert ("separator" in json.loads((tmp_path / "plan.json").read_text("utf-8"))["read"]) == (
        kind in ("csv", "tsv")
    )


# --- what the script says ---------------------------------------------------------------------
def test_what_holds_is_said_and_what_was_altered_is_noticed(tmp_path, capsys):
    unpacked(packed(**SENSITIVE), tmp_path)
    status, told = said_in(tmp_path, capsys)
    assert status == 0 and {rest[-1] for rest in told.values()} == {"yes"}
    assert told["k-anonymity"][:2] == ["k = 2", "2"]
    assert told["t-closeness of disease"][0] == "t = 1.5, distance = norm1"

    path = tmp_path / "released.csv"
    path.write_text(path.read_text("utf-8") + "99,F,flu,\n", "utf-8")
    status, told = said_in(tmp_path, capsys)
    assert status == 1
    assert told["checksum of released.csv"][-1] == "NO" and told["k-anonymity"] == [
        *("k = 2", "1", "NO")
    ]


@pytest.mark.nightly
def test_it_runs_by_itself_without_kanon(tmp_path):
    """In a folder of its own, with nothing on the path but pandas and what that needs."""
    packages = tmp_path / "packages"
    packages.mkdir()
    installed = Path(pd.__file__).parents[1]
    for pattern in ("pandas", "numpy*", "pyarrow*", "dateutil", "six.py", "python_calamine"):
        for place in installed.glob(pattern):
            (packages / place.name).symlink_to(place)

    def by_itself(*arguments, folder=tmp_path):
        command = [sys.executable, "-S", "-W", "error", *arguments]
        where = {"PYTHONPATH": str(packages)}
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=where)

    assert "No module named 'kanon'" in by_itself("-c", "import kanon").stderr
    for kind in ("csv", "xlsx", "parquet"):  # the others are read by the same lines
        told = by_itself("check.py", folder=unpacked(packed(kind, **SENSITIVE), tmp_path / kind))
        assert (told.returncode, told.stderr) == (0, ""), kind
        assert "\nt-closeness of disease" in told.stdout and "Not checked" in told.stdout


def test_the_script_is_plain():
    assert not re.search(r"^(from|import) (kanon|numpy|pyarrow)", write_check(), re.MULTILINE)
    of_a_population = {"k-map", "delta-presence"}  # whose people the recipient does not have
    assert {*SCRIPT.RECOUNTS} == {*MODEL_PLANS, "k-known"} - of_a_population


# --- against kanon's own check, which shares no line with it -----------------------------------
ASKED = [
    {"model": "k-anonymity", "k": 2},
    {"model": "distinct-l-diversity", "l": 2},
    {"model": "entropy-l-diversity", "l": 1.5},
    {"model": "recursive-cl-diversity", "c": 2, "l": 2},
    {"model": "recursive-cl-diversity", "c": 1.5, "l": 3},
    {"model": "alpha-k-anonymity", "alpha": 0.6, "k": 2},
    {"model": "t-closeness", "t": 0.4, "distance": "norm1"},
    {"model": "t-closeness", "t": 0.2, "distance": "variational"},
    {"model": "t-closeness", "t": 0.2, "distance": "emd-equal"},
    {"model": "t-closeness", "t": 0.2, "distance": "emd-ordered"},
    {"model": "t-closeness", "t": 0},
    {"model": "delta-disclosure", "delta": 1},
    {"model": "basic-beta-likeness", "beta": 1},
    {"model": "enhanced-beta-likeness", "beta": 1},
]
CELLS = {
    "texts": st.sampled_from(["cold", "flu", "'gout'", "a,b", "ä\tß", None, " cold"]),
    "numbers": st.sampled_from([9, 10, 100, 2**53 + 1, 2**53, None]),
    "digits": st.sampled_from(["9", "10", "9.0", "1.5", "1.50", "007", "-0", "0", None]),
    "fractions": st.sampled_from([0.5, 39.0, 1e300, -2.25, None]),
    "days": st.sampled_from([pd.Timestamp("2024-02-29"), pd.Timestamp("1999-12-31"), None]),
}
TYPES = {"numbers": "Int64", "fractions": "float64"}


@st.composite
def released_tables(draw):
    kind = draw(st.sampled_from(sorted(CELLS)))
    n = draw(st.integers(1, 9))
    columns = {
        "age": draw(st.lists(st.sampled_from(["[20, 30)", "*", "30"]), min_size=n, max_size=n)),
        "ill": pd.Series(
            draw(st.lists(CELLS[kind], min_size=n, max_size=n)), dtype=TYPES.get(kind)
        ),
        "who": draw(st.lists(st.sampled_from(["P_1", "P_2", "P_3"]), min_size=n, max_size=n)),
    }
    table = pd.DataFrame(columns)
    if draw(st.booleans()):
        marks = draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n))
        table["suppressed"] = marks
        gone = table["suppressed"] == 1
        table.loc[gone, "age"] = "*"
        table.loc[gone, "ill"] = None
    return table


def plan_asking():
    columns = {
        "age": {"role": "quasi-identifier"},
        "ill": {"role": "sensitive"},
        "who": {"role": "identifier", "pseudonym": True},
        "name": {"role": "identifier"},
    }
    return Plan.from_content(
        {
            "version": 2, "columns": columns, "algorithm": {"name": "gaa"}, "privacy": ASKED,
            "suppressed": "keep", "person": "who",
        }
    )  # fmt: skip


@pytest.mark.nightly  # in every run: test_the_file_keeps_its_form_and_is_checked_in_it
@examples(60)
@given(released_tables(), st.sampled_from([*FORMATS]))
def test_it_agrees_with_kanons_own_check(released, kind):
    plan = plan_asking()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"released.{kind}"
        write_table(released, path)
        names, rows = SCRIPT.read_table(path, released.columns)
    assert names == [str(name) for name in released.columns]
    found = SCRIPT.check_table(json.loads(plan.to_json()), names, rows)
    own = check_release(released, plan)
    assert len(own) == len(ASKED) + 1
    for (what, _, level, holds), verdict in zip(found[-len(own) :], own, strict=True):
        assert holds is verdict.holds, (what, level, verdict)
        if verdict.level is None:
            assert level is None
        else:
            close = math.isclose(level, verdict.level, rel_tol=1e-9, abs_tol=1e-12)
            assert close, (what, level, verdict)
    assert all(holds for *_, holds in found[: -len(own)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "part",
    [
        {"model": "distinct-l-diversity", "l": 3},
        {"model": "entropy-l-diversity", "l": 2.5},
        {"model": "recursive-cl-diversity", "c": 1, "l": 2},
        {"model": "alpha-k-anonymity", "alpha": 0.4, "k": 2},
        {"model": "t-closeness", "t": 0.3},
        {"model": "delta-disclosure", "delta": 0.1},
        {"model": "basic-beta-likeness", "beta": 0.3},
        {"model": "enhanced-beta-likeness", "beta": 0.3},
    ],
    ids=lambda part: part["model"],
)
def test_a_model_that_accepts_too_much_is_found_out_by_both_checks(part, monkeypatch):
    table = pd.DataFrame({"age": [1, 1, 2, 2], "ill": ["flu", "cold", "flu", "gout"]})
    columns = {"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}
    columns["age"]["hierarchy"] = {"build": "suppression"}
    plan = make_plan(columns, 2, {"name": "levels", "node": {"age": 0}}, models=[part])
    wrong = lambda self, classes: np.ones(classes.n_classes, dtype=bool)  # noqa: E731
    monkeypatch.setattr(type(plan.models[1]), "holds_each", wrong)
    assert [one.holds for one in run(plan, table).verdicts] == [True, False]
    rows = table.astype(str).to_dict("records")
    *_, (what, _, _, holds) = SCRIPT.check_table(json.loads(plan.to_json()), [*table], rows)
    assert what.startswith(part["model"]) and holds is False


# --- what must not pass -----------------------------------------------------------------------
ROW = {"age": "*", "ill": "flu", "who": "P_1"}


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([{**ROW, "name": "Ana"}], "identifiers shown"),
        ([{"age": "*", "who": "P_1"}], "columns missing"),
        ([{**ROW, "who": "Ana"}], "non-pseudonyms in who"),
        ([{**ROW, "suppressed": "1"}], "suppressed rows with values"),
        (
            [{**ROW, "ill": "", "age": age, "suppressed": "1"} for age in "XY"],
            "suppressed rows with values",
        ),
    ],
)
def test_what_shows_more_than_was_asked_fails(rows, what):
    content = json.loads(plan_asking().to_json())
    found = {each: holds for each, *_, holds in SCRIPT.check_table(content, list(rows[0]), rows)}
    assert found[what] is False


def test_blank_and_missing_are_one_value_however_they_are_written(tmp_path):
    (tmp_path / "released.csv").write_text('age,ill\n30,\n30," "\n30,""\n', "utf-8")
    names, rows = SCRIPT.read_table(tmp_path / "released.csv", ["age", "ill"])
    assert (names, {normalise_value(row["ill"]) for row in rows}) == (["age", "ill"], {""})


def test_persons_who_are_not_shown_cannot_be_told():
    content = json.loads(plan_asking().to_json())
    content["columns"]["who"]["pseudonym"] = False
    rows = [{"age": "*", "ill": ill} for ill in ("flu", "cold")]
    found = SCRIPT.check_table(content, ["age", "ill"], rows)
    assert found[-1] == ("persons per class, by who", "k = 2", None, None)


def test_formulas_that_were_neutralised_are_the_same_columns(tmp_path):
    columns = plan_with()["columns"]
    columns["=disease"] = columns.pop("disease")
    table, plan = PEOPLE.rename(columns={"disease": "=disease"}), plan_with(columns=columns)
    unpacked(archive_of(run(Plan.from_content(plan), table), neutral=True), tmp_path)
    assert "'=disease" in (tmp_path / "released.csv").read_text("utf-8")
    assert SCRIPT.main(tmp_path) == 0


def test_signs_that_a_terminal_obeys_are_not_printed(tmp_path, capsys):
    columns = {**plan_with()["columns"]}
    table = PEOPLE.rename(columns={"disease": "dis\x1b[31mease"})
    columns["dis\x1b[31mease"] = columns.pop("disease")
    plan = Plan.from_content(plan_with(columns=columns, **SENSITIVE))
    unpacked(archive_of(run(plan, table)), tmp_path)
    assert SCRIPT.main(tmp_path) == 0
    told = capsys.readouterr().out
    assert "dis?[31mease" in told and "\x1b" not in told
