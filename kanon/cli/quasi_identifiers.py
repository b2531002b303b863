"""``quasi-identifiers``: the smallest sets of columns that single records or persons out."""

import argparse
import json
from decimal import Decimal
from pathlib import Path

from kanon.cli.inputs import check_once, columns_of, read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_json, add_missing, add_progress, add_table
from kanon.errors import PlanError, listing, quoted
from kanon.plan import Plan
from kanon.schema import SUPPRESSED, Role
from kanon.sources.singling_out import singling_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument(
        "--columns", action="append", metavar="a,b,c",
        help="the columns to look at, else all; may be repeated, and names with commas stand in "
        "double quotes",
    )  # fmt: skip
    parser.add_argument(
        "--plan", type=Path, metavar="PLAN.json",
        help="leave out its identifiers, say which columns it takes for harmless, and count "
        "persons where it does",
    )  # fmt: skip
    parser.add_argument(
        "--person", metavar="COLUMN",
        help="count persons: the column that says which records are of one; else the plan's",
    )  # fmt: skip
    parser.add_argument(
        "--share", type=_share, default="5%", metavar="5%",
        help="the share of the records or persons that a set has to single out",
    )  # fmt: skip
    parser.add_argument(
        "--k", type=int, default=2, help="who is alike with fewer than k is singled out"
    )
    parser.add_argument("--size", type=int, default=3, help="so many columns in a set at most")
    add_missing(parser)
    add_json(parser)
    add_progress(parser)


def execute(given: argparse.Namespace) -> None:
    plan = None if given.plan is None else Plan.load(given.plan)
    roles = {} if plan is None else plan.roles.roles
    person = given.person or (None if plan is None else plan.person)
    table = read_records(given, plan)
    columns = columns_of("--columns", given.columns or [], table.columns)
    check_once("--columns", columns, "column")
    gone = 0
    if SUPPRESSED not in columns:
        table, gone = table.without_suppressed()
    if given.columns is None:
        left_out = {name for name, role in roles.items() if role is Role.IDENTIFIER}
        left_out |= ({SUPPRESSED} if gone else set()) | ({person} if person else set())
        columns = [name for name in table.columns if name not in left_out]
    found = singling_out(
        table, columns, given.share, given.k, given.size,
        progress=progress_shown(given), person=person,
    )  # fmt: skip
    wrong = found.contradicted(roles) if plan is not None else ()
    if given.json:
        print(json.dumps(found.numbers | ({} if plan is None else {"contradicted": [*wrong]})))
        return
    print("\n".join(found.said))
    if wrong:
        print(f"The plan takes for insensitive, against this: {listing(wrong, most=12)}.")


def _share(text: str) -> float:
    """A share as a percentage, a number or a fraction: 5%, 0.05 or 1/20."""
    number, _, parts = text.strip().removesuffix("%").partition("/")
    what = "give a percentage such as 5%, a number such as 0.05 or a fraction such as 1/20"
    try:
        # As decimals, since 1.1 / 100 is a little more than 0.011.
        given = float(Decimal(number).scaleb(-2 if "%" in text else 0)) / float(parts or 1)
    except (ValueError, ArithmeticError):
        raise PlanError(f"--share: {quoted(text)} is no share; {what}.") from None
    if 0 < given < 1e-15:
        raise PlanError(f"--share: {quoted(text)} is less than what can be told from 0; {what}.")
    return given
