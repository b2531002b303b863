"""``measure``: measure a table as it is."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon.base.formatting import write_count, write_number
from kanon.cli.inputs import check_once, parse_columns, read_records, read_settings
from kanon.cli.options import add_json, add_missing, add_table
from kanon.errors import PlanError, quote
from kanon.measures.privacy import privacy_summary, risk_summary
from kanon.privacy.known_columns import KAmongKnown
from kanon.schema import SUPPRESSED
from kanon.sources.exposure import describe_suppressed, find_suppressed
from kanon.sources.memory import MemoryTable, build_column_classes
from kanon.sources.opening import open_table
from kanon.sources.population import count_people_in_classes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument(
        "--qi", action="append", required=True, metavar="a,b,c",
        help="the quasi-identifiers; can be repeated; put names with commas in double quotes",
    )  # fmt: skip
    parser.add_argument(
        "--sensitive", action="append", default=[], metavar="s,t",
        help="the sensitive columns, in the same form",
    )  # fmt: skip
    parser.add_argument(
        "--combine", action="store_true",
        help="also measure each sensitive column where the others are known, and all together",
    )  # fmt: skip
    parser.add_argument(
        "--known", type=int, metavar="N",
        help="also give the fewest records that share the values of any N quasi-identifiers",
    )  # fmt: skip
    parser.add_argument("--person", metavar="COLUMN", help="the column that identifies the person")
    parser.add_argument(
        "--population", type=Path, metavar="P", help="everyone who might be in the table"
    )
    add_missing(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> None:
    table = read_records(args, None)
    columns = parse_columns("--qi", args.qi, table.columns)
    sensitive = parse_columns("--sensitive", args.sensitive, table.columns)
    check_once("--qi", columns, "quasi-identifier")
    check_once("--sensitive", sensitive, "sensitive column")
    twice = [column for column in columns if column in sensitive]
    if twice:
        raise PlanError(
            f"--qi and --sensitive both name {quote(twice[0])}; a column is one or the other."
        )
    if args.person in (*columns, *sensitive):
        raise PlanError(
            f"--person: {quote(args.person)} is also named by --qi or --sensitive; a column can be "
            "only one of these."
        )
    suppressed = 0
    if SUPPRESSED not in (*columns, *sensitive):
        table, suppressed = table.remove_suppressed()
    if not args.combine:
        classes = table.build_classes(columns, sensitive, args.person)
    elif len(sensitive) < 2 or not isinstance(table, MemoryTable):
        raise PlanError("--combine needs several sensitive columns, and a table in memory.")
    else:
        classes = build_column_classes(
            table.frame, columns, sensitive, args.person, table.kinds, combines=True
        )
    suppressed_classes = find_suppressed(table, classes)
    if suppressed_classes.any():
        rows = int(classes.counts[suppressed_classes].sum())
        print(f"kanon: {describe_suppressed(rows)}", file=sys.stderr)
        classes, suppressed = classes.without(suppressed_classes), suppressed + rows
    in_persons = {"min_persons": classes.min_persons, "unique_persons": classes.unique}
    numbers: dict[str, Any] = {
        "records": classes.n_records,
        **({"suppressed": suppressed} if suppressed else {}),
        "classes": classes.n_classes,
        "min_k": classes.min_k,
        **({} if args.person is None else in_persons),
        "unique_records": classes.unique_records,
        **privacy_summary(classes),
    }
    if args.known is not None:
        model = KAmongKnown(k=2, known=args.known)
        numbers |= {"known": args.known, "min_k_known": model.compute_level(classes)}
    if args.population:
        if not isinstance(table, MemoryTable):
            raise PlanError("--population needs a table in memory; leave --engine out.")
        settings = replace(read_settings(args), footer=None)
        people = open_table(args.population, args.population.name, settings).table
        numbers |= risk_summary(
            classes, count_people_in_classes(table.frame, people, columns)[~suppressed_classes]
        )
    print(json.dumps(numbers) if args.json else "\n".join(_format_lines(numbers)))


def _format_lines(numbers: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, number in numbers.items():
        if isinstance(number, Mapping):
            yield from _format_lines(number, f"{above}{name} ")
        elif number is None:
            yield f"{above}{name}: ∞"
        else:
            text = write_count(number) if isinstance(number, int) else write_number(number)
            yield f"{above}{name}: {text}"
