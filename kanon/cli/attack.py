"""``attack``: what an attacker gains from a release."""

import argparse
import json

from kanon.cli.inputs import read_plan, read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_json, add_plan, add_progress, add_seed, add_table
from kanon.errors import PlanError
from kanon.evidence.attack import KNOWN, attack
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address
from kanon.sources.population import count_population


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument(
        "--population", type=Address.parse, metavar="P",
        help="everyone who might be in the table, with the original values: for membership",
    )  # fmt: skip
    parser.add_argument(
        "--known", type=int, default=KNOWN, metavar="N",
        help=f"the most columns of a person that are known, for singling out; by default {KNOWN}",
    )  # fmt: skip
    parser.add_argument(
        "--no-control", action="store_true",
        help="do not make the release again without a fifth of the people",
    )  # fmt: skip
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    if args.known < 1:
        raise PlanError(f"--known: {args.known} is not allowed; give a number of at least 1.")
    plan = read_plan(args)
    release = run(plan, read_records(args, plan), args.plan.parent, choose_progress(args))
    people = None
    if args.population is not None:
        population = open_address(args.population)
        people = count_population(release.prepared.classes, population, plan.repairs).classes
    evidence = attack(
        release, args.known, people, not args.no_control, progress=choose_progress(args)
    )
    print(json.dumps(evidence.numbers) if args.json else "\n".join(evidence.sentences))
