"""``decide``: check a release against its purpose."""

import argparse
import json

from kanon.cli.inputs import read_people, read_plan, read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_context, add_json, add_plan, add_progress, add_seed, add_table
from kanon.errors import PlanError, ReleaseError
from kanon.release.context import Context
from kanon.release.decision import compare_with_thresholds, measure_reached_levels
from kanon.run import run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    add_context(parser, required=True)
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    """Print the verdict; the status is 3 if the release misses a threshold."""
    plan, context = read_plan(args), Context.load(args.context)
    people = read_people(args, context)
    release = run(plan, read_records(args, plan), args.plan.parent, choose_progress(args))
    decision = compare_with_thresholds(
        context, measure_reached_levels(release, context.known, people)
    )
    print(json.dumps(decision.numbers) if args.json else decision.sentence)
    if decision.reached.levels and not decision.parts:
        raise PlanError(
            "The context sets no threshold that can be counted here, so nothing was checked; set "
            "one for k or a risk, or for l or t of a sensitive column."
        )
    if not decision.holds:
        raise ReleaseError("The release does not meet all thresholds of this context.")
