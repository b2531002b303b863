"""``combine``: what anyone learns from the releases of several plans together."""

import argparse
import json
from pathlib import Path

from kanon.cli.inputs import read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_json, add_progress, add_table
from kanon.errors import KanonError, PlanError, ReleaseError, quote
from kanon.plan import Plan
from kanon.release.common_classes import Release
from kanon.release.composition import combine_releases
from kanon.run import run
from kanon.sources.tables import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "plans", type=Path, nargs="+", metavar="PLAN.json",
        help="the plans of two or more releases of the table",
    )  # fmt: skip
    add_table(parser)
    add_json(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    if len(args.plans) < 2:
        raise PlanError("combine: name at least two plans.")
    tables: dict[str, Table] = {}  # as each plan reads it
    releases = []
    for path in args.plans:
        plan = Plan.load(path)
        reading = plan.read.model_dump_json(exclude={"missing"})
        if reading not in tables:
            tables[reading] = read_records(args, plan)
        try:
            releases.append(
                Release.from_run(run(plan, tables[reading], path.parent, choose_progress(args)))
            )
        except KanonError as error:
            raise error.add_place(quote(path.name)) from None
    combined = combine_releases(releases, next(iter(tables.values())))
    if args.json:
        print(json.dumps(combined.numbers))
    else:
        print("\n".join(combined.describe_releases([path.name for path in args.plans])))
    if not combined.holds:
        verb, end = ("do", "") if combined.lined_up else ("would", " with all rows lined up")
        raise ReleaseError(f"Together, the releases {verb} not meet what their plans require{end}.")
