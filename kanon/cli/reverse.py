"""``reverse``: find the greatest k that is possible with a plan's other models."""

import argparse
import json
from pathlib import Path

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.cli.inputs import check_files, read_records, write_csv
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_json, add_plan, add_progress, add_table
from kanon.experiments.greatest_k import find_greatest_k
from kanon.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="CURVE.csv")
    add_json(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = Plan.load(args.plan)
    check_files(args, plan, args.out)
    result = find_greatest_k(
        plan, read_records(args, plan), args.plan.parent, choose_progress(args)
    )
    write_csv(result.ways, args.out)
    first = result.curve.iloc[0]
    reached = {most: result.find_k(most) for most in (5, 10, 20, 30, 50)}
    if args.json:
        numbers = {
            "rows": len(result.ways),
            "metric": plan.metric.name,
            "of": result.of,
            "first_met": {"k": int(first["k"]), "alteration": float(first["alteration"])},
            "greatest_k": reached,
        }
        print(json.dumps(numbers))
        return
    print(
        f"{count_noun(len(result.ways), 'row')}; the models are first met at "
        f"{write_percent(first['alteration'])} alteration ({plan.metric.card.title}), with k = "
        f"{write_count(int(first['k']))}" + (", in persons" if result.of == "persons" else "")
    )
    parts = [f"{most} %: {write_count(k)}" for most, k in reached.items() if k is not None]
    if parts:
        print(f"Greatest k reached with at most this alteration: {', '.join(parts)}")
