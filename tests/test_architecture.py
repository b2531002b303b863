"""The shape of the code: who may import whom, where Streamlit may be, what every part carries."""

import ast
import importlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import get_args

import networkx as nx
import numpy as np
import pytest

import kanon.algorithms
from kanon.algorithms.algorithm_card import AlgorithmCard, Setting
from kanon.algorithms.catalogue import FAMILIES
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.cards import parts_of
from kanon.classes import EquivalenceClasses
from kanon.errors import Unsatisfiable
from kanon.hierarchy.build import groups, suppression
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.metrics import exact_potentials, metric_named
from kanon.plan_parts import AlgorithmPlan
from kanon.recoding import MergePath, Recoding
from support.paths import ROOT

PACKAGE = ROOT / "kanon"

# Rooms by level: a module imports from smaller levels, and freely within its own room.
LEVELS = {
    "": 0,  # kanon/__init__.py
    "ground": 0,
    "hierarchy": 1,
    "schema": 1,
    "sensitive": 1,
    "kernels": 1,
    "classes": 2,
    "metrics": 2,
    "recoding": 3,
    "privacy": 3,
    "strategies": 4,
    "measures": 4,
    "algorithms": 5,
    "reference": 5,
    "sources": 5,
    "learning": 6,
    "teaching": 6,
    "run": 7,
    "charts": 8,
    "report": 9,
    "warm": 8,
    "cli": 10,
    "__main__": 11,
    "notebook": 10,
    "sklearn": 10,
    "session": 11,
    "jobs": 12,
    "widgets": 13,
    "shell": 14,
    "page": 15,
    "pages": 16,
    "app": 16,
}
# Several folders and modules that are one room. A plan, its runs, their comparison and the checks
# of what came of them need each other; so do errors, settings and texts.
ONE_ROOM = {
    **dict.fromkeys(("errors", "settings", "cards", "base"), "ground"),
    **dict.fromkeys(("plan", "plan_parts", "run", "release", "evidence", "experiments"), "run"),
    "stored_classes": "recoding",
}
SHARED = ("session", "jobs", "widgets", "shell")

OUTSIDE = {".git", ".hypothesis", ".mypy_cache", ".ruff_cache", ".venv", "__pycache__"}
OUTSIDE |= {"build", "output"}
MODULES = sorted(PACKAGE.rglob("*.py"))
PAGES = [*sorted((ROOT / "pages").glob("*.py")), *ROOT.glob("app.py")]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(name: str) -> str:
    """The room of a dotted name: a folder or module under ``kanon``, in the dashboard one deeper.

    >>> room_of("kanon.base.values"), room_of("kanon.studio.compare.page"), room_of("app")
    ('ground', 'page', 'app')
    """
    head, *rest = name.split(".")
    if head != "kanon":
        return head
    if rest[:1] == ["studio"]:
        return rest[1] if rest[1:2] and rest[1] in SHARED else "page"
    return ONE_ROOM.get(rest[0], rest[0]) if rest else ""


def folder_of(name: str) -> str:
    """The folder of a page of the dashboard; empty for whatever else."""
    parts = name.split(".")
    return parts[2] if room_of(name) == "page" and len(parts) > 2 else ""


def imported(tree: ast.AST, known: set[str]) -> Iterator[tuple[int, str]]:
    """The line and dotted name of every import, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            for alias in node.names:
                deeper = f"{module}.{alias.name}"
                yield node.lineno, deeper if deeper in known else module


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def parse_modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in [*MODULES, *PAGES]}


@cache
def list_imports() -> dict[Path, list[tuple[int, str]]]:
    """Per module the line and dotted name of each import."""
    names = {dotted(path) for path in MODULES}
    return {path: list(imported(tree, names)) for path, tree in parse_modules().items()}


def test_modules_import_from_lower_levels_alone():
    wrong = []
    for path, names in list_imports().items():
        own = dotted(path)
        for line, name in names:
            room = room_of(name)
            if name.split(".")[0] not in ("kanon", "app", "pages"):
                continue
            assert room in LEVELS, f"{name} has no level yet: give it one here and in the design"
            if room == room_of(own):
                allowed = folder_of(name) == folder_of(own)
            else:
                allowed = LEVELS[room] < LEVELS[room_of(own)]
            if not allowed:
                wrong.append(f"{name_of(path)}:{line} imports {name}")
    assert wrong == []


def test_references_know_no_compiled_code_and_no_algorithm_knows_them():
    apart = {"reference": {"algorithms", "kernels"}, "algorithms": {"reference"}}
    wrong = [
        f"{name_of(path)}:{line} imports {name}"
        for path, names in list_imports().items()
        for line, name in names
        if room_of(name) in apart.get(room_of(dotted(path)), set())
        or (room_of(dotted(path)) == "reference" and name.split(".")[0] == "numba")
    ]
    assert wrong == []


def test_no_modules_import_each_other():
    """Not even inside functions, or for types alone."""
    graph = nx.DiGraph()
    for path, names in list_imports().items():
        own = dotted(path)
        graph.add_edges_from((own, name) for _, name in names if name != own)
    parts = nx.strongly_connected_components(graph)
    assert {tuple(sorted(part)) for part in parts if len(part) > 1} == set()


def test_streamlit_stays_in_the_studio():
    wrong = [
        f"{name_of(path)}:{line}"
        for path, names in list_imports().items()
        for line, name in names
        if name.split(".")[0] == "streamlit"
        and room_of(dotted(path)) not in (*SHARED, "page", "pages", "app")
    ]
    assert wrong == []


def test_the_state_of_a_session_is_touched_in_one_file():
    touching = {
        name_of(path)
        for path in parse_modules()
        if re.search(r"\bst\s*\.\s*session_state\b", path.read_text("utf-8"))
    }
    assert touching == {"kanon/studio/session/state.py"}


def test_every_module_has_a_docstring():
    assert [name_of(path) for path in MODULES if not ast.get_docstring(parse_modules()[path])] == []


def test_rooms_and_modules_stay_small():
    sizes = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    wide = {name_of(room): sizes[room] for room in sizes if sizes[room] > 16}
    # The library has a module per algorithm, metric, chart, format, command: its rooms may be wide.
    studio = {room: size for room, size in wide.items() if room.startswith("kanon/studio/")}
    assert studio == {} and "kanon" not in wide
    long = {name_of(path) for path in MODULES if len(path.read_text("utf-8").splitlines()) > 500}
    assert long == set()


def test_a_public_class_name_means_one_thing():
    where: dict[str, list[str]] = {}
    for path in MODULES:
        for node in parse_modules()[path].body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(name_of(path))
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


# --- No Adult in the tree -----------------------------------------------------------------------
def tracked() -> Iterator[Path]:
    for path in ROOT.rglob("*"):
        if path.is_file() and not OUTSIDE & set(path.relative_to(ROOT).parts):
            yield path


def test_no_file_is_called_like_the_table_of_adult():
    assert [name_of(path) for path in tracked() if path.name in ("adult.csv", "adult.data")] == []


def squeezed(lines: list[str]) -> set[str]:
    """Every three lines that follow each other, without whatever separates their cells."""
    plain = re.sub(r"[^\w\n]+", "", "\n".join(lines)).split("\n")
    return set(map("".join, zip(plain, plain[1:], plain[2:], strict=False)))


@pytest.mark.nightly
@pytest.mark.adult
def test_no_file_holds_records_of_adult(adult_path):
    adult = squeezed(adult_path.read_text("utf-8").splitlines()[1:5000])
    assert adult & squeezed(["Male,50,x", *adult_path.read_text("utf-8").splitlines()[9:12]])
    holding = [
        name_of(path)
        for path in tracked()
        if adult & squeezed(path.read_text("utf-8", errors="replace").splitlines())
    ]
    assert holding == []


# --- The contract of every algorithm ------------------------------------------------------------
ALGORITHMS = parts_of(kanon.algorithms)


def small_task(k: int, tie_seed: int | None = None) -> Task:
    """Eleven records of two attributes, one of them a value that is no leaf."""
    trees = (
        groups([{"A": ["1", "2"]}, {"*": ["A", "4"]}]),  # MDAV takes numbers alone
        suppression(["0", "1"]),
    )
    rows = [*["1 0"] * 3, "1 1", "2 0", "2 1", "4 0", *["4 1"] * 2, "A 0", "* 1"]
    nodes = [
        tuple(tree.node_of[label] for tree, label in zip(trees, row.split(), strict=True))
        for row in rows
    ]
    counted = sorted(Counter(nodes).items())
    classes = EquivalenceClasses(
        ("one", "two"),
        trees,
        np.array([node for node, _ in counted], dtype=np.int32),
        np.array([count for _, count in counted], dtype=np.int64),
    )
    depths = scale_potentials(exact_potentials(metric_named("nllm"), trees), len(rows))
    return Task(classes, depths, k, tie_seed=tie_seed, suppression=0, node=(2, 1))


def test_there_are_algorithms():
    assert {"gaa", "gaa-small"} <= set(ALGORITHMS)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_carries_its_card(name):
    module = ALGORITHMS[name]
    card = module.CARD
    assert isinstance(card, AlgorithmCard)
    assert card.name == name
    assert module.__name__ == f"kanon.algorithms.{name.replace('-', '_')}", "imported alone"
    assert card.title
    assert card.summary.count(".") == 2 and card.summary.endswith("."), "two sentences"
    assert re.search(r"\d{4}", card.source), "the year of a publication"
    assert card.guarantees.endswith(".") and card.slow.endswith(".")
    assert card.family in FAMILIES
    assert set(card.uses) <= set(get_args(Setting))
    for parameter in card.parameters:
        assert parameter.default in parameter.choices
        assert parameter.help.endswith(".")
        assert parameter.name not in AlgorithmPlan.model_fields, "a key of the plan already"


@pytest.mark.parametrize("room", ["measures", "privacy"])
def test_every_listed_card_is_read(room):
    code = {path.stem: path.read_text("utf-8") for path in (PACKAGE / room).glob("*.py")}
    listed = tomllib.loads((PACKAGE / room / "cards.toml").read_text("utf-8"))
    for name in listed:
        by_key = f'read_card(__file__, "{name}")' in "".join(code.values())
        assert by_key or "CARD = read_card(__file__)\n" in code.get(name, ""), name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_keeps_its_contract(name):
    for k, tie_seed in product(range(1, 12), (None, 0, 11)):
        check_contract(name, k, tie_seed)


def check_contract(name: str, k: int, tie_seed: int | None) -> None:
    """A recoding of whole classes that only move up, k records in each, and the same again."""
    asked = (k, tie_seed)
    task = small_task(k, tie_seed)
    classes = task.classes
    arrays = [classes.nodes, classes.counts, *task.potentials]
    copies = [array.copy() for array in arrays]
    told: list[float] = []
    recoding = ALGORITHMS[name].anonymise(task, lambda part, text: told.append(part))
    assert isinstance(recoding, Recoding), asked
    assert recoding.classes is classes, asked
    sizes: Counter[tuple[int, ...]] = Counter()
    for node, target, count in zip(classes.nodes, recoding.targets, classes.counts, strict=True):
        for tree, low, high in zip(recoding.hierarchies, node, target, strict=True):
            assert tree.first[high] <= tree.first[low] and tree.last[low] <= tree.last[high], asked
            is_above = high > tree.root or high in tree.path(int(low))
            assert is_above, ("a range, or upwards", asked)
        sizes[tuple(target.tolist())] += int(count)
    assert sum(sizes.values()) == 11, asked
    assert min(sizes.values()) >= k, asked
    assert sorted(sizes) == [tuple(row) for row in recoding.nodes.tolist()], ("order", asked)
    assert [sizes[tuple(row)] for row in recoding.nodes.tolist()] == recoding.counts.tolist(), asked
    assert all(0 <= part <= 1 for part in told), asked
    again = ALGORITHMS[name].anonymise(task, ignore_progress)
    assert np.array_equal(again.targets, recoding.targets), asked
    assert all(map(np.array_equal, arrays, copies)), ("something given is changed", asked)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_refuses_what_no_release_can_meet(name):
    with pytest.raises(Unsatisfiable, match="11 records"):
        ALGORITHMS[name].anonymise(small_task(12))


@pytest.mark.parametrize("name", [n for n, m in ALGORITHMS.items() if hasattr(m, "merge_path")])
def test_an_algorithm_that_serves_every_k_equals_its_single_runs(name):
    path = ALGORITHMS[name].merge_path(small_task(11), ignore_progress)
    assert isinstance(path, MergePath)
    for k in range(1, 12):
        alone = ALGORITHMS[name].anonymise(small_task(k), ignore_progress)
        assert np.array_equal(path.at(k).targets, alone.targets)


def test_code_in_texts_imports_what_exists():
    """What other processes run is a text, in which no type check finds a name that changed."""
    imports = re.compile(r"from (kanon[\w.]*) import ([\w, ]+)")
    lacking = [
        (name_of(path), name)
        for path in MODULES
        for node in ast.walk(parse_modules()[path])
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for module, names in imports.findall(node.value)
        for name in names.replace(" ", "").split(",")
        if not hasattr(importlib.import_module(module), name)
    ]
    assert lacking == []
