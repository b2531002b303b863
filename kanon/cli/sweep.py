"""``sweep``: what every k costs under several metrics, strategies and algorithms."""

import argparse
from pathlib import Path

import pandas as pd

from kanon.base.formatting import count_noun
from kanon.cli.inputs import check_files, read_plan, read_records, split_at_commas
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_plan, add_progress, add_seed, add_table
from kanon.errors import PlanError, quote
from kanon.experiments.areas import build_areas_table, choose_interval, list_area_k
from kanon.experiments.sweep import check_k, plan_sweep
from kanon.measures.comparing import check_interval
from kanon.metrics import PUBLISHED
from kanon.sources.writing import write_whole


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
        help="write the area under each curve (NAUC) too, the value at each k, and their ranks",
    )  # fmt: skip
    parser.add_argument(
        "--interval", metavar="3-2000",
        help="the k between which areas are taken; by default 3-2000, or up to all records",
    )  # fmt: skip
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = read_plan(args)
    check_files(args, plan, args.out, args.areas)
    ks = [_parse_whole_number("--k", part) for part in args.k.split(",")]
    metrics = PUBLISHED if args.metrics == "all" else split_at_commas(args.metrics)
    strategies = split_at_commas(args.strategies)
    algorithms = None if args.algorithms is None else split_at_commas(args.algorithms)
    interval = _parse_interval(args)
    records = read_records(args, plan)
    check_k(ks)
    planned = plan_sweep(plan, records, metrics, strategies, args.plan.parent, algorithms)
    run_ks = ks
    if args.areas is not None:
        interval = interval or choose_interval(planned.prepared.classes.highest_k)
        check_interval(*interval, planned.prepared.classes.highest_k)
        run_ks = sorted({*ks, *list_area_k(*interval)})
    result = planned.run(run_ks, choose_progress(args))
    curves = result.build_table(ks, algorithms is not None)
    _write_table(curves, args.out)
    if args.areas is not None and interval is not None:
        _write_table(build_areas_table(result, ks, interval), args.areas)
    counts = [
        *([] if algorithms is None else [count_noun(len(algorithms), "algorithm")]),
        count_noun(len(metrics), "metric"),
        count_noun(len(strategies), "strategy", "strategies"),
        f"{len(ks)} k",
    ]
    print(f"{count_noun(len(curves), 'row')}: {', '.join(counts)}")


def _write_table(table: pd.DataFrame, path: Path) -> None:
    write_whole(table.to_csv(index=False, lineterminator="\n").encode("utf-8"), path)


def _parse_interval(args: argparse.Namespace) -> tuple[int, int] | None:
    if args.interval is None:
        return None
    if args.areas is None:
        raise PlanError("--interval goes with --areas; add it, or leave --interval out.")
    low, dash, high = args.interval.partition("-")
    if not dash:
        raise PlanError(
            f"--interval: {quote(args.interval)} is no interval; give two whole numbers with a "
            "hyphen between them, such as 3-2000."
        )
    return _parse_whole_number("--interval", low), _parse_whole_number("--interval", high)


def _parse_whole_number(option: str, text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        form = "with a hyphen between two, such as 3-2000"
        if option == "--k":
            form = "separated by commas, such as 3,4,5,10"
        raise PlanError(
            f"{option}: {quote(text.strip())} is not a whole number; give whole numbers {form}."
        ) from None
