"""``measure``: measure a table as it is."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon.base.formatting import thin, write_number
from kanon.cli.inputs import check_once, columns_of, read_records, read_settings
from kanon.cli.options import add_json, add_missing, add_table
from kanon.errors import PlanError, quoted
from kanon.measures.privacy import privacy_summary, risk_summary
from kanon.schema import SUPPRESSED
from kanon.sources.exposure import describe_suppressed, find_suppressed
from kanon.sources.memory import MemoryTable
from kanon.sources.opening import open_table
from kanon.sources.population import people_in_classes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument(
        "--qi", action="append", required=True, metavar="a,b,c",
        help="the quasi-identifiers; may be repeated, and names with commas stand in double quotes",
    )  # fmt: skip
    parser.add_argument(
        "--sensitive", action="append", default=[], metavar="s,t",
        help="the sensitive columns, written likewise",
    )  # fmt: skip
    parser.add_argument(
        "--person", metavar="COLUMN", help="the column that says which records are of one person"
    )
    parser.add_argument(
        "--population", type=Path, metavar="P", help="everybody who might be in the table"
    )
    add_missing(parser)
    add_json(parser)


def execute(given: argparse.Namespace) -> None:
    table = read_records(given, None)
    columns = columns_of("--qi", given.qi, table.columns)
    sensitive = columns_of("--sensitive", given.sensitive, table.columns)
    check_once("--qi", columns, "quasi-identifier")
    check_once("--sensitive", sensitive, "sensitive column")
    twice = [column for column in columns if column in sensitive]
    if twice:
        raise PlanError(
            f"--qi and --sensitive both name {quoted(twice[0])}; a column is one or the other."
        )
    if given.person in (*columns, *sensitive):
        raise PlanError(
            f"--person: {quoted(given.person)} is named by --qi or --sensitive too; a column is "
            "one of these."
        )
    suppressed = 0
    if SUPPRESSED not in (*columns, *sensitive):
        table, suppressed = table.without_suppressed()
    found = table.classes_of(columns, sensitive, given.person)
    silent = find_suppressed(table, found)
    if silent.any():
        rows = int(found.counts[silent].sum())
        print(f"kanon: {describe_suppressed(rows)}", file=sys.stderr)
        found, suppressed = found.without(silent), suppressed + rows
    in_persons = {"min_persons": found.min_persons, "unique_persons": found.unique}
    numbers: dict[str, Any] = {
        "records": found.n_records,
        **({"suppressed": suppressed} if suppressed else {}),
        "classes": found.n_classes,
        "min_k": found.min_k,
        **({} if given.person is None else in_persons),
        "unique_records": found.unique_records,
        **privacy_summary(found),
    }
    if given.population:
        if not isinstance(table, MemoryTable):
            raise PlanError("--population needs a table in memory; leave --engine out.")
        settings = replace(read_settings(given), footer=None)
        people = open_table(given.population, given.population.name, settings).table
        numbers |= risk_summary(found, people_in_classes(table.frame, people, columns)[~silent])
    print(json.dumps(numbers) if given.json else "\n".join(_lines(numbers)))


def _lines(numbers: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, number in numbers.items():
        if isinstance(number, Mapping):
            yield from _lines(number, f"{above}{name} ")
        elif number is None:
            yield f"{above}{name}: ∞"
        else:
            shown = thin(number) if isinstance(number, int) else write_number(number)
            yield f"{above}{name}: {shown}"
