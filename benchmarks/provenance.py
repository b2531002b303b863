"""What a page was made with."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks.fresh import ROOT

__all__ = ["commit", "machine", "made"]


def machine() -> str:
    """The processor, cores and memory, and how busy the machine is."""
    return f"{_processor()}, {os.cpu_count()} cores, {_memory()}{_load()}"


def made(page: Path, *packages: str) -> list[str]:
    """Lines of a list: the versions, the date and the commit."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return [
        f"- {platform.system()}, Python {platform.python_version()}, {versions}",
        f"- Date: {date.today():%Y-%m-%d}; commit {commit(page)}",
    ]


def commit(*written: Path) -> str:
    """The commit, and whether the tree differs from it other than in what is written."""

    def git(*arguments: str) -> str:
        process = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return process.stdout.strip() if process.returncode == 0 else ""

    beside = [f":!{path.relative_to(ROOT).as_posix()}" for path in written]
    changed = git("status", "--porcelain", "--", ".", *beside)
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (
        " with uncommitted changes" if changed else ""
    )


def _load() -> str:
    """How busy the machine is before anything is timed; Windows does not say."""
    return f", load average {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    lines: Iterable[str] = file.read_text("utf-8").splitlines() if file.exists() else ()
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _memory() -> str:
    if not hasattr(os, "sysconf"):
        return "memory unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB of memory"
