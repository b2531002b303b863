"""``simulate``: rank the strategies on simulated sensitive columns."""

import argparse
import json
from pathlib import Path

from kanon.base.formatting import count_noun
from kanon.cli.inputs import check_files, read_plan, read_records, write_csv
from kanon.cli.messages import choose_progress
from kanon.cli.options import add_json, add_plan, add_progress, add_seed, add_table
from kanon.errors import quote
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.files import create_study_inputs, read_study, write_study
from kanon.experiments.simulated.ranks import OVERALL, build_results_table, compute_mean_ranks
from kanon.experiments.simulated.study import (
    STRATEGIES,
    RunResult,
    create_study,
    list_missing_runs,
    run_study,
)
from kanon.run import prepare
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="RESULTS.csv")
    parser.add_argument(
        "--state", type=Path, metavar="STUDY.json",
        help="save results there, and continue from them",
    )  # fmt: skip
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = read_plan(args)
    check_files(args, plan, args.out, args.state)
    study = create_study(prepare(plan, read_records(args, plan), args.plan.parent))
    settings, state = create_study_inputs(study), args.state
    run_results = read_study(state, settings) if state is not None and state.exists() else []

    def keep(result: RunResult) -> None:
        run_results.append(result)
        if state is not None:
            write_whole(write_study(settings, run_results), state)

    try:
        run_study(choose_progress(args), study, list_missing_runs(run_results), keep)
    except KeyboardInterrupt as stop:
        if state is not None and state.exists():
            stop.add_note(f"The same command continues from {quote(state.name)}.")
        raise
    table = build_results_table(study, run_results)
    write_csv(table, args.out)
    low, high = study.interval
    means = compute_mean_ranks(run_results)[OVERALL].sort_values(kind="stable")
    if args.json:
        numbers = {
            "rows": len(table),
            "columns": len(COLUMNS),
            "strategies": len(STRATEGIES),
            "k_from": low,
            "k_to": high,
            "of": study.task.classes.of,
            "mean_ranks": means.to_dict(),
        }
        print(json.dumps(numbers))
        return
    print(
        f"{count_noun(len(table), 'row')}: {count_noun(len(COLUMNS), 'column')}, "
        f"{count_noun(len(STRATEGIES), 'strategy', 'strategies')}, areas on k from {low} to {high}"
        + (", in persons" if study.task.classes.of == "persons" else "")
    )
    ranked = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    print(f"Mean rank (1 is best): {ranked}")
