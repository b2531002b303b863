"""What a page offers as Python makes the figures and files that the page shows and offers."""

import base64
import io
import json
import os
import re
import runpy
import subprocess
import sys
import zipfile

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbclient import NotebookClient

from kanon.base.own_files import find_own_file
from kanon.experiments.sweep import run_sweep
from kanon.notebook import Plan
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.report.page_code import write_notebook, write_script
from kanon.schema import Role
from kanon.studio.compare.page import describe_comparison_code
from kanon.studio.decide.state import DecideView
from kanon.studio.jobs.comparison import (
    build_comparison,
    list_missing_runs,
    merge_compared_runs,
    plan_comparison_job,
)
from kanon.studio.jobs.configurations import list_planned_lines
from kanon.studio.session.hierarchy_choices import set_builder
from kanon.studio.session.named_configurations import save_configuration
from kanon.studio.session.table_loading import open_sample
from support.dashboard import (
    ANONYMISE,
    COMPARE,
    HIERARCHIES,
    METRICS_PAGE,
    anonymised,
    ask_for_original_values,
    change,
    go,
    press,
    settled,
    work,
)
from support.paths import ROOT
from support.plans import make_plan, qi
from support.works import with_fields

PRIVACY, UTILITY = "pages/privacy.py", "pages/utility.py"
LATTICE, DECIDE = "pages/lattice.py", "pages/decide.py"
TABLE = find_own_file("sample_data", "hospital.csv")


# --- opening each page with a result --------------------------------------------------------
def open_released(start, page, **fields):
    at = anonymised(start())
    change(at, **fields)
    return ask_for_original_values(go(at, page))


def open_comparison(start):
    at = start(COMPARE)
    change(at, compared=("ncp", "nllm"), algorithms=("gaa", "flash"), strategies=("s1",))
    return settled(press(at, "Compare"))


def open_part(start, part, label, first=lambda at: at):
    at = first(start())
    at.session_state["kanon-work"] = work(at).replace_sections(DecideView(part=part))
    go(at, DECIDE)
    return settled(press(at, label)) if label else at


PAGES = {
    "anonymise": lambda start: open_released(start, ANONYMISE),
    "privacy": lambda start: open_released(start, PRIVACY),
    "utility": lambda start: open_released(start, UTILITY),
    "compare": open_comparison,
    "lattice": lambda start: start(LATTICE),
    "metrics": lambda start: start(METRICS_PAGE),
    "hierarchies": lambda start: start(HIERARCHIES),
    "purpose": lambda start: open_part(start, "purpose", "", anonymised),
    "settings": lambda start: open_part(start, "settings", "Try every configuration"),
    "reverse": lambda start: open_part(start, "reverse", "Find the greatest k"),
    "study": lambda start: open_part(start, "study", "Run the study"),
}
# Per page the page's own downloads, by key, and the files of the script with the same numbers.
SAME = {
    "anonymise": {"curve-data": "curve.csv", "download-release": "released.csv"},
    "privacy": {"privacy-curves-data": "levels.csv"},
    "utility": {
        "utility-measures-data": "measures.csv",
        "utility-distributions-data": "distributions-original-values.csv",
        "utility-associations-data": "associations.csv",
        "utility-queries-data": "queries.csv",
    },
    "compare": {"curves-data": "curves.csv", "areas-data": "areas.csv"},
    "lattice": {"lattice-data": "nodes.csv"},
    "metrics": {"cost-matrix-data": "costs-nllm.csv"},
    "hierarchies": {"tree-zip": "hierarchies.zip"},
    "purpose": {"decide-thresholds-data": "thresholds.csv"},
    "settings": {"advised-data": "ways.csv"},
    "reverse": {"greatest-k-data": "greatest-k.csv"},
    "study": {"study-results-data": "results.csv"},
}
# What is drawn alike: the number of the page's first such chart, and the name in the script.
DRAWN = {
    "anonymise": [(0, "figure")], "privacy": [(0, "figure"), (1, "distance_figure")],
    "utility": [(0, "figure")], "compare": [(0, "figure")], "lattice": [(0, "figure")],
    "metrics": [(0, "figure")], "purpose": [(0, "figure")], "settings": [(0, "figure")],
    "reverse": [(0, "figure")],
}  # fmt: skip


def read_code(downloads, page, ending):
    name, make = downloads[f"code-{page}-{ending}"]
    assert re.fullmatch(rf"{page}-[0-9a-f]{{12}}\.{ending}", name)
    content = make()
    return content.decode() if isinstance(content, bytes) else content


def check_files(downloads, page, folder):
    """The numbers of the script's files are those of the page's own downloads."""
    for key, file in SAME[page].items():
        made = folder / file
        assert made.exists() == (key in downloads), "hospital.csv has no pairs for associations"
        if key not in downloads:
            continue
        content = downloads[key][1]()
        if file.endswith(".zip"):
            first, second = (zipfile.ZipFile(io.BytesIO(each))
                             for each in (content, made.read_bytes()))  # fmt: skip
            assert first.namelist() == second.namelist()
            assert all(first.read(name) == second.read(name) for name in first.namelist())
        elif file == "released.csv":
            assert made.read_bytes() == content
        else:
            own, theirs = pd.read_csv(made), pd.read_csv(io.BytesIO(content))
            pd.testing.assert_frame_equal(own, theirs, rtol=1e-9), key


def list_points(traces):
    """The numbers of each trace that has some, as drawn."""
    points = []
    for trace in traces:
        numbers = [trace.get(axis) for axis in "xyz"]
        points.append([decode(axis) for axis in numbers if axis is not None])
    return points


def decode(values):
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return np.asarray(values).tolist()


def run_in_here(script, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(script), str(TABLE)])
    monkeypatch.chdir(script.parent)
    return runpy.run_path(str(script), run_name="__main__")


def mark_heavy(page):
    return page if page == "anonymise" else pytest.param(page, marks=pytest.mark.nightly)


@pytest.mark.parametrize("page", [mark_heavy(page) for page in PAGES])
def test_a_script_makes_what_its_page_shows(start, downloads, monkeypatch, tmp_path, page):
    at = PAGES[page](start)
    path = tmp_path / f"{page}.py"
    script = read_code(downloads, page, "py")
    check_privacy(script)
    path.write_text(script, "utf-8")
    made = run_in_here(path, monkeypatch)
    check_files(downloads, page, tmp_path / f"{page}-results")
    for place, name in DRAWN.get(page, []):
        page_figure = json.loads(at.get("plotly_chart")[place].proto.spec)
        own = json.loads(made[name].to_json())
        assert list_points(own["data"]) == list_points(page_figure["data"]), name


def check_privacy(script):
    """Names of patients are identifiers; no hierarchy lists them, and so does no script."""
    plan = read_constants(script)["PLAN"]
    table = pd.read_csv(TABLE, sep=";", dtype=str)
    identifiers = plan.roles.columns(Role.IDENTIFIER)
    for value in {value for name in identifiers for value in table[name]}:
        assert repr(value) not in script
    assert identifiers and str(ROOT) not in script and os.path.expanduser("~") not in script


@pytest.mark.nightly
@pytest.mark.parametrize("page", ["privacy", "compare"])
def test_a_script_runs_alone(start, downloads, tmp_path, page):
    """On another path, by its own process, which is given nothing but the table."""
    PAGES[page](start)
    path = tmp_path / "code.py"
    path.write_text(read_code(downloads, page, "py"), "utf-8")
    command = [sys.executable, "-W", "ignore", str(path), str(TABLE), "made"]
    subprocess.run(command, cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    check_files(downloads, page, tmp_path / "made")


@pytest.mark.nightly
def test_a_notebook_runs(start, downloads, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    open_released(start, ANONYMISE)
    book = nbformat.reads(read_code(downloads, "anonymise", "ipynb"), 4)
    (tmp_path / "hospital.csv").write_bytes(TABLE.read_bytes())
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=120, kernel_name="python3", resources=folder).execute()
    check_files(downloads, "anonymise", tmp_path / "anonymise-results")


# --- the text ---------------------------------------------------------------------------------
NASTY = "it's a \"\"\"''' \\u0027 \\ trap\n{x} ```"


def nasty_plan():
    """A plan whose labels and names would end a text, a comment or a cell."""
    nodes = [{"name": "*"}, {"name": NASTY, "parent": "*"}, {"name": "b", "parent": "*"}]
    return make_plan({NASTY: {**qi(), "hierarchy": {"nodes": nodes}}}, 2, {"name": "gaa"})


def read_constants(script):
    head, values = script.split("FOLDER.mkdir")[0].split("\nTABLE =")[1], {}
    imports = "import sys\nfrom pathlib import Path\nfrom kanon.notebook import Plan\nTABLE ="
    exec(imports + head, values)
    return values


@pytest.mark.parametrize("page", PAGES)
def test_no_name_becomes_code(page):
    settings = {"COLUMN": NASTY, "LINES": {NASTY: {NASTY: None}}}
    script = write_script(page, nasty_plan(), NASTY, settings)
    values = read_constants(script)
    assert values["PLAN"] == nasty_plan() and isinstance(values["PLAN"], Plan)
    assert values["COLUMN"] == NASTY and values["LINES"] == {NASTY: {NASTY: None}}
    compile(script, "script", "exec")


@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_is_valid_and_has_the_steps_of_the_script(page):
    book = nbformat.reads(write_notebook(page, nasty_plan(), "t.csv", {}), 4)
    nbformat.validate(book)
    script = write_script(page, nasty_plan(), "t.csv", {})
    for cell in book.cells[4:]:
        if cell.cell_type == "code":
            compile(cell.source, "cell", "exec")
            assert cell.source in script
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")
@pytest.mark.parametrize("k_only", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_the_code_of_a_comparison_makes_its_curves(monkeypatch, tmp_path, k_only):
    """Each line at its own k, under what is required; MDAV takes no texts and is left out."""
    work = open_sample("hospital", version=1)
    model = DistinctLDiversity(2, work.table.sensitive_columns[0])
    work = with_fields(
        work, compared=("ncp", "nllm"), algorithms=("gaa", "flash", "mdav"), models=(model,),
        bands=k_only, k_only=k_only,
    )  # fmt: skip
    if k_only:  # and a line with other hierarchies, which the current ones measure
        line = list_planned_lines(work)[0]
        work = save_configuration(work, line.plan, line.ground.trees, "before")
        work = set_builder(work, work.table.quasi_identifiers[0], "suppression", {})
    lines = list_planned_lines(work)
    job = plan_comparison_job(work, lines, list_missing_runs(work, lines, also=7))
    results = run_sweep(lambda *_: None, job.runs, job.ks, job.metrics)
    work = with_fields(work, runs=merge_compared_runs(work, lines, job, results))
    comparison = build_comparison(work, lines)
    first, settings = describe_comparison_code(lines, comparison)
    assert settings["LINES"]["ncp · flash"] == {"algorithm": {"name": "flash"}}
    assert "MDAV" in comparison.left_out and bool(settings["OWN_KS"]) is k_only
    assert (settings["MEASURED_BY"] is not None) is k_only
    assert settings["REQUIREMENT"].startswith("Lines meet k only" if k_only else "Every line meets")
    settings |= {"K": 5, "INTERVAL": None, "AREA_KS": [], "PANELS": [{"kind": "classes"}] * 2}
    path = tmp_path / "compare.py"
    path.write_text(write_script("compare", first, "hospital.csv", settings), "utf-8")
    made = run_in_here(path, monkeypatch)
    pd.testing.assert_frame_equal(made["curves"], comparison.table())
