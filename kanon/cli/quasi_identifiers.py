"""``quasi-identifiers``: the smallest sets of columns that single records or persons out."""

import argparse
import json
from functools import partial
from pathlib import Path

from kanon.cli.inputs import check_once, parse_columns, parse_share, read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_json, add_missing, add_progress, add_table
from kanon.errors import list_names
from kanon.plan import Plan
from kanon.schema import SUPPRESSED, Role
from kanon.sources.singling_out import singling_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument(
        "--columns", action="append", metavar="a,b,c",
        help="the columns to examine, by default all; can be repeated; put names with commas in "
        "double quotes",
    )  # fmt: skip
    parser.add_argument(
        "--plan", type=Path, metavar="PLAN.json",
        help="leave out the plan's identifiers, list its insensitive columns that are in such a "
        "set, and count persons if the plan does",
    )  # fmt: skip
    parser.add_argument(
        "--person", metavar="COLUMN",
        help="count persons: the column that identifies the person; by default the plan's",
    )  # fmt: skip
    parser.add_argument(
        "--share", type=partial(parse_share, "--share"), default="5%", metavar="5%",
        help="the share of the records or persons that a set has to single out",
    )  # fmt: skip
    parser.add_argument(
        "--k", type=int, default=2, help="records are singled out if fewer than k look the same"
    )
    parser.add_argument("--size", type=int, default=3, help="the most columns that a set can have")
    add_missing(parser)
    add_json(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = None if args.plan is None else Plan.load(args.plan)
    roles = {} if plan is None else plan.roles.roles
    person = args.person or (None if plan is None else plan.person)
    table = read_records(args, plan)
    if plan is not None:
        table = table.repair(plan.repairs, plan.read.column_kinds)
    columns = parse_columns("--columns", args.columns or [], table.columns)
    check_once("--columns", columns, "column")
    n_suppressed = 0
    if SUPPRESSED not in columns:
        table, n_suppressed = table.remove_suppressed()
    if args.columns is None:
        left_out = {name for name, role in roles.items() if role is Role.IDENTIFIER}
        left_out |= ({SUPPRESSED} if n_suppressed else set()) | ({person} if person else set())
        columns = [name for name in table.columns if name not in left_out]
    result = singling_out(
        table, columns, args.share, args.k, args.size,
        progress=choose_progress(args), person=person,
    )  # fmt: skip
    wrong = result.contradicted(roles) if plan is not None else ()
    if args.json:
        print(json.dumps(result.numbers | ({} if plan is None else {"contradicted": [*wrong]})))
        return
    print("\n".join(result.said))
    if wrong:
        print(
            "Insensitive in the plan, although they are in such sets: "
            f"{list_names(wrong, most=12)}."
        )
