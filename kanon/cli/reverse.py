"""``reverse``: the greatest k that goes with the other models of a plan."""

import argparse
from pathlib import Path

from kanon.base.formatting import counted, percent, thin
from kanon.cli.inputs import check_files, read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_plan, add_progress, add_table
from kanon.experiments.greatest_k import reverse
from kanon.plan import Plan
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="CURVE.csv")
    add_progress(parser)


def execute(given: argparse.Namespace) -> None:
    plan = Plan.load(given.plan)
    check_files(given, plan, given.out)
    found = reverse(plan, read_records(given, plan), given.plan.parent, progress_shown(given))
    write_whole(found.ways.to_csv(index=False, lineterminator="\n").encode("utf-8"), given.out)
    first = found.curve.iloc[0]
    print(
        f"{counted(len(found.ways), 'row')}; the models are met from "
        f"{percent(first['alteration'])} alteration on, "
        f"as {plan.metric.card.title} counts, with k = {thin(int(first['k']))}"
        + (", in persons" if found.of == "persons" else "")
    )
    reached = {most: found.greatest_k(most) for most in (5, 10, 20, 30, 50)}
    told = [f"{most} %: {thin(k)}" for most, k in reached.items() if k is not None]
    if told:
        print(f"Greatest k reached with at most so much alteration: {', '.join(told)}")
