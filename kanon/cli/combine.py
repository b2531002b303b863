"""``combine``: what somebody learns who holds the releases of several plans."""

import argparse
import json
from pathlib import Path

from kanon.cli.inputs import read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_json, add_progress, add_table
from kanon.errors import KanonError, PlanError, ReleaseError, quoted
from kanon.plan import Plan
from kanon.release.common_classes import Release
from kanon.release.composition import combine
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


def execute(given: argparse.Namespace) -> None:
    if len(given.plans) < 2:
        raise PlanError("combine: name at least two plans, whose releases one could hold.")
    tables: dict[str, Table] = {}  # as each plan reads it
    releases = []
    for path in given.plans:
        plan = Plan.load(path)
        way = plan.read.model_dump_json(exclude={"missing"})
        if way not in tables:
            tables[way] = read_records(given, plan)
        try:
            releases.append(Release.of(run(plan, tables[way], path.parent, progress_shown(given))))
        except KanonError as error:
            raise error.within(quoted(path.name)) from None
    found = combine(releases, next(iter(tables.values())))
    if given.json:
        print(json.dumps(found.numbers))
    else:
        print("\n".join(found.said([path.name for path in given.plans])))
    if not found.holds:
        do = "do not" if found.lined_up else "would not, with all rows lined up,"
        raise ReleaseError(f"All releases together {do} meet what their plans ask for.")
