"""``attack``: what an attacker gains from a release."""

import argparse
import json

from kanon.cli.inputs import read_plan, read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_attack, add_json, add_plan, add_progress, add_seed, add_table
from kanon.evidence.attack import attack, count_people
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument(
        "--population", type=Address.parse, metavar="P",
        help="everyone who might be in the table, with the original values: for membership",
    )  # fmt: skip
    add_attack(parser)
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = read_plan(args)
    release = run(plan, read_records(args, plan), args.plan.parent, choose_progress(args))
    people = count_people(release, args.population and open_address(args.population))
    evidence = attack(
        release, args.known, people, not args.no_control, progress=choose_progress(args)
    )
    print(json.dumps(evidence.numbers) if args.json else "\n".join(evidence.sentences))
