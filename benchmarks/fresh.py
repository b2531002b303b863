"""Run a function in a process of its own, and learn how much memory it took at most.

``python -m benchmarks.fresh MODULE FUNCTION ARGUMENTS`` is what the process is started as.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "in_fresh_process", "peak_megabytes"]

ROOT = Path(__file__).resolve().parent.parent


def peak_megabytes() -> float:
    """The most memory that this process held at once so far, in MB (10^6 bytes)."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: on Linux a process inherits it from the one that started it.
        lines = status.read_text("ascii", errors="replace").splitlines()
        (line,) = (line for line in lines if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


def in_fresh_process(
    module: str, function: str, *arguments: Any, python: str = sys.executable
) -> tuple[Any, float]:
    """Call a function in a process of its own.

    Parameters
    ----------
    module, function
        Where it is.
    arguments
        What it is given; goes through JSON.
    python
        The Python that runs it: that of another environment has to have what the module imports.

    Returns
    -------
    result
        What it returned; came through JSON.
    peak
        The most memory that its process held at once, in MB.
    """
    command = [python, "-m", "benchmarks.fresh", module, function, json.dumps(arguments)]
    process = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    answer = json.loads(process.stdout)
    return answer["result"], answer["peak"]


if __name__ == "__main__":
    _, named, called, given = sys.argv
    returned = getattr(importlib.import_module(named), called)(*json.loads(given))
    print(json.dumps({"result": returned, "peak": peak_megabytes()}))
