"""What is compiled is kept, until any kernel changes: Numba looks at a kernel's own file alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kanon.kernels

KERNELS = Path(kanon.kernels.__file__).parent
CALL = """
import numpy as np
from kanon.kernels.mondrian import common_ancestors
parents, nodes, starts = (np.array(each) for each in ([2, 2, -1], [0, 1], [0]))
print(common_ancestors(parents, nodes, starts), sum(common_ancestors.stats.cache_hits.values()))
"""


EXAMPLE = """
from typing import NamedTuple

from kanon.kernels.compilation import loop


class Pair(NamedTuple):
    first: int
    second: int


@loop
def total(pair):
    return pair.first + pair.second
"""
CALL_EXAMPLE = """
from kanon.kernels import example
print(example.total(example.Pair(1, 2)), sum(example.total.stats.cache_hits.values()))
"""


@pytest.fixture(params=["", "elsewhere"])
def copy(tmp_path, request):
    """A copy of the kernels, and what a new process prints that calls one of them."""
    root = tmp_path / "copy"
    kernels = root / "kanon" / "kernels"
    shutil.copytree(KERNELS, kernels, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "kanon" / "__init__.py").touch()
    where = str(tmp_path / request.param) if request.param else ""
    environment = {**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": where}

    def called(code: str) -> str:
        return subprocess.check_output(
            [sys.executable, "-c", code], cwd=root, env=environment, encoding="utf-8"
        ).strip()

    return kernels, called


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_a_changed_helper_compiles_its_callers_in_other_files(copy):
    kernels, called = copy
    assert [called(CALL), called(CALL)] == ["[2] 0", "[2] 1"]  # compiled, then kept
    replace_once(kernels / "ancestors.py", "    return one\n", "    return one + 5\n")
    assert [called(CALL), called(CALL)] == ["[7] 0", "[7] 1"]


def test_a_class_with_a_new_name_compiles_what_takes_it(copy):
    """What was kept names the class that is gone."""
    kernels, called = copy
    (kernels / "example.py").write_text(EXAMPLE, "utf-8")
    assert [called(CALL_EXAMPLE), called(CALL_EXAMPLE)] == ["3 0", "3 1"]
    replace_once(kernels / "example.py", "class Pair", "class Couple")
    assert called(CALL_EXAMPLE.replace("Pair", "Couple")) == "3 0"


def test_all_kernels_are_compiled_in_one_way():
    """Else what was compiled of one would be kept when another changes."""
    package = KERNELS.parent
    found = [path for path in package.rglob("*.py") if "njit" in path.read_text("utf-8")]
    assert found == [KERNELS / "compilation.py"]
