"""The JSON schemas of docs/reference/schemas/: current, true of real files, and strict."""

import json
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from kanon.errors import KanonError
from kanon.experiments.simulated.files import create_study_inputs, write_study
from kanon.experiments.simulated.study import create_study
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.run import prepare, run
from kanon.studio.session.table_loading import open_sample
from kanon.studio.shell.project_file import export_project
from kanon.teaching.exercises import BUILT_IN, Answers, read_exercises
from kanon.teaching.playlist import load_built_in_playlists
from support.paths import ROOT
from support.plans import make_plan, plan_content, qi
from support.schemas import SCHEMAS, build_schemas

PLAN = json.loads((ROOT / "docs" / "tutorial-plan.json").read_text("utf-8"))
CONTEXT = {"context": 1, "release": "research", "thresholds": {"k": {"wanted": 7}}}
SET = json.loads(BUILT_IN.read_text("utf-8"))


@pytest.fixture(scope="module")
def schemas():
    return {path.stem: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")}


def find_problems(schema, content) -> list[str]:
    return [problem.message for problem in Draft202012Validator(schema).iter_errors(content)]


def people(n: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": random.integers(18, 70, n),
            "sex": random.choice(["F", "M"], n),
            "ill": random.choice(["flu", "cold", "none"], n),
            "paid": random.integers(1, 9, n),
        }
    )


COLUMNS = {
    "age": qi("intervals", widths=[10, 20]),
    "sex": qi(),
    "ill": {"role": "sensitive"},
    "paid": {"role": "insensitive"},
}


def test_the_published_schemas_are_those_of_the_models(schemas):
    """`make schemas` writes them anew."""
    built = json.loads(json.dumps(build_schemas()))
    assert {*built, "measures"} == {*schemas}
    assert [name for name, schema in built.items() if schema != schemas[name]] == []
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    page = (SCHEMAS.parent / "schemas.md").read_text("utf-8")
    assert all(f"(schemas/{name}.json)" in page for name in schemas)


def test_the_project_s_own_files_fit_their_schemas(schemas):
    answers = Answers(set=read_exercises(BUILT_IN).fingerprint, student="Chi", answers={"a": 1})
    study = create_study(prepare(make_plan(COLUMNS), people()))
    files = {
        "plan": PLAN,
        "context": CONTEXT,
        "exercises": SET,
        "answers": json.loads(answers.to_json()),
        "playlist": json.loads(load_built_in_playlists()[0].to_json()),
        "study": json.loads(write_study(create_study_inputs(study), [])),
        "layout": {"version": 1, "panels": [{"kind": "curve", "measure": "mean_alteration"}]},
        "project": json.loads(export_project(open_sample("hospital"))),
    }
    assert {*schemas} == {*files, "measures"}
    assert {name: find_problems(schemas[name], file) for name, file in files.items()} == {
        name: [] for name in files
    }
    assert find_problems(schemas["plan"], plan_content(COLUMNS)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"columns": {**COLUMNS, "paid": {"role": "sensitive"}}},
        {"algorithm": "mondrian", "suppression_limit": 0.1},
        {"algorithm": "flash", "repairs": [{"column": "paid", "drop": {"above": 7}}]},
        {"algorithm": "optimal-local"},
    ],
    ids=str,
)
def test_measures_of_a_run_fit_their_schema(schemas, changes):
    plan = make_plan(**{"columns": COLUMNS, "k": 3, **changes})
    measures = json.loads(json.dumps(run(plan, people()).measures))
    assert find_problems(schemas["measures"], measures) == []
    assert find_problems(schemas["measures"], {**measures, "loss": 1})
    assert find_problems(schemas["measures"], {**measures, "mean_alteration": 101})
    del measures["min_k"]
    assert find_problems(schemas["measures"], measures)


@pytest.mark.parametrize(
    "own",
    [
        {"role": "person"},
        {"role": "sensitive", "levels": 3},
        qi("interval"),
        qi("intervals", width=[5]),
        qi("mask", keep=[]),
        {"hierarchy": "a.csv"},
    ],
    ids=str,
)
def test_a_wrong_column_fits_neither_the_schema_nor_kanon(schemas, own):
    content = plan_content({**COLUMNS, "age": own})
    assert find_problems(schemas["plan"], content)
    with pytest.raises(KanonError):
        Plan.from_content(content)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 3},
        {"order": "sorted"},
        {"privacy": []},
        {"privacy": [{"model": "k-anonymity", "k": "5"}]},
        {"privacy": [{"model": "k-anonymity", "k": 5, "l": 2}]},
        {"suppression_limit": 1.5},
        {"algorithm": {"name": "gaga"}},
        {"algorithm": {"name": "gaa", "speed": "high"}},
        {"read": {"footer": -1}},
        {"k": 5},
    ],
    ids=str,
)
def test_a_wrong_plan_fits_neither_the_schema_nor_kanon(schemas, changes):
    content = {**plan_content(COLUMNS), **changes}
    assert find_problems(schemas["plan"], content)
    with pytest.raises(KanonError):
        Plan.from_content(content)


def test_other_wrong_files_do_not_fit(schemas):
    for wrong in ({**CONTEXT, "release": "friends"}, {"release": "public"},
                  {**CONTEXT, "thresholds": {"m": None}}):  # fmt: skip
        assert find_problems(schemas["context"], wrong)
        with pytest.raises(KanonError):
            Context.from_content(wrong)
    wrong_set = deepcopy(SET)
    wrong_set["questions"][0]["kind"] = "riddle"
    for name, wrong in {
        "exercises": wrong_set,
        "answers": {"format": "kanon-answers", "set": "1"},
        "study": {"format": "kanon-simulated-study", "version": 1},
        "layout": {"version": 1, "panels": [], "k": 5},
        "project": {"project": 2},
    }.items():
        assert find_problems(schemas[name], wrong)
