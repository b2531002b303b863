"""Projects of ARX: what of them is read, what is named, and what is refused."""

import io
import json
import math
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.cli.main import main
from kanon.errors import PlanError, TableError
from kanon.plan import Plan
from kanon.run import run
from kanon.run.arx import _read_tree, _translate_criterion, read_arx_project
from kanon.schema import Role
from kanon.sources.coverage import check_coverage
from support.arx import AGE, COLUMNS, QUASI, SENSITIVE, TABLE, make_deid

ILL = " for attribute 'ill'"
HIERARCHICAL = f"0.2-closeness with hierarchical ground-distance{ILL}"


def read(*args, **configuration):
    return read_arx_project(make_deid(*args, **configuration), "small.deid")


def with_fields(column, **fields):
    return {**COLUMNS, column: {**COLUMNS[column], **fields}}


def test_a_project_becomes_a_plan_that_runs():
    project = read(weights={"age": 0.5, "sex": 0.25, "ill": 1.0})
    assert project.left_out == () and project.file.records.n_records == 4
    plan = project.plan
    assert [*plan.roles.roles.values()] == [
        Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE,
    ]  # fmt: skip
    assert plan.algorithm.attribute_weights == {"age": 1.0, "sex": 0.5}
    assert (plan.algorithm.name, plan.metric.name, plan.k) == ("optimal", "general-loss", 2)
    assert (plan.suppression_limit, plan.suppressed, plan.level_bounds) == (0.0, "keep", {})
    # Ages raised by one level lose 1/3; no other node but the top is 2-anonymous.
    assert run(plan, project.file.records).recoding.trace.node == (1, 0)


def test_bounds_keep_a_release_off_their_levels():
    columns = {**with_fields("age", min="2"), "sex": {**COLUMNS["sex"], "max": "0"}}
    plan = read(columns=columns).plan
    bounds = {name: (part.least, part.most) for name, part in plan.level_bounds.items()}
    assert bounds == {"age": (2, 2), "sex": (0, 0)}
    with pytest.raises(PlanError, match=r"bounds its levels by 3 and All.* has levels 0 to 2"):
        read(columns=with_fields("age", min="3"))


@pytest.mark.parametrize(
    ("text", "labels", "bounds"),
    [
        ("F;F;*\nM;M;*\n", {"F", "M", "*"}, (1, 1)),  # the repeated level is left out
        ("F;A\nM;B\n", {"F", "M", "A", "B", "*"}, (1, 1)),  # a root is added, above the bounds
        ("F\nM\n", {"F", "M", "*"}, (0, 0)),
        ("F;F;M;*\nM;M;M;*\n", None, None),  # a value that is a group of others too
    ],
)
def test_levels_are_those_of_the_columns_of_a_hierarchy(text, labels, bounds):
    fields = {} if bounds is None else {"min": str(text.split("\n")[0].count(";"))}
    columns = with_fields("sex", **fields)
    project = read({"input/hierarchies/sex.csv": text}, columns=columns)
    tree = project.hierarchies["sex"]
    if labels is None:
        assert tree.labels == ("F", "M", "M (group)", "*")
        assert "'M' occurs at two levels" in project.left_out[0]
        return
    assert {*tree.labels} == labels
    found = project.plan.level_bounds["sex"]
    assert (found.least, found.most) == bounds


@given(
    n=st.integers(2, 40),
    widths=st.lists(st.integers(2, 4), max_size=3),
    repeats=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_each_column_of_a_hierarchy_is_found_as_a_level(n, widths, repeats):
    columns, levels, width = [[f"v{leaf}" for leaf in range(n)]], [0], 1
    for level, (factor, repeat) in enumerate(zip(widths, repeats, strict=False), 1):
        width *= factor
        columns.append([f"g{level}-{leaf // width}" for leaf in range(n)])
        levels.append(levels[-1] + 1)
        if repeat:
            columns.append(columns[-1])
            levels.append(levels[-1])
    text = "\n".join("|".join([*row, "*"]) for row in zip(*columns, strict=True))
    file, found, is_alike = _read_tree(text, "|")
    assert found == [*levels, levels[-1] + 1] and is_alike
    for column, level in zip(columns, levels, strict=True):
        nodes = file.hierarchy.at_level(level)[: file.hierarchy.n_leaves]
        assert [file.hierarchy.labels[node] for node in nodes] == column


def test_a_branch_that_skips_levels_is_named():
    project = read(
        {"input/hierarchies/age.csv": "31;A;A;X;*\n34;34;B;X;*\n52;52;52;52;*\n57;57;57;57;*\n"}
    )
    assert "one level may group other values than in ARX" in project.left_out[0]


@pytest.mark.parametrize(
    ("criterion", "parts"),
    [
        ("5-anonymity", [{"model": "k-anonymity", "k": 5}]),
        (f"distinct-2-diversity{ILL}", [{"model": "distinct-l-diversity", "l": 2}]),
        (f"shannon-entropy-1.5-diversity{ILL}", [{"model": "entropy-l-diversity", "l": 1.5}]),
        (f"entropy-2-diversity{ILL}", [{"model": "entropy-l-diversity", "l": 2}]),
        (f"recursive-(3.5,2)-diversity{ILL}",
         [{"model": "recursive-cl-diversity", "c": 3.5, "l": 2}]),
        (f"0.2-closeness with equal ground-distance{ILL}",
         [{"model": "t-closeness", "t": 0.2, "distance": "emd-equal"}]),
        (f"0.2-closeness with ordered distance{ILL}",
         [{"model": "t-closeness", "t": 0.2, "distance": "emd-ordered"}]),
        (HIERARCHICAL, [{"model": "t-closeness", "t": 0.2, "distance": "hierarchical"}]),
        (f"1.0-disclosure privacy{ILL}", [{"model": "delta-disclosure", "delta": math.log(2)}]),
        (f"basic-1.5-likeness{ILL}", [{"model": "basic-beta-likeness", "beta": 1.5}]),
        (f"enhanced-1.5-likeness{ILL}", [{"model": "enhanced-beta-likeness", "beta": 1.5}]),
        ("(<0.1)-avg-reidentification-risk", [{"model": "average-risk", "most": 0.1}]),
        ("(0.1, 0.2, 0.05)-avg-reidentification-risk",
         [{"model": "average-risk", "most": 0.1},
          {"model": "records-at-risk", "above": 0.2, "most": 0.05}]),
        ("(0.01)-sample-uniqueness", [{"model": "records-at-risk", "above": 0.5, "most": 0.01}]),
        (f"grassberger-entropy-2.0-diversity{ILL}", []),
        ("(2.0,1.0E-6)-differential privacy", []),
        ("(5)-map", []),
        ("(0.1, 0.5)-presence", []),
        ("1-anonymity", []),  # no k of a plan
    ],
)  # fmt: skip
def test_a_criterion_is_the_model_of_its_name_or_is_named(criterion, parts):
    ill = {} if not criterion.endswith(ILL) else {"column": "ill"}
    parts = [{**part, **ill} for part in parts]
    assert _translate_criterion(criterion) == parts
    project = read(
        criteria=["2-anonymity", criterion], columns=with_fields("ill", ref="hierarchies/sex.csv")
    )
    expected = Plan.from_content(
        {
            "version": 2,
            "columns": project.plan.model_dump(mode="json", exclude_none=True)["columns"],
            "algorithm": {"name": "optimal"},
            "privacy": [{"model": "k-anonymity", "k": 2}, *parts],
        }
    )
    assert project.plan.privacy == expected.privacy
    assert parts or f"The criterion '{criterion}' is left out" in project.left_out[-1]


def test_what_kanon_lacks_is_named_in_a_sentence_each():
    columns = with_fields("age", datatype="Decimal", microaggregationFunction="Arithmetic mean")
    columns["sex"] = {"type": QUASI, "ref": "hierarchies/no.csv", "response": "true"}
    columns["ill"] = {"type": SENSITIVE, "datatype": "Date", "format": "EEE d"}
    project = read(
        columns=columns, criteria=["Inclusion", "(5)-map", HIERARCHICAL],
        metric="Classification accuracy",
    )  # fmt: skip
    starts = (
        "Microaggregation of 'age': kanon forms classes by its hierarchy, and writes the mean",
        "'sex' is a target variable in ARX",
        "The hierarchy of 'sex' is not in the project.",
        "The format 'EEE d' of the dates in 'ill'",
        "The criterion 'Inclusion' is left out: the records of its research subset",
        "The criterion '(5)-map' is left out: the population that it needs is not in",
        "The criterion '0.2-closeness",
        "No criterion of the project has a model in kanon",
        "kanon has no metric 'Classification accuracy'",
    )
    assert len(project.left_out) == len(starts)
    assert all(map(str.startswith, project.left_out, starts))
    assert project.left_out[6].endswith("is left out: its hierarchy is missing.")
    plan = project.plan
    assert plan.written == {"age": "mean"} and plan.k == 2
    assert plan.columns["sex"].hierarchy.build == "suppression"


def test_suppression_beside_other_models_is_said_and_left_out():
    project = read(criteria=[f"distinct-2-diversity{ILL}"], limit=0.04, metric="Loss (0.1/1.0/0.2)")
    assert project.plan.suppression_limit == 0
    assert project.left_out == (
        "ARX may suppress 0.04 of the records; the plan suppresses none, because its search meets "
        "'distinct-l-diversity' only without suppression.",
        "ARX weighs generalisation against suppression ('Loss (0.1/1.0/0.2)'); in kanon a "
        "suppressed record costs as much as one whose values are all at the root.",
    )


def test_dates_keep_the_order_of_day_and_month():
    table = TABLE.replace("ill", "seen").replace("flu", "03/04/2021").replace("cold", "05/06/2021")
    columns = {**{name: COLUMNS[name] for name in ("name", "age", "sex")},
               "seen": {"type": "INSENSITIVE_ATTRIBUTE", "datatype": "Date/Time",
                        "format": "MM/dd/yyyy"}}  # fmt: skip
    project = read({"data/input.csv": table}, columns=columns)
    assert project.plan.read.kinds == {"seen": "date MM/DD/YYYY"} and project.left_out == ()


def test_names_in_the_encoding_of_another_machine_are_read():
    columns = {"größe": {"type": QUASI, "ref": "hierarchies/größe.csv"}, "id": COLUMNS["name"]}
    definition = "input/definition.xml"
    with zipfile.ZipFile(io.BytesIO(make_deid(columns=columns))) as archive:
        text = archive.read(definition).decode().encode("cp1252")
    members = {
        definition: text,
        "data/input.csv": "größe;id\n1;x\n2;ä\n".encode("cp1252"),
        "input/hierarchies/größe.csv": "1;*\n2;*\n",
    }
    project = read(members)
    assert project.hierarchies["größe"].labels == ("1", "2", "*")


ENTITY = '<!DOCTYPE a [<!ENTITY b "c">]><project><separator>&b;</separator></project>'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK no zip", "cannot be unpacked"),
        (make_deid({"input/config.xml": None}), "it lacks input/config.xml."),
        (make_deid({"project.xml": ENTITY}), "declares a document type"),
        (make_deid({"project.xml": "<project>"}), "is not valid XML"),
        (
            make_deid({"data/input.csv": "a;b\n1;2\n"}),
            "only one of them has 'a', 'age', 'b', 'ill'",
        ),
        (make_deid(columns=with_fields("age", type="ODD")), "the unknown type 'ODD'"),
        (make_deid({"project.xml": "x" * (2 << 20)}), "unpacks to more; the limit is 1 MB"),
    ],
    ids=["damaged", "lacks a part", "entity", "no XML", "lacks columns", "odd type", "bomb"],
)
def test_what_is_no_project_is_refused_in_a_sentence(content, sentence, limits):
    limits(unpacked_megabytes=1)
    with pytest.raises(TableError, match=re.escape(sentence)):
        read_arx_project(content, "small.deid")


def test_serialised_parts_are_not_even_unpacked(limits):
    limits(unpacked_megabytes=1)
    assert read({"project.dat": bytes(4 << 20), "lattice.xml": "<"}).left_out == ()


def test_a_command_writes_table_hierarchies_and_plan(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    odd = {"name": COLUMNS["name"], "../age": {**COLUMNS["age"], "ref": "hierarchies/../age.csv"}}
    columns = {**odd, "sex": COLUMNS["sex"], "ill": {"type": SENSITIVE}}
    members = {"data/input.csv": TABLE.replace("age", "../age"),
               "input/hierarchies/../age.csv": AGE}  # fmt: skip
    deid = make_deid(members, columns=columns, criteria=["2-anonymity", "(5)-map"])
    Path("small.deid").write_bytes(deid)
    assert main(["import", "small.deid", "--out", "new/project", "--json"]) == 2  # no folder new
    capsys.readouterr()
    assert main(["import", "small.deid", "--out", "project", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    written = {str(path.relative_to("project")) for path in Path("project").rglob("*.*")
               if path.is_file()}  # fmt: skip
    assert written == {*said["files"]} == {
        "table.csv", "plan.json", "hierarchies/.._age.csv", "hierarchies/sex.csv",
    }  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {"small.deid", "project"}
    assert said["records"] == 4 and len(said["left_out"]) == 1
    table = ["--table", "project/table.csv", "--out", "out.csv", "--quiet"]
    assert main(["run", "project/plan.json", *table]) == 0
    rows = pd.read_csv("out.csv", sep=None, engine="python", dtype=str)
    assert sorted(zip(rows["../age"], rows["sex"], strict=True)) == [
        ("30-39", "F"), ("30-39", "F"), ("50-59", "M"), ("50-59", "M"),
    ]  # fmt: skip
    capsys.readouterr()
    assert main(["import", "small.deid", "--out", "project"]) == 2  # it is not empty
    assert "a folder of that name has to be empty" in capsys.readouterr().err


# --- the five projects that come with ARX ---------------------------------------------------
@pytest.mark.nightly
@pytest.mark.parametrize("number", ["", "2", "3", "4", "5"])
def test_projects_that_arx_saved_open(arx_projects, number):
    name = f"example{number}.deid"
    project = read_arx_project((arx_projects / name).read_bytes(), name)
    n_records, n_hierarchies = (68725, 30) if number == "2" else (30162, 9)
    assert project.file.records.n_records == n_records
    assert len(project.hierarchies) == n_hierarchies
    for column, tree in project.hierarchies.items():
        check_coverage(column, project.file.records.count_column_values(column).counts, tree)


@pytest.mark.nightly
def test_the_optimum_is_the_one_that_arx_stored(arx_projects):
    """ARX searched the records above 50 years, and multiplied the losses of the columns."""
    content = (arx_projects / "example.deid").read_bytes()
    project = read_arx_project(content, "example.deid")
    frame = project.file.table
    release = run(project.plan, frame[frame["age"].astype(int) > 50].reset_index(drop=True))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        lattice = ElementTree.fromstring(archive.read("lattice.xml"))
    checked = {
        tuple(json.loads(node.findtext("t"))): float(node.findtext("l/u"))
        for node in lattice.iter("n")
        if node.findtext("c") == "true"
    }
    best = min(checked, key=checked.get)
    recoding = release.recoding
    assert recoding.trace.node == best == (0, 2, 0, 1, 2, 1, 1, 1, 0)
    suppressed = 5692 - recoding.counts.sum()
    assert suppressed == 743
    lost = [
        (tree.last - tree.first - 1)[recoding.nodes[:, j]] / (tree.n_leaves - 1)
        for j, tree in enumerate(recoding.hierarchies)
    ]
    losses = [(shares @ recoding.counts + suppressed) / 5692 for shares in lost]
    assert np.mean(losses) == pytest.approx(0.2898082852)
    assert np.prod(1 + np.array(losses)) ** (1 / 9) - 1 == pytest.approx(checked[best], abs=1e-9)
