"""What a page was made with."""

from __future__ import annotations

import platform
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks.fresh import ROOT

__all__ = ["made"]


def made(page: Path, *packages: str) -> list[str]:
    """Lines of a list: the versions, the date and the commit."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return [
        f"- {platform.system()}, Python {platform.python_version()}, {versions}",
        f"- Date: {date.today():%Y-%m-%d}; commit {_commit(page)}",
    ]


def _commit(page: Path) -> str:
    """The commit, and whether the tree differs from it other than in the page itself."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = git("status", "--porcelain", "--", ".", f":!{page.relative_to(ROOT).as_posix()}")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (
        " with uncommitted changes" if changed else ""
    )
