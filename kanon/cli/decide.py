"""``decide``: whether a release has what is asked of it by what it is for."""

import argparse
import json

from kanon.cli.inputs import read_people, read_plan, read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_context, add_json, add_plan, add_progress, add_seed, add_table
from kanon.errors import PlanError, ReleaseError
from kanon.release.context import Context
from kanon.release.decision import decide, levels_reached
from kanon.run import run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    add_context(parser, required=True)
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(given: argparse.Namespace) -> None:
    """Say whether a release has what is asked of it; the status is 3 if it has not."""
    plan, context = read_plan(given), Context.load(given.context)
    people = read_people(given, context)
    done = run(plan, read_records(given, plan), given.plan.parent, progress_shown(given))
    found = decide(context, levels_reached(done, context.known, people))
    print(json.dumps(found.numbers) if given.json else found.sentence)
    if found.reached.levels and not found.parts:
        raise PlanError(
            "The context asks for nothing that can be counted here, so nothing was checked; ask "
            "for k or a risk, or for l or t of a sensitive column."
        )
    if not found.holds:
        raise ReleaseError("The release does not have all that is asked of it in this context.")
