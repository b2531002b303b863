"""``quasi-identifiers``: the smallest sets of columns that single records or persons out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kanon.cli.inputs import check_once, parts_of_list, read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_json, add_progress, add_table
from kanon.errors import PlanError, listing, quoted
from kanon.plan import Plan
from kanon.schema import SUPPRESSED, Role
from kanon.sources.singling_out import singling_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_table(parser)
    parser.add_argument("--columns", metavar="a,b,c", help="the columns to look at; else all")
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
    add_json(parser)
    add_progress(parser)


def execute(given: argparse.Namespace) -> None:
    """Execute the command."""
    plan = None if given.plan is None else Plan.load(given.plan)
    roles = {} if plan is None else plan.roles.roles
    person = given.person or (None if plan is None else plan.person)
    table = read_records(given, plan)
    columns = parts_of_list(given.columns or "")
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
    """A share as a percentage or as a number: 5% or 0.05."""
    number = text.strip().removesuffix("%")
    what = "give a percentage such as 5% or a number such as 0.05"
    try:
        given = float(number) / (100 if number != text.strip() else 1)
        # 1.1 / 100 is a little more than 0.011, which a set may single out exactly.
        share = round(given, 15)
    except ValueError:
        raise PlanError(f"--share: {quoted(text)} is no share; {what}.") from None
    if given and not share:
        raise PlanError(f"--share: {quoted(text)} is less than what can be told from 0; {what}.")
    return share
