"""``measure``: measure a table as it is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kanon.base.formatting import thin
from kanon.cli.inputs import check_once, parts_of_list
from kanon.cli.options import add_json, add_table
from kanon.errors import PlanError, quoted
from kanon.measures.privacy import privacy_summary, risk_summary
from kanon.schema import SUPPRESSED
from kanon.sources.memory import MemoryTable
from kanon.sources.opening import open_address, open_table
from kanon.sources.people import people_in_classes
from kanon.sources.reading import ReadSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_table(parser)
    parser.add_argument("--qi", required=True, metavar="a,b,c", help="the quasi-identifiers")
    parser.add_argument(
        "--sensitive", action="append", default=[], metavar="s,t", help="the sensitive columns"
    )
    parser.add_argument(
        "--person", metavar="COLUMN", help="the column that says which records are of one person"
    )
    parser.add_argument(
        "--population", type=Path, metavar="P", help="everybody who might be in the table"
    )
    add_json(parser)


def execute(given: argparse.Namespace) -> None:
    """Execute the command."""
    settings = ReadSettings(separator=given.sep, sheet=given.sheet)
    table = open_address(given.table, given.engine, settings)
    columns, sensitive = parts_of_list(given.qi), parts_of_list(",".join(given.sensitive))
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
        people = open_table(given.population, given.population.name, settings).table
        numbers |= risk_summary(found, people_in_classes(table.frame, people, columns))
    print(json.dumps(numbers) if given.json else "\n".join(_lines(numbers)))


def _lines(numbers: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """A line per number, those within others after the names of what they are in."""
    for name, number in numbers.items():
        if isinstance(number, Mapping):
            yield from _lines(number, f"{above}{name} ")
        elif number is None:
            yield f"{above}{name}: ∞"
        else:
            shown = thin(number) if isinstance(number, int) else f"{number:.4g}"
            yield f"{above}{name}: {shown}"
