"""``decide``: check a release against its purpose."""

import argparse
import json

from kanon.cli.inputs import read_people, read_plan, read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_context, add_json, add_plan, add_progress, add_seed, add_table
from kanon.errors import PlanError, ReleaseError
from kanon.release.attack_and_use import list_measured_thresholds, measure_attack_and_use
from kanon.release.context import Context, list_recipient_contexts
from kanon.release.decision import measure_reached_levels
from kanon.release.recipients import decide_for_recipients, describe_recipients_verdict
from kanon.run import run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    add_context(parser, required=True)
    parser.add_argument(
        "--recipients", choices=["all"], metavar="all",
        help="print a line each for anybody, researchers and colleagues",
    )  # fmt: skip
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    """Print the verdict; the status is 3 if the release misses a threshold."""
    plan, context = read_plan(args), Context.load(args.context)
    people = read_people(args, context)
    anonymised = run(plan, read_records(args, plan), args.plan.parent, choose_progress(args))
    reached = measure_reached_levels(anonymised, context.known, people)
    contexts = [*list_recipient_contexts(context).values()] if args.recipients else [context]
    names = list_measured_thresholds(contexts)
    measured = measure_attack_and_use(anonymised, names, choose_progress(args))
    decisions = decide_for_recipients(context, reached, measured)
    decision = decisions[context.release]
    if args.json:
        verdicts = {
            release: {key: of_release.numbers[key] for key in ("holds", "thresholds")}
            for release, of_release in decisions.items()
        }
        print(json.dumps(decision.numbers | ({"recipients": verdicts} if args.recipients else {})))
    elif args.recipients:
        print(*map(describe_recipients_verdict, decisions.values()), sep="\n")
    else:
        print(decision.sentence)
    if decision.reached.levels and not decision.parts:
        raise PlanError(
            "The context sets no threshold that can be counted here, so nothing was checked; set "
            "one for k or a risk, or for l or t of a sensitive column."
        )
    if not decision.holds:
        raise ReleaseError("The release does not meet all thresholds of this context.")
