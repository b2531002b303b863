"""The commands there are, and what each of them imports: it begins at once, and others wait."""

import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import kanon.algorithms
import kanon.cli
import kanon.measures
import kanon.privacy
from kanon.cards import parts_of
from kanon.cli.main import COMMANDS
from support.command_line import RUN
from support.paths import ROOT


def test_every_file_with_a_command_has_its_row():
    names = [info.name for info in pkgutil.iter_modules(kanon.cli.__path__)]
    modules = {name: importlib.import_module(f"kanon.cli.{name}") for name in names}
    found = {
        name.replace("_", "-") for name, module in modules.items() if hasattr(module, "execute")
    }
    assert found == set(COMMANDS)


@pytest.mark.parametrize("package", [kanon.algorithms, kanon.measures, kanon.privacy])
def test_a_part_that_is_named_is_the_one_in_the_list(package):
    parts = parts_of(package)
    assert {name: parts[name] for name in parts} == dict(parts.items())
    assert not {"task", "nosuch", "", "..cards"} & {*parts} and "task" not in parts


TOLD = """import atexit, runpy, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
runpy.run_module("kanon", run_name="__main__")"""


def imported(folder, *arguments: str) -> set[str]:
    """What a command imports, in a process of its own."""
    return set(process(folder, *arguments).stderr.split())


def process(folder, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", TOLD, *arguments],
        cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_the_help_text_imports_no_command_and_names_each(folder):
    done = process(folder, "--help")
    assert all(f"\n    {command}" in done.stdout for command in COMMANDS)
    found = set(done.stderr.split())
    assert not {"numpy", "pandas", "pydantic", "numba", "sklearn", "plotly"} & found
    of_commands = {f"kanon.cli.{name.replace('-', '_')}" for name in COMMANDS}
    assert "kanon.cli.main" in found and not of_commands & found


@pytest.mark.nightly
def test_run_imports_the_algorithm_of_its_plan_alone(folder):
    found = imported(folder, *RUN)
    others = ("sklearn", "networkx", "plotly", "streamlit", "ibis", "requests", "jinja2")
    assert not {*others} & found
    algorithms = {module.__name__ for module in parts_of(kanon.algorithms).values()}
    assert algorithms & found == {"kanon.algorithms.gaa"}


@pytest.mark.nightly
def test_sweep_checks_no_release(folder):
    swept = imported(folder, "sweep", *RUN[1:4], "--k", "2,3", "--out", "curves.csv")
    assert not {"sklearn", "networkx", "plotly", "duckdb"} & swept


@pytest.mark.sampled(2)
@pytest.mark.parametrize("call", [("run", "--help"), ("measure", *RUN[2:4], "--qi", "age,sex")])
def test_what_runs_no_kernel_imports_no_numba(folder, call):
    assert "numba" not in imported(folder, *call)
