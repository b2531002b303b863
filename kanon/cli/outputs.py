"""Whether what a command is to write can be written, and overwrites nothing that it reads."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kanon.errors import PlanError, quoted
from kanon.plan import Plan
from kanon.sources.writing import check_replaceable


def check_files(given: argparse.Namespace, plan: Plan, *written: Path | None) -> None:
    """No file may overwrite another one, and what could not be written is not worth computing."""
    outputs = [path for path in written if path is not None]
    check_written(outputs)
    named = [each.hierarchy for each in plan.columns.values() if isinstance(each.hierarchy, str)]
    hierarchies = [given.plan.parent / name for name in named]  # columns may share one
    tables = [] if given.table.is_url else [given.table.path]
    what = "the plan, the table, hierarchies and what is written"
    also = [getattr(given, name, None) for name in ("words", "context", "population")]
    read = [path for path in also if path is not None]
    check_different([given.plan, *tables, *read, *outputs], hierarchies, what)


def check_written(outputs: Sequence[Path]) -> None:
    """What could not be written is not worth computing."""
    for path in outputs:
        check_replaceable(path)
        if not _writable(path):
            raise PlanError(
                f"{quoted(path.name)} cannot be written there: the folder around it has to exist "
                "and to allow writing, and a folder of that name has to be empty."
            )


def check_different(paths: Sequence[Path], known: Sequence[Path], what: str) -> None:
    """No file may stand for two things, nor one of ``paths`` for one of ``known``."""
    seen = list(known)
    for path in paths:
        if any(_one_file(path, other) for other in seen):
            raise PlanError(
                f"{quoted(path.name)} is named for two things; {what} have to be different files."
            )
        seen.append(path)


def _writable(path: Path) -> bool:
    try:
        taken = path.resolve(strict=False).is_dir() and any(path.iterdir())
        return path.absolute().parent.is_dir() and not taken
    except (OSError, RuntimeError):  # no right to look there, a name too long, links in a circle
        return False


def _one_file(path: Path, other: Path) -> bool:
    """Whether two names lead to one file, as hard links do."""
    try:
        return path.resolve() == other.resolve() or path.samefile(other)
    except (OSError, RuntimeError):  # one of them does not exist
        return False
