"""``sweep``: what every k costs under several metrics, strategies and algorithms."""

import argparse
import json
from pathlib import Path

from kanon.base.formatting import count_noun
from kanon.cli.inputs import check_files, read_plan, read_records, split_at_commas, write_csv
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_json, add_plan, add_progress, add_seed, add_table
from kanon.errors import PlanError, quote
from kanon.experiments.areas import build_areas_table
from kanon.experiments.sweep import measure_sweep
from kanon.metrics import PUBLISHED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--k", required=True, metavar="3,4,5,10")
    parser.add_argument("--metrics", default="all", metavar="all|a,b", help="all: the 7 published")
    parser.add_argument("--strategies", default="s1", metavar="s1")
    parser.add_argument(
        "--algorithms", metavar="a,b", help="by default the plan's; else a first column names each"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="CURVES.csv")
    parser.add_argument(
        "--areas", type=Path, metavar="AREAS.csv",
        help="write the area under each curve (NAUC) too, from the lowest k to the highest, the "
        "value at each k, and ranks",
    )  # fmt: skip
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = read_plan(args)
    check_files(args, plan, args.out, args.areas)
    ks = [_parse_whole_number(part.strip()) for part in args.k.split(",")]
    if args.areas is not None and len(ks) < 2:
        raise PlanError("--areas needs at least two k: areas go from the lowest to the highest.")
    metrics = PUBLISHED if args.metrics == "all" else split_at_commas(args.metrics)
    strategies = split_at_commas(args.strategies)
    algorithms = None if args.algorithms is None else split_at_commas(args.algorithms)
    records, folder, progress = read_records(args, plan), args.plan.parent, choose_progress(args)
    result = measure_sweep(
        plan, records, ks, metrics, strategies, folder, progress, algorithms=algorithms
    )
    curves = result.build_table(algorithms is not None)
    write_csv(curves, args.out)
    if args.areas is not None:
        write_csv(build_areas_table(result), args.areas)
    if args.json:
        numbers = {
            "rows": len(curves),
            "algorithms": algorithms or [plan.algorithm.name],
            "metrics": [*metrics],
            "strategies": strategies,
            "k": ks,
        }
        print(json.dumps(numbers))
        return
    counts = [
        *([] if algorithms is None else [count_noun(len(algorithms), "algorithm")]),
        count_noun(len(metrics), "metric"),
        count_noun(len(strategies), "strategy", "strategies"),
        f"{len(ks)} k",
    ]
    print(f"{count_noun(len(curves), 'row')}: {', '.join(counts)}")


def _parse_whole_number(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise PlanError(
            f"--k: {quote(text.strip())} is not a whole number; give whole numbers separated by "
            "commas, such as 3,4,5,10."
        ) from None
