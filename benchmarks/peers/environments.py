"""Environments of other tools: made under build/peers, with fixed versions from PyPI."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.case import CaseError
from benchmarks.fresh import ROOT, in_fresh_process

__all__ = ["PEERS", "ask", "make_environments"]

PEERS: Mapping[str, str] = {
    "pycanon": "pycanon==1.3.6",
    "anjana": "anjana==1.2.3",
    "anonypyx": "anonypyx==0.2.11",
    "lighthouse": "project-lighthouse-anonymize==1.0.0",
    "anonymeter": "anonymeter==1.1.0",
}
"""What is installed, by the module of benchmarks/others that runs it."""


def make_environments() -> None:
    """Install what is not there yet; a CaseError says what cannot be installed."""
    for peer, package in PEERS.items():
        ready = ROOT / "build" / "peers" / peer / package
        if ready.exists():
            continue
        print(f"{package} …", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(ready.parent)], check=True)
        if subprocess.run([_find_python(peer), "-m", "pip", "install", "-q", package]).returncode:
            raise CaseError(f"{package} cannot be installed with this Python: see above.")
        ready.touch()


def ask(peer: str, function: str, *arguments: Any) -> Any:
    """What a function of benchmarks/others returns in the environment of a peer."""
    module = f"benchmarks.others.with_{peer}"
    return in_fresh_process(module, function, *arguments, python=_find_python(peer))[0]


def _find_python(peer: str) -> str:
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    return str(ROOT / "build" / "peers" / peer / scripts / "python")
