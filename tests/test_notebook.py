"""The names that notebooks begin with, and the example notebook, executed."""

import itertools
import os
import subprocess
import sys

import nbformat
import networkx as nx
import pandas as pd
import pytest
from nbclient import NotebookClient

from kanon.errors import MetricError, PlanError, Unsatisfiable
from kanon.metrics import metric_named, potentials
from kanon.notebook import Hierarchy, Plan, build_lattice_graph, cost_matrix, every_k, run
from support.dashboard import PEOPLE
from support.paths import ROOT
from support.plans import qi

NLLM = metric_named("nllm")
NOTEBOOK = ROOT / "docs" / "examples" / "first-steps.ipynb"
# Warnings are errors here too, but for those about privacy, which are meant to be seen.
STRICT = """import warnings

from kanon.errors import PrivacyWarning

warnings.simplefilter("error")
warnings.simplefilter("always", PrivacyWarning)"""


def test_outputs_of_the_example_are_stripped():
    book = nbformat.read(NOTEBOOK, 4)
    nbformat.validate(book)
    for cell in book.cells:
        assert not cell.metadata and len(cell.source) > 0
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.nightly
def test_the_example_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no history of the user's
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    book = nbformat.read(NOTEBOOK, 4)
    book.cells.insert(0, nbformat.v4.new_code_cell(STRICT))
    folder = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(book, timeout=120, kernel_name="python3", resources=folder).execute()
    shown = [
        kind
        for cell in book.cells if cell.cell_type == "code"
        for output in cell.outputs if output.output_type in ("execute_result", "display_data")
        for kind in output.data
    ]  # fmt: skip
    assert shown.count("text/html") >= 8, "tables"
    assert "application/vnd.plotly.v1+json" in shown, "a figure"


def test_the_import_of_kanon_stays_light():
    """Who imports it for its version waits for neither pandas nor Numba."""
    told = "import sys, kanon; print(kanon.__version__, {'numpy', 'pandas'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", told],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.split(maxsplit=1)[1].strip() == "set()"


# --- the functions ----------------------------------------------------------------------------
def plan(privacy=({"model": "k-anonymity", "k": 3},), **algorithm):
    return Plan.from_content(
        {
            "version": 2,
            "columns": {
                "name": {"role": "identifier"},
                "age": qi("intervals", widths=[10, 20]),
                "zip": {"role": "insensitive"},
                "sex": qi(),
                "disease": {"role": "sensitive"},
            },
            "algorithm": {"name": "gaa", **algorithm},
            "privacy": [*privacy],
        }
    )


@pytest.mark.nightly
def test_every_k_has_the_releases_of_single_runs():
    found = every_k(plan(), PEOPLE)
    for k in range(2, len(PEOPLE) + 1):
        release = found.release(k)
        alone = run(plan().with_k(k), PEOPLE)
        pd.testing.assert_frame_equal(release.released(), alone.released())
        assert release.prepared.plan.k == k and release.measures["min_k"] >= k
    table = found.table()
    assert table["k_up_to"].is_monotonic_increasing and table["k_up_to"].iloc[-1] == len(PEOPLE)
    assert "k = 4 costs" in found.chart(4).layout.title.text


def test_what_there_is_not_is_said():
    found = every_k(plan(), PEOPLE)
    with pytest.raises(Unsatisfiable, match="12 records"):
        found.release(13)
    with pytest.raises(PlanError, match="at least 2"):
        found.release(1)
    with pytest.raises(PlanError, match="'datafly' runs for one k at a time"):
        every_k(plan(name="datafly"), PEOPLE)
    with pytest.raises(PlanError, match="'zip' is not a quasi-identifier"):
        cost_matrix(found.prepared, "zip")
    with pytest.raises(MetricError, match="'nlm' is unknown"):
        cost_matrix(found.prepared, "age", "nlm")


def test_with_other_models_only_some_k_are_known():
    model = {"model": "distinct-l-diversity", "l": 2}
    found = every_k(plan(privacy=[{"model": "k-anonymity", "k": 3}, model]), PEOPLE)
    (first, *_), unknown = found.solution.known, 6
    assert found.release(first).measures["distinct_l"] >= 2
    assert unknown not in found.solution.known
    with pytest.raises(PlanError, match="k = 6 was not computed; choose one of 2, "):
        found.release(unknown)


def test_a_cost_matrix_is_a_table():
    """Two values under one root: to lose one costs 1 of 2 levels of Total, none from the root."""
    prepared = run(plan(), PEOPLE).prepared
    matrix = cost_matrix(prepared, "sex", "total")
    assert matrix.to_numpy().tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 0]]
    assert [*matrix.index] == [*matrix.columns] == ["F", "M", "*"]
    assert cost_matrix(prepared, "sex").equals(cost_matrix(prepared, "sex", "nllm"))


def test_the_lattice_as_a_graph_says_what_counting_by_hand_says():
    graph = build_lattice_graph(plan(), PEOPLE)
    trees = run(plan(), PEOPLE).prepared.classes.hierarchies
    levels = [range(tree.height) for tree in trees]
    assert list(graph) == list(itertools.product(*levels))
    assert graph.graph["attributes"] == ("age", "sex")
    assert set(graph.edges) == {
        (low, high)
        for low, high in itertools.product(graph, graph)
        if sorted(b - a for a, b in zip(low, high, strict=True)) == [0, 1]
    }
    assert {graph.edges[edge]["raised"] for edge in nx.bfs_edges(graph, (0, 0))} == {"age", "sex"}
    for node, said in graph.nodes(data=True):
        raised = PEOPLE[["age", "sex"]].astype(str).copy()
        for name, tree, level in zip(raised, trees, node, strict=True):
            raised[name] = [
                [tree.labels[v] for v in tree.path(tree.node_of[x]) if tree.level[v] <= level][-1]
                for x in raised[name]
            ]
        sizes = raised.groupby(["age", "sex"])["age"].transform("size")
        assert said["suppressed"] == (sizes < 3).sum()
        assert said["satisfying"] == bool((sizes >= 3).all())
        assert said["reached"] == sizes.min()
        assert said["classes"] == len(raised[sizes >= 3].drop_duplicates())
        lost = possible = 0.0
        for name, tree, depth in zip(raised, trees, potentials(NLLM, trees), strict=True):
            leaves = [tree.node_of[str(value)] for value in PEOPLE[name]]
            lost += sum(depth[leaves] - depth[[tree.node_of[label] for label in raised[name]]])
            possible += sum(depth[leaves] - depth[tree.root])
        assert said["loss"] == pytest.approx(100 * lost / possible, abs=1e-6)


def test_a_lattice_too_large_to_be_counted_is_no_graph(monkeypatch):
    monkeypatch.setattr("kanon.experiments.exploration.MOST_COUNTED_NODES", 7)
    with pytest.raises(PlanError, match="8 nodes; up to 7"):
        build_lattice_graph(plan(), PEOPLE)


def test_a_notebook_makes_hierarchies_from_graphs():
    tree = Hierarchy.from_graph(nx.DiGraph([("*", "F"), ("*", "M")]))
    assert list(tree.to_graph().edges) == [("*", "F"), ("*", "M")]
