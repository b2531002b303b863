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


@pytest.mark.parametrize("folder", ["", "elsewhere"])
def test_a_changed_helper_compiles_its_callers_in_other_files(tmp_path, folder):
    root = tmp_path / "copy"
    kernels = root / "kanon" / "kernels"
    shutil.copytree(KERNELS, kernels, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "kanon" / "__init__.py").touch()
    where = str(tmp_path / folder) if folder else ""
    environment = {**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": where}

    def called() -> str:
        return subprocess.check_output(
            [sys.executable, "-c", CALL], cwd=root, env=environment, encoding="utf-8"
        ).strip()

    assert [called(), called()] == ["[2] 0", "[2] 1"]  # compiled, then kept
    helper = kernels / "ancestors.py"
    text = helper.read_text("utf-8")
    assert text.count("    return one\n") == 1
    helper.write_text(text.replace("    return one\n", "    return one + 5\n"), "utf-8")
    assert [called(), called()] == ["[7] 0", "[7] 1"]


def test_all_kernels_are_compiled_in_one_way():
    """Else what was compiled of one would be kept when another changes."""
    package = KERNELS.parent
    found = [path for path in package.rglob("*.py") if "njit" in path.read_text("utf-8")]
    assert found == [KERNELS / "compilation.py"]
