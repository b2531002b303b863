"""Take compiled kernels from an earlier clone, or keep them for the next: ``make test``.

Numba's files hold for the same sources, Python, Numba and processor; a folder per hash of these.
"""

import hashlib
import platform
import shutil
import sys
from pathlib import Path

import llvmlite.binding
import numba

SOURCES = Path(__file__).resolve().parents[2] / "kanon" / "kernels"
STORE = Path.home() / ".cache" / "kanon" / "kernels"
KEPT = 4  # the newest folders; older ones go


def folder() -> Path:
    """Where the kernels of these sources are kept."""
    machine = (platform.python_version(), numba.__version__, llvmlite.binding.get_host_cpu_name())
    found = hashlib.sha256("|".join(machine).encode())
    for path in sorted(SOURCES.glob("*.py")):
        found.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return STORE / found.hexdigest()[:16]


def fetch() -> None:
    """Copy what was compiled before; what is damaged or lacking Numba compiles anew."""
    for path in folder().glob("*.nb[ic]"):
        (SOURCES / "__pycache__").mkdir(exist_ok=True)
        shutil.copy2(path, SOURCES / "__pycache__")


def keep() -> None:
    """Keep what is compiled now."""
    folder().mkdir(parents=True, exist_ok=True)
    for path in (SOURCES / "__pycache__").glob("*.nb[ic]"):
        shutil.copy2(path, folder())
    by_age = sorted(STORE.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in by_age[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    {"fetch": fetch, "keep": keep}[sys.argv[1]]()
