"""What is compiled is kept, until any kernel changes: Numba looks at a kernel's own file alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

import kanon.kernels
from kanon.kernels.ancestors import lca

KERNELS = Path(kanon.kernels.__file__).parent
PACKAGE = KERNELS.parent
CALL = """
import numpy as np
from kanon.kernels.mondrian import find_common_ancestors
parents, nodes, starts = (np.array(each) for each in ([2, 2, -1], [0, 1], [0]))
found = find_common_ancestors(parents, nodes, starts)
print(found, sum(find_common_ancestors.dispatcher.stats.cache_hits.values()))
"""


EXAMPLE = """
from typing import NamedTuple

from kanon.kernels.compilation import kernel


class Pair(NamedTuple):
    first: int
    second: int


@kernel(seconds=1)
def total(pair):
    return pair.first + pair.second
"""
CALL_EXAMPLE = """
from kanon.kernels import example
found = example.total(example.Pair(1, 2))
print(found, sum(example.total.dispatcher.stats.cache_hits.values()))
"""


@pytest.fixture
def root(tmp_path):
    """Where a copy of the package is."""
    root = tmp_path / "copy"
    shutil.copytree(PACKAGE, root / "kanon", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(params=["", pytest.param("elsewhere", marks=pytest.mark.nightly)])
def copy(tmp_path, root, request):
    """A copy of the kernels, and what a new process prints that calls one of them."""
    kernels = root / "kanon" / "kernels"
    where = str(tmp_path / request.param) if request.param else ""
    return kernels, lambda code: said(start(root, code, NUMBA_CACHE_DIR=where))


def start(root: Path, code: str, **variables: str) -> subprocess.Popen[str]:
    """A new process that runs code on a copy of the package."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": "", "PYTHONPATH": str(root), **variables}
    command = [sys.executable, "-c", code]
    return subprocess.Popen(
        command, cwd=root, env=environment, encoding="utf-8", stdout=subprocess.PIPE
    )


def said(process: subprocess.Popen[str]) -> str:
    printed, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    return printed.strip()


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.nightly
def test_a_changed_helper_compiles_its_callers_in_other_files(copy):
    kernels, called = copy
    assert [called(CALL), called(CALL)] == ["[2] 0", "[2] 1"]  # compiled, then kept
    replace_once(kernels / "ancestors.py", "    return node\n", "    return node + 5\n")
    assert [called(CALL), called(CALL)] == ["[7] 0", "[7] 1"]


@pytest.mark.nightly
def test_a_class_with_a_new_name_compiles_what_takes_it(copy):
    """What was kept names the class that is gone."""
    kernels, called = copy
    (kernels / "example.py").write_text(EXAMPLE, "utf-8")
    assert [called(CALL_EXAMPLE), called(CALL_EXAMPLE)] == ["3 0", "3 1"]
    replace_once(kernels / "example.py", "class Pair", "class Couple")
    assert called(CALL_EXAMPLE.replace("Pair", "Couple")) == "3 0"


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(len(content) // 3, len(content), 97):
        content[place] ^= 0x10
    path.write_bytes(content)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def make_folder(path: Path) -> None:
    path.unlink()
    (path / "in").mkdir(parents=True)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(damage, marks=pytest.mark.nightly)
        for damage in (cut, empty, flip, lengthen, make_folder, Path.unlink)
    ],
)
def test_a_damaged_file_is_compiled_and_written_anew(root, damage):
    assert said(start(root, CALL)) == "[2] 0"
    for kind in ("nbi", "nbc"):
        paths = sorted((root / "kanon" / "kernels" / "__pycache__").glob(f"*.{kind}"))
        assert paths
        for path in paths:
            damage(path)
        assert [said(start(root, CALL)) for _ in range(2)] == ["[2] 0", "[2] 1"]
        assert all(path.is_file() for path in paths)


@pytest.mark.nightly
def test_a_folder_in_the_place_of_a_lock_ends_no_run(root):
    said(start(root, CALL))
    (index,) = (root / "kanon" / "kernels" / "__pycache__").glob(
        "mondrian.find_common_ancestors*.nbi"
    )
    index.unlink()
    Path(f"{index}.lock").unlink(missing_ok=True)
    Path(f"{index}.lock").mkdir()
    assert [said(start(root, CALL)) for _ in range(2)] == ["[2] 0", "[2] 1"]


COUNT = """
from kanon.kernels.ancestors import lca
print(*(sum(each.dispatcher.stats.cache_misses.values()) for each in (find_common_ancestors, lca)))
"""


@pytest.mark.nightly
def test_two_processes_at_once_compile_each_function_once(root):
    both = [start(root, CALL + COUNT) for _ in range(2)]
    compiled = [said(process).splitlines()[1].split() for process in both]
    assert [sum(map(int, counts)) for counts in zip(*compiled, strict=True)] == [1, 1]


TOLD = """
from kanon.base.progress import report_preparation
with report_preparation(lambda fraction, text: print(text, flush=True)):
""" + CALL.replace("\n", "\n    ")


@pytest.mark.nightly
def test_who_waits_is_told_while_another_process_compiles(root):
    cache = root / "kanon" / "kernels" / "__pycache__"
    said(start(root, CALL))
    (index,) = cache.glob("mondrian.find_common_ancestors*.nbi")
    index.unlink()
    with FileLock(f"{index}.lock"):
        waiting = start(root, TOLD)
        assert waiting.stdout is not None
        told = [waiting.stdout.readline() for _ in range(3)]  # for as long as it waits
        assert told == ["Preparing this algorithm once, about 1 s\n"] * 3
        assert not list(cache.glob(index.name))
    assert "[2] 0" in said(waiting)
    assert said(start(root, TOLD)) == "[2] 1"  # nothing to be told of


@pytest.mark.nightly
def test_where_nothing_can_be_kept_it_is_compiled_at_each_start(tmp_path, root):
    file = tmp_path / "file"
    for path in (file, root / "kanon" / "kernels" / "__pycache__"):
        path.touch()
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), str(file))
    assert [said(start(root, CALL, **nowhere)) for _ in range(2)] == ["[2] 0"] * 2


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
def test_where_the_package_cannot_be_written_it_is_kept_in_the_users_cache(tmp_path, root):
    (root / "kanon" / "kernels" / "__pycache__").touch()
    users = {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "NUMBA_CACHE_DIR": "",
    }
    assert [said(start(root, CALL, **users)) for _ in range(2)] == ["[2] 0", "[2] 1"]
    assert list((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.nightly
def test_that_all_is_compiled_is_noted_until_a_kernel_changes(root):
    known = "from kanon.kernels.dispatchers import *; print(is_everything_cached())"
    note = "from kanon.kernels.dispatchers import *; mark_everything_cached()"
    assert said(start(root, known)) == "False"
    said(start(root, note))
    assert said(start(root, known)) == "True"
    with (root / "kanon" / "kernels" / "heap.py").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert said(start(root, known)) == "False"


def test_what_kernels_alone_call_python_cannot():
    with pytest.raises(TypeError, match="lca is a loop"):
        lca(np.array([1, -1]), 0, 1)


def test_all_kernels_are_compiled_in_one_way():
    """Else what was compiled of one would be kept when another changes."""
    found = [path for path in PACKAGE.rglob("*.py") if "from numba" in path.read_text("utf-8")]
    assert found == [KERNELS / "dispatchers.py"]
