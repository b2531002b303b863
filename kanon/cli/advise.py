"""``advise``: which metric and strategy suit a table."""

import argparse
import json
from pathlib import Path

from kanon.cli.inputs import check_files, read_records, split_at_commas, write_csv
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_json, add_plan, add_progress, add_table
from kanon.errors import PlanError, quote
from kanon.experiments.advisor.advice import advise
from kanon.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument(
        "--k", metavar="5|3-100", help="one k, or a range to average over; by default the plan's"
    )
    parser.add_argument(
        "--weights", default="utility=2,l=1,t=1", metavar="utility=2,l=1,t=1",
        help="how much each concern matters; concerns that are not named do not count",
    )  # fmt: skip
    parser.add_argument(
        "--limits", default="", metavar="l=2,t=0.3",
        help="the least k and l, and the greatest t, that a class should have",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="WAYS.csv", help="write every alternative")
    add_json(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = Plan.load(args.plan)
    check_files(args, plan, args.out)
    weights = _parse_numbers("--weights", args.weights)
    limits = _parse_numbers("--limits", args.limits)
    k = None if args.k is None else _parse_k(args.k)
    records, progress = read_records(args, plan), choose_progress(args)
    advice = advise(plan, records, k, weights, limits, args.plan.parent, progress)
    if args.out is not None:
        write_csv(advice.table(), args.out)
    print(json.dumps(advice.numbers) if args.json else "\n".join(advice.describe_advice()))


def _parse_numbers(option: str, text: str) -> dict[str, float]:
    number_of_name: dict[str, float] = {}
    for part in split_at_commas(text):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name in number_of_name:
            raise PlanError(f"{option} names {quote(name)} twice; name each once.")
        try:
            number_of_name[name] = float(number)
        except ValueError:
            raise PlanError(
                f"{option}: {quote(part)} is not of the form name=number; write utility=1,l=0.5."
            ) from None
    return number_of_name


def _parse_k(text: str) -> int | tuple[int, int]:
    low, dash, high = text.partition("-")
    try:
        return (int(low), int(high)) if dash else int(low)
    except ValueError:
        raise PlanError(
            f"--k: {quote(text)} is not a valid k; give one k such as 5, or a range such as 3-100."
        ) from None
