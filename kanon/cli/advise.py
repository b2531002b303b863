"""``advise``: which metric and strategy suit a table."""

import argparse
import json
from pathlib import Path

from kanon.cli.inputs import check_files, parts_of_list, read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_json, add_plan, add_progress, add_table
from kanon.errors import PlanError, quoted
from kanon.experiments.advisor.advice import advise
from kanon.plan import Plan
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument(
        "--k", metavar="5|3-100", help="one k, or a range to average over; else the plan's"
    )
    parser.add_argument(
        "--weights", default="utility=2,l=1,t=1", metavar="utility=2,l=1,t=1",
        help="how much each matters; what is not named does not",
    )  # fmt: skip
    parser.add_argument(
        "--limits", default="", metavar="l=2,t=0.3",
        help="what k and l of every class should be at least, and t at most",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="WAYS.csv", help="write every alternative")
    add_json(parser)
    add_progress(parser)


def execute(given: argparse.Namespace) -> None:
    plan = Plan.load(given.plan)
    check_files(given, plan, given.out)
    weights, limits = _named("--weights", given.weights), _named("--limits", given.limits)
    k = None if given.k is None else _range(given.k)
    records, told = read_records(given, plan), progress_shown(given)
    found = advise(plan, records, k, weights, limits, given.plan.parent, told)
    if given.out is not None:
        table = found.table().to_csv(index=False, lineterminator="\n")
        write_whole(table.encode("utf-8"), given.out)
    print(json.dumps(found.numbers) if given.json else "\n".join(found.said()))


def _named(option: str, text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts_of_list(text):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name in found:
            raise PlanError(f"{option} names {quoted(name)} twice; name each once.")
        try:
            found[name] = float(number)
        except ValueError:
            raise PlanError(
                f"{option}: {quoted(part)} is no name with a number; write them as utility=1,l=0.5."
            ) from None
    return found


def _range(text: str) -> int | tuple[int, int]:
    low, dash, high = text.partition("-")
    try:
        return (int(low), int(high)) if dash else int(low)
    except ValueError:
        raise PlanError(
            f"--k: {quoted(text)} is no k; give one k such as 5, or a range such as 3-100."
        ) from None
