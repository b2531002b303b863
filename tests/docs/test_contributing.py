"""The recipes of docs/contribute/adding/, followed in a copy: the new parts are everywhere."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from kanon.studio.shell.navigation import _PAGES
from support.browser import QUESTIONS
from support.paths import ROOT

PAGES = sorted((ROOT / "docs" / "contribute" / "adding").glob("*.md"))
RECIPES = "\n".join(page.read_text("utf-8") for page in PAGES)
NEEDED = ("kanon", "pages", "hierarchies", "sample_data", "tests", ".streamlit", "benchmarks")
STEP = re.compile(
    r"^(?:New file `(?P<new>[^`]+)`|"
    r"In `(?P<file>[^`]+)`, (?P<side>above|below) the line `(?P<line>[^`]+)`):\n\n"
    r"```(?:python)?\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """A file to write (no line), or lines to put above or below a line of a file."""

    file: str
    code: str
    line: str = ""
    below: bool = False

    def follow(self, root: Path) -> None:
        path = root / self.file
        if not self.line:
            assert not path.exists(), self.file
            path.parent.mkdir(exist_ok=True)
            path.write_text(self.code, "utf-8")
            return
        lines = path.read_text("utf-8").splitlines(keepends=True)
        (place,) = (i for i, line in enumerate(lines) if line.strip() == self.line)
        inside = self.code.startswith((" ", "from ")) or path.suffix == ".toml"
        apart = "" if inside else "\n\n"  # a function stands by itself
        lines.insert(place + self.below, self.code + apart)
        path.write_text("".join(lines), "utf-8")


def steps() -> list[Step]:
    return [
        Step(found["new"] or found["file"], found["code"], found["line"] or "",
             found["side"] == "below")
        for found in STEP.finditer(RECIPES)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project with what the recipes add; what is compiled comes along, with times of files."""
    root = tmp_path_factory.mktemp("copy")
    for name in NEEDED:
        leave = shutil.ignore_patterns("output", ".hypothesis")
        shutil.copytree(ROOT / name, root / name, ignore=leave)
    for name in ("app.py", "pyproject.toml"):
        shutil.copy2(ROOT / name, root / name)
    for step in steps():
        step.follow(root)
    return root


def call(root: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_every_piece_of_code_in_the_recipes_is_followed():
    assert RECIPES.count("```") / 2 == len(steps()) == 27
    named = set(re.findall(r"`((?:kanon|pages|tests|benchmarks)/[\w/]+\.py)`", RECIPES))
    new = {step.file for step in steps() if not step.line}
    assert [name for name in sorted(named - new) if not (ROOT / name).is_file()] == []


@pytest.mark.nightly
def test_what_is_added_appears_wherever_it_has_to(copy):
    """With the contracts of the measure, the algorithm and the architecture, in one process."""
    told = call(
        copy,
        *("pytest", "-q", "tests/support/followed_recipes.py"),
        *("tests/measures/test_measure_contracts.py", "tests/test_architecture.py", "-k"),
        "followed or changed_records or every_measure or [everything or stay_small or docstring "
        "or lower_levels",
    )
    model = "largest-share and not everything"
    every = ("-m", "nightly or not nightly", "-k", model)
    call(copy, "pytest", "-q", "tests/privacy/test_every_model.py", *every)
    passed = int(re.search(r"(\d+) passed", told)[1])
    assert passed >= 20 and "skipped" not in told, told


@pytest.mark.nightly
def test_what_is_added_passes_lint_types_and_all_contracts(copy):
    call(copy, "ruff", "check", ".")
    call(copy, "ruff", "format", "--check", ".")
    call(copy, "mypy")
    files = ["tests/measures", "tests/test_architecture.py", "tests/test_metrics.py"]
    told = call(copy, "pytest", "-q", *files, "kanon/charts/sizes.py", "kanon/metrics.py")
    assert "skipped" not in told, told


# --- pages ----------------------------------------------------------------------------------
def test_the_navigation_has_every_page_under_its_name():
    names = [name for pages in _PAGES.values() for name in pages]
    assert sorted(names) == sorted(page.stem for page in (ROOT / "pages").glob("*.py"))
    titles = {name.capitalize() for name in names}
    assert titles <= {*QUESTIONS}, "the browser tests know it by the name of its file"
