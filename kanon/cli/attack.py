"""``attack``: what an attacker gains from a release."""

import argparse
import json
from functools import partial

from kanon.cli.inputs import parse_share, read_plan, read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_attack, add_json, add_plan, add_progress, add_seed, add_table
from kanon.evidence.attack import attack, count_people
from kanon.evidence.sample_risk import measure_sample_risk
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
    parser.add_argument(
        "--fraction",
        type=partial(parse_share, "--fraction"),
        metavar="5%",
        help="the share of the population that is in the table: how many people are unique in it",
    )
    parser.add_argument(
        "--weights", metavar="COLUMN", help="the column that says how many people a record is for"
    )
    parser.add_argument(
        "--households", metavar="COLUMN", help="the column that says who lives together"
    )
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
    numbers, sentences = evidence.numbers, evidence.sentences
    if args.fraction is not None or args.weights or args.households:
        risk = measure_sample_risk(release, args.fraction, args.weights, args.households)
        numbers, sentences = {**numbers, **risk.numbers}, (*sentences, *risk.sentences)
    print(json.dumps(numbers) if args.json else "\n".join(sentences))
