"""``check``: see what is new in a table for a plan."""

import argparse

from kanon.base.formatting import counted
from kanon.cli.inputs import read_records
from kanon.cli.options import add_plan, add_table
from kanon.errors import PlanError, Unsatisfiable
from kanon.plan import Plan
from kanon.release.drift import check_levels, check_next
from kanon.sources.addresses import Address


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument(
        "--before", type=Address.parse, metavar="TABLE", help="the table that the plan was made for"
    )


def execute(given: argparse.Namespace) -> None:
    """Say what is new in a table; what stops the plan ends with its exit status."""
    plan = Plan.load(given.plan)
    before = None if given.before is None else read_records(given, plan, given.before)
    table, folder = read_records(given, plan), given.plan.parent
    found = check_next(plan, table, folder, before)
    stopping = [finding for finding in found if finding.stops]
    if before is not None and not stopping:
        found += check_levels(plan, table, before, folder)
    for finding in found:
        print(f"{'stops' if finding.stops else 'note'}: {finding.sentence}")
    if not stopping:
        print("The plan can be run on this table.")
        return
    error = Unsatisfiable if stopping[0].kind == "models" else PlanError
    raise error(f"The plan cannot be run on this table: {counted(len(stopping), 'thing')} to mend.")
