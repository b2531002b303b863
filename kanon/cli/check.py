"""``check``: see what is new in a table for a plan."""

import argparse
import json
from dataclasses import asdict

from kanon.base.formatting import count_noun
from kanon.cli.inputs import read_records
from kanon.cli.options import add_json, add_plan, add_table
from kanon.errors import PlanError, Unsatisfiable
from kanon.plan import Plan
from kanon.release.drift import check_next_table, check_pinned_levels
from kanon.sources.addresses import Address


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument(
        "--before", type=Address.parse, metavar="TABLE", help="the table that the plan was made for"
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> None:
    """Print what is new in a table; a finding that stops the plan sets the exit status."""
    plan = Plan.load(args.plan)
    before = None if args.before is None else read_records(args, plan, args.before)
    table, folder = read_records(args, plan), args.plan.parent
    findings = check_next_table(plan, table, folder, before)
    stopping = [finding for finding in findings if finding.stops]
    if before is not None and not stopping:
        findings += check_pinned_levels(plan, table, before, folder)
    lines = [f"{'stops' if item.stops else 'note'}: {item.sentence}" for item in findings]
    lines += [] if stopping else ["The plan can be run on this table."]
    numbers = {"can_run": not stopping, "findings": [*map(asdict, findings)]}
    print(json.dumps(numbers) if args.json else "\n".join(lines))
    if not stopping:
        return
    error = Unsatisfiable if stopping[0].kind == "models" else PlanError
    raise error(
        f"The plan cannot be run on this table: {count_noun(len(stopping), 'problem')} to fix."
    )
