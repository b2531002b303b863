"""What commands read: plan, table, population, lists of names; and where they may write."""

import argparse
import csv
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from kanon.cli.messages import notify
from kanon.errors import PlanError, quoted
from kanon.hierarchy.plans import file_of
from kanon.plan import Plan, ReadPlan
from kanon.release.context import Context
from kanon.report.words import FIGURES
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address, open_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.tables import Table
from kanon.sources.writing import check_replaceable


def read_plan(given: argparse.Namespace) -> Plan:
    plan = Plan.load(given.plan)
    if given.seed is None:
        return plan
    content = plan.model_dump(mode="json", exclude_none=True)
    content["algorithm"]["seed"] = given.seed
    return Plan.from_content(content)


def read_records(
    given: argparse.Namespace, plan: Plan | None, address: Address | None = None
) -> Table:
    read = ReadPlan() if plan is None else plan.read
    return open_address(
        address or given.table, given.engine, read_settings(given, read), notify(given)
    )


def read_settings(given: argparse.Namespace, read: ReadPlan | None = None) -> ReadSettings:
    read = read or ReadPlan()
    markers = read.missing_markers
    if (texts := getattr(given, "missing", None)) is not None:
        markers = [marker for text in texts for marker in _split("--missing", text)]
    if (given.footer or 0) < 0:
        raise PlanError(f"--footer: {given.footer} is not allowed; give a number of rows, or 0.")
    return ReadSettings(
        separator=given.sep or read.separator,
        encoding=read.encoding,
        missing_markers=None if markers is None else tuple(markers),
        sheet=given.sheet or read.sheet,
        header=read.header if given.header is None else given.header == "yes",
        footer=read.footer if given.footer is None else given.footer,
    )


def read_people(given: argparse.Namespace, context: Context | None) -> pd.DataFrame | None:
    if given.population is None:
        return None
    if context is None or context.attacker != "journalist":
        raise PlanError(
            '--population counts in a context with "attacker": "journalist" alone, who does not '
            "know who is in the table."
        )
    settings = replace(read_settings(given), sheet=None)
    return open_table(given.population, given.population.name, settings).table


def read_publish(given: argparse.Namespace, option: str) -> list[str]:
    names = parts_of_list(given.publish)
    if names and not getattr(given, option.strip("-")):
        raise PlanError(f"--publish goes with {option}; add it, or leave --publish out.")
    for name in {*names} - {*FIGURES}:
        raise PlanError(f"--publish: {quoted(name)} is unknown; known are {', '.join(FIGURES)}.")
    return names


def parts_of_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def columns_of(option: str, texts: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns that an option names: each text is one of the table, or several with commas.

    >>> columns_of("--qi", ["City, State", 'age,"a,b"'], ["City, State", "age", "a,b"])
    ['City, State', 'age', 'a,b']
    """
    columns: list[str] = []
    for text in texts:
        columns += [text.strip()] if text.strip() in known else _split(option, text)
    absent = [column for column in columns if column not in known]
    commas = [column for column in known if "," in column]
    if absent and commas:
        raise PlanError(
            f"{option}: the table has no column {quoted(absent[0])}; put a name with a comma, "
            f"such as {quoted(commas[0])}, in double quotes, or give {option} once per column."
        )
    return columns


def _split(option: str, text: str) -> list[str]:
    """The parts of a list with commas between; those that have one stand in double quotes."""
    try:
        parts = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise PlanError(f"{option}: a quote in {quoted(text)} is not closed.") from None
    return [part.strip() for part in parts if part.strip()]


def check_once(option: str, columns: Sequence[str], what: str) -> None:
    if len(set(columns)) < len(columns):
        raise PlanError(f"{option} names a column twice; name each {what} once.")


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
