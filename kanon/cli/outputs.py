"""Whether what a command is to write can be written, and overwrites nothing that it reads."""

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from kanon.errors import PlanError, quoted
from kanon.hierarchy.plans import file_of
from kanon.plan import Plan
from kanon.sources.addresses import Address
from kanon.sources.writing import check_replaceable


def check_files(given: argparse.Namespace, plan: Plan, *written: Path | None) -> None:
    """No file may overwrite another one, and what could not be written is not worth computing."""
    outputs = [path for path in written if path is not None]
    check_written(given, outputs)
    named = [file_of(each.hierarchy) for each in plan.columns.values()]
    hierarchies = [given.plan.parent / name for name in named if name]  # columns may share one
    tables = [] if given.table.is_url else [given.table.path]
    what = "the plan, the table, hierarchies and what is written"
    also = ("words", "context", "last", "population", "release")
    read = [path for name in also if (path := getattr(given, name, None)) is not None]
    check_different([given.plan, *tables, *read, *outputs], hierarchies, what)


def check_written(given: argparse.Namespace, outputs: Sequence[Path]) -> None:
    for path in outputs:
        check_replaceable(path)
        if not _writable(path):
            raise PlanError(
                f"{quoted(path.name)} cannot be written there: the folder around it has to exist "
                "and to allow writing, the disk to have room, and a folder of that name has to be "
                "empty."
            )
    for path in outputs:
        given.written.watch(path, partial(_stamp, path))


def check_new_table(given: argparse.Namespace, target: Address) -> None:
    from kanon.sources.engines import duckdb  # which may be missing where no table needs it

    duckdb.check_new_table(target)
    given.written.watch(target.path, partial(duckdb.has_table, target), target.shown)


def check_different(paths: Sequence[Path], known: Sequence[Path], what: str) -> None:
    seen = list(known)
    for path in paths:
        if any(_one_file(path, other) for other in seen):
            raise PlanError(
                f"{quoted(path.name)} is named for two things; {what} have to be different files."
            )
        seen.append(path)


def _writable(path: Path) -> bool:
    try:
        _stamp(path)
        if path.is_dir() and any(path.iterdir()):
            return False
        with tempfile.TemporaryFile(dir=path.absolute().parent, buffering=0) as trial:
            trial.write(bytes(4096))  # a full disk may still take a name
    except (OSError, RuntimeError, ValueError):  # no right, a name too long, links in a circle, …
        return False
    return True


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What tells a file from any that replaces it; None where none is."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _one_file(path: Path, other: Path) -> bool:
    """Whether two names lead to one file, as hard links do."""
    try:
        return path.resolve() == other.resolve() or path.samefile(other)
    except (OSError, RuntimeError, ValueError):  # one of them does not exist, or cannot
        return False
