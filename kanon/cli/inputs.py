"""What commands read: plan, table, population, lists of names; and what they may write."""

import argparse
import csv
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path

import pandas as pd

from kanon.cli.messages import build_notifier
from kanon.errors import PlanError, quote
from kanon.hierarchy.plans import get_hierarchy_file
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.report.words import PUBLISHABLE_FIGURES
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address, open_table
from kanon.sources.read_settings import ReadPlan, ReadSettings
from kanon.sources.tables import Table
from kanon.sources.writing import check_replaceable, write_whole


def read_plan(args: argparse.Namespace) -> Plan:
    plan = Plan.load(args.plan)
    if args.seed is None:
        return plan
    content = plan.model_dump(mode="json", exclude_none=True)
    content["algorithm"]["seed"] = args.seed
    return Plan.from_content(content)


def read_records(
    args: argparse.Namespace, plan: Plan | None, address: Address | None = None
) -> Table:
    read = ReadPlan() if plan is None else plan.read
    return open_address(
        address or args.table, args.engine, read_settings(args, read), build_notifier(args)
    )


def read_settings(args: argparse.Namespace, read: ReadPlan | None = None) -> ReadSettings:
    read = read or ReadPlan()
    markers = read.missing_markers
    if (texts := getattr(args, "missing", None)) is not None:
        markers = [marker for text in texts for marker in _split_list("--missing", text)]
    if (args.footer or 0) < 0:
        raise PlanError(f"--footer: {args.footer} is not allowed; give a number of rows, or 0.")
    return ReadSettings(
        separator=args.sep or read.separator,
        encoding=read.encoding,
        missing_markers=None if markers is None else tuple(markers),
        sheet=args.sheet or read.sheet,
        header=read.header if args.header is None else args.header == "yes",
        footer=read.footer if args.footer is None else args.footer,
    )


def read_people(args: argparse.Namespace, context: Context | None) -> pd.DataFrame | None:
    if args.population is None:
        return None
    attacked = getattr(args, "attack", False)
    if not attacked and (context is None or context.attacker != "journalist"):
        raise PlanError(
            '--population needs a context with "attacker": "journalist", who does not know whether '
            "a person is in the table."
        )
    settings = replace(read_settings(args), sheet=None)
    return open_table(args.population, args.population.name, settings).table


def read_publish(args: argparse.Namespace, option: str) -> list[str]:
    names = split_at_commas(args.publish)
    if names and not getattr(args, option.strip("-")):
        raise PlanError(f"--publish goes with {option}; add it, or leave --publish out.")
    for name in {*names} - {*PUBLISHABLE_FIGURES}:
        raise PlanError(
            f"--publish: {quote(name)} is unknown; choose from {', '.join(PUBLISHABLE_FIGURES)}."
        )
    return names


def split_at_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_columns(option: str, texts: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns that an option names: each text is one column, or several with commas.

    >>> parse_columns("--qi", ["City, State", 'age,"a,b"'], ["City, State", "age", "a,b"])
    ['City, State', 'age', 'a,b']
    """
    columns: list[str] = []
    for text in texts:
        columns += [text.strip()] if text.strip() in known else _split_list(option, text)
    absent = [column for column in columns if column not in known]
    commas = [column for column in known if "," in column]
    if absent and commas:
        raise PlanError(
            f"{option}: the table has no column {quote(absent[0])}; put a name with a comma, "
            f"such as {quote(commas[0])}, in double quotes, or give {option} once per column."
        )
    return columns


def _split_list(option: str, text: str) -> list[str]:
    """Split a list at its commas; a part with a comma is in double quotes."""
    try:
        parts = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise PlanError(f"{option}: a quote in {quote(text)} is not closed.") from None
    return [part.strip() for part in parts if part.strip()]


def parse_share(option: str, text: str) -> float:
    """A share as a percentage, a number or a fraction: 5%, 0.05 or 1/20."""
    number, _, parts = text.strip().removesuffix("%").partition("/")
    advice = "give a percentage such as 5%, a number such as 0.05 or a fraction such as 1/20"
    try:
        # As decimals, since 1.1 / 100 is a little more than 0.011.
        share = float(Decimal(number).scaleb(-2 if "%" in text else 0)) / float(parts or 1)
    except (ValueError, ArithmeticError):
        raise PlanError(f"{option}: {quote(text)} is not a share; {advice}.") from None
    if 0 < share < 1e-15:
        raise PlanError(f"{option}: {quote(text)} is too small to differ from 0; {advice}.")
    return share


def check_once(option: str, columns: Sequence[str], what: str) -> None:
    if len(set(columns)) < len(columns):
        raise PlanError(f"{option} names a column twice; name each {what} once.")


def write_csv(table: pd.DataFrame, path: Path) -> None:
    write_whole(table.to_csv(index=False, lineterminator="\n").encode("utf-8"), path)


def check_files(args: argparse.Namespace, plan: Plan, *written: Path | None) -> None:
    """Check that no file overwrites another one and that all can be written, before computing."""
    outputs = [path for path in written if path is not None]
    check_output_files(args, outputs)
    named = [get_hierarchy_file(column.hierarchy) for column in plan.columns.values()]
    hierarchies = [args.plan.parent / name for name in named if name]  # columns may share one
    tables = [] if args.table.is_url else [args.table.path]
    description = "the plan, the table, hierarchies and the output"
    options = ("words", "context", "last", "population", "release", "intruder")
    read = [path for name in options if (path := getattr(args, name, None)) is not None]
    check_different([args.plan, *tables, *read, *outputs], hierarchies, description)


def check_output_files(args: argparse.Namespace, outputs: Sequence[Path]) -> None:
    for path in outputs:
        check_replaceable(path)
        if not _is_writable(path):
            raise PlanError(
                f"{quote(path.name)} cannot be written there: its folder has to exist and allow "
                "writing, the disk needs room, and a folder of that name has to be empty."
            )
    for path in outputs:
        args.outputs.watch(path, partial(_get_stamp, path))


def check_new_table(args: argparse.Namespace, target: Address) -> None:
    from kanon.sources.engines import duckdb  # which may be missing where no table needs it

    duckdb.check_new_table(target)
    args.outputs.watch(target.path, partial(duckdb.has_table, target), target.shown)


def check_different(paths: Sequence[Path], seen_before: Sequence[Path], what: str) -> None:
    seen = list(seen_before)
    for path in paths:
        if any(_is_same_file(path, other) for other in seen):
            raise PlanError(
                f"{quote(path.name)} is named for two purposes; {what} have to be different files."
            )
        seen.append(path)


def _is_writable(path: Path) -> bool:
    try:
        _get_stamp(path)
        if path.is_dir() and any(path.iterdir()):
            return False
        with tempfile.TemporaryFile(dir=path.absolute().parent, buffering=0) as trial:
            trial.write(bytes(4096))  # a full disk may still take a name
    except (OSError, RuntimeError, ValueError):  # no right, a name too long, links in a circle, …
        return False
    return True


def _get_stamp(path: Path) -> tuple[int, ...] | None:
    """Numbers that change when another file replaces this one; None without a file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _is_same_file(path: Path, other: Path) -> bool:
    """Whether two names lead to one file, as hard links do."""
    try:
        return path.resolve() == other.resolve() or path.samefile(other)
    except (OSError, RuntimeError, ValueError):  # one of them does not exist, or cannot
        return False
