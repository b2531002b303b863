"""``sweep``: what every k costs under several metrics."""

import argparse
from pathlib import Path

from kanon.base.formatting import count_noun
from kanon.cli.inputs import check_files, read_plan, read_records, split_at_commas
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_plan, add_progress, add_seed, add_table
from kanon.errors import PlanError, quote
from kanon.experiments.sweep import sweep
from kanon.metrics import PUBLISHED
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--k", required=True, metavar="3,4,5,10")
    parser.add_argument("--metrics", default="all", metavar="all|a,b", help="all: the 7 published")
    parser.add_argument("--strategies", default="s1", metavar="s1")
    parser.add_argument("--out", type=Path, required=True, metavar="CURVES.csv")
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = read_plan(args)
    check_files(args, plan, args.out)
    ks = [_parse_whole_number(part.strip()) for part in args.k.split(",")]
    metrics = PUBLISHED if args.metrics == "all" else split_at_commas(args.metrics)
    strategies = split_at_commas(args.strategies)
    records = read_records(args, plan)
    curves = sweep(plan, records, ks, metrics, strategies, args.plan.parent, choose_progress(args))
    write_whole(curves.to_csv(index=False, lineterminator="\n").encode("utf-8"), args.out)
    print(
        f"{count_noun(len(curves), 'row')}: {count_noun(len(metrics), 'metric')}, "
        f"{count_noun(len(strategies), 'strategy', 'strategies')}, {len(ks)} k"
    )


def _parse_whole_number(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise PlanError(
            f"--k: {quote(text.strip())} is not a whole number; give whole numbers separated by "
            "commas, such as 3,4,5,10."
        ) from None
